/* SPDX-License-Identifier: MIT */
/* The report as JSON. */
#include "write/report_json.h"

#include "base/check.h"
#include "codec/json.h"
#include "result/impossible.h"
#include "result/view.h"
#include "write/brief.h"
#include "write/json_head.h"
#include "write/json_value.h"
#include "write/report_tracks.h"
#include "write/summary.h"
#include "result/schema/doctor.def"
#include "result/schema/prediction.def"

/* Where the writer stands among dotted names: inside the objects of the last one. */
struct place {
	struct ts_json *json;
	const char *name;
};

static size_t nr_levels(const char *name)
{
	size_t nr = 0;

	for (; *name; name++)
		nr += *name == '.';
	return nr;
}

static size_t nr_shared_levels(const char *a, const char *b)
{
	size_t nr = 0;

	for (; *a && *a == *b; a++, b++)
		nr += *a == '.';
	return nr;
}

static void leave_to(struct place *place, size_t level)
{
	for (size_t at = nr_levels(place->name); at > level; at--)
		ts_json_object_end(place->json);
}

/* Closes and opens objects on the way to NAME, and writes the key of its last part. */
static void go_to(struct place *place, const char *name)
{
	size_t shared = nr_shared_levels(place->name, name), skip = shared;
	const char *part = name, *dot;

	leave_to(place, shared);
	while ((dot = strchr(part, '.'))) {
		if (skip > 0) {
			skip--;
		} else {
			ts_json_key_bytes(place->json, (struct ts_bytes){ (const uint8_t *)part,
									  (size_t)(dot - part) });
			ts_json_object(place->json);
		}
		part = dot + 1;
	}
	ts_json_key(place->json, part);
	place->name = name;
}

/* A row is a line, for people too: a table of ten thousand steps is read by column. */
static void report_json_put_table(struct ts_json *json, const struct ts_table *table)
{
	const enum ts_json_style style = json->style;
	const struct ts_value *cell = table->cells;

	ts_json_array(json);
	for (size_t row = 0; row < table->nr_rows; row++) {
		ts_json_object(json);
		json->style = TS_JSON_COMPACT;
		for (size_t i = 0; i < table->nr_columns; i++) {
			ts_json_key(json, table->columns[i].name);
			ts_json_value(json, *cell++);
		}
		if (row >= ts_table_nr_listed(table))
			ts_json_put_bool(json, "is_others", true);
		ts_json_object_end(json);
		json->style = style;
		if (json->drain)
			ts_drain_offer(json->drain, json->out);
	}
	ts_json_array_end(json);
}

/* A part of a result: all of it, one table, or of a top-level one what describes the run. */
struct part {
	const struct ts_result *result;
	const struct ts_table *table; /* only this one; NULL: all */
	bool run, rest;		      /* run and its fields; all others and the tables */
};

static bool report_json_wants_field(const struct part *part, const struct ts_field *field)
{
	bool is_run = part->result->top_level && strncmp(field->name, "run", 3) == 0 &&
		      (field->name[3] == '.' || field->name[3] == '\0');

	return is_run ? part->run : part->rest && !part->table;
}

static bool report_json_wants_table(const struct part *part, const struct ts_table *table)
{
	return part->rest && (!part->table || part->table == table);
}

static void report_json_put_part(struct ts_json *json, const struct part *part)
{
	const struct ts_result *result = part->result;
	struct place place = { json, "" };

	for (size_t i = 0; i < result->nr_fields; i++) {
		if (!report_json_wants_field(part, &result->fields[i]))
			continue;
		go_to(&place, result->fields[i].name);
		ts_json_value(json, result->fields[i].value);
	}
	for (size_t i = 0; i < result->nr_tables; i++) {
		if (!report_json_wants_table(part, &result->tables[i]))
			continue;
		go_to(&place, result->tables[i].name);
		report_json_put_table(json, &result->tables[i]);
	}
	leave_to(&place, 0);
}

static void report_json_put_findings(struct ts_json *json, const struct part *parts, size_t nr)
{
	bool any = false;

	for (size_t i = 0; i < nr; i++)
		any |= parts[i].rest && !parts[i].table && ts_result_has_findings(parts[i].result);
	if (!any)
		return;
	ts_json_key(json, "findings");
	ts_json_array(json);
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; parts[i].rest && k < parts[i].result->nr_findings; k++)
			ts_json_finding(json, &parts[i].result->findings[k]);
	ts_json_array_end(json);
}

static void put_origin(struct ts_json *json, const char *table, const char *name,
		       const char *origin)
{
	struct ts_buf key = TS_BUF_INIT;

	if (table)
		ts_buf_printf(&key, "%s.%s", table, name);
	else
		ts_buf_puts(&key, name);
	json->out->failed |= key.failed;
	ts_json_key_bytes(json, ts_buf_bytes(&key));
	ts_json_text(json, origin);
	ts_buf_release(&key);
}

