/* SPDX-License-Identifier: MIT */
/* The summary on the console. */
#include "write/summary.h"

#include <math.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/term.h"
#include "result/view.h"
#include "result/schema/prediction.def"
#include "result/schema/doctor.def"
#include "result/schema/systolic.def"

#define GAIN_WIDTH 8  /* "131.9 ms" */
#define GAIN_FROM  60 /* columns: a narrower terminal has no room for it */
#define RESET	   "\033[0m"
#define NR_KINDS   8  /* of devices that are named by themselves */
#define NR_LINES   2  /* for a finding */
#define PLACE_WIDTH 32 /* of the op or line; a kernel may be called by hundreds of letters */
#define WRAP_SLACK 12 /* columns that breaking at words may cost */

static const char *const severity_colors[TS_NR_SEVERITIES] = { "\033[1;31m", "\033[33m",
							       "\033[36m" };

static struct ts_bytes summary_text_of(struct ts_value value)
{
	return value.type == TS_VALUE_TEXT ? value.as.s : (struct ts_bytes){ NULL, 0 };
}

void ts_summary_place(struct ts_buf *out, const struct ts_results *results)
{
	const struct ts_value parts[] = { TS_OVERVIEW(results, run.logdir),
					  TS_OVERVIEW(results, run.run),
					  TS_OVERVIEW(results, run.session) };

	TS_ASSERT(out && results);
	for (size_t i = 0; i < TS_NELEM(parts); i++) {
		struct ts_bytes part = ts_value_text(parts[i]);

		if (part.n == 0 || (i > 0 && ts_bytes_is(part, ".")))
			continue;
		if (out->n > 0 && out->p[out->n - 1] != '/')
			ts_buf_putc(out, '/');
		ts_buf_put(out, part);
	}
	if (out->n == 0) {
		/* a profile that was named itself, and lies in no log directory */
		struct ts_value hosts = TS_OVERVIEW(results, run.hosts);

		if (ts_list_length(hosts) > 0)
			ts_buf_put(out, summary_text_of(TS_ITEM(hosts, overview_host, 0)->file));
		if (out->n == 0)
			ts_buf_putc(out, '-');
	}
}

bool ts_summary_is_predicted(const struct ts_results *results)
{
	struct ts_value is = TS_OVERVIEW(results, run.is_predicted);

	return is.type == TS_VALUE_BOOL && is.as.b;
}

void ts_summary_predicted(struct ts_buf *out, const struct ts_results *results, size_t width)
{
	const struct ts_result *prediction = TS_FIND(results, prediction);
	struct ts_buf line = TS_BUF_INIT;
	struct ts_bytes topology = { NULL, 0 };

	TS_ASSERT(out && results);
	if (!ts_summary_is_predicted(results))
		return;
	if (prediction)
		topology = summary_text_of(TS_GET(prediction, prediction, topology));
	ts_buf_printf(&line, "PREDICTED%s%.*s, not measured: nothing ran%s",
		      topology.n > 0 ? " for " : "", TS_ARG(topology),
		      topology.n > 0 ? " (--view prediction)" : "");
	ts_term_cut(out, ts_buf_bytes(&line), width ? width : SIZE_MAX);
	ts_buf_putc(out, '\n');
	out->failed |= line.failed;
	ts_buf_release(&line);
}

struct kind {
	struct ts_bytes name;
	size_t nr;
};

static size_t count_kinds(struct ts_value devices, struct kind kinds[NR_KINDS])
{
	size_t nr = 0;

	for (size_t i = 0; i < ts_list_length(devices); i++) {
		const struct ts_overview_device_row *device = TS_ITEM(devices, overview_device, i);
		struct ts_bytes name = summary_text_of(device->chip); /* as the chip table has it */
		size_t at = 0;

		if (name.n == 0)
			name = summary_text_of(device->kind);
		while (at < nr && !ts_bytes_eq(kinds[at].name, name))
			at++;
		if (at == NR_KINDS)
			continue;
		nr = TS_MAX(nr, at + 1);
		kinds[at].name = name;
		kinds[at].nr++;
	}
	return nr;
}

bool ts_summary_has_no_device(const struct ts_results *results)
{
	struct ts_value devices;

	TS_ASSERT(results);
	devices = TS_OVERVIEW(results, run.devices);
	return devices.type == TS_VALUE_LIST && ts_list_length(devices) == 0;
}

