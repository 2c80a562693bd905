/* What was counted, as fields and tables. */
#include "analysis/gpu/hta.h"

#include "base/units.h"

#define MAX_KERNELS	 200 /* rows, of all ranks together */
#define MAX_RANK_KERNELS 50  /* rows of each rank */
#define MAX_RANKS	 1024
#define ORDER		 50 /* of the counter, among a device's tracks */

#define COMPUTING	 (1U << TS_KERNEL_COMPUTATION)
#define TALKING		 (1U << TS_KERNEL_COMMUNICATION)
#define MOVING		 (1U << TS_KERNEL_MEMORY)
#define ALL		 ((1U << TS_NR_KERNEL_TYPES) - 1)

/* Of a rank, or of several together. Times of HTA's in us, the others in ps. */
struct figures {
	int64_t kernel_us, idle_us, compute_us, talking_us, moving_us, both_us;
	int64_t kernel_ps, idle_ps, compute_ps, talking_ps, moving_ps, both_ps, exposed_ps,
		short_ps;
	uint64_t nr_kernels, nr_unlaunched, nr_late, nr_short;
};

static int64_t hull(const struct hta_overlaps *overlaps)
{
	return overlaps->last - overlaps->first;
}

/* Of an xplane, which HTA cannot read, HTA's are made of the times as they are. */
static void take_whole(struct figures *figures, const struct hta_rank *rank)
{
	figures->kernel_us = rank->all.end - rank->all.first;
	figures->idle_us = figures->kernel_us - rank->all.total;
	figures->compute_us = rank->computing.total;
	figures->talking_us = rank->talking.total;
	figures->moving_us = rank->moving.total;
	figures->both_us = hta_overlaps_both(&rank->us, COMPUTING, TALKING);
}

static struct figures figures_of(const struct hta_rank *rank)
{
	const struct hta_overlaps *ps = &rank->ps;
	struct figures figures = {
		.kernel_ps = hull(ps),
		.idle_ps = ps->time[0],
		.compute_ps = hta_overlaps_any(ps, COMPUTING),
		.talking_ps = hta_overlaps_any(ps, TALKING),
		.moving_ps = hta_overlaps_any(ps, MOVING),
		.both_ps = hta_overlaps_both(ps, COMPUTING, TALKING),
		.exposed_ps = ps->time[TALKING],
		.short_ps = rank->short_ps,
		.nr_kernels = rank->nr_kernels,
		.nr_unlaunched = rank->nr_unlaunched,
		.nr_late = rank->nr_late,
		.nr_short = rank->nr_short,
	};

	take_whole(&figures, rank);
	return figures;
}

static void add(struct figures *sum, const struct figures *one)
{
	const size_t nr_times = offsetof(struct figures, nr_kernels) / sizeof(int64_t);
	int64_t *into = (int64_t *)(void *)sum;
	const int64_t *from = (const int64_t *)(const void *)one;

	for (size_t i = 0; i < nr_times; i++)
		into[i] = ts_i64_add(into[i], from[i]);
	sum->nr_kernels += one->nr_kernels;
	sum->nr_unlaunched += one->nr_unlaunched;
	sum->nr_late += one->nr_late;
	sum->nr_short += one->nr_short;
}

struct ts_value hta_pct(int64_t part, int64_t whole)
{
	return whole > 0 ? ts_real(100 * (double)part / (double)whole) : ts_null();
}

