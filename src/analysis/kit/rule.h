/* SPDX-License-Identifier: MIT */
/*
 * Rules of the doctor: what a rule is, and what it has at hand. A rule looks at the facts of analyses
 * and reports what costs time. Those that look at several analyses stand in doctor/rules/; a rule
 * about one analysis alone can stand in that analysis' file, which names it in .rules.
 *
 * A rule is a constant struct: a name, how sure it is, and a check that looks at the facts and
 * reports what it found. Its advice is a file in analysis/advice for a framework or for both. A check
 * that does not find its numbers reports nothing.
 *
 * Ownership: drafts and selections die with the doctor; texts and places that a finding keeps are
 * in the results' arena. When memory is out, .failed is set and checks go on harmlessly.
 */
#ifndef TS_ANALYSIS_KIT_RULE_H
#define TS_ANALYSIS_KIT_RULE_H

#include <inttypes.h>

#include "analysis/analysis.h"
#include "analysis/facts/ops.h"
#include "analysis/facts/time.h"
#include "analysis/kit/advice.h"
#include "base/units.h"
#include "model/bucket.h"

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

#define TS_CLASS(bucket)   (1u << (bucket))
#define TS_CLASSES_OF_WORK \
	(TS_CLASS(TS_BUCKET_COMPUTE) | TS_CLASS(TS_BUCKET_BELOW_ROOFLINE) | \
	 TS_CLASS(TS_BUCKET_MEMORY_WAIT) | TS_CLASS(TS_BUCKET_UNEXPLAINED))

/*
 * What would be different without the cause, where that is more than a share of the time that the finding names (gains.c): for
 * the replay of the run.
 */
enum ts_cure_kind {
	TS_CURE_NONE,
	TS_CURE_LATE,	  /* the ops of some cores take as long as on the others */
	TS_CURE_RANK,	  /* and their threads pause as long as those of the others */
	TS_CURE_UNEVEN,	  /* an op takes as long as on the other cores, wherever it takes longer */
	TS_CURE_STEPS,	  /* in the finding's times all takes as long as in other steps */
	TS_CURE_PACE,	  /* ops of cores that became slow keep their pace of before */
	TS_CURE_RECEIVES, /* nothing that cores send to one another is waited for */
};
struct ts_cure {
	enum ts_cure_kind kind;
	uint32_t op;		 /* TS_CURE_UNEVEN */
	const uint32_t *devices; /* TS_CURE_LATE, TS_CURE_RANK */
	size_t nr_devices;
};

struct ts_draft {
	struct ts_finding finding;
	struct ts_cure cure;
	bool keep; /* whatever its impact */
	bool is_rest, symptom, merged;
	size_t serial, nr_ranges;
	int64_t class_ps[TS_NR_BUCKETS]; /* of the time classes that it names: so much at most */
	int64_t most_ps;		 /* core time that its gain may be */
	size_t first_claim, nr_claims;	 /* of .claims: the ops that it names */
	enum ts_severity lifted, capped; /* at least, and at most, this: whatever its gain */
};

struct ts_doctor {
	const struct ts_context *ctx;
	const void *own; /* of a rule that an analysis brings along: the facts of that analysis */
	struct ts_result *result;
	const struct ts_ops_facts *ops;
	const struct ts_time_facts *time;
	enum ts_framework framework;
	const struct ts_rates *rates;	  /* of the first device with a known peak, or NULL */
	int64_t total_ps;		  /* wall x cores; -1 unknown */
	int64_t bucket_ps[TS_NR_BUCKETS]; /* -1 unknown */
	int64_t requests_ps; /* of the core time: a server waits for requests, which is in no class of .bucket_ps */
	size_t nr_steps;
	const struct ts_op_fact *facts; /* those of .ops: the largest self time first */
	size_t nr_facts;
	struct ts_fact_work *work;    /* by fact */
	struct ts_map by_place;	      /* hash of module and op -> fact */
	struct ts_run_replay *run;    /* doctor/replay.h */
	const struct ts_roots *roots; /* doctor/roots.h */
	struct ts_draft *drafts;
	size_t nr_drafts, cap_drafts;
	struct ts_range *ranges;
	size_t nr_ranges, cap_ranges;
	uint32_t *claims; /* facts, finding by finding */
	size_t nr_claims, cap_claims;
	struct ts_finding spare;
	struct ts_arena scratch;
	struct ts_buf text;
	bool failed;
};

