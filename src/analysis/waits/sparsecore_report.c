/* SPDX-License-Identifier: MIT */
/* What the analysis of SparseCores says: its cores, offloads, waits and ops. */
#include "analysis/waits/sparsecore.h"
#include "base/order.h"
#include "result/schema/sparsecore.def"

#define MAX_OPS	    1000
#define TRACK_ORDER 60 /* below the rows of the TensorCore itself */

struct report {
	struct sparsecore_state *sum;
	const struct ts_context *ctx;
	struct ts_result *result;
};

static int64_t sparsecore_report_wall_ps(const struct report *report)
{
	const struct ts_time_facts *time = ts_time_facts(report->ctx);

	return time->nr_cores > 0 ? time->wall_ps : TS_UNKNOWN;
}

static struct ts_value sparsecore_report_share_of(int64_t ps, int64_t whole_ps)
{
	return whole_ps > 0 ? ts_share_pct((double)ps / (double)whole_ps) : ts_null();
}

static int64_t busy_of(const struct sparsecore_core *core)
{
	return core->has_ops ? core->busy_ps : core->module_ps;
}

#define CORE_CELLS(X) \
	X(name, ts_text(plane->name)) \
	X(host, ts_text_or_null(profile->hosts[plane->host].name)) \
	X(device_id, plane->tensor_core == TS_NONE ? ts_null() : ts_int(plane->tensor_core)) \
	X(busy_ps, ts_int(busy_of(core))) \
	X(busy_pct, sparsecore_report_share_of(busy_of(core), sparsecore_report_wall_ps(report))) \
	X(module_count, core->has_modules ? ts_int(core->modules) : ts_null())

static void sparsecore_report_put_cores(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TABLE(report->result, sparsecore_cores);

	for (size_t i = 0; i < profile->nr_planes; i++) {
		const struct ts_plane *plane = &profile->planes[i];
		const struct sparsecore_core *core = &report->sum->cores[i];

		if (plane->kind == TS_PLANE_SPARSECORE)
			TS_CELLS(report->result, table, sparsecore_cores, CORE_CELLS);
	}
}

#define OFFLOAD_CELLS(X) \
	X(op, ts_text(fact->name)) \
	X(done, ts_text_or_null(fact->done)) \
	X(module, ts_text_or_null(fact->module)) \
	X(executions, ts_int(fact->executions)) \
	X(sparsecore_ps, ts_int_or_null(fact->work_ps)) \
	X(exposed_wait_ps, ts_int_or_null(fact->exposed_ps)) \
	X(hidden_ps, ts_int_or_null(fact->hidden_ps)) \
	X(tensorcore_estimate_ps, ts_int_or_null(fact->estimate_ps)) \
	X(loss_ps, ts_int_or_null(fact->loss_ps)) \
	X(linked_by, ts_text(ts_bytes_of(fact->linked_by))) \
	X(source, ts_text_or_null(profile->ops[fact->op].source)) \
	X(op_index, ts_int(fact->op))

static void put_offloads(const struct report *report, const struct ts_sparsecore_facts *facts)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TABLE(report->result, sparsecore_offloads);

	for (size_t i = 0; i < facts->nr_offloads; i++) {
		const struct ts_offload *fact = &facts->offloads[i];

		TS_CELLS(report->result, table, sparsecore_offloads, OFFLOAD_CELLS);
	}
}

#define WAIT_CELLS(X) \
	X(device_id, ts_int(i)) \
	X(device, ts_text(profile->devices[i].label)) \
	X(executions, ts_int(seen->executions)) \
	X(exposed_wait_ps, ts_int(seen->exposed_ps)) \
	X(hidden_ps, ts_int(seen->hidden_ps)) \
	X(exposed_wait_pct, sparsecore_report_share_of(seen->exposed_ps, sparsecore_report_wall_ps(report)))

static void put_waits(const struct report *report, const struct sparsecore_offload *devices)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TABLE(report->result, sparsecore_waits);

	for (uint32_t i = 0; i < profile->nr_devices; i++) {
		const struct sparsecore_offload *seen = &devices[i];

		if (seen->executions != 0 || seen->exposed_ps != 0)
			TS_CELLS(report->result, table, sparsecore_waits, WAIT_CELLS);
	}
}

struct ranked {
	int64_t self_ps;
	uint32_t op;
};

TS_ORDER(sparsecore_report_by_self, struct ranked, TS_DOWN(self_ps) TS_UP(op))

static int64_t busy_of_all(const struct report *report)
{
	const struct ts_profile *profile = report->ctx->profile;
	int64_t ps = 0;

	for (size_t i = 0; i < profile->nr_planes; i++)
		if (profile->planes[i].kind == TS_PLANE_SPARSECORE)
			ps = ts_i64_add(ps, busy_of(&report->sum->cores[i]));
	return ps;
}

