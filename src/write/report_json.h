/* SPDX-License-Identifier: MIT */
/*
 * The report as JSON, `tpusight/1` (docs/analyses/ has every number).
 *
 * Top-level results put their fields and tables into the report itself, every other result makes
 * an object of its name; tables are arrays of objects, dots in names make objects inside. Each has
 * `notes` (what is inferred, assumed, left out) and `provenance`: "field" or "table.column" to
 * where it comes from. Unknown is null. Tracks over time stand behind all views where they are asked for
 * (write/report_tracks.h).
 */
#ifndef TS_WRITE_REPORT_JSON_H
#define TS_WRITE_REPORT_JSON_H

#include "result/schema.h"
#include "write/output.h"

/* Appends the report, or with a view only that, with schema, generator and run in front. With a drain that does not
 * take a piece its status, whose story the drain has. */
enum ts_status ts_report_json(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err);

/*
 * These results as one object: the first one's parts stand in it, the others' in objects of their
 * names, behind all of them what the doctor found: `bottlenecks` (titles) and `recommendations` (each
 * once). SCHEMAS: NULL at the end; those that were not made are left out.
 */
enum ts_status ts_report_object(struct ts_buf *out, const struct ts_results *results,
				const struct ts_schema *const *schemas,
				const struct ts_report *report, struct ts_error *err);

#endif