/* Measured values of a predicted profile are predicted; how far off predictions were is known from a real one. */
static const char *origin_in(const struct part *part, enum ts_origin origin)
{
	if (origin == TS_MEASURED && strcmp(part->result->name, ts_schema_prediction.name) != 0 &&
	    ts_summary_is_predicted(part->result->owner))
		return "predicted";
	return ts_origin_name(origin);
}

static void put_origins(struct ts_json *json, const struct part *part)
{
	const struct ts_result *result = part->result;

	for (size_t i = 0; i < result->nr_fields; i++)
		if (report_json_wants_field(part, &result->fields[i]))
			put_origin(json, NULL, result->fields[i].name,
				   result->fields[i].value.type == TS_VALUE_NULL
					   ? "unknown"
					   : origin_in(part, ts_field_origin(&result->fields[i])));
	for (size_t i = 0; i < result->nr_tables; i++) {
		const struct ts_table *table = &result->tables[i];

		for (size_t k = 0; report_json_wants_table(part, table) && k < table->nr_columns;
		     k++)
			put_origin(json, table->name, table->columns[k].name,
				   origin_in(part, ts_column_origin(table, k)));
	}
}

static bool report_json_is_asked(const struct ts_report *report, const struct ts_view *view,
				 const struct ts_result *result)
{
	if (view->result)
		return view->result == result;
	for (const char *const *name = report->only; name && *name; name++)
		if (strcmp(*name, result->name) == 0)
			return true;
	return !report->only;
}

struct impossible_list {
	struct ts_json *json;
	size_t nr;
};

/* The first few are examples enough; how many there are is known from the count. */
#define MAX_IMPOSSIBLE 200

static void put_impossible_place(void *arg, const struct ts_impossible_place *place)
{
	struct impossible_list *list = arg;
	struct ts_json *json = list->json;
	struct ts_bytes item = ts_impossible_item(place);

	if (list->nr++ >= MAX_IMPOSSIBLE)
		return;
	ts_json_object(json);
	ts_json_put_text(json, "view", place->result->name);
	ts_json_key(json, "table");
	place->table ? ts_json_text(json, place->table->name) : ts_json_null(json);
	ts_json_key(json, "row");
	place->table ? ts_json_i64(json, (int64_t)place->row) : ts_json_null(json);
	ts_json_key(json, "item");
	item.n > 0 ? ts_json_string(json, item) : ts_json_null(json);
	ts_json_put_text(json, "field", place->name);
	if (place->in_list)
		ts_json_put_i64(json, "item_index", (int64_t)place->index);
	ts_json_put_double(json, "value", place->figure->value);
	ts_json_put_double(json, "peak", place->figure->peak);
	ts_json_put_string(json, "cause", place->figure->cause);
	ts_json_object_end(json);
}

static size_t each_impossible(const struct ts_results *results, const struct ts_report *report,
			      const struct ts_view *view, ts_impossible_seen *seen, void *arg)
{
	size_t nr = 0;

	for (size_t i = 0; i < results->nr; i++)
		if (report_json_is_asked(report, view, results->items[i]))
			nr += ts_result_each_impossible(results->items[i], view->table, seen, arg);
	return nr;
}

/* Figures that cannot be true: they are null where they stand. Where all can, there is no list. */
static void report_json_put_impossible(struct ts_json *json, const struct ts_results *results,
				       const struct ts_report *report, const struct ts_view *view)
{
	struct impossible_list list = { json, 0 };
	size_t nr = each_impossible(results, report, view, NULL, NULL);

	if (nr == 0)
		return;
	ts_json_put_i64(json, "impossible_count", (int64_t)nr);
	ts_json_key(json, "impossible");
	ts_json_array(json);
	each_impossible(results, report, view, put_impossible_place, &list);
	ts_json_array_end(json);
}

/* What stands at the end of an object, once, whatever number of results share it. */
static void report_json_put_tail(struct ts_json *json, const struct part *parts, size_t nr)
{
	report_json_put_findings(json, parts, nr);
	ts_json_key(json, "notes");
	ts_json_array(json);
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; parts[i].rest && k < parts[i].result->nr_notes; k++)
			ts_json_string(json, parts[i].result->notes[k]);
	ts_json_array_end(json);
	ts_json_key(json, "provenance");
	ts_json_object(json);
	for (size_t i = 0; i < nr; i++)
		put_origins(json, &parts[i]);
	ts_json_object_end(json);
}

