/* SPDX-License-Identifier: MIT */
/* The JSON writer against cJSON, an independent parser, and against text made by hand. */
#include "tests/test.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include <cjson/cJSON.h>

#include "codec/json.h"
#include "codec/utf8.h"

static void assert_text(const struct ts_buf *buf, const char *expected)
{
	assert_false(buf->failed);
	assert_int_equal(buf->n, strlen(expected));
	assert_memory_equal(buf->p, expected, buf->n);
}

static void write_sample(struct ts_json *json)
{
	ts_json_object(json);
	ts_json_key(json, "a");
	ts_json_array(json);
	ts_json_i64(json, INT64_MIN);
	ts_json_u64_string(json, UINT64_MAX);
	ts_json_bool(json, true);
	ts_json_null(json);
	ts_json_array_end(json);
	ts_json_key(json, "empty");
	ts_json_object(json);
	ts_json_object_end(json);
	ts_json_key(json, "t");
	ts_json_text(json, NULL);
	ts_json_object_end(json);
}

TEST(a_key_and_its_value_are_put_in_one)
{
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&buf, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_put_i64(&json, "i", -1);
	ts_json_put_count(&json, "c", 0);
	ts_json_put_count(&json, "unknown", -1);
	ts_json_put_double(&json, "d", NAN);
	ts_json_put_bool(&json, "b", true);
	ts_json_put_string(&json, "s", TS_LIT(""));
	ts_json_put_text(&json, "t", NULL);
	ts_json_put_known(&json, "k", TS_LIT("x"));
	ts_json_put_known(&json, "none", TS_LIT(""));
	ts_json_put_given(&json, "left out", TS_LIT(""));
	ts_json_put_given(&json, "g", TS_LIT("y"));
	ts_json_object_end(&json);
	assert_text(&buf, "{\"i\":-1,\"c\":0,\"unknown\":null,\"d\":null,\"b\":true,\"s\":\"\","
			  "\"t\":null,\"k\":\"x\",\"none\":null,\"g\":\"y\"}");
	ts_buf_release(&buf);
}

TEST(compact_has_no_white_space)
{
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&buf, TS_JSON_COMPACT);

	write_sample(&json);
	assert_text(&buf, "{\"a\":[-9223372036854775808,\"18446744073709551615\",true,null],"
			  "\"empty\":{},\"t\":null}");
	ts_buf_release(&buf);
}

TEST(pretty_indents_by_two_and_keeps_empty_ones_closed)
{
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&buf, TS_JSON_PRETTY);

	write_sample(&json);
	assert_text(&buf, "{\n"
			  "  \"a\": [\n"
			  "    -9223372036854775808,\n"
			  "    \"18446744073709551615\",\n"
			  "    true,\n"
			  "    null\n"
			  "  ],\n"
			  "  \"empty\": {},\n"
			  "  \"t\": null\n"
			  "}");
	ts_buf_release(&buf);
}

struct string_case {
	struct ts_bytes in;
	const char *out;
};

