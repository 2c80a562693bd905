/* SPDX-License-Identifier: MIT */
/* Texts about the sessions of a watched log directory. */
#ifndef TS_CLI_LIVE_SESSION_H
#define TS_CLI_LIVE_SESSION_H

#include "cli/cli.h"
#include "live/feed.h"

/* "PATH: failed: why" */
void ts_live_session_words(struct ts_buf *out, const struct ts_live_session *session);
/* "  (wrote 1 xplane overlay (1.1 MiB), report in 812 ms)" of a session that was annotated;
 * otherwise nothing. */
void ts_live_session_deeds(struct ts_buf *out, const struct ts_feed_event *event);
/* Is there nothing to say: it is being written, or all is well and -v was not given? */
bool ts_live_session_is_dull(const struct ts_cli *cli, const struct ts_live_session *session);
/* "3 sessions annotated in 5.2 min, 1 not. ...", and a line for each session that is not
 * annotated. */
void ts_live_sessions_end(struct ts_buf *out, const struct ts_live_sample *sample);

#endif
