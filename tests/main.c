/* SPDX-License-Identifier: MIT */
/* The main() of the unit tests. TS_TEST names tests of a program with * and ?: the others do not run. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"

#define MAX_TESTS 256

/* By the lines of their file: constructors have no order of their own. */
static struct CMUnitTest tests[MAX_TESTS];
static unsigned lines[MAX_TESTS];
static size_t nr;
static CMFixtureFunction before, after;

void test_add(unsigned line, struct CMUnitTest test)
{
	size_t at = nr;

	if (nr == MAX_TESTS) {
		fprintf(stderr, "%s: a program has at most %d tests\n", test.name, MAX_TESTS);
		exit(1);
	}
	nr++;
	for (; at > 0 && lines[at - 1] > line; at--) {
		tests[at] = tests[at - 1];
		lines[at] = lines[at - 1];
	}
	tests[at] = test;
	lines[at] = line;
}

void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	before = set_up;
	after = tear_down;
}

int main(void)
{
	const char *pattern = getenv("TS_TEST");

	if (pattern)
		cmocka_set_test_filter(pattern);
	return _cmocka_run_group_tests("tests", tests, nr, before, after);
}
