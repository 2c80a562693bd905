/* SPDX-License-Identifier: MIT */
/*
 * Of what would take minutes each day tries a part, and so many days as there are parts try all. TS_DAY is the number of another day,
 * TS_TURNS=all is each part. tests/fixtures/helpers.py has the same for Python.
 */
#ifndef TESTS_TURN_H
#define TESTS_TURN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline long turn_setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static inline long turn_day(void)
{
	return turn_setting("TS_DAY", (long)(time(NULL) / (24 * 60 * 60)));
}

static inline bool turn_is_all(void)
{
	const char *turns = getenv("TS_TURNS");

	return turns && strcmp(turns, "all") == 0;
}

/* Is it one of today's? */
static inline bool has_turn(uint64_t number, unsigned parts)
{
	return turn_is_all() || (number + (uint64_t)turn_day()) % parts == 0;
}

/* gcc says it by a macro, clang by a feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

/* What sanitizers look at takes four times as long: each day a quarter of it. */
#define TURN_PARTS_SANITIZED (HAS_SANITIZER ? 4 : 1)

static inline bool next_has_turn(void)
{
	static uint64_t number;

	return has_turn(number++, TURN_PARTS_SANITIZED);
}

#endif
