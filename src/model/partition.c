/* SPDX-License-Identifier: MIT */
/* The two modules of a partitioning, joined to what was compiled of them. See model/partition.h. */
#include "model/partition.h"

#include "base/check.h"
#include "model/partition_walk.h"

/* --- the mesh, and the shardings in its axes */

static struct ts_mesh mesh_needed(const struct ts_hlo_module *module)
{
	struct ts_mesh_edges edges = { .nr = 0 };

	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (module->instrs[i].sharding)
			ts_mesh_note(&edges, module->instrs[i].sharding);
	return ts_mesh_of(&edges);
}

/* Does each axis that is needed lie within axes of the user's? */
static bool mesh_has(const struct ts_mesh *mesh, const struct ts_mesh *needed)
{
	for (uint32_t i = 0; i < needed->nr; i++) {
		bool begins = false, ends = false;

		for (uint32_t k = 0; k < mesh->nr; k++) {
			int64_t end = ts_i64_mul(mesh->axes[k].stride, mesh->axes[k].size);

			begins |= mesh->axes[k].stride == needed->axes[i].stride;
			ends |= end == needed->axes[i].stride * needed->axes[i].size;
		}
		if (!begins || !ends)
			return false;
	}
	return mesh->nr > 0;
}

/* An array without a sharding is whole on each device: that is how the partitioner takes it. */
static struct ts_spec spec_of(const struct ts_mesh *mesh, const struct ts_hlo_instr *instr)
{
	static const struct ts_hlo_sharding whole = { .nr_tiles = 0 };

	if (instr->shape.nr_parts > 0)
		return (struct ts_spec){ .rank = 0 };
	return ts_sharding_spec(mesh, instr->sharding ? instr->sharding : &whole,
				instr->shape.rank);
}

