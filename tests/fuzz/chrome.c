/* SPDX-License-Identifier: MIT */
/* Any bytes as a Chrome trace: read, analysed, reported, with every event's stats looked for. */
#include "read/stream.h"
#include "tests/run/memory_run.h"
#include "tests/fuzz/mutate/mutator.h"

#define CHROME memory_run_reader("chrome")

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(chrome)

static enum ts_status ask_for_stats(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct ts_stat stat;

	for (size_t i = 0; i < block->nr_events; i++)
		block->stat(block, i, "stream", &stat);
	return TS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_sink sink = { NULL, TS_COL_STATS, ask_for_stats };
	struct ts_bytes bytes = { data, n };
	struct memory_run mem;
	size_t report_size;

	memory_run_whole_as(CHROME, bytes, &report_size);
	memory_run_init(&mem);
	if (memory_run_add_as(&mem, CHROME, bytes, "host", NULL) == TS_OK &&
	    ts_profile_finish(&mem.run.profile, NULL) == TS_OK)
		for (uint32_t l = 0; l < mem.run.profile.nr_lines; l++)
			ts_stream_line(&mem.run.profile, l, &sink, NULL);
	memory_run_release(&mem);
	return 0;
}
