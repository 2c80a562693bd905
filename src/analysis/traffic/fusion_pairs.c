/* SPDX-License-Identifier: MIT */
/*
 * Intermediates that one kernel writes to HBM and another reads from there. The maker of the array
 * that an op reads is found behind all its names, through loops, branches and calls.
 *
 * Fusing would save the read and, where no other op needs the array, the write. A write is shared
 * out evenly among the ops that read it, so that all pairs together never have more bytes than the
 * intermediates cause. Arrays of one element, which lie in registers, are left out. So is the
 * branch of a conditional that made its result.
 */
#include "analysis/traffic/fusion.h"

#include "model/cost.h"

#define MAX_HOPS 256 /* from an end of an asynchronous op to its start */
#define WHOLE	 TS_HLO_WHOLE

struct array {
	struct ts_hlo_place made;
	int64_t bytes;	 /* of a write */
	size_t nr_users; /* kernels */
	bool is_output;
};

struct use {
	uint32_t array, consumer, operand;
	int64_t bytes;
	bool crosses, carried;
};

struct finder {
	struct ts_fusion_walk *walk;
	struct ts_map by_place; /* -> arrays */
	struct ts_map by_use;	/* array and consumer -> uses */
	struct ts_map by_pair;	/* producer and consumer -> pairs */
	struct array *arrays;
	struct use *uses;
	size_t nr_arrays, cap_arrays, nr_uses, cap_uses;
};

static bool passes_hbm(const struct ts_shape *shape)
{
	return shape && shape->memory_space == TS_SPACE_HBM && ts_dtype_bits(shape->dtype) > 0 &&
	       ts_shape_elements(shape) > 1;
}

/* What an op writes of a result: of an update in place the update alone. */
static int64_t written_bytes(const struct ts_hlo_module *module, struct ts_hlo_place made)
{
	const struct ts_hlo_instr *instr = &module->instrs[made.instr];
	int64_t all = ts_shape_bytes(ts_hlo_place_shape(module, made));
	uint32_t update;

	if (instr->opcode == TS_OPCODE_FUSION && instr->nr_called > 0) {
		instr = &module->instrs[module->comps[instr->called[0]].root];
		if (instr->opcode == TS_OPCODE_TUPLE && made.leaf >= 0 &&
		    made.leaf < instr->nr_operands)
			instr = &module->instrs[instr->operands[made.leaf]];
	}
	update = instr->opcode == TS_OPCODE_DYNAMIC_UPDATE_SLICE ? 1
		 : instr->opcode == TS_OPCODE_SCATTER		 ? 2
								 : UINT32_MAX;
	if (update >= instr->nr_operands)
		return all;
	return TS_MIN(ts_shape_bytes(&module->instrs[instr->operands[update]].shape), all);
}

/* The array of a place, made when it is new. */
static enum ts_status array_of(struct finder *finder, struct ts_hlo_place made, uint32_t *array,
			       struct ts_error *err)
{
	uint64_t key = (uint64_t)made.instr << 32 | (uint32_t)(made.leaf + 1);

	*array = ts_map_find(&finder->by_place, key);
	if (*array != TS_NONE)
		return TS_OK;
	*array = (uint32_t)finder->nr_arrays;
	if (!ts_grow(&finder->arrays, &finder->cap_arrays, finder->nr_arrays + 1,
		     sizeof(*finder->arrays)) ||
	    !ts_map_set(&finder->by_place, key, *array))
		return ts_fail_nomem(err);
	finder->arrays[finder->nr_arrays++] =
		(struct array){ made, written_bytes(finder->walk->module, made), 0, false };
	return TS_OK;
}

static bool trace_operand(const struct finder *finder, struct ts_hlo_place place,
			  struct ts_hlo_trace *trace)
{
	*trace = (struct ts_hlo_trace){ .module = finder->walk->module,
					.caller = finder->walk->caller,
					.place = place };
	return ts_hlo_trace_back(trace) &&
	       passes_hbm(ts_hlo_place_shape(finder->walk->module, trace->place));
}

static enum ts_status add_use(struct finder *finder, uint32_t consumer, uint32_t operand,
			      struct ts_error *err)
{
	const struct ts_hlo_module *module = finder->walk->module;
	struct ts_hlo_place place = { module->instrs[consumer].operands[operand], WHOLE };
	struct ts_hlo_trace trace;
	uint32_t array;
	uint64_t key;
	enum ts_status st;

