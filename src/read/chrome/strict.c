/* SPDX-License-Identifier: MIT */
/*
 * Whether strict readers of JSON, as viewers are, take the text (codec/strict.h). A packed text is shown while it is
 * unpacked for the scan; a plain one is gone over once more. Nothing of it is on the scan's own road.
 */
#include "read/chrome/chrome.h"

#include "base/check.h"

#define PIECE_BYTES (1024 * 1024)

void ts_chrome_strict_see(void *strict, struct ts_bytes piece)
{
	ts_strict_put(strict, piece);
}

static enum ts_status strict_plain(struct ts_strict *strict, struct ts_bytes bytes, bool mapped,
				   struct ts_error *err)
{
	struct ts_window text;
	enum ts_status st = ts_window_open(&text, bytes, mapped, err);

	while (st == TS_OK && text.p < text.end) {
		struct ts_bytes piece = { text.p, TS_MIN((size_t)(text.end - text.p),
							 (size_t)PIECE_BYTES) };

		ts_strict_put(strict, piece);
		text.p += piece.n;
		ts_window_forget(&text);
	}
	ts_window_release(&text);
	return st;
}

enum ts_status ts_chrome_strict_rest(const struct chrome_file *file, bool mapped,
				     struct ts_strict *strict, struct ts_error *err)
{
	struct ts_bytes bytes = file->bytes;
	enum ts_status st = TS_OK;

	TS_ASSERT(file && strict);
	if (file->damage[0])
		bytes = ts_bytes_cut(bytes, 0, (size_t)file->damage_at + 1);
	if (!file->packed)
		st = strict_plain(strict, bytes, mapped, err);
	if (st == TS_OK && !file->damage[0])
		ts_strict_end(strict);
	return st;
}

enum ts_status ts_chrome_strict_note(struct ts_arena *arena, struct ts_host *host,
				     const struct chrome_file *file, const struct ts_strict *strict,
				     struct ts_error *err)
{
	char more[64] = "";

	TS_ASSERT(arena && host && file && strict);
	if (!strict->first)
		return TS_OK;
	if (strict->nr_refused > 1 && !file->damage[0]) /* else it was not read to its end */
		snprintf(more, sizeof(more), "; %llu places in all",
			 (unsigned long long)strict->nr_refused);
	host->not_strict =
		ts_arena_printf(arena, "byte %llu: %s%s", (unsigned long long)strict->first_at,
				strict->first, more);
	return host->not_strict.p ? TS_OK : ts_fail_nomem(err);
}
