/* SPDX-License-Identifier: MIT */
/*
 * The shortest decimal that reads back as a double, and of several the closest to it.
 */
#ifndef TS_CODEC_SHORTEST_H
#define TS_CODEC_SHORTEST_H

#include <stdint.h>

#define TS_SHORTEST_MAX 17 /* digits */

/* DIGITS x 10^EXPONENT; the last digit is not 0. */
struct ts_decimal {
	uint64_t digits;
	int exponent;
};

/* VALUE is finite and above 0. */
struct ts_decimal ts_shortest(double value);

#endif
