/* SPDX-License-Identifier: MIT */
/*
 * An analysis: a constant struct in its own file and a line in list.h. It sees every block of
 * events once, keeps a small state per line, and says what it found: as facts, for the analyses
 * that need them, and as a result, for the outputs.
 *
 * States: the runner makes one per line (zeroed) on the thread that decodes the
 * line, feeds it, and merges it into one per analysis in the order of the lines, whatever order
 * they finished in; so results do not depend on threads. close() sees the sum. An analysis
 * without .block only has close(): it works from the profile and from the facts of others.
 *
 * Facts: typed structs (facts/NAME.h), made once, by close(), and const from then on. An analysis
 * reads those of the analyses that it needs and of no others: kit/needs.h declares an accessor for
 * each need, so a need that is not declared does not compile. Results are for the outputs: no
 * analysis reads one, and none is written after its analysis has filled it.
 */
#ifndef TS_ANALYSIS_ANALYSIS_H
#define TS_ANALYSIS_ANALYSIS_H

#include "hw/chips.h"
#include "hw/topology.h"
#include "model/interleaved.h"
#include "model/outline.h"
#include "result/schema.h"

/* At most so many are in list.h, which ids.c checks. The count itself is in no header, and an analysis
 * is named by the address of its place in the list (ts_id_NAME): so a new one does not recompile the others. */
#define TS_MAX_ANALYSES 48

struct ts_analysis;
struct ts_run_steps;

/* What all analyses may read. It does not change during a pass. */
struct ts_context {
	const struct ts_profile *profile;
	const struct ts_outline *outline; /* steps, host activity */
	const struct ts_rates *rates;	  /* one a device of the profile */
	const struct ts_settings *settings;
	struct ts_arena *
		kept; /* slices to which nothing is added any more; NULL: they stay where they are */
	size_t overlay_budget; /* slices a host may have in all; 0: no tracks are wanted */
	size_t tree_rows;      /* that a tree of call paths may have in a result */
	size_t max_ops;	       /* that a table lists (kit/others.h); 0: as many as is usual */
	size_t max_steps;      /* likewise, of steps */
	const struct ts_run_steps *steps; /* known before the first pass; NULL: there is no run */
	/* Whether TS_PASS_INTERLEAVED shows events; otherwise its analyses are closed with nothing. */
	bool has_interleaved;
	bool no_python; /* what Python's tracer saw does not count as a host's activity (timeline) */
	const struct ts_rates *chip; /* of modules without a run, when the user named it; or NULL */
	struct ts_topology
		topology; /* likewise, or that of a predicted profile; it may be unknown */
	struct ts_bytes topology_name;
	struct ts_bytes libtpu; /* the version that compiled the modules; empty: unknown */
	struct ts_mesh mesh;	/* the axes of the user's shardings; .nr 0: not known */
	const struct ts_analysis *const *analyses; /* all of them, for their rules; or NULL */
	/* By place in the list; read with kit/needs.h; NULL: it is not closed yet. */
	const void *facts[TS_MAX_ANALYSES];
};

/* Each pass begins when the one before it is closed. What is said of lines is what most analyses of
 * the pass want: each chooses its lines with .wants. */
enum ts_pass {
	TS_PASS_FIRST = 1, /* lines of devices; host threads too, where an analysis wants them */
	TS_PASS_INTERLEAVED, /* all lines of a host as one (model/interleaved.h); see struct ts_context */
	TS_PASS_SECOND,	 /* host threads again, once it is known what to ask them for */
	TS_PASS_OVERLAY, /* lines of devices again, where an overlay is wanted */
};

struct ts_record;
struct ts_rule;
struct ts_analysis {
	const struct ts_schema *schema; /* of its result, whose name is the analysis' own */
	const size_t *const *needs;	/* closed before this one: TS_NEEDED; NULL: it needs none */
	const size_t *const *shows;	/* for .report: TS_SHOWN */
	/* About this analysis alone (kit/rule.h), NULL at the end; or NULL. They are checked by the
	 * analysis that .runs_rules, which is closed after all that have some. */
	const struct ts_rule *const *rules;
	bool runs_rules;
	/* Facts that it makes of the lines of one host are what the lines of this host need in a later
	 * pass, where each host's file is read on a machine of its own. */
	bool serves_part;
	enum ts_pass pass;
	unsigned columns; /* enum ts_columns */
	const struct ts_record
		*state;	   /* its members; NULL: it has none, and only .close is called */
	size_t facts_size; /* of struct ts_NAME_facts; 0: no analysis reads its facts */
	/* Asked once, before the pass begins: false: the run has no events for this analysis, and .wants
	 * is not asked. NULL: true. */
	bool (*applies)(const struct ts_context *ctx);
	/* Asked once, likewise: sets in OPS (one an op of the profile) those whose events and segments it looks
	 * at; others need not be shown where all analyses of the pass have this. NULL: it looks at all. */
	enum ts_status (*looks_at)(const struct ts_context *ctx, bool *ops, struct ts_error *err);
	/* False: not interested in this line. LINE is an index into the profile's lines. */
	bool (*wants)(const struct ts_context *ctx, const struct ts_line *line);
	enum ts_status (*open)(void *state, const struct ts_context *ctx,
			       const struct ts_line *line, struct ts_error *err);
	enum ts_status (*block)(void *state, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err);
	/* In TS_PASS_INTERLEAVED instead of .block: a state is a host's then, LINE of .open its first one
	 * that is wanted, and states are merged in the order of hosts. */
	enum ts_status (*interleaved)(void *state, const struct ts_context *ctx,
				      const struct ts_interleaved *interleaved,
				      struct ts_error *err);
	/* INTO is zeroed before the first merge. FROM is released by the runner afterwards. NULL: the sum
	 * is that of .state's table. */
	enum ts_status (*merge)(void *into, void *from, const struct ts_context *ctx,
				struct ts_error *err);
	/* Fills FACTS (zeroed, in the results' arena; NULL where .facts_size is 0) and RESULT from the
	 * sum. An analysis with .report leaves RESULT to it. */
	enum ts_status (*close)(void *state, const struct ts_context *ctx, void *facts,
				struct ts_result *result, struct ts_error *err);
	/* For a result that shows what analyses of later passes found: called when all that it .shows
	 * are closed, with the sum that close() saw. */
	enum ts_status (*report)(void *state, const struct ts_context *ctx,
				 struct ts_result *result, struct ts_error *err);
};

extern const struct ts_analysis
	*const ts_analyses[]; /* those of list.h, in its order; NULL at the end */

/* The kinds of rows that a host's slices are shared among; their shares are the whole (share.c). */
enum ts_share {
	TS_SHARE_TIME,	   /* time classes */
	TS_SHARE_FINDINGS, /* ops of findings */
	TS_SHARE_PADDING,
	TS_SHARE_TIMES, /* findings about a time */
	TS_SHARE_COMPILATIONS,
	TS_SHARE_SPARSECORES,
	TS_NR_SHARES
};

/* Slices that each of NR_ROWS rows of this kind, all of one host, may have. What a host has does not
 * depend on the others. */
size_t ts_overlay_share(const struct ts_context *ctx, enum ts_share share, size_t nr_rows);
/* The same for the row of DEVICE, where each device of its host has one. */
size_t ts_overlay_device_share(const struct ts_context *ctx, enum ts_share share, uint32_t device);

#endif
