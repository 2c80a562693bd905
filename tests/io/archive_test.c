/* SPDX-License-Identifier: MIT */
/* Archives made by libarchive, by tar and by Python's zipfile; damaged ones, and bombs. */
#include "tmpdir.h"

#include "io/archive.h"
#include "io/gzip.h"

#include <archive.h>
#include <archive_entry.h>

struct made {
	const char *name;
	int (*format)(struct archive *);
	int (*filter)(struct archive *);
};

static const struct made kinds[] = {
	{ "tar", archive_write_set_format_pax_restricted, archive_write_add_filter_none },
	{ "ustar", archive_write_set_format_ustar, archive_write_add_filter_none },
	{ "v7tar", archive_write_set_format_v7tar, archive_write_add_filter_none },
	{ "gnutar", archive_write_set_format_gnutar, archive_write_add_filter_none },
	{ "tar.gz", archive_write_set_format_pax_restricted, archive_write_add_filter_gzip },
	{ "tar.xz", archive_write_set_format_pax_restricted, archive_write_add_filter_xz },
	{ "tar.bz2", archive_write_set_format_pax_restricted, archive_write_add_filter_bzip2 },
	{ "tar.zst", archive_write_set_format_pax_restricted, archive_write_add_filter_zstd },
	{ "tar.lz4", archive_write_set_format_pax_restricted, archive_write_add_filter_lz4 },
	{ "zip", archive_write_set_format_zip, archive_write_add_filter_none },
};

/* What is inside: name, content (pads of one letter), kind. */
static const struct {
	const char *name;
	char letter;
	size_t n;
	unsigned type;
} entries[] = {
	{ "run/plugins/profile/s", 0, 0, AE_IFDIR },
	{ "run/plugins/profile/s/a.xplane.pb", 'a', 100000, AE_IFREG },
	{ "../../etc/passwd", 'p', 10, AE_IFREG },
	{ "empty", 'e', 0, AE_IFREG },
	{ "run/link", 0, 0, AE_IFLNK },
	{ "run/plugins/profile/s/b.xplane.pb", 'b', 300000, AE_IFREG },
};

static void put_entry(struct archive *a, const char *name, unsigned type, struct ts_bytes bytes)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)bytes.n);
	if (type == AE_IFLNK)
		archive_entry_set_symlink(entry, "/etc/passwd");
	assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
	if (bytes.n)
		assert_int_equal(archive_write_data(a, bytes.p, bytes.n), (la_ssize_t)bytes.n);
	archive_entry_free(entry);
}

static struct archive *begin(const struct made *kind, struct ts_buf *out, size_t cap, size_t *n)
{
	struct archive *a = archive_write_new();

	assert_true(ts_buf_room(out, cap));
	if (kind->filter(a) != ARCHIVE_OK || kind->format(a) != ARCHIVE_OK ||
	    archive_write_open_memory(a, out->p, cap, n) != ARCHIVE_OK) {
		archive_write_free(a); /* a library without this filter */
		return NULL;
	}
	return a;
}

static bool make(const struct made *kind, struct ts_buf *out)
{
	size_t n = 0;
	struct archive *a = begin(kind, out, 1 << 20, &n);

	if (!a)
		return false;
	for (size_t i = 0; i < TS_NELEM(entries); i++) {
		struct ts_buf text = TS_BUF_INIT;

		ts_buf_pad(&text, entries[i].letter, entries[i].n);
		put_entry(a, entries[i].name, entries[i].type, ts_buf_bytes(&text));
		ts_buf_release(&text);
	}
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
	out->n = n;
	return true;
}

struct seen {
	size_t nr, nr_bytes;
	char names[8][64];
	struct ts_buf kept;
	bool only_profiles;
};

static bool want(void *ctx, const char *name)
{
	const struct seen *seen = ctx;

	return !seen->only_profiles || ts_bytes_ends(ts_bytes_of(name), ".xplane.pb");
}

static enum ts_status see(void *ctx, const char *name, struct ts_buf *content, struct ts_error *err)
{
	struct seen *seen = ctx;

	for (size_t i = 1; i < content->n && strstr(name, ".xplane.pb"); i++)
		if (content->p[i] != content->p[0])
			return ts_fail(err, TS_FORMAT, "%s: not what was packed", name);
	if (seen->nr < TS_NELEM(seen->names))
		snprintf(seen->names[seen->nr], sizeof(seen->names[0]), "%s", name);
	seen->nr++;
	seen->nr_bytes += content->n;
	if (ts_bytes_ends(ts_bytes_of(name), "a.xplane.pb")) { /* takes this one over */
		ts_buf_release(&seen->kept);
		seen->kept = *content;
		*content = (struct ts_buf)TS_BUF_INIT;
	}
	return TS_OK;
}

