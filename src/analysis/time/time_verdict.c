/* SPDX-License-Identifier: MIT */
/*
 * The verdict: which one thing the run's core time goes to, and what that is known from. A class of
 * time names it when it has a share that matters; memory and compute only where a rate says so too:
 * HBM, or the matrix units, at their peak for half of the time that is so called. Else the verdict
 * says what is known, and which ops hold the time that is below their rooflines or unexplained.
 */
#include "analysis/time/time.h"

#include <ctype.h>

#include "base/units.h"
#include "result/schema/time.def"

#define MAX_NAMED    3	  /* ops */
#define NR_LARGEST   3	  /* classes */
#define MIN_NAMED    0.01 /* of core time that such an op has, and ops of unknown work */
#define RATE_MIN     0.5 /* of the time of a class that its rate must explain */
#define GOOD_FROM    0.5 /* of core time that the matrix units need at their peak */
#define MIN_OF_CLASS 0.4 /* of core time that a class must have to be the verdict, and vector units too */

/* The share of device time stands between the two, where there is an end. */
struct sentence {
	const char *head, *end;
};

static const struct sentence sentences[TS_NR_BUCKETS] = {
	[TS_BUCKET_COMPUTE] = { "Your workload is compute-bound", NULL },
	[TS_BUCKET_BELOW_ROOFLINE] = { "Ops run below their rooflines", NULL },
	[TS_BUCKET_MEMORY_WAIT] = { "Memory-bound: devices wait for HBM ", " of the time" },
	[TS_BUCKET_COMMUNICATION] = { "Communication-bound: ",
				      " of device time waits for collectives" },
	[TS_BUCKET_HOST_TRANSFER] = { "Waiting for copies to and from the host takes ",
				      " of device time" },
	[TS_BUCKET_REMATERIALIZATION] = { "Rematerialization takes ", " of device time" },
	[TS_BUCKET_UNEXPLAINED] = { "No limit is known", NULL },
	[TS_BUCKET_COMPILATION] = { "Devices wait for the compiler ", " of the time" },
	[TS_BUCKET_INPUT] = { "Input-bound: devices wait for data ", " of the time" },
	[TS_BUCKET_LAUNCH] = { "Launch-bound: devices wait for launches ", " of the time" },
	[TS_BUCKET_IDLE] = { "Devices are idle ", " of the time: the host does not keep up" },
};

struct verdict {
	enum ts_bucket bucket; /* TS_NR_BUCKETS: no class has enough */
	struct sentence sentence;
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

static const struct verdict no_limit = { TS_NR_BUCKETS, { "Nothing dominates", NULL } };

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
			verdict.sentence.head = "Your workload is compute-bound (good for TPU!)";
		return verdict;
	}
	if (time_verdict_share_of(time, time->part_ps[TS_SPLIT_ESTIMATE]) < MIN_OF_CLASS)
		return no_limit;
	verdict.sentence.head = "Bound by vector and scalar units, by the compiler's estimate";
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
		verdict.sentence = (struct sentence){ "Waiting for copies within the device takes ",
						      " of device time" };
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

/* "compute 29.7 %, communication 22.2 %, memory wait 20.9 %" */
static void put_largest(struct ts_buf *text, const struct ts_time_facts *time)
{
	enum ts_bucket largest[NR_LARGEST];
	size_t nr = 0;

	for (int b = 0; b < TS_NR_BUCKETS; b++) {
		size_t at = nr;

		while (at > 0 && time->bucket_ps[largest[at - 1]] < time->bucket_ps[b])
			at--;
		if (time_verdict_share_of(time, time->bucket_ps[b]) < MIN_NAMED || at == NR_LARGEST)
			continue;
		nr = TS_MIN(nr + 1, NR_LARGEST);
		memmove(&largest[at + 1], &largest[at], (nr - 1 - at) * sizeof(*largest));
		largest[at] = (enum ts_bucket)b;
	}
	for (size_t i = 0; i < nr; i++) {
		const char *title = ts_bucket_title(largest[i]);

		ts_buf_puts(text, i > 0 ? ", " : "");
		ts_buf_putc(text, (char)tolower((unsigned char)title[0]));
		ts_buf_puts(text, title + 1);
		ts_buf_putc(text, ' ');
		time_verdict_put_share(text, time, time->bucket_ps[largest[i]]);
	}
}

static void put_memory(struct ts_buf *text, const struct ts_time_facts *time)
{
	int64_t hbm_ps = time->part_ps[TS_SPLIT_HBM];
	int64_t wait_ps = TS_MAX(time->bucket_ps[TS_BUCKET_MEMORY_WAIT] - hbm_ps, 0);

	time_verdict_put_share(text, time, hbm_ps);
	ts_buf_puts(text,
		    " of device time is what HBM needs at its peak, beyond the matrix units; ");
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
		ts_buf_puts(text, " of device time is what the matrix units need at their peak, ");
		time_verdict_put_share(text, time, time->part_ps[TS_SPLIT_ESTIMATE]);
		ts_buf_puts(text, " what the compiler's estimate adds for other units");
		break;
	case TS_BUCKET_MEMORY_WAIT: put_memory(text, time); break;
	case TS_BUCKET_BELOW_ROOFLINE:
	case TS_BUCKET_UNEXPLAINED:
		time_verdict_put_share(text, time, time->bucket_ps[bucket]);
		ts_buf_puts(text,
			    bucket == TS_BUCKET_UNEXPLAINED
				    ? " of device time is explained by neither the work nor the "
				      "kind of its ops"
				    : " of device time is beyond what their work needs");
		time_verdict_put_holders(text, ctx, time, bucket);
		break;
	case TS_NR_BUCKETS: put_largest(text, time); break;
	default:
		time_verdict_put_share(text, time, time->bucket_ps[bucket]);
		ts_buf_puts(text, " of device time is ");
		ts_buf_puts(text, ts_bucket_title(bucket));
		break;
	}
}

/* A sentence has the share of its class. A sentence about ops, or about no class, ends with the evidence. */
static struct ts_bytes sentence_of(struct ts_result *result, const struct ts_time_facts *time,
				   struct verdict verdict, struct ts_bytes evidence)
{
	bool is_of_ops = verdict.bucket == TS_BUCKET_BELOW_ROOFLINE ||
			 verdict.bucket == TS_BUCKET_UNEXPLAINED;
	char pct[TS_UNIT_MAX];

	if (is_of_ops || verdict.bucket == TS_NR_BUCKETS)
		return ts_result_text(result, "%s: %.*s", verdict.sentence.head, TS_ARG(evidence));
	if (!verdict.sentence.end)
		return ts_bytes_of(verdict.sentence.head);
	return ts_result_text(
		result, "%s%s%s", verdict.sentence.head,
		ts_fmt_pct(pct, 100 * time_verdict_share_of(time, time->bucket_ps[verdict.bucket])),
		verdict.sentence.end);
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
	TS_SET(result, time, bottleneck, ts_text(sentence_of(result, time, verdict, evidence)));
	TS_SET(result, time, bottleneck_bucket,
	       verdict.bucket == TS_NR_BUCKETS
		       ? ts_null()
		       : ts_text(ts_bytes_of(ts_bucket_name(verdict.bucket))));
	TS_SET(result, time, bottleneck_evidence, ts_text(evidence));
	return TS_OK;
}
