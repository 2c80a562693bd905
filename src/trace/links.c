/* SPDX-License-Identifier: MIT */
/* Ends of rows -> joined by their numbers -> arrows of rows. */
#include "trace/links.h"

#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/work.h"
#include "read/flows.h"

struct scan {
	const struct ts_trace_plan *plan;
	struct ts_trace_writer *const *writers;
	const struct ts_trace_row *rows;
	size_t nr_rows;
	uint32_t *jobs;		    /* rows to be walked now */
	struct ts_trace_ends *ends; /* of each row */
	uint64_t nr_walked;
};

static enum ts_status scan_row(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct scan *scan = ctx;
	uint32_t row = scan->jobs[job];

	return ts_trace_row_scan(scan->writers[thread], &scan->rows[row], &scan->ends[row], err);
}

static bool is_walked(struct scan *scan, const struct ts_trace_row *row, enum ts_trace_side side)
{
	uint64_t nr;

	if (row->line == TS_NONE || ts_trace_end_side(scan->plan->profile, row->line) != side)
		return false;
	nr = scan->plan->tallies[row->line]->nr_chosen;
	if (nr > TS_LIMIT_TRACE_LAUNCHES - scan->nr_walked)
		return false;
	scan->nr_walked += nr;
	return nr > 0;
}

/* Walks the rows of one side; *NR: how many ends they have. */
static enum ts_status scan_side(struct scan *scan, enum ts_trace_side side, size_t nr_threads,
				size_t *nr, struct ts_error *err)
{
	size_t nr_jobs = 0;
	enum ts_status st;

	for (size_t i = 0; i < scan->nr_rows; i++)
		if (is_walked(scan, &scan->rows[i], side))
			scan->jobs[nr_jobs++] = (uint32_t)i;
	st = ts_work_run(nr_threads, nr_jobs, scan_row, scan, err);
	*nr = 0;
	for (size_t i = 0; i < nr_jobs && st == TS_OK; i++)
		*nr += scan->ends[scan->jobs[i]].nr;
	return st;
}

/* Joining */

struct join {
	struct ts_trace_end *ends; /* of all rows, in the order of rows and slices */
	size_t nr, nr_rows;
	uint32_t *other;       /* of each end: the one it is joined with, or TS_NONE */
	struct ts_map devices; /* by number: the earliest end on a device */
};

static enum ts_status trace_links_gather(struct join *join, const struct scan *scan,
					 struct ts_error *err)
{
	size_t sum = 0;

	for (size_t i = 0; i < scan->nr_rows; i++)
		sum += scan->ends[i].nr;
	join->nr_rows = scan->nr_rows;
	join->ends = calloc(sum + 1, sizeof(*join->ends));
	join->other = malloc((sum + 1) * sizeof(*join->other));
	if (!join->ends || !join->other || sum >= TS_NONE)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < scan->nr_rows; i++)
		for (size_t j = 0; j < scan->ends[i].nr; j++) {
			join->ends[join->nr] = scan->ends[i].items[j];
			join->ends[join->nr++].row = (uint32_t)i;
		}
	memset(join->other, 0xff, (sum + 1) * sizeof(*join->other));
	return TS_OK;
}

static bool trace_links_is_same(const struct ts_trace_end *x, const struct ts_trace_end *y)
{
	return x->host == y->host && x->device == y->device && x->number == y->number;
}

static uint64_t trace_links_key_of(const struct ts_trace_end *end)
{
	uint64_t scope = (uint64_t)end->host << 32 | end->device;

	return ts_hash((struct ts_bytes){ (const uint8_t *)&end->number, sizeof(end->number) },
		       scope);
}

static enum ts_status note_device(struct join *join, uint32_t index, struct ts_error *err)
{
	const struct ts_trace_end *end = &join->ends[index];
	uint64_t key = trace_links_key_of(end);
	uint32_t first = ts_map_find(&join->devices, key);

	if (first != TS_NONE && end->start_ns >= join->ends[first].start_ns)
		return TS_OK;
	return ts_map_set(&join->devices, key, index) ? TS_OK : ts_fail_nomem(err);
}

static void join_host(struct join *join, uint32_t index)
{
	const struct ts_trace_end *end = &join->ends[index];
	uint32_t device = ts_map_find(&join->devices, trace_links_key_of(end)), before;

	if (device == TS_NONE || !trace_links_is_same(end, &join->ends[device]))
		return;
	before = join->other[device];
	if (before != TS_NONE && end->start_ns >= join->ends[before].start_ns)
		return;
	if (before != TS_NONE)
		join->other[before] = TS_NONE;
	join->other[device] = index;
	join->other[index] = device;
}

