/* SPDX-License-Identifier: MIT */
/*
 * Findings as XProf's suggestions. The text is HTML that the page puts into a list item after
 * taking out what could run (Angular's innerHTML); everything from the profile is escaped all
 * the same.
 */
#include "overlay/suggestions.h"

#include "base/check.h"
#include "codec/html.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "result/view.h"
#include "result/schema/doctor.def"

#define OUR_RULES "TPUsight/"
#define NR_PLACES 5 /* shown of a finding */

enum { REPORT_SUGGESTIONS = 1 };
enum {
	SUGGESTION_RULE = 1,
	SUGGESTION_TEXT = 2,
	SUGGESTION_MARK = 1000, /* ours alone: first in each, a field that XProf passes over */
};

#define NO_MARK UINT64_MAX

/* The fields of one suggestion, as far as they can be read. */
static bool suggestions_is_ours(struct ts_pb suggestion, uint64_t *mark)
{
	bool ours = false;

	while (ts_pb_next(&suggestion)) {
		if (suggestion.field == SUGGESTION_RULE)
			ours |= ts_bytes_starts(ts_pb_bytes(&suggestion), OUR_RULES);
		if (suggestion.field != SUGGESTION_MARK || suggestion.wire != TS_PB_VARINT)
			continue;
		ours = true;
		*mark = ts_pb_u64(&suggestion);
	}
	return ours;
}

/* Ours, as they stand at the end of a file. */
struct tail {
	size_t start;	/* of the first that nothing else follows; SIZE_MAX */
	uint64_t mark;	/* that fits the start; NO_MARK */
	bool any;	/* of ours, wherever */
	bool marked;	/* some of ours have marks */
	bool elsewhere; /* some of ours have something else behind them */
	bool damaged;	/* the file, at its end or inside XProf's */
};

static void add_to_tail(struct tail *tail, size_t start, bool ours, uint64_t mark)
{
	if (!ours) {
		tail->elsewhere |= tail->start != SIZE_MAX;
		tail->start = SIZE_MAX;
		tail->mark = NO_MARK;
		return;
	}
	tail->any = true;
	tail->marked |= mark != NO_MARK;
	if (tail->start == SIZE_MAX)
		tail->start = start;
	if (mark != NO_MARK && TS_MAX(mark, 1) - 1 == tail->start)
		tail->mark = mark;
}

/* What a cut left of a suggestion: a tag, a length, and as many of its fields as there are. */
static void look_at_rest(struct tail *tail, struct ts_bytes file, size_t start)
{
	struct ts_bytes rest = ts_bytes_cut(file, start, file.n);
	const uint8_t *p = rest.p + 1;
	struct ts_pb_error damage = { 0 };
	uint64_t length, mark = NO_MARK;
	bool ours = ts_bytes_has(rest, OUR_RULES);

	if (rest.n > 1 && rest.p[0] == (REPORT_SUGGESTIONS << 3 | TS_PB_BYTES) &&
	    ts_pb_varint(&p, rest.p + rest.n, &length))
		ours |= suggestions_is_ours(
			ts_pb_of(ts_bytes_cut(rest, (size_t)(p - rest.p), rest.n), &damage), &mark);
	add_to_tail(tail, start, ours, mark);
}

static struct tail find_tail(struct ts_bytes file)
{
	struct tail tail = { .start = SIZE_MAX, .mark = NO_MARK };
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(file, &damage);
	size_t start = 0;

	for (; ts_pb_next(&pb); start = (size_t)(pb.p - file.p)) {
		struct ts_pb_error inside = { 0 };
		uint64_t mark = NO_MARK;
		bool ours = pb.field == REPORT_SUGGESTIONS && pb.wire == TS_PB_BYTES &&
			    suggestions_is_ours(ts_pb_of(ts_pb_bytes(&pb), &inside), &mark);

		tail.damaged |= inside.cause && !ours;
		add_to_tail(&tail, start, ours, mark);
	}
	if (damage.cause && start < file.n)
		look_at_rest(&tail, file, start);
	tail.damaged |= damage.cause != NULL;
	return tail;
}

bool ts_suggestions_ours(struct ts_bytes file)
{
	TS_ASSERT(file.p || file.n == 0);
	return find_tail(file).any;
}

/* Of a file without marks: all that is not ours, with fields that a newer XProf may add.
 * False: there was nothing. */
static bool keep_others(struct ts_buf *out, struct ts_bytes old)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(old, &damage);
	const uint8_t *start = old.p;
	size_t before = out->n;
	uint64_t mark;

	for (; ts_pb_next(&pb); start = pb.p)
		if (pb.field != REPORT_SUGGESTIONS || !suggestions_is_ours(ts_pb_enter(&pb), &mark))
			ts_buf_put(out, (struct ts_bytes){ start, (size_t)(pb.p - start) });
	return out->n > before;
}

/* What stands there that is not ours, and whether the file was there without ours. */
static enum ts_status suggestions_keep_native(struct ts_buf *out, struct ts_bytes old, bool *exists,
					      struct ts_error *err)
{
	struct tail tail = find_tail(old);

	if (tail.mark != NO_MARK && !tail.elsewhere) {
		ts_buf_put(out, ts_bytes_cut(old, 0, tail.start));
		*exists = tail.mark > 0;
		return TS_OK;
	}
	if (tail.damaged || tail.marked)
		return ts_fail(
			err, TS_FORMAT,
			tail.any ? "damaged, and it is not known where ours begin (move it away)"
				 : "not a file of suggestions, so ours are not put into it "
				   "(move it away)");
	*exists &= keep_others(out, old) || !tail.any;
	return TS_OK;
}

