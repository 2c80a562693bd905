/* Blocks of a line -> chosen events -> sorted -> lanes -> text. */
#include "flow/trace_row.h"

#include "base/check.h"
#include "flow/stream.h"
#include "flow/trace_args.h"
#include "flow/trace_kernels.h"

#define PIECE_EVENTS 65536
#define LANE_DEPTH   250 /* trace processors keep the depth of a slice in a byte */
#define TAIL_SLOTS   4096
#define TAIL_BYTES   (1u << 20) /* of tails kept at once */
#define FLOW_END     1u		/* lowest bit of .flow; the rest counts from 1 */
#define LAUNCH_IDS   (UINT64_C(1) << 31) /* the ids of a row's own arrows end below it */

struct kept {
	int64_t start_ps, dur_ps, self_ps;
	struct ts_bytes body; /* empty: the line's events have no stats */
	uint32_t op;
	uint32_t flow; /* 0: no arrow */
	uint32_t note; /* of ts_trace_event */
};

/* Where a slice stands in the file: whole ns of what it was in ps. */
struct stretch {
	int64_t start_ns, end_ns;
};

struct open_slice {
	int64_t end_ps, end_ns;
	bool is_apart; /* as struct ts_perfetto_slice has it */
};

struct lane {
	struct open_slice *open; /* innermost last */
	size_t nr, cap;
	int64_t last_start_ps;
	int64_t instant_ns; /* of its last slice of 0 ns */
	struct ts_perfetto_lane at;
};

struct tail_slot {
	uint32_t op, n;
	bool has_stack;
	size_t at; /* in tails */
};

struct ts_trace_writer {
	const struct ts_trace_plan *plan;
	const struct ts_profile *profile;
	const struct ts_perfetto_form *form;
	struct ts_trace_clock clock;
	struct ts_buf text, tails, full_tail;
	struct tail_slot slots[TAIL_SLOTS];
	uint32_t *described; /* per op: the last line, + 1, that described it in full */
	struct kept *kept;
	uint32_t *order; /* twice nr_kept: sorting goes to and fro */
	size_t nr_kept, cap_kept, cap_order, flush_at;
	struct ts_trace_pairs pairs;
	struct lane *lanes;
	size_t nr_lanes, nr_used, cap_lanes; /* those used before keep their memory */
	struct ts_trace_args args;	     /* of the slice at work */
	/* of the row at work */
	const struct ts_trace_row *row;
	struct ts_perfetto_row at; /* of it, with a time to count from */
	int64_t last_ns;
	struct ts_perfetto_seen seen;
	const struct ts_trace_out *out;
	struct ts_trace_counts *counts;
	uint64_t nr_seen, quota, nr_slices;
	uint32_t nr_flows;
	ts_stats_each *each; /* NULL: the line's events have no stats */
	ts_stat_find *stat;  /* likewise */
	size_t next_arrow;
	struct ts_trace_kernels kernels;
	struct ts_trace_ends *ends; /* NULL: the row is written, else it is only looked through */
};

struct ts_trace_writer *ts_trace_writer_new(const struct ts_trace_plan *plan,
					    const struct ts_perfetto_form *form,
					    struct ts_trace_clock clock)
{
	struct ts_trace_writer *writer = calloc(1, sizeof(*writer));

	TS_ASSERT(plan && form);
	if (!writer)
		return NULL;
	writer->plan = plan;
	writer->profile = plan->profile;
	writer->form = form;
	writer->clock = clock;
	writer->described = calloc(plan->profile->nr_ops + 1, sizeof(*writer->described));
	if (!writer->described) {
		ts_trace_writer_free(writer);
		return NULL;
	}
	return writer;
}

void ts_trace_writer_free(struct ts_trace_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->nr_used; i++)
		free(writer->lanes[i].open);
	free(writer->lanes);
	ts_buf_release(&writer->text);
	ts_buf_release(&writer->tails);
	ts_buf_release(&writer->full_tail);
	ts_trace_kernels_release(&writer->kernels);
	ts_trace_args_release(&writer->args);
	ts_perfetto_seen_release(&writer->seen);
	free(writer->described);
	free(writer->kept);
	free(writer->order);
	free(writer);
}

static int64_t clock_ns(const struct ts_trace_writer *writer, int64_t ps)
{
	return ts_i64_add(ts_trace_ns(ts_i64_add(ps, writer->clock.ps)), writer->clock.ns);
}

