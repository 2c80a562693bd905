/* SPDX-License-Identifier: MIT */
/* The outermost structure of a file is followed to its end. */
#include "live/whole.h"

#include "base/check.h"
#include "codec/chunks.h"
#include "codec/jtok.h"
#include "codec/pb.h"
#include "io/file.h"
#include "io/input.h"
#include "io/rundir.h"
#include "io/tracefile.h"
#include "io/window.h"

static enum ts_status check_xplane(struct ts_bytes bytes, const char *path, struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	while (ts_pb_next(&pb))
		;
	if (!error.cause)
		return TS_OK;
	return ts_fail(err, TS_FORMAT, "%s%s: byte %zu of %zu: %s", ts_path_tail(&path), path,
		       (size_t)(error.at - bytes.p), bytes.n, error.cause);
}

static enum ts_status check_records(struct ts_bytes bytes, const char *path, struct ts_error *err)
{
	struct ts_chunk chunk = { .end = 0 };
	const char *cause = NULL;

	while (!cause && chunk.end < bytes.n)
		cause = ts_chunk_at(bytes, chunk.end, &chunk);
	if (!cause)
		return TS_OK;
	return ts_fail(err, TS_FORMAT, "%s%s: byte %llu of %zu: %s", ts_path_tail(&path), path,
		       (unsigned long long)chunk.begin, bytes.n, cause);
}

/* The first object or array of a text, which comes piece by piece. */
struct json {
	struct ts_jtok_skip skip;
	bool has_begun, has_ended;
	bool is_other; /* something else stands there: a reader will report it */
};

static void follow(struct json *json, const uint8_t *p, const uint8_t *end)
{
	if (!json->has_begun) {
		p = ts_jtok_space(p, end);
		if (p == end)
			return;
		json->has_begun = true;
		json->is_other = *p != '{' && *p != '[';
	}
	if (!json->is_other && !json->has_ended)
		json->has_ended = ts_jtok_skip_some(&json->skip, &p, end);
}

static enum ts_status whole_read_text(struct ts_window *text, bool is_json, const char *path,
				      struct ts_error *err)
{
	struct json json = { .is_other = !is_json };
	enum ts_status st;
	bool more;

	do {
		if (is_json)
			follow(&json, text->p, text->end);
		text->p = text->end;
		st = ts_window_more(text, &more, err);
	} while (st == TS_OK && more);
	if (st)
		return st;
	if (text->damage.status)
		return ts_fail(err, TS_FORMAT, "%s%s: %s", ts_path_tail(&path), path,
			       text->damage.text);
	if (!json.is_other && !json.has_ended)
		return ts_fail(err, TS_FORMAT, "%s%s: byte %llu: the JSON does not end",
			       ts_path_tail(&path), path,
			       (unsigned long long)ts_window_at(text, text->end));
	return TS_OK;
}

static enum ts_status check_text(const struct ts_input *input, bool is_json, struct ts_error *err)
{
	const char *path = input->path;
	struct ts_window text;
	enum ts_status st;

	if (ts_bytes_ends(ts_bytes_of(path), ".gz") && !ts_gzip_probe(input->bytes))
		return ts_fail(err, TS_FORMAT, "%s%s: it does not begin as a packed file does",
			       ts_path_tail(&path), path);
	st = ts_window_open(&text, input->bytes, input->mapped, err);
	if (st == TS_OK)
		st = whole_read_text(&text, is_json, input->path, err);
	ts_window_release(&text);
	return st;
}

enum ts_status ts_file_is_whole(const char *path, struct ts_error *err)
{
	TS_ASSERT(path != NULL && path[0] != '\0');

	struct ts_bytes name = ts_bytes_of(path);
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open_plain(&input, path, err);

	if (st)
		return st;
	if (ts_bytes_ends(name, ".xplane.pb") || ts_bytes_ends(name, "/xplane.pb"))
		st = check_xplane(input.bytes, path, err);
	else if (ts_bytes_ends(name, TS_RIEGELI_SUFFIX))
		st = check_records(input.bytes, path, err);
	else if (ts_tracefile_is_named(name))
		st = check_text(&input, true, err);
	else if (ts_gzip_probe(input.bytes))
		st = check_text(&input, false, err);
	ts_input_release(&input);
	return st;
}
