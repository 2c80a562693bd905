/* SPDX-License-Identifier: MIT */
/*
 * The licence of TPUsight and the notices of what others made: a text that notices/text.sh makes of the folder notices/, in UTF-8.
 */
#ifndef TS_CLI_NOTICES_H
#define TS_CLI_NOTICES_H

#include "base/bytes.h"

extern const struct ts_bytes ts_notices;

#endif
