/* SPDX-License-Identifier: MIT */
/*
 * Functions that may not be called here: they write past ends, or hide a failure. Using one is a
 * compile error. Use ts_buf (base/buf.h), snprintf and memcpy with a checked length instead.
 */
#ifndef TS_BASE_BANNED_H
#define TS_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__) && !defined(TS_ALLOW_BANNED)
#ifdef __APPLE__ /* whose headers make macros of some, to check lengths */
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#endif
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets
#pragma GCC poison atoi atol atoll strtok gmtime localtime ctime asctime
#endif

#endif