struct ts_rule {
	const char *name;
	enum ts_confidence confidence;
	bool is_headroom; /* work against what is attainable; else a cause, the run against its own normal */
	bool keep; /* its own threshold decides, not finding_min */
	/* It says where time shows up, and not why. So findings that name a cause draw from its time
	 * first, and where they leave nothing, it is a part of theirs. */
	bool symptom;
	bool is_rest;	     /* a class of time as a whole: after all that name a cause in it */
	unsigned classes;    /* TS_CLASS of the time classes that its impact is a part of */
	const char *ceiling; /* what bounds its impact; NULL: all the core time it names */
	void (*check)(struct ts_doctor *doctor, const struct ts_rule *rule);
};

/* select.c: the facts that a check is about */
#define TS_MAX_WHERE 16
typedef bool ts_fact_match(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			   const void *arg);
struct ts_selection {
	const struct ts_op_fact *items[TS_MAX_WHERE]; /* the largest */
	int64_t item_ps[TS_MAX_WHERE];		      /* of each, the time that is counted */
	size_t nr, nr_all;
	int64_t exclusive_ps, occurrences; /* of all: the time that is counted */
	double least_ps;		   /* of those whose roofline is known */
	ts_fact_match *match;		   /* finds all again; NULL: .items are all */
	const void *arg;
};
/* One more; PS of its time is counted. */
void ts_selection_add(struct ts_selection *sel, const struct ts_op_fact *fact, int64_t ps);
struct ts_selection ts_doctor_select(const struct ts_doctor *doctor, ts_fact_match *match,
				     const void *arg);
/* Those that have time in BUCKET, of which that part is counted; MATCH NULL: all of them. */
struct ts_selection ts_doctor_select_in(const struct ts_doctor *doctor, enum ts_bucket bucket,
					ts_fact_match *match, const void *arg);
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
	TS_WORD_TIME,	/* {time}: of the run, of a core */
	TS_WORD_CORE,	/* {core}: time summed over cores, "1.20 core-s" */
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
#define TS_PLAIN(bytes)	  ((struct ts_word){ .type = TS_WORD_TEXT, .as.text = (bytes) })
#define TS_STRING(s)	  TS_PLAIN(ts_bytes_of(s))
#define TS_COUNT(nr)	  ((struct ts_word){ .type = TS_WORD_COUNT, .as.n = (int64_t)(nr) })
#define TS_TIME(ps)	  ((struct ts_word){ .type = TS_WORD_TIME, .as.n = (ps) })
#define TS_CORE(ps)	  ((struct ts_word){ .type = TS_WORD_CORE, .as.n = (ps) })
#define TS_BYTES(n)	  ((struct ts_word){ .type = TS_WORD_BYTES, .as.x = (double)(n) })
#define TS_RATE(per_s)	  ((struct ts_word){ .type = TS_WORD_RATE, .as.x = (per_s) })
#define TS_SHARE(share)	  ((struct ts_word){ .type = TS_WORD_SHARE, .as.x = (share) })
#define TS_PCT(pct)	  ((struct ts_word){ .type = TS_WORD_PCT, .as.x = (pct) })
#define TS_ROUNDED(number) ((struct ts_word){ .type = TS_WORD_NUMBER, .as.x = (number) })
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
/* Where nothing else is named: the op with most time of the function STEM that stands at SOURCE. Its time is not what
 * the finding is about, so nothing is claimed. */
void ts_doctor_show_code(struct ts_doctor *doctor, struct ts_finding *finding, struct ts_bytes stem,
			 struct ts_bytes source);
/* Of the finding reported last: its impact is a part of this op's time, as it is of those in .where;
 * of this time class's, of which it is PS at most. Gains are drawn from there (gains.c). */
void ts_doctor_claim(struct ts_doctor *doctor, const struct ts_op_fact *fact); /* or NULL */
void ts_doctor_claim_class(struct ts_doctor *doctor, enum ts_bucket bucket, int64_t ps);
/* Of the finding reported last: its gain is PS of core time at most, though its impact is more. */
void ts_doctor_gain_at_most(struct ts_doctor *doctor, int64_t ps);
/* Of the finding reported last: how the run is replayed without its cause. */
void ts_doctor_cures(struct ts_doctor *doctor, struct ts_cure cure);
/* Of the finding reported last: it stays, whatever its impact. */
void ts_doctor_keep(struct ts_doctor *doctor);
/* Of the finding reported last: at least this severity (lift), at most this one (cap), whatever its
 * gain. REASON stands in the report where it made a difference. */
void ts_doctor_lift(struct ts_doctor *doctor, enum ts_severity severity, const char *reason);
void ts_doctor_cap(struct ts_doctor *doctor, enum ts_severity severity, const char *reason);
/* Of the finding reported last. */
void ts_doctor_range(struct ts_doctor *doctor, uint32_t device, int64_t start_ps, int64_t end_ps);

#endif
