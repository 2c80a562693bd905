/* SPDX-License-Identifier: MIT */
/* A run built by hand for tests of the doctor and the marks: facts as the other analyses leave them,
 * and a profile of small arrays. Times are in ms. A rule is tried at its threshold, which facts
 * reach exactly and bytes of a profile (tests/analysis/given.h) do not. */
#ifndef TESTS_ANALYSIS_DOCTOR_GIVEN_H
#define TESTS_ANALYSIS_DOCTOR_GIVEN_H

#include <stdlib.h>

#include "tests/test.h"
#include "analysis/analysis.h"
#include "analysis/facts/capture.h"
#include "analysis/facts/doctor.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/ops.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "base/units.h"
#include "model/bucket.h"
#include "result/schema/doctor.def"
#include "tests/analysis/facts_given.h"
#include "tests/result/values.h"

extern const struct ts_analysis ts_analysis_doctor, ts_analysis_marks;

#define MS	  TS_PS_PER_MS
#define GIVEN_MAX 32

struct given {
	struct ts_profile profile;
	struct ts_outline outline;
	struct ts_rates rates[GIVEN_MAX];
	struct ts_settings settings;
	struct ts_results results;
	struct ts_context ctx;
	struct ts_ops_facts ops;
	struct ts_op_fact items[GIVEN_MAX];
	uint32_t of_op[GIVEN_MAX];
	struct ts_module_fact modules[GIVEN_MAX];
	struct ts_time_facts time;
	struct ts_time_step steps[GIVEN_MAX];
	struct ts_time_core cores[GIVEN_MAX];
	struct ts_time_gap gaps[GIVEN_MAX];
	struct ts_slow_step slow[GIVEN_MAX];
	struct ts_gaps_facts witnessed;
	struct ts_gap_witness witnesses[GIVEN_MAX]; /* by gap */
	struct ts_doctor_facts doctor;		    /* made by when_examined() */
	struct ts_capture_facts capture;
	struct ts_capture_cause causes[GIVEN_MAX];
	struct ts_systolic_facts matrix;
	struct ts_matrix_op products[GIVEN_MAX];
	struct ts_padding_facts padded;
	struct ts_padded_op padded_ops[GIVEN_MAX];
};

static inline void given_nothing(struct given *run)
{
	memset(run, 0, sizeof(*run));
	ts_profile_init(&run->profile);
	ts_results_init(&run->results);
	ts_settings_init(&run->settings);
	run->settings.op_ms_high = 1e6; /* these ops run for long */
	run->ctx = (struct ts_context){ .profile = &run->profile,
					.outline = &run->outline,
					.rates = run->rates,
					.settings = &run->settings };
	facts_of_nothing(&run->ctx);
	run->ops = (struct ts_ops_facts){ .items = run->items,
					  .of_op = run->of_op,
					  .modules = run->modules };
	run->time = *(const struct ts_time_facts *)run->ctx.facts[ts_id_time];
	run->time.steps = run->steps;
	run->time.cores = run->cores;
	run->time.gaps = run->gaps;
	run->time.slow = run->slow;
	run->witnessed.witnesses = run->witnesses;
	run->capture.causes = run->causes;
	run->matrix = (struct ts_systolic_facts){ .items = run->products, .utilization = NAN };
	run->padded = (struct ts_padding_facts){ run->padded_ops, 0, -1, NAN };
	run->ctx.facts[ts_id_systolic] = &run->matrix;
	run->ctx.facts[ts_id_padding] = &run->padded;
	run->ctx.facts[ts_id_capture] = &run->capture;
	run->ctx.facts[ts_id_ops] = &run->ops;
	run->ctx.facts[ts_id_time] = &run->time;
	run->ctx.facts[ts_id_gaps] = &run->witnessed;
}

static inline void given_release(struct given *run)
{
	free(run->outline.compile.items);
	ts_results_release(&run->results);
	ts_profile_release(&run->profile);
}

