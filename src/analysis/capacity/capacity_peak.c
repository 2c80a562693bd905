/* SPDX-License-Identifier: MIT */
/* The peak over positions, of programs with a plan of the compiler and without one. */
#include "analysis/capacity/capacity.h"

enum which { IN_HBM, TEMPS_IN_HBM, TEMPS_ON_HOST, ON_CHIP };

static bool is_argument(const struct buffer *buffer)
{
	return buffer->kind == TS_BUFFER_PARAMETER || buffer->kind == TS_BUFFER_DONATED;
}

static bool capacity_peak_is_counted(const struct buffer *buffer, enum which which)
{
	switch (which) {
	case IN_HBM:	    return buffer->space == TS_SPACE_HBM;
	case TEMPS_IN_HBM:  return buffer->space == TS_SPACE_HBM && buffer->kind == TS_BUFFER_TEMP;
	case TEMPS_ON_HOST: return buffer->space == TS_SPACE_HOST && !is_argument(buffer);
	case ON_CHIP:
		return buffer->space != TS_SPACE_HBM && buffer->space != TS_SPACE_HOST &&
		       buffer->space != TS_SPACE_SYNC;
	}
	return false;
}

/* The most that they need at one position, and the first such position. CHANGE is room to count. */
static int64_t capacity_peak_peak_of(const struct program *program, int64_t *change,
				     enum which which, uint32_t *peak_at)
{
	int64_t sum = 0, peak = 0;

	memset(change, 0, ((size_t)program->sum.nr_positions + 1) * sizeof(*change));
	for (size_t i = 0; i < program->nr_buffers; i++) {
		const struct buffer *buffer = &program->buffers[i];

		if (!capacity_peak_is_counted(buffer, which))
			continue;
		change[buffer->from] = ts_i64_add(change[buffer->from], buffer->nr_bytes);
		change[buffer->to + 1] = ts_i64_sub(change[buffer->to + 1], buffer->nr_bytes);
	}
	for (uint32_t p = 0; p < program->sum.nr_positions; p++) {
		sum = ts_i64_add(sum, change[p]);
		if (sum > peak) {
			peak = sum;
			*peak_at = p;
		}
	}
	return peak;
}

static int64_t host_arguments(const struct program *program)
{
	int64_t sum = 0;

	for (size_t i = 0; i < program->nr_buffers; i++)
		if (program->buffers[i].space == TS_SPACE_HOST && is_argument(&program->buffers[i]))
			sum = ts_i64_add(sum, program->buffers[i].nr_bytes);
	return sum;
}

enum ts_status ts_capacity_find_peaks(struct program *program, struct ts_error *err)
{
	int64_t *change = malloc(((size_t)program->sum.nr_positions + 1) * sizeof(*change));
	uint32_t at = 0;

	TS_ASSERT(program->nr_buffers == 0 || program->sum.nr_positions > 0);
	if (!change)
		return ts_fail_nomem(err);
	program->sum.temp_bytes = capacity_peak_peak_of(program, change, TEMPS_IN_HBM, &at);
	program->sum.host_argument_bytes = host_arguments(program);
	program->sum.host_temp_bytes = capacity_peak_peak_of(program, change, TEMPS_ON_HOST, &at);
	program->sum.onchip_peak_bytes = capacity_peak_peak_of(program, change, ON_CHIP, &at);
	program->sum.peak_bytes =
		capacity_peak_peak_of(program, change, IN_HBM, &program->sum.peak_at);
	free(change);
	return TS_OK;
}

bool ts_capacity_is_alive(const struct program *program, const struct buffer *buffer)
{
	return buffer->space == TS_SPACE_HBM && buffer->from <= program->sum.peak_at &&
	       program->sum.peak_at <= buffer->to;
}
