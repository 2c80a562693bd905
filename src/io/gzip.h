/* SPDX-License-Identifier: MIT */
/*
 * gzip (RFC 1952), both ways.
 *
 * Writing: ts_gzip_member() appends one complete member; members one after the other are again a
 * gzip file, so blocks can be packed on all threads and put down in order. The same input gives the
 * same bytes (no time, no name inside). One struct ts_gzip per thread: it keeps the memory that
 * packing needs (a tenth of a MiB) from member to member.
 *
 * Reading: ts_gunzip_read() hands out the text of all members in turn, in a fixed amount of memory.
 * Zeros behind the last member (tape padding) are accepted, any other bytes there are an error.
 */
#ifndef TS_IO_GZIP_H
#define TS_IO_GZIP_H

#include "base/buf.h"

struct z_stream_s;
struct ts_gzip_state;

struct ts_gzip {
	struct ts_gzip_state *state;
};

#define TS_GZIP_INIT { NULL }

enum ts_status ts_gzip_init(struct ts_gzip *gz, struct ts_error *err);
/* COMMENT (may be NULL) goes into the member's header: Latin-1, for programs that look there. */
enum ts_status ts_gzip_member(struct ts_gzip *gz, struct ts_buf *out, struct ts_bytes text,
			      const char *comment, struct ts_error *err);
void ts_gzip_release(struct ts_gzip *gz);

bool ts_gzip_probe(struct ts_bytes bytes); /* does a gzip member start here? */
/* The comment of the member that starts here: a view without its NUL; .p NULL when it has none. */
struct ts_bytes ts_gzip_comment(struct ts_bytes bytes);

struct ts_gunzip {
	struct z_stream_s *z;
	struct ts_bytes bytes;
	size_t at;	     /* next packed byte */
	uint64_t nr_out;     /* unpacked so far */
	uint64_t nr_members; /* finished so far */
	bool inside;	     /* a member is open */
};

#define TS_GUNZIP_INIT { NULL, { NULL, 0 }, 0, 0, 0, false }

/* BYTES must live as long as the reader. */
enum ts_status ts_gunzip_open(struct ts_gunzip *gz, struct ts_bytes bytes, struct ts_error *err);
/*
 * Up to N bytes to P, *GOT says how many; 0 is the end. On damage *GOT holds what still came out
 * before it, the status is TS_FORMAT and the story names the packed byte. TS_LIMIT: a bomb.
 */
enum ts_status ts_gunzip_read(struct ts_gunzip *gz, uint8_t *p, size_t n, size_t *got,
			      struct ts_error *err);
void ts_gunzip_release(struct ts_gunzip *gz); /* harmless when not open, or twice */

/*
 * Appends the first MAX unpacked bytes (fewer when there are fewer) to OUT, to see what is inside.
 * With a bad status OUT has what came out before the damage.
 */
enum ts_status ts_gunzip_head(struct ts_bytes bytes, struct ts_buf *out, size_t max,
			      struct ts_error *err);

#endif
