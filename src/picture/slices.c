/* SPDX-License-Identifier: MIT */
/* An index of cells, and lanes made of cells and of what is read between them. */
#include "picture/slices.h"

#include "base/check.h"
#include "base/work.h"
#include "read/stream.h"
#include "model/nest.h"

#define LEAST_CELL 1024 /* bytes */
#define NR_CLASSES (TS_SLICES_NO_CLASS + 1)

const char *const ts_lane_names[TS_NR_LANES] = {
	[TS_LANE_STEPS] = "steps",   [TS_LANE_MODULES] = "modules",
	[TS_LANE_OPS] = "ops",	     [TS_LANE_COLLECTIVES] = "collectives",
	[TS_LANE_ASYNC] = "async",   [TS_LANE_SPARSECORE] = "sparsecore",
	[TS_LANE_THREAD] = "thread",
};

/* The lane of a line; TS_NR_LANES: it has none. */
static const enum ts_lane_kind lane_of[] = {
	[TS_LINE_OTHER] = TS_NR_LANES,	       [TS_LINE_STEPS] = TS_LANE_STEPS,
	[TS_LINE_MODULES] = TS_LANE_MODULES,   [TS_LINE_OPS] = TS_LANE_OPS,
	[TS_LINE_ASYNC] = TS_LANE_ASYNC,       [TS_LINE_TRACEME] = TS_NR_LANES,
	[TS_LINE_THREAD] = TS_LANE_THREAD,     [TS_LINE_DERIVED] = TS_NR_LANES,
	[TS_LINE_SC_STEPS] = TS_NR_LANES,      [TS_LINE_SC_MODULES] = TS_NR_LANES,
	[TS_LINE_SC_OPS] = TS_LANE_SPARSECORE, [TS_LINE_SAMPLES] = TS_NR_LANES,
	[TS_LINE_COUNTERS] = TS_NR_LANES,      [TS_LINE_THROTTLE] = TS_NR_LANES,
};

struct cell {
	size_t begin, end; /* in the line's body: of its events, and where the last of them ends */
	int64_t first_ps, last_ps;
	int64_t class_ps[NR_CLASSES];
	uint32_t nr_events, nr_collectives;
};

struct cells {
	struct cell *items; /* NULL: the line is read whole */
	size_t nr;
	bool unsorted;
};

struct ts_slices_index {
	const struct ts_profile *profile;
	struct cells *lines;
	uint32_t *jobs;
	size_t nr_jobs, cell_bytes;
};

unsigned ts_lane_slice_class(const struct ts_lane_slice *slice)
{
	unsigned most = TS_SLICES_NO_CLASS;

	TS_ASSERT(slice);
	for (unsigned i = 0; i < NR_CLASSES; i++)
		if (slice->class_ps[i] > slice->class_ps[most])
			most = i;
	return most;
}

static unsigned picture_slices_class_of(const struct ts_op *op, enum ts_lane_kind kind)
{
	enum ts_bucket bucket;

	if (kind == TS_LANE_THREAD || kind == TS_LANE_STEPS || kind == TS_LANE_MODULES)
		return TS_SLICES_NO_CLASS;
	bucket = ts_op_bucket(op);
	if (bucket == TS_NR_BUCKETS) /* what its work needs is not looked up for a picture */
		return op->kind == TS_OP_MOVE ? TS_BUCKET_MEMORY_WAIT : TS_BUCKET_COMPUTE;
	return bucket;
}

/* On a core the parts of such an op are slices, and the op is none. */
static bool is_left_out(const struct ts_op *op, enum ts_lane_kind kind)
{
	return kind == TS_LANE_OPS && op->kind == TS_OP_CONTROL;
}

int64_t ts_lane_slice_idle(const struct ts_lane_slice *slice)
{
	int64_t idle_ps;

	TS_ASSERT(slice);
	idle_ps = ts_i64_sub(slice->end_ps, slice->start_ps);
	for (unsigned i = 0; i < NR_CLASSES; i++)
		idle_ps = ts_i64_sub(idle_ps, slice->class_ps[i]);
	return slice->nr_events > 1 ? TS_MAX(idle_ps, 0) : 0;
}

