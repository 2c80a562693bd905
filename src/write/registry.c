/* SPDX-License-Identifier: MIT */
/* The list of outputs. */
#include "write/output.h"

#include "base/check.h"
#include "write/list.h"

#define DECLARE(name) extern const struct ts_output ts_output_##name;
#define ADDRESS(name) &ts_output_##name,

TS_OUTPUTS(DECLARE)

const struct ts_output *const ts_outputs[] = { TS_OUTPUTS(ADDRESS) NULL };

const struct ts_output *ts_output_find(const char *name)
{
	TS_ASSERT(name);
	for (size_t i = 0; ts_outputs[i]; i++)
		if (strcmp(ts_outputs[i]->name, name) == 0)
			return ts_outputs[i];
	return NULL;
}