/* Devices of a chip with 100 TFLOP/s, 1 TB/s of HBM and 32 GB/s to the host. */
static inline void given_devices(struct given *run, size_t nr)
{
	struct ts_host *host = ts_profile_add_host(&run->profile);

	host->name = TS_LIT("host0");
	for (uint32_t i = 0; i < nr; i++) {
		struct ts_plane *plane = ts_profile_add_plane(&run->profile);
		struct ts_device *device = ts_profile_add_device(&run->profile);
		struct ts_line *line = ts_profile_add_line(&run->profile);

		plane->kind = TS_PLANE_TPU;
		plane->device = i;
		plane->first_line = i;
		plane->nr_lines = 1;
		device->plane = i;
		device->ordinal = i;
		device->name = ts_arena_printf(&run->profile.arena, "/device:TPU:%u", (unsigned)i);
		device->label = device->name;
		device->kind = TS_LIT("TPU v6 Lite");
		line->plane = i;
		line->kind = TS_LINE_OPS;
		run->rates[i] = (struct ts_rates){ .name = "TPU v6e",
						   .peak_flops_per_s = 1e14,
						   .hbm_bytes_per_s = 1e12,
						   .vmem_bytes_per_s = NAN,
						   .host_bytes_per_s = 32e9,
						   .peak_int8_per_s = NAN,
						   .peak_fp8_per_s = NAN,
						   .peak_f32_per_s = NAN,
						   .clock_hz = 1e9,
						   .hbm_bytes = INT64_C(32) << 30,
						   .vmem_bytes = -1,
						   .mxu_dim = 256,
						   .mxu_count = 2 };
	}
}

struct given_op {
	const char *name, *category, *text, *source;
	enum ts_op_kind kind;
	enum ts_op_async async;
	enum ts_bucket bucket;
	int64_t occurrences, exclusive_ps;
	double flops, bytes; /* an execution; 0: unknown */
	int64_t longest_ps;  /* 0: all are equally long */
};

/* Gives the op's index. The op of index i runs first on device 0, from i ms on, for half a ms. */
static inline uint32_t given_op(struct given *run, struct given_op op)
{
	struct ts_op draft;
	uint32_t index;

	ts_op_init(&draft);
	draft.name = ts_bytes_of(op.name);
	draft.category = ts_bytes_of(op.category);
	draft.text = ts_bytes_of(op.text);
	draft.source = ts_bytes_of(op.source);
	draft.program_id = 7;
	draft.has_program = true;
	index = ts_profile_intern_op(&run->profile, &draft);
	run->profile.ops[index].kind = op.kind;
	run->profile.ops[index].async = op.async;
	run->items[run->ops.nr++] = (struct ts_op_fact){
		.op = index,
		.module_index = TS_NONE,
		.instr = TS_NONE,
		.name = draft.name,
		.module = TS_LIT("jit_f"),
		.category = draft.category,
		.category_id = ts_opcode_of(draft.category),
		.source = draft.source,
		.occurrences = op.occurrences,
		.total_ps = op.exclusive_ps,
		.self_ps = op.exclusive_ps,
		.exclusive_ps = op.exclusive_ps,
		.longest_ps = op.longest_ps	   ? op.longest_ps
			      : op.occurrences > 0 ? op.exclusive_ps / op.occurrences
						   : 0,
		.flops = op.flops > 0 ? op.flops : NAN,
		.bytes = op.bytes > 0 ? op.bytes : NAN,
		.hbm_bytes = op.bytes > 0 ? op.bytes : NAN,
		.work_ps = op.exclusive_ps,
		.hbm_bytes_per_s = NAN,
		.mxu_share = NAN,
		.padding_share = NAN,
		.bucket = op.bucket,
		.first_start_ps = index * MS,
		.first_end_ps = index * MS + MS / 2,
	};
	return index;
}

/* The buckets of the whole run; their sum is the total. All cores are alike. */
static inline void given_time(struct given *run, const int64_t ms[TS_NR_BUCKETS])
{
	size_t nr = run->profile.nr_devices;

	run->time.nr_cores = nr;
	run->time.total_ps = 0;
	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		run->time.bucket_ps[b] = ms[b] * MS;
		run->time.total_ps += ms[b] * MS;
	}
	for (uint32_t i = 0; i < nr; i++) {
		run->cores[i].device = i;
		for (int b = 0; b < TS_NR_BUCKETS; b++)
			run->cores[i].ps[b] = ms[b] * MS / (int64_t)nr;
	}
	run->outline.steps.source = TS_STEPS_MARKED;
}

/* Of all devices; communication and compilation are core time. */
static inline void given_step(struct given *run, int64_t step, int64_t start_ms,
			      int64_t duration_ms, int64_t communication_ms, int64_t compilation_ms)
{
	int64_t cores = (int64_t)run->profile.nr_devices;

	run->steps[run->time.nr_steps++] = (struct ts_time_step){
		.number = (uint64_t)step,
		.start_ps = start_ms * MS,
		.total_ps = ts_i64_mul(duration_ms * MS, cores),
		.cores = cores,
		.ps = { [TS_BUCKET_COMMUNICATION] = communication_ms * MS,
			[TS_BUCKET_COMPILATION] = compilation_ms * MS },
	};
}

