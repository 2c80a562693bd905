/* SPDX-License-Identifier: MIT */
/* Finds advice by name in the tables that the build made of analysis/advice. */
#include "analysis/kit/advice.h"

#include "base/check.h"
#include "model/trace_class.h"

static int advice_by_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct ts_advice *)row)->name);
}

static const struct ts_advice *advice_find_in(const struct ts_advice_list *list, const char *name)
{
	return bsearch(name, list->rows, list->nr, sizeof(*list->rows), advice_by_name);
}

enum ts_framework ts_framework_of(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	return ts_profile_is_torch(profile) ? TS_TORCH : TS_JAX;
}

const struct ts_advice *ts_advice_find(enum ts_framework framework, const char *name)
{
	static const struct ts_advice none = { "", "", "" };
	const struct ts_advice *row;

	TS_ASSERT(framework < TS_NR_FRAMEWORKS && name);
	row = advice_find_in(&ts_advice_lists[framework], name);
	for (int other = 0; other < TS_NR_FRAMEWORKS && !row; other++)
		row = advice_find_in(&ts_advice_lists[other], name);
	return row ? row : &none;
}
