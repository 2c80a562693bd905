/* SPDX-License-Identifier: MIT */
/*
 * Steps, the critical path and gaps, table by table. The report's times are of the run's clock, and its figures stand as args under
 * the names of their columns, in ns.
 */
#include "trace/story.h"

#include "base/check.h"
#include "base/map.h"
#include "base/order.h"
#include "base/units.h"
#include "trace/perfetto/perfetto.h"
#include "trace/story_rows.h"
#include "result/schema/critical_path.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"

struct telling {
	struct ts_story story;
	const struct ts_results *results;
	const struct ts_profile *profile;
	uint32_t host;
};

static bool story_is_int(struct ts_value value)
{
	return value.type == TS_VALUE_INT;
}

static struct ts_value story_ns(struct ts_value ps)
{
	return story_is_int(ps) ? ts_int(ps.as.i / TS_PS_PER_NS) : ts_null();
}

/* A column of times, and the arg that it becomes. */
struct story_time {
	const char *key;
	size_t column;
};

static struct ts_bytes story_text(struct telling *telling, struct ts_bytes text)
{
	telling->story.failed |= !text.p;
	return text;
}

/* A row for each device or host: "Gaps: /device:TPU:0". */
static uint32_t story_row_of(struct telling *telling, const char *what, struct ts_bytes whose,
			     const char *description)
{
	struct ts_bytes name = story_text(
		telling, ts_arena_printf(telling->story.arena, "%s: %.*s", what, TS_ARG(whose)));

	return name.p ? ts_story_row(&telling->story, (const char *)name.p, description) : TS_NONE;
}

/* A machine as the trace names it. */
static struct ts_bytes story_machine(struct telling *telling, uint32_t host)
{
	struct ts_bytes name =
		ts_perfetto_machine_name(&telling->profile->hosts[host], telling->story.arena);

	return name.n > 0 ? name : TS_LIT("host");
}

/* A device likewise: in a file of several hosts with its machine in front, as the SQL of both forms has it. */
static struct ts_bytes story_device_name(struct telling *telling, uint32_t index)
{
	const struct ts_device *device = &telling->profile->devices[index];
	bool is_alone = telling->profile->nr_hosts < 2 || device->host == telling->host;

	if (is_alone)
		return device->name;
	return story_text(telling, ts_arena_printf(telling->story.arena, "%.*s %.*s",
						   TS_ARG(story_machine(telling, device->host)),
						   TS_ARG(device->name)));
}

/* The device that a row of the report is about; TS_NONE: it is none of this trace. */
static uint32_t story_device(const struct telling *telling, struct ts_value id)
{
	if (!story_is_int(id) || id.as.i < 0 || (uint64_t)id.as.i >= telling->profile->nr_devices)
		return TS_NONE;
	return (uint32_t)id.as.i;
}

/* Steps */

#define STEP_TIME(name) { #name "_ns", TS_COLUMN_AT(time_per_step, name##_ps) }
static const struct story_time step_times[] = {
	STEP_TIME(compute),	  STEP_TIME(below_roofline), STEP_TIME(memory_wait),
	STEP_TIME(communication), STEP_TIME(host_transfer),  STEP_TIME(rematerialization),
	STEP_TIME(unexplained),	  STEP_TIME(compilation),    STEP_TIME(input),
	STEP_TIME(launch),	  STEP_TIME(idle),
};

/* Of each step the row of another table that is about it, by its number. */
static bool story_number_rows(const struct ts_table *table, const struct ts_sheet *sheet,
			      size_t column, struct ts_map *rows)
{
	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct ts_value step = ts_table_cell_of(table, sheet, i, column);

		if (story_is_int(step) && !ts_map_set(rows, (uint64_t)step.as.i, (uint32_t)i))
			return false;
	}
	return true;
}

/* "step 216 (+33.9 ms: compilation)" */
static struct ts_bytes story_step_name(struct telling *telling, int64_t step,
				       const struct ts_time_steps_outliers_row *slow)
{
	struct ts_arena *arena = telling->story.arena;
	char excess[TS_UNIT_MAX];
	struct ts_bytes cause = slow ? ts_value_text(slow->cause) : (struct ts_bytes){ NULL, 0 };

	if (!slow)
		return story_text(telling, ts_arena_printf(arena, "step %lld", (long long)step));
	return story_text(telling, ts_arena_printf(arena, "step %lld (+%s%s%.*s)", (long long)step,
						   ts_fmt_ps(excess, ts_value_int(slow->excess_ps)),
						   cause.n > 0 ? ": " : "", TS_ARG(cause)));
}

