/* SPDX-License-Identifier: MIT */
/* The summary on the console. */
#include "write/summary.h"

#include <ctype.h>
#include <math.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/term.h"
#include "result/view.h"
#include "result/schema/prediction.def"
#include "result/schema/doctor.def"
#include "result/schema/time.def"
#include "write/text_table.h"

#define GAIN_WIDTH 8  /* "131.9 ms" */
#define GAIN_FROM  60 /* columns: a narrower terminal has no room for it */
#define RESET	   "\033[0m"
#define NR_KINDS   8  /* of devices that are named by themselves */
#define PLACE_WIDTH 32 /* of the op or line; a kernel may be called by hundreds of letters */
#define GAP	   3  /* columns between figures */
#define ROW_WIDTH  120 /* where the terminal does not say */
#define DO	   "do: "

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

double ts_summary_class_ps(const struct ts_result *time, enum ts_bucket bucket)
{
#define CLASS_FIELD(id, name) [TS_BUCKET_##id] = TS_FIELD_AT(time, buckets.name),
	static const size_t fields[TS_NR_BUCKETS] = { TS_EACH_BUCKET(CLASS_FIELD) };

	TS_ASSERT(bucket < TS_NR_BUCKETS);
	return ts_value_number(TS_GET_AT(time, time, fields[bucket]));
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
	int n = snprintf(text, sizeof(text), "health %lld/100", (long long)score);

	ts_buf_puts(out, color ? health_color(score) : "");
	ts_buf_puts(out, text);
	ts_buf_puts(out, color ? RESET : "");
	return (size_t)n;
}

/* The band of the key figure NAME: "good", "fair" or "poor"; empty where it has none. */
static struct ts_bytes summary_band_of(const struct ts_results *results, const char *name)
{
	const struct ts_table *kpis = TS_FIND_TABLE(results, doctor, kpis);

	for (size_t row = 0; kpis && row < kpis->nr_rows; row++) {
		struct ts_bytes band;

		if (!ts_bytes_is(ts_value_text(TS_CELL_OF(kpis, doctor_kpis, row, name)), name))
			continue;
		band = ts_value_text(TS_CELL_OF(kpis, doctor_kpis, row, band));
		return ts_bytes_is(band, "unknown") || ts_bytes_is(band, "neutral")
			       ? (struct ts_bytes){ NULL, 0 }
			       : band;
	}
	return (struct ts_bytes){ NULL, 0 };
}

static const struct share {
	const char *label;
	size_t field;
	const char *kpi; /* whose band is shown */
} shares[] = {
	{ "device busy", TS_FIELD_AT(overview, overview.duty_cycle_pct), "device_utilization" },
	{ "MXU", TS_FIELD_AT(overview, overview.mxu_utilization_pct), "mxu_utilization" },
	{ "HBM", TS_FIELD_AT(overview, overview.hbm_utilization_pct), "memory_bandwidth" },
	{ "padding", TS_FIELD_AT(overview, overview.padding_waste_pct), "padding_waste" },
};

struct ts_bytes ts_summary_units(const struct ts_results *results)
{
	return summary_text_of(TS_OVERVIEW(results, overview.matrix_units));
}

/* Nothing where it is unknown. */
static void summary_put_share(struct ts_buf *out, const struct ts_results *results,
			      const struct share *share)
{
	char spoken[TS_SPOKEN_MAX];
	struct ts_bytes label = ts_spoken_label(share->label, ts_summary_units(results), spoken);
	struct ts_value value = TS_GET_AT(TS_FIND(results, overview), overview, share->field);
	struct ts_bytes band = summary_band_of(results, share->kpi);
	double pct = ts_value_number(value);
	char text[TS_UNIT_MAX];

	if (value.type == TS_VALUE_IMPOSSIBLE)
		ts_buf_printf(out, "%.*s impossible", TS_ARG(label));
	else if (isfinite(pct))
		ts_buf_printf(out, band.n ? "%.*s %s (%.*s)" : "%.*s %s", TS_ARG(label),
			      ts_fmt_pct(text, pct), TS_ARG(band));
}

