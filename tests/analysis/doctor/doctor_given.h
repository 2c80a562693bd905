/* A run built by hand for tests of the doctor and the marks: results as the other analyses leave
 * them, through the result API, and a profile of small arrays. Times are in ms. */
#ifndef TESTS_ANALYSIS_DOCTOR_GIVEN_H
#define TESTS_ANALYSIS_DOCTOR_GIVEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "analysis/settings.h"
#include "base/units.h"
#include "model/bucket.h"
#include "tests/analysis/facts_given.h"

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
	struct ts_result *time, *ops, *systolic, *padding, *capture;
};

static inline void given_nothing(struct given *run)
{
	memset(run, 0, sizeof(*run));
	ts_profile_init(&run->profile);
	ts_results_init(&run->results);
	ts_settings_init(&run->settings);
	run->ctx = (struct ts_context){ &run->profile,	&run->outline, run->rates,
					&run->settings, &run->results, 0 };
	facts_of_nothing(&run->ctx);
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
						   .clock_hz = 1e9,
						   .hbm_bytes = INT64_C(32) << 30,
						   .vmem_bytes = -1,
						   .mxu_dim = 256,
						   .mxu_count = 2 };
	}
}

static const struct ts_column given_op_columns[] = {
	{ "module", TS_MEASURED, NULL },
	{ "name", TS_MEASURED, NULL },
	{ "category", TS_MEASURED, NULL },
	{ "occurrences", TS_MEASURED, NULL },
	{ "flops", TS_MEASURED, NULL },
	{ "bytes_accessed", TS_MEASURED, NULL },
	{ "padding_waste_pct", TS_MEASURED, NULL },
	{ "source", TS_MEASURED, NULL },
	{ "bucket", TS_MEASURED, NULL },
	{ "exclusive_ps", TS_MEASURED, NULL },
	{ "op_index", TS_MEASURED, NULL },
	{ "first_device", TS_MEASURED, NULL },
	{ "first_start_ps", TS_MEASURED, NULL },
	{ "first_end_ps", TS_MEASURED, NULL },
};

struct given_op {
	const char *name, *category, *text, *source;
	enum ts_op_kind kind;
	enum ts_op_async async;
	enum ts_bucket bucket;
	int64_t occurrences, exclusive_ps;
	double flops, bytes; /* an execution; 0: unknown */
};

static inline struct ts_table *given_table(struct ts_result *result, const char *name,
					   const struct ts_column *columns, size_t nr)
{
	for (size_t i = 0; i < result->nr_tables; i++)
		if (strcmp(result->tables[i].name, name) == 0)
			return &result->tables[i];
	return ts_result_table(result, name, NULL, columns, nr);
}

/* Gives the op's index. The op of index i runs first on device 0, from i ms on, for half a ms. */
static inline uint32_t given_op(struct given *run, struct given_op op)
{
	struct ts_op draft;
	struct ts_value *row;
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
	if (!run->ops)
		run->ops = ts_results_add(&run->results, "ops", "Ops");
	row = ts_table_row(run->ops, given_table(run->ops, "ops", given_op_columns,
						 TS_NELEM(given_op_columns)));
	row[0] = ts_text(TS_LIT("jit_f"));
	row[1] = ts_text(draft.name);
	row[2] = ts_text_or_null(draft.category);
	row[3] = ts_int(op.occurrences);
	row[4] = op.flops > 0 ? ts_real(op.flops) : ts_null();
	row[5] = op.bytes > 0 ? ts_real(op.bytes) : ts_null();
	row[7] = ts_text_or_null(draft.source);
	row[8] = ts_text(ts_bytes_of(ts_bucket_name(op.bucket)));
	row[9] = ts_int(op.exclusive_ps);
	row[10] = ts_int(index);
	row[11] = ts_int(0);
	row[12] = ts_int(index * MS);
	row[13] = ts_int(index * MS + MS / 2);
	return index;
}

