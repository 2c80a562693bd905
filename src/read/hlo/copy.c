/* SPDX-License-Identifier: MIT */
/* The contents of a message, copied into the module's arena. */
#include "read/hlo/parts.h"

#include "base/check.h"

void *ts_hlo_array(struct ts_hlo_reader *reader, size_t nr, size_t size)
{
	void *p = ts_arena_array(reader->arena, nr, size);

	TS_ASSERT_HOT(reader);
	if (!p)
		reader->nomem = true;
	return p;
}

const int64_t *ts_hlo_numbers(struct ts_hlo_reader *reader, const int64_t *numbers, size_t nr)
{
	int64_t *copy = nr ? ts_hlo_array(reader, nr, sizeof(*copy)) : NULL;

	TS_ASSERT_HOT(reader);
	if (copy)
		memcpy(copy, numbers, nr * sizeof(*copy));
	return copy;
}

/* Copies TEXT into the arena, or gives the copy made before. */
struct ts_bytes ts_hlo_text(struct ts_hlo_reader *reader, const char *text)
{
	struct ts_bytes bytes = ts_bytes_of(text);
	uint32_t at = bytes.n ? ts_strmap_find(&reader->strings, bytes) : TS_NONE;

	TS_ASSERT_HOT(reader && text);
	if (bytes.n == 0)
		return bytes;
	if (at != TS_NONE)
		return reader->texts[at];
	bytes = ts_arena_copy(reader->arena, bytes);
	if (bytes.p &&
	    ts_grow(&reader->texts, &reader->cap_texts, reader->nr_texts + 1, sizeof(bytes)) &&
	    ts_strmap_set(&reader->strings, bytes, (uint32_t)reader->nr_texts)) {
		reader->texts[reader->nr_texts++] = bytes;
		return bytes;
	}
	reader->nomem = true;
	return (struct ts_bytes){ NULL, 0 };
}
