/* SPDX-License-Identifier: MIT */
/*
 * Clocks of hosts. Arrivals of different hosts can be compared only when their clocks agree, and NTP
 * leaves 0.1 to 10 ms, which is more than cores wait for each other. Cores leave a collective
 * together, so its ends say by how much clocks differ: hosts are held against each other by the
 * collectives for which all cores wait (collectives_pairs.c) and those of which it shows who meets
 * (collectives_meet.c), and what is known of pairs becomes the
 * clock of each host (collectives_tree.c).
 *
 * A trace does not say which ranks a collective is of, and ranks of one machine have one clock: there
 * times stay as they are.
 */
#include "analysis/waits/collectives.h"

#define MAX_GROUPED 24 /* slots with groups that are looked at */

static uint32_t nr_hosts_with_cores(const struct ts_profile *profile)
{
	uint32_t nr = 0;

	for (size_t d = 0; d < profile->nr_devices; d++)
		nr += d == 0 || profile->devices[d].host != profile->devices[d - 1].host;
	return nr;
}

static bool all_are_traced(const struct collectives_state *sum, const struct ts_profile *profile)
{
	for (size_t s = 0; s < sum->slots.nr; s++)
		if (!profile->ops[sum->slots.op[s]].is_traced)
			return false;
	return true;
}

/* All cores keep the same executions of each slot. */
static void level_out(struct collectives_state *sum)
{
	for (size_t s = 0; s < sum->slots.nr; s++) {
		uint8_t level = 0;

		for (size_t d = 0; d < sum->nr_devices; d++)
			level = TS_MAX(level, sum->seen[d * sum->slots.nr + s].level);
		for (size_t d = 0; d < sum->nr_devices; d++)
			ts_collective_raise(&sum->seen[d * sum->slots.nr + s], level);
	}
}

static size_t collectives_clocks_gather(const struct collectives_state *sum, size_t slot,
					struct collective_seen **seen)
{
	size_t nr = 0;

	for (size_t d = 0; d < sum->nr_devices; d++) {
		seen[d] = &sum->seen[d * sum->slots.nr + slot];
		nr += seen[d]->nr > 0;
	}
	return nr;
}

static enum ts_status find_pairs(const struct collectives_state *sum, const struct ts_context *ctx,
				 struct collective_seen **seen, const uint32_t *host,
				 struct collective_pairs *pairs, struct ts_error *err)
{
	const struct collective_cores cores = { seen, host, NULL, sum->nr_devices };
	enum ts_status st = TS_OK;
	size_t nr_grouped = 0;

	for (size_t s = 0; s < sum->slots.nr && !st; s++) {
		const struct ts_op *op = &ctx->profile->ops[sum->slots.op[s]];
		size_t nr_cores = collectives_clocks_gather(sum, s, seen);
		struct collective_op what = ts_collective_op_of(ctx->profile, op);
		bool is_common = ts_collective_is_common(&what, nr_cores);

		if (is_common && nr_cores > 1)
			st = ts_collective_pairs_add(pairs, &cores, err);
		else if (!is_common && what.group_size > 1 && nr_grouped++ < MAX_GROUPED)
			st = ts_collective_pairs_meet(pairs, &cores, err);
	}
	return st;
}

static void align_times(struct collectives_state *sum, const uint32_t *host,
			const struct ts_host_clock *clocks)
{
	for (size_t i = 0; i < sum->nr_seen; i++) {
		const struct ts_host_clock *clock = &clocks[host[i / sum->slots.nr]];
		struct collective_seen *seen = &sum->seen[i];

		for (size_t k = 0; k < seen->nr; k++) {
			seen->times[k].start_ps =
				ts_host_clock_align(clock, seen->times[k].start_ps);
			seen->times[k].end_ps = ts_host_clock_align(clock, seen->times[k].end_ps);
		}
	}
}

static void name_reasons(const struct collectives_state *sum, const uint32_t *host,
			 enum ts_clock_source *why)
{
	for (size_t i = 0; i < sum->nr_seen; i++)
		if (sum->seen[i].nr_all > 0)
			why[host[i / sum->slots.nr]] = TS_CLOCK_NOT_SHARED;
}

static enum ts_status find_clocks(const struct collectives_state *sum, const struct ts_context *ctx,
				  const uint32_t *host, struct ts_host_clock *clocks,
				  struct ts_error *err)
{
	size_t nr_hosts = ctx->profile->nr_hosts;
	struct collective_seen **seen =
		calloc(sum->nr_devices + 1, sizeof(struct collective_seen *));
	struct collective_pairs pairs = {
		.ctx = ctx,
		.nr_tried = calloc(nr_hosts + 1, sizeof(*pairs.nr_tried)),
		.why = calloc(nr_hosts + 1, sizeof(*pairs.why)),
	};
	enum ts_status st;

	if (!seen || !pairs.nr_tried || !pairs.why) {
		st = ts_fail_nomem(err);
		goto done;
	}
	name_reasons(sum, host, pairs.why);
	st = find_pairs(sum, ctx, seen, host, &pairs, err);
	if (st)
		goto done;
	st = ts_collective_clocks_solve(&pairs, nr_hosts, clocks, err);
done:
	free(seen);
	free(pairs.nr_tried);
	free(pairs.why);
	free(pairs.items);
	ts_map_release(&pairs.by_hosts);
	return st;
}

enum ts_status ts_collectives_align(struct collectives_state *sum, const struct ts_context *ctx,
				    struct ts_arena *arena, struct ts_collectives_facts *facts,
				    struct ts_error *err)
{
	const struct ts_profile *profile = ctx->profile;
	struct ts_host_clock *clocks;
	uint32_t *host;
	enum ts_status st;

	level_out(sum);
	if (nr_hosts_with_cores(profile) < 2 || all_are_traced(sum, profile))
		return TS_OK;
	clocks = ts_arena_array(arena, profile->nr_hosts, sizeof(*clocks));
	host = calloc(sum->nr_devices + 1, sizeof(*host));
	for (size_t d = 0; host && d < sum->nr_devices; d++)
		host[d] = profile->devices[d].host;
	st = clocks && host ? find_clocks(sum, ctx, host, clocks, err) : ts_fail_nomem(err);
	if (!st) {
		align_times(sum, host, clocks);
		facts->clocks = clocks;
		facts->nr_clocks = profile->nr_hosts;
	}
	free(host);
	return st;
}
