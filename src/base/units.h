/* SPDX-License-Identifier: MIT */
/*
 * Quantities as people read them. Each writes into the caller's TS_UNIT_MAX bytes and gives them
 * back, so that several fit into one printf:
 *	char a[TS_UNIT_MAX], b[TS_UNIT_MAX];
 *	ts_buf_printf(buf, "%s at %s", ts_fmt_bytes(a, n), ts_fmt_rate(b, rate));
 */
#ifndef TS_BASE_UNITS_H
#define TS_BASE_UNITS_H

#include <math.h>

#include "base/bytes.h"

#define TS_UNIT_MAX  32

#define TS_PS_PER_NS INT64_C(1000)
#define TS_PS_PER_US INT64_C(1000000)
#define TS_PS_PER_MS INT64_C(1000000000)
#define TS_PS_PER_S  INT64_C(1000000000000)

/* For sums and orders: what is unknown, NaN, counts as nothing. */
static inline double ts_or_zero(double number)
{
	return isnan(number) ? 0 : number;
}

const char *ts_fmt_ps(char out[TS_UNIT_MAX], int64_t ps);      /* 1.23 ms */
const char *ts_fmt_core_ps(char out[TS_UNIT_MAX], int64_t ps); /* summed over cores: 1.23 core-ms */
const char *ts_fmt_bytes(char out[TS_UNIT_MAX], double bytes); /* 5.0 GiB */
const char *ts_fmt_rate(char out[TS_UNIT_MAX], double bytes_per_s); /* 26.1 GB/s */
const char *ts_fmt_count(char out[TS_UNIT_MAX], double n);	    /* 1.34 G */
const char *ts_fmt_pct(char out[TS_UNIT_MAX], double pct);	    /* 86.5 %; NaN gives - */

/* How the number of a unit is written; units_list.h says which is which. */
enum ts_unit_kind {
	TS_UNIT_TIME,
	TS_UNIT_CORE,
	TS_UNIT_THREAD,
	TS_UNIT_BYTES,
	TS_UNIT_BANDWIDTH,
	TS_UNIT_SHARE,
	TS_UNIT_COUNT,
	TS_UNIT_RATE,
	TS_UNIT_NUMBER,
};

struct ts_unit {
	const char *ending;
	enum ts_unit_kind kind;
	const char *name;  /* of the number in JSON and CSV: "ps" */
	const char *label; /* what is measured: "time" */
	bool is_said;	   /* the ending says the unit */
};

/* By the last part of a dotted name that ends in a unit: step_time_ps.mean is a time. NULL: none. */
const struct ts_unit *ts_unit_of(struct ts_bytes name);
/* A number of this unit. One of TS_UNIT_NUMBER has four figures. */
const char *ts_fmt_unit(char out[TS_UNIT_MAX], const struct ts_unit *unit, double number);

#endif
