/* SPDX-License-Identifier: MIT */
/* What the critical path says: of each step by kind, and of the median one and the slowest one by name. */
#include "analysis/gpu/hta_critical_path.h"

#include "base/order.h"
#include "analysis/kit/cells.h"
#include "analysis/kit/others.h"
#include "result/schema/hta_critical_path.def"

#include <inttypes.h>

const char *const ts_cp_kind_names[] = {
	[CP_OPERATOR] = "host operator",
	[CP_CALL] = "runtime call",
	[CP_LAUNCH_DELAY] = "launch delay",
	[CP_KERNEL] = "kernel",
	[CP_COPY] = "copy",
	[CP_COMMUNICATION] = "communication",
	[CP_QUEUE_DELAY] = "kernel queue delay",
	[CP_SYNC] = "synchronization",
	[CP_DEPENDENCY] = "dependency",
};

struct shown {
	const char *which;
	const struct cp_path *path;
	int64_t total_ps;
};

static int64_t hta_critical_path_report_length(const struct cp_path *path)
{
	return path->end_ps - path->start_ps;
}

static int64_t total(const struct cp_path *path)
{
	int64_t sum_ps = 0;

	for (size_t k = 0; k < CP_NR_KINDS; k++)
		sum_ps = ts_i64_add(sum_ps, path->kind_ps[k]);
	return sum_ps;
}

static struct ts_value hta_critical_path_report_number_of(const struct cp_path *path)
{
	return path->number == TS_NO_NUMBER ? ts_null() : ts_int((int64_t)path->number);
}

#define STEP_CELLS(X) \
	X(which, ts_string_cell(shown->which)) \
	X(rank, ts_int_or_null(host->rank)) \
	X(step, hta_critical_path_report_number_of(path)) \
	X(start_ps, ts_int(path->start_ps)) \
	X(duration_ps, ts_int(hta_critical_path_report_length(path))) \
	X(path_ps, ts_int(shown->total_ps)) \
	X(path_pct, ts_part_pct(shown->total_ps, hta_critical_path_report_length(path))) \
	X(waits, ts_int((int64_t)path->nr_edges[CP_SYNC])) \
	X(events, ts_int((int64_t)path->nr_nodes / 2))

#define KIND_PS(kind) ts_int(path->kind_ps[kind])
#define EACH_CELLS(X) \
	X(rank, ts_int_or_null(host->rank)) \
	X(step, hta_critical_path_report_number_of(path)) \
	X(start_ps, ts_int(path->start_ps)) \
	X(duration_ps, ts_int(hta_critical_path_report_length(path))) \
	X(path_ps, ts_int(total(path))) \
	X(path_pct, ts_part_pct(total(path), hta_critical_path_report_length(path))) \
	X(host_operator_ps, KIND_PS(CP_OPERATOR)) \
	X(runtime_call_ps, KIND_PS(CP_CALL)) \
	X(launch_delay_ps, KIND_PS(CP_LAUNCH_DELAY)) \
	X(kernel_ps, KIND_PS(CP_KERNEL)) \
	X(copy_ps, KIND_PS(CP_COPY)) \
	X(communication_ps, KIND_PS(CP_COMMUNICATION)) \
	X(queue_delay_ps, KIND_PS(CP_QUEUE_DELAY)) \
	X(waits, ts_int((int64_t)path->nr_edges[CP_SYNC]))

#define OF_SLOWEST(value) (slowest ? (value) : ts_null()) /* there is more than one step */
#define KIND_CELLS(X) \
	X(kind, ts_string_cell(ts_cp_kind_names[kind])) \
	X(path_ps, ts_int(shown->path->kind_ps[kind])) \
	X(path_pct, ts_part_pct(shown->path->kind_ps[kind], shown->total_ps)) \
	X(parts, ts_int((int64_t)shown->path->nr_edges[kind])) \
	X(slowest_path_ps, OF_SLOWEST(ts_int(slowest->path->kind_ps[kind]))) \
	X(slowest_path_pct, OF_SLOWEST(ts_part_pct(slowest->path->kind_ps[kind], slowest->total_ps))) \
	X(slowest_parts, OF_SLOWEST(ts_int((int64_t)slowest->path->nr_edges[kind])))

#define ROW_CELLS(X) \
	X(name, ts_text(name)) \
	X(kind, ts_string_cell(kind)) \
	X(path_ps, ts_int(time_ps)) \
	X(path_pct, ts_part_pct(time_ps, shown->total_ps)) \
	X(parts, ts_int((int64_t)nr))

