/* SPDX-License-Identifier: MIT */
/* The report in a given number of bytes. */
#include "write/brief.h"

#include "base/check.h"
#include "base/units.h"
#include "codec/json.h"
#include "codec/term.h"
#include "model/bucket.h"
#include "result/view.h"
#include "write/summary.h"
#include "result/schema/capture.def"
#include "result/schema/doctor.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"

#define GROUP	 3 /* findings that get their first two sentences before the next ones are named */
#define SLACK	 128 /* the line on what is left out is shorter than this, and comes and goes */
#define MORE	 "tpusight report --view doctor"
#define NR_HEADS 2 /* steps before the findings: the run, the numbers */

enum level { UNTOLD, TITLE, EVIDENCE, ADVICE, WHOLE, CODE, NR_LEVELS };

struct step {
	size_t finding;
	enum level level;
};

struct brief {
	const struct ts_results *results;
	const struct ts_result *doctor; /* or NULL */
	size_t nr_findings;		/* that can be written */
	struct step steps[TS_BRIEF_FINDINGS * (NR_LEVELS - 1)];
	size_t nr_steps;
	enum level levels[TS_BRIEF_FINDINGS]; /* of the findings, after so many steps: */
	size_t nr_taken;
};

static void brief_add_step(struct brief *brief, size_t finding, enum level level)
{
	brief->steps[brief->nr_steps++] = (struct step){ finding, level };
}

static void brief_plan(struct brief *brief, const struct ts_results *results)
{
	brief->results = results;
	brief->doctor = TS_FIND(results, doctor);
	brief->nr_findings =
		brief->doctor ? TS_MIN(brief->doctor->nr_findings, TS_BRIEF_FINDINGS) : 0;
	for (size_t first = 0; first < brief->nr_findings; first += GROUP)
		for (int level = TITLE; level <= ADVICE; level++)
			for (size_t i = first; i < TS_MIN(first + GROUP, brief->nr_findings); i++)
				brief_add_step(brief, i, (enum level)level);
	for (int level = WHOLE; level <= CODE; level++)
		for (size_t i = 0; i < brief->nr_findings; i++)
			brief_add_step(brief, i, (enum level)level);
}

static size_t nr_left_out(const struct brief *brief)
{
	size_t nr = brief->doctor ? brief->doctor->nr_findings : 0;

	for (size_t i = 0; i < brief->nr_findings; i++)
		nr -= brief->levels[i] >= TITLE;
	return nr;
}

static struct ts_bytes brief_part(enum level level, enum level from, struct ts_bytes text)
{
	size_t n = ts_bytes_find(text, ". ");

	if (level < from)
		return (struct ts_bytes){ NULL, 0 };
	/* or its first sentence, with its full stop */
	return level >= WHOLE || n == text.n ? text : ts_bytes_cut(text, 0, n + 1);
}

static void brief_put_facts(struct ts_buf *out, const struct ts_finding *finding)
{
	struct ts_bytes place = ts_finding_place(finding);
	char gain[TS_GAIN_MAX];

	if (finding->gain_ps < 0 && place.n == 0)
		return;
	ts_buf_puts(out, " (");
	if (finding->gain_ps >= 0)
		ts_buf_puts(out, ts_finding_gain(gain, finding));
	if (finding->gain_ps >= 0 && place.n)
		ts_buf_puts(out, "; ");
	ts_term_text(out, place);
	ts_buf_putc(out, ')');
}

static void put_sentences(struct ts_buf *out, const char *before, struct ts_bytes text)
{
	if (text.n == 0)
		return;
	ts_buf_puts(out, before);
	ts_term_text(out, text);
}

static void brief_put_code(struct ts_buf *out, struct ts_bytes code)
{
	while (code.n > 0) {
		size_t n = ts_bytes_find(code, "\n");

		ts_buf_puts(out, n ? "    " : "");
		ts_term_text(out, ts_bytes_cut(code, 0, n));
		ts_buf_putc(out, '\n');
		code = ts_bytes_cut(code, n + 1, code.n);
	}
}

