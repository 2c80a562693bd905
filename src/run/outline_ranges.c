/* SPDX-License-Identifier: MIT */
/* A series is what one thread or many call by one name (ts_step_mark_series()). */
#include "run/outline_ranges.h"

#include "base/check.h"
#include "base/order.h"

#define MAX_SERIES 4096 /* names; ranges of further ones mark nothing */
#define MAX_TRIED  64	/* of the user's, those that repeat most often */
#define MIN_MARKS  2	/* to repeat */
#define HOLDS_HULL 0.9	/* of the time in launches from the first mark to the last */
#define HOLDS_ALL  0.5	/* of all of it: the capture may have cut the first and the last */

struct series {
	uint32_t at, nr; /* its place, and how many marks it has on all lines */
	enum ts_step_mark mark;
	struct ts_bytes name;
};

struct ranges {
	const struct ts_profile *profile;
	struct outline_marks *const *marks;
	uint32_t *of_op; /* place of the op's series; TS_NONE: it has none */
	struct series *items;
	size_t nr, cap;
	uint32_t *lines; /* of each host: the one with most marks of the series that is tried */
};

static uint32_t host_of(const struct ranges *ranges, size_t line)
{
	return ranges->profile->planes[ranges->profile->lines[line].plane].host;
}

static bool has_ranges(const struct ranges *ranges, size_t line)
{
	return ranges->profile->lines[line].kind == TS_LINE_THREAD && ranges->marks[line]->nr > 0;
}

static enum ts_status add_series(struct ranges *ranges, struct ts_strmap *places, uint32_t op,
				 struct ts_error *err)
{
	const struct ts_op *of = &ranges->profile->ops[op];
	enum ts_step_mark mark = ts_step_mark_of(ranges->profile, of);
	struct ts_bytes name = ts_step_mark_series(ranges->profile, of);
	uint32_t at = mark == TS_MARK_NONE ? TS_NONE : ts_strmap_find(places, name);

	ranges->of_op[op] = at;
	if (mark == TS_MARK_NONE || at != TS_NONE || ranges->nr == MAX_SERIES)
		return TS_OK;
	at = (uint32_t)ranges->nr;
	if (!ts_grow(&ranges->items, &ranges->cap, ranges->nr + 1, sizeof(*ranges->items)) ||
	    !ts_strmap_set(places, name, at))
		return ts_fail_nomem(err);
	ranges->items[ranges->nr++] = (struct series){ .at = at, .mark = mark, .name = name };
	ranges->of_op[op] = at;
	return TS_OK;
}

static void count_series(struct ranges *ranges, size_t line)
{
	struct outline_marks_walk walk = { .marks = ranges->marks[line] };
	struct outline_mark mark;

	while (ts_outline_marks_next(&walk, &mark))
		if (ranges->of_op[mark.op] != TS_NONE)
			ranges->items[ranges->of_op[mark.op]].nr++;
}

static enum ts_status list_series(struct ranges *ranges, struct ts_error *err)
{
	struct ts_strmap places = { .nr = 0 };
	enum ts_status st = TS_OK;

	for (uint32_t op = 0; op < ranges->profile->nr_ops && st == TS_OK; op++)
		st = add_series(ranges, &places, op, err);
	for (size_t l = 0; l < ranges->profile->nr_lines && st == TS_OK; l++)
		if (has_ranges(ranges, l)) {
			st = ts_outline_marks_sort(ranges->marks[l], err);
			if (st == TS_OK)
				count_series(ranges, l);
		}
	ts_strmap_release(&places);
	return st;
}

/* The next mark of the series that stands in no other of it. */
struct range_walk {
	struct outline_marks_walk walk;
	const struct ranges *ranges;
	uint32_t series;
	int64_t end_ps;
};

static struct range_walk range_walk_of(const struct ranges *ranges, uint32_t line, uint32_t series)
{
	return (struct range_walk){ { .marks = ranges->marks[line] }, ranges, series, INT64_MIN };
}

static bool next_range(struct range_walk *walk, struct outline_mark *mark)
{
	while (ts_outline_marks_next(&walk->walk, mark))
		if (walk->ranges->of_op[mark->op] == walk->series &&
		    mark->start_ps >= walk->end_ps) {
			walk->end_ps = mark->end_ps;
			return true;
		}
	return false;
}

