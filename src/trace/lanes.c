/* SPDX-License-Identifier: MIT */
/* Slices in the order of the file -> lanes -> text. */
#include "trace/writer.h"

#include "base/check.h"

#define LANE_DEPTH   250 /* trace processors keep the depth of a slice in a byte */
#define TAIL_BYTES   (1u << 20) /* of tails kept at once */
#define LAUNCH_IDS   (UINT64_C(1) << 31) /* the ids of a row's own arrows end below it */

/* Where a slice stands in the file: whole ns of what it was in ps. */
struct stretch {
	int64_t start_ns, end_ns;
};

void ts_trace_forget_tails(struct ts_trace_writer *writer)
{
	ts_buf_clear(&writer->tails);
	for (size_t i = 0; i < TS_TRACE_TAILS; i++)
		writer->slots[i].op = TS_NONE;
}

/* Tails */

static struct ts_bytes fresh_tail(struct ts_trace_writer *writer, const struct ts_trace_lane *lane,
				  const struct ts_perfetto_op *op)
{
	struct ts_trace_tail *slot = &writer->slots[op->index % TS_TRACE_TAILS];
	struct ts_buf *tails = &writer->tails;

	if (tails->n > TAIL_BYTES)
		ts_trace_forget_tails(writer);
	*slot = (struct ts_trace_tail){ .op = op->index,
					.has_stack = op->has_stack,
					.at = tails->n };
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
static struct ts_bytes tail_of(struct ts_trace_writer *writer, const struct ts_trace_lane *lane,
			       uint32_t index, bool *stacked)
{
	const struct ts_trace_tail *slot = &writer->slots[index % TS_TRACE_TAILS];
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

static void close_last(struct ts_trace_writer *writer, struct ts_trace_lane *lane)
{
	const struct ts_trace_open *open = &lane->open[--lane->nr];

	writer->form->end(&writer->text, &lane->at, open->end_ns, open->is_apart);
}

/* Does it hold the slice by its own time, though both end within the same ns? */
static bool lanes_holds(const struct ts_trace_open *open, const struct ts_kept *kept)
{
	return open->end_ps > kept->start_ps && open->end_ps >= ts_kept_end(kept);
}

/*
 * A slice that starts before the lane's last one: slices that are closed would have to be checked.
 */
static bool has_room(struct ts_trace_writer *writer, struct ts_trace_lane *lane,
		     const struct ts_kept *kept, const struct stretch *at)
{
	if (kept->start_ps < lane->last_start_ps)
		return false;
	while (lane->nr > 0 && lane->open[lane->nr - 1].end_ns <= at->start_ns &&
	       !lanes_holds(&lane->open[lane->nr - 1], kept))
		close_last(writer, lane);
	return lane->nr == 0 ||
	       (lane->nr < LANE_DEPTH && at->end_ns <= lane->open[lane->nr - 1].end_ns);
}

/* The row's next; NULL: no memory. */
static struct ts_trace_lane *new_lane(struct ts_trace_writer *writer)
{
	struct ts_trace_lane *lane;

	if (!ts_grow(&writer->lanes, &writer->cap_lanes, writer->nr_lanes + 1, sizeof(*lane)))
		return NULL;
	lane = &writer->lanes[writer->nr_lanes];
	if (writer->nr_lanes == writer->nr_used) {
		*lane = (struct ts_trace_lane){ .open = NULL };
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
static enum ts_status lanes_lane_for(struct ts_trace_writer *writer, const struct ts_kept *kept,
				     const struct stretch *at, struct ts_trace_lane **lane,
				     struct ts_error *err)
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

void ts_trace_close_lanes(struct ts_trace_writer *writer)
{
	for (size_t i = 0; i < writer->nr_lanes; i++)
		while (writer->lanes[i].nr > 0)
			close_last(writer, &writer->lanes[i]);
}

/* The slice is open from now on. Apart from an instant that an importer would else put inside it. */
static enum ts_status open_slice(struct ts_trace_lane *lane, const struct ts_kept *kept,
				 const struct stretch *at, bool *is_apart, struct ts_error *err)
{
	bool is_instant = at->start_ns == at->end_ns;

	if (!ts_grow(&lane->open, &lane->cap, lane->nr + 1, sizeof(*lane->open)))
		return ts_fail_nomem(err);
	*is_apart = !is_instant && lane->instant_ns == at->start_ns;
	lane->open[lane->nr++] = (struct ts_trace_open){ ts_kept_end(kept), at->end_ns, *is_apart };
	lane->last_start_ps = kept->start_ps;
	if (is_instant)
		lane->instant_ns = at->start_ns;
	return TS_OK;
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
	slice->launch_id = LAUNCH_IDS | arrow->id;
	slice->stage_id = arrow->on_gpu ? arrow->id + 1 : 0;
	writer->counts->flows += arrow->end == TS_ARROW_BEGINS;
	writer->next_arrow++;
}

static void note_end(struct ts_trace_writer *writer, uint32_t number, int64_t start_ns)
{
	struct ts_trace_end *end;

	if (number == 0)
		return;
	end = &writer->ends->items[number - 1];
	end->slice = writer->nr_slices;
	end->start_ns = start_ns;
}

static enum ts_status lanes_put_slice(struct ts_trace_writer *writer, struct ts_trace_lane *lane,
				      const struct ts_kept *kept, struct ts_perfetto_slice *slice,
				      struct ts_error *err)
{
	const struct ts_line *line = &writer->profile->lines[writer->row->line];
	enum ts_status st = ts_trace_args_read(&writer->args, writer->profile, line, kept->op,
					       kept->body, writer->each, err);

	if (st)
		return st;
	take_launch(writer, slice);
	slice->stats = writer->args.items;
	slice->nr_stats = writer->args.nr;
	slice->category = writer->args.category;
	slice->tail = tail_of(writer, lane, kept->op, &slice->has_stack);
	if (kept->note) {
		/* its id is the number of its launch's arrow, + 1, or else follows from its place */
		slice->kernel = ts_trace_kernels_tail(&writer->kernels, kept->note, writer->form,
						      &lane->at, writer->profile, &writer->text);
		if (slice->stage_id == 0)
			slice->stage_id =
				((uint64_t)writer->at.number + 1) << 32 | writer->nr_slices;
	}
	writer->form->op_slice(&writer->text, &lane->at, slice);
	writer->counts->written++;
	return TS_OK;
}

enum ts_status ts_trace_put_kept(struct ts_trace_writer *writer, const struct ts_kept *kept,
				 struct ts_error *err)
{
	struct stretch at = { ts_trace_clock_ns(writer, kept->start_ps),
			      ts_trace_clock_ns(writer, ts_kept_end(kept)) };
	struct ts_perfetto_slice slice = {
		.start_ns = at.start_ns,
		.dur_ns = at.end_ns - at.start_ns,
		.own_ns = kept->self_ps / TS_PS_PER_NS,
		.arrow = kept->flow == 0		 ? TS_ARROW_NONE
			 : kept->flow & TS_KEPT_FLOW_END ? TS_ARROW_ENDS
							 : TS_ARROW_BEGINS,
		.arrow_id = (uint64_t)writer->row->at.number << 32 | kept->flow >> 1,
	};
	struct ts_trace_lane *lane;
	enum ts_status st = lanes_lane_for(writer, kept, &at, &lane, err);

	if (st)
		return st;
	if (!lane) {
		writer->counts->no_lane++;
		return TS_OK;
	}
	st = open_slice(lane, kept, &at, &slice.is_apart, err);
	if (st)
		return st;
	if (writer->ends)
		note_end(writer, kept->note, at.start_ns);
	else
		st = lanes_put_slice(writer, lane, kept, &slice, err);
	writer->nr_slices++;
	return st ? st : ts_trace_hand_on(writer, TS_TRACE_PIECE_BYTES, err);
}
