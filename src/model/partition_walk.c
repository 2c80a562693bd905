/* SPDX-License-Identifier: MIT */
/* Who asks for a sharding: walks over the module as the partitioner got it. See model/partition.h. */
#include "model/partition_walk.h"

#include "base/check.h"

static const struct ts_hlo_instr *instr_at(const struct ts_partition *partition, uint32_t at)
{
	return &partition->before->instrs[at];
}

bool ts_partition_is_elementwise(const struct ts_hlo_instr *instr)
{
	static const enum ts_opcode others[] = {
		TS_OPCODE_PARAMETER,	 TS_OPCODE_CONSTANT,	  TS_OPCODE_IOTA,
		TS_OPCODE_BROADCAST,	 TS_OPCODE_RESHAPE,	  TS_OPCODE_TRANSPOSE,
		TS_OPCODE_DOT,		 TS_OPCODE_CONVOLUTION,	  TS_OPCODE_REDUCE,
		TS_OPCODE_GATHER,	 TS_OPCODE_SCATTER,	  TS_OPCODE_REVERSE,
		TS_OPCODE_SORT,		 TS_OPCODE_CUSTOM_CALL,	  TS_OPCODE_FUSION,
		TS_OPCODE_CALL,		 TS_OPCODE_WHILE,	  TS_OPCODE_CONDITIONAL,
		TS_OPCODE_FFT,		 TS_OPCODE_REDUCE_WINDOW, TS_OPCODE_DYNAMIC_UPDATE_SLICE,
		TS_OPCODE_TOPK,		 TS_OPCODE_CHOLESKY,	  TS_OPCODE_TRIANGULAR_SOLVE,
		TS_OPCODE_DYNAMIC_SLICE, TS_OPCODE_SLICE,	  TS_OPCODE_PAD,
		TS_OPCODE_CONCATENATE,
	};

	return instr->nr_operands > 0 && !ts_opcode_is_collective(instr->opcode) &&
	       !ts_opcode_in(instr->opcode, others, TS_NELEM(others));
}

static bool partition_is_constraint(const struct ts_hlo_instr *instr)
{
	return ts_bytes_ends(instr->op_name, "sharding_constraint");
}

static bool is_made_of_nothing(const struct ts_partition *partition, uint32_t at)
{
	const struct ts_hlo_instr *instr = instr_at(partition, at);

	for (int i = 0;
	     i < TS_PARTITION_MOST && instr->nr_operands == 1 &&
	     TS_OPCODE_IN(instr->opcode, TS_OPCODE_BROADCAST, TS_OPCODE_CONVERT, TS_OPCODE_RESHAPE);
	     i++)
		instr = instr_at(partition, instr->operands[0]);
	return TS_OPCODE_IN(instr->opcode, TS_OPCODE_CONSTANT, TS_OPCODE_IOTA);
}

/* --- the sharding that a result has by itself */

/* Each axis once: what an earlier dimension goes along no later one can. */
static void set_dim(struct ts_spec *spec, uint32_t dim, ts_axes axes)
{
	ts_axes taken = 0;

	for (uint32_t i = 0; i < spec->rank; i++)
		if (ts_axes_meet(spec->dims[i], axes))
			taken = spec->dims[i];
	spec->dims[dim] = ts_axes_less(axes, taken);
}

static bool is_among(int64_t dim, const int64_t *dims, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (dims[i] == dim)
			return true;
	return false;
}

/* The dimensions of one side that the product keeps, in its result from AT on. */
static uint32_t keep_free(struct ts_spec *spec, uint32_t at, const struct ts_spec *side,
			  const int64_t *contracting, uint32_t nr_contracting, const int64_t *batch,
			  uint32_t nr_batch)
{
	for (uint32_t i = 0; i < side->rank && at < spec->rank; i++)
		if (!is_among(i, contracting, nr_contracting) && !is_among(i, batch, nr_batch))
			set_dim(spec, at++, side->dims[i]);
	return at;
}

