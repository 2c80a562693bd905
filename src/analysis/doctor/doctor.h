/*
 * The doctor's own interface: between the analysis (doctor.c), the facts of other analyses
 * that it reads (facts.c, select.c), its health score, and the rules (rules/). No other analysis
 * includes this.
 *
 * A rule is a constant struct: a name, how sure it is, and a check that looks at the facts and
 * reports what it found. A new rule is its struct in a rules file, a line in TS_RULES below and a
 * file in analysis/advice for a framework or for both. A check that does not find its numbers reports
 * nothing.
 *
 * Ownership: drafts and selections die with the doctor; texts and places that a finding keeps are
 * in the results' arena. When memory is out, .failed is set and checks go on harmlessly.
 */
#ifndef TS_ANALYSIS_DOCTOR_H
#define TS_ANALYSIS_DOCTOR_H

#define TS_NEEDS(X) \
	X(ops) X(time) X(gaps) X(systolic) X(padding) X(fusion) X(collectives) X(custom_calls) \
	X(capture) X(cache) X(capacity) X(memory) X(remat) X(async) X(sparsecore) X(allocators) \
	X(memory_timeline) X(compile) X(hta) X(kernels)
#include "analysis/facts/doctor.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/ops.h"
#include "analysis/facts/padding.h"
#include "analysis/facts/systolic.h"
#include "analysis/facts/time.h"
#include "analysis/kit/advice.h"
#include "analysis/kit/needs.h"
#include "analysis/settings.h"
#include "base/units.h"
#include "model/bucket.h"

#include <inttypes.h>

/* What the roofline says of an op of facts/ops.h. */
struct ts_fact_work {
	double least_ps; /* of all executions; NaN: unknown, or the op has no ideal time */
	enum ts_bound bound;
};

struct ts_range {	 /* when a finding without ops happened */
	uint32_t draft;	 /* its .serial */
	uint32_t device; /* TS_NONE: all */
	int64_t start_ps, end_ps;
};
#define TS_MAX_RANGES 64 /* a finding */

struct ts_draft {
	struct ts_finding finding;
	bool keep; /* whatever its impact */
	size_t serial, nr_ranges;
};

struct ts_doctor {
	const struct ts_context *ctx;
	struct ts_result *result;
	const struct ts_ops_facts *ops;
	const struct ts_time_facts *time;
	enum ts_framework framework;
	const struct ts_rates *rates;	  /* of the first device with a known peak, or NULL */
	int64_t total_ps;		  /* wall x cores; -1 unknown */
	int64_t bucket_ps[TS_NR_BUCKETS]; /* -1 unknown */
	size_t nr_cores, nr_steps;
	const struct ts_op_fact *facts; /* those of .ops: the largest self time first */
	size_t nr_facts;
	struct ts_fact_work *work; /* by fact */
	struct ts_map by_place;	   /* hash of module and op -> fact */
	struct ts_draft *drafts;
	size_t nr_drafts, cap_drafts;
	struct ts_range *ranges;
	size_t nr_ranges, cap_ranges;
	struct ts_finding spare;
	struct ts_arena scratch;
	struct ts_buf text;
	bool failed;
};

struct ts_rule {
	const char *name;
	enum ts_confidence confidence;
	bool keep;	     /* its own threshold decides, not finding_min */
	const char *ceiling; /* what bounds its impact; NULL: all the core time it names */
	void (*check)(struct ts_doctor *doctor, const struct ts_rule *rule);
};

/* In the order in which findings of equal impact are reported. */
#define TS_RULES(X)             \
	X(capture)              \
	X(host_copies)          \
	X(infeed_outfeed)       \
	X(large_transfers)      \
	X(input_bound)          \
	X(compilation)          \
	X(recompilation)        \
	X(idle)                 \
	X(exposed_collectives)  \
	X(straggler)            \
	X(exposed_async)        \
	X(late_rank)            \
	X(kernel_gaps)          \
	X(short_kernels)        \
	X(launch_queue)         \
	X(sparsecore_offload)   \
	X(mxu_utilization)      \
	X(matmul_fill)          \
	X(highest_precision)    \
	X(padding_waste)        \
	X(memory_bound)         \
	X(layout_copies)        \
	X(upcasts)              \
	X(hbm_bandwidth)        \
	X(rematerialization)    \
	X(dominant_op)          \
	X(small_ops)            \
	X(op_chains)            \
	X(unfused)              \
	X(slow_steps)           \
	X(hbm_capacity)         \
	X(donation)             \
	X(memory_growth)        \
	X(out_of_memory)        \
	X(device_memory)        \
	X(fragmentation)        \
	X(allocator_calls)      \
	X(torch_graph_breaks)   \
	X(torch_recompilations) \
	X(torch_unfused)        \
	X(torch_cuda_graphs)    \
	X(kernel_roofline)      \
	X(unknown_cost)         \
	X(unknown_chip)

#define TS_DECLARE_RULE(name) extern const struct ts_rule ts_rule_##name;
TS_RULES(TS_DECLARE_RULE)
#undef TS_DECLARE_RULE

