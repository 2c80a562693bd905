/* SPDX-License-Identifier: MIT */
/*
 * Operators: what PyTorch's operators (aten::mm) took on the host and on GPUs, by name and by the shapes of
 * their inputs, as torch.profiler's key_averages() has it, and how many FLOPs they did.
 *
 * An operator's own time on the host is its duration less that of what is open inside it on the same thread:
 * operators, and calls of the runtime, which have rows of their own (torch/autograd/profiler_util.py). A
 * kernel's time belongs to the innermost operator that was open when it was launched, and with that to those
 * around it. Ranges that the program named (record_function) and frames of Python are not operators.
 */
#include "analysis/gpu/operators.h"

#include "base/check.h"
#include "base/record.h"
#include "model/trace_class.h"
#include "result/schema/operators.def"

#include <math.h>

#define OPEN_MAX 1024 /* inside each other; deeper ones are not counted */

enum kind {
	KIND_UNSEEN,
	KIND_OPERATOR,
	KIND_KNOWN /* its work may be known */,
	KIND_CALL,
	KIND_OTHER
};

#define TS_SELF struct operator_row
static bool gpu_operators_is_row(const void *record)
{
	const struct operator_row *row = record;

	return row->type < TS_NR_ATEN_TYPES && row->category <= OPERATORS_NO_CATEGORY;
}
static TS_RECORD_WITH(row, TS_VALID_IF(gpu_operators_is_row),
		      TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		      TS_NUMBER(2, is_call, TS_BY_HAND), TS_NUMBER(3, is_others, TS_BY_HAND),
		      TS_TEXT(4, shapes), TS_NUMBER(5, calls, TS_BY_HAND),
		      TS_NUMBER(6, nr_kernels, TS_BY_HAND), TS_NUMBER(7, cpu_ps, TS_BY_HAND),
		      TS_NUMBER(8, self_cpu_ps, TS_BY_HAND), TS_NUMBER(9, gpu_ps, TS_BY_HAND),
		      TS_NUMBER(10, self_gpu_ps, TS_BY_HAND),
		      TS_INDEX(13, kernel, TS_BY_OP, TS_BY_HAND),
		      TS_NUMBER(14, has_several, TS_BY_HAND), TS_NUMBER(11, flops, TS_BY_HAND),
		      TS_NUMBER(12, nr_counted, TS_BY_HAND), TS_NUMBER(15, bytes, TS_BY_HAND),
		      TS_NUMBER(16, nr_sized, TS_BY_HAND), TS_NUMBER(17, type, TS_BY_HAND),
		      TS_NUMBER(18, category, TS_BY_HAND),
		      TS_NUMBER(19, has_categories, TS_BY_HAND), TS_NUMBER(20, nr_own, TS_BY_HAND),
		      TS_NUMBER(21, flops_dense, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct operator_sums
static TS_RECORD(sums, TS_NUMBER(1, gpu_ps, TS_ADD), TS_NUMBER(2, outside_ps, TS_ADD),
		 TS_NUMBER(3, flops, TS_ADD), TS_NUMBER(4, nr_counted, TS_ADD));
#undef TS_SELF

#define TS_SELF struct operator_thread
static TS_RECORD(thread, TS_SCRATCH(items));
#undef TS_SELF

#define TS_SELF struct operators_state
static TS_RECORD(operators, TS_LIST(1, rows, row_record, TS_BY_HAND),
		 TS_STRUCT(2, sums, sums_record), TS_SCRATCH(row_ids.slots), TS_SCRATCH(paths),
		 TS_SCRATCH(path_ids.slots), TS_SCRATCH_RECORDS(threads, nr_threads, thread_record),
		 TS_SCRATCH(launches.slots), TS_SCRATCH(sides), TS_SCRATCH(kinds),
		 TS_SCRATCH(formulas), TS_SCRATCH(known.works), TS_SCRATCH(known.places.slots),
		 TS_SCRATCH(categories));
#undef TS_SELF

static bool operators_applies(const struct ts_context *ctx)
{
	return ts_profile_is_torch(ctx->profile);
}

static bool operators_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	return ts_trace_side_of(ctx->profile, line) != TS_SIDE_NONE;
}

static enum ts_status operators_open(void *ptr, const struct ts_context *ctx,
				     const struct ts_line *line, struct ts_error *err)
{
	struct operators_state *state = ptr;
	const struct ts_profile *profile = ctx->profile;

	state->threads = calloc(profile->nr_lines + 1, sizeof(*state->threads));
	state->sides = malloc(profile->nr_lines + 1);
	state->kinds = calloc(profile->nr_ops + 1, 1);
	state->categories = calloc(profile->nr_ops + 1, 1);
	state->formulas = calloc(profile->nr_ops + 1, sizeof(*state->formulas));
	if (!state->formulas || !state->threads || !state->sides || !state->kinds ||
	    !state->categories)
		return ts_fail_nomem(err);
	state->nr_threads = profile->nr_lines;
	for (size_t i = 0; i < profile->nr_lines; i++)
		state->sides[i] = (uint8_t)ts_trace_side_of(profile, &profile->lines[i]);
	return TS_OK;
}

static enum kind gpu_operators_kind_of(struct operators_state *state,
				       const struct ts_profile *profile, uint32_t index)
{
	uint8_t *kind = &state->kinds[index];
	const struct ts_op *op = &profile->ops[index];

	if (*kind != KIND_UNSEEN)
		return *kind;
	if (op->category_id == TS_KINETO_CPU_OP) {
		state->formulas[index] = ts_aten_formula_of(op->name);
		*kind = state->formulas[index] ? KIND_KNOWN : KIND_OPERATOR;
	} else if (ts_trace_class_of_category(op->category_id) == TS_TRACE_RUNTIME)
		*kind = KIND_CALL;
	else
		*kind = KIND_OTHER;
	return *kind;
}

/* What is still open at AT_PS on the thread; NULL: nothing. */
static struct operator_open *gpu_operators_innermost(struct operator_thread *thread, int64_t at_ps)
{
	while (thread->nr > 0 && thread->items[thread->nr - 1].end_ps <= at_ps)
		thread->nr--;
	return thread->nr > 0 ? &thread->items[thread->nr - 1] : NULL;
}

/* The event of the row that is looked at. */
struct operators_event {
	const struct ts_interleaved *interleaved;
	size_t at;
};

/* ts_aten_ask */
static struct ts_bytes gpu_operators_text(const void *ctx, const char *name)
{
	const struct operators_event *event = ctx;
	struct ts_stat stat;

	if (!ts_interleaved_stat(event->interleaved, event->at, name, &stat) ||
	    stat.type != TS_STAT_TEXT)
		return (struct ts_bytes){ NULL, 0 };
	return stat.text;
}

/* The work of a call. OPEN: what it becomes; of calls inside one whose FLOPs are counted, only the rows know. */
static enum ts_status count_work(struct operators_state *state,
				 const struct ts_interleaved *interleaved, size_t i,
				 struct operator_open *open, struct ts_error *err)
{
	struct operators_event event = { interleaved, i };
	struct operator_row *row = &state->rows[open->row];
	uint32_t op = interleaved->op[i];
	struct ts_aten_call call = { .formula = state->formulas[op],
				     .dims = gpu_operators_text(&event, "Input Dims") };
	struct ts_aten_work work;
	enum ts_status st;

	if (call.dims.n == 0)
		return TS_OK;
	st = ts_aten_known_work(&state->known, op, &call, gpu_operators_text, &event, &work, err);
	if (st)
		return st;
	if (isnan(work.flops))
		return TS_OK;
	if (!isnan(work.bytes)) {
		row->bytes += work.bytes;
		row->nr_sized++;
	}
	if (!ts_aten_is_matrix(state->formulas[row->op]))
		return TS_OK;
	row->type = row->nr_counted == 0 || row->type == work.type ? work.type : TS_ATEN_MIXED;
	row->flops += work.flops;
	row->flops_dense += work.flops_dense;
	row->nr_counted++;
	if (open->has_flops)
		return TS_OK;
	open->has_flops = true;
	state->sums.flops += work.flops;
	state->sums.nr_counted++;
	return TS_OK;
}

/* AT: a row for the event, to which its time is added. */
static enum ts_status gpu_operators_add_call(struct operators_state *state,
					     const struct ts_interleaved *interleaved, size_t i,
					     enum kind kind, uint32_t *at, struct ts_error *err)
{
	struct operator_row fresh = { .op = interleaved->op[i],
				      .is_call = kind == KIND_CALL,
				      .category = OPERATORS_NO_CATEGORY,
				      .kernel = TS_NONE };
	int64_t dur_ps = interleaved->dur_ps[i];
	struct operator_row *row;
	enum ts_status st;

	if (kind != KIND_CALL)
		fresh.shapes = gpu_operators_text(&(struct operators_event){ interleaved, i },
						  "Input Dims");
	st = ts_operators_row(state, &fresh, at, err);
	if (st)
		return st;
	row = &state->rows[*at];
	row->calls++;
	row->cpu_ps = ts_i64_add(row->cpu_ps, dur_ps);
	row->self_cpu_ps = ts_i64_add(row->self_cpu_ps, dur_ps);
	return TS_OK;
}

static enum ts_status open_call(struct operators_state *state,
				const struct ts_interleaved *interleaved, size_t i, enum kind kind,
				struct ts_error *err)
{
	struct operator_thread *thread = &state->threads[interleaved->line[i]];
	int64_t start_ps = interleaved->start_ps[i];
	int64_t end_ps = ts_i64_add(start_ps, interleaved->dur_ps[i]);
	const struct operator_open *outer = gpu_operators_innermost(thread, start_ps);
	struct operator_open open = { .end_ps = end_ps, .path = outer ? outer->path : TS_NONE };
	enum ts_status st;

	if (thread->nr >= OPEN_MAX)
		return TS_OK;
	open.has_flops = outer && outer->has_flops;
	st = gpu_operators_add_call(state, interleaved, i, kind, &open.row, err);
	if (st)
		return st;
	if (outer)
		state->rows[outer->row].self_cpu_ps =
			ts_i64_sub(state->rows[outer->row].self_cpu_ps,
				   TS_MIN(outer->end_ps, end_ps) - start_ps);
	if (kind != KIND_CALL) {
		st = ts_operators_path(state, open.path, open.row, &open.path, err);
		if (st)
			return st;
		if (kind == KIND_KNOWN)
			st = count_work(state, interleaved, i, &open, err);
		if (st)
			return st;
	} else if (interleaved->link[i] != TS_NO_LINK) {
		st = ts_launches_note(&state->launches, interleaved->link[i], open.path, err);
		if (st)
			return st;
	}
	if (!ts_grow(&thread->items, &thread->cap, thread->nr + 1, sizeof(open)))
		return ts_fail_nomem(err);
	thread->items[thread->nr++] = open;
	return TS_OK;
}

static uint8_t gpu_operators_category_of(struct operators_state *state,
					 const struct ts_profile *profile, uint32_t kernel)
{
	uint8_t *category = &state->categories[kernel];

	if (*category == 0)
		*category = 1 + (uint8_t)ts_kernel_class_of(profile->ops[kernel].name).category;
	return *category - 1;
}

static void gpu_operators_take_kernel(struct operators_state *state,
				      const struct ts_interleaved *interleaved, size_t i)
{
	int64_t dur_ps = TS_MAX(interleaved->dur_ps[i], 0);
	uint32_t path = interleaved->link[i] == TS_NO_LINK
				? TS_NONE
				: ts_launches_find(&state->launches, interleaved->link[i]);

	state->sums.gpu_ps = ts_i64_add(state->sums.gpu_ps, dur_ps);
	if (path == TS_NONE)
		state->sums.outside_ps = ts_i64_add(state->sums.outside_ps, dur_ps);
	else
		ts_operators_add_kernel(
			state, path, interleaved->op[i],
			gpu_operators_category_of(state, interleaved->profile, interleaved->op[i]),
			dur_ps);
}

static enum ts_status operators_interleaved(void *ptr, const struct ts_context *ctx,
					    const struct ts_interleaved *interleaved,
					    struct ts_error *err)
{
	struct operators_state *state = ptr;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < interleaved->nr_events && !st; i++) {
		uint8_t side = state->sides[interleaved->line[i]];
		enum kind kind;

		if (side == TS_SIDE_DEVICE)
			gpu_operators_take_kernel(state, interleaved, i);
		if (side != TS_SIDE_HOST)
			continue;
		kind = gpu_operators_kind_of(state, ctx->profile, interleaved->op[i]);
		if (kind != KIND_OTHER)
			st = open_call(state, interleaved, i, kind, err);
	}
	return st;
}

