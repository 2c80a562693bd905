/* SPDX-License-Identifier: MIT */
/*
 * What a compiled module says of its recomputed ops: which op of the forward pass each one repeats,
 * and whether the backward pass uses what it computes.
 *
 * XLA's own rematerialization clones an instruction and adds ".remat", ".remat2" to its name: the
 * original is the name before it (xla/service/hlo_rematerialization.cc). With jax.checkpoint the
 * recomputed op has the scope of the original, inside transpose(jvp(..)) and with
 * "checkpoint/rematted_computation" in it. Several ops of the forward pass may have that scope (the
 * layers of an unrolled loop, parts of one fusion): the one that shares most operands is taken,
 * then one of the same opcode (the all-reduce behind a product has the product's scope), of the
 * same size, the last.
 */
#include "analysis/traffic/remat.h"

#include "model/profile.h"
#include "base/order.h"

#define MAX_CANDIDATES 512 /* asked for an op */
#define MAX_NAMES      16  /* names and copies that an operand is followed through */
#define MAX_DEPTH      80  /* of fusions inside fusions */

bool ts_remat_is(const struct ts_hlo_instr *instr)
{
	return ts_op_looks_remat(instr->name, (struct ts_bytes){ NULL, 0 }, instr->op_name);
}

static bool remat_module_is_any(struct ts_bytes word, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (ts_bytes_is(word, words[i]))
			return true;
	return false;
}

bool ts_remat_is_name(const struct ts_hlo_instr *instr)
{
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_PARAMETER, TS_OPCODE_CONSTANT, TS_OPCODE_TUPLE,
			    TS_OPCODE_GET_TUPLE_ELEMENT, TS_OPCODE_BITCAST, TS_OPCODE_COPY,
			    TS_OPCODE_COPY_START, TS_OPCODE_COPY_DONE, TS_OPCODE_AFTER_ALL,
			    TS_OPCODE_OPT_BARRIER);
}

int64_t ts_remat_bytes(const struct ts_hlo_instr *instr)
{
	return TS_MAX(ts_shape_bytes(&instr->shape), 0);
}

struct ts_bytes ts_remat_region(struct ts_bytes scope)
{
	size_t at = ts_bytes_find(scope, "/rematted_computation");
	size_t end = scope.n;

	if (at < scope.n)
		return ts_bytes_cut(scope, 0, at);
	while (end > 0 && scope.p[end - 1] != '/')
		end--;
	return ts_bytes_cut(scope, 0, end > 0 ? end - 1 : scope.n);
}

/* "transpose(jvp(while))" is "while": what differentiation puts round a name goes. */
static struct ts_bytes peel(struct ts_bytes part)
{
	static const char *const wrappers[] = { "transpose(", "jvp(", "vmap(", "checkpoint(",
						"remat(" };
	bool peeled = true;

	while (peeled) {
		peeled = false;
		for (size_t i = 0; i < TS_NELEM(wrappers); i++)
			if (ts_bytes_starts(part, wrappers[i]) && ts_bytes_ends(part, ")")) {
				size_t n = strlen(wrappers[i]);

				part = ts_bytes_cut(part, n, part.n - n - 1);
				peeled = true;
			}
	}
	return part;
}

/* Where in the program: equal for an op and for its recomputation. 0: nowhere. */
static uint64_t remat_module_key_of(const struct ts_hlo_instr *instr)
{
	static const char *const dropped[] = { "",	"checkpoint", "rematted_computation",
					       "remat", "remat2",     NULL };
	struct ts_bytes rest = instr->op_name;
	uint64_t key = (uint64_t)(uint32_t)instr->source_line + 1;

	if (rest.n == 0)
		return 0;
	while (rest.n > 0) {
		size_t n = ts_bytes_find(rest, "/");
		struct ts_bytes part = peel(ts_bytes_cut(rest, 0, n));

		if (!remat_module_is_any(part, dropped))
			key = ts_hash(part, key);
		rest = ts_bytes_cut(rest, n + 1, rest.n);
	}
	return key ? key : 1;
}

/* The op that an instruction is, or is fused into. */
static uint32_t remat_module_kernel_of(const struct remat_module *remat, uint32_t instr)
{
	for (int i = 0; i < MAX_DEPTH; i++) {
		uint32_t holder = remat->kernel_of[remat->module->instrs[instr].computation];

		if (holder == TS_NONE)
			break;
		instr = holder;
	}
	return instr;
}

TS_ORDER(by_key, struct remat_value, TS_UP(key) TS_UP(instr))

static void remat_module_find_holders(struct remat_module *remat)
{
	const struct ts_hlo_module *module = remat->module;

	for (uint32_t c = 0; c < module->nr_comps; c++)
		remat->kernel_of[c] = TS_NONE;
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		for (uint32_t c = 0; c < module->instrs[i].nr_called; c++)
			if (module->comps[module->instrs[i].called[c]].is_fusion)
				remat->kernel_of[module->instrs[i].called[c]] = i;
}