/* facts.c */
void ts_doctor_gather(struct ts_doctor *doctor); /* fills all but .ctx and .result */
void ts_doctor_release(struct ts_doctor *doctor);

/* health.c: 0..100, or NaN when the run has no time to judge by. Needs .nr_drafts in place. */
struct ts_health {
	double score, ideal_ps;
	bool assumed; /* no op's roofline was known */
};
struct ts_health ts_doctor_health(const struct ts_doctor *doctor);

/* places.c: times and links of the findings that are kept */
void ts_doctor_places(struct ts_doctor *doctor);

/* kpis.c: the table "kpis", and the figures of it that others read */
void ts_doctor_kpis(struct ts_doctor *doctor, struct ts_doctor_facts *facts);

/* select.c: the facts that a check is about */
#define TS_MAX_WHERE 16
struct ts_selection {
	const struct ts_op_fact *items[TS_MAX_WHERE]; /* the largest */
	size_t nr, nr_all;
	int64_t exclusive_ps, occurrences; /* of all */
	double least_ps;		   /* of those whose roofline is known */
};
typedef bool ts_fact_match(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			   const void *arg);
struct ts_selection ts_doctor_select(const struct ts_doctor *doctor, ts_fact_match *match,
				     const void *arg);
ts_fact_match ts_match_bucket; /* ARG: const enum ts_bucket * */
const struct ts_op_fact *ts_doctor_fact(const struct ts_doctor *doctor, struct ts_bytes module,
					struct ts_bytes op); /* or NULL */
const struct ts_op *ts_fact_op(const struct ts_doctor *doctor, const struct ts_op_fact *fact);
/* FACT is one of doctor->facts. */
struct ts_fact_work ts_fact_work(const struct ts_doctor *doctor, const struct ts_op_fact *fact);
/* "file.py:29": the fact's own, else that of a user or producer in the module; empty unknown. */
struct ts_bytes ts_fact_source(struct ts_doctor *doctor, const struct ts_op_fact *fact);
/* A capture of hosts alone: its modules ran on no device whose tiles and arrays could be judged. */
bool ts_doctor_no_device(const struct ts_doctor *doctor);
/* Share of the core time, NaN when that is unknown. */
double ts_doctor_share(const struct ts_doctor *doctor, int64_t ps);
double ts_doctor_bucket_share(const struct ts_doctor *doctor, enum ts_bucket bucket);

/* Where a rule has a finding for each op, it reports the largest few: rows by impact. */
#define TS_MAX_BEST 3
struct ts_best {
	size_t row[TS_MAX_BEST], nr;
	int64_t impact[TS_MAX_BEST];
};
void ts_best_add(struct ts_best *best, size_t row, int64_t impact);
int64_t ts_to_ps(double ps); /* NaN gives -1 */

/* copies.c: one execution of a copy to or from the host */
struct ts_copy {
	double bytes; /* of the array as laid out; NaN unknown */
	bool to_host;
};
struct ts_copy ts_fact_copy(struct ts_doctor *doctor, const struct ts_op_fact *fact);

/*
 * words.c: sentences, into doctor->text. A template is text with a piece in braces for each word,
 * and the piece names the word's type. The words follow in the same order:
 *
 *	TS_PUT(doctor, "{share} of core time waits for {name}[ at {name}]", TS_SHARE(share),
 *	       TS_NAME(op), TS_NAME(source));
 *
 * {s} ends a noun after the last count and {v} ends a verb: "1 step waits", "2 steps wait".
 *
 * A part in brackets is left out where a word in it is missing: an empty name or text, a negative
 * count or time, a number that is not finite, and TS_WHEN(false, ...).
 */
