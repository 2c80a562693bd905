/* SPDX-License-Identifier: MIT */
/* What stands in front of all rows, and of those of each part; how many events are left out. */
#include "trace/head.h"

#include "base/check.h"

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

static struct ts_perfetto_process head_shown(const struct ts_trace_layout *layout,
					     const struct ts_trace_counts *counts,
					     const struct ts_trace_process *process)
{
	uint64_t nr_events = count_events(layout, process->plane);
	struct ts_perfetto_process shown = { .pid = process->pid,
					     .order = process->order,
					     .name = process->name,
					     .machine = process->machine,
					     .events_total = nr_events,
					     .events_left_out = nr_events };

	for (uint32_t k = 0; k < process->nr_rows; k++)
		see_row(layout, counts, process->first_row + k, &shown);
	return shown;
}

static bool has_process(const struct ts_trace_told *told, uint32_t pid)
{
	for (size_t i = 0; i < told->nr_processes; i++)
		if (told->processes[i].pid == pid)
			return true;
	return false;
}

static enum ts_status tell_gpus(const struct ts_trace_layout *layout, struct ts_arena *arena,
				struct ts_trace_told *told, struct ts_error *err)
{
	told->gpus = ts_arena_array(arena, layout->nr_gpus + 1, sizeof(*told->gpus));
	for (size_t i = 0; told->gpus && i < layout->nr_gpus; i++) {
		struct ts_perfetto_gpu *gpu = &told->gpus[told->nr_gpus];

		if (!has_process(told, layout->gpus[i].pid))
			continue;
		*gpu = layout->gpus[i];
		gpu->name = ts_arena_copy(arena, gpu->name);
		if (!gpu->name.p)
			return ts_fail_nomem(err);
		told->nr_gpus++;
	}
	return told->gpus ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status tell_processes(const struct ts_trace_layout *layout,
				     const struct ts_trace_counts *counts,
				     const struct ts_trace_part *part, struct ts_arena *arena,
				     struct ts_trace_told *told, struct ts_error *err)
{
	told->processes = ts_arena_array(arena, part->nr_processes + 1, sizeof(*told->processes));
	for (uint32_t i = 0; told->processes && i < part->nr_processes; i++) {
		struct ts_perfetto_process *process = &told->processes[i];

		*process = head_shown(layout, counts, &layout->processes[part->first_process + i]);
		process->name = ts_arena_copy(arena, process->name);
		if (!process->name.p)
			return ts_fail_nomem(err);
		told->nr_processes++;
	}
	return told->processes ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_trace_tell(const struct ts_trace_layout *layout,
			     const struct ts_trace_counts *counts, size_t index,
			     struct ts_arena *arena, struct ts_trace_told *told,
			     struct ts_error *err)
{
	const struct ts_trace_part *part = &layout->parts[index];
	enum ts_status st;

	TS_ASSERT(layout && counts);
	TS_ASSERT(arena && told);
	*told = (struct ts_trace_told){ .next_process = layout->next_process,
					.next_row = layout->next_row };
	for (uint32_t i = part->first_row; i < part->first_row + part->nr_rows; i++) {
		told->written += counts[i].written;
		told->own += counts[i].own;
	}
	st = tell_processes(layout, counts, part, arena, told, err);
	return st ? st : tell_gpus(layout, arena, told, err);
}

/* The process that viewers show on top; NULL: there is none. */
static const struct ts_perfetto_process *head_top_of(const struct ts_trace_heads *heads)
{
	const struct ts_perfetto_process *top = NULL;

	for (size_t i = 0; i < heads->nr; i++)
		for (size_t k = 0; k < heads->parts[i].nr_processes; k++) {
			const struct ts_perfetto_process *process = &heads->parts[i].processes[k];

			if (!top || process->order < top->order)
				top = process;
		}
	return top;
}

uint64_t ts_trace_left_out(const struct ts_trace_heads *heads)
{
	const struct ts_perfetto_head *head = &heads->head;

	TS_ASSERT(heads);
	return head->events_total - TS_MIN(head->events_written, head->events_total);
}

/* There stands how many events are not in the file: a head is seldom read. */
static void head_put_left_out(const struct ts_trace_heads *heads,
			      const struct ts_perfetto_process *top, struct ts_buf *out)
{
	const struct ts_perfetto_form *form = heads->form;
	uint32_t number = heads->parts[heads->nr - 1].next_row;
	uint64_t nr = ts_trace_left_out(heads);
	char name[96];
	struct ts_label label = { .name = TS_LIT("left out") };
	struct ts_track track = { .kind = TS_TRACK_SLICES,
				  .description = "the file holds the longest events of the run",
				  .labels = &label,
				  .nr_labels = 1 };
	int64_t last_ns = 0, end_ns = TS_MAX(heads->last_ns, heads->first_ns);
	struct ts_perfetto_row row = { .number = number,
				       .pid = top->pid,
				       .machine = top->machine,
				       .tid = (number + 1) * TS_TRACE_TIDS,
				       .name = { (const uint8_t *)name, 0 },
				       .track = &track,
				       .last_ns = &last_ns };
	struct ts_perfetto_lane lane = { .row = &row };
	struct ts_perfetto_slice slice = { .start_ns = heads->first_ns,
					   .dur_ns = end_ns - heads->first_ns,
					   .nr_events = (uint32_t)TS_MIN(nr, UINT32_MAX) };
	struct ts_buf tail = TS_BUF_INIT;

	row.name.n = (size_t)snprintf(name, sizeof(name),
				      "TPUsight: %" PRIu64 " of %" PRIu64 " events are left out",
				      nr, heads->head.events_total);
	form->row(out, &row);
	form->lane(out, &lane);
	form->label_tail(out, &tail, &lane, 0);
	slice.tail = ts_buf_bytes(&tail);
	form->label_slice(out, &lane, &slice);
	form->end(out, &lane, end_ns, false);
	out->failed |= tail.failed;
	ts_buf_release(&tail);
}

/* The process that has it; NULL: nothing is left out. */
static const struct ts_perfetto_process *teller(const struct ts_trace_heads *heads)
{
	return ts_trace_left_out(heads) > 0 ? head_top_of(heads) : NULL;
}

void ts_trace_head_put(const struct ts_trace_heads *heads, struct ts_buf *out)
{
	struct ts_perfetto_head head = heads->head;

	TS_ASSERT(heads && out);
	head.own_events += teller(heads) != NULL;
	heads->form->open(out, &head);
}

void ts_trace_part_put(const struct ts_trace_heads *heads, size_t part, struct ts_buf *out)
{
	const struct ts_perfetto_process *top = teller(heads);
	const struct ts_trace_told *told = &heads->parts[part];

	TS_ASSERT(heads && part < heads->nr);
	TS_ASSERT(out);
	for (size_t i = 0; i < told->nr_processes; i++) {
		struct ts_perfetto_process process = told->processes[i];

		process.has_tracks |= &told->processes[i] == top;
		heads->form->process(out, &process);
	}
	if (top && part + 1 == heads->nr)
		head_put_left_out(heads, top, out);
}
