/* SPDX-License-Identifier: MIT */
/*
 * FlatBuffers, written onto a buffer from front to back: a table comes before what it names, whose place is filled in
 * when it is known. Only what metadata of Arrow needs: tables, texts, vectors.
 *
 *	size_t root = ts_flat_begin(out);
 *	size_t at[2];
 *	ts_flat_table(out, root, (struct ts_flat_field[]){ { 0, 2, 4 }, { 1, TS_FLAT_LINK } }, 2, at);
 *	ts_flat_text(out, at[1], name);
 *
 * The specification: https://flatbuffers.dev/internals/. A message begins on a multiple of 8 of the buffer, and so
 * numbers of 8 bytes are aligned in it. When memory runs out, the buffer's .failed is set: check it once at the end.
 */
#ifndef TS_CODEC_FLAT_H
#define TS_CODEC_FLAT_H

#include "base/buf.h"

#define TS_FLAT_FIELDS 8 /* of a table, at most */
#define TS_FLAT_LINK   0 /* as a size: four bytes, which name something that follows */

struct ts_flat_field {
	uint16_t slot; /* its number in the schema */
	uint8_t size;  /* 1, 2, 4, 8, or TS_FLAT_LINK */
	uint64_t value;
};

/* Aligns OUT and leaves room for the link to the root: its place. */
size_t ts_flat_begin(struct ts_buf *out);
/* A table, which the link at LINK names then. AT[i] (NULL: not asked for) becomes the place of field i. */
void ts_flat_table(struct ts_buf *out, size_t link, const struct ts_flat_field *fields, size_t nr,
		   size_t *at);
void ts_flat_text(struct ts_buf *out, size_t link, struct ts_bytes text);
/* A vector of NR items of SIZE bytes (TS_FLAT_LINK: links), zeroed: the place of the first. */
size_t ts_flat_vector(struct ts_buf *out, size_t link, size_t nr, size_t size);
/* SIZE bytes of VALUE at AT, little end first. */
void ts_flat_store(struct ts_buf *out, size_t at, uint64_t value, size_t size);
void ts_flat_align(struct ts_buf *out, size_t to); /* with zeros */

#endif
