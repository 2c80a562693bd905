/* SPDX-License-Identifier: MIT */
/*
 * Marks: findings and padding laid over the timeline, for the overlay and the Perfetto file.
 *
 * Three rows a device: a slice over each moment that an op of a finding had for itself, the same
 * for ops that carry padding, and the times of findings that are about a time and not about an op
 * (gaps, slow steps, compilations). An op's moments are the line's segments: those in which it
 * is the innermost one running; so slices of one op never overlap, and they are what the finding counts.
 * An op that several findings name, and streams of a GPU that mark one moment, have a slice for each: those of findings stand in
 * lanes, "Findings (2)". Where the lanes are full the one that began first has the moment; of padding there is one lane.
 *
 * Each row has its share of a host's slices (share.c).
 */
#include "analysis/draw/marks.h"

#include "base/record.h"
#include "base/order.h"
#include "result/schema/marks.def"

#include <inttypes.h>

/* Lanes of findings, then the padding. */
enum { NR_LANES = 8, PADDING_LANE = NR_LANES, NR_DRAWN };

struct marks_device {
	struct ts_slices rows[NR_DRAWN];
};

struct marks_state {
	/* of a line */
	uint32_t device;
	uint16_t (*label)[NR_MARK_ROWS]; /* of each op the first; MARK_NONE. NULL: no op has one */
	uint16_t *next;			 /* of a label of findings: the next one of its op */
	struct marks_device line;
	/* of the sum */
	struct marks_device *devices;
	size_t nr_devices;
};

#define TS_SELF struct marks_device
static TS_RECORD(device, TS_STRUCT(1, rows, ts_slices_record));
#undef TS_SELF

#define TS_SELF struct marks_state
static TS_RECORD_AS(marks_record, state, , TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		    TS_STRUCT(2, line, device_record),
		    TS_RECORDS(3, devices, nr_devices, device_record, TS_BY_DEVICE, TS_BY_HAND),
		    TS_SCRATCH(label), TS_SCRATCH(next));
#undef TS_SELF

static const struct {
	const char *name, *description;
	enum ts_share share;
	int order;
} rows[NR_MARK_ROWS + 1] = {
	[MARK_FINDINGS] = { "Findings",
			    "ops that a finding is about; click for evidence and advice",
			    TS_SHARE_FINDINGS, 1 },
	[MARK_PADDING] = { "Padding", "ops whose bytes or FLOPs are partly tile padding",
			   TS_SHARE_PADDING, 2 },
	[NR_MARK_ROWS] = { "Gaps and slow steps", "findings about a time, not about an op",
			   TS_SHARE_TIMES, 3 },
};

static const char *const lane_names[NR_LANES] = {
	"Findings",	"Findings (2)", "Findings (3)", "Findings (4)",
	"Findings (5)", "Findings (6)", "Findings (7)", "Findings (8)",
};

static size_t budget_of(const struct ts_context *ctx, int row, uint32_t device)
{
	return ts_overlay_device_share(ctx, rows[row].share, device);
}

/* The first lane has most of the slices, and half of the room. */
static size_t lane_budget(const struct ts_context *ctx, size_t lane, uint32_t device)
{
	size_t all = budget_of(ctx, MARK_FINDINGS, device);

	if (lane == PADDING_LANE)
		return budget_of(ctx, MARK_PADDING, device);
	return lane == 0 ? all - all / 2 : all / 2 / (NR_LANES - 1);
}

static bool marks_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ctx->overlay_budget > 0 && ts_line_is_core(ctx->profile, line) &&
	       ts_line_device(ctx->profile, line) != NULL;
}

static enum ts_status marks_look_at(const struct ts_context *ctx, bool *ops, struct ts_error *err)
{
	struct mark_labels labels = { .nr_left_out = 0 };
	enum ts_status st = ts_marks_list(ctx, &labels, err);

