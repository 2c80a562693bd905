/* SPDX-License-Identifier: MIT */
/* Suggestions, read back with protobuf-c: an independent reader of the same schema. */
#include "tests/test.h"
#include "base/map.h"
#include "codec/pbw.h"
#include "overlay/suggestions.h"
#include "result/schema/doctor.def"
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

/* True: the file is to be there. */
static bool make(struct ts_buf *out, const struct ts_buf *old, const struct ts_results *results)
{
	bool exists = old != NULL;

	ts_buf_clear(out);
	assert_int_equal(ts_suggestions_make(out,
					     old ? ts_buf_bytes(old) : (struct ts_bytes){ NULL, 0 },
					     &exists, results, NULL),
			 TS_OK);
	return exists;
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

TEST(findings_become_html_with_all_text_escaped)
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
	doctor = TS_ADD(&results, doctor);
	add_finding(doctor, "host-copies", "Waits for <host>");
	doctor->findings[0].where = where;
	doctor->findings[0].nr_where = 2;
	make(&buf, NULL, &results);
	report = unpack(&buf);
	assert_int_equal(report->n_suggestions, 1);
	assert_string_equal(report->suggestions[0]->rule_name, "TPUsight/host-copies");
	assert_string_equal(
		report->suggestions[0]->suggestion_text,
		"<p><b>TPUsight: Waits for &lt;host&gt;</b> (critical, likely; gain unknown)</p>"
		"<p>82 % &lt;script&gt;alert(1)&lt;/script&gt; &quot;x&quot; &amp; \xef\xbf\xbd</p>"
		"<ul><li><code>fusion.1</code> in jit_&lt;f&gt;, a.py:3</li><li>b.py:4</li></ul>"
		"<p>Do less.</p><p><code>x = jnp.pad(y) &nbsp;# &lt;128</code></p>");
	tpusight__smart_suggestion_report__free_unpacked(report, NULL);
	ts_buf_release(&buf);
	ts_results_release(&results);
}

/* A <pre> does not wrap: it would widen the card and cut the words beside it. */
TEST(code_keeps_its_lines_and_can_wrap)
{
	static const char code[] = "def f(x):\n    return x\n\nf(1)  # one\n";
	Tpusight__SmartSuggestionReport *report;
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_results results;
	struct ts_result *doctor;
	const char *text;

	ts_results_init(&results);
	doctor = TS_ADD(&results, doctor);
	add_finding(doctor, "wide", "Wide");
	doctor->findings[0].code = ts_bytes_of(code);
	make(&buf, NULL, &results);
	report = unpack(&buf);
	text = report->suggestions[0]->suggestion_text;
	assert_null(strstr(text, "<pre"));
	assert_non_null(strstr(text,
			       "<p><code>def f(x):<br>&nbsp;&nbsp;&nbsp;&nbsp;return x<br><br>"
			       "f(1) &nbsp;# one</code></p>"));
	tpusight__smart_suggestion_report__free_unpacked(report, NULL);
	ts_buf_release(&buf);
	ts_results_release(&results);
}

TEST(xprofs_come_first_and_ours_are_replaced)
{
	struct ts_buf xprof = TS_BUF_INIT, once = TS_BUF_INIT, twice = TS_BUF_INIT;
	Tpusight__SmartSuggestionReport *report;
	struct ts_results results;

	ts_results_init(&results);
	add_finding(TS_ADD(&results, doctor), "a", "A");
	put_xprof(&xprof, "MemoryBoundRule");
	put_xprof(&xprof, "TPUsightish");
	make(&once, &xprof, &results);
	report = unpack(&once);
	assert_int_equal(report->n_suggestions, 3);
	assert_string_equal(report->suggestions[0]->rule_name, "MemoryBoundRule");
	assert_string_equal(report->suggestions[2]->rule_name, "TPUsight/a");
	tpusight__smart_suggestion_report__free_unpacked(report, NULL);

	make(&twice, &once, &results);
	assert_true(ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice)));
	assert_true(ts_suggestions_ours(ts_buf_bytes(&once)));
	assert_false(ts_suggestions_ours(ts_buf_bytes(&xprof)));
	assert_true(make(&twice, &once, NULL));
	assert_true(ts_bytes_eq(ts_buf_bytes(&twice), ts_buf_bytes(&xprof)));
	ts_buf_release(&xprof);
	ts_buf_release(&once);
	ts_buf_release(&twice);
	ts_results_release(&results);
}

static struct ts_results findings;

