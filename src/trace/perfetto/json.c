/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format (Google's "Trace Event Format" document) in its object form, in the
 * part that Perfetto's importer takes, and chrome://tracing and XProf read: M metadata, X slices (B
 * and E where it says so below), C counters, s and f flows. One event a line.
 *
 * Of events of one time the importer takes E first, then X, the longest first, then all others in the
 * order of the file. So a slice behind one of 0 ns is a B and an E, or it would come before that.
 *
 * Every event begins with its comma and line end, which the caller takes from the first of a file; so
 * pieces made apart can be put together in any order. Times are microseconds with three decimals, in integers alone.
 * Perfetto keeps thread names by tid alone, so each tid stands once in a file; and a row is a
 * thread, as the format knows no other: its tid is made up, and the row's lanes have the next ones.
 */
#include "trace/perfetto/perfetto.h"

#include <math.h>

#include "codec/json.h"

#define MARK	  "{\"otherData\":{\"generator\":\"tpusight\"" /* the files of every version begin so */
#define MAX_LANES 100 /* a row has the tids up to the next hundred */
#define TIME_MAX  24  /* a time as text, sign, point and all */
#define EXACT_NS  ((INT64_C(1) << 42) * 1000) /* see imported() */
#define EVENT_MAX 640 /* an event without its names and args, and its arrows */

static void perfetto_json_begin(struct ts_buf *out)
{
	ts_buf_puts(out, ",\n{");
}

static void perfetto_json_put_text(struct ts_buf *out, const char *key, const char *text)
{
	ts_buf_printf(out, ",\"%s\":", key);
	if (text)
		ts_json_quote(out, ts_bytes_of(text));
	else
		ts_buf_puts(out, "null");
}