/* Sets the lines of all hosts; the number of marks of the host that has most on its line. */
static size_t choose_lines(struct ranges *ranges, uint32_t series)
{
	size_t *nr = calloc(ranges->profile->nr_hosts + 1, sizeof(*nr)), most = 0;

	for (size_t h = 0; h < ranges->profile->nr_hosts; h++)
		ranges->lines[h] = TS_NONE;
	for (uint32_t l = 0; nr && l < ranges->profile->nr_lines; l++) {
		struct range_walk walk = range_walk_of(ranges, l, series);
		uint32_t host = host_of(ranges, l);
		struct outline_mark mark;
		size_t own = 0;

		while (has_ranges(ranges, l) && next_range(&walk, &mark))
			own++;
		if (own > nr[host]) {
			nr[host] = own;
			ranges->lines[host] = l;
		}
		most = TS_MAX(most, own);
	}
	free(nr);
	return most;
}

/* How much of the time in launches of a line lies in the marks, between the first and the last of them, and in all. */
struct held {
	double in_ps, hull_ps, all_ps;
};

static void hold_launches(const struct ranges *ranges, uint32_t line, uint32_t series,
			  const struct ts_spans *launches, struct held *held)
{
	struct range_walk walk = range_walk_of(ranges, line, series);
	int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;
	struct outline_mark mark;
	size_t hint = 0;

	while (next_range(&walk, &mark)) {
		held->in_ps +=
			(double)ts_spans_covered(launches, mark.start_ps, mark.end_ps, &hint);
		first_ps = TS_MIN(first_ps, mark.start_ps);
		last_ps = TS_MAX(last_ps, mark.end_ps);
	}
	hint = 0;
	held->hull_ps += (double)ts_spans_covered(launches, first_ps, last_ps, &hint);
	held->all_ps += (double)ts_spans_total(launches);
}

/* Those of all threads of the host: the one that runs gradients launches too, while the one with the marks waits. */
static bool holds_launches(const struct ranges *ranges, uint32_t series)
{
	struct held held = { 0 };

	for (size_t l = 0; l < ranges->profile->nr_lines; l++) {
		const struct ts_spans *launches = ranges->marks[l]->launches;
		uint32_t line = ranges->lines[host_of(ranges, l)];

		if (launches && launches->nr > 0 && line != TS_NONE)
			hold_launches(ranges, line, series, launches, &held);
	}
	return held.in_ps > 0 && held.in_ps >= HOLDS_HULL * held.hull_ps &&
	       held.in_ps >= HOLDS_ALL * held.all_ps;
}

/* Names that only a number tells apart are of one series where the numbers rise. */
static bool rises(const struct ranges *ranges, uint32_t series)
{
	for (size_t h = 0; h < ranges->profile->nr_hosts; h++) {
		uint64_t before = TS_NO_NUMBER;
		struct range_walk walk;
		struct outline_mark mark;

		if (ranges->lines[h] == TS_NONE)
			continue;
		for (walk = range_walk_of(ranges, ranges->lines[h], series);
		     next_range(&walk, &mark);) {
			uint64_t number = ts_step_mark_number(ranges->profile->ops[mark.op].name);

			if (before != TS_NO_NUMBER && number != TS_NO_NUMBER && number <= before)
				return false;
			before = number;
		}
	}
	return true;
}

/* One op, so nothing but its name: "epoch 3" once is not a series. */
static bool is_of_users(struct ranges *ranges, const struct series *series)
{
	return choose_lines(ranges, series->at) >= MIN_MARKS &&
	       (rises(ranges, series->at) && holds_launches(ranges, series->at));
}

TS_ORDER(by_rank, struct series, TS_DOWN(mark) TS_DOWN(nr) TS_UP(at))

/* The first of MARK in the order of ranks; NULL: there is none. */
static const struct series *first_of(const struct series *sorted, size_t nr, enum ts_step_mark mark)
{
	for (size_t i = 0; i < nr; i++)
		if (sorted[i].mark == mark)
			return &sorted[i];
	return NULL;
}

static const struct series *users_series(struct ranges *ranges, const struct series *sorted)
{
	size_t nr_tried = 0;

	for (size_t i = 0; i < ranges->nr && nr_tried < MAX_TRIED; i++) {
		if (sorted[i].mark != TS_MARK_USER || sorted[i].nr < MIN_MARKS)
			continue;
		nr_tried++;
		if (is_of_users(ranges, &sorted[i]))
			return &sorted[i];
	}
	return NULL;
}

static const struct series *choose_series(struct ranges *ranges, const struct series *sorted)
{
	const struct series *user, *optimizer;

	for (size_t i = 0; i < ranges->nr; i++)
		if (ts_step_mark_is_sure(sorted[i].mark) && choose_lines(ranges, sorted[i].at) > 0)
			return &sorted[i];
	user = users_series(ranges, sorted);
	optimizer = first_of(sorted, ranges->nr, TS_MARK_OPTIMIZER);
	if (optimizer && choose_lines(ranges, optimizer->at) < MIN_MARKS)
		optimizer = NULL;
	if (user && optimizer && user->nr > optimizer->nr + 1)
		user = NULL;
	return user ? user : optimizer;
}

