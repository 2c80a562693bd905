/* SPDX-License-Identifier: MIT */
/* Lines of JSON from the job become spans of time. */
#include "live/told.h"

#include <poll.h>
#include <unistd.h>

#include "base/check.h"
#include "base/map.h"
#include "base/units.h"
#include "codec/jtok.h"

#define PIECE	 4096
#define MAX_LINE 65536 /* a longer one is not ours */
#define MAX_SPANS 4096

void ts_told_init(struct ts_told *told, int fd)
{
	TS_ASSERT(told != NULL);
	memset(told, 0, sizeof(*told));
	told->fd = fd;
	told->compiled.max = MAX_SPANS;
	told->memory_bytes = NAN;
}

void ts_told_release(struct ts_told *told)
{
	TS_ASSERT(told != NULL);
	ts_buf_release(&told->text);
	ts_spans_release(&told->compiled);
}

struct told_line {
	struct ts_bytes object;
	int64_t skew_ms; /* from the epoch's clock to ours */
	int64_t now_ms;
};

static double told_number(struct ts_bytes object, const char *name)
{
	double value;

	return ts_jtok_real(ts_jtok_at(object, name), &value) ? value : NAN;
}

/* When it was, by our clock: not later than now, whatever the line says. */
static int64_t told_at(const struct told_line *line)
{
	double unix_ms = told_number(line->object, "time_unix_ms");

	if (!(fabs(unix_ms) < 1e15))
		return line->now_ms;
	return TS_MIN((int64_t)unix_ms + line->skew_ms, line->now_ms);
}

static uint64_t told_thread(const struct told_line *line)
{
	return ts_hash(ts_jtok_at(line->object, "thread"), 0);
}

static void told_begin(struct ts_told *told, const struct told_line *line)
{
	struct ts_bytes function = ts_jtok_text(ts_jtok_at(line->object, "function"));
	struct ts_told_open *open;

	if (told->nr_open == TS_TOLD_OPEN)
		return;
	open = &told->open[told->nr_open++];
	*open = (struct ts_told_open){ .start_ms = told_at(line), .thread = told_thread(line) };
	snprintf(open->function, sizeof(open->function), "%.*s", TS_ARG(function));
}

/* The innermost one that its thread has begun ends. */
static void told_end(struct ts_told *told, const struct told_line *line)
{
	double duration_ms = told_number(line->object, "duration_ms");
	int64_t end_ms = told_at(line);
	uint64_t thread = told_thread(line);
	size_t i = told->nr_open;

	/* without memory for it, it is not known */
	if (duration_ms > 0 && duration_ms < 1e12)
		(void)ts_spans_add(&told->compiled, end_ms - (int64_t)duration_ms, end_ms);
	while (i > 0 && told->open[i - 1].thread != thread)
		i--;
	if (i > 0) {
		memmove(&told->open[i - 1], &told->open[i],
			(told->nr_open - i) * sizeof(*told->open));
		told->nr_open--;
	}
}

static void told_take(struct ts_told *told, const struct told_line *line)
{
	struct ts_bytes event = ts_jtok_text(ts_jtok_at(line->object, "event"));
	double bytes = told_number(line->object, "bytes");

	if (ts_bytes_is(event, "ready"))
		told->is_ready = true;
	if (ts_bytes_is(event, "compiling"))
		told_begin(told, line);
	if (ts_bytes_is(event, "compiled"))
		told_end(told, line);
	if (ts_bytes_is(event, "memory") && bytes >= 0)
		told->memory_bytes = bytes;
}

/* Takes the lines that are whole, and keeps the rest. */
static void told_take_lines(struct ts_told *told, int64_t now_ms, int64_t skew_ms)
{
	struct ts_bytes text = ts_buf_bytes(&told->text);
	size_t at = 0, n;

	for (; (n = ts_bytes_find(ts_bytes_cut(text, at, text.n), "\n")) < text.n - at;
	     at += n + 1) {
		struct told_line line = { ts_bytes_cut(text, at, at + n), skew_ms, now_ms };

		told_take(told, &line);
	}
	memmove(told->text.p, told->text.p + at, text.n - at);
	told->text.n = text.n - at;
	if (told->text.n > MAX_LINE)
		ts_buf_clear(&told->text);
}

void ts_told_read(struct ts_told *told, int64_t now_ms, int64_t now_unix_ms)
{
	struct pollfd ready = { told->fd, POLLIN, 0 };
	char piece[PIECE];

	TS_ASSERT(told != NULL);
	while (told->fd >= 0 && poll(&ready, 1, 0) > 0) {
		ssize_t n = read(told->fd, piece, sizeof(piece));

		if (n <= 0) { /* it has ended: what went on then is not known any more */
			told->fd = -1;
			told->is_ready = false;
			told->nr_open = 0;
			told->memory_bytes = NAN;
			return;
		}
		ts_buf_put(&told->text, (struct ts_bytes){ (const uint8_t *)piece, (size_t)n });
		if (told->text.failed) { /* no memory: these lines are lost */
			ts_buf_release(&told->text);
			continue;
		}
		told_take_lines(told, now_ms, now_ms - now_unix_ms);
	}
	for (size_t i = 0; i < told->nr_open; i++)
		(void)ts_spans_add(&told->compiled, told->open[i].start_ms, now_ms);
}

const struct ts_told_open *ts_told_compiling(const struct ts_told *told)
{
	TS_ASSERT(told != NULL && told->nr_open <= TS_TOLD_OPEN);
	return told->nr_open > 0 ? &told->open[0] : NULL;
}

int64_t ts_told_compiled_ms(const struct ts_told *told, int64_t from_ms, int64_t to_ms)
{
	size_t hint = 0;

	TS_ASSERT(told != NULL && from_ms <= to_ms);
	return ts_spans_covered(&told->compiled, from_ms, to_ms, &hint);
}
