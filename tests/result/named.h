/* SPDX-License-Identifier: MIT */
/* A result that a test has added before and adds more to. */
#ifndef TESTS_RESULT_NAMED_H
#define TESTS_RESULT_NAMED_H

#include "result/result.h"

/* NULL: there is none. */
static inline struct ts_result *result_named(struct ts_results *results, const char *name)
{
	for (size_t i = 0; i < results->nr; i++)
		if (strcmp(results->items[i]->name, name) == 0)
			return results->items[i];
	return NULL;
}

#endif
