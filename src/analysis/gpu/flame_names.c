/* SPDX-License-Identifier: MIT */
/*
 * Names of frames. Python's tracer puts the address of the object into the name of a built-in
 * method; with it every tensor would make a path of its own. A name that is too long to be read is
 * cut.
 */
#include "analysis/gpu/flame.h"

#define MAX_NAME 4096 /* bytes; C++ makes names of two thousand */

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t find_address(struct ts_bytes name)
{
	return ts_bytes_find(name, " at 0x");
}

/* Without " at 0x...", wherever it stands; the bytes of FROM when there is none. */
static struct ts_bytes without_addresses(struct ts_arena *arena, struct ts_bytes from)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_bytes copy;
	size_t at;

	while ((at = find_address(from)) < from.n) {
		ts_buf_put(&text, ts_bytes_cut(from, 0, at));
		for (at += strlen(" at 0x"); at < from.n && is_hex(from.p[at]);)
			at++;
		from = ts_bytes_cut(from, at, from.n);
	}
	ts_buf_put(&text, from);
	copy = text.failed ? (struct ts_bytes){ NULL, 0 }
			   : ts_arena_copy(arena, ts_buf_bytes(&text));
	ts_buf_release(&text);
	return copy;
}

static enum ts_status unite(uint32_t *same, const struct ts_profile *profile, uint32_t op,
			    struct ts_strmap *seen, struct ts_arena *arena, struct ts_error *err)
{
	struct ts_bytes text = without_addresses(arena, profile->ops[op].name);
	uint32_t first;

	if (!text.p)
		return ts_fail_nomem(err);
	first = ts_strmap_find(seen, text);
	same[op] = first == TS_NONE ? op : first;
	if (first == TS_NONE && !ts_strmap_set(seen, text, op))
		return ts_fail_nomem(err);
	return TS_OK;
}

enum ts_status ts_flame_same_names(const struct ts_profile *profile, uint32_t *same,
				   struct ts_error *err)
{
	struct ts_strmap seen = { NULL, 0, 0 };
	struct ts_arena arena = TS_ARENA_INIT;
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; !st && i < profile->nr_ops; i++) {
		struct ts_bytes name = profile->ops[i].name;

		same[i] = i;
		if (find_address(name) < name.n)
			st = unite(same, profile, i, &seen, &arena, err);
	}
	ts_strmap_release(&seen);
	ts_arena_release(&arena);
	return st;
}

struct ts_bytes ts_flame_name(struct ts_result *result, struct ts_bytes name)
{
	if (name.n > MAX_NAME) {
		size_t n = MAX_NAME;

		while (n > 0 && (name.p[n] & 0xc0) == 0x80) /* not inside a character */
			n--;
		return ts_result_text(result, "%.*s...", (int)n, (const char *)name.p);
	}
	if (find_address(name) == name.n)
		return name;
	name = without_addresses(&result->owner->arena, name);
	result->owner->failed |= !name.p;
	return name;
}
