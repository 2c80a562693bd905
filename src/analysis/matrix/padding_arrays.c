/* SPDX-License-Identifier: MIT */
/*
 * The arrays of the modules that ran: entry parameters, outputs and what ops write in between, each
 * once, however many names it goes by (bitcasts, tuple elements, loops that carry it).
 *
 * Left out: which result takes the place of an operand (a fusion that updates in place, what a loop
 * hands to its next trip). Only a buffer assignment says that: both are listed here.
 */
#include "analysis/matrix/padding.h"

#include "base/order.h"
#include "analysis/kit/cells.h"
#include "result/schema/padding.def"

#include <inttypes.h>

#define MAX_ROWS 500
#define MAX_HELD (4 * MAX_ROWS) /* arrays of ops without a module, of which there may be very many */
#define MAX_HOPS 256  /* names an array may go by */
#define WHOLE	 (-1) /* the leaf of an instruction that is not a tuple */

enum role { INTERMEDIATE, PARAMETER, OUTPUT };

struct place {
	uint32_t instr;
	int64_t leaf; /* of its tuple, or WHOLE */
};

struct array {
	const struct ts_hlo_module *module; /* NULL: from an op's text */
	struct place place;
	const struct ts_op *op;	      /* without .module */
	const struct ts_shape *shape; /* with it */
	struct ts_padding bytes;
	enum role role;
	int64_t uses;	/* ops that read or write it */
	double time_ps; /* of them, that goes with its padding */
};

struct padding_arrays {
	const struct ts_context *ctx;
	bool measured;
	struct array *items;
	size_t nr, cap;
	size_t nr_dropped;	/* of ops without a module: others have more padding */
	struct ts_padding text; /* of all arrays of ops without a module */
	/* By module: whether it ran, and what each of its ops spends on a byte. */
	bool *ran;
	double **per_byte;
	bool failed;
};

/* One module at a time. */
struct walk {
	const struct ts_hlo_module *module;
	const bool *inner;
	uint32_t *caller;	/* of each computation: the op that runs it, or TS_NONE */
	const double *per_byte; /* of each instruction: ps its op spends a byte; NULL: no run */
	struct ts_map by_place; /* -> arrays->items */
	struct padding_arrays *arrays;
};

static const struct ts_shape *shape_at(const struct ts_hlo_module *module, struct place place)
{
	const struct ts_shape *shape = &module->instrs[place.instr].shape;

	if (place.leaf == WHOLE)
		return shape->dtype == TS_TUPLE ? NULL : shape;
	if (shape->dtype != TS_TUPLE || place.leaf < 0 || place.leaf >= shape->nr_parts)
		return NULL;
	shape = &shape->parts[place.leaf];
	return shape->dtype == TS_TUPLE ? NULL : shape;
}

/* A parameter of a called computation is what its caller hands over. False: it is an end. */
static bool padding_arrays_step_out(const struct walk *walk, struct place *place)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[place->instr];
	uint32_t caller = walk->caller[instr->computation];
	const struct ts_hlo_instr *by;

	if (caller == TS_NONE)
		return false;
	by = &walk->module->instrs[caller];
	if (by->opcode == TS_OPCODE_WHILE && by->nr_operands > 0)
		place->instr = by->operands[0];
	else if (by->opcode == TS_OPCODE_CALL && instr->parameter_number >= 0 &&
		 instr->parameter_number < by->nr_operands)
		place->instr = by->operands[instr->parameter_number];
	else
		return false; /* a conditional: one of several branches */
	return true;
}

/* One name further back; false when PLACE is where the array is made. */
static bool step_back(const struct walk *walk, struct place *place)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[place->instr];

	if (instr->opcode == TS_OPCODE_PARAMETER)
		return padding_arrays_step_out(walk, place);
	if (instr->nr_operands == 0)
		return false;
	if (instr->opcode == TS_OPCODE_GET_TUPLE_ELEMENT && place->leaf == WHOLE) {
		place->leaf = instr->tuple_index;
		place->instr = instr->operands[0];
		return true;
	}
	if (instr->opcode == TS_OPCODE_TUPLE && place->leaf >= 0 &&
	    place->leaf < instr->nr_operands) {
		place->instr = instr->operands[place->leaf];
		place->leaf = WHOLE;
		return true;
	}
	if (!TS_OPCODE_IN(instr->opcode, TS_OPCODE_BITCAST, TS_OPCODE_OPT_BARRIER, TS_OPCODE_WHILE))
		return false;
	place->instr = instr->operands[0];
	return true;
}

static struct place origin(const struct walk *walk, struct place place)
{
	for (int i = 0; i < MAX_HOPS && step_back(walk, &place); i++)
		;
	return place;
}