#define OP_CELLS(X) \
	X(name, ts_text(op->name)) \
	X(category, ts_text_or_null(op->category)) \
	X(occurrences, ts_int(seen->occurrences)) \
	X(self_time_ps, ts_int(seen->self_ps)) \
	X(busy_pct, sparsecore_report_share_of(seen->self_ps, busy_ps)) \
	X(bytes_accessed, seen->bytes_unknown ? ts_null() : ts_int(seen->bytes)) \
	X(op_index, ts_int(ranked[i].op))

static enum ts_status sparsecore_report_put_ops(const struct report *report, struct ts_error *err)
{
	const struct ts_profile *profile = report->ctx->profile;
	struct ts_table *table = TS_TABLE(report->result, sparsecore_ops);
	struct ranked *ranked = calloc(profile->nr_ops + 1, sizeof(*ranked));
	int64_t busy_ps = busy_of_all(report);
	size_t nr = 0;

	if (!ranked)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < profile->nr_ops; i++)
		if (report->sum->ops[i].occurrences != 0)
			ranked[nr++] = (struct ranked){ report->sum->ops[i].self_ps, i };
	TS_SORT(ranked, nr, sparsecore_report_by_self);
	for (size_t i = 0; i < TS_MIN(nr, MAX_OPS); i++) {
		const struct sparsecore_op *seen = &report->sum->ops[ranked[i].op];
		const struct ts_op *op = &profile->ops[ranked[i].op];

		TS_CELLS(report->result, table, sparsecore_ops, OP_CELLS);
	}
	free(ranked);
	return TS_OK;
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

static void sparsecore_report_put_fields(const struct report *report,
					 const struct ts_sparsecore_facts *facts)
{
	int64_t exposed_ps = 0, hidden_ps = 0, loss_ps = 0;
	struct ts_result *result = report->result;

	for (size_t i = 0; i < facts->nr_offloads; i++) {
		const struct ts_offload *fact = &facts->offloads[i];

		exposed_ps = ts_i64_add(exposed_ps, TS_MAX(fact->exposed_ps, 0));
		hidden_ps = ts_i64_add(hidden_ps, TS_MAX(fact->hidden_ps, 0));
		loss_ps = ts_i64_add(loss_ps, TS_MAX(fact->loss_ps, 0));
	}
	TS_SET(result, sparsecore, core_count,
	       ts_int((int64_t)sparsecore_count(report->ctx->profile)));
	TS_SET(result, sparsecore, busy_ps, ts_int(busy_of_all(report)));
	TS_SET(result, sparsecore, offload_count, ts_int((int64_t)facts->nr_offloads));
	TS_SET(result, sparsecore, exposed_wait_ps, ts_int(exposed_ps));
	TS_SET(result, sparsecore, hidden_ps, ts_int(hidden_ps));
	TS_SET(result, sparsecore, loss_ps, ts_int(loss_ps));
	TS_SET(result, sparsecore, unlinked_ps, ts_int(unlinked_ps(report->sum)));
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

static enum ts_status sparsecore_report_put_track(const struct report *report, size_t index,
						  struct ts_error *err)
{
	const struct ts_plane *plane = &report->ctx->profile->planes[index];
	struct ts_slices *slices = &report->sum->cores[index].slices;
	struct ts_arena *arena = &report->result->owner->arena;
	struct ts_label *label = ts_arena_array(arena, 1, sizeof(*label));
	struct ts_arg *arg = ts_arena_array(arena, 1, sizeof(*arg));
	struct ts_track *track;

	if (!label || !arg)
		return ts_fail_nomem(err);
	track = ts_result_track(report->result, TS_TRACK_SLICES, track_name(plane->name),
				plane->tensor_core, TRACK_ORDER);
	if (!track)
		return ts_fail_nomem(err);
	*arg = (struct ts_arg){ "what", ts_text(TS_LIT("ops ran on this SparseCore")) };
	*label = (struct ts_label){ TS_LIT("busy"), arg, 1 };
	track->labels = label;
	track->nr_labels = 1;
	track->description = "when this SparseCore of the device was busy";
	return ts_slices_finish(slices, report->result, track) ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status sparsecore_report_put_tracks(const struct report *report,
						   struct ts_error *err)
{
	const struct ts_profile *profile = report->ctx->profile;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < profile->nr_planes && st == TS_OK; i++)
		if (profile->planes[i].tensor_core != TS_NONE &&
		    report->sum->cores[i].slices.nr > 0)
			st = sparsecore_report_put_track(report, i, err);
	return st;
}

enum ts_status ts_sparsecore_report(struct sparsecore_state *sum, const struct ts_context *ctx,
				    const struct sparsecore_offload *devices,
				    const struct ts_sparsecore_facts *facts,
				    struct ts_result *result, struct ts_error *err)
{
	struct report report = { sum, ctx, result };
	enum ts_status st;

	TS_ASSERT(devices && facts && sum->nr_cores == ctx->profile->nr_planes);
	sparsecore_report_put_cores(&report);
	put_offloads(&report, facts);
	put_waits(&report, devices);
	st = sparsecore_report_put_ops(&report, err);
	if (st)
		return st;
	st = sparsecore_report_put_tracks(&report, err);
	if (st)
		return st;
	sparsecore_report_put_fields(&report, facts);
	return TS_OK;
}
