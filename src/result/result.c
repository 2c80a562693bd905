/* SPDX-License-Identifier: MIT */
/*
 * Results: made, filled and found again. Lists grow in the arena by doubling; what they leave
 * behind dies with it.
 */
#include "result/result.h"

#include <stdarg.h>

#include "base/check.h"

#define FIRST_ROOM 16

static const char *const severity_names[TS_NR_SEVERITIES] = { "critical", "warning", "info" };
static const char *const confidence_names[TS_NR_CONFIDENCES] = { "certain", "likely", "possible" };
static const char *const origin_names[] = { "mixed",	"measured", "compiled", "modelled",
					    "inferred", "assumed",  "derived" };

void ts_results_init(struct ts_results *results)
{
	TS_ASSERT(results);
	*results = (struct ts_results){ .arena = TS_ARENA_INIT };
}

void ts_results_release(struct ts_results *results)
{
	TS_ASSERT(results);
	for (size_t i = 0; i < results->nr; i++)
		for (size_t t = 0; t < results->items[i]->nr_tables; t++)
			free(results->items[i]->tables[t].cells);
	free(results->items);
	ts_arena_release(&results->arena);
	ts_results_init(results);
}

static bool result_failed(struct ts_results *results)
{
	results->failed = true;
	return false;
}

struct ts_result *ts_results_add(struct ts_results *results, const char *name, const char *title)
{
	struct ts_result *result = NULL;

	TS_ASSERT(results && name);
	TS_ASSERT(!ts_results_find(results, name));
	if (ts_grow(&results->items, &results->cap, results->nr + 1, sizeof(*results->items)))
		result = ts_arena_zalloc(&results->arena, sizeof(*result));
	if (!result) {
		result_failed(results);
		return NULL;
	}
	result->name = name;
	result->title = title;
	result->owner = results;
	results->items[results->nr++] = result;
	return result;
}

const struct ts_result *ts_results_find(const struct ts_results *results, const char *name)
{
	TS_ASSERT(results && name);
	for (size_t i = 0; i < results->nr; i++)
		if (strcmp(results->items[i]->name, name) == 0)
			return results->items[i];
	return NULL;
}

/* Room for one more of SIZE bytes: the array as it is, or a larger copy; NULL: no memory. */
static void *result_room(struct ts_result *result, void *items, size_t nr, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : FIRST_ROOM;
	void *grown;

	TS_ASSERT(result && result->owner && nr <= *cap);
	if (nr < *cap)
		return items;
	grown = ts_arena_array(&result->owner->arena, more, size);
	if (!grown) {
		result_failed(result->owner);
		return NULL;
	}
	if (nr)
		memcpy(grown, items, nr * size);
	*cap = more;
	return grown;
}

struct ts_field *ts_result_find_field(const struct ts_result *result, const char *name)
{
	for (size_t i = 0; i < result->nr_fields; i++)
		if (strcmp(result->fields[i].name, name) == 0)
			return &result->fields[i];
	return NULL;
}

struct ts_field *ts_result_field(struct ts_result *result, const char *name, struct ts_value value,
				 enum ts_origin origin, const char *label)
{
	struct ts_field *field =
		ts_result_find_field(result, name); /* said again: the newest wins */
	struct ts_field *fields;

	TS_ASSERT(result && name);
	TS_ASSERT((size_t)origin < TS_NELEM(origin_names));
	TS_ASSERT(result->owner);
	if (!field) {
		fields = result_room(result, result->fields, result->nr_fields, &result->cap_fields,
				     sizeof(*fields));
		if (!fields)
			return &result->owner->spare_field;
		result->fields = fields;
		field = &fields[result->nr_fields++];
	}
	*field = (struct ts_field){ name, value, origin, label };
	return field;
}

struct ts_value ts_result_get(const struct ts_result *result, const char *field)
{
	const struct ts_field *found = result ? ts_result_find_field(result, field) : NULL;

	TS_ASSERT(field);
	return found ? found->value : ts_null();
}