/* The array of a place, made when it is new; NULL: not in HBM, or no memory. */
static struct array *array_at(struct walk *walk, struct place place)
{
	const struct ts_shape *shape;
	struct padding_arrays *arrays = walk->arrays;
	uint64_t key;
	uint32_t at;

	place = origin(walk, place);
	shape = shape_at(walk->module, place);
	if (!shape || shape->memory_space != TS_SPACE_HBM || ts_dtype_bits(shape->dtype) == 0)
		return NULL;
	key = (uint64_t)place.instr << 32 | (uint32_t)(place.leaf + 1);
	at = ts_map_find(&walk->by_place, key);
	if (at != TS_NONE)
		return &arrays->items[at];
	if (!ts_grow(&arrays->items, &arrays->cap, arrays->nr + 1, sizeof(*arrays->items)) ||
	    !ts_map_set(&walk->by_place, key, (uint32_t)arrays->nr)) {
		arrays->failed = true;
		return NULL;
	}
	arrays->items[arrays->nr] = (struct array){ .module = walk->module,
						    .place = place,
						    .shape = shape,
						    .bytes = ts_padding_of_shape(shape) };
	return &arrays->items[arrays->nr++];
}

static double padding_bytes(const struct array *array)
{
	return (double)array->bytes.allocated_bytes - (double)array->bytes.logical_bytes;
}

/* Op INSTR reads or writes what stands at PLACE (all arrays of a tuple). */
static void padding_arrays_touch(struct walk *walk, uint32_t instr, struct place place)
{
	const struct ts_shape *shape = &walk->module->instrs[place.instr].shape;
	struct array *array;

	if (shape->dtype == TS_TUPLE && place.leaf == WHOLE) {
		for (uint32_t i = 0; i < shape->nr_parts; i++)
			padding_arrays_touch(
				walk, instr,
				(struct place){ place.instr, i }); /* one level: no tuple */
		return;
	}
	array = array_at(walk, place);
	if (!array)
		return;
	array->uses++;
	if (walk->per_byte)
		array->time_ps += walk->per_byte[instr] * padding_bytes(array);
}

static void padding_arrays_mark(struct walk *walk, uint32_t instr, enum role role)
{
	const struct ts_shape *shape = &walk->module->instrs[instr].shape;
	uint32_t nr = shape->dtype == TS_TUPLE ? shape->nr_parts : 1;

	for (uint32_t i = 0; i < nr; i++) {
		struct place place = { instr, shape->dtype == TS_TUPLE ? (int64_t)i : WHOLE };
		struct array *array = array_at(walk, place);

		if (array && array->role == INTERMEDIATE)
			array->role = role;
	}
}

static void padding_arrays_walk_instr(struct walk *walk, uint32_t index)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[index];
	bool is_start = ts_opcode_phase(instr->opcode) == TS_PHASE_START;
	bool is_done = ts_opcode_phase(instr->opcode) == TS_PHASE_DONE ||
		       ts_opcode_phase(instr->opcode) == TS_PHASE_UPDATE;

	/* Names for arrays, and ops whose arrays are those of what they hold. */
	if (TS_OPCODE_IN(instr->opcode, TS_OPCODE_PARAMETER, TS_OPCODE_TUPLE,
			 TS_OPCODE_GET_TUPLE_ELEMENT, TS_OPCODE_BITCAST, TS_OPCODE_OPT_BARRIER,
			 TS_OPCODE_WHILE, TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL,
			 TS_OPCODE_AFTER_ALL, TS_OPCODE_CONSTANT))
		return;
	for (uint32_t i = 0; i < instr->nr_operands && !is_done; i++)
		if (walk->module->instrs[instr->operands[i]].shape.dtype != TS_TUPLE)
			padding_arrays_touch(walk, index,
					     (struct place){ instr->operands[i], WHOLE });
	if (!is_start) /* its -done names what it makes */
		padding_arrays_touch(walk, index, (struct place){ index, WHOLE });
}

static void walk_module(struct walk *walk)
{
	const struct ts_hlo_module *module = walk->module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	for (uint32_t i = 0; i < entry->nr_instrs; i++)
		if (module->instrs[entry->first_instr + i].opcode == TS_OPCODE_PARAMETER)
			padding_arrays_mark(walk, entry->first_instr + i, PARAMETER);
	padding_arrays_mark(walk, entry->root, OUTPUT);
	for (uint32_t i = 0; i < module->nr_instrs && !walk->arrays->failed; i++)
		if (!walk->inner[module->instrs[i].computation])
			padding_arrays_walk_instr(walk, i);
}