static void hta_critical_path_report_put_step(const struct ts_context *ctx,
					      struct ts_result *result, struct ts_table *table,
					      const struct shown *shown)
{
	const struct cp_path *path = shown->path;
	const struct ts_host *host = &ctx->profile->hosts[path->host];

	TS_CELLS(result, table, hta_critical_path_steps, STEP_CELLS);
}

/* SLOWEST may be NULL. */
static void hta_critical_path_report_put_kinds(struct ts_result *result, const struct shown *shown,
					       const struct shown *slowest)
{
	struct ts_table *table = TS_TABLE(result, hta_critical_path_kinds);

	for (size_t kind = 0; kind < CP_DEPENDENCY; kind++)
		TS_CELLS(result, table, hta_critical_path_kinds, KIND_CELLS);
}

static void hta_critical_path_report_put_row(struct ts_result *result, struct ts_table *table,
					     const struct shown *shown, struct ts_bytes name,
					     const char *kind, int64_t time_ps, uint64_t nr)
{
	TS_CELLS(result, table, hta_critical_path_rows, ROW_CELLS);
}

#define ROW_SUMS(X) X(path_ps) X(path_pct) X(parts)

static void hta_critical_path_report_put_rows(const struct ts_context *ctx,
					      struct ts_result *result,
					      const struct ts_sheet *sheet, const char *title,
					      const struct shown *shown)
{
	struct ts_table *table = ts_result_titled(result, sheet, title);
	const struct cp_path *path = shown->path;

	for (size_t i = 0; i < path->nr_rows; i++)
		hta_critical_path_report_put_row(result, table, shown,
						 ctx->profile->ops[path->rows[i].op].name,
						 ts_cp_kind_names[path->rows[i].kind],
						 path->rows[i].time_ps, path->rows[i].nr);
	if (path->nr_other_rows == 0)
		return;
	hta_critical_path_report_put_row(result, table, shown, (struct ts_bytes){ NULL, 0 }, NULL,
					 path->others_ps, path->nr_others);
	TS_END_OTHERS(result, table, hta_critical_path_rows, path->nr_other_rows, name, ROW_SUMS);
}

/* --- which steps */

static bool hta_critical_path_report_is_known(const struct cp_path *path)
{
	return !path->is_cut && total(path) > 0;
}

TS_ORDER_AT(by_length, struct cp_path, TS_UP_BY(hta_critical_path_report_length) TS_UP_ADDRESS)

/* The steps of which a path is known, the shortest first; NULL: no memory. */
static const struct cp_path **sorted(const struct cp_state *sum, size_t *nr)
{
	const struct cp_path **steps = malloc((sum->nr_paths + 1) * sizeof(*steps));

	*nr = 0;
	if (!steps)
		return NULL;
	for (size_t i = 0; i < sum->nr_paths; i++)
		if (hta_critical_path_report_is_known(&sum->paths[i]))
			steps[(*nr)++] = &sum->paths[i];
	TS_SORT(steps, *nr, by_length);
	return steps;
}

/* SLOWEST: NULL where there is only one step. */
static void put_shown(const struct ts_context *ctx, struct ts_result *result,
		      const struct shown *shown, const struct shown *slowest)
{
	struct ts_table *steps = TS_TABLE(result, hta_critical_path_steps);

	hta_critical_path_report_put_step(ctx, result, steps, shown);
	if (slowest)
		hta_critical_path_report_put_step(ctx, result, steps, slowest);
	hta_critical_path_report_put_kinds(result, shown, slowest);
	hta_critical_path_report_put_rows(
		ctx, result, &ts_sheet_hta_critical_path_rows,
		slowest ? "On the median step's critical path" : "On the critical path", shown);
	if (slowest)
		hta_critical_path_report_put_rows(
			ctx, result, &ts_sheet_hta_critical_path_slowest_rows,
			ts_sheet_hta_critical_path_slowest_rows.title, slowest);
}

/* --- each step */

static void hta_critical_path_report_put_each(const struct ts_context *ctx,
					      struct ts_result *result, struct ts_table *table,
					      const struct cp_path *path)
{
	const struct ts_host *host = &ctx->profile->hosts[path->host];

	TS_CELLS(result, table, hta_critical_path_each_step, EACH_CELLS);
}

