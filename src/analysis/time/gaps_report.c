/* What the gaps analysis says: columns of time.idle_gaps and time.steps_outliers that were left
 * open for it, and the gaps summed up by host event. */
#include "analysis/time/gaps.h"

#define MAX_EVENTS 32 /* rows by host event */

static struct ts_bytes name_of(const struct ts_context *ctx, const struct gap_witness *witness)
{
	return witness->rank ? ctx->profile->ops[witness->op].name : (struct ts_bytes){ NULL, 0 };
}

static struct ts_bytes thread_of(const struct ts_context *ctx, const struct gap_witness *witness)
{
	return witness->rank ? ctx->profile->lines[witness->line].name
			     : (struct ts_bytes){ NULL, 0 };
}

static void put_cell(struct ts_table *table, size_t row, const char *column, struct ts_bytes text)
{
	int at = ts_table_column(table, column);

	if (at >= 0)
		table->cells[row * table->nr_columns + (size_t)at] = ts_text_or_null(text);
}

static void put_witnesses(const struct gaps_state *sum, const struct ts_context *ctx,
			  struct ts_table *table, size_t row, size_t gap)
{
	put_cell(table, row, "host_event", name_of(ctx, &sum->in[gap]));
	put_cell(table, row, "host_thread", thread_of(ctx, &sum->in[gap]));
	put_cell(table, row, "ended_by", name_of(ctx, &sum->ended[gap]));
}

static struct ts_table *table_of(struct ts_result *time, const char *name)
{
	for (size_t i = 0; time && i < time->nr_tables; i++)
		if (strcmp(time->tables[i].name, name) == 0)
			return &time->tables[i];
	return NULL;
}

/* A slow step has the words of its longest gap, where that one is listed. */
static void fill_steps(const struct gaps_state *sum, const struct ts_context *ctx,
		       const struct ts_table *gaps, struct ts_table *steps)
{
	for (size_t i = 0; steps && i < steps->nr_rows; i++) {
		int64_t device = ts_cell_int(steps, i, "gap_device_id");
		int64_t start_ps = ts_cell_int(steps, i, "gap_start_ps");

		for (size_t g = 0; device >= 0 && g < gaps->nr_rows; g++)
			if (ts_cell_int(gaps, g, "device_id") == device &&
			    ts_cell_int(gaps, g, "start_ps") == start_ps) {
				put_witnesses(sum, ctx, steps, i, g);
				break;
			}
	}
}

/* The gaps that passed in one host event. */
struct group {
	struct ts_bytes event, thread, cause, ended;
	int64_t count, total_ps, longest_ps;
	uint32_t device; /* of the longest */
	int64_t start_ps;
};

static void add_gap(struct group *groups, size_t *nr, const struct ts_table *gaps, size_t row)
{
	struct ts_bytes event = ts_cell_text(gaps, row, "host_event");
	int64_t length_ps = ts_cell_int(gaps, row, "duration_ps");
	struct group *group = groups;

	while (group < groups + *nr && !ts_bytes_eq(group->event, event))
		group++;
	if (group == groups + *nr) { /* rows come longest first */
		*group = (struct group){
			.event = event,
			.thread = ts_cell_text(gaps, row, "host_thread"),
			.cause = ts_cell_text(gaps, row, "cause"),
			.ended = ts_cell_text(gaps, row, "ended_by"),
			.longest_ps = length_ps,
			.device = (uint32_t)ts_cell_int(gaps, row, "device_id"),
			.start_ps = ts_cell_int(gaps, row, "start_ps"),
		};
		(*nr)++;
	}
	group->count++;
	group->total_ps = ts_i64_add(group->total_ps, length_ps);
}

static int costliest_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->total_ps != y->total_ps)
		return x->total_ps > y->total_ps ? -1 : 1;
	return ts_bytes_cmp(x->event, y->event);
}

static const struct ts_column columns[] = {
	{ "host_event", TS_MEASURED, "host was in" },
	{ "host_thread", TS_MEASURED, "thread" },
	{ "count", TS_MEASURED, "gaps" },
	{ "total_ps", TS_MEASURED, "core time" },
	{ "longest_ps", TS_MEASURED, "longest" },
	{ "cause", TS_MEASURED, "under" },
	{ "ended_by", TS_MEASURED, "ended by" },
	{ "start_ps", TS_MEASURED, NULL },
	{ "device_id", TS_DERIVED, NULL },
};

static bool put_groups(const struct group *groups, size_t nr, struct ts_result *result)
{
	struct ts_table *table = ts_result_table(
		result, "gaps_by_event", "Longest gaps by host event", columns, TS_NELEM(columns));

	for (size_t i = 0; table && i < TS_MIN(nr, MAX_EVENTS); i++) {
		struct ts_value *row = ts_table_row(result, table);

		if (!row)
			return false;
		row[0] = ts_text_or_null(groups[i].event);
		row[1] = ts_text_or_null(groups[i].thread);
		row[2] = ts_int(groups[i].count);
		row[3] = ts_int(groups[i].total_ps);
		row[4] = ts_int(groups[i].longest_ps);
		row[5] = ts_text_or_null(groups[i].cause);
		row[6] = ts_text_or_null(groups[i].ended);
		row[7] = ts_int(groups[i].start_ps);
		row[8] = ts_int(groups[i].device);
	}
	return table != NULL;
}

static void put_fields(const struct ts_result *time, const struct group *groups, size_t nr,
		       struct ts_result *result)
{
	static const char *const buckets[] = { "buckets.compilation_ps", "buckets.input_ps",
					       "buckets.idle_ps" };
	int64_t all_ps = 0, listed_ps = 0, explained_ps = 0;
	bool known = true;

	for (size_t i = 0; i < TS_NELEM(buckets); i++) {
		int64_t ps = ts_value_int(ts_result_get(time, buckets[i]));

		known &= ps >= 0;
		all_ps = ts_i64_add(all_ps, TS_MAX(ps, 0));
	}
	for (size_t i = 0; i < nr; i++) {
		listed_ps = ts_i64_add(listed_ps, groups[i].total_ps);
		if (groups[i].event.n > 0)
			explained_ps = ts_i64_add(explained_ps, groups[i].total_ps);
	}
	ts_result_field(result, "gap_ps", known ? ts_int(all_ps) : ts_null(), TS_MEASURED,
			"core time without an op");
	ts_result_field(result, "listed_ps", ts_int(listed_ps), TS_MEASURED, "in the listed gaps");
	ts_result_field(result, "explained_ps", ts_int(explained_ps), TS_MEASURED,
			"of these under a host event");
}

enum ts_status gaps_report(struct gaps_state *sum, const struct ts_context *ctx,
			   struct ts_result *result, struct ts_error *err)
{
	struct ts_result *time = ts_results_edit(ctx->results, "time");
	struct ts_table *gaps = table_of(time, "idle_gaps");
	struct group *groups = calloc(sum->nr_rows + 1, sizeof(*groups));
	size_t nr = 0;
	bool good;

	if (!groups)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < gaps->nr_rows; i++) {
		put_witnesses(sum, ctx, gaps, i, i);
		add_gap(groups, &nr, gaps, i);
	}
	fill_steps(sum, ctx, gaps, table_of(time, "steps_outliers"));
	if (nr > 1)
		qsort(groups, nr, sizeof(*groups), costliest_first);
	put_fields(time, groups, nr, result);
	good = put_groups(groups, nr, result);
	free(groups);
	return good ? TS_OK : ts_fail_nomem(err);
}
