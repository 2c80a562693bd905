/* SPDX-License-Identifier: MIT */
/*
 * Arrow's IPC file format (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format): messages, each a
 * FlatBuffer and a body: the schema, the texts of each column of codes, the batches; and a footer that says where they
 * stand. Buffers are packed with Zstandard, as the format has it (BodyCompression), so they are not for mapping.
 *
 * Left out: streams, nested columns, texts that come later (deltas).
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/work.h"
#include "codec/flat.h"
#include "codec/zstd.h"
#include "write/columns/form.h"

#define MAGIC	    TS_LIT("ARROW1\0\0")
#define MAGIC_END   TS_LIT("ARROW1")
#define ALIGN	    8
#define MOST_BUFFERS 3

/* Numbers of Schema.fbs, Message.fbs and File.fbs. */
enum { METADATA_V5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_TEXTS = 2, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_REAL = 3, TYPE_TEXT = 5, TYPE_BOOL = 6, PRECISION_DOUBLE = 2 };
enum { COMPRESSION_ZSTD = 1, COMPRESSION_OF_BUFFERS = 0 };

/* Where a message stands. */
struct block {
	uint64_t at, nr_body;
	uint32_t nr_metadata;
};
struct blocks {
	struct block *items;
	size_t nr, cap;
};

/* The buffers of a column, packed, one behind the other. */
struct body {
	struct ts_buf bytes, plain;
	uint64_t at[MOST_BUFFERS], nr_bytes[MOST_BUFFERS];
	size_t nr;
};

struct arrow {
	struct blocks texts, batches;
	struct body *bodies; /* one a column */
};

static void arrow_release(struct ts_colfile *file)
{
	struct arrow *own = file->own;

	for (size_t i = 0; own->bodies && i < file->setup.nr_columns; i++) {
		ts_buf_release(&own->bodies[i].bytes);
		ts_buf_release(&own->bodies[i].plain);
	}
	free(own->bodies);
	free(own->texts.items);
	free(own->batches.items);
}

/* Little end first, as nearly every machine has it. */
static void arrow_put_number(struct ts_buf *out, uint64_t value, size_t size)
{
	if (!ts_buf_room(out, size))
		return;
	for (size_t i = 0; i < size; i++)
		out->p[out->n + i] = (uint8_t)(value >> (8 * i));
	out->n += size;
}

/* The schema */

static size_t put_int_type(struct ts_buf *out, size_t link, unsigned bits, bool is_signed)
{
	const struct ts_flat_field fields[] = { { 0, 4, bits }, { 1, 1, is_signed } };

	ts_flat_table(out, link, fields, TS_NELEM(fields), NULL);
	return link;
}

static const unsigned type_of[TS_NR_COLFILE_TYPES] = {
	[TS_COLFILE_INT] = TYPE_INT,   [TS_COLFILE_UINT] = TYPE_INT,  [TS_COLFILE_REAL] = TYPE_REAL,
	[TS_COLFILE_BOOL] = TYPE_BOOL, [TS_COLFILE_TEXT] = TYPE_TEXT, [TS_COLFILE_CODE] = TYPE_TEXT,
};

static void put_type(struct ts_buf *out, size_t link, enum ts_colfile_type type)
{
	const struct ts_flat_field real[] = { { 0, 2, PRECISION_DOUBLE } };

	if (type == TS_COLFILE_INT || type == TS_COLFILE_UINT)
		put_int_type(out, link, 64, type == TS_COLFILE_INT);
	else
		ts_flat_table(out, link, real, type == TS_COLFILE_REAL, NULL);
}

/* Codes of 32 bits with a sign, which all readers take; the column's number is the texts' id. */
static void put_dictionary(struct ts_buf *out, size_t link, size_t id)
{
	const struct ts_flat_field fields[] = { { 0, 8, id }, { 1, TS_FLAT_LINK } };
	size_t at[2];

	ts_flat_table(out, link, fields, TS_NELEM(fields), at);
	put_int_type(out, at[1], 32, true);
}

static void arrow_put_field(struct ts_buf *out, size_t link, const struct ts_colfile_column *column,
			    size_t id)
{
	bool is_code = column->type == TS_COLFILE_CODE;
	const struct ts_flat_field fields[] = {
		{ 0, TS_FLAT_LINK }, { 1, 1, true },	  { 2, 1, type_of[column->type] },
		{ 3, TS_FLAT_LINK }, { 5, TS_FLAT_LINK }, { 4, TS_FLAT_LINK },
	};
	size_t at[TS_NELEM(fields)];

	ts_flat_table(out, link, fields, TS_NELEM(fields) - !is_code, at);
	ts_flat_text(out, at[0], ts_bytes_of(column->name));
	put_type(out, at[3], column->type);
	ts_flat_vector(out, at[4], 0, TS_FLAT_LINK);
	if (is_code)
		put_dictionary(out, at[5], id);
}

