/* SPDX-License-Identifier: MIT */
/*
 * Parquet (https://github.com/apache/parquet-format): "PAR1", row groups, metadata, its length, "PAR1". A batch is a row
 * group; of a column it has one page of data, and in front of it, where texts are codes, one page with those texts that
 * the row group has. Integers are differences, codes are runs and packed bits, pages are packed with Zstandard.
 *
 * Row groups have the least and the largest integer of each column, so that readers pass over what a question does not
 * ask for. Left out: bloom filters, page indices, encryption; nested columns.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/work.h"
#include "codec/thrift.h"
#include "codec/zstd.h"
#include "write/columns/form.h"
#include "write/columns/pages.h"

#define MAGIC TS_LIT("PAR1")

enum { PAGE_DATA = 0, PAGE_TEXTS = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RUNS = 3, ENCODING_DIFFERENCES = 5, ENCODING_CODES = 8 };
enum { CODEC_ZSTD = 6, OPTIONAL = 1, TEXT_AS_CONVERTED = 0, UINT64_AS_CONVERTED = 14 };
enum { PHYSICAL_BOOL = 0, PHYSICAL_INT64 = 2, PHYSICAL_DOUBLE = 5, PHYSICAL_BYTES = 6 };

static const struct physical {
	int type, encoding;
	int converted; /* -1: there is none */
	bool has_bounds;
} physicals[TS_NR_COLFILE_TYPES] = {
	[TS_COLFILE_INT] = { PHYSICAL_INT64, ENCODING_DIFFERENCES, -1, true },
	[TS_COLFILE_UINT] = { PHYSICAL_INT64, ENCODING_DIFFERENCES, UINT64_AS_CONVERTED, false },
	[TS_COLFILE_REAL] = { PHYSICAL_DOUBLE, ENCODING_PLAIN, -1, false },
	[TS_COLFILE_BOOL] = { PHYSICAL_BOOL, ENCODING_PLAIN, -1, false },
	[TS_COLFILE_TEXT] = { PHYSICAL_BYTES, ENCODING_PLAIN, TEXT_AS_CONVERTED, false },
	[TS_COLFILE_CODE] = { PHYSICAL_BYTES, ENCODING_CODES, TEXT_AS_CONVERTED, false },
};

/* A column of a row group, as its metadata says. */
struct chunk {
	uint64_t at, nr_bytes,
		nr_plain;     /* in the file, and before they were packed, with headers */
	uint64_t texts_bytes; /* of these, the page of texts; 0: there is none */
	int64_t least, most;
	uint32_t nr_unknown;
	bool has_bounds;
};

struct group {
	uint64_t nr_rows;
	struct chunk *chunks; /* one a column */
};

/* What a thread needs of its own to encode a column. */
struct scratch {
	struct ts_buf page;
	uint32_t *small; /* one a row */
	int64_t *ints;
};

struct parquet {
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct ts_buf *encoded; /* one a column */
	uint32_t **
		places; /* one a column of codes: by code, its place in the row group's texts, plus 1 */
	struct scratch *scratches;
	size_t nr_scratches;
};

static enum ts_status make_scratches(struct parquet *own, size_t nr, struct ts_error *err)
{
	own->scratches = calloc(nr, sizeof(*own->scratches));
	own->nr_scratches = own->scratches ? nr : 0;
	for (size_t i = 0; i < own->nr_scratches; i++) {
		own->scratches[i].small = malloc(TS_COLFILE_ROWS * sizeof(uint32_t));
		own->scratches[i].ints = malloc(TS_COLFILE_ROWS * sizeof(int64_t));
		if (!own->scratches[i].small || !own->scratches[i].ints)
			return ts_fail_nomem(err);
	}
	return own->scratches ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status parquet_begin(struct ts_colfile *file, struct ts_error *err)
{
	struct parquet *own = file->own;
	size_t nr = file->setup.nr_columns;

	own->encoded = calloc(nr + 1, sizeof(*own->encoded));
	own->places = calloc(nr + 1, sizeof(*own->places));
	if (!own->encoded || !own->places)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++) {
		const struct ts_colfile_column *column = &file->setup.columns[i];

		if (column->type != TS_COLFILE_CODE)
			continue;
		own->places[i] = calloc(column->texts->nr + 1, sizeof(uint32_t));
		if (!own->places[i])
			return ts_fail_nomem(err);
	}
	ts_buf_put(&file->out, MAGIC);
	return make_scratches(own, TS_MAX(file->setup.nr_threads, 1), err);
}

