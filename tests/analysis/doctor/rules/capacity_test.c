/* SPDX-License-Identifier: MIT */
/* The doctor's rules about room in device memory. Total: 1000 ms of one core; 32 GiB of HBM. */
#include "analysis/facts/allocators.h"
#include "analysis/facts/capacity.h"
#include "tests/analysis/doctor/doctor_given.h"

#define GIB (INT64_C(1) << 30)

/* What the analysis of capacity leaves: one program of one module. */
struct given_capacity {
	struct ts_hlo_module module;
	struct ts_capacity_program program;
	struct ts_peak_buffer buffer;
	struct ts_donation pairs[2];
	struct ts_capacity_facts facts;
};

static struct given_capacity *given_capacity(struct given *run, int64_t peak_bytes)
{
	static const int64_t ms[TS_NR_BUCKETS] = { [TS_BUCKET_COMPUTE] = 1000 };
	struct given_capacity *capacity;

	given_nothing(run);
	given_devices(run, 1);
	given_op(run, (struct given_op){ "big.1", "loop fusion", "", "a.py:1", TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 10, 600 * MS, 0, 0 });
	given_time(run, ms);
	capacity = ts_arena_zalloc(&run->results.arena, sizeof(*capacity));
	assert_non_null(capacity);
	capacity->module.name = TS_LIT("jit_f");
	capacity->program = (struct ts_capacity_program){
		.module = &capacity->module,
		.peak_bytes = peak_bytes,
		.argument_bytes = 12 * GIB,
		.output_bytes = 8 * GIB,
		.alias_bytes = 8 * GIB,
		.temp_bytes = 18 * GIB,
		.peak_op = TS_LIT("big.1"),
		.buffers = &capacity->buffer,
		.donations = capacity->pairs,
	};
	capacity->facts = (struct ts_capacity_facts){ &capacity->program, 1, 32 * GIB };
	run->ctx.facts[ts_id_capacity] = &capacity->facts;
	return capacity;
}

static void given_buffer(struct given_capacity *capacity)
{
	capacity->buffer = (struct ts_peak_buffer){
		.op = TS_LIT("big.1"),
		.kind = TS_BUFFER_TEMP,
		.shape = TS_LIT("f32[1048576,4096]"),
		.nr_bytes = 16 * GIB,
		.framework_op = TS_LIT("jit(f)/dot_general"),
	};
	capacity->program.nr_buffers = 1;
}

static void given_pair(struct given_capacity *capacity, int64_t nr_bytes)
{
	capacity->pairs[capacity->program.nr_donations++] = (struct ts_donation){
		.parameter = 2,
		.output = 1,
		.nr_bytes = nr_bytes,
		.framework_op = TS_LIT("params['w']"),
	};
	capacity->program.donation_bytes += nr_bytes;
}

TEST(test_a_nearly_full_device_is_a_warning)
{
	struct given run;
	const struct ts_finding *finding;

	given_buffer(given_capacity(&run, 30 * GIB)); /* 93.75 % */
	finding = finding_of(when_examined(&run), "hbm_capacity");
	assert_non_null(finding);
	assert_int_equal(finding->severity, TS_WARNING);
	assert_int_equal(finding->impact_ps, -1);
	assert_true(ts_bytes_has(finding->title, "94 %"));
	assert_true(ts_bytes_has(finding->evidence, "30.0 GiB of 32.0 GiB, at op big.1"));
	assert_true(ts_bytes_has(finding->evidence, "f32[1048576,4096], 16.0 GiB"));
	assert_int_equal(finding->nr_where, 1);
	given_release(&run);
}

TEST(test_a_full_device_is_critical)
{
	struct given run;
	const struct ts_finding *finding;

	given_capacity(&run, 32 * GIB);
	finding = finding_of(when_examined(&run), "hbm_capacity");
	assert_non_null(finding);
	assert_int_equal(finding->severity, TS_CRITICAL);
	given_release(&run);
}

TEST(test_room_enough_is_no_finding)
{
	struct given run;

	given_capacity(&run, 28 * GIB); /* 87.5 % */
	assert_null(finding_of(when_examined(&run), "hbm_capacity"));
	given_release(&run);
}

TEST(test_the_threshold_is_the_users)
{
	struct given run;

	given_capacity(&run, 28 * GIB);
	run.settings.peak_memory_high = 80;
	assert_non_null(finding_of(when_examined(&run), "hbm_capacity"));
	given_release(&run);
}

