/* SPDX-License-Identifier: MIT */
/* What the commands of the profiling suite do. */
#include "cli/suite.h"

#include "base/check.h"
#include "result/order.h"
#include "result/view.h"
#include "write/report_json.h"

/* One of the command's own; NULL: it has none of that name. */
static const struct ts_output *own_output(const struct ts_suite *suite, const char *name)
{
	for (size_t i = 0; i < TS_NELEM(suite->outputs) && suite->outputs[i]; i++)
		if (strcmp(suite->outputs[i]->name, name) == 0)
			return suite->outputs[i];
	return NULL;
}

/* Of a command without options of its own. */
struct plain_options {
	struct ts_print_options print;
};

/* All outputs, then the command's own that are not among them, then what it writes itself. */
const char *ts_suite_format_at(const struct ts_command *command, size_t index)
{
	const struct ts_suite *suite = command->suite;

	TS_ASSERT(command);
	TS_ASSERT(suite);
	for (size_t i = 0; ts_outputs[i]; i++)
		if (index-- == 0)
			return ts_outputs[i]->name;
	for (size_t i = 0; i < TS_NELEM(suite->outputs) && suite->outputs[i]; i++)
		if (!ts_output_find(suite->outputs[i]->name) && index-- == 0)
			return suite->outputs[i]->name;
	return index == 0 ? suite->file_format : NULL;
}

const struct ts_option ts_suite_options[] = {
	TS_SUITE_OPTIONS(struct plain_options, print),
	TS_OPT_END,
};

/* A view without the column is in its own order; one must have it. */
static bool sort_view(struct ts_report *form, const struct ts_result *result, const char *sort,
		      struct ts_error *err)
{
	struct ts_error other = TS_ERROR_INIT;
	bool has = sort && ts_tables_need_column(result->tables, result->nr_tables, sort,
						 err->text[0] ? &other : err) == TS_OK;

	form->sort = has ? sort : NULL;
	return has;
}

/* As text: the views one after the other, those that say something. */
static enum ts_status emit_views(const struct ts_suite *suite, struct ts_report form,
				 const struct ts_results *results, struct ts_buf *out,
				 struct ts_error *err)
{
	const char *sort = form.sort;
	bool is_sorted = !sort;
	enum ts_status st = TS_OK;
	size_t nr_shown = 0;

	for (size_t i = 0; i < TS_NELEM(suite->results) && suite->results[i] && !st; i++) {
		const struct ts_result *result = ts_results_find(results, suite->results[i]->name);

		if (!result || ts_result_is_silent(result))
			continue;
		form.view = result->name;
		is_sorted |= sort_view(&form, result, sort, err);
		if (nr_shown++ > 0)
			ts_buf_putc(out, '\n');
		st = ts_output_find("text")->emit(out, results, &form, err);
	}
	if (st == TS_OK && nr_shown == 0)
		return ts_fail(err, TS_NOTFOUND,
			       "no %s in this profile (tpusight report lists what it has)",
			       suite->results[0]->name);
	return st == TS_OK && !is_sorted ? TS_USAGE : st;
}

static enum ts_status suite_emit(const struct ts_cli *cli, const struct ts_print_options *print,
				 const struct ts_results *results, struct ts_buf *out,
				 struct ts_error *err)
{
	const struct ts_suite *suite = cli->entry->suite;
	const char *name = print->format ? print->format : "text";
	struct ts_report form = ts_report_form(cli, print);
	enum ts_status st;

	form.view = suite->results[0]->name;
	st = ts_check_rows(print, err);
	if (st)
		return st;
	if (own_output(suite, name))
		st = own_output(suite, name)->emit(out, results, &form, err);
	else if (strcmp(name, "text") == 0)
		st = emit_views(suite, form, results, out, err);
	else if (strcmp(name, "json") == 0)
		st = ts_report_object(out, results, suite->results, &form, err);
	else
		st = ts_output_find(name)->emit(out, results, &form, err);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_exit ts_suite_report(const struct ts_cli *cli, const struct ts_print_options *print,
			     struct ts_door door)
{
	TS_ASSERT(print);
	TS_ASSERT(cli && cli->entry->suite && !door.emit);
	door.emit = suite_emit;
	door.interleave = true;
	return ts_report_sessions(cli, print, &door);
}

enum ts_exit ts_suite_run(struct ts_cli *cli)
{
	const struct ts_door door = { .tree_rows = cli->entry->suite->tree_rows };

	TS_ASSERT(cli->entry->own_size >= sizeof(struct ts_print_options));
	return ts_suite_report(cli, cli->own, door);
}
