/* SPDX-License-Identifier: MIT */
/*
 * The structured log of PyTorch's compiler, as TORCH_TRACE=FOLDER has it written: a line a record, with
 * glog's prefix and one JSON object, and what belongs to it on lines that begin with a tab:
 *
 *	V1121 15:03:11.119000 31397 torch/_dynamo/x.py:55] {"artifact": {"name": ...}, "frame_id": 0, ...}
 *		Graph break in user code at ...
 *
 * From torch/_logging/_internal.py (trace_structured), _dynamo/utils.py (CompilationMetrics), of 2.4
 * to 2.15; the same file is read by tlparse. A rank has a file of its own. Read are graph breaks,
 * reasons of recompilations and the metrics of compilations; graphs, guards, code and events are
 * passed over, a line at a time in bounded memory (io/window.h).
 */
#include "read/torch_trace/torch_trace.h"

#include "base/buf.h"
#include "base/units.h"
#include "codec/jtok.h"
#include "io/window.h"
#include "read/reader.h"

#define HEAD_BYTES  512		/* enough to recognise the format */

enum kind { KIND_OTHER, KIND_BREAK, KIND_GUARDS, KIND_VERSION, KIND_METRICS, KIND_BACKWARD };

struct record {
	enum kind kind;
	struct ts_compile_id id;
	int64_t attempt, rank;
};

struct reading {
	struct ts_profile *profile;
	struct ts_torch_log *log;
	struct ts_window text;
	struct ts_buf payload;
	struct record record; /* the payload's */
	uint64_t damage_at;
	const char *damage; /* NULL: none */
};

static bool is_digits(struct ts_bytes text, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		if (i >= text.n || text.p[i] < '0' || text.p[i] > '9')
			return false;
	return true;
}

/* "V1121 15:03:11.031000 31397 FILE:LINE] {": gives the object; empty: it is not a record. */
static struct ts_bytes object_of(struct ts_bytes line)
{
	struct ts_bytes none = { NULL, 0 };
	size_t at = ts_bytes_find(line, "] {");

	if (line.n < 20 || !strchr("VIWEC", line.p[0]) || !is_digits(line, 1, 4) ||
	    line.p[5] != ' ' || !is_digits(line, 6, 2) || line.p[8] != ':' || at == line.n)
		return none;
	return ts_bytes_cut(line, at + 2, line.n);
}

static int64_t integer(struct ts_bytes token)
{
	int64_t value;

	return ts_bytes_i64(token, &value) ? value : TS_UNKNOWN;
}

/* A decimal number of seconds, or of microseconds, in ps; TS_UNKNOWN. */
static int64_t torch_trace_seconds(struct ts_bytes token)
{
	struct ts_micros time; /* of a token taken for microseconds */

	if (!ts_jtok_micros(token, &time) || time.us < 0)
		return TS_UNKNOWN;
	return ts_i64_add(ts_i64_mul(time.us, TS_PS_PER_S), ts_i64_mul(time.ps, 1000000));
}

static int64_t micros(struct ts_bytes token)
{
	int64_t us = integer(token);

	return us < 0 ? TS_UNKNOWN : ts_i64_mul(us, TS_PS_PER_US);
}

/* The text of a string, or of a list of strings its first; kept. */
static enum ts_status torch_trace_keep_text(struct reading *reading, struct ts_bytes token,
					    struct ts_bytes *where, struct ts_error *err)
{
	struct ts_jtok list = ts_jtok_enter(token);

	if (token.n == 0 || ts_bytes_is(token, "null"))
		return TS_OK;
	if (token.p[0] == '[') {
		if (!ts_jtok_element(&list))
			return TS_OK;
		token = list.value;
	}
	*where =
		ts_jtok_unescape(&reading->profile->arena, ts_torch_trace_cut(ts_jtok_text(token)));
	return where->p ? TS_OK : ts_fail_nomem(err);
}

enum type { AN_INTEGER, SECONDS, MICROS, A_TEXT };

struct metric {
	const char *name;
	enum type type;
	size_t at; /* in struct ts_torch_compilation */
};

#define AT(member) offsetof(struct ts_torch_compilation, member)

