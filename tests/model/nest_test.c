/* SPDX-License-Identifier: MIT */
/*
 * Nesting: self times and segments of lines drawn by hand, and of random ones against a slow and
 * simple answer to the same question.
 */
#include "model/nest.h"
#include "tests/base/rng.h"
#include "tests/test.h"

#define MAX_EVENTS 6000

struct seen {
	size_t nr_events, nr_segments, nr_blocks;
	int64_t occurrences, flops;			 /* sums */
	size_t nr_without_costs, nr_without_occurrences; /* blocks */
	uint32_t op[MAX_EVENTS], segment_op[2 * MAX_EVENTS];
	int64_t start[MAX_EVENTS], dur[MAX_EVENTS], total[MAX_EVENTS], self[MAX_EVENTS];
	uint16_t depth[MAX_EVENTS];
	int64_t segment_start[2 * MAX_EVENTS], segment_end[2 * MAX_EVENTS];
	enum ts_status answer; /* of the sink */
};

static enum ts_status take(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct seen *seen = ctx;

	seen->nr_blocks++;
	seen->nr_without_costs += !block->flops && !block->bytes;
	seen->nr_without_occurrences += !block->occurrences;
	for (size_t i = 0; i < block->nr_events; i++) {
		seen->occurrences += block->occurrences ? block->occurrences[i] : 1;
		if (block->flops && block->flops[i] != TS_UNKNOWN)
			seen->flops += block->flops[i];
	}
	for (size_t i = 0; i < block->nr_events; i++, seen->nr_events++) {
		assert_true(seen->nr_events < MAX_EVENTS);
		seen->op[seen->nr_events] = block->op[i];
		seen->start[seen->nr_events] = block->start_ps[i];
		seen->dur[seen->nr_events] = block->dur_ps[i];
		seen->total[seen->nr_events] = block->total_ps[i];
		seen->self[seen->nr_events] = block->self_ps[i];
		seen->depth[seen->nr_events] = block->depth[i];
	}
	for (size_t i = 0; i < block->nr_segments; i++, seen->nr_segments++) {
		assert_true(seen->nr_segments < 2 * MAX_EVENTS);
		seen->segment_op[seen->nr_segments] = block->segment_op[i];
		seen->segment_start[seen->nr_segments] = block->segment_start_ps[i];
		seen->segment_end[seen->nr_segments] = block->segment_end_ps[i];
	}
	return seen->answer;
}

/* A profile with one line; the number of an event is its op. */
struct given {
	struct ts_profile profile;
	struct ts_nest *nest;
	struct seen seen;
	struct ts_faults faults;
};

static struct given *given_columns(unsigned columns)
{
	struct given *given = calloc(1, sizeof(*given));
	struct ts_sink sink = { .columns = columns, .block = take };

	assert_non_null(given);
	ts_profile_init(&given->profile);
	assert_non_null(ts_profile_add_host(&given->profile));
	assert_non_null(ts_profile_add_plane(&given->profile));
	assert_non_null(ts_profile_add_line(&given->profile));
	given->profile.planes[0].host = given->profile.lines[0].plane = 0;
	sink.ctx = &given->seen;
	sink.faults = &given->faults;
	given->nest = ts_nest_new(&given->profile, 0, &sink);
	assert_non_null(given->nest);
	return given;
}

static struct given *given_line(void)
{
	return given_columns(TS_COL_SEGMENTS);
}

static void done(struct given *given)
{
	ts_nest_free(given->nest);
	ts_profile_release(&given->profile);
	free(given);
}

static struct ts_event event_of(uint32_t op, int64_t start, int64_t dur)
{
	return (struct ts_event){ .op = op,
				  .link = TS_NO_LINK,
				  .start_ps = start,
				  .dur_ps = dur,
				  .device_start_ps = start,
				  .total_ps = dur,
				  .flops = TS_UNKNOWN,
				  .bytes = TS_UNKNOWN,
				  .occurrences = 1,
				  .number = TS_NO_NUMBER };
}

static void push(struct given *given, uint32_t op, int64_t start, int64_t dur)
{
	struct ts_event event = event_of(op, start, dur);

	assert_int_equal(ts_nest_push(given->nest, &event, NULL), TS_OK);
}