static void arrow_put_facts(struct ts_buf *out, size_t link, const struct ts_colfile_setup *setup)
{
	const struct ts_flat_field fields[] = { { 0, TS_FLAT_LINK }, { 1, TS_FLAT_LINK } };
	size_t items = ts_flat_vector(out, link, setup->nr_facts, TS_FLAT_LINK), at[2];

	for (size_t i = 0; i < setup->nr_facts; i++) {
		ts_flat_table(out, items + 4 * i, fields, TS_NELEM(fields), at);
		ts_flat_text(out, at[0], ts_bytes_of(setup->facts[i].key));
		ts_flat_text(out, at[1], setup->facts[i].value);
	}
}

static void arrow_put_schema(struct ts_buf *out, size_t link, const struct ts_colfile_setup *setup)
{
	const struct ts_flat_field fields[] = { { 1, TS_FLAT_LINK }, { 2, TS_FLAT_LINK } };
	size_t at[2], items;

	ts_flat_table(out, link, fields, TS_NELEM(fields), at);
	items = ts_flat_vector(out, at[0], setup->nr_columns, TS_FLAT_LINK);
	for (size_t i = 0; i < setup->nr_columns; i++)
		arrow_put_field(out, items + 4 * i, &setup->columns[i], i);
	arrow_put_facts(out, at[1], setup);
}

/* Messages */

/* The table of a message in OUT; the place that leads to its header. */
static size_t begin_message(struct ts_buf *out, unsigned kind, uint64_t nr_body)
{
	const struct ts_flat_field fields[] = {
		{ 3, 8, nr_body }, { 0, 2, METADATA_V5 }, { 1, 1, kind }, { 2, TS_FLAT_LINK }
	};
	size_t at[TS_NELEM(fields)], root = ts_flat_begin(out);

	ts_flat_table(out, root, fields, TS_NELEM(fields), at);
	return at[3];
}

/* METADATA behind what the file has; the body follows. BLOCKS may be NULL. */
static enum ts_status arrow_put_message(struct ts_colfile *file, struct ts_buf *metadata,
					uint64_t nr_body, struct blocks *blocks,
					struct ts_error *err)
{
	uint64_t at = ts_colfile_at(file);

	ts_flat_align(metadata, ALIGN);
	arrow_put_number(&file->out, UINT32_MAX, 4);
	arrow_put_number(&file->out, metadata->n, 4);
	ts_buf_put(&file->out, ts_buf_bytes(metadata));
	if (metadata->failed || (blocks && !ts_grow(&blocks->items, &blocks->cap, blocks->nr + 1,
						    sizeof(struct block))))
		return ts_fail_nomem(err);
	if (blocks)
		blocks->items[blocks->nr++] =
			(struct block){ at, nr_body, (uint32_t)metadata->n + 8 };
	return ts_colfile_drain(file, err);
}

/* Bodies */

/* Packed where that is shorter: behind how long it is unpacked, or -1. */
static void add_buffer(struct body *body, struct ts_bytes bytes)
{
	struct ts_buf *out = &body->bytes;
	size_t at = out->n;

	TS_ASSERT(body->nr < MOST_BUFFERS);
	if (bytes.n > 0) {
		arrow_put_number(out, bytes.n, 8);
		ts_zstd_put(out, bytes);
		if (!out->failed && out->n - at - 8 >= bytes.n) {
			out->n = at;
			arrow_put_number(out, UINT64_MAX, 8);
			ts_buf_put(out, bytes);
		}
	}
	body->at[body->nr] = at;
	body->nr_bytes[body->nr++] = out->n - at;
	ts_flat_align(out, ALIGN);
}

static void clear_body(struct body *body)
{
	ts_buf_clear(&body->bytes);
	body->nr = 0;
}

/* Texts: where each begins, and all of them; those that are not known (NULL: all are) are empty. */
static void add_texts(struct body *body, const struct ts_bytes *texts, const uint8_t *known,
		      size_t nr)
{
	struct ts_buf all = TS_BUF_INIT;

	ts_buf_clear(&body->plain);
	arrow_put_number(&body->plain, 0, 4);
	for (size_t i = 0; i < nr; i++) {
		if (!known || known[i])
			ts_colfile_put_text(&all, texts[i]);
		arrow_put_number(&body->plain, all.n, 4);
	}
	body->plain.failed |= all.failed || all.n > INT32_MAX;
	add_buffer(body, ts_buf_bytes(&body->plain));
	add_buffer(body, ts_buf_bytes(&all));
	body->bytes.failed |= body->plain.failed;
	ts_buf_release(&all);
}