/* Where a time is given twice, the finer one comes last. */
static const struct metric metrics[] = {
	{ "co_name", A_TEXT, AT(function) },
	{ "co_filename", A_TEXT, AT(file) },
	{ "co_firstlineno", AN_INTEGER, AT(line) },
	{ "graph_op_count", AN_INTEGER, AT(nr_ops) },
	{ "guard_count", AN_INTEGER, AT(nr_guards) },
	{ "fail_reason", A_TEXT, AT(failure) },
	{ "recompile_reason", A_TEXT, AT(recompile_reason) },
	{ "restart_reasons", A_TEXT, AT(restart_reason) },
	{ "entire_frame_compile_time_s", SECONDS, AT(total_ps) },
	{ "duration_us", MICROS, AT(total_ps) },
	{ "backend_compile_time_s", SECONDS, AT(backend_ps) },
	{ "inductor_compile_time_s", SECONDS, AT(inductor_ps) },
	{ "code_gen_time_s", SECONDS, AT(codegen_ps) },
};

static enum ts_status take_metric(struct reading *reading, const struct metric *metric,
				  struct ts_bytes token, struct ts_torch_compilation *row,
				  struct ts_error *err)
{
	void *where = (char *)row + metric->at;
	int64_t value = metric->type == AN_INTEGER ? integer(token)
			: metric->type == SECONDS  ? torch_trace_seconds(token)
						   : micros(token);

	if (metric->type == A_TEXT)
		return torch_trace_keep_text(reading, token, where, err);
	if (value >= 0)
		*(int64_t *)where = value;
	return TS_OK;
}

static enum ts_status take_metrics(struct reading *reading, struct ts_bytes object,
				   bool is_backward, struct ts_error *err)
{
	struct ts_jtok members = ts_jtok_enter(object);
	struct ts_torch_compilation row = {
		.id = TS_COMPILE_ID_NONE,
		.rank = reading->record.rank,
		.is_backward = is_backward,
		.line = TS_UNKNOWN,
		.total_ps = TS_UNKNOWN,
		.backend_ps = TS_UNKNOWN,
		.inductor_ps = TS_UNKNOWN,
		.codegen_ps = TS_UNKNOWN,
		.nr_ops = TS_UNKNOWN,
		.nr_guards = TS_UNKNOWN,
	};
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_jtok_member(&members)) {
		if (ts_bytes_is(members.key, "compile_id"))
			ts_compile_id_parse(ts_jtok_text(members.value), &row.id);
		if (ts_bytes_is(members.key, "is_forward") && ts_bytes_is(members.value, "false"))
			row.is_backward = true;
		for (size_t i = 0; i < TS_NELEM(metrics) && st == TS_OK; i++)
			if (ts_bytes_is(members.key, metrics[i].name))
				st = take_metric(reading, &metrics[i], members.value, &row, err);
	}
	if (row.total_ps < 0)
		row.total_ps = row.inductor_ps;
	return st ? st : ts_torch_log_compilation(reading->log, &row, err);
}

static enum kind artifact_kind(struct ts_bytes object)
{
	static const struct {
		const char *name;
		enum kind kind;
	} names[] = {
		{ "dynamo_graph_break_reason", KIND_BREAK },
		{ "recompile_reasons", KIND_GUARDS },
		{ "torch_version", KIND_VERSION },
	};
	struct ts_jtok members = ts_jtok_enter(object);

	while (ts_jtok_member(&members))
		for (size_t i = 0; i < TS_NELEM(names); i++)
			if (ts_bytes_is(members.key, "name") &&
			    ts_bytes_is(ts_jtok_text(members.value), names[i].name))
				return names[i].kind;
	return KIND_OTHER;
}

/*
 * What kind of record it is, and of which compilation; .metrics gets the object of a compilation's
 * metrics.
 */
static void torch_trace_read_members(struct ts_bytes object, struct record *record,
				     struct ts_bytes *body)
{
	struct ts_jtok members = ts_jtok_enter(object);
	const struct {
		const char *name;
		int64_t *number;
	} numbers[] = {
		{ "frame_id", &record->id.frame },
		{ "frame_compile_id", &record->id.compile },
		{ "compiled_autograd_id", &record->id.autograd },
		{ "attempt", &record->attempt },
		{ "rank", &record->rank },
	};

