/* SPDX-License-Identifier: MIT */
/* The quality of captures, for people and for programs. */
#include "write/check.h"

#include "base/check.h"
#include "codec/term.h"
#include "write/json_head.h"
#include "result/schema/capture.def"

#define BOLD	   "\033[1m"
#define RESET	   "\033[0m"
#define INDENT	   5
#define PAGE_WIDTH 100 /* where there is no terminal */

enum column { ID, SEVERITY, VERDICT, CONFIDENCE, WHAT, EVIDENCE, FIX, CODE, NR_COLUMNS };
static const char *const columns[NR_COLUMNS] = { "id",	 "severity", "verdict", "confidence",
						 "what", "evidence", "fix",	"code" };

/* A cause of the analysis, or a note: a text a column, empty where there is none. */
struct row {
	struct ts_bytes cells[NR_COLUMNS];
};

static struct row row_of_cause(const struct ts_table *causes, size_t index)
{
	const struct ts_capture_causes_row *cause = TS_ROW(causes, capture_causes, index);

	return (struct row){ { [ID] = ts_value_text(cause->id),
			       [SEVERITY] = ts_value_text(cause->severity),
			       [VERDICT] = ts_value_text(cause->verdict),
			       [CONFIDENCE] = ts_value_text(cause->confidence),
			       [WHAT] = ts_value_text(cause->what),
			       [EVIDENCE] = ts_value_text(cause->evidence),
			       [FIX] = ts_value_text(cause->fix),
			       [CODE] = ts_value_text(cause->code) } };
}

static struct row row_of_note(const struct ts_check_note *note)
{
	return (struct row){ { [ID] = ts_bytes_of(note->id),
			       [SEVERITY] = ts_bytes_of(note->severity),
			       [VERDICT] = TS_LIT("good"),
			       [CONFIDENCE] = ts_bytes_of(note->confidence),
			       [WHAT] = ts_bytes_of(note->what),
			       [EVIDENCE] = ts_bytes_of(note->evidence),
			       [FIX] = ts_bytes_of(note->fix) } };
}

/* For a path that holds no profile: how one comes into being, and where. */
static const char where_profiles_are[] = "Take a profile with jax.profiler.trace(LOGDIR), and give "
					 "LOGDIR: the profile is below it, in "
					 "plugins/profile/SESSION/HOST.xplane.pb.";
static const char where_profiles_are_code[] =
	"import glob\n"
	"import tempfile\n"
	"\n"
	"import jax\n"
	"import jax.numpy as jnp\n"
	"\n"
	"logdir = tempfile.mkdtemp()  # your log directory\n"
	"with jax.profiler.trace(logdir):\n"
	"    jnp.ones(8).sum().block_until_ready()\n"
	"print(glob.glob(logdir + \"/plugins/profile/*/*.xplane.pb\"))\n";

static struct ts_bytes check_verdict_of(const struct ts_check *check)
{
	struct ts_value verdict;

	if (!check->capture)
		return TS_LIT("empty");
	verdict = TS_GET(check->capture, capture, verdict);
	return verdict.type == TS_VALUE_TEXT ? verdict.as.s : TS_LIT("empty");
}

bool ts_check_holds(const struct ts_check *check)
{
	struct ts_bytes verdict = check_verdict_of(check);

	TS_ASSERT(check);
	return ts_bytes_is(verdict, "good") || ts_bytes_is(verdict, "usable");
}

static const struct ts_table *causes_of(const struct ts_check *check)
{
	return TS_RESULT_TABLE(check->capture, capture_causes);
}

static bool is_predicted(const struct ts_check *check)
{
	return check->capture &&
	       TS_GET(check->capture, capture, is_predicted).type == TS_VALUE_BOOL;
}

static void check_put_wrapped(struct ts_buf *out, const char *label, struct ts_bytes text,
			      const struct ts_report *form)
{
	size_t at = INDENT + strlen(label);
	struct ts_term_wrap how = { .width = form->width ? form->width : PAGE_WIDTH,
				    .at = at,
				    .indent = at };

	if (text.n == 0)
		return;
	ts_buf_pad(out, ' ', INDENT);
	ts_buf_puts(out, label);
	ts_term_wrap(out, text, how);
	ts_buf_putc(out, '\n');
}

/* Line by line, as it is written: it is there to be copied. */
static void check_put_code(struct ts_buf *out, struct ts_bytes code)
{
	while (code.n > 0) {
		size_t n = ts_bytes_find(code, "\n");

		ts_buf_pad(out, ' ', n ? INDENT + 4 : 0);
		ts_term_text(out, ts_bytes_cut(code, 0, n));
		ts_buf_putc(out, '\n');
		code = ts_bytes_cut(code, n + 1, code.n);
	}
}

