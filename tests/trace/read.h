/* SPDX-License-Identifier: MIT */
/*
 * A trace of a hand-made run (tests/trace/run.h), written to the file TARGET, which a test names before it includes
 * this, and read again.
 */
#ifndef TS_TESTS_TRACE_READ_H
#define TS_TESTS_TRACE_READ_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tests/test.h"
#include "io/gzip.h"
#include "tests/trace/run.h"

#define NS INT64_C(1000)

static inline struct ts_bytes packed_form(struct run *run, const struct ts_perfetto_form *form,
					  const struct ts_results *results, uint64_t max_events,
					  size_t nr_threads, struct ts_trace_report *report)
{
	struct ts_trace_options options = { .form = form,
					    .nr_threads = nr_threads,
					    .version = "1.2.3" };
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_trace_plan plan;
	static uint8_t bytes[8 << 20];
	FILE *in;
	size_t n;

	assert_int_equal(run_count(run, &plan, max_events, &err), TS_OK);
	assert_int_equal(ts_newfile_open(&file, TARGET, &err), TS_OK);
	assert_int_equal(
		ts_trace_write(&file, &run->profile, results, &plan, &options, report, &err),
		TS_OK);
	assert_int_equal(ts_newfile_commit(&file, &err), TS_OK);
	ts_newfile_release(&file);
	ts_trace_plan_release(&plan);
	in = fopen(TARGET, "rb");
	assert_non_null(in);
	n = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	unlink(TARGET);
	assert_true(n < sizeof(bytes));
	return (struct ts_bytes){ bytes, n };
}

static inline struct ts_bytes packed_trace(struct run *run, const struct ts_results *results,
					   uint64_t max_events, size_t nr_threads,
					   struct ts_trace_report *report)
{
	return packed_form(run, &ts_perfetto_json, results, max_events, nr_threads, report);
}

static inline cJSON *trace_of(struct run *run, const struct ts_results *results,
			      uint64_t max_events, struct ts_trace_report *report)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_bytes packed = packed_trace(run, results, max_events, 2, report);
	cJSON *root;

	assert_true(ts_trace_is_ours(packed, &ts_perfetto_json));
	assert_false(ts_trace_is_ours(packed, &ts_perfetto_pb));
	assert_int_equal(ts_gunzip_head(packed, &text, 64 << 20, NULL), TS_OK);
	assert_true(ts_trace_is_ours(ts_buf_bytes(&text), &ts_perfetto_json));
	root = cJSON_ParseWithLength((const char *)text.p, text.n);
	assert_non_null(root);
	ts_buf_release(&text);
	return root;
}

static inline const char *text_of(const cJSON *event, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(event, key));

	return text ? text : "";
}

static inline double number_of(const cJSON *event, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItem(event, key));
}

static inline int64_t ns_of(const cJSON *event, const char *key)
{
	return (int64_t)(number_of(event, key) * 1000 + 0.5);
}

static inline size_t count_of(const cJSON *root, const char *phase)
{
	const cJSON *event;
	size_t nr = 0;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents")) nr +=
		strcmp(text_of(event, "ph"), phase) == 0;
	return nr;
}

/* The NR-th slice of that name, in the order of the file. */
static inline const cJSON *slice(const cJSON *root, const char *name, size_t nr)
{
	const cJSON *event;

	cJSON_ArrayForEach(
		event,
		cJSON_GetObjectItem(root,
				    "traceEvents")) if (strcmp(text_of(event, "ph"), "X") == 0 &&
							strcmp(text_of(event, "name"), name) == 0 &&
							nr-- == 0) return event;
	return NULL;
}

static inline const char *meta(const cJSON *root, const char *what, const char *id, double value)
{
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents")) if (
		strcmp(text_of(event, "name"), what) == 0 &&
		number_of(event, id) == value) return text_of(cJSON_GetObjectItem(event, "args"),
							      "name");
	return NULL;
}

/* Every slice that overlaps another of its thread lies in it, and a parent stands before it. */
static inline void assert_nests(const cJSON *root)
{
	struct {
		double tid;
		int64_t ends[64];
		size_t nr;
		int64_t last;
	} open[256] = { { 0 } };
	size_t nr = 0, i;
	const cJSON *event;

	cJSON_ArrayForEach(event, cJSON_GetObjectItem(root, "traceEvents"))
	{
		int64_t start, end;

		if (strcmp(text_of(event, "ph"), "X") != 0)
			continue;
		start = ns_of(event, "ts");
		end = start + ns_of(event, "dur");
		for (i = 0; i < nr && open[i].tid != number_of(event, "tid"); i++)
			;
		if (i == nr) {
			assert_true(nr < TS_NELEM(open));
			open[nr++].tid = number_of(event, "tid");
		}
		assert_true(start >= open[i].last);
		open[i].last = start;
		while (open[i].nr > 0 && open[i].ends[open[i].nr - 1] <= start)
			open[i].nr--;
		assert_true(open[i].nr == 0 || end <= open[i].ends[open[i].nr - 1]);
		assert_true(open[i].nr < TS_NELEM(open[i].ends));
		open[i].ends[open[i].nr++] = end;
	}
}

#endif
