/* SPDX-License-Identifier: MIT */
/*
 * What a line of steps, of modules or of a GPU's kernels marks: each mark packed, by its differences to the one before
 * it, in some 10 bytes. They grow with the executions of modules, not with ops.
 */
#ifndef TS_RUN_OUTLINE_MARKS_H
#define TS_RUN_OUTLINE_MARKS_H

#include "base/buf.h"
#include "base/spans.h"
#include "model/block.h"

struct outline_mark {
	int64_t start_ps, end_ps;
	uint64_t number;
	uint32_t op; /* of a GPU's execution: its first kernel */
};

/* What one line gave; zeroed at first. */
struct outline_marks {
	struct ts_buf packed; /* all but the last one */
	struct outline_mark before, last;
	size_t nr;
	int64_t by_ps;	   /* how far they lie behind what is packed (ts_outline_marks_move()) */
	uint32_t *kernels; /* of a line of ops: how often each op ran; or NULL */
	size_t nr_kernels;
	bool is_wild;			 /* of a line of ops: its kernels do not show executions */
	const struct ts_spans *launches; /* of a thread: when it launched; the caller's, or NULL */
};

enum ts_status ts_outline_marks_block(struct outline_marks *marks, const struct ts_block *block,
				      struct ts_error *err);
/* An event of a host's thread, which may mark a step. */
enum ts_status ts_outline_marks_range(struct outline_marks *marks, const struct ts_block *block,
				      size_t i, struct ts_error *err);
enum ts_status ts_outline_marks_add(struct outline_marks *marks, const struct outline_mark *mark,
				    struct ts_error *err);
void ts_outline_marks_release(struct outline_marks *marks);

/* Moves all of them to a later clock, once. */
void ts_outline_marks_move(struct outline_marks *marks, int64_t by_ps);
/* Each op becomes the one that OPS has for it. */
enum ts_status ts_outline_marks_rename(struct outline_marks *marks, const uint32_t *ops,
				       struct ts_error *err);
/* By their starts. */
enum ts_status ts_outline_marks_sort(struct outline_marks *marks, struct ts_error *err);
/* All of them into ITEMS, which has room; and back, into marks that are empty. */
void ts_outline_marks_unpack(const struct outline_marks *marks, struct outline_mark *items);
enum ts_status ts_outline_marks_pack(struct outline_marks *marks, const struct outline_mark *items,
				     size_t nr, struct ts_error *err);

/* One after the other; .marks is the caller's, the rest zeroed. */
struct outline_marks_walk {
	const struct outline_marks *marks;
	size_t at, nr;		    /* bytes, marks */
	struct outline_mark packed; /* the last one, as it is packed */
};
/* False: there are no more. */
bool ts_outline_marks_next(struct outline_marks_walk *walk, struct outline_mark *mark);

#endif
