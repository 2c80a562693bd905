/* SPDX-License-Identifier: MIT */
/*
 * Times of ops, predicted.
 *
 * The rule. Of an op with products: the compiler's estimate, and no less than its bytes need. Of one without: the same as long as the estimate
 * is within twice what the bytes need, else what the bytes need: on the v6e of which there is a profile with both, the estimates of
 * three loop fusions were 0.6 to 2.3 % off and the roofline 17 to 20 %; but the estimate of a broadcast was 3.5 times what it took,
 * and the roofline 26 % below. tests/truth/prediction.py holds these figures.
 */
#include "analysis/kit/op_time.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/units.h"
#include "model/kernels.h"
#include "model/op_kind.h"
#include "model/op_work.h"
#include "model/traffic.h"
#include "model/trips.h"

#define ESTIMATE_MOST 2	 /* times what the bytes of an op without products need: beyond, it is not believed */
#define KERNEL_MOST   10 /* assumed: a kernel of unknown cost reaches a tenth of the memory's bandwidth */
#define VMEM_TIMES    14 /* VMEM's read bandwidth, of HBM's: a v6e's own figures; assumed of the others */

const char *ts_time_kind_name(enum ts_time_kind kind)
{
	static const char *const names[] = {
		[TS_TIME_NONE] = "none",	   [TS_TIME_MATRIX] = "matrix product",
		[TS_TIME_VECTOR] = "vector op",	   [TS_TIME_MOVE] = "copy on the core",
		[TS_TIME_KERNEL] = "custom call",  [TS_TIME_COPY] = "copy beside the core",
		[TS_TIME_HOST_COPY] = "host copy", [TS_TIME_COLLECTIVE] = "collective",
		[TS_TIME_TRANSFER] = "transfer",   [TS_TIME_LOOP] = "loop",
	};

	TS_ASSERT(kind < TS_NR_TIME_KINDS);
	return names[kind];
}

const char *ts_time_basis_name(enum ts_time_basis basis)
{
	static const char *const names[] = {
		[TS_BASIS_NONE] = "nothing",
		[TS_BASIS_ESTIMATE] = "compiler's estimate",
		[TS_BASIS_MATRIX] = "matrix unit's peak",
		[TS_BASIS_HBM] = "HBM bandwidth",
		[TS_BASIS_VMEM] = "VMEM bandwidth",
		[TS_BASIS_HOST] = "host bandwidth",
		[TS_BASIS_ICI] = "links between chips",
		[TS_BASIS_AUTHOR] = "kernel's cost estimate",
		[TS_BASIS_LEAST] = "unknown: the least",
	};

	TS_ASSERT(basis < TS_NR_TIME_BASES);
	return names[basis];
}

bool ts_op_times_knows(const struct ts_rates *rates)
{
	return rates && rates->mxu_dim > 0 && rates->hbm_bytes_per_s > 0 && rates->clock_hz > 0 &&
	       rates->peak_flops_per_s > 0;
}

/* What the times of a module are made of. */
struct maker {
	const struct ts_profile *profile;
	const struct ts_hlo_module *module;
	const struct ts_rates *rates;
	const struct ts_topology *topology;
	uint32_t module_index;
	struct ts_op_times *times;
	uint32_t *done_of; /* of each start: its done, or TS_NONE */
};

static int64_t op_time_ps_of(double seconds)
{
	return seconds > 0 ? (int64_t)fmin(seconds * (double)TS_PS_PER_S + 0.5, 9e18) : 0;
}

static void set(struct ts_op_time *time, enum ts_time_basis basis, double likely_s, double low_s,
		double high_s)
{
	time->basis = basis;
	time->ps[TS_CASE_LIKELY] = op_time_ps_of(likely_s);
	time->ps[TS_CASE_LOW] = TS_MIN(op_time_ps_of(low_s), time->ps[TS_CASE_LIKELY]);
	time->ps[TS_CASE_HIGH] =
		isnan(high_s) ? -1 : TS_MAX(op_time_ps_of(high_s), time->ps[TS_CASE_LIKELY]);
}

