/* SPDX-License-Identifier: MIT */
/*
 * Trimming: a copy of a profile with a part of its events, still what it was to every reader.
 *
 * What stays is chosen by steps, by time since the run's start, by host and by plane; all that is
 * given must hold. Steps are cut on each device by that device's own steps, on everything else (host
 * threads) from the first device's start to the last one's end. An event stays whole if any part of
 * it lies in the cut; one without length if it begins there. Times are not moved.
 *
 * What does not belong to a moment stays: the planes' own statements, the profiler's, the task's. Of
 * metadata stays what the events that stay need: in an xplane event and stat metadata that something
 * refers to and the HLO of programs of which an op is left (other entries of /host:metadata all
 * stay); in a trace the names of processes and threads with events. A pair of a beginning and an end
 * (B and E, async and flow events) stays or goes together. An earlier annotation goes.
 *
 * The plan looks into the profile, which must live longer.
 */
#ifndef TS_COPY_TRIM_H
#define TS_COPY_TRIM_H

#include "base/spans.h"
#include "copy/out.h"
#include "model/steps.h"

struct ts_trim_choice {
	bool has_steps;
	uint64_t first_step, last_step; /* as the report numbers them, both inclusive */
	int64_t from_ps, to_ps;		/* INT64_MIN, INT64_MAX: open */
	const char *host, *plane;	/* patterns with * and ?; NULL: all */
};

struct ts_trim {
	const struct ts_profile *profile;
	struct ts_span *spans; /* of each plane, and behind the last: of what is on none */
	bool *planes;	       /* which planes stay, likewise */
	bool *hosts;
	bool exact; /* of a trace: what strict readers of JSON refuse stays as it is. The caller's */
};

/* What became of a file's events. */
struct ts_trim_report {
	uint64_t nr_kept, nr_dropped;
	uint64_t nr_left_out;	/* could not be read, or are not in pairs */
	uint64_t nr_mended;	/* places that strict readers of JSON refuse (codec/strict.h) */
	struct ts_error damage; /* where the file stops making sense; else empty */
};

/* TS_USAGE when the wanted steps, host or plane are not there. */
enum ts_status ts_trim_plan(struct ts_trim *trim, const struct ts_profile *profile,
			    const struct ts_steps *steps, const struct ts_trim_choice *choice,
			    struct ts_error *err);
void ts_trim_release(struct ts_trim *trim);

/* Does an event from START on, so long, stay on plane PLANE (nr_planes: on none)? */
bool ts_trim_keeps(const struct ts_trim *trim, uint32_t plane, int64_t start_ps, int64_t dur_ps);

/* The file of HOST, BYTES, without what does not stay. The report says of damage; a bad status is
 * only memory and disk. MAPPED: pages of BYTES may be given back. */
enum ts_status ts_trim_xplane(const struct ts_trim *trim, uint32_t host, struct ts_bytes bytes,
			      struct ts_copy_out *out, struct ts_trim_report *report,
			      struct ts_error *err);
enum ts_status ts_trim_trace(const struct ts_trim *trim, uint32_t host, struct ts_bytes bytes,
			     bool mapped, struct ts_copy_out *out, struct ts_trim_report *report,
			     struct ts_error *err);

#endif