/* --- the index */

struct indexing {
	struct ts_slices_index *index;
	struct cells *cells;
	struct ts_bytes body;
	enum ts_lane_kind kind;
};

static void picture_slices_note(struct cell *cell, const struct ts_block *block, size_t i,
				size_t end, enum ts_lane_kind kind)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	int64_t last_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]);
	unsigned class = picture_slices_class_of(op, kind);

	cell->end = TS_MAX(cell->end, end);
	if (is_left_out(op, kind))
		return;
	cell->first_ps =
		cell->nr_events ? TS_MIN(cell->first_ps, block->start_ps[i]) : block->start_ps[i];
	cell->last_ps = cell->nr_events ? TS_MAX(cell->last_ps, last_ps) : last_ps;
	cell->class_ps[class] = ts_i64_add(cell->class_ps[class], TS_MAX(block->self_ps[i], 0));
	cell->nr_events += cell->nr_events < UINT32_MAX;
	cell->nr_collectives += op->kind == TS_OP_COLLECTIVE && cell->nr_collectives < UINT32_MAX;
}

static enum ts_status index_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	const struct indexing *indexing = ctx;
	const uint8_t *from = indexing->body.p;

	for (size_t i = 0; i < block->nr_events; i++) {
		struct ts_bytes event = block->body[i];
		size_t at;

		if (!event.p || event.p < from || event.p >= from + indexing->body.n)
			return ts_fail(err, TS_UNSUPPORTED, "an event is not in the line's body");
		at = (size_t)(event.p - from);
		picture_slices_note(&indexing->cells->items[at / indexing->index->cell_bytes],
				    block, i, at + event.n, indexing->kind);
	}
	return TS_OK;
}

/* A cell begins where the last event ends that begins before it. */
static void place_cells(struct cells *cells)
{
	size_t end = 0;

	for (size_t i = 0; i < cells->nr; i++) {
		cells->items[i].begin = end;
		cells->items[i].end = end = TS_MAX(end, cells->items[i].end);
	}
}

static void drop_cells(struct cells *cells)
{
	free(cells->items);
	cells->items = NULL;
	cells->nr = 0;
}

/* A line that cannot have cells is read whole, whatever the reason; what is damaged is said by the report. */
static enum ts_status index_line(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct ts_slices_index *index = ctx;
	uint32_t line = index->jobs[job];
	struct indexing indexing = { index, &index->lines[line], index->profile->lines[line].body,
				     lane_of[index->profile->lines[line].kind] };
	struct ts_sink sink = { .ctx = &indexing, .columns = TS_COL_STATS, .block = index_block };
	struct cells *cells = indexing.cells;
	struct ts_error story = TS_ERROR_INIT;
	enum ts_status st;

	if (indexing.body.n == 0)
		return TS_OK;
	cells->nr = indexing.body.n / index->cell_bytes + 1;
	cells->items = calloc(cells->nr, sizeof(*cells->items));
	if (!cells->items)
		return ts_fail_nomem(err);
	st = ts_stream_line(index->profile, line, &sink, &story);
	cells->unsorted = st == TS_UNSORTED;
	if (st == TS_OK)
		place_cells(cells);
	else
		drop_cells(cells);
	return st == TS_NOMEM ? ts_fail_nomem(err) : TS_OK;
}

/* Cells of all lines together are bounded: the more bytes, the larger they are. */
static void picture_slices_choose_lines(struct ts_slices_index *index, uint32_t host)
{
	const struct ts_profile *profile = index->profile;
	uint64_t nr_bytes = 0;

	for (uint32_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (lane_of[line->kind] == TS_NR_LANES || line->has_points ||
		    profile->planes[line->plane].kind == TS_PLANE_OURS ||
		    (host != TS_NONE && profile->planes[line->plane].host != host))
			continue;
		index->jobs[index->nr_jobs++] = i;
		nr_bytes = ts_u64_add(nr_bytes, line->body.n);
	}
	index->cell_bytes = (size_t)TS_MAX(nr_bytes / TS_SLICES_CELLS, LEAST_CELL);
}