static const struct string_case strings[] = {
	{ TS_LIT(""), "\"\"" },
	{ TS_LIT("fusion.12"), "\"fusion.12\"" },
	{ TS_LIT("say \"hi\" \\ there"), "\"say \\\"hi\\\" \\\\ there\"" },
	{ TS_LIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"" },
	{ TS_LIT("a\0b"), "\"a\\u0000b\"" },
	{ TS_LIT("</script><!--"), "\"\\u003c/script>\\u003c!--\"" },
	{ TS_LIT("\x1b[31m\x7f"), "\"\\u001b[31m\\u007f\"" },
	{ TS_LIT("\xC2\x9B"
		 "2J"),
	  "\"\\u009b2J\"" },
	{ TS_LIT("\xE2\x80\xA8"), "\"\\u2028\"" },
	{ TS_LIT("\xE2\x80\xAE"
		 "cba"),
	  "\"\\u202ecba\"" },
	{ TS_LIT("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"),
	  "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\"" },
	/* one replacement for each part that could have begun a character */
	{ TS_LIT("\xFF"), "\"\xEF\xBF\xBD\"" },
	{ TS_LIT("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	{ TS_LIT("\xE2\x82"), "\"\xEF\xBF\xBD\"" },
	{ TS_LIT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	{ TS_LIT("\xF0\x9F\x98"
		 "x"),
	  "\"\xEF\xBF\xBDx\"" },
	{ TS_LIT("\xF4\x90\x80\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	{ TS_LIT("long and plain, then one \x01 in the middle of it"),
	  "\"long and plain, then one \\u0001 in the middle of it\"" },
};

TEST(strings_are_escaped_as_written_by_hand)
{
	struct ts_buf buf = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(strings); i++) {
		ts_buf_clear(&buf);
		ts_json_quote(&buf, strings[i].in);
		assert_text(&buf, strings[i].out);
	}
	ts_buf_release(&buf);
}

/* Each byte at each place of a word of eight, so that no lane of the fast path is missed. */
TEST(each_byte_is_found_at_each_place)
{
	struct ts_buf buf = TS_BUF_INIT;

	for (unsigned byte = 1; byte < 128; byte++) {
		for (size_t at = 0; at < 17; at++) {
			char text[18] = "aaaaaaaaaaaaaaaaa";
			cJSON *parsed;

			text[at] = (char)byte;
			ts_buf_clear(&buf);
			ts_json_quote(&buf, ts_bytes_of(text));
			for (size_t i = 0; i < buf.n; i++)
				assert_true(buf.p[i] >= 0x20 && buf.p[i] < 0x7F && buf.p[i] != '<');
			parsed = cJSON_ParseWithLength((char *)buf.p, buf.n);
			assert_non_null(parsed);
			assert_string_equal(cJSON_GetStringValue(parsed), text);
			cJSON_Delete(parsed);
		}
	}
	ts_buf_release(&buf);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* UTF-8 by another road than the writer's: decode with plain arithmetic, accept what encodes back. */
static bool is_valid_utf8(const uint8_t *p, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	for (size_t i = 0; i < n;) {
		size_t len = p[i] < 0x80       ? 1
			     : p[i] >> 5 == 6  ? 2
			     : p[i] >> 4 == 14 ? 3
			     : p[i] >> 3 == 30 ? 4
					       : 0;
		uint32_t c = len == 1 ? p[i] : p[i] & (0xFFu >> (len + 1));

		if (len == 0 || len > n - i)
			return false;
		for (size_t k = 1; k < len; k++) {
			if (p[i + k] >> 6 != 2)
				return false;
			c = c << 6 | (p[i + k] & 63);
		}
		if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
			return false;
		i += len;
	}
	return true;
}

static size_t random_text(uint8_t *text, size_t max, uint64_t *seed)
{
	static const uint8_t favourites[] = { 0xC2, 0x80, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0xED,
					      0xA0, '"',  '\\', '<',  '/',  0x7F, 0x1F, 'a',  'a' };
	size_t n = next_random(seed) % max;

	for (size_t i = 0; i < n; i++) {
		uint64_t r = next_random(seed);

		text[i] = r % 3 ? favourites[r / 3 % sizeof(favourites)] : 1 + (r / 3) % 255;
	}
	return n;
}

TEST(random_bytes_give_valid_text_that_parses_back)
{
	struct ts_buf buf = TS_BUF_INIT;
	uint64_t seed = 42;
	uint8_t text[40];
	size_t nr_valid = 0;

	for (int round = 0; round < 50000; round++) {
		size_t n = random_text(text, sizeof(text), &seed);
		const char *back;
		cJSON *parsed;

		ts_buf_clear(&buf);
		ts_json_quote(&buf, (struct ts_bytes){ text, n });
		assert_true(is_valid_utf8(buf.p, buf.n));
		parsed = cJSON_ParseWithLength((char *)buf.p, buf.n);
		back = cJSON_GetStringValue(parsed);
		assert_non_null(back);
		if (is_valid_utf8(text, n)) {
			nr_valid++;
			assert_int_equal(strlen(back), n);
			assert_memory_equal(back, text, n);
		} else {
			assert_non_null(strstr(back, TS_UTF8_REPLACEMENT));
		}
		cJSON_Delete(parsed);
	}
	assert_true(nr_valid > 1000);
	ts_buf_release(&buf);
}

struct number_case {
	double in;
	const char *out;
};

static const struct number_case numbers[] = {
	{ 0, "0" },
	{ -0.0, "-0" },
	{ 1, "1" },
	{ -17, "-17" },
	{ 0.1, "0.1" },
	{ 86.5, "86.5" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 0.1 + 0.2, "0.30000000000000004" },
	{ 1e15, "1e+15" },
	{ 999999999999999, "999999999999999" },
	{ 1.5e300, "1.5e+300" },
	{ 5e-324, "5e-324" },
	{ DBL_MAX, "1.7976931348623157e+308" },
	{ NAN, "null" },
	{ INFINITY, "null" },
	{ -INFINITY, "null" },
};

TEST(numbers_have_the_fewest_digits_that_read_back)
{
	struct ts_buf buf = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(numbers); i++) {
		ts_buf_clear(&buf);
		ts_json_number(&buf, numbers[i].in);
		assert_text(&buf, numbers[i].out);
	}
	ts_buf_release(&buf);
}

TEST(random_doubles_read_back_the_same)
{
	struct ts_buf buf = TS_BUF_INIT;
	uint64_t seed = 7;

	for (int round = 0; round < 50000; round++) {
		uint64_t bits =
			next_random(&seed) << 33 ^ next_random(&seed) << 11 ^ next_random(&seed);
		double value, back;

		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		ts_buf_clear(&buf);
		ts_json_number(&buf, value);
		ts_buf_putc(&buf, '\0');
		back = strtod((char *)buf.p, NULL);
		assert_memory_equal(&back, &value, sizeof(value));
	}
	ts_buf_release(&buf);
}

/* Plain or with an exponent, as "%.15g" has it. */
TEST(numbers_of_few_digits_are_as_printf_has_them)
{
	struct ts_buf buf = TS_BUF_INIT;
	uint64_t seed = 11;

	for (int round = 0; round < 50000; round++) {
		double value = (double)(next_random(&seed) % 1000000000) /
			       pow(10, (double)(next_random(&seed) % 15)) *
			       (next_random(&seed) % 2 ? 1 : -1);
		char expected[40];

		snprintf(expected, sizeof(expected), "%.15g", value);
		if (strtod(expected, NULL) != value)
			continue;
		ts_buf_clear(&buf);
		ts_json_number(&buf, value);
		assert_text(&buf, expected);
	}
	ts_buf_release(&buf);
}

/* Needs a locale with a decimal comma on the machine; says so where it is missing. */
TEST(numbers_do_not_follow_the_locale)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
					     "nl_NL.UTF-8" };
	struct ts_buf buf = TS_BUF_INIT;
	bool found = false;

	for (size_t i = 0; i < TS_NELEM(names) && !found; i++)
		found = setlocale(LC_NUMERIC, names[i]) != NULL;
	if (!found) {
		print_message("no locale with a decimal comma is installed\n");
		skip();
	}
	ts_json_number(&buf, 1234.5);
	setlocale(LC_NUMERIC, "C");
	assert_text(&buf, "1234.5");
	ts_buf_release(&buf);
}