static enum ts_status visit(struct ts_bytes bytes, struct seen *seen, uint64_t max_entry_bytes,
			    struct ts_error *err)
{
	struct ts_archive_visitor visitor = { want, see, seen, max_entry_bytes };

	return ts_archive_each(bytes, &visitor, err);
}

TEST(files_come_one_by_one_from_every_kind)
{
	for (size_t i = 0; i < TS_NELEM(kinds); i++) {
		struct ts_buf packed = TS_BUF_INIT;
		struct ts_error err = TS_ERROR_INIT;
		struct seen seen = { 0 };

		if (make(&kinds[i], &packed)) {
			assert_true(ts_archive_probe(ts_buf_bytes(&packed)));
			if (visit(ts_buf_bytes(&packed), &seen, 0, &err))
				fail_msg("%s: %s", kinds[i].name, err.text);
			assert_int_equal(seen.nr, 4); /* no folder, no link */
			assert_int_equal(seen.nr_bytes, 400010);
			assert_string_equal(seen.names[1], "../../etc/passwd"); /* only a string */
			assert_int_equal(seen.kept.n, 100000);
		}
		ts_buf_release(&seen.kept);
		ts_buf_release(&packed);
	}
}

TEST(what_is_not_wanted_is_passed_over)
{
	for (size_t i = 0; i < TS_NELEM(kinds); i++) {
		struct ts_buf packed = TS_BUF_INIT;
		struct seen seen = { .only_profiles = true };

		if (make(&kinds[i], &packed)) {
			assert_int_equal(visit(ts_buf_bytes(&packed), &seen, 0, NULL), TS_OK);
			assert_int_equal(seen.nr, 2);
			assert_int_equal(seen.nr_bytes, 400000);
		}
		ts_buf_release(&seen.kept);
		ts_buf_release(&packed);
	}
}

TEST_IN_TMPDIR(tools_of_others_make_archives_too)
{
	static const struct {
		const char *command, *file;
	} cases[] = {
		{ "tar cf t.tar a.xplane.pb d 2>/dev/null", "t.tar" },
		{ "tar czf t.tgz a.xplane.pb d 2>/dev/null", "t.tgz" },
		{ "python3 -c 'import zipfile as z\n"
		  "with z.ZipFile(\"t.zip\", \"w\", z.ZIP_DEFLATED) as f:\n"
		  " f.write(\"a.xplane.pb\"); f.write(\"d/b.xplane.pb\")' 2>/dev/null",
		  "t.zip" },
	};
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_pad(&text, 'a', 70000);
	make_file("a.xplane.pb", ts_buf_bytes(&text));
	make_file("d/b.xplane.pb", ts_buf_bytes(&text));
	ts_buf_release(&text);
	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct seen seen = { 0 };
		struct ts_buf packed;

		if (system(cases[i].command) != 0)
			continue;
		packed = read_file(cases[i].file);
		assert_true(ts_archive_probe(ts_buf_bytes(&packed)));
		assert_int_equal(visit(ts_buf_bytes(&packed), &seen, 0, NULL), TS_OK);
		assert_int_equal(seen.nr, 2);
		assert_int_equal(seen.nr_bytes, 140000);
		assert_string_equal(seen.names[1], "d/b.xplane.pb");
		ts_buf_release(&seen.kept);
		ts_buf_release(&packed);
	}
}

static struct ts_buf gzip_of(struct ts_bytes text)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_gzip gz;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &out, text, NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
	return out;
}

TEST(a_packed_profile_is_no_archive)
{
	static const struct ts_bytes plain[] = {
		TS_LIT("{\"traceEvents\": []}"),
		TS_LIT("\x0a\x10/device:TPU:0 xx"),
		TS_LIT("PK"),
		TS_LIT(""),
		TS_LIT("PK\003\004 but no zip"),
	};
	struct ts_buf zeros = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(plain); i++) {
		struct ts_buf packed = gzip_of(plain[i]);

		assert_false(ts_archive_probe(ts_buf_bytes(&packed)));
		assert_false(ts_archive_probe(plain[i]));
		ts_buf_release(&packed);
	}
	ts_buf_pad(&zeros, '\0', 10240);
	assert_false(ts_archive_probe(ts_buf_bytes(&zeros)));
	ts_buf_release(&zeros);
}

