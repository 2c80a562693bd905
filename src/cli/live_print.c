/* SPDX-License-Identifier: MIT */
/* The events of a watched job are printed for people and for programs. */
#include "cli/live_print.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/units.h"
#include "cli/live_session.h"
#include "codec/term.h"

#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define GREEN  "\033[32m"
#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define PLAIN  "\033[0m"

/* To the alternate screen of a terminal, without a cursor, and back. */
#define ENTER	    "\033[?1049h\033[?25l"
#define LEAVE	    "\033[?25h\033[?1049l"
#define HOME	    "\033[H"
#define REST	    "\033[K" /* clears the rest of a line */
#define BELOW	    "\033[J"

#define LABEL_WIDTH 22
#define VALUE_WIDTH 11
#define SCALE_WIDTH 15 /* "  0 to 12.34 ms" */
#define MIN_WIDTH   20
#define MANY_LINES  24 /* a screen with fewer lines has only the vital figures */
#define MIN_HOSTS   3  /* lines for the hosts at least; otherwise a quarter of the screen */

void ts_live_print_init(struct ts_live_print *print, const struct ts_cli *cli, bool json)
{
	const char *term = getenv("TERM");

	TS_ASSERT(print && cli);
	memset(print, 0, sizeof(*print));
	print->cli = cli;
	print->json = json;
	print->color = ts_use_color(cli) && !json;
	print->is_view = !json && !cli->quiet && ts_terminal_width() > 0 && isatty(STDOUT_FILENO) &&
			 term && strcmp(term, "dumb") != 0;
}

static void put_out(struct ts_live_print *print)
{
	if (!print->text.failed && !print->is_broken) {
		errno = 0;
		print->is_mute = !ts_print(ts_buf_bytes(&print->text));
		print->is_broken = print->is_mute || errno == EPIPE;
	}
	ts_buf_clear(&print->text);
}

void ts_live_print_release(struct ts_live_print *print)
{
	TS_ASSERT(print);
	if (print->is_open) {
		ts_buf_puts(&print->text, LEAVE);
		put_out(print);
	}
	for (size_t i = 0; i < TS_LIVE_LOG; i++)
		ts_buf_release(&print->log[i]);
	ts_buf_release(&print->text);
	free(print->states);
}

static void live_print_paint(struct ts_live_print *print, struct ts_buf *out, const char *color)
{
	if (print->color)
		ts_buf_puts(out, color);
}

static void put_clock(struct ts_buf *out, int64_t unix_ms)
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm at;

	if (localtime_r(&seconds, &at))
		ts_buf_printf(out, "%02d:%02d:%02d", at.tm_hour, at.tm_min, at.tm_sec);
}

static const char *severity_color(const struct ts_alert *alert)
{
	if (!alert->is_active)
		return GREEN;
	return alert->severity == TS_CRITICAL ? RED : YELLOW;
}

/* "critical: Matrix-unit utilization is 12.0 % (limit: 30.0 %) [mxu_utilization_low]" */
static void put_alert(struct ts_live_print *print, struct ts_buf *out, const struct ts_alert *alert)
{
	live_print_paint(print, out, severity_color(alert));
	ts_buf_puts(out, alert->is_active ? ts_severity_name(alert->severity) : "over");
	live_print_paint(print, out, PLAIN);
	ts_buf_puts(out, ": ");
	ts_term_text(out, ts_buf_bytes(&alert->title));
	ts_buf_puts(out, " [");
	ts_term_text(out, ts_bytes_of(alert->rule));
	ts_buf_putc(out, ']');
	if (!alert->is_active || alert->evidence.n == 0)
		return;
	ts_buf_puts(out, ". ");
	ts_term_text(out, ts_buf_bytes(&alert->evidence));
}

static void put_metrics(struct ts_buf *out, const struct ts_live_sample *sample)
{
	for (size_t i = 0; i < TS_NR_METRICS; i++) {
		char text[TS_UNIT_MAX];

		if (!ts_metric_rows[i].is_vital || !isfinite(sample->values[i]))
			continue;
		ts_buf_printf(
			out, "  %s %s", ts_metric_rows[i].label,
			ts_metric_text(text, sizeof(text), (enum ts_metric)i, sample->values[i]));
	}
}

static size_t sample_bytes(const struct ts_live_sample *sample)
{
	size_t nr_bytes = 0;

	for (size_t i = 0; i < sample->nr_services; i++)
		if (sample->services[i].state == TS_SERVICE_UP)
			nr_bytes += sample->services[i].nr_bytes;
	return nr_bytes;
}