static int64_t end_of(const struct kept *kept)
{
	return ts_i64_add(kept->start_ps, kept->dur_ps);
}

static struct stretch stretch_of(const struct ts_trace_writer *writer, const struct kept *kept)
{
	return (struct stretch){ clock_ns(writer, kept->start_ps), clock_ns(writer, end_of(kept)) };
}

/* Hands the text on when a piece is full, or at the row's end. */
static enum ts_status hand_on(struct ts_trace_writer *writer, size_t full, struct ts_error *err)
{
	if (writer->text.failed || writer->tails.failed || writer->full_tail.failed ||
	    writer->kernels.tails.failed)
		return ts_fail_nomem(err);
	if (writer->text.n == 0 || writer->text.n < full)
		return TS_OK;
	return writer->out->piece(writer->out->ctx, &writer->text, err);
}

/* What they refer to is known to their own row alone. */
static void forget_tails(struct ts_trace_writer *writer)
{
	ts_buf_clear(&writer->tails);
	for (size_t i = 0; i < TAIL_SLOTS; i++)
		writer->slots[i].op = TS_NONE;
}

static void open_row(struct ts_trace_writer *writer, const struct ts_trace_row *row,
		     const struct ts_trace_out *out, struct ts_trace_counts *counts)
{
	writer->row = row;
	writer->at = row->at;
	writer->at.last_ns = &writer->last_ns;
	writer->at.seen = &writer->seen;
	writer->last_ns = 0;
	ts_perfetto_seen_release(&writer->seen);
	forget_tails(writer);
	writer->out = out;
	writer->counts = counts;
	writer->nr_kept = 0;
	writer->flush_at = PIECE_EVENTS;
	writer->nr_lanes = 0;
	writer->nr_seen = 0;
	writer->nr_flows = 0;
	writer->each = NULL;
	writer->stat = NULL;
	writer->nr_slices = 0;
	writer->next_arrow = 0;
	ts_trace_kernels_clear(&writer->kernels);
	writer->pairs.nr = 0;
	ts_buf_clear(&writer->text);
	writer->form->row(&writer->text, &writer->at);
}

/* Tails */

static struct ts_bytes fresh_tail(struct ts_trace_writer *writer, const struct lane *lane,
				  const struct ts_perfetto_op *op)
{
	struct tail_slot *slot = &writer->slots[op->index % TAIL_SLOTS];
	struct ts_buf *tails = &writer->tails;

	if (tails->n > TAIL_BYTES)
		forget_tails(writer);
	*slot = (struct tail_slot){ .op = op->index, .has_stack = op->has_stack, .at = tails->n };
	writer->form->op_tail(&writer->text, tails, &lane->at, op);
	slot->n = (uint32_t)(tails->n - slot->at);
	return ts_bytes_cut(ts_buf_bytes(tails), slot->at, slot->n);
}

/* What a core does has: there self times add up to the time that it was busy. */
static bool has_stack(const struct ts_trace_writer *writer, uint32_t index)
{
	const struct ts_op *op = &writer->profile->ops[index];

	return writer->profile->lines[writer->row->line].kind == TS_LINE_OPS &&
	       (op->has_program || op->source_stack.n || op->framework_op.n);
}

/* The first slice of an op on a line has a tail of its own, the others have another in common. */
static struct ts_bytes tail_of(struct ts_trace_writer *writer, const struct lane *lane,
			       uint32_t index, bool *stacked)
{
	const struct tail_slot *slot = &writer->slots[index % TAIL_SLOTS];
	bool is_first = writer->described[index] != writer->row->line + 1;
	struct ts_perfetto_op op;

	if (!is_first && slot->op == index) {
		*stacked = slot->has_stack;
		return (struct ts_bytes){ writer->tails.p + slot->at, slot->n };
	}
	op = (struct ts_perfetto_op){ .profile = writer->profile,
				      .index = index,
				      .is_first = is_first,
				      .has_stack = has_stack(writer, index) };
	*stacked = op.has_stack;
	if (!is_first)
		return fresh_tail(writer, lane, &op);
	writer->described[index] = writer->row->line + 1;
	ts_buf_clear(&writer->full_tail);
	writer->form->op_tail(&writer->text, &writer->full_tail, &lane->at, &op);
	return ts_buf_bytes(&writer->full_tail);
}

/* Lanes */

static void close_last(struct ts_trace_writer *writer, struct lane *lane)
{
	const struct open_slice *open = &lane->open[--lane->nr];

	writer->form->end(&writer->text, &lane->at, open->end_ns, open->is_apart);
}

