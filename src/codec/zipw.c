/* SPDX-License-Identifier: Apache-2.0 */
/* ZIP (PKWARE, APPNOTE.TXT 6.3.10: 4.3.7 local headers, 4.3.12 the directory, 4.3.16 its end). */
#include "codec/zipw.h"

#include <zlib.h>

#include "base/check.h"

#define LEVEL	     3 /* as io/zip.h: 6 takes twice the time for a fifth less */
#define RAW_DEFLATE  (-15) /* without zlib's header */
#define MEMORY_LEVEL 8
#define VERSION	     20		   /* 2.0: deflate */
#define METHOD	     8		   /* deflate */
#define FIRST_DAY    ((1 << 5) | 1) /* 1980-01-01, the earliest that there is */

static void put_le(struct ts_buf *out, uint64_t value, unsigned nr_bytes)
{
	for (unsigned i = 0; i < nr_bytes; i++)
		ts_buf_putc(out, (char)(value >> 8 * i & 0xff));
}

struct member {
	uint32_t crc;
	size_t packed, plain, at, name_bytes;
};

/* What the header in front of a member and its line of the directory share, from the version on. */
static void put_facts(struct ts_buf *out, const struct member *member)
{
	put_le(out, VERSION, 2);
	put_le(out, 0, 2); /* flags */
	put_le(out, METHOD, 2);
	put_le(out, 0, 2); /* midnight */
	put_le(out, FIRST_DAY, 2);
	put_le(out, member->crc, 4);
	put_le(out, member->packed, 4);
	put_le(out, member->plain, 4);
	put_le(out, member->name_bytes, 2);
	put_le(out, 0, 2); /* an extra field has no bytes */
}

static bool fits(size_t n)
{
	return n < UINT32_MAX;
}

/* Appends the packed bytes; what goes wrong fails OUT. */
static void deflate_onto(struct ts_buf *out, struct ts_bytes bytes)
{
	z_stream z = { .next_in = (Bytef *)bytes.p, .avail_in = (uInt)bytes.n };
	size_t bound;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW_DEFLATE, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
	    Z_OK) {
		out->failed = true;
		return;
	}
	bound = deflateBound(&z, (uLong)bytes.n);
	out->failed |= !fits(bound);
	if (ts_buf_room(out, bound)) {
		z.next_out = out->p + out->n;
		z.avail_out = (uInt)bound;
		out->failed = deflate(&z, Z_FINISH) != Z_STREAM_END;
		out->n += bound - z.avail_out;
	}
	deflateEnd(&z);
}

static void put_line(struct ts_zipw *zip, const char *name, const struct member *member)
{
	struct ts_buf *out = &zip->directory;

	ts_buf_puts(out, "PK\001\002");
	put_le(out, VERSION, 2); /* made by */
	put_facts(out, member);
	put_le(out, 0, 2); /* a comment has no bytes */
	put_le(out, 0, 2); /* the first disk */
	put_le(out, 0, 2); /* attributes inside and outside */
	put_le(out, 0, 4);
	put_le(out, member->at, 4);
	ts_buf_puts(out, name);
	zip->nr_members++;
}

void ts_zipw_member(struct ts_zipw *zip, const char *name, struct ts_bytes bytes)
{
	struct member member = { .plain = bytes.n, .name_bytes = strlen(name) };
	struct ts_buf packed = TS_BUF_INIT;

	TS_ASSERT(zip && name && member.name_bytes < UINT16_MAX);
	TS_ASSERT(bytes.p || bytes.n == 0);
	member.at = zip->out->n - zip->start;
	if (fits(bytes.n))
		deflate_onto(&packed, bytes);
	if (!fits(bytes.n) || !fits(member.at) || zip->nr_members + 1 >= UINT16_MAX ||
	    packed.failed) {
		zip->out->failed = true;
	} else {
		member.crc = (uint32_t)crc32(0, bytes.p, (uInt)bytes.n);
		member.packed = packed.n;
		ts_buf_puts(zip->out, "PK\003\004");
		put_facts(zip->out, &member);
		ts_buf_puts(zip->out, name);
		ts_buf_put(zip->out, ts_buf_bytes(&packed));
		put_line(zip, name, &member);
	}
	ts_buf_release(&packed);
}

void ts_zipw_end(struct ts_zipw *zip)
{
	size_t at;

	TS_ASSERT(zip);
	at = zip->out->n - zip->start;
	zip->out->failed |= zip->directory.failed || !fits(at);
	ts_buf_put(zip->out, ts_buf_bytes(&zip->directory));
	ts_buf_puts(zip->out, "PK\005\006");
	put_le(zip->out, 0, 4); /* this disk, that of the directory */
	put_le(zip->out, zip->nr_members, 2);
	put_le(zip->out, zip->nr_members, 2);
	put_le(zip->out, zip->directory.n, 4);
	put_le(zip->out, at, 4);
	put_le(zip->out, 0, 2); /* a comment has no bytes */
	ts_buf_release(&zip->directory);
}
