/* SPDX-License-Identifier: MIT */
/* Replies of a helper: what they say, and what is not one. */
#include "tests/test.h"
#include "remote/reply.h"

static enum ts_status read_reply(struct ts_remote_reply *reply, const char *line,
				 struct ts_arena *arena)
{
	struct ts_error err = TS_ERROR_INIT;
	enum ts_status st = ts_remote_reply_read(reply, ts_bytes_of(line), arena, &err);

	assert_true(st == TS_OK || err.text[0] != '\0');
	return st;
}

TEST(each_kind_is_read)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_remote_reply reply;

	(void)state;
	assert_int_equal(read_reply(&reply,
				    "{\"id\":1,\"ok\":true,\"version\":1,\"store\":\"gs\","
				    "\"can\":[\"cut\"],\"jobs\":8}\r\n",
				    &arena),
			 TS_OK);
	assert_int_equal(reply.kind, TS_REMOTE_DONE);
	assert_int_equal(reply.jobs, 8);
	assert_int_equal(read_reply(&reply,
				    "{\"id\":2,\"entry\":{\"name\":\"a/\\u00e4.pb\",\"size\":7,"
				    "\"mtime_ns\":-5,\"generation\":\"g\"}}",
				    &arena),
			 TS_OK);
	assert_int_equal(reply.kind, TS_REMOTE_ENTRY);
	assert_string_equal(reply.name, "a/\xc3\xa4.pb");
	assert_int_equal(reply.size, 7);
	assert_int_equal(reply.mtime_ns, -5);
	assert_int_equal(read_reply(&reply, "{\"id\":3,\"done\":9}", &arena), TS_OK);
	assert_int_equal(reply.kind, TS_REMOTE_PROGRESS);
	assert_int_equal(
		read_reply(&reply,
			   "{\"id\":4,\"ok\":false,\"code\":\"changed\",\"text\":\"no\",\"x\":{}}",
			   &arena),
		TS_OK);
	assert_int_equal(reply.kind, TS_REMOTE_FAILED);
	assert_int_equal(reply.code, TS_REMOTE_CHANGED);
	assert_string_equal(reply.text, "no");
	ts_arena_release(&arena);
}

TEST(what_is_not_a_reply_is_refused)
{
	static const char *const lines[] = {
		"",
		"[]",
		"x",
		"{\"id\":1",
		"{\"id\":1}}",
		"{\"id\":1} {}",
		"{\"ok\":true}",
		"{\"id\":0,\"ok\":true}",
		"{\"id\":-1,\"ok\":true}",
		"{\"id\":1.5,\"ok\":true}",
		"{\"id\":\"1\",\"ok\":true}",
		"{\"id\":1,\"ok\":1}",
		"{\"id\":1,\"ok\":false,\"code\":7}",
		"{\"id\":1,\"ok\":true,\"size\":18446744073709551615}",
		"{\"id\":1,\"ok\":true,\"generation\":7}",
		"{\"id\":1,\"ok\":true,\"generation\":\"a\\u0000b\"}",
		"{\"id\":1,\"entry\":{\"size\":1,\"generation\":\"g\"}}",
		"{\"id\":1,\"entry\":{\"name\":\"a\",\"generation\":\"g\"}}",
		"{\"id\":1,\"entry\":{\"name\":\"a\",\"size\":1}}",
		"{\"id\":1,\"entry\":{\"name\":\"a\",\"size\":1,\"generation\":\"\"}}",
		"{\"id\":1,\"entry\":\"a\"}",
	};

	(void)state;
	for (size_t i = 0; i < TS_NELEM(lines); i++) {
		struct ts_arena arena = TS_ARENA_INIT;
		struct ts_remote_reply reply;

		if (read_reply(&reply, lines[i], &arena) != TS_FORMAT)
			fail_msg("%s was taken for a reply", lines[i]);
		ts_arena_release(&arena);
	}
}