static void finish(struct given *given)
{
	assert_int_equal(ts_nest_finish(given->nest, NULL), TS_OK);
}

static void assert_event(const struct seen *seen, size_t i, uint32_t op, int64_t self,
			 uint16_t depth)
{
	assert_true(i < seen->nr_events);
	assert_int_equal(seen->op[i], op);
	assert_int_equal(seen->self[i], self);
	assert_int_equal(seen->depth[i], depth);
}

static void assert_segment(const struct seen *seen, size_t i, uint32_t op, int64_t start,
			   int64_t end)
{
	assert_true(i < seen->nr_segments);
	assert_int_equal(seen->segment_op[i], op);
	assert_int_equal(seen->segment_start[i], start);
	assert_int_equal(seen->segment_end[i], end);
}

/*
 *	while 0  [0                  100]
 *	op 1        [10  30]
 *	op 2                [40    80]
 *	op 3                  [50 60]
 *	op 4                               [120 130]
 */
TEST(events_come_when_they_end_with_their_self_time)
{
	struct given *given = given_line();
	const struct seen *seen = &given->seen;

	push(given, 0, 0, 100);
	push(given, 1, 10, 20);
	push(given, 2, 40, 40);
	push(given, 3, 50, 10);
	push(given, 4, 120, 10);
	finish(given);
	assert_int_equal(seen->nr_events, 5);
	assert_event(seen, 0, 1, 20, 1);
	assert_event(seen, 1, 3, 10, 2);
	assert_event(seen, 2, 2, 30, 1);
	assert_event(seen, 3, 0, 40, 0);
	assert_event(seen, 4, 4, 10, 0);
	assert_int_equal(seen->nr_segments, 8);
	assert_segment(seen, 0, 0, 0, 10);
	assert_segment(seen, 1, 1, 10, 30);
	assert_segment(seen, 2, 0, 30, 40);
	assert_segment(seen, 3, 2, 40, 50);
	assert_segment(seen, 4, 3, 50, 60);
	assert_segment(seen, 5, 2, 60, 80);
	assert_segment(seen, 6, 0, 80, 100);
	assert_segment(seen, 7, 4, 120, 130);
	done(given);
}

TEST(of_two_that_overlap_the_later_has_the_moment)
{
	struct given *given = given_line();

	push(given, 0, 0, 10);
	push(given, 1, 5, 10);
	finish(given);
	assert_event(&given->seen, 0, 0, 10, 0);
	assert_event(&given->seen, 1, 1, 10, 0);
	assert_int_equal(given->seen.nr_segments, 2);
	assert_segment(&given->seen, 0, 0, 0, 5);
	assert_segment(&given->seen, 1, 1, 5, 15);
	done(given);
}

/* Of two with the same span the first is the parent, as XProf has it, and has no time of its own. */
TEST(of_equal_spans_the_first_is_outside)
{
	struct given *given = given_line();

	push(given, 0, 5, 10);
	push(given, 1, 5, 10);
	finish(given);
	assert_event(&given->seen, 0, 1, 10, 1);
	assert_event(&given->seen, 1, 0, 0, 0);
	assert_int_equal(given->seen.nr_segments, 1);
	assert_segment(&given->seen, 0, 1, 5, 15);
	done(given);
}

TEST(an_event_of_no_length_is_counted_and_has_no_moment)
{
	struct given *given = given_line();

	push(given, 0, 0, 10);
	push(given, 1, 5, 0);
	push(given, 2, 10, 0); /* at the very end: inside */
	push(given, 3, 20, 0);
	finish(given);
	assert_int_equal(given->seen.nr_events, 4);
	assert_event(&given->seen, 2, 0, 10, 0);
	assert_event(&given->seen, 3, 3, 0, 0);
	for (size_t i = 0; i < given->seen.nr_segments; i++)
		assert_int_equal(given->seen.segment_op[i], 0);
	assert_int_equal(given->seen.segment_end[given->seen.nr_segments - 1], 10);
	done(given);
}

