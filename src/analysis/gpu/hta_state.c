/* SPDX-License-Identifier: MIT */
/*
 * What the states of hta are made of. A host's state has calls that wait for kernels and operators
 * that wait for calls; the sum has ranks, streams and patterns only.
 */
#include "analysis/gpu/hta.h"

#include "base/record.h"

/* --- a rank */

#define TS_SELF struct hta_overlaps
static TS_RECORD(overlaps, TS_NUMBER(1, begun, TS_BY_HAND), TS_NUMBER(2, first, TS_BY_HAND),
		 TS_NUMBER(3, last, TS_BY_HAND), TS_NUMBER(4, at, TS_BY_HAND),
		 TS_NUMBERS(5, until, TS_BY_HAND), TS_NUMBERS(6, time, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_union
static TS_RECORD(union, TS_NUMBER(1, begun, TS_BY_HAND), TS_NUMBER(2, first, TS_BY_HAND),
		 TS_NUMBER(3, start, TS_BY_HAND), TS_NUMBER(4, end, TS_BY_HAND),
		 TS_NUMBER(5, total, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_kernel
static TS_RECORD(kernel, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		 TS_STRUCT(2, spread, ts_spread_record), TS_NUMBER(3, sum_us, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_call
static TS_RECORD(call, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		 TS_STRUCT(2, cpu, ts_spread_record), TS_STRUCT(3, gpu, ts_spread_record),
		 TS_STRUCT(4, delay, ts_spread_record), TS_NUMBER(5, nr_short, TS_BY_HAND),
		 TS_NUMBER(6, nr_slow, TS_BY_HAND), TS_NUMBER(7, nr_late, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_collective
static bool is_collective(const void *self)
{
	const struct hta_collective *row = self;

	return !row->name[HTA_TEXT - 1] && !row->type[HTA_TEXT - 1] && !row->group[HTA_TEXT - 1];
}
static TS_RECORD_WITH(collective, TS_VALID_IF(is_collective), TS_NUMBER(1, key, TS_BY_HAND),
		      TS_NUMBERS(2, name, TS_BY_HAND), TS_NUMBERS(3, type, TS_BY_HAND),
		      TS_NUMBERS(4, group, TS_BY_HAND), TS_NUMBER(5, group_size, TS_BY_HAND),
		      TS_NUMBER(6, in_bytes, TS_BY_HAND), TS_NUMBER(7, out_bytes, TS_BY_HAND),
		      TS_NUMBER(8, is_peer, TS_BY_HAND), TS_STRUCT(9, time, ts_spread_record));
#undef TS_SELF

#define TS_SELF struct hta_instance
static TS_RECORD(instance, TS_NUMBER(1, key, TS_BY_HAND), TS_NUMBER(2, dur_ps, TS_BY_HAND),
		 TS_NUMBER(3, at, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_collectives
static TS_RECORD(collectives,
		 TS_RECORDS_CAP(1, rows, nr, cap, collective_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_LIST(2, instances, instance_record, TS_BY_HAND),
		 TS_NUMBER(3, is_cut, TS_BY_HAND), TS_SCRATCH(by_key.slots));
#undef TS_SELF

#define TS_SELF struct hta_rank
static TS_RECORD(rank, TS_INDEX_KNOWN(1, host, TS_BY_HOST, TS_BY_HAND),
		 TS_INDEX(2, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(3, nr_kernels, TS_BY_HAND), TS_NUMBER(4, nr_unlaunched, TS_BY_HAND),
		 TS_NUMBER(5, nr_late, TS_BY_HAND), TS_NUMBER(6, nr_short, TS_BY_HAND),
		 TS_NUMBER(7, short_ps, TS_BY_HAND), TS_STRUCT(8, us, overlaps_record),
		 TS_STRUCT(9, ps, overlaps_record), TS_STRUCT(10, all, union_record),
		 TS_STRUCT(11, computing, union_record), TS_STRUCT(12, communicating, union_record),
		 TS_RECORDS_CAP(14, kernels, nr_ops, cap_ops, kernel_record, TS_BY_NOTHING,
				TS_BY_HAND),
		 TS_LIST(15, calls, call_record, TS_BY_HAND),
		 TS_STRUCT(16, collectives, collectives_record),
		 TS_POINTER(17, queued, ts_bins_record), TS_NUMBER(18, nr_early, TS_BY_HAND),
		 TS_SCRATCH(by_op.slots), TS_SCRATCH(by_call.slots));
#undef TS_SELF

/* --- a stream */

#define TS_SELF struct hta_queue
static bool is_queue(const void *self)
{
	const struct hta_queue *queue = self;
	bool is_unused = queue->nr_lengths == 0 && queue->nr == 0 && queue->nr_starts == 0;
	bool is_counted = queue->nr_lengths == HTA_QUEUE_MAX ||
			  (queue->max >= 0 && (uint64_t)queue->max < queue->nr_lengths &&
			   queue->nr_lengths < HTA_QUEUE_MAX);

	return (is_unused || is_counted) && queue->length >= 0 && queue->length <= queue->max &&
	       (uint64_t)queue->length == queue->nr_starts;
}
static TS_RECORD_WITH(queue, TS_VALID_IF(is_queue), TS_NUMBER(1, length, TS_BY_HAND),
		      TS_NUMBER(2, max, TS_BY_HAND), TS_NUMBER(3, first_ps, TS_BY_HAND),
		      TS_NUMBER(4, last_ps, TS_BY_HAND), TS_NUMBER(5, full_ps, TS_BY_HAND),
		      TS_NUMBER(6, queued_ps, TS_BY_HAND), TS_NUMBER(7, length_ps, TS_BY_HAND),
		      TS_NUMBER(8, nr, TS_BY_HAND), TS_NUMBER(9, sum, TS_BY_HAND),
		      TS_NUMBER(10, squares, TS_BY_HAND),
		      TS_ARRAY(11, lengths, nr_lengths, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER_LIST(12, starts, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_stream
static TS_RECORD(stream, TS_INDEX_KNOWN(1, line, TS_BY_LINE, TS_BY_HAND),
		 TS_NUMBER(2, rank, TS_BY_HAND), TS_NUMBER(3, begun, TS_BY_HAND),
		 TS_NUMBER(4, end_ps, TS_BY_HAND), TS_NUMBERS(5, wait_ps, TS_BY_HAND),
		 TS_NUMBERS(6, nr_waits, TS_BY_HAND), TS_STRUCT(7, queue, queue_record));
#undef TS_SELF

/* --- sequences */

#define TS_SELF struct hta_root
static bool are_ops(uint32_t op, const uint32_t kernels[HTA_NAMED])
{
	for (size_t i = 0; i < HTA_NAMED; i++)
		if (kernels[i] == TS_NONE)
			return false;
	return op != TS_NONE;
}

static bool hta_state_is_root(const void *self)
{
	const struct hta_root *root = self;

	return are_ops(root->op, root->kernels);
}
static TS_RECORD_WITH(root, TS_VALID_IF(hta_state_is_root), TS_INDEX(1, op, TS_BY_OP, TS_BY_HAND),
		      TS_NUMBER(2, nr_kernels, TS_BY_HAND), TS_NUMBER(3, nr_waiting, TS_BY_HAND),
		      TS_NUMBER(4, hash, TS_BY_HAND), TS_NUMBER(5, cpu_ps, TS_BY_HAND),
		      TS_NUMBER(6, gpu_ps, TS_BY_HAND),
		      TS_INDICES(7, kernels, TS_BY_OP, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_roots
static TS_RECORD(roots, TS_RECORDS_CAP(1, items, nr, cap, root_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_SCRATCH(unused));
#undef TS_SELF

#define TS_SELF struct hta_pattern
static bool is_pattern(const void *self)
{
	const struct hta_pattern *pattern = self;

	return are_ops(pattern->op, pattern->kernels);
}
static TS_RECORD_WITH(pattern, TS_VALID_IF(is_pattern), TS_NUMBER(1, hash, TS_BY_HAND),
		      TS_NUMBER(2, count, TS_BY_HAND), TS_NUMBER(3, missed, TS_BY_HAND),
		      TS_INDEX(4, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(5, nr_kernels, TS_BY_HAND),
		      TS_NUMBER(6, cpu_ps, TS_BY_HAND), TS_NUMBER(7, gpu_ps, TS_BY_HAND),
		      TS_INDICES(8, kernels, TS_BY_OP, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_patterns
/* The map finds each pattern. */
static bool are_patterns(const void *self)
{
	const struct hta_patterns *patterns = self;

	for (size_t i = 0; i < patterns->nr; i++)
		if (ts_map_find(&patterns->by_hash, patterns->items[i].hash) != i)
			return false;
	return patterns->nr <= HTA_PATTERNS && patterns->by_hash.nr == patterns->nr;
}
static TS_RECORD_WITH(patterns, TS_VALID_IF(are_patterns),
		      TS_RECORDS_CAP(1, items, nr, cap, pattern_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_MAP(2, by_hash), TS_NUMBER(3, missed, TS_BY_HAND));
#undef TS_SELF

/* --- calls that wait for kernels, and the operators that wait for them */

#define TS_SELF struct hta_launch
static TS_RECORD(launch, TS_NUMBER(1, link, TS_BY_HAND), TS_NUMBER(2, start_ps, TS_BY_HAND),
		 TS_NUMBER(3, dur_ps, TS_BY_HAND), TS_NUMBER(4, kernel_ps, TS_BY_HAND),
		 TS_INDEX(5, op, TS_BY_OP, TS_BY_HAND), TS_NUMBER(6, stream, TS_BY_HAND),
		 TS_NUMBER(7, root, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct hta_launches
static bool are_launches(const void *self)
{
	const struct hta_launches *launches = self;

	return launches->first <= launches->next &&
	       launches->next - launches->first <= launches->nr_ring &&
	       (launches->nr_ring == 0 || launches->nr_ring == HTA_LAUNCHES_MAX);
}
static TS_RECORD_WITH(launches, TS_VALID_IF(are_launches),
		      TS_RECORDS(1, ring, nr_ring, launch_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(2, first, TS_BY_HAND), TS_NUMBER(3, next, TS_BY_HAND),
		      TS_SCRATCH(slots));
#undef TS_SELF

#define TS_SELF struct hta_line
static TS_RECORD(line, TS_NUMBER(1, root, TS_BY_HAND));
#undef TS_SELF

/* --- all of it */

#define TS_SELF struct hta_state
static bool wait_for(uint32_t root, size_t nr_roots, uint32_t *waits)
{
	if (root == TS_NONE)
		return true;
	if (root >= nr_roots)
		return false;
	waits[root]++;
	return true;
}

/* An operator waits for as many as say so. WAITS: one a root, zeroed. */
static bool waits_are_right(const struct hta_state *state, uint32_t *waits)
{
	const struct hta_launches *launches = &state->launches;
	bool good = true;

	for (size_t i = 0; i < state->nr_lines && good; i++)
		good = wait_for(state->lines[i].root, state->roots.nr, waits);
	for (uint64_t i = launches->first; i < launches->next && good; i++) {
		const struct hta_launch *launch = &launches->ring[i % HTA_LAUNCHES_MAX];

		good = wait_for(launch->root, state->roots.nr, waits) &&
		       (launch->stream == TS_NONE || launch->stream < state->nr_streams);
	}
	for (size_t i = 0; i < state->roots.nr && good; i++)
		good = waits[i] == state->roots.items[i].nr_waiting;
	return good;
}

static bool is_hta(const void *self)
{
	const struct hta_state *state = self;
	uint32_t *waits = calloc(state->roots.nr + 1, sizeof(*waits));
	bool good = waits && waits_are_right(state, waits);

	for (size_t i = 0; i < state->nr_streams && good; i++)
		good = state->streams[i].rank < state->nr_ranks;
	free(waits);
	return good;
}
TS_RECORD_AS(ts_hta_record, hta, TS_VALID_IF(is_hta),
	     TS_RECORDS(1, lines, nr_lines, line_record, TS_BY_LINE, TS_BY_HAND),
	     TS_NUMBER(2, is_cut, TS_BY_HAND), TS_NUMBER(3, cut_ps, TS_BY_HAND),
	     TS_STRUCT(4, launches, launches_record), TS_STRUCT(5, roots, roots_record),
	     TS_STRUCT(6, patterns, patterns_record),
	     TS_RECORDS(7, ranks, nr_ranks, rank_record, TS_BY_NOTHING, TS_APPEND),
	     TS_RECORDS(8, streams, nr_streams, stream_record, TS_BY_NOTHING, TS_APPEND),
	     TS_SCRATCH(types), TS_SCRATCH(hta_types), TS_SCRATCH(kinds), TS_SCRATCH(early.slots));
#undef TS_SELF