void ts_summary_numbers(struct ts_buf *out, const struct ts_results *results,
			const struct ts_report *report)
{
	/* Of a CPU no peak is known, and nothing is padded. */
	size_t nr = ts_summary_is_of_cpus(results) ? 1 : TS_NELEM(shares);
	int64_t health = health_of(results);
	struct ts_buf item = TS_BUF_INIT;
	size_t at = 0;

	TS_ASSERT(out && results && report);
	if (health >= 0)
		at = summary_put_health(out, health, report->color);
	for (size_t i = 0; i < nr; i++) {
		ts_buf_clear(&item);
		summary_put_share(&item, results, &shares[i]);
		if (item.n == 0)
			continue;
		if (at > 0 && report->width && at + GAP + item.n > report->width) {
			ts_buf_putc(out, '\n');
			at = 0;
		}
		ts_buf_printf(out, "%*s", at > 0 ? GAP : 0, "");
		ts_buf_put(out, ts_buf_bytes(&item));
		at += (at > 0 ? GAP : 0) + item.n;
	}
	ts_buf_puts(out, at > 0 ? "\n" : "");
	out->failed |= item.failed;
	ts_buf_release(&item);
}

/* What to do, in a clause: the advice up to its first stop. A number's point is none. */
static struct ts_bytes summary_clause(struct ts_bytes advice)
{
	size_t n = 0;

	while (n < advice.n &&
	       !(strchr(":;,.", advice.p[n]) &&
		 (n + 1 == advice.n || isspace((unsigned char)advice.p[n + 1]))) &&
	       !(advice.p[n] == ' ' && n + 1 < advice.n && advice.p[n + 1] == '('))
		n++;
	return ts_bytes_cut(advice, 0, n);
}

