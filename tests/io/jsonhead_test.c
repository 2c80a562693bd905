/* SPDX-License-Identifier: MIT */
/* Heads of JSON: members of the outermost object, and nothing else. */
#include "io/jsonhead.h"
#include "tests/test.h"

static const struct row {
	const char *head, *expected; /* the value of the top-level key "schema" */
} rows[] = {
	{ "{\"schema\":\"tpusight/1\"}", "tpusight/1" },
	{ "\xef\xbb\xbf \n{ \"a\" : [1, {\"schema\": \"no\"}], \"schema\" : \"x\" }", "x" },
	{ "{\"a\":\"\\\"schema\\\":1\",\"schema\":2}", "2" },
	{ "{\"a\":{\"b\":\"}]\"},\"schema\":null}", "null" },
	{ "{\"a\":1,\"schema\":{\"c\":[1,2]}}", "{\"c\":[1,2]}" },
	/* cut */
	{ "{\"schema\":\"tpusi", "tpusi" },
	{ "{\"schema\":[1,2", "[1,2" },
	{ "{\"schema\":", "" },
	{ "{\"schema", "" },
	{ "{\"a\":\"schema\\", "" },
	/* elsewhere */
	{ "[{\"schema\":\"tpusight/1\"}]", "" },
	{ "{\"a\":{\"schema\":\"tpusight/1\"}}", "" },
	{ "\"schema\"", "" },
	{ "{\"a\" \"schema\":1}", "" },
	{ "", "" },
};

TEST(members_of_the_outermost_object_are_found)
{
	(void)state;
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_bytes value = ts_jsonhead_find(ts_bytes_of(rows[i].head), "schema");

		if (!ts_bytes_is(value, rows[i].expected))
			fail_msg("%s: '%.*s'", rows[i].head, TS_ARG(value));
	}
}

/* Every head of a head ends. */
TEST(a_head_may_be_cut_anywhere)
{
	static const char text[] = "{\"a\":[1,{\"b\":\"\\\"]\"}],\"c\":\"d\",\"e\":-1.5e3}";

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		struct ts_jsonhead members =
			ts_jsonhead_of((struct ts_bytes){ (const uint8_t *)text, n });
		size_t nr = 0;

		while (ts_jsonhead_next(&members))
			nr++;
		assert_true(nr <= 3);
	}
}