static enum ts_status operators_merge(void *ptr_into, void *ptr_from, const struct ts_context *ctx,
				      struct ts_error *err)
{
	struct operators_state *into = ptr_into;
	const struct operators_state *from = ptr_from;
	enum ts_status st;
	uint32_t at;

	for (size_t i = 0; i < from->nr_rows; i++) {
		struct operator_row fresh = { .op = from->rows[i].op,
					      .is_call = from->rows[i].is_call,
					      .is_others = from->rows[i].is_others,
					      .shapes = from->rows[i].shapes,
					      .category = OPERATORS_NO_CATEGORY,
					      .kernel = TS_NONE };

		st = ts_operators_row(into, &fresh, &at, err);
		if (st)
			return st;
		ts_operators_add_row(&into->rows[at], &from->rows[i]);
	}
	into->sums.gpu_ps = ts_i64_add(into->sums.gpu_ps, from->sums.gpu_ps);
	into->sums.outside_ps = ts_i64_add(into->sums.outside_ps, from->sums.outside_ps);
	into->sums.flops += from->sums.flops;
	into->sums.nr_counted = ts_i64_add(into->sums.nr_counted, from->sums.nr_counted);
	return TS_OK;
}

static enum ts_status operators_close(void *state, const struct ts_context *ctx, void *facts,
				      struct ts_result *result, struct ts_error *err)
{
	*(struct ts_operators_facts *)facts = ts_operators_attention(state, ctx);
	return ts_operators_report(state, ctx, result, err);
}

const struct ts_analysis ts_analysis_operators = {
	.schema = &ts_schema_operators,
	.needs = TS_NEEDED,
	.pass = TS_PASS_INTERLEAVED,
	.columns = TS_COL_LINK | TS_COL_STATS,
	.state = &operators_record,
	.facts_size = sizeof(struct ts_operators_facts),
	.applies = operators_applies,
	.wants = operators_wants,
	.open = operators_open,
	.interleaved = operators_interleaved,
	.merge = operators_merge,
	.close = operators_close,
};