/* Does it hold the slice by its own time, though both end within the same ns? */
static bool holds(const struct open_slice *open, const struct kept *kept)
{
	return open->end_ps > kept->start_ps && open->end_ps >= end_of(kept);
}

static void close_before(struct ts_trace_writer *writer, struct lane *lane, const struct kept *kept,
			 int64_t start_ns)
{
	while (lane->nr > 0 && lane->open[lane->nr - 1].end_ns <= start_ns &&
	       !holds(&lane->open[lane->nr - 1], kept))
		close_last(writer, lane);
}

/*
 * A slice that starts before the lane's last one: slices that are closed would have to be checked.
 */
static bool has_room(struct ts_trace_writer *writer, struct lane *lane, const struct kept *kept,
		     const struct stretch *at)
{
	if (kept->start_ps < lane->last_start_ps)
		return false;
	close_before(writer, lane, kept, at->start_ns);
	return lane->nr == 0 ||
	       (lane->nr < LANE_DEPTH && at->end_ns <= lane->open[lane->nr - 1].end_ns);
}

/* The row's next; NULL: no memory. */
static struct lane *new_lane(struct ts_trace_writer *writer)
{
	struct lane *lane;

	if (!ts_grow(&writer->lanes, &writer->cap_lanes, writer->nr_lanes + 1, sizeof(*lane)))
		return NULL;
	lane = &writer->lanes[writer->nr_lanes];
	if (writer->nr_lanes == writer->nr_used) {
		*lane = (struct lane){ .open = NULL };
		writer->nr_used++;
	}
	lane->nr = 0;
	lane->last_start_ps = lane->instant_ns = INT64_MIN;
	lane->at = (struct ts_perfetto_lane){ .row = &writer->at,
					      .number = (uint32_t)writer->nr_lanes++ };
	writer->form->lane(&writer->text, &lane->at);
	return lane;
}

/* *LANE is NULL when all are taken. */
static enum ts_status lane_for(struct ts_trace_writer *writer, const struct kept *kept,
			       const struct stretch *at, struct lane **lane, struct ts_error *err)
{
	*lane = NULL;
	for (size_t i = 0; i < writer->nr_lanes; i++) {
		if (has_room(writer, &writer->lanes[i], kept, at)) {
			*lane = &writer->lanes[i];
			return TS_OK;
		}
	}
	if (writer->nr_lanes == writer->form->max_lanes)
		return TS_OK;
	*lane = new_lane(writer);
	return *lane ? TS_OK : ts_fail_nomem(err);
}

/* All that is open ends. */
static void close_lanes(struct ts_trace_writer *writer)
{
	for (size_t i = 0; i < writer->nr_lanes; i++)
		while (writer->lanes[i].nr > 0)
			close_last(writer, &writer->lanes[i]);
}

static enum ts_perfetto_arrow arrow_of(const struct kept *kept)
{
	if (kept->flow == 0)
		return TS_ARROW_NONE;
	return kept->flow & FLOW_END ? TS_ARROW_ENDS : TS_ARROW_BEGINS;
}

/* The slice is open from now on. Apart from an instant that an importer would else put inside it. */
static bool open_slice(struct lane *lane, const struct kept *kept, const struct stretch *at,
		       bool *is_apart)
{
	bool is_instant = at->start_ns == at->end_ns;

	if (!ts_grow(&lane->open, &lane->cap, lane->nr + 1, sizeof(*lane->open)))
		return false;
	*is_apart = !is_instant && lane->instant_ns == at->start_ns;
	lane->open[lane->nr++] = (struct open_slice){ end_of(kept), at->end_ns, *is_apart };
	lane->last_start_ps = kept->start_ps;
	if (is_instant)
		lane->instant_ns = at->start_ns;
	return true;
}

/* The launch arrow of the slice that comes next, if it has one. */
static void take_launch(struct ts_trace_writer *writer, struct ts_perfetto_slice *slice)
{
	const struct ts_trace_arrow *arrow;

	if (writer->next_arrow == writer->row->nr_arrows)
		return;
	arrow = &writer->row->arrows[writer->next_arrow];
	if (arrow->slice != writer->nr_slices)
		return;
	slice->launch = arrow->end;
	slice->launch_id = LAUNCH_IDS | arrow->number;
	slice->stage_id = arrow->on_gpu ? (uint64_t)arrow->number + 1 : 0;
	writer->counts->flows += arrow->end == TS_ARROW_BEGINS;
	writer->next_arrow++;
}

