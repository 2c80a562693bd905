/* SPDX-License-Identifier: MIT */
/* A row begins, is written or looked through, and ends; tracks of ours. */
#include "trace/row.h"

#include "base/check.h"
#include "trace/writer.h"

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

static void open_row(struct ts_trace_writer *writer, const struct ts_trace_row *row,
		     const struct ts_trace_out *out, struct ts_trace_counts *counts)
{
	writer->row = row;
	writer->at = row->at;
	writer->at.last_ns = &writer->last_ns;
	writer->at.seen = &writer->seen;
	writer->last_ns = 0;
	ts_perfetto_seen_release(&writer->seen);
	ts_trace_forget_tails(writer);
	writer->out = out;
	writer->counts = counts;
	writer->nr_kept = 0;
	writer->flush_at = TS_TRACE_FLUSH_EVENTS;
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

/* Tracks of ours */

/* The ends of arrows at slices of a label: they stand in the order of labels. */
static size_t row_find_ends(const struct ts_track *track, uint32_t label,
			    const struct ts_track_end **ends)
{
	size_t from = 0, to = track->nr_ends, nr = 0;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (track->ends[middle].label < label)
			from = middle + 1;
		else
			to = middle;
	}
	*ends = track->ends ? track->ends + from : NULL;
	while (from + nr < track->nr_ends && track->ends[from + nr].label == label)
		nr++;
	return nr;
}

static int64_t row_imported(const struct ts_trace_writer *writer, int64_t ns)
{
	return writer->form->imported ? writer->form->imported(ns) : ns;
}

/* Can a reader tell which end of the arrow is the first? On a coarse grid it may not; then neither end is written. */
static bool row_tells_ends_apart(const struct ts_trace_writer *writer, int64_t start_ns,
				 int64_t other_ns)
{
	return start_ns == other_ns || !writer->form->imported ||
	       writer->form->imported(start_ns) != writer->form->imported(other_ns);
}

/* Puts the ends of arrows at the slice into ENDS, which has room for TS_PERFETTO_ENDS_MAX. */
static size_t row_take_ends(struct ts_trace_writer *writer, const struct ts_slice *slice,
			    int64_t start_ns, struct ts_track_end *ends)
{
	const struct ts_track_end *all;
	size_t nr_all = row_find_ends(writer->row->at.track, slice->label, &all), nr = 0;

	for (size_t i = 0; i < nr_all && nr < TS_PERFETTO_ENDS_MAX; i++) {
		int64_t other_ps = TS_MAX(all[i].other_ps, writer->plan->first_ps);

		if (!row_tells_ends_apart(writer, start_ns, ts_trace_clock_ns(writer, other_ps)))
			continue;
		writer->counts->flows += all[i].begins;
		ends[nr++] = all[i];
	}
	return nr;
}

/* INSTANT_NS: of the row's last slice of 0 ns. */
static void put_own_slice(struct ts_trace_writer *writer, const struct ts_perfetto_lane *lane,
			  const struct ts_slice *slice, struct ts_bytes tail, int64_t *instant_ns)
{
	bool is_of_run = writer->row->at.track->device == TS_NONE;
	/* what is known of the run may begin before its events do, as a wait whose cause was not recorded */
	int64_t first_ps = is_of_run ? writer->plan->first_ps : INT64_MIN;
	int64_t start_ns = ts_trace_clock_ns(writer, TS_MAX(slice->start_ps, first_ps));
	struct ts_track_end ends[TS_PERFETTO_ENDS_MAX];
	int64_t end_ns = TS_MAX(ts_trace_clock_ns(writer, slice->end_ps), start_ns);
	/* as it will be read: on a coarse grid a short slice has no length */
	int64_t at_ns = row_imported(writer, start_ns), until_ns = row_imported(writer, end_ns);
	struct ts_perfetto_slice shown = { .start_ns = start_ns,
					   .dur_ns = end_ns - start_ns,
					   .tail = tail,
					   .own_ns = slice->own_ps / TS_PS_PER_NS,
					   .nr_events = slice->nr_events,
					   .is_apart = at_ns < until_ns && at_ns == *instant_ns };

	if (at_ns == until_ns)
		*instant_ns = at_ns;
	shown.ends = ends;
	shown.nr_ends = row_take_ends(writer, slice, start_ns, ends);
	writer->form->label_slice(&writer->text, lane, &shown);
	writer->form->end(&writer->text, lane, end_ns, shown.is_apart);
	writer->counts->own++;
}

static bool row_is_short(const struct ts_slice *slice)
{
	return ts_i64_sub(slice->end_ps, slice->start_ps) <= TS_PS_PER_NS;
}

/* What was folded into slices to come, by label; of each label behind the place of the last long slice nothing is. */
struct folding {
	size_t *past_last; /* NULL: nothing is folded */
	int64_t *own_ps;
	uint32_t *nr_events;
};

