/* SPDX-License-Identifier: MIT */
/*
 * An annotation taken out again (overlay/apply.h), of a session on this machine or in a bucket (run/staged.h).
 */
#ifndef TS_RUN_STRIP_H
#define TS_RUN_STRIP_H

#include "run/staged.h"
#include "overlay/apply.h"

struct ts_strip {
	bool dry_run; /* set by the caller */
	struct ts_overlay_report report;
	struct ts_remote_push push; /* what went back to a bucket */
};

#define TS_STRIP_INIT { .report = TS_OVERLAY_REPORT_INIT }

/* As ts_overlay_strip() and ts_overlay_strip_folder(). REMOTE may be NULL. */
enum ts_status ts_strip(struct ts_strip *strip, const struct ts_session *session,
			struct ts_error *err);
enum ts_status ts_strip_folder(struct ts_strip *strip, struct ts_remote *remote, const char *dir,
			       struct ts_error *err);
void ts_strip_release(struct ts_strip *strip);

#endif