	for (int row = 0; row < NR_MARK_ROWS; row++)
		for (size_t i = 0; i < labels.nr[row]; i++)
			ops[labels.items[row][i].op] = true;
	ts_marks_list_release(&labels);
	return st;
}

static enum ts_status spread_labels(struct marks_state *state, const struct mark_labels *labels,
				    size_t nr_ops, struct ts_error *err)
{
	size_t nr = 0;

	for (int row = 0; row < NR_MARK_ROWS; row++)
		nr += labels->nr[row];
	if (nr == 0)
		return TS_OK; /* nothing to look for */
	state->label = malloc((nr_ops + 1) * sizeof(*state->label));
	state->next = malloc((labels->nr[MARK_FINDINGS] + 1) * sizeof(*state->next));
	if (!state->label || !state->next)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr_ops; i++)
		for (int row = 0; row < NR_MARK_ROWS; row++)
			state->label[i][row] = MARK_NONE;
	/* from the last on, so that an op begins with the label of its first finding */
	for (int row = 0; row < NR_MARK_ROWS; row++)
		for (size_t i = labels->nr[row]; i-- > 0;) {
			uint16_t *first = &state->label[labels->items[row][i].op][row];

			if (row == MARK_FINDINGS)
				state->next[i] = *first;
			*first = (uint16_t)i;
		}
	return TS_OK;
}

static enum ts_status marks_open(void *arg, const struct ts_context *ctx,
				 const struct ts_line *line, struct ts_error *err)
{
	struct mark_labels labels = { .nr_left_out = 0 };
	struct marks_state *state = arg;
	enum ts_status st = ts_marks_list(ctx, &labels, err);

	state->device = (uint32_t)(ts_line_device(ctx->profile, line) - ctx->profile->devices);
	for (size_t lane = 0; lane < NR_DRAWN; lane++)
		state->line.rows[lane].budget = lane_budget(ctx, lane, state->device);
	if (st == TS_OK)
		st = spread_labels(state, &labels, ctx->profile->nr_ops, err);
	ts_marks_list_release(&labels);
	return st;
}

static enum ts_status mark_segment(struct marks_state *state, const struct ts_block *block,
				   size_t i, struct ts_error *err)
{
	const uint16_t *label = state->label[block->segment_op[i]];
	int64_t start_ps = block->segment_start_ps[i], end_ps = block->segment_end_ps[i];
	uint16_t finding = label[MARK_FINDINGS];
	bool good = true;

	for (size_t lane = 0; good && lane < NR_LANES && finding != MARK_NONE; lane++) {
		good = ts_slices_add(&state->line.rows[lane], start_ps, end_ps, finding);
		finding = state->next[finding];
	}
	if (good && label[MARK_PADDING] != MARK_NONE)
		good = ts_slices_add(&state->line.rows[PADDING_LANE], start_ps, end_ps,
				     label[MARK_PADDING]);
	return good ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status marks_block(void *arg, const struct ts_context *ctx,
				  const struct ts_block *block, struct ts_error *err)
{
	struct marks_state *state = arg;
	enum ts_status st;

	for (size_t i = 0; state->label && i < block->nr_segments; i++) {
		st = mark_segment(state, block, i, err);
		if (st)
			return st;
	}
	return TS_OK;
}

/* A slice that may stand for several: adding counts it as one event that fills its time. */
static enum ts_status add_again(struct ts_slices *slices, const struct ts_slice *slice,
				struct ts_error *err)
{
	int64_t foreign_ps = slice->end_ps - slice->start_ps - slice->own_ps;
	struct ts_slice *last;

	if (!ts_slices_add(slices, slice->start_ps, slice->end_ps, slice->label))
		return ts_fail_nomem(err);
	if (slices->nr == 0)
		return TS_OK;
	last = &slices->items[slices->nr - 1];
	if (last->label == slice->label)
		last->own_ps = TS_MAX(last->own_ps - foreign_ps, 0);
	last->nr_events += TS_MIN(slice->nr_events - 1, UINT32_MAX - last->nr_events);
	return TS_OK;
}

static enum ts_status merge_rows(struct ts_slices *into, const struct ts_slices *from,
				 struct ts_error *err)
{
	const struct ts_slice *old = ts_slices_items(into), *new = ts_slices_items(from);
	struct ts_slices sum = { .budget = into->budget };
	size_t a = 0, b = 0;

	while (a < into->nr || b < from->nr) {
		bool first = b == from->nr || (a < into->nr && old[a].start_ps <= new[b].start_ps);
		enum ts_status st = add_again(&sum, first ? &old[a++] : &new[b++], err);

		if (st) {
			ts_slices_release(&sum);
			return st;
		}
	}
	sum.nr_folded += into->nr_folded + from->nr_folded;
	ts_slices_release(into);
	*into = sum;
	return TS_OK;
}

TS_ORDER(marks_by_time, struct ts_slice, TS_UP(start_ps) TS_UP(end_ps) TS_UP(label))

static bool marks_is_free(const struct ts_slices *lane, int64_t start_ps)
{
	return lane->nr == 0 || lane->items[lane->nr - 1].end_ps <= start_ps;
}

/* Each in the first lane that has room, the last one if none has. */
static enum ts_status marks_lay(struct ts_slices *lanes, const struct ts_slice *slices, size_t nr,
				struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		size_t lane = 0;

		while (lane + 1 < NR_LANES && !marks_is_free(&lanes[lane], slices[i].start_ps))
			lane++;
		st = add_again(&lanes[lane], &slices[i], err);
	}
	return st;
}

