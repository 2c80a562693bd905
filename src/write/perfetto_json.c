/*
 * Chrome's trace event format (Google's "Trace Event Format" document), in the part that Perfetto's
 * importer takes: M metadata, X slices, C counters, s and f flows. One event a line.
 */
#include "write/perfetto_json.h"

#include "codec/json.h"

#define TEXT_MAX  4096 /* of one arg: an HLO text may be as long as its tuple */
#define TIME_MAX  24   /* a time as text, sign, point and all */
#define EVENT_MAX 256  /* an event without its names and args */

static const char note[] =
	"native events and TPUsight's tracks; where events were left out, the longest "
	"of the run were kept, and steps and modules first";

/* The first event of the array has no comma. */
static void begin(struct ts_buf *out)
{
	bool is_first = out->n > 0 && out->p[out->n - 1] == '[';

	ts_buf_puts(out, is_first ? "\n{" : ",\n{");
}

static void put_text(struct ts_buf *out, const char *key, const char *text)
{
	ts_buf_printf(out, ",\"%s\":", key);
	if (text)
		ts_json_quote(out, ts_bytes_of(text));
	else
		ts_buf_puts(out, "null");
}

void ts_perfetto_open(struct ts_buf *out, const struct ts_perfetto_head *head)
{
	uint64_t left_out = head->events_total - TS_MIN(head->events_written, head->events_total);

	ts_buf_puts(out, TS_PERFETTO_MARK);
	put_text(out, "version", head->version);
	put_text(out, "native_file", head->native_file);
	if (head->start_unix_ns != TS_UNKNOWN) /* as text: past what a double holds */
		ts_buf_printf(out, ",\"start_unix_ns\":\"%lld\"", (long long)head->start_unix_ns);
	ts_buf_printf(out, ",\"shift_ns\":%lld,\"events_total\":%llu,\"events_written\":%llu",
		      (long long)head->shift_ns, (unsigned long long)head->events_total,
		      (unsigned long long)head->events_written);
	ts_buf_printf(out, ",\"events_left_out\":%llu,\"own_events\":%llu",
		      (unsigned long long)left_out, (unsigned long long)head->own_events);
	put_text(out, "note", note);
	ts_buf_puts(out, "},\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void ts_perfetto_close(struct ts_buf *out)
{
	ts_buf_puts(out, "\n]}\n");
}

/* Metadata events: the name and the place of a process (TID 0) or a thread. */
static void put_meta(struct ts_buf *out, const char *what, uint32_t pid, uint32_t tid)
{
	begin(out);
	ts_buf_printf(out, "\"ph\":\"M\",\"pid\":%u,", pid);
	if (tid)
		ts_buf_printf(out, "\"tid\":%u,", tid);
	ts_buf_printf(out, "\"name\":\"%s\",\"args\":{", what);
}

void ts_perfetto_process(struct ts_buf *out, uint32_t pid, struct ts_bytes name, uint32_t order)
{
	put_meta(out, "process_name", pid, 0);
	ts_buf_puts(out, "\"name\":");
	ts_json_quote(out, name);
	ts_buf_puts(out, "}}");
	put_meta(out, "process_sort_index", pid, 0);
	ts_buf_printf(out, "\"sort_index\":%u}}", order);
}

static void put_lane_name(struct ts_buf *out, struct ts_bytes name, uint32_t lane)
{
	ts_json_quote(out, name);
	if (lane == 0 || out->failed)
		return;
	out->n--; /* the closing quote */
	ts_buf_printf(out, " (%u)\"", lane + 1);
}

void ts_perfetto_thread(struct ts_buf *out, const struct ts_perfetto_row *row, struct ts_bytes name,
			uint32_t lane, uint32_t order)
{
	put_meta(out, "thread_name", row->pid, row->tid);
	ts_buf_puts(out, "\"name\":");
	put_lane_name(out, name, lane);
	ts_buf_puts(out, "}}");
	put_meta(out, "thread_sort_index", row->pid, row->tid);
	ts_buf_printf(out, "\"sort_index\":%u}}", order);
}

struct ts_perfetto_row ts_perfetto_row_of(uint32_t pid, uint32_t tid)
{
	struct ts_perfetto_row row = { .pid = pid, .tid = tid };

	row.n = (uint8_t)snprintf(row.text, sizeof(row.text), "\"pid\":%u,\"tid\":%u,\"ts\":", pid,
				  tid);
	return row;
}

/* Cut where a character ends, so that a cut alone never makes bad UTF-8. */
static struct ts_bytes cut_text(struct ts_bytes text)
{
	size_t n = TEXT_MAX;

	if (text.n <= TEXT_MAX)
		return text;
	while (n > TEXT_MAX - 4 && (text.p[n] & 0xC0) == 0x80)
		n--;
	return ts_bytes_cut(text, 0, n);
}

/* "KEY":"TEXT", - or nothing where there is no text. */
static void put_arg(struct ts_buf *out, const char *key, struct ts_bytes text)
{
	if (text.n == 0)
		return;
	ts_json_quote(out, ts_bytes_of(key));
	ts_buf_putc(out, ':');
	ts_json_quote(out, cut_text(text));
	ts_buf_putc(out, ',');
}

static void put_count(struct ts_buf *out, const char *key, int64_t count)
{
	if (count < 0)
		return;
	ts_buf_printf(out, "\"%s\":%lld,", key, (long long)count);
}

static void put_full_args(struct ts_buf *out, const struct ts_profile *profile,
			  const struct ts_op *op)
{
	put_arg(out, "long_name", op->text);
	put_arg(out, "shape_with_layout", op->shape);
	put_arg(out, "source_stack", op->source_stack);
	if (op->module != TS_NONE && op->module < profile->nr_modules)
		put_arg(out, "hlo_module", profile->modules[op->module].name);
	if (op->has_program)
		ts_buf_printf(out, "\"program_id\":\"%llu\",", (unsigned long long)op->program_id);
}

void ts_perfetto_op_tail(struct ts_buf *out, const struct ts_profile *profile, uint32_t index,
			 bool full)
{
	const struct ts_op *op = &profile->ops[index];

	put_arg(out, "name", op->name);
	put_arg(out, "cat", op->category);
	ts_buf_puts(out, "\"args\":{");
	put_arg(out, "tf_op", op->framework_op);
	put_arg(out, "source", op->source);
	put_count(out, "flops", op->flops);
	put_count(out, "bytes_accessed", op->bytes_accessed);
	if (full)
		put_full_args(out, profile, op);
}

void ts_perfetto_label_tail(struct ts_buf *out, const struct ts_label *label)
{
	put_arg(out, "name", label->name);
	ts_buf_puts(out, "\"cat\":\"tpusight\",\"args\":{");
	for (size_t i = 0; i < label->nr_args; i++)
		put_arg(out, label->args[i].key, label->args[i].value);
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
static char *put_time(char *p, int64_t ns)
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

static char *put_bytes(char *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}
#define PUT(p, lit) put_bytes(p, lit, sizeof(lit) - 1)

/* The part of a slice before its own args, with room for MORE bytes behind it. NULL: no memory. */
static char *put_slice(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t start_ns,
		       int64_t dur_ns, struct ts_bytes tail, size_t more)
{
	char *p;

	if (!ts_buf_room(out, EVENT_MAX + tail.n + more))
		return NULL;
	p = PUT((char *)out->p + out->n, ",\n{\"ph\":\"X\",");
	p = put_bytes(p, row->text, row->n);
	p = put_time(p, start_ns);
	p = PUT(p, ",\"dur\":");
	p = put_time(p, dur_ns);
	*p++ = ',';
	return put_bytes(p, tail.p, tail.n);
}

static void end_slice(struct ts_buf *out, char *p)
{
	p = PUT(p, "}}");
	out->n = (size_t)(p - (char *)out->p);
}

void ts_perfetto_slice(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t start_ns,
		       int64_t dur_ns, struct ts_bytes tail, int64_t self_ns)
{
	char *p = put_slice(out, row, start_ns, dur_ns, tail, TIME_MAX + 16);

	if (!p)
		return;
	p = PUT(p, "\"self_us\":");
	end_slice(out, put_time(p, self_ns));
}

void ts_perfetto_label_slice(struct ts_buf *out, const struct ts_perfetto_row *row,
			     int64_t start_ns, int64_t dur_ns, struct ts_bytes tail,
			     const struct ts_slice *slice)
{
	char *p = put_slice(out, row, start_ns, dur_ns, tail, 2 * TIME_MAX + 32);
	char digits[TIME_MAX], *end = digits + sizeof(digits), *at;

	if (!p)
		return;
	p = PUT(p, "\"own_us\":");
	p = put_time(p, slice->own_ps / TS_PS_PER_NS);
	p = PUT(p, ",\"events\":");
	at = put_digits(end, slice->nr_events);
	end_slice(out, put_bytes(p, at, (size_t)(end - at)));
}

/* The importer names a counter "<name> <key>": the unit in brackets is the key. */
void ts_perfetto_counter(struct ts_buf *out, uint32_t pid, const char *name, int64_t at_ns,
			 double value)
{
	struct ts_bytes all = ts_bytes_of(name);
	size_t cut = ts_bytes_find(all, " (");
	char text[TIME_MAX + 1];

	if (!isfinite(value))
		return;
	*put_time(text, at_ns) = '\0';
	begin(out);
	ts_buf_printf(out, "\"ph\":\"C\",\"pid\":%u,\"ts\":%s,\"name\":", pid, text);
	ts_json_quote(out, ts_bytes_cut(all, 0, cut));
	ts_buf_puts(out, ",\"args\":{");
	ts_json_quote(out, cut < all.n ? ts_bytes_cut(all, cut + 1, all.n) : TS_LIT("value"));
	ts_buf_putc(out, ':');
	ts_json_number(out, value);
	ts_buf_puts(out, "}}");
}

void ts_perfetto_flow(struct ts_buf *out, const struct ts_perfetto_row *row, char phase,
		      uint64_t id, int64_t at_ns)
{
	char digits[TIME_MAX], *end = digits + sizeof(digits), *at = put_digits(end, id), *p;

	if (!ts_buf_room(out, EVENT_MAX))
		return;
	p = PUT((char *)out->p + out->n, ",\n{\"ph\":\"");
	*p++ = phase;
	p = PUT(p, "\",\"bp\":\"e\",\"cat\":\"async\",\"name\":\"async\",\"id\":");
	p = put_bytes(p, at, (size_t)(end - at));
	*p++ = ',';
	p = put_bytes(p, row->text, row->n);
	p = put_time(p, at_ns);
	*p++ = '}';
	out->n = (size_t)(p - (char *)out->p);
}