/* The device's clock says 40 and 15, the timeline draws 50 and 20. */
TEST(times_are_the_devices_and_places_the_timelines)
{
	struct given *given = given_line();
	struct ts_event outer = event_of(0, 0, 50), inner = event_of(1, 10, 20);

	outer.device_start_ps = 1000;
	outer.total_ps = 40;
	inner.device_start_ps = 1005;
	inner.total_ps = 15;
	assert_int_equal(ts_nest_push(given->nest, &outer, NULL), TS_OK);
	assert_int_equal(ts_nest_push(given->nest, &inner, NULL), TS_OK);
	finish(given);
	assert_event(&given->seen, 0, 1, 15, 1);
	assert_event(&given->seen, 1, 0, 25, 0);
	assert_segment(&given->seen, 0, 0, 0, 10);
	assert_segment(&given->seen, 1, 1, 10, 30);
	assert_segment(&given->seen, 2, 0, 30, 50);
	done(given);
}

TEST(an_earlier_start_is_unsorted)
{
	struct given *given = given_line();
	struct ts_event late = event_of(0, 10, 5), early = event_of(1, 9, 1);

	assert_int_equal(ts_nest_push(given->nest, &late, NULL), TS_OK);
	assert_int_equal(ts_nest_push(given->nest, &early, NULL), TS_UNSORTED);
	done(given);
}

TEST(a_bad_word_of_the_sink_ends_the_line)
{
	struct given *given = given_line();
	enum ts_status st = TS_OK;

	given->seen.answer = TS_IO;
	for (uint32_t i = 0; st == TS_OK && i < 5000; i++) {
		struct ts_event event = event_of(i, i, 1);

		st = ts_nest_push(given->nest, &event, NULL);
	}
	assert_int_equal(st, TS_IO);
	assert_int_equal(given->seen.nr_blocks, 1);
	done(given);
}

/* Twice as deep as is kept: everything is handed over, and the moments add up. */
TEST(deeper_than_the_stack_nothing_is_lost)
{
	struct given *given = given_line();
	const int64_t nr = 2 * TS_LIMIT_NEST_DEPTH;
	int64_t busy = 0;

	for (int64_t i = 0; i < nr; i++)
		push(given, (uint32_t)i, i, 2 * (nr - i));
	finish(given);
	assert_int_equal(given->seen.nr_events, nr);
	for (size_t i = 0; i < given->seen.nr_segments; i++) {
		assert_true(given->seen.segment_start[i] < given->seen.segment_end[i]);
		assert_true(i == 0 ||
			    given->seen.segment_end[i - 1] <= given->seen.segment_start[i]);
		busy += given->seen.segment_end[i] - given->seen.segment_start[i];
	}
	assert_int_equal(busy, 2 * nr);
	done(given);
}

/* Columns that were not asked for are not there. */
TEST(columns_are_filled_when_asked)
{
	struct given *given = given_columns(0);

	push(given, 0, 0, 10);
	finish(given);
	assert_int_equal(given->seen.nr_events, 1);
	assert_int_equal(given->seen.nr_segments, 0);
	done(given);
}

/* Three blocks; in the middle of the second one event says what others leave to their op. */
TEST(a_column_that_no_event_of_a_block_needs_is_not_there)
{
	struct given *given = given_columns(TS_COL_COSTS);

	for (int64_t i = 0; i < 5000; i++) {
		struct ts_event event = { .start_ps = 10 * i,
					  .device_start_ps = 10 * i,
					  .dur_ps = 10,
					  .total_ps = 10,
					  .occurrences = i == 3000 ? 7 : 1,
					  .flops = i == 3000 ? 99 : TS_UNKNOWN,
					  .bytes = TS_UNKNOWN };

		assert_int_equal(ts_nest_push(given->nest, &event, NULL), TS_OK);
	}
	finish(given);
	assert_int_equal(given->seen.nr_blocks, 3);
	assert_int_equal(given->seen.nr_without_costs, 2);
	assert_int_equal(given->seen.nr_without_occurrences, 2);
	assert_int_equal(given->seen.occurrences, 5006);
	assert_int_equal(given->seen.flops, 99);
	done(given);
}

TEST(an_empty_line_has_no_blocks)
{
	struct given *given = given_line();

	finish(given);
	assert_int_equal(given->seen.nr_blocks, 0);
	done(given);
}

struct span {
	int64_t start, end;
};

