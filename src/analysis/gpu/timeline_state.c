/* SPDX-License-Identifier: MIT */
/* What the states of the timeline are made of. */
#include "analysis/gpu/timeline.h"

#include "base/record.h"

#define TS_SELF struct timeline_share
static TS_RECORD(share, TS_NUMBERS(1, ps, TS_BY_HAND), TS_NUMBERS(2, before_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct timeline_step
static TS_RECORD(step, TS_NUMBER(1, number, TS_BY_HAND), TS_NUMBER(2, start_ps, TS_BY_HAND),
		 TS_NUMBER(3, host_end_ps, TS_BY_HAND), TS_NUMBER(4, end_ps, TS_BY_HAND),
		 TS_NUMBER(5, kernel_ps, TS_BY_HAND), TS_NUMBER(6, nr_kernels, TS_BY_HAND),
		 TS_STRUCT(7, own, share_record), TS_STRUCT(8, gap, share_record),
		 TS_NUMBER(9, earliest_ps, TS_BY_HAND), TS_NUMBER(10, nr_launches, TS_BY_HAND),
		 TS_NUMBER(11, mark_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct timeline_steps
static bool timeline_state_are_steps(const void *self)
{
	const struct timeline_steps *steps = self;

	return steps->source <= TIMELINE_HOST && steps->live <= steps->nr &&
	       steps->nr_leftovers <= TIMELINE_LEFTOVERS;
}
static TS_RECORD_WITH(steps, TS_VALID_IF(timeline_state_are_steps),
		      TS_RECORDS_CAP(1, items, nr, cap, step_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(2, live, TS_BY_HAND), TS_NUMBER(3, fixed, TS_BY_HAND),
		      TS_INDEX(4, line, TS_BY_LINE, TS_BY_HAND), TS_STRUCT(5, behind, share_record),
		      TS_NUMBERS(6, leftovers, TS_BY_HAND), TS_NUMBER(7, nr_leftovers, TS_BY_HAND),
		      TS_NUMBER(8, first_ps, TS_BY_HAND), TS_NUMBER(9, source, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct timeline_rank
/* Labels of the slices are classes. */
static bool is_rank(const void *self)
{
	const struct timeline_rank *rank = self;

	for (size_t i = 0; i < rank->slices.nr; i++)
		if (rank->slices.items[i].label >= TS_NR_TRACE_CLASSES)
			return false;
	return true;
}
static TS_RECORD_WITH(rank, TS_VALID_IF(is_rank), TS_INDEX_KNOWN(1, host, TS_BY_HOST, TS_BY_HAND),
		      TS_NUMBER(2, first_ps, TS_BY_HAND), TS_NUMBER(3, last_ps, TS_BY_HAND),
		      TS_NUMBER(4, cpu_ps, TS_BY_HAND), TS_NUMBER(5, device_ps, TS_BY_HAND),
		      TS_NUMBER(6, both_ps, TS_BY_HAND), TS_NUMBER(7, cpu_time_ps, TS_BY_HAND),
		      TS_NUMBER(8, device_time_ps, TS_BY_HAND), TS_STRUCT(9, steps, steps_record),
		      TS_STRUCT(10, slices, ts_slices_record));
#undef TS_SELF

#define TS_SELF struct timeline_stream
static TS_RECORD(stream, TS_INDEX_KNOWN(1, line, TS_BY_LINE, TS_BY_HAND),
		 TS_NUMBER(2, nr_events, TS_BY_HAND), TS_NUMBER(3, busy_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct timeline_state
static bool is_timeline(const void *self)
{
	const struct timeline_state *state = self;

	return state->sweep.running < 1U << NR_KINDS;
}
TS_RECORD_AS(ts_timeline_record, timeline, TS_VALID_IF(is_timeline),
	     TS_STRUCT(1, sweep, ts_sweep_record), TS_STRUCT(2, rank, rank_record),
	     TS_RECORDS(3, of_lines, nr_lines, stream_record, TS_BY_LINE, TS_BY_HAND),
	     TS_NUMBER(4, failed, TS_BY_HAND), TS_LIST(5, ranks, rank_record, TS_BY_HAND),
	     TS_LIST(6, streams, stream_record, TS_BY_HAND), TS_SCRATCH(host_kinds),
	     TS_SCRATCH(device_kinds), TS_SCRATCH(sides), TS_SCRATCH(until_ps),
	     TS_SCRATCH(launches.slots), TS_SCRATCH(ranges));
#undef TS_SELF