static void add_numbers(struct body *body, const struct ts_colfile_array *array, size_t nr,
			enum ts_colfile_type type)
{
	ts_buf_clear(&body->plain);
	for (size_t i = 0; i < nr; i++) {
		uint64_t value = 0;

		if (type == TS_COLFILE_CODE)
			value = array->known[i] ? array->as.codes[i] : 0;
		else if (array->known[i])
			memcpy(&value, &array->as.ints[i], sizeof(value)); /* or a double's bits */
		arrow_put_number(&body->plain, value, type == TS_COLFILE_CODE ? 4 : 8);
	}
	add_buffer(body, ts_buf_bytes(&body->plain));
}

static void add_bools(struct body *body, const struct ts_colfile_array *array, size_t nr)
{
	ts_buf_clear(&body->plain);
	ts_buf_pad(&body->plain, '\0', (nr + 7) / 8);
	for (size_t i = 0; i < nr && !body->plain.failed; i++)
		body->plain.p[i / 8] |=
			(uint8_t)((array->known[i] && array->as.ints[i] != 0) << i % 8);
	add_buffer(body, ts_buf_bytes(&body->plain));
}

static enum ts_status arrow_encode(void *ctx, size_t index, size_t thread, struct ts_error *err)
{
	struct ts_colfile *file = ctx;
	struct body *body = &((struct arrow *)file->own)->bodies[index];
	const struct ts_colfile_array *array = &file->arrays[index];
	enum ts_colfile_type type = file->setup.columns[index].type;

	clear_body(body);
	ts_buf_clear(&body->plain);
	if (array->nr_unknown > 0)
		ts_colfile_put_bits(&body->plain, array->known, file->nr_rows);
	add_buffer(body, ts_buf_bytes(&body->plain));
	if (type == TS_COLFILE_TEXT)
		add_texts(body, array->as.texts, array->known, file->nr_rows);
	else if (type == TS_COLFILE_BOOL)
		add_bools(body, array, file->nr_rows);
	else
		add_numbers(body, array, file->nr_rows, type);
	return body->bytes.failed || body->plain.failed ? ts_fail_nomem(err) : TS_OK;
}

/* What the header of a batch says of NR bodies; UNKNOWN: of each, or NULL. */
static void put_batch_header(struct ts_buf *out, size_t link, uint64_t nr_rows,
			     const struct body *bodies, const struct ts_colfile_array *arrays,
			     size_t nr)
{
	const struct ts_flat_field fields[] = {
		{ 0, 8, nr_rows }, { 1, TS_FLAT_LINK }, { 2, TS_FLAT_LINK }, { 3, TS_FLAT_LINK }
	};
	const struct ts_flat_field packed[] = { { 0, 1, COMPRESSION_ZSTD },
						{ 1, 1, COMPRESSION_OF_BUFFERS } };
	size_t at[TS_NELEM(fields)], items, nr_buffers = 0, next = 0;
	uint64_t begin = 0;

	ts_flat_table(out, link, fields, TS_NELEM(fields), at);
	items = ts_flat_vector(out, at[1], nr, 16);
	for (size_t i = 0; i < nr; i++) {
		ts_flat_store(out, items + 16 * i, nr_rows, 8);
		ts_flat_store(out, items + 16 * i + 8, arrays ? arrays[i].nr_unknown : 0, 8);
		nr_buffers += bodies[i].nr;
	}
	items = ts_flat_vector(out, at[2], nr_buffers, 16);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < bodies[i].nr; k++, next++) {
			ts_flat_store(out, items + 16 * next, begin + bodies[i].at[k], 8);
			ts_flat_store(out, items + 16 * next + 8, bodies[i].nr_bytes[k], 8);
		}
		begin += bodies[i].bytes.n;
	}
	ts_flat_table(out, at[3], packed, TS_NELEM(packed), NULL);
}

static enum ts_status put_bodies(struct ts_colfile *file, const struct body *bodies, size_t nr,
				 struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		ts_buf_put(&file->out, ts_buf_bytes(&bodies[i].bytes));
		st = ts_colfile_drain(file, err);
	}
	return st;
}

static uint64_t arrow_sum_of(const struct body *bodies, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += bodies[i].bytes.n;
	return sum;
}

static enum ts_status arrow_batch(struct ts_colfile *file, struct ts_error *err)
{
	struct arrow *own = file->own;
	size_t nr = file->setup.nr_columns;
	struct ts_buf metadata = TS_BUF_INIT;
	uint64_t nr_body;
	enum ts_status st =
		ts_work_run(TS_MAX(file->setup.nr_threads, 1), nr, arrow_encode, file, err);

