/* SPDX-License-Identifier: MIT */
/*
 * Names and texts of args that do not stand in the file as they read: with escapes, or of objects in
 * objects. They are few and the same again and again, so each is kept once, for all threads.
 */
#include "base/check.h"
#include "read/chrome/chrome.h"

void ts_chrome_texts_init(struct chrome_texts *texts, uint64_t seed)
{
	TS_ASSERT(texts);
	*texts = (struct chrome_texts){ .lock = PTHREAD_MUTEX_INITIALIZER,
					.arena = TS_ARENA_INIT,
					.seed = seed };
}

void ts_chrome_texts_release(struct chrome_texts *texts)
{
	TS_ASSERT(texts);
	pthread_mutex_destroy(&texts->lock);
	ts_map_release(&texts->ids);
	ts_arena_release(&texts->arena);
	free(texts->items);
}

static struct ts_bytes texts_add(struct chrome_texts *texts, struct ts_bytes text, uint64_t key)
{
	const struct ts_bytes none = { NULL, 0 };

	if (text.n > TS_LIMIT_TRACE_TEXTS - texts->nr_bytes)
		return none;
	text = ts_arena_copy(&texts->arena, text);
	if (!text.p || !ts_grow(&texts->items, &texts->cap, texts->nr + 1, sizeof(text)) ||
	    !ts_map_set(&texts->ids, key, (uint32_t)texts->nr))
		return none;
	texts->items[texts->nr++] = text;
	texts->nr_bytes += text.n;
	return text;
}

static struct ts_bytes find_or_add(struct chrome_texts *texts, struct ts_bytes text)
{
	uint64_t key = ts_hash(text, texts->seed);
	uint32_t at;

	while ((at = ts_map_find(&texts->ids, key)) != TS_NONE) {
		if (ts_bytes_eq(texts->items[at], text))
			return texts->items[at];
		key++; /* another one has the same hash */
	}
	return texts_add(texts, text, key);
}

struct ts_bytes ts_chrome_text_keep(struct chrome_texts *texts, struct ts_bytes text)
{
	struct ts_bytes kept;

	TS_ASSERT(texts);
	TS_ASSERT(text.p || text.n == 0);
	pthread_mutex_lock(&texts->lock);
	kept = find_or_add(texts, text);
	pthread_mutex_unlock(&texts->lock);
	return kept;
}
