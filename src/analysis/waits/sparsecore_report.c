/* What SparseCores did, what was waited for them, and what the same work would cost a TensorCore. */
#include "analysis/waits/sparsecore.h"

#include "model/cost.h"
#include "model/op_kind.h"

#define MAX_OPS		1000
#define MAX_ESTIMATE_PS 4e18 /* more is no time, and no int64_t */
#define TRACK_ORDER	60   /* below the rows of the TensorCore itself */

enum { CORE_NAME, CORE_HOST, CORE_DEVICE, CORE_BUSY, CORE_SHARE, CORE_MODULES, NR_CORE_COLS };
static const struct ts_column core_columns[NR_CORE_COLS] = {
	[CORE_NAME] = { "name", TS_MEASURED, "SparseCore" },
	[CORE_HOST] = { "host", TS_MEASURED, NULL },
	[CORE_DEVICE] = { "device_id", TS_DERIVED, NULL },
	[CORE_BUSY] = { "busy_ps", TS_MEASURED, "busy" },
	[CORE_SHARE] = { "busy_pct", TS_MEASURED, "of the run" },
	[CORE_MODULES] = { "module_count", TS_MEASURED, "offloads" },
};

enum { WAIT_DEVICE, WAIT_NAME, WAIT_COUNT, WAIT_EXPOSED, WAIT_HIDDEN, WAIT_SHARE, NR_WAIT_COLS };
static const struct ts_column wait_columns[NR_WAIT_COLS] = {
	[WAIT_DEVICE] = { "device_id", TS_DERIVED, NULL },
	[WAIT_NAME] = { "device", TS_MEASURED, "TensorCore" },
	[WAIT_COUNT] = { "executions", TS_MEASURED, "offloads" },
	[WAIT_EXPOSED] = { "exposed_wait_ps", TS_MEASURED, "waited" },
	[WAIT_HIDDEN] = { "hidden_ps", TS_MEASURED, "hidden" },
	[WAIT_SHARE] = { "exposed_wait_pct", TS_MEASURED, "of the run" },
};

enum { OP_NAME, OP_CATEGORY, OP_COUNT, OP_SELF, OP_SHARE, OP_BYTES, OP_INDEX, NR_OP_COLS };
static const struct ts_column op_columns[NR_OP_COLS] = {
	[OP_NAME] = { "name", TS_MEASURED, "op" },
	[OP_CATEGORY] = { "category", TS_MEASURED, "category" },
	[OP_COUNT] = { "occurrences", TS_MEASURED, "count" },
	[OP_SELF] = { "self_time_ps", TS_MEASURED, "self" },
	[OP_SHARE] = { "busy_pct", TS_MEASURED, "of busy" },
	[OP_BYTES] = { "bytes_accessed", TS_MEASURED, "bytes" },
	[OP_INDEX] = { "op_index", TS_DERIVED, NULL },
};

enum {
	ROW_OP,
	ROW_DONE,
	ROW_MODULE,
	ROW_EXECUTIONS,
	ROW_WORK,
	ROW_EXPOSED,
	ROW_HIDDEN,
	ROW_ESTIMATE,
	ROW_LOSS,
	ROW_LINK,
	ROW_SOURCE,
	ROW_INDEX,
	NR_ROW_COLS
};
static const struct ts_column row_columns[NR_ROW_COLS] = {
	[ROW_OP] = { "op", TS_MEASURED, "op" },
	[ROW_DONE] = { "done", TS_MEASURED, NULL },
	[ROW_MODULE] = { "module", TS_MEASURED, NULL },
	[ROW_EXECUTIONS] = { "executions", TS_MEASURED, "count" },
	[ROW_WORK] = { "sparsecore_ps", TS_MEASURED, "on SparseCores" },
	[ROW_EXPOSED] = { "exposed_wait_ps", TS_MEASURED, "waited" },
	[ROW_HIDDEN] = { "hidden_ps", TS_MEASURED, "hidden" },
	[ROW_ESTIMATE] = { "tensorcore_estimate_ps", TS_MODELLED, "on TensorCores" },
	[ROW_LOSS] = { "loss_ps", TS_MODELLED, "loss" },
	[ROW_LINK] = { "linked_by", TS_DERIVED, "linked by" },
	[ROW_SOURCE] = { "source", TS_MEASURED, NULL },
	[ROW_INDEX] = { "op_index", TS_DERIVED, NULL },
};

