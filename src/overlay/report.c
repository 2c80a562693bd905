/*
 * The report beside the profiles. Of a session with a folder of its own it is ALL_HOSTS; of traces in
 * a folder of the user's, where there may be any number of sessions, it has the first trace's name.
 */
#include "io/tracefile.h"

#include "base/check.h"
#include "overlay/work.h"

#define REPORT_HEAD 256 /* bytes in which our report's mark is looked for */

bool ts_overlay_work_owns_folder(const struct work *work)
{
	TS_ASSERT(work);
	return work->session->owns_folder || work->has_profiles ||
	       !(work->plan ? work->plan->of_traces
			    : ts_tracefile_is_named(ts_bytes_of(work->session->files[0].name)));
}

static bool is_our_report(struct ts_bytes file)
{
	return ts_bytes_starts(file, "{") &&
	       ts_bytes_has(ts_bytes_cut(file, 0, REPORT_HEAD), TS_REPORT_MARK);
}

/* Puts TEXT; without a TEXT a report of ours is taken out. */
static void set_report(struct work *work, const char *name, struct ts_bytes text)
{
	struct ts_error story = TS_ERROR_INIT;
	struct ts_input old;
	bool exists, ours;
	enum ts_status st = ts_overlay_work_read(work, &old, name, &exists, &story);

	ours = is_our_report(old.bytes);
	if (!st && text.n && exists && !ours)
		st = ts_fail(&story, TS_IO, "%s/%s: not made by TPUsight (move it away)",
			     work->session->dir, name);
	if (st)
		ts_overlay_work_note(work, TS_THING_REPORT, TS_DEED_FAILED, name, 0, &story);
	else if (text.n)
		ts_overlay_work_put(work, TS_THING_REPORT, name, &old, exists, text);
	else if (ours)
		ts_overlay_work_remove(work, TS_THING_REPORT, name);
	ts_input_release(&old);
}

void ts_overlay_work_take_out_report(struct work *work, const char *name)
{
	TS_ASSERT(work && name);
	set_report(work, name, (struct ts_bytes){ NULL, 0 });
}

void ts_overlay_work_do_report(struct work *work)
{
	const struct ts_bytes none = { NULL, 0 };
	struct ts_bytes text = work->plan ? work->plan->report_json : none;
	bool owns = ts_overlay_work_owns_folder(work);

	TS_ASSERT(work);
	for (size_t i = 0; i < work->session->nr_files; i++) {
		const struct ts_hostfile *file = &work->session->files[i];
		const char *name;

		if (ts_bytes_ends(ts_bytes_of(file->name), TS_XPLANE_SUFFIX) ||
		    ts_overlay_work_has_twin(work, file))
			continue;
		name = ts_overlay_work_beside(work, file, TS_ANNOTATED_REPORT_SUFFIX);
		if (name)
			set_report(work, name, i == 0 && !owns ? text : none);
	}
	if (owns)
		set_report(work, TS_REPORT_FILE, text);
}
