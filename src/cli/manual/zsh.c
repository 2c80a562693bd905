/* SPDX-License-Identifier: MIT */
/* Completion for zsh: a function for each command, of _arguments (zshcompsys(1)). */
#include "cli/manual/manual.h"

#include "base/check.h"
#include "cli/external.h"

/* In single quotes, and inside of a specification, where : [ ] have a meaning. */
static void zsh_put_quoted(struct ts_buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			ts_buf_puts(out, "'\\''");
		else if (strchr(":[]\\", *text))
			ts_buf_printf(out, "\\%c", *text);
		else
			ts_buf_putc(out, *text);
	}
}

static void put_action(struct ts_buf *out, const struct ts_option *option,
		       const struct ts_command *command)
{
	enum ts_completed by = ts_completed_by(option, command);
	const char *name;

	if (by == TS_COMPLETE_NONE)
		return;
	ts_buf_putc(out, ':');
	zsh_put_quoted(out, option->argument);
	ts_buf_putc(out, ':');
	if (by == TS_COMPLETE_FILES)
		ts_buf_puts(out, "_files");
	if (by == TS_COMPLETE_SETTINGS)
		ts_buf_puts(out, "__tpusight_thresholds");
	if (by != TS_COMPLETE_NAMES)
		return;
	ts_buf_putc(out, '(');
	for (size_t i = 0; (name = ts_option_name(option, command, i)); i++)
		ts_buf_printf(out, "%s%s", i ? " " : "", name);
	ts_buf_putc(out, ')');
}

/* '(-f --format)'{-f+,--format=}'[text]:FORMAT:(text json)' */
static void zsh_put_option(struct ts_buf *out, const struct ts_option *option,
			   const struct ts_command *command)
{
	const char *value = ts_option_has_value(option) ? "=" : "";
	const char *more = ts_option_repeats(option) ? "*" : "";
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_puts(out, " \\\n\t\t");
	if (option->letter)
		ts_buf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name,
			      option->letter, value[0] ? "+" : "", option->name, value);
	else
		ts_buf_printf(out, "'%s--%s%s", more, option->name, value);
	ts_option_help(&text, option, command);
	ts_buf_putc(&text, '\0');
	ts_buf_putc(out, '[');
	if (!text.failed)
		zsh_put_quoted(out, (const char *)text.p);
	ts_buf_putc(out, ']');
	put_action(out, option, command);
	ts_buf_putc(out, '\'');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

static void zsh_put_names(struct ts_buf *out, ts_command_list commands)
{
	ts_buf_puts(out, "__tpusight_thresholds() {\n\tlocal -a names=(");
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		ts_buf_printf(out, "%s%s", setting == ts_setting_list ? "" : " ", setting->name);
	ts_buf_puts(out, ")\n\tcompadd -S= -a names\n}\n\n"
			 "__tpusight_commands() {\n\tlocal -a commands=(\n");
	for (size_t i = 0; commands[i]; i++) {
		ts_buf_printf(out, "\t\t'%s:", commands[i]->name);
		zsh_put_quoted(out, commands[i]->summary);
		ts_buf_puts(out, "'\n");
	}
	for (size_t i = 0; ts_externals[i].name; i++)
		ts_buf_printf(out, "\t\t%s\n", ts_externals[i].name);
	ts_buf_puts(out, "\t)\n\t_describe -t commands command commands\n}\n\n");
}

void ts_complete_zsh(struct ts_buf *out, ts_command_list commands)
{
	static const char script[] =
		"_tpusight() {\n"
		"\tif [[ $service == tpusight-annotate ]]; then\n"
		"\t\t_tpusight_annotate\n"
		"\telif (( CURRENT == 2 )); then\n"
		"\t\tif [[ $PREFIX == -* ]]; then compadd -- --help --version --licenses; else "
		"__tpusight_commands; fi\n"
		"\telse\n"
		"\t\tlocal command=$words[2]\n"
		"\t\tshift words\n"
		"\t\t(( CURRENT-- ))\n"
		"\t\tif (( $+functions[_tpusight_$command] )); then _tpusight_$command; else "
		"_files; fi\n"
		"\tfi\n"
		"}\n"
		"\n"
		"if [[ $funcstack[1] == _tpusight ]]; then _tpusight \"$@\"; else compdef "
		"_tpusight tpusight "
		"tpusight-annotate; fi\n";

	TS_ASSERT(out && commands);
	ts_buf_puts(out, "#compdef tpusight tpusight-annotate\n"
			 "# SPDX-License-Identifier: MIT\n"
			 "# Made by `tpusight manual --completion=zsh`. It is a file _tpusight in "
			 "a folder of "
			 "$fpath, or\n"
			 "#\tsource <(tpusight manual --completion=zsh)\n\n");
	zsh_put_names(out, commands);
	for (size_t i = 0; commands[i]; i++) {
		ts_buf_printf(out, "_tpusight_%s() {\n\t_arguments -s -S", commands[i]->name);
		ts_each_option(out, commands[i], zsh_put_option);
		ts_buf_puts(out, " \\\n\t\t'*:path:_files'\n}\n\n");
	}
	ts_buf_puts(out, script);
}
