/*
 * What the ending of a name says about its number: the one table of units, for C (base/units.h) and
 * for the page, whose build reads this file as text. So its form is fixed: one line a unit,
 *
 *	X(ENDING, KIND, UNIT, LABEL, SAID)
 *
 * ENDING	of a name in a report. The first line that fits is the unit, so the longer ending stands
 *		above the shorter one.
 * KIND		how the number is written for people: TIME (picoseconds: 1.23 ms), BYTES (5.00 GiB),
 *		BANDWIDTH (bytes a second: 26.1 GB/s), SHARE (percent: 86.5 %), COUNT (1.34 G), RATE
 *		(a count a second), NUMBER (as it is).
 * UNIT		the unit of the number as it stands in JSON and CSV
 * LABEL	what is measured, in one word
 * SAID		1: the ending says its unit. 0: it does not, and the heading of a CSV adds it.
 */
#ifndef TS_BASE_UNITS_LIST_H
#define TS_BASE_UNITS_LIST_H

/* clang-format off */
#define TS_UNITS(X) \
	X("flops_per_s", RATE, "FLOP/s", "rate", 1) \
	X("bytes_per_s", BANDWIDTH, "B/s", "bandwidth", 1) \
	X("flops_per_byte", NUMBER, "FLOP/byte", "intensity", 1) \
	X("operational_intensity", NUMBER, "FLOP/byte", "intensity", 0) \
	X("_ms_per_min", NUMBER, "ms/min", "rate", 1) \
	X("_per_s", RATE, "/s", "rate", 1) \
	X("_ps", TIME, "ps", "time", 1) \
	X("bytes", BYTES, "bytes", "bytes", 1) \
	X("bytes_accessed", BYTES, "bytes", "bytes", 1) \
	X("_pct", SHARE, "%", "share", 1) \
	X("flops", COUNT, "FLOP", "FLOPs", 1)
/* clang-format on */

#endif
