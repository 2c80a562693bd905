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

/* Executions of jit_f back to back: DURS_US long each, of program PROGRAMS ('1' to '9'). How many steps are slow. */
static int64_t slow_of(const char *programs, const int64_t *durs_us)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	int64_t at = 0, slow;
	struct xp xp;

	memory_run_init(&mem);
	xp = xp_plane(&bytes, "/device:TPU:0");
	for (char c = '1'; c <= '9'; c++) {
		char name[] = { 'j', 'i', 't', '_', 'f', '(', c, ')', '\0' };

		xp_name(&xp, c, name);
	}
	xp_line(&xp, "XLA Modules", 0);
	for (size_t i = 0; programs[i]; i++) {
		xp_event(&xp, programs[i], at * US, durs_us[i] * US);
		at += durs_us[i];
	}
	xp_line_end(&xp);
	put_ops(&xp, at);
	xp_plane_end(&xp);
	finish(&mem, &bytes);
	assert_int_equal(mem.run.outline.steps.nr_steps, strlen(programs));
	slow = ts_value_int(
		ts_result_get(ts_results_find(&mem.run.results, "time"), "steps_slow_count"));
	memory_run_release(&mem);
	ts_buf_release(&bytes);
	return slow;
}

/* A sweep over sizes is no series of one step; a program that is slow once is, also beside others of its name. */
TEST(steps_of_different_programs_are_not_compared)
{
	assert_int_equal(slow_of("12345", (int64_t[]){ 50, 52, 60, 400, 120 }), 0);
	assert_int_equal(slow_of("11111", (int64_t[]){ 50, 52, 60, 400, 50 }), 1);
	assert_int_equal(
		slow_of("1212121212", (int64_t[]){ 50, 400, 50, 400, 50, 400, 90, 400, 50, 400 }),
		1);
	assert_int_equal(slow_of("1111222", (int64_t[]){ 50, 50, 50, 50, 90, 400, 90 }), 0);
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

/* ---- ranges of a host's thread: times in us, a step each 1000 */

enum launches { IN_RANGES, IN_FIRST_HALF, ON_ANOTHER_THREAD, OUTSIDE };

struct ranges {
	const char *names[6]; /* in turn */
	int64_t nr, at_us, dur_us;
	enum launches launches;
	const char *step_mark;
	/* */
	enum ts_steps_source source;
	size_t nr_steps;
	const char *made_of;
};

static void put_event(struct ts_buf *text, const char *category, const char *name, int pid, int tid,
		      int64_t start_us, int64_t dur_us, int64_t link)
{
	ts_buf_printf(text,
		      "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,"
		      "\"ts\":%lld,\"dur\":%lld,\"args\":{\"correlation\":%lld}}",
		      text->n > 1 ? ",\n" : "", category, name, pid, tid, (long long)start_us,
		      (long long)dur_us, (long long)link);
}

static void put_ranges(struct ts_buf *text, const struct ranges *of)
{
	size_t nr_names = 0;

	while (nr_names < TS_NELEM(of->names) && of->names[nr_names])
		nr_names++;
	ts_buf_putc(text, '[');
	for (int64_t i = 0; i < of->nr; i++) {
		int64_t at = 1000000 + i * 1000;
		int64_t launch =
			of->launches == OUTSIDE ? at + of->at_us + of->dur_us + 5 : at + 100;

		put_event(text, "user_annotation", of->names[(size_t)i % nr_names], 10, 10,
			  at + of->at_us, of->dur_us, 0);
		for (int64_t k = 0; k < 2; k++) {
			int64_t link = 1 + 2 * i + k;

			launch += k * (of->launches == IN_RANGES ? 400 : 20);
			put_event(text, "cuda_runtime", "cudaLaunchKernel", 10,
				  of->launches == ON_ANOTHER_THREAD ? 11 : 10, launch, 10, link);
			put_event(text, "kernel", k ? "relu" : "gemm", 0, 7, launch + 30, 15, link);
		}
	}
	ts_buf_putc(text, ']');
}

static void check_ranges(const struct ranges *of)
{
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	put_ranges(&text, of);
	assert_int_equal(memory_run_add_as(&mem, memory_run_reader("chrome"), ts_buf_bytes(&text),
					   "host", NULL),
			 TS_OK);
	mem.settings.step_mark = ts_bytes_of(of->step_mark ? of->step_mark : "");
	assert_int_equal(memory_run_analyse(&mem, 0, NULL), TS_OK);
	if (mem.run.outline.steps.source != of->source ||
	    mem.run.outline.steps.nr_steps != of->nr_steps ||
	    strcmp(mem.run.outline.steps.made_of, of->made_of) != 0)
		fail_msg("%s: source %d, %zu steps of \"%s\"", of->names[0],
			 mem.run.outline.steps.source, mem.run.outline.steps.nr_steps,
			 mem.run.outline.steps.made_of);
	memory_run_release(&mem);
	ts_buf_release(&text);
}

#define DECODE(n) "execute_context_0(0)_generation_" n "(" n ")"
#define NO_STEPS  TS_STEPS_NONE, 0, ""

TEST(ranges_that_hold_the_launches_are_steps)
{
	static const struct ranges rows[] = {
		{ { "train_step" },
		  6,
		  0,
		  999,
		  IN_RANGES,
		  NULL,
		  TS_STEPS_INFERRED,
		  6,
		  "train_step" },
		{ { "train_step" },
		  6,
		  0,
		  999,
		  ON_ANOTHER_THREAD,
		  NULL,
		  TS_STEPS_INFERRED,
		  6,
		  "train_step" },
		{ { "step 1", "step 2", "step 3" },
		  3,
		  0,
		  999,
		  IN_RANGES,
		  NULL,
		  TS_STEPS_INFERRED,
		  3,
		  "step " },
		{ { "step 2", "step 1" }, 4, 0, 999, IN_RANGES, NULL, NO_STEPS },
		{ { "forward" }, 6, 0, 300, IN_RANGES, NULL, NO_STEPS },
		{ { "loss" }, 6, 0, 50, OUTSIDE, NULL, NO_STEPS },
		{ { "loss" }, 6, 0, 50, OUTSIDE, "loss\n", TS_STEPS_MARKED, 6, "loss" },
		{ { "nccl:all_reduce" }, 6, 0, 999, IN_RANGES, NULL, NO_STEPS },
		{ { "train_step" }, 1, 0, 999, IN_RANGES, NULL, NO_STEPS },
		{ { "Optimizer.step#SGD.step" },
		  4,
		  800,
		  100,
		  IN_RANGES,
		  NULL,
		  TS_STEPS_INFERRED,
		  3,
		  "Optimizer.step#SGD.step" },
		{ { DECODE("32"), DECODE("31") },
		  6,
		  0,
		  999,
		  IN_RANGES,
		  NULL,
		  TS_STEPS_MARKED,
		  6,
		  "execute_*" },
		{ { "step[DECODE bs=4]", "step[EXTEND bs=2 toks=90]" },
		  5,
		  0,
		  50,
		  OUTSIDE,
		  NULL,
		  TS_STEPS_MARKED,
		  5,
		  "step[*]" },
		{ { "[pl][profile]run_training_batch" },
		  3,
		  0,
		  50,
		  OUTSIDE,
		  NULL,
		  TS_STEPS_MARKED,
		  3,
		  "[pl][profile]run_training_batch" },
		{ { "ProfilerStep#4", "ProfilerStep#5" },
		  2,
		  0,
		  999,
		  IN_RANGES,
		  NULL,
		  TS_STEPS_MARKED,
		  2,
		  "" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		check_ranges(&rows[i]);
}

TEST(steps_of_a_server_say_what_they_do)
{
	static const struct ranges of = {
		.names = { "execute_context_2(6144)_generation_3(3)", DECODE("32") },
		.nr = 4,
		.dur_us = 999,
	};
	struct ts_buf text = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_table *table;

	memory_run_init(&mem);
	put_ranges(&text, &of);
	assert_int_equal(memory_run_add_as(&mem, memory_run_reader("chrome"), ts_buf_bytes(&text),
					   "host", NULL),
			 TS_OK);
	assert_int_equal(memory_run_analyse(&mem, 0, NULL), TS_OK);
	table = ts_result_find_table(ts_results_find(&mem.run.results, "time"), "per_step");
	for (size_t row = 0; row < 4; row++) {
		const char *phase = row % 2 ? "decode" : "mixed";

		assert_true(ts_bytes_is(
			ts_value_text(ts_table_cell(table, row, ts_table_column(table, "phase"))),
			phase));
		assert_int_equal(cell(&mem, row, "prefill_tokens"), row % 2 ? 0 : 6144);
		assert_int_equal(cell(&mem, row, "decode_tokens"), row % 2 ? 32 : 3);
	}
	memory_run_release(&mem);
	ts_buf_release(&text);
}