struct report {
	struct sparsecore_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
	struct sparsecore_offload *offloads, *devices;
	int64_t busy_ps, exposed_ps, hidden_ps, loss_ps;
	size_t nr_cores, nr_rows;
};

static int64_t wall_ps(const struct report *report)
{
	const struct ts_time_facts *time = ts_time_facts(report->ctx);

	return time->nr_cores > 0 ? time->wall_ps : TS_UNKNOWN;
}

static struct ts_value share_of(int64_t ps, int64_t whole_ps)
{
	return whole_ps > 0 ? ts_share_pct((double)ps / (double)whole_ps) : ts_null();
}

static int64_t busy_of(const struct sparsecore_core *core)
{
	return core->has_ops ? core->busy_ps : core->module_ps;
}

static bool put_cores(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table =
		ts_result_table(report->result, "cores", "SparseCores", core_columns, NR_CORE_COLS);

	for (size_t i = 0; table && i < profile->nr_planes; i++) {
		const struct ts_plane *plane = &profile->planes[i];
		const struct sparsecore_core *core = &report->sum->cores[i];
		struct ts_value *cells;

		if (plane->kind != TS_PLANE_SPARSECORE)
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		cells[CORE_NAME] = ts_text(plane->name);
		cells[CORE_HOST] = ts_text_or_null(profile->hosts[plane->host].name);
		cells[CORE_DEVICE] =
			plane->tensor_core == TS_NONE ? ts_null() : ts_int(plane->tensor_core);
		cells[CORE_BUSY] = ts_int(busy_of(core));
		cells[CORE_SHARE] = share_of(busy_of(core), wall_ps(report));
		cells[CORE_MODULES] = core->has_modules ? ts_int(core->modules) : ts_null();
		report->busy_ps = ts_i64_add(report->busy_ps, busy_of(core));
		report->nr_cores++;
	}
	return table != NULL;
}

static bool put_waits(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = ts_result_table(report->result, "waits", "Waits for SparseCores",
						 wait_columns, NR_WAIT_COLS);

	for (uint32_t i = 0; table && i < profile->nr_devices; i++) {
		const struct sparsecore_offload *seen = &report->devices[i];
		struct ts_value *cells;

		if (seen->executions == 0 && seen->exposed_ps == 0)
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		cells[WAIT_DEVICE] = ts_int(i);
		cells[WAIT_NAME] = ts_text(profile->devices[i].name);
		cells[WAIT_COUNT] = ts_int(seen->executions);
		cells[WAIT_EXPOSED] = ts_int(seen->exposed_ps);
		cells[WAIT_HIDDEN] = ts_int(seen->hidden_ps);
		cells[WAIT_SHARE] = share_of(seen->exposed_ps, wall_ps(report));
	}
	return table != NULL;
}

static int by_self(const void *a, const void *b)
{
	const struct ts_value *x = a, *y = b;
	int order = (y[OP_SELF].as.i > x[OP_SELF].as.i) - (y[OP_SELF].as.i < x[OP_SELF].as.i);

	return order ? order
		     : (x[OP_INDEX].as.i > y[OP_INDEX].as.i) -
			       (x[OP_INDEX].as.i < y[OP_INDEX].as.i);
}

