/* SPDX-License-Identifier: MIT */
/* Jobs on POSIX threads. */
#include "base/work.h"

#include <pthread.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

#define MAX_THREADS 256

struct pool {
	ts_work_fn *fn;
	void *ctx;
	size_t nr_jobs;
	pthread_mutex_t lock; /* guards all below */
	size_t next;
	size_t failed_job;
	enum ts_status status;
	struct ts_error err;
};

struct worker {
	struct pool *pool;
	size_t index;
};

static bool base_work_take(struct pool *pool, size_t *job)
{
	bool taken;

	pthread_mutex_lock(&pool->lock);
	taken = pool->status == TS_OK && pool->next < pool->nr_jobs;
	if (taken)
		*job = pool->next++;
	pthread_mutex_unlock(&pool->lock);
	return taken;
}

static void *base_work_work(void *arg)
{
	struct worker *worker = arg;
	struct pool *pool = worker->pool;
	size_t job;

	while (base_work_take(pool, &job)) {
		struct ts_error err = TS_ERROR_INIT;
		enum ts_status st = pool->fn(pool->ctx, job, worker->index, &err);

		if (st == TS_OK)
			continue;
		pthread_mutex_lock(&pool->lock);
		if (pool->status == TS_OK || job < pool->failed_job) {
			pool->status = st;
			pool->failed_job = job;
			pool->err = err;
		}
		pthread_mutex_unlock(&pool->lock);
	}
	return NULL;
}

enum ts_status ts_work_run(size_t nr_threads, size_t nr_jobs, ts_work_fn *fn, void *ctx,
			   struct ts_error *err)
{
	struct pool pool = { .fn = fn, .ctx = ctx, .nr_jobs = nr_jobs };
	struct worker workers[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	size_t nr = 0;

	nr_threads = TS_MIN(TS_MIN(nr_threads, nr_jobs), MAX_THREADS);
	if (pthread_mutex_init(&pool.lock, NULL) != 0)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < TS_MAX(nr_threads, 1); i++)
		workers[i] = (struct worker){ &pool, i };
	while (nr + 1 < nr_threads &&
	       pthread_create(&threads[nr], NULL, base_work_work, &workers[nr + 1]) == 0)
		nr++;
	base_work_work(&workers[0]);
	while (nr > 0)
		pthread_join(threads[--nr], NULL);
	pthread_mutex_destroy(&pool.lock);
	if (pool.status && err)
		*err = pool.err;
	return pool.status;
}

size_t ts_work_cpus(void)
{
	long nr;
#ifdef __linux__
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return TS_MAX((size_t)CPU_COUNT(&set), 1);
#endif
	nr = sysconf(_SC_NPROCESSORS_ONLN);
	return nr > 0 ? (size_t)nr : 1;
}
