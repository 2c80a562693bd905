/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the report as files of columns: what flow/export.c asks for beside the events. */
#ifndef TS_FLOW_EXPORT_TABLES_H
#define TS_FLOW_EXPORT_TABLES_H

#include "flow/export.h"

/* The columns of a table of the report, not of the events. */
const struct ts_colfile_column *ts_export_columns(enum ts_export_table table, size_t *nr);
/* Its rows. Texts that are made go into ARENA. */
enum ts_status ts_export_rows(struct ts_colfile *file, enum ts_export_table table,
			      const struct ts_results *results, struct ts_arena *arena,
			      struct ts_error *err);

#endif
