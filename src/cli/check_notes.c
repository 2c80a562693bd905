/* SPDX-License-Identifier: MIT */
/* The remarks of check: a table of what each says, and a function a remark that says whether it holds. */
#include "cli/check_notes.h"

#include <sys/stat.h>

#include "base/check.h"
#include "codec/term.h"
#include "io/place.h"
#include "overlay/apply.h"

/* A sentence of what was found, if the note holds. */
typedef bool find_fn(struct ts_buf *out, const void *of);

static bool check_notes_is_xplane(const struct ts_session *session)
{
	struct ts_bytes name = ts_bytes_of(session->files[0].name);

	return ts_bytes_ends(name, ".xplane.pb") || ts_bytes_ends(name, ".xplane.riegeli");
}

static bool check_notes_is_outside(struct ts_buf *out, const void *of)
{
	const struct ts_session *session = of;

	if (!check_notes_is_xplane(session) || ts_place_is_session(session->dir))
		return false;
	if (strcmp(session->dir, ".") == 0) {
		ts_buf_puts(out, "It lies in the current folder.");
		return true;
	}
	ts_buf_puts(out, "It lies in ");
	ts_term_text(out, ts_bytes_of(session->dir));
	ts_buf_puts(out, ts_bytes_ends(ts_bytes_of(session->dir), ".") ? "" : ".");
	return true;
}

static bool is_windows(struct ts_buf *out, const void *of)
{
	const struct ts_session *session = of;
	struct ts_buf point = TS_BUF_INIT;
	bool is = ts_place_is_windows(session->dir, &point);

	if (is) {
		ts_buf_puts(out, "The drive is mounted at ");
		ts_term_text(out, ts_buf_bytes(&point));
		ts_buf_putc(out, '.');
	}
	ts_buf_release(&point);
	return is;
}

static bool is_shareable(struct ts_buf *out, const void *of)
{
	static const char *const names[] = { TS_TRACE_FILE, TS_PFTRACE_FILE };
	const struct ts_session *session = of;

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		struct ts_buf path = TS_BUF_INIT;
		struct stat st;
		bool is_there;

		ts_buf_printf(&path, "%s/%s", session->dir, names[i]);
		ts_buf_putc(&path, '\0');
		is_there = !path.failed && session->kind == TS_SESSION_DIR &&
			   stat((const char *)path.p, &st) == 0;
		ts_buf_release(&path);
		if (is_there) {
			ts_buf_printf(out,
				      "%s is there. It names functions, source files and shapes, "
				      "unless its profile was redacted.",
				      names[i]);
			return true;
		}
	}
	return false;
}

static bool has_no_xprof(struct ts_buf *out, const void *of)
{
	const struct ts_tensorboard *found = of;

	ts_buf_puts(out, "There is no package xprof or tensorboard-plugin-profile in ");
	ts_term_text(out, ts_bytes_of(found->packages));
	ts_buf_putc(out, '.');
	return !found->has_xprof;
}

static bool has_no_tpusight(struct ts_buf *out, const void *of)
{
	const struct ts_tensorboard *found = of;

	ts_buf_puts(out, "There is no package tpusight in ");
	ts_term_text(out, ts_bytes_of(found->packages));
	ts_buf_putc(out, '.');
	return !found->has_tpusight;
}

struct kind {
	find_fn *find;
	struct ts_check_note note;
};

static const struct kind of_session[] = {
	{ check_notes_is_outside,
	  { "outside_profile", "info", "certain",
	    "TensorBoard and XProf do not find this profile: it is not in plugins/profile/SESSION",
	    NULL,
	    "Copy it to LOGDIR/plugins/profile/SESSION/HOST.xplane.pb, and give LOGDIR to "
	    "tensorboard --logdir. The commands of TPUsight read it where it is." } },
	{ is_windows,
	  { "windows_drive", "warning", "certain",
	    "The profile is on a drive of Windows, which is slow to read and write from Linux",
	    NULL,
	    "Write profiles below your home folder (/home/...), which Linux keeps itself, and copy "
	    "there what you have." } },
	{ is_shareable,
	  { "share_uploads", "info", "certain",
	    "The Share button of ui.perfetto.dev uploads a trace that was dragged there, and all "
	    "who have the link can read it",
	    NULL,
	    "Before you share it, make a copy whose names are hashed (tpusight redact -o shared "
	    "SESSION), or send the findings alone (tpusight report --budget 2000 SESSION)." } },
};

static const struct kind of_viewer[] = {
	{ has_no_xprof,
	  { "no_profile_plugin", "warning", "likely", "This TensorBoard has no tab Profile", NULL,
	    "Install it into the environment of this TensorBoard (pip install xprof), and start "
	    "TensorBoard again." } },
	{ has_no_tpusight,
	  { "no_tpusight_plugin", "info", "likely", "This TensorBoard has no tab TPUsight", NULL,
	    "Install the package tpusight into the environment of this TensorBoard, and start "
	    "TensorBoard again; or use tpusight serve, which needs no TensorBoard." } },
};

static void find_all(struct ts_check_notes *notes, const struct kind *kinds, size_t nr,
		     const void *of)
{
	TS_ASSERT(nr <= TS_MAX_CHECK_NOTES);
	*notes = (struct ts_check_notes){ .nr = 0 };
	for (size_t i = 0; i < nr; i++) {
		struct ts_buf *text = &notes->texts[notes->nr];

		if (kinds[i].find(text, of)) {
			ts_buf_putc(text, '\0');
			notes->items[notes->nr] = kinds[i].note;
			notes->items[notes->nr++].evidence =
				text->failed ? "" : (const char *)text->p;
		} else {
			ts_buf_release(text);
		}
	}
}

void ts_check_notes_find(struct ts_check_notes *notes, const struct ts_session *session)
{
	bool is_here;

	TS_ASSERT(notes && session);
	is_here = !session->remote && session->kind != TS_SESSION_STREAM && session->nr_files > 0;
	find_all(notes, of_session, is_here ? TS_NELEM(of_session) : 0, session);
}

void ts_check_notes_of_viewer(struct ts_check_notes *notes, const struct ts_tensorboard *found)
{
	TS_ASSERT(notes && found);
	find_all(notes, of_viewer, found->program[0] ? TS_NELEM(of_viewer) : 0, found);
}

void ts_check_notes_release(struct ts_check_notes *notes)
{
	TS_ASSERT(notes);
	for (size_t i = 0; i < TS_MAX_CHECK_NOTES; i++)
		ts_buf_release(&notes->texts[i]);
	*notes = (struct ts_check_notes){ .nr = 0 };
}
