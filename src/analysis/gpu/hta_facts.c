/* SPDX-License-Identifier: MIT */
/* What other analyses read of hta, and its own tables: figures of ranks and streams. */
#include "analysis/gpu/hta.h"

#include "base/check.h"

#define COMPUTE	      (1U << TS_KERNEL_COMPUTATION)
#define COMMUNICATION (1U << TS_KERNEL_COMMUNICATION)
#define MEMORY	      (1U << TS_KERNEL_MEMORY)

static struct ts_hta_figures exact_figures_of(const struct hta_rank *rank)
{
	const struct hta_overlaps *ps = &rank->ps;

	return (struct ts_hta_figures){
		.kernel_ps = ps->last - ps->first,
		.idle_ps = ps->time[0],
		.compute_ps = ts_hta_overlaps_any(ps, COMPUTE),
		.communication_ps = ts_hta_overlaps_any(ps, COMMUNICATION),
		.memory_ps = ts_hta_overlaps_any(ps, MEMORY),
		.overlap_ps = ts_hta_overlaps_both(ps, COMPUTE, COMMUNICATION),
		.exposed_ps = ps->time[COMMUNICATION],
		.short_ps = rank->short_ps,
		.nr_kernels = (int64_t)rank->nr_kernels,
		.nr_short = (int64_t)rank->nr_short,
		.nr_unlaunched = (int64_t)rank->nr_unlaunched,
		.nr_early = (int64_t)rank->nr_early,
		.nr_late = (int64_t)rank->nr_late,
	};
}

static struct ts_hta_figures figures_of(const struct hta_rank *rank)
{
	struct ts_hta_figures exact = exact_figures_of(rank), all = exact;

	all.kernel_us = rank->all.end - rank->all.first;
	all.idle_us = all.kernel_us - rank->all.total;
	all.compute_us = rank->computing.total;
	all.communication_us = rank->communicating.total;
	all.overlap_us = ts_hta_overlaps_both(&rank->us, COMPUTE, COMMUNICATION);
	/* HTA stops where kernels that end for it before they begin make a figure impossible: the
	 * assertions of get_temporal_breakdown. */
	return all.idle_us > all.kernel_us || all.compute_us > all.kernel_us ||
			       all.compute_us < 0 || all.idle_us < 0 ||
			       all.kernel_us - all.idle_us - all.compute_us < 0
		       ? exact
		       : all;
}

static void hta_facts_add(struct ts_hta_figures *sum, const struct ts_hta_figures *one)
{
#define ADD(name) sum->name = ts_i64_add(sum->name, one->name);
	TS_HTA_FIGURES(ADD)
#undef ADD
}

static int64_t hta_facts_number_of(const struct ts_context *ctx, const struct hta_rank *rank)
{
	const struct ts_host *host = &ctx->profile->hosts[rank->host];

	if (rank->device != TS_NONE)
		return rank->device;
	return host->rank >= 0 ? host->rank : (int64_t)rank->host;
}

static struct ts_hta_rank *make_ranks(const struct hta_state *sum, const struct ts_context *ctx,
				      struct ts_arena *arena)
{
	struct ts_hta_rank *ranks = ts_arena_array(arena, sum->nr_ranks + 1, sizeof(*ranks));

	for (size_t i = 0; ranks && i < sum->nr_ranks; i++)
		ranks[i] = (struct ts_hta_rank){
			.number = hta_facts_number_of(ctx, &sum->ranks[i]),
			.host = sum->ranks[i].host,
			.device = sum->ranks[i].device,
			.figures = figures_of(&sum->ranks[i]),
		};
	return ranks;
}

static struct ts_hta_queue queue_of(const struct hta_queue *queue)
{
	double nr = (double)queue->nr, mean = queue->sum / nr;
	double squares = fmax(0, queue->squares - nr * mean * mean);
	int64_t span_ps = queue->last_ps - queue->first_ps;

	if (queue->nr == 0)
		return (struct ts_hta_queue){ .nr = 0 };
	return (struct ts_hta_queue){
		.nr = (int64_t)queue->nr,
		.mean = mean,
		.deviation = queue->nr > 1 ? sqrt(squares / (nr - 1)) : NAN,
		.median = ts_hta_queue_quantile(queue, 0.5),
		.p75 = ts_hta_queue_quantile(queue, 0.75),
		.max = queue->max,
		.time_mean = span_ps > 0 ? queue->length_ps / (double)span_ps : NAN,
		.span_ps = span_ps,
		.queued_ps = queue->queued_ps,
		.full_ps = queue->full_ps,
	};
}

static struct ts_hta_stream stream_of(const struct ts_profile *profile,
				      const struct hta_stream *from)
{
	struct ts_hta_stream stream = {
		.name = profile->lines[from->line].name,
		.rank = from->rank,
		.queue = queue_of(&from->queue),
	};

	for (int i = 0; i < TS_HTA_NR_WAITS; i++) {
		stream.wait_ps[i] = from->wait_ps[i];
		stream.nr_waits[i] = (int64_t)from->nr_waits[i];
		stream.idle_ps = ts_i64_add(stream.idle_ps, from->wait_ps[i]);
	}
	return stream;
}

static struct ts_hta_stream *make_streams(const struct hta_state *sum, const struct ts_context *ctx,
					  struct ts_arena *arena, size_t *nr)
{
	struct ts_hta_stream *streams =
		ts_arena_array(arena, sum->nr_streams + 1, sizeof(*streams));

	*nr = 0;
	for (size_t i = 0; streams && i < sum->nr_streams; i++)
		if (sum->streams[i].begun)
			streams[(*nr)++] = stream_of(ctx->profile, &sum->streams[i]);
	return streams;
}

static int64_t count_outrun(const struct hta_state *sum)
{
	int64_t nr = 0;

	for (size_t i = 0; i < sum->nr_ranks; i++)
		for (size_t k = 0; k < sum->ranks[i].nr_calls; k++)
			nr = ts_i64_add(nr, (int64_t)sum->ranks[i].calls[k].nr_short);
	return nr;
}

/* FACTS is zeroed and stays so when no kernel ran. */
enum ts_status ts_hta_make_facts(const struct hta_state *sum, const struct ts_context *ctx,
				 struct ts_arena *arena, struct ts_hta_facts *facts,
				 struct ts_error *err)
{
	struct ts_hta_rank *ranks = make_ranks(sum, ctx, arena);
	struct ts_hta_figures all = { 0 };

	TS_ASSERT(facts->nr_ranks == 0 && facts->all.nr_kernels == 0);
	if (!ranks)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < sum->nr_ranks; i++)
		hta_facts_add(&all, &ranks[i].figures);
	/* Of several ranks HTA stops at the first. */
	for (size_t i = 0; i < sum->nr_ranks; i++)
		if (ranks[i].figures.kernel_us == 0 && ranks[i].figures.kernel_ps > 0) {
			all.kernel_us = all.idle_us = all.compute_us = 0;
			all.communication_us = all.overlap_us = 0;
		}
	if (all.nr_kernels == 0)
		return TS_OK;
	facts->all = all;
	facts->ranks = ranks;
	facts->nr_ranks = sum->nr_ranks;
	facts->streams = make_streams(sum, ctx, arena, &facts->nr_streams);
	facts->nr_outrun = count_outrun(sum);
	if (!facts->streams)
		return ts_fail_nomem(err);
	return ts_hta_collectives_match(sum->ranks, sum->nr_ranks, ranks, &facts->nr_unmatched,
					err);
}
