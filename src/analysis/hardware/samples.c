/* SPDX-License-Identifier: MIT */
/*
 * Samples: the counters of the hardware, as a TPU's profiler writes them. Three kinds of lines of a device:
 *
 *  - counters when the capture ended (model/profile.h: TS_LINE_COUNTERS): an event is a counter, the line's id the number of the
 *    reading. Value: the stat counter_value; id: performance_counter_id, else the id of the event's metadata (xprof,
 *    convert/xplane_to_utilization_viewer.cc).
 *  - counters over time (TS_LINE_SAMPLES): an event is a sample, its first stat the value, which holds until the next sample of
 *    this name. What is called COUNT_... only grows.
 *  - stretches in which the clock was held back (TS_LINE_THROTTLE).
 *
 * Memory: a counter over time keeps its sums and so many points; past them every other one goes, which changes no sum between
 * those that stay.
 */
#include "analysis/hardware/samples.h"

#include <math.h>

#define TS_NEEDS(X) X(time)
#include "analysis/kit/needs.h"

#include "analysis/facts/time.h"
#include "base/order.h"
#include "base/record.h"
#include "result/schema/samples.def"

#define MAX_SERIES    512  /* of a line */
#define MAX_POINTS    8192 /* of a counter over time */
#define MAX_STRETCHES 4096 /* of a line */

/* A counter over time, of one line. */
struct samples_series {
	uint32_t device, op;
	uint64_t place; /* in the line, of its first sample */
	int64_t nr;
	double min, max, first, last;
	int64_t last_ps;
	double area; /* value x ps, until .last_ps */
	struct samples_point {
		int64_t at_ps;
		double sum; /* .area then, or of a running total the value */
	} *points;
	size_t nr_points, cap_points;
	int64_t least_ps; /* from a point to the next one; grows as points are thinned out */
};

struct samples_set {
	uint32_t device;
	int64_t sample;
	struct ts_counter *counters;
	size_t nr_counters, cap_counters;
};

struct samples_time {
	uint32_t device;
	int64_t start_ps, end_ps;
};

struct samples_state {
	uint32_t device;
	struct samples_set *sets;
	size_t nr_sets, cap_sets;
	struct samples_series *series;
	size_t nr_series, cap_series;
	struct samples_time *stretches,
		*modules; /* throttled; from the first module to the end of the last */
	size_t nr_stretches, cap_stretches, nr_modules, cap_modules;
	int64_t nr_over;
	uint32_t *of_op; /* of a line: 1 + the series, by op; 0: none yet */
};