static void hta_critical_path_report_add_path(struct cp_path *sum, const struct cp_path *path)
{
	sum->end_ps = ts_i64_add(sum->end_ps, hta_critical_path_report_length(path));
	for (size_t kind = 0; kind < CP_NR_KINDS; kind++) {
		sum->kind_ps[kind] = ts_i64_add(sum->kind_ps[kind], path->kind_ps[kind]);
		sum->nr_edges[kind] += path->nr_edges[kind];
	}
}

#define STEP_SUMS(X) \
	X(duration_ps) X(path_ps) X(path_pct) X(host_operator_ps) X(runtime_call_ps) \
	X(launch_delay_ps) X(kernel_ps) X(copy_ps) X(communication_ps) X(queue_delay_ps) \
	X(waits)

/* ROWS: of PATHS, those that are listed; the others are one row. */
static void put_listed(const struct ts_context *ctx, struct ts_result *result,
		       const struct cp_path *const *paths, size_t nr, const uint32_t *rows,
		       size_t nr_rows)
{
	struct ts_table *table = TS_TABLE(result, hta_critical_path_each_step);
	struct cp_path others = { .host = paths[0]->host };

	for (size_t i = 0, at = 0; i < nr; i++) {
		if (at < nr_rows && rows[at] == i) {
			hta_critical_path_report_put_each(ctx, result, table, paths[i]);
			at++;
		} else {
			hta_critical_path_report_add_path(&others, paths[i]);
		}
	}
	if (nr_rows == nr)
		return;
	hta_critical_path_report_put_each(ctx, result, table, &others);
	TS_END_OTHERS(result, table, hta_critical_path_each_step, nr - nr_rows, step, STEP_SUMS);
}

/* In the order of time. */
static enum ts_status hta_critical_path_report_put_steps(const struct cp_state *sum,
							 const struct ts_context *ctx,
							 struct ts_result *result,
							 struct ts_error *err)
{
	const struct cp_path **paths = malloc((sum->nr_paths + 1) * sizeof(*paths));
	int64_t *lengths_ps = malloc((sum->nr_paths + 1) * sizeof(*lengths_ps));
	uint32_t *rows = NULL;
	size_t nr = 0, nr_rows;

	for (size_t i = 0; paths && lengths_ps && i < sum->nr_paths; i++) {
		if (!hta_critical_path_report_is_known(&sum->paths[i]))
			continue;
		paths[nr] = &sum->paths[i];
		lengths_ps[nr++] = hta_critical_path_report_length(&sum->paths[i]);
	}
	if (paths && lengths_ps)
		rows = ts_choose_rows(lengths_ps, nr,
				      ctx->max_steps ? ctx->max_steps : TS_USUAL_STEPS, &nr_rows);
	if (rows && nr > 1)
		put_listed(ctx, result, paths, nr, rows, nr_rows);
	free(paths);
	free(lengths_ps);
	free(rows);
	return rows ? TS_OK : ts_fail_nomem(err);
}

static void hta_critical_path_report_note_left_out(const struct cp_state *sum,
						   struct ts_result *result)
{
	size_t nr_cut = 0;

	for (size_t i = 0; i < sum->nr_paths; i++)
		nr_cut += sum->paths[i].is_cut;
	if (nr_cut > 0)
		ts_result_note(result, "steps of more than %u events have no path: %zu of %zu",
			       CP_NODES / 2, nr_cut, sum->nr_paths);
	if (sum->nr_dropped > 0)
		ts_result_note(result,
			       "the first %d steps of a host are looked at: %" PRIu64
			       " more were not",
			       CP_STEPS, sum->nr_dropped);
}

enum ts_status ts_cp_report(const struct cp_state *sum, const struct ts_context *ctx,
			    struct ts_result *result, struct ts_error *err)
{
	size_t nr;
	const struct cp_path **steps = sorted(sum, &nr);

	if (!steps)
		return ts_fail_nomem(err);
	if (nr > 0) {
		const struct cp_path *median = steps[(nr - 1) / 2], *slowest = steps[nr - 1];
		struct shown shown = { nr > 1 ? "median" : "only", median, total(median) };
		struct shown worst = { "slowest", slowest, total(slowest) };

		put_shown(ctx, result, &shown, nr > 1 ? &worst : NULL);
	}
	hta_critical_path_report_note_left_out(sum, result);
	free(steps);
	return hta_critical_path_report_put_steps(sum, ctx, result, err);
}