static inline void given_field(struct ts_result *result, const char *name, struct ts_value value)
{
	assert_true(ts_result_field(result, name, value, TS_MEASURED, NULL));
}

/* The buckets of the whole run; their sum is the total. */
static inline void given_time(struct given *run, const int64_t ms[TS_NR_BUCKETS])
{
	static const char *const names[TS_NR_BUCKETS] = {
		"buckets.compute_ps",
		"buckets.memory_wait_ps",
		"buckets.communication_ps",
		"buckets.host_transfer_ps",
		"buckets.rematerialization_ps",
		"buckets.compilation_ps",
		"buckets.input_ps",
		"buckets.idle_ps",
	};
	int64_t total = 0;

	run->time = ts_results_add(&run->results, "time", "Time");
	for (int i = 0; i < TS_NR_BUCKETS; i++)
		total += ms[i];
	given_field(run->time, "total_ps", ts_int(total * MS));
	for (int i = 0; i < TS_NR_BUCKETS; i++)
		given_field(run->time, names[i], ts_int(ms[i] * MS));
	run->outline.steps.source = TS_STEPS_MARKED;
}

static const struct ts_column given_step_columns[] = {
	{ "step", TS_MEASURED, NULL },		 { "start_ps", TS_MEASURED, NULL },
	{ "duration_ps", TS_MEASURED, NULL },	 { "communication_ps", TS_MEASURED, NULL },
	{ "compilation_ps", TS_MEASURED, NULL },
};

static inline void given_step(struct given *run, int64_t step, int64_t start_ms,
			      int64_t duration_ms, int64_t communication_ms, int64_t compilation_ms)
{
	struct ts_value *row =
		ts_table_row(run->time, given_table(run->time, "per_step", given_step_columns,
						    TS_NELEM(given_step_columns)));

	row[0] = ts_int(step);
	row[1] = ts_int(start_ms * MS);
	row[2] = ts_int(duration_ms * MS);
	row[3] = ts_int(communication_ms * MS);
	row[4] = ts_int(compilation_ms * MS);
}

/* As the analysis of time leaves them, the host's words by that of gaps. */
static inline void given_slow_step(struct given *run, int64_t step, int64_t excess_ms,
				   int64_t period)
{
	static const struct ts_column columns[] = {
		{ "step", TS_MEASURED, NULL },	      { "start_ps", TS_MEASURED, NULL },
		{ "duration_ps", TS_MEASURED, NULL }, { "excess_ps", TS_MEASURED, NULL },
		{ "cause", TS_MEASURED, NULL },	      { "cause_excess_ps", TS_MEASURED, NULL },
		{ "host_event", TS_MEASURED, NULL },  { "period", TS_MEASURED, NULL },
	};
	struct ts_value *row = ts_table_row(
		run->time, given_table(run->time, "steps_outliers", columns, TS_NELEM(columns)));

	row[0] = ts_int(step);
	row[1] = ts_int(step * 100 * MS);
	row[2] = ts_int((100 + excess_ms) * MS);
	row[3] = ts_int(excess_ms * MS);
	row[4] = ts_text(TS_LIT("idle"));
	row[5] = ts_int(2 * excess_ms * MS);
	row[6] = ts_text(TS_LIT("save_checkpoint"));
	row[7] = ts_int_or_null(period);
}

static const struct ts_column given_product_columns[] = {
	{ "op", TS_MEASURED, NULL },
	{ "module", TS_MEASURED, NULL },
	{ "m", TS_MEASURED, NULL },
	{ "n", TS_MEASURED, NULL },
	{ "k", TS_MEASURED, NULL },
	{ "time_ps", TS_MEASURED, NULL },
	{ "mxu_utilization_pct", TS_MEASURED, NULL },
	{ "fill_pct", TS_MEASURED, NULL },
	{ "limiting_dim", TS_MEASURED, NULL },
	{ "loss_shape_pct", TS_MEASURED, NULL },
	{ "loss_memory_pct", TS_MEASURED, NULL },
	{ "loss_other_pct", TS_MEASURED, NULL },
};