/* The problem without the address in front of it, which is printed already. */
static const char *problem_of(const struct ts_service *service)
{
	size_t n = strlen(service->address);
	const char *text = service->problem.text;

	if (strncmp(text, service->address, n) == 0 && strncmp(text + n, ": ", 2) == 0)
		return text + n + 2;
	return text;
}

/* Plain lines: a service has a line when it changes. */
static void put_changes(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	struct ts_buf *out = &print->text;

	if (print->nr_states < sample->nr_services &&
	    !ts_grow(&print->states, &print->nr_states, sample->nr_services,
		     sizeof(*print->states)))
		return;
	for (size_t i = 0; i < sample->nr_services; i++) {
		const struct ts_service *service = &sample->services[i];

		bool is_news = print->states[i] != service->state &&
			       !(print->cli->quiet && print->states[i] == TS_SERVICE_NEW &&
				 service->state == TS_SERVICE_UP);

		print->states[i] = service->state;
		if (!is_news)
			continue;
		put_clock(out, sample->unix_ms);
		ts_buf_printf(out, "  %s is %s", service->address,
			      ts_service_state_name(service->state));
		if (service->problem.text[0]) {
			ts_buf_puts(out, ": ");
			ts_term_text(out, ts_bytes_of(problem_of(service)));
		}
		ts_buf_putc(out, '\n');
	}
}

static void live_print_put_sample(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	struct ts_buf *out = &print->text;
	char bytes[TS_UNIT_MAX], share[TS_UNIT_MAX];
	double sampled = sample->values[TS_METRIC_SAMPLED];

	put_changes(print, sample);
	if (print->cli->quiet)
		return;
	if (sample->problem.text[0]) {
		put_clock(out, sample->unix_ms);
		ts_buf_puts(out, "  the sample cannot be read: ");
		ts_term_text(out, ts_bytes_of(sample->problem.text));
		ts_buf_putc(out, '\n');
	}
	if (sample->captured) {
		put_clock(out, sample->unix_ms);
		ts_buf_puts(out, "  captured ");
		ts_term_text(out, ts_bytes_of(sample->captured));
		ts_buf_putc(out, '\n');
	}
	if (sample->nr_hosts == 0)
		return;
	put_clock(out, sample->unix_ms);
	put_metrics(out, sample);
	ts_buf_printf(out, "  (sample %llu, %zu host%s, %s in %lld ms",
		      (unsigned long long)sample->number, sample->nr_hosts,
		      sample->nr_hosts == 1 ? "" : "s",
		      ts_fmt_bytes(bytes, (double)sample_bytes(sample)),
		      (long long)sample->took_ms);
	if (isfinite(sampled))
		ts_buf_printf(out, ", %s of the time sampled",
			      ts_metric_text(share, sizeof(share), TS_METRIC_SAMPLED, sampled));
	ts_buf_puts(out, ")\n");
}

/* " Sampled 14.2 % of the time. A step takes 3.1 ms in samples, 3.0 ms between them: a cost of
 * 0.5 %.", or "... which is too small a cost to measure." */
static void put_sampling(struct ts_buf *out, const double values[TS_NR_METRICS])
{
	static const struct {
		enum ts_metric metric;
		const char *before, *behind;
	} parts[] = { { TS_METRIC_SAMPLED, " Sampled ", " of the time." },
		      { TS_METRIC_STEP, " A step takes ", " in samples" },
		      { TS_METRIC_STEP_UNSAMPLED, ", ", " between them" },
		      { TS_METRIC_COST, ": a cost of ", "." } };
	bool has_steps =
		isfinite(values[TS_METRIC_STEP]) && isfinite(values[TS_METRIC_STEP_UNSAMPLED]);

	for (size_t i = 0; i < TS_NELEM(parts); i++) {
		char text[TS_UNIT_MAX];
		double value = values[parts[i].metric];

		if (isfinite(value) && (has_steps || parts[i].metric == TS_METRIC_SAMPLED))
			ts_buf_printf(out, "%s%s%s", parts[i].before,
				      ts_metric_text(text, sizeof(text), parts[i].metric, value),
				      parts[i].behind);
	}
	if (has_steps && !isfinite(values[TS_METRIC_COST]))
		ts_buf_puts(out, ": the cost is too small to measure.");
}