static void suggestions_put_part(struct ts_buf *html, const char *open, struct ts_bytes text,
				 const char *close)
{
	if (text.n == 0)
		return;
	ts_buf_puts(html, open);
	ts_html_text(html, text);
	ts_buf_puts(html, close);
}

static void suggestions_put_places(struct ts_buf *html, const struct ts_finding *finding)
{
	if (finding->nr_where == 0)
		return;
	ts_buf_puts(html, "<ul>");
	for (size_t i = 0; i < TS_MIN(finding->nr_where, NR_PLACES); i++) {
		const struct ts_where *where = &finding->where[i];

		ts_buf_puts(html, "<li>");
		suggestions_put_part(html, "<code>", where->op, "</code>");
		suggestions_put_part(html, where->op.n ? " in " : "in ", where->module, "");
		suggestions_put_part(html, where->op.n || where->module.n ? ", " : "",
				     where->source, "");
		ts_buf_puts(html, "</li>");
	}
	if (finding->nr_where > NR_PLACES)
		ts_buf_printf(html, "<li>and %zu more</li>", finding->nr_where - NR_PLACES);
	ts_buf_puts(html, "</ul>");
}

/* The page that shows this stands three folders below TensorBoard's own. */
static void suggestions_put_link(struct ts_buf *html, struct ts_bytes address, const char *words)
{
	if (address.n == 0)
		return;
	ts_buf_puts(html, "<p><a target=\"_blank\" href=\"../../../");
	ts_html_text(html, address);
	ts_buf_printf(html, "\">%s</a></p>", words);
}

/* What stands for a character of code, so that its lines and columns are kept; NULL: itself. */
static const char *code_form(struct ts_bytes code, size_t at)
{
	bool begins = at == 0 || code.p[at - 1] == ' ' || code.p[at - 1] == '\n';

	if (code.p[at] == '\n')
		return at + 1 < code.n ? "<br>" : "";
	return code.p[at] == ' ' && begins ? "&nbsp;" : NULL;
}

/* Not in a <pre>: that does not wrap, widens its card, and the page then cuts everything beside it. */
static void suggestions_put_code(struct ts_buf *html, struct ts_bytes code)
{
	size_t from = 0;

	if (code.n == 0)
		return;
	ts_buf_puts(html, "<p><code>");
	for (size_t i = 0; i < code.n; i++) {
		const char *form = code_form(code, i);

		if (!form)
			continue;
		ts_html_text(html, ts_bytes_cut(code, from, i - from));
		ts_buf_puts(html, form);
		from = i + 1;
	}
	ts_html_text(html, ts_bytes_cut(code, from, code.n));
	ts_buf_puts(html, "</code></p>");
}

static void put_html(struct ts_buf *html, const struct ts_finding *finding)
{
	char gain[TS_GAIN_MAX];

	ts_buf_puts(html, "<p><b>TPUsight: ");
	ts_html_text(html, finding->title);
	ts_buf_printf(html, "</b> (%s, %s; %s)</p>", ts_severity_name(finding->severity),
		      ts_confidence_name(finding->confidence), ts_finding_gain(gain, finding));
	suggestions_put_part(html, "<p>", finding->evidence, "</p>");
	suggestions_put_places(html, finding);
	suggestions_put_link(html, finding->links.xprof_trace, "see it in the trace viewer");
	suggestions_put_link(html, finding->links.xprof, "see the op in the graph viewer");
	suggestions_put_part(html, "<p>", finding->advice, "</p>");
	suggestions_put_code(html, finding->code);
}

static void suggestions_put_finding(struct ts_buf *out, const struct ts_finding *finding,
				    uint64_t native)
{
	struct ts_buf text = TS_BUF_INIT;
	size_t mark = ts_pbw_begin(out, REPORT_SUGGESTIONS);

	ts_pbw_u64(out, SUGGESTION_MARK, native);
	ts_buf_printf(&text, OUR_RULES "%s", finding->rule);
	ts_pbw_text(out, SUGGESTION_RULE, ts_buf_bytes(&text));
	text.n = 0;
	put_html(&text, finding);
	ts_pbw_text(out, SUGGESTION_TEXT, ts_buf_bytes(&text));
	ts_pbw_end(out, mark);
	out->failed |= text.failed;
	ts_buf_release(&text);
}

enum ts_status ts_suggestions_make(struct ts_buf *out, struct ts_bytes old, bool *exists,
				   const struct ts_results *results, struct ts_error *err)
{
	const struct ts_result *doctor = results ? TS_FIND(results, doctor) : NULL;
	size_t before = out->n;
	enum ts_status st;
	uint64_t mark;

	TS_ASSERT(out && exists);
	TS_ASSERT(old.p || old.n == 0);
	st = suggestions_keep_native(out, old, exists, err);
	if (st)
		return st;
	/* The mark counts what stood in front of ours: 0 where there was no file, else its bytes and 1. */
	mark = *exists ? out->n - before + 1 : 0;
	for (size_t i = 0; doctor && i < doctor->nr_findings; i++)
		suggestions_put_finding(out, &doctor->findings[i], mark);
	*exists |= doctor && doctor->nr_findings > 0;
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}
