/* Ends of rows -> sorted by their numbers -> pairs -> arrows of rows. */
#include "flow/trace_links.h"

#include "base/check.h"
#include "base/limits.h"
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

#define BY(x, y)                          \
	do {                              \
		if ((x) != (y))           \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int by_number(const void *a, const void *b)
{
	const struct ts_trace_end *x = a, *y = b;

	BY(x->host, y->host);
	BY(x->device, y->device);
	BY(x->number, y->number);
	BY(x->side, y->side);
	BY(x->start_ns, y->start_ns);
	BY(x->row, y->row);
	BY(x->slice, y->slice);
	return 0;
}

static int by_slice(const void *a, const void *b)
{
	const struct ts_trace_arrow *x = a, *y = b;

	BY(x->row, y->row);
	BY(x->slice, y->slice);
	return 0;
}

static bool is_same(const struct ts_trace_end *x, const struct ts_trace_end *y)
{
	return x->host == y->host && x->device == y->device && x->number == y->number;
}

/* All ends in one array, sorted; *NR of them. NULL: no memory. */
static struct ts_trace_end *sort_ends(const struct scan *scan, size_t *nr)
{
	struct ts_trace_end *all;
	size_t sum = 0;

	for (size_t i = 0; i < scan->nr_rows; i++)
		sum += scan->ends[i].nr;
	all = calloc(sum + 1, sizeof(*all));
	*nr = 0;
	for (size_t i = 0; i < scan->nr_rows && all; i++)
		for (size_t j = 0; j < scan->ends[i].nr; j++)
			all[(*nr)++] = scan->ends[i].items[j];
	if (all)
		qsort(all, *nr, sizeof(*all), by_number);
	return all;
}

static void add_arrow(struct ts_trace_links *links, const struct ts_trace_end *device,
		      const struct ts_trace_end *host, uint64_t id)
{
	/* of two that start together the device's row stands first in the file */
	bool host_first = host->start_ns < device->start_ns;
	struct ts_trace_arrow *arrow = &links->arrows[links->nr_arrows];

	arrow[0] = (struct ts_trace_arrow){ id, device->slice, device->row,
					    host_first ? TS_ARROW_ENDS : TS_ARROW_BEGINS };
	arrow[1] = (struct ts_trace_arrow){ id, host->slice, host->row,
					    host_first ? TS_ARROW_BEGINS : TS_ARROW_ENDS };
	links->nr_arrows += 2;
}

/* Ids count from where those of the rows' own arrows end. */
static enum ts_status join(struct ts_trace_links *links, const struct ts_trace_end *ends, size_t nr,
			   size_t nr_rows, struct ts_error *err)
{
	uint64_t id = (uint64_t)nr_rows << 32;

	links->arrows = calloc(nr + 1, sizeof(*links->arrows));
	if (!links->arrows)
		return ts_fail_nomem(err);
	for (size_t i = 0, next; i < nr; i = next) {
		const struct ts_trace_end *device = NULL, *host = NULL;

		for (next = i; next < nr && is_same(&ends[i], &ends[next]); next++) {
			if (ends[next].side == TS_SIDE_DEVICE)
				device = device ? device : &ends[next];
			else
				host = host ? host : &ends[next];
		}
		if (device && host)
			add_arrow(links, device, host, id++);
	}
	qsort(links->arrows, links->nr_arrows, sizeof(*links->arrows), by_slice);
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

/* Is there anything that joins two ends of a host? */
static bool has_flows(const struct ts_profile *profile)
{
	for (uint32_t i = 0; i < profile->nr_hosts; i++)
		if (ts_flows_are_in(profile, i))
			return true;
	return false;
}

static enum ts_status find(struct ts_trace_links *links, struct scan *scan, size_t nr_threads,
			   struct ts_error *err)
{
	struct ts_trace_end *ends;
	size_t nr = 0;
	enum ts_status st = scan_side(scan, TS_SIDE_DEVICE, nr_threads, &nr, err);

	if (st != TS_OK || (nr == 0 && !has_flows(scan->plan->profile)))
		return st;
	st = scan_side(scan, TS_SIDE_HOST, nr_threads, &nr, err);
	if (st != TS_OK || nr == 0)
		return st;
	ends = sort_ends(scan, &nr);
	st = ends ? join(links, ends, nr, scan->nr_rows, err) : ts_fail_nomem(err);
	free(ends);
	return st;
}

enum ts_status ts_trace_links_find(struct ts_trace_links *links, const struct ts_trace_plan *plan,
				   struct ts_trace_writer *const *writers, size_t nr_threads,
				   struct ts_trace_row *rows, size_t nr_rows, struct ts_error *err)
{
	struct scan scan = { .plan = plan, .writers = writers, .rows = rows, .nr_rows = nr_rows };
	enum ts_status st;

	TS_ASSERT(links && plan && writers);
	TS_ASSERT(rows || nr_rows == 0);
	scan.jobs = calloc(nr_rows + 1, sizeof(*scan.jobs));
	scan.ends = calloc(nr_rows + 1, sizeof(*scan.ends));
	st = scan.jobs && scan.ends ? find(links, &scan, nr_threads, err) : ts_fail_nomem(err);
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
