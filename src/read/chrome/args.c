/* SPDX-License-Identifier: MIT */
/*
 * Args of kernels, operators and waits, kept while their text is at hand: a kernel is launched many times and says
 * nearly the same each time, so there are few distinct ones. Else the whole text would have to be read again
 * for them, of a packed file also be unpacked again.
 */
#include "read/chrome/chrome.h"

#include "base/check.h"

#define TEXT_BYTES 768 /* a kernel does not have more: nothing is kept then */

/* libkineto/src/output_json.cpp; sizes, shapes, the messages of collectives, and what a wait is for. */
#define NAME(text) { (const uint8_t *)(text), sizeof(text) - 1 }
static const struct ts_bytes names[] = {
	NAME("grid"),
	NAME("block"),
	NAME("bytes"),
	NAME("registers per thread"),
	NAME("shared memory"),
	NAME("blocks per SM"),
	NAME("warps per SM"),
	NAME("est. achieved occupancy %"),
	NAME("Collective name"),
	NAME("In msg nelems"),
	NAME("Out msg nelems"),
	NAME("Group size"),
	NAME("dtype"),
	NAME("Input Dims"),
	NAME("Input type"),
	NAME("Concrete Inputs"),
	NAME("wait_on_stream"),
	NAME("wait_on_cuda_event_record_corr_id"),
};

struct text {
	uint8_t bytes[TEXT_BYTES];
	size_t n;
	bool full;
};

bool ts_chrome_args_has(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (name.n == names[i].n && memcmp(name.p, names[i].p, name.n) == 0)
			return true;
	return false;
}

static void chrome_args_put(struct text *text, struct ts_bytes bytes)
{
	text->full |= bytes.n > sizeof(text->bytes) - text->n;
	if (text->full)
		return;
	memcpy(text->bytes + text->n, bytes.p, bytes.n);
	text->n += bytes.n;
}

/* The members that are asked for, as they stand in the file. */
static void chrome_args_pick(struct text *text, struct ts_bytes object)
{
	struct ts_jtok members = ts_jtok_enter(object);

	text->n = 0;
	text->full = false;
	while (ts_jtok_member(&members)) {
		if (!ts_chrome_args_has(members.key))
			continue;
		chrome_args_put(text, text->n ? TS_LIT(",\"") : TS_LIT("{\""));
		chrome_args_put(text, members.key);
		chrome_args_put(text, TS_LIT("\":"));
		chrome_args_put(text, members.value);
	}
	chrome_args_put(text, text->n ? TS_LIT("}") : TS_LIT("{}"));
}

static enum ts_status chrome_args_add(struct chrome_args *args, struct ts_arena *arena,
				      struct ts_bytes text, uint64_t key, uint16_t *kept,
				      struct ts_error *err)
{
	size_t at = TS_MAX(args->nr, 1); /* 0 stands for no event */

	if (at > CHROME_ARGS_MAX)
		return TS_OK;
	text = ts_arena_copy(arena, text);
	if (!text.p || !ts_grow(&args->items, &args->cap, at + 1, sizeof(*args->items)) ||
	    !ts_map_set(&args->ids, key, (uint32_t)at))
		return ts_fail_nomem(err);
	args->items[at] = text;
	args->nr = at + 1;
	*kept = (uint16_t)at;
	return TS_OK;
}

enum ts_status ts_chrome_args_keep(struct chrome_args *args, struct ts_arena *arena,
				   struct ts_bytes object, uint16_t *kept, struct ts_error *err)
{
	struct text text;
	struct ts_bytes bytes;
	uint64_t key;
	uint32_t at;

	TS_ASSERT_HOT(args && arena);
	TS_ASSERT_HOT(object.p || object.n == 0);
	*kept = 0;
	chrome_args_pick(&text, object);
	if (text.full)
		return TS_OK;
	bytes = (struct ts_bytes){ text.bytes, text.n };
	key = ts_hash(bytes, args->seed);
	while ((at = ts_map_find(&args->ids, key)) != TS_NONE) {
		if (ts_bytes_eq(args->items[at], bytes)) {
			*kept = (uint16_t)at;
			return TS_OK;
		}
		key++; /* another one has the same hash */
	}
	return chrome_args_add(args, arena, bytes, key, kept, err);
}

void ts_chrome_args_release(struct chrome_args *args)
{
	TS_ASSERT(args);
	ts_map_release(&args->ids);
	free(args->items);
}