static void put_cause(struct ts_buf *out, size_t number, struct row row,
		      const struct ts_report *form)
{
	ts_buf_printf(out, "  %zu. %.*s: %.*s: ", number, TS_ARG(row.cells[SEVERITY]),
		      TS_ARG(row.cells[ID]));
	ts_term_text(out, row.cells[WHAT]);
	ts_buf_putc(out, '\n');
	check_put_wrapped(out, "", row.cells[EVIDENCE], form);
	check_put_wrapped(out, "do: ", row.cells[FIX], form);
	check_put_code(out, row.cells[CODE]);
}

void ts_check_text(struct ts_buf *out, const struct ts_check *check, const struct ts_report *form)
{
	const struct ts_table *causes = causes_of(check);
	size_t nr = 0;

	TS_ASSERT(out && check && form);
	ts_term_text(out, ts_bytes_of(check->session));
	ts_buf_puts(out, form->color ? ": " BOLD : ": ");
	ts_buf_put(out, check_verdict_of(check));
	ts_buf_puts(out, form->color ? RESET : "");
	ts_buf_puts(out, is_predicted(check) ? " (predicted, not measured)\n" : "\n");
	for (size_t i = 0; causes && i < causes->nr_rows; i++)
		put_cause(out, ++nr, row_of_cause(causes, i), form);
	for (size_t i = 0; i < check->nr_notes; i++)
		put_cause(out, ++nr, row_of_note(&check->notes[i]), form);
}

void ts_check_viewer_text(struct ts_buf *out, const struct ts_check_viewer *viewer,
			  const struct ts_report *form)
{
	TS_ASSERT(out && viewer && form);
	if (viewer->nr_notes == 0)
		return;
	ts_term_text(out, ts_bytes_of(viewer->program));
	ts_buf_putc(out, '\n');
	for (size_t i = 0; i < viewer->nr_notes; i++)
		put_cause(out, i + 1, row_of_note(&viewer->notes[i]), form);
}

void ts_check_json_begin(struct ts_json *json, const struct ts_report *form)
{
	TS_ASSERT(json && form);
	ts_json_object(json);
	ts_json_head(json, form);
	ts_json_key(json, "checks");
	ts_json_array(json);
}

static void check_put_row(struct ts_json *json, struct row row)
{
	ts_json_object(json);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		ts_json_key(json, columns[i]);
		if (row.cells[i].n > 0)
			ts_json_string(json, row.cells[i]);
		else
			ts_json_null(json);
	}
	ts_json_object_end(json);
}

static void check_put_notes(struct ts_json *json, const struct ts_check_note *notes, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_put_row(json, row_of_note(&notes[i]));
}

static void put_problem(struct ts_json *json, const struct ts_check *check)
{
	bool is_wrong_path = strcmp(check->cause, "no_profile") == 0;
	struct row row = { { [ID] = ts_bytes_of(check->cause),
			     [SEVERITY] = TS_LIT("critical"),
			     [VERDICT] = TS_LIT("empty"),
			     [CONFIDENCE] = TS_LIT("certain"),
			     [WHAT] = ts_bytes_of(check->problem) } };

	if (is_wrong_path) {
		row.cells[FIX] = ts_bytes_of(where_profiles_are);
		row.cells[CODE] = ts_bytes_of(where_profiles_are_code);
	}
	check_put_row(json, row);
}

void ts_check_json(struct ts_json *json, const struct ts_check *check)
{
	const struct ts_table *causes = causes_of(check);

	TS_ASSERT(json && check);
	ts_json_object(json);
	ts_json_put_text(json, "session", check->session);
	ts_json_put_string(json, "verdict", check_verdict_of(check));
	if (is_predicted(check))
		ts_json_put_bool(json, "is_predicted", true);
	ts_json_key(json, "causes");
	ts_json_array(json);
	for (size_t i = 0; causes && i < causes->nr_rows; i++)
		check_put_row(json, row_of_cause(causes, i));
	if (!check->capture)
		put_problem(json, check);
	check_put_notes(json, check->notes, check->nr_notes);
	ts_json_array_end(json);
	ts_json_object_end(json);
}

static void check_put_viewer(struct ts_json *json, const struct ts_check_viewer *viewer)
{
	ts_json_object(json);
	ts_json_put_text(json, "program", viewer->program);
	ts_json_put_text(json, "packages", viewer->packages);
	ts_json_key(json, "causes");
	ts_json_array(json);
	check_put_notes(json, viewer->notes, viewer->nr_notes);
	ts_json_array_end(json);
	ts_json_object_end(json);
}

void ts_check_json_end(struct ts_json *json, const struct ts_check_viewer *viewer)
{
	TS_ASSERT(json && viewer);
	ts_json_array_end(json);
	ts_json_key(json, "tensorboard");
	if (viewer->program)
		check_put_viewer(json, viewer);
	else
		ts_json_null(json);
	ts_json_object_end(json);
	ts_buf_putc(json->out, '\n');
}
