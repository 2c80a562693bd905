/* SPDX-License-Identifier: MIT */
/* A form of a file of columns: how a batch becomes bytes. */
#ifndef TS_WRITE_COLUMNS_FORM_H
#define TS_WRITE_COLUMNS_FORM_H

#include "write/columns/colfile.h"

struct ts_colfile_form {
	const char *name;
	size_t own_size; /* of the struct at .own; zeroed at first */
	/* Each writes to file->out. */
	enum ts_status (*begin)(struct ts_colfile *file, struct ts_error *err);
	enum ts_status (*batch)(struct ts_colfile *file, struct ts_error *err);
	enum ts_status (*end)(struct ts_colfile *file, struct ts_error *err);
	void (*release)(struct ts_colfile *file);
};

/* Where the next byte of file->out will be in the file. */
static inline uint64_t ts_colfile_at(const struct ts_colfile *file)
{
	return file->nr_drained + file->out.n;
}

/* Lets go what is in file->out. */
enum ts_status ts_colfile_drain(struct ts_colfile *file, struct ts_error *err);

/* A bit a value, the first one lowest: of NR values that are 0 or 1. */
void ts_colfile_put_bits(struct ts_buf *out, const uint8_t *values, size_t nr);

#endif
