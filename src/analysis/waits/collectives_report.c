/* What the analysis of collectives says: a row an op, and a row a core. */
#include "analysis/waits/collectives.h"

#include <inttypes.h>

enum {
	COL_PROGRAM_ID,
	COL_MODULE,
	COL_NAME,
	COL_KIND,
	COL_GROUP,
	COL_GROUPS,
	COL_OPERAND,
	COL_OUTPUT,
	COL_BYTES,
	COL_OCCURRENCES,
	COL_TOTAL,
	COL_EXPOSED,
	COL_HIDDEN,
	COL_HIDDEN_SHARE,
	COL_RATE,
	COL_BUS,
	COL_LINK,
	COL_LINK_SHARE,
	COL_MATCHED,
	COL_MEAN_SKEW,
	COL_MAX_SKEW,
	COL_WAIT,
	COL_STRAGGLER,
	COL_HOST,
	COL_DEVICE,
	COL_LAST,
	COL_COST,
	COL_EXCESS,
	COL_SOURCE,
	COL_OP,
	NR_COLS
};

static const struct ts_column columns[NR_COLS] = {
	[COL_PROGRAM_ID] = { "program_id", TS_MEASURED, NULL },
	[COL_MODULE] = { "module", TS_MEASURED, NULL },
	[COL_NAME] = { "name", TS_MEASURED, "collective" },
	[COL_KIND] = { "kind", TS_COMPILED, "kind" },
	[COL_GROUP] = { "group_size", TS_COMPILED, NULL },
	[COL_GROUPS] = { "groups", TS_DERIVED, NULL },
	[COL_OPERAND] = { "operand_bytes", TS_COMPILED, NULL },
	[COL_OUTPUT] = { "output_bytes", TS_COMPILED, NULL },
	[COL_BYTES] = { "bytes", TS_COMPILED, "bytes" },
	[COL_OCCURRENCES] = { "occurrences", TS_MEASURED, "count" },
	[COL_TOTAL] = { "total_time_ps", TS_MEASURED, NULL },
	[COL_EXPOSED] = { "exposed_ps", TS_MEASURED, "exposed" },
	[COL_HIDDEN] = { "hidden_ps", TS_MEASURED, "hidden" },
	[COL_HIDDEN_SHARE] = { "hidden_pct", TS_MEASURED, NULL },
	[COL_RATE] = { "algorithm_bytes_per_s", TS_MODELLED, NULL },
	[COL_BUS] = { "bus_bytes_per_s", TS_MODELLED, "on the links" },
	[COL_LINK] = { "link_bytes_per_s", TS_MODELLED, NULL },
	[COL_LINK_SHARE] = { "link_pct", TS_MODELLED, "of a link" },
	[COL_MATCHED] = { "matched_count", TS_MEASURED, NULL },
	[COL_MEAN_SKEW] = { "mean_skew_ps", TS_MEASURED, "mean skew" },
	[COL_MAX_SKEW] = { "max_skew_ps", TS_MEASURED, NULL },
	[COL_WAIT] = { "wait_ps", TS_MEASURED, NULL },
	[COL_STRAGGLER] = { "straggler", TS_MEASURED, "last to come" },
	[COL_HOST] = { "straggler_host", TS_MEASURED, NULL },
	[COL_DEVICE] = { "straggler_device_id", TS_DERIVED, NULL },
	[COL_LAST] = { "straggler_last_pct", TS_MEASURED, NULL },
	[COL_COST] = { "straggler_cost_ps", TS_MEASURED, NULL },
	[COL_EXCESS] = { "straggler_excess_ps", TS_MEASURED, NULL },
	[COL_SOURCE] = { "source", TS_MEASURED, NULL },
	[COL_OP] = { "op_index", TS_DERIVED, NULL },
};

struct row {
	uint32_t op;
	struct collective_op what;
	struct ts_async_seen sum; /* over cores */
	size_t nr_cores;
	uint32_t device; /* the first that ran it */
	struct collective_skew skew;
	bool is_unmatched; /* its groups are smaller than the run, and nobody knows who is in which */
	struct ts_bytes groups; /* "{0,1},{2,3}" where they were found out; devices */
};