	if (!passes_hbm(ts_hlo_place_shape(module, place)) || !trace_operand(finder, place, &trace))
		return TS_OK;
	st = array_of(finder, trace.place, &array, err);
	if (st)
		return st;
	key = (uint64_t)array << 32 | consumer;
	if (ts_map_find(&finder->by_use, key) != TS_NONE)
		return TS_OK; /* the same array, twice an operand */
	if (!ts_grow(&finder->uses, &finder->cap_uses, finder->nr_uses + 1,
		     sizeof(*finder->uses)) ||
	    !ts_map_set(&finder->by_use, key, (uint32_t)finder->nr_uses))
		return ts_fail_nomem(err);
	finder->arrays[array].nr_users++;
	finder->uses[finder->nr_uses++] =
		(struct use){ array,	     consumer,
			      operand,	     ts_hlo_read_bytes(module, consumer, operand),
			      trace.crosses, trace.carried };
	return TS_OK;
}

static enum ts_status find_uses(struct finder *finder, struct ts_error *err)
{
	const struct ts_hlo_module *module = finder->walk->module;
	enum ts_status st;

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];

		if (finder->walk->inner[instr->computation] || ts_hlo_is_name(instr) ||
		    ts_hlo_is_control(instr) || ts_hlo_is_done(instr))
			continue;
		for (uint32_t j = 0; j < instr->nr_operands; j++) {
			st = add_use(finder, i, j, err);
			if (st)
				return st;
		}
	}
	return TS_OK;
}

/* What the module gives out is written in any case. */
static enum ts_status find_outputs(struct finder *finder, struct ts_error *err)
{
	const struct ts_hlo_module *module = finder->walk->module;
	uint32_t root = module->comps[module->entry].root;
	const struct ts_shape *shape = &module->instrs[root].shape;
	bool is_tuple = shape->dtype == TS_TUPLE;

	for (uint32_t i = 0; i < (is_tuple ? shape->nr_parts : 1); i++) {
		struct ts_hlo_place place = { root, is_tuple ? (int64_t)i : WHOLE };
		struct ts_hlo_trace trace;
		uint32_t array;
		enum ts_status st;

		if (!trace_operand(finder, place, &trace))
			continue;
		st = array_of(finder, trace.place, &array, err);
		if (st)
			return st;
		finder->arrays[array].is_output = true;
	}
	return TS_OK;
}

static struct ts_fusion_pair *fusion_pairs_pair_of(struct finder *finder, const struct use *use,
						   struct ts_fusion_pairs *pairs)
{
	uint32_t producer = finder->arrays[use->array].made.instr;
	uint64_t key = (uint64_t)producer << 32 | use->consumer;
	uint32_t at = ts_map_find(&finder->by_pair, key);

	if (at != TS_NONE)
		return &pairs->items[at];
	if (!ts_grow(&pairs->items, &pairs->cap, pairs->nr + 1, sizeof(*pairs->items)) ||
	    !ts_map_set(&finder->by_pair, key, (uint32_t)pairs->nr))
		return NULL;
	pairs->items[pairs->nr] = (struct ts_fusion_pair){ .module = finder->walk->module,
							   .producer = producer,
							   .consumer = use->consumer,
							   .executions = -1,
							   .impact_ps = NAN };
	return &pairs->items[pairs->nr++];
}

static enum ts_status add_to_pair(struct finder *finder, const struct use *use,
				  struct ts_fusion_pairs *pairs, struct ts_error *err)
{
	const struct array *array = &finder->arrays[use->array];
	const struct ts_fusion_time *times = finder->walk->times;
	struct ts_fusion_pair *pair;
	struct ts_fusion_case what = {
		finder->walk,	 array->made,	   use->consumer, use->operand,
		array->nr_users, array->is_output, use->crosses,  use->carried,
	};

	if (use->bytes <= 0 || (times && times[use->consumer].occurrences == 0))
		return TS_OK; /* nothing is read of it, or in a branch that was not taken */
	pair = fusion_pairs_pair_of(finder, use, pairs);
	if (!pair)
		return ts_fail_nomem(err);
	pair->read_bytes = ts_i64_add(pair->read_bytes, use->bytes);
	if (!array->is_output)
		pair->write_bytes =
			ts_i64_add(pair->write_bytes, array->bytes / (int64_t)array->nr_users);
	if (!pair->reason || array->bytes > pair->largest_bytes) {
		pair->reason = ts_fusion_reason_of(&what);
		pair->largest_bytes = array->bytes;
	}
	return TS_OK;
}

