/* SPDX-License-Identifier: MIT */
/*
 * What a thread did between its calls: of the events that cover half of that time or more the innermost. Events come by
 * their starts, so those that end before the next one begins are done with then.
 */
#include "analysis/waits/streams.h"

#include "base/check.h"

static int64_t streams_thread_overlap(const struct streams_thread *thread,
				      const struct streams_event *event, int64_t until_ps)
{
	return TS_MIN(event->end_ps, until_ps) - TS_MAX(event->start_ps, thread->since_ps);
}

/* An outer event takes the place of one inside it that has less than half of it. */
static void streams_thread_end(struct streams_thread *thread, const struct streams_event *event)
{
	int64_t ps = streams_thread_overlap(thread, event, INT64_MAX), best_ps;

	if (ps <= 0)
		return;
	best_ps = thread->best.op == TS_NONE
			  ? 0
			  : streams_thread_overlap(thread, &thread->best, INT64_MAX);
	if (best_ps < ps - best_ps)
		thread->best = *event;
}

static void streams_thread_end_until(struct streams_thread *thread, int64_t at_ps)
{
	while (thread->nr_open > 0 && thread->open[thread->nr_open - 1].end_ps <= at_ps)
		streams_thread_end(thread, &thread->open[--thread->nr_open]);
}

void ts_streams_thread_begin(struct streams_thread *thread, const struct streams_event *event)
{
	TS_ASSERT_HOT(thread && event);
	streams_thread_end_until(thread, event->start_ps);
	if (thread->nr_open < STREAMS_OPEN)
		thread->open[thread->nr_open++] = *event;
}

uint32_t ts_streams_thread_work(struct streams_thread *thread, int64_t at_ps)
{
	int64_t half_ps = (at_ps - thread->since_ps) / 2;

	TS_ASSERT_HOT(thread);
	streams_thread_end_until(thread, at_ps);
	if (thread->best.op != TS_NONE &&
	    streams_thread_overlap(thread, &thread->best, at_ps) >= half_ps)
		return thread->best.op;
	for (size_t i = thread->nr_open; i-- > 0;)
		if (streams_thread_overlap(thread, &thread->open[i], at_ps) >= half_ps)
			return thread->open[i].op;
	return TS_NONE;
}
