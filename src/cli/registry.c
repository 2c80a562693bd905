/* SPDX-License-Identifier: MIT */
/* The list of commands. */
#include "cli/cli.h"

#include "base/check.h"
#include "cli/list.h"

#define DECLARE(name) extern const struct ts_command ts_command_##name;
#define ADDRESS(name) &ts_command_##name,
TS_COMMANDS(DECLARE)
const struct ts_command *const ts_commands[] = { TS_COMMANDS(ADDRESS) NULL };

const struct ts_command *ts_command_find(const char *name)
{
	TS_ASSERT(name);
	for (size_t i = 0; ts_commands[i]; i++)
		if (strcmp(ts_commands[i]->name, name) == 0)
			return ts_commands[i];
	return NULL;
}