static bool put_ops(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = ts_result_table(report->result, "ops", "Ops of SparseCores",
						 op_columns, NR_OP_COLS);

	for (size_t i = 0; table && i < profile->nr_ops; i++) {
		const struct sparsecore_op *op = &report->sum->ops[i];
		struct ts_value *cells;

		if (op->occurrences == 0)
			continue;
		cells = ts_table_row(report->result, table);
		if (!cells)
			return false;
		cells[OP_NAME] = ts_text(profile->ops[i].name);
		cells[OP_CATEGORY] = ts_text_or_null(profile->ops[i].category);
		cells[OP_COUNT] = ts_int(op->occurrences);
		cells[OP_SELF] = ts_int(op->self_ps);
		cells[OP_SHARE] = share_of(op->self_ps, report->busy_ps);
		cells[OP_BYTES] = op->bytes_unknown ? ts_null() : ts_int(op->bytes);
		cells[OP_INDEX] = ts_int((int64_t)i);
	}
	if (table && table->nr_rows > 1)
		qsort(table->cells, table->nr_rows, NR_OP_COLS * sizeof(*table->cells), by_self);
	if (table)
		table->nr_rows = TS_MIN(table->nr_rows, MAX_OPS);
	return table != NULL;
}

/* FLOPs and bytes of HBM, both ways, of one execution; NaN: nobody says. A start that is said to move
 * no bytes was not looked into. */
struct work {
	double flops, hbm_bytes;
};

static struct work work_of(const struct ts_profile *profile, const struct ts_op *op)
{
	struct work work = { ts_op_flops(op), ts_op_hbm_bytes(op) };
	struct ts_cost cost;

	if (ts_op_instr(profile, op)) {
		cost = ts_hlo_cost(&profile->modules[op->module], op->instr);
		if (!cost.has_unknown && cost.hbm_bytes > 0)
			work = (struct work){ (double)cost.flops, (double)cost.hbm_bytes };
	}
	if (!(work.hbm_bytes > 0))
		work.hbm_bytes = NAN;
	return work;
}

/* What a collective's bytes take over one link: the core has to send them whoever drives the links. */
static double link_seconds(const struct report *report, uint32_t op)
{
	const struct ts_result *result = ts_results_find(report->ctx->results, "collectives");
	const struct ts_table *table = result ? ts_result_find_table(result, "collectives") : NULL;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		double interval_s = ts_cell_number(table, i, "total_time_ps") * 1e-12 /
				    ts_cell_number(table, i, "occurrences");

		if (ts_cell_int(table, i, "op_index") == op)
			return ts_cell_number(table, i, "bus_bytes_per_s") * interval_s /
			       ts_cell_number(table, i, "link_bytes_per_s");
	}
	return NAN;
}

static uint32_t first_device(const struct report *report, uint32_t slot)
{
	const struct sparsecore_state *sum = report->sum;
	size_t nr = report->ctx->profile->nr_devices;

	for (uint32_t i = 0; i < nr; i++)
		if (sum->seen[i * sum->slots.nr + slot].occurrences > 0)
			return i;
	return TS_NONE;
}

/* Of one execution on a TensorCore, in s; NaN unknown. */
static double estimate(const struct report *report, uint32_t slot)
{
	uint32_t index = report->sum->slots.op[slot], device = first_device(report, slot);
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_op *op = &profile->ops[index];
	struct work work = work_of(profile, op);
	const struct ts_rates *rates;
	double least_s;

	if (device == TS_NONE || isnan(work.hbm_bytes))
		return NAN;
	rates = &report->ctx->rates[device];
	if (!(rates->hbm_bytes_per_s > 0))
		return NAN;
	if (op->kind == TS_OP_COLLECTIVE) {
		double link_s = link_seconds(report, index);

		least_s = work.hbm_bytes / rates->hbm_bytes_per_s;
		return isnan(link_s) ? NAN : TS_MAX(least_s, link_s);
	}
	return ts_roofline_of(rates, work.flops, work.hbm_bytes, NAN).least_s;
}

