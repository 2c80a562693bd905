/* SPDX-License-Identifier: MIT */
/* What the states of streams are made of. */
#include "analysis/waits/streams.h"

#include "base/record.h"

#define TS_SELF struct ts_stream_moment
static bool streams_state_is_moment(const void *self)
{
	const struct ts_stream_moment *moment = self;

	return moment->start_ps <= moment->end_ps && moment->edge < TS_NR_EDGES;
}
static TS_RECORD_WITH(moment, TS_VALID_IF(streams_state_is_moment),
		      TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND),
		      TS_INDEX(3, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(4, lane, TS_BY_HAND),
		      TS_NUMBER(5, from, TS_BY_HAND), TS_NUMBER(6, edge, TS_BY_HAND),
		      TS_NUMBER(7, is_late, TS_BY_HAND), TS_NUMBER(8, is_call, TS_BY_HAND),
		      TS_NUMBER(9, is_launched, TS_BY_HAND), TS_NUMBER(10, is_sync, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_stream_lane
/* Moments of a lane do not overlap. */
static bool streams_state_is_lane(const void *self)
{
	const struct ts_stream_lane *lane = self;

	for (size_t i = 1; i < lane->nr; i++)
		if (lane->moments[i].start_ps < lane->moments[i - 1].end_ps)
			return false;
	return true;
}
static TS_RECORD_WITH(lane, TS_VALID_IF(streams_state_is_lane),
		      TS_INDEX_KNOWN(1, line, TS_BY_LINE, TS_BY_HAND),
		      TS_NUMBER(2, is_thread, TS_BY_HAND), TS_NUMBER(3, first, TS_BY_HAND),
		      TS_RECORDS_CAP(4, moments, nr, cap, moment_record, TS_BY_NOTHING,
				     TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct streams_state
/* What is waited for is there. */
static bool streams_state_is_valid(const void *self)
{
	const struct streams_state *state = self;

	for (size_t i = 0; i < state->nr_lanes; i++)
		for (size_t k = 0; k < state->lanes[i].nr; k++) {
			const struct ts_stream_moment *moment = &state->lanes[i].moments[k];
			uint64_t lane = (uint64_t)state->lanes[i].first + moment->lane;

			if (moment->from != TS_NONE &&
			    (lane >= state->nr_lanes || moment->from >= state->lanes[lane].nr))
				return false;
		}
	return true;
}
TS_RECORD_AS(ts_streams_record, streams, TS_VALID_IF(streams_state_is_valid),
	     TS_LIST(1, lanes, lane_record, TS_BY_HAND), TS_NUMBER(2, nr_moments, TS_BY_HAND),
	     TS_NUMBER(3, until_ps, TS_BY_HAND), TS_SCRATCH(sides), TS_SCRATCH(calls),
	     TS_SCRATCH(lane_of), TS_SCRATCH(thread_of), TS_SCRATCH(threads),
	     TS_SCRATCH(launches.slots));
#undef TS_SELF
