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
	uint32_t row;	 /* which step of the run it is: the same on all devices (ts_steps_pair) */
};

struct ts_device_steps {
	struct ts_step *items; /* in the order of time, not overlapping */
	size_t nr, cap;
};

struct ts_steps {
	enum ts_steps_source source;
	char made_of[128];		 /* inferred: the modules of a step; else empty */
	struct ts_device_steps *devices; /* one a device of the profile */
	size_t nr_devices;
	size_t nr_steps; /* of the run: one more than the highest row */
};

void ts_steps_release(struct ts_steps *steps);

/* Adds the next step; of two that overlap the later one begins a new step. False: no memory. */
bool ts_device_steps_add(struct ts_device_steps *steps, int64_t start_ps, int64_t end_ps,
			 uint64_t number);

/*
 * Says which steps of different devices are one: those of one number where steps are marked and the
 * numbers of every device rise, as captures of several hosts begin in different steps. Inferred
 * ones by time: a device's first step is the one of the device with most steps that most of its own
 * steps fall together with. Else the first of each device, the second, and so on. Sets .row and
 * nr_steps. False: no memory.
 */
bool ts_steps_pair(struct ts_steps *steps);

/* The step that T falls into, or TS_NONE; *HINT (0 at first) makes a walk in time cheap. */
uint32_t ts_steps_at(const struct ts_device_steps *steps, int64_t t, size_t *hint);

#endif
