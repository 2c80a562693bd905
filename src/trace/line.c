/* SPDX-License-Identifier: MIT */
/* Blocks of a line -> chosen events -> sorted -> slices. */
#include "trace/writer.h"

#include "base/check.h"
#include "read/stream.h"

#define AHEAD 8 /* events whose stats are fetched while others are written: chosen ones lie far apart in the file */

/*
 * Sorting: by start, the longer first, and of equals the one that ended later. An op of 0 ps that
 * starts with a longer one may be in it or have run before it: then the device's clock decides,
 * which is finer.
 */

static int64_t device_start_of(const struct ts_trace_writer *writer, const struct ts_kept *kept)
{
	const struct ts_block block = { .profile = writer->profile,
					.line = &writer->profile->lines[writer->row->line],
					.body = &kept->body };
	struct ts_stat stat;

	if (!writer->stat || !writer->stat(&block, 0, "device_offset_ps", &stat) ||
	    stat.type != TS_STAT_INT)
		return TS_UNKNOWN;
	return stat.number;
}

/* Less than 0: X started earlier by the device's clock; 0: it does not say. */
static int by_device_clock(const struct ts_trace_writer *writer, const struct ts_kept *x,
			   const struct ts_kept *y)
{
	int64_t x_ps = device_start_of(writer, x), y_ps = device_start_of(writer, y);

	return x_ps < 0 || y_ps < 0 ? 0 : (x_ps > y_ps) - (x_ps < y_ps);
}

static bool is_before(const struct ts_trace_writer *writer, uint32_t a, uint32_t b)
{
	const struct ts_kept *x = &writer->kept[a], *y = &writer->kept[b];
	int order;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps;
	if (x->dur_ps == 0 || y->dur_ps == 0) {
		order = by_device_clock(writer, x, y);
		if (order)
			return order < 0;
	}
	if (x->dur_ps != y->dur_ps)
		return x->dur_ps > y->dur_ps;
	return a > b;
}

/* Merges the sorted FROM[LOW, MID) and FROM[MID, HIGH) into TO. Often they follow each other. */
static void line_merge(const struct ts_trace_writer *writer, const uint32_t *from, uint32_t *to,
		       size_t low, size_t mid, size_t high)
{
	size_t a = low, b = mid;

	if (mid == high || is_before(writer, from[mid - 1], from[mid])) {
		memcpy(to + low, from + low, (high - low) * sizeof(*to));
		return;
	}
	for (size_t i = low; i < high; i++) {
		bool is_left = b == high || (a < mid && is_before(writer, from[a], from[b]));

		to[i] = is_left ? from[a++] : from[b++];
	}
}

/* Sorts NR indices at FROM, with as many at SCRATCH to go to and fro. */
static void line_sort(const struct ts_trace_writer *writer, uint32_t *from, uint32_t *scratch,
		      size_t nr)
{
	uint32_t *sorted = from, *to = scratch;

	for (size_t width = 1; width < nr; width *= 2) {
		uint32_t *swap = sorted;

		for (size_t low = 0; low < nr; low += 2 * width)
			line_merge(writer, sorted, to, low, TS_MIN(low + width, nr),
				   TS_MIN(low + 2 * width, nr));
		sorted = to;
		to = swap;
	}
	if (sorted != from)
		memcpy(from, sorted, nr * sizeof(*from));
}

/* The sorted LATE among the sorted ORDER, which has room behind for them. */
static void line_insert(const struct ts_trace_writer *writer, uint32_t *order, size_t nr,
			const uint32_t *late, size_t nr_late)
{
	while (nr_late > 0) {
		bool is_last = nr == 0 || is_before(writer, order[nr - 1], late[nr_late - 1]);

		if (is_last)
			nr_late--;
		else
			nr--;
		order[nr + nr_late] = is_last ? late[nr_late] : order[nr];
	}
}

/*
 * The kept events' indices, sorted; NULL: no memory. Most events come in the order of their starts already: those
 * that come late, which hold others or wait for the end of a pair, are sorted alone and then put among them.
 */