static inline struct ts_time_gap given_gap(struct given *run, uint32_t device, int64_t start_ms,
					   int64_t duration_ms, enum ts_bucket cause)
{
	struct ts_time_gap gap = { device, start_ms * MS, duration_ms * MS, cause };

	run->gaps[run->time.nr_gaps++] = gap;
	return gap;
}

/* The step of this index takes longer than 100 ms: the host saved a checkpoint in it. */
static inline void given_slow_step(struct given *run, size_t step, int64_t excess_ms,
				   int64_t period)
{
	struct ts_slow_step slow = {
		.step = step,
		.duration_ps = (100 + excess_ms) * MS,
		.excess_ps = excess_ms * MS,
		.period = period,
		.cause = TS_BUCKET_IDLE,
		.cause_excess_ps = 2 * excess_ms * MS,
		.device = TS_NONE,
		.op = TS_NONE,
	};

	run->witnesses[run->time.nr_gaps].event = TS_LIT("save_checkpoint");
	slow.gap = given_gap(run, 0, (int64_t)step * 100, excess_ms, TS_BUCKET_IDLE);
	run->slow[run->time.nr_slow++] = slow;
	run->time.nr_slow_steps = (int64_t)run->time.nr_slow;
	run->time.slow_period = period;
	run->time.median_step_ps = 100 * MS;
	run->time.step_mad_ps = 3 * MS;
}

static inline uint32_t given_op_named(const struct given *run, const char *name)
{
	for (uint32_t i = 0; i < run->profile.nr_ops; i++)
		if (ts_bytes_is(run->profile.ops[i].name, name))
			return i;
	return TS_NONE;
}

/* In percent; the rest of the time is lost otherwise. */
static inline void given_product(struct given *run, const char *op, int64_t time_ms, double mxu,
				 double fill, double shape_loss)
{
	run->products[run->matrix.nr++] = (struct ts_matrix_op){
		.op = given_op_named(run, op),
		.module_index = TS_NONE,
		.instr = TS_NONE,
		.name = ts_bytes_of(op),
		.module = TS_LIT("jit_f"),
		.limit = TS_LIT("K"),
		.m = 1024,
		.n = 1024,
		.k = 64,
		.time_ps = time_ms * MS,
		.utilization = mxu / 100,
		.fill = fill / 100,
		.shape_loss = shape_loss / 100,
		.memory_loss = 0,
		.other_loss = (100 - mxu - shape_loss) / 100,
	};
}

/* The module of ops that have no HLO is empty, as the profile says. */
static inline void given_padding(struct given *run, const char *op, const char *module, double pct,
				 int64_t waste_ms)
{
	run->padded_ops[run->padded.nr++] = (struct ts_padded_op){
		.op = given_op_named(run, op),
		.module_index = TS_NONE,
		.instr = TS_NONE,
		.name = ts_bytes_of(op),
		.module = ts_bytes_of(module),
		.bytes_share = pct / 100,
		.flops_share = NAN,
		.waste_ps = waste_ms < 0 ? -1 : waste_ms * MS,
		.bytes = { TS_LIT("pad dim 1 from 4 to 128"), -1 },
		.flops = { TS_LIT("make K 128"), -1 },
		.best = { TS_LIT("pad dim 1 from 4 to 128"), -1 },
		.self_ps = -1,
	};
}

static inline void given_cause(struct given *run, const char *id, enum ts_severity severity)
{
	run->causes[run->capture.nr_causes++] = (struct ts_capture_cause){
		.id = id,
		.severity = severity,
		.confidence = TS_LIKELY,
		.what = TS_LIT("what is wrong"),
		.evidence = TS_LIT("how it is known"),
		.fix = TS_LIT("what to do"),
	};
}

static inline int by_self_time(const void *a, const void *b)
{
	const struct ts_op_fact *x = a, *y = b;

	if (x->self_ps != y->self_ps)
		return x->self_ps > y->self_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static inline const struct ts_result *when_examined(struct given *run)
{
	struct ts_result *result = TS_ADD(&run->results, doctor);
	struct ts_error err = TS_ERROR_INIT;

	qsort(run->items, run->ops.nr, sizeof(*run->items), by_self_time);
	for (uint32_t i = 0; i < run->ops.nr; i++)
		run->of_op[run->items[i].op] = i;
	assert_int_equal(ts_analysis_doctor.close(NULL, &run->ctx, &run->doctor, result, &err),
			 TS_OK);
	run->ctx.facts[ts_id_doctor] = &run->doctor;
	return result;
}

#endif
