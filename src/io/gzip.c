/* SPDX-License-Identifier: MIT */
/*
 * gzip (RFC 1952), written by ISA-L (https://github.com/intel/isa-l, igzip_lib.h) and read by zlib
 * (https://zlib.net/manual.html). Both count in 32 bits: longer texts go in pieces.
 *
 * What is read comes from others: zlib is C that sanitizers look into, ISA-L is assembler.
 *
 * The same text must become the same bytes, on whatever thread. From level 1 on ISA-L gives other bytes, as
 * valid, when its state lies at another address (one member in some thousand); at level 0 it does not. That level has fixed
 * codes, so each member gets its own, made from its beginning.
 */
#include "io/gzip.h"

#include "base/check.h"
#include "base/limits.h"

#include <isa-l/igzip_lib.h>
#include <limits.h>
#define ZLIB_CONST
#include <zlib.h>

#define GZIP_WINDOW    (15 + 16) /* 32 KiB, with the gzip wrapper */
#define SAMPLE_BYTES   65536 /* codes by all of a member take longer, for a hundredth less */
#define OS_UNKNOWN     255	 /* the same bytes on every system */
#define HEADER_BYTES   10
#define FLAG_HCRC      0x02
#define FLAG_EXTRA     0x04
#define FLAG_NAME      0x08
#define FLAG_COMMENT   0x10
#define FLAGS_RESERVED 0xe0

struct ts_gzip_state {
	struct isal_zstream z;
	struct isal_huff_histogram sample;
	struct isal_hufftables codes;
};

static uInt gzip_piece(size_t n)
{
	return n > UINT_MAX ? UINT_MAX : (uInt)n;
}

enum ts_status ts_gzip_init(struct ts_gzip *gz, struct ts_error *err)
{
	TS_ASSERT(gz);
	gz->state = calloc(1, sizeof(*gz->state));
	return gz->state ? TS_OK : ts_fail_nomem(err);
}

static void put_header(struct ts_buf *out, const char *comment)
{
	uint8_t header[HEADER_BYTES] = { 0x1f, 0x8b, Z_DEFLATED };

	header[3] = comment ? FLAG_COMMENT : 0;
	header[HEADER_BYTES - 1] = OS_UNKNOWN;
	ts_buf_put(out, (struct ts_bytes){ header, sizeof(header) });
	if (comment)
		ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)comment, strlen(comment) + 1 });
}

/* For any text, the shortest for those like the beginning of this one. */
static bool make_codes(struct ts_gzip_state *state, struct ts_bytes text)
{
	memset(&state->sample, 0, sizeof(state->sample));
	isal_update_histogram((uint8_t *)(uintptr_t)text.p, /* it only reads it */
			      (int)TS_MIN(text.n, SAMPLE_BYTES), &state->sample);
	return isal_create_hufftables(&state->codes, &state->sample) == 0;
}

/*
 * One step, into room that depends on TEXT alone: how ISA-L goes on may depend on
 * how much there is.
 */
static enum ts_status deflate_some(struct isal_zstream *z, struct ts_buf *out, struct ts_bytes text,
				   struct ts_error *err)
{
	size_t left = text.n - (size_t)(z->next_in - text.p);
	/* Nearly always enough; there may be more steps. Codes alone take some hundred bytes. */
	uint32_t room = gzip_piece(text.n + text.n / 1024 + 1024);

	if (z->avail_in == 0) {
		z->avail_in = gzip_piece(left);
		z->end_of_stream = z->avail_in == left;
	}
	if (!ts_buf_room(out, room))
		return ts_fail_nomem(err);
	z->next_out = out->p + out->n;
	z->avail_out = room;
	if (isal_deflate(z) != COMP_OK)
		return ts_fail(err, TS_FORMAT, "the text cannot be packed");
	out->n += room - z->avail_out;
	return TS_OK;
}

enum ts_status ts_gzip_member(struct ts_gzip *gz, struct ts_buf *out, struct ts_bytes text,
			      const char *comment, struct ts_error *err)
{
	TS_ASSERT(gz && gz->state && out);
	TS_ASSERT(text.p || text.n == 0);
	struct isal_zstream *z = &gz->state->z;
	size_t start = out->n;
	enum ts_status st = TS_OK;

	put_header(out, comment);
	isal_deflate_init(z);
	if (text.n > 0 && make_codes(gz->state, text))
		z->hufftables = &gz->state->codes;
	z->gzip_flag = IGZIP_GZIP_NO_HDR; /* the check sum and the length it does write */
	z->next_in = (uint8_t *)(uintptr_t)text.p;
	while (st == TS_OK && z->internal_state.state != ZSTATE_END)
		st = deflate_some(z, out, text, err);
	if (st)
		out->n = start;
	return st;
}

void ts_gzip_release(struct ts_gzip *gz)
{
	TS_ASSERT(gz);
	free(gz->state);
	*gz = (struct ts_gzip)TS_GZIP_INIT;
}

bool ts_gzip_probe(struct ts_bytes bytes)
{
	TS_ASSERT(bytes.p || bytes.n == 0);
	return bytes.n >= HEADER_BYTES && bytes.p[0] == 0x1f && bytes.p[1] == 0x8b &&
	       bytes.p[2] == Z_DEFLATED && (bytes.p[3] & FLAGS_RESERVED) == 0;
}

/* Cuts a string with its NUL off the front of *REST; .p is NULL when a NUL is missing. */
static struct ts_bytes gzip_take_string(struct ts_bytes *rest)
{
	const uint8_t *end = rest->n ? memchr(rest->p, '\0', rest->n) : NULL;
	struct ts_bytes string = { NULL, 0 };

	if (!end)
		return string;
	string = (struct ts_bytes){ rest->p, (size_t)(end - rest->p) };
	*rest = ts_bytes_cut(*rest, string.n + 1, rest->n);
	return string;
}