static void brief_put_finding(struct ts_buf *out, const struct ts_finding *finding, size_t number,
			      enum level level)
{
	ts_buf_printf(out, "%zu. %s: ", number, ts_severity_name(finding->severity));
	ts_term_text(out, finding->title);
	brief_put_facts(out, finding);
	ts_buf_putc(out, '.');
	put_sentences(out, " ", brief_part(level, EVIDENCE, finding->evidence));
	put_sentences(out, " Do: ", brief_part(level, ADVICE, finding->advice));
	ts_buf_putc(out, '\n');
	if (level >= CODE)
		brief_put_code(out, finding->code);
}

static void render_text(const struct brief *brief, struct ts_buf *out)
{
	const struct ts_report plain = { .width = 0 };
	size_t left_out = nr_left_out(brief);

	if (brief->nr_taken == 0)
		return;
	ts_summary_head(out, brief->results, 0);
	if (brief->nr_taken >= NR_HEADS)
		ts_summary_numbers(out, brief->results, &plain);
	for (size_t i = 0; i < brief->nr_findings; i++)
		if (brief->levels[i] >= TITLE)
			brief_put_finding(out, &brief->doctor->findings[i], i + 1,
					  brief->levels[i]);
	if (left_out > 0)
		ts_buf_printf(out, "%zu more finding%s: " MORE "\n", left_out,
			      left_out == 1 ? "" : "s");
	else if (brief->doctor && brief->doctor->nr_findings == 0)
		ts_buf_puts(out, "No findings.\n");
	else if (brief->nr_taken < brief->nr_steps + NR_HEADS)
		ts_buf_puts(out, "More of each: " MORE "\n");
}

/* A tenth of a percent is enough here. */
static void put_pct(struct ts_json *json, const char *key, double pct)
{
	ts_json_key(json, key);
	ts_json_double(json, round(pct * 10) / 10);
}

static void brief_put_object(struct ts_json *json, const struct ts_finding *finding,
			     enum level level)
{
	ts_json_object(json);
	ts_json_put_given(json, "id", finding->id);
	ts_json_put_text(json, "severity", ts_severity_name(finding->severity));
	ts_json_put_given(json, "title", finding->title);
	ts_json_put_count(json, "gain_ps", finding->gain_ps);
	put_pct(json, "gain_pct", finding->gain_share * 100);
	ts_json_put_count(json, "impact_ps", finding->impact_ps);
	put_pct(json, "impact_pct", finding->impact_share * 100);
	ts_json_put_given(json, "where", ts_finding_place(finding));
	ts_json_put_given(json, "evidence", brief_part(level, EVIDENCE, finding->evidence));
	ts_json_put_given(json, "advice", brief_part(level, ADVICE, finding->advice));
	if (level >= CODE)
		ts_json_put_given(json, "code", finding->code);
	ts_json_object_end(json);
}

static void brief_put_numbers(struct ts_json *json, const struct ts_results *results)
{
	static const struct {
		const char *name;
		size_t field;
	} shares[] = {
#define SHARE(name) { #name, TS_FIELD_AT(overview, overview.name) }
		SHARE(duty_cycle_pct),
		SHARE(mxu_utilization_pct),
		SHARE(hbm_utilization_pct),
		SHARE(padding_waste_pct),
	};
	const struct ts_result *overview = TS_FIND(results, overview);

	ts_json_put_double(json, "health_score",
			   ts_value_number(TS_GET(TS_FIND(results, doctor), doctor, health_score)));
	for (size_t i = 0; i < TS_NELEM(shares); i++)
		put_pct(json, shares[i].name,
			ts_value_number(TS_GET_AT(overview, overview, shares[i].field)));
}

/* The classes of the devices' time, those that have some. */
static void brief_put_time(struct ts_json *json, const struct ts_results *results)
{
	const struct ts_result *time = TS_FIND(results, time);
	double total_ps = ts_value_number(TS_GET(time, time, total_ps));

	ts_json_key(json, "time_pct");
	ts_json_object(json);
	for (size_t i = 0; i < TS_NR_BUCKETS && total_ps > 0; i++) {
		double ps = ts_summary_class_ps(time, (enum ts_bucket)i);

		if (ps > 0)
			put_pct(json, ts_bucket_name((enum ts_bucket)i), ps / total_ps * 100);
	}
	ts_json_object_end(json);
}

