/* SPDX-License-Identifier: MIT */
/*
 * Completion for bash, 3.2 and later, without the package bash-completion. A word behind --name= is a word of its own for
 * bash, because = is in COMP_WORDBREAKS.
 */
#include "cli/manual/manual.h"

#include "base/check.h"
#include "cli/external.h"

static void put_flag(struct ts_buf *out, const struct ts_option *option,
		     const struct ts_command *command)
{
	ts_buf_printf(out, " --%s%s", option->name, ts_option_has_value(option) ? "=" : "");
}

/* report:--format | report:-f) printf ... ;; */
static void bash_put_value(struct ts_buf *out, const struct ts_option *option,
			   const struct ts_command *command)
{
	enum ts_completed by = ts_completed_by(option, command);
	const char *name;

	if (by == TS_COMPLETE_NONE)
		return;
	ts_buf_printf(out, "\t%s:--%s", command->name, option->name);
	if (option->letter)
		ts_buf_printf(out, " | %s:-%c", command->name, option->letter);
	ts_buf_puts(out, ") echo '");
	for (size_t i = 0; by == TS_COMPLETE_NAMES && (name = ts_option_name(option, command, i));
	     i++)
		ts_buf_printf(out, "%s%s", i ? " " : "", name);
	if (by == TS_COMPLETE_FILES)
		ts_buf_puts(out, "@files");
	else if (by == TS_COMPLETE_SETTINGS)
		ts_buf_puts(out, "@thresholds");
	else if (by == TS_COMPLETE_ANY)
		ts_buf_puts(out, "@any");
	ts_buf_puts(out, "' ;;\n");
}

static void put_lists(struct ts_buf *out, ts_command_list commands)
{
	ts_buf_puts(out, "__tpusight_commands='");
	for (size_t i = 0; commands[i]; i++)
		ts_buf_printf(out, "%s%s", i ? " " : "", commands[i]->name);
	for (size_t i = 0; ts_externals[i].name; i++)
		ts_buf_printf(out, " %s", ts_externals[i].name);
	ts_buf_puts(out, "'\n__tpusight_thresholds='");
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		ts_buf_printf(out, "%s%s=", setting == ts_setting_list ? "" : " ", setting->name);
	ts_buf_puts(out,
		    "'\n\n# The options of a command.\n__tpusight_options() {\n\tcase $1 in\n");
	for (size_t i = 0; commands[i]; i++) {
		ts_buf_printf(out, "\t%s) echo '", commands[i]->name);
		ts_each_option(out, commands[i], put_flag);
		ts_buf_puts(out, "' ;;\n");
	}
	ts_buf_puts(out, "\t*) echo ' --help --version --licenses' ;;\n\tesac\n}\n\n"
			 "# What may stand behind an option of a command: COMMAND:OPTION. Nothing: "
			 "it has no value.\n__tpusight_values() {\n\tcase $1 in\n");
	for (size_t i = 0; commands[i]; i++)
		ts_each_option(out, commands[i], bash_put_value);
	ts_buf_puts(out, "\tesac\n}\n");
}

void ts_complete_bash(struct ts_buf *out, ts_command_list commands)
{
	static const char script[] =
		"\n"
		"__tpusight_words() {\n"
		"\tCOMPREPLY=($(compgen -W \"$1\" -- \"$2\"))\n"
		"\tcase ${COMPREPLY[0]-} in *=) [ ${#COMPREPLY[@]} -gt 1 ] || compopt -o nospace "
		"2>/dev/null ;; esac\n"
		"}\n"
		"\n"
		"# An empty COMPREPLY is completed by names of files.\n"
		"_tpusight() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} command "
		"values\n"
		"\tCOMPREPLY=()\n"
		"\tcase ${COMP_WORDS[0]##*/} in\n"
		"\ttpusight-annotate) command=annotate ;;\n"
		"\t*) command=${COMP_WORDS[1]-} ;;\n"
		"\tesac\n"
		"\tif [ \"$command\" != annotate ] || [ \"${COMP_WORDS[0]##*/}\" = tpusight ]; "
		"then\n"
		"\t\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
		"\t\t\tcase $cur in\n"
		"\t\t\t-*) __tpusight_words \"$(__tpusight_options)\" \"$cur\" ;;\n"
		"\t\t\t*) __tpusight_words \"$__tpusight_commands\" \"$cur\" ;;\n"
		"\t\t\tesac\n"
		"\t\t\treturn\n"
		"\t\tfi\n"
		"\tfi\n"
		"\tif [ \"$cur\" = = ]; then\n"
		"\t\tcur=\n"
		"\telif [ \"$option\" = = ]; then\n"
		"\t\toption=${COMP_WORDS[COMP_CWORD-2]}\n"
		"\tfi\n"
		"\tvalues=$(__tpusight_values \"$command:$option\")\n"
		"\tcase $values in\n"
		"\t@files) ;;\n"
		"\t@any) compopt +o default 2>/dev/null ;;\n"
		"\t@thresholds) __tpusight_words \"$__tpusight_thresholds\" \"$cur\" ;;\n"
		"\t?*) __tpusight_words \"$values\" \"$cur\" ;;\n"
		"\t*) case $cur in -*) __tpusight_words \"$(__tpusight_options \"$command\")\" "
		"\"$cur\" ;; esac ;;\n"
		"\tesac\n"
		"}\n"
		"complete -o default -F _tpusight tpusight tpusight-annotate\n";

	TS_ASSERT(out && commands);
	ts_buf_puts(out, "# SPDX-License-Identifier: MIT\n"
			 "# Made by `tpusight manual --completion=bash`. Load it with\n"
			 "#\teval \"$(tpusight manual --completion=bash)\"\n"
			 "# shellcheck disable=SC2207 # words have no spaces in them\n\n");
	put_lists(out, commands);
	ts_buf_puts(out, script);
}
