/* SPDX-License-Identifier: MIT */
/*
 * Asserts for our own mistakes: a caller that broke a rule of a header, or a state that cannot
 * occur.
 *
 * What comes from outside (bytes of a file, an option, the network, memory that runs out) is never
 * asserted: it gets a status. TS_ASSERT is checked in every build, released ones too, because a
 * program that stops is better than one that writes a wrong number into a user's run. TS_ASSERT_HOT
 * is for loops that run once an event, where the check was measured to cost time: it is checked
 * with --enable-devel (the tests, the fuzz targets) and not in a release.
 */
#ifndef TS_BASE_CHECK_H
#define TS_BASE_CHECK_H

#include <assert.h>

#define TS_ASSERT(condition) assert(condition)
#ifdef TS_DEVEL
#define TS_ASSERT_HOT(condition) assert(condition)
#else
#define TS_ASSERT_HOT(condition) ((void)0)
#endif

#endif
