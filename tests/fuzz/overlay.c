/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a file that may be annotated already: what is taken for ours is cut, and what is
 * written behind it is found again at the same place.
 */
#include "overlay/suggestions.h"
#include "overlay/xplane.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(proto)

/* A strip cuts somewhere in the file, and what it leaves it leaves again. */
static void cut(struct ts_bytes file)
{
	size_t once = 0, twice = 0;
	bool remains;

	if (ts_overlay_cut(file, &once, &remains, NULL) != TS_OK)
		return;
	if (once > file.n ||
	    ts_overlay_cut(ts_bytes_cut(file, 0, once), &twice, &remains, NULL) != TS_OK ||
	    twice != once)
		abort();
}

static void profile(struct ts_bytes file)
{
	size_t native = 0, found = ts_overlay_native_bytes(file);

	if (found > file.n)
		abort();
	if (ts_overlay_find(file, &native, NULL) == TS_OK && native != found)
		abort();
	cut(file);
}

/* What is kept of somebody's suggestions stays the same when it goes through again. */
static void suggestions(struct ts_bytes file)
{
	struct ts_buf once = TS_BUF_INIT, twice = TS_BUF_INIT;
	bool exists = true, again = true;

	if (ts_suggestions_make(&once, file, &exists, NULL, NULL) == TS_OK &&
	    !ts_suggestions_ours(ts_buf_bytes(&once)) &&
	    (ts_suggestions_make(&twice, ts_buf_bytes(&once), &again, NULL, NULL) != TS_OK ||
	     !ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice))))
		abort();
	ts_buf_release(&once);
	ts_buf_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	profile((struct ts_bytes){ data, n });
	suggestions((struct ts_bytes){ data, n });
	return 0;
}
