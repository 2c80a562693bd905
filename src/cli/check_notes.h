/* SPDX-License-Identifier: MIT */
/*
 * What `tpusight check` remarks that is not of the figures: a profile that TensorBoard does not find where it lies, one on
 * a drive of Windows, a trace that a Share button would upload with all names, counters of the hardware that were not asked for, a
 * TensorBoard without the plugins.
 */
#ifndef TS_CLI_CHECK_NOTES_H
#define TS_CLI_CHECK_NOTES_H

#include "io/rundir.h"
#include "io/tensorboard.h"
#include "run/run.h"
#include "write/check.h"

#define TS_MAX_CHECK_NOTES 4

struct ts_check_notes {
	struct ts_check_note items[TS_MAX_CHECK_NOTES];
	size_t nr;
	struct ts_buf texts[TS_MAX_CHECK_NOTES]; /* of the evidence */
};

/* Of a session; of one in a bucket there are none. */
void ts_check_notes_find(struct ts_check_notes *notes, const struct ts_session *session);
/* Behind those: of what was read. */
void ts_check_notes_add_run(struct ts_check_notes *notes, const struct ts_run *run);
/* Of the TensorBoard that was found. */
void ts_check_notes_of_viewer(struct ts_check_notes *notes, const struct ts_tensorboard *found);
void ts_check_notes_release(struct ts_check_notes *notes);

#endif
