/* SPDX-License-Identifier: MIT */
/*
 * Which steps of different devices are one step of the run: those of one number where steps are marked and
 * the numbers of every device rise, as captures of several hosts begin in different steps. Inferred
 * ones by time: a device's first step is the one of the device with most steps that most of its own
 * steps fall together with; on another host, whose clock may be off by more than a step, the one under which
 * steps have the same lengths, where these tell. Else the first of each device, the second, and so on.
 *
 * It is found of all devices once, and then said of each one: so the steps of a run need not be in memory together
 * (struct ts_steps_bringer).
 */
#ifndef TS_MODEL_STEP_PAIRING_H
#define TS_MODEL_STEP_PAIRING_H

#include "model/steps.h"

/* Zeroed at first: by place. */
struct ts_step_pairing {
	uint64_t *numbers; /* by number: of each row, rising; else NULL */
	size_t nr_numbers;
	uint32_t *first_rows; /* by time: of each device; else NULL */
};

/* Asks for the steps of one device after the other. Sets .nr_steps. */
enum ts_status ts_step_pairing_find(struct ts_step_pairing *pairing, struct ts_steps *steps,
				    struct ts_error *err);
/* Sets the rows of a device, whose steps are in memory; inferred steps are numbered by them. */
enum ts_status ts_step_pairing_apply(const struct ts_step_pairing *pairing, struct ts_steps *steps,
				     uint32_t device, struct ts_error *err);
void ts_step_pairing_release(struct ts_step_pairing *pairing);

/* Both, of steps that are all in memory. */
enum ts_status ts_steps_pair(struct ts_steps *steps, struct ts_error *err);

#endif
