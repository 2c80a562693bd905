/* SPDX-License-Identifier: MIT */
/*
 * What one instruction costs, by opcode: a table of rules. Facts: openxla/xla,
 * xla/service/hlo_cost_analysis.cc. An opcode that is not in the table moves its operands to its
 * result and computes nothing.
 */
#include "model/cost_parts.h"

#include "base/check.h"

/* libtpu counts the semaphore of a copy as a page of memory. */
#define SYNC_FLAG_BYTES 4096
#define MAX_RANK	16 /* of an array that is scattered into */

typedef void rule_fn(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		     struct ts_cost *cost);

static void cost_rules_add_flops(struct ts_cost *cost, int64_t flops)
{
	cost->flops = ts_i64_add(cost->flops, flops);
}

static void add_transcendentals(struct ts_cost *cost, int64_t n)
{
	cost->transcendentals = ts_i64_add(cost->transcendentals, n);
}

/* The first array of a result: a product's, where scratch memory follows it. */
static const struct ts_shape *cost_rules_first_array(const struct ts_shape *shape)
{
	return shape->nr_parts > 0 ? &shape->parts[0] : shape;
}

static int64_t operand_elements(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
				uint32_t i)
{
	const struct ts_hlo_instr *operand = ts_operand(walk, instr, i);

	return operand ? ts_shape_elements(&operand->shape) : 0;
}

static void add_operands(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			 struct ts_cost *cost)
{
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		ts_cost_read(cost, &ts_operand(walk, instr, i)->shape);
}

static void free_of_charge(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			   struct ts_cost *cost)
{
}

static void cost_rules_move(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			    struct ts_cost *cost)
{
	add_operands(walk, instr, cost);
	ts_cost_write(cost, &instr->shape);
}

static void elementwise(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			struct ts_cost *cost)
{
	cost_rules_add_flops(cost, ts_shape_elements(&instr->shape));
	cost_rules_move(walk, instr, cost);
}

static void transcendental(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			   struct ts_cost *cost)
{
	add_transcendentals(cost, ts_shape_elements(&instr->shape));
	cost_rules_move(walk, instr, cost);
}

static void cost_rules_product(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			       struct ts_cost *cost)
{
	struct ts_matmul found;

	if (ts_cost_product(walk->module, instr, &found))
		cost_rules_add_flops(cost, found.flops);
	else
		cost->has_unknown = true;
	cost_rules_move(walk, instr, cost);
}

/* Reads what it gives, and the indices. */
static void slice(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		  struct ts_cost *cost)
{
	const struct ts_hlo_instr *from = ts_operand(walk, instr, 0),
				  *index = ts_operand(walk, instr, 1);

	if (from)
		ts_cost_read_bytes(cost, &from->shape, ts_cost_size(&instr->shape));
	if (index)
		ts_cost_read(cost, &index->shape);
	ts_cost_write(cost, &instr->shape);
}

static void update_slice(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			 struct ts_cost *cost)
{
	const struct ts_hlo_instr *update = ts_operand(walk, instr, 1),
				  *index = ts_operand(walk, instr, 2);

	if (!update)
		return;
	ts_cost_read(cost, &update->shape);
	ts_cost_write_bytes(cost, &instr->shape, ts_cost_size(&update->shape));
	if (index)
		ts_cost_read(cost, &index->shape);
}

/* What a reducer, comparator or mapped function computes, N times. */
static void cost_rules_apply(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			     uint32_t which, int64_t n, struct ts_cost *cost)
{
	struct ts_cost once;

	if (which >= instr->nr_called || n <= 0)
		return;
	once = ts_cost_comp(walk, instr->called[which]);
	cost_rules_add_flops(cost, ts_i64_mul(once.flops, n));
	add_transcendentals(cost, ts_i64_mul(once.transcendentals, n));
	cost->has_unknown |= once.has_unknown;
}

static void map(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		struct ts_cost *cost)
{
	cost_rules_apply(walk, instr, 0, ts_shape_elements(&instr->shape), cost);
	cost_rules_move(walk, instr, cost);
}

static void reduce(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		   struct ts_cost *cost)
{
	int64_t out = ts_shape_elements(cost_rules_first_array(&instr->shape));

	cost_rules_apply(walk, instr, 0, ts_i64_sub(operand_elements(walk, instr, 0), out), cost);
	cost_rules_move(walk, instr, cost);
}

