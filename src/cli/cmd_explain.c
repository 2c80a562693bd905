/* SPDX-License-Identifier: MIT */
/* explain: what a word of a report means. */
#include "cli/cli.h"

#include <strings.h>

#include "analysis/settings.h"
#include "base/closest.h"
#include "cli/explain/words.h"
#include "cli/report.h"
#include "codec/markdown.h"
#include "codec/term.h"
#include "write/report_json.h"
#include "write/schema.h"
#include "result/schema/explain.def"

#define INDENT	   2
#define WIDTH	   100 /* where there is no terminal */
#define THRESHOLDS "tpusight thresholds"
#define GLOSSARY   "docs/glossary.md" /* what schema --format markdown prints */

#define WORD_CELLS(X) \
	X(word, ts_text_or_null(ts_bytes_of(word->word))) \
	X(kind, ts_text_or_null(ts_bytes_of(word->kind))) \
	X(view, ts_text_or_null(ts_bytes_of(word->view))) \
	X(page, ts_text_or_null(ts_bytes_of(word->page))) \
	X(text, ts_text_or_null(ts_bytes_of(word->text)))

/* Is WORD this name? The unit may be left out. */
static bool cmd_explain_is_named(struct ts_bytes name, struct ts_bytes word)
{
	if (name.n < word.n || strncasecmp((const char *)word.p, (const char *)name.p, word.n) != 0)
		return false;
	name = ts_bytes_cut(name, word.n, name.n);
	return name.n == 0 || ts_bytes_is(name, "_ps") || ts_bytes_is(name, "_pct") ||
	       ts_bytes_is(name, "_bytes") || ts_bytes_is(name, "_per_s");
}

/* Is a row of the documents meant by WORD? The view may stand in front. */
static bool is_meant(const struct ts_word *of, struct ts_bytes word)
{
	size_t n = strlen(of->view);

	if (ts_bytes_starts(word, of->view) && word.n > n && word.p[n] == '.')
		word = ts_bytes_cut(word, n + 1, word.n);
	return cmd_explain_is_named(ts_bytes_of(of->word), word);
}

static void add(struct ts_result *result, struct ts_table *table, const struct ts_word *word)
{
	TS_CELLS(result, table, explain_words, WORD_CELLS);
}

static void put_line(struct ts_buf *out, const char *mark, const char *text)
{
	if (!text)
		return;
	ts_buf_puts(out, mark);
	/* Marks of Markdown go. */
	for (const char *c = text; *c; c++)
		if (*c != '`' && *c != '*')
			ts_buf_putc(out, *c);
}

static void add_label(struct ts_result *result, struct ts_table *table, const struct ts_term *term,
		      const char *name, struct ts_bytes label)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_put(&text, label);
	put_line(&text, "\n", term->meaning);
	put_line(&text, "\nFormula: ", term->formula);
	put_line(&text, "\nUnit: ", term->unit);
	add(result, table,
	    &(struct ts_word){
		    name, "label", "", GLOSSARY,
		    (const char *)ts_result_text(result, "%.*s", TS_ARG(ts_buf_bytes(&text))).p });
	ts_buf_release(&text);
}

/* Of a term that WORD means, one row for each label that it has. */
static bool find_term(struct ts_result *result, struct ts_table *table,
		      const struct ts_bearers *names, const struct ts_term *term,
		      struct ts_bytes word)
{
	struct ts_bytes label = ts_bytes_of(term->label), last = { NULL, 0 };

	if (cmd_explain_is_named(label, word))
		add_label(result, table, term, term->label, last = label);
	for (size_t i = 0; i < names->nr; i++) {
		const struct ts_bearer *of = &names->items[i];
		struct ts_bytes own = of->own.n ? of->own : label;

		if (of->term == term && cmd_explain_is_named(of->name, word) &&
		    !ts_bytes_eq(own, last))
			add_label(result, table, term, (const char *)of->name.p, last = own);
	}
	return last.n > 0;
}

static bool find_label(struct ts_result *result, struct ts_table *table,
		       const struct ts_bearers *names, struct ts_bytes word)
{
	bool found = false;

	for (size_t i = 0; ts_terms[i]; i++)
		found |= find_term(result, table, names, ts_terms[i], word);
	return found;
}

