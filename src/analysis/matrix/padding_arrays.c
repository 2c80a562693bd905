/*
 * The arrays of the modules that ran: entry parameters, outputs and what ops write in between, each
 * once, however many names it goes by (bitcasts, tuple elements, loops that carry it).
 *
 * Left out: which result takes the place of an operand (a fusion that updates in place, what a loop
 * hands to its next trip). Only a buffer assignment says that: both are listed here.
 */
#include "analysis/matrix/padding.h"

#include "analysis/kit/cells.h"
#include "analysis/kit/table.h"

#include <inttypes.h>

#define MAX_ROWS 500
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
	struct ts_bytes op; /* without .module */
	const struct ts_shape *shape;
	struct ts_padding bytes;
	enum role role;
	int64_t uses;	/* ops that read or write it */
	double time_ps; /* of them, that goes with its padding */
};

struct arrays {
	struct array *items;
	size_t nr, cap;
	bool failed;
};

/* One module at a time. */
struct walk {
	const struct ts_hlo_module *module;
	const bool *inner;
	uint32_t *caller;	/* of each computation: the op that runs it, or TS_NONE */
	const double *per_byte; /* of each instruction: ps its op spends a byte; NULL: no run */
	struct ts_map by_place; /* -> arrays->items */
	struct arrays *arrays;
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

static bool is(const struct ts_hlo_instr *instr, const char *opcode)
{
	return ts_bytes_is(instr->opcode, opcode);
}

/* A parameter of a called computation is what its caller hands over. False: it is an end. */
static bool step_out(const struct walk *walk, struct place *place)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[place->instr];
	uint32_t caller = walk->caller[instr->computation];
	const struct ts_hlo_instr *by;

