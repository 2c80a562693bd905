/* SPDX-License-Identifier: MIT */
/*
 * What stands around an input: gzip, a frame, a first line, several inputs one behind the other. The
 * wrapping is taken off, the inside changed by its own mutator, and the wrapping put on again. Where
 * it is not there, the inside's mutator gets all.
 */
#include "io/gzip.h"
#include "tests/fuzz/mutate/mutator.h"

#define MAX_TEXT  (1 << 20) /* unpacked */
#define MAX_PARTS 64

static bool apply_inner(const struct mutator *self, const struct mutation *mutation,
			struct ts_bytes in, struct ts_bytes other, struct ts_buf *out)
{
	struct mutation inside = *mutation;

	inside.in = in;
	inside.other = other;
	inside.out = out;
	return self->inner->apply(self->inner, &inside);
}

static bool bytes_apply(const struct mutator *self, const struct mutation *mutation)
{
	fuzz_bytes(mutation->out, mutation->in);
	return true;
}

/* What is packed in BYTES, or BYTES themselves; TEXT owns what was unpacked. */
static struct ts_bytes unpacked(struct ts_bytes bytes, struct ts_buf *text)
{
	if (!ts_gzip_probe(bytes))
		return bytes;
	ts_gunzip_head(bytes, text, MAX_TEXT, NULL);
	return ts_buf_bytes(text);
}

static bool gzip_apply(const struct mutator *self, const struct mutation *mutation)
{
	struct ts_buf in = TS_BUF_INIT, other = TS_BUF_INIT, changed = TS_BUF_INIT;
	struct ts_gzip gz = TS_GZIP_INIT;
	bool ok = apply_inner(self, mutation, unpacked(mutation->in, &in),
			      unpacked(mutation->other, &other), &changed);

	if (ok && !ts_gzip_probe(mutation->in))
		ts_buf_put(mutation->out, ts_buf_bytes(&changed));
	else if (ok)
		ok = ts_gzip_init(&gz, NULL) == TS_OK &&
		     ts_gzip_member(&gz, mutation->out, ts_buf_bytes(&changed), NULL, NULL) ==
			     TS_OK;
	ts_gzip_release(&gz);
	ts_buf_release(&in);
	ts_buf_release(&other);
	ts_buf_release(&changed);
	return ok;
}

/* gRPC's frame: a byte that is 0 and the length of what follows, four bytes, high ones first. */
#define FRAME 5

static bool frame_apply(const struct mutator *self, const struct mutation *mutation)
{
	struct ts_buf changed = TS_BUF_INIT;
	uint8_t head[FRAME] = { 0 };
	bool ok = mutation->in.n > FRAME &&
		  apply_inner(self, mutation, ts_bytes_cut(mutation->in, FRAME, mutation->in.n),
			      ts_bytes_cut(mutation->other, FRAME, mutation->other.n), &changed);

	for (size_t i = 1; i < FRAME; i++)
		head[i] = (uint8_t)(changed.n >> 8 * (FRAME - 1 - i));
	if (ok) {
		ts_buf_put(mutation->out, (struct ts_bytes){ head, FRAME });
		ts_buf_put(mutation->out, ts_buf_bytes(&changed));
	}
	ts_buf_release(&changed);
	return ok;
}

static size_t line_end(struct ts_bytes bytes)
{
	const uint8_t *end = bytes.n ? memchr(bytes.p, '\n', bytes.n) : NULL;

	return end ? (size_t)(end - bytes.p) + 1 : bytes.n;
}

static bool titled_apply(const struct mutator *self, const struct mutation *mutation)
{
	size_t title = line_end(mutation->in), other = line_end(mutation->other);

	if (title == mutation->in.n)
		return false;
	ts_buf_put(mutation->out, ts_bytes_cut(mutation->in, 0, title));
	return apply_inner(self, mutation, ts_bytes_cut(mutation->in, title, mutation->in.n),
			   ts_bytes_cut(mutation->other, other, mutation->other.n), mutation->out);
}

struct parts {
	struct ts_bytes bytes[MAX_PARTS];
	size_t nr;
};

