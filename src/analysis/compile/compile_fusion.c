/* SPDX-License-Identifier: MIT */
/*
 * How many ops became how many kernels.
 *
 * Of PyTorch: Inductor names a kernel by the ATen ops in it, each once, so the ops before fusion are
 * counted from names: what stands twice in a kernel counts once, and ops that vanished are not
 * known. A kernel that is not Inductor's is one op, as in eager mode. Of XLA: instructions of the
 * modules that ran, inside fusions and as kernels.
 */
#include "analysis/compile/compile.h"

#include "analysis/facts/ops.h"
#include "analysis/kit/lists.h"
#include "model/kernels.h"
#include "model/kernel_name.h"
#include "base/order.h"
#include "result/schema/compile.def"

#define MAX_ROWS   200 /* of generated kernels: the largest */
#define MAX_OPS	   64  /* listed of a kernel */
#define MAX_NESTED 8   /* fusions inside one another */

struct generated {
	struct ts_bytes name;
	int64_t nr, time_ps, nr_ops;
};

struct gathering {
	struct generated *items;
	size_t nr, cap;
	struct compile_fusion *fusion;
};

static enum ts_status add_generated(struct gathering *gathering, const struct generated *kernel,
				    struct ts_error *err)
{
	struct compile_fusion *fusion = gathering->fusion;

	if (!ts_grow(&gathering->items, &gathering->cap, gathering->nr + 1, sizeof(*kernel)))
		return ts_fail_nomem(err);
	gathering->items[gathering->nr++] = *kernel;
	fusion->nr_generated = ts_i64_add(fusion->nr_generated, kernel->nr);
	fusion->generated_ps = ts_i64_add(fusion->generated_ps, kernel->time_ps);
	fusion->nr_before = ts_i64_add(fusion->nr_before, ts_i64_mul(kernel->nr, kernel->nr_ops));
	fusion->nr_after = ts_i64_add(fusion->nr_after, kernel->nr);
	return TS_OK;
}

static enum ts_status gather_devices(struct gathering *gathering, const struct ts_context *ctx,
				     struct ts_error *err)
{
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);
	struct compile_fusion *fusion = gathering->fusion;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < ops->nr && !st; i++) {
		const struct ts_op_fact *op = &ops->items[i];
		struct generated kernel = { op->name, TS_MAX(op->occurrences, 0),
					    TS_MAX(op->total_ps, 0), ts_torch_fused_ops(op->name) };

		/* A copy, a fill or a collective computes nothing that could be fused. */
		if (!(op->category_id == TS_KINETO_KERNEL &&
		      ts_kernel_class_of(op->name).category > TS_CATEGORY_FILL))
			continue;
		if (kernel.nr_ops > 0) {
			st = add_generated(gathering, &kernel, err);
		} else {
			fusion->nr_before = ts_i64_add(fusion->nr_before, kernel.nr);
			fusion->nr_after = ts_i64_add(fusion->nr_after, kernel.nr);
		}
	}
	return st;
}

static enum ts_status gather_host(struct gathering *gathering, const struct compile_state *sum,
				  const struct ts_profile *profile, struct ts_error *err)
{
	struct compile_fusion *fusion = gathering->fusion;
	enum ts_status st;

	for (size_t i = 0; i < sum->nr_kernels; i++) {
		struct generated kernel = { profile->ops[sum->kernels[i].op].name,
					    sum->kernels[i].nr, sum->kernels[i].time_ps, 0 };

		kernel.nr_ops = ts_torch_fused_ops(kernel.name);
		st = add_generated(gathering, &kernel, err);
		if (st)
			return st;
	}
	if (sum->nr_kernels == 0) { /* a CPU's trace has its kernels only on request */
		fusion->nr_before = fusion->nr_after = -1;
		return TS_OK;
	}
	fusion->nr_before = ts_i64_add(fusion->nr_before, sum->counts.nr_library_ops);
	fusion->nr_after = ts_i64_add(fusion->nr_after, sum->counts.nr_library_ops);
	return TS_OK;
}

TS_ORDER(compile_fusion_longest_first, struct generated, TS_DOWN(time_ps) TS_UP(name))

static const struct {
	const char *part, *kind;
} kinds[] = {
	{ "triton_poi_", "pointwise" },
	{ "triton_red_", "reduction" },
	{ "triton_per_", "reduction in one block" },
	{ "triton_tem_", "template" },
	{ "triton_for_", "foreach" },
	{ "cpp_", "C++" },
	{ "pallas_", "Pallas" },
};

