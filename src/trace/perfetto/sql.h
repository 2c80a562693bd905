/* SPDX-License-Identifier: MIT */
/*
 * The SQL package "tpusight": views for queries of our traces in Perfetto, the same for both forms of them.
 *
 * The modules are the files of src/trace/perfetto/sql, which a build puts into the program. They are given out in
 * three ways: installed as a folder (trace_processor --add-sql-package), served (serve/extension.h), and all
 * in one text beside a trace, for those who have the trace alone.
 */
#ifndef TS_TRACE_PERFETTO_SQL_H
#define TS_TRACE_PERFETTO_SQL_H

#include "base/buf.h"

#define TS_SQL_PACKAGE "tpusight"

struct ts_sql_module {
	const char *name; /* without the package's */
	struct ts_bytes text;
};

extern const struct ts_sql_module ts_sql_modules[]; /* what others need comes first */
extern const size_t ts_nr_sql_modules;

/* All modules one after the other, without the lines by which they include each other. */
void ts_sql_all(struct ts_buf *out);

#endif
