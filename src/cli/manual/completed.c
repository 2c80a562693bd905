/* SPDX-License-Identifier: MIT */
/* What the scripts of all shells ask of an option. */
#include "cli/manual/manual.h"

#include "base/check.h"

/* Not every path is opened after confinement (.place): --config is read before, and of --logdir only the name counts. */
static bool completed_is_path(const struct ts_option *option)
{
	static const char *const words[] = { "FILE", "DIR", "FOLDER", "LOGDIR", "OUT", "PATH" };

	for (size_t i = 0; i < TS_NELEM(words); i++)
		if (strcmp(option->argument, words[i]) == 0)
			return true;
	return option->place != TS_NO_PLACE;
}

enum ts_completed ts_completed_by(const struct ts_option *option, const struct ts_command *command)
{
	TS_ASSERT(option && command);
	if (!ts_option_has_value(option))
		return TS_COMPLETE_NONE;
	if (ts_option_name(option, command, 0))
		return TS_COMPLETE_NAMES;
	if (completed_is_path(option))
		return TS_COMPLETE_FILES;
	return strcmp(option->argument, "NAME=VALUE") == 0 ? TS_COMPLETE_SETTINGS : TS_COMPLETE_ANY;
}

bool ts_option_repeats(const struct ts_option *option)
{
	return option->kind == TS_OPTION_TEXTS || option->kind == TS_OPTION_CALL;
}

void ts_each_option(struct ts_buf *out, const struct ts_command *command, ts_visit_option *visit)
{
	const struct ts_option *lists[] = { command->options, ts_shared_options };

	for (size_t l = 0; l < TS_NELEM(lists); l++)
		for (const struct ts_option *option = lists[l]; option->name; option++)
			if (!option->is_of_program)
				visit(out, option, command);
}
