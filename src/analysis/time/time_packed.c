/* SPDX-License-Identifier: MIT */
/*
 * Buckets of steps, packed: of each step one after the other which buckets are not 0, and these as
 * varints. Most steps have three or four of nine buckets, so that is 20 bytes and not 72.
 */
#include "analysis/time/time.h"

#include "base/check.h"

#define MAX_VARINT 10

static size_t time_packed_put(uint8_t *p, uint64_t value)
{
	size_t nr = 0;

	for (; value > 127; value >>= 7)
		p[nr++] = (uint8_t)(value | 128);
	p[nr] = (uint8_t)value;
	return nr + 1;
}

/* 0 where the bytes end. */
static uint64_t time_packed_get(struct ts_bytes *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; in->n > 0 && shift < 64; shift += 7) {
		uint8_t byte = *in->p++;

		in->n--;
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			break;
	}
	return value;
}

void ts_time_pack(struct ts_buf *out, const int64_t ps[TS_NR_BUCKETS])
{
	uint64_t mask = 0;

	if (!ts_buf_room(out, (TS_NR_BUCKETS + 1) * MAX_VARINT)) {
		out->failed = true;
		return;
	}
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		mask |= (uint64_t)(ps[b] != 0) << b;
	out->n += time_packed_put(out->p + out->n, mask);
	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (ps[b] != 0)
			out->n += time_packed_put(out->p + out->n, (uint64_t)ps[b]);
}

void ts_time_unpack(struct ts_bytes *in, int64_t ps[TS_NR_BUCKETS])
{
	uint64_t mask = time_packed_get(in);

	for (int b = 0; b < TS_NR_BUCKETS; b++)
		ps[b] = mask >> b & 1 ? (int64_t)time_packed_get(in) : 0;
}

static uint64_t time_packed_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)-(int64_t)(difference >> 63);
}

static uint64_t time_packed_unzigzag(uint64_t value)
{
	return value >> 1 ^ (uint64_t)-(int64_t)(value & 1);
}

/* Where the step behind this one most likely begins; before the first there is one that no core has. */
static uint64_t time_packed_end_of(const struct ts_time_step *step)
{
	return (uint64_t)step->start_ps +
	       (uint64_t)(step->cores > 0 ? ts_time_step_duration(step) : 0);
}

/* What it most likely takes: all that is in its buckets. */
static uint64_t time_packed_sum_of(const struct ts_time_step *step)
{
	uint64_t sum = 0;

	for (int b = 0; b < TS_NR_BUCKETS; b++)
		sum += (uint64_t)step->ps[b];
	return sum;
}

/* How the facts have a step: what it is, by its differences to what the one before and its buckets let expect. */
enum ts_status ts_time_pack_step(struct ts_buf *out, const struct ts_time_step *last,
				 const struct ts_time_step *step, struct ts_error *err)
{
	if (!ts_buf_room(out, 4 * MAX_VARINT))
		return ts_fail_nomem(err);
	out->n += time_packed_put(out->p + out->n, step->number - last->number);
	out->n += time_packed_put(out->p + out->n, time_packed_zigzag((uint64_t)step->start_ps -
								      time_packed_end_of(last)));
	out->n += time_packed_put(out->p + out->n, time_packed_zigzag((uint64_t)step->total_ps -
								      time_packed_sum_of(step)));
	out->n += time_packed_put(out->p + out->n, (uint64_t)step->cores);
	ts_time_pack(out, step->ps);
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

static void unpack_step(struct ts_bytes *in, struct ts_time_step *step)
{
	uint64_t more;

	step->number += time_packed_get(in);
	step->start_ps =
		(int64_t)(time_packed_end_of(step) + time_packed_unzigzag(time_packed_get(in)));
	more = time_packed_unzigzag(time_packed_get(in));
	step->cores = (int64_t)time_packed_get(in);
	ts_time_unpack(in, step->ps);
	step->total_ps = (int64_t)(time_packed_sum_of(step) + more);
}

bool ts_time_next_step(struct ts_time_walk *walk)
{
	const struct ts_time_facts *time = walk->time;

	TS_ASSERT_HOT(time);
	if (walk->nr >= time->nr_steps)
		return false;
	if (time->packed.n > 0) {
		struct ts_bytes left = ts_bytes_cut(time->packed, walk->at, time->packed.n);

		unpack_step(&left, &walk->step);
		walk->at = time->packed.n - left.n;
	} else {
		walk->step = time->steps[walk->nr];
	}
	walk->nr++;
	return true;
}