struct report {
	struct collectives_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct row *rows;
	size_t nr_rows;
	struct collective_core *all;   /* over all collectives, one a device */
	struct collective_core *cores; /* of each row, one a device */
	struct collective_seen **seen; /* scratch: a slot on each device */
	struct collective_seen **some; /* scratch: those of a group */
	uint32_t *group;	       /* scratch: of each device, the first of its group */
	bool failed;
};

static void add_core(struct collective_core *to, const struct collective_core *from)
{
	to->nr_matched += from->nr_matched;
	to->nr_last += from->nr_last;
	to->caused_ps = ts_i64_add(to->caused_ps, from->caused_ps);
	to->excess_ps = ts_i64_add(to->excess_ps, from->excess_ps);
	to->waited_ps = ts_i64_add(to->waited_ps, from->waited_ps);
}

static void gather(struct report *report, uint32_t slot, struct row *row)
{
	struct collectives_state *sum = report->sum;

	for (uint32_t i = 0; i < sum->nr_devices; i++) {
		struct collective_seen *seen = &sum->seen[i * sum->slots.nr + slot];

		report->seen[i] = seen;
		if (seen->async.occurrences == 0 && seen->async.exposed_ps == 0)
			continue;
		if (row->nr_cores++ == 0)
			row->device = i;
		ts_async_merge(&row->sum, &seen->async);
	}
}

/* Does every core that ran it wait for every other? */
static bool is_common(const struct row *row)
{
	if (ts_bytes_starts(row->what.kind, "collective-permute") ||
	    ts_bytes_starts(row->what.kind, "send") || ts_bytes_starts(row->what.kind, "recv"))
		return false;
	return row->what.group_size < 0 || (uint64_t)row->what.group_size == row->nr_cores;
}

/* One group matched within itself; the others' cores stand aside. */
static void match_group(struct report *report, uint32_t first, struct row *row)
{
	static struct collective_seen nobody; /* never written: it took no part */
	size_t nr = report->sum->nr_devices;

	for (size_t i = 0; i < nr; i++)
		report->some[i] = report->group[i] == first ? report->seen[i] : &nobody;
	collective_match(report->some, nr, report->sum->is_cut, &row->skew);
}

static void print_groups(struct report *report, struct row *row)
{
	size_t nr = report->sum->nr_devices;
	struct ts_buf out = TS_BUF_INIT;

	for (uint32_t first = 0; first < nr; first++) {
		if (report->group[first] != first)
			continue;
		ts_buf_puts(&out, out.n ? ",{" : "{");
		for (uint32_t i = first; i < nr; i++)
			if (report->group[i] == first)
				ts_buf_printf(&out, i == first ? "%" PRIu32 : ",%" PRIu32, i);
		ts_buf_putc(&out, '}');
	}
	row->groups = ts_arena_copy(&report->result->owner->arena, ts_buf_bytes(&out));
	report->failed |= out.failed || !row->groups.p;
	ts_buf_release(&out);
}

/* Who waits for whom: all for all, or group by group where the groups can be told. */
static void match(struct report *report, struct row *row)
{
	size_t nr = report->sum->nr_devices;
	enum collective_grouped found;

	row->is_unmatched = row->nr_cores > 1 && !is_common(row);
	if (!row->is_unmatched) {
		collective_match(report->seen, nr, report->sum->is_cut, &row->skew);
		return;
	}
	found = report->sum->is_cut
			? COLLECTIVE_UNGROUPED
			: collective_groups(report->seen, nr, row->what.group_size, report->group);
	report->failed |= found == COLLECTIVE_NOMEM;
	if (found != COLLECTIVE_GROUPED)
		return;
	row->is_unmatched = false;
	for (uint32_t i = 0; i < nr; i++)
		if (report->group[i] == i)
			match_group(report, i, row);
	print_groups(report, row);
}