static int make_findings(void **state)
{
	(void)state;
	ts_results_init(&findings);
	struct ts_result *doctor = TS_ADD(&findings, doctor);

	add_finding(doctor, "a", "A");
	add_finding(doctor, "b", "B");
	return 0;
}

static int drop_findings(void **state)
{
	(void)state;
	ts_results_release(&findings);
	return 0;
}

/* There and back: the bytes and whether there is a file. */
static void assert_back(const struct ts_buf *native)
{
	struct ts_buf once = TS_BUF_INIT, back = TS_BUF_INIT;

	assert_true(make(&once, native, &findings));
	assert_int_equal(make(&back, &once, NULL), native != NULL);
	assert_int_equal(back.n, native ? native->n : 0);
	assert_true(!native || ts_bytes_eq(ts_buf_bytes(&back), ts_buf_bytes(native)));
	ts_buf_release(&once);
	ts_buf_release(&back);
}

TEST(a_missing_an_empty_and_a_full_file_come_back_as_they_were)
{
	struct ts_buf empty = TS_BUF_INIT, xprof = TS_BUF_INIT;

	put_xprof(&xprof, "MemoryBoundRule");
	assert_back(NULL);
	assert_back(&empty);
	assert_back(&xprof);
	ts_buf_release(&xprof);
}

TEST(a_file_of_something_else_is_refused)
{
	static const char *const texts[] = { "precious", "\x0a\x7f", "{\"mine\": 1}\n", "\x08" };

	for (size_t i = 0; i < TS_NELEM(texts); i++) {
		struct ts_buf out = TS_BUF_INIT;
		struct ts_error err = TS_ERROR_INIT;
		bool exists = true;

		assert_int_equal(
			ts_suggestions_make(&out, ts_bytes_of(texts[i]), &exists, &findings, &err),
			TS_FORMAT);
		assert_int_equal(out.n, 0);
		assert_false(ts_suggestions_ours(ts_bytes_of(texts[i])));
		ts_buf_release(&out);
	}
}

/* NATIVE comes back, or the file is refused: never any other bytes. */
static size_t nr_back(struct ts_bytes damaged, struct ts_bytes native)
{
	struct ts_buf out = TS_BUF_INIT;
	bool exists = true, refused;

	refused = ts_suggestions_make(&out, damaged, &exists, NULL, NULL) != TS_OK;
	if (!refused && ts_suggestions_ours(damaged))
		assert_true(ts_bytes_eq(ts_buf_bytes(&out), native));
	ts_buf_release(&out);
	return !refused;
}

TEST(ours_that_were_cut_or_changed_go_to_their_beginning)
{
	struct ts_buf xprof = TS_BUF_INIT, once = TS_BUF_INIT;
	size_t nr_cut = 0, nr_flipped = 0;

	put_xprof(&xprof, "MemoryBoundRule");
	make(&once, &xprof, &findings);
	for (size_t n = xprof.n; n < once.n; n++)
		nr_cut += nr_back(ts_bytes_cut(ts_buf_bytes(&once), 0, n), ts_buf_bytes(&xprof));
	for (size_t at = xprof.n; at < once.n; at++) {
		once.p[at] ^= 0x10;
		nr_flipped += nr_back(ts_buf_bytes(&once), ts_buf_bytes(&xprof));
		once.p[at] ^= 0x10;
	}
	/* of the two, only the first bytes are too few to be known */
	assert_true(nr_cut >= once.n - xprof.n - 16);
	assert_true(nr_flipped >= (once.n - xprof.n) * 9 / 10);
	ts_buf_release(&xprof);
	ts_buf_release(&once);
}

TEST(files_of_older_versions_without_marks_are_known_by_their_rules)
{
	struct ts_buf old = TS_BUF_INIT, xprof = TS_BUF_INIT, out = TS_BUF_INIT;

	put_xprof(&xprof, "MemoryBoundRule");
	put_xprof(&old, "MemoryBoundRule");
	put_xprof(&old, "TPUsight/a");
	assert_true(make(&out, &old, NULL));
	assert_true(ts_bytes_eq(ts_buf_bytes(&out), ts_buf_bytes(&xprof)));
	ts_buf_clear(&old);
	put_xprof(&old, "TPUsight/a");
	assert_false(make(&out, &old, NULL));
	ts_buf_release(&old);
	ts_buf_release(&xprof);
	ts_buf_release(&out);
}

TEST(without_findings_there_is_no_file)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	ts_results_init(&results);
	assert_false(make(&out, NULL, &results));
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}

TEST_GROUP(make_findings, drop_findings)
