/* SPDX-License-Identifier: MIT */
/*
 * A picture of a timeline: its slices (picture/slices.h) as JSON.
 *
 *	{"from_ps", "to_ps", "classes": [...], "left_out", "lanes": [{"kind", "host", "device", "name", "slices": [start,
 *	 length, class, name, events, idle, ...]}], "names": [...], "modules": [...]}
 *
 * Slices are six numbers each: ps since from_ps, ps, an index into classes and one into names, how many events, and the
 * ps between them in which none was. A name of -1: several. Modules stand in the order of names: that of the op, null where it has none. Of lanes only those
 * with a slice are there; left_out says how many had one and no room.
 *
 * Findings are lanes too, in front, if they are given: {"kind": "findings", "host": null, "device", "name": its id, "slices"},
 * a lane for each that is somewhere in that time, and for each device of it. Their slices have the finding's title for a name.
 */
#ifndef TS_PICTURE_PICTURE_H
#define TS_PICTURE_PICTURE_H

#include "base/spans.h"
#include "codec/json.h"
#include "picture/slices.h"

/* Where a finding is on one device; TS_NONE: on no one device. */
struct ts_picture_finding {
	struct ts_bytes id, title;
	uint32_t device;
	struct ts_spans places;
};

struct ts_picture {
	const struct ts_profile *profile;
	const struct ts_slices_index *index; /* of it */
	struct ts_slices_wanted wanted;
	const struct ts_picture_finding *findings;
	size_t nr_findings;
	size_t max_slices; /* of all lanes; 0: as many as there are */
	size_t max_name;   /* bytes; 0: all of them */
};

enum ts_status ts_picture_put(struct ts_json *json, const struct ts_picture *picture,
			      struct ts_error *err);

/*
 * What a page has of a run whose events are elsewhere: pictures of the whole run, of the step that is nearest to
 * the mean and of the slowest one, each in a bounded number of slices, of each of its first TS_PICTURE_HOSTS hosts by itself.
 *
 *	[{"kind": "whole", "step": null, "host": "a", "picture": {...}}, {"kind": "mean", "step": 7, ...}, {"kind": "slowest", ...}]
 *
 * A lane has at least TS_PICTURE_LEAST slices, if it has as many; where there is no room for that, the last lanes are
 * left out. A host on which nothing ran has no pictures.
 */
#define TS_PICTURE_HOSTS 4
#define TS_PICTURE_WHOLE 3000 /* of all hosts together */
#define TS_PICTURE_STEP	 6000
#define TS_PICTURE_LEAST 64
#define TS_PICTURE_NAME	 256

struct ts_outline;
/* Of the hosts from FIRST on, NR of them; OUTLINE has the steps of their devices. */
enum ts_status ts_picture_steps(struct ts_buf *out, const struct ts_profile *profile,
				const struct ts_outline *outline, uint32_t first, uint32_t nr,
				size_t nr_threads, struct ts_error *err);
/* Puts LIST behind what is in ALL, as if both had been made at once. TS_FORMAT: it is not such a list. */
enum ts_status ts_picture_join(struct ts_buf *all, struct ts_bytes list, struct ts_error *err);

#endif