static void set_unknown(struct ts_op_time *time, const char *why, double low_s, double high_s)
{
	set(time, TS_BASIS_LEAST, low_s, low_s, high_s);
	time->unknown = why;
}

/* Products at the peak of their type; FILLED with the empty parts of the array, and the passes of f32. */
static double op_time_products_s(const struct maker *maker, const struct ts_op_work *work,
				 bool filled)
{
	double flops = work->flops, issued = flops, bf16;

	if (work->nr_products == 0 || !(flops > 0))
		return 0;
	if (filled && work->passes_flops > flops)
		issued = work->passes_flops;
	bf16 = ts_bf16_flops(maker->rates, flops, flops, work->int8_flops, work->fp8_flops);
	return issued * (bf16 / flops) / maker->rates->peak_flops_per_s;
}

struct bytes_time {
	double s;
	enum ts_time_basis basis;
};

static struct bytes_time op_time_bytes_of(const struct maker *maker, uint32_t instr)
{
	struct ts_traffic traffic = ts_instr_traffic(maker->module, instr);
	double hbm = maker->rates->hbm_bytes_per_s, vmem = maker->rates->vmem_bytes_per_s;
	double hbm_s = (double)ts_traffic_hbm_bytes(&traffic) / hbm;
	double vmem_s = (double)TS_MAX(traffic.read_bytes[TS_MEMORY_VMEM],
				       traffic.written_bytes[TS_MEMORY_VMEM]) /
			(vmem > 0 ? vmem : hbm * VMEM_TIMES);

	return vmem_s > hbm_s ? (struct bytes_time){ vmem_s, TS_BASIS_VMEM }
			      : (struct bytes_time){ hbm_s, TS_BASIS_HBM };
}

/* What the core itself computes or moves. */
static void set_work(const struct maker *maker, uint32_t index, struct ts_op_time *time)
{
	const struct ts_hlo_instr *instr = &maker->module->instrs[index];
	struct ts_op_work work = ts_op_work_of(maker->module, index, maker->rates->mxu_dim);
	bool is_product = work.nr_products > 0 || ts_hlo_depthwise(maker->module, index) > 0;
	struct bytes_time bytes = op_time_bytes_of(maker, index);
	double estimate_s =
		instr->backend.estimated_cycles > 0
			? (double)instr->backend.estimated_cycles / maker->rates->clock_hz
			: 0;
	double filled_s = op_time_products_s(maker, &work, true);
	double least_s = fmax(op_time_products_s(maker, &work, false), bytes.s);
	double roof_s = fmax(filled_s, bytes.s);

	time->estimate_ps = estimate_s > 0 ? op_time_ps_of(estimate_s) : -1;
	time->roofline_ps = op_time_ps_of(roof_s);
	if (work.nr_products > 0)
		time->kind = TS_TIME_MATRIX;
	if (estimate_s > roof_s &&
	    (is_product || bytes.s == 0 || estimate_s <= ESTIMATE_MOST * bytes.s))
		set(time, TS_BASIS_ESTIMATE, estimate_s, least_s, estimate_s);
	else if (estimate_s > 0 && work.nr_products > 0)
		set(time, bytes.s >= filled_s ? bytes.basis : TS_BASIS_ESTIMATE,
		    fmax(estimate_s, bytes.s), least_s, fmax(estimate_s, roof_s));
	else
		set(time, filled_s > bytes.s ? TS_BASIS_MATRIX : bytes.basis, roof_s, least_s,
		    fmax(roof_s, estimate_s));
}

