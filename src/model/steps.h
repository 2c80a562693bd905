/* SPDX-License-Identifier: MIT */
/*
 * Steps of a run: where each begins and ends on each device, found before the ops are read.
 *
 * From the profile's step markers (line Steps) when it has them; else from the modules that repeat
 * (model/step_pattern.h): each of their rounds is a step that lasts until the next one starts (the
 * last: until its end). Without either, a device has no steps.
 */
#ifndef TS_MODEL_STEPS_H
#define TS_MODEL_STEPS_H

#include "model/profile.h"

enum ts_steps_source { TS_STEPS_NONE, TS_STEPS_MARKED, TS_STEPS_INFERRED };

struct ts_step {
	int64_t start_ps, end_ps;
	uint64_t number; /* as the profile counts them; inferred ones from 0 */
};

/* What the step of a server works on. */
enum ts_step_phase { TS_DOES_ANYTHING, TS_DOES_PREFILL, TS_DOES_DECODE, TS_DOES_MIXED };
#define TS_TOKENS_UNKNOWN UINT32_MAX

/* What steps do, where it is known; many do the same. */
struct ts_step_work {
	uint32_t kind; /* steps of different kinds are not compared */
	uint32_t phase, prefill_tokens, decode_tokens;
};
#define TS_NO_WORK   0	  /* else the place among them, from 1 on */
#define TS_WORKS_MAX 4096 /* of a run; of what is done beyond it nothing is known */

struct ts_device_steps {
	struct ts_step *items; /* in the order of time, not overlapping */
	size_t nr, cap;
	uint32_t host;		    /* whose clock they are on */
	uint32_t first_row;	    /* that of the first one, and of each the next; but where ... */
	uint32_t *rows;		    /* ... it misses some: of each one its row; else NULL */
	size_t nr_rows;		    /* .nr, or 0 */
	uint32_t work;		    /* what each of them does, but where they differ ... */
	uint32_t *works;	    /* ... of each one what it does; else NULL */
	size_t nr_works, cap_works; /* .nr, or 0 */
	/* Where they are not in memory: how many there are, and their hull. */
	size_t nr_elsewhere;
	int64_t from_ps, until_ps;
};

/* A step over the devices that have it. */
struct ts_run_step {
	uint64_t number;
	int64_t start_ps, total_ps, cores; /* core time; .cores 0: no device has it */
	uint32_t work;			   /* as the first device that has it says */
};

/* Of a run that is put together from files: who brings a host's steps, and forgets those of the host before. Where
 * that fails the host has none, and the one who brings them knows why. For one thread. */
struct ts_steps_bringer {
	void *ctx;
	void (*bring)(void *ctx, uint32_t host);
	uint32_t host; /* whose steps are there; TS_NONE: nobody's */
};

struct ts_steps {
	enum ts_steps_source source;
	char made_of[128];	    /* inferred: the modules of a step; else empty */
	struct ts_step_work *works; /* what steps do */
	size_t nr_works, cap_works;
	bool is_range; /* they are ranges of a host's thread: .made_of is the name of these */
	struct ts_device_steps *devices; /* one a device of the profile */
	size_t nr_devices;
	size_t nr_steps;	  /* of the run: one more than the highest row */
	struct ts_run_step *rows; /* of it; NULL: all devices' steps are in memory, and say it */
	size_t nr_rows;		  /* nr_steps; NULL: 0 */
	struct ts_steps_bringer *bringer; /* NULL: .devices have all that is asked for */
};

/* The steps of one device, until those of another host are asked for. */
static inline const struct ts_device_steps *ts_steps_of(const struct ts_steps *steps,
							uint32_t device)
{
	const struct ts_device_steps *of = &steps->devices[device];

	if (steps->bringer && steps->bringer->host != of->host)
		steps->bringer->bring(steps->bringer->ctx, of->host);
	return of;
}

/* Which step of the run a device's step is: the same on all devices (model/step_pairing.h). */
static inline uint32_t ts_device_steps_row(const struct ts_device_steps *steps, size_t at)
{
	return steps->nr_rows > 0 ? steps->rows[at] : steps->first_row + (uint32_t)at;
}

/* TS_NO_WORK: it is not known. */
static inline uint32_t ts_device_steps_work(const struct ts_device_steps *steps, size_t at)
{
	return steps->nr_works > 0 ? steps->works[at] : steps->work;
}

/* What a step does, by the place that it has for it; of TS_NO_WORK nothing is known. */
static inline struct ts_step_work ts_steps_work(const struct ts_steps *steps, uint32_t work)
{
	return work == TS_NO_WORK || work > steps->nr_works ? (struct ts_step_work){ .kind = 0 }
							    : steps->works[work - 1];
}

/* How many a device has, in memory or not. */
static inline size_t ts_device_steps_nr(const struct ts_device_steps *steps)
{
	return steps->nr > 0 ? steps->nr : steps->nr_elsewhere;
}
/* From the first one's start to the last one's end; 0 and 0: there are none. */
void ts_device_steps_hull(const struct ts_device_steps *steps, int64_t *from_ps, int64_t *until_ps);

void ts_device_steps_release(struct ts_device_steps *steps);
void ts_steps_release(struct ts_steps *steps);

/* Room for exactly NR, which spares memory where it is known. */
enum ts_status ts_device_steps_reserve(struct ts_device_steps *steps, size_t nr,
				       struct ts_error *err);
/* Adds the next step; of two that overlap the later one begins a new step. */
enum ts_status ts_device_steps_add(struct ts_device_steps *steps, int64_t start_ps, int64_t end_ps,
				   uint64_t number, struct ts_error *err);

/* Notes what the last step of DEVICE does; works that are alike have one place in STEPS. */
enum ts_status ts_steps_note_work(struct ts_steps *steps, struct ts_device_steps *device,
				  const struct ts_step_work *work, struct ts_error *err);

/* The step that T falls into, or TS_NONE; *HINT (0 at first) makes a walk in time cheap. */
uint32_t ts_steps_at(const struct ts_device_steps *steps, int64_t t, size_t *hint);
/* How far that answer holds, with the HINT that it left: to the end of the step AT, or the start of the next one. */
static inline int64_t ts_steps_until(const struct ts_device_steps *steps, uint32_t at, size_t hint)
{
	if (hint >= steps->nr)
		return INT64_MAX;
	return at == TS_NONE ? steps->items[hint].start_ps : steps->items[hint].end_ps;
}
/* The number of the step of DEVICE that T falls into; -1: it is in none, or T is negative. */
int64_t ts_steps_number_at(const struct ts_steps *steps, uint32_t device, int64_t t);

#endif
