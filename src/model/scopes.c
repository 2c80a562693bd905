/* SPDX-License-Identifier: MIT */
/* Scopes: their release, and which of them are epochs. */
#include "model/scopes.h"

#include "base/check.h"
#include "model/block.h"

#define EPOCH "epoch"

void ts_scopes_release(struct ts_scopes *scopes)
{
	TS_ASSERT(scopes);
	for (size_t i = 0; i < scopes->nr; i++)
		ts_spans_release(&scopes->items[i].spans);
	free(scopes->items);
	free(scopes->epochs);
	memset(scopes, 0, sizeof(*scopes));
}

static bool model_scopes_is_letter(uint8_t byte)
{
	return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool model_scopes_is_digit(uint8_t byte)
{
	return byte >= '0' && byte <= '9';
}

/* Where the word ends; 0: it does not stand at AT. */
static size_t model_scopes_word_end(struct ts_bytes name, size_t at)
{
	size_t n = strlen(EPOCH);

	if (at + n > name.n || (at > 0 && model_scopes_is_letter(name.p[at - 1])))
		return 0;
	for (size_t i = 0; i < n; i++)
		if ((name.p[at + i] | 0x20) != EPOCH[i])
			return 0;
	return at + n;
}

bool ts_scope_is_epoch(struct ts_bytes name, uint64_t *number)
{
	size_t at = 0, end = 0;

	TS_ASSERT_HOT(number && (name.p || name.n == 0));
	*number = TS_NO_NUMBER;
	while (at < name.n && end == 0)
		end = model_scopes_word_end(name, at++);
	if (end == 0)
		return false;
	while (end < name.n && !model_scopes_is_letter(name.p[end]) &&
	       !model_scopes_is_digit(name.p[end]))
		end++;
	return end == name.n || ts_bytes_u64(ts_bytes_cut(name, end, name.n), number);
}
