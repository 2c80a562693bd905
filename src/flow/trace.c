/* Rows in the order of their size on threads -> pieces -> members -> file. */
#include "flow/trace.h"

#include "base/check.h"
#include "flow/trace_head.h"
#include "flow/trace_layout.h"
#include "flow/trace_links.h"
#include "io/gzip.h"

struct trace {
	struct ts_trace_layout layout;
	struct ts_trace_counts *counts;	  /* one a row */
	struct ts_trace_writer **writers; /* one a thread */
	uint32_t *order;		  /* of beginning: large rows first */
	struct ts_trace_links links;
	size_t nr_threads;
};

static void release(struct trace *trace)
{
	for (size_t i = 0; trace->writers && i < trace->nr_threads; i++)
		ts_trace_writer_free(trace->writers[i]);
	ts_trace_links_release(&trace->links);
	ts_trace_layout_release(&trace->layout);
	free(trace->counts);
	free(trace->writers);
	free(trace->order);
}

struct weighted {
	uint64_t weight;
	uint32_t row;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static enum ts_status order_rows(struct trace *trace, struct ts_error *err)
{
	struct weighted *items = calloc(trace->layout.nr_rows + 1, sizeof(*items));

	trace->order = calloc(trace->layout.nr_rows + 1, sizeof(*trace->order));
	if (!items || !trace->order) {
		free(items);
		return ts_fail_nomem(err);
	}
	for (size_t i = 0; i < trace->layout.nr_rows; i++)
		items[i] = (struct weighted){ trace->layout.rows[i].weight, (uint32_t)i };
	qsort(items, trace->layout.nr_rows, sizeof(*items), by_weight);
	for (size_t i = 0; i < trace->layout.nr_rows; i++)
		trace->order[i] = items[i].row;
	free(items);
	return TS_OK;
}

static enum ts_status make_writers(struct trace *trace, struct ts_error *err)
{
	struct ts_trace_clock clock = { .ns = trace->layout.shift_ns };

