/* SPDX-License-Identifier: MIT */
/* The shortest digits of doubles: what others publish, every power of two, and strtod for very many. */
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/shortest.h"

#define ROUNDS 200000 /* TS_ROUNDS in the environment: so many */

/* Values that are hard: halves of intervals, ends, subnormal ones; as Ryu's test (ulfjack/ryu,
 * ryu/tests/d2s_test.cc) and the paper of Schubfach list them. */
static const struct known {
	double value;
	uint64_t digits;
	int exponent;
} knowns[] = {
	{ 5e-324, 5, -324 },
	{ 1e-323, 1, -323 },
	{ 2.2250738585072014e-308, 22250738585072014u, -324 },
	{ 2.225073858507201e-308, 2225073858507201u, -323 },
	{ 1.7976931348623157e308, 17976931348623157u, 292 },
	{ 2.98023223876953125e-8, 29802322387695312u, -24 },
	{ -2.109808898695963e16 * -1, 2109808898695963u, 1 },
	{ 4.940656e-318, 4940656, -324 },
	{ 1.18575755e-316, 118575755, -324 },
	{ 2.989102097996e-312, 2989102097996u, -324 },
	{ 9.0608011534336e15, 90608011534336u, 2 },
	{ 4.708356024711512e18, 4708356024711512u, 3 },
	{ 9.409340012568248e18, 9409340012568248u, 3 },
	{ 1.2345678, 12345678, -7 },
	{ 5.764607523034235e39, 5764607523034235u, 24 },
	{ 1.152921504606847e40, 1152921504606847u, 25 },
	{ 2.305843009213694e40, 2305843009213694u, 25 },
	{ 9007199254740991.0, 9007199254740991u, 0 },
	{ 9007199254740992.0, 9007199254740992u, 0 },
	{ 9007199254740993e3, 9007199254740993u, 3 },
	{ 1e23, 1, 23 },
	{ 8.41e21, 841, 19 },
	{ 2e-44, 2, -44 },
	{ 0.3, 3, -1 },
	{ 0.1 + 0.2, 30000000000000004u, -17 },
	{ 9.5367431640625e-07, 95367431640625u, -20 },
};

TEST(published_values_have_their_digits)
{
	for (size_t i = 0; i < TS_NELEM(knowns); i++) {
		struct ts_decimal found = ts_shortest(knowns[i].value);

		assert_int_equal(found.digits, knowns[i].digits);
		assert_int_equal(found.exponent, knowns[i].exponent);
	}
}

static size_t length_of(uint64_t digits)
{
	char text[24];

	return (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)digits);
}

/* It reads back; printf does not need fewer digits; and of as many, its digits are the same. */
static void assert_shortest(double value)
{
	struct ts_decimal found = ts_shortest(value);
	size_t nr = length_of(found.digits);
	char text[40], fewer[40];

	snprintf(text, sizeof(text), "%llue%d", (unsigned long long)found.digits, found.exponent);
	assert_true(strtod(text, NULL) == value);
	assert_true(nr <= TS_SHORTEST_MAX && found.digits % 10 != 0);
	snprintf(fewer, sizeof(fewer), "%.*e", (int)nr - 2, value);
	assert_true(nr == 1 || strtod(fewer, NULL) != value);
	snprintf(fewer, sizeof(fewer), "%.*e", (int)nr - 1, value);
	if (strtod(fewer, NULL) == value) {
		snprintf(text, sizeof(text), "%.*e", (int)nr - 1, strtod(text, NULL));
		assert_string_equal(text, fewer);
	}
}

/* Each one has another power of ten, or an interval that is narrower below. */
TEST(each_power_of_two_and_its_neighbours_are_right)
{
	for (int e = -1074; e <= 1023; e++) {
		double value = ldexp(1, e);

		assert_shortest(value);
		assert_shortest(nextafter(value, INFINITY));
		if (value > 5e-324)
			assert_shortest(nextafter(value, 0));
	}
}

static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

TEST(random_doubles_are_as_short_as_they_can_be)
{
	const char *rounds = getenv("TS_ROUNDS");
	uint64_t seed = 1;

	for (long i = rounds ? strtol(rounds, NULL, 10) : ROUNDS; i > 0; i--) {
		uint64_t bits = next_random(&seed) >> 1;
		double value;

		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value) && value > 0)
			assert_shortest(value);
	}
}

/* As reports have them: parts of a whole, rates, percents. */
TEST(quotients_are_as_short_as_they_can_be)
{
	uint64_t seed = 2;

	for (int i = 0; i < ROUNDS / 4; i++)
		assert_shortest(100 * (double)(next_random(&seed) >> (i % 60) | 1) /
				(double)(next_random(&seed) >> (i % 50) | 1));
}
