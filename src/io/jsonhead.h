/* SPDX-License-Identifier: MIT */
/*
 * The members of the outermost object of a JSON text of which only the head is at hand: to know a
 * format by its keys, which texts inside cannot pretend to be.
 *
 *	struct ts_jsonhead members = ts_jsonhead_of(head);
 *
 *	while (ts_jsonhead_next(&members))
 *		if (ts_bytes_is(members.key, "schema"))
 *			...
 */
#ifndef TS_IO_JSONHEAD_H
#define TS_IO_JSONHEAD_H

#include "base/bytes.h"

struct ts_jsonhead {
	struct ts_bytes rest;
	struct ts_bytes key;   /* as it stands, without its quotes */
	struct ts_bytes value; /* likewise, of a string; cut where the head ends */
};

/* HEAD without its byte-order mark and leading white space. */
struct ts_bytes ts_jsonhead_start(struct ts_bytes head);
/* Of a text that is not an object there are no members. */
struct ts_jsonhead ts_jsonhead_of(struct ts_bytes head);
bool ts_jsonhead_next(struct ts_jsonhead *members);
/* The value of KEY; empty where the head does not have it. */
struct ts_bytes ts_jsonhead_find(struct ts_bytes head, const char *key);

#endif
