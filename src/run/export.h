/* SPDX-License-Identifier: MIT */
/*
 * Tables of a run for programs that compute with them: every event, and of the report ops, steps and findings; each as
 * a file of columns (write/columns/colfile.h). Their columns are the schema "tpusight-export/1", docs/export.md.
 *
 * Events are streamed: line by line, in the order in which they end, as model/block.h hands them over. Memory does
 * not grow with their number, unless the events of a line are out of order: these are sorted in memory, line by line.
 */
#ifndef TS_RUN_EXPORT_H
#define TS_RUN_EXPORT_H

#include "run/run.h"
#include "write/columns/colfile.h"

#define TS_EXPORT_SCHEMA "tpusight-export/1"

enum ts_export_table {
	TS_EXPORT_EVENTS,
	TS_EXPORT_OPS,
	TS_EXPORT_STEPS,
	TS_EXPORT_FINDINGS,
	TS_NR_EXPORT_TABLES
};
extern const char
	*const ts_export_tables[TS_NR_EXPORT_TABLES + 1]; /* their names; NULL at the end */

struct ts_export_options {
	const struct ts_colfile_form *form;
	const char *version; /* of the program */
	size_t nr_threads;
	struct ts_drain *drain;
};

/*
 * Reads the lines that no pass has seen whole, so that each is known to be in order or not, and notes what is damaged.
 * To be called once before events are written; threads may share the work.
 */
enum ts_status ts_export_look(struct ts_profile *profile, size_t nr_threads, struct ts_error *err);

/*
 * Writes a table: to the drain, and what is left to REST, which is the end of the file. All but events are of a run that
 * was analysed. *NR_ROWS is how many it has.
 */
enum ts_status ts_export_write(const struct ts_run *run, enum ts_export_table table,
			       const struct ts_export_options *options, struct ts_buf *rest,
			       uint64_t *nr_rows, struct ts_error *err);

#endif
