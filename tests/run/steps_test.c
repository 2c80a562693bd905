/* SPDX-License-Identifier: MIT */
/* Steps of a whole run: which module they are inferred from, and which of several devices are one. */
#include "tests/run/memory_run.h"
#include "tests/read/corpus.h"
#include "tests/read/xplane_make.h"
#include "tests/test.h"

#define US	   INT64_C(1000000)
#define NR_DEVICES 4

static void finish(struct memory_run *mem, struct ts_buf *bytes)
{
	assert_false(bytes->failed);
	assert_int_equal(memory_run_add(mem, ts_buf_bytes(bytes), "host", NULL), TS_OK);
	assert_int_equal(memory_run_analyse(mem, 0, NULL), TS_OK);
}

static int64_t cell(const struct memory_run *mem, size_t row, const char *column)
{
	const struct ts_table *table =
		ts_result_find_table(ts_results_find(&mem->run.results, "time"), "per_step");

	return ts_value_int(ts_table_cell(table, row, ts_table_column(table, column)));
}

static void put_ops(struct xp *xp, int64_t dur_us)
{
	xp_op(xp, 1, "fusion.1", "loop fusion", 7, 1);
	xp_line(xp, "XLA Ops", 0);
	xp_event(xp, 1, 0, dur_us * US);
	xp_line_end(xp);
}

/* A job on one core of a machine with four: its module repeats, whatever the others do. */
TEST(a_module_that_repeats_on_one_device_of_many_makes_steps)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	for (int i = 0; i < NR_DEVICES; i++) {
		char name[32];
		struct xp xp;

		snprintf(name, sizeof(name), "/device:TPU:%d", i);
		xp = xp_plane(&bytes, name);
		xp_name(&xp, 10, "jit_once(3)");
		xp_name(&xp, 11, "jit_train(7)");
		xp_line(&xp, "XLA Modules", 0);
		xp_event(&xp, 10, 0, 40 * US); /* on all four, longer, but only once each */
		for (int64_t run = 0; i == 2 && run < 3; run++)
			xp_event(&xp, 11, (50 + run * 10) * US, 8 * US);
		xp_line_end(&xp);
		put_ops(&xp, 78);
		xp_plane_end(&xp);
	}
	finish(&mem, &bytes);
	assert_int_equal(mem.run.outline.steps.source, TS_STEPS_INFERRED);
	assert_int_equal(mem.run.outline.steps.nr_steps, 3);
	assert_int_equal(mem.run.outline.steps.devices[2].nr, 3);
	assert_int_equal(mem.run.outline.steps.devices[0].nr, 0);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

static void mark_steps(struct xp *xp, int64_t first, int64_t nr, int64_t dur_us)
{
	xp_name(xp, 20, "step");
	xp_line(xp, "Steps", 0);
	for (int64_t i = 0; i < nr; i++) {
		size_t event = xp_begin_event(xp, 20, i * 10 * US, dur_us * US);

		xp_stat_int(xp, XP_EVENT_STATS, "step_num", first + i);
		ts_pbw_end(xp->out, event);
	}
	xp_line_end(xp);
}

