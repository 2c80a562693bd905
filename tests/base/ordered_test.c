/* SPDX-License-Identifier: MIT */
/* Jobs on threads that begin and end in order, and hold no more than they may. */
#include <stdatomic.h>
#include <time.h>

#include "base/ordered.h"
#include "tests/test.h"

#define NR_JOBS 400
#define WINDOW	7
#define BUDGET	100

struct jobs {
	atomic_size_t weight, nr_held;
	atomic_bool is_over, is_beside; /* the budget; something ran beside a heavy job */
	atomic_size_t slots[WINDOW];	/* of which job; 0: free, else its number + 1 */
	atomic_bool slot_was_taken;
	size_t nr_finished, nr_wrong; /* no lock: one finishes at a time */
};

static uint64_t weigh(void *ctx, size_t job)
{
	return job % 50 == 49 ? UINT64_MAX : job % 40;
}

static void nap(size_t job)
{
	nanosleep(&(struct timespec){ 0, (long)(job * 7919 % 13) * 20000 }, NULL);
}

static void run(void *ctx, size_t job, size_t slot)
{
	struct jobs *jobs = ctx;
	bool heavy = weigh(ctx, job) > BUDGET;
	size_t light = heavy ? 0 : weigh(ctx, job);

	if (atomic_exchange(&jobs->slots[slot], job + 1) != 0)
		jobs->slot_was_taken = true;
	if (atomic_fetch_add(&jobs->nr_held, 1) > 0 && heavy)
		jobs->is_beside = true;
	if (atomic_fetch_add(&jobs->weight, light) + light > BUDGET)
		jobs->is_over = true;
	nap(job);
	if (heavy && atomic_load(&jobs->nr_held) != 1)
		jobs->is_beside = true;
}

static void finish(void *ctx, size_t job, size_t slot)
{
	struct jobs *jobs = ctx;

	jobs->nr_wrong += job != jobs->nr_finished++;
	jobs->nr_wrong += atomic_exchange(&jobs->slots[slot], 0) != job + 1;
	atomic_fetch_sub(&jobs->weight, weigh(ctx, job) > BUDGET ? 0 : weigh(ctx, job));
	atomic_fetch_sub(&jobs->nr_held, 1);
}

TEST(jobs_end_in_order_and_hold_no_more_than_they_may)
{
	static const size_t threads[] = { 1, 2, 5, 16 };

	for (size_t t = 0; t < TS_NELEM(threads); t++) {
		struct jobs jobs = { .nr_finished = 0 };
		const struct ts_ordered ordered = { .nr_jobs = NR_JOBS,
						    .nr_threads = threads[t],
						    .window = WINDOW,
						    .budget = BUDGET,
						    .ctx = &jobs,
						    .weigh = weigh,
						    .run = run,
						    .finish = finish };

		assert_int_equal(ts_ordered_run(&ordered, NULL), TS_OK);
		assert_int_equal(jobs.nr_finished, NR_JOBS);
		assert_int_equal(jobs.nr_wrong, 0);
		assert_int_equal(jobs.nr_held, 0);
		assert_false(jobs.is_over);
		assert_false(jobs.is_beside);
		assert_false(jobs.slot_was_taken);
	}
}

TEST(no_job_is_no_work)
{
	struct jobs jobs = { .nr_finished = 0 };
	const struct ts_ordered ordered = { .nr_threads = 4,
					    .window = 1,
					    .ctx = &jobs,
					    .weigh = weigh,
					    .run = run,
					    .finish = finish };

	assert_int_equal(ts_ordered_run(&ordered, NULL), TS_OK);
	assert_int_equal(jobs.nr_finished, 0);
}