#define TS_SELF struct samples_point
static TS_RECORD(point, TS_NUMBER(1, at_ps, TS_BY_HAND), TS_NUMBER(2, sum, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct samples_series
static TS_RECORD(series, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_INDEX_KNOWN(2, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(3, nr, TS_BY_HAND),
		 TS_NUMBER(4, min, TS_BY_HAND), TS_NUMBER(5, max, TS_BY_HAND),
		 TS_NUMBER(6, first, TS_BY_HAND), TS_NUMBER(7, last, TS_BY_HAND),
		 TS_NUMBER(8, last_ps, TS_BY_HAND), TS_NUMBER(9, area, TS_BY_HAND),
		 TS_LIST(10, points, point_record, TS_BY_HAND), TS_NUMBER(11, least_ps, TS_BY_HAND),
		 TS_NUMBER(12, place, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_counter
static TS_RECORD(counter, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(2, id, TS_BY_HAND),
		 TS_NUMBER(3, count, TS_BY_HAND), TS_NUMBER(4, value, TS_BY_HAND),
		 TS_TEXT(5, description), TS_TEXT(6, sets), TS_NUMBER(7, place, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct samples_set
static TS_RECORD(set, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(2, sample, TS_BY_HAND),
		 TS_LIST(3, counters, counter_record, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct samples_time
static TS_RECORD(time, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(2, start_ps, TS_BY_HAND), TS_NUMBER(3, end_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct samples_state
static TS_RECORD(samples, TS_LIST(1, sets, set_record, TS_APPEND),
		 TS_LIST(2, series, series_record, TS_APPEND),
		 TS_LIST(3, stretches, time_record, TS_APPEND),
		 TS_LIST(4, modules, time_record, TS_APPEND), TS_NUMBER(5, nr_over, TS_ADD),
		 TS_SCRATCH(of_op));
#undef TS_SELF

/* --- events */

static bool samples_applies(const struct ts_context *ctx)
{
	for (size_t i = 0; i < ctx->profile->nr_lines; i++) {
		enum ts_line_kind kind = ctx->profile->lines[i].kind;

		if (kind == TS_LINE_SAMPLES || kind == TS_LINE_COUNTERS || kind == TS_LINE_THROTTLE)
			return true;
	}
	return false;
}

static bool samples_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->profile->planes[line->plane].device != TS_NONE &&
	       (line->kind == TS_LINE_SAMPLES || line->kind == TS_LINE_COUNTERS ||
		line->kind == TS_LINE_THROTTLE || line->kind == TS_LINE_MODULES);
}

static enum ts_status samples_open(void *arg, const struct ts_context *ctx,
				   const struct ts_line *line, struct ts_error *err)
{
	struct samples_state *state = arg;

	state->device = ctx->profile->planes[line->plane].device;
	if (line->kind != TS_LINE_SAMPLES)
		return TS_OK;
	state->of_op = calloc(ctx->profile->nr_ops + 1, sizeof(*state->of_op));
	return state->of_op ? TS_OK : ts_fail_nomem(err);
}

static double samples_real(const struct ts_stat *stat)
{
	if (stat->type == TS_STAT_INT)
		return stat->is_unsigned ? (double)(uint64_t)stat->number : (double)stat->number;
	return stat->type == TS_STAT_REAL ? stat->real : NAN;
}

static bool samples_find(const struct ts_block *block, size_t i, const char *name,
			 struct ts_stat *stat)
{
	return block->stat && block->stat(block, i, name, stat);
}

/* As XProf makes a whole number of it. */
static uint64_t whole_of(const struct ts_stat *stat)
{
	if (stat->type == TS_STAT_INT)
		return (uint64_t)stat->number;
	return stat->real >= 18446744073709551615. ? UINT64_MAX
	       : stat->real > 0			   ? (uint64_t)stat->real
						   : 0;
}

static struct ts_bytes text_of(const struct ts_block *block, size_t i, const char *name)
{
	struct ts_stat stat;

	return samples_find(block, i, name, &stat) && stat.type == TS_STAT_TEXT
		       ? stat.text
		       : (struct ts_bytes){ NULL, 0 };
}

/* Events of one time come in any order: what tells their own is where they stand. */
static uint64_t place_of(const struct ts_block *block, size_t i)
{
	return (uint64_t)(uintptr_t)block->body[i].p - (uint64_t)(uintptr_t)block->line->body.p;
}

/* The counter that an event is; false: it has no value. */
static bool counter_of(const struct ts_block *block, size_t i, struct ts_counter *counter)
{
	struct ts_stat value, id;

	if (!samples_find(block, i, "counter_value", &value) || value.type == TS_STAT_TEXT)
		return false;
	*counter = (struct ts_counter){
		.op = block->op[i],
		.place = place_of(block, i),
		.count = whole_of(&value),
		.value = samples_real(&value),
		.description = text_of(block, i, "performance_counter_description"),
		.sets = text_of(block, i, "performance_counter_sets"),
	};
	if (samples_find(block, i, "performance_counter_id", &id) && id.type == TS_STAT_INT)
		counter->id = (uint64_t)id.number;
	if (counter->id == 0 && samples_find(block, i, TS_STAT_METADATA, &id))
		counter->id = (uint64_t)id.number;
	return true;
}

static enum ts_status add_counters(struct samples_state *state, const struct ts_block *block,
				   struct ts_error *err)
{
	struct samples_set *set;

	if (state->nr_sets == 0) {
		if (!ts_grow(&state->sets, &state->cap_sets, 1, sizeof(*state->sets)))
			return ts_fail_nomem(err);
		state->sets[state->nr_sets++] =
			(struct samples_set){ .device = state->device, .sample = block->line->id };
	}
	set = &state->sets[0];
	for (size_t i = 0; i < block->nr_events; i++) {
		struct ts_counter counter;

		if (!counter_of(block, i, &counter))
			continue;
		if (!ts_grow(&set->counters, &set->cap_counters, set->nr_counters + 1,
			     sizeof(*set->counters)))
			return ts_fail_nomem(err);
		set->counters[set->nr_counters++] = counter;
	}
	return TS_OK;
}

static bool is_running_total(struct ts_bytes name)
{
	return ts_bytes_starts(name, "COUNT_");
}

static void thin_out(struct samples_series *series)
{
	size_t nr = 0;

	for (size_t i = 0; i < series->nr_points; i += 2)
		series->points[nr++] = series->points[i];
	series->least_ps = (series->points[nr - 1].at_ps - series->points[0].at_ps) / (int64_t)nr;
	series->nr_points = nr;
}

static bool put_point(struct samples_series *series, int64_t at_ps, double sum)
{
	size_t nr = series->nr_points;

	if (nr > 0 && at_ps - series->points[nr - 1].at_ps < series->least_ps)
		return true;
	if (series->nr_points == MAX_POINTS)
		thin_out(series);
	if (!ts_grow(&series->points, &series->cap_points, series->nr_points + 1,
		     sizeof(*series->points)))
		return false;
	series->points[series->nr_points++] = (struct samples_point){ at_ps, sum };
	return true;
}

static bool add_sample(struct samples_series *series, bool is_total, int64_t at_ps, double value)
{
	if (series->nr == 0) {
		series->min = series->max = series->first = value;
		series->last_ps = at_ps;
	}
	series->min = fmin(series->min, value);
	series->max = fmax(series->max, value);
	series->area += series->last * (double)(at_ps - series->last_ps);
	series->last = value;
	series->last_ps = at_ps;
	series->nr++;
	return put_point(series, at_ps, is_total ? value : series->area);
}

/* NULL: no memory, or (*IS_OVER) there are too many. */
static struct samples_series *samples_series_of(struct samples_state *state,
						const struct ts_block *block, size_t i,
						bool *is_over)
{
	uint32_t op = block->op[i];
	struct samples_series *series;

	*is_over = state->of_op[op] == 0 && state->nr_series == MAX_SERIES;
	if (state->of_op[op] == 0) {
		if (*is_over || !ts_grow(&state->series, &state->cap_series, state->nr_series + 1,
					 sizeof(*state->series)))
			return NULL;
		state->series[state->nr_series++] = (struct samples_series){
			.device = state->device, .op = op, .place = place_of(block, i)
		};
		state->of_op[op] = (uint32_t)state->nr_series;
	}
	series = &state->series[state->of_op[op] - 1];
	series->place = TS_MIN(series->place, place_of(block, i));
	return series;
}

static enum ts_status add_samples(struct samples_state *state, const struct ts_block *block,
				  struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_events; i++) {
		bool is_total = is_running_total(block->profile->ops[block->op[i]].name), is_over;
		struct samples_series *series;
		struct ts_stat stat;

		if (!samples_find(block, i, TS_STAT_FIRST, &stat) || !isfinite(samples_real(&stat)))
			continue;
		series = samples_series_of(state, block, i, &is_over);
		state->nr_over += is_over;
		if (is_over)
			continue;
		if (!series ||
		    !add_sample(series, is_total, block->start_ps[i], samples_real(&stat)))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status add_time(struct samples_time **times, size_t *nr, size_t *cap,
			       const struct samples_time *time, struct ts_error *err)
{
	if (!ts_grow(times, cap, *nr + 1, sizeof(**times)))
		return ts_fail_nomem(err);
	(*times)[(*nr)++] = *time;
	return TS_OK;
}

static enum ts_status add_stretches(struct samples_state *state, const struct ts_block *block,
				    struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		struct samples_time time = { state->device, block->start_ps[i],
					     ts_i64_add(block->start_ps[i], block->dur_ps[i]) };

		state->nr_over += state->nr_stretches == MAX_STRETCHES;
		if (state->nr_stretches < MAX_STRETCHES && time.end_ps > time.start_ps)
			st = add_time(&state->stretches, &state->nr_stretches,
				      &state->cap_stretches, &time, err);
	}
	return st;
}

/* One of all modules of the line. */
static enum ts_status add_modules(struct samples_state *state, const struct ts_block *block,
				  struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_events; i++) {
		struct samples_time time = { state->device, block->start_ps[i],
					     ts_i64_add(block->start_ps[i], block->dur_ps[i]) };

		if (state->nr_modules == 0 &&
		    add_time(&state->modules, &state->nr_modules, &state->cap_modules, &time, err))
			return TS_NOMEM;
		state->modules[0].end_ps = TS_MAX(state->modules[0].end_ps, time.end_ps);
	}
	return TS_OK;
}

static enum ts_status samples_block(void *arg, const struct ts_context *ctx,
				    const struct ts_block *block, struct ts_error *err)
{
	switch (block->line->kind) {
	case TS_LINE_COUNTERS: return add_counters(arg, block, err);
	case TS_LINE_SAMPLES:  return add_samples(arg, block, err);
	case TS_LINE_THROTTLE: return add_stretches(arg, block, err);
	default:	       return add_modules(arg, block, err);
	}
}

/* --- facts */

/* Until when the last value of a counter holds: the end of the device's last module, else of the run's work. */
static int64_t held_until(const struct samples_state *sum, const struct ts_context *ctx,
			  const struct samples_series *series)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	int64_t end_ps = series->last_ps;
	bool has_modules = false;

	for (size_t i = 0; i < sum->nr_modules; i++)
		if (sum->modules[i].device == series->device) {
			end_ps = TS_MAX(end_ps, sum->modules[i].end_ps);
			has_modules = true;
		}
	if (!has_modules && time->nr_cores > 0)
		end_ps = TS_MAX(end_ps, ts_i64_add(time->wall_start_ps, time->wall_ps));
	return end_ps;
}

static const char *unit_of(struct ts_bytes name)
{
	static const struct {
		const char *begins, *ends, *unit;
	} rows[] = {
		{ "COUNT_", "", "counts" },
		{ "", "(W)", "W" },
		{ "", "(C)", "C" },
		{ "", "(%)", "%" },
		{ "PCIe FW Read Util", "", "%" },
		{ "PCIe FW Write Util", "", "%" },
		{ "P state", "", "level" },
		{ "Scalar ALU", "", "%" },
		{ "Vector ", "", "%" },
		{ "MXU", "MXU", "%" },
		{ "XLU", "XLU", "%" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (ts_bytes_starts(name, rows[i].begins) && ts_bytes_ends(name, rows[i].ends))
			return rows[i].unit;
	return "";
}

static enum ts_status make_series(const struct samples_state *sum, const struct ts_context *ctx,
				  const struct samples_series *from, struct ts_arena *arena,
				  struct ts_series *into, struct ts_error *err)
{
	struct ts_bytes name = ctx->profile->ops[from->op].name;
	int64_t end_ps = held_until(sum, ctx, from), first_ps;
	double area = from->area + from->last * (double)ts_i64_sub(end_ps, from->last_ps);
	struct ts_point *points = ts_arena_array(arena, from->nr_points + 1, sizeof(*points));

	if (!points)
		return ts_fail_nomem(err);
	*into = (struct ts_series){
		.device = from->device,
		.op = from->op,
		.unit = unit_of(name),
		.is_total = is_running_total(name),
		.nr = from->nr,
		.min = from->min,
		.max = from->max,
		.first = from->first,
		.last = from->last,
		.mean = from->last,
		.points = points,
	};
	for (size_t i = 0; i < from->nr_points; i++)
		points[into->nr_points++] =
			(struct ts_point){ from->points[i].at_ps, from->points[i].sum };
	first_ps = points[0].at_ps;
	if (end_ps > first_ps)
		into->mean = area / (double)ts_i64_sub(end_ps, first_ps);
	if (into->is_total)
		end_ps = from->last_ps;
	if (end_ps > points[into->nr_points - 1].at_ps)
		points[into->nr_points++] =
			(struct ts_point){ end_ps, into->is_total ? from->last : area };
	return TS_OK;
}

TS_ORDER(as_in_file, struct samples_series, TS_UP(device) TS_UP(place))

static enum ts_status samples_make_all(struct samples_state *sum, const struct ts_context *ctx,
				       struct ts_arena *arena, struct ts_samples_facts *facts,
				       struct ts_error *err)
{
	struct ts_series *series = ts_arena_array(arena, sum->nr_series + 1, sizeof(*series));
	enum ts_status st = series ? TS_OK : ts_fail_nomem(err);

	TS_SORT(sum->series, sum->nr_series, as_in_file);
	for (size_t i = 0; i < sum->nr_series && st == TS_OK; i++)
		if (sum->series[i].nr_points > 0)
			st = make_series(sum, ctx, &sum->series[i], arena,
					 &series[facts->nr_series++], err);
	facts->series = series;
	return st;
}

/* The last of each id, in their order. .items is on the heap; NULL: no memory. */
struct order_row {
	uint64_t id;
	size_t at;
};
TS_ORDER(by_id, struct order_row, TS_UP(id) TS_UP(at))
TS_ORDER(by_place, struct ts_counter, TS_UP(place))

static const struct ts_counter **sort_counters(const struct samples_set *set, size_t *nr)
{
	struct order_row *rows = calloc(set->nr_counters + 1, sizeof(*rows));
	const struct ts_counter **sorted = calloc(set->nr_counters + 1, sizeof(*sorted));

	*nr = 0;
	for (size_t i = 0; rows && i < set->nr_counters; i++)
		rows[i] = (struct order_row){ set->counters[i].id, i };
	if (rows)
		TS_SORT(rows, set->nr_counters, by_id);
	for (size_t i = 0; rows && sorted && i < set->nr_counters; i++)
		if (i + 1 == set->nr_counters || rows[i + 1].id != rows[i].id)
			sorted[(*nr)++] = &set->counters[rows[i].at];
	if (!rows) {
		free(sorted);
		sorted = NULL;
	}
	free(rows);
	return sorted;
}

static enum ts_status make_rows(const struct samples_set *set, const struct chip_units *chip,
				struct ts_unit_row *rows, size_t *nr_rows, struct ts_error *err)
{
	size_t nr;
	const struct ts_counter **sorted = sort_counters(set, &nr);
	size_t first = *nr_rows;

	if (!sorted)
		return ts_fail_nomem(err);
	*nr_rows += ts_chip_units_put(chip, &(struct counters_by_id){ sorted, nr }, &rows[first]);
	for (size_t i = first; i < *nr_rows; i++) {
		rows[i].device = set->device;
		rows[i].sample = set->sample;
	}
	free(sorted);
	return TS_OK;
}

static const struct chip_units *chip_of(const struct ts_context *ctx, const struct samples_set *set)
{
	return ts_chip_units_find(ctx->profile->devices[set->device].kind);
}

static enum ts_status make_sets(struct samples_state *sum, const struct ts_context *ctx,
				struct ts_arena *arena, struct ts_samples_facts *facts,
				struct ts_error *err)
{
	struct ts_counter_set *sets = ts_arena_array(arena, sum->nr_sets + 1, sizeof(*sets));
	struct ts_unit_row *rows;
	enum ts_status st = TS_OK;
	size_t max = 0;

	for (size_t i = 0; i < sum->nr_sets; i++)
		max += chip_of(ctx, &sum->sets[i]) ? ts_chip_units_max(chip_of(ctx, &sum->sets[i]))
						   : 0;
	rows = ts_arena_array(arena, max + 1, sizeof(*rows));
	if (!sets || !rows)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->nr_sets && st == TS_OK; i++) {
		struct samples_set *set = &sum->sets[i];
		const struct chip_units *chip = chip_of(ctx, set);
		struct ts_counter *items =
			ts_arena_array(arena, set->nr_counters + 1, sizeof(*items));

		if (!items)
			return ts_fail_nomem(err);
		TS_SORT(set->counters, set->nr_counters, by_place);
		memcpy(items, set->counters, set->nr_counters * sizeof(*items));
		sets[facts->nr_sets++] = (struct ts_counter_set){
			.device = set->device,
			.sample = set->sample,
			.known = chip ? ts_chip_units_name(chip) : NULL,
			.items = items,
			.nr = set->nr_counters,
		};
		if (chip)
			st = make_rows(set, chip, rows, &facts->nr_rows, err);
	}
	facts->sets = sets;
	facts->rows = rows;
	return st;
}

/* The rows of one device. */
static void samples_add_device(const struct ts_context *ctx, const struct ts_unit_row *rows,
			       size_t nr, struct ts_unit_sum *sums)
{
	double counted_s[TS_NR_UNIT_ABOUTS] = { 0 }, nr_rows[TS_NR_UNIT_ABOUTS] = { 0 };
	int64_t last = INT64_MIN;

	for (size_t i = 0; i < nr; i++)
		last = TS_MAX(last, rows[i].sample);
	for (size_t i = 0; i < nr; i++) {
		if (rows[i].sample != last)
			continue;
		sums[rows[i].about].achieved += rows[i].achieved;
		sums[rows[i].about].peak += rows[i].peak;
		counted_s[rows[i].about] += rows[i].counted_s;
		nr_rows[rows[i].about]++;
	}
	for (int about = 0; about < TS_NR_UNIT_ABOUTS; about++) {
		if (nr_rows[about] == 0)
			continue;
		sums[about].nr_devices++;
		sums[about].counted_s += counted_s[about];
		sums[about].flops_peak += ctx->rates[rows[0].device].peak_flops_per_s *
					  counted_s[about] / nr_rows[about];
	}
}

static void samples_sum_rows(const struct ts_context *ctx, struct ts_samples_facts *facts)
{
	for (size_t from = 0, until; from < facts->nr_rows; from = until) {
		const struct ts_unit_row *rows = &facts->rows[from];

		for (until = from;
		     until < facts->nr_rows && facts->rows[until].device == rows->device;)
			until++;
		samples_add_device(ctx, rows, until - from, facts->sums);
	}
}

/* "VDD Core FW Throttle(%)" */
static bool is_throttle(struct ts_bytes name)
{
	return ts_bytes_has(name, "Throttle") && ts_bytes_ends(name, "(%)");
}

static bool add_from_series(const struct ts_profile *profile, const struct ts_series *series,
			    struct ts_spans *spans)
{
	if (!is_throttle(profile->ops[series->op].name))
		return true;
	for (size_t i = 1; i < series->nr_points; i++)
		if (series->points[i].value > series->points[i - 1].value &&
		    !ts_spans_add(spans, series->points[i - 1].at_ps, series->points[i].at_ps))
			return false;
	return true;
}

static bool throttled_of(const struct samples_state *sum, const struct ts_context *ctx,
			 const struct ts_samples_facts *facts, uint32_t device,
			 struct ts_spans *spans)
{
	bool good = true;

	spans->max = MAX_STRETCHES;
	for (size_t i = 0; i < sum->nr_stretches && good; i++)
		if (sum->stretches[i].device == device)
			good = ts_spans_add(spans, sum->stretches[i].start_ps,
					    sum->stretches[i].end_ps);
	for (size_t i = 0; i < facts->nr_series && good; i++)
		if (facts->series[i].device == device)
			good = add_from_series(ctx->profile, &facts->series[i], spans);
	return good;
}

static enum ts_status make_throttled(const struct samples_state *sum, const struct ts_context *ctx,
				     struct ts_arena *arena, struct ts_samples_facts *facts,
				     struct ts_error *err)
{
	struct ts_throttled *items = NULL, *kept;
	size_t cap = 0;
	enum ts_status st = TS_OK;

	for (uint32_t device = 0; device < ctx->profile->nr_devices && st == TS_OK; device++) {
		struct ts_spans spans = { .nr = 0 };

		if (!throttled_of(sum, ctx, facts, device, &spans) ||
		    !ts_grow(&items, &cap, facts->nr_throttled + spans.nr + 1, sizeof(*items)))
			st = ts_fail_nomem(err);
		for (size_t i = 0; i < spans.nr && st == TS_OK; i++)
			items[facts->nr_throttled++] =
				(struct ts_throttled){ device, spans.items[i] };
		ts_spans_release(&spans);
	}
	kept = ts_arena_array(arena, facts->nr_throttled + 1, sizeof(*kept));
	if (kept && facts->nr_throttled > 0)
		memcpy(kept, items, facts->nr_throttled * sizeof(*kept));
	free(items);
	facts->throttled = kept;
	return st == TS_OK && !kept ? ts_fail_nomem(err) : st;
}

double ts_series_between(const struct ts_series *series, int64_t start_ps, int64_t end_ps,
			 size_t *hint, int64_t *known_ps)
{
	const struct ts_point *points = series->points;
	double sum = 0;

	*known_ps = 0;
	while (*hint > 0 && points[*hint].at_ps > start_ps)
		--*hint;
	while (*hint + 1 < series->nr_points && points[*hint + 1].at_ps <= start_ps)
		++*hint;
	for (size_t i = *hint; i + 1 < series->nr_points && points[i].at_ps < end_ps; i++) {
		int64_t from_ps = TS_MAX(points[i].at_ps, start_ps);
		int64_t until_ps = TS_MIN(points[i + 1].at_ps, end_ps);
		int64_t whole_ps = ts_i64_sub(points[i + 1].at_ps, points[i].at_ps);

		if (until_ps <= from_ps || whole_ps <= 0)
			continue;
		sum += (points[i + 1].value - points[i].value) * (double)(until_ps - from_ps) /
		       (double)whole_ps;
		*known_ps += until_ps - from_ps;
	}
	return sum;
}

static enum ts_status samples_close(void *arg, const struct ts_context *ctx, void *facts_arg,
				    struct ts_result *result, struct ts_error *err)
{
	struct ts_samples_facts *facts = facts_arg;
	struct samples_state *sum = arg;
	struct ts_arena *arena = &result->owner->arena;
	enum ts_status st = make_sets(sum, ctx, arena, facts, err);

	facts->nr_over = sum->nr_over;
	samples_sum_rows(ctx, facts);
	if (st == TS_OK)
		st = samples_make_all(sum, ctx, arena, facts, err);
	return st == TS_OK ? make_throttled(sum, ctx, arena, facts, err) : st;
}

const struct ts_analysis ts_analysis_samples = {
	.schema = &ts_schema_samples,
	.needs = TS_NEEDED,
	.pass = TS_PASS_FIRST,
	.serves_part = true, /* counters asks for those of its host */
	.columns = TS_COL_STATS,
	.state = &samples_record,
	.facts_size = sizeof(struct ts_samples_facts),
	.applies = samples_applies,
	.wants = samples_wants,
	.open = samples_open,
	.block = samples_block,
	.close = samples_close,
};