bool ts_summary_is_of_cpus(const struct ts_results *results)
{
	struct ts_value devices;

	TS_ASSERT(results);
	devices = TS_OVERVIEW(results, run.devices);
	return ts_list_length(devices) > 0 &&
	       ts_bytes_is(summary_text_of(TS_ITEM(devices, overview_device, 0)->kind), "CPU");
}

static void put_machines(struct ts_buf *out, const struct ts_results *results)
{
	struct ts_value hosts = TS_OVERVIEW(results, run.hosts);
	size_t nr_hosts = ts_list_length(hosts);
	struct kind kinds[NR_KINDS] = { 0 };
	size_t nr = count_kinds(TS_OVERVIEW(results, run.devices), kinds);

	if (hosts.type == TS_VALUE_LIST)
		ts_buf_printf(out, TS_SUMMARY_DOT "%zu host%s", nr_hosts, nr_hosts == 1 ? "" : "s");
	for (size_t i = 0; i < nr; i++) {
		ts_buf_printf(out, "%s%zu x ", i ? " + " : TS_SUMMARY_DOT, kinds[i].nr);
		ts_term_text(out, kinds[i].name.n ? kinds[i].name : TS_LIT("unknown device"));
	}
	if (ts_summary_has_no_device(results))
		ts_buf_puts(out, TS_SUMMARY_DOT "no device");
}

static void summary_put_steps(struct ts_buf *out, const struct ts_results *results)
{
	int64_t nr = ts_value_int(TS_OVERVIEW(results, overview.step_count));
	int64_t median_ps = ts_value_int(TS_OVERVIEW(results, overview.step_time_ps.median));
	struct ts_bytes source = summary_text_of(TS_OVERVIEW(results, overview.step_source));
	char median[TS_UNIT_MAX];

	if (nr < 0)
		return;
	ts_buf_printf(out, TS_SUMMARY_DOT "%lld step%s", (long long)nr, nr == 1 ? "" : "s");
	if (nr > 1 && median_ps >= 0)
		ts_buf_printf(out, ", median %s", ts_fmt_ps(median, median_ps));
	if (nr == 0 || source.n == 0)
		return;
	ts_buf_puts(out, " (");
	ts_term_text(out, source);
	ts_buf_putc(out, ')');
}

void ts_summary_facts(struct ts_buf *out, const struct ts_results *results)
{
	int64_t duration_ps = ts_value_int(TS_OVERVIEW(results, run.duration_ps));
	char duration[TS_UNIT_MAX];

	TS_ASSERT(out && results);
	put_machines(out, results);
	if (duration_ps >= 0)
		ts_buf_printf(out, TS_SUMMARY_DOT "%s", ts_fmt_ps(duration, duration_ps));
	else if (!ts_summary_has_no_device(results))
		ts_buf_puts(out, TS_SUMMARY_DOT "-");
	summary_put_steps(out, results);
}

void ts_summary_head(struct ts_buf *out, const struct ts_results *results, size_t width)
{
	struct ts_buf place = TS_BUF_INIT, rest = TS_BUF_INIT;
	size_t all;

	TS_ASSERT(out && results);
	ts_summary_predicted(out, results, width);
	ts_summary_place(&place, results);
	ts_summary_facts(&rest, results);
	all = ts_term_width(ts_buf_bytes(&place)) + ts_term_width(ts_buf_bytes(&rest));
	ts_term_cut(out, ts_buf_bytes(&place), width ? width : SIZE_MAX);
	if (width && all > width) { /* the name alone, then the rest without its first dot */
		ts_buf_puts(out, "\n  ");
		ts_buf_put(out, ts_bytes_cut(ts_buf_bytes(&rest), strlen(TS_SUMMARY_DOT), rest.n));
	} else {
		ts_buf_put(out, ts_buf_bytes(&rest));
	}
	ts_buf_putc(out, '\n');
	out->failed |= place.failed || rest.failed;
	ts_buf_release(&place);
	ts_buf_release(&rest);
}

static int64_t health_of(const struct ts_results *results)
{
	struct ts_value score = TS_OVERVIEW(results, overview.health_score);

	if (score.type == TS_VALUE_NULL)
		score = TS_GET(TS_FIND(results, doctor), doctor, health_score);
	return ts_value_int(score);
}

