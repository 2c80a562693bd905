/* SPDX-License-Identifier: MIT */
/* Jobs begin in order, and end in order (base/ordered.h). */
#include "base/ordered.h"

#include <pthread.h>

#include "base/check.h"
#include "base/work.h"

struct queue {
	const struct ts_ordered *ordered;
	pthread_mutex_t lock; /* guards all below, and .finish */
	pthread_cond_t moved;
	size_t nr_begun, nr_finished; /* these are the jobs with lower numbers */
	uint64_t weight;	      /* of those in between */
	bool *is_done;		      /* a slot */
};

static bool may_begin(const struct queue *queue, size_t job, uint64_t weight)
{
	const struct ts_ordered *ordered = queue->ordered;

	if (job != queue->nr_begun)
		return false;
	if (queue->nr_begun == queue->nr_finished)
		return true;
	return queue->nr_begun - queue->nr_finished < ordered->window &&
	       weight <= ordered->budget && queue->weight <= ordered->budget - weight;
}

static void ordered_begin(struct queue *queue, size_t job, uint64_t weight)
{
	pthread_mutex_lock(&queue->lock);
	while (!may_begin(queue, job, weight))
		pthread_cond_wait(&queue->moved, &queue->lock);
	queue->nr_begun++;
	queue->weight = ts_u64_add(queue->weight, weight);
	pthread_cond_broadcast(&queue->moved);
	pthread_mutex_unlock(&queue->lock);
}

/* Finishes all whose turn it is. */
static void finish_ready(struct queue *queue)
{
	const struct ts_ordered *ordered = queue->ordered;

	while (queue->nr_finished < queue->nr_begun &&
	       queue->is_done[queue->nr_finished % ordered->window]) {
		size_t job = queue->nr_finished, slot = job % ordered->window;

		ordered->finish(ordered->ctx, job, slot);
		queue->is_done[slot] = false;
		queue->weight -= ordered->weigh(ordered->ctx, job);
		queue->nr_finished++;
	}
}

static enum ts_status run_one(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct queue *queue = ctx;
	const struct ts_ordered *ordered = queue->ordered;
	size_t slot = job % ordered->window;

	ordered_begin(queue, job, ordered->weigh(ordered->ctx, job));
	ordered->run(ordered->ctx, job, slot);
	pthread_mutex_lock(&queue->lock);
	queue->is_done[slot] = true;
	finish_ready(queue);
	pthread_cond_broadcast(&queue->moved);
	pthread_mutex_unlock(&queue->lock);
	return TS_OK;
}

enum ts_status ts_ordered_run(const struct ts_ordered *ordered, struct ts_error *err)
{
	struct queue queue = { .ordered = ordered,
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .moved = PTHREAD_COND_INITIALIZER };
	enum ts_status st;

	TS_ASSERT(ordered && ordered->window > 0 && ordered->weigh && ordered->run &&
		  ordered->finish);
	queue.is_done = calloc(ordered->window, sizeof(*queue.is_done));
	if (!queue.is_done)
		return ts_fail_nomem(err);
	st = ts_work_run(ordered->nr_threads, ordered->nr_jobs, run_one, &queue, err);
	free(queue.is_done);
	pthread_cond_destroy(&queue.moved);
	pthread_mutex_destroy(&queue.lock);
	return st;
}