/* The capture of the second device began in step 5: its first step is the other's second. */
TEST(steps_of_devices_are_paired_by_number)
{
	static const struct {
		int64_t step, cores, duration_us;
	} expected[] = { { 4, 1, 10 }, { 5, 2, 9 }, { 6, 2, 9 }, { 7, 1, 8 } };
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	struct xp xp;

	memory_run_init(&mem);
	xp = xp_plane(&bytes, "/device:TPU:0");
	mark_steps(&xp, 4, 3, 10);
	put_ops(&xp, 30);
	xp_plane_end(&xp);
	xp = xp_plane(&bytes, "/device:TPU:1");
	mark_steps(&xp, 5, 3, 8);
	put_ops(&xp, 30);
	xp_plane_end(&xp);
	finish(&mem, &bytes);
	assert_int_equal(mem.run.outline.steps.nr_steps, TS_NELEM(expected));
	for (size_t i = 0; i < TS_NELEM(expected); i++) {
		assert_int_equal(cell(&mem, i, "step"), expected[i].step);
		assert_int_equal(cell(&mem, i, "cores"), expected[i].cores);
		assert_int_equal(cell(&mem, i, "duration_ps"), expected[i].duration_us * US);
	}
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

/* A function compiled anew in the middle is the same function. Two without a name are not. */
TEST(variants_of_one_function_are_one_module)
{
	static const struct {
		const char *name[2];
		const char *made_of;
		size_t nr_steps;
	} given[] = {
		{ { "jit_f(1)", "jit_f(2)" }, "jit_f", 6 },
		{ { "jit__lambda_(1)", "jit__lambda_(2)" }, "jit__lambda_ + jit__lambda_", 3 },
	};

	for (size_t g = 0; g < TS_NELEM(given); g++) {
		struct ts_buf bytes = TS_BUF_INIT;
		struct memory_run mem;
		struct xp xp;

		memory_run_init(&mem);
		xp = xp_plane(&bytes, "/device:TPU:0");
		xp_name(&xp, 10, given[g].name[0]);
		xp_name(&xp, 11, given[g].name[1]);
		xp_line(&xp, "XLA Modules", 0);
		for (int64_t run = 0; run < 6; run++)
			xp_event(&xp, 10 + run % 2, run * 10 * US, 8 * US);
		xp_line_end(&xp);
		put_ops(&xp, 58);
		xp_plane_end(&xp);
		finish(&mem, &bytes);
		assert_string_equal(mem.run.outline.steps.made_of, given[g].made_of);
		assert_int_equal(mem.run.outline.steps.nr_steps, given[g].nr_steps);
		memory_run_release(&mem);
		ts_buf_release(&bytes);
	}
}

/* A kernel of program PROGRAM, a letter of its name. */
static void put_kernel(struct xp *xp, char letter, uint64_t program, int64_t start_us)
{
	char name[] = { letter, '\0' };
	size_t event = xp_begin_event(xp, letter, start_us * US, 4 * US);

	if (program) {
		xp_stat_text(xp, XP_EVENT_STATS, "hlo_op", name);
		xp_stat_uint(xp, XP_EVENT_STATS, "program_id", program);
	}
	ts_pbw_end(xp->out, event);
}

/* Each letter a kernel: small ones of program 5, large ones of program 6, others of none. */
TEST(a_gpus_kernels_tell_the_steps)
{
	static const struct {
		const char *kernels, *made_of;
		size_t nr_steps;
		int64_t first_us, first_end_us;
	} given[] = {
		{ "abbcabbcabbc", "program 5", 3, 0, 40 },
		/* a memcpy between; the capture ends in the middle */
		{ "ab0cab0cab", "program 5", 3, 0, 40 },
		/* two programs in turn: the longer one first */
		{ "abcXabcXabcXabcX", "program 5 + program 6", 4, 0, 40 },
		/* the first kernel is that of a loop: no other runs as often */
		{ "aaaabaaaabaaaab", "", 0, 0, 0 },
		/* no programs: nothing says what belongs together */
		{ "0120120120", "", 0, 0, 0 },
		{ "abc", "", 0, 0, 0 },
	};

	for (size_t g = 0; g < TS_NELEM(given); g++) {
		struct ts_buf bytes = TS_BUF_INIT;
		const struct ts_steps *steps;
		struct memory_run mem;
		struct xp xp;

		memory_run_init(&mem);
		xp = xp_plane(&bytes, "/device:GPU:0");
		for (const char *k = "abcX012"; *k; k++)
			xp_name(&xp, *k, "kernel");
		xp_line(&xp, "Stream #1(Compute)", 0);
		for (int64_t i = 0; given[g].kernels[i]; i++) {
			char k = given[g].kernels[i];

			put_kernel(&xp, k, k < 'A' ? 0 : k < 'a' ? 6 : 5, i * 10);
		}
		xp_line_end(&xp);
		xp_plane_end(&xp);
		finish(&mem, &bytes);
		steps = &mem.run.outline.steps;
		assert_string_equal(steps->made_of, given[g].made_of);
		assert_int_equal(steps->nr_steps, given[g].nr_steps);
		if (steps->nr_steps > 0) {
			assert_int_equal(steps->devices[0].items[0].start_ps,
					 given[g].first_us * US);
			assert_int_equal(steps->devices[0].items[0].end_ps,
					 given[g].first_end_us * US);
		}
		memory_run_release(&mem);
		ts_buf_release(&bytes);
	}
}

/*
 * Real profiles without markers. The v6e one is a test that runs jit_f a hundred times (XProf's
 * hlo_stats: 100 executions a core); on the MI300X each kernel of the one program ran five times
 * on each of eight devices, one of the 40 was lost.
 */
TEST(real_profiles_have_the_steps_they_ran)
{
	static const struct {
		const char *file, *made_of;
		size_t nr_devices, nr_steps;
	} given[] = {
		{ "xplane/tpu_v6e_host_offload.xplane.pb", "jit_f", 4, 100 },
		{ "xplane/gpu_mi300x_jax_conv.xplane.pb", "jit_forward_3d_conv", 8, 5 },
	};

	for (size_t g = 0; g < TS_NELEM(given); g++) {
		struct ts_arena arena = TS_ARENA_INIT;
		struct ts_bytes file = corpus_file(&arena, given[g].file);
		struct memory_run mem;

		if (!file.p) {
			ts_arena_release(&arena);
			print_message("corpus is not here\n");
			skip();
		}
		memory_run_init(&mem);
		assert_int_equal(memory_run_add(&mem, file, "host", NULL), TS_OK);
		assert_int_equal(memory_run_analyse(&mem, 0, NULL), TS_OK);
		assert_string_equal(mem.run.outline.steps.made_of, given[g].made_of);
		assert_int_equal(mem.run.outline.steps.nr_steps, given[g].nr_steps);
		for (size_t i = 0; i < given[g].nr_devices; i++)
			assert_int_equal(mem.run.outline.steps.devices[i].nr, given[g].nr_steps);
		memory_run_release(&mem);
		ts_arena_release(&arena);
	}
}
