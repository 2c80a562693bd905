/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TS_TEST names tests of a program with * and ?: the others do not run. It is linked to every unit test, and is
 * asked before main().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void take_filter(void)
{
	const char *pattern = getenv("TS_TEST");

	if (pattern)
		cmocka_set_test_filter(pattern);
}
