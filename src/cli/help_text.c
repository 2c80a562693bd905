/* SPDX-License-Identifier: MIT */
/* What the help and the manual both say of an option, and of the exit statuses. */
#include "cli/cli.h"

#include "base/buf.h"

/* "text (default), json, html or csv" */
static void help_text_put_names(struct ts_buf *out, const struct ts_option *option,
				const struct ts_command *command)
{
	const char *name = ts_option_name(option, command, 0), *next;

	for (size_t i = 0; name; i++, name = next) {
		next = ts_option_name(option, command, i + 1);
		ts_buf_puts(out, i == 0 ? "" : next ? ", " : " or ");
		ts_buf_puts(out, name);
		ts_buf_puts(out, i == 0 && option->has_default ? " (default)" : "");
	}
}

void ts_option_help(struct ts_buf *out, const struct ts_option *option,
		    const struct ts_command *command)
{
	const char *list = strstr(option->help, "%s");

	if (!list) {
		ts_buf_puts(out, option->help);
		return;
	}
	ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)option->help,
					   (size_t)(list - option->help) });
	help_text_put_names(out, option, command);
	ts_buf_puts(out, list + 2);
}

const struct ts_exit_meaning ts_exit_meanings[] = {
	{ TS_EXIT_DONE, "done" },
	{ TS_EXIT_GATE, "a gate did not hold" },
	{ TS_EXIT_USAGE, "wrong usage" },
	{ TS_EXIT_NOTHING, "no input could be read" },
	{ TS_EXIT_SOME, "at least one input or output failed" },
	{ TS_EXIT_DONE, NULL },
};
