/* SPDX-License-Identifier: MIT */
/*
 * What the loop of samples (live.c) and the loop of sessions (sessions.c) share. inside.c has the
 * functions; only files of src/live include this header.
 */
#ifndef TS_LIVE_INSIDE_H
#define TS_LIVE_INSIDE_H

#include "live/overhead.h"
#include "live/live.h"
#include "live/programs.h"
#include "live/stall.h"
#include "live/told.h"

struct ts_live {
	struct ts_live_options options;
	struct ts_sampler *sampler; /* NULL: a folder is watched */
	struct ts_watch *watch;	    /* NULL: services are */
	struct ts_feed feed;
	struct ts_ring ring;
	struct ts_overhead overhead;
	struct ts_alerts alerts;
	struct ts_programs programs;
	struct ts_stall stall;
	struct ts_told told;
	char capture_rule[64];	/* of the alert that wants a capture; "": none does */
	int64_t captured_ms;	/* when the last one was wanted */
	struct ts_buf captured; /* its folder */
	struct ts_live_sample sample;
	struct ts_live_session session; /* the session that the next event is about */
	/* restarts and first answers until now: when it changes, other processes answer */
	uint64_t nr_joined;
	bool is_fresh; /* the last sample has the modules of now, of each host */
	int64_t start_ms;
	bool has_failed;	/* .fail_on came true */
	enum ts_status emitted; /* of telling alerts */
};

/* When the watch is to end; INT64_MAX: never. */
int64_t ts_live_end_ms(const struct ts_live *live);
/* A ts_alert_fn: gives an alert of the present sample or session to the listeners. */
void ts_live_emit_alert(void *live, const struct ts_alert *alert);
/* The share of the time in which a host compiled, in percent; NaN where it is unknown.
 * UNKNOWN_PS is taken as the length of a run that does not say how long it is. */
double ts_live_compiling_pct(const struct ts_run *run, double unknown_ps);

/* The most that the devices' memory held in the run, or what the job says that it holds now; NaN. */
double ts_live_memory_bytes(const struct ts_run *run, const struct ts_told *told);

/* sessions.c */
enum ts_status ts_live_sessions(struct ts_live *live, struct ts_error *err);

#endif