static void set_kernel(const struct maker *maker, uint32_t index, struct ts_op_time *time)
{
	const struct ts_hlo_instr *instr = &maker->module->instrs[index];
	const struct ts_hlo_backend *backend = &instr->backend;
	double arrays = 0, flops_s, bytes_s;

	if (backend->cost_flops >= 0 || backend->cost_bytes >= 0) {
		flops_s = (double)TS_MAX(backend->cost_flops, 0) / maker->rates->peak_flops_per_s;
		bytes_s = (double)TS_MAX(backend->cost_bytes, 0) / maker->rates->hbm_bytes_per_s;
		set(time, TS_BASIS_AUTHOR, fmax(flops_s, bytes_s), fmax(flops_s, bytes_s),
		    fmax(flops_s, bytes_s));
		return;
	}
	for (uint32_t i = 0; i <= instr->nr_operands; i++) {
		const struct ts_shape *shape =
			i < instr->nr_operands ? &maker->module->instrs[instr->operands[i]].shape
					       : &instr->shape;

		if (shape->nr_parts > 0 || shape->memory_space == TS_SPACE_HBM)
			arrays += (double)ts_shape_bytes(shape);
	}
	arrays /= maker->rates->hbm_bytes_per_s;
	set_unknown(time, "a custom call without a cost estimate", arrays, KERNEL_MOST * arrays);
}

static enum ts_exchange_kind collective_of(enum ts_opcode opcode)
{
	static const enum ts_exchange_kind kinds[TS_NR_OPCODES] = {
		[TS_OPCODE_ALL_REDUCE] = TS_ALL_REDUCE,
		[TS_OPCODE_ALL_GATHER] = TS_ALL_GATHER,
		[TS_OPCODE_REDUCE_SCATTER] = TS_REDUCE_SCATTER,
		[TS_OPCODE_ALL_TO_ALL] = TS_ALL_TO_ALL,
		[TS_OPCODE_RAGGED_ALL_TO_ALL] = TS_ALL_TO_ALL,
		[TS_OPCODE_COLLECTIVE_PERMUTE] = TS_PERMUTE,
		[TS_OPCODE_COLLECTIVE_BROADCAST] = TS_PERMUTE,
	};

	return kinds[ts_opcode_whole(opcode)];
}

/* Of a fusion: the collective in it, an all-reduce of which a part is kept (all-reduce-scatter). */
static const struct ts_hlo_instr *collective_in(const struct ts_hlo_module *module, uint32_t index,
						enum ts_exchange_kind *what)
{
	const struct ts_hlo_instr *instr = &module->instrs[ts_hlo_wrapped(module, index)];

	*what = collective_of(instr->opcode);
	for (uint32_t c = 0; c < instr->nr_called && *what == TS_COLLECTIVE_NONE; c++) {
		const struct ts_hlo_comp *comp = &module->comps[instr->called[c]];

		for (uint32_t i = comp->first_instr; i < comp->first_instr + comp->nr_instrs; i++) {
			*what = collective_of(module->instrs[i].opcode);
			if (*what == TS_ALL_REDUCE)
				*what = TS_REDUCE_SCATTER;
			if (*what != TS_COLLECTIVE_NONE)
				return &module->instrs[i];
		}
	}
	return instr;
}

static double op_time_operand_bytes(const struct ts_hlo_module *module,
				    const struct ts_hlo_instr *instr)
{
	double sum = 0;

	for (uint32_t i = 0; i < instr->nr_operands; i++)
		sum += (double)ts_shape_bytes(&module->instrs[instr->operands[i]].shape);
	return sum;
}

static void set_collective(const struct maker *maker, uint32_t index, struct ts_op_time *time)
{
	struct ts_exchange exchange = { .what = TS_COLLECTIVE_NONE };
	const struct ts_hlo_instr *instr = collective_in(maker->module, index, &exchange.what);
	struct ts_exchange_time took;

	exchange.bytes = op_time_operand_bytes(maker->module, &maker->module->instrs[index]);
	exchange.group = instr->group_size > 0 ? instr->group_size : maker->topology->nr_cores;
	if (exchange.what == TS_PERMUTE)
		exchange.group = TS_MAX(exchange.group, 2);
	if (exchange.what == TS_ALL_GATHER)
		exchange.bytes *= (double)TS_MAX(exchange.group, 1);
	took = ts_exchange_time_of(maker->topology, maker->rates->link_bytes_per_s, &exchange);
	if (!isnan(took.likely_s))
		set(time, TS_BASIS_ICI, took.likely_s, took.low_s, took.high_s);
	else if (exchange.group < 1)
		set_unknown(time, "a collective of an unknown number of devices", 0, NAN);
	else
		set_unknown(time, "a collective over links of unknown bandwidth", 0, NAN);
}