static void live_print_put_end(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	struct ts_buf *out = &print->text;
	char time[TS_UNIT_MAX];

	if (sample->watch) {
		ts_live_sessions_end(&print->text, sample);
		return;
	}
	ts_buf_printf(out, "%llu sample%s in %s.", (unsigned long long)sample->number,
		      sample->number == 1 ? "" : "s",
		      ts_fmt_ps(time, ts_i64_mul(sample->elapsed_ms, TS_PS_PER_MS)));
	put_sampling(out, sample->values);
	ts_buf_printf(out, " Alerts: %llu critical, %llu warning.\n",
		      (unsigned long long)sample->alerts->nr_raised[TS_CRITICAL],
		      (unsigned long long)sample->alerts->nr_raised[TS_WARNING]);
}

static void print_plain(struct ts_live_print *print, const struct ts_feed_event *event)
{
	switch (event->kind) {
	case TS_FEED_SAMPLE: live_print_put_sample(print, event->sample); break;
	case TS_FEED_ALERT:
		put_clock(&print->text, event->sample->unix_ms);
		ts_buf_puts(&print->text, "  ");
		if (event->session) {
			ts_term_text(&print->text, ts_bytes_of(event->session->path));
			ts_buf_puts(&print->text, ": ");
		}
		put_alert(print, &print->text, event->alert);
		ts_buf_putc(&print->text, '\n');
		break;
	case TS_FEED_SESSION:
		if (ts_live_session_is_dull(print->cli, event->session))
			break;
		put_clock(&print->text, event->sample->unix_ms);
		ts_buf_puts(&print->text, "  ");
		/* "PATH: annotated  MXU 41.2 %  (wrote 1 xplane overlay (1.1 MiB), report in 812 ms)" */
		ts_live_session_words(&print->text, event->session);
		put_metrics(&print->text, event->sample);
		ts_live_session_deeds(&print->text, event);
		ts_buf_putc(&print->text, '\n');
		break;
	case TS_FEED_END:
		if (!print->cli->quiet)
			live_print_put_end(print, event->sample);
		break;
	}
	put_out(print);
}

/* For the view: lines are cut to the screen's width, so that none of them wraps. */
static void put_cut(struct ts_buf *out, struct ts_buf *line, size_t width)
{
	ts_term_cut(out, ts_buf_bytes(line), width);
	ts_buf_putc(out, '\n');
	ts_buf_clear(line);
}

/* What a sparkline's full height stands for: 100 of shares and points, else the highest value. */
static double live_print_top_of(const struct ts_ring *ring, enum ts_metric metric, size_t nr)
{
	enum ts_metric_unit unit = ts_metric_rows[metric].unit;
	double high = 0;

	if (unit == TS_METRIC_PCT || unit == TS_METRIC_POINTS)
		return 100;
	for (size_t i = 0; i < nr; i++) {
		double value = ts_ring_back(ring, i)->values[metric];

		high = isfinite(value) ? fmax(high, value) : high;
	}
	return high;
}

/* The last values as a line of blocks, and the scale: "\u2582\u2583\u2588  0 to 12.3 ms". */
static void put_spark(struct ts_buf *out, const struct ts_ring *ring, enum ts_metric metric,
		      size_t width)
{
	static const char *const blocks[] = { "\u2581", "\u2582", "\u2583", "\u2584",
					      "\u2585", "\u2586", "\u2587", "\u2588" };
	size_t nr = TS_MIN(ts_ring_count(ring), width);
	double top = live_print_top_of(ring, metric, nr);
	char text[TS_UNIT_MAX];

	for (size_t i = nr; i-- > 0;) {
		double value = ts_ring_back(ring, i)->values[metric];
		double share = top > 0 ? fmin(fmax(value / top, 0), 1) : 0;

		ts_buf_puts(out, isfinite(value) ? blocks[(size_t)(share * 7)] : " ");
	}
	ts_buf_printf(out, "  0 to %s", ts_metric_text(text, sizeof(text), metric, top));
}

static void draw_metric(struct ts_live_print *print, const struct ts_ring *ring,
			enum ts_metric metric)
{
	TS_ASSERT(metric < TS_NR_METRICS && ts_ring_count(ring) > 0);

	struct ts_buf *out = &print->text;
	size_t label = TS_MIN(LABEL_WIDTH, print->width - VALUE_WIDTH - 4);
	size_t used = label + VALUE_WIDTH + 4;
	char text[TS_UNIT_MAX];

	ts_buf_puts(out, "  ");
	ts_term_cell(out, ts_bytes_of(ts_metric_rows[metric].label), label, TS_TERM_LEFT);
	ts_metric_text(text, sizeof(text), metric, ts_ring_back(ring, 0)->values[metric]);
	ts_term_cell(out, ts_bytes_of(text), VALUE_WIDTH, TS_TERM_RIGHT);
	ts_buf_puts(out, "  ");
	live_print_paint(print, out, DIM);
	if (print->width > used + SCALE_WIDTH)
		put_spark(out, ring, metric, print->width - used - SCALE_WIDTH);
	live_print_paint(print, out, PLAIN);
	ts_buf_putc(out, '\n');
}