/* The classes are core time: of all cores that ran the step. */
static void story_put_classes(struct telling *telling, const struct ts_table *table, size_t row)
{
	for (size_t i = 0; i < TS_NELEM(step_times); i++) {
		struct ts_value ps =
			ts_table_cell_of(table, &ts_sheet_time_per_step, row, step_times[i].column);

		if (story_is_int(ps) && ps.as.i > 0)
			ts_story_put(&telling->story, step_times[i].key, story_ns(ps));
	}
}

static void story_put_slow(struct telling *telling, const struct ts_time_steps_outliers_row *slow)
{
	uint32_t device = story_device(telling, slow->device_id);
	struct ts_story *story = &telling->story;

	ts_story_put(story, "slow_by_ns", story_ns(slow->excess_ps));
	ts_story_put(story, "cause", slow->cause);
	ts_story_put(story, "reason", slow->reason);
	if (device != TS_NONE)
		ts_story_put(story, "device", ts_text(story_device_name(telling, device)));
	ts_story_put(story, "op", slow->op);
	ts_story_put(story, "host_event", slow->host_event);
	ts_story_put(story, "host_thread", slow->host_thread);
}

/* Where the tables of other analyses speak of a step. */
struct step_rows {
	const struct ts_table *classes, *slow;
	struct ts_map by_class, by_slow;
};

static void story_add_step(struct telling *telling, const struct step_rows *rows,
			   const struct ts_overview_steps_row *step)
{
	struct ts_story *story = &telling->story;
	uint32_t classes = ts_map_find(&rows->by_class, (uint64_t)step->step.as.i);
	uint32_t at = ts_map_find(&rows->by_slow, (uint64_t)step->step.as.i);
	const struct ts_time_steps_outliers_row *slow =
		at == TS_NONE ? NULL : TS_ROW(rows->slow, time_steps_outliers, at);
	uint32_t row = ts_story_row(story, "Steps",
				    "the steps of the report, each as long as it says: the mean "
				    "of the devices; classes are core time");

	ts_story_add(story, row, step->start_ps.as.i,
		     ts_i64_add(step->start_ps.as.i, step->duration_ps.as.i),
		     story_step_name(telling, step->step.as.i, slow));
	ts_story_put(story, "step", step->step);
	ts_story_put(story, "source", step->source);
	ts_story_put(story, "cores", step->cores);
	if (classes != TS_NONE)
		story_put_classes(telling, rows->classes, classes);
	if (slow)
		story_put_slow(telling, slow);
}

static void story_tell_steps(struct telling *telling)
{
	const struct ts_table *steps = TS_FIND_TABLE(telling->results, overview, steps);
	struct step_rows rows = {
		.classes = TS_FIND_TABLE(telling->results, time, per_step),
		.slow = TS_FIND_TABLE(telling->results, time, steps_outliers),
	};

	telling->story.failed |=
		!story_number_rows(rows.classes, &ts_sheet_time_per_step,
				   TS_COLUMN_AT(time_per_step, step), &rows.by_class) ||
		!story_number_rows(rows.slow, &ts_sheet_time_steps_outliers,
				   TS_COLUMN_AT(time_steps_outliers, step), &rows.by_slow);
	for (size_t i = 0; steps && i < steps->nr_rows; i++) {
		const struct ts_overview_steps_row *step = TS_ROW(steps, overview_steps, i);

		/* the sum of those that are not listed has no start */
		if (story_is_int(step->step) && story_is_int(step->start_ps) &&
		    story_is_int(step->duration_ps))
			story_add_step(telling, &rows, step);
	}
	ts_map_release(&rows.by_class);
	ts_map_release(&rows.by_slow);
}

/* The critical path */

#define PATH_TIME(name) { #name "_ns", TS_COLUMN_AT(critical_path_steps, name##_ps) }
static const struct story_time path_times[] = {
	PATH_TIME(ops),	  PATH_TIME(collectives), PATH_TIME(transfers), PATH_TIME(host),
	PATH_TIME(input), PATH_TIME(compile),	  PATH_TIME(launch),	PATH_TIME(idle),
};

/* Is it what a machine did, and not one of its devices? */
static bool story_is_host_kind(struct ts_bytes kind)
{
	return ts_bytes_is(kind, "host") || ts_bytes_is(kind, "input") ||
	       ts_bytes_is(kind, "compilation") || ts_bytes_is(kind, "launch");
}

