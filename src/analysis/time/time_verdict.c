/* SPDX-License-Identifier: MIT */
/*
 * The verdict: which one thing the run's core time goes to, and what that is known from. A class of
 * time names it when it has a share that matters; memory and compute only where a rate says so too:
 * HBM, or the matrix units, at their peak for half of the time that is so called. Else the verdict
 * says what is known, and which ops hold the time that is below their rooflines or unexplained.
 */
#include "analysis/time/time.h"

#include "base/units.h"
#include "result/schema/time.def"

#define MAX_NAMED    3	  /* ops */
#define MIN_NAMED    0.01 /* of core time that such an op has, and ops of unknown work */
#define RATE_MIN     0.5 /* of the time of a class that its rate must explain */
#define GOOD_FROM    0.5 /* of core time that the matrix units need at their peak */
#define MIN_OF_CLASS 0.4 /* of core time that a class must have to be the verdict, and vector units too */

static const char *const sentences[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] = "Your workload is compute-bound",
	[TS_BUCKET_BELOW_ROOFLINE] = "Your ops run below their rooflines",
	[TS_BUCKET_MEMORY_WAIT] = "Your workload is memory-bound (it waits for HBM)",
	[TS_BUCKET_COMMUNICATION] =
		"Your workload is communication-bound (collectives are exposed)",
	[TS_BUCKET_HOST_TRANSFER] = "Your workload waits for copies to and from the host",
	[TS_BUCKET_REMATERIALIZATION] = "Your workload spends its time on recomputation",
	[TS_BUCKET_UNEXPLAINED] = "No single limit is known",
	[TS_BUCKET_COMPILATION] = "Your workload waits for the compiler",
	[TS_BUCKET_INPUT] = "Your workload is input-bound (devices wait for data)",
	[TS_BUCKET_LAUNCH] = "Your workload is launch-bound (devices wait for launches)",
	[TS_BUCKET_IDLE] = "Your devices are mostly idle (the host does not feed them)",
};

struct verdict {
	enum ts_bucket bucket; /* TS_NR_BUCKETS: no class has enough */
	const char *sentence;
};

static double time_verdict_share_of(const struct ts_time_facts *time, int64_t ps)
{
	return time->total_ps > 0 ? (double)ps / (double)time->total_ps : 0;
}

static enum ts_bucket time_verdict_largest(const struct ts_time_facts *time)
{
	enum ts_bucket most = TS_BUCKET_COMPUTE;

	for (int b = 0; b < TS_NR_BUCKETS; b++)
		if (time->bucket_ps[b] > time->bucket_ps[most])
			most = (enum ts_bucket)b;
	return most;
}

/* Is the part with a rate half of the class? Parts are of ops, before the streams of GPUs overlap. */
static bool has_rate(const struct ts_time_facts *time, enum ts_bucket bucket,
		     enum ts_split_part part)
{
	return (double)time->part_ps[part] >= RATE_MIN * (double)time->bucket_ps[bucket];
}

static const struct verdict no_limit = { TS_NR_BUCKETS, "No single limit is known" };

/* Compute is what matrix units need and what the compiler thinks of the others: one of them must rule. */
static struct verdict compute_verdict(const struct ts_context *ctx,
				      const struct ts_time_facts *time)
{
	struct verdict verdict = { TS_BUCKET_COMPUTE, sentences[TS_BUCKET_COMPUTE] };

	if (ts_profile_is_of_cpus(ctx->profile)) /* whose rates are not known */
		return verdict;
	if (has_rate(time, TS_BUCKET_COMPUTE, TS_SPLIT_MATRIX)) {
		/* Praise is for a TPU whose matrix units need half of all core time at peak. */
		if (!(ctx->profile->nr_devices > 0 && ctx->profile->devices[0].is_gpu) &&
		    time_verdict_share_of(time, time->part_ps[TS_SPLIT_MATRIX]) >= GOOD_FROM)
			verdict.sentence = "Your workload is compute-bound (good for TPU!)";
		return verdict;
	}
	if (time_verdict_share_of(time, time->part_ps[TS_SPLIT_ESTIMATE]) < MIN_OF_CLASS)
		return no_limit;
	verdict.sentence = "Your workload is bound by vector and scalar units, as far as the "
			   "compiler's estimate says";
	return verdict;
}