static enum ts_status join_ends(struct join *join, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < join->nr && st == TS_OK; i++)
		if (join->ends[i].side == TS_SIDE_DEVICE)
			st = note_device(join, i, err);
	if (st)
		return st;
	for (uint32_t i = 0; i < join->nr; i++)
		if (join->ends[i].side == TS_SIDE_HOST)
			join_host(join, i);
	return TS_OK;
}

/* Of two that start together, the one whose row stands first in the file. */
static bool trace_links_is_first(const struct ts_trace_end *end, const struct ts_trace_end *other)
{
	if (end->start_ns != other->start_ns)
		return end->start_ns < other->start_ns;
	return end->row < other->row;
}

/* An arrow's id is FIRST and the number of its end on the device. */
static enum ts_status make_arrows(struct ts_trace_links *links, const struct join *join,
				  uint64_t first, struct ts_error *err)
{
	links->arrows = calloc(join->nr + 1, sizeof(*links->arrows));
	if (!links->arrows)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < join->nr; i++) {
		const struct ts_trace_end *end = &join->ends[i];

		if (join->other[i] == TS_NONE)
			continue;
		links->arrows[links->nr_arrows++] = (struct ts_trace_arrow){
			.id = first | (end->side == TS_SIDE_DEVICE ? i : join->other[i]),
			.slice = end->slice,
			.row = end->row,
			.on_gpu = end->device == TS_END_OF_HOST,
			.end = trace_links_is_first(end, &join->ends[join->other[i]])
				       ? TS_ARROW_BEGINS
				       : TS_ARROW_ENDS,
		};
	}
	return TS_OK;
}

static void hand_out(const struct ts_trace_links *links, struct ts_trace_row *rows)
{
	for (size_t i = 0, next; i < links->nr_arrows; i = next) {
		uint32_t row = links->arrows[i].row;

		for (next = i; next < links->nr_arrows && links->arrows[next].row == row; next++)
			;
		rows[row].arrows = &links->arrows[i];
		rows[row].nr_arrows = next - i;
	}
}

static enum ts_status trace_links_join_all(struct ts_trace_links *links, const struct scan *scan,
					   struct ts_error *err)
{
	struct join join = { .ends = NULL };
	enum ts_status st = trace_links_gather(&join, scan, err);

	if (st == TS_OK)
		st = join_ends(&join, err);
	if (st == TS_OK)
		st = make_arrows(links, &join, (uint64_t)scan->rows[0].at.number << 32, err);
	free(join.ends);
	free(join.other);
	ts_map_release(&join.devices);
	return st;
}

static enum ts_status trace_links_find(struct ts_trace_links *links, struct scan *scan,
				       uint32_t host, size_t nr_threads, struct ts_error *err)
{
	size_t nr = 0;
	enum ts_status st = scan_side(scan, TS_SIDE_DEVICE, nr_threads, &nr, err);

	if (st != TS_OK || (nr == 0 && !ts_flows_are_in(scan->plan->profile, host)))
		return st;
	st = scan_side(scan, TS_SIDE_HOST, nr_threads, &nr, err);
	return st != TS_OK || nr == 0 ? st : trace_links_join_all(links, scan, err);
}

enum ts_status ts_trace_links_find(struct ts_trace_links *links, const struct ts_trace_plan *plan,
				   uint32_t host, struct ts_trace_writer *const *writers,
				   size_t nr_threads, struct ts_trace_row *rows, size_t nr_rows,
				   struct ts_error *err)
{
	struct scan scan = { .plan = plan, .writers = writers, .rows = rows, .nr_rows = nr_rows };
	enum ts_status st;

	TS_ASSERT(links && plan && writers);
	TS_ASSERT(rows || nr_rows == 0);
	scan.jobs = calloc(nr_rows + 1, sizeof(*scan.jobs));
	scan.ends = calloc(nr_rows + 1, sizeof(*scan.ends));
	st = scan.jobs && scan.ends ? trace_links_find(links, &scan, host, nr_threads, err)
				    : ts_fail_nomem(err);
	for (size_t i = 0; scan.ends && i < nr_rows; i++)
		free(scan.ends[i].items);
	free(scan.jobs);
	free(scan.ends);
	if (st == TS_OK)
		hand_out(links, rows);
	return st;
}

void ts_trace_links_release(struct ts_trace_links *links)
{
	TS_ASSERT(links);
	free(links->arrows);
	*links = (struct ts_trace_links){ 0 };
}
