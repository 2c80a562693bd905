/* SPDX-License-Identifier: MIT */
/* ZIP written, and read by another reader; the manifest's place, with bytes worked out by hand. */
#include "tests/io/tmpdir.h"

#include "codec/zip.h"
#include "io/archive.h"
#include "io/file.h"
#include "io/input.h"
#include "io/newfile.h"

#define LONG_BYTES (3 << 20)

static struct ts_buf long_text(void)
{
	struct ts_buf text = TS_BUF_INIT;

	for (uint64_t i = 0; text.n < LONG_BYTES; i++)
		ts_buf_printf(&text, "{\"ts\":%llu},", (unsigned long long)(i * 2654435761u));
	return text;
}

static void write_zip(const char *path, struct ts_bytes text)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_zip zip = TS_ZIP_INIT;

	assert_int_equal(ts_newfile_open(&file, path, NULL), TS_OK);
	assert_int_equal(ts_zip_open(&zip, ts_newfile_take, &file, NULL), TS_OK);
	assert_int_equal(ts_zip_begin(&zip, "first.json", TS_ZIP_ANY, NULL), TS_OK);
	assert_int_equal(ts_zip_put(&zip, TS_LIT("{\"perfetto_"), NULL), TS_OK);
	assert_int_equal(ts_zip_put(&zip, TS_LIT("manifest\":"), NULL), TS_OK);
	assert_int_equal(ts_zip_begin(&zip, "empty.json", 0, NULL), TS_OK);
	assert_int_equal(ts_zip_begin(&zip, "long.json", (int64_t)text.n, NULL), TS_OK);
	assert_int_equal(ts_zip_put(&zip, text, NULL), TS_OK);
	assert_int_equal(ts_zip_close(&zip, NULL), TS_OK);
	ts_zip_release(&zip);
	ts_zip_release(&zip);
	assert_int_equal(ts_newfile_commit(&file, NULL), TS_OK);
	ts_newfile_release(&file);
}

struct seen {
	struct ts_bytes text;
	size_t nr;
};

static enum ts_status see(void *ctx, const char *name, struct ts_buf *content, struct ts_error *err)
{
	struct seen *seen = ctx;
	const struct {
		const char *name;
		struct ts_bytes content;
	} want[] = { { "first.json", TS_LIT("{\"perfetto_manifest\":") },
		     { "empty.json", TS_LIT("") },
		     { "long.json", seen->text } };

	assert_true(seen->nr < TS_NELEM(want));
	assert_string_equal(name, want[seen->nr].name);
	assert_true(ts_bytes_eq(ts_buf_bytes(content), want[seen->nr].content));
	seen->nr++;
	return TS_OK;
}

TEST_IN_TMPDIR(what_is_put_in_comes_out)
{
	struct ts_buf text = long_text();
	struct seen seen = { ts_buf_bytes(&text), 0 };
	struct ts_archive_visitor visitor = { .entry = see, .ctx = &seen };
	struct ts_input in = TS_INPUT_INIT;

	write_zip("a.zip", ts_buf_bytes(&text));
	assert_int_equal(ts_input_open(&in, "a.zip", NULL), TS_OK);
	assert_true(in.bytes.n < LONG_BYTES);
	assert_int_equal(ts_archive_each(in.bytes, &visitor, NULL), TS_OK);
	assert_int_equal(seen.nr, 3);
	ts_input_release(&in);
	ts_buf_release(&text);
}

/* Neither the time of the day nor the place where it is written changes a byte. */
TEST_IN_TMPDIR(the_same_members_give_the_same_bytes)
{
	bool same = false;

	write_zip("a.zip", TS_LIT("text"));
	setenv("TZ", "Asia/Kolkata", 1);
	tzset();
	write_zip("b.zip", TS_LIT("text"));
	unsetenv("TZ");
	assert_int_equal(ts_file_same("a.zip", "b.zip", &same, NULL), TS_OK);
	assert_true(same);
}

static void assert_head(struct ts_bytes bytes, const char *name, size_t max, const char *want)
{
	struct ts_buf head = TS_BUF_INIT;

	ts_zip_head(bytes, name, max, &head);
	assert_false(head.failed);
	assert_true(ts_bytes_is(ts_buf_bytes(&head), want));
	ts_buf_release(&head);
}

TEST_IN_TMPDIR(the_head_of_the_first_member_can_be_seen)
{
	/* version 20, method 8, no sizes yet, a name of 1 byte and 2 bytes behind it; "hi", deflated */
	static const char one[] = "PK\003\004\024\0\010\0\010\0"
				  "\0\0\0\0"
				  "\0\0\0\0\0\0\0\0\0\0\0\0"
				  "\001\0\002\0"
				  "m"
				  "xx"
				  "\xcb\xc8\x04\0";
	struct ts_bytes bytes = { (const uint8_t *)one, sizeof(one) - 1 };
	struct ts_input in = TS_INPUT_INIT;

	assert_head(bytes, "m", 10, "hi");
	assert_head(bytes, "m", 1, "h");
	assert_head(bytes, "n", 10, "");
	for (size_t n = 0; n < bytes.n - 4; n++) /* cut anywhere, there is no text yet */
		assert_head(ts_bytes_cut(bytes, 0, n), "m", 10, "");
	write_zip("a.zip", TS_LIT("text"));
	assert_int_equal(ts_input_open(&in, "a.zip", NULL), TS_OK);
	assert_head(in.bytes, "first.json", 5, "{\"per");
	assert_head(in.bytes, "empty.json", 5, "");
	ts_input_release(&in);
}

TEST_IN_TMPDIR(a_file_that_cannot_be_written_says_why)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_zip zip = TS_ZIP_INIT;
	struct ts_buf text = long_text();
	enum ts_status st;

	assert_int_equal(ts_newfile_open(&file, "a.zip", NULL), TS_OK);
	assert_int_equal(close(file.fd), 0);
	file.fd = open("/dev/null", O_RDONLY);
	assert_int_equal(ts_zip_open(&zip, ts_newfile_take, &file, &err), TS_OK);
	st = ts_zip_begin(&zip, "a", TS_ZIP_ANY, &err);
	if (!st)
		st = ts_zip_put(&zip, ts_buf_bytes(&text), &err);
	assert_int_equal(st, TS_IO);
	assert_non_null(strstr(err.text, "a.zip"));
	ts_zip_release(&zip);
	ts_newfile_release(&file);
	assert_int_not_equal(access("a.zip", F_OK), 0);
	ts_buf_release(&text);
}