/* What a reader asks first. The verdict is that of the capture: whether the rest can be believed. */
static void brief_put_verdict(struct ts_json *json, const struct brief *brief)
{
	const struct ts_results *results = brief->results;

	ts_json_put_given(json, "verdict",
			  ts_value_text(TS_GET(TS_FIND(results, capture), capture, verdict)));
	ts_json_put_double(
		json, "step_time_ps",
		round(ts_value_number(TS_OVERVIEW(results, overview.step_time_ps.median))));
	if (brief->nr_taken < NR_HEADS)
		return;
	ts_json_put_given(json, "bottleneck",
			  ts_value_text(TS_GET(TS_FIND(results, time), time, bottleneck)));
	brief_put_time(json, results);
}

static void brief_put_run(struct ts_json *json, const struct brief *brief)
{
	struct ts_buf head = TS_BUF_INIT;

	ts_summary_head(&head, brief->results, 0);
	ts_json_put_text(json, "schema", TS_REPORT_SCHEMA);
	brief_put_verdict(json, brief);
	ts_json_put_given(json, "run",
			  ts_bytes_cut(ts_buf_bytes(&head), 0, head.n ? head.n - 1 : 0));
	json->out->failed |= head.failed;
	ts_buf_release(&head);
}

static void render_findings(const struct brief *brief, struct ts_json *json)
{
	ts_json_key(json, "findings");
	ts_json_array(json);
	for (size_t i = 0; i < brief->nr_findings; i++)
		if (brief->levels[i] >= TITLE)
			brief_put_object(json, &brief->doctor->findings[i], brief->levels[i]);
	ts_json_array_end(json);
	ts_json_put_i64(json, "left_out", (int64_t)nr_left_out(brief));
	if (brief->nr_taken < brief->nr_steps + NR_HEADS)
		ts_json_put_text(json, "more", MORE);
}

static void render_json(const struct brief *brief, struct ts_buf *out)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);

	ts_json_object(&json);
	if (brief->nr_taken > 0)
		brief_put_run(&json, brief);
	if (brief->nr_taken >= NR_HEADS)
		brief_put_numbers(&json, brief->results);
	if (brief->nr_taken > 0)
		render_findings(brief, &json);
	ts_json_object_end(&json);
	ts_buf_putc(out, '\n');
}

typedef void render(const struct brief *brief, struct ts_buf *out);

/* Every further step adds text; only the last line may shrink, by less than SLACK. */
static void brief_fit(struct brief *brief, render *draw, size_t budget, struct ts_buf *best)
{
	struct ts_buf draft = TS_BUF_INIT;

	for (size_t nr = 0; nr <= brief->nr_steps + NR_HEADS && !best->failed; nr++) {
		ts_buf_clear(&draft);
		memset(brief->levels, 0, sizeof(brief->levels));
		brief->nr_taken = nr;
		for (size_t i = 0; i + NR_HEADS < nr; i++)
			brief->levels[brief->steps[i].finding] = brief->steps[i].level;
		draw(brief, &draft);
		best->failed |= draft.failed;
		if (draft.n > budget && draft.n - budget > SLACK)
			break;
		if (draft.n > budget)
			continue;
		ts_buf_clear(best);
		ts_buf_put(best, ts_buf_bytes(&draft));
	}
	ts_buf_release(&draft);
}

static enum ts_status brief_of(struct ts_buf *out, const struct ts_results *results,
			       const struct ts_report *report, render *draw, struct ts_error *err)
{
	struct ts_buf best = TS_BUF_INIT;
	struct brief *brief;
	bool failed;

	if (report->view && strcmp(report->view, TS_RESULT_NAME(doctor)) != 0)
		return ts_fail(err, TS_USAGE, "a budget goes with the findings, not with view %s",
			       report->view);
	brief = results->failed ? NULL : calloc(1, sizeof(*brief));
	if (!brief)
		return ts_fail_nomem(err);
	brief_plan(brief, results);
	brief_fit(brief, draw, report->budget, &best);
	ts_buf_put(out, ts_buf_bytes(&best));
	failed = best.failed || out->failed;
	ts_buf_release(&best);
	free(brief);
	return failed ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_brief_text(struct ts_buf *out, const struct ts_results *results,
			     const struct ts_report *report, struct ts_error *err)
{
	TS_ASSERT(out && results && report);
	return brief_of(out, results, report, render_text, err);
}

enum ts_status ts_brief_json(struct ts_buf *out, const struct ts_results *results,
			     const struct ts_report *report, struct ts_error *err)
{
	TS_ASSERT(out && results && report);
	return brief_of(out, results, report, render_json, err);
}