/* Those of another stream: all anew, in the order of time. */
static enum ts_status merge_lanes(struct ts_slices *into, const struct ts_slices *from,
				  struct ts_error *err)
{
	struct ts_slices sum[NR_LANES] = { { .nr = 0 } };
	struct ts_slice *all;
	size_t nr = 0;
	enum ts_status st;

	for (size_t lane = 0; lane < NR_LANES; lane++)
		nr += into[lane].nr + from[lane].nr;
	all = malloc((nr + 1) * sizeof(*all));
	if (!all)
		return ts_fail_nomem(err);
	nr = 0;
	for (size_t lane = 0; lane < NR_LANES; lane++) {
		/* of the device, nothing may be known yet of a lane without slices */
		sum[lane].budget = TS_MAX(into[lane].budget, from[lane].budget);
		sum[lane].nr_folded = into[lane].nr_folded + from[lane].nr_folded;
		for (size_t i = 0; i < into[lane].nr; i++)
			all[nr++] = ts_slices_items(&into[lane])[i];
		for (size_t i = 0; i < from[lane].nr; i++)
			all[nr++] = ts_slices_items(&from[lane])[i];
	}
	TS_SORT(all, nr, marks_by_time);
	st = marks_lay(sum, all, nr, err);
	for (size_t lane = 0; lane < NR_LANES; lane++) {
		ts_slices_release(st ? &sum[lane] : &into[lane]);
		if (st == TS_OK)
			into[lane] = sum[lane];
	}
	free(all);
	return st;
}

static bool marks_is_empty(const struct marks_device *device)
{
	for (size_t lane = 0; lane < NR_LANES; lane++)
		if (device->rows[lane].nr > 0)
			return false;
	return true;
}

static enum ts_status merge_row(struct ts_slices *into, struct ts_slices *from,
				struct ts_error *err)
{
	if (from->nr == 0)
		return TS_OK;
	if (into->nr > 0)
		return merge_rows(into, from, err);
	*into = *from;
	*from = (struct ts_slices){ .budget = into->budget };
	return TS_OK;
}

static enum ts_status marks_merge(void *arg, void *line, const struct ts_context *ctx,
				  struct ts_error *err)
{
	struct marks_state *into = arg, *from = line;
	enum ts_status st;

