/* SPDX-License-Identifier: MIT */
/*
 * Archives by libarchive (https://github.com/libarchive/libarchive/wiki). Only formats and filters
 * that the library handles itself are switched on: for others it would start programs.
 */
#include "io/archive.h"

#include "base/check.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#define STEP_BYTES  (1 << 20)
#define STEP_BYTES_MIN 4096
#define TAR_BLOCK   512

struct magic {
	size_t at;
	struct ts_bytes bytes;
};

/* The bytes that an archive can start with: so the library need not look at every profile. */
static const struct magic magics[] = {
	{ 0, { (const uint8_t *)"PK\003\004", 4 } }, /* zip */
	{ 257, { (const uint8_t *)"ustar", 5 } },    /* tar */
	{ 0, { (const uint8_t *)"\x1f\x8b", 2 } },   /* gzip */
	{ 0,
	  { (const uint8_t *)"\xfd"
			     "7zXZ\0",
	    6 } },					   /* xz */
	{ 0, { (const uint8_t *)"BZh", 3 } },		   /* bzip2 */
	{ 0, { (const uint8_t *)"\x28\xb5\x2f\xfd", 4 } }, /* zstd */
	{ 0, { (const uint8_t *)"\x04\x22\x4d\x18", 4 } }, /* lz4 */
};

struct visit {
	struct archive *a;
	struct archive_entry
		*entry; /* ours: the library's own may be missing when memory is short */
	const struct ts_archive_visitor *visitor;
	uint64_t entry_max, total_max; /* unpacked bytes */
	uint64_t total;
	uint64_t nr_files; /* that were wanted */
};

/*
 * The library gives names in the encoding of the locale, and drops those that it cannot convert: in the C locale, where a
 * program begins, all names of a zip that are not ASCII. So this thread reads archives in UTF-8; the rest of the locale
 * stays as it is.
 */
struct naming {
	locale_t utf8, before; /* utf8: 0 where the system has no such locale */
};

static struct naming naming_begin(void)
{
	static const char *const names[] = { "C.UTF-8", "en_US.UTF-8", "UTF-8" };
	struct naming naming = { (locale_t)0, (locale_t)0 };

	for (size_t i = 0; i < TS_NELEM(names) && !naming.utf8; i++)
		naming.utf8 = newlocale(LC_CTYPE_MASK, names[i], (locale_t)0);
	if (naming.utf8)
		naming.before = uselocale(naming.utf8);
	return naming;
}

static void naming_end(struct naming naming)
{
	if (!naming.utf8)
		return;
	uselocale(naming.before);
	freelocale(naming.utf8);
}

static bool starts_like_one(struct ts_bytes bytes)
{
	for (size_t i = 0; i < TS_NELEM(magics); i++)
		if (ts_bytes_eq(ts_bytes_cut(bytes, magics[i].at, magics[i].bytes.n),
				magics[i].bytes))
			return true;
	return false;
}

/*
 * Tar before POSIX has a checksum in place of a magic number; the library checks that, and the zip
 * directory.
 */