static int64_t window_elements(const struct ts_hlo_instr *instr)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < instr->nr_window; i++)
		n = ts_i64_mul(n, TS_MAX(instr->window[i].size, 0));
	return n;
}

/*
 * A window that spans one dimension from every position of it is a sum put everywhere at once: XLA
 * counts one reduction of that dimension. Gives its size, or 0 for a genuine window.
 */
static int64_t spanned_dim(const struct ts_hlo_instr *instr)
{
	uint32_t nr_wide = 0, nr_padded = 0, wide = 0;

	for (uint32_t i = 0; i < instr->nr_window; i++) {
		nr_padded += instr->window[i].pad_low != 0 || instr->window[i].pad_high != 0;
		if (instr->window[i].size == 1)
			continue;
		nr_wide++;
		wide = i;
	}
	if (nr_wide != 1 || nr_padded != 1 || instr->shape.rank != instr->nr_window)
		return 0;
	if (instr->window[wide].pad_low != instr->window[wide].pad_high ||
	    instr->window[wide].pad_low != ts_i64_sub(instr->shape.dims[wide], 1) ||
	    instr->window[wide].size != ts_i64_add(ts_i64_mul(instr->window[wide].pad_low, 2), 1))
		return 0;
	return instr->shape.dims[wide];
}

static void reduce_window(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			  struct ts_cost *cost)
{
	int64_t out = ts_shape_elements(cost_rules_first_array(&instr->shape));
	int64_t span = spanned_dim(instr);
	int64_t n = ts_i64_mul(ts_i64_sub(window_elements(instr), 1), out);

	if (span > 0)
		n = ts_i64_add(out / span, span - 1);
	cost_rules_apply(walk, instr, 0, n, cost);
	cost_rules_move(walk, instr, cost);
}

static void select_and_scatter(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			       struct ts_cost *cost)
{
	int64_t n = operand_elements(walk, instr, 1);

	cost_rules_apply(walk, instr, 0, ts_i64_mul(n, ts_i64_sub(window_elements(instr), 1)),
			 cost);
	cost_rules_apply(walk, instr, 1, n, cost);
	cost_rules_move(walk, instr, cost);
}

static void all_reduce(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		       struct ts_cost *cost)
{
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		cost_rules_add_flops(cost, operand_elements(walk, instr, i));
	add_operands(walk, instr, cost);
	ts_cost_write(cost, &instr->shape);
}