enum ts_word_type {
	TS_WORD_END,
	TS_WORD_NAME,	/* {name}: any bytes; cut when long, "(unnamed)" when empty */
	TS_WORD_TEXT,	/* {text}: as it is */
	TS_WORD_COUNT,	/* {count} */
	TS_WORD_TIME,	/* {time} */
	TS_WORD_BYTES,	/* {bytes} */
	TS_WORD_RATE,	/* {rate}: bytes/s */
	TS_WORD_SHARE,	/* {share}: 0.82 is "82 %" */
	TS_WORD_PCT,	/* {pct}: 14.4 is "14.4 %" */
	TS_WORD_NUMBER, /* {number}: rounded to a whole one */
	TS_WORD_METRIC, /* {metric}: "1.34 G" */
	TS_WORD_OPS,	/* {ops}: "a (1 ms), b (2 us) and 3 more" */
	TS_NR_WORD_TYPES
};
struct ts_word {
	enum ts_word_type type;
	bool missing;
	size_t max; /* of ops */
	union {
		struct ts_bytes text;
		int64_t n;
		double x;
		const struct ts_selection *ops;
	} as;
};
#define TS_NAME(bytes)	  ((struct ts_word){ .type = TS_WORD_NAME, .as.text = (bytes) })
#define TS_TEXT(bytes)	  ((struct ts_word){ .type = TS_WORD_TEXT, .as.text = (bytes) })
#define TS_STRING(s)	  TS_TEXT(ts_bytes_of(s))
#define TS_COUNT(nr)	  ((struct ts_word){ .type = TS_WORD_COUNT, .as.n = (int64_t)(nr) })
#define TS_TIME(ps)	  ((struct ts_word){ .type = TS_WORD_TIME, .as.n = (ps) })
#define TS_BYTES(n)	  ((struct ts_word){ .type = TS_WORD_BYTES, .as.x = (double)(n) })
#define TS_RATE(per_s)	  ((struct ts_word){ .type = TS_WORD_RATE, .as.x = (per_s) })
#define TS_SHARE(share)	  ((struct ts_word){ .type = TS_WORD_SHARE, .as.x = (share) })
#define TS_PCT(pct)	  ((struct ts_word){ .type = TS_WORD_PCT, .as.x = (pct) })
#define TS_NUMBER(number) ((struct ts_word){ .type = TS_WORD_NUMBER, .as.x = (number) })
#define TS_METRIC(number) ((struct ts_word){ .type = TS_WORD_METRIC, .as.x = (number) })
#define TS_OPS(selection, nr) \
	((struct ts_word){ .type = TS_WORD_OPS, .max = (nr), .as.ops = (selection) })
#define TS_WHEN(condition, word) ts_word_when(condition, word)
struct ts_word ts_word_when(bool condition, struct ts_word word);
void ts_put_words(struct ts_doctor *doctor, const char *template, const struct ts_word *words);
#define TS_PUT(doctor, template, ...)  \
	ts_put_words(doctor, template, \
		     (const struct ts_word[]){ __VA_ARGS__, { .type = TS_WORD_END } })
void ts_put(struct ts_doctor *doctor, const char *text);  /* without any word */
struct ts_bytes ts_doctor_text(struct ts_doctor *doctor); /* what was put, kept; starts anew */
/* Puts it, and gives all that was put since the last ts_doctor_text(). */
#define TS_SENTENCE(doctor, template, ...) \
	(TS_PUT(doctor, template, __VA_ARGS__), ts_doctor_text(doctor))

/* hosts.c: sentences about time without an op, each with a space in front. They put nothing where
 * nothing is known. */
#define TS_MIN_STEP_SHARE 0.01 /* of a step's core time: with less, the step only touches it */
void ts_put_host_events(struct ts_doctor *doctor, enum ts_bucket bucket);
void ts_put_per_step(struct ts_doctor *doctor, enum ts_bucket bucket);
void ts_put_cores(struct ts_doctor *doctor, enum ts_bucket bucket);

/* waits.c */
#define TS_MAX_WAITS 3
/* Those of collectives, or those of copies within the device: the most exposed first. */
struct ts_waits {
	const struct ts_async_op *items[TS_MAX_WAITS];
	size_t nr, nr_all;
	int64_t exposed_ps, hidden_ps, coverable_ps; /* coverable -1: no module says */
};
struct ts_waits ts_waits_find(const struct ts_doctor *doctor, bool collectives);
/* "copy-start.2 (88.0 s, 47 % hidden; fusion.3 could run meanwhile) and 2 more." */
void ts_put_waits(struct ts_doctor *doctor, const struct ts_waits *waits);
/* " Compute that does not depend on them could cover ...": of the collectives. */
void ts_put_coverable(struct ts_doctor *doctor);

/* launches.c: times of all GPUs between the kernels of a stream */
struct ts_kernel_gaps {
	int64_t all_ps, host_ps, kernel_ps; /* host: for a launch that came too late */
	int64_t nr_kernel;
};
struct ts_kernel_gaps ts_kernel_gaps_of(const struct ts_doctor *doctor);
/* " Of the time between the kernels of a stream 90 % waits ...", or nothing. */
void ts_put_launches(struct ts_doctor *doctor);

/* report.c: MODULE and OP make the id; either may be empty. IMPACT_PS -1: unknown. The
 * draft has its severity by impact, its rule's confidence, advice and code. Never NULL: without
 * memory it is .spare, which no report shows. Good until the next report. */
struct ts_finding *ts_doctor_report(struct ts_doctor *doctor, const struct ts_rule *rule,
				    struct ts_bytes module, struct ts_bytes op, int64_t impact_ps);
/* Of the whole run. */
struct ts_finding *ts_doctor_report_run(struct ts_doctor *doctor, const struct ts_rule *rule,
					int64_t impact_ps);
void ts_doctor_where(struct ts_doctor *doctor, struct ts_finding *finding,
		     const struct ts_selection *ops);
void ts_doctor_where_one(struct ts_doctor *doctor, struct ts_finding *finding,
			 const struct ts_op_fact *fact); /* or NULL */
/* Of the finding reported last. */
void ts_doctor_range(struct ts_doctor *doctor, uint32_t device, int64_t start_ps, int64_t end_ps);

#endif