static const char *health_color(int64_t score)
{
	if (score < 50)
		return severity_colors[TS_CRITICAL];
	return score < 80 ? severity_colors[TS_WARNING] : "\033[32m";
}

/* Gives the columns it took. */
static size_t summary_put_health(struct ts_buf *out, int64_t score, bool color)
{
	char text[TS_UNIT_MAX];
	int n = score < 0 ? snprintf(text, sizeof(text), "health -")
			  : snprintf(text, sizeof(text), "health %lld/100", (long long)score);

	ts_buf_puts(out, color && score >= 0 ? health_color(score) : "");
	ts_buf_puts(out, text);
	ts_buf_puts(out, color && score >= 0 ? RESET : "");
	return (size_t)n;
}

/* The reason why there is no utilization to show, where it is known. */
static const char *why_no_mxu(const struct ts_results *results)
{
	const struct ts_table *ops = TS_FIND_TABLE(results, systolic, ops);

	if (!ops)
		return "";
	return ops->nr_rows ? "  (no op has a known cost)" : "  (no matrix work in this profile)";
}

static void summary_put_share(struct ts_buf *out, const struct ts_results *results,
			      const char *label, size_t field)
{
	struct ts_value value = TS_GET_AT(TS_FIND(results, overview), overview, field);
	double pct = ts_value_number(value);
	char text[TS_UNIT_MAX];

	if (value.type == TS_VALUE_IMPOSSIBLE) {
		ts_buf_printf(out, "%s impossible", label);
		return;
	}
	ts_buf_printf(out, "%s %s", label, ts_fmt_pct(text, pct));
	if (isnan(pct) && strcmp(label, "MXU") == 0)
		ts_buf_puts(out, why_no_mxu(results));
}

static const struct share {
	const char *label;
	size_t field;
} shares[] = {
	{ "duty cycle", TS_FIELD_AT(overview, overview.duty_cycle_pct) },
	{ "MXU", TS_FIELD_AT(overview, overview.mxu_utilization_pct) },
	{ "HBM", TS_FIELD_AT(overview, overview.hbm_utilization_pct) },
	{ "padding", TS_FIELD_AT(overview, overview.padding_waste_pct) },
};

void ts_summary_numbers(struct ts_buf *out, const struct ts_results *results,
			const struct ts_report *report)
{
	/* Of a CPU no peak is known, and nothing is padded. */
	size_t nr = ts_summary_is_of_cpus(results) ? 1 : TS_NELEM(shares);
	struct ts_buf item = TS_BUF_INIT;
	size_t at;

	TS_ASSERT(out && results && report);
	if (ts_summary_has_no_device(results))
		return;
	at = summary_put_health(out, health_of(results), report->color);
	for (size_t i = 0; i < nr; i++) {
		ts_buf_clear(&item);
		summary_put_share(&item, results, shares[i].label, shares[i].field);
		at += 3 + item.n;
		if (report->width && at > report->width)
			at = item.n;
		ts_buf_puts(out, at == item.n ? "\n" : "   ");
		ts_buf_put(out, ts_buf_bytes(&item));
	}
	ts_buf_putc(out, '\n');
	out->failed |= item.failed;
	ts_buf_release(&item);
}

/* Cuts at a word; evidence of which nothing is left goes without a trace. */
static void cut_sentence(struct ts_buf *text, size_t n, size_t title_n)
{
	while (n > 0 && text->p[n - 1] != ' ')
		n--;
	text->n = n;
	if (title_n > 0 && n >= title_n && n <= title_n + 2)
		text->n = title_n;
	else
		ts_buf_puts(text, TS_TERM_ELLIPSIS);
}

/* The most telling part comes first; the report has the rest. Without its full stop. */
static struct ts_bytes summary_first_sentence(struct ts_bytes text)
{
	size_t n = TS_MIN(ts_bytes_find(text, ". "), text.n);

	return ts_bytes_cut(text, 0, n > 0 && text.p[n - 1] == '.' ? n - 1 : n);
}

