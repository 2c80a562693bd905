/* Suggestions, read back with protobuf-c: an independent reader of the same schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "codec/pbw.h"
#include "overlay/suggestions.h"
#include "suggestion.pb-c.h"

static void add_finding(struct ts_result *doctor, const char *rule, const char *title)
{
	struct ts_finding *finding = ts_result_finding(doctor);

	finding->rule = rule;
	finding->title = ts_bytes_of(title);
	finding->severity = TS_CRITICAL;
	finding->confidence = TS_LIKELY;
	finding->evidence = TS_LIT("82 % <script>alert(1)</script> \"x\" & \xff");
	finding->advice = TS_LIT("Do less.");
	finding->code = TS_LIT("x = jnp.pad(y)  # <128\n");
}

static Tpusight__SmartSuggestionReport *unpack(const struct ts_buf *buf)
{
	Tpusight__SmartSuggestionReport *report =
		tpusight__smart_suggestion_report__unpack(NULL, buf->n, buf->p);

	assert_non_null(report);
	return report;
}

static void make(struct ts_buf *out, struct ts_bytes old, const struct ts_results *results)
{
	ts_buf_clear(out);
	assert_int_equal(ts_suggestions_make(out, old, results, NULL), TS_OK);
}

/* A file as XProf writes it, with a field of a newer version. */
static void put_xprof(struct ts_buf *out, const char *rule)
{
	size_t mark = ts_pbw_begin(out, 1);

	ts_pbw_text(out, 1, ts_bytes_of(rule));
	ts_pbw_text(out, 2, TS_LIT("<p>text</p>"));
	ts_pbw_u64(out, 9, 3);
	ts_pbw_end(out, mark);
}

static void findings_become_html_with_all_text_escaped(void **state)
{
	static const struct ts_where where[] = {
		{ TS_LIT("fusion.1"), TS_LIT("jit_<f>"), TS_LIT("a.py:3"), TS_NONE },
		{ TS_LIT(""), TS_LIT(""), TS_LIT("b.py:4"), TS_NONE },
	};
	Tpusight__SmartSuggestionReport *report;
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *doctor;

	ts_results_init(&results);
	doctor = ts_results_add(&results, "doctor", "Doctor");
	add_finding(doctor, "host-copies", "Waits for <host>");
	doctor->findings[0].where = where;
	doctor->findings[0].nr_where = 2;
	make(&buf, (struct ts_bytes){ NULL, 0 }, &results);
	report = unpack(&buf);
	assert_int_equal(report->n_suggestions, 1);
	assert_string_equal(report->suggestions[0]->rule_name, "TPUsight/host-copies");
	assert_string_equal(
		report->suggestions[0]->suggestion_text,
		"<p><b>TPUsight: Waits for &lt;host&gt;</b> (critical, likely; gain: unknown)</p>"
		"<p>82 % &lt;script&gt;alert(1)&lt;/script&gt; &quot;x&quot; &amp; \xef\xbf\xbd</p>"
		"<ul><li><code>fusion.1</code> in jit_&lt;f&gt;, a.py:3</li><li>b.py:4</li></ul>"
		"<p>Do less.</p><pre>x = jnp.pad(y)  # &lt;128\n</pre>");
	tpusight__smart_suggestion_report__free_unpacked(report, NULL);
	ts_buf_release(&buf);
	ts_results_release(&results);
}

static void xprofs_come_first_and_ours_are_replaced(void **state)
{
	struct ts_buf xprof = TS_BUF_INIT, once = TS_BUF_INIT, twice = TS_BUF_INIT;
	Tpusight__SmartSuggestionReport *report;
	struct ts_results results;

	ts_results_init(&results);
	add_finding(ts_results_add(&results, "doctor", "Doctor"), "a", "A");
	put_xprof(&xprof, "MemoryBoundRule");
	put_xprof(&xprof, "TPUsightish");
	make(&once, ts_buf_bytes(&xprof), &results);
	report = unpack(&once);
	assert_int_equal(report->n_suggestions, 3);
	assert_string_equal(report->suggestions[0]->rule_name, "MemoryBoundRule");
	assert_string_equal(report->suggestions[2]->rule_name, "TPUsight/a");
	tpusight__smart_suggestion_report__free_unpacked(report, NULL);

	make(&twice, ts_buf_bytes(&once), &results);
	assert_true(ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice)));
	assert_true(ts_suggestions_ours(ts_buf_bytes(&once)));
	assert_false(ts_suggestions_ours(ts_buf_bytes(&xprof)));
	make(&twice, ts_buf_bytes(&once), NULL);
	assert_true(ts_bytes_eq(ts_buf_bytes(&twice), ts_buf_bytes(&xprof)));
	ts_buf_release(&xprof);
	ts_buf_release(&once);
	ts_buf_release(&twice);
	ts_results_release(&results);
}

static void nothing_is_kept_of_a_damaged_cache(void **state)
{
	struct ts_buf xprof = TS_BUF_INIT, out = TS_BUF_INIT;

	put_xprof(&xprof, "Rule");
	for (size_t n = 1; n < xprof.n; n++) {
		make(&out, ts_bytes_cut(ts_buf_bytes(&xprof), 0, n), NULL);
		assert_int_equal(out.n, 0);
	}
	ts_buf_release(&xprof);
	ts_buf_release(&out);
}

static void without_findings_there_is_no_file(void **state)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	ts_results_init(&results);
	make(&out, (struct ts_bytes){ NULL, 0 }, &results);
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_become_html_with_all_text_escaped),
		cmocka_unit_test(xprofs_come_first_and_ours_are_replaced),
		cmocka_unit_test(nothing_is_kept_of_a_damaged_cache),
		cmocka_unit_test(without_findings_there_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
