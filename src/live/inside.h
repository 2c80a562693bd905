/*
 * What the loop of samples (live.c) and the loop of sessions (sessions.c) share. inside.c has the
 * functions; only files of src/live include this header.
 */
#ifndef TS_LIVE_INSIDE_H
#define TS_LIVE_INSIDE_H

#include "live/overhead.h"
#include "live/live.h"
#include "live/programs.h"

struct ts_live {
	struct ts_live_options options;
	struct ts_sampler *sampler; /* NULL: a folder is watched */
	struct ts_watch *watch;	    /* NULL: services are */
	struct ts_feed feed;
	struct ts_ring ring;
	struct ts_overhead overhead;
	struct ts_alerts alerts;
	struct ts_programs programs;
	struct ts_live_sample sample;
	struct ts_live_session session; /* the last one told of */
	uint64_t nr_joined; /* restarts and first answers so far: who is in the samples */
	int64_t start_ms;
	bool has_failed, failed; /* .fail_on; memory was out */
};

/* When watching is to end; INT64_MAX: never. */
int64_t ts_live_end_ms(const struct ts_live *live);
/* A ts_alert_fn: tells an alert of LIVE's present sample or session. */
void ts_live_emit_alert(void *live, const struct ts_alert *alert);
/* The share of the time in which some host compiled; NaN. UNKNOWN_PS: where the run does not say
 * how long it is. */
double ts_live_compiling_pct(const struct ts_run *run, double unknown_ps);

/* sessions.c */
enum ts_status ts_live_sessions(struct ts_live *live, struct ts_error *err);

#endif