static struct ts_spec natural_dot(const struct ts_partition *partition,
				  const struct ts_hlo_instr *instr)
{
	struct ts_spec spec = { .rank = instr->shape.rank };
	const struct ts_dot_dims *dot = instr->dot;
	const struct ts_spec *lhs, *rhs;
	uint32_t at = 0;

	if (!dot || instr->nr_operands < 2)
		return spec;
	lhs = &partition->specs[instr->operands[0]];
	rhs = &partition->specs[instr->operands[1]];
	spec.is_known = lhs->is_known && rhs->is_known && spec.rank <= TS_SPEC_DIMS;
	for (uint32_t i = 0; spec.is_known && i < dot->nr_lhs_batch && at < spec.rank; i++) {
		int64_t left = dot->lhs_batch[i],
			right = i < dot->nr_rhs_batch ? dot->rhs_batch[i] : -1;

		if (left >= 0 && left < lhs->rank && lhs->dims[left])
			set_dim(&spec, at, lhs->dims[left]);
		else if (right >= 0 && right < rhs->rank)
			set_dim(&spec, at, rhs->dims[right]);
		at++;
	}
	if (!spec.is_known)
		return spec;
	at = keep_free(&spec, at, lhs, dot->lhs_contracting, dot->nr_lhs_contracting,
		       dot->lhs_batch, dot->nr_lhs_batch);
	keep_free(&spec, at, rhs, dot->rhs_contracting, dot->nr_rhs_contracting, dot->rhs_batch,
		  dot->nr_rhs_batch);
	return spec;
}

/* A slice has the dimensions of the table that are no single position; those of the indices come in between. */
static struct ts_spec natural_gather(const struct ts_partition *partition,
				     const struct ts_hlo_instr *instr)
{
	struct ts_spec spec = { .rank = instr->shape.rank };
	const struct ts_spec *table, *indices;
	uint32_t window = 0, batch = 0, nr_single;

	if (!instr->slices || instr->nr_operands < 2)
		return spec;
	table = &partition->specs[instr->operands[0]];
	indices = &partition->specs[instr->operands[1]];
	spec.is_known = table->is_known && indices->is_known && spec.rank <= TS_SPEC_DIMS &&
			instr->nr_slice_sizes == table->rank;
	nr_single = table->rank - TS_MIN(instr->slices->nr_window, table->rank);
	for (uint32_t i = 0; spec.is_known && i < table->rank; i++) {
		bool is_whole = instr->slice_sizes[i] ==
				instr_at(partition, instr->operands[0])->shape.dims[i];

		if (nr_single > 0 && instr->slice_sizes[i] == 1) {
			nr_single--;
			continue;
		}
		if (window < instr->slices->nr_window && is_whole &&
		    instr->slices->window[window] >= 0 && instr->slices->window[window] < spec.rank)
			set_dim(&spec, (uint32_t)instr->slices->window[window], table->dims[i]);
		window++;
	}
	for (uint32_t i = 0; spec.is_known && i < spec.rank; i++)
		if (!is_among(i, instr->slices->window, instr->slices->nr_window) &&
		    batch < indices->rank)
			set_dim(&spec, i, indices->dims[batch++]);
	return spec;
}

static struct ts_spec natural_moved(const struct ts_partition *partition,
				    const struct ts_hlo_instr *instr)
{
	const struct ts_spec *from = &partition->specs[instr->operands[0]];
	struct ts_spec spec = { .rank = instr->shape.rank };
	uint32_t at = 0;

	spec.is_known = from->is_known && spec.rank <= TS_SPEC_DIMS;
	for (uint32_t i = 0; spec.is_known && i < from->rank; i++) {
		if (instr->opcode == TS_OPCODE_REDUCE) {
			if (!is_among(i, instr->dimensions, instr->nr_dimensions) && at < spec.rank)
				set_dim(&spec, at++, from->dims[i]);
		} else if (i < instr->nr_dimensions) {
			/* broadcast: where the operand's dimension goes; transpose: where it comes from */
			int64_t other = instr->dimensions[i];

			if (other < 0 || other >= TS_SPEC_DIMS)
				spec.is_known = false;
			else if (instr->opcode == TS_OPCODE_BROADCAST && other < spec.rank)
				set_dim(&spec, (uint32_t)other, from->dims[i]);
			else if (instr->opcode == TS_OPCODE_TRANSPOSE && other < from->rank)
				set_dim(&spec, i, from->dims[other]);
		}
	}
	return spec;
}

