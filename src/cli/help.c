/* SPDX-License-Identifier: MIT */
/* Help of the program and of a command, made of the tables. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/check.h"
#include "cli/external.h"

#define INDENT 33  /* where the text of an option begins */
#define WIDTH  100 /* a longer text goes on below, if it is a list */

/* Cut at spaces into lines of WIDTH. */
static void help_put_wrapped(struct ts_buf *out, struct ts_bytes text)
{
	while (text.n > WIDTH - INDENT) {
		size_t n = WIDTH - INDENT;

		while (n > 0 && text.p[n] != ' ')
			n--;
		if (n == 0)
			break;
		ts_buf_put(out, ts_bytes_cut(text, 0, n));
		ts_buf_printf(out, "\n%*s", INDENT, "");
		text = ts_bytes_cut(text, n + 1, text.n);
	}
	ts_buf_put(out, text);
	ts_buf_putc(out, '\n');
}

static void help_put_text(struct ts_buf *out, const struct ts_option *option,
			  const struct ts_command *command)
{
	struct ts_buf text = TS_BUF_INIT;

	if (!strstr(option->help, "%s")) {
		ts_buf_printf(out, "%s\n", option->help);
		return;
	}
	ts_option_help(&text, option, command);
	help_put_wrapped(out, ts_buf_bytes(&text));
	out->failed |= text.failed;
	ts_buf_release(&text);
}

static void help_put_options(struct ts_buf *out, const struct ts_option *options,
			     const struct ts_command *command)
{
	for (; options->name; options++) {
		char letter[8] = "", name[64];

		if (command && options->is_of_program)
			continue;
		if (options->letter)
			snprintf(letter, sizeof(letter), "-%c, ", options->letter);
		snprintf(name, sizeof(name), "%4s--%s%s%s", letter, options->name,
			 options->argument ? "=" : "", options->argument ? options->argument : "");
		ts_buf_printf(out, "  %-30s ", name);
		help_put_text(out, options, command);
	}
}

static void help_put_command(struct ts_buf *out, const char *program,
			     const struct ts_command *command)
{
	ts_buf_printf(out, "Usage: %s [OPTION]... %s\n%s\n\n%s\n\n", program, command->arguments,
		      command->summary, command->help);
	if (command->options[0].name)
		ts_buf_puts(out, "Options:\n");
	help_put_options(out, command->options, command);
	ts_buf_puts(out, "\nShared options:\n");
	help_put_options(out, ts_shared_options, command);
	if (command->has_thresholds)
		ts_buf_puts(out, "\nThe doctor's thresholds: tpusight thresholds\n");
}

static void help_put_program(struct ts_buf *out, const char *program)
{
	ts_buf_printf(out,
		      "Usage: %s COMMAND [OPTION]... PATH...\nProfile analysis of TPU and GPU "
		      "jobs.\n\nCommands:\n",
		      program);
	for (size_t i = 0; ts_commands[i]; i++)
		ts_buf_printf(out, "  %-10s %s\n", ts_commands[i]->name, ts_commands[i]->summary);
	for (size_t i = 0; ts_externals[i].name; i++)
		ts_buf_printf(out, "  %-10s %s\n", ts_externals[i].name, ts_externals[i].summary);
	ts_buf_printf(out, "\n`%s COMMAND --help` says more.\n\nOptions of all commands:\n",
		      program);
	help_put_options(out, ts_shared_options, NULL);
}

void ts_print_help(const char *program, const struct ts_command *command)
{
	struct ts_buf out = TS_BUF_INIT;

	TS_ASSERT(program);
	if (command)
		help_put_command(&out, program, command);
	else
		help_put_program(&out, program);
	ts_buf_puts(&out, "\nExit status: ");
	for (const struct ts_exit_meaning *exit = ts_exit_meanings; exit->meaning; exit++)
		ts_buf_printf(&out, "%d %s%s", (int)exit->code, exit->meaning,
			      exit[1].meaning ? "; " : ".\n");
	ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
}