static void read_slot(struct report *report, uint32_t slot)
{
	struct row *row = &report->rows[report->nr_rows];
	size_t nr_devices = report->sum->nr_devices;

	*row = (struct row){ .op = report->sum->slots.op[slot] };
	gather(report, slot, row);
	if (row->nr_cores == 0)
		return;
	row->what = collective_op_of(report->ctx->profile, &report->ctx->profile->ops[row->op]);
	row->skew.cores = &report->cores[report->nr_rows * nr_devices];
	match(report, row);
	for (size_t i = 0; i < nr_devices; i++)
		add_core(&report->all[i], &row->skew.cores[i]);
	report->nr_rows++;
}

static int by_exposed(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->sum.exposed_ps != y->sum.exposed_ps)
		return x->sum.exposed_ps > y->sum.exposed_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* A GPU's streams run side by side: what stands beside a kernel is seen in the time buckets only. */
static void put_hidden(struct ts_value *cells, const struct row *row)
{
	int64_t hidden_ps = ts_i64_sub(row->sum.interval_ps, row->sum.exposed_ps);

	cells[COL_EXPOSED] = ts_int(row->sum.exposed_ps);
	cells[COL_HIDDEN] = ts_int(hidden_ps);
	cells[COL_HIDDEN_SHARE] = ts_share_pct((double)hidden_ps / (double)row->sum.interval_ps);
}

static void put_times(struct ts_value *cells, const struct row *row, const struct ts_rates *rates)
{
	const struct ts_async_seen *sum = &row->sum;
	double seconds = (double)sum->interval_ps * 1e-12, rate = NAN;

	if (row->what.bytes > 0)
		rate = (double)row->what.bytes * (double)sum->occurrences / seconds;
	cells[COL_OCCURRENCES] = ts_int(sum->occurrences);
	cells[COL_TOTAL] = ts_int(sum->interval_ps);
	cells[COL_RATE] = ts_real(rate);
	cells[COL_BUS] = ts_real(rate * row->what.bus_factor);
	cells[COL_LINK] = ts_real(rates->link_bytes_per_s);
	cells[COL_LINK_SHARE] = ts_share_pct(rate * row->what.bus_factor / rates->link_bytes_per_s);
}

static void put_skew(struct ts_value *cells, const struct report *report, const struct row *row)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct collective_skew *skew = &row->skew;
	uint32_t late = collective_straggler(skew->cores, report->sum->nr_devices);

	if (skew->nr_matched == 0)
		return;
	cells[COL_MATCHED] = ts_int(skew->nr_matched);
	cells[COL_MEAN_SKEW] = ts_int(skew->sum_ps / skew->nr_matched);
	cells[COL_MAX_SKEW] = ts_int(skew->max_ps);
	cells[COL_WAIT] = ts_int(skew->wait_ps);
	if (late == TS_NONE)
		return;
	cells[COL_STRAGGLER] = ts_text(profile->devices[late].name);
	cells[COL_HOST] = ts_text_or_null(profile->hosts[profile->devices[late].host].name);
	cells[COL_DEVICE] = ts_int(late);
	cells[COL_LAST] = ts_share_pct((double)skew->cores[late].nr_last /
				       (double)skew->cores[late].nr_matched);
	cells[COL_COST] = ts_int(skew->cores[late].caused_ps);
	cells[COL_EXCESS] = ts_int(skew->cores[late].excess_ps);
}

static bool put_row(const struct report *report, struct ts_table *table, const struct row *row)
{
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_op *op = &profile->ops[row->op];
	struct ts_value *cells = ts_table_row(report->result, table);

	if (!cells)
		return false;
	cells[COL_PROGRAM_ID] = op->has_program ? ts_id(op->program_id) : ts_null();
	if (op->module != TS_NONE)
		cells[COL_MODULE] = ts_text_or_null(profile->modules[op->module].name);
	cells[COL_NAME] = ts_text(op->name);
	cells[COL_KIND] = ts_text_or_null(row->what.kind);
	cells[COL_GROUP] = ts_int_or_null(row->what.group_size);
	cells[COL_GROUPS] = ts_text_or_null(row->groups);
	cells[COL_OPERAND] = ts_int_or_null(row->what.operand_bytes);
	cells[COL_OUTPUT] = ts_int_or_null(row->what.output_bytes);
	cells[COL_BYTES] = ts_int_or_null(row->what.bytes);
	put_times(cells, row, &report->ctx->rates[row->device]);
	if (!op->is_traced)
		put_hidden(cells, row);
	put_skew(cells, report, row);
	cells[COL_SOURCE] = ts_text_or_null(op->source);
	cells[COL_OP] = ts_int(row->op);
	return true;
}