enum ts_status ts_slices_index_new(struct ts_slices_index **out, const struct ts_profile *profile,
				   uint32_t host, size_t nr_threads, struct ts_error *err)
{
	struct ts_slices_index *index = calloc(1, sizeof(*index));
	enum ts_status st = TS_OK;

	TS_ASSERT(out && profile);
	*out = index;
	if (!index)
		return ts_fail_nomem(err);
	index->profile = profile;
	index->lines = calloc(profile->nr_lines + 1, sizeof(*index->lines));
	index->jobs = calloc(profile->nr_lines + 1, sizeof(*index->jobs));
	if (!index->lines || !index->jobs)
		st = ts_fail_nomem(err);
	if (st == TS_OK) {
		picture_slices_choose_lines(index, host);
		st = ts_work_run(nr_threads, index->nr_jobs, index_line, index, err);
	}
	if (st) {
		ts_slices_index_free(index);
		*out = NULL;
	}
	return st;
}

void ts_slices_index_free(struct ts_slices_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; index->lines && i < index->profile->nr_lines; i++)
		drop_cells(&index->lines[i]);
	free(index->lines);
	free(index->jobs);
	free(index);
}

/* --- a lane in the making */

struct lane {
	struct ts_lane_slice *slices;
	size_t nr, cap;
	int64_t place_ps; /* what is narrower may be merged */
};

static void picture_slices_merge(struct ts_lane_slice *into, const struct ts_lane_slice *from)
{
	into->start_ps = TS_MIN(into->start_ps, from->start_ps);
	into->end_ps = TS_MAX(into->end_ps, from->end_ps);
	for (size_t i = 0; i < NR_CLASSES; i++)
		into->class_ps[i] = ts_i64_add(into->class_ps[i], from->class_ps[i]);
	into->nr_events += from->nr_events;
	into->op = TS_NONE;
}

static bool picture_slices_fit(const struct lane *lane, const struct ts_lane_slice *last,
			       const struct ts_lane_slice *slice)
{
	return ts_i64_sub(TS_MAX(slice->end_ps, last->end_ps), last->start_ps) <= lane->place_ps;
}

/* Places become twice as wide, until there is room. Only what fits into a place becomes one slice, so none covers a gap that is wider. */
static void picture_slices_widen(struct lane *lane)
{
	while (lane->nr == lane->cap) {
		size_t nr = 1;

		lane->place_ps = TS_MAX(ts_i64_mul(lane->place_ps, 2), 1);
		for (size_t i = 1; i < lane->nr; i++)
			if (picture_slices_fit(lane, &lane->slices[nr - 1], &lane->slices[i]))
				picture_slices_merge(&lane->slices[nr - 1], &lane->slices[i]);
			else
				lane->slices[nr++] = lane->slices[i];
		lane->nr = nr;
	}
}

static void picture_slices_add(struct lane *lane, const struct ts_lane_slice *slice)
{
	struct ts_lane_slice *last = lane->nr > 0 ? &lane->slices[lane->nr - 1] : NULL;

	if (last && picture_slices_fit(lane, last, slice)) {
		picture_slices_merge(last, slice);
		return;
	}
	if (lane->nr == lane->cap)
		picture_slices_widen(lane);
	lane->slices[lane->nr++] = *slice;
}

/* --- reading */

struct reading {
	const struct ts_slices_index *index;
	struct ts_profile profile; /* a copy, whose lines are cut */
	struct ts_span span;
	struct lane main, collectives;
	enum ts_lane_kind kind;
};

static struct lane *picture_slices_lane_for(struct reading *reading, const struct ts_op *op)
{
	bool apart = reading->kind == TS_LANE_OPS && op->kind == TS_OP_COLLECTIVE;

	return apart ? &reading->collectives : &reading->main;
}