	trace->counts = calloc(trace->layout.nr_rows + 1, sizeof(*trace->counts));
	trace->writers = calloc(trace->nr_threads, sizeof(struct ts_trace_writer *));
	if (!trace->counts || !trace->writers)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < trace->nr_threads; i++) {
		trace->writers[i] =
			ts_trace_writer_new(trace->layout.plan, trace->layout.form, clock);
		if (!trace->writers[i])
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* One row, on a thread. */
struct route {
	struct ts_trace_pack *pack;
	size_t row, thread;
};

static enum ts_status route_piece(void *ctx, struct ts_buf *text, struct ts_error *err)
{
	struct route *route = ctx;

	return ts_trace_pack_piece(route->pack, route->row, route->thread, text, err);
}

static enum ts_status make_row(void *ctx, size_t row, size_t thread, struct ts_trace_pack *pack,
			       struct ts_error *err)
{
	struct trace *trace = ctx;
	struct route route = { pack, row, thread };
	struct ts_trace_out out = { &route, route_piece };

	return ts_trace_row_write(trace->writers[thread], &trace->layout.rows[row], &out,
				  &trace->counts[row], err);
}

static struct ts_trace_counts sum_counts(const struct trace *trace)
{
	struct ts_trace_counts sum = { 0 };

	for (size_t i = 0; i < trace->layout.nr_rows; i++) {
		const struct ts_trace_counts *counts = &trace->counts[i];

		sum.written += counts->written;
		sum.own += counts->own;
		sum.flows += counts->flows;
		sum.no_lane += counts->no_lane;
	}
	return sum;
}

/* The head comes last: only now is it known what was written. */
static enum ts_status finish(struct trace *trace, struct ts_trace_pack *pack,
			     struct ts_newfile *file, const struct ts_trace_options *options,
			     struct ts_error *err)
{
	struct ts_trace_counts counts = sum_counts(trace);
	struct ts_perfetto_head head = { .version = options->version,
					 .native_file = options->native_file,
					 .source = options->source,
					 .start_unix_ns = trace->layout.profile->start_unix_ns,
					 .shift_ns = trace->layout.shift_ns,
					 .events_total = trace->layout.plan->nr_events +
							 trace->layout.plan->nr_left_out,
					 .events_written = counts.written,
					 .own_events = counts.own,
					 .gpus = trace->layout.gpus,
					 .nr_gpus = trace->layout.nr_gpus,
					 .machines = ts_trace_first_machine(&trace->layout),
					 .nr_machines = trace->layout.plan->host == TS_NONE
								? trace->layout.profile->nr_hosts
								: 1 };
	struct ts_buf first = TS_BUF_INIT, last = TS_BUF_INIT;
	bool good = ts_trace_head_put(&trace->layout, trace->counts, &head, &first);
	enum ts_status st;

	trace->layout.form->close(&last);
	st = !good || last.failed ? ts_fail_nomem(err)
				  : ts_trace_pack_write(pack, file, ts_buf_bytes(&first),
							ts_buf_bytes(&last), err);
	ts_buf_release(&first);
	ts_buf_release(&last);
	return st;
}

static void fill_report(const struct trace *trace, uint64_t bytes, struct ts_trace_report *report)
{
	struct ts_trace_counts counts = sum_counts(trace);
	uint64_t total = trace->layout.plan->nr_events + trace->layout.plan->nr_left_out;

	*report =
		(struct ts_trace_report){ .events_total = total,
					  .events_written = counts.written,
					  .events_left_out = total - TS_MIN(counts.written, total),
					  .own_events = counts.own,
					  .flows = counts.flows,
					  .bytes = bytes };
}

static enum ts_status run(struct trace *trace, struct ts_newfile *file,
			  const struct ts_trace_options *options, struct ts_error *err)
{
	struct ts_trace_pack *pack = NULL;
	int level = options->level ? options->level : trace->layout.form->level;
	enum ts_status st = ts_trace_layout_make(&trace->layout, err);

	if (st == TS_OK)
		st = order_rows(trace, err);
	if (st == TS_OK)
		st = make_writers(trace, err);
	if (st == TS_OK)
		st = ts_trace_links_find(&trace->links, trace->layout.plan, trace->writers,
					 trace->nr_threads, trace->layout.rows,
					 trace->layout.nr_rows, err);
	if (st == TS_OK)
		st = ts_trace_pack_new(&pack, file, trace->layout.nr_rows, trace->nr_threads, level,
				       err);
	if (st == TS_OK)
		st = ts_trace_pack_run(pack, trace->order, make_row, trace, err);
	if (st == TS_OK)
		st = finish(trace, pack, file, options, err);
	ts_trace_pack_free(pack);
	return st;
}

enum ts_status ts_trace_write(struct ts_newfile *file, const struct ts_profile *profile,
			      const struct ts_results *results, const struct ts_trace_plan *plan,
			      const struct ts_trace_options *options,
			      struct ts_trace_report *report, struct ts_error *err)
{
	struct trace trace = { .layout = { .profile = profile,
					   .results = results,
					   .plan = plan,
					   .form = options->form,
					   .arena = TS_ARENA_INIT },
			       .nr_threads = TS_MAX(options->nr_threads, 1) };
	uint64_t before = file->nr_bytes;
	enum ts_status st = run(&trace, file, options, err);

	TS_ASSERT(file && profile && plan);
	TS_ASSERT(options);
	if (st == TS_OK && report)
		fill_report(&trace, file->nr_bytes - before, report);
	release(&trace);
	return st;
}

static bool begins_as(struct ts_bytes bytes, const struct ts_perfetto_form *form)
{
	return ts_bytes_starts(bytes, form->mark) ||
	       (form->older_mark && ts_bytes_starts(bytes, form->older_mark));
}

bool ts_trace_is_ours(struct ts_bytes bytes, const struct ts_perfetto_form *form)
{
	struct ts_buf head = TS_BUF_INIT;
	bool ours = begins_as(bytes, form);

	TS_ASSERT(form);
	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!ours && ts_gzip_probe(bytes)) {
		(void)ts_gunzip_head(bytes, &head, TS_MARK_MAX, NULL);
		ours = begins_as(ts_buf_bytes(&head), form);
		ts_buf_release(&head);
	}
	return ours;
}