/* A span of the path on the row of its device or machine; an arrow leads there from where the path was before. */
static void story_add_span(struct telling *telling, const struct ts_critical_path_span_row *span,
			   struct ts_value step, struct ts_story_at *last)
{
	struct ts_story *story = &telling->story;
	struct ts_bytes kind = ts_value_text(span->kind), op = ts_value_text(span->op);
	uint32_t device = story_device(telling, span->device_id);
	bool is_host = story_is_host_kind(kind);
	struct ts_story_at at;
	uint32_t row;

	if (device == TS_NONE || !story_is_int(span->start_ps) || !story_is_int(span->dur_ps))
		return;
	row = story_row_of(telling, "Critical path",
			   is_host ? story_machine(telling, telling->profile->devices[device].host)
				   : story_device_name(telling, device),
			   "where the critical path of a step runs through; of the longest steps "
			   "and some others");
	at = ts_story_add(story, row, span->start_ps.as.i,
			  ts_i64_add(span->start_ps.as.i, span->dur_ps.as.i), op.n > 0 ? op : kind);
	ts_story_put(story, "kind", span->kind);
	ts_story_put(story, "step", step);
	ts_story_put(story, "device", ts_text(story_device_name(telling, device)));
	if (last->row != TS_NONE && last->row != at.row)
		ts_story_arrow(story, *last, at);
	*last = at;
}

static void story_add_path(struct telling *telling, const struct ts_critical_path_steps_row *step,
			   const struct ts_table *table, size_t index)
{
	struct ts_story *story = &telling->story;
	struct ts_story_at last = { TS_NONE, 0 };
	uint32_t row = ts_story_row(story, "Critical path",
				    "what the critical path of each step is made of");

	ts_story_add(story, row, step->start_ps.as.i,
		     ts_i64_add(step->start_ps.as.i, step->duration_ps.as.i),
		     story_step_name(telling, step->step.as.i, NULL));
	ts_story_put(story, "step", step->step);
	for (size_t i = 0; i < TS_NELEM(path_times); i++) {
		struct ts_value ps = ts_table_cell_of(table, &ts_sheet_critical_path_steps, index,
						      path_times[i].column);

		if (story_is_int(ps) && ps.as.i > 0)
			ts_story_put(story, path_times[i].key, story_ns(ps));
	}
	for (size_t i = 0; i < ts_list_length(step->spans); i++)
		story_add_span(telling, TS_ITEM(step->spans, critical_path_span, i), step->step,
			       &last);
}

static void story_tell_path(struct telling *telling)
{
	const struct ts_table *steps = TS_FIND_TABLE(telling->results, critical_path, steps);

	for (size_t i = 0; steps && i < steps->nr_rows; i++) {
		const struct ts_critical_path_steps_row *step =
			TS_ROW(steps, critical_path_steps, i);

		if (story_is_int(step->step) && story_is_int(step->start_ps) &&
		    story_is_int(step->duration_ps))
			story_add_path(telling, step, steps, i);
	}
}

/* Gaps */

/* What a host did while devices had nothing to run: one slice for all gaps that passed in it. */
struct witness {
	struct ts_bytes event, thread;
	uint32_t host;
	int64_t start_ps, end_ps;
	struct ts_story_at at;
};

struct gap {
	const struct ts_time_idle_gaps_row *row;
	int64_t start_ps, end_ps;
	uint32_t device;
};

TS_ORDER(story_gaps_by_time, struct gap, TS_UP(start_ps) TS_UP(device))

static struct gap *story_list_gaps(struct telling *telling, size_t *nr)
{
	const struct ts_table *table = TS_FIND_TABLE(telling->results, time, idle_gaps);
	size_t nr_rows = table ? table->nr_rows : 0;
	struct gap *gaps = ts_arena_array(telling->story.arena, nr_rows + 1, sizeof(*gaps));

	*nr = 0;
	telling->story.failed |= !gaps;
	for (size_t i = 0; gaps && i < nr_rows; i++) {
		const struct ts_time_idle_gaps_row *row = TS_ROW(table, time_idle_gaps, i);
		uint32_t device = story_device(telling, row->device_id);

		if (device == TS_NONE || !story_is_int(row->start_ps) ||
		    (telling->host != TS_NONE &&
		     telling->profile->devices[device].host != telling->host))
			continue;
		gaps[(*nr)++] = (struct gap){
			row, row->start_ps.as.i,
			ts_i64_add(row->start_ps.as.i, ts_value_int(row->duration_ps)), device
		};
	}
	TS_SORT(gaps, *nr, story_gaps_by_time);
	return gaps;
}