static const uint32_t *sort_kept(struct ts_trace_writer *writer)
{
	size_t nr = writer->nr_kept, nr_order = 0, nr_late = 0;
	uint32_t *order, *late;

	if (!ts_grow(&writer->order, &writer->cap_order, 2 * nr + 1, sizeof(uint32_t)))
		return NULL;
	order = writer->order;
	late = order + nr;
	for (uint32_t i = 0; i < nr; i++) {
		if (nr_order == 0 || is_before(writer, order[nr_order - 1], i))
			order[nr_order++] = i;
		else
			late[nr_late++] = i;
	}
	line_sort(writer, late, order + nr_order, nr_late);
	line_insert(writer, order, nr_order, late, nr_late);
	return order;
}

/* The start of the earliest pair that is still open: nothing from there on may be written yet. */
static int64_t open_pairs_ps(const struct ts_trace_writer *writer)
{
	int64_t start_ps = INT64_MAX;

	for (size_t i = 0; i < writer->pairs.nr; i++)
		start_ps = TS_MIN(start_ps, writer->pairs.items[i].start_ps);
	return start_ps;
}

/* Writes what starts before the open pairs, and keeps the rest. */
static enum ts_status line_flush(struct ts_trace_writer *writer, struct ts_error *err)
{
	int64_t until_ps = open_pairs_ps(writer);
	const uint32_t *order = sort_kept(writer);
	enum ts_status st = TS_OK;
	size_t nr_left = 0;

	if (!order)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < writer->nr_kept && st == TS_OK; i++) {
		const struct ts_kept *kept = &writer->kept[order[i]];

		if (kept->start_ps >= until_ps)
			break;
		if (i + AHEAD < writer->nr_kept)
			__builtin_prefetch(writer->kept[order[i + AHEAD]].body.p);
		st = ts_trace_put_kept(writer, kept, err);
	}
	for (size_t i = 0; i < writer->nr_kept; i++)
		if (writer->kept[i].start_ps >= until_ps)
			writer->kept[nr_left++] = writer->kept[i];
	writer->nr_kept = nr_left;
	writer->flush_at = nr_left + TS_TRACE_FLUSH_EVENTS;
	return st;
}

/* Choosing */

/* Room for one more. The line's number of chosen events bounds it, so growing overshoots nothing. */
static enum ts_status make_kept_room(struct ts_trace_writer *writer, struct ts_error *err)
{
	const struct ts_trace_tally *tally = writer->plan->tallies[writer->row->line];
	size_t cap = TS_MAX(writer->cap_kept + writer->cap_kept / 2, 1024);
	struct ts_kept *grown;

	if (writer->nr_kept < writer->cap_kept)
		return TS_OK;
	if (writer->nr_kept >= UINT32_MAX / 2) /* an index is 32 bits */
		return ts_fail(err, TS_LIMIT,
			       "a row of the trace has more events than it can hold "
			       "(write fewer: --max-events)");
	cap = TS_MAX(TS_MIN(cap, tally ? tally->nr_chosen : 0), writer->nr_kept + 1);
	grown = realloc(writer->kept, cap * sizeof(*grown));
	if (!grown)
		return ts_fail_nomem(err);
	writer->kept = grown;
	writer->cap_kept = cap;
	return TS_OK;
}

static enum ts_status line_keep(struct ts_trace_writer *writer, const struct ts_trace_event *event,
				uint32_t flow, struct ts_error *err)
{
	enum ts_status st = make_kept_room(writer, err);

	if (st)
		return st;
	writer->kept[writer->nr_kept++] = (struct ts_kept){ .start_ps = event->start_ps,
							    .dur_ps = event->dur_ps,
							    .self_ps = event->self_ps,
							    .body = event->body,
							    .op = event->op,
							    .flow = flow,
							    .note = event->note };
	return TS_OK;
}

static bool chooses(struct ts_trace_writer *writer, int64_t key_ps)
{
	return ts_trace_chooses(writer->plan, writer->row->line, key_ps, &writer->quota);
}

/* A wait exposes the work when it is more than a hundredth of what the work took: else the time was
 * hidden behind other ops, and an arrow would say nothing. */
static bool exposes(const struct ts_trace_event *start, const struct ts_trace_event *done)
{
	int64_t end_ps = ts_i64_add(done->start_ps, done->dur_ps);

	return done->dur_ps > ts_i64_sub(end_ps, start->start_ps) / 100;
}