	while (ts_jtok_member(&members)) {
		for (size_t i = 0; i < TS_NELEM(numbers); i++)
			if (ts_bytes_is(members.key, numbers[i].name))
				*numbers[i].number = integer(members.value);
		if (ts_bytes_is(members.key, "artifact"))
			record->kind = artifact_kind(members.value);
		else if (ts_bytes_is(members.key, "compilation_metrics"))
			record->kind = KIND_METRICS;
		else if (ts_bytes_is(members.key, "bwd_compilation_metrics"))
			record->kind = KIND_BACKWARD;
		else
			continue;
		*body = members.value;
	}
}

static enum ts_status end_break(struct reading *reading, struct ts_error *err)
{
	struct ts_torch_break row = { .id = reading->record.id,
				      .attempt = reading->record.attempt,
				      .rank = reading->record.rank,
				      .line = TS_UNKNOWN };
	enum ts_status st = ts_torch_trace_break(&reading->profile->arena,
						 ts_buf_bytes(&reading->payload), &row, err);

	return st ? st : ts_torch_log_break(reading->log, &row, err);
}

static enum ts_status end_guards(struct reading *reading, struct ts_error *err)
{
	struct ts_torch_recompile row = { .id = reading->record.id, .rank = reading->record.rank };

	row.reason =
		ts_torch_trace_guards(&reading->profile->arena, ts_buf_bytes(&reading->payload));
	if (!row.reason.p)
		return ts_fail_nomem(err);
	return ts_torch_log_recompile(reading->log, &row, err);
}

static enum ts_status end_version(struct reading *reading, struct ts_error *err)
{
	struct ts_jtok members = ts_jtok_enter(ts_buf_bytes(&reading->payload));
	enum ts_status st = TS_OK;

	while (st == TS_OK && ts_jtok_member(&members))
		if (ts_bytes_is(members.key, "pytorch_version"))
			st = torch_trace_keep_text(reading, members.value, &reading->log->version,
						   err);
	return st;
}

/* The record's payload is whole. */
static enum ts_status end_record(struct reading *reading, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (reading->payload.failed)
		return ts_fail_nomem(err);
	if (reading->record.kind == KIND_BREAK)
		st = end_break(reading, err);
	else if (reading->record.kind == KIND_GUARDS)
		st = end_guards(reading, err);
	else if (reading->record.kind == KIND_VERSION)
		st = end_version(reading, err);
	reading->record.kind = KIND_OTHER;
	ts_buf_clear(&reading->payload);
	return st;
}

static void torch_trace_damaged(struct reading *reading, const uint8_t *p, const char *cause)
{
	if (reading->damage)
		return;
	reading->damage_at = ts_window_at(&reading->text, p);
	reading->damage = cause;
}

static enum ts_status begin_record(struct reading *reading, struct ts_bytes line,
				   struct ts_error *err)
{
	struct ts_bytes object = object_of(line), body = { NULL, 0 };
	struct record *record = &reading->record;
	enum ts_status st = TS_OK;

	*record = (struct record){ KIND_OTHER, TS_COMPILE_ID_NONE, TS_UNKNOWN, TS_UNKNOWN };
	if (object.n == 0)
		return TS_OK; /* somebody else's line */
	if (!ts_jtok_value_end(object.p, object.p + object.n)) {
		torch_trace_damaged(reading, line.p, "a record of the log breaks off");
		return TS_OK;
	}
	torch_trace_read_members(object, record, &body);
	if (record->kind == KIND_METRICS || record->kind == KIND_BACKWARD) {
		st = take_metrics(reading, body, record->kind == KIND_BACKWARD, err);
		record->kind = KIND_OTHER;
	}
	return st;
}

static void take_payload(struct reading *reading, struct ts_bytes line)
{
	size_t room = TS_LIMIT_TORCH_PAYLOAD - TS_MIN(reading->payload.n, TS_LIMIT_TORCH_PAYLOAD);

	if (reading->record.kind == KIND_OTHER || room <= line.n)
		return;
	ts_buf_put(&reading->payload, ts_bytes_cut(line, 1, line.n)); /* behind the tab */
	ts_buf_putc(&reading->payload, '\n');
}