static void draw_metrics(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	for (size_t i = 0; i < TS_NR_METRICS; i++) {
		enum ts_metric metric = (enum ts_metric)i;

		if ((print->height > 0 && print->height < MANY_LINES &&
		     !ts_metric_rows[i].is_vital) ||
		    !isfinite(ts_ring_median(sample->history, metric, TS_RING)))
			continue;
		draw_metric(print, sample->history, metric);
	}
}

static void draw_service(struct ts_live_print *print, const struct ts_service *service)
{
	struct ts_buf *out = &print->text, line = TS_BUF_INIT;
	char bytes[TS_UNIT_MAX];

	ts_buf_printf(&line, "  %s  %s", service->address, ts_service_state_name(service->state));
	if (service->problem.text[0])
		ts_buf_printf(&line, ": %s", problem_of(service));
	else if (service->nr_samples > 0)
		ts_buf_printf(&line, "  %s in %lld ms",
			      ts_fmt_bytes(bytes, (double)service->nr_bytes),
			      (long long)service->took_ms);
	live_print_paint(print, out, service->state == TS_SERVICE_DOWN ? RED : PLAIN);
	put_cut(out, &line, print->width);
	live_print_paint(print, out, PLAIN);
	ts_buf_release(&line);
}

/* Where there are more hosts than lines, hosts with a problem come first. */
static void draw_services(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	size_t nr_lines = print->height > 0 ? TS_MAX(print->height / 4, MIN_HOSTS) : SIZE_MAX;
	size_t nr = 0;

	if (sample->nr_services <= nr_lines)
		nr_lines = SIZE_MAX;
	for (int healthy = 0; healthy < 2; healthy++)
		for (size_t i = 0; i < sample->nr_services && nr + 1 < nr_lines; i++)
			if ((sample->services[i].state == TS_SERVICE_UP) == healthy) {
				draw_service(print, &sample->services[i]);
				nr++;
			}
	if (nr < sample->nr_services)
		ts_buf_printf(&print->text, "  and %zu more\n", sample->nr_services - nr);
}

static void draw_alerts(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	struct ts_buf *out = &print->text;
	size_t nr = 0;

	live_print_paint(print, out, BOLD);
	ts_buf_puts(out, "Alerts\n");
	live_print_paint(print, out, PLAIN);
	for (size_t i = 0; i < sample->alerts->nr; i++) {
		const struct ts_alert *alert = &sample->alerts->items[i];
		struct ts_term_wrap wrap = { print->width, 2, 4, 3 };
		struct ts_buf line = TS_BUF_INIT;

		if (!alert->is_active)
			continue;
		nr++;
		ts_buf_printf(&line, "%s: ", ts_severity_name(alert->severity));
		ts_buf_put(&line, ts_buf_bytes(&alert->title));
		ts_buf_puts(&line, ". ");
		ts_buf_put(&line, ts_buf_bytes(&alert->evidence));
		ts_buf_puts(out, "  ");
		live_print_paint(print, out, severity_color(alert));
		ts_term_wrap(out, ts_buf_bytes(&line), wrap);
		live_print_paint(print, out, PLAIN);
		ts_buf_putc(out, '\n');
		ts_buf_release(&line);
	}
	if (nr == 0)
		ts_buf_puts(out, "  none\n");
}

static void draw_log(struct ts_live_print *print)
{
	size_t nr = (size_t)TS_MIN(print->nr_log, TS_LIVE_LOG);

	for (size_t i = 0; i < nr; i++) {
		struct ts_buf *line = &print->log[(print->nr_log - nr + i) % TS_LIVE_LOG];

		ts_buf_puts(&print->text, "  ");
		ts_term_cut(&print->text, ts_buf_bytes(line), print->width - 2);
		ts_buf_putc(&print->text, '\n');
	}
}

