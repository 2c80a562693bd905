/* SPDX-License-Identifier: MIT */
/*
 * Which numbers in a text say who, where or when: addresses, dates, times of day, telephone numbers, ids. Such a
 * stretch has more than four digits, with at most one sign between two of them, or the form of an address:
 *
 *	402934881   10.77.66.55:8470   2026-11-30 12:35   +1 (555) 123-4567   fe80::4029:3488:1   1,234,567
 *
 * Left out is what the grammars of XLA, CUPTI and the profilers give a number to: shapes with their layouts
 * (f32[65536,128]{1,0:T(8,128)}), what stands behind a known key (regs:32 grid:65536,1,1; replica_groups={{0,1}}), the
 * number of a step (ProfilerStep#12345).
 *
 * Nothing is kept and nothing allocated; a text is walked once.
 */
#ifndef TS_COPY_DIGITS_H
#define TS_COPY_DIGITS_H

#include "base/bytes.h"

#define TS_DIGITS_MAX 4 /* of a number that stays */

struct ts_digits {
	size_t from, to; /* from the first digit up to behind the last one */
};

/* The first such stretch that ends behind AT; text.n, text.n: there is none. AT is 0, or where the one before ended. */
struct ts_digits ts_digits_next(struct ts_bytes text, size_t at);
/* Is it a word that a server makes of lengths: sq6144sk16384? */
bool ts_digits_are_lengths(struct ts_bytes word);

#endif
