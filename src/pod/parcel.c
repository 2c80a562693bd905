/* SPDX-License-Identifier: MIT */
/* Parcels on the wire. */
#include "pod/parcel.h"

#include "base/check.h"
#include "base/record.h"
#include "base/siphash.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "codec/record.h"
#include "io/gzip.h"

#define HASH_BYTES 9	/* a tag and a fixed64 */
#define STEP	   65536 /* bytes unpacked at a time */

enum { FIELD_KIND = 1, FIELD_HEAD, FIELD_SECTION, FIELD_HASH };
enum { SECTION_LENGTH = 1, SECTION_HASH, SECTION_PACKED, SECTION_PLAIN };

struct parcel_kind {
	const char *word, *title, *maker;
};

static const struct parcel_kind kinds[] = {
	[TS_PARCEL_OUTLINE] = { "tpusight/outline/1", "the outline of a file", "map outline" },
	[TS_PARCEL_RUN] = { "tpusight/run/1", "the outline of a run", "reduce outline" },
	[TS_PARCEL_STATES] = { "tpusight/states/1", "the states of a file", "map pass" },
	[TS_PARCEL_RESULTS] = { "tpusight/results/1", "the results of a run",
				"reduce report --results" },
	[TS_PARCEL_TRACKS] = { "tpusight/tracks/1", "the tracks of a file",
			       "map overlay --tracks" },
	[TS_PARCEL_PAGE] = { "tpusight/page/1", "the page's tracks of a file", "map tracks" },
	[TS_PARCEL_TRACE] = { "tpusight/trace/1", "the trace of a file", "map overlay --trace" },
};

#define TS_SELF struct ts_parcel_head
static TS_RECORD(head, TS_TEXT(1, version), TS_NUMBER(2, run, TS_BY_HAND),
		 TS_NUMBER(3, file, TS_BY_HAND));
#undef TS_SELF

static uint64_t parcel_hash_of(struct ts_bytes bytes)
{
	static const struct ts_sipkey key = { { UINT64_C(0x7470757369676874), 0x70617263656c } };

	return ts_siphash(&key, bytes).h[0];
}

void ts_parcel_begin(struct ts_buf *out, enum ts_parcel_kind kind,
		     const struct ts_parcel_head *head)
{
	struct ts_parcel_head own = *head;
	size_t mark;

	TS_ASSERT(out && out->n == 0 && kind < TS_NR_PARCEL_KINDS);
	own.version = TS_LIT(PACKAGE_VERSION);
	ts_pbw_bytes(out, FIELD_KIND, ts_bytes_of(kinds[kind].word));
	mark = ts_pbw_begin(out, FIELD_HEAD);
	ts_record_save(&head_record, &own, out);
	ts_pbw_end(out, mark);
}

enum ts_status ts_parcel_put(struct ts_buf *out, struct ts_bytes section, struct ts_error *err)
{
	struct ts_gzip gz = TS_GZIP_INIT;
	struct ts_buf packed = TS_BUF_INIT;
	enum ts_status st = ts_gzip_init(&gz, err);
	size_t mark;

	if (st == TS_OK)
		st = ts_gzip_member(&gz, &packed, section, NULL, err);
	if (st == TS_OK) {
		mark = ts_pbw_begin(out, FIELD_SECTION);
		ts_pbw_u64(out, SECTION_LENGTH, section.n);
		ts_pbw_fixed64(out, SECTION_HASH, parcel_hash_of(section));
		ts_pbw_bytes(out, SECTION_PACKED, ts_buf_bytes(&packed));
		ts_pbw_end(out, mark);
	}
	ts_gzip_release(&gz);
	ts_buf_release(&packed);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

void ts_parcel_put_plain(struct ts_buf *out, struct ts_bytes section)
{
	size_t mark = ts_pbw_begin(out, FIELD_SECTION);

	ts_pbw_u64(out, SECTION_LENGTH, section.n);
	ts_pbw_fixed64(out, SECTION_HASH, parcel_hash_of(section));
	ts_pbw_bytes(out, SECTION_PLAIN, section);
	ts_pbw_end(out, mark);
}

void ts_parcel_end(struct ts_buf *out)
{
	TS_ASSERT(out);
	if (!out->failed)
		ts_pbw_fixed64(out, FIELD_HASH, parcel_hash_of(ts_buf_bytes(out)));
}

static void add_to_id(struct ts_parcel *parcel, uint64_t value)
{
	const uint64_t both[] = { parcel->id, value };

	parcel->id = parcel_hash_of((struct ts_bytes){ (const uint8_t *)both, sizeof(both) });
}

struct section {
	struct ts_bytes packed, plain; /* one of them */
	uint64_t nr_bytes, hash;       /* unpacked */
};

static struct section read_section(struct ts_pb pb)
{
	struct section section = { .nr_bytes = 0 };

	while (ts_pb_next(&pb)) {
		if (pb.field == SECTION_LENGTH)
			section.nr_bytes = ts_pb_u64(&pb);
		if (pb.field == SECTION_HASH)
			section.hash = ts_pb_u64(&pb);
		if (pb.field == SECTION_PACKED)
			section.packed = ts_pb_bytes(&pb);
		if (pb.field == SECTION_PLAIN)
			section.plain = ts_pb_bytes(&pb);
	}
	return section;
}

/* There may be one a host: they are looked for in the bytes. */
static struct section find_section(const struct ts_parcel *parcel, size_t number)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(parcel->bytes, &error);
	size_t nr = 0;

	while (ts_pb_next(&pb))
		if (pb.field == FIELD_SECTION && nr++ == number)
			break;
	return read_section(ts_pb_enter(&pb));
}