static int parents_first(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/* Children inside [start, end), side by side, to a depth. */
static size_t fill(struct rng *rng, struct span *spans, size_t nr, int64_t start, int64_t end,
		   int depth)
{
	while (start < end && nr < 300) {
		int64_t from = start + (int64_t)rng_below(rng, 10),
			to = from + (int64_t)rng_below(rng, 60);

		if (from > end || to > end)
			break;
		spans[nr++] = (struct span){ from, to };
		if (depth > 0 && rng_below(rng, 2))
			nr = fill(rng, spans, nr, from, to, depth - 1);
		start = to;
	}
	return nr;
}

/* The slow answer: the parent is the last one before it that holds it and that nothing closed. */
static void assert_self_times(const struct seen *seen, const struct span *spans, size_t nr)
{
	int64_t self[300];
	size_t open[300], depth = 0;

	for (size_t i = 0; i < nr; i++) {
		self[i] = spans[i].end - spans[i].start;
		while (depth > 0 && spans[open[depth - 1]].end < spans[i].end)
			depth--;
		if (depth > 0)
			self[open[depth - 1]] -= self[i];
		open[depth++] = i;
	}
	assert_int_equal(seen->nr_events, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(seen->self[i], self[seen->op[i]]);
		assert_int_equal(seen->start[i], spans[seen->op[i]].start);
		assert_int_equal(seen->dur[i], spans[seen->op[i]].end - spans[seen->op[i]].start);
	}
}

/* Each moment belongs to the latest started event that runs then; the first of equals is outside. */
static void assert_moments(const struct seen *seen, const struct span *spans, size_t nr,
			   int64_t end)
{
	size_t at = 0;

	for (int64_t t = 0; t < end; t++) {
		uint32_t owner = TS_NONE, is = TS_NONE;

		for (uint32_t i = 0; i < nr; i++)
			if (spans[i].start <= t && t < spans[i].end)
				owner = i;
		while (at < seen->nr_segments && seen->segment_end[at] <= t)
			at++;
		if (at < seen->nr_segments && seen->segment_start[at] <= t)
			is = seen->segment_op[at];
		assert_int_equal(is, owner);
	}
	for (size_t i = 1; i < seen->nr_segments; i++)
		assert_true(seen->segment_end[i - 1] <= seen->segment_start[i]);
}

TEST(random_nested_events_as_the_slow_way)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct given *given = given_line();
		struct span spans[300];
		struct rng rng = rng_of(seed);
		size_t nr = fill(&rng, spans, 0, 0, 600, 5);

		qsort(spans, nr, sizeof(*spans), parents_first);
		for (size_t i = 0; i < nr; i++)
			push(given, (uint32_t)i, spans[i].start, spans[i].end - spans[i].start);
		finish(given);
		assert_self_times(&given->seen, spans, nr);
		assert_moments(&given->seen, spans, nr, 700);
		done(given);
	}
}

/* Overlapping any way: the moments are those of the union, each once. */
TEST(random_overlapping_events_cover_their_union_once)
{
	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct given *given = given_line();
		struct span spans[60];
		struct rng rng = rng_of(seed);
		size_t nr = 1 + (size_t)rng_below(&rng, 60);
		bool busy[400] = { false }, covered[400] = { false };

		for (size_t i = 0; i < nr; i++) {
			spans[i].start = (int64_t)rng_below(&rng, 300);
			spans[i].end = spans[i].start + (int64_t)rng_below(&rng, 80);
			for (int64_t t = spans[i].start; t < spans[i].end; t++)
				busy[t] = true;
		}
		qsort(spans, nr, sizeof(*spans), parents_first);
		for (size_t i = 0; i < nr; i++)
			push(given, (uint32_t)i, spans[i].start, spans[i].end - spans[i].start);
		finish(given);
		assert_self_times(&given->seen, spans, nr);
		for (size_t i = 0; i < given->seen.nr_segments; i++)
			for (int64_t t = given->seen.segment_start[i];
			     t < given->seen.segment_end[i]; t++) {
				assert_false(covered[t]);
				covered[t] = true;
			}
		assert_memory_equal(busy, covered, sizeof(busy));
		done(given);
	}
}