	if (!into->devices) {
		into->devices = calloc(ctx->profile->nr_devices + 1, sizeof(*into->devices));
		if (!into->devices)
			return ts_fail_nomem(err);
		into->nr_devices = ctx->profile->nr_devices;
	}
	if (!marks_is_empty(&into->devices[from->device]) && !marks_is_empty(&from->line)) {
		st = merge_lanes(into->devices[from->device].rows, from->line.rows, err);
		if (st)
			return st;
		for (size_t lane = 0; lane < NR_LANES; lane++)
			ts_slices_release(&from->line.rows[lane]);
	}
	for (size_t lane = 0; lane < NR_DRAWN; lane++) {
		struct ts_slices *slices = &into->devices[from->device].rows[lane];

		st = merge_row(slices, &from->line.rows[lane], err);
		if (st)
			return st;
		if (!ts_device_has_streams(
			    &ctx->profile->devices[from->device])) /* these have more lines */
			ts_slices_keep(slices, ctx->kept);
	}
	return TS_OK;
}

static enum ts_status marks_put_track(struct ts_slices *slices, int row, const char *name,
				      uint32_t device, const struct ts_label *labels,
				      size_t nr_labels, struct ts_result *result,
				      struct ts_error *err)
{
	struct ts_track *track;

	if (slices->nr == 0)
		return TS_OK;
	track = ts_result_track(result, TS_TRACK_SLICES, name, device, rows[row].order);
	if (!track || !labels)
		return ts_fail_nomem(err);
	track->description = rows[row].description;
	track->is_of_viewers = true;
	track->labels = labels;
	track->nr_labels = nr_labels;
	return ts_slices_finish(slices, result, track) ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status marks_put_lanes(struct marks_device *marks, enum mark_row row,
				      uint32_t device, const struct ts_label *labels,
				      size_t nr_labels, struct ts_result *result,
				      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (row == MARK_PADDING)
		return marks_put_track(&marks->rows[PADDING_LANE], row, rows[row].name, device,
				       labels, nr_labels, result, err);
	for (size_t lane = 0; lane < NR_LANES && st == TS_OK; lane++)
		st = marks_put_track(&marks->rows[lane], row, lane_names[lane], device, labels,
				     nr_labels, result, err);
	return st;
}

static enum ts_status marks_put_rows(struct marks_state *state, const struct ts_context *ctx,
				     struct ts_result *result, struct ts_error *err)
{
	struct mark_labels list = { .nr_left_out = 0 };
	enum ts_status st = ts_marks_list(ctx, &list, err);

	for (int row = 0; row < NR_MARK_ROWS && st == TS_OK; row++) {
		const struct ts_label *labels =
			ts_marks_labels(ctx, &list, (enum mark_row)row, result);

		for (uint32_t i = 0; i < state->nr_devices && st == TS_OK; i++)
			st = marks_put_lanes(&state->devices[i], (enum mark_row)row, i, labels,
					     list.nr[row], result, err);
	}
	if (list.nr_left_out > 0)
		ts_result_note(result, "%zu ops with less padding are not drawn", list.nr_left_out);
	ts_marks_list_release(&list);
	return st;
}

/* Those of one device, and of all. RANGES has room for every one. */
static size_t ranges_of(const struct ts_doctor_facts *doctor, uint32_t device,
			struct ts_finding_range *ranges)
{
	size_t nr = 0;

	for (size_t i = 0; i < doctor->nr_ranges; i++) {
		const struct ts_finding_range *range = &doctor->ranges[i];

		if (range->device == TS_NONE || range->device == device)
			ranges[nr++] = *range;
	}
	return nr;
}

/* A gap inside a slow step is shown as the gap: of those at T, the shortest. */
static const struct ts_finding_range *range_at(const struct ts_finding_range *ranges, size_t nr,
					       int64_t t)
{
	const struct ts_finding_range *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct ts_finding_range *range = &ranges[i];

		if (t < range->start_ps || t >= range->end_ps)
			continue;
		if (!best || range->end_ps - range->start_ps < best->end_ps - best->start_ps)
			best = range;
	}
	return best;
}