/* "title: evidence (place)" in ROOM characters: the evidence gives way. */
static void summary_put_sentence(struct ts_buf *text, const struct ts_finding *finding, size_t room)
{
	struct ts_bytes evidence = summary_first_sentence(finding->evidence);
	struct ts_bytes place = ts_finding_place(finding), head;
	size_t taken = place.n ? TS_MIN(ts_term_width(place), PLACE_WIDTH) + 3 : 0;

	ts_buf_put(text, finding->title);
	if (evidence.n) {
		ts_buf_puts(text, finding->title.n ? ": " : "");
		ts_buf_put(text, evidence);
	}
	head = ts_term_head(ts_buf_bytes(text), room > taken + 1 ? room - taken - 1 : 1);
	if (head.n < text->n)
		cut_sentence(text, head.n, finding->title.n);
	if (place.n) {
		ts_buf_puts(text, " (");
		ts_term_cut(text, place, room < SIZE_MAX ? PLACE_WIDTH : SIZE_MAX);
		ts_buf_putc(text, ')');
	}
}

static bool has_gains(size_t width)
{
	return width == 0 || width >= GAIN_FROM;
}

void ts_summary_findings_head(struct ts_buf *out, size_t width)
{
	static const char words[] =
		"findings, with the time of the run that each could give back at most:";
	struct ts_term_wrap how = { width, 0, 2, NR_LINES };

	if (!has_gains(width))
		return;
	ts_term_wrap(out, ts_bytes_of(words), how);
	ts_buf_putc(out, '\n');
}

/* "-": it is unknown, or what it could give back is counted with other findings. */
static const char *gain_of(char out[TS_UNIT_MAX], const struct ts_finding *finding)
{
	if (finding->gain_ps < 0 || (finding->gain_ps == 0 && finding->impact_ps > 0))
		return "-";
	return ts_fmt_ps(out, finding->gain_ps);
}

/* "1 warning    49.6 ms  ": gives how many columns that takes. */
static size_t put_finding_head(struct ts_buf *out, const struct ts_finding *finding, size_t number,
			       const struct ts_report *report)
{
	size_t before = out->n, width;
	char gain[TS_UNIT_MAX];

	ts_buf_printf(out, "%zu ", number);
	width = out->n - before + 10; /* "critical" and two spaces */
	ts_buf_puts(out, report->color ? severity_colors[finding->severity] : "");
	ts_buf_printf(out, "%-8s", ts_severity_name(finding->severity));
	ts_buf_puts(out, report->color ? RESET "  " : "  ");
	if (!has_gains(report->width))
		return width;
	ts_term_cell(out, ts_bytes_of(gain_of(gain, finding)), GAIN_WIDTH, TS_TERM_RIGHT);
	ts_buf_puts(out, "  ");
	return width + GAIN_WIDTH + 2;
}

void ts_summary_finding(struct ts_buf *out, const struct ts_finding *finding, size_t number,
			const struct ts_report *report)
{
	struct ts_buf text = TS_BUF_INIT;
	size_t indent, room = SIZE_MAX;
	struct ts_term_wrap how;

	TS_ASSERT(out && finding && report);
	indent = put_finding_head(out, finding, number, report);
	if (report->width)
		room = report->width > indent + WRAP_SLACK
			       ? NR_LINES * (report->width - indent) - WRAP_SLACK
			       : 1;
	summary_put_sentence(&text, finding, room);
	how = (struct ts_term_wrap){ report->width, indent, indent, NR_LINES };
	ts_term_wrap(out, ts_buf_bytes(&text), how);
	ts_buf_putc(out, '\n');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

void ts_summary_text(struct ts_buf *out, const struct ts_results *results,
		     const struct ts_report *report)
{
	const struct ts_result *doctor = TS_FIND(results, doctor);

	TS_ASSERT(out && results && report);
	ts_summary_head(out, results, report->width);
	ts_summary_numbers(out, results, report);
	if (!doctor)
		return;
	if (doctor->nr_findings > 0)
		ts_summary_findings_head(out, report->width);
	for (size_t i = 0; i < TS_MIN(doctor->nr_findings, TS_SUMMARY_FINDINGS); i++)
		ts_summary_finding(out, &doctor->findings[i], i + 1, report);
	if (doctor->nr_findings == 0)
		ts_buf_puts(out, "no findings\n");
	if (doctor->nr_findings > TS_SUMMARY_FINDINGS)
		ts_buf_printf(out, "... and %zu more (tpusight report --view doctor)\n",
			      doctor->nr_findings - TS_SUMMARY_FINDINGS);
}