static void push_or_pass(struct given *given, uint32_t op, const bool *looks_at, struct span span)
{
	if (!looks_at[op])
		assert_int_equal(
			ts_nest_close(given->nest, span.start, span.end - span.start, NULL), TS_OK);
	if (looks_at[op] || !ts_nest_is_idle(given->nest))
		push(given, op, span.start, span.end - span.start);
}

/* What was seen of those alone that are looked at. */
static void keep_looked_at(struct seen *seen, const bool *looks_at)
{
	size_t nr = 0;

	for (size_t i = 0; i < seen->nr_events; i++)
		if (looks_at[seen->op[i]]) {
			seen->op[nr] = seen->op[i];
			seen->start[nr] = seen->start[i];
			seen->self[nr++] = seen->self[i];
		}
	seen->nr_events = nr;
	nr = 0;
	for (size_t i = 0; i < seen->nr_segments; i++)
		if (looks_at[seen->segment_op[i]]) {
			seen->segment_op[nr] = seen->segment_op[i];
			seen->segment_start[nr] = seen->segment_start[i];
			seen->segment_end[nr++] = seen->segment_end[i];
		}
	seen->nr_segments = nr;
}

static void assert_seen(const struct seen *seen, const struct seen *wanted)
{
	assert_int_equal(seen->nr_events, wanted->nr_events);
	assert_int_equal(seen->nr_segments, wanted->nr_segments);
	assert_memory_equal(seen->op, wanted->op, wanted->nr_events * sizeof(*seen->op));
	assert_memory_equal(seen->start, wanted->start, wanted->nr_events * sizeof(*seen->start));
	assert_memory_equal(seen->self, wanted->self, wanted->nr_events * sizeof(*seen->self));
	assert_memory_equal(seen->segment_op, wanted->segment_op,
			    wanted->nr_segments * sizeof(*seen->segment_op));
	assert_memory_equal(seen->segment_start, wanted->segment_start,
			    wanted->nr_segments * sizeof(*seen->segment_start));
	assert_memory_equal(seen->segment_end, wanted->segment_end,
			    wanted->nr_segments * sizeof(*seen->segment_end));
}

/* Nested, and overlapping any way. */
TEST(what_is_passed_over_changes_nothing_of_the_rest)
{
	size_t nr_passed = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		bool looks_at[300] = { false };
		struct given *given = given_line(), *all = given_line();
		struct span spans[300];
		struct rng rng = rng_of(seed);
		size_t nr = fill(&rng, spans, 0, 0, 600, 5);

		for (size_t i = 0; i < nr; i++) {
			looks_at[i] = rng_below(&rng, 4) == 0;
			if (seed % 2)
				spans[i].end += (int64_t)rng_below(&rng, 40);
		}
		qsort(spans, nr, sizeof(*spans), parents_first);
		ts_nest_free(given->nest);
		given->nest = ts_nest_new(&given->profile, 0,
					  &(struct ts_sink){ .ctx = &given->seen,
							     .columns = TS_COL_SEGMENTS,
							     .block = take,
							     .looks_at = looks_at });
		assert_non_null(given->nest);
		for (uint32_t i = 0; i < nr; i++) {
			push(all, i, spans[i].start, spans[i].end - spans[i].start);
			push_or_pass(given, i, looks_at, spans[i]);
		}
		finish(all);
		finish(given);
		nr_passed += nr - given->seen.nr_events;
		keep_looked_at(&all->seen, looks_at);
		keep_looked_at(&given->seen, looks_at);
		assert_seen(&given->seen, &all->seen);
		done(given);
		done(all);
	}
	assert_true(nr_passed > 1000);
}

/* More events and segments than a block holds: the pieces join without a seam. */
TEST(blocks_join)
{
	struct given *given = given_line();

	push(given, 0, 0, 100000);
	for (uint32_t i = 1; i < 5000; i++)
		push(given, i, i * 10, 5);
	finish(given);
	assert_true(given->seen.nr_blocks > 2);
	assert_int_equal(given->seen.nr_events, 5000);
	for (uint32_t i = 0; i < 4999; i++)
		assert_int_equal(given->seen.op[i], i + 1);
	assert_int_equal(given->seen.self[4999], 100000 - 4999 * 5);
	assert_int_equal(given->seen.nr_segments, 2 * 4999 + 1);
	for (size_t i = 1; i < given->seen.nr_segments; i++)
		assert_int_equal(given->seen.segment_start[i], given->seen.segment_end[i - 1]);
	done(given);
}

