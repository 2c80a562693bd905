/* SPDX-License-Identifier: MIT */
/*
 * A table as a file of columns, for programs that compute with it (pandas, polars, DuckDB): Arrow's IPC file format, or
 * Parquet. Rows come in one after the other; as soon as TS_COLFILE_ROWS are there, or their texts are long, they go
 * out as a batch (Parquet: a row group), so memory does not grow with the rows.
 *
 *	ts_colfile_open(&file, &setup, err)
 *	each row: ts_colfile_int(&file, COLUMN, value) ... for each column one call; ts_colfile_end_row(&file, err)
 *	ts_colfile_close(&file, err); ts_colfile_release(&file)
 *
 * A column is one of six types. A text is either itself, or a code: an index into a list of texts that all rows share,
 * which the file has once (Arrow) or once a row group (Parquet). Any value may be unknown. Texts that are not UTF-8
 * are mended. Texts and lists are the caller's and must live until the file is closed.
 *
 * The bytes go to a drain. With threads, the columns of a batch are encoded side by side; the bytes do not depend on
 * that.
 */
#ifndef TS_WRITE_COLUMNS_COLFILE_H
#define TS_WRITE_COLUMNS_COLFILE_H

#include "base/check.h"
#include "base/drain.h"

#define TS_COLFILE_ROWS	      65536
#define TS_COLFILE_TEXT_BYTES (4 << 20) /* of the texts of a batch, about */

enum ts_colfile_type {
	TS_COLFILE_INT,	 /* int64 */
	TS_COLFILE_UINT, /* uint64: numbers that are names */
	TS_COLFILE_REAL, /* double */
	TS_COLFILE_BOOL,
	TS_COLFILE_TEXT,
	TS_COLFILE_CODE, /* a text, by its index in .texts */
	TS_NR_COLFILE_TYPES,
};

struct ts_colfile_texts {
	struct ts_bytes *items; /* no two are equal */
	size_t nr;
};

struct ts_colfile_column {
	const char *name;
	enum ts_colfile_type type;
	const struct ts_colfile_texts *texts; /* of CODE */
};

/* What the file says of itself. */
struct ts_colfile_fact {
	const char *key;
	struct ts_bytes value;
};

struct ts_colfile_form;
extern const struct ts_colfile_form ts_colfile_arrow, ts_colfile_parquet;

struct ts_colfile_setup {
	const struct ts_colfile_form *form;
	const struct ts_colfile_column *columns; /* these are looked into until the release */
	size_t nr_columns;
	const struct ts_colfile_fact *facts;
	size_t nr_facts;
	const char *creator; /* "tpusight version 1.2" */
	struct ts_drain *drain;
	size_t nr_threads;
};

/* The values of a column in the batch. */
struct ts_colfile_array {
	union {
		int64_t *ints; /* INT, UINT (its bits), BOOL (0, 1) */
		double *reals;
		uint32_t *codes;
		struct ts_bytes *texts;
		void *any;
	} as;
	uint8_t *known; /* a byte a row: 0, 1 */
	size_t nr_unknown;
};

struct ts_colfile {
	struct ts_colfile_setup setup;
	struct ts_colfile_array *arrays; /* one a column */
	size_t nr_rows, nr_text_bytes;	 /* of the batch */
	uint64_t nr_all_rows;		 /* of the batches before it */
	struct ts_buf out;
	uint64_t nr_drained;
	void *own; /* the form's */
};

enum ts_status ts_colfile_open(struct ts_colfile *file, const struct ts_colfile_setup *setup,
			       struct ts_error *err);
enum ts_status ts_colfile_close(struct ts_colfile *file, struct ts_error *err);
void ts_colfile_release(struct ts_colfile *file); /* harmless where open() failed, or twice */

/* The values of the row in the making. A column that gets none has an unknown value. */
static inline void ts_colfile_int(struct ts_colfile *file, size_t column, int64_t value)
{
	TS_ASSERT_HOT(column < file->setup.nr_columns);
	file->arrays[column].as.ints[file->nr_rows] = value;
	file->arrays[column].known[file->nr_rows] = 1;
}

/* Numbers below 0 are unknown. */
static inline void ts_colfile_count(struct ts_colfile *file, size_t column, int64_t value)
{
	if (value >= 0)
		ts_colfile_int(file, column, value);
}

static inline void ts_colfile_real(struct ts_colfile *file, size_t column, double value)
{
	TS_ASSERT_HOT(column < file->setup.nr_columns);
	file->arrays[column].as.reals[file->nr_rows] = value;
	file->arrays[column].known[file->nr_rows] = value == value; /* not NaN */
}

static inline void ts_colfile_code(struct ts_colfile *file, size_t column, uint32_t code)
{
	TS_ASSERT_HOT(column < file->setup.nr_columns);
	file->arrays[column].as.codes[file->nr_rows] = code;
	file->arrays[column].known[file->nr_rows] = code != UINT32_MAX;
}

void ts_colfile_text(struct ts_colfile *file, size_t column, struct ts_bytes text);
enum ts_status ts_colfile_end_row(struct ts_colfile *file, struct ts_error *err);

/* The text as it stands in a file: mended, if it is not UTF-8. */
void ts_colfile_put_text(struct ts_buf *out, struct ts_bytes text);

/* By its name, "arrow" or "parquet"; NULL: there is none. */
const struct ts_colfile_form *ts_colfile_form_find(const char *name);
const char *ts_colfile_form_name(const struct ts_colfile_form *form);

#endif
