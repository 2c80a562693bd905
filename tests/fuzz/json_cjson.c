/* SPDX-License-Identifier: MIT */
/*
 * Our tokens of JSON held against cJSON's tree: of any text that cJSON takes, ours gives the same members and elements in
 * the same order, the same texts, and numbers of the same bits. What cJSON does not take ours may take (codec/jtok.c says
 * what programs really write), and must survive.
 */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>

#include "codec/jtok.h"
#include "tests/fuzz/mutate/mutator.h"

#define MAX_NUMBER 400 /* characters: cJSON's own room is smaller */
#define MAX_TIME   63

FUZZ_MUTATOR(json)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool is_same, const char *what)
{
	if (is_same)
		return;
	fprintf(stderr, "our tokens and cJSON differ: %s\n", what);
	abort();
}

/* "\u" without its four digits: no JSON, and a zero to cJSON; ours leaves it as it stands. */
static bool has_half_escape(struct ts_bytes raw)
{
	for (size_t i = 0; i + 1 < raw.n; i++) {
		size_t digits = 0;

		if (raw.p[i] != '\\' || raw.p[++i] != 'u')
			continue;
		while (digits < 4 && i + 1 + digits < raw.n && isxdigit(raw.p[i + 1 + digits]))
			digits++;
		if (digits < 4)
			return true;
	}
	return false;
}

/* cJSON's texts are C's: what stands behind a zero in ours cannot be compared. */
static bool same_text(struct ts_arena *arena, struct ts_bytes raw, const char *want)
{
	struct ts_bytes text = ts_jtok_unescape(arena, raw);
	size_t n = strnlen((const char *)text.p, text.n);

	return has_half_escape(raw) || ts_bytes_eq(ts_bytes_cut(text, 0, n), ts_bytes_of(want));
}

static double number_of(struct ts_bytes token)
{
	char text[MAX_NUMBER];

	must(token.n < sizeof(text), "the length of a number");
	memcpy(text, token.p, token.n);
	text[token.n] = '\0';
	return strtod(text, NULL);
}

/* A time is exact to a ps; a double of its size is not always. No writer gives a time so many characters that it is not one. */
static void look_at_time(struct ts_bytes token, double want)
{
	struct ts_micros time;
	double got;

	if (!ts_jtok_micros(token, &time)) {
		must(token.n > MAX_TIME || !(fabs(want) < 9e18), "whether a number is a time");
		return;
	}
	got = (double)time.us + (double)time.ps / 1e6;
	must(fabs(got - want) <= fmax(2e-6, fabs(want) * 1e-15), "a time");
}

static void look(struct ts_arena *arena, struct ts_bytes token, const cJSON *want);

static void look_inside(struct ts_arena *arena, struct ts_bytes token, const cJSON *want)
{
	struct ts_jtok inside = ts_jtok_enter(token);
	const cJSON *child;

	for (child = want->child; child; child = child->next) {
		if (cJSON_IsObject(want)) {
			must(ts_jtok_member(&inside), "the number of members");
			must(same_text(arena, inside.key, child->string), "a key");
		} else {
			must(ts_jtok_element(&inside), "the number of elements");
		}
		look(arena, inside.value, child);
	}
	must(!(cJSON_IsObject(want) ? ts_jtok_member(&inside) : ts_jtok_element(&inside)),
	     "one more than cJSON has");
}

static void look(struct ts_arena *arena, struct ts_bytes token, const cJSON *want)
{
	double number;

	if (cJSON_IsObject(want) || cJSON_IsArray(want)) {
		look_inside(arena, token, want);
	} else if (cJSON_IsString(want)) {
		must(token.n >= 2 && token.p[0] == '"', "where a text begins");
		must(same_text(arena, ts_jtok_text(token), want->valuestring), "a text");
	} else if (cJSON_IsNumber(want)) {
		number = number_of(token);
		must(memcmp(&number, &want->valuedouble, sizeof(number)) == 0, "a number");
		look_at_time(token, number);
	} else {
		must(ts_bytes_is(token, cJSON_IsNull(want)   ? "null"
					: cJSON_IsTrue(want) ? "true"
							     : "false"),
		     "a word");
	}
}

static void compare(struct ts_bytes text, const cJSON *want)
{
	const uint8_t *end = text.p + text.n, *p = ts_jtok_space(text.p, end);
	const uint8_t *behind = ts_jtok_value_end(p, end);
	struct ts_arena arena = TS_ARENA_INIT;

	must(behind != NULL, "where the value ends");
	must(ts_jtok_space(behind, end) == end, "what stands behind the value");
	look(&arena, (struct ts_bytes){ p, (size_t)(behind - p) }, want);
	ts_arena_release(&arena);
}

/* What cJSON does not take, walked all the same. */
static void survive(struct ts_bytes text)
{
	struct ts_jtok inside = ts_jtok_enter(text);
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_micros time;

	while (ts_jtok_member(&inside)) {
		ts_jtok_unescape(&arena, ts_jtok_text(inside.value));
		ts_jtok_micros(inside.value, &time);
	}
	inside = ts_jtok_enter(text);
	while (ts_jtok_element(&inside))
		ts_jtok_unescape(&arena, ts_jtok_text(inside.value));
	ts_arena_release(&arena);
}

/* cJSON is content with the first value; ours is asked for the whole text. */
static bool is_behind(const char *end, struct ts_bytes text)
{
	const uint8_t *all = text.p + text.n;

	return ts_jtok_space((const uint8_t *)end, all) == all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes text = { data, n };
	const char *end = NULL;
	cJSON *want;

	if (n == 0 || (data[0] != '{' && data[0] != '['))
		return 0;
	want = cJSON_ParseWithLengthOpts((const char *)data, n, &end, false);
	if (want && is_behind(end, text))
		compare(text, want);
	else
		survive(text);
	cJSON_Delete(want);
	return 0;
}