static uint32_t *find_callers(const struct ts_hlo_module *module)
{
	uint32_t *caller = malloc(((size_t)module->nr_comps + 1) * sizeof(*caller));

	if (!caller)
		return NULL;
	for (uint32_t i = 0; i < module->nr_comps; i++)
		caller[i] = TS_NONE;
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		for (uint32_t j = 0; j < module->instrs[i].nr_called; j++)
			caller[module->instrs[i].called[j]] = i;
	return caller;
}

static void padding_arrays_add_module(struct padding_arrays *arrays,
				      const struct ts_hlo_module *module, const double *per_byte)
{
	struct walk walk = { .module = module, .arrays = arrays, .per_byte = per_byte };
	bool *inner;

	if (module->nr_comps == 0)
		return;
	inner = ts_hlo_inner_comps(module);
	walk.caller = find_callers(module);
	walk.inner = inner;
	if (inner && walk.caller)
		walk_module(&walk);
	else
		arrays->failed = true;
	free(inner);
	free(walk.caller);
	ts_map_release(&walk.by_place);
}

struct padding_arrays *ts_padding_arrays_new(const struct ts_context *ctx, bool measured)
{
	struct padding_arrays *arrays = calloc(1, sizeof(*arrays));

	TS_ASSERT(ctx);
	if (!arrays)
		return NULL;
	arrays->ctx = ctx;
	arrays->measured = measured;
	arrays->ran = calloc(ctx->profile->nr_modules + 1, sizeof(*arrays->ran));
	arrays->per_byte = calloc(ctx->profile->nr_modules + 1, sizeof(*arrays->per_byte));
	if (arrays->ran && arrays->per_byte)
		return arrays;
	ts_padding_arrays_free(arrays);
	return NULL;
}

void ts_padding_arrays_free(struct padding_arrays *arrays)
{
	if (!arrays)
		return;
	for (size_t i = 0; arrays->per_byte && i < arrays->ctx->profile->nr_modules; i++)
		free(arrays->per_byte[i]);
	free(arrays->per_byte);
	free(arrays->ran);
	free(arrays->items);
	free(arrays);
}

/* Most padding first, then the largest; equal ones in the order of the program, or of what they cost. */
static int by_padding(const void *a, const void *b)
{
	const struct array *x = a, *y = b;
	double p = padding_bytes(x), q = padding_bytes(y);
	int order;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->bytes.allocated_bytes != y->bytes.allocated_bytes)
		return x->bytes.allocated_bytes > y->bytes.allocated_bytes ? -1 : 1;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->place.instr != y->place.instr)
		return x->place.instr < y->place.instr ? -1 : 1;
	if (x->place.leaf != y->place.leaf)
		return x->place.leaf < y->place.leaf ? -1 : 1;
	if (!x->op || !y->op)
		return 0;
	order = ts_bytes_cmp(x->op->name, y->op->name);
	if (order == 0)
		order = (x->time_ps < y->time_ps) - (x->time_ps > y->time_ps);
	return order ? order : (x->op > y->op) - (x->op < y->op);
}

static void sort_arrays(struct padding_arrays *arrays)
{
	TS_SORT(arrays->items, arrays->nr, by_padding);
}

static void padding_arrays_add_bytes(struct ts_padding *sum, const struct ts_padding *bytes)
{
	sum->logical_bytes = ts_i64_add(sum->logical_bytes, bytes->logical_bytes);
	sum->allocated_bytes = ts_i64_add(sum->allocated_bytes, bytes->allocated_bytes);
}

/* What an op spends on a byte, where bytes bound it. */
static enum ts_status padding_arrays_note_module(struct padding_arrays *arrays,
						 const struct padding_op *op, struct ts_error *err)
{
	size_t module = (size_t)(op->module - arrays->ctx->profile->modules);
	double **per_byte = &arrays->per_byte[module];

	arrays->ran[module] = true;
	if (!*per_byte)
		*per_byte = calloc((size_t)op->module->nr_instrs + 1, sizeof(**per_byte));
	if (!*per_byte)
		return ts_fail_nomem(err);
	if (op->bound == PADDING_BYTES && op->bytes.allocated_bytes > 0)
		(*per_byte)[op->instr] = (double)op->self_ps / (double)op->bytes.allocated_bytes;
	return TS_OK;
}

/* Those that would not be listed are summed only. */
static enum ts_status note_text(struct padding_arrays *arrays, const struct padding_op *op,
				struct ts_error *err)
{
	struct array array = { .op = op->op, .bytes = op->bytes, .uses = 1 };

