/*
 * An analysis: a constant struct in its own file and a line in list.h. It sees every block of
 * events once, keeps a small state per line, and says what it found in a result.
 *
 * States: the runner makes one per line (zeroed, .state_size bytes) on the thread that decodes the
 * line, feeds it, and merges it into one per analysis in the order of the lines, whatever order
 * they finished in; so results do not depend on threads. close() sees the sum. An analysis
 * without .block only has close(): it works from the profile and from other results.
 */
#ifndef TS_ANALYSIS_ANALYSIS_H
#define TS_ANALYSIS_ANALYSIS_H

#include "hw/chips.h"
#include "model/merged.h"
#include "model/outline.h"
#include "result/result.h"

/* What all analyses may read. Const during the passes; results grow between closes. */
struct ts_context {
	const struct ts_profile *profile;
	const struct ts_outline *outline; /* steps, host activity */
	const struct ts_rates *rates;	  /* one a device of the profile */
	const struct ts_settings *settings;
	struct ts_results *results; /* of the analyses closed before */
	size_t overlay_budget;	    /* slices a host may have in all; 0: no tracks are wanted */
	size_t tree_rows;	    /* that a tree of call paths may have in a result */
	bool merged; /* whether TS_PASS_MERGED shows events: else its analyses are closed with nothing */
	bool no_python; /* what Python's tracer saw is no activity of a host (timeline) */
	const struct ts_rates *chip; /* of modules without a run, when the user named it; or NULL */
};

enum ts_passes {
	TS_PASS_DEVICES = 1, /* the device lines */
	TS_PASS_MERGED,	 /* all lines of a host as one (model/merged.h); see struct ts_context */
	TS_PASS_HOSTS,	 /* host threads again, once it is known what to ask them for */
	TS_PASS_OVERLAY, /* the device lines again, where an overlay is wanted */
};

struct ts_analysis {
	const char *name, *title;
	bool top_level;	       /* its result's fields stand in the report itself */
	bool draws_only;       /* its result is tracks for the viewers, not a view */
	const char *needs[20]; /* closed before this one */
	int pass;	       /* of enum ts_passes: each begins when the one before was closed */
	unsigned columns;      /* enum ts_columns */
	size_t state_size;
	/* False: not interested in this line. LINE is an index into the profile's lines. */
	bool (*wants)(const struct ts_context *ctx, const struct ts_line *line);
	enum ts_status (*open)(void *state, const struct ts_context *ctx,
			       const struct ts_line *line, struct ts_error *err);
	enum ts_status (*block)(void *state, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err);
	/* In TS_PASS_MERGED instead of .block: a state is a host's then, LINE of .open its first one
	 * that is wanted, and states are merged in the order of hosts. */
	enum ts_status (*merged)(void *state, const struct ts_context *ctx,
				 const struct ts_merged *merged, struct ts_error *err);
	/* INTO is zeroed before the first merge. FROM is released by the runner afterwards. */
	enum ts_status (*merge)(void *into, void *from, const struct ts_context *ctx,
				struct ts_error *err);
	enum ts_status (*close)(void *state, const struct ts_context *ctx, struct ts_result *result,
				struct ts_error *err);
	void (*release)(void *state); /* frees what open/block/merge took */
};

extern const struct ts_analysis *const ts_analyses[]; /* NULL at the end */

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

/* Slices that each of NR_ROWS rows of this kind may have. */
size_t ts_overlay_share(const struct ts_context *ctx, enum ts_share share, size_t nr_rows);

#endif
