/* SPDX-License-Identifier: MIT */
/* Runs, packed bits, differences. */
#include "write/columns/pages.h"

#include "base/check.h"
#include "codec/pbw.h"

#define GROUP	   8  /* values: packed bits come in groups of so many */
#define MOST_GROUPS 4096 /* in a row, so that a value of packed bits is near its header */
#define BLOCK	   128 /* differences that share their least */
#define PART	   32  /* of these: they share a width */

static void pages_put_varint(struct ts_buf *out, uint64_t value)
{
	if (ts_buf_room(out, TS_PBW_VARINT))
		out->n = (size_t)(ts_pbw_store(out->p + out->n, value) - out->p);
}

static void put_zigzag(struct ts_buf *out, int64_t value)
{
	pages_put_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static unsigned bits_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

unsigned ts_pages_width(size_t nr)
{
	return TS_MAX(bits_of(nr > 0 ? nr - 1 : 0), 1);
}

/* Numbers of WIDTH bits, the lowest bit first, one behind the other. */
struct packer {
	uint8_t *p;
	uint64_t bits;
	unsigned nr, width;
};

static void pages_store(struct packer *packer, unsigned nr_bytes)
{
	for (unsigned i = 0; i < nr_bytes; i++)
		*packer->p++ = (uint8_t)(packer->bits >> (8 * i));
}

static void pages_pack(struct packer *packer, uint64_t value)
{
	unsigned had = packer->nr;

	packer->bits |= value << had;
	packer->nr += packer->width;
	if (packer->nr < 64)
		return;
	pages_store(packer, 8);
	packer->nr -= 64;
	packer->bits = packer->nr > 0 ? value >> (64 - had) : 0;
}

/* A number of values whose bits fill bytes: the rest is stored, and P behind all. */
static void end_packing(struct packer *packer)
{
	pages_store(packer, (packer->nr + 7) / 8);
	packer->bits = packer->nr = 0;
}

/* How many values from AT on are the same, MOST at most. */
static size_t run_at(const uint32_t *values, size_t nr, size_t at, size_t most)
{
	size_t end = TS_MIN(nr, at + most), i = at + 1;

	while (i < end && values[i] == values[at])
		i++;
	return i - at;
}

/* Groups from AT on, until a run begins; behind the last value there are zeros. How many values. */
static size_t pages_put_groups(struct ts_buf *out, const uint32_t *values, size_t nr, size_t at,
			       unsigned width)
{
	size_t nr_groups = 0, room;
	struct packer packer = { .width = width };

	do
		nr_groups++;
	while (nr_groups < MOST_GROUPS && at + nr_groups * GROUP < nr &&
	       run_at(values, nr, at + nr_groups * GROUP, GROUP) < GROUP);
	pages_put_varint(out, (uint64_t)nr_groups << 1 | 1);
	room = nr_groups * GROUP * width / 8;
	if (!ts_buf_room(out, room + 8))
		return nr;
	packer.p = out->p + out->n;
	for (size_t i = at; i < at + nr_groups * GROUP; i++)
		pages_pack(&packer, i < nr ? values[i] : 0);
	end_packing(&packer);
	out->n += room;
	return nr_groups * GROUP;
}

void ts_pages_runs(struct ts_buf *out, const uint32_t *values, size_t nr, unsigned width)
{
	size_t at = 0;

	TS_ASSERT(out && width > 0 && width <= 32);
	while (at < nr && !out->failed) {
		size_t run = run_at(values, nr, at, nr);

		if (run >= GROUP) {
			pages_put_varint(out, (uint64_t)run << 1);
			for (unsigned i = 0; i < (width + 7) / 8; i++)
				ts_buf_putc(out, (char)(values[at] >> (8 * i)));
		} else {
			run = pages_put_groups(out, values, nr, at, width);
		}
		at += run;
	}
}

/* Up to BLOCK differences: the least of them, the widths of its parts, and what is above the least. */
static void pages_put_block(struct ts_buf *out, const int64_t *differences, size_t nr)
{
	int64_t least = differences[0];
	unsigned widths[BLOCK / PART] = { 0 };

	for (size_t i = 1; i < nr; i++)
		least = TS_MIN(least, differences[i]);
	for (size_t i = 0; i < nr; i++) {
		unsigned width = bits_of((uint64_t)differences[i] - (uint64_t)least);

		widths[i / PART] = TS_MAX(widths[i / PART], width);
	}
	put_zigzag(out, least);
	for (size_t i = 0; i < BLOCK / PART; i++)
		ts_buf_putc(out, (char)widths[i]);
	if (!ts_buf_room(out, BLOCK * sizeof(int64_t) + 8))
		return;
	for (size_t part = 0; part * PART < nr; part++) {
		struct packer packer = { .p = out->p + out->n, .width = widths[part] };

		for (size_t i = part * PART; widths[part] > 0 && i < (part + 1) * PART; i++)
			pages_pack(&packer,
				   i < nr ? (uint64_t)differences[i] - (uint64_t)least : 0);
		end_packing(&packer);
		out->n += (size_t)PART * widths[part] / 8;
	}
}

void ts_pages_differences(struct ts_buf *out, const int64_t *values, size_t nr)
{
	int64_t differences[BLOCK];

	TS_ASSERT(out && (values || nr == 0));
	pages_put_varint(out, BLOCK);
	pages_put_varint(out, BLOCK / PART);
	pages_put_varint(out, nr);
	put_zigzag(out, nr > 0 ? values[0] : 0);
	for (size_t at = 1; at < nr && !out->failed; at += BLOCK) {
		size_t more = TS_MIN(nr - at, BLOCK);

		for (size_t i = 0; i < more;
		     i++) /* they wrap, and wrap again when they are summed */
			differences[i] =
				(int64_t)((uint64_t)values[at + i] - (uint64_t)values[at + i - 1]);
		pages_put_block(out, differences, more);
	}
}