/* What stands out of the stretch is cut off: a picture has its edges there. */
static enum ts_status picture_slices_take_block(void *ctx, const struct ts_block *block,
						struct ts_error *err)
{
	struct reading *reading = ctx;

	for (size_t i = 0; i < block->nr_segments; i++) {
		uint32_t op = block->segment_op[i];
		const struct ts_op *about = &block->profile->ops[op];
		struct ts_lane_slice slice = {
			.start_ps = TS_MAX(block->segment_start_ps[i], reading->span.start_ps),
			.end_ps = TS_MIN(block->segment_end_ps[i], reading->span.end_ps),
			.nr_events = 1,
			.op = op,
		};

		if (slice.start_ps >= slice.end_ps || is_left_out(about, reading->kind))
			continue;
		slice.class_ps[picture_slices_class_of(about, reading->kind)] =
			slice.end_ps - slice.start_ps;
		picture_slices_add(picture_slices_lane_for(reading, about), &slice);
	}
	return TS_OK;
}

/* Reads bytes FROM to TO of a line's body. */
static enum ts_status read_cut(struct reading *reading, uint32_t line, size_t from, size_t to,
			       struct ts_error *err)
{
	const struct ts_line *whole = &reading->index->profile->lines[line];
	struct ts_sink sink = { .ctx = reading,
				.columns = TS_COL_SEGMENTS,
				.block = picture_slices_take_block };
	enum ts_status st;

	reading->profile.lines[line].body = ts_bytes_cut(whole->body, from, to - from);
	reading->profile.lines[line].unsorted =
		reading->index->lines[line].unsorted || whole->unsorted;
	st = ts_stream_line(&reading->profile, line, &sink, err);
	return st == TS_FORMAT ? TS_OK : st; /* the report says of damage */
}

static void take_cell(struct reading *reading, const struct cell *cell)
{
	bool apart = reading->kind == TS_LANE_OPS;
	struct ts_lane_slice slice = { .start_ps = TS_MAX(cell->first_ps, reading->span.start_ps),
				       .end_ps = TS_MIN(cell->last_ps, reading->span.end_ps),
				       .op = TS_NONE };
	struct ts_lane_slice other = slice;

	memcpy(slice.class_ps, cell->class_ps, sizeof(slice.class_ps));
	slice.nr_events = cell->nr_events - (apart ? cell->nr_collectives : 0);
	if (apart) {
		other.class_ps[TS_BUCKET_COMMUNICATION] = slice.class_ps[TS_BUCKET_COMMUNICATION];
		slice.class_ps[TS_BUCKET_COMMUNICATION] = 0;
		other.nr_events = cell->nr_collectives;
		if (other.nr_events > 0)
			picture_slices_add(&reading->collectives, &other);
	}
	if (slice.nr_events > 0)
		picture_slices_add(&reading->main, &slice);
}

static bool picture_slices_is_outside(const struct reading *reading, const struct cell *cell)
{
	return cell->nr_events == 0 || cell->last_ps <= reading->span.start_ps ||
	       cell->first_ps >= reading->span.end_ps;
}

static bool is_narrow(const struct reading *reading, const struct cell *cell)
{
	return ts_i64_sub(cell->last_ps, cell->first_ps) <= reading->main.place_ps;
}

/* The cells from AT on that have to be read, as one cut. Of a thread, what holds others is read with all of them: its
 * moments are what they leave. */
static size_t end_of_cut(const struct reading *reading, const struct cells *cells, size_t at)
{
	bool is_thread = reading->kind == TS_LANE_THREAD;
	size_t last = at;

	for (size_t end = at + 1; end < cells->nr; end++) {
		const struct cell *cell = &cells->items[end];
		bool is_read = !picture_slices_is_outside(reading, cell) &&
			       (is_thread || !is_narrow(reading, cell));

		if (is_read)
			last = end;
		else if (!is_thread)
			break;
	}
	return last + 1;
}

