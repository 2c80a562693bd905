/* SPDX-License-Identifier: MIT */
/* The report on one screen. */
#include "write/screen.h"

#include <time.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/term.h"
#include "model/bucket.h"
#include "result/view.h"
#include "write/summary.h"
#include "result/schema/operators.def"
#include "result/schema/ops.def"
#include "result/schema/time.def"
#include "result/schema/capture.def"
#include "result/schema/doctor.def"

#define BOLD	    "\033[1m"
#define RESET	    "\033[0m"
#define NR_SHOWN    6	  /* of them */
#define NR_OPS	    5
#define BUCKET_LEAST 0.0005 /* of all time: less is 0.0 % */
#define VERDICT_LINES 2
#define NAME_WIDTH  40 /* of a program */

/* The program that ran longest. */
static void screen_put_program(struct ts_buf *out, const struct ts_results *results)
{
	const struct ts_table *modules = TS_FIND_TABLE(results, ops, modules);
	size_t longest = 0;

	for (size_t row = 1; modules && row < modules->nr_rows; row++)
		if (ts_value_int(TS_CELL_OF(modules, ops_modules, row, total_time_ps)) >
		    ts_value_int(TS_CELL_OF(modules, ops_modules, longest, total_time_ps)))
			longest = row;
	if (!modules || modules->nr_rows == 0)
		return;
	ts_buf_puts(out, TS_SUMMARY_DOT);
	ts_term_cut(out, ts_value_text(TS_CELL_OF(modules, ops_modules, longest, name)),
		    NAME_WIDTH);
	if (modules->nr_rows > 1)
		ts_buf_printf(out, " and %zu more", modules->nr_rows - 1);
}

/* When the first host began. */
static void put_date(struct ts_buf *out, const struct ts_results *results)
{
	struct ts_value hosts = TS_OVERVIEW(results, run.hosts);
	uint64_t first_ns = UINT64_MAX;
	struct tm date;
	time_t seconds;
	char text[32];

	for (size_t i = 0; i < ts_list_length(hosts); i++) {
		struct ts_value start = TS_ITEM(hosts, overview_host, i)->start_unix_ns;

		if (start.type == TS_VALUE_ID && start.as.u > 0)
			first_ns = TS_MIN(first_ns, start.as.u);
	}
	seconds = (time_t)(first_ns / 1000000000);
	if (first_ns == UINT64_MAX || !gmtime_r(&seconds, &date))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &date);
	ts_buf_printf(out, TS_SUMMARY_DOT "%s", text);
}

/* Parts with dots between them, each whole on a line. */
static void screen_put_parts(struct ts_buf *out, struct ts_bytes parts, size_t width)
{
	const size_t dot = strlen(TS_SUMMARY_DOT), dot_width = 3;
	size_t at = 0;

	while (parts.n > 0) {
		size_t n = ts_bytes_find(parts, TS_SUMMARY_DOT);
		struct ts_bytes part = ts_bytes_cut(parts, 0, n);
		size_t wide = ts_term_width(part);

		if (at > 0 && at + dot_width + wide > width) {
			ts_buf_putc(out, '\n');
			at = 0;
		} else if (at > 0) {
			ts_buf_puts(out, TS_SUMMARY_DOT);
			at += dot_width;
		}
		ts_term_cut(out, part, width);
		at += wide;
		parts = ts_bytes_cut(parts, n + dot, parts.n);
	}
	ts_buf_puts(out, at > 0 ? "\n" : "");
}

static void screen_put_head(struct ts_buf *out, const struct ts_results *results,
			    const struct ts_report *report)
{
	struct ts_buf place = TS_BUF_INIT, facts = TS_BUF_INIT;

	ts_summary_predicted(out, results, report->width);
	ts_summary_place(&place, results);
	ts_summary_facts(&facts, results);
	screen_put_program(&facts, results);
	put_date(&facts, results);
	ts_buf_puts(out, report->color ? BOLD : "");
	ts_term_cut(out, ts_buf_bytes(&place), report->width);
	ts_buf_puts(out, report->color ? RESET "\n" : "\n");
	screen_put_parts(out, ts_bytes_cut(ts_buf_bytes(&facts), strlen(TS_SUMMARY_DOT), facts.n),
			 report->width);
	ts_summary_numbers(out, results, report);
	out->failed |= place.failed || facts.failed;
	ts_buf_release(&place);
	ts_buf_release(&facts);
}

