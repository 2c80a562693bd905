/* SPDX-License-Identifier: MIT */
/* What the state of the time analysis is made of. */
#include "analysis/time/time.h"

#include "base/record.h"

#define TS_SELF struct time_step_op
static TS_RECORD(step_op, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(2, in_step_ps, TS_BY_HAND), TS_NUMBER(3, excess_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct time_gap
static bool time_state_is_gap(const void *self)
{
	return ((const struct time_gap *)self)->cause < TS_NR_BUCKETS;
}
static TS_RECORD_WITH(gap, TS_VALID_IF(time_state_is_gap), TS_NUMBER(1, start_ps, TS_BY_HAND),
		      TS_NUMBER(2, dur_ps, TS_BY_HAND), TS_NUMBER(3, cause, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct time_slow
static TS_RECORD(slow, TS_NUMBERS(1, ps, TS_BY_HAND), TS_STRUCT(2, ops, step_op_record),
		 TS_NUMBER(3, is_there, TS_BY_HAND), TS_NUMBER(4, from_ps, TS_BY_HAND),
		 TS_NUMBER(5, until_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_buf
static TS_RECORD(packed, TS_ARRAY_CAP(1, p, n, cap, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct time_device
static bool time_state_is_device(const void *self)
{
	const struct time_device *device = self;

	return device->nr_gaps <= TIME_GAPS && device->nr_slow <= TS_MAX_SLOW &&
	       device->open_step <= device->nr_steps;
}
static TS_RECORD_WITH(device, TS_VALID_IF(time_state_is_device), TS_NUMBER(1, seen, TS_BY_HAND),
		      TS_NUMBER(2, first_ps, TS_BY_HAND), TS_NUMBER(3, last_ps, TS_BY_HAND),
		      TS_NUMBER(4, op_first_ps, TS_BY_HAND), TS_NUMBER(5, op_last_ps, TS_BY_HAND),
		      TS_NUMBERS(6, total_ps, TS_BY_HAND), TS_NUMBER(7, on_duty_ps, TS_BY_HAND),
		      TS_STRUCT(10, gaps, gap_record), TS_NUMBER(11, nr_gaps, TS_BY_HAND),
		      TS_STRUCT(12, gpu, ts_spans_record), TS_STRUCT(13, slices, ts_slices_record),
		      TS_NUMBER(14, nr_steps, TS_BY_HAND), TS_STRUCT(15, steps, packed_record),
		      TS_NUMBER(16, open_step, TS_BY_HAND), TS_NUMBERS(17, open_ps, TS_BY_HAND),
		      TS_NUMBER(18, is_open, TS_BY_HAND), TS_NUMBER(19, is_added, TS_BY_HAND),
		      TS_NUMBERS(20, median_ps, TS_BY_HAND),
		      TS_RECORDS(21, slow, nr_slow, slow_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_SCRATCH(step_ps));
#undef TS_SELF

/* Buckets are worked out again when they are asked for. */
#define TS_SELF struct time_class
static TS_RECORD_WITH(class, TS_EMPTY(total_ps), TS_NUMBER(1, total_ps, TS_BY_HAND),
		      TS_NUMBER(2, in_step_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_time_op
static TS_RECORD_WITH(op, TS_EMPTY(split_ps), TS_NUMBER(1, split_ps, TS_ADD),
		      TS_NUMBERS(3, part_ps, TS_ADD));
#undef TS_SELF

#define TS_SELF struct time_ops
TS_RECORD_AS(ts_time_ops_record, ops, , TS_RECORDS(1, items, nr, op_record, TS_BY_OP, TS_ADD));
#undef TS_SELF

#define TS_SELF struct time_streams
static TS_RECORD(streams, TS_STRUCT(1, busy, ts_spans_sum_record));
#undef TS_SELF

#define TS_SELF struct time_state
/* A line is of a device, and in one of its steps or in none. */
static bool time_state_is_state(const void *self)
{
	const struct time_state *state = self;

	return state->nr_devices == state->nr_streams &&
	       (state->nr_devices > 0 || state->device_index != TS_NONE) &&
	       (state->step == TS_NONE || state->step < TS_MAX(state->device.nr_steps, 1));
}
TS_RECORD_AS(ts_time_record, time, TS_VALID_IF(time_state_is_state),
	     TS_INDEX(1, device_index, TS_BY_DEVICE, TS_BY_HAND), TS_NUMBER(2, is_core, TS_BY_HAND),
	     TS_NUMBER(3, is_gpu, TS_BY_HAND),
	     TS_RECORDS(4, classes, nr_classes, class_record, TS_BY_OP, TS_BY_HAND),
	     TS_STRUCT(5, device, device_record), TS_NUMBER(6, step, TS_BY_HAND),
	     TS_NUMBER(7, nr_ended, TS_BY_HAND),
	     TS_RECORDS(8, devices, nr_devices, device_record, TS_BY_DEVICE, TS_BY_HAND),
	     TS_STRUCT(10, ops, ts_time_ops_record), TS_NUMBER(11, slow, TS_BY_HAND),
	     TS_STRUCT(12, steps, packed_record),
	     TS_POINTERS(13, streams, nr_streams, streams_record, TS_BY_DEVICE, TS_BY_HAND),
	     TS_SCRATCH_ROOM(touched));
#undef TS_SELF
