/* SPDX-License-Identifier: MIT */
/* A reply's members are a table: its name, which kind of value it has, and where that goes. */
#include "remote/reply.h"

#include "base/check.h"
#include "codec/jtok.h"

enum member_kind { A_COUNT, A_TIME, A_FLAG, A_TEXT };

struct member {
	const char *name;
	enum member_kind kind;
	size_t offset;
};

#define AT(field) offsetof(struct ts_remote_reply, field)
static const struct member members[] = {
	{ "id", A_COUNT, AT(id) },
	{ "name", A_TEXT, AT(name) },
	{ "is_folder", A_FLAG, AT(is_folder) },
	{ "size", A_COUNT, AT(size) },
	{ "mtime_ns", A_TIME, AT(mtime_ns) },
	{ "generation", A_TEXT, AT(generation) },
	{ "done", A_COUNT, AT(done) },
	{ "uploaded", A_COUNT, AT(uploaded) },
	{ "version", A_COUNT, AT(version) },
	{ "jobs", A_COUNT, AT(jobs) },
	{ "how", A_TEXT, AT(how) },
	{ "text", A_TEXT, AT(text) },
};

static const struct {
	const char *name;
	enum ts_remote_code code;
} codes[] = {
	{ "io", TS_REMOTE_IO },
	{ "not_found", TS_REMOTE_NOT_FOUND },
	{ "changed", TS_REMOTE_CHANGED },
	{ "denied", TS_REMOTE_DENIED },
	{ "exists", TS_REMOTE_EXISTS },
	{ "busy", TS_REMOTE_BUSY },
	{ "no_space", TS_REMOTE_NO_SPACE },
	{ "unsupported", TS_REMOTE_UNSUPPORTED },
};

/* A text without a NUL inside. */
static enum ts_status reply_read_text(const char **text, struct ts_bytes token,
				      struct ts_arena *arena, struct ts_error *err)
{
	struct ts_bytes bytes;

	if (token.n < 2 || token.p[0] != '"' || token.p[token.n - 1] != '"')
		return TS_FORMAT;
	bytes = ts_jtok_unescape(arena, ts_jtok_text(token));
	bytes = bytes.p ? ts_arena_copy(arena, bytes) : bytes;
	if (arena->failed)
		return ts_fail_nomem(err);
	*text = (const char *)bytes.p;
	return bytes.p && strlen(*text) == bytes.n ? TS_OK : TS_FORMAT;
}

static enum ts_status reply_read_flag(bool *flag, struct ts_bytes token)
{
	*flag = ts_bytes_is(token, "true");
	return *flag || ts_bytes_is(token, "false") ? TS_OK : TS_FORMAT;
}

static enum ts_status reply_read_count(uint64_t *count, struct ts_bytes token)
{
	return ts_bytes_u64(token, count) && *count <= INT64_MAX ? TS_OK : TS_FORMAT;
}

static enum ts_status read_value(struct ts_remote_reply *reply, const struct member *member,
				 struct ts_bytes token, struct ts_arena *arena,
				 struct ts_error *err)
{
	void *field = (char *)reply + member->offset;

	switch (member->kind) {
	case A_COUNT: return reply_read_count(field, token);
	case A_TIME:  return ts_bytes_i64(token, field) ? TS_OK : TS_FORMAT;
	case A_FLAG:  return reply_read_flag(field, token);
	default:      return reply_read_text(field, token, arena, err);
	}
}

static enum ts_status read_code(struct ts_remote_reply *reply, struct ts_bytes token)
{
	struct ts_bytes name = ts_jtok_text(token);

	for (size_t i = 0; i < TS_NELEM(codes); i++)
		if (ts_bytes_is(name, codes[i].name))
			reply->code = codes[i].code;
	return token.n > 0 && token.p[0] == '"' ? TS_OK : TS_FORMAT;
}

/* An object with nothing behind it. */
static bool reply_is_object(struct ts_bytes text)
{
	const uint8_t *end = text.p + text.n;

	return text.n >= 2 && text.p[0] == '{' && end[-1] == '}' &&
	       ts_jtok_value_end(text.p, end) == end;
}

static enum ts_status reply_read_members(struct ts_remote_reply *reply, struct ts_bytes object,
					 struct ts_arena *arena, unsigned depth,
					 struct ts_error *err);

static enum ts_status reply_read_member(struct ts_remote_reply *reply, struct ts_bytes key,
					struct ts_bytes token, struct ts_arena *arena,
					unsigned depth, struct ts_error *err)
{
	bool ok = false;

	if (ts_bytes_is(key, "ok")) {
		enum ts_status st = reply_read_flag(&ok, token);

		reply->kind = ok ? TS_REMOTE_DONE : TS_REMOTE_FAILED;
		return st;
	}
	if (ts_bytes_is(key, "entry") && depth == 0) {
		reply->kind = TS_REMOTE_ENTRY;
		return reply_read_members(reply, token, arena, depth + 1, err);
	}
	if (ts_bytes_is(key, "code"))
		return read_code(reply, token);
	reply->has_size |= ts_bytes_is(key, "size");
	for (size_t i = 0; i < TS_NELEM(members); i++)
		if (ts_bytes_is(key, members[i].name))
			return read_value(reply, &members[i], token, arena, err);
	return TS_OK;
}

/* TS_FORMAT tells no story: the line is shown. */
static enum ts_status reply_read_members(struct ts_remote_reply *reply, struct ts_bytes object,
					 struct ts_arena *arena, unsigned depth,
					 struct ts_error *err)
{
	struct ts_jtok tokens = ts_jtok_enter(object);
	enum ts_status st = reply_is_object(object) ? TS_OK : TS_FORMAT;

	while (st == TS_OK && ts_jtok_member(&tokens))
		st = reply_read_member(reply, tokens.key, tokens.value, arena, depth, err);
	return st;
}

static bool reply_is_complete(const struct ts_remote_reply *reply)
{
	if (reply->generation && strlen(reply->generation) > TS_REMOTE_GENERATION)
		return false;
	return reply->id > 0 &&
	       (reply->kind != TS_REMOTE_ENTRY ||
		(reply->name && (reply->is_folder ||
				 (reply->has_size && reply->generation && reply->generation[0]))));
}

enum ts_status ts_remote_reply_read(struct ts_remote_reply *reply, struct ts_bytes line,
				    struct ts_arena *arena, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(reply && arena);
	*reply = (struct ts_remote_reply){ .kind = TS_REMOTE_PROGRESS };
	while (line.n > 0 && line.p[line.n - 1] <= ' ')
		line.n--;
	st = reply_read_members(reply, line, arena, 0, err);
	if (st == TS_NOMEM || (st == TS_OK && reply_is_complete(reply)))
		return st;
	return ts_fail(err, TS_FORMAT, "it wrote what is not a reply: %.*s",
		       (int)TS_MIN(line.n, 80), line.p ? (const char *)line.p : "");
}