static bool has_number(const int64_t *numbers, uint32_t nr, int64_t number)
{
	for (uint32_t i = 0; numbers && i < nr; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* The slices that ARRAY consists of. libtpu counts those of the padding too. */
static int64_t slices_in(const struct ts_hlo_instr *instr, const struct ts_shape *array,
			 int64_t slice_elements)
{
	int64_t n = 1;

	if (!instr->slices)
		return ts_shape_elements(array) / TS_MAX(slice_elements, 1);
	for (uint32_t d = 0; d < array->rank; d++)
		if (!has_number(instr->slices->window, instr->slices->nr_window, d))
			n = ts_i64_mul(n, ts_shape_stored_dim(array, d));
	return n;
}

/* Of an array whose slices are SIZES: each with the whole tiles it lies in. */
static int64_t slices_bytes(const struct ts_hlo_instr *instr, const struct ts_shape *from,
			    const int64_t *sizes, const struct ts_shape *slices)
{
	struct ts_shape one = *from;

	one.dims = sizes;
	return ts_i64_mul(ts_cost_size(&one), slices_in(instr, slices, ts_shape_elements(&one)));
}

/* A row of T(8,128) costs eight. */
static int64_t gathered_bytes(const struct ts_hlo_instr *instr, const struct ts_shape *from)
{
	if (instr->nr_slice_sizes != from->rank || from->rank == 0)
		return ts_cost_size(&instr->shape);
	return slices_bytes(instr, from, instr->slice_sizes, &instr->shape);
}

/* Where an operand lies: inside a fusion the shapes on the way from its parameter do not say. */
static const struct ts_shape *cost_rules_place_of(const struct ts_cost_walk *walk,
						  const struct ts_hlo_instr *instr)
{
	const struct ts_hlo_instr *from = instr;

	for (unsigned i = 0; walk->fusion && i < TS_COST_MAX_DEPTH && from->nr_operands > 0; i++)
		from = ts_operand(walk, from, 0);
	return from->opcode == TS_OPCODE_PARAMETER ? &from->shape : &instr->shape;
}

static void cost_rules_gather(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			      struct ts_cost *cost)
{
	const struct ts_hlo_instr *from = ts_operand(walk, instr, 0),
				  *index = ts_operand(walk, instr, 1);

	if (!from || !index)
		return;
	ts_cost_read_bytes(cost, cost_rules_place_of(walk, from),
			   gathered_bytes(instr, &from->shape));
	ts_cost_read_bytes(cost, cost_rules_place_of(walk, index), ts_cost_size(&index->shape));
	ts_cost_write_bytes(cost, walk->fusion ? &walk->fusion->shape : &instr->shape,
			    ts_cost_size(&instr->shape));
}

/* The sizes of one update in the array it goes into, in SIZES of its rank. False: unknown. */
static bool window_sizes(const struct ts_slice_dims *dims, const struct ts_shape *into,
			 const struct ts_shape *update, int64_t *sizes)
{
	uint32_t next = 0;

	if (!dims || into->rank > MAX_RANK)
		return false;
	for (uint32_t d = 0; d < into->rank; d++) {
		sizes[d] = 1;
		if (has_number(dims->inserted, dims->nr_inserted, d))
			continue;
		if (next >= dims->nr_window || dims->window[next] < 0 ||
		    dims->window[next] >= update->rank)
			return false;
		sizes[d] = update->dims[dims->window[next++]];
	}
	return next == dims->nr_window;
}

static int64_t scattered_bytes(const struct ts_hlo_instr *instr, const struct ts_shape *into,
			       const struct ts_shape *update)
{
	int64_t sizes[MAX_RANK];

	if (!window_sizes(instr->slices, into, update, sizes))
		return ts_cost_size(update);
	return slices_bytes(instr, into, sizes, update);
}

/* Operands: n arrays, the indices, n updates. Each update is read, and its place read and written. */
static void scatter(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		    struct ts_cost *cost)
{
	uint32_t n = (instr->nr_operands - 1) / 2;
	const struct ts_hlo_instr *index;

	if (instr->nr_operands < 3)
		return;
	index = ts_operand(walk, instr, n);
	ts_cost_read_bytes(cost, cost_rules_place_of(walk, index), ts_cost_size(&index->shape));
	for (uint32_t i = 0; i < n; i++) {
		const struct ts_hlo_instr *update = ts_operand(walk, instr, n + 1 + i),
					  *into = ts_operand(walk, instr, i);
		int64_t size = scattered_bytes(instr, &into->shape, &update->shape);

		ts_cost_read_bytes(cost, cost_rules_place_of(walk, update),
				   ts_cost_size(&update->shape));
		ts_cost_read_bytes(cost, cost_rules_place_of(walk, into), size);
		ts_cost_write_bytes(cost, cost_rules_place_of(walk, into), size);
	}
	cost_rules_apply(walk, instr, 0, operand_elements(walk, instr, n + 1), cost);
}

static int64_t log2_ceil(int64_t n)
{
	int64_t bits = 0;

	while (bits < 62 && INT64_C(1) << bits < n)
		bits++;
	return bits;
}

static int64_t log2_floor(int64_t n)
{
	int64_t bits = 0;

	while (n > 1) {
		n >>= 1;
		bits++;
	}
	return bits;
}

static void cost_rules_sort(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			    struct ts_cost *cost)
{
	int64_t n = operand_elements(walk, instr, 0);

	cost_rules_add_flops(cost, ts_i64_mul(n, log2_ceil(n)));
	cost_rules_move(walk, instr, cost);
}

static void fft(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		struct ts_cost *cost)
{
	int64_t n =
		ts_i64_mul(operand_elements(walk, instr, 0), 8); /* four FMAs a complex product */

	for (uint32_t i = 0; i < instr->nr_dimensions; i++)
		n = ts_i64_mul(n, log2_floor(instr->dimensions[i]));
	cost_rules_add_flops(cost, n);
	cost_rules_move(walk, instr, cost);
}

static int64_t last_dim(const struct ts_hlo_instr *instr)
{
	return instr && instr->shape.rank > 0 ? TS_MAX(instr->shape.dims[instr->shape.rank - 1], 0)
					      : 0;
}

/* Half of the triangular matrix is read. */
static void triangular_solve(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			     struct ts_cost *cost)
{
	const struct ts_hlo_instr *a = ts_operand(walk, instr, 0), *b = ts_operand(walk, instr, 1);

	if (!a || !b)
		return;
	cost_rules_add_flops(cost,
			     ts_i64_mul(ts_i64_mul(last_dim(a), ts_shape_elements(&b->shape)), 2));
	ts_cost_read_bytes(cost, &a->shape, ts_cost_size(&a->shape) / 2);
	ts_cost_read(cost, &b->shape);
	ts_cost_write(cost, &instr->shape);
}

static void cholesky(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		     struct ts_cost *cost)
{
	const struct ts_hlo_instr *a = ts_operand(walk, instr, 0);

	if (!a)
		return;
	cost_rules_add_flops(cost, ts_i64_mul(last_dim(a), ts_shape_elements(&a->shape)) / 3);
	ts_cost_read_bytes(cost, &a->shape, ts_cost_size(&a->shape) / 2);
	ts_cost_write_bytes(cost, &instr->shape, ts_cost_size(&a->shape) / 2);
}

static void cost_rules_draw(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			    struct ts_cost *cost)
{
	add_transcendentals(cost, ts_shape_elements(&instr->shape));
	cost_rules_move(walk, instr, cost);
}

static void infeed(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		   struct ts_cost *cost)
{
	ts_cost_write(cost, &instr->shape);
}

static void outfeed(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		    struct ts_cost *cost)
{
	add_operands(walk, instr, cost);
}

static void cost_rules_add_bytes(struct ts_cost *cost, int64_t bytes)
{
	cost->bytes_accessed = ts_i64_add(cost->bytes_accessed, bytes);
}

/*
 * The start of a collective: its result is the operand again, what arrives, and semaphores. All of it
 * is in libtpu's sum of a module.
 */
static void send_part(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		      struct ts_cost *cost)
{
	add_operands(walk, instr, cost);
	for (uint32_t i = 0; i < instr->shape.nr_parts; i++) {
		const struct ts_shape *part = &instr->shape.parts[i];

		if (i != 1 && !walk->whole)
			continue;
		if (part->memory_space == TS_SPACE_SYNC)
			cost_rules_add_bytes(cost, SYNC_FLAG_BYTES);
		else
			ts_cost_write(cost, part);
	}
}

static void recv(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		 struct ts_cost *cost)
{
	ts_cost_write(cost, cost_rules_first_array(&instr->shape));
}

/* The start reads the source, the done writes the target, as the profiler has it. */
static void copy_start(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		       struct ts_cost *cost)
{
	add_operands(walk, instr, cost);
	if (!walk->whole || instr->shape.nr_parts < 2)
		return;
	ts_cost_write(cost, &instr->shape.parts[0]);
	cost_rules_add_bytes(cost, SYNC_FLAG_BYTES);
}

static void copy_done(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		      struct ts_cost *cost)
{
	ts_cost_write(cost, &instr->shape);
	if (walk->whole)
		ts_cost_read(cost, &instr->shape);
}

/* Its work stands at the start; libtpu's sum counts the result once more here. */
static void work_done(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		      struct ts_cost *cost)
{
	if (walk->whole)
		ts_cost_write(cost, &instr->shape);
}

/* A part of libtpu's sum alone: the arrays it takes, and all that it hands on. */
static void async_update(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			 struct ts_cost *cost)
{
	if (!walk->whole || instr->nr_operands < 2)
		return;
	for (uint32_t i = 1; i < instr->nr_operands; i++)
		ts_cost_read(cost, &ts_operand(walk, instr, i)->shape);
	ts_cost_write(cost, &instr->shape);
}

static void add_cost(struct ts_cost *sum, const struct ts_cost *cost)
{
	cost_rules_add_flops(sum, cost->flops);
	add_transcendentals(sum, cost->transcendentals);
	sum->bytes_accessed = ts_i64_add(sum->bytes_accessed, cost->bytes_accessed);
	sum->hbm_bytes = ts_i64_add(sum->hbm_bytes, cost->hbm_bytes);
	for (int i = 0; i < TS_NR_MEMORIES; i++) {
		sum->read_bytes[i] = ts_i64_add(sum->read_bytes[i], cost->read_bytes[i]);
		sum->written_bytes[i] = ts_i64_add(sum->written_bytes[i], cost->written_bytes[i]);
	}
}

static void raise_to(struct ts_cost *max, const struct ts_cost *cost)
{
	max->flops = TS_MAX(max->flops, cost->flops);
	max->transcendentals = TS_MAX(max->transcendentals, cost->transcendentals);
	max->bytes_accessed = TS_MAX(max->bytes_accessed, cost->bytes_accessed);
	max->hbm_bytes = TS_MAX(max->hbm_bytes, cost->hbm_bytes);
	for (int i = 0; i < TS_NR_MEMORIES; i++) {
		max->read_bytes[i] = TS_MAX(max->read_bytes[i], cost->read_bytes[i]);
		max->written_bytes[i] = TS_MAX(max->written_bytes[i], cost->written_bytes[i]);
	}
}

/* A while: one trip of body and condition. A call, an async wrapper: what is inside. */
static void call(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		 struct ts_cost *cost)
{
	for (uint32_t i = 0; i < instr->nr_called; i++) {
		struct ts_cost inside = ts_cost_comp(walk, instr->called[i]);

		add_cost(cost, &inside);
		cost->has_unknown |= inside.has_unknown;
	}
}

/* The most expensive branch, for each count by itself. */
static void conditional(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			struct ts_cost *cost)
{
	struct ts_cost max = { .flops = 0 };

	for (uint32_t i = 0; i < instr->nr_called; i++) {
		struct ts_cost branch = ts_cost_comp(walk, instr->called[i]);

		raise_to(&max, &branch);
		cost->has_unknown |= branch.has_unknown;
	}
	add_cost(cost, &max);
}

/* Marks of the compiler that are not code: libtpu's own, and those of sharding and placement. */
static bool is_annotation(struct ts_bytes target)
{
	static const char *const targets[] = {
		"AssumeGatherIndicesInBound",
		"ConcatBitcast",
		"MoveToDevice",
		"MoveToHost",
		"PinToDevice",
		"PinToDeviceSram",
		"SPMDFullToShardShape",
		"SPMDShardToFullShape",
		"Sharding",
		"annotate_device_placement",
	};

	for (size_t i = 0; i < TS_NELEM(targets); i++)
		if (ts_bytes_is(target, targets[i]))
			return true;
	return false;
}

/* Its author did not say which way: it writes its results at most, and reads the rest. */
static void estimated_bytes(const struct ts_hlo_instr *instr, struct ts_cost *cost)
{
	const struct ts_shape in_hbm = { .memory_space = TS_SPACE_HBM };
	struct ts_cost result = { .flops = 0 };
	int64_t written;

	ts_cost_write(&result, &instr->shape);
	written = TS_MIN(result.bytes_accessed, instr->backend.cost_bytes);
	ts_cost_write_bytes(cost, &in_hbm, written);
	ts_cost_read_bytes(cost, &in_hbm, instr->backend.cost_bytes - written);
}

/*
 * A kernel whose author gave its cost. Where it gave no bytes, its operands and results count.
 */
static void estimated(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		      struct ts_cost *cost)
{
	const struct ts_hlo_backend *backend = &instr->backend;

	cost_rules_add_flops(cost, TS_MAX(backend->cost_flops, 0));
	add_transcendentals(cost, TS_MAX(backend->cost_transcendentals, 0));
	if (backend->cost_bytes >= 0) {
		estimated_bytes(instr, cost);
	} else {
		cost_rules_move(walk, instr, cost);
	}
}

/* Each of the k results of a row is chosen among all of it, as libtpu has it. */
static void top_k(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		  struct ts_cost *cost)
{
	const struct ts_shape *out = cost_rules_first_array(&instr->shape);
	int64_t k = out->rank > 0 ? TS_MAX(out->dims[out->rank - 1], 0) : 1;

	cost_rules_add_flops(cost, ts_i64_mul(operand_elements(walk, instr, 0), k));
	cost_rules_move(walk, instr, cost);
}

static void custom_call(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
			struct ts_cost *cost)
{
	struct ts_matmul found;

	if (is_annotation(instr->custom_call_target))
		return;
	if (ts_bytes_is(instr->custom_call_target, "TopK")) {
		top_k(walk, instr, cost);
		return;
	}
	if (instr->backend.cost_flops >= 0 || instr->backend.cost_bytes >= 0) {
		estimated(walk, instr, cost);
	} else if (ts_cost_product(walk->module, instr, &found)) {
		cost_rules_add_flops(cost, found.flops);
		add_operands(walk, instr, cost);
		ts_cost_write(cost, cost_rules_first_array(
					    &instr->shape)); /* scratch memory is not work */
	} else {
		cost->has_unknown = true;
	}
}

/* What no rule stands for moves its bytes. */
static rule_fn *const rules[TS_NR_OPCODES] = {
	[TS_OPCODE_ABS] = elementwise,
	[TS_OPCODE_ACOS] = transcendental,
	[TS_OPCODE_ACOSH] = transcendental,
	[TS_OPCODE_ADD] = elementwise,
	[TS_OPCODE_ADD_DEPENDENCY] = free_of_charge,
	[TS_OPCODE_AFTER_ALL] = free_of_charge,
	[TS_OPCODE_ALL_GATHER_DONE] = work_done,
	[TS_OPCODE_ALL_GATHER_START] = send_part,
	[TS_OPCODE_ALL_REDUCE] = all_reduce,
	[TS_OPCODE_ALL_REDUCE_DONE] = free_of_charge,
	[TS_OPCODE_ALL_REDUCE_START] = all_reduce,
	[TS_OPCODE_AND] = elementwise,
	[TS_OPCODE_ASIN] = transcendental,
	[TS_OPCODE_ASINH] = transcendental,
	[TS_OPCODE_ASYNC_DONE] = work_done,
	[TS_OPCODE_ASYNC_START] = call,
	[TS_OPCODE_ASYNC_UPDATE] = async_update,
	[TS_OPCODE_ATAN2] = transcendental,
	[TS_OPCODE_ATANH] = transcendental,
	[TS_OPCODE_BITCAST] = free_of_charge,
	[TS_OPCODE_BITCAST_CONVERT] = elementwise,
	[TS_OPCODE_CALL] = call,
	[TS_OPCODE_CBRT] = transcendental,
	[TS_OPCODE_CEIL] = elementwise,
	[TS_OPCODE_CHOLESKY] = cholesky,
	[TS_OPCODE_CLAMP] = elementwise,
	[TS_OPCODE_COLLECTIVE_PERMUTE_DONE] = work_done,
	[TS_OPCODE_COLLECTIVE_PERMUTE_START] = send_part,
	[TS_OPCODE_COMPARE] = elementwise,
	[TS_OPCODE_COMPLEX] = elementwise,
	[TS_OPCODE_CONDITIONAL] = conditional,
	[TS_OPCODE_CONSTANT] = free_of_charge,
	[TS_OPCODE_CONVERT] = elementwise,
	[TS_OPCODE_CONVOLUTION] = cost_rules_product,
	[TS_OPCODE_COPY_DONE] = copy_done,
	[TS_OPCODE_COPY_START] = copy_start,
	[TS_OPCODE_COSH] = transcendental,
	[TS_OPCODE_COSINE] = transcendental,
	[TS_OPCODE_COUNT_LEADING_ZEROS] = elementwise,
	[TS_OPCODE_CUSTOM_CALL] = custom_call,
	[TS_OPCODE_DIVIDE] = elementwise,
	[TS_OPCODE_DOMAIN] = free_of_charge,
	[TS_OPCODE_DOT] = cost_rules_product,
	[TS_OPCODE_DYNAMIC_SLICE] = slice,
	[TS_OPCODE_DYNAMIC_UPDATE_SLICE] = update_slice,
	[TS_OPCODE_ERF] = transcendental,
	[TS_OPCODE_EXPONENTIAL] = transcendental,
	[TS_OPCODE_EXPONENTIAL_MINUS_ONE] = transcendental,
	[TS_OPCODE_FFT] = fft,
	[TS_OPCODE_FLOOR] = elementwise,
	[TS_OPCODE_FUSION] = ts_cost_fusion,
	[TS_OPCODE_GATHER] = cost_rules_gather,
	[TS_OPCODE_GET_TUPLE_ELEMENT] = free_of_charge,
	[TS_OPCODE_IMAG] = elementwise,
	[TS_OPCODE_INFEED] = infeed,
	[TS_OPCODE_IS_FINITE] = elementwise,
	[TS_OPCODE_LOG] = transcendental,
	[TS_OPCODE_LOG_PLUS_ONE] = transcendental,
	[TS_OPCODE_LOGISTIC] = transcendental,
	[TS_OPCODE_MAP] = map,
	[TS_OPCODE_MAXIMUM] = elementwise,
	[TS_OPCODE_MINIMUM] = elementwise,
	[TS_OPCODE_MULHI] = elementwise,
	[TS_OPCODE_MULTIPLY] = elementwise,
	[TS_OPCODE_NEGATE] = elementwise,
	[TS_OPCODE_NOT] = elementwise,
	[TS_OPCODE_OPT_BARRIER] = free_of_charge,
	[TS_OPCODE_OR] = elementwise,
	[TS_OPCODE_OUTFEED] = outfeed,
	[TS_OPCODE_PARAMETER] = free_of_charge,
	[TS_OPCODE_POPCNT] = elementwise,
	[TS_OPCODE_POWER] = transcendental,
	[TS_OPCODE_REAL] = elementwise,
	[TS_OPCODE_RECV] = recv,
	[TS_OPCODE_RECV_DONE] = free_of_charge,
	[TS_OPCODE_REDUCE] = reduce,
	[TS_OPCODE_REDUCE_PRECISION] = elementwise,
	[TS_OPCODE_REDUCE_WINDOW] = reduce_window,
	[TS_OPCODE_REMAINDER] = elementwise,
	[TS_OPCODE_RNG] = cost_rules_draw,
	[TS_OPCODE_RNG_BIT_GENERATOR] = cost_rules_draw,
	[TS_OPCODE_ROUND_NEAREST_AFZ] = elementwise,
	[TS_OPCODE_ROUND_NEAREST_EVEN] = elementwise,
	[TS_OPCODE_RSQRT] = transcendental,
	[TS_OPCODE_SCATTER] = scatter,
	[TS_OPCODE_SELECT] = elementwise,
	[TS_OPCODE_SELECT_AND_SCATTER] = select_and_scatter,
	[TS_OPCODE_SEND] = outfeed,
	[TS_OPCODE_SEND_DONE] = free_of_charge,
	[TS_OPCODE_SHIFT_LEFT] = elementwise,
	[TS_OPCODE_SHIFT_RIGHT_ARITHMETIC] = elementwise,
	[TS_OPCODE_SHIFT_RIGHT_LOGICAL] = elementwise,
	[TS_OPCODE_SIGN] = elementwise,
	[TS_OPCODE_SINE] = transcendental,
	[TS_OPCODE_SINH] = transcendental,
	[TS_OPCODE_SLICE] = slice,
	[TS_OPCODE_SORT] = cost_rules_sort,
	[TS_OPCODE_SQRT] = transcendental,
	[TS_OPCODE_STOCHASTIC_CONVERT] = elementwise,
	[TS_OPCODE_SUBTRACT] = elementwise,
	[TS_OPCODE_TAN] = transcendental,
	[TS_OPCODE_TANH] = transcendental,
	[TS_OPCODE_TRIANGULAR_SOLVE] = triangular_solve,
	[TS_OPCODE_TUPLE] = free_of_charge,
	[TS_OPCODE_WHILE] = call,
	[TS_OPCODE_XOR] = elementwise,
};

static rule_fn *rule_of(enum ts_opcode opcode)
{
	return rules[opcode] ? rules[opcode] : cost_rules_move;
}

bool ts_hlo_is_elementwise(const struct ts_hlo_instr *instr)
{
	rule_fn *rule = rule_of(instr->opcode);

	return rule == elementwise || rule == transcendental || rule == map ||
	       instr->opcode == TS_OPCODE_COPY;
}

void ts_cost_instr(const struct ts_cost_walk *walk, const struct ts_hlo_instr *instr,
		   struct ts_cost *cost)
{
	TS_ASSERT(walk && instr && cost);
	rule_of(instr->opcode)(walk, instr, cost);
}
