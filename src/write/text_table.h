/*
 * Values and tables for people: units from the ending of a name, columns that fit the terminal.
 * Part of the text report.
 */
#ifndef TS_WRITE_TEXT_TABLE_H
#define TS_WRITE_TEXT_TABLE_H

#include "result/result.h"

/* A value as people read it, in the unit that NAME ends in. Text is as in the profile: not yet
 * safe for a terminal. */
void ts_text_value(struct ts_buf *out, const char *name, struct ts_value value);

/*
 * The labelled columns of the first rows, aligned, in WIDTH columns where that can be done (0: no
 * limit); the longest texts lose their middle first. Numbers stand on the right. A column that is
 * unknown in all of them is left out.
 */
void ts_text_table(struct ts_buf *out, const struct ts_table *table, size_t width);

#endif
