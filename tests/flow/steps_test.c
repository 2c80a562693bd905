/* Steps of a whole run: which module they are inferred from, and which of several devices are one. */
#include <setjmp.h>
#include <stdarg.h>

#include "tests/flow/memory_run.h"
#include "tests/read/xplane_make.h"

#include <cmocka.h>

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
static void a_module_that_repeats_on_one_device_of_many_makes_steps(void **state)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;

	(void)state;
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
static void steps_of_devices_are_paired_by_number(void **state)
{
	static const struct {
		int64_t step, cores, duration_us;
	} expected[] = { { 4, 1, 10 }, { 5, 2, 9 }, { 6, 2, 9 }, { 7, 1, 8 } };
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	struct xp xp;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_that_repeats_on_one_device_of_many_makes_steps),
		cmocka_unit_test(steps_of_devices_are_paired_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
