/* SPDX-License-Identifier: MIT */
/*
 * An output: results in, bytes in a buffer out. A constant struct in its own file and a line in
 * list.h.
 */
#ifndef TS_WRITE_OUTPUT_H
#define TS_WRITE_OUTPUT_H

#include "base/drain.h"
#include "model/part.h"
#include "result/result.h"

#define TS_REPORT_SCHEMA "tpusight/1" /* of every JSON of a report */

/* How a report is wanted. The caller that fills it owns the strings. */
struct ts_report {
	const char *generator, *version; /* the program that says it */
	const char *view;		 /* one view (result/view.h) and not all; NULL: all */
	bool pretty;			 /* JSON for people: indented */
	bool brief;			 /* in at most .budget bytes (brief.h) */
	size_t budget;
	bool color;	/* text: with the terminal's colours */
	size_t width;	/* text: columns of the terminal; 0: no limit */
	bool is_screen; /* text: what fits one screen (screen.h), not all */
	bool is_row;	/* likewise, of a session among several: the least that tells them apart */
	struct ts_bytes
		units;	  /* text: what the run's chips call their matrix units; the writer's own */
	size_t top;	  /* text, CSV: rows of a table; 0: as many as the table says */
	const char *sort; /* text, CSV: the column that rows are in the order of; or NULL */
	const char *const *only; /* JSON: these results alone, NULL at the end; NULL: all */
	/* flame graphs */
	const char *tree,
		*weight;	 /* stacks, modules, scopes; cpu, device, count; NULL: what suits */
	int64_t min_duration_ps; /* shorter frames count as their parent's own */
	size_t max_depth;	 /* deeper ones likewise; 0: no limit */
	bool group_small; /* kernels of less than that each as one frame, below each parent */
	const struct ts_part *part; /* JSON: what of the run was analysed; NULL: all */
	size_t max_track_items;	    /* JSON, HTML: slices and points in all; 0: no tracks */
	struct ts_bytes
		pictures; /* HTML: of the timeline (picture/picture.h), as JSON; may be empty */
	/* JSON: takes what is written, in pieces; OUT has the rest then. NULL: OUT has all. */
	struct ts_drain *drain;
};

struct ts_output {
	const char *name;      /* as in --format */
	const char *extension; /* of a file of it, without the dot */
	/* Appends to OUT. TS_USAGE: the view is not there, or must be named. */
	enum ts_status (*emit)(struct ts_buf *out, const struct ts_results *results,
			       const struct ts_report *report, struct ts_error *err);
};

extern const struct ts_output *const ts_outputs[]; /* NULL at the end */
const struct ts_output *ts_output_find(const char *name);

#endif