/* An address that was cut leads nowhere: one that does not fit beside the title has a line of its own. */
static void draw_title(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	static const char end[] = "  (Ctrl-C ends it)";
	struct ts_buf line = TS_BUF_INIT;
	char time[TS_UNIT_MAX];
	bool is_beside;

	ts_buf_printf(&line, "TPUsight live  %s, %s%llu%s",
		      ts_fmt_ps(time, ts_i64_mul(sample->elapsed_ms, TS_PS_PER_MS)),
		      sample->watch ? "" : "sample ", (unsigned long long)sample->number,
		      sample->watch ? " annotated" : "");
	is_beside = print->page &&
		    line.n + strlen("  ") + strlen(print->page) + strlen(end) <= print->width;
	if (is_beside)
		ts_buf_printf(&line, "  %s", print->page);
	ts_buf_puts(&line, end);
	live_print_paint(print, &print->text, BOLD);
	put_cut(&print->text, &line, print->width);
	live_print_paint(print, &print->text, PLAIN);
	if (print->page && !is_beside)
		ts_buf_printf(&print->text, "  %s\n", print->page);
	ts_buf_release(&line);
}

/*
 * The screen as the lines of OUT from START on, as many as fit; what stood there before is cleared. The
 * last line has no line end, which would scroll the screen.
 */
static void put_screen(struct ts_live_print *print, size_t start)
{
	struct ts_buf *out = &print->text, lines = TS_BUF_INIT;
	size_t nr_lines = 0;

	ts_buf_put(&lines, ts_bytes_cut(ts_buf_bytes(out), start, out->n));
	out->n = start;
	for (size_t i = 0; i < lines.n; i++) {
		if (lines.p[i] == '\n') {
			ts_buf_puts(out, REST);
			if (++nr_lines == print->height)
				break;
		}
		ts_buf_putc(out, (char)lines.p[i]);
	}
	out->failed |= lines.failed;
	ts_buf_release(&lines);
	live_print_paint(print, out, PLAIN);
	ts_buf_puts(out, BELOW);
}

static void live_print_draw(struct ts_live_print *print, const struct ts_live_sample *sample)
{
	struct ts_buf *out = &print->text;
	size_t start;

	/* a line that fills the last column leaves the cursor on it, and clearing takes it away */
	print->width = TS_MAX(ts_terminal_width(), MIN_WIDTH + 1) - 1;
	print->height = ts_terminal_height();
	ts_buf_puts(out, print->is_open ? HOME : ENTER HOME);
	print->is_open = true;
	start = out->n;
	draw_title(print, sample);
	draw_services(print, sample);
	if (sample->watch) /* where sessions are watched, the log is the main part */
		draw_log(print);
	ts_buf_putc(out, '\n');
	draw_metrics(print, sample);
	ts_buf_putc(out, '\n');
	draw_alerts(print, sample);
	if (!sample->watch) {
		ts_buf_putc(out, '\n');
		draw_log(print);
	}
	put_screen(print, start);
	put_out(print);
}

static void log_alert(struct ts_live_print *print, const struct ts_feed_event *event)
{
	struct ts_buf *line = &print->log[print->nr_log++ % TS_LIVE_LOG];

	ts_buf_clear(line);
	put_clock(line, event->sample->unix_ms);
	ts_buf_printf(line, "  %s: ",
		      event->alert->is_active ? ts_severity_name(event->alert->severity) : "over");
	ts_buf_put(line, ts_buf_bytes(&event->alert->title));
}

static void log_session(struct ts_live_print *print, const struct ts_feed_event *event)
{
	struct ts_buf *line = &print->log[print->nr_log++ % TS_LIVE_LOG];

	ts_buf_clear(line);
	put_clock(line, event->sample->unix_ms);
	ts_buf_puts(line, "  ");
	ts_live_session_words(line, event->session); /* the figures stand below */
}

static void print_view(struct ts_live_print *print, const struct ts_feed_event *event)
{
	if (event->kind == TS_FEED_ALERT && !event->session)
		log_alert(print, event);
	if (event->kind == TS_FEED_SESSION && !ts_live_session_is_dull(print->cli, event->session))
		log_session(print, event);
	if (event->kind == TS_FEED_SAMPLE || event->kind == TS_FEED_SESSION)
		live_print_draw(print, event->sample);
	if (event->kind != TS_FEED_END)
		return;
	if (print->is_open)
		ts_buf_puts(&print->text, LEAVE);
	print->is_open = false;
	live_print_put_end(print, event->sample);
	put_out(print);
}

void ts_live_print_event(void *arg, const struct ts_feed_event *event)
{
	struct ts_live_print *print = arg;

	TS_ASSERT(arg && event);
	TS_ASSERT(event->kind <= TS_FEED_SESSION);
	if (print->json) {
		ts_buf_put(&print->text, event->json);
		ts_buf_putc(&print->text, '\n');
		put_out(print);
	} else if (print->is_view) {
		print_view(print, event);
	} else {
		print_plain(print, event);
	}
}