static enum ts_status read_cells(struct reading *reading, uint32_t line, const struct cells *cells,
				 struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < cells->nr && st == TS_OK; i++) {
		size_t end;

		if (picture_slices_is_outside(reading, &cells->items[i]))
			continue;
		if (is_narrow(reading, &cells->items[i])) {
			take_cell(reading, &cells->items[i]);
			continue;
		}
		end = end_of_cut(reading, cells, i);
		st = read_cut(reading, line, cells->items[i].begin, cells->items[end - 1].end, err);
		i = end - 1;
	}
	return st;
}

static enum ts_status picture_slices_give(struct lane *made, uint32_t line, enum ts_lane_kind kind,
					  ts_slices_fn *fn, void *ctx, struct ts_error *err)
{
	const struct ts_lane lane = { kind, line, made->slices, made->nr };

	return made->nr > 0 ? fn(ctx, &lane, err) : TS_OK;
}

static enum ts_status read_line(struct reading *reading, uint32_t line, int64_t place_ps,
				struct ts_error *err)
{
	const struct cells *cells = &reading->index->lines[line];

	reading->kind = lane_of[reading->profile.lines[line].kind];
	reading->main.nr = reading->collectives.nr = 0;
	reading->main.place_ps = reading->collectives.place_ps = place_ps;
	if (cells->items)
		return read_cells(reading, line, cells, err);
	return read_cut(reading, line, 0, SIZE_MAX, err);
}

static enum ts_status picture_slices_open_reading(struct reading *reading,
						  const struct ts_slices_index *index,
						  const struct ts_slices_wanted *wanted,
						  size_t width, struct ts_error *err)
{
	const struct ts_profile *profile = index->profile;

	*reading = (struct reading){ .index = index,
				     .profile = *profile,
				     .span = { wanted->part.from_ps, wanted->part.to_ps },
				     .main = { .cap = width },
				     .collectives = { .cap = width } };
	reading->profile.part = &reading->span;
	reading->profile.lines = calloc(profile->nr_lines + 1, sizeof(*profile->lines));
	reading->main.slices = calloc(width, sizeof(struct ts_lane_slice));
	reading->collectives.slices = calloc(width, sizeof(struct ts_lane_slice));
	if (!reading->profile.lines || !reading->main.slices || !reading->collectives.slices)
		return ts_fail_nomem(err);
	if (profile->nr_lines > 0)
		memcpy(reading->profile.lines, profile->lines,
		       profile->nr_lines * sizeof(*profile->lines));
	return TS_OK;
}

static void close_reading(struct reading *reading)
{
	free(reading->profile.lines);
	free(reading->main.slices);
	free(reading->collectives.slices);
}

enum ts_status ts_slices_read(const struct ts_slices_index *index,
			      const struct ts_slices_wanted *wanted, ts_slices_fn *fn, void *ctx,
			      struct ts_error *err)
{
	const struct ts_profile *profile = index->profile;
	size_t width = TS_MIN(wanted->width, TS_SLICES_MOST / (2 * index->nr_jobs + 1));
	struct reading reading;
	uint32_t device;
	int64_t place_ps;
	enum ts_status st = ts_part_device(profile, &wanted->part, &device, err);

	TS_ASSERT(wanted->part.from_ps < wanted->part.to_ps && fn);
	if (st)
		return st;
	width = TS_MAX(width, 2);
	place_ps = ts_i64_sub(wanted->part.to_ps, wanted->part.from_ps) / (int64_t)width;
	st = picture_slices_open_reading(&reading, index, wanted, width, err);
	for (size_t i = 0; i < index->nr_jobs && st == TS_OK; i++) {
		uint32_t line = index->jobs[i];

		if (!ts_part_keeps(profile, &profile->planes[profile->lines[line].plane],
				   &wanted->part, device))
			continue;
		st = read_line(&reading, line, place_ps, err);
		if (st == TS_OK)
			st = picture_slices_give(&reading.main, line, reading.kind, fn, ctx, err);
		if (st == TS_OK)
			st = picture_slices_give(&reading.collectives, line, TS_LANE_COLLECTIVES,
						 fn, ctx, err);
	}
	close_reading(&reading);
	return st;
}
