/* SPDX-License-Identifier: MIT */
/*
 * TEST(a_sentence_that_must_hold) { ... } is a test of its program: no list names it, so none can
 * lack it. tests/main.c runs them, in the order in which they stand.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void test_add(unsigned line, struct CMUnitTest test);
void test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* A test with what goes before and after it; either may be NULL. */
#define TEST_WITH(name, set_up, tear_down)                                               \
	static void name(void **state);                                                  \
	__attribute__((constructor)) static void add_##name(void)                        \
	{                                                                                \
		struct CMUnitTest test = { #name, name, set_up, tear_down, NULL };       \
                                                                                         \
		test_add(__LINE__, test);                                                \
	}                                                                                \
	static void name(void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* What goes before the first test of the program and after the last one, once in a file. */
#define TEST_GROUP(set_up, tear_down)                             \
	__attribute__((constructor)) static void add_group(void)  \
	{                                                         \
		test_group(set_up, tear_down);                    \
	}

#endif
