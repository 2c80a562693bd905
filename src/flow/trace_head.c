/* What stands in front of the rows: the run, its processes, and how many events are left out. */
#include "flow/trace_head.h"

#include "base/check.h"
#include "flow/trace_facts.h"

#include <inttypes.h>

/* Of a plane's lines; the findings' process has no plane. */
static uint64_t count_events(const struct ts_trace_layout *layout, uint32_t index)
{
	const struct ts_plane *plane;
	uint64_t nr = 0;

	if (index == TS_NONE)
		return 0;
	plane = &layout->profile->planes[index];
	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		const struct ts_trace_tally *tally = layout->plan->tallies[plane->first_line + i];

		if (tally)
			nr += tally->nr_events + tally->nr_left_out;
	}
	return nr;
}

static void see_row(const struct ts_trace_layout *layout, const struct ts_trace_counts *counts,
		    uint32_t index, struct ts_perfetto_process *shown)
{
	const struct ts_perfetto_row *row = &layout->rows[index].at;

	if (row->track) {
		shown->has_tracks |= !row->is_native;
		shown->has_lines |= row->is_native;
		return;
	}
	shown->has_lines |= row->thread == 0;
	shown->events_left_out -= TS_MIN(counts[index].written, shown->events_left_out);
}

/* Process MORE has one more row of ours; TS_NONE: none has. */
static void put_processes(const struct ts_trace_layout *layout,
			  const struct ts_trace_counts *counts, uint32_t more, struct ts_buf *out)
{
	for (uint32_t i = 0; i < layout->nr_processes; i++) {
		const struct ts_trace_process *process = &layout->processes[i];
		uint64_t nr_events = count_events(layout, process->plane);
		struct ts_perfetto_process shown = { .pid = process->pid,
						     .order = process->order,
						     .name = process->name,
						     .has_tracks = i == more,
						     .machine = process->machine,
						     .events_total = nr_events,
						     .events_left_out = nr_events };

		for (uint32_t k = 0; k < process->nr_rows; k++)
			see_row(layout, counts, process->first_row + k, &shown);
		layout->form->process(out, &shown);
	}
}

/* The process that viewers show on top. */
static uint32_t top_of(const struct ts_trace_layout *layout)
{
	uint32_t top = 0;

	for (uint32_t i = 1; i < layout->nr_processes; i++)
		if (layout->processes[i].order < layout->processes[top].order)
			top = i;
	return top;
}

/* There stands how many events are not in the file: a head is seldom read. */
static void put_left_out(const struct ts_trace_layout *layout, uint64_t nr, uint64_t of,
			 struct ts_buf *out)
{
	int64_t first_ns = ts_trace_ns(layout->plan->first_ps) + layout->shift_ns;
	const struct ts_trace_process *top = &layout->processes[top_of(layout)];
	int64_t end_ns = TS_MAX(ts_trace_ns(layout->plan->last_ps) + layout->shift_ns, first_ns);
	char name[96];
	struct ts_label label = { .name = TS_LIT("left out") };
	struct ts_track track = { .kind = TS_TRACK_SLICES,
				  .description = "the file holds the longest events of the run",
				  .labels = &label,
				  .nr_labels = 1 };
	int64_t last_ns = 0;
	struct ts_perfetto_row row = { .number = (uint32_t)layout->nr_rows,
				       .pid = top->pid,
				       .machine = top->machine,
				       .tid = ((uint32_t)layout->nr_rows + 1) * TS_TRACE_TIDS,
				       .name = { (const uint8_t *)name, 0 },
				       .track = &track,
				       .last_ns = &last_ns };
	struct ts_perfetto_lane lane = { .row = &row };
	struct ts_perfetto_slice slice = { .start_ns = first_ns,
					   .dur_ns = end_ns - first_ns,
					   .nr_events = (uint32_t)TS_MIN(nr, UINT32_MAX) };
	struct ts_buf tail = TS_BUF_INIT;

	row.name.n = (size_t)snprintf(name, sizeof(name),
				      "TPUsight: %" PRIu64 " of %" PRIu64 " events are left out",
				      nr, of);
	layout->form->row(out, &row);
	layout->form->lane(out, &lane);
	layout->form->label_tail(out, &tail, &lane, 0);
	slice.tail = ts_buf_bytes(&tail);
	layout->form->label_slice(out, &lane, &slice);
	layout->form->end(out, &lane, end_ns, false);
	out->failed |= tail.failed;
	ts_buf_release(&tail);
}

bool ts_trace_head_put(struct ts_trace_layout *layout, const struct ts_trace_counts *counts,
		       struct ts_perfetto_head *head, struct ts_buf *out)
{
	uint64_t left_out = head->events_total - TS_MIN(head->events_written, head->events_total);
	bool is_told = left_out > 0 && layout->nr_processes > 0;
	struct ts_perfetto_fact facts[TS_TRACE_FACTS];

	TS_ASSERT(layout && counts);
	TS_ASSERT(head && out);
	head->own_events += is_told;
	head->facts = facts;
	if (layout->results &&
	    !ts_trace_facts(layout->results, &layout->arena, facts, &head->nr_facts))
		return false;
	layout->form->open(out, head);
	put_processes(layout, counts, is_told ? top_of(layout) : TS_NONE, out);
	if (is_told)
		put_left_out(layout, left_out, head->events_total, out);
	return !out->failed;
}