	if (caller == TS_NONE)
		return false;
	by = &walk->module->instrs[caller];
	if (is(by, "while") && by->nr_operands > 0)
		place->instr = by->operands[0];
	else if (is(by, "call") && instr->parameter_number >= 0 &&
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

	if (is(instr, "parameter"))
		return step_out(walk, place);
	if (instr->nr_operands == 0)
		return false;
	if (is(instr, "get-tuple-element") && place->leaf == WHOLE) {
		place->leaf = instr->tuple_index;
		place->instr = instr->operands[0];
		return true;
	}
	if (is(instr, "tuple") && place->leaf >= 0 && place->leaf < instr->nr_operands) {
		place->instr = instr->operands[place->leaf];
		place->leaf = WHOLE;
		return true;
	}
	if (!is(instr, "bitcast") && !is(instr, "opt-barrier") && !is(instr, "while"))
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
	struct arrays *arrays = walk->arrays;
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
static void touch(struct walk *walk, uint32_t instr, struct place place)
{
	const struct ts_shape *shape = &walk->module->instrs[place.instr].shape;
	struct array *array;

	if (shape->dtype == TS_TUPLE && place.leaf == WHOLE) {
		for (uint32_t i = 0; i < shape->nr_parts; i++)
			touch(walk, instr,
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

static void mark(struct walk *walk, uint32_t instr, enum role role)
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

/* Names for arrays, and ops whose arrays are those of what they hold. */
static bool makes_no_array(const struct ts_hlo_instr *instr)
{
	return is(instr, "parameter") || is(instr, "tuple") || is(instr, "get-tuple-element") ||
	       is(instr, "bitcast") || is(instr, "opt-barrier") || is(instr, "while") ||
	       is(instr, "conditional") || is(instr, "call") || is(instr, "after-all") ||
	       is(instr, "constant");
}

static void walk_instr(struct walk *walk, uint32_t index)
{
	const struct ts_hlo_instr *instr = &walk->module->instrs[index];
	bool is_start = ts_bytes_ends(instr->opcode, "-start");
	bool is_done =
		ts_bytes_ends(instr->opcode, "-done") || ts_bytes_ends(instr->opcode, "-update");

	if (makes_no_array(instr))
		return;
	for (uint32_t i = 0; i < instr->nr_operands && !is_done; i++)
		if (walk->module->instrs[instr->operands[i]].shape.dtype != TS_TUPLE)
			touch(walk, index, (struct place){ instr->operands[i], WHOLE });
	if (!is_start) /* its -done names what it makes */
		touch(walk, index, (struct place){ index, WHOLE });
}

static void walk_module(struct walk *walk)
{
	const struct ts_hlo_module *module = walk->module;
	const struct ts_hlo_comp *entry = &module->comps[module->entry];

	for (uint32_t i = 0; i < entry->nr_instrs; i++)
		if (is(&module->instrs[entry->first_instr + i], "parameter"))
			mark(walk, entry->first_instr + i, PARAMETER);
	mark(walk, entry->root, OUTPUT);
	for (uint32_t i = 0; i < module->nr_instrs && !walk->arrays->failed; i++)
		if (!walk->inner[module->instrs[i].computation])
			walk_instr(walk, i);
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

static bool add_module(struct arrays *arrays, const struct ts_hlo_module *module,
		       const double *per_byte)
{
	struct walk walk = { .module = module, .arrays = arrays, .per_byte = per_byte };
	bool *inner;

	if (module->nr_comps == 0)
		return true;
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
	return !arrays->failed;
}

/* What an op spends on a byte, where bytes bound it. */
static bool note_op(double **per_byte, bool *ran, const struct ts_profile *profile,
		    const struct padding_op *op)
{
	size_t module = (size_t)(op->module - profile->modules);

	ran[module] = true;
	if (!per_byte[module])
		per_byte[module] = calloc((size_t)op->module->nr_instrs + 1, sizeof(**per_byte));
	if (!per_byte[module])
		return false;
	if (op->bound == PADDING_BYTES && op->bytes.allocated_bytes > 0)
		per_byte[module][op->instr] =
			(double)op->self_ps / (double)op->bytes.allocated_bytes;
	return true;
}

static void add_text_array(struct arrays *arrays, const struct padding_op *op)
{
	struct array array = {
		.op = op->op->name, .shape = &op->shape, .bytes = op->bytes, .uses = 1
	};

	if (op->shape.dtype == TS_TUPLE || op->bytes.allocated_bytes <= 0)
		return;
	if (!ts_grow(&arrays->items, &arrays->cap, arrays->nr + 1, sizeof(array))) {
		arrays->failed = true;
		return;
	}
	if (op->bound == PADDING_BYTES)
		array.time_ps = (double)op->self_ps / (double)op->bytes.allocated_bytes *
				padding_bytes(&array);
	arrays->items[arrays->nr++] = array;
}

static void list_arrays(struct arrays *arrays, const struct ts_context *ctx,
			const struct padding_list *list, bool measured)
{
	const struct ts_profile *profile = ctx->profile;
	double **per_byte = calloc(profile->nr_modules + 1, sizeof(*per_byte));
	bool *ran = calloc(profile->nr_modules + 1, sizeof(*ran));

	arrays->failed |= !per_byte || !ran;
	for (size_t i = 0; i < list->nr && measured && !arrays->failed; i++) {
		if (list->items[i].module)
			arrays->failed = !note_op(per_byte, ran, profile, &list->items[i]);
		else if (list->items[i].has_shape)
			add_text_array(arrays, &list->items[i]);
	}
	for (size_t i = 0; i < profile->nr_modules && !arrays->failed; i++) {
		arrays->failed |= ran[i] && !per_byte[i];
		if ((ran[i] || !measured) && !arrays->failed)
			add_module(arrays, &profile->modules[i], per_byte[i]);
	}
	for (size_t i = 0; i < profile->nr_modules && per_byte; i++)
		free(per_byte[i]);
	free(per_byte);
	free(ran);
}

/* Most padding first, then the largest; equal ones in the order of the program. */
static int by_padding(const void *a, const void *b)
{
	const struct array *x = a, *y = b;
	double p = padding_bytes(x), q = padding_bytes(y);

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
	return ts_bytes_cmp(x->op, y->op);
}

static struct ts_bytes array_name(struct ts_result *result, const struct array *array)
{
	struct ts_bytes name =
		array->module ? array->module->instrs[array->place.instr].name : array->op;

	if (!array->module || array->place.leaf == WHOLE)
		return name;
	return ts_result_text(result, "%.*s{%" PRId64 "}", TS_ARG(name), array->place.leaf);
}

/* An array without padding is news only where it comes in or goes out. */
static bool is_worth_a_row(const struct array *array)
{
	return array->role != INTERMEDIATE || padding_bytes(array) > 0;
}

static const char *const roles[] = { "intermediate", "parameter", "output" };

/* Of its bytes as stored; NaN: it has none. */
static double padding_share(const struct array *array)
{
	if (array->bytes.allocated_bytes <= 0)
		return NAN;
	return padding_bytes(array) / (double)array->bytes.allocated_bytes;
}

static struct ts_value module_cell(const struct array *array)
{
	return array->module ? ts_text_or_null(array->module->name) : ts_null();
}

#define ARRAY_COLUMNS(X) \
	X(module, TS_COMPILED, NULL, module_cell(array)) \
	X(name, TS_COMPILED, "array", ts_text(array_name(result, array))) \
	X(shape, TS_COMPILED, TS_KEY("shape"), ts_shape_cell(result, array->shape)) \
	X(logical_bytes, TS_COMPILED, "size", ts_int(array->bytes.logical_bytes)) \
	X(allocated_bytes, TS_COMPILED, "stored", ts_int(array->bytes.allocated_bytes)) \
	X(waste_pct, TS_COMPILED, TS_KEY("padding"), ts_share_pct(padding_share(array))) \
	X(uses, TS_COMPILED, TS_SPARE("ops"), ts_int(array->uses)) \
	X(time_ps, TS_MODELLED, TS_KEY("time at stake"), \
	  measured ? ts_whole_or_null(array->time_ps) : ts_null()) \
	X(role, TS_COMPILED, NULL, ts_text(ts_bytes_of(roles[array->role])))

static const struct ts_column array_columns[] = { ARRAY_COLUMNS(TS_COLUMN) };

static void put_arrays(struct ts_result *result, const struct arrays *arrays, bool measured)
{
	struct ts_table *table = ts_result_table(result, "arrays", "Arrays by padding",
						 array_columns, TS_NELEM(array_columns));
	size_t nr = 0;

	for (size_t i = 0; i < arrays->nr; i++) {
		const struct array *array = &arrays->items[i];

		if (is_worth_a_row(array) && nr++ < MAX_ROWS)
			TS_CELLS(result, table, ARRAY_COLUMNS);
	}
	if (nr > MAX_ROWS)
		ts_result_note(result, "%zu more arrays have less padding and are not listed.",
			       nr - MAX_ROWS);
}

bool ts_padding_arrays(const struct ts_context *ctx, const struct padding_list *list, bool measured,
		       struct ts_result *result, struct ts_padding *sum)
{
	struct arrays arrays = { .items = NULL };

	TS_ASSERT(list && sum);
	list_arrays(&arrays, ctx, list, measured);
	if (!arrays.failed) {
		if (arrays.nr > 1)
			qsort(arrays.items, arrays.nr, sizeof(*arrays.items), by_padding);
		for (size_t i = 0; i < arrays.nr; i++) {
			const struct ts_padding *bytes = &arrays.items[i].bytes;

			sum->logical_bytes = ts_i64_add(sum->logical_bytes, bytes->logical_bytes);
			sum->allocated_bytes =
				ts_i64_add(sum->allocated_bytes, bytes->allocated_bytes);
		}
		put_arrays(result, &arrays, measured);
	}
	free(arrays.items);
	return !arrays.failed;
}