/* Fields of all, columns of each rank: the same, in this order. */
#define VALUES(X)                                                                             \
	X(IDLE_PCT, "", "gpu_idle_time_pct", "GPU idle", "GPU idle")                          \
	X(COMPUTE_PCT, "", "compute_time_pct", "computing", "computing")                      \
	X(REST_PCT, "", "non_compute_time_pct", "other work alone", "other work alone")       \
	X(TALKING_PCT, "", "communication_time_pct", "communicating", "communicating")        \
	X(MOVING_PCT, "", "memory_time_pct", "copying", "copying")                            \
	X(OVERLAP_PCT, "", "comm_comp_overlap_pct", "communication under compute", "hidden")  \
	X(KERNEL_US, "", "kernel_time_us", NULL, NULL)                                        \
	X(IDLE_US, "", "idle_time_us", NULL, NULL)                                            \
	X(COMPUTE_US, "", "compute_time_us", NULL, NULL)                                      \
	X(REST_US, "", "non_compute_time_us", NULL, NULL)                                     \
	X(KERNELS, "", "kernel_count", "kernels", "kernels")                                  \
	X(SHORT_KERNELS, "", "short_kernel_count", "short kernels", "short")                  \
	X(UNLAUNCHED, "", "unlaunched_kernel_count", NULL, NULL)                              \
	X(LATE, "", "last_step_kernel_count", NULL, NULL)                                     \
	X(KERNEL_PS, "exact.", "kernel_ps", "from the first kernel to the last", "time")      \
	X(IDLE_PS, "exact.", "idle_ps", "idle", NULL)                                         \
	X(COMPUTE_PS, "exact.", "compute_ps", "compute", NULL)                                \
	X(TALKING_PS, "exact.", "communication_ps", "communication", NULL)                    \
	X(MOVING_PS, "exact.", "memory_ps", "copies", NULL)                                   \
	X(EXPOSED_PS, "exact.", "exposed_communication_ps", "communication alone", "exposed") \
	X(BOTH_PS, "exact.", "overlap_ps", NULL, NULL)                                        \
	X(SHORT_PS, "exact.", "short_ps", NULL, NULL)                                         \
	X(EXACT_IDLE_PCT, "exact.", "idle_pct", "GPU idle, no time rounded", NULL)            \
	X(EXACT_COMPUTE_PCT, "exact.", "compute_pct", NULL, NULL)                             \
	X(EXACT_REST_PCT, "exact.", "non_compute_pct", NULL, NULL)                            \
	X(EXACT_TALKING_PCT, "exact.", "communication_pct", NULL, NULL)                       \
	X(EXACT_OVERLAP_PCT, "exact.", "overlap_pct", NULL, NULL)

#define VALUE_ENUM(id, object, name, label, heading) id,
enum value { VALUES(VALUE_ENUM) NR_VALUES };

static void fill_exact(struct ts_value *cells, const struct figures *figures)
{
	int64_t rest = figures->kernel_ps - figures->idle_ps - figures->compute_ps;

	cells[KERNEL_PS] = ts_int(figures->kernel_ps);
	cells[IDLE_PS] = ts_int(figures->idle_ps);
	cells[COMPUTE_PS] = ts_int(figures->compute_ps);
	cells[TALKING_PS] = ts_int(figures->talking_ps);
	cells[MOVING_PS] = ts_int(figures->moving_ps);
	cells[EXPOSED_PS] = ts_int(figures->exposed_ps);
	cells[BOTH_PS] = ts_int(figures->both_ps);
	cells[SHORT_PS] = ts_int(figures->short_ps);
	cells[EXACT_IDLE_PCT] = hta_pct(figures->idle_ps, figures->kernel_ps);
	cells[EXACT_COMPUTE_PCT] = hta_pct(figures->compute_ps, figures->kernel_ps);
	cells[EXACT_REST_PCT] = hta_pct(rest, figures->kernel_ps);
	cells[EXACT_TALKING_PCT] = hta_pct(figures->talking_ps, figures->kernel_ps);
	cells[EXACT_OVERLAP_PCT] = hta_pct(figures->both_ps, figures->talking_ps);
	cells[KERNELS] = ts_int((int64_t)figures->nr_kernels);
	cells[SHORT_KERNELS] = ts_int((int64_t)figures->nr_short);
	cells[UNLAUNCHED] = ts_int((int64_t)figures->nr_unlaunched);
	cells[LATE] = ts_int((int64_t)figures->nr_late);
}

static void fill(struct ts_value *cells, const struct figures *figures)
{
	int64_t all = figures->kernel_us, rest = all - figures->idle_us - figures->compute_us;

	fill_exact(cells, figures);
	cells[IDLE_PCT] = hta_pct(figures->idle_us, all);
	cells[COMPUTE_PCT] = hta_pct(figures->compute_us, all);
	cells[REST_PCT] = hta_pct(rest, all);
	cells[TALKING_PCT] = hta_pct(figures->talking_us, all);
	cells[MOVING_PCT] = hta_pct(figures->moving_us, all);
	cells[OVERLAP_PCT] = hta_pct(figures->both_us, figures->talking_us);
	cells[KERNEL_US] = ts_int(all);
	cells[IDLE_US] = ts_int(figures->idle_us);
	cells[COMPUTE_US] = ts_int(figures->compute_us);
	cells[REST_US] = ts_int(rest);
	if (all > 0 || figures->kernel_ps <= 0)
		return;
	/* of xplanes: nothing is rounded */
	cells[IDLE_PCT] = cells[EXACT_IDLE_PCT];
	cells[COMPUTE_PCT] = cells[EXACT_COMPUTE_PCT];
	cells[REST_PCT] = cells[EXACT_REST_PCT];
	cells[TALKING_PCT] = cells[EXACT_TALKING_PCT];
	cells[MOVING_PCT] = hta_pct(figures->moving_ps, figures->kernel_ps);
	cells[OVERLAP_PCT] = cells[EXACT_OVERLAP_PCT];
	for (int i = KERNEL_US; i <= REST_US; i++)
		cells[i] = ts_null();
}

