/* Rows, and what all of them do. */
#include "cli/suite.h"

#include "base/units.h"
#include "result/view.h"
#include "write/flame_outputs.h"
#include "write/report_json.h"

static const struct ts_suite rows[] = {
	{ .name = "compile", .results = { "compile", "cache" } },
	{ .name = "memory", .results = { "memory_timeline", "memory", "capacity", "allocators" } },
	{ .name = "timeline",
	  .results = { "timeline" },
	  .file_format = "chrome",
	  .min_duration_ps = TS_PS_PER_US },
	{ .name = "hta", .results = { "hta" } },
	{ .name = "flame",
	  .results = { "flame" },
	  .outputs = { &ts_output_flame_text, &ts_output_flame_json, &ts_output_flame_folded,
		       &ts_output_flame_speedscope },
	  .min_duration_ps = 10 * TS_PS_PER_US,
	  .tree_rows = 65536 },
	{ .name = "kernels", .results = { "kernels" } },
};

static const struct ts_suite *suite_of(const struct ts_cli *cli)
{
	const char *name = strrchr(cli->command, ' ');

	for (size_t i = 0; name && i < TS_NELEM(rows); i++)
		if (strcmp(rows[i].name, name + 1) == 0)
			return &rows[i];
	return NULL;
}

/* One of the row's own; NULL: it has none of that name. */
static const struct ts_output *own_output(const struct ts_suite *suite, const char *name)
{
	for (size_t i = 0; i < TS_NELEM(suite->outputs) && suite->outputs[i]; i++)
		if (strcmp(suite->outputs[i]->name, name) == 0)
			return suite->outputs[i];
	return NULL;
}

static const struct ts_output *output_of(const struct ts_suite *suite, const char *name)
{
	const struct ts_output *own = own_output(suite, name);

	return own ? own : ts_output_find(name);
}

enum ts_status ts_set_suite_format(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	const struct ts_suite *suite = suite_of(cli);
	struct ts_buf names = TS_BUF_INIT;

	if (output_of(suite, value) ||
	    (suite->file_format && strcmp(suite->file_format, value) == 0)) {
		cli->format = value;
		return TS_OK;
	}
	for (size_t i = 0; ts_outputs[i]; i++)
		ts_buf_printf(&names, "%s%s", i ? ", " : "", ts_outputs[i]->name);
	for (size_t i = 0; i < TS_NELEM(suite->outputs) && suite->outputs[i]; i++)
		if (!ts_output_find(suite->outputs[i]->name))
			ts_buf_printf(&names, ", %s", suite->outputs[i]->name);
	if (suite->file_format)
		ts_buf_printf(&names, ", %s", suite->file_format);
	ts_fail(err, TS_USAGE, "%s is no format (%.*s)", value, TS_ARG(ts_buf_bytes(&names)));
	ts_buf_release(&names);
	return TS_USAGE;
}

enum ts_status ts_set_json(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->format = "json";
	return TS_OK;
}

enum ts_status ts_set_min_duration(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	char *end = NULL;
	double us = strtod(value, &end);

	if (end == value || *end || !(us >= 0) || us > 1e12)
		return ts_fail(err, TS_USAGE, "%s is no number of microseconds", value);
	cli->has_min_duration = true;
	cli->min_duration_ps = (int64_t)(us * (double)TS_PS_PER_US);
	return TS_OK;
}

const struct ts_option ts_suite_options[] = {
	TS_SUITE_OPTIONS,
	{ NULL, 0, NULL, NULL, NULL },
};

/* As text: the views one after the other, those that say something. */
static enum ts_status emit_views(const struct ts_cli *cli, const struct ts_suite *suite,
				 const struct ts_results *results, struct ts_buf *out,
				 struct ts_error *err)
{
	struct ts_report form = ts_report_form(cli);
	enum ts_status st = TS_OK;
	size_t nr_shown = 0;

	for (size_t i = 0; i < TS_NELEM(suite->results) && suite->results[i] && !st; i++) {
		const struct ts_result *result = ts_results_find(results, suite->results[i]);

		if (!result || ts_result_is_silent(result))
			continue;
		form.view = result->name;
		if (nr_shown++ > 0)
			ts_buf_putc(out, '\n');
		st = ts_output_find("text")->emit(out, results, &form, err);
	}
	return st;
}

static enum ts_status emit(const struct ts_cli *cli, const struct ts_results *results,
			   struct ts_buf *out, struct ts_error *err)
{
	const struct ts_suite *suite = suite_of(cli);
	const char *name = cli->format ? cli->format : "text";
	struct ts_report form = ts_report_form(cli);
	enum ts_status st;

	form.view = suite->results[0];
	form.min_duration_ps =
		cli->has_min_duration ? cli->min_duration_ps : suite->min_duration_ps;
	if (own_output(suite, name))
		st = own_output(suite, name)->emit(out, results, &form, err);
	else if (strcmp(name, "text") == 0)
		st = emit_views(cli, suite, results, out, err);
	else if (strcmp(name, "json") == 0)
		st = ts_report_object(out, results, suite->results, &form, err);
	else
		st = ts_output_find(name)->emit(out, results, &form, err);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_exit ts_suite_run(struct ts_cli *cli)
{
	const struct ts_door door = { .emit = emit,
				      .merge = true,
				      .tree_rows = suite_of(cli)->tree_rows };

	return ts_report_sessions(cli, &door);
}