static struct verdict time_verdict_verdict_of(const struct ts_context *ctx,
					      const struct ts_time_facts *time)
{
	enum ts_bucket most = time_verdict_largest(time);
	struct verdict verdict = { most, sentences[most] };

	if (time_verdict_share_of(time, time->bucket_ps[most]) < MIN_OF_CLASS)
		return no_limit;
	if (most == TS_BUCKET_COMPUTE)
		return compute_verdict(ctx, time);
	if (most == TS_BUCKET_MEMORY_WAIT && !has_rate(time, most, TS_SPLIT_HBM))
		verdict.sentence = "Your workload waits for copies within the device";
	return verdict;
}

static void time_verdict_put_share(struct ts_buf *text, const struct ts_time_facts *time,
				   int64_t ps)
{
	char pct[TS_UNIT_MAX];

	ts_buf_puts(text, ts_fmt_pct(pct, 100 * time_verdict_share_of(time, ps)));
}

/* The ops with the most time in the bucket, the most first. Gives how many. */
static size_t time_verdict_find_holders(const struct ts_time_facts *time, size_t nr_ops,
					enum ts_bucket bucket, uint32_t holders[MAX_NAMED])
{
	size_t nr = 0;

	for (uint32_t op = 0; time->ops && op < nr_ops; op++) {
		int64_t ps = ts_time_op_in(&time->ops[op], bucket);
		size_t at = nr;

		while (at > 0 && ts_time_op_in(&time->ops[holders[at - 1]], bucket) < ps)
			at--;
		if (time_verdict_share_of(time, ps) < MIN_NAMED || at == MAX_NAMED)
			continue;
		nr = TS_MIN(nr + 1, MAX_NAMED);
		memmove(&holders[at + 1], &holders[at], (nr - 1 - at) * sizeof(*holders));
		holders[at] = op;
	}
	return nr;
}

static void time_verdict_put_holders(struct ts_buf *text, const struct ts_context *ctx,
				     const struct ts_time_facts *time, enum ts_bucket bucket)
{
	uint32_t holders[MAX_NAMED];
	size_t nr = time_verdict_find_holders(time, ctx->profile->nr_ops, bucket, holders);

	for (size_t i = 0; i < nr; i++) {
		const struct ts_op *op = &ctx->profile->ops[holders[i]];
		int64_t ps = ts_time_op_in(&time->ops[holders[i]], bucket);

		ts_buf_puts(text, i == 0 ? ", most of it in " : ", ");
		ts_buf_put(text, ts_bytes_cut(op->name, 0, 60));
		ts_buf_puts(text, " (");
		time_verdict_put_share(text, time, ps);
		ts_buf_puts(text, ")");
	}
}

static void put_largest(struct ts_buf *text, const struct ts_time_facts *time)
{
	enum ts_bucket most = time_verdict_largest(time);

	ts_buf_puts(text, "the largest class is ");
	ts_buf_puts(text, ts_bucket_title(most));
	ts_buf_puts(text, " with ");
	time_verdict_put_share(text, time, time->bucket_ps[most]);
	ts_buf_puts(text, " of core time");
	if (most != TS_BUCKET_COMPUTE)
		return;
	ts_buf_puts(text, " (matrix units ");
	time_verdict_put_share(text, time, time->part_ps[TS_SPLIT_MATRIX]);
	ts_buf_puts(text, ", other units ");
	time_verdict_put_share(text, time, time->part_ps[TS_SPLIT_ESTIMATE]);
	if (time_verdict_share_of(time, time->part_ps[TS_SPLIT_KIND]) >= MIN_NAMED) {
		ts_buf_puts(text, ", ops of unknown work ");
		time_verdict_put_share(text, time, time->part_ps[TS_SPLIT_KIND]);
	}
	ts_buf_puts(text, ")");
}