static bool is_old_tar(struct ts_bytes bytes)
{
	uint64_t sum = 0, want = 0;
	size_t i;

	if (bytes.n < TAR_BLOCK || bytes.p[0] == '\0')
		return false;
	for (i = 0; i < TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : bytes.p[i];
	for (i = 148; i < 156 && bytes.p[i] == ' ';)
		i++;
	for (; i < 156 && bytes.p[i] >= '0' && bytes.p[i] <= '7'; i++)
		want = want * 8 + (uint64_t)(bytes.p[i] - '0');
	return sum == want;
}

static struct archive *open_archive(struct ts_bytes bytes)
{
	struct archive *a = archive_read_new();

	if (!a)
		return NULL;
	archive_read_support_filter_gzip(a);
	if (archive_bzlib_version())
		archive_read_support_filter_bzip2(a);
	if (archive_liblzma_version())
		archive_read_support_filter_xz(a);
	if (archive_libzstd_version())
		archive_read_support_filter_zstd(a);
	if (archive_liblz4_version())
		archive_read_support_filter_lz4(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	/* In steps: the filters hand lengths to zlib, which counts in 32 bits. */
	if (archive_read_open_memory2(a, bytes.p, bytes.n, STEP_BYTES) != ARCHIVE_OK) {
		archive_read_free(a);
		return NULL;
	}
	return a;
}

bool ts_archive_probe(struct ts_bytes bytes)
{
	struct archive_entry *entry;
	struct naming naming;
	struct archive *a;
	int rc = ARCHIVE_FATAL;

	TS_ASSERT(bytes.p || bytes.n == 0);
	if (!starts_like_one(bytes) && !is_old_tar(bytes))
		return false;
	naming = naming_begin();
	a = open_archive(bytes);
	entry = archive_entry_new();
	if (a && entry)
		rc = archive_read_next_header2(a, entry);
	archive_entry_free(entry);
	archive_read_free(a);
	naming_end(naming);
	return rc == ARCHIVE_OK || rc == ARCHIVE_WARN;
}

static enum ts_status archive_damaged(struct visit *visit, const char *name, struct ts_error *err)
{
	const char *why = archive_error_string(visit->a);
	int64_t at = archive_filter_bytes(visit->a, -1);

	if (archive_errno(visit->a) == ENOMEM)
		return ts_fail_nomem(err);
	return ts_fail(
		err, TS_FORMAT, "%s%sarchive damaged near byte %lld: %s (was it copied whole?)",
		name ? name : "", name ? ": " : "", (long long)at, why ? why : "unknown cause");
}

static enum ts_status too_large(const char *name, uint64_t max, struct ts_error *err)
{
	return ts_fail(err, TS_LIMIT,
		       "%s: unpacks to more than %llu bytes, too much for an archive of this size; "
		       "unpack it yourself if you trust it " TS_OVER(TS_LIMIT_PACKED_RATIO),
		       name, (unsigned long long)max);
}

/* What to ask for next: of a small file no more than it says that it has. */
static size_t archive_step_of(const struct visit *visit, size_t n)
{
	int64_t size = archive_entry_size_is_set(visit->entry) ? archive_entry_size(visit->entry)
							       : STEP_BYTES;

	if (size < 0 || (uint64_t)size <= n)
		return STEP_BYTES_MIN;
	return (size_t)TS_MIN((uint64_t)size - n + 1, STEP_BYTES);
}

/* Unpacks the entry the library stands at. */
static enum ts_status archive_unpack(struct visit *visit, const char *name, struct ts_buf *content,
				     struct ts_error *err)
{
	uint64_t max = TS_MIN(visit->entry_max, visit->total_max - visit->total);

	for (;;) {
		size_t step = archive_step_of(visit, content->n);
		la_ssize_t n;

		if (!ts_buf_room(content, step))
			return ts_fail_nomem(err);
		n = archive_read_data(visit->a, content->p + content->n, step);
		if (n < 0) /* warnings too: what came is not what was packed */
			return archive_damaged(visit, name, err);
		if (n == 0)
			break;
		content->n += (size_t)n;
		if (content->n > max)
			return too_large(name, TS_MIN(visit->entry_max, visit->total_max), err);
	}
	visit->total += content->n;
	return TS_OK;
}

/* The bytes of an entry that is passed over count too: the library may have to unpack them. */
static enum ts_status skip(struct visit *visit, const char *name, struct ts_error *err)
{
	int64_t n = archive_entry_size_is_set(visit->entry) ? archive_entry_size(visit->entry) : 0;

	visit->total = ts_u64_add(visit->total, n > 0 ? (uint64_t)n : 0);
	if (visit->total > visit->total_max)
		return too_large(name, visit->total_max, err);
	if (archive_read_data_skip(visit->a) < ARCHIVE_WARN)
		return archive_damaged(visit, name, err);
	return TS_OK;
}

/* Names that are not in the locale's encoding come as UTF-8, or not at all. */
static const char *archive_name_of(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);

	if (!name)
		name = archive_entry_pathname_utf8(entry);
	return name ? name : "(unnamed)";
}

static bool archive_is_wanted(const struct visit *visit, const char *name)
{
	if (archive_entry_filetype(visit->entry) != AE_IFREG ||
	    archive_entry_hardlink(visit->entry))
		return false;
	return !visit->visitor->want || visit->visitor->want(visit->visitor->ctx, name);
}

static enum ts_status visit_entry(struct visit *visit, struct ts_error *err)
{
	struct ts_buf content = TS_BUF_INIT;
	const char *name = archive_name_of(visit->entry);
	enum ts_status st;

	if (!archive_is_wanted(visit, name))
		return skip(visit, name, err);
	if (visit->nr_files++ == TS_LIMIT_ARCHIVE_FILES)
		return ts_fail(err, TS_LIMIT,
			       "%s: more profiles than are read from one archive; unpack it "
			       "first " TS_OVER(TS_LIMIT_ARCHIVE_FILES),
			       name);
	if (archive_entry_is_encrypted(visit->entry) > 0)
		return ts_fail(err, TS_UNSUPPORTED, "%s: encrypted (unpack it first)", name);
	st = archive_unpack(visit, name, &content, err);
	if (!st)
		st = visit->visitor->entry(visit->visitor->ctx, name, &content, err);
	ts_buf_release(&content);
	return st;
}

static enum ts_status archive_visit_all(struct visit *visit, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	while (!st) {
		int rc = archive_read_next_header2(visit->a, visit->entry);

		if (rc == ARCHIVE_EOF)
			return TS_OK;
		if (rc == ARCHIVE_RETRY)
			continue;
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return archive_damaged(visit, NULL, err);
		visit->total = ts_u64_add(visit->total, TAR_BLOCK); /* a million empty files */
		if (visit->total > visit->total_max)
			return too_large(archive_name_of(visit->entry), visit->total_max, err);
		st = visit_entry(visit, err);
	}
	return st;
}

enum ts_status ts_archive_each(struct ts_bytes bytes, const struct ts_archive_visitor *visitor,
			       struct ts_error *err)
{
	struct visit visit = { .visitor = visitor };
	struct naming naming;
	enum ts_status st;

	TS_ASSERT(visitor);
	TS_ASSERT(bytes.p || bytes.n == 0);
	visit.entry_max =
		visitor->max_entry_bytes ? visitor->max_entry_bytes : TS_LIMIT_ARCHIVE_ENTRY;
	visit.total_max = TS_MAX(ts_u64_mul(bytes.n, TS_LIMIT_PACKED_RATIO), TS_LIMIT_PACKED_FLOOR);
	naming = naming_begin();
	visit.a = open_archive(bytes);
	visit.entry = archive_entry_new();
	if (!visit.entry)
		st = ts_fail_nomem(err);
	else if (!visit.a)
		st = ts_fail(err, TS_FORMAT, "not an archive this program reads (tar, zip)");
	else
		st = archive_visit_all(&visit, err);
	archive_entry_free(visit.entry);
	archive_read_free(visit.a);
	naming_end(naming);
	return st;
}
