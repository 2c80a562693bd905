/* SPDX-License-Identifier: MIT */
/* Report and suggestions of a run, into a folder of its profiles. */
#include "pod/beside.h"

#include "base/check.h"
#include "pod/mapped_run.h"
#include "run/staged.h"
#include "io/tracefile.h"

static bool is_of_run(const struct ts_session *session, const struct ts_saved_run *saved)
{
	for (size_t i = 0; i < saved->nr_files; i++)
		for (size_t k = 0; k < session->nr_files; k++)
			if (ts_bytes_is(saved->files[i].name, session->files[k].name))
				return true;
	return false;
}

static enum ts_status beside_check(const struct ts_beside *beside, const struct ts_session *session,
				   const struct ts_mapped_run *mapped,
				   const struct ts_saved_known *known, struct ts_error *err)
{
	enum ts_status st;

	if (!is_of_run(session, &mapped->saved))
		return ts_fail(err, TS_FORMAT,
			       "%s: no file of the run of %s is in it (name its folder)",
			       session->dir, beside->results.path);
	st = ts_saved_check_damage(known, session->dir, err);
	if (st)
		return st;
	if (!ts_report_is_ours(beside->report.bytes))
		return ts_fail(err, TS_FORMAT,
			       "%s: not a report in JSON (make it with tpusight reduce report -o "
			       "REPORT.json)",
			       beside->report.path);
	return TS_OK;
}

static enum ts_status put_staged(void *ctx, const struct ts_session *session, struct ts_error *err)
{
	const struct ts_overlay_options options = { .dry_run = false };
	struct ts_beside *beside = ctx;
	struct ts_mapped_run mapped;
	struct ts_saved_known known = { .is_damaged = false };
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	st = ts_mapped_run_load_results(&mapped, &run, &beside->results, &known, err);
	if (st == TS_OK)
		st = beside_check(beside, session, &mapped, &known, err);
	if (st == TS_OK) {
		const struct ts_overlay_plan plan = { .results = &run.results,
						      .report_json = beside->report.bytes };

		st = ts_overlay_apply(session, &plan, &options, &beside->done, err);
	}
	ts_saved_known_release(&known);
	ts_mapped_run_release(&mapped);
	ts_run_release(&run);
	return st;
}

static void put_again(void *ctx)
{
	struct ts_beside *beside = ctx;

	ts_overlay_report_release(&beside->done);
}

enum ts_status ts_beside_put(struct ts_beside *beside, const struct ts_session *session,
			     struct ts_error *err)
{
	struct ts_staged_job job = { .session = session,
				     .beside = true,
				     .work = put_staged,
				     .again = put_again,
				     .ctx = beside };
	enum ts_status st;

	TS_ASSERT(beside && session);
	st = ts_staged_do(&job, err);
	beside->push = job.push;
	return st;
}