static void put_cost(struct report *report, struct ts_value *cells, uint32_t slot)
{
	const struct sparsecore_offload *offload = &report->offloads[slot];
	double estimate_ps = estimate(report, slot) * 1e12 * (double)offload->executions;
	int64_t ps;

	if (!(estimate_ps < MAX_ESTIMATE_PS)) /* a NaN too */
		return;
	ps = (int64_t)(estimate_ps + 0.5);
	cells[ROW_ESTIMATE] = ts_int(ps);
	if (cells[ROW_EXPOSED].type == TS_VALUE_NULL)
		return;
	cells[ROW_LOSS] = ts_int(TS_MAX(ts_i64_sub(offload->exposed_ps, ps), 0));
	report->loss_ps = ts_i64_add(report->loss_ps, cells[ROW_LOSS].as.i);
}

static bool put_offload(struct report *report, struct ts_table *table, uint32_t slot)
{
	static const char *const links[] = { [SPARSECORE_STATS] = "stats",
					     [SPARSECORE_HLO] = "hlo",
					     [SPARSECORE_OVERLAP] = "overlap" };
	const struct sparsecore_offload *offload = &report->offloads[slot];
	const struct ts_profile *profile = report->ctx->profile;
	const struct ts_op *op = &profile->ops[report->sum->slots.op[slot]];
	struct ts_value *cells = ts_table_row(report->result, table);
	bool is_pair = op->partner != TS_NONE;

	if (!cells)
		return false;
	cells[ROW_OP] = ts_text(op->name);
	cells[ROW_DONE] = is_pair ? ts_text(profile->ops[op->partner].name) : ts_null();
	if (op->module != TS_NONE)
		cells[ROW_MODULE] = ts_text_or_null(profile->modules[op->module].name);
	cells[ROW_EXECUTIONS] = ts_int(offload->executions);
	cells[ROW_WORK] = ts_int_or_null(offload->work_ps);
	if (is_pair) { /* without its done nobody saw the wait */
		cells[ROW_EXPOSED] = ts_int(offload->exposed_ps);
		cells[ROW_HIDDEN] = ts_int(offload->hidden_ps);
		report->exposed_ps = ts_i64_add(report->exposed_ps, offload->exposed_ps);
		report->hidden_ps = ts_i64_add(report->hidden_ps, offload->hidden_ps);
	}
	put_cost(report, cells, slot);
	cells[ROW_LINK] = ts_text(ts_bytes_of(links[offload->link]));
	cells[ROW_SOURCE] = ts_text_or_null(op->source);
	cells[ROW_INDEX] = ts_int(report->sum->slots.op[slot]);
	report->nr_rows++;
	return true;
}

/* The largest loss first, then the longest wait; unknown ones behind. */
static int by_loss(const void *a, const void *b)
{
	static const int keys[] = { ROW_LOSS, ROW_EXPOSED };
	const struct ts_value *x = a, *y = b;

	for (size_t i = 0; i < TS_NELEM(keys); i++) {
		int64_t p = ts_value_int(x[keys[i]]), q = ts_value_int(y[keys[i]]);

		if (p != q)
			return q > p ? 1 : -1;
	}
	return (x[ROW_INDEX].as.i > y[ROW_INDEX].as.i) - (x[ROW_INDEX].as.i < y[ROW_INDEX].as.i);
}

static bool put_offloads(struct report *report)
{
	struct ts_table *table = ts_result_table(
		report->result, "offloads", "Offloads to SparseCores", row_columns, NR_ROW_COLS);

	for (uint32_t slot = 0; table && slot < report->sum->slots.nr; slot++) {
		const struct sparsecore_offload *offload = &report->offloads[slot];

		if (offload->link == SPARSECORE_NO_LINK ||
		    (offload->executions == 0 && offload->exposed_ps == 0))
			continue;
		if (!put_offload(report, table, slot))
			return false;
	}
	if (table && table->nr_rows > 1)
		qsort(table->cells, table->nr_rows, NR_ROW_COLS * sizeof(*table->cells), by_loss);
	return table != NULL;
}