static void screen_put_sentence(struct ts_buf *out, const char *before, struct ts_value value,
				const char *behind, size_t width)
{
	struct ts_term_wrap how = { .width = width, .lines = VERDICT_LINES };
	struct ts_buf text = TS_BUF_INIT;

	if (value.type != TS_VALUE_TEXT)
		return;
	ts_buf_puts(&text, before);
	ts_buf_put(&text, value.as.s);
	ts_buf_puts(&text, behind);
	ts_term_wrap(out, ts_buf_bytes(&text), how);
	ts_buf_putc(out, '\n');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

struct bucket {
	struct ts_bytes name; /* as in JSON, less its unit */
	double share;
};

/* Those that hold time, the largest first. */
static size_t screen_find_buckets(const struct ts_result *time,
				  struct bucket buckets[TS_NR_BUCKETS])
{
	double total = ts_value_number(TS_GET(time, time, total_ps));
	size_t nr = 0;

	for (enum ts_bucket b = 0; b < TS_NR_BUCKETS; b++) {
		double share = ts_summary_class_ps(time, b) / total;
		size_t at;

		if (!(share >= BUCKET_LEAST))
			continue;
		for (at = nr++; at > 0 && buckets[at - 1].share < share; at--)
			buckets[at] = buckets[at - 1];
		buckets[at].name = ts_bytes_of(ts_bucket_name(b));
		buckets[at].share = share;
	}
	return nr;
}

static void screen_put_buckets(struct ts_buf *out, const struct ts_result *time, size_t width)
{
	struct bucket buckets[TS_NR_BUCKETS] = { 0 };
	size_t nr = time ? screen_find_buckets(time, buckets) : 0;
	struct ts_buf text = TS_BUF_INIT;
	char share[TS_UNIT_MAX];

	for (size_t i = 0; i < TS_MIN(nr, NR_SHOWN); i++) {
		ts_buf_puts(&text, i ? TS_SUMMARY_DOT : "device time: ");
		for (size_t k = 0; k < buckets[i].name.n; k++)
			ts_buf_putc(&text,
				    buckets[i].name.p[k] == '_' ? ' ' : (char)buckets[i].name.p[k]);
		ts_buf_printf(&text, " %s", ts_fmt_pct(share, buckets[i].share * 100));
	}
	screen_put_parts(out, ts_buf_bytes(&text), width);
	out->failed |= text.failed;
	ts_buf_release(&text);
}

/* One of those that take most time. */
static void screen_put_op(struct ts_buf *text, struct ts_bytes name, int64_t self_ps, int64_t nr)
{
	char time[TS_UNIT_MAX];

	ts_buf_puts(text, text->n > 0 ? TS_SUMMARY_DOT : "most time: ");
	ts_term_cut(text, name, NAME_WIDTH);
	ts_buf_printf(text, " %s in %lld", ts_fmt_ps(time, self_ps), (long long)nr);
}

/* Of a run on CPUs, where no rate says more of them: ops, or operators of PyTorch. */
static void screen_put_ops(struct ts_buf *out, const struct ts_results *results, size_t width)
{
	const struct ts_table *ops = TS_FIND_TABLE(results, ops, ops);
	const struct ts_table *operators = TS_FIND_TABLE(results, operators, by_name);
	struct ts_buf text = TS_BUF_INIT;

	for (size_t i = 0; ops && i < TS_MIN(ops->nr_rows, NR_OPS); i++)
		if (ts_summary_is_of_cpus(results))
			screen_put_op(&text, ts_value_text(TS_CELL_OF(ops, ops_ops, i, name)),
				      ts_value_int(TS_CELL_OF(ops, ops_ops, i, self_time_ps)),
				      ts_value_int(TS_CELL_OF(ops, ops_ops, i, occurrences)));
	for (size_t i = 0; operators && i < TS_MIN(operators->nr_rows, NR_OPS); i++)
		if (ts_summary_has_no_device(results))
			screen_put_op(
				&text,
				ts_value_text(TS_CELL_OF(operators, operators_by_name, i, name)),
				ts_value_int(
					TS_CELL_OF(operators, operators_by_name, i, self_cpu_ps)),
				ts_value_int(TS_CELL_OF(operators, operators_by_name, i, calls)));
	screen_put_parts(out, ts_buf_bytes(&text), width);
	out->failed |= text.failed;
	ts_buf_release(&text);
}

/* Whether the capture can be believed, where that is in doubt; what the time went to. */
static void screen_put_verdict(struct ts_buf *out, const struct ts_results *results, size_t width)
{
	const struct ts_result *time = TS_FIND(results, time);
	const struct ts_result *capture = TS_FIND(results, capture);
	struct ts_value verdict = capture ? TS_GET(capture, capture, verdict) : ts_null();

	bool misleads = verdict.type == TS_VALUE_TEXT && ts_bytes_is(verdict.as.s, "misleading");

	/* In what could not be read there may be a device. */
	if (ts_summary_has_no_device(results) && !misleads)
		screen_put_sentence(out, "",
				    ts_text(ts_bytes_of("No TPU or GPU is in this profile")),
				    ": what is known is of its hosts", width);
	else if (verdict.type == TS_VALUE_TEXT && !ts_bytes_is(verdict.as.s, "good"))
		screen_put_sentence(out, "The capture is ", verdict, " (tpusight check says why)",
				    width);
	/* What limits the run cannot be said of figures that mislead. */
	if (time && !misleads)
		screen_put_sentence(out, "", TS_GET(time, time, bottleneck), "", width);
	screen_put_buckets(out, time, width);
	screen_put_ops(out, results, width);
}

void ts_screen_text(struct ts_buf *out, const struct ts_results *results,
		    const struct ts_report *report)
{
	const struct ts_result *doctor = TS_FIND(results, doctor);
	struct ts_report form = *report;
	struct ts_buf verdict = TS_BUF_INIT;

	TS_ASSERT(out && results && report);
	form.width = report->width ? report->width : TS_SCREEN_WIDTH;
	screen_put_head(out, results, &form);
	screen_put_verdict(&verdict, results, form.width);
	ts_buf_puts(out, verdict.n > 0 ? "\n" : "");
	ts_buf_put(out, ts_buf_bytes(&verdict));
	ts_buf_putc(out, '\n');
	if (doctor)
		ts_summary_findings(out, doctor, &form);
	out->failed |= verdict.failed;
	ts_buf_release(&verdict);
}
