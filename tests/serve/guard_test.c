/* SPDX-License-Identifier: MIT */
/* Targets and names of hosts; what becomes of whole requests is in tests/page/serve_test.py. */
#include "tests/test.h"
#include "base/bytes.h"
#include "serve/guard.h"

TEST(a_target_is_a_path_that_reads_the_same_everywhere)
{
	static const char *const plain[] = {
		"/", "/page.js", "/api/report?run=0123", "/api/report?run=%20", "/..", "/%2e%2e/"
	};
	static const char *const other[] = {
		"",	     "*",    "//page.js", "page.js", "/page.js%00.png", "/api?run=%00",
		"/a\\b",     "/a b", "/a\rb",	  "/a\x7f",  "/\xc0\xaf",	"http://127.0.0.1/",
		"example:80"
	};
	static char longest[TS_TARGET_MAX + 2];

	for (size_t i = 0; i < TS_NELEM(plain); i++)
		assert_int_equal(ts_guard_target(plain[i]), TS_TARGET_PLAIN);
	for (size_t i = 0; i < TS_NELEM(other); i++)
		assert_int_equal(ts_guard_target(other[i]), TS_TARGET_ODD);
	memset(longest, '/', 1);
	memset(longest + 1, 'a', sizeof(longest) - 2);
	assert_int_equal(ts_guard_target(longest), TS_TARGET_LONG);
	longest[TS_TARGET_MAX] = '\0';
	assert_int_equal(ts_guard_target(longest), TS_TARGET_PLAIN);
}

TEST(a_host_is_a_name_or_an_address)
{
	static const char *const hosts[] = { "gateway", "a-b.example", "a.example:8080", "[::1]:80",
					     "10.0.0.1" };
	static const char *const others[] = { "",  "a b", "http://a.example", "a/b",
					      "*", "a\n", "b\xc3\xbc.example" };
	static char longest[400];

	for (size_t i = 0; i < TS_NELEM(hosts); i++)
		assert_true(ts_guard_is_host(hosts[i]));
	for (size_t i = 0; i < TS_NELEM(others); i++)
		assert_false(ts_guard_is_host(others[i]));
	memset(longest, 'a', sizeof(longest) - 1);
	assert_false(ts_guard_is_host(longest));
}