static void put_fields(struct ts_result *result, const struct figures *all, size_t nr_ranks)
{
#define VALUE_FIELD(id, object, name, label, heading) { object name, TS_MEASURED, label },
	static const struct ts_column fields[] = { VALUES(VALUE_FIELD) };
	struct ts_value cells[NR_VALUES];

	fill(cells, all);
	ts_result_field(result, "rank_count", ts_int((int64_t)nr_ranks), TS_MEASURED, "ranks");
	for (size_t i = 0; i < NR_VALUES; i++)
		ts_result_field(result, fields[i].name, cells[i], fields[i].origin,
				fields[i].label);
}

int64_t hta_rank_number(const struct ts_context *ctx, const struct hta_rank *rank)
{
	const struct ts_host *host = &ctx->profile->hosts[rank->host];

	if (rank->device != TS_NONE)
		return rank->device;
	return host->rank >= 0 ? host->rank : (int64_t)rank->host;
}

static bool put_ranks(struct ts_result *result, const struct ts_context *ctx,
		      const struct hta_state *sum)
{
#define VALUE_COLUMN(id, object, name, label, heading) { name, TS_MEASURED, heading },
	static const struct ts_column columns[] = { { "rank", TS_MEASURED, "rank" },
						    { "host", TS_MEASURED, "host" },
						    { "device", TS_MEASURED, NULL },
						    VALUES(VALUE_COLUMN) };
	struct ts_table *table = ts_result_table(
		result, "ranks", sum->nr_ranks > 1 ? "Ranks" : NULL, columns, TS_NELEM(columns));

	for (size_t i = 0; i < sum->nr_ranks && table; i++) {
		const struct hta_rank *rank = &sum->ranks[i];
		const struct figures figures = figures_of(rank);
		struct ts_value *cells = ts_table_row(result, table);

		if (!cells)
			return false;
		cells[0] = ts_int(hta_rank_number(ctx, rank));
		cells[1] = ts_text_or_null(ctx->profile->hosts[rank->host].name);
		if (rank->device != TS_NONE)
			cells[2] = ts_text_or_null(ctx->profile->devices[rank->device].name);
		fill(&cells[3], &figures);
	}
	return table != NULL;
}

/* --- types */

static struct ts_bytes set_name(struct ts_result *result, unsigned set)
{
	struct ts_bytes name = { NULL, 0 };

	for (unsigned type = 0; type < TS_NR_KERNEL_TYPES; type++) {
		if (!(set >> type & 1))
			continue;
		name = name.n == 0 ? ts_bytes_of(ts_kernel_type_names[type])
				   : ts_result_text(result, "%.*s overlapping %s", TS_ARG(name),
						    ts_kernel_type_names[type]);
	}
	return name;
}

/* Of OTHER there is nothing more to tell: what runs beside it is what it is. */
static unsigned told(unsigned set)
{
	unsigned known = set & (COMPUTING | TALKING | MOVING);

	return known ? known : set;
}

static bool put_types(struct ts_result *result, const struct hta_state *sum)
{
	static const struct ts_column columns[] = {
		{ "kernel_type", TS_MEASURED, "what runs" },
		{ "sum_ps", TS_MEASURED, "time" },
		{ "share_pct", TS_MEASURED, "of the busy time" },
		{ "sum_us", TS_MEASURED, NULL },
	};
	int64_t ps[1 << TS_NR_KERNEL_TYPES] = { 0 }, us[1 << TS_NR_KERNEL_TYPES] = { 0 }, all = 0;
	struct ts_table *table = ts_result_table(result, "kernel_types", "What runs together",
						 columns, TS_NELEM(columns));

	for (size_t i = 0; i < sum->nr_ranks; i++)
		for (unsigned set = 1; set <= ALL; set++) {
			ps[told(set)] = ts_i64_add(ps[told(set)], sum->ranks[i].ps.time[set]);
			us[told(set)] = ts_i64_add(us[told(set)], sum->ranks[i].us.time[set]);
			all = ts_i64_add(all, sum->ranks[i].ps.time[set]);
		}
	for (unsigned set = 1; set <= ALL && table; set++) {
		struct ts_value *cells;

		if (ps[set] == 0)
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		cells[0] = ts_text(set_name(result, set));
		cells[1] = ts_int(ps[set]);
		cells[2] = hta_pct(ps[set], all);
		cells[3] = ts_int(us[set]);
	}
	return table != NULL;
}