/* Between two neighbouring cuts the same ranges hold. CUTS has room for 2 x nr. */
static enum ts_status marks_paint(struct ts_slices *slices, const struct ts_finding_range *ranges,
				  size_t nr, int64_t *cuts, struct ts_error *err)
{
	for (size_t i = 0; i < nr; i++) {
		cuts[2 * i] = ranges[i].start_ps;
		cuts[2 * i + 1] = ranges[i].end_ps;
	}
	if (nr > 0)
		TS_SORT(cuts, 2 * nr, ts_i64_order);
	for (size_t i = 0; i + 1 < 2 * nr; i++) {
		const struct ts_finding_range *range = range_at(ranges, nr, cuts[i]);

		if (range && cuts[i] < cuts[i + 1] &&
		    !ts_slices_add(slices, cuts[i], cuts[i + 1], range->finding))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status put_device_ranges(const struct ts_context *ctx, uint32_t device,
					const struct ts_label *labels, struct ts_result *result,
					struct ts_error *err)
{
	const struct ts_doctor_facts *doctor = ts_doctor_facts(ctx);
	struct ts_finding_range *ranges = calloc(doctor->nr_ranges, sizeof(*ranges));
	int64_t *cuts = calloc(2 * doctor->nr_ranges, sizeof(*cuts));
	struct ts_slices slices = { .budget = budget_of(ctx, NR_MARK_ROWS, device) };
	enum ts_status st;

	if (!ranges || !cuts) {
		st = ts_fail_nomem(err);
		goto done;
	}
	st = marks_paint(&slices, ranges, ranges_of(doctor, device, ranges), cuts, err);
	if (st)
		goto done;
	st = marks_put_track(&slices, NR_MARK_ROWS, rows[NR_MARK_ROWS].name, device, labels,
			     doctor->nr_findings, result, err);
done:
	ts_slices_release(&slices);
	free(cuts);
	free(ranges);
	return st;
}

static enum ts_status marks_put_ranges(const struct ts_context *ctx, struct ts_result *result,
				       struct ts_error *err)
{
	const struct ts_label *labels;
	enum ts_status st = TS_OK;

	if (ts_doctor_facts(ctx)->nr_ranges == 0)
		return TS_OK;
	labels = ts_marks_finding_labels(ts_doctor_facts(ctx), result);
	for (uint32_t i = 0; i < ctx->profile->nr_devices && st == TS_OK; i++)
		st = put_device_ranges(ctx, i, labels, result, err);
	return st;
}

static void note_merging(struct ts_result *result)
{
	uint64_t nr_folded = 0;

	for (size_t i = 0; i < result->nr_tracks; i++)
		nr_folded = ts_u64_add(nr_folded, result->tracks[i].nr_folded);
	if (nr_folded > 0)
		ts_result_note(result,
			       "%" PRIu64 " slices were joined with their neighbours to keep "
			       "the overlay small (--max-overlay-events)",
			       nr_folded);
}

static enum ts_status marks_close(void *arg, const struct ts_context *ctx, void *facts,
				  struct ts_result *result, struct ts_error *err)
{
	enum ts_status st;

	if (ctx->overlay_budget == 0)
		return TS_OK;
	st = marks_put_rows(arg, ctx, result, err);
	if (st == TS_OK)
		st = marks_put_ranges(ctx, result, err);
	if (st == TS_OK)
		note_merging(result);
	return st == TS_OK && result->owner->failed ? ts_fail_nomem(err) : st;
}

const struct ts_analysis ts_analysis_marks = {
	.schema = &ts_schema_marks,
	.needs = TS_NEEDED,
	.pass = TS_PASS_OVERLAY,
	.columns = TS_COL_SEGMENTS,
	.state = &marks_record,
	.looks_at = marks_look_at,
	.wants = marks_wants,
	.open = marks_open,
	.block = marks_block,
	.merge = marks_merge,
	.close = marks_close,
};