static bool put_rows(const struct report *report)
{
	struct ts_table *table = ts_result_table(report->result, "collectives",
						 "Collectives by exposed time", columns, NR_COLS);
	size_t nr_unmatched = 0;
	bool good = table != NULL;

	for (size_t i = 0; i < report->nr_rows && good; i++) {
		nr_unmatched += report->rows[i].is_unmatched;
		good = put_row(report, table, &report->rows[i]);
	}
	if (nr_unmatched > 0)
		ts_result_note(report->result,
			       "of %zu collectives not all cores wait for all, and their "
			       "groups cannot be told from the times: who was late is not known",
			       nr_unmatched);
	if (report->sum->is_cut)
		ts_result_note(report->result,
			       "arrivals at collectives are compared up to the first %d "
			       "of the run",
			       COLLECTIVES_MAX_INSTANCES);
	return good;
}

static const struct ts_column core_columns[] = {
	{ "device", TS_MEASURED, "device" },
	{ "host", TS_MEASURED, "host" },
	{ "device_id", TS_DERIVED, NULL },
	{ "matched_count", TS_MEASURED, "collectives" },
	{ "last_count", TS_MEASURED, "came last" },
	{ "last_pct", TS_MEASURED, "of them" },
	{ "cost_ps", TS_MEASURED, "others waited" },
	{ "excess_ps", TS_MEASURED, NULL },
	{ "waited_ps", TS_MEASURED, "waited itself" },
};

static bool put_cores(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table =
		ts_result_table(report->result, "collective_cores", "Arrival at collectives",
				core_columns, TS_NELEM(core_columns));

	for (uint32_t i = 0; table && i < report->sum->nr_devices; i++) {
		const struct collective_core *core = &report->all[i];
		struct ts_value *cells =
			core->nr_matched ? ts_table_row(report->result, table) : NULL;

		if (!cells)
			continue;
		cells[0] = ts_text(profile->devices[i].name);
		cells[1] = ts_text_or_null(profile->hosts[profile->devices[i].host].name);
		cells[2] = ts_int(i);
		cells[3] = ts_int(core->nr_matched);
		cells[4] = ts_int(core->nr_last);
		cells[5] = ts_share_pct((double)core->nr_last / (double)core->nr_matched);
		cells[6] = ts_int(core->caused_ps);
		cells[7] = ts_int(core->excess_ps);
		cells[8] = ts_int(core->waited_ps);
	}
	return table != NULL;
}

enum ts_status collectives_report(struct collectives_state *sum, const struct ts_context *ctx,
				  struct ts_result *result, struct ts_error *err)
{
	size_t nr_slots = sum->slots.nr, nr_devices = sum->nr_devices;
	struct report report = {
		.sum = sum,
		.ctx = ctx,
		.result = result,
		.rows = calloc(nr_slots + 1, sizeof(*report.rows)),
		.all = calloc(nr_devices + 1, sizeof(*report.all)),
		.cores = calloc(nr_slots * nr_devices + 1, sizeof(*report.cores)),
		.seen = calloc(nr_devices + 1, sizeof(struct collective_seen *)),
		.some = calloc(nr_devices + 1, sizeof(struct collective_seen *)),
		.group = calloc(nr_devices + 1, sizeof(*report.group)),
	};
	bool good = report.rows && report.all && report.cores && report.seen && report.some &&
		    report.group;

	for (uint32_t i = 0; good && i < nr_slots; i++)
		read_slot(&report, i);
	if (good && report.nr_rows > 1)
		qsort(report.rows, report.nr_rows, sizeof(*report.rows), by_exposed);
	good = good && !report.failed && put_rows(&report) && put_cores(&report);
	free(report.rows);
	free(report.all);
	free(report.cores);
	free(report.seen);
	free(report.some);
	free(report.group);
	return good ? TS_OK : ts_fail_nomem(err);
}
