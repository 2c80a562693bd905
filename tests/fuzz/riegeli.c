/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as records of XSpaces: read, analysed, reported. Hashes let few changed files in, so what are not such
 * records stands for them unpacked: XSpaces one after the other, whose planes come in pieces.
 */
#include "codec/chunks.h"
#include "read/xplane/xplane.h"
#include "tests/run/memory_run.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(proto)

static enum ts_status read_any(struct memory_run *mem, struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_read_request request = { bytes, TS_LIT("a.xplane.riegeli"), TS_LIT("a"), 1 };
	uint32_t reader = memory_run_reader("riegeli");
	enum ts_status st = ts_chunk_probe(bytes)
				    ? ts_readers[reader]->read(&mem->run.profile, &request, err)
				    : ts_xplane_read(&mem->run.profile, &request, true, err);

	if (mem->run.profile.nr_hosts > 0)
		mem->run.profile.hosts[0].reader = reader;
	return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_buf json = TS_BUF_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	if (read_any(&mem, (struct ts_bytes){ data, n }, NULL) == TS_OK &&
	    memory_run_analyse(&mem, 0, NULL) == TS_OK)
		memory_run_report(&mem, &json, NULL);
	ts_buf_release(&json);
	memory_run_release(&mem);
	return 0;
}
