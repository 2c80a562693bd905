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
 * The labelled columns of the first rows, aligned; of a table without any label all, under their
 * names. Numbers stand on the right. A column that is unknown in all rows is left out; "module" is
 * there without a label where rows differ in it. In WIDTH columns where that can be done (0: no
 * limit): what says least is left out and named, then the longest texts lose their middle.
 */
void ts_text_table(struct ts_buf *out, const struct ts_table *table, size_t width);

#endif