static void note_end(struct ts_trace_writer *writer, uint32_t number, int64_t start_ns)
{
	struct ts_trace_end *end;

	if (number == 0)
		return;
	end = &writer->ends->items[number - 1];
	end->row = writer->row->at.number;
	end->slice = writer->nr_slices;
	end->start_ns = start_ns;
}

/* What a GPU ran; its id is the number of its launch's arrow, + 1, or else follows from its place. */
static void take_kernel(struct ts_trace_writer *writer, const struct lane *lane, uint32_t number,
			struct ts_perfetto_slice *slice)
{
	slice->kernel = ts_trace_kernels_tail(&writer->kernels, number, writer->form, &lane->at,
					      writer->profile, &writer->text);
	if (slice->stage_id == 0)
		slice->stage_id = ((uint64_t)writer->at.number + 1) << 32 | writer->nr_slices;
}

static enum ts_status put_slice(struct ts_trace_writer *writer, struct lane *lane,
				const struct kept *kept, struct ts_perfetto_slice *slice,
				struct ts_error *err)
{
	const struct ts_line *line = &writer->profile->lines[writer->row->line];

	if (!ts_trace_args_read(&writer->args, writer->profile, line, kept->op, kept->body,
				writer->each))
		return ts_fail_nomem(err);
	take_launch(writer, slice);
	slice->stats = writer->args.items;
	slice->nr_stats = writer->args.nr;
	slice->tail = tail_of(writer, lane, kept->op, &slice->has_stack);
	if (kept->note)
		take_kernel(writer, lane, kept->note, slice);
	writer->form->op_slice(&writer->text, &lane->at, slice);
	writer->counts->written++;
	return TS_OK;
}

static enum ts_status put_kept(struct ts_trace_writer *writer, const struct kept *kept,
			       struct ts_error *err)
{
	struct stretch at = stretch_of(writer, kept);
	struct ts_perfetto_slice slice = {
		.start_ns = at.start_ns,
		.dur_ns = at.end_ns - at.start_ns,
		.own_ns = kept->self_ps / TS_PS_PER_NS,
		.arrow = arrow_of(kept),
		.arrow_id = (uint64_t)writer->row->at.number << 32 | kept->flow >> 1,
	};
	struct lane *lane;
	enum ts_status st = lane_for(writer, kept, &at, &lane, err);

	if (st)
		return st;
	if (!lane) {
		writer->counts->no_lane++;
		return TS_OK;
	}
	if (!open_slice(lane, kept, &at, &slice.is_apart))
		return ts_fail_nomem(err);
	if (writer->ends)
		note_end(writer, kept->note, at.start_ns);
	else
		st = put_slice(writer, lane, kept, &slice, err);
	writer->nr_slices++;
	return st ? st : hand_on(writer, TS_TRACE_PIECE_BYTES, err);
}

/*
 * Sorting: by start, the longer first, and of equals the one that ended later. An op of 0 ps that
 * starts with a longer one may be in it or have run before it: then the device's clock decides,
 * which is finer.
 */

static int64_t device_start_of(const struct ts_trace_writer *writer, const struct kept *kept)
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
static int by_device_clock(const struct ts_trace_writer *writer, const struct kept *x,
			   const struct kept *y)
{
	int64_t x_ps = device_start_of(writer, x), y_ps = device_start_of(writer, y);

	return x_ps < 0 || y_ps < 0 ? 0 : (x_ps > y_ps) - (x_ps < y_ps);
}

