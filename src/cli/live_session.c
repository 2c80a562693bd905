/* SPDX-License-Identifier: MIT */
/* Texts about sessions that were waited for. */
#include "cli/live_session.h"

#include "base/check.h"
#include "base/units.h"
#include "cli/deeds.h"
#include "codec/term.h"

void ts_live_session_words(struct ts_buf *out, const struct ts_live_session *session)
{
	TS_ASSERT(out && session);
	if (session->session) { /* else the story names the folder */
		ts_term_text(out, ts_bytes_of(session->path));
		ts_buf_puts(out, ": ");
	}
	ts_buf_puts(out, session->dry_run && session->state == TS_SESSION_ANNOTATED
				 ? "complete"
				 : ts_live_session_state_name(session->state));
	if (!session->problem)
		return;
	ts_buf_puts(out, ": ");
	ts_term_text(out, ts_bytes_of(session->problem));
}

void ts_live_session_deeds(struct ts_buf *out, const struct ts_feed_event *event)
{
	const struct ts_live_session *session = event->session;
	struct ts_buf deeds = TS_BUF_INIT;

	TS_ASSERT(out && event);
	TS_ASSERT(event->session);
	if (session->state != TS_SESSION_ANNOTATED)
		return;
	ts_deeds_line(&deeds, &session->annotation->report, session->dry_run);
	if (deeds.n > 0)
		deeds.n--; /* without the line end */
	ts_buf_puts(out, "  (");
	ts_buf_put(out, ts_buf_bytes(&deeds));
	ts_buf_printf(out, "%sin %lld ms)", deeds.n > 0 ? " " : "",
		      (long long)event->sample->took_ms);
	out->failed |= deeds.failed;
	ts_buf_release(&deeds);
}

bool ts_live_session_is_dull(const struct ts_cli *cli, const struct ts_live_session *session)
{
	TS_ASSERT(cli && session);
	if (session->state == TS_SESSION_ANNOTATED)
		return cli->quiet;
	return !session->problem && !cli->verbose;
}

void ts_live_sessions_end(struct ts_buf *out, const struct ts_live_sample *sample)
{
	struct ts_watch_counts counts = ts_watch_count(sample->watch);
	const uint64_t *nr_raised = sample->alerts->nr_raised;
	const char *path, *problem;
	char time[TS_UNIT_MAX];
	size_t at = 0, nr_left = counts.nr_waiting + counts.nr_failed;

	TS_ASSERT(out && sample);
	ts_buf_printf(out, "%llu session%s annotated in %s", (unsigned long long)sample->number,
		      sample->number == 1 ? "" : "s",
		      ts_fmt_ps(time, ts_i64_mul(sample->elapsed_ms, TS_PS_PER_MS)));
	if (nr_left > 0)
		ts_buf_printf(out, ", %zu not", nr_left);
	ts_buf_printf(out, ". Alerts: %llu critical, %llu warning.\n",
		      (unsigned long long)nr_raised[TS_CRITICAL],
		      (unsigned long long)nr_raised[TS_WARNING]);
	while (ts_watch_left(sample->watch, &at, &path, &problem)) {
		ts_buf_puts(out, "  not annotated: ");
		ts_term_text(out, ts_bytes_of(path));
		ts_buf_puts(out, ": ");
		ts_term_text(out, ts_bytes_of(problem ? problem : "it was not at rest yet"));
		ts_buf_putc(out, '\n');
	}
}