/* Where the page of a view is; "": it has none. */
static const char *cmd_explain_page_of(const char *view)
{
	for (const struct ts_word *of = ts_words; of->word; of++)
		if (strcmp(of->kind, "view") == 0 && strcmp(of->word, view) == 0)
			return of->page;
	return "";
}

/* A place of columns: of a table, or of the fields of a result. */
struct part {
	const struct ts_schema *schema;
	const struct ts_sheet *sheet; /* or NULL */
};

static struct part part_of(const struct ts_schema *schema, const struct ts_column *columns)
{
	size_t i = 0;

	while (schema->sheets[i]->columns != columns)
		i++; /* notes are of a table of the result */
	return (struct part){ schema, schema->sheets[i] };
}

/* The origin of the first column that NOTE is of; NULL: it is of all. */
static const char *note_origin(const struct part *part, const struct ts_note *note)
{
	const struct ts_column *columns = part->sheet ? part->sheet->columns : part->schema->fields;

	for (size_t i = 0; *note->names; i++)
		if (ts_note_place(note, columns[i].name) >= 0)
			return ts_origin_name(columns[i].origin);
	return NULL;
}

static void put_unlinked(struct ts_buf *out, const char *mark, const char *text)
{
	struct ts_buf plain = TS_BUF_INIT;

	if (!text)
		return;
	ts_markdown_put_unlinked(&plain, text);
	ts_buf_putc(&plain, '\0');
	if (!plain.failed)
		put_line(out, mark, (const char *)plain.p);
	out->failed |= plain.failed;
	ts_buf_release(&plain);
}

static void add_note(struct ts_result *result, struct ts_table *table, const struct part *part,
		     const struct ts_note *note, struct ts_bytes name)
{
	struct ts_buf text = TS_BUF_INIT;
	const char *table_name = part->sheet && *note->names ? part->sheet->name : "";

	put_unlinked(&text, "", note->how);
	put_line(&text, "\norigin: ", note_origin(part, note));
	put_unlinked(&text, "\nwrong when: ", note->wrong);
	add(result, table,
	    &(struct ts_word){
		    (const char *)ts_result_text(result, "%s%s%.*s", table_name,
						 *table_name ? "." : "", TS_ARG(name))
			    .p,
		    "field", part->schema->name, cmd_explain_page_of(part->schema->name),
		    (const char *)ts_result_text(result, "%.*s", TS_ARG(ts_buf_bytes(&text))).p });
	ts_buf_release(&text);
}

static struct ts_bytes without(struct ts_bytes word, const char *front)
{
	size_t n = strlen(front);

	return ts_bytes_starts(word, front) && word.n > n && word.p[n] == '.'
		       ? ts_bytes_cut(word, n + 1, word.n)
		       : word;
}

/* Each name that NOTE is of: that of the table, of columns, or of a group of fields. Result and table may stand in front of WORD. */
static void find_in_note(struct ts_result *result, struct ts_table *table, const struct part *part,
			 const struct ts_note *note, struct ts_bytes word)
{
	struct ts_bytes bare = without(word, part->schema->name);
	struct ts_bytes rest = ts_bytes_of(note->names);

	if (part->sheet && rest.n == 0)
		rest = ts_bytes_of(part->sheet->name);
	else if (part->sheet)
		bare = without(bare, part->sheet->name);
	while (rest.n > 0) {
		size_t n = ts_bytes_find(rest, ", ");
		struct ts_bytes name = ts_bytes_cut(rest, 0, n);

		if (ts_bytes_ends(name, ".*"))
			name.n -= strlen(".*");
		if (cmd_explain_is_named(name, bare) || cmd_explain_is_named(name, word))
			add_note(result, table, part, note, name);
		rest = ts_bytes_cut(rest, n + strlen(", "), rest.n);
	}
}

