/* SPDX-License-Identifier: MIT */
/* Lists of pictures that files of a run bring, put together. What is drawn is in tests/page/slices_test.py. */
#include "tests/test.h"
#include "picture/picture.h"

TEST(lists_become_one)
{
	static const char *const lists[] = { "[]", "[{\"a\":1}]", "[]", "[2,3]", "[]" };
	struct ts_buf all = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(lists); i++)
		assert_int_equal(ts_picture_join(&all, ts_bytes_of(lists[i]), NULL), TS_OK);
	assert_true(ts_bytes_is(ts_buf_bytes(&all), "[{\"a\":1},2,3]"));
	ts_buf_release(&all);
}

TEST(what_is_not_a_list_is_refused)
{
	static const char *const others[] = { "",      "[",	  "{}",	 "[]]",
					      "[] []", "[1],[2]", " []", "[\"</script>\"]" };
	struct ts_buf all = TS_BUF_INIT;

	assert_int_equal(ts_picture_join(&all, TS_LIT("[1]"), NULL), TS_OK);
	for (size_t i = 0; i < TS_NELEM(others); i++) {
		struct ts_error err = TS_ERROR_INIT;

		assert_int_equal(ts_picture_join(&all, ts_bytes_of(others[i]), &err), TS_FORMAT);
		assert_true(ts_bytes_is(ts_buf_bytes(&all), "[1]"));
	}
	ts_buf_release(&all);
}
