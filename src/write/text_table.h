/* SPDX-License-Identifier: MIT */
/*
 * Values and tables for people: units from the ending of a name, columns that fit the terminal.
 * Part of the text report.
 */
#ifndef TS_WRITE_TEXT_TABLE_H
#define TS_WRITE_TEXT_TABLE_H

#include "write/output.h"

/* A value as people read it, in the unit that NAME ends in. Text is as in the profile: not yet
 * safe for a terminal. */
void ts_text_value(struct ts_buf *out, const char *name, struct ts_value value);

#define TS_SPOKEN_MAX 64

/* A label in the words of the run's chips: where UNITS are "tensor cores", "MXU utilization" is "Tensor core utilization". It may stand in TEXT. */
struct ts_bytes ts_spoken_label(const char *label, struct ts_bytes units, char text[TS_SPOKEN_MAX]);

/*
 * The labelled columns of the first rows, aligned; of a table without any label all, under their
 * names less the unit. Numbers stand on the right. A column that is unknown in all rows is left out;
 * "module" is there without a label where rows differ in it, and so is a column that rows are sorted by.
 * Where report->width is short (0: no limit), columns are left out and named: first those of the lowest
 * weight (struct ts_column), of these what says least; then long texts go on in a second line, and a text
 * that is longer loses its middle. report->top and report->sort choose the rows; a table without that
 * column stays in its own order.
 */
void ts_text_table(struct ts_buf *out, const struct ts_table *table,
		   const struct ts_report *report);

#endif