	if (st)
		return st;
	nr_body = arrow_sum_of(own->bodies, nr);
	put_batch_header(&metadata, begin_message(&metadata, HEADER_BATCH, nr_body), file->nr_rows,
			 own->bodies, file->arrays, nr);
	st = arrow_put_message(file, &metadata, nr_body, &own->batches, err);
	if (st == TS_OK)
		st = put_bodies(file, own->bodies, nr, err);
	ts_buf_release(&metadata);
	return st;
}

/* The texts of a column of codes, whose number is their id. */
static enum ts_status arrow_put_texts(struct ts_colfile *file, size_t index, struct ts_error *err)
{
	struct arrow *own = file->own;
	struct body *body = &own->bodies[index];
	const struct ts_colfile_texts *texts = file->setup.columns[index].texts;
	const struct ts_flat_field fields[] = { { 0, 8, index }, { 1, TS_FLAT_LINK } };
	struct ts_buf metadata = TS_BUF_INIT;
	size_t at[2];
	enum ts_status st;

	clear_body(body);
	add_buffer(body, (struct ts_bytes){ NULL, 0 });
	add_texts(body, texts->items, NULL, texts->nr);
	ts_flat_table(&metadata, begin_message(&metadata, HEADER_TEXTS, body->bytes.n), fields,
		      TS_NELEM(fields), at);
	put_batch_header(&metadata, at[1], texts->nr, body, NULL, 1);
	st = body->bytes.failed
		     ? ts_fail_nomem(err)
		     : arrow_put_message(file, &metadata, body->bytes.n, &own->texts, err);
	if (st == TS_OK)
		st = put_bodies(file, body, 1, err);
	ts_buf_release(&metadata);
	ts_buf_release(&body->bytes); /* all texts at once may have been large */
	ts_buf_release(&body->plain);
	return st;
}

static enum ts_status arrow_begin(struct ts_colfile *file, struct ts_error *err)
{
	struct arrow *own = file->own;
	struct ts_buf metadata = TS_BUF_INIT;
	enum ts_status st;

	own->bodies = calloc(file->setup.nr_columns + 1, sizeof(*own->bodies));
	if (!own->bodies)
		return ts_fail_nomem(err);
	ts_buf_put(&file->out, MAGIC);
	arrow_put_schema(&metadata, begin_message(&metadata, HEADER_SCHEMA, 0), &file->setup);
	st = arrow_put_message(file, &metadata, 0, NULL, err);
	ts_buf_release(&metadata);
	for (size_t i = 0; i < file->setup.nr_columns && st == TS_OK; i++)
		if (file->setup.columns[i].type == TS_COLFILE_CODE)
			st = arrow_put_texts(file, i, err);
	return st;
}

static void arrow_put_blocks(struct ts_buf *out, size_t link, const struct blocks *blocks)
{
	size_t items = ts_flat_vector(out, link, blocks->nr, 24);

	for (size_t i = 0; i < blocks->nr; i++) {
		ts_flat_store(out, items + 24 * i, blocks->items[i].at, 8);
		ts_flat_store(out, items + 24 * i + 8, blocks->items[i].nr_metadata, 4);
		ts_flat_store(out, items + 24 * i + 16, blocks->items[i].nr_body, 8);
	}
}

static enum ts_status arrow_end(struct ts_colfile *file, struct ts_error *err)
{
	const struct arrow *own = file->own;
	const struct ts_flat_field fields[] = {
		{ 0, 2, METADATA_V5 }, { 1, TS_FLAT_LINK }, { 2, TS_FLAT_LINK }, { 3, TS_FLAT_LINK }
	};
	struct ts_buf footer = TS_BUF_INIT;
	size_t at[TS_NELEM(fields)];

	ts_flat_table(&footer, ts_flat_begin(&footer), fields, TS_NELEM(fields), at);
	arrow_put_schema(&footer, at[1], &file->setup);
	arrow_put_blocks(&footer, at[2], &own->texts);
	arrow_put_blocks(&footer, at[3], &own->batches);
	arrow_put_number(&file->out, UINT32_MAX, 8); /* the end of the messages */
	ts_buf_put(&file->out, ts_buf_bytes(&footer));
	arrow_put_number(&file->out, footer.n, 4);
	ts_buf_put(&file->out, MAGIC_END);
	file->out.failed |= footer.failed;
	ts_buf_release(&footer);
	return file->out.failed ? ts_fail_nomem(err) : TS_OK;
}

const struct ts_colfile_form ts_colfile_arrow = {
	.name = "arrow",
	.own_size = sizeof(struct arrow),
	.begin = arrow_begin,
	.batch = arrow_batch,
	.end = arrow_end,
	.release = arrow_release,
};
