/* SPDX-License-Identifier: Apache-2.0 */
/* The quality of captures, for people and for programs. */
#include "write/check.h"

#include "base/check.h"
#include "codec/term.h"
#include "write/json_head.h"

#define BOLD	   "\033[1m"
#define RESET	   "\033[0m"
#define INDENT	   5
#define PAGE_WIDTH 100 /* where there is no terminal */

static const char *const columns[] = { "id",   "severity", "verdict", "confidence",
				       "what", "evidence", "fix",     "code" };

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

static struct ts_bytes verdict_of(const struct ts_check *check)
{
	struct ts_value verdict;

	if (!check->capture)
		return TS_LIT("empty");
	verdict = ts_result_get(check->capture, "verdict");
	return verdict.type == TS_VALUE_TEXT ? verdict.as.s : TS_LIT("empty");
}

bool ts_check_holds(const struct ts_check *check)
{
	struct ts_bytes verdict = verdict_of(check);

	TS_ASSERT(check);
	return ts_bytes_is(verdict, "good") || ts_bytes_is(verdict, "usable");
}

static const struct ts_table *causes_of(const struct ts_check *check)
{
	return check->capture ? ts_result_find_table(check->capture, "causes") : NULL;
}

static void put_wrapped(struct ts_buf *out, const char *label, struct ts_bytes text,
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
static void put_code(struct ts_buf *out, struct ts_bytes code)
{
	while (code.n > 0) {
		size_t n = ts_bytes_find(code, "\n");

		ts_buf_pad(out, ' ', n ? INDENT + 4 : 0);
		ts_term_text(out, ts_bytes_cut(code, 0, n));
		ts_buf_putc(out, '\n');
		code = ts_bytes_cut(code, n + 1, code.n);
	}
}

static void put_cause(struct ts_buf *out, const struct ts_table *causes, size_t row,
		      const struct ts_report *form)
{
	ts_buf_printf(out, "  %zu. %.*s: %.*s: ", row + 1,
		      TS_ARG(ts_cell_text(causes, row, "severity")),
		      TS_ARG(ts_cell_text(causes, row, "id")));
	ts_term_text(out, ts_cell_text(causes, row, "what"));
	ts_buf_putc(out, '\n');
	put_wrapped(out, "", ts_cell_text(causes, row, "evidence"), form);
	put_wrapped(out, "do: ", ts_cell_text(causes, row, "fix"), form);
	put_code(out, ts_cell_text(causes, row, "code"));
}

void ts_check_text(struct ts_buf *out, const struct ts_check *check, const struct ts_report *form)
{
	const struct ts_table *causes = causes_of(check);

	TS_ASSERT(out && check && form);
	ts_term_text(out, ts_bytes_of(check->session));
	ts_buf_puts(out, form->color ? ": " BOLD : ": ");
	ts_buf_put(out, verdict_of(check));
	ts_buf_puts(out, form->color ? RESET "\n" : "\n");
	for (size_t i = 0; causes && i < causes->nr_rows; i++)
		put_cause(out, causes, i, form);
}

void ts_check_json_begin(struct ts_json *json, const struct ts_report *form)
{
	TS_ASSERT(json && form);
	ts_json_object(json);
	ts_json_head(json, form);
	ts_json_key(json, "checks");
	ts_json_array(json);
}

static void put_row(struct ts_json *json, const struct ts_table *causes, size_t row)
{
	ts_json_object(json);
	for (size_t i = 0; i < TS_NELEM(columns); i++) {
		struct ts_bytes text = ts_cell_text(causes, row, columns[i]);

		ts_json_key(json, columns[i]);
		if (text.n > 0)
			ts_json_string(json, text);
		else
			ts_json_null(json);
	}
	ts_json_object_end(json);
}

static void put_problem(struct ts_json *json, const struct ts_check *check)
{
	bool is_wrong_path = strcmp(check->cause, "no_profile") == 0;
	const char *const cells[] = { check->cause,
				      "critical",
				      "empty",
				      "certain",
				      check->problem,
				      NULL,
				      is_wrong_path ? where_profiles_are : NULL,
				      is_wrong_path ? where_profiles_are_code : NULL };

	ts_json_object(json);
	for (size_t i = 0; i < TS_NELEM(columns); i++) {
		ts_json_key(json, columns[i]);
		ts_json_text(json, cells[i]);
	}
	ts_json_object_end(json);
}

void ts_check_json(struct ts_json *json, const struct ts_check *check)
{
	const struct ts_table *causes = causes_of(check);

	TS_ASSERT(json && check);
	ts_json_object(json);
	ts_json_key(json, "session");
	ts_json_text(json, check->session);
	ts_json_key(json, "verdict");
	ts_json_string(json, verdict_of(check));
	ts_json_key(json, "causes");
	ts_json_array(json);
	for (size_t i = 0; causes && i < causes->nr_rows; i++)
		put_row(json, causes, i);
	if (!check->capture)
		put_problem(json, check);
	ts_json_array_end(json);
	ts_json_object_end(json);
}

void ts_check_json_end(struct ts_json *json)
{
	TS_ASSERT(json);
	ts_json_array_end(json);
	ts_json_object_end(json);
	ts_buf_putc(json->out, '\n');
}
