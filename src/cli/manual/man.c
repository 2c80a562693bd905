/* SPDX-License-Identifier: MIT */
/* Manual pages: the help of a command in the marks of man(7). */
#include "cli/manual/manual.h"

#include <ctype.h>

#include "base/check.h"
#include "cli/external.h"

/* A dash that may be copied, a backslash as itself, and no line that begins with a mark. */
static void put_roff(struct ts_buf *out, struct ts_bytes text)
{
	if (text.n && (text.p[0] == '.' || text.p[0] == '\''))
		ts_buf_puts(out, "\\&");
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '-')
			ts_buf_puts(out, "\\-");
		else if (text.p[i] == '\\')
			ts_buf_puts(out, "\\e");
		else if (text.p[i] == '\'')
			ts_buf_puts(out, "\\(aq");
		else
			ts_buf_putc(out, (char)text.p[i]);
	}
}

static void man_put_text(struct ts_buf *out, const char *text)
{
	put_roff(out, ts_bytes_of(text));
}

static void man_put_title(struct ts_buf *out, const char *name)
{
	ts_buf_puts(out, ".\\\" SPDX-License-Identifier: MIT\n"
			 ".\\\" Made by `tpusight manual` of the tables of options.\n.TH ");
	for (; *name; name++)
		ts_buf_putc(out, (char)toupper((unsigned char)*name));
	ts_buf_puts(out, " 1 \"\" \"tpusight " PACKAGE_VERSION "\" \"TPUsight\"\n");
}

/* Lines that are indented are an example and stay as they are; all others are filled. */
static void put_paragraphs(struct ts_buf *out, const char *text)
{
	bool is_example = false;

	while (*text) {
		size_t n = strcspn(text, "\n");
		bool indented = text[0] == ' ';

		if (n > 0 && indented != is_example)
			ts_buf_puts(out, indented ? ".PP\n.nf\n" : ".fi\n.PP\n");
		if (n > 0)
			is_example = indented;
		if (n == 0)
			ts_buf_puts(out, is_example ? "\n" : ".PP\n");
		else {
			put_roff(out, (struct ts_bytes){ (const uint8_t *)text, n });
			ts_buf_putc(out, '\n');
		}
		text += n + (text[n] == '\n');
	}
	if (is_example)
		ts_buf_puts(out, ".fi\n");
}

static void man_put_option(struct ts_buf *out, const struct ts_option *option,
			   const struct ts_command *command)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_puts(out, ".TP\n");
	if (option->letter)
		ts_buf_printf(out, "\\fB\\-%c\\fR, ", option->letter);
	ts_buf_puts(out, "\\fB\\-\\-");
	man_put_text(out, option->name);
	ts_buf_puts(out, "\\fR");
	if (option->argument) {
		ts_buf_puts(out, "=\\fI");
		man_put_text(out, option->argument);
		ts_buf_puts(out, "\\fR");
	}
	ts_buf_putc(out, '\n');
	ts_option_help(&text, option, command);
	put_roff(out, ts_buf_bytes(&text));
	ts_buf_putc(out, '\n');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

static void man_put_options(struct ts_buf *out, const struct ts_option *options,
			    const struct ts_command *command)
{
	for (; options->name; options++)
		if (!command || !options->is_of_program)
			man_put_option(out, options, command);
}

static void man_put_exits(struct ts_buf *out)
{
	ts_buf_puts(out, ".SH EXIT STATUS\n");
	for (const struct ts_exit_meaning *exit = ts_exit_meanings; exit->meaning; exit++) {
		ts_buf_printf(out, ".TP\n.B %d\n", (int)exit->code);
		man_put_text(out, exit->meaning);
		ts_buf_putc(out, '\n');
	}
}

void ts_manual_command(struct ts_buf *out, const struct ts_command *command)
{
	char name[64];

	TS_ASSERT(out && command);
	snprintf(name, sizeof(name), "tpusight-%s", command->name);
	man_put_title(out, name);
	ts_buf_puts(out, ".SH NAME\n");
	man_put_text(out, name);
	ts_buf_puts(out, " \\- ");
	man_put_text(out, command->summary);
	ts_buf_printf(out, "\n.SH SYNOPSIS\n.B tpusight %s\n[\\fIOPTION\\fR]... ", command->name);
	man_put_text(out, command->arguments);
	if (strcmp(command->name, "annotate") == 0) {
		ts_buf_puts(out, "\n.br\n.B tpusight\\-annotate\n[\\fIOPTION\\fR]... ");
		man_put_text(out, command->arguments);
	}
	ts_buf_puts(out, "\n.SH DESCRIPTION\n");
	man_put_text(out, command->summary);
	ts_buf_puts(out, "\n.PP\n");
	put_paragraphs(out, command->help);
	if (command->options[0].name)
		ts_buf_puts(out, ".SH OPTIONS\n");
	man_put_options(out, command->options, command);
	ts_buf_puts(out, ".SH SHARED OPTIONS\n");
	man_put_options(out, ts_shared_options, command);
	man_put_exits(out);
	ts_buf_puts(out, ".SH SEE ALSO\n.BR tpusight (1)");
	if (command->has_thresholds)
		ts_buf_puts(out, ",\n.BR tpusight\\-thresholds (1)");
	ts_buf_putc(out, '\n');
}

static void put_summary(struct ts_buf *out, const char *name, const char *summary)
{
	ts_buf_puts(out, ".TP\n.B ");
	man_put_text(out, name);
	ts_buf_putc(out, '\n');
	man_put_text(out, summary);
	ts_buf_putc(out, '\n');
}

void ts_manual_program(struct ts_buf *out, ts_command_list commands)
{
	TS_ASSERT(out && commands);
	man_put_title(out, "tpusight");
	ts_buf_puts(out,
		    ".SH NAME\ntpusight \\- profile analysis of TPU and GPU jobs\n"
		    ".SH SYNOPSIS\n.B tpusight\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... "
		    "\\fIPATH\\fR...\n.SH DESCRIPTION\n"
		    "It reads TensorBoard profile runs and traces of PyTorch's and JAX's "
		    "profiler, works out where the time went, and says so.\n"
		    ".SH COMMANDS\nEach has a manual page, \\fBtpusight\\-\\fICOMMAND\\fR(1).\n");
	for (size_t i = 0; commands[i]; i++)
		put_summary(out, commands[i]->name, commands[i]->summary);
	for (size_t i = 0; ts_externals[i].name; i++)
		put_summary(out, ts_externals[i].name, ts_externals[i].summary);
	ts_buf_puts(out, ".SH OPTIONS OF ALL COMMANDS\n");
	man_put_options(out, ts_shared_options, NULL);
	man_put_exits(out);
	ts_buf_puts(out, ".SH SEE ALSO\n");
	for (size_t i = 0; commands[i]; i++)
		ts_buf_printf(out, ".BR tpusight\\-%s (1)%s\n", commands[i]->name,
			      commands[i + 1] ? "," : "");
}
