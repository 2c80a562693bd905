/* SPDX-License-Identifier: MIT */
/* Any bytes as a memory profile: read if the reader takes them for one, analysed, reported. */
#ifndef TESTS_READ_PPROF_WALK_H
#define TESTS_READ_PPROF_WALK_H

#include "tests/run/memory_run.h"

static inline enum ts_status pprof_into(struct memory_run *mem, struct ts_bytes bytes,
					struct ts_error *err)
{
	struct ts_read_request request = { bytes, TS_LIT("a.prof"), TS_LIT("a.prof"), 1 };

	return ts_reader_find("pprof")->read(&mem->run.profile, &request, err);
}

static inline enum ts_status pprof_whole(struct ts_bytes bytes, struct ts_error *err)
{
	struct ts_buf json = TS_BUF_INIT;
	struct memory_run mem;
	enum ts_status st;

	ts_reader_for(TS_LIT("a.prof"), bytes);
	memory_run_init(&mem);
	st = pprof_into(&mem, bytes, err);
	if (st == TS_OK)
		st = memory_run_analyse(&mem, 0, err);
	if (st == TS_OK)
		st = memory_run_report(&mem, &json, err);
	ts_buf_release(&json);
	memory_run_release(&mem);
	return st;
}

#endif
