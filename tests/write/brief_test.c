/* SPDX-License-Identifier: MIT */
/* The short report: never over its budget, valid, and never less for more room. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "codec/utf8.h"
#include "result/schema/doctor.def"
#include "sample.h"
#include "write/brief.h"
#include "write/report_csv.h"

/* Eight findings, texts of several bytes a character, one without a place or an impact. */
static void given_results(struct ts_results *results)
{
	static const struct ts_where where[] = { { TS_LIT("fusion.1"), TS_LIT("jit_f"),
						   TS_LIT("/home/u/r\xC3\xA9seau.py:7"), 0 } };
	struct ts_result *doctor;

	sample_make(results);
	doctor = results->items[results->nr - 1];
	assert_string_equal(doctor->name, "doctor");
	for (int i = 0; i < 6; i++) {
		struct ts_finding *finding = ts_result_finding(doctor);

		*finding = (struct ts_finding){
			.id = ts_result_text(doctor, "rule-%d", i),
			.rule = "rule",
			.severity = TS_WARNING,
			.title = ts_result_text(doctor,
						"\xC3\x9C"
						"ber %d \xE2\x82\xAC",
						i),
			.evidence =
				TS_LIT("Takes 1.5 ms of it. And \xF0\x9F\x98\x80 more. At last."),
			.advice = TS_LIT("Do less. Or do it later."),
			.code = TS_LIT("import jax\n\nprint(\"\xE2\x82\xAC\")\n"),
			.impact_ps = 1000000000 - i,
			.impact_share = 0.1,
			.where = where,
			.nr_where = 1,
		};
	}
}

typedef enum ts_status emit(struct ts_buf *out, const struct ts_results *results,
			    const struct ts_report *report, struct ts_error *err);

static void when_brief(struct ts_buf *out, const struct ts_results *results, emit *how,
		       size_t budget)
{
	const struct ts_report report = { .brief = true, .budget = budget };
	struct ts_error err = TS_ERROR_INIT;

	ts_buf_clear(out);
	assert_int_equal(how(out, results, &report, &err), TS_OK);
}

static size_t full_size(const struct ts_results *results, emit *how)
{
	struct ts_buf out = TS_BUF_INIT;
	size_t n;

	when_brief(&out, results, how, SIZE_MAX);
	n = out.n;
	ts_buf_release(&out);
	return n;
}

static size_t count(struct ts_bytes text, const char *word)
{
	size_t nr = 0, at;

	while ((at = ts_bytes_find(text, word)) < text.n) {
		text = ts_bytes_cut(text, at + 1, text.n);
		nr++;
	}
	return nr;
}

static void then_utf8(struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = text.n ? text.p + text.n : p; /* NULL + 0 is undefined */

	while (p < end)
		assert_true(ts_utf8_next(&p, end) != TS_UTF8_BAD);
}

/* What is said of findings at each budget; each may only grow. */
struct said {
	size_t titles, evidence, advice, code;
};

static void then_not_less(const struct said *now, const struct said *before)
{
	assert_true(now->titles >= before->titles);
	assert_true(now->evidence >= before->evidence);
	assert_true(now->advice >= before->advice);
	assert_true(now->code >= before->code);
}

TEST(text_keeps_every_budget_and_says_more_for_more)
{
	struct said before = { 0, 0, 0, 0 };
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	size_t full;

	given_results(&results);
	full = full_size(&results, ts_brief_text);
	for (size_t budget = 0; budget <= full + 10; budget++) {
		struct said now;
		struct ts_bytes text;

		when_brief(&out, &results, ts_brief_text, budget);
		text = ts_buf_bytes(&out);
		assert_true(text.n <= budget);
		assert_true(text.n == 0 || text.p[text.n - 1] == '\n');
		then_utf8(text);
		now = (struct said){ count(text, "\xC3\x9C"
						 "ber"),
				     count(text, "Takes 1.5 ms of it."),
				     count(text, "Do: Do less."), count(text, "import jax") };
		then_not_less(&now, &before);
		before = now;
		/* what is not told is counted: eight findings in all */
		if (now.titles < 6 && text.n > 0)
			assert_int_equal(count(text, "more finding"), 1);
	}
	assert_int_equal(before.titles, 6);
	assert_int_equal(before.code, 6);
	assert_int_equal(count(ts_buf_bytes(&out), "tpusight report"), 0);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(json_keeps_every_budget_is_valid_and_says_more_for_more)
{
	int before = 0, nr = 0;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	size_t full;

	given_results(&results);
	full = full_size(&results, ts_brief_json);
	for (size_t budget = 0; budget <= full + 10; budget++) {
		const cJSON *findings, *left;
		cJSON *json;

		when_brief(&out, &results, ts_brief_json, budget);
		assert_true(out.n <= budget);
		if (budget < 3) {
			assert_int_equal(out.n, 0);
			continue;
		}
		json = cJSON_ParseWithLength((const char *)out.p, out.n);
		assert_non_null(json);
		findings = cJSON_GetObjectItem(json, "findings");
		left = cJSON_GetObjectItem(json, "left_out");
		nr = cJSON_GetArraySize(findings);
		assert_true(nr >= before);
		before = nr;
		if (findings)
			assert_int_equal(nr + (int)left->valuedouble, 8);
		cJSON_Delete(json);
	}
	assert_int_equal(nr, 8);
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(three_findings_are_explained_before_the_fourth_is_named)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	given_results(&results);
	for (size_t budget = 0; budget < full_size(&results, ts_brief_text); budget++) {
		struct ts_bytes text;

		when_brief(&out, &results, ts_brief_text, budget);
		text = ts_buf_bytes(&out);
		if (ts_bytes_has(text, "\n4. ") && count(text, "Do:") < 2)
			fail_msg("at %zu bytes: %.*s", budget, TS_ARG(text));
	}
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(sentences_are_whole)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	given_results(&results);
	for (size_t budget = 0; budget < full_size(&results, ts_brief_text); budget++) {
		struct ts_bytes text;

		when_brief(&out, &results, ts_brief_text, budget);
		text = ts_buf_bytes(&out);
		assert_int_equal(count(text, "Takes"), count(text, "Takes 1.5 ms of it."));
		assert_int_equal(count(text, "And "),
				 count(text, "And \xF0\x9F\x98\x80 more. At last."));
		assert_int_equal(count(text, "Or do"), count(text, "Or do it later."));
		assert_int_equal(count(text, "import jax"),
				 count(text, "print(\"\xE2\x82\xAC\")\n"));
	}
	ts_buf_release(&out);
	ts_results_release(&results);
}

TEST(other_views_and_csv_are_refused)
{
	const struct ts_report report = { .brief = true, .budget = 100, .view = "time" };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	given_results(&results);
	assert_int_equal(ts_brief_text(&out, &results, &report, &err), TS_USAGE);
	assert_int_equal(ts_output_find("csv")->emit(&out, &results, &report, &err), TS_USAGE);
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}

TEST(a_run_without_findings_says_so)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	ts_results_init(&results);
	assert_non_null(TS_ADD(&results, doctor));
	when_brief(&out, &results, ts_brief_text, SIZE_MAX);
	assert_true(ts_bytes_has(ts_buf_bytes(&out), "No findings.\n"));
	ts_buf_release(&out);
	ts_results_release(&results);
}
