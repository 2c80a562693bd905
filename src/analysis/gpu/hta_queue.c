/* SPDX-License-Identifier: MIT */
/*
 * The queue of a stream: each launch makes it longer by one, each start shorter. Launches come in
 * their order, each with its start; the starts that are still to come are a heap.
 */
#include "analysis/gpu/hta.h"

#include "base/check.h"

#define FIRST_LENGTHS 64

/* Room to count one more that waits. Most streams never have many, and there may be many streams. */
static enum ts_status hta_queue_room(struct hta_queue *queue, struct ts_error *err)
{
	size_t need = (size_t)TS_MIN(queue->length + 1, HTA_QUEUE_MAX - 1) + 1;
	size_t nr = TS_MIN(TS_MAX(2 * need, FIRST_LENGTHS), HTA_QUEUE_MAX);
	uint64_t *lengths;

	if (need <= queue->nr_lengths)
		return TS_OK;
	lengths = realloc(queue->lengths, nr * sizeof(*lengths));
	if (!lengths)
		return ts_fail_nomem(err);
	memset(lengths + queue->nr_lengths, 0, (nr - queue->nr_lengths) * sizeof(*lengths));
	queue->lengths = lengths;
	queue->nr_lengths = nr;
	return TS_OK;
}

static void hta_queue_change(struct hta_queue *queue, int64_t at_ps, int64_t by, int64_t full)
{
	int64_t held_ps = queue->nr > 0 ? ts_i64_sub(at_ps, queue->last_ps) : 0;

	if (queue->nr == 0)
		queue->first_ps = at_ps;
	queue->length_ps += (double)queue->length * (double)held_ps;
	if (queue->length >= full)
		queue->full_ps = ts_i64_add(queue->full_ps, held_ps);
	if (queue->length > 0)
		queue->queued_ps = ts_i64_add(queue->queued_ps, held_ps);
	queue->last_ps = at_ps;
	queue->length += by;
	queue->max = TS_MAX(queue->max, queue->length);
	queue->nr++;
	queue->sum += (double)queue->length;
	queue->squares += (double)queue->length * (double)queue->length;
	queue->lengths[TS_MIN(queue->length, HTA_QUEUE_MAX - 1)]++;
}

static void sift_up(int64_t *heap, size_t at)
{
	for (size_t above = (at - 1) / 2; at > 0 && heap[at] < heap[above]; above = (at - 1) / 2) {
		int64_t kept = heap[at];

		heap[at] = heap[above];
		heap[above] = kept;
		at = above;
	}
}

static void sift_down(int64_t *heap, size_t nr)
{
	for (size_t at = 0, low = 1; low < nr; low = 2 * at + 1) {
		int64_t kept = heap[at];

		if (low + 1 < nr && heap[low + 1] < heap[low])
			low++;
		if (heap[low] >= kept)
			return;
		heap[at] = heap[low];
		heap[low] = kept;
		at = low;
	}
}

static void start_until(struct hta_queue *queue, int64_t until_ps, int64_t full)
{
	while (queue->nr_starts > 0 && queue->starts[0] <= until_ps) {
		hta_queue_change(queue, queue->starts[0], -1, full);
		queue->starts[0] = queue->starts[--queue->nr_starts];
		sift_down(queue->starts, queue->nr_starts);
	}
}

enum ts_status ts_hta_queue_add(struct hta_queue *queue, int64_t launch_ps, int64_t start_ps,
				int64_t full, struct ts_error *err)
{
	enum ts_status st;

	start_until(queue, launch_ps, full);
	st = hta_queue_room(queue, err);
	if (st)
		return st;
	hta_queue_change(queue, launch_ps, 1, full);
	if (!ts_grow(&queue->starts, &queue->cap_starts, queue->nr_starts + 1,
		     sizeof(*queue->starts)))
		return ts_fail_nomem(err);
	queue->starts[queue->nr_starts] = start_ps;
	sift_up(queue->starts, queue->nr_starts++);
	return TS_OK;
}

void ts_hta_queue_finish(struct hta_queue *queue, int64_t full)
{
	start_until(queue, INT64_MAX, full);
}

/* The length at place AT of all in their order. */
static int64_t length_at(const struct hta_queue *queue, uint64_t at)
{
	uint64_t seen = 0;

	for (size_t length = 0; length < TS_MIN(queue->nr_lengths, HTA_QUEUE_MAX - 1); length++) {
		seen += queue->lengths[length];
		if (seen > at)
			return (int64_t)length;
	}
	return queue->max;
}

double ts_hta_queue_quantile(const struct hta_queue *queue, double share)
{
	double place = share * (double)(queue->nr - 1), low;
	uint64_t at = (uint64_t)place;

	TS_ASSERT(share >= 0 && share <= 1 && queue->nr > 0);
	low = (double)length_at(queue, at);
	if (at + 1 >= queue->nr)
		return low;
	return low + (place - (double)at) * ((double)length_at(queue, at + 1) - low);
}
