/* SPDX-License-Identifier: MIT */
/*
 * Which kernels follow each other: the kernels that one execution of an outermost operator of the
 * host launched, in the order in which they began. HTA's get_frequent_cuda_kernel_sequences asks
 * for one operator by name; here all operators count that stand in no other one.
 *
 * Counts are bounded: when HTA_PATTERNS are known, the rarer half is dropped. A pattern that comes
 * new from then on may have come before, as often as the most frequent dropped one (.missed).
 */
#include "analysis/gpu/hta.h"

#include "base/check.h"
#include "base/order.h"

#define LEAST 3 /* kernels of a sequence that counts; as HTA */

enum ts_status ts_hta_roots_add(struct hta_roots *roots, uint32_t op, int64_t cpu_ps, uint32_t *at,
				struct ts_error *err)
{
	if (roots->nr_unused > 0) {
		*at = roots->unused[--roots->nr_unused];
	} else {
		if (!ts_grow(&roots->items, &roots->cap, roots->nr + 1, sizeof(*roots->items)))
			return ts_fail_nomem(err);
		*at = (uint32_t)roots->nr++;
	}
	roots->items[*at] = (struct hta_root){ .op = op, .cpu_ps = cpu_ps, .nr_waiting = 1 };
	return TS_OK;
}

void ts_hta_root_kernel(struct hta_root *root, uint32_t op, int64_t dur_ps)
{
	uint64_t step[2] = { root->hash, op };

	if (root->nr_kernels < HTA_NAMED)
		root->kernels[root->nr_kernels] = op;
	root->nr_kernels++;
	root->gpu_ps = ts_i64_add(root->gpu_ps, dur_ps);
	root->hash = ts_hash((struct ts_bytes){ (const uint8_t *)step, sizeof(step) }, root->op);
}

TS_ORDER(by_count, struct hta_pattern, TS_DOWN(count) TS_DOWN(gpu_ps) TS_UP(hash))

void ts_hta_patterns_sort(struct hta_patterns *patterns)
{
	TS_SORT(patterns->items, patterns->nr, by_count);
}

/* Drops the rarer half. */
static enum ts_status thin(struct hta_patterns *patterns, struct ts_error *err)
{
	ts_hta_patterns_sort(patterns);
	ts_map_release(&patterns->by_hash);
	for (size_t i = HTA_PATTERNS / 2; i < patterns->nr; i++)
		patterns->missed = TS_MAX(patterns->missed,
					  patterns->items[i].count + patterns->items[i].missed);
	patterns->nr = TS_MIN(patterns->nr, HTA_PATTERNS / 2);
	for (size_t i = 0; i < patterns->nr; i++)
		if (!ts_map_set(&patterns->by_hash, patterns->items[i].hash, (uint32_t)i))
			return ts_fail_nomem(err);
	return TS_OK;
}

/* A row for it, in which nothing is counted yet. */
static enum ts_status add_pattern(struct hta_patterns *patterns, const struct hta_pattern *wanted,
				  struct ts_error *err)
{
	struct hta_pattern *pattern;
	enum ts_status st = TS_OK;

	if (patterns->nr >= HTA_PATTERNS)
		st = thin(patterns, err);
	if (st)
		return st;
	if (!ts_grow(&patterns->items, &patterns->cap, patterns->nr + 1,
		     sizeof(*patterns->items)) ||
	    !ts_map_set(&patterns->by_hash, wanted->hash, (uint32_t)patterns->nr))
		return ts_fail_nomem(err);
	pattern = &patterns->items[patterns->nr++];
	*pattern = *wanted;
	pattern->count = 0;
	pattern->cpu_ps = pattern->gpu_ps = 0;
	pattern->missed = patterns->missed;
	return TS_OK;
}

static enum ts_status hta_sequences_add(struct hta_patterns *patterns,
					const struct hta_pattern *seen, struct ts_error *err)
{
	uint32_t at = ts_map_find(&patterns->by_hash, seen->hash);
	struct hta_pattern *pattern;

	if (at == TS_NONE) {
		enum ts_status st = add_pattern(patterns, seen, err);

		if (st)
			return st;
		at = (uint32_t)patterns->nr - 1;
	}
	pattern = &patterns->items[at];
	pattern->count += seen->count;
	pattern->missed += seen->missed;
	pattern->cpu_ps = ts_i64_add(pattern->cpu_ps, seen->cpu_ps);
	pattern->gpu_ps = ts_i64_add(pattern->gpu_ps, seen->gpu_ps);
	return TS_OK;
}

static enum ts_status hta_sequences_count(struct hta_patterns *patterns,
					  const struct hta_root *root, struct ts_error *err)
{
	struct hta_pattern seen = {
		.hash = root->hash,
		.count = 1,
		.op = root->op,
		.nr_kernels = root->nr_kernels,
		.cpu_ps = root->cpu_ps,
		.gpu_ps = root->gpu_ps,
	};

	memcpy(seen.kernels, root->kernels, sizeof(seen.kernels));
	return hta_sequences_add(patterns, &seen, err);
}

enum ts_status ts_hta_roots_drop(struct hta_roots *roots, uint32_t at,
				 struct hta_patterns *patterns, struct ts_error *err)
{
	struct hta_root *root = &roots->items[at];

	TS_ASSERT_HOT(at < roots->nr && root->nr_waiting > 0);
	if (--root->nr_waiting > 0)
		return TS_OK;
	if (!ts_grow(&roots->unused, &roots->cap_unused, roots->nr_unused + 1,
		     sizeof(*roots->unused)))
		return ts_fail_nomem(err);
	roots->unused[roots->nr_unused++] = at;
	return root->nr_kernels < LEAST ? TS_OK : hta_sequences_count(patterns, root, err);
}

enum ts_status ts_hta_patterns_merge(struct hta_patterns *into, const struct hta_patterns *from,
				     struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < from->nr && !st; i++)
		st = hta_sequences_add(into, &from->items[i], err);
	into->missed = ts_u64_add(into->missed, from->missed);
	return st;
}
