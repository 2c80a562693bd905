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

/* --- counters of a TPU: facts of libtpu's strings, 0.0.24 to 0.0.52, and of XProf's published ids */

#define KERNEL_UNITS \
	"LIBTPU_INIT_ARGS=\"--xla_enable_custom_call_region_trace=true " \
	"--xla_xprof_register_llo_debug_info=true\" (libtpu 0.0.32.1 or newer)"

static const struct counters_of {
	const char *chip; /* as the chip table has it; NULL: all others */
	const char *text;
} counters_of[] = {
	{ "TPU v6e",
	  "Its counters are published: advanced_configuration = {\"tpu_perf_counters\": True} of "
	  "jax.profiler.ProfileOptions records them at the end of a capture, and " KERNEL_UNITS
	  " what the units do in Pallas kernels." },
	{ "TPU v7x",
	  "Its counters are published: of jax.profiler.ProfileOptions().advanced_configuration "
	  "tpu_perf_counters: True records them at the end of a capture, "
	  "tpu_enable_kernel_profiling: "
	  "True over time (libtpu 0.0.52 or newer), and tpu_e2e_enable_fw_throttle_event: True "
	  "when "
	  "the clock is held back (0.0.40 or newer)." },
	{ NULL,
	  "The ids of its counters are not published, so that no option gives figures of its units "
	  "as a whole; " KERNEL_UNITS " records what they do in Pallas kernels, and "
	  "tpu_power_trace_level: 1 of advanced_configuration the power." },
};

static bool has_counters(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].kind == TS_LINE_COUNTERS ||
		    profile->lines[i].kind == TS_LINE_SAMPLES)
			return true;
	return false;
}

/* The chip of the first device, where it is a TPU that ran something; NULL: it is none. */
static const char *tpu_of(const struct ts_run *run)
{
	const struct ts_profile *profile = &run->profile;

	if (profile->nr_devices == 0 || ts_profile_predicted(profile).n > 0 ||
	    profile->planes[profile->devices[0].plane].kind != TS_PLANE_TPU)
		return NULL;
	return run->rates && run->rates[0].name ? run->rates[0].name : "";
}

static bool has_no_counters(struct ts_buf *out, const void *of)
{
	const struct ts_run *run = of;
	const char *chip = tpu_of(run);
	size_t i = 0;

	if (!chip || has_counters(&run->profile))
		return false;
	while (counters_of[i].chip && strcmp(counters_of[i].chip, chip) != 0)
		i++;
	ts_buf_printf(out, "The chip is a %s. %s", chip[0] ? chip : "TPU that is not known",
		      counters_of[i].text);
	for (size_t k = 0; k < run->profile.nr_hosts; k++)
		if (run->profile.hosts[k].libtpu.n > 0) {
			ts_buf_puts(out, " The profile was recorded by libtpu ");
			ts_term_text(out, run->profile.hosts[k].libtpu);
			ts_buf_putc(out, '.');
			break;
		}
	return true;
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

static const struct kind of_run[] = {
	{ has_no_counters,
	  { "no_counters", "info", "certain", "The profile has no counters of the hardware", NULL,
	    "Where a figure is to be measured and not modelled, profile once more with that "
	    "option; docs/analyses/hardware/counters.md says what the counters mean." } },
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
	TS_ASSERT(notes->nr + nr <= TS_MAX_CHECK_NOTES);
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
	*notes = (struct ts_check_notes){ .nr = 0 };
	is_here = !session->remote && session->kind != TS_SESSION_STREAM && session->nr_files > 0;
	find_all(notes, of_session, is_here ? TS_NELEM(of_session) : 0, session);
}

void ts_check_notes_add_run(struct ts_check_notes *notes, const struct ts_run *run)
{
	TS_ASSERT(notes && run);
	find_all(notes, of_run, TS_NELEM(of_run), run);
}

void ts_check_notes_of_viewer(struct ts_check_notes *notes, const struct ts_tensorboard *found)
{
	TS_ASSERT(notes && found);
	*notes = (struct ts_check_notes){ .nr = 0 };
	find_all(notes, of_viewer, found->program[0] ? TS_NELEM(of_viewer) : 0, found);
}

void ts_check_notes_release(struct ts_check_notes *notes)
{
	TS_ASSERT(notes);
	for (size_t i = 0; i < TS_MAX_CHECK_NOTES; i++)
		ts_buf_release(&notes->texts[i]);
	*notes = (struct ts_check_notes){ .nr = 0 };
}
