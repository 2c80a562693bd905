/* SPDX-License-Identifier: MIT */
/*
 * The Perfetto trace of a run, the native rows and ours in the same process groups, in one of its
 * forms (trace/perfetto/perfetto.h): `perfetto_trace.json.gz` is Chrome's JSON, `perfetto_trace.pftrace`
 * Perfetto's own protobuf, gzip both. plan.h has the choice of events, row.h the rows, pack.h
 * threads and packing.
 *
 *	struct ts_trace_plan plan;
 *	ts_trace_plan_init(&plan, profile, err);
 *	... first pass, with ts_trace_plan_counter(&plan) ...
 *	ts_trace_plan_close(&plan, max_events, err);
 *	ts_newfile_open(&file, path, err);
 *	ts_trace_write(&file, profile, results, &plan, &options, &report, err);
 *	ts_newfile_commit(&file, err);
 *	ts_trace_plan_release(&plan);
 *
 * Hosts stand one after the other. Rows: a process for each plane, pids counting from 1, of the next host
 * from 10,001 (layout.h): devices first, then planes of others, then the host; where all devices are
 * GPUs, host, devices, others. The last pid has the findings of the
 * run (findings.h), which viewers show on top. In a device's process our tracks come first
 * ("TPUsight: Time classes"), slices before counters, then the lines as the profile has them. JSON knows rows by tids alone: a row's is 100 x its number
 * from 1 on, plus its lane. The other form has no tids but those of host threads, by their
 * own numbers. A file of one host (the plan's) has the pids and threads that the profile has, as far
 * as they are numbers and differ. Each host is a machine of Perfetto's own form; in JSON, which has
 * none, a process of several hosts has the host's name in front. The same input gives the same bytes,
 * whatever the number of threads.
 *
 * Memory: about 4 MiB a thread, and at most 64 bytes for each event that is written (one outermost
 * event that holds them all; else far less).
 */
#ifndef TS_TRACE_TRACE_H
#define TS_TRACE_TRACE_H

#include "trace/head.h"
#include "trace/pack.h"
#include "trace/plan.h"
#include "trace/row.h"
#include "io/newfile.h"
#include "result/result.h"

struct ts_trace_options {
	const struct ts_perfetto_form *form;
	size_t nr_threads;
	bool is_plain;		 /* not packed */
	const char *version;	 /* of the program */
	const char *source;	 /* the file that all of it is from; NULL: it is from several */
	const char *native_file; /* the new name of the profiler's own trace; NULL: it has none */
};

struct ts_trace_report {
	uint64_t events_total, events_written, events_left_out; /* of the profile */
	uint64_t own_events, flows;
	uint64_t bytes; /* of the packed file */
};

/* Writes the whole trace into FILE, which the caller opens and commits. REPORT may be NULL. */
enum ts_status ts_trace_write(struct ts_newfile *file, const struct ts_profile *profile,
			      const struct ts_results *results, const struct ts_trace_plan *plan,
			      const struct ts_trace_options *options,
			      struct ts_trace_report *report, struct ts_error *err);

/*
 * A host's part of it, where the files of the other hosts are not: the members of its rows, and what heads say of them
 * (TOLD, in ARENA). The plan is that of a part (trace/plan.h). TS_LIMIT: what is drawn begins
 * before the run.
 */
enum ts_status ts_trace_write_part(struct ts_newfile *file, const struct ts_profile *profile,
				   uint32_t host, const struct ts_results *results,
				   const struct ts_trace_plan *plan,
				   const struct ts_trace_options *options, struct ts_arena *arena,
				   struct ts_trace_told *told, struct ts_error *err);

/* Parts that were made so. */
struct ts_trace_stored {
	struct ts_trace_told told;
	struct ts_bytes rows;
};
struct ts_trace_joint {
	const struct ts_trace_stored *parts;  /* one a host */
	const struct ts_perfetto_fact *facts; /* of the run (trace/facts.h) */
	size_t nr_facts;
	const struct ts_track *story; /* likewise (trace/story.h) */
	size_t nr_story;
};

/* The whole file of all parts: what ts_trace_write() makes, to the byte. RESULTS have the run's findings, PLAN when its events are. */
enum ts_status ts_trace_join(struct ts_newfile *file, const struct ts_profile *profile,
			     const struct ts_results *results, const struct ts_trace_plan *plan,
			     const struct ts_trace_joint *joint,
			     const struct ts_trace_options *options, struct ts_trace_report *report,
			     struct ts_error *err);

/* Is this (packed or not) a trace of ours, in that form? */
bool ts_trace_is_ours(struct ts_bytes bytes, const struct ts_perfetto_form *form);

#endif
