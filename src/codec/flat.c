/* SPDX-License-Identifier: MIT */
/* FlatBuffers from front to back. A link is the distance to what it names, which always lies behind it. */
#include "codec/flat.h"

#include "base/check.h"

#define LINK_BYTES 4

void ts_flat_align(struct ts_buf *out, size_t to)
{
	TS_ASSERT(out && to > 0);
	ts_buf_pad(out, '\0', (to - out->n % to) % to);
}

void ts_flat_store(struct ts_buf *out, size_t at, uint64_t value, size_t size)
{
	if (out->failed)
		return;
	TS_ASSERT(at + size <= out->n);
	for (size_t i = 0; i < size; i++)
		out->p[at + i] = (uint8_t)(value >> (8 * i));
}

static void link_to(struct ts_buf *out, size_t link, size_t place)
{
	ts_flat_store(out, link, place - link, LINK_BYTES);
}

size_t ts_flat_begin(struct ts_buf *out)
{
	size_t link;

	TS_ASSERT(out);
	ts_flat_align(out, 8);
	link = out->n;
	ts_buf_pad(out, '\0', LINK_BYTES);
	return link;
}

static size_t flat_size_of(const struct ts_flat_field *field)
{
	return field->size == TS_FLAT_LINK ? LINK_BYTES : field->size;
}

/* Where each field lies in the table, whose first four bytes lead to the list of these places. */
static size_t place_fields(const struct ts_flat_field *fields, size_t nr, uint16_t *offsets)
{
	size_t end = LINK_BYTES;

	for (size_t i = 0; i < nr; i++) {
		size_t size = flat_size_of(&fields[i]);

		end = (end + size - 1) / size * size;
		offsets[i] = (uint16_t)end;
		end += size;
	}
	return end;
}

static size_t put_offsets(struct ts_buf *out, const struct ts_flat_field *fields, size_t nr,
			  const uint16_t *offsets, size_t size)
{
	size_t nr_slots = 0, at;

	for (size_t i = 0; i < nr; i++)
		nr_slots = TS_MAX(nr_slots, fields[i].slot + (size_t)1);
	ts_flat_align(out, 2);
	at = out->n;
	ts_buf_pad(out, '\0', 4 + 2 * nr_slots);
	ts_flat_store(out, at, 4 + 2 * nr_slots, 2);
	ts_flat_store(out, at + 2, size, 2);
	for (size_t i = 0; i < nr; i++)
		ts_flat_store(out, at + 4 + 2 * fields[i].slot, offsets[i], 2);
	return at;
}

void ts_flat_table(struct ts_buf *out, size_t link, const struct ts_flat_field *fields, size_t nr,
		   size_t *at)
{
	uint16_t offsets[TS_FLAT_FIELDS];
	size_t size, list, table;

	TS_ASSERT(out && nr <= TS_FLAT_FIELDS);
	size = place_fields(fields, nr, offsets);
	list = put_offsets(out, fields, nr, offsets, size);
	ts_flat_align(out, 8);
	table = out->n;
	ts_buf_pad(out, '\0', size);
	ts_flat_store(out, table, table - list, 4);
	link_to(out, link, table);
	for (size_t i = 0; i < nr; i++) {
		ts_flat_store(out, table + offsets[i], fields[i].value, flat_size_of(&fields[i]));
		if (at)
			at[i] = table + offsets[i];
	}
}

size_t ts_flat_vector(struct ts_buf *out, size_t link, size_t nr, size_t size)
{
	size_t place, item = size == TS_FLAT_LINK ? LINK_BYTES : size;

	TS_ASSERT(out && nr <= UINT32_MAX / TS_MAX(item, 1));
	ts_flat_align(out, 8);
	ts_buf_pad(out, '\0', 4); /* so that the items are aligned behind their number */
	place = out->n;
	ts_buf_pad(out, '\0', 4 + nr * item);
	ts_flat_store(out, place, nr, 4);
	link_to(out, link, place);
	return place + 4;
}

void ts_flat_text(struct ts_buf *out, size_t link, struct ts_bytes text)
{
	size_t at = ts_flat_vector(out, link, text.n, 1);

	if (!out->failed && text.n > 0)
		memcpy(out->p + at, text.p, text.n);
	ts_buf_putc(out, '\0');
}
