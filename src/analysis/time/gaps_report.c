/* SPDX-License-Identifier: MIT */
/* What was seen in the gaps, gap by gap for other analyses, and summed up by host event. */
#include "analysis/time/gaps.h"

#include "base/check.h"
#include "base/order.h"
#include "result/schema/gaps.def"

#define MAX_EVENTS 32 /* rows by host event */

static struct ts_bytes gaps_report_name_of(const struct ts_context *ctx,
					   const struct gap_witness *witness)
{
	return witness->rank ? ctx->profile->ops[witness->op].name : (struct ts_bytes){ NULL, 0 };
}

/* Gaps come the longest first. */
static void add_gap(struct ts_gap_group *groups, size_t *nr, const struct ts_time_gap *gap,
		    const struct ts_gap_witness *witness)
{
	struct ts_gap_group *group = groups;

	while (group < groups + *nr && !ts_bytes_eq(group->witness.event, witness->event))
		group++;
	if (group == groups + *nr) {
		*group = (struct ts_gap_group){
			.witness = *witness,
			.cause = gap->cause,
			.longest_ps = gap->dur_ps,
			.device = gap->device,
			.start_ps = gap->start_ps,
		};
		(*nr)++;
	}
	group->count++;
	group->total_ps = ts_i64_add(group->total_ps, gap->dur_ps);
}

static struct ts_gap_witness witness_of(const struct ts_context *ctx, const struct gap_seen *seen)
{
	const struct gap_witness *in = &seen->in;
	struct ts_gap_witness witness = {
		.event = gaps_report_name_of(ctx, in),
		.ended_by = gaps_report_name_of(ctx, &seen->ended),
		.is_awaited = in->rank == GAP_FRAME || in->rank == GAP_AWAITED ||
			      in->rank == GAP_AWAITED_CAUSE,
	};

	if (in->rank) {
		witness.thread = ctx->profile->lines[in->line].name;
		witness.activity = (enum ts_host_activity)ctx->outline->host_activity[in->op];
		witness.owner = ts_host_owner_of_op(&ctx->profile->ops[in->op]);
		witness.is_mark = ts_gaps_is_mark(ctx, &ctx->profile->ops[in->op]);
	}
	return witness;
}

TS_ORDER(gaps_report_costliest_first, struct ts_gap_group, TS_DOWN(total_ps) TS_UP(witness.event))

bool ts_gaps_make_facts(const struct gaps_state *sum, const struct ts_context *ctx,
			struct ts_arena *arena, struct ts_gaps_facts *facts)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	struct ts_gap_witness *witnesses =
		ts_arena_array(arena, time->nr_gaps + 1, sizeof(*witnesses));
	struct ts_gap_group *groups = ts_arena_array(arena, time->nr_gaps + 1, sizeof(*groups));

	TS_ASSERT(facts && sum->nr_rows >= time->nr_gaps);
	if (!witnesses || !groups)
		return false;
	for (size_t i = 0; i < time->nr_gaps; i++) {
		witnesses[i] = witness_of(ctx, &sum->seen[i]);
		add_gap(groups, &facts->nr_groups, &time->gaps[i], &witnesses[i]);
	}
	TS_SORT(groups, facts->nr_groups, gaps_report_costliest_first);
	facts->witnesses = witnesses;
	facts->groups = groups;
	return true;
}

static void gaps_report_put_fields(const struct ts_gaps_facts *facts,
				   const struct ts_time_facts *time, bool saw_hosts,
				   struct ts_result *result)
{
	const int64_t *ps = time->bucket_ps;
	int64_t listed_ps = 0, explained_ps = 0;
	int64_t all_ps = 0;

	for (enum ts_bucket b = TS_FIRST_PAUSE; b < TS_NR_BUCKETS; b++)
		all_ps = ts_i64_add(all_ps, ps[b]);
	for (size_t i = 0; i < facts->nr_groups; i++) {
		listed_ps = ts_i64_add(listed_ps, facts->groups[i].total_ps);
		if (facts->groups[i].witness.event.n > 0)
			explained_ps = ts_i64_add(explained_ps, facts->groups[i].total_ps);
	}
	TS_SET(result, gaps, gap_ps, time->nr_cores > 0 ? ts_int(all_ps) : ts_null());
	TS_SET(result, gaps, listed_ps, ts_int(listed_ps));
	TS_SET(result, gaps, explained_ps, saw_hosts ? ts_int(explained_ps) : ts_null());
}

#define EVENT_CELLS(X) \
	X(host_event, ts_text_or_null(group->witness.event)) \
	X(host_thread, ts_text_or_null(group->witness.thread)) \
	X(count, ts_int(group->count)) \
	X(total_ps, ts_int(group->total_ps)) \
	X(longest_ps, ts_int(group->longest_ps)) \
	X(cause, ts_text(ts_bytes_of(ts_bucket_name(group->cause)))) \
	X(ended_by, ts_text_or_null(group->witness.ended_by)) \
	X(start_ps, ts_int(group->start_ps)) \
	X(device_id, ts_int(group->device))

void ts_gaps_report(const struct ts_gaps_facts *facts, const struct ts_context *ctx,
		    struct ts_result *result)
{
	struct ts_table *table;

	gaps_report_put_fields(facts, ts_time_facts(ctx), ts_profile_has_threads(ctx->profile),
			       result);
	table = TS_TABLE(result, gaps_gaps_by_event);
	for (size_t i = 0; i < TS_MIN(facts->nr_groups, MAX_EVENTS); i++) {
		const struct ts_gap_group *group = &facts->groups[i];

		TS_CELLS(result, table, gaps_gaps_by_event, EVENT_CELLS);
	}
}