static void report_json_put_object(struct ts_json *json, const struct part *part)
{
	ts_json_key(json, part->result->name);
	ts_json_object(json);
	report_json_put_part(json, part);
	report_json_put_tail(json, part, 1);
	ts_json_object_end(json);
}

/* Without a run (modules alone) it is null. */
static void report_json_put_run(struct ts_json *json, const struct ts_results *results)
{
	size_t before = json->out->n;

	for (size_t i = 0; i < results->nr; i++) {
		const struct part run = { .result = results->items[i], .run = true };

		if (run.result->top_level)
			report_json_put_part(json, &run);
	}
	if (json->out->n > before)
		return;
	ts_json_key(json, "run");
	ts_json_null(json);
}

static void report_json_put_report(struct ts_json *json, const struct ts_results *results,
				   const struct ts_report *report, const struct ts_view *view)
{
	struct part *top = calloc(results->nr + 1, sizeof(*top));
	size_t nr_top = 0;

	if (!top) {
		json->out->failed = true;
		return;
	}
	report_json_put_run(json, results);
	for (size_t i = 0; i < results->nr; i++) {
		const struct ts_result *result = results->items[i];
		bool rest = report_json_is_asked(report, view, result);
		struct part part = { result, rest ? view->table : NULL, false, rest };

		if (result->top_level) {
			report_json_put_part(json, &part);
			part.run = true; /* written before: its origins are written here */
			top[nr_top++] = part;
		} else if (rest && !ts_result_is_silent(result)) {
			report_json_put_object(json, &part);
		}
	}
	report_json_put_impossible(json, results, report, view);
	report_json_put_tail(json, top, nr_top);
	free(top);
}

enum ts_status ts_report_json(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err)
{
	struct ts_json json = ts_json_of(out, report->pretty ? TS_JSON_PRETTY : TS_JSON_COMPACT);
	struct ts_view view = { NULL, NULL };
	enum ts_status st = TS_OK;

	TS_ASSERT(out && results && report);
	if (report->brief)
		return ts_brief_json(out, results, report, err);
	if (results->failed)
		return ts_fail_nomem(err);
	if (report->view)
		st = ts_view_find(results, report->view, &view, err);
	if (st && st != TS_NOTFOUND)
		return st;
	json.drain = report->drain;
	ts_json_object(&json);
	ts_json_head(&json, report);
	if (st == TS_NOTFOUND) {
		ts_json_key(&json, report->view); /* another profile could have it */
		ts_json_null(&json);
	} else {
		report_json_put_report(&json, results, report, &view);
	}
	if (report->max_track_items > 0 && !report->view)
		ts_report_tracks(&json, results, report->max_track_items);
	ts_json_object_end(&json);
	ts_buf_putc(out, '\n');
	if (out->failed)
		return ts_fail_nomem(err);
	return report->drain ? report->drain->status : TS_OK;
}

static bool is_said_before(const struct ts_result *doctor, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (ts_bytes_eq(doctor->findings[i].advice, doctor->findings[at].advice))
			return true;
	return false;
}

static void put_recommendations(struct ts_json *json, const struct ts_result *doctor)
{
	ts_json_key(json, "recommendations");
	ts_json_array(json);
	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (doctor->findings[i].advice.n > 0 && !is_said_before(doctor, i))
			ts_json_string(json, doctor->findings[i].advice);
	ts_json_array_end(json);
}

enum ts_status ts_report_object(struct ts_buf *out, const struct ts_results *results,
				const struct ts_schema *const *schemas,
				const struct ts_report *report, struct ts_error *err)
{
	struct ts_json json = ts_json_of(out, report->pretty ? TS_JSON_PRETTY : TS_JSON_COMPACT);
	const struct ts_result *doctor = TS_FIND(results, doctor);

	TS_ASSERT(out && results);
	if (results->failed)
		return ts_fail_nomem(err);
	ts_json_object(&json);
	ts_json_head(&json, report);
	for (size_t i = 0; schemas[i]; i++) {
		const struct part part = { .result = ts_results_find(results, schemas[i]->name),
					   .rest = true };

		if (!part.result || ts_result_is_silent(part.result))
			continue;
		if (i > 0) {
			report_json_put_object(&json, &part);
			continue;
		}
		report_json_put_part(&json, &part);
		report_json_put_tail(&json, &part, 1);
	}
	if (doctor) {
		ts_json_key(&json, "bottlenecks");
		ts_json_array(&json);
		for (size_t i = 0; i < doctor->nr_findings; i++)
			ts_json_string(&json, doctor->findings[i].title);
		ts_json_array_end(&json);
		put_recommendations(&json, doctor);
	}
	ts_json_object_end(&json);
	ts_buf_putc(out, '\n');
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

const struct ts_output ts_output_json = {
	.name = "json",
	.extension = "json",
	.emit = ts_report_json,
};