enum ts_status ts_remat_module_init(struct remat_module *remat, const struct ts_hlo_module *module,
				    struct ts_error *err)
{
	*remat = (struct remat_module){
		.module = module,
		.kernel_of = malloc((module->nr_comps + 1) * sizeof(*remat->kernel_of)),
		.values = calloc(module->nr_instrs + 1, sizeof(*remat->values)),
		.queue = malloc((module->nr_instrs + 1) * sizeof(*remat->queue)),
		.seen = calloc(module->nr_instrs + 1, sizeof(*remat->seen)),
	};
	if (!remat->kernel_of || !remat->values || !remat->queue || !remat->seen)
		return ts_fail_nomem(err);
	remat_module_find_holders(remat);
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		if (!ts_strmap_set(&remat->names, module->instrs[i].name, i))
			return ts_fail_nomem(err);
		if (module->instrs[i].op_name.n > 0 &&
		    !ts_bytes_has(module->instrs[i].op_name, "transpose(") &&
		    !ts_remat_is(&module->instrs[i]) && !ts_remat_is_name(&module->instrs[i]))
			remat->values[remat->nr_values++] =
				(struct remat_value){ remat_module_key_of(&module->instrs[i]), i,
						      remat_module_kernel_of(remat, i) };
	}
	TS_SORT(remat->values, remat->nr_values, by_key);
	return TS_OK;
}

void ts_remat_module_release(struct remat_module *remat)
{
	free(remat->kernel_of);
	free(remat->values);
	free(remat->queue);
	free(remat->seen);
	ts_strmap_release(&remat->names);
}

/* What an operand is, behind names and copies between memories. */
static uint32_t remat_module_behind(const struct ts_hlo_module *module, uint32_t instr)
{
	for (int i = 0; i < MAX_NAMES; i++) {
		const struct ts_hlo_instr *at = &module->instrs[instr];

		if (!ts_remat_is_name(at) || at->nr_operands != 1)
			break;
		instr = at->operands[0];
	}
	return instr;
}

static unsigned shared_operands(const struct ts_hlo_module *module, uint32_t a, uint32_t b)
{
	const struct ts_hlo_instr *x = &module->instrs[a], *y = &module->instrs[b];
	unsigned nr = 0;

	for (uint32_t i = 0; i < x->nr_operands; i++)
		for (uint32_t j = 0; j < y->nr_operands; j++)
			if (remat_module_behind(module, x->operands[i]) ==
			    remat_module_behind(module, y->operands[j])) {
				nr++;
				break;
			}
	return nr;
}

static size_t first_with(const struct remat_module *remat, uint64_t key)
{
	size_t lo = 0, hi = remat->nr_values;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (remat->values[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint32_t original_by_scope(const struct remat_module *remat, uint32_t instr)
{
	const struct ts_hlo_module *module = remat->module;
	int64_t elements = ts_shape_elements(&module->instrs[instr].shape);
	uint64_t key = remat_module_key_of(&module->instrs[instr]);
	uint32_t best = TS_NONE;
	unsigned most = 0;

	for (size_t i = first_with(remat, key), nr = 0;
	     key && i < remat->nr_values && remat->values[i].key == key && nr < MAX_CANDIDATES;
	     i++, nr++) {
		const struct remat_value *value = &remat->values[i];
		unsigned score =
			4 * shared_operands(module, instr, value->kernel) +
			2 * ts_bytes_eq(module->instrs[value->kernel].opcode_text,
					module->instrs[instr].opcode_text) +
			(ts_shape_elements(&module->instrs[value->instr].shape) == elements);

		if (best == TS_NONE || score >= most) {
			best = value->kernel;
			most = score;
		}
	}
	return best;
}

uint32_t ts_remat_original(const struct remat_module *remat, uint32_t instr)
{
	const struct ts_hlo_instr *op = &remat->module->instrs[instr];
	size_t at = ts_bytes_find(op->name, ".remat");

	TS_ASSERT(instr < remat->module->nr_instrs);
	if (at < op->name.n)
		return ts_strmap_find(&remat->names, ts_bytes_cut(op->name, 0, at));
	return original_by_scope(remat, instr);
}

bool ts_remat_is_used(struct remat_module *remat, uint32_t instr)
{
	const struct ts_hlo_module *module = remat->module;
	size_t nr = 0;

	TS_ASSERT(instr < module->nr_instrs);
	remat->round++;
	remat->queue[nr++] = instr;
	for (size_t at = 0; at < nr; at++) {
		const struct ts_hlo_instr *from = &module->instrs[remat->queue[at]];

		for (uint32_t u = 0; u < from->nr_users; u++) {
			const struct ts_hlo_instr *user = &module->instrs[from->users[u]];

			if (!ts_remat_is_name(user) && !ts_remat_is(user))
				return true;
			if (!ts_remat_is_name(user) || remat->seen[from->users[u]] == remat->round)
				continue;
			remat->seen[from->users[u]] = remat->round;
			remat->queue[nr++] = from->users[u];
		}
		if (remat->queue[at] == module->comps[from->computation].root)
			return true; /* a loop or branch gives it on */
	}
	return false;
}