TEST(truncations_are_survived)
{
	static const size_t steps[] = { 3, 997, 20011 };

	for (size_t i = 0; i < TS_NELEM(kinds); i++) {
		struct ts_buf packed = TS_BUF_INIT;
		size_t step;

		if (!make(&kinds[i], &packed)) {
			ts_buf_release(&packed);
			continue;
		}
		step = steps[(packed.n > 20000) + (packed.n > 200000)];
		for (size_t n = 0; n < packed.n; n += step) {
			struct ts_error err = TS_ERROR_INIT;
			struct seen seen = { 0 };
			uint8_t *exact = malloc(n ? n : 1);

			memcpy(exact, packed.p, n);
			if (visit((struct ts_bytes){ exact, n }, &seen, 0, &err) && !err.text[0])
				fail_msg("%s of %zu bytes: no word", kinds[i].name, n);
			assert_true(seen.nr_bytes <=
				    400010 + 11); /* a zip cut short shows the link as a file */
			free(exact);
			ts_buf_release(&seen.kept);
		}
		ts_buf_release(&packed);
	}
}

/* Three bytes of the copy at TO are others than in FROM. */
static void hit(uint8_t *to, struct ts_bytes from, uint64_t *random)
{
	memcpy(to, from.p, from.n);
	for (size_t hits = 0; hits < 3; hits++) {
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		to[(*random >> 20) % TS_MIN(from.n, 4096)] = (uint8_t)(*random >> 56);
	}
}

TEST(changed_bytes_are_survived)
{
	uint64_t random = 1;

	for (size_t i = 0; i < TS_NELEM(kinds); i++) {
		struct ts_buf packed = TS_BUF_INIT;
		bool made = make(&kinds[i], &packed);
		uint8_t *copy = malloc(packed.n);

		for (size_t turn = 0; made && turn < 30; turn++) {
			struct ts_bytes bytes = { copy, packed.n };
			struct seen seen = { 0 };

			hit(copy, ts_buf_bytes(&packed), &random);
			(void)ts_archive_probe(bytes);
			(void)visit(bytes, &seen, 1 << 22, NULL);
			ts_buf_release(&seen.kept);
		}
		free(copy);
		ts_buf_release(&packed);
	}
}

TEST(an_entry_above_the_limit_is_refused)
{
	struct ts_buf packed = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct seen seen = { 0 };

	assert_true(make(&kinds[9], &packed));
	assert_int_equal(visit(ts_buf_bytes(&packed), &seen, 299999, &err), TS_LIMIT);
	assert_has(err.text,
		   "run/plugins/profile/s/b.xplane.pb: unpacks to more than 299999 bytes");
	assert_int_equal(seen.nr, 3);
	ts_buf_release(&seen.kept);
	ts_buf_release(&packed);
}

/* 96 MiB of zeros: 1000 times what they are packed. */
TEST(a_bomb_is_refused_whether_wanted_or_not)
{
	static const size_t which[] = { 4, 9 }; /* tar.gz, zip */

	for (size_t i = 0; i < 2 * TS_NELEM(which); i++) {
		struct ts_buf packed = TS_BUF_INIT, zeros = TS_BUF_INIT;
		struct ts_error err = TS_ERROR_INIT;
		struct seen seen = { .only_profiles = i % 2 };
		size_t n = 0;
		struct archive *a = begin(&kinds[which[i / 2]], &packed, 8 << 20, &n);

		ts_buf_pad(&zeros, '\0', 96 << 20);
		put_entry(a, "bomb", AE_IFREG, ts_buf_bytes(&zeros));
		archive_write_close(a);
		archive_write_free(a);
		packed.n = n;
		assert_true(n < 200000);
		assert_int_equal(visit(ts_buf_bytes(&packed), &seen, 0, &err), TS_LIMIT);
		assert_has(err.text, "bomb: unpacks to more than 67108864 bytes");
		assert_int_equal(seen.nr, 0);
		ts_buf_release(&packed);
		ts_buf_release(&zeros);
	}
}

static enum ts_status refuse(void *ctx, const char *name, struct ts_buf *content,
			     struct ts_error *err)
{
	(void)ctx, (void)content;
	return ts_fail(err, TS_UNSUPPORTED, "%s: not today", name);
}

TEST(a_visitor_ends_the_visit)
{
	struct ts_archive_visitor visitor = { .entry = refuse };
	struct ts_buf packed = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	assert_true(make(&kinds[0], &packed));
	assert_int_equal(ts_archive_each(ts_buf_bytes(&packed), &visitor, &err), TS_UNSUPPORTED);
	assert_string_equal(err.text, "run/plugins/profile/s/a.xplane.pb: not today");
	ts_buf_release(&packed);
}