static void put_memory(struct ts_buf *text, const struct ts_time_facts *time)
{
	int64_t hbm_ps = time->part_ps[TS_SPLIT_HBM];
	int64_t wait_ps = TS_MAX(time->bucket_ps[TS_BUCKET_MEMORY_WAIT] - hbm_ps, 0);

	time_verdict_put_share(text, time, hbm_ps);
	ts_buf_puts(text, " of core time is what HBM needs at its peak, beyond the matrix units; ");
	time_verdict_put_share(text, time, wait_ps);
	ts_buf_puts(text, " waits for copies");
}

static void put_evidence(struct ts_buf *text, const struct ts_context *ctx,
			 const struct ts_time_facts *time, enum ts_bucket bucket)
{
	switch (bucket) {
	case TS_BUCKET_COMPUTE:
		if (ts_profile_is_of_cpus(ctx->profile)) {
			time_verdict_put_share(text, time, time->bucket_ps[bucket]);
			ts_buf_puts(text, " of core time is work on the CPU");
			time_verdict_put_holders(text, ctx, time, bucket);
			break;
		}
		time_verdict_put_share(text, time, time->part_ps[TS_SPLIT_MATRIX]);
		ts_buf_puts(text, " of core time is what the matrix units need at their peak, ");
		time_verdict_put_share(text, time, time->part_ps[TS_SPLIT_ESTIMATE]);
		ts_buf_puts(text, " what the compiler's estimate adds for other units");
		break;
	case TS_BUCKET_MEMORY_WAIT: put_memory(text, time); break;
	case TS_BUCKET_BELOW_ROOFLINE:
	case TS_BUCKET_UNEXPLAINED:
		time_verdict_put_share(text, time, time->bucket_ps[bucket]);
		ts_buf_puts(text,
			    bucket == TS_BUCKET_UNEXPLAINED
				    ? " of core time is explained by neither the work nor the "
				      "kind of its ops"
				    : " of core time is beyond what their work needs");
		time_verdict_put_holders(text, ctx, time, bucket);
		break;
	case TS_NR_BUCKETS: put_largest(text, time); break;
	default:
		time_verdict_put_share(text, time, time->bucket_ps[bucket]);
		ts_buf_puts(text, " of core time is ");
		ts_buf_puts(text, ts_bucket_title(bucket));
		break;
	}
}

/* Of ops the verdict says which: it is one sentence with its evidence. The others stand alone. */
static struct ts_bytes sentence_of(struct ts_result *result, struct verdict verdict,
				   struct ts_bytes evidence)
{
	bool is_of_ops = verdict.bucket == TS_BUCKET_BELOW_ROOFLINE ||
			 verdict.bucket == TS_BUCKET_UNEXPLAINED;

	if (!is_of_ops && verdict.bucket != TS_NR_BUCKETS)
		return ts_bytes_of(verdict.sentence);
	return ts_result_text(result, "%s: %.*s", verdict.sentence, TS_ARG(evidence));
}

enum ts_status ts_time_put_verdict(const struct ts_context *ctx, struct ts_result *result,
				   struct ts_error *err)
{
	const struct ts_time_facts *time = ts_time_facts(ctx);
	struct ts_buf text = TS_BUF_INIT;
	struct verdict verdict;
	struct ts_bytes evidence;
	bool failed;

	if (time->nr_cores == 0) {
		TS_SET(result, time, bottleneck, ts_null());
		return TS_OK;
	}
	verdict = time_verdict_verdict_of(ctx, time);
	put_evidence(&text, ctx, time, verdict.bucket);
	evidence = ts_result_text(result, "%.*s", TS_ARG(ts_buf_bytes(&text)));
	failed = text.failed || !evidence.p;
	ts_buf_release(&text);
	if (failed)
		return ts_fail_nomem(err);
	TS_SET(result, time, bottleneck, ts_text(sentence_of(result, verdict, evidence)));
	TS_SET(result, time, bottleneck_bucket,
	       verdict.bucket == TS_NR_BUCKETS
		       ? ts_null()
		       : ts_text(ts_bytes_of(ts_bucket_name(verdict.bucket))));
	TS_SET(result, time, bottleneck_evidence, ts_text(evidence));
	return TS_OK;
}