static void find_notes(struct ts_result *result, struct ts_table *table, struct ts_bytes word)
{
	for (size_t i = 0; ts_schemas[i]; i++) {
		struct part part = { ts_schemas[i], NULL };

		for (const struct ts_note *note = ts_schemas[i]->notes;
		     note->names || note->columns; note++)
			if (note->columns)
				part = part_of(ts_schemas[i], note->columns);
			else
				find_in_note(result, table, &part, note, word);
	}
}

/* Short words of the screens, and the labels that have their meaning. */
static const struct {
	const char *word, *label;
} screen_words[] = {
	{ "health", "Health score" },
	{ "device busy", "Duty cycle" },
	{ "MXU", "MXU utilization" },
	{ "tensor cores",
	  "MXU utilization" }, /* write/text_table.h: as makers of chips call them */
	{ "tensor core utilization", "MXU utilization" },
	{ "matrix cores", "MXU utilization" },
	{ "matrix core utilization", "MXU utilization" },
	{ "matrix units", "MXU utilization" },
	{ "matrix unit utilization", "MXU utilization" },
	{ "HBM", "HBM utilization" },
	{ "padding", "padding waste" },
	{ "could save", "Gain" },
	{ "good", "Band" },
	{ "fair", "Band" },
	{ "poor", "Band" },
	{ "certain", "Confidence" },
	{ "likely", "Confidence" },
	{ "possible", "Confidence" },
	{ "note", "Severity" },
	{ "not explained", "Unexplained" },
};

/* The figure that the first screen has a shorter word for; .p NULL: it has none. */
static struct ts_bytes figure_of(const char *word)
{
	for (size_t i = 0; i < TS_NELEM(screen_words); i++)
		if (strcasecmp(word, screen_words[i].word) == 0)
			return ts_bytes_of(screen_words[i].label);
	return (struct ts_bytes){ NULL, 0 };
}

static void find_text(struct ts_result *result, struct ts_table *table,
		      const struct ts_bearers *names, struct ts_bytes text)
{
	struct ts_bytes rest = text;

	/* systolic.ops.time_ps has a label of its own, that of ops.time_ps, or that of time_ps */
	while (rest.n > 0 && !find_label(result, table, names, rest))
		rest = ts_bytes_cut(rest, ts_bytes_find(rest, ".") + 1, rest.n);
	find_notes(result, table, text);
	for (const struct ts_word *of = ts_words; of->word; of++)
		if (is_meant(of, text))
			add(result, table, of);
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		if (ts_bytes_is(text, setting->name))
			add(result, table,
			    &(struct ts_word){ setting->name, "threshold", "", THRESHOLDS,
					       setting->help });
}

/* "padding" is a figure of the first screen, and a view. */
static void cmd_explain_find(struct ts_result *result, struct ts_table *table,
			     const struct ts_bearers *names, const char *word)
{
	struct ts_bytes figure = figure_of(word);

	if (figure.p)
		find_text(result, table, names, figure);
	find_text(result, table, names, ts_bytes_of(word));
}

static enum ts_status not_known(const struct ts_bearers *names, const char *word,
				struct ts_error *err)
{
	struct ts_closest closest = ts_closest_to(ts_bytes_of(word));

	for (size_t i = 0; ts_terms[i]; i++)
		ts_closest_try(&closest, ts_terms[i]->label);
	for (size_t i = 0; i < names->nr; i++)
		ts_closest_try(&closest, (const char *)names->items[i].name.p);

	for (const struct ts_word *of = ts_words; of->word; of++)
		ts_closest_try(&closest, of->word);
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		ts_closest_try(&closest, setting->name);
	if (closest.name[0])
		return ts_fail(err, TS_USAGE, "no entry for '%.64s'; did you mean '%s'?", word,
			       closest.name);
	return ts_fail(err, TS_USAGE,
		       "no entry for '%.64s' (try a word of a report, a view, a field, a rule or a "
		       "threshold)",
		       word);
}

/* The lines of a text, each wrapped below the other. */
static void put_lines(struct ts_buf *out, struct ts_bytes text, size_t width)
{
	struct ts_term_wrap how = { .width = width, .at = INDENT, .indent = INDENT };

	while (text.n > 0) {
		size_t n = ts_bytes_find(text, "\n");

		ts_buf_pad(out, ' ', INDENT);
		ts_term_wrap(out, ts_bytes_cut(text, 0, n), how);
		ts_buf_putc(out, '\n');
		text = ts_bytes_cut(text, n + 1, text.n);
	}
}