/* "do: fuse them": the sentence goes on there, but a name at its head keeps its letters. */
static void summary_put_advice(struct ts_buf *out, const struct ts_finding *finding, size_t width)
{
	struct ts_term_wrap how = { width, 3, 3 + strlen(DO), 0 };
	struct ts_bytes clause = summary_clause(finding->advice);
	struct ts_buf text = TS_BUF_INIT;

	if (clause.n < 2)
		return;
	ts_buf_puts(&text, DO);
	ts_buf_putc(&text, islower((unsigned char)clause.p[1]) || clause.p[1] == ' '
				   ? (char)tolower((unsigned char)clause.p[0])
				   : (char)clause.p[0]);
	ts_buf_put(&text, ts_bytes_cut(clause, 1, clause.n));
	ts_buf_puts(out, "   ");
	ts_term_wrap(out, ts_buf_bytes(&text), how);
	ts_buf_putc(out, '\n');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

/* The words of TEXT, each of at most WIDTH characters: a path may be longer than a line. */
static void summary_put_words(struct ts_buf *out, struct ts_bytes text, size_t width)
{
	while (text.n > 0) {
		size_t n = ts_bytes_find(text, " ");

		ts_term_cut(out, ts_bytes_cut(text, 0, n), width);
		ts_buf_puts(out, n < text.n ? " " : "");
		text = ts_bytes_cut(text, n + 1, text.n);
	}
}

/* "title (place)" */
static void summary_put_title(struct ts_buf *out, const struct ts_finding *finding,
			      struct ts_term_wrap how)
{
	struct ts_bytes place = ts_finding_place(finding);
	struct ts_buf text = TS_BUF_INIT;

	summary_put_words(&text, finding->title,
			  how.width > how.indent ? how.width - how.indent : SIZE_MAX);
	if (place.n) {
		ts_buf_puts(&text, " (");
		ts_term_cut(&text, place, how.width ? PLACE_WIDTH : SIZE_MAX);
		ts_buf_putc(&text, ')');
	}
	ts_term_wrap(out, ts_buf_bytes(&text), how);
	ts_buf_putc(out, '\n');
	out->failed |= text.failed;
	ts_buf_release(&text);
}

static bool has_gains(size_t width)
{
	return width == 0 || width >= GAIN_FROM;
}

/* Above the findings: what the times beside them are. */
static void summary_put_findings_head(struct ts_buf *out, size_t width)
{
	if (has_gains(width))
		ts_buf_puts(out, "Findings, by the time they could save:\n");
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
	size_t indent;

	TS_ASSERT(out && finding && report);
	indent = put_finding_head(out, finding, number, report);
	summary_put_title(out, finding, (struct ts_term_wrap){ report->width, indent, indent, 0 });
	summary_put_advice(out, finding, report->width);
}

/* Nothing to gain and nothing wrong. */
static bool summary_is_note(const struct ts_finding *finding)
{
	return finding->severity == TS_INFO && finding->gain_ps <= 0;
}

static void summary_put_rest(struct ts_buf *out, size_t nr_more, size_t nr_notes, bool any)
{
	if (nr_more + nr_notes == 0)
		return;
	ts_buf_puts(out, any ? "... and " : "");
	if (nr_more > 0)
		ts_buf_printf(out, "%zu more", nr_more);
	if (nr_notes > 0)
		ts_buf_printf(out, "%s%zu note%s", nr_more > 0 ? ", " : "", nr_notes,
			      nr_notes == 1 ? "" : "s");
	ts_buf_puts(out, " (tpusight report --view doctor)\n");
}

void ts_summary_findings(struct ts_buf *out, const struct ts_result *doctor,
			 const struct ts_report *report)
{
	size_t wanted = report->top ? report->top : TS_SUMMARY_FINDINGS;
	size_t nr_shown = 0, nr_notes = 0;

	TS_ASSERT(out && doctor && report);
	for (size_t i = 0; i < doctor->nr_findings; i++) {
		const struct ts_finding *finding = &doctor->findings[i];

		if (!report->top && summary_is_note(finding)) {
			nr_notes++;
		} else if (nr_shown < wanted) {
			if (nr_shown++ == 0)
				summary_put_findings_head(out, report->width);
			ts_summary_finding(out, finding, i + 1, report);
		}
	}
	if (doctor->nr_findings == 0)
		ts_buf_puts(out, "no findings\n");
	summary_put_rest(out, doctor->nr_findings - nr_shown - nr_notes, nr_notes, nr_shown > 0);
}

/* The finding that gives most. */
static void summary_put_first(struct ts_buf *out, const struct ts_result *doctor, size_t room)
{
	const struct ts_finding *first =
		doctor && doctor->nr_findings ? &doctor->findings[0] : NULL;
	char gain[TS_UNIT_MAX];

	if (!first || summary_is_note(first)) {
		ts_buf_puts(out, "no findings");
		return;
	}
	ts_term_cell(out, ts_bytes_of(gain_of(gain, first)), GAIN_WIDTH, TS_TERM_RIGHT);
	ts_buf_puts(out, "  ");
	ts_term_cut(out, first->title, room > GAIN_WIDTH + 2 ? room - GAIN_WIDTH - 2 : 1);
}

void ts_summary_row(struct ts_buf *out, const struct ts_results *results,
		    const struct ts_report *report)
{
	size_t width = report->width ? report->width : ROW_WIDTH, indent = 2;
	struct ts_buf place = TS_BUF_INIT, facts = TS_BUF_INIT;

	TS_ASSERT(out && results && report);
	ts_summary_place(&place, results);
	ts_summary_facts(&facts, results);
	ts_term_cut(out, ts_buf_bytes(&place), width);
	ts_buf_printf(out, "\n%*s", (int)indent, "");
	ts_term_cut(out, ts_bytes_cut(ts_buf_bytes(&facts), strlen(TS_SUMMARY_DOT), facts.n),
		    width - indent);
	ts_buf_printf(out, "\n%*s", (int)indent, "");
	summary_put_first(out, TS_FIND(results, doctor), width - indent);
	ts_buf_putc(out, '\n');
	out->failed |= place.failed || facts.failed;
	ts_buf_release(&place);
	ts_buf_release(&facts);
}
