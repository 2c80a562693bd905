/* SPDX-License-Identifier: MIT */
/* Rows -> batches -> a form's bytes -> the drain. */
#include "write/columns/colfile.h"

#include <stdlib.h>

#include "write/columns/form.h"

static const struct ts_colfile_form *const forms[] = { &ts_colfile_arrow, &ts_colfile_parquet };

const struct ts_colfile_form *ts_colfile_form_find(const char *name)
{
	for (size_t i = 0; name && i < TS_NELEM(forms); i++)
		if (strcmp(forms[i]->name, name) == 0)
			return forms[i];
	return NULL;
}

const char *ts_colfile_form_name(const struct ts_colfile_form *form)
{
	TS_ASSERT(form);
	return form->name;
}

static const size_t value_sizes[TS_NR_COLFILE_TYPES] = {
	[TS_COLFILE_INT] = sizeof(int64_t),   [TS_COLFILE_UINT] = sizeof(int64_t),
	[TS_COLFILE_REAL] = sizeof(double),   [TS_COLFILE_BOOL] = sizeof(int64_t),
	[TS_COLFILE_CODE] = sizeof(uint32_t), [TS_COLFILE_TEXT] = sizeof(struct ts_bytes),
};

static enum ts_status colfile_make_arrays(struct ts_colfile *file, struct ts_error *err)
{
	size_t nr = file->setup.nr_columns;

	file->arrays = calloc(nr + 1, sizeof(*file->arrays));
	for (size_t i = 0; file->arrays && i < nr; i++) {
		struct ts_colfile_array *array = &file->arrays[i];

		array->as.any = calloc(TS_COLFILE_ROWS, value_sizes[file->setup.columns[i].type]);
		array->known = calloc(TS_COLFILE_ROWS, 1);
		if (!array->as.any || !array->known)
			return ts_fail_nomem(err);
	}
	return file->arrays ? TS_OK : ts_fail_nomem(err);
}

enum ts_status ts_colfile_open(struct ts_colfile *file, const struct ts_colfile_setup *setup,
			       struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(file && setup && setup->form && setup->columns && setup->drain);
	*file = (struct ts_colfile){ .setup = *setup, .out = TS_BUF_INIT };
	file->own = calloc(1, setup->form->own_size);
	st = file->own ? colfile_make_arrays(file, err) : ts_fail_nomem(err);
	if (st == TS_OK)
		st = setup->form->begin(file, err);
	return st ? st : ts_colfile_drain(file, err);
}

static enum ts_status put_batch(struct ts_colfile *file, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < file->setup.nr_columns; i++) {
		struct ts_colfile_array *array = &file->arrays[i];

		for (size_t row = 0; row < file->nr_rows; row++)
			array->nr_unknown += !array->known[row];
	}
	st = file->setup.form->batch(file, err);
	file->nr_all_rows += file->nr_rows;
	for (size_t i = 0; i < file->setup.nr_columns; i++) {
		memset(file->arrays[i].known, 0, file->nr_rows);
		file->arrays[i].nr_unknown = 0;
	}
	file->nr_rows = file->nr_text_bytes = 0;
	return st ? st : ts_colfile_drain(file, err);
}

void ts_colfile_text(struct ts_colfile *file, size_t column, struct ts_bytes text)
{
	TS_ASSERT_HOT(column < file->setup.nr_columns);
	file->arrays[column].as.texts[file->nr_rows] = text;
	file->arrays[column].known[file->nr_rows] = 1;
	file->nr_text_bytes += text.n;
}

enum ts_status ts_colfile_end_row(struct ts_colfile *file, struct ts_error *err)
{
	file->nr_rows++;
	if (file->nr_rows < TS_COLFILE_ROWS && file->nr_text_bytes < TS_COLFILE_TEXT_BYTES)
		return TS_OK;
	return put_batch(file, err);
}

enum ts_status ts_colfile_close(struct ts_colfile *file, struct ts_error *err)
{
	enum ts_status st = file->nr_rows > 0 ? put_batch(file, err) : TS_OK;

	TS_ASSERT(file && file->arrays);
	if (st == TS_OK)
		st = file->setup.form->end(file, err);
	return st ? st : ts_colfile_drain(file, err);
}

void ts_colfile_release(struct ts_colfile *file)
{
	TS_ASSERT(file);
	if (file->own)
		file->setup.form->release(file);
	free(file->own);
	for (size_t i = 0; file->arrays && i < file->setup.nr_columns; i++) {
		free(file->arrays[i].as.any);
		free(file->arrays[i].known);
	}
	free(file->arrays);
	ts_buf_release(&file->out);
	*file = (struct ts_colfile){ .own = NULL };
}