static void parquet_release(struct ts_colfile *file)
{
	struct parquet *own = file->own;

	for (size_t i = 0; i < own->nr_groups; i++)
		free(own->groups[i].chunks);
	free(own->groups);
	for (size_t i = 0; i < file->setup.nr_columns; i++) {
		if (own->encoded)
			ts_buf_release(&own->encoded[i]);
		if (own->places)
			free(own->places[i]);
	}
	free(own->encoded);
	free(own->places);
	for (size_t i = 0; i < own->nr_scratches; i++) {
		ts_buf_release(&own->scratches[i].page);
		free(own->scratches[i].small);
		free(own->scratches[i].ints);
	}
	free(own->scratches);
}

/* Pages */

static void put_data_header(struct ts_thrift *header, size_t nr, int encoding)
{
	struct ts_thrift data = ts_thrift_struct(header, 5);

	ts_thrift_int(&data, 1, TS_THRIFT_I32, (int64_t)nr);
	ts_thrift_int(&data, 2, TS_THRIFT_I32, encoding);
	ts_thrift_int(&data, 3, TS_THRIFT_I32, ENCODING_RUNS);
	ts_thrift_int(&data, 4, TS_THRIFT_I32, ENCODING_RUNS);
	ts_thrift_end(&data);
}

/* The header and the packed PAGE behind OUT; CHUNK gets their bytes. */
static void parquet_put_page(struct ts_buf *out, int kind, size_t nr, int encoding,
			     const struct ts_buf *page, struct chunk *chunk)
{
	struct ts_buf packed = TS_BUF_INIT;
	struct ts_thrift header = ts_thrift_begin(out);
	size_t before = out->n, head;

	ts_zstd_put(&packed, ts_buf_bytes(page));
	ts_thrift_int(&header, 1, TS_THRIFT_I32, kind);
	ts_thrift_int(&header, 2, TS_THRIFT_I32, (int64_t)page->n);
	ts_thrift_int(&header, 3, TS_THRIFT_I32, (int64_t)packed.n);
	if (kind == PAGE_DATA) {
		put_data_header(&header, nr, encoding);
	} else {
		struct ts_thrift texts = ts_thrift_struct(&header, 7);

		ts_thrift_int(&texts, 1, TS_THRIFT_I32, (int64_t)nr);
		ts_thrift_int(&texts, 2, TS_THRIFT_I32, ENCODING_PLAIN);
		ts_thrift_end(&texts);
	}
	ts_thrift_end(&header);
	head = out->n - before;
	ts_buf_put(out, ts_buf_bytes(&packed));
	out->failed |= packed.failed || page->failed;
	ts_buf_release(&packed);
	chunk->nr_bytes += out->n - before;
	chunk->nr_plain += head + page->n;
}

static void put_u32(struct ts_buf *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		ts_buf_putc(out, (char)(value >> (8 * i)));
}

/* Which values are known, as runs, behind their length. */
static void parquet_put_known(struct scratch *scratch, const struct ts_colfile_array *array,
			      size_t nr)
{
	size_t at = scratch->page.n;

	put_u32(&scratch->page, 0);
	for (size_t i = 0; i < nr; i++)
		scratch->small[i] = array->known[i];
	ts_pages_runs(&scratch->page, scratch->small, nr, 1);
	for (size_t i = 0; i < 4 && !scratch->page.failed; i++)
		scratch->page.p[at + i] = (uint8_t)((scratch->page.n - at - 4) >> (8 * i));
}

static void put_ints(struct scratch *scratch, const struct ts_colfile_array *array, size_t nr,
		     struct chunk *chunk)
{
	size_t nr_known = 0;

	chunk->least = INT64_MAX;
	chunk->most = INT64_MIN;
	for (size_t i = 0; i < nr; i++) {
		if (!array->known[i])
			continue;
		chunk->least = TS_MIN(chunk->least, array->as.ints[i]);
		chunk->most = TS_MAX(chunk->most, array->as.ints[i]);
		scratch->ints[nr_known++] = array->as.ints[i];
	}
	chunk->has_bounds = nr_known > 0;
	ts_pages_differences(&scratch->page, scratch->ints, nr_known);
}

static void put_reals(struct scratch *scratch, const struct ts_colfile_array *array, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t bits;

		memcpy(&bits, &array->as.reals[i], sizeof(bits));
		for (int k = 0; array->known[i] && k < 8; k++)
			ts_buf_putc(&scratch->page, (char)(bits >> (8 * k)));
	}
}