/* The arrow from a start to the wait that exposes it is drawn when both ends are there. */
static enum ts_status line_see_pair(void *ctx, const struct ts_trace_event *start,
				    const struct ts_trace_event *done, struct ts_error *err)
{
	struct ts_trace_writer *writer = ctx;
	bool has_start = chooses(writer, ts_trace_pair_key(start, done));
	bool has_done = done && chooses(writer, done->dur_ps);
	enum ts_status st = TS_OK;
	uint32_t flow = 0;

	if (has_start && has_done && exposes(start, done) && writer->nr_flows < UINT32_MAX >> 1) {
		flow = ++writer->nr_flows << 1;
		writer->counts->flows++;
	}
	if (has_start)
		st = line_keep(writer, start, flow, err);
	if (st == TS_OK && has_done)
		st = line_keep(writer, done, flow ? flow | TS_KEPT_FLOW_END : 0, err);
	return st;
}

static enum ts_status line_event_of(struct ts_trace_writer *writer, const struct ts_block *block,
				    size_t i, struct ts_trace_event *event, struct ts_error *err)
{
	*event = ts_trace_event_of(block, i);
	if (writer->ends)
		return ts_trace_ends_add(writer->ends, block, i, &event->note, err);
	if (writer->at.gpu && writer->form->kernel_tail)
		return ts_trace_kernels_see(&writer->kernels, block, i, &event->note, err);
	return TS_OK;
}

static enum ts_status see_wanted(struct ts_trace_writer *writer, const struct ts_block *block,
				 size_t i, bool is_core, struct ts_error *err)
{
	struct ts_trace_visitor visitor = { writer, line_see_pair };
	struct ts_trace_event event;
	enum ts_status st = TS_OK;
	bool taken = false;

	if (writer->pairs.nr > 0)
		st = ts_trace_pairs_expire(&writer->pairs, writer->nr_seen, &visitor, err);
	if (st == TS_OK && is_core && writer->plan->async[block->op[i]] != TS_ASYNC_NONE) {
		st = line_event_of(writer, block, i, &event, err);
		if (st == TS_OK)
			st = ts_trace_pairs_add(&writer->pairs, writer->profile, &event,
						writer->nr_seen, &visitor, &taken, err);
	}
	writer->nr_seen++;
	if (st == TS_OK && !taken && chooses(writer, block->dur_ps[i])) {
		st = line_event_of(writer, block, i, &event, err);
		if (st == TS_OK)
			st = line_keep(writer, &event, 0, err);
	}
	return st;
}

static enum ts_status line_see_event(struct ts_trace_writer *writer, const struct ts_block *block,
				     size_t i, bool is_core, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (!ts_trace_leaves_out(writer->plan, block, i))
		st = see_wanted(writer, block, i, is_core, err);
	/* Nothing that comes later starts before the outermost event that has just ended. */
	if (st == TS_OK && writer->nr_kept >= writer->flush_at && block->depth[i] == 0)
		st = line_flush(writer, err);
	return st;
}

static enum ts_status see_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct ts_trace_writer *writer = ctx;
	bool is_core = block->line->kind == TS_LINE_OPS;
	enum ts_status st = TS_OK;

	writer->each = block->each;
	writer->stat = block->stat;
	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++)
		st = line_see_event(writer, block, i, is_core, err);
	return st;
}

enum ts_status ts_trace_write_line(struct ts_trace_writer *writer, struct ts_error *err)
{
	const struct ts_trace_tally *tally = writer->plan->tallies[writer->row->line];
	struct ts_trace_visitor visitor = { writer, line_see_pair };
	struct ts_sink sink = { .ctx = writer, .columns = TS_COL_STATS, .block = see_block };
	enum ts_status st;

	if (writer->ends)
		sink.columns |= ts_trace_end_columns(writer->profile, writer->row->line);
	writer->quota = tally ? tally->quota : 0;
	st = ts_stream_line(writer->profile, writer->row->line, &sink, err);
	if (st != TS_OK && st != TS_FORMAT)
		return st;
	st = ts_trace_pairs_expire(&writer->pairs, UINT64_MAX, &visitor, err);
	if (st == TS_OK)
		st = line_flush(writer, err);
	ts_trace_close_lanes(writer);
	return st;
}