enum ts_origin ts_field_origin(const struct ts_field *field)
{
	TS_ASSERT(field);
	return field->value.origin ? field->value.origin : field->origin;
}

struct ts_table *ts_result_table(struct ts_result *result, const char *name, const char *title,
				 const struct ts_column *columns, size_t nr_columns)
{
	struct ts_table *tables = result_room(result, result->tables, result->nr_tables,
					      &result->cap_tables, sizeof(*tables));

	TS_ASSERT(result && name && columns);
	TS_ASSERT(nr_columns > 0 && nr_columns <= TS_MAX_COLUMNS);
	TS_ASSERT(!ts_result_find_table(result, name));
	if (!tables) {
		tables = &result->owner->spare_table;
	} else {
		result->tables = tables;
		tables += result->nr_tables++;
	}
	*tables = (struct ts_table){
		.name = name, .title = title, .columns = columns, .nr_columns = nr_columns
	};
	return tables;
}

struct ts_finding *ts_result_finding(struct ts_result *result)
{
	struct ts_finding *findings = result_room(result, result->findings, result->nr_findings,
						  &result->cap_findings, sizeof(*findings));

	TS_ASSERT(result);
	if (!findings)
		return NULL;
	result->findings = findings;
	findings += result->nr_findings++;
	*findings = (struct ts_finding){ .impact_ps = -1,
					 .impact_share = NAN,
					 .gain_ps = -1,
					 .gain_share = NAN,
					 .gain_alone_ps = -1,
					 .gain_low_ps = -1,
					 .gain_high_ps = -1 };
	return findings;
}

struct ts_track *ts_result_track(struct ts_result *result, enum ts_track_kind kind,
				 const char *name, uint32_t device, int order)
{
	struct ts_track *tracks = result_room(result, result->tracks, result->nr_tracks,
					      &result->cap_tracks, sizeof(*tracks));

	TS_ASSERT(result && name);
	TS_ASSERT(kind == TS_TRACK_SLICES || kind == TS_TRACK_COUNTER);
	if (!tracks)
		return NULL;
	result->tracks = tracks;
	tracks += result->nr_tracks++;
	*tracks = (struct ts_track){ .kind = kind, .name = name, .device = device, .order = order };
	return tracks;
}

static struct ts_bytes format(struct ts_result *result, const char *fmt, va_list ap)
{
	struct ts_bytes text = { NULL, 0 };
	uint8_t *p = NULL;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n >= 0)
		p = ts_arena_alloc(&result->owner->arena, (size_t)n + 1);
	if (!p) {
		result_failed(result->owner);
		return text;
	}
	vsnprintf((char *)p, (size_t)n + 1, fmt, ap);
	return (struct ts_bytes){ p, (size_t)n };
}

struct ts_bytes ts_result_text(struct ts_result *result, const char *fmt, ...)
{
	struct ts_bytes text;
	va_list ap;

	TS_ASSERT(result && fmt);
	va_start(ap, fmt);
	text = format(result, fmt, ap);
	va_end(ap);
	return text;
}

void ts_result_note(struct ts_result *result, const char *fmt, ...)
{
	struct ts_bytes *notes, text;
	va_list ap;

	TS_ASSERT(result && fmt);
	va_start(ap, fmt);
	text = format(result, fmt, ap);
	va_end(ap);
	notes = text.p ? result_room(result, result->notes, result->nr_notes, &result->cap_notes,
				     sizeof(*notes))
		       : NULL;
	if (!notes)
		return;
	result->notes = notes;
	notes[result->nr_notes++] = text;
}

const char *ts_severity_name(enum ts_severity severity)
{
	TS_ASSERT((size_t)severity < TS_NELEM(severity_names));
	return severity_names[severity];
}

const char *ts_confidence_name(enum ts_confidence confidence)
{
	TS_ASSERT((size_t)confidence < TS_NELEM(confidence_names));
	return confidence_names[confidence];
}

const char *ts_origin_name(enum ts_origin origin)
{
	TS_ASSERT((size_t)origin < TS_NELEM(origin_names));
	return origin_names[origin];
}