static void put_bools(struct scratch *scratch, const struct ts_colfile_array *array, size_t nr)
{
	uint8_t *values = (uint8_t *)scratch->small;
	size_t nr_known = 0;

	for (size_t i = 0; i < nr; i++)
		if (array->known[i])
			values[nr_known++] = array->as.ints[i] != 0;
	ts_colfile_put_bits(&scratch->page, values, nr_known);
}

static void parquet_put_text(struct ts_buf *out, struct ts_bytes text)
{
	size_t at = out->n;

	put_u32(out, 0);
	ts_colfile_put_text(out, text);
	for (size_t i = 0; i < 4 && !out->failed; i++)
		out->p[at + i] = (uint8_t)((out->n - at - 4) >> (8 * i));
}

static void parquet_put_texts(struct scratch *scratch, const struct ts_colfile_array *array,
			      size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (array->known[i])
			parquet_put_text(&scratch->page, array->as.texts[i]);
}

/* The page of the texts that the row group has, in the order in which they come; their number. */
static size_t put_used_texts(struct ts_buf *out, struct scratch *scratch, uint32_t *places,
			     const struct ts_colfile_texts *texts,
			     const struct ts_colfile_array *array, size_t nr, struct chunk *chunk)
{
	uint32_t nr_used = 0;

	ts_buf_clear(&scratch->page);
	for (size_t i = 0; i < nr; i++) {
		uint32_t code = array->as.codes[i];

		TS_ASSERT_HOT(!array->known[i] || code < texts->nr);
		if (!array->known[i] || places[code])
			continue;
		places[code] = ++nr_used;
		parquet_put_text(&scratch->page, texts->items[code]);
	}
	parquet_put_page(out, PAGE_TEXTS, nr_used, ENCODING_PLAIN, &scratch->page, chunk);
	chunk->texts_bytes = chunk->nr_bytes;
	return nr_used;
}

static void put_codes(struct scratch *scratch, const uint32_t *places,
		      const struct ts_colfile_array *array, size_t nr, size_t nr_used)
{
	unsigned width = ts_pages_width(nr_used);
	size_t nr_known = 0;

	for (size_t i = 0; i < nr; i++)
		if (array->known[i])
			scratch->small[nr_known++] = places[array->as.codes[i]] - 1;
	ts_buf_putc(&scratch->page, (char)width);
	ts_pages_runs(&scratch->page, scratch->small, nr_known, width);
}

static void parquet_put_values(const struct ts_colfile *file, size_t index, struct scratch *scratch,
			       size_t nr_used, struct chunk *chunk)
{
	const struct parquet *own = file->own;
	const struct ts_colfile_array *array = &file->arrays[index];
	size_t nr = file->nr_rows;

	switch (file->setup.columns[index].type) {
	case TS_COLFILE_INT:
	case TS_COLFILE_UINT:	  put_ints(scratch, array, nr, chunk); break;
	case TS_COLFILE_REAL:	  put_reals(scratch, array, nr); break;
	case TS_COLFILE_BOOL:	  put_bools(scratch, array, nr); break;
	case TS_COLFILE_TEXT:	  parquet_put_texts(scratch, array, nr); break;
	case TS_COLFILE_CODE:	  put_codes(scratch, own->places[index], array, nr, nr_used); break;
	case TS_NR_COLFILE_TYPES: break;
	}
}

struct encoding {
	struct ts_colfile *file;
	struct group *group;
};

static enum ts_status parquet_encode(void *ctx, size_t index, size_t thread, struct ts_error *err)
{
	const struct encoding *encoding = ctx;
	const struct ts_colfile *file = encoding->file;
	const struct ts_colfile_column *column = &file->setup.columns[index];
	const struct ts_colfile_array *array = &file->arrays[index];
	struct parquet *own = file->own;
	struct scratch *scratch = &own->scratches[thread];
	struct chunk *chunk = &encoding->group->chunks[index];
	struct ts_buf *out = &own->encoded[index];
	size_t nr_used = 0;

	ts_buf_clear(out);
	if (column->type == TS_COLFILE_CODE)
		nr_used = put_used_texts(out, scratch, own->places[index], column->texts, array,
					 file->nr_rows, chunk);
	ts_buf_clear(&scratch->page);
	parquet_put_known(scratch, array, file->nr_rows);
	parquet_put_values(file, index, scratch, nr_used, chunk);
	if (column->type == TS_COLFILE_CODE) {
		/* For the next row group. */
		for (size_t i = 0; i < file->nr_rows; i++)
			if (array->known[i])
				own->places[index][array->as.codes[i]] = 0;
	}
	parquet_put_page(out, PAGE_DATA, file->nr_rows, physicals[column->type].encoding,
			 &scratch->page, chunk);
	chunk->nr_unknown = (uint32_t)array->nr_unknown;
	chunk->has_bounds &= physicals[column->type].has_bounds;
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

static struct group *parquet_add_group(struct parquet *own, size_t nr_columns)
{
	struct group *group;

