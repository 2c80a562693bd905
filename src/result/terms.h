/* SPDX-License-Identifier: MIT */
/* The terms by their ids (result/schema/terms.def): for code that wants a column by its meaning, whatever its name. */
#ifndef TS_RESULT_TERMS_H
#define TS_RESULT_TERMS_H

#include "result/result.h"

#define TERM(id, ...) extern const struct ts_term ts_term_##id;
#include "result/schema/terms.def"
#undef TERM

#endif