/* The slice of the event that the gap passed in; of gaps that overlap and passed in one event it is one. */
static struct witness *story_witness_of(struct telling *telling, struct witness *witnesses,
					size_t *nr, const struct gap *gap)
{
	struct ts_bytes event = ts_value_text(gap->row->host_event);
	struct ts_bytes thread = ts_value_text(gap->row->host_thread);
	uint32_t host = telling->profile->devices[gap->device].host;

	if (event.n == 0)
		return NULL;
	for (size_t i = *nr; i-- > 0;) {
		struct witness *known = &witnesses[i];

		if (known->host == host && ts_bytes_eq(known->event, event) &&
		    ts_bytes_eq(known->thread, thread) && gap->start_ps <= known->end_ps) {
			known->end_ps = TS_MAX(known->end_ps, gap->end_ps);
			return known;
		}
	}
	witnesses[*nr] =
		(struct witness){ event, thread, host, gap->start_ps, gap->end_ps, { TS_NONE, 0 } };
	return &witnesses[(*nr)++];
}

/* Their lengths are known when all gaps are. */
static void story_add_witnesses(struct telling *telling, struct witness *witnesses, size_t nr)
{
	struct ts_story *story = &telling->story;

	for (size_t i = 0; i < nr; i++) {
		struct witness *witness = &witnesses[i];
		uint32_t row =
			story_row_of(telling, "Gaps", story_machine(telling, witness->host),
				     "the event of the host that gaps of its devices passed in");

		witness->at = ts_story_add(story, row, witness->start_ps, witness->end_ps,
					   witness->event);
		ts_story_put(story, "host_event", ts_text(witness->event));
		ts_story_put(story, "host_thread", ts_text_or_null(witness->thread));
	}
}

static struct ts_story_at story_add_gap(struct telling *telling, const struct gap *gap)
{
	struct ts_story *story = &telling->story;
	const struct ts_time_idle_gaps_row *row = gap->row;
	struct ts_bytes event = ts_value_text(row->host_event);
	struct ts_bytes device = story_device_name(telling, gap->device);
	uint32_t at = story_row_of(telling, "Gaps", device,
				   "the longest times in which the device had nothing to run, and "
				   "what its host did");
	struct ts_story_at slice = ts_story_add(story, at, gap->start_ps, gap->end_ps,
						event.n > 0 ? event : ts_value_text(row->cause));

	ts_story_put(story, "device", ts_text(device));
	ts_story_put(story, "cause", row->cause);
	ts_story_put(story, "host_event", row->host_event);
	ts_story_put(story, "host_thread", row->host_thread);
	ts_story_put(story, "ended_by", row->ended_by);
	return slice;
}

static void story_tell_gaps(struct telling *telling)
{
	size_t nr, nr_witnesses = 0;
	struct gap *gaps = story_list_gaps(telling, &nr);
	struct witness *witnesses =
		ts_arena_array(telling->story.arena, nr + 1, sizeof(*witnesses));
	uint32_t *of = ts_arena_array(telling->story.arena, nr + 1, sizeof(*of));

	telling->story.failed |= !witnesses || !of;
	for (size_t i = 0; !telling->story.failed && i < nr; i++) {
		struct witness *witness =
			story_witness_of(telling, witnesses, &nr_witnesses, &gaps[i]);

		of[i] = witness ? (uint32_t)(witness - witnesses) : TS_NONE;
	}
	if (telling->story.failed)
		return;
	story_add_witnesses(telling, witnesses, nr_witnesses);
	for (size_t i = 0; i < nr; i++) {
		struct ts_story_at at = story_add_gap(telling, &gaps[i]);

		if (of[i] != TS_NONE)
			ts_story_arrow(&telling->story, witnesses[of[i]].at, at);
	}
}

enum ts_status ts_trace_story(const struct ts_results *results, const struct ts_profile *profile,
			      uint32_t host, struct ts_arena *arena, const struct ts_track **tracks,
			      size_t *nr, struct ts_error *err)
{
	struct telling telling = {
		.story = { .arena = arena }, .results = results, .profile = profile, .host = host
	};
	enum ts_status st;

	TS_ASSERT(profile && arena);
	TS_ASSERT(tracks && nr);
	if (results) {
		story_tell_steps(&telling);
		story_tell_path(&telling);
		story_tell_gaps(&telling);
	}
	st = ts_story_finish(&telling.story, tracks, nr, err);
	ts_story_release(&telling.story);
	return st;
}