/* Viewers show "metadata" alone, as a table. */
static void perfetto_json_open_file(struct ts_buf *out, const struct ts_perfetto_head *head)
{
	uint64_t left_out = head->events_total - TS_MIN(head->events_written, head->events_total);

	ts_buf_puts(out, MARK "},\"metadata\":{\"generator\":\"tpusight\"");
	perfetto_json_put_text(out, "version", head->version);
	perfetto_json_put_text(out, "native_file", head->native_file);
	if (head->start_unix_ns != TS_UNKNOWN) /* as text: past what a double holds */
		ts_buf_printf(out, ",\"start_unix_ns\":\"%lld\"", (long long)head->start_unix_ns);
	ts_buf_printf(out, ",\"shift_ns\":%lld,\"events_total\":%llu,\"events_written\":%llu",
		      (long long)head->shift_ns, (unsigned long long)head->events_total,
		      (unsigned long long)head->events_written);
	ts_buf_printf(out, ",\"events_left_out\":%llu,\"own_events\":%llu",
		      (unsigned long long)left_out, (unsigned long long)head->own_events);
	for (size_t i = 0; i < head->nr_facts; i++) {
		const struct ts_perfetto_fact *fact = &head->facts[i];

		ts_buf_printf(out, ",\"%s\":", fact->key);
		if (fact->text.n > 0)
			ts_json_quote(out, ts_perfetto_cut(fact->text));
		else
			ts_buf_printf(out, "%lld", (long long)fact->number);
	}
	perfetto_json_put_text(out, "note", ts_perfetto_note);
	ts_buf_puts(out, "},\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void perfetto_json_close_file(struct ts_buf *out)
{
	ts_buf_puts(out, "\n]}\n");
}

/* Metadata events: the name and the place of a process (TID 0) or a thread. */
static void put_meta(struct ts_buf *out, const char *what, uint32_t pid, uint32_t tid)
{
	perfetto_json_begin(out);
	ts_buf_printf(out, "\"ph\":\"M\",\"pid\":%u,", pid);
	if (tid)
		ts_buf_printf(out, "\"tid\":%u,", tid);
	ts_buf_printf(out, "\"name\":\"%s\",\"args\":{", what);
}

static void perfetto_json_put_process(struct ts_buf *out, const struct ts_perfetto_process *process)
{
	put_meta(out, "process_name", process->pid, 0);
	ts_buf_puts(out, "\"name\":");
	ts_json_quote(out, process->name);
	ts_buf_puts(out, "}}");
	put_meta(out, "process_sort_index", process->pid, 0);
	ts_buf_printf(out, "\"sort_index\":%u}}", process->order);
}

static void perfetto_json_put_row(struct ts_buf *out, const struct ts_perfetto_row *row)
{
}

/* From the second on the number shows: "Async XLA Ops (2)". */
static void put_lane_name(struct ts_buf *out, struct ts_bytes name, uint32_t lane)
{
	ts_json_quote(out, name);
	if (lane == 0 || out->failed)
		return;
	out->n--; /* the closing quote */
	ts_buf_printf(out, " (%u)\"", lane + 1);
}

static void perfetto_json_put_lane(struct ts_buf *out, struct ts_perfetto_lane *lane)
{
	const struct ts_perfetto_row *row = lane->row;
	uint32_t tid = row->tid + lane->number;

	lane->packet.n = (uint8_t)snprintf(lane->packet.p, sizeof(lane->packet.p),
					   "\"pid\":%u,\"tid\":%u,\"ts\":", row->pid, tid);
	put_meta(out, "thread_name", row->pid, tid);
	ts_buf_puts(out, "\"name\":");
	put_lane_name(out, row->name, lane->number);
	ts_buf_puts(out, "}}");
	put_meta(out, "thread_sort_index", row->pid, tid);
	ts_buf_printf(out, "\"sort_index\":%u}}", row->order * MAX_LANES + lane->number);
}

/* "KEY":"TEXT", - or nothing where there is no text. */
static void perfetto_json_put_arg(struct ts_buf *out, const char *key, struct ts_bytes text)
{
	if (text.n == 0)
		return;
	ts_json_quote(out, ts_bytes_of(key));
	ts_buf_putc(out, ':');
	ts_json_quote(out, ts_perfetto_cut(text));
	ts_buf_putc(out, ',');
}

static void put_op_arg(struct ts_buf *out, const struct ts_perfetto_arg *arg)
{
	/* an id as text: it may be past what a double holds */
	static const char *const forms[] = {
		[TS_ARG_COUNT] = "\"%s\":%llu,", [TS_ARG_ID] = "\"%s\":\"%llu\","
	};
	const char *key = ts_perfetto_keys[arg->key];

	if (arg->type == TS_ARG_TEXT)
		perfetto_json_put_arg(out, key, arg->text);
	else
		ts_buf_printf(out, forms[arg->type], key, (unsigned long long)arg->number);
}

static void put_op_tail(struct ts_buf *out, struct ts_buf *tail,
			const struct ts_perfetto_lane *lane, const struct ts_perfetto_op *op)
{
	const struct ts_op *shown = &op->profile->ops[op->index];
	struct ts_perfetto_arg args[TS_NR_KEYS];
	size_t nr = ts_perfetto_args(op, args);

	perfetto_json_put_arg(tail, "name", shown->name);
	if (!shown->has_variants)
		perfetto_json_put_arg(tail, "cat", shown->category);
	ts_buf_puts(tail, "\"args\":{");
	for (size_t i = 0; i < nr; i++)
		put_op_arg(tail, &args[i]);
}

/* With a point in any case: SQL shall not take a real for an integer when it is a whole number. */
static void put_real(struct ts_buf *out, double value)
{
	size_t from = out->n;

	ts_json_number(out, value);
	if (!out->failed && !memchr(out->p + from, '.', out->n - from) &&
	    !memchr(out->p + from, 'e', out->n - from))
		ts_buf_puts(out, ".0");
}

static void perfetto_json_put_stat(struct ts_buf *out, const struct ts_perfetto_stat *stat)
{
	char text[TS_ID_MAX];

	ts_json_quote(out, ts_perfetto_cut(stat->name));
	ts_buf_putc(out, ':');
	switch (stat->type) {
	case TS_ARG_TEXT:  ts_json_quote(out, ts_perfetto_cut(stat->value.text)); break;
	case TS_ARG_COUNT: ts_buf_i64(out, stat->value.number); break;
	case TS_ARG_ID:	   ts_json_quote(out, ts_perfetto_id(&stat->value, text)); break;
	case TS_ARG_REAL:  put_real(out, stat->value.real); break;
	}
	ts_buf_putc(out, ',');
}

static void perfetto_json_put_label_arg(struct ts_buf *out, const struct ts_arg *arg)
{
	if (arg->value.type == TS_VALUE_TEXT) {
		perfetto_json_put_arg(out, arg->key, arg->value.as.s);
		return;
	}
	ts_json_quote(out, ts_bytes_of(arg->key));
	ts_buf_putc(out, ':');
	if (arg->value.type == TS_VALUE_REAL)
		put_real(out, arg->value.as.r);
	else
		ts_buf_i64(out, arg->value.as.i);
	ts_buf_putc(out, ',');
}

static void put_label_tail(struct ts_buf *out, struct ts_buf *tail,
			   const struct ts_perfetto_lane *lane, uint32_t number)
{
	const struct ts_label *label = &lane->row->track->labels[number];

	perfetto_json_put_arg(tail, "name", label->name);
	ts_buf_puts(tail, "\"cat\":\"tpusight\",\"args\":{");
	for (size_t i = 0; i < label->nr_args; i++)
		if (ts_arg_is_shown(&label->args[i]))
			perfetto_json_put_label_arg(tail, &label->args[i]);
}

static const char pairs_of_digits[] = "00010203040506070809101112131415161718192021222324"
				      "25262728293031323334353637383940414243444546474849"
				      "50515253545556575859606162636465666768697071727374"
				      "75767778798081828384858687888990919293949596979899";

static char *put_digits(char *end, uint64_t value)
{
	for (; value >= 100; value /= 100)
		memcpy(end -= 2, pairs_of_digits + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(end -= 2, pairs_of_digits + 2 * value, 2);
	else
		*--end = (char)('0' + value);
	return end;
}

/* Nanoseconds as microseconds: 1234567 is 1234.567. Gives back the end of what it wrote at P. */
static char *perfetto_json_put_time(char *p, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	unsigned rest = (unsigned)(size % 1000);
	char text[TIME_MAX], *end = text + sizeof(text), *at = end;

	*--at = (char)('0' + rest % 10);
	memcpy(at -= 2, pairs_of_digits + 2 * (rest / 10), 2);
	*--at = '.';
	at = put_digits(at, size / 1000);
	if (ns < 0)
		*--at = '-';
	memcpy(p, at, (size_t)(end - at));
	return p + (end - at);
}

/*
 * The importer reads a time as a double of microseconds, which holds a ns no longer than up to 2^42 of
 * them, 51 days: what it makes of the text of NS. Later ends of two slices that touch must become one
 * number there, so a length is the difference of what its ends become.
 */
static int64_t imported(int64_t ns)
{
	double us;

	if (ns < EXACT_NS || ns > INT64_MAX / 2)
		return ns;
	us = (double)(ns / 1000) + (double)(ns % 1000) / 1000;
	return us == trunc(us) ? (int64_t)us * 1000 : llround(us * 1000);
}

static char *perfetto_json_put_bytes(char *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}
#define PUT(p, lit) perfetto_json_put_bytes(p, lit, sizeof(lit) - 1)

/* The part of a slice before its own args, with room for all of it. NULL: no memory. */
static char *begin_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			 const struct ts_perfetto_slice *slice)
{
	char *p;

	if (!ts_buf_room(out, EVENT_MAX + slice->tail.n))
		return NULL;
	p = PUT((char *)out->p + out->n, ",\n{\"ph\":\"");
	*p++ = slice->is_apart ? 'B' : 'X';
	p = PUT(p, "\",");
	p = perfetto_json_put_bytes(p, lane->packet.p, lane->packet.n);
	p = perfetto_json_put_time(p, slice->start_ns);
	if (!slice->is_apart) {
		p = PUT(p, ",\"dur\":");
		p = perfetto_json_put_time(p, imported(slice->start_ns + slice->dur_ns) -
						      imported(slice->start_ns));
	}
	*p++ = ',';
	return perfetto_json_put_bytes(p, slice->tail.p, slice->tail.n);
}

static char *perfetto_json_put_number(char *p, uint64_t number)
{
	char digits[TIME_MAX], *end = digits + sizeof(digits), *at = put_digits(end, number);

	return perfetto_json_put_bytes(p, at, (size_t)(end - at));
}

/* An arrow's end stands right behind the slice it belongs to. */
static char *perfetto_json_put_arrow(char *p, const struct ts_perfetto_lane *lane, int64_t at_ns,
				     enum ts_perfetto_arrow arrow, const char *name, uint64_t id)
{
	size_t n = strlen(name);

	if (arrow == TS_ARROW_NONE)
		return p;
	p = PUT(p, ",\n{\"ph\":\"");
	*p++ = arrow == TS_ARROW_BEGINS ? 's' : 'f';
	p = perfetto_json_put_bytes(PUT(p, "\",\"bp\":\"e\",\"cat\":\""), name, n);
	p = perfetto_json_put_bytes(PUT(p, "\",\"name\":\""), name, n);
	p = perfetto_json_put_number(PUT(p, "\",\"id\":"), id);
	*p++ = ',';
	p = perfetto_json_put_bytes(p, lane->packet.p, lane->packet.n);
	p = perfetto_json_put_time(p, at_ns);
	*p++ = '}';
	return p;
}

static void perfetto_json_put_op_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				       const struct ts_perfetto_slice *slice)
{
	char *p = begin_slice(out, lane, slice);

	if (!p)
		return;
	out->n = (size_t)(p - (char *)out->p);
	for (size_t i = 0; i < slice->nr_stats; i++)
		perfetto_json_put_stat(out, &slice->stats[i]);
	if (!ts_buf_room(out, EVENT_MAX))
		return;
	p = PUT((char *)out->p + out->n, "\"self_ns\":");
	p = perfetto_json_put_number(p, (uint64_t)slice->own_ns);
	*p++ = '}';
	out->n = (size_t)(p - (char *)out->p);
	if (slice->category.n > 0) {
		ts_buf_puts(out, ",\"cat\":");
		ts_json_quote(out, ts_perfetto_cut(slice->category));
	}
	if (!ts_buf_room(out, EVENT_MAX))
		return;
	p = PUT((char *)out->p + out->n, "}");
	p = perfetto_json_put_arrow(p, lane, slice->start_ns, slice->arrow, "async",
				    slice->arrow_id);
	p = perfetto_json_put_arrow(p, lane, slice->start_ns, slice->launch, "launch",
				    slice->launch_id);
	out->n = (size_t)(p - (char *)out->p);
}

static void put_label_slice(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			    const struct ts_perfetto_slice *slice)
{
	char *p = begin_slice(out, lane, slice);

	if (!p)
		return;
	p = PUT(p, "\"own_ns\":");
	p = perfetto_json_put_number(p, (uint64_t)TS_MAX(slice->own_ns, 0));
	p = PUT(p, ",\"events\":");
	p = perfetto_json_put_number(p, slice->nr_events);
	p = PUT(p, "}}");
	out->n = (size_t)(p - (char *)out->p);
	for (size_t i = 0; i < slice->nr_ends && ts_buf_room(out, EVENT_MAX); i++) {
		p = perfetto_json_put_arrow((char *)out->p + out->n, lane, slice->start_ns,
					    slice->ends[i].begins ? TS_ARROW_BEGINS : TS_ARROW_ENDS,
					    "tpusight",
					    TS_PERFETTO_END_IDS | slice->ends[i].number);
		out->n = (size_t)(p - (char *)out->p);
	}
}

static void perfetto_json_put_end(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				  int64_t end_ns, bool is_apart)
{
	char *p;

	if (!is_apart || !ts_buf_room(out, EVENT_MAX))
		return;
	p = PUT((char *)out->p + out->n, ",\n{\"ph\":\"E\",");
	p = perfetto_json_put_bytes(p, lane->packet.p, lane->packet.n);
	p = perfetto_json_put_time(p, end_ns);
	*p++ = '}';
	out->n = (size_t)(p - (char *)out->p);
}

/* The importer names a counter "<name> <key>": the unit in brackets is the key. */
static void perfetto_json_put_counter(struct ts_buf *out, const struct ts_perfetto_row *row,
				      int64_t at_ns, double value)
{
	struct ts_bytes name, unit;
	char text[TIME_MAX + 1];

	if (!isfinite(value))
		return;
	ts_perfetto_unit(row->track, &name, &unit);
	*perfetto_json_put_time(text, at_ns) = '\0';
	perfetto_json_begin(out);
	ts_buf_printf(out, "\"ph\":\"C\",\"pid\":%u,\"ts\":%s,\"name\":", row->pid, text);
	ts_json_quote(out, name);
	ts_buf_puts(out, ",\"args\":{");
	ts_json_quote(out, unit.n ? unit : TS_LIT("value"));
	ts_buf_putc(out, ':');
	ts_json_number(out, value);
	ts_buf_puts(out, "}}");
}

const struct ts_perfetto_form ts_perfetto_json = {
	.name = "json",
	.mark = MARK,
	.max_lanes = MAX_LANES,
	.separator = ",",
	.open = perfetto_json_open_file,
	.close = perfetto_json_close_file,
	.process = perfetto_json_put_process,
	.row = perfetto_json_put_row,
	.lane = perfetto_json_put_lane,
	.op_tail = put_op_tail,
	.op_slice = perfetto_json_put_op_slice,
	.label_tail = put_label_tail,
	.label_slice = put_label_slice,
	.end = perfetto_json_put_end,
	.imported = imported,
	.counter = perfetto_json_put_counter,
};
