/* SPDX-License-Identifier: MIT */
/*
 * The steps of the run, as the outline alone shows them: how long each one takes, which of them are slow,
 * and which ones reports list by themselves. Known before the first event of an op is read, and the same
 * whatever threads and hosts read them: so what is kept of a step that is not listed is its sums.
 *
 * A step is listed when it is one of the longest, or one of those that stand at equal distances over the
 * run; the slow steps that are explained (TS_MAX_SLOW) are listed in any case.
 */
#ifndef TS_ANALYSIS_KIT_RUN_STEPS_H
#define TS_ANALYSIS_KIT_RUN_STEPS_H

#include "model/steps.h"

#define TS_USUAL_STEPS 4096 /* that reports list */
#define TS_MAX_SLOW    64   /* of the slow steps: the longest, which are explained */

static inline int64_t ts_run_step_duration(const struct ts_run_step *step)
{
	return step->total_ps / TS_MAX(step->cores, 1);
}

/* Adds a device's step, which does WORK, to what the run has of it. */
void ts_run_step_add(struct ts_run_step *sum, const struct ts_step *step, uint32_t work);

struct ts_slow_row {
	uint32_t row;
	int64_t duration_ps, excess_ps; /* over the median */
	int64_t period;			/* it comes every so many steps; -1: it does not */
};

struct ts_settings;
struct ts_run_steps {
	size_t nr_rows, nr_ran;	  /* of the outline; those of them that a device has */
	int64_t *durations_ps;	  /* of those that ran, in the order of time */
	uint32_t *kept;		  /* rows that are listed, rising; NULL: all are */
	size_t nr_kept;		  /* of them; where all are, nr_rows */
	struct ts_slow_row *slow; /* the longest first */
	size_t nr_slow, nr_all_slow;
	int64_t period;		   /* that most of them keep; -1: none */
	int64_t median_ps, mad_ps; /* 0: nothing ran */
};

/* MAX 0: TS_USUAL_STEPS; SIZE_MAX: all. The caller releases what is found, also when it fails. */
enum ts_status ts_run_steps_find(const struct ts_steps *steps, const struct ts_settings *settings,
				 size_t max, struct ts_run_steps *found, struct ts_error *err);
void ts_run_steps_release(struct ts_run_steps *steps);

/* The rows of any numbers that are listed, rising: at most MAX of NR, the largest ones and others at equal
 * distances; NULL: no memory. *NR_KEPT says how many. */
uint32_t *ts_choose_rows(const int64_t *numbers, size_t nr, size_t max, size_t *nr_kept);

/* Where a row stands among those that are kept; the number of them: it is one of the others. Without
 * STEPS (NULL) all are kept. */
size_t ts_run_steps_at(const struct ts_run_steps *steps, uint32_t row);
/* How many rows of a run with steps OF are listed. */
static inline size_t ts_run_steps_nr(const struct ts_run_steps *steps, const struct ts_steps *of)
{
	return steps ? steps->nr_kept : of->nr_steps;
}
static inline size_t ts_run_steps_nr_others(const struct ts_run_steps *steps)
{
	return steps && steps->kept ? steps->nr_ran - steps->nr_kept : 0;
}
/* Likewise among the slow ones; TS_NONE: it is not one. */
uint32_t ts_run_steps_slow_at(const struct ts_run_steps *steps, uint32_t row);

/* One row after the other. */
struct ts_steps_walk {
	const struct ts_steps *steps;
	size_t *at; /* of each device: its next step */
	uint32_t row;
};
enum ts_status ts_steps_walk_open(struct ts_steps_walk *walk, const struct ts_steps *steps,
				  struct ts_error *err);
/* False: there are no more rows. */
bool ts_steps_walk_next(struct ts_steps_walk *walk, struct ts_run_step *step);
void ts_steps_walk_close(struct ts_steps_walk *walk);

/* Steps by what a server did in them, and the tokens of all of them as far as they are said. */
struct ts_phases {
	size_t nr[TS_DOES_MIXED + 1], nr_known;
	uint64_t prefill_tokens, decode_tokens;
};
/* "prefill", "decode" or "mixed"; NULL: it is none of them. */
const char *ts_step_phase_name(size_t phase);
enum ts_status ts_steps_count_phases(const struct ts_steps *steps, struct ts_phases *phases,
				     struct ts_error *err);

#endif
