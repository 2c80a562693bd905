/* SPDX-License-Identifier: MIT */
/* Any bytes as an archive: every entry visited, within the bounds that the header promises. */
#include "io/archive.h"
#include "tests/fuzz/mutate/mutator.h"

#define MOST_BYTES (4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(archive)

static enum ts_status entry(void *ctx, const char *name, struct ts_buf *content,
			    struct ts_error *err)
{
	size_t *sum = ctx;

	if (content->n > MOST_BYTES || !name)
		abort();
	*sum += content->n + strlen(name);
	return TS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t sum = 0;
	struct ts_archive_visitor visitor = { .entry = entry,
					      .ctx = &sum,
					      .max_entry_bytes = MOST_BYTES };
	struct ts_bytes bytes = { data, n };

	if (ts_archive_probe(bytes))
		ts_archive_each(bytes, &visitor, NULL);
	return 0;
}