	if (op->shape.dtype == TS_TUPLE || op->bytes.allocated_bytes <= 0)
		return TS_OK;
	padding_arrays_add_bytes(&arrays->text, &array.bytes);
	if (padding_bytes(&array) <= 0)
		return TS_OK;
	if (arrays->nr == MAX_HELD) {
		sort_arrays(arrays);
		arrays->nr_dropped += arrays->nr - MAX_ROWS;
		arrays->nr = MAX_ROWS;
	}
	if (!ts_grow(&arrays->items, &arrays->cap, arrays->nr + 1, sizeof(array)))
		return ts_fail_nomem(err);
	if (op->bound == PADDING_BYTES)
		array.time_ps = (double)op->self_ps / (double)op->bytes.allocated_bytes *
				padding_bytes(&array);
	arrays->items[arrays->nr++] = array;
	return TS_OK;
}

enum ts_status ts_padding_arrays_note(struct padding_arrays *arrays, const struct padding_op *op,
				      struct ts_error *err)
{
	TS_ASSERT_HOT(arrays && op);
	if (op->module)
		return padding_arrays_note_module(arrays, op, err);
	return op->has_shape ? note_text(arrays, op, err) : TS_OK;
}

static void padding_arrays_add_modules(struct padding_arrays *arrays)
{
	const struct ts_profile *profile = arrays->ctx->profile;

	for (size_t i = 0; i < profile->nr_modules && !arrays->failed; i++)
		if (arrays->ran[i] || !arrays->measured)
			padding_arrays_add_module(arrays, &profile->modules[i],
						  arrays->per_byte[i]);
}

static struct ts_bytes array_name(struct ts_result *result, const struct array *array)
{
	struct ts_bytes name =
		array->module ? array->module->instrs[array->place.instr].name : array->op->name;

	if (!array->module || array->place.leaf == WHOLE)
		return name;
	return ts_result_text(result, "%.*s{%" PRId64 "}", TS_ARG(name), array->place.leaf);
}

static const char *const roles[] = { "intermediate", "parameter", "output" };

/* Of its bytes as stored; NaN: it has none. */
static double padding_arrays_padding_share(const struct array *array)
{
	if (array->bytes.allocated_bytes <= 0)
		return NAN;
	return padding_bytes(array) / (double)array->bytes.allocated_bytes;
}

static struct ts_value shape_cell(struct ts_result *result, const struct array *array)
{
	struct ts_arena scratch = TS_ARENA_INIT;
	struct ts_value cell = ts_null();
	struct ts_shape shape;

	if (array->shape)
		return ts_shape_cell(result, array->shape);
	if (ts_padding_shape(&scratch, array->op, &shape))
		cell = ts_shape_cell(result, &shape);
	ts_arena_release(&scratch);
	return cell;
}

#define ARRAY_CELLS(X) \
	X(module, array->module ? ts_text_or_null(array->module->name) : ts_null()) \
	X(name, ts_text(array_name(result, array))) \
	X(shape, shape_cell(result, array)) \
	X(logical_bytes, ts_int(array->bytes.logical_bytes)) \
	X(allocated_bytes, ts_int(array->bytes.allocated_bytes)) \
	X(waste_pct, ts_share_pct(padding_arrays_padding_share(array))) \
	X(uses, ts_int(array->uses)) \
	X(time_ps, arrays->measured ? ts_whole_or_null(array->time_ps) : ts_null()) \
	X(role, ts_text(ts_bytes_of(roles[array->role])))

static void put_arrays(struct ts_result *result, const struct padding_arrays *arrays)
{
	struct ts_table *table = TS_TABLE(result, padding_arrays);
	size_t nr = 0;

	for (size_t i = 0; i < arrays->nr; i++) {
		const struct array *array = &arrays->items[i];

		/* An array without padding is news only where it comes in or goes out. */
		if ((array->role != INTERMEDIATE || padding_bytes(array) > 0) && nr++ < MAX_ROWS)
			TS_CELLS(result, table, padding_arrays, ARRAY_CELLS);
	}
	nr += arrays->nr_dropped;
	if (nr > MAX_ROWS)
		ts_result_note(result, "%zu more arrays have less padding and are not listed.",
			       nr - MAX_ROWS);
}

enum ts_status ts_padding_arrays_put(struct padding_arrays *arrays, struct ts_result *result,
				     struct ts_padding *sum, struct ts_error *err)
{
	TS_ASSERT(arrays && result && sum);
	padding_arrays_add_modules(arrays);
	if (arrays->failed)
		return ts_fail_nomem(err);
	sort_arrays(arrays);
	*sum = arrays->text;
	for (size_t i = 0; i < arrays->nr; i++)
		if (arrays->items[i].module)
			padding_arrays_add_bytes(sum, &arrays->items[i].bytes);
	put_arrays(result, arrays);
	return TS_OK;
}
