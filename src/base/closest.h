/* SPDX-License-Identifier: MIT */
/*
 * Finds, among many names, the one that a mistyped word probably meant: it needs the fewest letters
 * put in, left out or changed.
 *
 *	struct ts_closest closest = ts_closest_to(word);
 *	for each name: ts_closest_try(&closest, name);
 *	if (closest.name[0]) "did you mean %s?"
 */
#ifndef TS_BASE_CLOSEST_H
#define TS_BASE_CLOSEST_H

#include "base/bytes.h"

#define TS_CLOSEST_MAX 64 /* longer words and names are not compared */

struct ts_closest {
	struct ts_bytes word;
	char name[TS_CLOSEST_MAX]; /* "": not one of the names is close */
	size_t nr_edits;
};

struct ts_closest ts_closest_to(struct ts_bytes word); /* looks into WORD */
void ts_closest_try(struct ts_closest *closest, const char *name);

#endif