struct ts_bytes ts_gzip_comment(struct ts_bytes bytes)
{
	const struct ts_bytes none = { NULL, 0 };
	struct ts_bytes rest = ts_bytes_cut(bytes, HEADER_BYTES, bytes.n);
	unsigned flags;

	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!ts_gzip_probe(bytes) || !(bytes.p[3] & FLAG_COMMENT))
		return none;
	flags = bytes.p[3];
	if (flags & FLAG_EXTRA) {
		if (rest.n < 2)
			return none;
		rest = ts_bytes_cut(rest, 2 + (size_t)(rest.p[0] | rest.p[1] << 8), rest.n);
	}
	if ((flags & FLAG_NAME) && !gzip_take_string(&rest).p)
		return none;
	return gzip_take_string(&rest);
}

enum ts_status ts_gunzip_open(struct ts_gunzip *gz, struct ts_bytes bytes, struct ts_error *err)
{
	TS_ASSERT(gz);
	TS_ASSERT(bytes.p || bytes.n == 0);
	*gz = (struct ts_gunzip)TS_GUNZIP_INIT;
	if (!ts_gzip_probe(bytes))
		return ts_fail(err, TS_FORMAT, "not gzip data");
	gz->z = calloc(1, sizeof(*gz->z));
	if (!gz->z || inflateInit2(gz->z, GZIP_WINDOW) != Z_OK) {
		free(gz->z);
		gz->z = NULL;
		return ts_fail_nomem(err);
	}
	gz->bytes = bytes;
	gz->inside = true;
	return TS_OK;
}

/* Behind a member: another one, the end, or something else. */
static enum ts_status next_member(struct ts_gunzip *gz, struct ts_error *err)
{
	struct ts_bytes rest = ts_bytes_cut(gz->bytes, gz->at, gz->bytes.n);

	if (ts_gzip_probe(rest)) {
		gz->inside = true;
		return inflateReset(gz->z) == Z_OK ? TS_OK : ts_fail_nomem(err);
	}
	if (!ts_bytes_are_zero(rest))
		return ts_fail(err, TS_FORMAT,
			       "packed byte %zu: no gzip data behind member %llu (was the file "
			       "copied whole?)",
			       gz->at, (unsigned long long)gz->nr_members);
	gz->at = gz->bytes.n;
	return TS_OK;
}

static enum ts_status gzip_damaged(const struct ts_gunzip *gz, int rc, struct ts_error *err)
{
	if (rc == Z_MEM_ERROR)
		return ts_fail_nomem(err);
	if (gz->at >= gz->bytes.n)
		return ts_fail(
			err, TS_FORMAT,
			"truncated gzip data: ends at packed byte %zu (was the file copied whole?)",
			gz->at);
	return ts_fail(err, TS_FORMAT,
		       "packed byte %zu: damaged gzip data: %s (was the file copied whole?)",
		       gz->at,
		       gz->z->msg	   ? gz->z->msg
		       : rc == Z_NEED_DICT ? "needs a dictionary"
					   : "unknown");
}

/* One step of zlib into P[0..N). */
static enum ts_status inflate_some(struct ts_gunzip *gz, uint8_t *p, size_t n, size_t *got,
				   struct ts_error *err)
{
	uInt room = gzip_piece(n), in = gzip_piece(gz->bytes.n - gz->at);
	int rc;

	gz->z->next_in = gz->bytes.p + gz->at;
	gz->z->avail_in = in;
	gz->z->next_out = p;
	gz->z->avail_out = room;
	rc = inflate(gz->z, Z_NO_FLUSH);
	gz->at += in - gz->z->avail_in;
	*got = room - gz->z->avail_out;
	gz->nr_out += *got;
	if (rc == Z_STREAM_END) {
		gz->inside = false;
		gz->nr_members++;
		return TS_OK;
	}
	return rc == Z_OK ? TS_OK : gzip_damaged(gz, rc, err); /* Z_BUF_ERROR: no more input */
}

enum ts_status ts_gunzip_read(struct ts_gunzip *gz, uint8_t *p, size_t n, size_t *got,
			      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(gz && got);
	*got = 0;
	if (gz->nr_out >
	    TS_MAX(ts_u64_mul(gz->bytes.n, TS_LIMIT_PACKED_RATIO), TS_LIMIT_PACKED_FLOOR))
		return ts_fail(err, TS_LIMIT,
			       "packed byte %zu: it unpacks to too much for its size; unpack it "
			       "yourself if you trust it " TS_OVER(TS_LIMIT_PACKED_RATIO),
			       gz->at);
	while (!st && *got < n && (gz->inside || gz->at < gz->bytes.n)) {
		size_t some = 0;

		if (gz->inside)
			st = inflate_some(gz, p + *got, n - *got, &some, err);
		else
			st = next_member(gz, err);
		*got += some;
	}
	return st;
}

void ts_gunzip_release(struct ts_gunzip *gz)
{
	TS_ASSERT(gz);
	if (gz->z)
		inflateEnd(gz->z);
	free(gz->z);
	*gz = (struct ts_gunzip)TS_GUNZIP_INIT;
}

enum ts_status ts_gunzip_head(struct ts_bytes bytes, struct ts_buf *out, size_t max,
			      struct ts_error *err)
{
	struct ts_gunzip gz;
	enum ts_status st;
	size_t got;

	TS_ASSERT(out);
	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!ts_buf_room(out, max))
		return ts_fail_nomem(err);
	st = ts_gunzip_open(&gz, bytes, err);
	if (st)
		return st;
	st = ts_gunzip_read(&gz, out->p + out->n, max, &got, err);
	out->n += got;
	ts_gunzip_release(&gz);
	return st;
}