/* --- kernels */

static int by_sum(const void *a, const void *b)
{
	const struct hta_kernel *x = a, *y = b;

	if (x->spread.sum != y->spread.sum)
		return x->spread.sum > y->spread.sum ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static int by_op(const void *a, const void *b)
{
	const struct hta_kernel *x = a, *y = b;

	return (x->op > y->op) - (x->op < y->op);
}

static void put_kernel(struct ts_result *result, struct ts_table *table,
		       const struct ts_profile *profile, const struct hta_kernel *kernel,
		       struct ts_value rank, int64_t all_ps)
{
	struct ts_value *cells = ts_table_row(result, table);
	struct ts_bytes name = profile->ops[kernel->op].name;

	if (!cells)
		return;
	cells[0] = ts_text_or_null(name);
	cells[1] = ts_text(ts_bytes_of(ts_kernel_type_names[ts_kernel_type_of(name)]));
	cells[2] = ts_int((int64_t)kernel->spread.nr);
	cells[3] = ts_int(kernel->spread.sum);
	cells[4] = hta_pct(kernel->spread.sum, all_ps);
	cells[5] = ts_real(ts_spread_mean(&kernel->spread));
	cells[6] = ts_int(kernel->spread.min);
	cells[7] = ts_int(kernel->spread.max);
	cells[8] = ts_real(ts_spread_deviation(&kernel->spread));
	cells[9] = ts_int(kernel->sum_us);
	cells[10] = rank;
}

static struct ts_table *kernel_table(struct ts_result *result, const char *name, const char *title)
{
	static const struct ts_column columns[] = {
		{ "name", TS_MEASURED, "kernel" },
		{ "kernel_type", TS_MEASURED, "type" },
		{ "count", TS_MEASURED, "count" },
		{ "sum_ps", TS_MEASURED, "time" },
		{ "share_pct", TS_MEASURED, "of all kernels" },
		{ "mean_ps", TS_MEASURED, "mean" },
		{ "min_ps", TS_MEASURED, "min" },
		{ "max_ps", TS_MEASURED, "max" },
		{ "stddev_ps", TS_MEASURED, "deviation" },
		{ "sum_us", TS_MEASURED, NULL },
		{ "rank", TS_MEASURED, NULL },
	};

	return ts_result_table(result, name, title, columns, TS_NELEM(columns));
}

static int64_t sum_of(const struct hta_kernel *kernels, size_t nr)
{
	int64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum = ts_i64_add(sum, kernels[i].spread.sum);
	return sum;
}

/* The kernels of all ranks, those of one name together. NULL: no memory. */
static struct hta_kernel *gather(const struct hta_state *sum, size_t *nr)
{
	struct hta_kernel *all;
	size_t nr_all = 0, kept = 0;

	for (size_t i = 0; i < sum->nr_ranks; i++)
		nr_all += sum->ranks[i].nr_ops;
	all = malloc((nr_all + 1) * sizeof(*all));
	*nr = nr_all = 0;
	for (size_t i = 0; i < sum->nr_ranks && all; i++)
		for (size_t k = 0; k < sum->ranks[i].nr_ops; k++)
			all[nr_all++] = sum->ranks[i].kernels[k];
	if (nr_all == 0)
		return all;
	qsort(all, nr_all, sizeof(*all), by_op);
	for (size_t i = 1; i < nr_all; i++) {
		if (all[i].op != all[kept].op) {
			all[++kept] = all[i];
			continue;
		}
		ts_spread_merge(&all[kept].spread, &all[i].spread);
		all[kept].sum_us = ts_i64_add(all[kept].sum_us, all[i].sum_us);
	}
	*nr = kept + 1;
	qsort(all, *nr, sizeof(*all), by_sum);
	return all;
}

static bool put_kernels(struct ts_result *result, const struct ts_context *ctx,
			const struct hta_state *sum)
{
	struct ts_table *table = kernel_table(result, "top_kernels", "Kernels that take most");
	size_t nr;
	struct hta_kernel *all = gather(sum, &nr);
	int64_t all_ps;

	if (!table || !all) {
		free(all);
		return false;
	}
	all_ps = sum_of(all, nr);
	for (size_t i = 0; i < TS_MIN(nr, MAX_KERNELS); i++)
		put_kernel(result, table, ctx->profile, &all[i], ts_null(), all_ps);
	if (nr > MAX_KERNELS)
		ts_result_note(result,
			       "%zu more kernels by name, with %.1f %% of their time, are "
			       "not in the table.",
			       nr - MAX_KERNELS,
			       100 * (1 - (double)sum_of(all, MAX_KERNELS) / (double)all_ps));
	free(all);
	return true;
}

static bool put_rank_kernels(struct ts_result *result, const struct ts_context *ctx,
			     struct hta_state *sum)
{
	struct ts_table *table;

	if (sum->nr_ranks < 2)
		return true;
	table = kernel_table(result, "rank_kernels", NULL);
	for (size_t i = 0; i < TS_MIN(sum->nr_ranks, MAX_RANKS) && table; i++) {
		struct hta_rank *rank = &sum->ranks[i];
		int64_t all_ps = sum_of(rank->kernels, rank->nr_ops);

		if (rank->nr_ops > 0)
			qsort(rank->kernels, rank->nr_ops, sizeof(*rank->kernels), by_sum);
		for (size_t k = 0; k < TS_MIN(rank->nr_ops, MAX_RANK_KERNELS); k++)
			put_kernel(result, table, ctx->profile, &rank->kernels[k],
				   ts_int(hta_rank_number(ctx, rank)), all_ps);
	}
	return table != NULL;
}

/* --- streams */

static int64_t idle_of(const struct hta_stream *stream)
{
	int64_t sum = 0;

	for (int i = 0; i < HTA_NR_IDLE; i++)
		sum = ts_i64_add(sum, stream->idle_ps[i]);
	return sum;
}

static bool put_idle(struct ts_result *result, const struct ts_context *ctx,
		     const struct hta_state *sum)
{
	static const struct ts_column columns[] = {
		{ "rank", TS_MEASURED, "rank" },
		{ "stream", TS_MEASURED, "stream" },
		{ "idle_ps", TS_MEASURED, "between kernels" },
		{ "host_wait_ps", TS_MEASURED, "waits for the host" },
		{ "host_wait_pct", TS_MEASURED, NULL },
		{ "kernel_wait_ps", TS_MEASURED, "between launches" },
		{ "kernel_wait_pct", TS_MEASURED, NULL },
		{ "other_wait_ps", TS_MEASURED, "other" },
		{ "other_wait_pct", TS_MEASURED, NULL },
		{ "host_wait_count", TS_MEASURED, NULL },
		{ "kernel_wait_count", TS_MEASURED, NULL },
		{ "other_wait_count", TS_MEASURED, NULL },
	};
	struct ts_table *table =
		ts_result_table(result, "idle", "Why streams are idle", columns, TS_NELEM(columns));

	for (size_t i = 0; i < sum->nr_streams && table; i++) {
		const struct hta_stream *stream = &sum->streams[i];
		int64_t idle_ps = idle_of(stream);
		struct ts_value *cells;

		if (!stream->begun)
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		cells[0] = ts_int(hta_rank_number(ctx, &sum->ranks[stream->rank]));
		cells[1] = ts_text_or_null(ctx->profile->lines[stream->line].name);
		cells[2] = ts_int(idle_ps);
		for (int k = 0; k < HTA_NR_IDLE; k++) {
			cells[3 + 2 * k] = ts_int(stream->idle_ps[k]);
			cells[4 + 2 * k] = hta_pct(stream->idle_ps[k], idle_ps);
			cells[9 + k] = ts_int((int64_t)stream->nr_idle[k]);
		}
	}
	return table != NULL;
}

static void fill_queue(struct ts_value *cells, const struct hta_queue *queue)
{
	double n = (double)queue->nr, mean = queue->sum / n;
	double time = (double)(queue->last_ps - queue->first_ps);

	cells[0] = ts_int((int64_t)queue->nr);
	cells[1] = ts_real(mean);
	cells[2] = queue->nr > 1
			   ? ts_real(sqrt(fmax(0, queue->squares - n * mean * mean) / (n - 1)))
			   : ts_null();
	cells[3] = ts_int(hta_queue_percentile(queue, 0.5));
	cells[4] = ts_int(hta_queue_percentile(queue, 0.75));
	cells[5] = ts_int(queue->max);
	cells[6] = time > 0 ? ts_real(queue->length_ps / time) : ts_null();
	cells[7] = ts_int(queue->queued_ps);
	cells[8] = ts_int(queue->full_ps);
	cells[9] = hta_pct(queue->full_ps, queue->last_ps - queue->first_ps);
}

static bool put_queues(struct ts_result *result, const struct ts_context *ctx,
		       const struct hta_state *sum)
{
	static const struct ts_column columns[] = {
		{ "rank", TS_MEASURED, "rank" },
		{ "stream", TS_MEASURED, "stream" },
		{ "changes", TS_MEASURED, NULL },
		{ "mean", TS_MEASURED, "mean length" },
		{ "stddev", TS_MEASURED, NULL },
		{ "median", TS_MEASURED, "median" },
		{ "p75", TS_MEASURED, "75 %" },
		{ "max", TS_MEASURED, "most" },
		{ "time_mean", TS_MEASURED, "mean over time" },
		{ "queued_ps", TS_MEASURED, "not empty" },
		{ "full_ps", TS_MEASURED, "full" },
		{ "full_pct", TS_MEASURED, NULL },
	};
	struct ts_table *table = ts_result_table(result, "queues", "Launches waiting on streams",
						 columns, TS_NELEM(columns));

	for (size_t i = 0; i < sum->nr_streams && table; i++) {
		const struct hta_stream *stream = &sum->streams[i];
		struct ts_value *cells;

		if (stream->queue.nr == 0)
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		cells[0] = ts_int(hta_rank_number(ctx, &sum->ranks[stream->rank]));
		cells[1] = ts_text_or_null(ctx->profile->lines[stream->line].name);
		fill_queue(&cells[2], &stream->queue);
	}
	return table != NULL;
}

/* --- launches */

static void fill_spread(struct ts_value *cells, const struct ts_spread *spread)
{
	cells[0] = ts_int(spread->sum);
	cells[1] = ts_real(ts_spread_mean(spread));
	cells[2] = ts_int(ts_spread_percentile(spread, 0.5));
	cells[3] = ts_int(ts_spread_percentile(spread, 0.9));
	cells[4] = ts_int(ts_spread_percentile(spread, 0.99));
	cells[5] = ts_int(spread->max);
}

static bool put_launches(struct ts_result *result, const struct ts_context *ctx,
			 const struct hta_state *sum)
{
#define SPREAD(name, mean, most)                                                                 \
	{ name "_sum_ps", TS_MEASURED, NULL }, { name "_mean_ps", TS_MEASURED, mean },           \
		{ name "_median_ps", TS_MEASURED, NULL }, { name "_p90_ps", TS_MEASURED, NULL }, \
		{ name "_p99_ps", TS_MEASURED, NULL },                                           \
	{                                                                                        \
		name "_max_ps", TS_MEASURED, most                                                \
	}
	static const struct ts_column columns[] = {
		{ "rank", TS_MEASURED, "rank" },
		{ "call", TS_MEASURED, "call" },
		{ "count", TS_MEASURED, "count" },
		SPREAD("cpu", "on the host", "longest"),
		SPREAD("gpu", "its kernel", NULL),
		SPREAD("delay", "delay", "longest delay"),
		{ "short_kernels", TS_MEASURED, "kernel shorter than call" },
		{ "runtime_outliers", TS_MEASURED, "calls over 50 us" },
		{ "delay_outliers", TS_MEASURED, "delays over 100 us" },
	};
	struct ts_table *table =
		ts_result_table(result, "launches", "Launches", columns, TS_NELEM(columns));

	for (size_t i = 0; i < sum->nr_ranks && table; i++)
		for (size_t k = 0; k < sum->ranks[i].nr_calls; k++) {
			const struct hta_call *call = &sum->ranks[i].calls[k];
			struct ts_value *cells = ts_table_row(result, table);

			if (!cells)
				return false;
			cells[0] = ts_int(hta_rank_number(ctx, &sum->ranks[i]));
			cells[1] = ts_text_or_null(ctx->profile->ops[call->op].name);
			cells[2] = ts_int((int64_t)call->cpu.nr);
			fill_spread(&cells[3], &call->cpu);
			fill_spread(&cells[9], &call->gpu);
			fill_spread(&cells[15], &call->delay);
			cells[21] = ts_int((int64_t)call->nr_short);
			cells[22] = ts_int((int64_t)call->nr_slow);
			cells[23] = ts_int((int64_t)call->nr_late);
		}
	return table != NULL;
}

/* On the first of the rank's devices. */
static bool put_tracks(struct ts_result *result, const struct ts_context *ctx,
		       const struct hta_state *sum)
{
	for (size_t i = 0; i < sum->nr_streams; i++) {
		struct hta_rank *rank = &sum->ranks[sum->streams[i].rank];
		const struct ts_line *line = &ctx->profile->lines[sum->streams[i].line];
		struct ts_track *track;

		if (!rank->queued || rank->queued->nr == 0)
			continue;
		track = ts_result_track(result, TS_TRACK_COUNTER, "Launch queue (launches)",
					ctx->profile->planes[line->plane].device, ORDER);
		if (!track)
			return false;
		track->unit = "launches";
		track->description = "launches whose kernels did not begin, of all streams";
		if (!ts_bins_finish(rank->queued, result, track, 1))
			return false;
		rank->queued->nr = 0; /* said once */
	}
	return true;
}

static void put_notes(struct ts_result *result, const struct figures *all)
{
	double rounded = 100 * (double)all->idle_us / (double)all->kernel_us;
	double exact = 100 * (double)all->idle_ps / (double)all->kernel_ps;

	if (all->kernel_us > 0 && fabs(rounded - exact) > 0.01)
		ts_result_note(result,
			       "HTA makes whole us of the trace's times, which shortens every "
			       "kernel: it says that %.2f %% of the time is idle, the trace "
			       "%.2f %%.",
			       rounded, exact);
	if (all->nr_late > 0)
		ts_result_note(result,
			       "%llu kernels launched in the last profiler step are left out, as "
			       "by HTA: the profile ends before it does.",
			       (unsigned long long)all->nr_late);
	if (all->nr_unlaunched > 0 && all->nr_late > 0)
		ts_result_note(result,
			       "%llu kernels have no launch in the trace. HTA leaves them out "
			       "where there are steps; all but its figures have them.",
			       (unsigned long long)all->nr_unlaunched);
}

static bool is_trace_of_hosts(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_hosts; i++)
		if (profile->hosts[i].trace_start_ns != TS_UNKNOWN && profile->nr_devices == 0)
			return true;
	return false;
}