static void take_series(struct ts_outline_steps *finding, struct ranges *ranges,
			const struct series *series, struct ts_steps *steps)
{
	const struct ts_profile *profile = ranges->profile;

	choose_lines(ranges, series->at);
	for (size_t d = 0; d < profile->nr_devices; d++)
		finding->lines[d] = ranges->lines[profile->devices[d].host];
	finding->ranges.mark = series->mark;
	finding->ranges.series = series->at;
	finding->ranges.of_op = ranges->of_op;
	ranges->of_op = NULL;
	steps->is_range = true;
	steps->source = ts_step_mark_is_sure(series->mark) ? TS_STEPS_MARKED : TS_STEPS_INFERRED;
	snprintf(steps->made_of, sizeof(steps->made_of), "%.*s", TS_ARG(series->name));
}

static bool has_any(const struct ranges *ranges)
{
	for (size_t l = 0; l < ranges->profile->nr_lines; l++)
		if (has_ranges(ranges, l))
			return true;
	return false;
}

enum ts_status ts_outline_ranges_find(struct ts_outline_steps *finding, struct ts_steps *steps,
				      struct ts_error *err)
{
	struct ranges ranges = { .profile = finding->profile, .marks = finding->marks };
	const struct series *series = NULL;
	struct series *sorted = NULL;
	enum ts_status st = TS_OK;

	TS_ASSERT(finding && steps);
	if (!has_any(&ranges) || ranges.profile->nr_devices == 0)
		return TS_OK;
	ranges.of_op = malloc((ranges.profile->nr_ops + 1) * sizeof(*ranges.of_op));
	ranges.lines = malloc((ranges.profile->nr_hosts + 1) * sizeof(*ranges.lines));
	st = ranges.of_op && ranges.lines ? list_series(&ranges, err) : ts_fail_nomem(err);
	sorted = st == TS_OK ? malloc((ranges.nr + 1) * sizeof(*sorted)) : NULL;
	if (st == TS_OK && !sorted)
		st = ts_fail_nomem(err);
	if (st == TS_OK && ranges.nr > 0) {
		memcpy(sorted, ranges.items, ranges.nr * sizeof(*sorted));
		qsort(sorted, ranges.nr, sizeof(*sorted), by_rank);
		series = choose_series(&ranges, sorted);
	}
	if (series)
		take_series(finding, &ranges, series, steps);
	free(sorted);
	free(ranges.of_op);
	free(ranges.lines);
	free(ranges.items);
	return st;
}

static enum ts_status add_range(const struct ts_outline_steps *finding,
				const struct outline_mark *mark, struct ts_steps *steps,
				struct ts_device_steps *of, struct ts_error *err)
{
	struct ts_bytes name = finding->profile->ops[mark->op].name;
	const struct ts_step_work work = ts_step_mark_work(name);
	enum ts_status st = ts_device_steps_add(of, mark->start_ps, mark->end_ps, of->nr, err);

	if (st || finding->ranges.mark != TS_MARK_SERVING)
		return st;
	return ts_steps_note_work(steps, of, &work, err);
}

/* From the end of one to the end of the next. */
static enum ts_status add_ends(struct range_walk *walk, struct ts_device_steps *of,
			       struct ts_error *err)
{
	struct outline_mark mark;
	enum ts_status st = TS_OK;
	int64_t end_ps = next_range(walk, &mark) ? mark.end_ps : 0;

	while (st == TS_OK && next_range(walk, &mark)) {
		st = ts_device_steps_add(of, end_ps, mark.end_ps, of->nr, err);
		end_ps = mark.end_ps;
	}
	return st;
}

enum ts_status ts_outline_ranges_make(const struct ts_outline_steps *finding, uint32_t line,
				      struct ts_steps *steps, struct ts_device_steps *of,
				      struct ts_error *err)
{
	const struct ranges ranges = { .profile = finding->profile,
				       .marks = finding->marks,
				       .of_op = finding->ranges.of_op };
	struct range_walk walk = range_walk_of(&ranges, line, finding->ranges.series);
	struct outline_mark mark;
	enum ts_status st = TS_OK;

	TS_ASSERT(finding->ranges.of_op && steps && of);
	if (finding->ranges.mark == TS_MARK_OPTIMIZER)
		return add_ends(&walk, of, err);
	while (st == TS_OK && next_range(&walk, &mark))
		st = add_range(finding, &mark, steps, of, err);
	return st;
}
