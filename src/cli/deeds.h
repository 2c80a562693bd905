/* SPDX-License-Identifier: MIT */
/*
 * What became of the files of a session, in words for the console: "Wrote 1 xplane overlay (1.1 MiB),
 * perfetto_trace.json.gz (2.9 MiB), suggestions, report".
 */
#ifndef TS_CLI_DEEDS_H
#define TS_CLI_DEEDS_H

#include "cli/cli.h"
#include "overlay/apply.h"

/* One line, or none when nothing was done. */
void ts_deeds_line(struct ts_buf *out, const struct ts_overlay_report *report, bool dry_run);
/* A line a file, for --verbose. */
void ts_deeds_list(struct ts_buf *out, const struct ts_overlay_report *report);
/* "files": [{"name", "is", "bytes"}] of an object in the making. */
struct ts_json;
void ts_deeds_json(struct ts_json *json, const struct ts_overlay_report *report);
/* Complains of what failed or was left as it is; how many failed. A cause that several files share
 * is named once. */
size_t ts_deeds_failures(const struct ts_overlay_report *report);
size_t ts_deeds_nr(const struct ts_overlay_report *report, enum ts_overlay_deed deed);
/* Something of ours is there now. */
bool ts_deeds_stand(const struct ts_overlay_report *report);
/* "Open: tensorboard --logdir LOGDIR", and what else shows it; LOGDIR NULL, TRACE empty: there is none. */
void ts_deeds_open(struct ts_buf *out, const char *logdir, struct ts_bytes trace);
/* "Undo: tpusight-annotate --strip PATH...", to be pasted into a shell. */
void ts_deeds_undo(struct ts_buf *out, char *const *paths, size_t nr);

#endif
