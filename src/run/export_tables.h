/* SPDX-License-Identifier: MIT */
/* Tables of the report as files of columns: what run/export.c asks for beside the events. */
#ifndef TS_RUN_EXPORT_TABLES_H
#define TS_RUN_EXPORT_TABLES_H

#include "run/export.h"

#define TS_EXPORT_MAX_COLUMNS 32

/* The last column of a profile that was predicted, true in each row; what was measured does not have it. */
#define TS_EXPORT_PREDICTED { "is_predicted", TS_COLFILE_BOOL, NULL }

/* The columns of a table of the report, not of the events; gives their number. */
size_t ts_export_columns(enum ts_export_table table, bool is_predicted,
			 struct ts_colfile_column columns[TS_EXPORT_MAX_COLUMNS]);
/* Its rows. Texts that are made go into ARENA. */
enum ts_status ts_export_rows(struct ts_colfile *file, enum ts_export_table table,
			      const struct ts_results *results, struct ts_arena *arena,
			      struct ts_error *err);

#endif