static void parcel_read_head(struct ts_parcel_head *head, struct ts_pb pb)
{
	while (ts_pb_next(&pb)) {
		if (pb.field == 1)
			head->version = ts_pb_bytes(&pb);
		if (pb.field == 2)
			head->run = (ts_pb_u64(&pb) >> 1) ^ -(ts_pb_u64(&pb) & 1);
		if (pb.field == 3)
			head->file = (uint32_t)(ts_pb_u64(&pb) >> 1);
	}
}

/* Which kind of parcel these bytes begin as; TS_NR_PARCEL_KINDS: of none. */
static enum ts_parcel_kind parcel_kind_of(struct ts_bytes bytes)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);
	enum ts_parcel_kind kind = 0;

	if (!ts_pb_next(&pb) || pb.field != FIELD_KIND)
		return TS_NR_PARCEL_KINDS;
	while (kind < TS_NR_PARCEL_KINDS && !ts_bytes_is(ts_pb_bytes(&pb), kinds[kind].word))
		kind++;
	return kind;
}

bool ts_parcel_is(struct ts_bytes bytes, enum ts_parcel_kind kind)
{
	TS_ASSERT(kind < TS_NR_PARCEL_KINDS);
	return parcel_kind_of(bytes) == kind;
}

static enum ts_status parcel_check(struct ts_bytes bytes, enum ts_parcel_kind wanted,
				   struct ts_error *err)
{
	enum ts_parcel_kind kind = parcel_kind_of(bytes);
	uint64_t hash;

	if (kind == TS_NR_PARCEL_KINDS)
		return ts_fail(err, TS_FORMAT, "it is not %s (tpusight %s writes them)",
			       kinds[wanted].title, kinds[wanted].maker);
	if (kind != wanted)
		return ts_fail(err, TS_FORMAT, "it is %s, not %s (tpusight %s writes them)",
			       kinds[kind].title, kinds[wanted].title, kinds[wanted].maker);
	if (bytes.n > HASH_BYTES) {
		memcpy(&hash, bytes.p + bytes.n - sizeof(hash), sizeof(hash));
		if (hash == parcel_hash_of(ts_bytes_cut(bytes, 0, bytes.n - HASH_BYTES)))
			return TS_OK;
	}
	return ts_fail(err, TS_FORMAT,
		       "it is cut or damaged (copy it again, or run tpusight %s again)",
		       kinds[kind].maker);
}

enum ts_status ts_parcel_open(struct ts_parcel *parcel, struct ts_bytes bytes,
			      enum ts_parcel_kind kind, struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb;
	enum ts_status st = parcel_check(bytes, kind, err);

	TS_ASSERT(parcel);
	if (st)
		return st;
	*parcel = (struct ts_parcel){ .kind = kind, .bytes = bytes };
	pb = ts_pb_of(bytes, &error);
	while (ts_pb_next(&pb)) {
		if (pb.field == FIELD_HEAD) {
			parcel_read_head(&parcel->head, ts_pb_enter(&pb));
			add_to_id(parcel, parcel_hash_of(ts_pb_bytes(&pb)));
		}
		if (pb.field == FIELD_SECTION) {
			add_to_id(parcel, read_section(ts_pb_enter(&pb)).hash);
			parcel->nr++;
		}
	}
	if (error.cause)
		return ts_fail(err, TS_FORMAT, "%s at byte %zu (run tpusight %s again)",
			       error.cause, (size_t)(error.at - bytes.p), kinds[kind].maker);
	if (!ts_bytes_is(parcel->head.version, PACKAGE_VERSION))
		return ts_fail(err, TS_FORMAT,
			       "it was written by TPUsight %.*s, and this is " PACKAGE_VERSION
			       " (use one version for a run)",
			       TS_ARG(parcel->head.version));
	return TS_OK;
}

static enum ts_status parcel_unpack(struct ts_gunzip *gz, struct ts_buf *out, uint64_t nr_bytes,
				    struct ts_error *err)
{
	enum ts_status st = TS_OK;
	size_t got = 1;

	while (st == TS_OK && got > 0 && out->n <= nr_bytes) {
		if (!ts_buf_room(out, STEP))
			return ts_fail_nomem(err);
		st = ts_gunzip_read(gz, out->p + out->n, STEP, &got, err);
		out->n += got;
	}
	if (st == TS_OK && out->n != nr_bytes)
		return ts_fail(err, TS_FORMAT, "a section has another length than it says");
	return st;
}

static enum ts_status no_section(const struct ts_parcel *parcel, struct ts_error *err)
{
	return ts_fail(err, TS_FORMAT, "a section is missing (run tpusight %s again)",
		       kinds[parcel->kind].maker);
}

enum ts_status ts_parcel_plain(const struct ts_parcel *parcel, size_t number,
			       struct ts_bytes *section, struct ts_error *err)
{
	struct section found;

	TS_ASSERT(parcel && section);
	if (number >= parcel->nr)
		return no_section(parcel, err);
	found = find_section(parcel, number);
	if (found.nr_bytes != found.plain.n)
		return no_section(parcel, err);
	*section = found.plain;
	return TS_OK;
}

enum ts_status ts_parcel_unpack(const struct ts_parcel *parcel, size_t number, struct ts_buf *out,
				struct ts_error *err)
{
	struct ts_gunzip gz = TS_GUNZIP_INIT;
	struct section section;
	enum ts_status st;

	TS_ASSERT(parcel && out && out->n == 0);
	if (number >= parcel->nr)
		return no_section(parcel, err);
	section = find_section(parcel, number);
	st = ts_gunzip_open(&gz, section.packed, err);
	if (st == TS_OK)
		st = parcel_unpack(&gz, out, section.nr_bytes, err);
	ts_gunzip_release(&gz);
	return st;
}