/* Marked work of SparseCores that no op of a TensorCore answers for. */
static int64_t unlinked_ps(const struct sparsecore_state *sum)
{
	int64_t ps = 0;

	for (size_t i = 0; i < sum->marks.nr; i++)
		if (sum->marks.items[i].slot == TS_NONE)
			ps = ts_i64_add(ps, sum->marks.items[i].busy_ps);
	return ps;
}

static void put_fields(struct report *report)
{
	struct ts_result *result = report->result;

	ts_result_field(result, "core_count", ts_int((int64_t)report->nr_cores), TS_MEASURED,
			"SparseCores");
	ts_result_field(result, "busy_ps", ts_int(report->busy_ps), TS_MEASURED, "busy");
	ts_result_field(result, "offload_count", ts_int((int64_t)report->nr_rows), TS_DERIVED,
			"offloaded ops");
	ts_result_field(result, "exposed_wait_ps", ts_int(report->exposed_ps), TS_MEASURED,
			"waited for");
	ts_result_field(result, "hidden_ps", ts_int(report->hidden_ps), TS_MEASURED,
			"hidden behind other work");
	ts_result_field(result, "loss_ps", ts_int(report->loss_ps), TS_MODELLED,
			"more than on the TensorCore");
	ts_result_field(result, "unlinked_ps", ts_int(unlinked_ps(report->sum)), TS_MEASURED, NULL);
	if (report->sum->is_cut)
		ts_result_note(result, "of offloads without a mark only the first executions were "
				       "matched by the clock, to bound memory");
}

/* "SparseCore 1" of a plane's name. */
static const char *track_name(struct ts_bytes plane)
{
	static const char *const names[] = { "SparseCore 0", "SparseCore 1", "SparseCore 2",
					     "SparseCore 3" };

	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_ends(plane, names[i]))
			return names[i];
	return "SparseCore";
}

static bool put_track(struct report *report, size_t index)
{
	const struct ts_plane *plane = &report->ctx->profile->planes[index];
	struct ts_slices *slices = &report->sum->cores[index].slices;
	struct ts_arena *arena = &report->result->owner->arena;
	struct ts_label *label = ts_arena_array(arena, 1, sizeof(*label));
	struct ts_arg *arg = ts_arena_array(arena, 1, sizeof(*arg));
	struct ts_track *track;

	if (!label || !arg)
		return false;
	track = ts_result_track(report->result, TS_TRACK_SLICES, track_name(plane->name),
				plane->tensor_core, TRACK_ORDER);
	if (!track)
		return false;
	*arg = (struct ts_arg){ "what", TS_LIT("ops ran on this SparseCore") };
	*label = (struct ts_label){ TS_LIT("busy"), arg, 1 };
	track->labels = label;
	track->nr_labels = 1;
	track->description = "when this SparseCore of the device was busy";
	return ts_slices_finish(slices, report->result, track);
}

static bool put_tracks(struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;

	for (size_t i = 0; i < profile->nr_planes; i++)
		if (profile->planes[i].tensor_core != TS_NONE &&
		    report->sum->cores[i].slices.nr > 0 && !put_track(report, i))
			return false;
	return true;
}

enum ts_status sparsecore_report(struct sparsecore_state *sum, const struct ts_context *ctx,
				 struct ts_result *result, struct ts_error *err)
{
	struct report report = { .sum = sum, .ctx = ctx, .result = result };
	bool good;

	report.offloads = calloc(sum->slots.nr + 1, sizeof(*report.offloads));
	report.devices = calloc(ctx->profile->nr_devices + 1, sizeof(*report.devices));
	good = report.offloads && report.devices &&
	       sparsecore_link_all(sum, ctx->profile, report.offloads, report.devices) &&
	       put_cores(&report) && put_offloads(&report) && put_waits(&report) &&
	       put_ops(&report) && put_tracks(&report);
	if (good)
		put_fields(&report);
	free(report.offloads);
	free(report.devices);
	return good ? TS_OK : ts_fail_nomem(err);
}
