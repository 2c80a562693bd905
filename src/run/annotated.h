/* SPDX-License-Identifier: MIT */
/*
 * The annotated copy of a trace in JSON (PyTorch's profiler, JAX's): what stands in the trace, byte
 * for byte, and in it our tracks, for every viewer that takes the trace itself. gzip, whatever the
 * trace was.
 *
 * Behind the text's first bracket stands what the copy is (io/tracefile.h knows it by that), behind
 * the last event of the first list our events: a process "TPUsight: /device:GPU:0" for each device
 * of the file, with rows and counters as the Perfetto file of an xplane has them (trace/trace.h),
 * and one with the findings of the run, a row each (trace/findings.h). pids and tids
 * differ from all of the trace's; times are on its own clock, cut to whole ns. A clock that is later
 * than 51 days has numbers that Perfetto cannot keep to the ns: lengths are then those of what it keeps,
 * so that what touches does not overlap there.
 *
 * A trace that was cut in the middle ends in the copy behind its last whole event (or member) and
 * is closed there, so that viewers take it.
 *
 * What strict readers of JSON refuse in the trace (codec/strict.h) is mended in the copy, unless it is to be exact.
 *
 * The text is copied piece by piece and packed on all threads: memory is a few MiB a thread. The
 * same input gives the same bytes, whatever the number of threads.
 */
#ifndef TS_RUN_ANNOTATED_H
#define TS_RUN_ANNOTATED_H

#include "trace/row.h"
#include "io/newfile.h"
#include "result/result.h"

struct ts_annotated_options {
	size_t nr_threads;
	const char *version; /* of the program */
	const char *source;  /* name of the trace, without folder */
	bool exact;	     /* what strict readers of JSON refuse stays as it is */
};

struct ts_annotated_report {
	uint64_t own_events;
	uint64_t bytes; /* of the packed file */
};

/* The copy of HOST's trace into FILE, which the caller opens and commits. REPORT may be NULL.
 * TS_UNSUPPORTED: that host was not a trace in JSON. */
enum ts_status ts_annotated_write(struct ts_newfile *file, const struct ts_profile *profile,
				  uint32_t host, const struct ts_results *results,
				  const struct ts_annotated_options *options,
				  struct ts_annotated_report *report, struct ts_error *err);

#endif