static enum ts_status map_names(struct ts_places *places, const struct ts_hlo_module *module,
				struct ts_error *err)
{
	places->next = calloc(module->nr_instrs + 1, sizeof(*places->next));
	if (!places->next)
		return ts_fail_nomem(err);
	for (uint32_t i = module->nr_instrs; i-- > 0;) {
		const struct ts_hlo_instr *instr = &module->instrs[i];

		places->next[i] = TS_NONE;
		if (instr->op_name.n == 0)
			continue;
		places->next[i] = ts_strmap_find(&places->by_name, instr->op_name);
		if (!ts_strmap_set(&places->by_name, instr->op_name, i))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status map_channels(struct ts_partition *partition, struct ts_error *err)
{
	const struct ts_hlo_module *module = partition->after;

	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		const struct ts_hlo_instr *instr = &module->instrs[i];

		if (instr->channel_id != TS_HLO_UNKNOWN && ts_opcode_is_collective(instr->opcode) &&
		    !ts_map_set(&partition->by_channel, (uint64_t)instr->channel_id, i))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

enum ts_status ts_partition_make(struct ts_partition *partition, const struct ts_hlo_module *before,
				 const struct ts_hlo_module *after, const struct ts_mesh *mesh,
				 struct ts_error *err)
{
	struct ts_mesh needed = mesh_needed(before);
	enum ts_status st;

	TS_ASSERT(partition && before && after && mesh);
	*partition = (struct ts_partition){ .before = before, .after = after };
	partition->mesh = mesh_has(mesh, &needed) ? *mesh : needed;
	partition->specs = calloc(before->nr_instrs + 1, sizeof(*partition->specs));
	if (!partition->specs)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < before->nr_instrs; i++)
		partition->specs[i] = spec_of(&partition->mesh, &before->instrs[i]);
	st = map_names(&partition->places_before, before, err);
	if (st == TS_OK)
		st = map_names(&partition->places_after, after, err);
	return st ? st : map_channels(partition, err);
}

static void places_release(struct ts_places *places)
{
	free(places->next);
	ts_strmap_release(&places->by_name);
}

void ts_partition_release(struct ts_partition *partition)
{
	free(partition->specs);
	places_release(&partition->places_before);
	places_release(&partition->places_after);
	ts_map_release(&partition->by_channel);
	*partition = (struct ts_partition){ .before = NULL };
}

/* --- from the compiled collective to the arrays */

/* The instructions of one JAX name, in their order: so many of them at most. */
struct places_walk {
	const struct ts_places *places;
	uint32_t at, next, left;
};

static struct places_walk walk_places(const struct ts_places *places, struct ts_bytes name)
{
	return (struct places_walk){ .places = places,
				     .at = TS_NONE,
				     .next = name.n ? ts_strmap_find(&places->by_name, name)
						    : TS_NONE,
				     .left = TS_PARTITION_ALIKE };
}

static bool next_place(struct places_walk *walk)
{
	if (walk->next == TS_NONE || walk->left-- == 0)
		return false;
	walk->at = walk->next;
	walk->next = walk->places->next[walk->at];
	return true;
}

static int32_t column_of(const struct ts_hlo_instr *instr)
{
	return instr->nr_frames > 0 ? instr->frames[0].column : 0;
}

static bool is_same_place(const struct ts_hlo_instr *instr, const struct ts_hlo_instr *other)
{
	return ts_bytes_eq(instr->op_name, other->op_name) &&
	       instr->source_line == other->source_line &&
	       ts_bytes_eq(instr->source_file, other->source_file) &&
	       column_of(instr) == column_of(other);
}

static bool is_as_large(const struct ts_hlo_instr *instr, const struct ts_hlo_instr *other)
{
	const struct ts_shape *array = ts_hlo_given(instr), *theirs = ts_hlo_given(other);

	return array->dtype == theirs->dtype &&
	       ts_shape_elements(array) == ts_shape_elements(theirs);
}

/*
 * The collective as the partitioner left it: of the same kind, by its channel where the compiler kept the numbers, else at the same
 * place; the first that gives as much, else the first.
 */
static const struct ts_hlo_instr *first_form(const struct ts_partition *partition,
					     const struct ts_hlo_instr *instr)
{
	enum ts_opcode kind = ts_opcode_whole(instr->opcode);
	uint32_t at = instr->channel_id == TS_HLO_UNKNOWN
			      ? TS_NONE
			      : ts_map_find(&partition->by_channel, (uint64_t)instr->channel_id);

	const struct ts_hlo_instr *found = NULL;
	struct places_walk walk = walk_places(&partition->places_after, instr->op_name);

	if (at != TS_NONE && partition->after->instrs[at].opcode == kind)
		found = &partition->after->instrs[at];
	while ((!found || !is_as_large(instr, found)) && next_place(&walk)) {
		const struct ts_hlo_instr *other = &partition->after->instrs[walk.at];

		if (other->opcode == kind && is_same_place(instr, other) &&
		    (!found || is_as_large(instr, other)))
			found = other;
	}
	return found;
}

/* The instruction of before at the same place: of the same opcode where there is one. */
static uint32_t find_before(const struct ts_partition *partition, const struct ts_hlo_instr *instr)
{
	struct places_walk walk = walk_places(&partition->places_before, instr->op_name);
	uint32_t found = TS_NONE;

	while (next_place(&walk)) {
		const struct ts_hlo_instr *other = &partition->before->instrs[walk.at];

		if (!is_same_place(instr, other))
			continue;
		if (other->opcode == instr->opcode)
			return walk.at;
		if (found == TS_NONE)
			found = walk.at;
	}
	return found;
}

static uint32_t parameter_before(const struct ts_partition *partition,
				 const struct ts_hlo_instr *parameter)
{
	const struct ts_hlo_comp *entry = &partition->before->comps[partition->before->entry];

	if (parameter->computation != partition->after->entry || parameter->parameter_number < 0 ||
	    parameter->parameter_number >= entry->nr_params)
		return TS_NONE;
	return entry->params[parameter->parameter_number];
}

/* Was it put in with the collective, to bring what it moves into form? */
static bool is_carrier(const struct ts_partition *partition, const struct ts_hlo_instr *instr,
		       const struct ts_hlo_instr *collective)
{
	uint32_t same;

	if (!TS_OPCODE_IN(instr->opcode, TS_OPCODE_RESHAPE, TS_OPCODE_BITCAST, TS_OPCODE_COPY,
			  TS_OPCODE_TRANSPOSE, TS_OPCODE_SLICE, TS_OPCODE_DYNAMIC_SLICE,
			  TS_OPCODE_PAD, TS_OPCODE_ALL_GATHER, TS_OPCODE_ALL_TO_ALL,
			  TS_OPCODE_COLLECTIVE_PERMUTE, TS_OPCODE_ALL_REDUCE))
		return false;
	if (instr->op_name.n == 0)
		return true;
	same = find_before(partition, instr);
	return is_same_place(instr, collective) &&
	       (same == TS_NONE || partition->before->instrs[same].opcode != instr->opcode);
}

#define MAX_CARRIED 32

/* What the collective moves. */
static uint32_t value_of(const struct ts_partition *partition,
			 const struct ts_hlo_instr *collective)
{
	const struct ts_hlo_module *after = partition->after;
	const struct ts_hlo_instr *at = collective;

	for (int i = 0; i < MAX_CARRIED && at->nr_operands > 0; i++) {
		at = &after->instrs[at->operands[0]];
		if (at->opcode == TS_OPCODE_PARAMETER)
			return parameter_before(partition, at);
		if (!is_carrier(partition, at, collective))
			return find_before(partition, at);
	}
	return TS_NONE;
}

static bool has_operand(const struct ts_hlo_instr *instr, uint32_t operand)
{
	for (uint32_t i = 0; i < TS_MIN(instr->nr_operands, TS_PARTITION_MOST); i++)
		if (instr->operands[i] == operand)
			return true;
	return false;
}

/* The op at the collective's place that takes the value; the value itself where its own result is resharded. */
static uint32_t user_of(const struct ts_partition *partition, const struct ts_hlo_instr *collective,
			uint32_t value)
{
	const struct ts_hlo_instr *of = &partition->before->instrs[value];
	struct places_walk walk = walk_places(&partition->places_before, collective->op_name);
	uint32_t found = TS_NONE;

	if (of->opcode != TS_OPCODE_PARAMETER && is_same_place(of, collective))
		return value;
	while (next_place(&walk)) {
		const struct ts_hlo_instr *instr = &partition->before->instrs[walk.at];

		if (walk.at == value || !is_same_place(instr, collective))
			continue;
		if (has_operand(instr, value))
			return walk.at;
		if (found == TS_NONE)
			found = walk.at;
	}
	return found == TS_NONE && of->nr_users > 0 ? of->users[0] : found;
}

static bool was_there(const struct ts_partition *partition, const struct ts_hlo_instr *collective)
{
	struct places_walk walk = walk_places(&partition->places_before, collective->op_name);

	while (next_place(&walk))
		if (partition->before->instrs[walk.at].opcode == collective->opcode &&
		    is_same_place(&partition->before->instrs[walk.at], collective))
			return true;
	return false;
}

/* Do devices find out which one they are, in what INSTR is made of? */
static bool asks_who(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr,
		     int depth)
{
	if (TS_OPCODE_IN(instr->opcode, TS_OPCODE_PARTITION_ID, TS_OPCODE_REPLICA_ID))
		return true;
	for (uint32_t i = 0; depth > 0 && i < TS_MIN(instr->nr_operands, 4); i++)
		if (asks_who(module, &module->instrs[instr->operands[i]], depth - 1))
			return true;
	return false;
}

#define MAX_FOLLOWED  64
#define MAX_INDEX_OPS 5

static bool is_own_part(const struct ts_hlo_module *module, const struct ts_hlo_instr *instr)
{
	if (instr->opcode != TS_OPCODE_DYNAMIC_SLICE)
		return false;
	for (uint32_t k = 1; k < TS_MIN(instr->nr_operands, TS_SPEC_DIMS + 1); k++)
		if (asks_who(module, &module->instrs[instr->operands[k]], MAX_INDEX_OPS))
			return true;
	return false;
}

/* Is what was gathered cut into each device's part again, by some op or behind ops that change nothing of its shape? */
static bool is_cut_again(const struct ts_hlo_module *module, const struct ts_hlo_instr *collective)
{
	const struct ts_hlo_instr *seen[MAX_FOLLOWED] = { collective };
	size_t nr = 1;

	for (size_t i = 0; i < nr; i++) {
		for (uint32_t k = 0; k < TS_MIN(seen[i]->nr_users, TS_PARTITION_MOST); k++) {
			const struct ts_hlo_instr *user = &module->instrs[seen[i]->users[k]];

			if (is_own_part(module, user))
				return true;
			if (nr < MAX_FOLLOWED && ts_partition_is_elementwise(user))
				seen[nr++] = user;
		}
	}
	return false;
}

/*
 * An argument that a product takes whole, along axes that the product's other side is split along: a weight that every device has a part of
 * and needs all of for its part of the batch, as FSDP splits it.
 */
static bool is_weight(const struct ts_partition *partition, const struct ts_resharding *found,
		      ts_axes axes)
{
	const struct ts_hlo_instr *user = &partition->before->instrs[found->user];
	ts_axes others = 0;

	if (partition->before->instrs[found->value].opcode != TS_OPCODE_PARAMETER ||
	    (user->opcode == TS_OPCODE_DOT && user->dot && user->dot->nr_lhs_batch > 0))
		return false;
	for (uint32_t i = 0; i < TS_MIN(user->nr_operands, TS_PARTITION_MOST); i++) {
		const struct ts_spec *spec = &partition->specs[user->operands[i]];

		for (uint32_t k = 0; user->operands[i] != found->value && k < spec->rank; k++)
			if (ts_axes_meet(spec->dims[k], axes))
				others = axes;
	}
	return others != 0;
}

struct ts_resharding ts_partition_reason(const struct ts_partition *partition,
					 const struct ts_hlo_instr *instr)
{
	struct ts_resharding found = { .value = TS_NONE, .user = TS_NONE, .cause_instr = TS_NONE };
	const struct ts_hlo_instr *collective;

	TS_ASSERT(partition && instr);
	collective = first_form(partition, instr);
	if (!collective)
		return found;
	found.is_found = true;
	found.was_there = was_there(partition, collective);
	found.is_cut_again = is_cut_again(partition->after, collective);
	if (!found.was_there)
		found.value = value_of(partition, collective);
	if (found.value != TS_NONE)
		found.user = user_of(partition, collective, found.value);
	if (found.user == TS_NONE)
		return found;
	found.is_weight =
		is_weight(partition, &found, ts_mesh_axes_of(&partition->mesh, &collective->group));
	ts_partition_walk(partition, collective, &found);
	return found;
}