/* An end of an asynchronous op has the time of both. */
static struct ts_fusion_time *fusion_pairs_time_of(const struct ts_fusion_walk *walk,
						   uint32_t index)
{
	for (int i = 0; i < MAX_HOPS && ts_hlo_is_done(&walk->module->instrs[index]); i++) {
		if (walk->module->instrs[index].nr_operands == 0)
			break;
		index = walk->module->instrs[index].operands[0];
	}
	return &walk->times[index];
}

static void join_halves(const struct ts_fusion_walk *walk)
{
	for (uint32_t i = 0; i < walk->module->nr_instrs; i++) {
		struct ts_fusion_time *whole = fusion_pairs_time_of(walk, i),
				      *half = &walk->times[i];

		if (whole == half)
			continue;
		whole->self_ps = ts_i64_add(whole->self_ps, half->self_ps);
		whole->spare_ps += half->spare_ps;
		whole->occurrences = TS_MAX(whole->occurrences, half->occurrences);
	}
}

/* The part of a demand that can go. */
static double covered(const struct ts_fusion_time *time, double demand_ps)
{
	return time->demand_ps > time->spare_ps ? demand_ps * (time->spare_ps / time->demand_ps)
						: demand_ps;
}

/* Bytes of all executions, as time at HBM's peak; of an op never more than it has to spare. */
static void fusion_pairs_weigh(const struct ts_fusion_walk *walk, double per_byte_ps,
			       struct ts_fusion_pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct ts_fusion_time *from = fusion_pairs_time_of(walk, pairs[i].producer);
		struct ts_fusion_time *to = fusion_pairs_time_of(walk, pairs[i].consumer);

		from->demand_ps +=
			(double)pairs[i].write_bytes * (double)from->occurrences * per_byte_ps;
		to->demand_ps +=
			(double)pairs[i].read_bytes * (double)to->occurrences * per_byte_ps;
	}
	for (size_t i = 0; i < nr; i++) {
		const struct ts_fusion_time *from = fusion_pairs_time_of(walk, pairs[i].producer);
		const struct ts_fusion_time *to = fusion_pairs_time_of(walk, pairs[i].consumer);

		pairs[i].executions = to->occurrences;
		pairs[i].total_bytes =
			ts_i64_add(ts_i64_mul(pairs[i].read_bytes, to->occurrences),
				   ts_i64_mul(pairs[i].write_bytes, from->occurrences));
		pairs[i].impact_ps = covered(to, (double)pairs[i].read_bytes *
							 (double)to->occurrences * per_byte_ps) +
				     covered(from, (double)pairs[i].write_bytes *
							   (double)from->occurrences * per_byte_ps);
	}
}

static void weigh_once(double per_byte_ps, struct ts_fusion_pair *pairs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		pairs[i].total_bytes = ts_i64_add(pairs[i].read_bytes, pairs[i].write_bytes);
		pairs[i].impact_ps = (double)pairs[i].total_bytes * per_byte_ps;
	}
}

enum ts_status ts_fusion_find_pairs(struct ts_fusion_walk *walk, double per_byte_ps,
				    struct ts_fusion_pairs *pairs, struct ts_error *err)
{
	struct finder finder = { .walk = walk };
	size_t first = pairs->nr;
	enum ts_status st;

	TS_ASSERT(walk->module && walk->inner && walk->caller && walk->traits);
	if (walk->times)
		join_halves(walk);
	st = find_uses(&finder, err);
	if (st)
		goto done;
	st = find_outputs(&finder, err);
	if (st)
		goto done;
	for (size_t i = 0; i < finder.nr_uses && st == TS_OK; i++)
		st = add_to_pair(&finder, &finder.uses[i], pairs, err);
	if (st || pairs->nr == first)
		goto done; /* there may be no array to point into */
	if (walk->times)
		fusion_pairs_weigh(walk, per_byte_ps, pairs->items + first, pairs->nr - first);
	else
		weigh_once(per_byte_ps, pairs->items + first, pairs->nr - first);
done:
	ts_map_release(&finder.by_place);
	ts_map_release(&finder.by_use);
	ts_map_release(&finder.by_pair);
	free(finder.arrays);
	free(finder.uses);
	return st;
}