static struct ts_value compile_fusion_kind_of(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(kinds); i++)
		if (ts_bytes_has(name, kinds[i].part))
			return ts_text(ts_bytes_of(kinds[i].kind));
	return ts_null();
}

static struct ts_value ops_of(struct ts_result *result, struct ts_bytes name, int64_t nr_ops)
{
	struct ts_bytes rest = ts_torch_fused_part(name), ops[MAX_OPS];
	size_t nr = rest.n ? (size_t)TS_MIN(nr_ops, MAX_OPS) : 0;

	for (size_t i = 0; i < nr; i++)
		ops[i] = ts_torch_next_op(&rest);
	return ts_text_list(result, ops, nr);
}

#define GENERATED_CELLS(X) \
	X(name, ts_text(kernel->name)) \
	X(kind, compile_fusion_kind_of(kernel->name)) \
	X(ops_before_fusion, ts_int(kernel->nr_ops)) \
	X(ops, ops_of(result, kernel->name, kernel->nr_ops)) \
	X(count, ts_int(kernel->nr)) \
	X(time_ps, ts_int(kernel->time_ps))

static void put_generated(struct gathering *gathering, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, compile_fused_kernels);

	TS_SORT(gathering->items, gathering->nr, compile_fusion_longest_first);
	for (size_t i = 0; i < TS_MIN(gathering->nr, MAX_ROWS); i++) {
		const struct generated *kernel = &gathering->items[i];

		TS_CELLS(result, table, compile_fused_kernels, GENERATED_CELLS);
	}
	if (gathering->nr > MAX_ROWS)
		ts_result_note(result, "the %d largest of %zu generated kernels are listed",
			       MAX_ROWS, gathering->nr);
}

enum ts_status ts_compile_fusion_torch(const struct compile_state *sum,
				       const struct ts_context *ctx, struct ts_result *result,
				       struct compile_fusion *fusion, struct ts_error *err)
{
	struct gathering gathering = { .fusion = fusion };
	enum ts_status st;

	TS_ASSERT(sum && fusion);
	*fusion = (struct compile_fusion){ .nr_before = 0 };
	st = ctx->profile->nr_devices > 0 ? gather_devices(&gathering, ctx, err)
					  : gather_host(&gathering, sum, ctx->profile, err);
	fusion->nr_kernels = (int64_t)gathering.nr;
	put_generated(&gathering, result);
	free(gathering.items);
	return st;
}

/* Instructions that compute inside the computations that this one calls. */
static int64_t nr_inside(const struct ts_hlo_module *module, const struct ts_hlo_instr *fusion,
			 unsigned depth)
{
	int64_t nr = 0;

	for (uint32_t c = 0; c < fusion->nr_called && depth < MAX_NESTED; c++) {
		const struct ts_hlo_comp *comp = &module->comps[fusion->called[c]];

		for (uint32_t i = 0; i < comp->nr_instrs; i++) {
			const struct ts_hlo_instr *instr = &module->instrs[comp->first_instr + i];

			if (instr->opcode == TS_OPCODE_FUSION)
				nr += nr_inside(module, instr, depth + 1);
			else
				nr += !ts_hlo_is_name(instr);
		}
	}
	return nr;
}

static void count_instr(const struct ts_profile *profile, const struct ts_op *op, int64_t nr,
			struct compile_fusion *fusion)
{
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);
	int64_t inside = 1;

	if (!instr || ts_hlo_is_control(instr) || ts_hlo_is_done(instr) || ts_hlo_is_name(instr))
		return;
	if (instr->opcode == TS_OPCODE_FUSION) {
		inside = TS_MAX(nr_inside(&profile->modules[op->module], instr, 0), 1);
		fusion->nr_generated = ts_i64_add(fusion->nr_generated, nr);
		fusion->nr_kernels++;
	}
	fusion->nr_before = ts_i64_add(fusion->nr_before, ts_i64_mul(nr, inside));
	fusion->nr_after = ts_i64_add(fusion->nr_after, nr);
}

struct compile_fusion ts_compile_fusion_xla(const struct ts_context *ctx)
{
	const struct ts_ops_facts *ops = ts_ops_facts(ctx);
	struct compile_fusion fusion = { .nr_before = 0 };

	for (size_t i = 0; i < ops->nr; i++) {
		const struct ts_op_fact *op = &ops->items[i];

		if (op->op != TS_NONE)
			count_instr(ctx->profile, &ctx->profile->ops[op->op],
				    TS_MAX(op->occurrences, 0), &fusion);
	}
	if (fusion.nr_after == 0) /* the profile does not have a program of what ran */
		fusion.nr_before = fusion.nr_after = -1;
	return fusion;
}
