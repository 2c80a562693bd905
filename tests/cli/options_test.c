/* SPDX-License-Identifier: MIT */
/* Values of options, a row a kind. */
#include "tests/test.h"
#include "cli/option.h"

enum colour { RED, GREEN };
struct own {
	bool flag, given;
	const char *text, *format;
	struct ts_texts texts;
	uint16_t port;
	size_t count;
	int64_t scaled_ps, ms;
	enum colour colour;
	int called;
};

static const char *const colour_names[] = { "red", "green", NULL };

static const char *format_at(const struct ts_command *command, size_t index)
{
	return colour_names[index];
}

static enum ts_status call(void *called, const char *value, struct ts_error *err)
{
	*(int *)called = (int)strtol(value, NULL, 10);
	return *(int *)called ? TS_OK : ts_fail(err, TS_USAGE, "it is zero");
}

#define OWN struct own
static const struct ts_option options[] = {
	TS_OPT_FLAG(OWN, flag, "flag", 0, "help"),
	TS_OPT_PRESET(OWN, format, "red", "help", "red"),
	TS_OPT_TEXT(OWN, text, "text", 0, "TEXT", "help"),
	TS_OPT_TEXTS(OWN, texts, "texts", "TEXT", 2, "help"),
	TS_OPT_COUNT(OWN, port, "port", 0, "N", 0, UINT16_MAX, "a port", .unit = "; 0: any",
		     .help = "help"),
	TS_OPT_COUNT(OWN, count, "count", 0, "N", 0, TS_OPTION_ANY, "a number of things",
		     .help = "help", TS_OPTION_GIVEN(OWN, given)),
	TS_OPT_DECIMAL(OWN, scaled_ps, "scaled", "US", -5, 5, 1e6, "a number of us", "help"),
	TS_OPT_TIME(OWN, ms, "time", 100, 60000, "help"),
	TS_OPT_CHOICE(OWN, colour, enum colour, "colour", "NAME", colour_names, true, "%s"),
	TS_OPT_NAME(OWN, format, "format", 'f', "NAME", format_at, true, "%s"),
	TS_OPT_CALL(OWN, called, "call", "N", call, "help"),
	TS_OPT_END,
};

static const struct ts_option *find(const char *name)
{
	const struct ts_option *option = options;

	while (strcmp(option->name, name) != 0)
		option++;
	return option;
}

static void give(struct own *own, const char *name, const char *value)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_option_read(find(name), NULL, own, value, &err), TS_OK);
}

TEST(each_kind_sets_its_member)
{
	struct own own = { .colour = RED };

	give(&own, "flag", NULL);
	give(&own, "text", "a");
	give(&own, "texts", "b");
	give(&own, "texts", "c");
	give(&own, "port", "65535");
	assert_false(own.given);
	give(&own, "count", "9000000000000000000");
	give(&own, "scaled", "-1.5");
	give(&own, "time", "1.5");
	give(&own, "colour", "green");
	give(&own, "call", "7");
	assert_true(own.flag && own.given);
	assert_string_equal(own.text, "a");
	assert_int_equal(own.texts.nr, 2);
	assert_string_equal(own.texts.items[1], "c");
	assert_int_equal(own.port, 65535);
	assert_true(own.count == 9000000000000000000u);
	assert_int_equal(own.scaled_ps, -1500000);
	assert_int_equal(own.ms, 1500);
	assert_int_equal(own.colour, GREEN);
	assert_int_equal(own.called, 7);
	give(&own, "format", "green");
	assert_string_equal(own.format, "green");
	give(&own, "red", NULL);
	assert_string_equal(own.format, "red");
}

TEST(what_is_wrong_is_said)
{
	static const struct {
		const char *name, *value, *message;
	} rows[] = {
		{ "port", "65536", "65536 is not a port (0 to 65535; 0: any)" },
		{ "port", "-1", "-1 is not a port (0 to 65535; 0: any)" },
		{ "port", "", " is not a port (0 to 65535; 0: any)" },
		{ "count", "many", "many is not a number of things" },
		{ "count", "9223372036854775808", "9223372036854775808 is not a number of things" },
		{ "scaled", "5.1", "5.1 is not a number of us" },
		{ "scaled", "nan", "nan is not a number of us" },
		{ "scaled", "1x", "1x is not a number of us" },
		{ "time", "soon", "soon is not a time (0.5, 500ms, 30s, 10m, 1h)" },
		{ "time", "nan", "nan is not a time (0.5, 500ms, 30s, 10m, 1h)" },
		{ "time", "99ms", "99ms is out of bounds (100 ms to 60000 ms)" },
		{ "time", "1h", "1h is out of bounds (100 ms to 60000 ms)" },
		{ "colour", "blue", "blue is not one of red, green" },
		{ "format", "gree", "gree is not one of red, green (did you mean green?)" },
		{ "call", "0", "it is zero" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct own own = { .colour = RED };

		assert_int_equal(
			ts_option_read(find(rows[i].name), NULL, &own, rows[i].value, &err),
			TS_USAGE);
		assert_string_equal(err.text, rows[i].message);
	}
}

TEST(a_list_has_an_end)
{
	struct ts_error err = TS_ERROR_INIT;
	struct own own = { .colour = RED };

	give(&own, "texts", "a");
	give(&own, "texts", "b");
	assert_int_equal(ts_option_read(find("texts"), NULL, &own, "c", &err), TS_USAGE);
	assert_string_equal(err.text, "it is given more than 2 times");
}
