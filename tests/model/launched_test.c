/* SPDX-License-Identifier: MIT */
/* Kernels have the work of the operators that launched them, each call's once. */
#include "tests/test.h"
#include <math.h>

#include "model/launched.h"

static const struct ts_aten_work product = { 1000, 1000, 300, TS_ATEN_BF16 };
static const struct ts_aten_work copy = { 0, 0, 64, TS_ATEN_UNKNOWN };
static const struct ts_aten_work unknown = { NAN, NAN, NAN, TS_ATEN_UNKNOWN };

struct fixture {
	struct ts_thread_launches thread;
	struct ts_launched *launched;
};

static void launch(struct fixture *fixture, int64_t start_ps, uint64_t link)
{
	assert_int_equal(ts_thread_launch(&fixture->thread, start_ps, link, NULL), TS_OK);
}

static void call(struct fixture *fixture, int64_t start_ps, const struct ts_aten_work *work)
{
	assert_true(ts_thread_has_launched(&fixture->thread, start_ps));
	assert_int_equal(ts_thread_call(&fixture->thread, start_ps, work, NULL), TS_OK);
}

static void finish(struct fixture *fixture)
{
	fixture->launched = ts_launched_new(2);
	assert_non_null(fixture->launched);
	assert_int_equal(ts_launched_add(fixture->launched, 1, &fixture->thread, NULL), TS_OK);
}

TEST(kernels_of_a_call_share_its_work_by_their_time)
{
	struct fixture fixture = { .launched = NULL };
	struct ts_kernel_work work;

	launch(&fixture, 20, 7);
	launch(&fixture, 30, 8);
	call(&fixture, 10, &product);
	finish(&fixture);
	ts_launched_time(fixture.launched, 1, 7, 90);
	ts_launched_time(fixture.launched, 1, 8, 10);
	work = ts_launched_find(fixture.launched, 1, 7, 90);
	assert_true(work.flops == 900 && work.bytes == 270);
	assert_int_equal(work.how, TS_HOW_KIND | TS_ATEN_BF16);
	work = ts_launched_find(fixture.launched, 1, 8, 10);
	assert_true(work.flops == 100 && work.bytes == 30);
	/* the other host's launches are others */
	assert_int_equal(ts_launched_find(fixture.launched, 0, 7, 90).how, 0);
	ts_launched_free(fixture.launched);
}

TEST(a_launch_belongs_to_the_innermost_operator)
{
	struct fixture fixture = { .launched = NULL };

	launch(&fixture, 15, 1); /* before the copy, in the product */
	launch(&fixture, 25, 2);
	call(&fixture, 20, &copy);
	call(&fixture, 10, &product);
	assert_false(ts_thread_has_launched(&fixture.thread, 0));
	launch(&fixture, 50, 3); /* in nothing */
	finish(&fixture);
	for (uint64_t link = 1; link <= 3; link++)
		ts_launched_time(fixture.launched, 1, link, 10);
	assert_true(ts_launched_find(fixture.launched, 1, 1, 10).flops == 1000);
	assert_true(isnan(ts_launched_find(fixture.launched, 1, 2, 10).flops));
	assert_true(ts_launched_find(fixture.launched, 1, 2, 10).bytes == 64);
	assert_int_equal(ts_launched_find(fixture.launched, 1, 2, 10).how,
			 TS_HOW_KIND | TS_HOW_NO_MATRIX);
	assert_int_equal(ts_launched_find(fixture.launched, 1, 3, 10).how, 0);
	ts_launched_free(fixture.launched);
}

/* aten::linear holds aten::addmm: one product. */
TEST(what_an_inner_operator_did_is_not_done_again)
{
	struct fixture fixture = { .launched = NULL };

	launch(&fixture, 20, 1);
	call(&fixture, 15, &product);
	launch(&fixture, 40, 2);
	call(&fixture, 10, &product);
	finish(&fixture);
	ts_launched_time(fixture.launched, 1, 1, 10);
	ts_launched_time(fixture.launched, 1, 2, 10);
	assert_true(ts_launched_find(fixture.launched, 1, 1, 10).flops == 1000);
	assert_true(isnan(ts_launched_find(fixture.launched, 1, 2, 10).flops));
	assert_true(isnan(ts_launched_find(fixture.launched, 1, 2, 10).bytes));
	ts_launched_free(fixture.launched);
}

TEST(an_operator_of_unknown_work_says_what_it_is_for)
{
	struct fixture fixture = { .launched = NULL };
	struct ts_kernel_work work;

	launch(&fixture, 20, 1);
	call(&fixture, 10, &unknown);
	finish(&fixture);
	ts_launched_time(fixture.launched, 1, 1, 10);
	work = ts_launched_find(fixture.launched, 1, 1, 10);
	assert_true(isnan(work.flops) && isnan(work.bytes));
	assert_int_equal(work.how, TS_HOW_KIND);
	ts_launched_free(fixture.launched);
}

/* torch.utils.checkpoint runs the forward pass once more: its operators, and what is in none. */
TEST(what_is_computed_again_is_told)
{
	struct fixture fixture = { .launched = NULL };

	launch(&fixture, 5, 1);
	call(&fixture, 4, &product);
	launch(&fixture, 20, 2);
	call(&fixture, 15, &product);
	launch(&fixture, 30, 3);
	assert_int_equal(ts_thread_again(&fixture.thread, 10, NULL), TS_OK);
	assert_int_equal(ts_thread_again(&fixture.thread, 40, NULL),
			 TS_OK); /* it launched nothing */
	finish(&fixture);
	for (uint64_t link = 1; link <= 3; link++)
		ts_launched_time(fixture.launched, 1, link, 10);
	assert_int_equal(ts_launched_find(fixture.launched, 1, 1, 10).how,
			 TS_HOW_KIND | TS_ATEN_BF16);
	assert_int_equal(ts_launched_find(fixture.launched, 1, 2, 10).how,
			 TS_HOW_AGAIN | TS_HOW_KIND | TS_ATEN_BF16);
	assert_int_equal(ts_launched_find(fixture.launched, 1, 3, 10).how, TS_HOW_AGAIN);
	ts_launched_free(fixture.launched);
}
