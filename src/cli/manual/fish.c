/* SPDX-License-Identifier: MIT */
/* Completion for fish: a line for each option of each command. */
#include "cli/manual/manual.h"

#include "base/check.h"
#include "cli/external.h"

/* In single quotes fish knows two escapes. */
static void fish_put_quoted(struct ts_buf *out, const char *text)
{
	ts_buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			ts_buf_putc(out, '\\');
		ts_buf_putc(out, *text);
	}
	ts_buf_putc(out, '\'');
}

static void fish_put_values(struct ts_buf *out, const struct ts_option *option,
			    const struct ts_command *command)
{
	enum ts_completed by = ts_completed_by(option, command);
	const char *name;

	if (by == TS_COMPLETE_FILES)
		ts_buf_puts(out, " -r -F");
	else if (by != TS_COMPLETE_NONE)
		ts_buf_puts(out, " -x");
	if (by == TS_COMPLETE_SETTINGS)
		ts_buf_puts(out, " -a \"$__tpusight_thresholds\"");
	if (by != TS_COMPLETE_NAMES)
		return;
	ts_buf_puts(out, " -a '");
	for (size_t i = 0; (name = ts_option_name(option, command, i)); i++)
		ts_buf_printf(out, "%s%s", i ? " " : "", name);
	ts_buf_putc(out, '\'');
}

static void fish_put_rest(struct ts_buf *out, const struct ts_option *option,
			  const struct ts_command *command)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_printf(out, " -l %s", option->name);
	if (option->letter)
		ts_buf_printf(out, " -s %c", option->letter);
	fish_put_values(out, option, command);
	ts_option_help(&text, option, command);
	ts_buf_putc(&text, '\0');
	ts_buf_puts(out, " -d ");
	if (!text.failed)
		fish_put_quoted(out, (const char *)text.p);
	ts_buf_putc(out, '\n');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

static void fish_put_option(struct ts_buf *out, const struct ts_option *option,
			    const struct ts_command *command)
{
	ts_buf_printf(out, "complete -c tpusight -n '__fish_seen_subcommand_from %s'",
		      command->name);
	fish_put_rest(out, option, command);
}

static void put_annotate(struct ts_buf *out, const struct ts_option *option,
			 const struct ts_command *command)
{
	ts_buf_puts(out, "complete -c tpusight-annotate");
	fish_put_rest(out, option, command);
}

void ts_complete_fish(struct ts_buf *out, ts_command_list commands)
{
	TS_ASSERT(out && commands);
	ts_buf_puts(out, "# SPDX-License-Identifier: MIT\n"
			 "# Made by `tpusight manual --completion=fish`. Load it with\n"
			 "#\ttpusight manual --completion=fish | source\n"
			 "set -g __tpusight_thresholds '");
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		ts_buf_printf(out, "%s%s=", setting == ts_setting_list ? "" : " ", setting->name);
	ts_buf_puts(out, "'\n");
	for (size_t i = 0; commands[i]; i++) {
		ts_buf_printf(out, "complete -c tpusight -n __fish_use_subcommand -f -a %s -d ",
			      commands[i]->name);
		fish_put_quoted(out, commands[i]->summary);
		ts_buf_putc(out, '\n');
	}
	for (size_t i = 0; ts_externals[i].name; i++)
		ts_buf_printf(out, "complete -c tpusight -n __fish_use_subcommand -f -a %s\n",
			      ts_externals[i].name);
	for (const struct ts_option *option = ts_shared_options; option->name; option++)
		if (!ts_option_has_value(option) &&
		    (option->is_of_program || option->kind == TS_OPTION_HELP ||
		     option->kind == TS_OPTION_VERSION)) {
			ts_buf_puts(out, "complete -c tpusight -n __fish_use_subcommand");
			fish_put_rest(out, option, commands[0]);
		}
	for (size_t i = 0; commands[i]; i++)
		ts_each_option(out, commands[i], fish_put_option);
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, "annotate") == 0)
			ts_each_option(out, commands[i], put_annotate);
}