/* Dimensions that are split into several or joined: the first of those has the axes, where it can be cut so often. */
static struct ts_spec natural_reshape(const struct ts_partition *partition,
				      const struct ts_hlo_instr *instr)
{
	const struct ts_shape *shape = &instr->shape,
			      *from = &instr_at(partition, instr->operands[0])->shape;
	const struct ts_spec *spec = &partition->specs[instr->operands[0]];
	struct ts_spec found = { .is_known = spec->is_known && shape->rank <= TS_SPEC_DIMS,
				 .rank = shape->rank };

	for (uint32_t i = 0, k = 0; found.is_known && i < from->rank && k < shape->rank;) {
		int64_t ours = shape->dims[k], theirs = from->dims[i];
		uint32_t first = i;

		if (ours % ts_mesh_size(&partition->mesh, spec->dims[i]) != 0)
			found.is_known = false;
		else
			set_dim(&found, k, spec->dims[i]);
		while (ours != theirs && (i + 1 < from->rank || k + 1 < shape->rank)) {
			if (theirs < ours && i + 1 < from->rank)
				theirs = ts_i64_mul(theirs, from->dims[++i]);
			else if (k + 1 < shape->rank)
				ours = ts_i64_mul(ours, shape->dims[++k]);
			else
				break;
		}
		for (uint32_t d = first + 1; d <= i; d++)
			found.is_known &= spec->dims[d] == 0;
		i++;
		k++;
	}
	return found;
}

/* By the shardings of its operands; unknown, where it is that of one of them or cannot be told. */
static struct ts_spec natural(const struct ts_partition *partition, uint32_t at)
{
	const struct ts_hlo_instr *instr = instr_at(partition, at);

	if (instr->opcode == TS_OPCODE_DOT)
		return natural_dot(partition, instr);
	if (instr->opcode == TS_OPCODE_GATHER)
		return natural_gather(partition, instr);
	if (instr->opcode == TS_OPCODE_RESHAPE && instr->nr_operands == 1)
		return natural_reshape(partition, instr);
	if (TS_OPCODE_IN(instr->opcode, TS_OPCODE_REDUCE, TS_OPCODE_BROADCAST,
			 TS_OPCODE_TRANSPOSE) &&
	    instr->nr_operands > 0)
		return natural_moved(partition, instr);
	return (struct ts_spec){ .rank = instr->shape.rank };
}

/* --- who asks for it */

struct asking {
	enum ts_cause_kind kind;
	uint32_t instr;
};

#define MAX_SEEN 256

/* Over users that have the same sharding, the nearest first: to a constraint, else to the module's result. */
static struct asking look_ahead(const struct ts_partition *partition, uint32_t from)
{
	const struct ts_hlo_comp *entry = &partition->before->comps[partition->before->entry];
	struct asking found = { TS_CAUSE_UNKNOWN, TS_NONE };
	uint32_t seen[MAX_SEEN] = { from };
	size_t nr = 1, left = TS_PARTITION_STEPS;

	for (size_t i = 0; i < nr; i++) {
		const struct ts_hlo_instr *instr = instr_at(partition, seen[i]);

		if (partition_is_constraint(instr))
			return (struct asking){ TS_CAUSE_CONSTRAINT, seen[i] };
		if (seen[i] == entry->root && found.kind == TS_CAUSE_UNKNOWN)
			found = (struct asking){ TS_CAUSE_RESULT, seen[i] };
		for (uint32_t k = 0; k < instr->nr_users && nr < MAX_SEEN && left-- > 0; k++) {
			uint32_t user = instr->users[k];
			bool is_seen =
				!ts_spec_eq(&partition->specs[user], &partition->specs[seen[i]]);

			for (size_t s = 0; s < nr && !is_seen; s++)
				is_seen = seen[s] == user;
			if (!is_seen)
				seen[nr++] = user;
		}
	}
	return found;
}

