/* SPDX-License-Identifier: MIT */
/* The name that was probably meant. */
#include "tests/test.h"
#include "base/closest.h"

TEST(a_misspelt_word_finds_its_name)
{
	static const char *const names[] = { "ops", "overview", "padding", "time.per_step" };
	static const struct {
		const char *word, *name;
	} rows[] = {
		{ "op", "ops" },
		{ "opps", "ops" },
		{ "pading", "padding" },
		{ "overveiw", "overview" },
		{ "time.per_stpe", "time.per_step" },
		{ "padding", "padding" },
		{ "nothing", "" },
		{ "frobnicate", "" },
		{ "", "" },
		/* as long as what is compared, and longer */
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_closest closest = ts_closest_to(ts_bytes_of(rows[i].word));

		for (size_t k = 0; k < TS_NELEM(names); k++)
			ts_closest_try(&closest, names[k]);
		assert_string_equal(closest.name, rows[i].name);
	}
}

TEST(a_name_too_long_is_passed_over)
{
	struct ts_closest closest = ts_closest_to(TS_LIT("a"));
	char name[TS_CLOSEST_MAX + 1];

	memset(name, 'a', TS_CLOSEST_MAX);
	name[TS_CLOSEST_MAX] = '\0';
	ts_closest_try(&closest, name);
	assert_string_equal(closest.name, "");
	ts_closest_try(&closest, "b");
	assert_string_equal(closest.name, "b");
}
