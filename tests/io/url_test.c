/* SPDX-License-Identifier: MIT */
/* Which paths are URLs, and which names may become paths below the scratch folder. */
#include "tests/test.h"
#include "base/buf.h"
#include "io/runpath.h"
#include "io/url.h"

TEST(a_scheme_makes_a_url)
{
	(void)state;
	assert_int_equal(ts_url_scheme("gs://b/c"), 5);
	assert_int_equal(ts_url_scheme("s3://b"), 5);
	assert_int_equal(ts_url_scheme("file:///tmp"), 7);
	assert_false(ts_url_is("./gs://b"));
	assert_false(ts_url_is("/gs://b"));
	assert_false(ts_url_is("://b"));
	assert_false(ts_url_is("3s://b"));
	assert_false(ts_url_is("a b://c"));
	assert_false(ts_url_is("gs:/b"));
	assert_false(ts_url_is(""));
	assert_int_equal(ts_url_bucket("gs://b/c"), 6);
	assert_int_equal(ts_url_bucket("gs://b"), 6);
}

TEST(a_url_is_a_path_without_detours)
{
	static const char *const good[] = { "gs://b", "gs://b/", "gs://b/c/d.pb", "file:///tmp/a" };
	static const char *const bad[] = {
		"gs://",     "gs:///",	   "gs://b//c",	  "gs://../b",
		"gs://b/..", "gs://b/./c", "gs://b/\x01", "gs://b/\x7f"
	};

	(void)state;
	for (size_t i = 0; i < TS_NELEM(good); i++)
		assert_int_equal(ts_url_check(good[i], NULL), TS_OK);
	for (size_t i = 0; i < TS_NELEM(bad); i++)
		assert_int_equal(ts_url_check(bad[i], NULL), TS_USAGE);
}

TEST(names_of_objects_stay_below_their_folder)
{
	static const char *const bad[] = { "",	   "/a",   "a/",    "a//b", ".",
					   "a/..", "../a", "a/./b", "a\nb" };
	struct ts_buf longest = TS_BUF_INIT;

	(void)state;
	assert_true(ts_url_name_is_good(TS_LIT("a/b.xplane.pb")));
	assert_true(ts_url_name_is_good(TS_LIT(".cached_tools.json")));
	assert_true(ts_url_name_is_good(TS_LIT("...")));
	for (size_t i = 0; i < TS_NELEM(bad); i++)
		assert_false(ts_url_name_is_good(ts_bytes_of(bad[i])));
	ts_buf_pad(&longest, 'a', 255);
	assert_true(ts_url_name_is_good(ts_buf_bytes(&longest)));
	ts_buf_pad(&longest, 'a', 1);
	assert_false(ts_url_name_is_good(ts_buf_bytes(&longest)));
	ts_buf_release(&longest);
}

TEST(tidying_keeps_the_slashes_of_a_scheme)
{
	static const char *const rows[][2] = { { "gs://b//c/./d/", "gs://b/c/d" },
					       { "gs://b", "gs://b" },
					       { "file:///tmp//a", "file:///tmp/a" },
					       { "./gs://b", "gs:/b" } };

	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf out = TS_BUF_INIT;

		ts_path_tidy(&out, rows[i][0]);
		assert_true(ts_bytes_is(ts_buf_bytes(&out), rows[i][1]));
		ts_buf_release(&out);
	}
}
