/* SPDX-License-Identifier: MIT */
/*
 * A file in its place in a run: found by what the run's outline says of its files, and read once more, so that
 * its ops, lines and devices have the numbers that they have in the run. For the maps of pod/map.h.
 */
#ifndef TS_POD_PLACED_H
#define TS_POD_PLACED_H

#include "pod/mapped_run.h"

struct ts_placed {
	/* The caller's: */
	struct ts_run *run;
	const struct ts_session *session; /* of the file alone */
	struct ts_mapped_run mapped;	  /* opened, and released by the caller */
	const char *outline;		  /* the path that it is of */
	size_t nr_threads;
	/* Of ts_placed_find(): */
	uint32_t file; /* its number in the run */
	uint32_t first_host, nr_hosts;
};

/* TS_FORMAT: it is not a file of the run. */
enum ts_status ts_placed_find(struct ts_placed *placed, struct ts_error *err);
/* Of a file that was found and has hosts: fills the profile's lines, and loads the outline with the steps of these hosts. */
enum ts_status ts_placed_read(struct ts_placed *placed, struct ts_error *err);
/* Of what is made of the file. */
struct ts_parcel_head ts_placed_head(const struct ts_placed *placed);

/* The bytes of a file that tell it from others: an annotation does not make another file of it. */
struct ts_bytes ts_placed_native(struct ts_bytes bytes);

#endif