static void row_release_folding(struct folding *folding)
{
	free(folding->past_last);
	free(folding->own_ps);
	free(folding->nr_events);
}

static bool row_make_folding(const struct ts_track *track, struct folding *folding)
{
	*folding = (struct folding){ .past_last = NULL };
	if (!track->is_of_classes)
		return true;
	folding->past_last = calloc(track->nr_labels + 1, sizeof(*folding->past_last));
	folding->own_ps = calloc(track->nr_labels + 1, sizeof(*folding->own_ps));
	folding->nr_events = calloc(track->nr_labels + 1, sizeof(*folding->nr_events));
	for (size_t i = 0; folding->past_last && i < track->nr_slices; i++)
		if (!row_is_short(&track->slices[i]))
			folding->past_last[track->slices[i].label] = i + 1;
	return folding->past_last && folding->own_ps && folding->nr_events;
}

/* Is slice AT told by a later one? */
static bool row_folds(const struct folding *folding, const struct ts_track *track, size_t at)
{
	const struct ts_slice *slice = &track->slices[at];

	return folding->past_last && row_is_short(slice) &&
	       at + 1 < folding->past_last[slice->label];
}

/* The slice with what was folded into it. */
static struct ts_slice row_unfold(struct folding *folding, const struct ts_slice *slice)
{
	struct ts_slice whole = *slice;

	if (!folding->past_last)
		return whole;
	whole.own_ps = ts_i64_add(whole.own_ps, folding->own_ps[slice->label]);
	whole.nr_events += folding->nr_events[slice->label];
	folding->own_ps[slice->label] = 0;
	folding->nr_events[slice->label] = 0;
	return whole;
}

static void row_fold(struct folding *folding, const struct ts_slice *slice)
{
	folding->own_ps[slice->label] = ts_i64_add(folding->own_ps[slice->label], slice->own_ps);
	folding->nr_events[slice->label] += slice->nr_events;
}

bool ts_trace_drawn_slices(const struct ts_track *track, uint64_t *nr)
{
	struct folding folding;
	bool good = row_make_folding(track, &folding);

	*nr = 0;
	for (size_t i = 0; i < track->nr_slices && good; i++)
		*nr += !row_folds(&folding, track, i);
	row_release_folding(&folding);
	return good;
}

static enum ts_status row_put_slices(struct ts_trace_writer *writer, const struct ts_track *track,
				     const struct ts_perfetto_lane *lane, const size_t *tails,
				     struct ts_error *err)
{
	int64_t instant_ns = INT64_MIN;
	struct folding folding;
	enum ts_status st = row_make_folding(track, &folding) ? TS_OK : ts_fail_nomem(err);

	for (size_t i = 0; i < track->nr_slices && st == TS_OK; i++) {
		struct ts_slice slice = track->slices[i];
		size_t at = tails[slice.label];
		struct ts_bytes tail = ts_bytes_cut(ts_buf_bytes(&writer->full_tail), at,
						    tails[slice.label + 1] - at);

		if (row_folds(&folding, track, i)) {
			row_fold(&folding, &slice);
			continue;
		}
		slice = row_unfold(&folding, &slice);
		put_own_slice(writer, lane, &slice, tail, &instant_ns);
		st = ts_trace_hand_on(writer, TS_TRACE_PIECE_BYTES, err);
	}
	row_release_folding(&folding);
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
	/* lanes share labels, and most of them have slices of some alone: those are 1 at first */
	for (size_t i = 0; i < track->nr_slices; i++)
		tails[track->slices[i].label + 1] = 1;
	for (uint32_t i = 0; i < track->nr_labels; i++) {
		if (tails[i + 1])
			writer->form->label_tail(&writer->text, &writer->full_tail, &lane, i);
		tails[i + 1] = writer->full_tail.n;
	}
	st = writer->full_tail.failed ? ts_fail_nomem(err)
				      : row_put_slices(writer, track, &lane, tails, err);
	free(tails);
	return st;
}

static enum ts_status write_points(struct ts_trace_writer *writer, const struct ts_track *track,
				   struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < track->nr_points && st == TS_OK; i++) {
		int64_t at_ps = track->points[i].at_ps;
		/* the last bin of a counter of ours goes on past the trace */
		bool is_past = !writer->row->at.is_native && at_ps > writer->plan->last_ps &&
			       writer->plan->first_ps < writer->plan->last_ps;
		int64_t at_ns = ts_trace_clock_ns(writer, is_past ? writer->plan->last_ps : at_ps);

		writer->form->counter(&writer->text, &writer->at, at_ns, track->points[i].value);
		writer->counts->own += !writer->row->at.is_native;
		st = ts_trace_hand_on(writer, TS_TRACE_PIECE_BYTES, err);
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
		st = ts_trace_write_line(writer, err);
	else if (track->kind == TS_TRACK_SLICES)
		st = write_slices(writer, track, err);
	else
		st = write_points(writer, track, err);
	return st ? st : ts_trace_hand_on(writer, 0, err);
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