static bool is_before(const struct ts_trace_writer *writer, uint32_t a, uint32_t b)
{
	const struct kept *x = &writer->kept[a], *y = &writer->kept[b];
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
static void merge(const struct ts_trace_writer *writer, const uint32_t *from, uint32_t *to,
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

/* The kept events' indices, sorted; NULL: no memory. */
static const uint32_t *sort_kept(struct ts_trace_writer *writer)
{
	size_t nr = writer->nr_kept;
	uint32_t *from, *to;

	if (!ts_grow(&writer->order, &writer->cap_order, 2 * nr + 1, sizeof(uint32_t)))
		return NULL;
	from = writer->order;
	to = from + nr;
	for (size_t i = 0; i < nr; i++)
		from[i] = (uint32_t)i;
	for (size_t width = 1; width < nr; width *= 2) {
		uint32_t *sorted = to;

		for (size_t low = 0; low < nr; low += 2 * width)
			merge(writer, from, to, low, TS_MIN(low + width, nr),
			      TS_MIN(low + 2 * width, nr));
		to = from;
		from = sorted;
	}
	return from;
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
static enum ts_status flush(struct ts_trace_writer *writer, struct ts_error *err)
{
	int64_t until_ps = open_pairs_ps(writer);
	const uint32_t *order = sort_kept(writer);
	enum ts_status st = TS_OK;
	size_t nr_left = 0;

	if (!order)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < writer->nr_kept && st == TS_OK; i++) {
		const struct kept *kept = &writer->kept[order[i]];

		if (kept->start_ps >= until_ps)
			break;
		st = put_kept(writer, kept, err);
	}
	for (size_t i = 0; i < writer->nr_kept; i++)
		if (writer->kept[i].start_ps >= until_ps)
			writer->kept[nr_left++] = writer->kept[i];
	writer->nr_kept = nr_left;
	writer->flush_at = nr_left + PIECE_EVENTS;
	return st;
}

/* Choosing */

/* Room for one more. The line's number of chosen events bounds it, so growing overshoots nothing. */
static bool has_kept_room(struct ts_trace_writer *writer)
{
	const struct ts_trace_tally *tally = writer->plan->tallies[writer->row->line];
	size_t cap = TS_MAX(writer->cap_kept + writer->cap_kept / 2, 1024);
	struct kept *grown;

	if (writer->nr_kept < writer->cap_kept)
		return true;
	if (writer->nr_kept >= UINT32_MAX / 2) /* an index is 32 bits */
		return false;
	cap = TS_MAX(TS_MIN(cap, tally ? tally->nr_chosen : 0), writer->nr_kept + 1);
	grown = realloc(writer->kept, cap * sizeof(*grown));
	if (!grown)
		return false;
	writer->kept = grown;
	writer->cap_kept = cap;
	return true;
}

static enum ts_status keep(struct ts_trace_writer *writer, const struct ts_trace_event *event,
			   uint32_t flow, struct ts_error *err)
{
	if (!has_kept_room(writer))
		return ts_fail_nomem(err);
	writer->kept[writer->nr_kept++] = (struct kept){ .start_ps = event->start_ps,
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
static enum ts_status see_pair(void *ctx, const struct ts_trace_event *start,
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
		st = keep(writer, start, flow, err);
	if (st == TS_OK && has_done)
		st = keep(writer, done, flow ? flow | FLOW_END : 0, err);
	return st;
}

static enum ts_status event_of(struct ts_trace_writer *writer, const struct ts_block *block,
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
	struct ts_trace_visitor visitor = { writer, see_pair };
	struct ts_trace_event event;
	enum ts_status st = TS_OK;
	bool taken = false;

	if (writer->pairs.nr > 0)
		st = ts_trace_pairs_expire(&writer->pairs, writer->nr_seen, &visitor, err);
	if (st == TS_OK && is_core && writer->plan->async[block->op[i]] != TS_ASYNC_NONE) {
		st = event_of(writer, block, i, &event, err);
		if (st == TS_OK)
			st = ts_trace_pairs_add(&writer->pairs, writer->profile, &event,
						writer->nr_seen, &visitor, &taken, err);
	}
	writer->nr_seen++;
	if (st == TS_OK && !taken && chooses(writer, block->dur_ps[i])) {
		st = event_of(writer, block, i, &event, err);
		if (st == TS_OK)
			st = keep(writer, &event, 0, err);
	}
	return st;
}

static enum ts_status see_event(struct ts_trace_writer *writer, const struct ts_block *block,
				size_t i, bool is_core, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (!ts_trace_leaves_out(writer->plan, block, i))
		st = see_wanted(writer, block, i, is_core, err);
	/* Nothing that comes later starts before the outermost event that has just ended. */
	if (st == TS_OK && writer->nr_kept >= writer->flush_at && block->depth[i] == 0)
		st = flush(writer, err);
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
		st = see_event(writer, block, i, is_core, err);
	return st;
}

static enum ts_status write_line(struct ts_trace_writer *writer, struct ts_error *err)
{
	const struct ts_trace_tally *tally = writer->plan->tallies[writer->row->line];
	struct ts_trace_visitor visitor = { writer, see_pair };
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
		st = flush(writer, err);
	close_lanes(writer);
	return st;
}

/* Tracks of ours */

/* INSTANT_NS: of the row's last slice of 0 ns. */
static void put_own_slice(struct ts_trace_writer *writer, const struct ts_perfetto_lane *lane,
			  const struct ts_slice *slice, struct ts_bytes tail, int64_t *instant_ns)
{
	int64_t start_ns = clock_ns(writer, slice->start_ps);
	int64_t end_ns = clock_ns(writer, slice->end_ps);
	struct ts_perfetto_slice shown = { .start_ns = start_ns,
					   .dur_ns = end_ns - start_ns,
					   .tail = tail,
					   .own_ns = slice->own_ps / TS_PS_PER_NS,
					   .nr_events = slice->nr_events,
					   .is_apart =
						   start_ns < end_ns && start_ns == *instant_ns };

	if (start_ns == end_ns)
		*instant_ns = start_ns;
	writer->form->label_slice(&writer->text, lane, &shown);
	writer->form->end(&writer->text, lane, end_ns, shown.is_apart);
	writer->counts->own++;
}

static enum ts_status put_slices(struct ts_trace_writer *writer, const struct ts_track *track,
				 const struct ts_perfetto_lane *lane, const size_t *tails,
				 struct ts_error *err)
{
	int64_t instant_ns = INT64_MIN;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < track->nr_slices && st == TS_OK; i++) {
		const struct ts_slice *slice = &track->slices[i];
		size_t at = tails[slice->label];
		struct ts_bytes tail = ts_bytes_cut(ts_buf_bytes(&writer->full_tail), at,
						    tails[slice->label + 1] - at);

		put_own_slice(writer, lane, slice, tail, &instant_ns);
		st = hand_on(writer, TS_TRACE_PIECE_BYTES, err);
	}
	return st;
}

static enum ts_status write_slices(struct ts_trace_writer *writer, const struct ts_track *track,
				   struct ts_error *err)
{
	struct ts_perfetto_lane lane = { .row = &writer->at };
	size_t *tails = calloc(track->nr_labels + 1, sizeof(*tails));
	enum ts_status st;

	if (!tails)
		return ts_fail_nomem(err);
	writer->form->lane(&writer->text, &lane);
	ts_buf_clear(&writer->full_tail);
	for (uint32_t i = 0; i < track->nr_labels; i++) {
		writer->form->label_tail(&writer->text, &writer->full_tail, &lane, i);
		tails[i + 1] = writer->full_tail.n;
	}
	st = writer->full_tail.failed ? ts_fail_nomem(err)
				      : put_slices(writer, track, &lane, tails, err);
	free(tails);
	return st;
}

static enum ts_status write_points(struct ts_trace_writer *writer, const struct ts_track *track,
				   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < track->nr_points && st == TS_OK; i++) {
		int64_t at_ns = clock_ns(writer, track->points[i].at_ps);

		writer->form->counter(&writer->text, &writer->at, at_ns, track->points[i].value);
		writer->counts->own += !writer->row->at.is_native;
		st = hand_on(writer, TS_TRACE_PIECE_BYTES, err);
	}
	return st;
}

enum ts_status ts_trace_row_write(struct ts_trace_writer *writer, const struct ts_trace_row *row,
				  const struct ts_trace_out *out, struct ts_trace_counts *counts,
				  struct ts_error *err)
{
	const struct ts_track *track = row->at.track;
	enum ts_status st;

	TS_ASSERT(writer && row && out && counts);
	open_row(writer, row, out, counts);
	if (!track)
		st = write_line(writer, err);
	else if (track->kind == TS_TRACK_SLICES)
		st = write_slices(writer, track, err);
	else
		st = write_points(writer, track, err);
	return st ? st : hand_on(writer, 0, err);
}

static enum ts_status drop_piece(void *ctx, struct ts_buf *text, struct ts_error *err)
{
	ts_buf_clear(text);
	return TS_OK;
}

enum ts_status ts_trace_row_scan(struct ts_trace_writer *writer, const struct ts_trace_row *row,
				 struct ts_trace_ends *ends, struct ts_error *err)
{
	struct ts_trace_out nowhere = { NULL, drop_piece };
	struct ts_trace_counts counts = { 0 };
	enum ts_status st;

	TS_ASSERT(writer && row && ends);
	writer->ends = ends;
	st = ts_trace_row_write(writer, row, &nowhere, &counts, err);
	writer->ends = NULL;
	ts_trace_ends_tidy(ends);
	return st;
}