static inline void given_product(struct given *run, const char *op, int64_t time_ms, double mxu,
				 double fill, double shape_loss)
{
	struct ts_value *row;

	if (!run->systolic)
		run->systolic = ts_results_add(&run->results, "systolic", "Matrix units");
	row = ts_table_row(run->systolic, given_table(run->systolic, "ops", given_product_columns,
						      TS_NELEM(given_product_columns)));
	row[0] = ts_text(ts_bytes_of(op));
	row[1] = ts_text(TS_LIT("jit_f"));
	row[2] = ts_int(1024);
	row[3] = ts_int(1024);
	row[4] = ts_int(64);
	row[5] = ts_int(time_ms * MS);
	row[6] = ts_real(mxu);
	row[7] = ts_real(fill);
	row[8] = ts_text(TS_LIT("K"));
	row[9] = ts_real(shape_loss);
	row[10] = ts_real(0);
	row[11] = ts_real(100 - mxu - shape_loss);
}

static const struct ts_column given_padding_columns[] = {
	{ "op", TS_MEASURED, NULL },
	{ "module", TS_MEASURED, NULL },
	{ "waste_bytes_pct", TS_MEASURED, NULL },
	{ "waste_flops_pct", TS_MEASURED, NULL },
	{ "waste_ps", TS_MEASURED, NULL },
	{ "suggestion", TS_MEASURED, NULL },
	{ "predicted_gain_ps", TS_MEASURED, NULL },
};

/* The module of ops that have no HLO is empty, as the profile says. */
static inline void given_padding(struct given *run, const char *op, const char *module, double pct,
				 int64_t waste_ms)
{
	struct ts_value *row;

	if (!run->padding)
		run->padding = ts_results_add(&run->results, "padding", "Padding");
	row = ts_table_row(run->padding, given_table(run->padding, "ops", given_padding_columns,
						     TS_NELEM(given_padding_columns)));
	row[0] = ts_text(ts_bytes_of(op));
	row[1] = ts_text_or_null(ts_bytes_of(module));
	row[2] = ts_real(pct);
	row[4] = waste_ms < 0 ? ts_null() : ts_int(waste_ms * MS);
	row[5] = ts_text(TS_LIT("pad dim 1 from 4 to 128"));
}

static const struct ts_column given_cause_columns[] = {
	{ "id", TS_DERIVED, NULL },	    { "severity", TS_DERIVED, NULL },
	{ "confidence", TS_DERIVED, NULL }, { "what", TS_DERIVED, NULL },
	{ "evidence", TS_DERIVED, NULL },   { "fix", TS_DERIVED, NULL },
};

static inline void given_cause(struct given *run, const char *id, const char *severity)
{
	struct ts_value *row;

	if (!run->capture)
		run->capture = ts_results_add(&run->results, "capture", "Quality of the capture");
	row = ts_table_row(run->capture, given_table(run->capture, "causes", given_cause_columns,
						     TS_NELEM(given_cause_columns)));
	row[0] = ts_text(ts_bytes_of(id));
	row[1] = ts_text(ts_bytes_of(severity));
	row[2] = ts_text(TS_LIT("likely"));
	row[3] = ts_text(TS_LIT("what is wrong"));
	row[4] = ts_text(TS_LIT("how it is known"));
	row[5] = ts_text(TS_LIT("what to do"));
}

static inline const struct ts_result *when_examined(struct given *run)
{
	struct ts_result *result = ts_results_add(&run->results, "doctor", "Findings");
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_analysis_doctor.close(NULL, &run->ctx, NULL, result, &err), TS_OK);
	return result;
}

static inline const struct ts_finding *finding_of(const struct ts_result *doctor, const char *rule)
{
	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (strcmp(doctor->findings[i].rule, rule) == 0)
			return &doctor->findings[i];
	return NULL;
}

#endif
