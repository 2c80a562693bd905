/* SPDX-License-Identifier: MIT */
/* Jobs on 1, 2 and 16 threads. */
#include <stdatomic.h>

#include "base/work.h"
#include "tests/test.h"

#define NR_JOBS 1000

struct jobs {
	atomic_int runs[NR_JOBS];
	atomic_int nr_wrong_thread;
	size_t nr_threads, bad[2]; /* jobs that fail; NR_JOBS: none */
};

static enum ts_status one(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct jobs *jobs = ctx;

	atomic_fetch_add(&jobs->runs[job], 1);
	if (thread >= TS_MAX(jobs->nr_threads, 1))
		atomic_fetch_add(&jobs->nr_wrong_thread, 1);
	if (job == jobs->bad[0] || job == jobs->bad[1])
		return ts_fail(err, job == jobs->bad[0] ? TS_FORMAT : TS_IO, "job %zu", job);
	return TS_OK;
}

static const size_t threads[] = { 0, 1, 2, 16, 1000 };

TEST(every_job_runs_once)
{
	static struct jobs jobs;

	for (size_t t = 0; t < TS_NELEM(threads); t++) {
		memset(&jobs, 0, sizeof(jobs));
		jobs.nr_threads = threads[t];
		jobs.bad[0] = jobs.bad[1] = NR_JOBS;
		assert_int_equal(ts_work_run(threads[t], NR_JOBS, one, &jobs, NULL), TS_OK);
		for (size_t i = 0; i < NR_JOBS; i++)
			assert_int_equal(atomic_load(&jobs.runs[i]), 1);
		assert_int_equal(atomic_load(&jobs.nr_wrong_thread), 0);
	}
}

TEST(no_jobs_are_good_work)
{
	assert_int_equal(ts_work_run(4, 0, one, NULL, NULL), TS_OK);
}

/* Job 20 fails on every run, whichever other was failing at the same time. */
TEST(the_story_is_of_the_lowest_failed_job)
{
	static struct jobs jobs;

	for (size_t t = 0; t < TS_NELEM(threads); t++) {
		struct ts_error err = TS_ERROR_INIT;
		size_t nr = 0;

		memset(&jobs, 0, sizeof(jobs));
		jobs.nr_threads = threads[t];
		jobs.bad[0] = 20;
		jobs.bad[1] = 21;
		assert_int_equal(ts_work_run(threads[t], NR_JOBS, one, &jobs, &err), TS_FORMAT);
		assert_int_equal(err.status, TS_FORMAT);
		assert_string_equal(err.text, "job 20");
		for (size_t i = 0; i < NR_JOBS; i++)
			nr += (size_t)atomic_load(&jobs.runs[i]);
		assert_true(nr >= 21);
		if (threads[t] <= 1)
			assert_int_equal(nr, 21); /* nothing was taken after it */
	}
}

TEST(there_is_a_processor)
{
	assert_true(ts_work_cpus() >= 1);
}