	if (!ts_grow(&own->groups, &own->cap_groups, own->nr_groups + 1, sizeof(*own->groups)))
		return NULL;
	group = &own->groups[own->nr_groups];
	*group = (struct group){ .chunks = calloc(nr_columns, sizeof(*group->chunks)) };
	own->nr_groups += group->chunks != NULL;
	return group->chunks ? group : NULL;
}

static enum ts_status parquet_batch(struct ts_colfile *file, struct ts_error *err)
{
	struct parquet *own = file->own;
	struct encoding encoding = { file, parquet_add_group(own, file->setup.nr_columns) };
	enum ts_status st;

	if (!encoding.group)
		return ts_fail_nomem(err);
	encoding.group->nr_rows = file->nr_rows;
	st = ts_work_run(own->nr_scratches, file->setup.nr_columns, parquet_encode, &encoding, err);
	for (size_t i = 0; i < file->setup.nr_columns && st == TS_OK; i++) {
		encoding.group->chunks[i].at = ts_colfile_at(file);
		ts_buf_put(&file->out, ts_buf_bytes(&own->encoded[i]));
		st = ts_colfile_drain(file, err);
	}
	return st;
}

/* Metadata */

static void put_logical(struct ts_thrift *element, enum ts_colfile_type type)
{
	struct ts_thrift logical, text;

	if (type != TS_COLFILE_TEXT && type != TS_COLFILE_CODE)
		return;
	logical = ts_thrift_struct(element, 10);
	text = ts_thrift_struct(&logical, 1);
	ts_thrift_end(&text);
	ts_thrift_end(&logical);
}

static void parquet_put_schema(struct ts_thrift *metadata, const struct ts_colfile_setup *setup)
{
	struct ts_thrift root;

	ts_thrift_list(metadata, 2, TS_THRIFT_STRUCT, setup->nr_columns + 1);
	root = ts_thrift_begin(metadata->out);
	ts_thrift_text(&root, 4, TS_LIT("schema"));
	ts_thrift_int(&root, 5, TS_THRIFT_I32, (int64_t)setup->nr_columns);
	ts_thrift_end(&root);
	for (size_t i = 0; i < setup->nr_columns; i++) {
		const struct ts_colfile_column *column = &setup->columns[i];
		const struct physical *physical = &physicals[column->type];
		struct ts_thrift element = ts_thrift_begin(metadata->out);

		ts_thrift_int(&element, 1, TS_THRIFT_I32, physical->type);
		ts_thrift_int(&element, 3, TS_THRIFT_I32, OPTIONAL);
		ts_thrift_text(&element, 4, ts_bytes_of(column->name));
		if (physical->converted >= 0)
			ts_thrift_int(&element, 6, TS_THRIFT_I32, physical->converted);
		put_logical(&element, column->type);
		ts_thrift_end(&element);
	}
}

static struct ts_bytes as_bytes(uint8_t bytes[8], int64_t value)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
	return (struct ts_bytes){ bytes, 8 };
}

static void put_statistics(struct ts_thrift *column, const struct chunk *chunk)
{
	struct ts_thrift statistics = ts_thrift_struct(column, 12);
	uint8_t bytes[8];

	ts_thrift_int(&statistics, 3, TS_THRIFT_I64, chunk->nr_unknown);
	if (chunk->has_bounds) {
		ts_thrift_text(&statistics, 5, as_bytes(bytes, chunk->most));
		ts_thrift_text(&statistics, 6, as_bytes(bytes, chunk->least));
	}
	ts_thrift_end(&statistics);
}