TEST(a_bound_keeps_differences_in_64_bits)
{
	assert_int_equal(ts_time_bound(INT64_MAX), TS_TIME_MAX);
	assert_int_equal(ts_time_bound(INT64_MIN), -TS_TIME_MAX);
	assert_int_equal(ts_time_bound(-5), -5);
	assert_true(TS_TIME_MAX - -TS_TIME_MAX > 0);
}

/* A line whose events may begin from 0 to 1000, and end at 900 when they would last beyond that. */
static struct given *given_bounds(void)
{
	struct given *given = given_line();

	ts_nest_free(given->nest);
	given->profile.hosts[0].time = (struct ts_capture_time){ 0, 1000, 900 };
	given->nest = ts_nest_new(&given->profile, 0,
				  &(struct ts_sink){ .ctx = &given->seen,
						     .columns = TS_COL_SEGMENTS,
						     .faults = &given->faults,
						     .block = take });
	assert_non_null(given->nest);
	return given;
}

TEST(what_begins_outside_of_the_capture_is_left_out_and_counted)
{
	struct given *given = given_bounds();

	push(given, 1, -500, 10);
	push(given, 2, 100, 50);
	push(given, 3, 3000, 10);
	push(given, 4, 200, 50); /* in order again: the one before it is not there */
	finish(given);
	assert_int_equal(given->seen.nr_events, 2);
	assert_int_equal(given->faults.of[TS_FAULT_OUTSIDE].nr, 2);
	assert_int_equal(given->faults.of[TS_FAULT_OUTSIDE].op, 1);
	assert_int_equal(given->faults.of[TS_FAULT_OUTSIDE].ps, -500);
	done(given);
}

TEST(what_outlasts_the_capture_ends_with_it)
{
	struct given *given = given_bounds();

	push(given, 1, 100, 5000);
	push(given, 2, 300, -7);
	finish(given);
	assert_int_equal(given->seen.nr_events, 2);
	assert_int_equal(given->seen.dur[0], 0);
	assert_int_equal(given->seen.dur[1], 800);
	assert_int_equal(given->faults.of[TS_FAULT_ENDLESS].nr, 1);
	assert_int_equal(given->faults.of[TS_FAULT_ENDLESS].ps, 4200);
	assert_int_equal(given->faults.of[TS_FAULT_NEGATIVE].nr, 1);
	done(given);
}

/* On a stream of a GPU what runs over its successor is cut there; on a line that nests it holds it. */
TEST(a_stream_runs_one_after_the_other)
{
	for (int is_stream = 0; is_stream < 2; is_stream++) {
		struct given *given = given_line();

		ts_nest_free(given->nest);
		given->profile.planes[0].kind = is_stream ? TS_PLANE_GPU : TS_PLANE_TPU;
		given->profile.lines[0].kind = TS_LINE_OPS;
		given->nest = ts_nest_new(&given->profile, 0,
					  &(struct ts_sink){ .ctx = &given->seen,
							     .columns = TS_COL_SEGMENTS,
							     .faults = &given->faults,
							     .block = take });
		push(given, 1, 0, 900 * TS_PS_PER_US);
		push(given, 2, 300 * TS_PS_PER_US, 100 * TS_PS_PER_US);
		push(given, 3, 500 * TS_PS_PER_US, 100 * TS_PS_PER_US);
		push(given, 4, 590 * TS_PS_PER_US,
		     400 * TS_PS_PER_US); /* while the one before drains */
		finish(given);
		assert_int_equal(given->faults.of[TS_FAULT_OVER].nr, is_stream);
		assert_int_equal(given->faults.of[TS_FAULT_OVER].nr_over, is_stream ? 3 : 0);
		assert_event(&given->seen, 0, is_stream ? 1 : 2,
			     (is_stream ? 300 : 100) * TS_PS_PER_US, is_stream ? 0 : 1);
		done(given);
	}
}