/* What a transfer moves: what its done, or the op itself, gives; of an update the part that is written. */
static double op_time_moved_bytes(const struct maker *maker, uint32_t index)
{
	const struct ts_hlo_module *module = maker->module;
	const struct ts_hlo_instr *inner = &module->instrs[ts_hlo_wrapped(module, index)];
	uint32_t done = maker->done_of[index];
	const struct ts_shape *shape = &module->instrs[done == TS_NONE ? index : done].shape;

	if (ts_opcode_whole(inner->opcode) == TS_OPCODE_DYNAMIC_UPDATE_SLICE &&
	    inner->nr_operands > 1)
		shape = &module->instrs[inner->operands[1]].shape;
	if (done == TS_NONE && shape->nr_parts > 0)
		shape = &shape->parts[0];
	return (double)ts_shape_bytes(shape);
}

static bool goes_to_host(const struct maker *maker, uint32_t index)
{
	uint32_t done = maker->done_of[index];

	return ts_shape_in_space(&maker->module->instrs[done == TS_NONE ? index : done].shape,
				 TS_SPACE_HOST) ||
	       TS_OPCODE_IN(maker->module->instrs[index].opcode, TS_OPCODE_OUTFEED, TS_OPCODE_SEND,
			    TS_OPCODE_SEND_DONE);
}

static bool op_time_touches_host(const struct maker *maker, uint32_t index)
{
	const struct ts_hlo_instr *instr = &maker->module->instrs[index];

	if (ts_shape_in_space(&instr->shape, TS_SPACE_HOST))
		return true;
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		if (ts_shape_in_space(&maker->module->instrs[instr->operands[i]].shape,
				      TS_SPACE_HOST))
			return true;
	return false;
}

static void set_host(const struct maker *maker, uint32_t index, struct ts_op_time *time)
{
	double seconds = op_time_moved_bytes(maker, index) / maker->rates->host_bytes_per_s;
	bool is_copy = op_time_touches_host(maker, index);

	time->kind = is_copy ? TS_TIME_HOST_COPY : TS_TIME_TRANSFER;
	if (isnan(seconds))
		set_unknown(time, "a copy to or from the host, whose bandwidth is unknown", 0, NAN);
	else if (is_copy)
		set(time, TS_BASIS_HOST, seconds, seconds, seconds);
	else
		set_unknown(time, "a transfer for which the host must be ready", seconds, NAN);
}

static void set_copy(const struct maker *maker, uint32_t index, struct ts_op_time *time)
{
	double seconds = op_time_moved_bytes(maker, index) / maker->rates->hbm_bytes_per_s;
	enum ts_opcode opcode = maker->module->instrs[ts_hlo_wrapped(maker->module, index)].opcode;

	time->kind = TS_TIME_COPY;
	if (opcode == TS_OPCODE_CUSTOM_CALL || opcode == TS_OPCODE_FUSION)
		set_unknown(time, "work that goes on beside the core", seconds,
			    KERNEL_MOST * seconds);
	else
		set(time, TS_BASIS_HBM, seconds, seconds, seconds);
}

static struct ts_op op_time_op_of(const struct maker *maker, uint32_t index)
{
	struct ts_op op;

	ts_op_init(&op);
	op.name = maker->module->instrs[index].name;
	op.category = ts_hlo_category(&maker->module->instrs[index]);
	op.module = maker->module_index;
	op.instr = index;
	ts_op_classify(maker->profile, &op);
	return op;
}

static void set_loop(const struct maker *maker, uint32_t index, struct ts_op_time *time)
{
	struct ts_schedule_op *walked = &maker->times->walked[index];

	walked->trips = 1;
	if (maker->module->instrs[index].opcode != TS_OPCODE_WHILE)
		return;
	walked->trips = ts_hlo_trips(maker->module, index);
	if (walked->trips >= 0)
		return;
	walked->trips = 1;
	time->kind = TS_TIME_LOOP;
	set_unknown(time, "a loop whose number of trips the module does not say: one is counted", 0,
		    NAN);
}

