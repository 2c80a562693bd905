/* SPDX-License-Identifier: MIT */
/*
 * A parcel: the file that one step of a mapped run hands to the next one (pod/map.h).
 *
 * Protobuf's wire format: 1 the word of the kind; 2 a head; 3 for each section a message, 1 its length, 2 a
 * hash of it and 3 its bytes as a gzip member, or 4 as they are; and 4, eight bytes at the end, a hash of all before them.
 * So a file that was cut or changed is known before anything in it is believed. A parcel's id follows from what
 * is inside, however it was packed: processors of different kinds pack differently.
 *
 * A hash tells chance from intent as little as any checksum: what is inside is read as carefully as
 * any other input.
 */
#ifndef TS_POD_PARCEL_H
#define TS_POD_PARCEL_H

#include "base/arena.h"
#include "base/buf.h"

enum ts_parcel_kind {
	TS_PARCEL_OUTLINE, /* of one file: what map outline writes */
	TS_PARCEL_RUN,	   /* of all of them: reduce outline */
	TS_PARCEL_STATES,  /* of one file: map pass */
	TS_PARCEL_RESULTS, /* of the run: reduce report --results */
	TS_PARCEL_TRACKS,  /* of one file: map overlay --tracks */
	TS_PARCEL_TRACE,   /* of one file: map overlay --trace */
	TS_PARCEL_PAGE,	   /* of one file: map tracks */
	TS_NR_PARCEL_KINDS
};

struct ts_parcel_head {
	struct ts_bytes version; /* of the program that wrote it */
	uint64_t run;  /* of all but outlines: the id of the run's outline that they belong to */
	uint32_t file; /* of states and tracks: which of the run's files */
};

struct ts_parcel {
	enum ts_parcel_kind kind;
	struct ts_parcel_head head;
	uint64_t id; /* the same for the same kind, head and sections */
	struct ts_bytes bytes;
	size_t nr; /* sections */
};

/* Appends to OUT; .version is ours. Check OUT->failed at the end. */
void ts_parcel_begin(struct ts_buf *out, enum ts_parcel_kind kind,
		     const struct ts_parcel_head *head);
enum ts_status ts_parcel_put(struct ts_buf *out, struct ts_bytes section, struct ts_error *err);
/* As it is: it is packed already. */
void ts_parcel_put_plain(struct ts_buf *out, struct ts_bytes section);
void ts_parcel_end(struct ts_buf *out);

/* Do these bytes begin as this kind? */
bool ts_parcel_is(struct ts_bytes bytes, enum ts_parcel_kind kind);
/* PARCEL is views into BYTES. TS_FORMAT: it is not whole, or not of this kind, or of another version. */
enum ts_status ts_parcel_open(struct ts_parcel *parcel, struct ts_bytes bytes,
			      enum ts_parcel_kind kind, struct ts_error *err);
/* Section NUMBER, which was put as it is: a view. TS_FORMAT: there is none. */
enum ts_status ts_parcel_plain(const struct ts_parcel *parcel, size_t number,
			       struct ts_bytes *section, struct ts_error *err);
/* Section NUMBER, appended to OUT, which is empty. TS_FORMAT: there is none, or it is damaged. */
enum ts_status ts_parcel_unpack(const struct ts_parcel *parcel, size_t number, struct ts_buf *out,
				struct ts_error *err);

#endif