/* The last part is all that is left. */
static void split(struct parts *parts, struct ts_bytes all, uint8_t between)
{
	parts->nr = 0;
	for (;;) {
		const uint8_t *end = all.n ? memchr(all.p, between, all.n) : NULL;
		size_t n = end && parts->nr + 1 < MAX_PARTS ? (size_t)(end - all.p) : all.n;

		parts->bytes[parts->nr++] = ts_bytes_cut(all, 0, n);
		if (n == all.n)
			return;
		all = ts_bytes_cut(all, n + 1, all.n);
	}
}

/* A part changes; it may go, come twice or take a place of another one. */
static bool change_part(const struct mutator *self, const struct mutation *mutation,
			struct parts *parts, struct ts_buf *changed)
{
	size_t at = (size_t)rng_below(mutation->rng, parts->nr);
	size_t with = (size_t)rng_below(mutation->rng, parts->nr);
	struct ts_bytes old = parts->bytes[at];

	switch (rng_below(mutation->rng, 8)) {
	case 0:
		parts->bytes[at] = parts->bytes[with];
		parts->bytes[with] = old;
		return parts->nr > 1;
	case 1: parts->bytes[with] = old; return parts->nr > 1;
	case 2:
		if (parts->nr < MAX_PARTS)
			parts->bytes[parts->nr++] = old;
		return true;
	case 3:	 parts->nr -= parts->nr > 1; return true;
	default: break;
	}
	if (!apply_inner(self, mutation, old, mutation->other, changed))
		return false;
	parts->bytes[at] = ts_buf_bytes(changed);
	return true;
}

static bool parts_apply(const struct mutator *self, const struct mutation *mutation)
{
	struct ts_buf changed = TS_BUF_INIT;
	struct parts parts;
	bool ok;

	split(&parts, mutation->in, self->between);
	ok = change_part(self, mutation, &parts, &changed);
	for (size_t i = 0; ok && i < parts.nr; i++) {
		if (i > 0)
			ts_buf_putc(mutation->out, (char)self->between);
		ts_buf_put(mutation->out, parts.bytes[i]);
	}
	ts_buf_release(&changed);
	return ok;
}

/* A line of a log: what stands in front of its JSON stays. */
static bool record_apply(const struct mutator *self, const struct mutation *mutation)
{
	size_t at = ts_bytes_find(mutation->in, "{");

	if (at == mutation->in.n) {
		fuzz_bytes(mutation->out, mutation->in);
		return true;
	}
	ts_buf_put(mutation->out, ts_bytes_cut(mutation->in, 0, at));
	return apply_inner(self, mutation, ts_bytes_cut(mutation->in, at, mutation->in.n),
			   (struct ts_bytes){ NULL, 0 }, mutation->out);
}

/* A trace, or what else it may be. */
static bool profile_apply(const struct mutator *self, const struct mutation *mutation)
{
	const struct mutator *chosen = &mutator_proto;

	if (ts_gzip_probe(mutation->in) || ts_bytes_starts(mutation->in, "{") ||
	    ts_bytes_starts(mutation->in, "["))
		chosen = &mutator_chrome;
	return chosen->apply(chosen, mutation);
}

static const struct mutator record = { "record", record_apply, &mutator_json, 0 };
static const struct mutator lines = { "lines", parts_apply, &record, '\n' };

const struct mutator mutator_bytes = { "bytes", bytes_apply, NULL, 0 };
const struct mutator mutator_gzip = { "gzip", gzip_apply, &mutator_bytes, 0 };
const struct mutator mutator_pprof = { "pprof", gzip_apply, &mutator_proto, 0 };
const struct mutator mutator_chrome = { "chrome", gzip_apply, &mutator_json, 0 };
const struct mutator mutator_archive = { "archive", gzip_apply, &mutator_tar, 0 };
const struct mutator mutator_log = { "log", gzip_apply, &lines, 0 };
const struct mutator mutator_ranks = { "ranks", parts_apply, &mutator_chrome, 0x1e };
const struct mutator mutator_answer = { "answer", frame_apply, &mutator_proto, 0 };
const struct mutator mutator_titled = { "titled", titled_apply, &mutator_proto, 0 };
const struct mutator mutator_profile = { "profile", profile_apply, NULL, 0 };