/* The operand whose sharding an op has; TS_NONE: there is none. */
static uint32_t operand_alike(const struct ts_partition *partition, uint32_t at)
{
	const struct ts_hlo_instr *instr = instr_at(partition, at);

	for (uint32_t i = 0; i < TS_MIN(instr->nr_operands, TS_PARTITION_MOST); i++)
		if (ts_spec_eq(&partition->specs[instr->operands[i]], &partition->specs[at]) &&
		    !is_made_of_nothing(partition, instr->operands[i]))
			return instr->operands[i];
	return TS_NONE;
}

/* Over operands that have the same sharding: to a constraint or an argument; else to the op that begins with it. */
static struct asking look_back(const struct ts_partition *partition, uint32_t from)
{
	uint32_t at = from;

	for (int i = 0; i < MAX_SEEN; i++) {
		const struct ts_hlo_instr *instr = instr_at(partition, at);
		uint32_t operand;

		if (partition_is_constraint(instr))
			return (struct asking){ TS_CAUSE_CONSTRAINT, at };
		if (instr->opcode == TS_OPCODE_PARAMETER)
			return (struct asking){ instr->computation == partition->before->entry
							? TS_CAUSE_ARGUMENT
							: TS_CAUSE_UNKNOWN,
						at };
		operand = operand_alike(partition, at);
		if (operand == TS_NONE)
			break;
		at = operand;
	}
	return (struct asking){ TS_CAUSE_OP, at };
}

/* Where a product sums over axes that its operands are split along: whoever split them. */
static struct asking look_at_sums(const struct ts_partition *partition, uint32_t at, ts_axes axes)
{
	const struct ts_hlo_instr *instr = instr_at(partition, at);
	const struct ts_dot_dims *dot = instr->dot;

	for (uint32_t side = 0; dot && side < TS_MIN(instr->nr_operands, 2); side++) {
		const struct ts_spec *spec = &partition->specs[instr->operands[side]];
		const int64_t *dims = side ? dot->rhs_contracting : dot->lhs_contracting;
		uint32_t nr = side ? dot->nr_rhs_contracting : dot->nr_lhs_contracting;

		for (uint32_t i = 0; spec->is_known && i < nr; i++)
			if (dims[i] >= 0 && dims[i] < spec->rank &&
			    ts_axes_meet(spec->dims[dims[i]], axes))
				return look_back(partition, instr->operands[side]);
	}
	return (struct asking){ TS_CAUSE_OP, at };
}

/* What an op wants of one operand follows from the others; else from what is wanted of its result. */
static struct asking look_around(const struct ts_partition *partition, uint32_t user,
				 uint32_t value)
{
	const struct ts_hlo_instr *instr = instr_at(partition, user);
	struct asking found = { TS_CAUSE_UNKNOWN, TS_NONE };

	for (uint32_t i = 0; i < TS_MIN(instr->nr_operands, TS_PARTITION_MOST); i++) {
		uint32_t operand = instr->operands[i];

		if (operand == value || is_made_of_nothing(partition, operand) ||
		    !partition->specs[operand].is_known ||
		    ts_spec_is_whole(&partition->specs[operand]))
			continue;
		found = look_back(partition, operand);
		if (found.kind == TS_CAUSE_CONSTRAINT || found.kind == TS_CAUSE_ARGUMENT)
			return found;
	}
	found = look_ahead(partition, user);
	return found.kind == TS_CAUSE_CONSTRAINT ? found : (struct asking){ TS_CAUSE_OP, user };
}

/* Who wants that AT has its sharding. */
static struct asking look_both_ways(const struct ts_partition *partition, uint32_t at)
{
	struct asking ahead = look_ahead(partition, at), back;

	if (ahead.kind == TS_CAUSE_CONSTRAINT)
		return ahead;
	back = look_back(partition, at);
	if (back.kind == TS_CAUSE_CONSTRAINT || back.kind == TS_CAUSE_ARGUMENT)
		return back;
	return ahead.kind == TS_CAUSE_RESULT ? ahead : (struct asking){ TS_CAUSE_OP, at };
}

/* An array that has a sharding by itself, and how much of it there is. */
struct origin {
	struct ts_spec spec;
	int64_t elements;
};

static int64_t elements_behind(const struct ts_partition *partition, uint32_t at)
{
	const struct ts_hlo_instr *instr = instr_at(partition, at);

	if (instr->opcode == TS_OPCODE_BROADCAST && instr->nr_operands == 1)
		instr = instr_at(partition, instr->operands[0]);
	return ts_shape_elements(&instr->shape);
}