static void put_text(struct ts_buf *out, const struct ts_table *table, size_t width)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		struct ts_bytes page = ts_value_text(TS_CELL_OF(table, explain_words, row, page));
		struct ts_bytes kind = ts_value_text(TS_CELL_OF(table, explain_words, row, kind));

		ts_buf_printf(out, "%s%.*s: %.*s", row ? "\n" : "",
			      TS_ARG(ts_value_text(TS_CELL_OF(table, explain_words, row, word))),
			      TS_ARG(kind));
		if (ts_bytes_is(kind, "field") || ts_bytes_is(kind, "bucket"))
			ts_buf_printf(
				out, " of %.*s",
				TS_ARG(ts_value_text(TS_CELL_OF(table, explain_words, row, view))));
		if (page.n > 0)
			ts_buf_printf(out, " (%.*s)", TS_ARG(page));
		ts_buf_putc(out, '\n');
		put_lines(out, ts_value_text(TS_CELL_OF(table, explain_words, row, text)), width);
	}
}

struct explain_options {
	struct ts_print_options print;
};

static enum ts_status explain(const struct ts_cli *cli, const struct ts_bearers *names,
			      struct ts_results *results, struct ts_buf *out, struct ts_error *err)
{
	static const struct ts_schema *const schemas[] = { &ts_schema_explain, NULL };
	const struct explain_options *own = cli->own;
	const char *format = own->print.format;
	struct ts_report form = ts_report_form(cli, &own->print);
	struct ts_result *result = TS_ADD(results, explain);
	struct ts_table *table = TS_TABLE(result, explain_words);

	for (size_t i = 0; i < cli->nr_paths; i++) {
		size_t before = table->nr_rows;

		cmd_explain_find(result, table, names, cli->paths[i]);
		if (table->nr_rows == before)
			return not_known(names, cli->paths[i], err);
	}
	if (format && strcmp(format, "json") == 0)
		return ts_report_object(out, results, schemas, &form, err);
	put_text(out, table, form.width ? form.width : WIDTH);
	return out->failed || results->failed || names->failed ? ts_fail_nomem(err) : TS_OK;
}

static enum ts_exit run_explain(struct ts_cli *cli)
{
	const struct explain_options *own = cli->own;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_bearers names = { 0 };
	struct ts_results results;
	enum ts_status st;
	bool good;

	ts_bearers_of_schema(&names);
	ts_results_init(&results);
	st = explain(cli, &names, &results, &out, &err);
	if (st)
		ts_complain(err.text);
	good = st == TS_OK && ts_print_to(cli, own->print.output, ts_buf_bytes(&out));
	ts_buf_release(&out);
	ts_results_release(&results);
	ts_bearers_release(&names);
	if (st)
		return ts_exit_of(st);
	return good ? TS_EXIT_DONE : TS_EXIT_SOME;
}

static const char *cmd_explain_format_at(const struct ts_command *command, size_t index)
{
	static const char *const formats[] = { "text", "json", NULL };

	return formats[index];
}

#define OWN struct explain_options
static const struct ts_option options[] = {
	TS_OPTION_FORMAT(OWN, print, cmd_explain_format_at),
	TS_OPTION_OUTPUT(OWN, print),
	TS_OPTION_JSON(OWN, print),
	TS_OPT_END,
};

const struct ts_command ts_command_explain = {
	.name = "explain",
	.summary = "Say what a word of a report means: a label, view, field, bucket, rule or "
		   "threshold.",
	.arguments = "WORD...",
	.help = "WORD is a label as the page and the text show it (\"MXU utilization\"), a name as "
		"a JSON\n"
		"report has it (steps_median_ps, time.steps_median_ps, or without its unit), a "
		"view, a\n"
		"rule of the doctor, a bucket of time, a threshold, or a word of docs/words.md. "
		"What is\n"
		"said is what docs/glossary.md and the other documents say.",
	.options = options,
	.own_size = sizeof(OWN),
	.run = run_explain,
};
