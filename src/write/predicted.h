/* SPDX-License-Identifier: MIT */
/*
 * A predicted profile: what was predicted of one step of compiled modules, as the XSpace that a profiler would have written of
 * one core, so that whatever reads profiles reads it. Lines: Steps, XLA Modules, XLA Ops, Async XLA Ops.
 *
 * It says that nothing ran: the device's plane has the stat TS_PREDICTED_STAT, and so has the name of each step and the
 * warning that viewers show.
 */
#ifndef TS_WRITE_PREDICTED_H
#define TS_WRITE_PREDICTED_H

#include "base/buf.h"
#include "model/schedule.h"

struct ts_predicted_module {
	const struct ts_hlo_module *module; /* with .proto */
	const struct ts_schedule *schedule; /* with events */
	int64_t low_ps, high_ps;	    /* of an execution; the latter -1: there is no bound */
	/* One an instruction: what its time is from, and why it is unknown; NULL: nothing is said. */
	const char *const *basis;
};

struct ts_predicted {
	const struct ts_predicted_module *modules; /* of the step, one after the other */
	size_t nr_modules;
	const char *device_kind; /* device_type_string: TPU v6 Lite */
	struct ts_bytes topology;
	struct ts_bytes libtpu; /* the version that compiled them; empty: it is unknown */
	int64_t nr_cores;	/* of it */
	double peak_flops_per_s, hbm_bytes_per_s;
	bool has_megacore;
	const char *version; /* of the program */
};

/* Appends to OUT; without memory OUT->failed is set. */
void ts_predicted_write(struct ts_buf *out, const struct ts_predicted *predicted);

#endif