#define MAX_MEND_OPS 64

/*
 * What an array is made of that has a sharding by itself, over ops that have the one that is ASKED: of several the largest, because it is
 * the one that is dear to move. Unknown where none is found. *LEFT bounds the search.
 */
static struct origin origin_of(const struct ts_partition *partition, uint32_t at,
			       const struct ts_spec *asked, int *left)
{
	const struct ts_hlo_instr *instr = instr_at(partition, at);
	struct origin found = { natural(partition, at), elements_behind(partition, at) };

	if (found.spec.is_known)
		return found;
	found.elements = 0;
	for (uint32_t i = 0; ts_partition_is_elementwise(instr) &&
			     i < TS_MIN(instr->nr_operands, TS_PARTITION_MOST);
	     i++) {
		uint32_t operand = instr->operands[i];
		const struct ts_spec *spec = &partition->specs[operand];
		struct origin other = { *spec, elements_behind(partition, operand) };

		if (!ts_shape_same_dims(&instr_at(partition, operand)->shape, &instr->shape) ||
		    is_made_of_nothing(partition, operand) || !spec->is_known || (*left)-- <= 0)
			continue;
		if (ts_spec_eq(spec, asked))
			other = origin_of(partition, operand, asked, left);
		if (other.spec.is_known && other.elements > found.elements)
			found = other;
	}
	return found;
}

/* The sharding that a constraint could ask for, and nothing would have to be moved; unknown where there is none. */
static struct ts_spec mend_of(const struct ts_partition *partition, uint32_t constraint)
{
	const struct ts_spec *asked = &partition->specs[constraint];
	int left = MAX_MEND_OPS;
	struct origin origin = origin_of(partition, constraint, asked, &left);

	return ts_spec_eq(&origin.spec, asked) ? (struct ts_spec){ .rank = asked->rank }
					       : origin.spec;
}

/* --- all of it */

/* A spec without the axes that a gather goes along. */
static struct ts_spec gathered(const struct ts_spec *from, ts_axes axes)
{
	struct ts_spec spec = *from;

	for (uint32_t i = 0; i < spec.rank; i++)
		spec.dims[i] = ts_axes_less(spec.dims[i], axes);
	return spec;
}

void ts_partition_walk(const struct ts_partition *partition, const struct ts_hlo_instr *collective,
		       struct ts_resharding *found)
{
	bool sums =
		TS_OPCODE_IN(collective->opcode, TS_OPCODE_ALL_REDUCE, TS_OPCODE_REDUCE_SCATTER);
	ts_axes axes = ts_mesh_axes_of(&partition->mesh, &collective->group);
	const struct ts_hlo_instr *value = instr_at(partition, found->value),
				  *user = instr_at(partition, found->user);
	bool is_own = found->value == found->user;
	struct asking asking;

	TS_ASSERT(found);
	if (sums && is_own) {
		found->to = partition->specs[found->value];
		asking = look_at_sums(partition, found->value, axes);
	} else if (is_own || (value->shape.nr_parts == 0 && user->shape.nr_parts == 0 &&
			      ts_shape_same_dims(&value->shape, &user->shape) &&
			      ts_partition_is_elementwise(user))) {
		found->from =
			is_own ? natural(partition, found->value) : partition->specs[found->value];
		found->to = partition->specs[found->user];
		asking = is_own || !ts_spec_is_whole(&found->to)
				 ? look_both_ways(partition, found->user)
				 : look_around(partition, found->user, found->value);
	} else {
		found->from = partition->specs[found->value];
		if (collective->opcode == TS_OPCODE_ALL_GATHER && found->from.is_known)
			found->to = gathered(&found->from, axes);
		if (ts_spec_eq(&found->from, &found->to))
			found->to.is_known = false; /* it was split otherwise in between */
		asking = look_around(partition, found->user, found->value);
	}
	found->cause = asking.kind;
	found->cause_instr = asking.kind == TS_CAUSE_UNKNOWN ? TS_NONE : asking.instr;
	if (asking.kind == TS_CAUSE_CONSTRAINT)
		found->mend = mend_of(partition, asking.instr);
}