TEST(test_donation_is_proposed_where_it_saves_much)
{
	struct given run;
	const struct ts_finding *finding;
	struct given_capacity *capacity = given_capacity(&run, 8 * GIB);

	given_pair(capacity, 2 * GIB);
	given_pair(capacity, 2 * GIB); /* together 12.5 % */
	finding = finding_of(when_examined(&run), "donation");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->title, "4.00 GiB"));
	assert_true(ts_bytes_has(finding->evidence, "argument 2 (params['w']) for result 1"));
	given_release(&run);
}

TEST(test_donation_that_saves_little_is_no_finding)
{
	struct given run;

	given_pair(given_capacity(&run, 8 * GIB), GIB); /* 3.1 % */
	assert_null(finding_of(when_examined(&run), "donation"));
	given_release(&run);
}

struct given_allocators {
	struct ts_allocator item;
	struct ts_allocator_blocks blocks;
	struct ts_allocators_facts facts;
};

/* An allocator of 16 GiB whose heap goes from 2 GiB to LAST in STEPS steps; its peak is 8 GiB. */
static void given_allocator(struct given *run, int64_t steps, int64_t rising, int64_t last)
{
	struct given_allocators *given;

	given_capacity(run, 8 * GIB); /* 25 % of the device */
	given = ts_arena_zalloc(&run->results.arena, sizeof(*given));
	assert_non_null(given);
	given->blocks = (struct ts_allocator_blocks){ .op = TS_LIT("dense/MatMul"),
						      .nr_bytes = GIB,
						      .count = 3 };
	given->item = (struct ts_allocator){
		.name = TS_LIT("GPU_0_bfc"),
		.device = 0,
		.peak_bytes = 8 * GIB,
		.capacity_bytes = 16 * GIB,
		.growth = { steps, rising, 2 * GIB, last },
		.blocks = &given->blocks,
		.nr_blocks = 1,
	};
	given->facts = (struct ts_allocators_facts){ &given->item, 1 };
	run->ctx.facts[ts_id_allocators] = &given->facts;
}

TEST(test_a_heap_that_gains_with_every_step_is_suspect)
{
	struct given run;
	const struct ts_finding *finding;

	given_allocator(&run, 9, 8, 6 * GIB); /* 4 GiB in 8 steps */
	finding = finding_of(when_examined(&run), "memory_growth");
	assert_non_null(finding);
	assert_int_equal(finding->confidence, TS_LIKELY);
	assert_int_equal(finding->impact_ps, -1);
	assert_true(ts_bytes_has(finding->title, "512 MiB a step"));
	assert_true(ts_bytes_has(finding->evidence, "2.00 GiB after the first of 9 steps"));
	assert_true(ts_bytes_has(finding->evidence, "6.00 GiB after the last, of 16.0 GiB"));
	assert_true(ts_bytes_has(finding->evidence, "dense/MatMul (3 x 1.00 GiB)."));
	given_release(&run);
}

TEST(test_growth_that_proves_little_is_no_finding)
{
	static const struct {
		int64_t steps, rising, last;
	} rows[] = {
		{ 4, 3, 6 * GIB },	     /* too few steps */
		{ 9, 5, 6 * GIB },	     /* now more, now less */
		{ 9, 8, 2 * GIB + GIB / 8 }, /* 0.8 % of the memory */
		{ 9, 8, GIB },		     /* less than at first */
		{ 0, 0, 0 },		     /* no steps */
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given run;

		given_allocator(&run, rows[i].steps, rows[i].rising, rows[i].last);
		assert_null(finding_of(when_examined(&run), "memory_growth"));
		given_release(&run);
	}
}

TEST(test_a_measured_peak_is_preferred)
{
	const struct ts_table *kpis;
	struct given run;

	given_allocator(&run, 9, 0, 2 * GIB);
	kpis = ts_result_find_table(when_examined(&run), "kpis");
	for (size_t i = 0; i < kpis->nr_rows; i++) {
		if (!ts_bytes_is(ts_cell_text(kpis, i, "name"), "peak_memory"))
			continue;
		assert_true(ts_cell_number(kpis, i, "value") == 50);
		assert_true(ts_bytes_is(ts_cell_text(kpis, i, "origin"), "measured"));
	}
	given_release(&run);
}