static enum ts_lane op_time_lane_of(const struct maker *maker, uint32_t index,
				    const struct ts_op_time *time)
{
	switch (time->kind) {
	case TS_TIME_COLLECTIVE: return TS_LANE_ICI;
	case TS_TIME_COPY:	 return TS_LANE_DMA;
	case TS_TIME_HOST_COPY:
	case TS_TIME_TRANSFER:
		return goes_to_host(maker, index) ? TS_LANE_TO_HOST : TS_LANE_FROM_HOST;
	default: return TS_LANE_CORE;
	}
}

static void op_time_set_time(const struct maker *maker, uint32_t index)
{
	const struct ts_hlo_instr *instr = &maker->module->instrs[index];
	struct ts_op_time *time = &maker->times->items[index];
	struct ts_schedule_op *walked = &maker->times->walked[index];
	struct ts_op op = op_time_op_of(maker, index);

	time->estimate_ps = time->roofline_ps = -1;
	walked->is_start = ts_hlo_is_start(instr);
	walked->start = ts_hlo_start_of(maker->module, index);
	if (ts_hlo_is_name(instr) || walked->start != TS_NONE ||
	    ts_opcode_phase(instr->opcode) == TS_PHASE_UPDATE)
		return;
	if (ts_hlo_is_control(instr)) {
		set_loop(maker, index, time);
	} else if (op.kind == TS_OP_COLLECTIVE) {
		time->kind = TS_TIME_COLLECTIVE;
		set_collective(maker, index, time);
	} else if (op.kind == TS_OP_HOST) {
		set_host(maker, index, time);
	} else if (walked->is_start) {
		set_copy(maker, index, time);
	} else if (ts_instr_is_kernel(instr)) {
		time->kind = TS_TIME_KERNEL;
		set_kernel(maker, index, time);
	} else {
		time->kind = op.kind == TS_OP_MOVE ? TS_TIME_MOVE : TS_TIME_VECTOR;
		set_work(maker, index, time);
	}
	walked->lane = op_time_lane_of(maker, index, time);
	for (int i = 0; i < TS_NR_CASES; i++)
		walked->ps[i] = time->ps[i] < 0 ? time->ps[TS_CASE_LIKELY] : time->ps[i];
}

static enum ts_status op_time_make_all(struct maker *maker, struct ts_error *err)
{
	const struct ts_hlo_module *module = maker->module;
	bool *inner = ts_hlo_inner_comps(module);

	if (!inner)
		return ts_fail_nomem(err);
	for (uint32_t i = 0; i < module->nr_instrs; i++) {
		uint32_t start = ts_hlo_start_of(module, i);

		maker->times->walked[i].start = TS_NONE;
		if (start != TS_NONE)
			maker->done_of[start] = i;
	}
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation])
			op_time_set_time(maker, i);
	free(inner);
	return TS_OK;
}

enum ts_status ts_op_times_make(struct ts_op_times *times, const struct ts_profile *profile,
				uint32_t module, const struct ts_rates *rates,
				const struct ts_topology *topology, struct ts_error *err)
{
	struct maker maker = {
		.profile = profile,
		.module = &profile->modules[module],
		.module_index = module,
		.rates = rates,
		.topology = topology,
		.times = times,
	};
	size_t nr = (size_t)maker.module->nr_instrs + 1;
	enum ts_status st;

	TS_ASSERT(times && profile && topology);
	TS_ASSERT(module < profile->nr_modules);
	TS_ASSERT(ts_op_times_knows(rates));
	times->module = maker.module;
	times->items = calloc(nr, sizeof(*times->items));
	times->walked = calloc(nr, sizeof(*times->walked));
	maker.done_of = malloc(nr * sizeof(*maker.done_of));
	for (size_t i = 0; maker.done_of && i < nr; i++)
		maker.done_of[i] = TS_NONE;
	st = times->items && times->walked && maker.done_of ? op_time_make_all(&maker, err)
							    : ts_fail_nomem(err);
	free(maker.done_of);
	return st;
}

void ts_op_times_release(struct ts_op_times *times)
{
	TS_ASSERT(times);
	free(times->items);
	free(times->walked);
	*times = (struct ts_op_times){ .module = NULL };
}
