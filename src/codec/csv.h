/* SPDX-License-Identifier: MIT */
/*
 * A CSV writer onto a buffer: RFC 4180 quoting, lines that end in a line feed.
 *
 * Text may be any bytes: bytes that are not UTF-8, and control characters other than line ends and
 * tabs, become U+FFFD. Text that a spreadsheet would take for a formula (it begins with = + - @, one of their
 * full-width forms, a tab or a line end) gets an apostrophe in front, and so does such a sign behind ; a tab or a line end
 * inside of it, where a spreadsheet of another language begins a cell: names in a profile come from other people.
 * Numbers are untouched.
 */
#ifndef TS_CODEC_CSV_H
#define TS_CODEC_CSV_H

#include "base/buf.h"

struct ts_csv {
	struct ts_buf *out;
	bool in_row; /* a cell of this row was written */
};

static inline struct ts_csv ts_csv_of(struct ts_buf *out)
{
	return (struct ts_csv){ .out = out };
}

void ts_csv_text(struct ts_csv *csv, struct ts_bytes text);
void ts_csv_i64(struct ts_csv *csv, int64_t value);
void ts_csv_u64(struct ts_csv *csv, uint64_t value);
void ts_csv_double(struct ts_csv *csv, double value); /* NaN, infinities: an empty cell */
void ts_csv_empty(struct ts_csv *csv);
void ts_csv_end_row(struct ts_csv *csv);

#endif
