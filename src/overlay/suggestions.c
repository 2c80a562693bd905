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

#define OUR_RULES "TPUsight/"
#define NR_PLACES 5 /* shown of a finding */

enum { REPORT_SUGGESTIONS = 1 };
enum { SUGGESTION_RULE = 1, SUGGESTION_TEXT = 2 };

static bool is_ours(struct ts_pb suggestion)
{
	while (ts_pb_next(&suggestion))
		if (suggestion.field == SUGGESTION_RULE)
			return ts_bytes_starts(ts_pb_bytes(&suggestion), OUR_RULES);
	return false;
}

bool ts_suggestions_ours(struct ts_bytes file)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(file, &damage);

	TS_ASSERT(file.p || file.n == 0);
	while (ts_pb_next(&pb))
		if (pb.field == REPORT_SUGGESTIONS && is_ours(ts_pb_enter(&pb)))
			return true;
	return false;
}

/* XProf's part as it stands, fields that a newer XProf may add included. */
static void keep_native(struct ts_buf *out, struct ts_bytes old)
{
	struct ts_pb_error damage = { 0 };
	struct ts_pb pb = ts_pb_of(old, &damage);
	const uint8_t *start = old.p;
	size_t before = out->n;

	for (; ts_pb_next(&pb); start = pb.p)
		if (pb.field != REPORT_SUGGESTIONS || !is_ours(ts_pb_enter(&pb)))
			ts_buf_put(out, (struct ts_bytes){ start, (size_t)(pb.p - start) });
	if (damage.cause)
		out->n = before;
}

static void put_part(struct ts_buf *html, const char *open, struct ts_bytes text, const char *close)
{
	if (text.n == 0)
		return;
	ts_buf_puts(html, open);
	ts_html_text(html, text);
	ts_buf_puts(html, close);
}

static void put_place(struct ts_buf *html, const struct ts_where *where)
{
	ts_buf_puts(html, "<li>");
	put_part(html, "<code>", where->op, "</code>");
	put_part(html, where->op.n ? " in " : "in ", where->module, "");
	put_part(html, where->op.n || where->module.n ? ", " : "", where->source, "");
	ts_buf_puts(html, "</li>");
}

static void put_places(struct ts_buf *html, const struct ts_finding *finding)
{
	if (finding->nr_where == 0)
		return;
	ts_buf_puts(html, "<ul>");
	for (size_t i = 0; i < TS_MIN(finding->nr_where, NR_PLACES); i++)
		put_place(html, &finding->where[i]);
	if (finding->nr_where > NR_PLACES)
		ts_buf_printf(html, "<li>and %zu more</li>", finding->nr_where - NR_PLACES);
	ts_buf_puts(html, "</ul>");
}

/* The page that shows this stands three folders below TensorBoard's own. */
static void put_link(struct ts_buf *html, struct ts_bytes address, const char *words)
{
	if (address.n == 0)
		return;
	ts_buf_puts(html, "<p><a target=\"_blank\" href=\"../../../");
	ts_html_text(html, address);
	ts_buf_printf(html, "\">%s</a></p>", words);
}

static void put_html(struct ts_buf *html, const struct ts_finding *finding)
{
	char gain[TS_GAIN_MAX];

	ts_buf_puts(html, "<p><b>TPUsight: ");
	ts_html_text(html, finding->title);
	ts_buf_printf(html, "</b> (%s, %s; gain: %s)</p>", ts_severity_name(finding->severity),
		      ts_confidence_name(finding->confidence), ts_finding_gain(gain, finding));
	put_part(html, "<p>", finding->evidence, "</p>");
	put_places(html, finding);
	put_link(html, finding->links.xprof_trace, "see it in the trace viewer");
	put_link(html, finding->links.xprof, "see the op in the graph viewer");
	put_part(html, "<p>", finding->advice, "</p>");
	put_part(html, "<pre>", finding->code, "</pre>");
}

static void put_finding(struct ts_buf *out, const struct ts_finding *finding)
{
	struct ts_buf text = TS_BUF_INIT;
	size_t mark = ts_pbw_begin(out, REPORT_SUGGESTIONS);

	ts_buf_printf(&text, OUR_RULES "%s", finding->rule);
	ts_pbw_text(out, SUGGESTION_RULE, ts_buf_bytes(&text));
	text.n = 0;
	put_html(&text, finding);
	ts_pbw_text(out, SUGGESTION_TEXT, ts_buf_bytes(&text));
	ts_pbw_end(out, mark);
	out->failed |= text.failed;
	ts_buf_release(&text);
}

enum ts_status ts_suggestions_make(struct ts_buf *out, struct ts_bytes old,
				   const struct ts_results *results, struct ts_error *err)
{
	const struct ts_result *doctor = results ? ts_results_find(results, "doctor") : NULL;

	TS_ASSERT(out);
	TS_ASSERT(old.p || old.n == 0);
	keep_native(out, old);
	for (size_t i = 0; doctor && i < doctor->nr_findings; i++)
		put_finding(out, &doctor->findings[i]);
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}