static void put_chunk_metadata(struct ts_thrift *column, const struct ts_colfile_column *of,
			       const struct chunk *chunk, uint64_t nr_rows)
{
	const struct physical *physical = &physicals[of->type];
	struct ts_thrift metadata = ts_thrift_struct(column, 3);

	ts_thrift_int(&metadata, 1, TS_THRIFT_I32, physical->type);
	ts_thrift_list(&metadata, 2, TS_THRIFT_I32, 3);
	ts_thrift_item_int(metadata.out, ENCODING_PLAIN);
	ts_thrift_item_int(metadata.out, ENCODING_RUNS);
	ts_thrift_item_int(metadata.out, physical->encoding);
	ts_thrift_list(&metadata, 3, TS_THRIFT_TEXT, 1);
	ts_thrift_item_text(metadata.out, ts_bytes_of(of->name));
	ts_thrift_int(&metadata, 4, TS_THRIFT_I32, CODEC_ZSTD);
	ts_thrift_int(&metadata, 5, TS_THRIFT_I64, (int64_t)nr_rows);
	ts_thrift_int(&metadata, 6, TS_THRIFT_I64, (int64_t)chunk->nr_plain);
	ts_thrift_int(&metadata, 7, TS_THRIFT_I64, (int64_t)chunk->nr_bytes);
	ts_thrift_int(&metadata, 9, TS_THRIFT_I64, (int64_t)(chunk->at + chunk->texts_bytes));
	if (chunk->texts_bytes > 0)
		ts_thrift_int(&metadata, 11, TS_THRIFT_I64, (int64_t)chunk->at);
	put_statistics(&metadata, chunk);
	ts_thrift_end(&metadata);
}

static void parquet_put_group(struct ts_buf *out, const struct ts_colfile_setup *setup,
			      const struct group *group)
{
	struct ts_thrift row_group = ts_thrift_begin(out);
	uint64_t nr_plain = 0;

	ts_thrift_list(&row_group, 1, TS_THRIFT_STRUCT, setup->nr_columns);
	for (size_t i = 0; i < setup->nr_columns; i++) {
		struct ts_thrift column = ts_thrift_begin(out);

		ts_thrift_int(&column, 2, TS_THRIFT_I64, (int64_t)group->chunks[i].at);
		put_chunk_metadata(&column, &setup->columns[i], &group->chunks[i], group->nr_rows);
		ts_thrift_end(&column);
		nr_plain += group->chunks[i].nr_plain;
	}
	ts_thrift_int(&row_group, 2, TS_THRIFT_I64, (int64_t)nr_plain);
	ts_thrift_int(&row_group, 3, TS_THRIFT_I64, (int64_t)group->nr_rows);
	ts_thrift_end(&row_group);
}

static void parquet_put_facts(struct ts_thrift *metadata, const struct ts_colfile_setup *setup)
{
	ts_thrift_list(metadata, 5, TS_THRIFT_STRUCT, setup->nr_facts);
	for (size_t i = 0; i < setup->nr_facts; i++) {
		struct ts_thrift fact = ts_thrift_begin(metadata->out);

		ts_thrift_text(&fact, 1, ts_bytes_of(setup->facts[i].key));
		ts_thrift_text(&fact, 2, setup->facts[i].value);
		ts_thrift_end(&fact);
	}
}

/* Bounds are in the order of the columns' types: without this, readers do not use them. */
static void put_orders(struct ts_thrift *metadata, size_t nr)
{
	ts_thrift_list(metadata, 7, TS_THRIFT_STRUCT, nr);
	for (size_t i = 0; i < nr; i++) {
		struct ts_thrift order = ts_thrift_begin(metadata->out);
		struct ts_thrift by_type = ts_thrift_struct(&order, 1);

		ts_thrift_end(&by_type);
		ts_thrift_end(&order);
	}
}

static enum ts_status parquet_end(struct ts_colfile *file, struct ts_error *err)
{
	const struct parquet *own = file->own;
	const struct ts_colfile_setup *setup = &file->setup;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_thrift metadata = ts_thrift_begin(&text);

	ts_thrift_int(&metadata, 1, TS_THRIFT_I32, 2);
	parquet_put_schema(&metadata, setup);
	ts_thrift_int(&metadata, 3, TS_THRIFT_I64, (int64_t)file->nr_all_rows);
	ts_thrift_list(&metadata, 4, TS_THRIFT_STRUCT, own->nr_groups);
	for (size_t i = 0; i < own->nr_groups; i++)
		parquet_put_group(&text, setup, &own->groups[i]);
	parquet_put_facts(&metadata, setup);
	ts_thrift_text(&metadata, 6, ts_bytes_of(setup->creator));
	put_orders(&metadata, setup->nr_columns);
	ts_thrift_end(&metadata);
	ts_buf_put(&file->out, ts_buf_bytes(&text));
	put_u32(&file->out, (uint32_t)text.n);
	ts_buf_put(&file->out, MAGIC);
	file->out.failed |= text.failed;
	ts_buf_release(&text);
	return file->out.failed ? ts_fail_nomem(err) : TS_OK;
}

const struct ts_colfile_form ts_colfile_parquet = {
	.name = "parquet",
	.own_size = sizeof(struct parquet),
	.begin = parquet_begin,
	.batch = parquet_batch,
	.end = parquet_end,
	.release = parquet_release,
};
