/* SPDX-License-Identifier: MIT */
/* The overlay's own strip, staged where the files are objects. */
#include "run/strip.h"

#include "base/check.h"

struct stripping {
	struct ts_strip *strip;
	const char *dir;
};

static enum ts_status strip_staged(void *ctx, const struct ts_session *session,
				   struct ts_error *err)
{
	const struct stripping *stripping = ctx;
	struct ts_strip *strip = stripping->strip;
	const struct ts_overlay_options options = { .dry_run = strip->dry_run };

	return session ? ts_overlay_strip(session, &options, &strip->report, err)
		       : ts_overlay_strip_folder(stripping->dir, &options, &strip->report, err);
}

static void strip_again(void *ctx)
{
	const struct stripping *stripping = ctx;

	ts_overlay_report_release(&stripping->strip->report);
}

static enum ts_status strip(struct ts_strip *strip, struct ts_staged_job job, struct ts_error *err)
{
	struct stripping stripping = { strip, job.dir };
	enum ts_status st;

	job.dry_run = strip->dry_run;
	job.work = strip_staged;
	job.again = strip_again;
	job.ctx = &stripping;
	st = ts_staged_do(&job, err);
	strip->push = job.push;
	return st;
}

enum ts_status ts_strip(struct ts_strip *one, const struct ts_session *session,
			struct ts_error *err)
{
	TS_ASSERT(one && session);
	return strip(one, (struct ts_staged_job){ .session = session }, err);
}

enum ts_status ts_strip_folder(struct ts_strip *one, struct ts_remote *remote, const char *dir,
			       struct ts_error *err)
{
	TS_ASSERT(one && dir);
	return strip(one, (struct ts_staged_job){ .remote = remote, .dir = dir }, err);
}

void ts_strip_release(struct ts_strip *strip)
{
	TS_ASSERT(strip);
	ts_overlay_report_release(&strip->report);
}