/* A trace of hosts alone, on which HTA stops: nothing ran on a GPU. */
static void put_nothing(struct ts_result *result, const struct ts_context *ctx)
{
	if (!ctx->merged || !is_trace_of_hosts(ctx->profile))
		return;
	ts_result_field(result, "rank_count", ts_int((int64_t)ctx->profile->nr_hosts), TS_MEASURED,
			"ranks");
	ts_result_field(result, "gpu_idle_time_pct", ts_null(), TS_MEASURED, "GPU idle");
	ts_result_field(result, "kernel_count", ts_int(0), TS_MEASURED, "kernels");
	ts_result_note(result, "No kernel ran on a GPU while this trace was taken.");
}

enum ts_status hta_report(struct hta_state *sum, const struct ts_context *ctx,
			  struct ts_result *result, struct ts_error *err)
{
	struct figures all = { 0 };
	bool good;

	for (size_t i = 0; i < sum->nr_ranks; i++) {
		const struct figures one = figures_of(&sum->ranks[i]);

		add(&all, &one);
	}
	if (all.nr_kernels == 0) {
		put_nothing(result, ctx);
		return TS_OK;
	}
	put_fields(result, &all, sum->nr_ranks);
	good = put_ranks(result, ctx, sum) && put_types(result, sum) &&
	       put_kernels(result, ctx, sum) && put_rank_kernels(result, ctx, sum) &&
	       put_idle(result, ctx, sum) && put_launches(result, ctx, sum) &&
	       put_queues(result, ctx, sum) && hta_put_collectives(result, ctx, sum) &&
	       hta_put_stragglers(result, ctx, sum) && hta_put_sequences(result, ctx, sum) &&
	       put_tracks(result, ctx, sum);
	put_notes(result, &all);
	return good ? TS_OK : ts_fail_nomem(err);
}