/* Passes over the rest of a line that is longer than a window. */
static enum ts_status skip_line(struct ts_window *text, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	const uint8_t *end = NULL;
	bool more = true;

	while (st == TS_OK && !end && more) {
		end = text->p < text->end ? memchr(text->p, '\n', (size_t)(text->end - text->p))
					  : NULL;
		text->p = end ? end + 1 : text->end;
		if (!end)
			st = ts_window_more(text, &more, err);
	}
	return st;
}

/*
 * The line at the cursor, which moves behind it; .p NULL: the text has ended. A line that is too long
 * is an empty one.
 */
static enum ts_status torch_trace_next_line(struct reading *reading, struct ts_bytes *line,
					    struct ts_error *err)
{
	struct ts_window *text = &reading->text;
	enum ts_status st = TS_OK;
	const uint8_t *end = NULL;
	bool more = true;

	*line = (struct ts_bytes){ NULL, 0 };
	while (st == TS_OK && !end && more) {
		end = text->p < text->end ? memchr(text->p, '\n', (size_t)(text->end - text->p))
					  : NULL;
		if (!end)
			st = ts_window_more(text, &more, err);
	}
	if (st || (!end && text->p == text->end))
		return st;
	if (!end && !text->ended) {
		torch_trace_damaged(reading, text->p,
				    "a line of the log is too long, and was left out");
		*line = TS_LIT("");
		return skip_line(text, err);
	}
	end = end ? end : text->end;
	*line = (struct ts_bytes){ text->p, (size_t)(end - text->p) };
	text->p = end + (end < text->end);
	return TS_OK;
}

static enum ts_status torch_trace_take_line(struct reading *reading, struct ts_bytes line,
					    struct ts_error *err)
{
	enum ts_status st;

	if (line.n > 0 && line.p[0] == '\t') {
		take_payload(reading, line);
		return TS_OK;
	}
	st = end_record(reading, err);
	return st ? st : begin_record(reading, line, err);
}

static enum ts_status torch_trace_read_lines(struct reading *reading, struct ts_error *err)
{
	struct ts_bytes line;
	enum ts_status st;

	do {
		st = torch_trace_next_line(reading, &line, err);
		if (st == TS_OK && line.p)
			st = torch_trace_take_line(reading, line, err);
		ts_window_forget(&reading->text);
	} while (st == TS_OK && line.p);
	if (st == TS_OK)
		st = end_record(reading, err);
	if (st == TS_OK && reading->text.damage.text[0])
		torch_trace_damaged(reading, reading->text.end, "the log's packing is damaged");
	return st;
}

static enum ts_status torch_trace_read(struct ts_profile *profile,
				       const struct ts_read_request *request, struct ts_error *err)
{
	struct reading reading = { .profile = profile,
				   .log = &profile->torch_log,
				   .payload = TS_BUF_INIT };
	enum ts_status st = ts_window_open(&reading.text, request->bytes, request->mapped, err);

	if (st == TS_OK)
		st = torch_trace_read_lines(&reading, err);
	if (st == TS_OK) {
		profile->torch_log.nr_files++;
		if (reading.damage)
			ts_profile_add_damage(profile, request->file, reading.damage_at,
					      reading.damage, true);
	}
	ts_buf_release(&reading.payload);
	ts_window_release(&reading.text);
	return st;
}

static int torch_trace_look(struct ts_bytes head)
{
	return object_of(ts_bytes_cut(head, 0, ts_bytes_find(head, "\n"))).n > 0 ? 80 : 0;
}

static int torch_trace_probe(struct ts_bytes file, struct ts_bytes bytes)
{
	struct ts_buf head = TS_BUF_INIT;
	int sure;

	if (!ts_gzip_probe(bytes))
		return torch_trace_look(ts_bytes_cut(bytes, 0, HEAD_BYTES));
	if (ts_gunzip_head(bytes, &head, HEAD_BYTES, NULL) == TS_NOMEM)
		sure = ts_bytes_has(file, "torch_trace_") ? 60 : 0; /* read() will report it */
	else
		sure = torch_trace_look(ts_buf_bytes(&head));
	ts_buf_release(&head);
	return sure;
}

const struct ts_reader ts_reader_torch_trace = {
	.name = "torch_trace",
	.title = "Log of PyTorch's compiler (TORCH_TRACE)",
	.is_extra = true,
	.is_log = true,
	.probe = torch_trace_probe,
	.read = torch_trace_read,
};
