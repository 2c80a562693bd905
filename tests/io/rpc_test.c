/* SPDX-License-Identifier: MIT */
/* One gRPC call against a server that means well, and against all others. */
#include <time.h>

#include "tests/test.h"
#include "io/rpc.h"
#include "tests/live/fake_service.h"

#define METHOD "/tensorflow.ProfilerService/Profile"

#define BUSY_MS 30000 /* what a busy machine may take for anything, and no limit that is tried */

static const struct ts_rpc_limits patient = { 2 * BUSY_MS, 2 * BUSY_MS, 1 << 20 };
static const struct ts_rpc_limits hasty = { 1000, 2000, 1 << 20 };

struct call {
	struct fake_service fake;
	struct ts_rpc *rpc;
	struct ts_rpc_answer answer;
	struct ts_error err;
};

static void begin(struct call *call, enum fake_way way, struct ts_bytes message)
{
	char address[32];

	call->answer = (struct ts_rpc_answer)TS_RPC_ANSWER_INIT;
	call->err = (struct ts_error)TS_ERROR_INIT;
	assert_true(fake_start(&call->fake, 0, message));
	atomic_store(&call->fake.way, way);
	assert_int_equal(ts_rpc_new(&call->rpc, fake_address(&call->fake, address), &call->err),
			 TS_OK);
}

static enum ts_status make(struct call *call, struct ts_bytes message)
{
	return ts_rpc_call(call->rpc, METHOD, message, patient, &call->answer, &call->err);
}

static enum ts_status make_in_haste(struct call *call)
{
	return ts_rpc_call(call->rpc, METHOD, TS_LIT(""), hasty, &call->answer, &call->err);
}

static void end(struct call *call)
{
	ts_rpc_free(call->rpc);
	ts_buf_release(&call->answer.body);
	fake_stop(&call->fake);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

TEST(a_message_goes_out_framed_and_one_comes_back)
{
	static const uint8_t sent[] = { 0, 0, 0, 0, 4, 'a', 's', 'k', '?' };
	struct call call;

	begin(&call, FAKE_ANSWER, TS_LIT("answer"));
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(make(&call, TS_LIT("ask?")), TS_OK);
		assert_true(ts_bytes_is(call.answer.message, "answer"));
		assert_int_equal(call.answer.code, 0);
		assert_int_equal(atomic_load(&call.fake.nr_calls), i);
	}
	assert_int_equal(call.fake.request.n, sizeof(sent));
	assert_memory_equal(call.fake.request.p, sent, sizeof(sent));
	end(&call);
}

TEST(an_answer_of_many_frames_and_an_empty_one_are_whole)
{
	static uint8_t large[700000];
	struct call call;

	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (uint8_t)(i * 7 >> 3);
	begin(&call, FAKE_ANSWER, (struct ts_bytes){ large, sizeof(large) });
	assert_int_equal(make(&call, TS_LIT("")), TS_OK);
	assert_int_equal(call.answer.message.n, sizeof(large));
	assert_memory_equal(call.answer.message.p, large, sizeof(large));
	fake_set_message(&call.fake, TS_LIT(""));
	assert_int_equal(make(&call, TS_LIT("")), TS_OK);
	assert_int_equal(call.answer.message.n, 0);
	end(&call);
}

TEST(a_status_of_the_server_is_told_in_its_words)
{
	struct call call;

	begin(&call, FAKE_STATUS, TS_LIT(""));
	call.fake.status = "13";
	call.fake.words = "Another%20profiling session active%2";
	assert_int_equal(make(&call, TS_LIT("")), TS_IO);
	assert_int_equal(call.answer.fault, TS_RPC_REFUSED);
	assert_int_equal(call.answer.code, 13);
	assert_non_null(strstr(call.err.text, "INTERNAL: Another profiling session active%2"));
	end(&call);
}

struct bad {
	enum fake_way way;
	const char *body;
	size_t n;
	enum ts_rpc_fault fault;
	const char *words;
};

TEST(what_is_no_answer_is_named_and_no_harm_is_done)
{
	static const struct bad rows[] = {
		{ FAKE_RAW, "", 0, TS_RPC_GARBLED, "no message" },
		{ FAKE_RAW, "\0\0\0", 3, TS_RPC_GARBLED, "no message" },
		{ FAKE_RAW, "\1\0\0\0\1x", 6, TS_RPC_GARBLED, "compressed" },
		{ FAKE_RAW, "\0\377\377\377\377x", 6, TS_RPC_GARBLED,
		  "says it has 4294967295 bytes" },
		{ FAKE_RAW, "\0\0\0\0\2x", 6, TS_RPC_GARBLED, "says it has 2 bytes and has 1" },
		{ FAKE_RAW, "\0\0\0\0\0x", 6, TS_RPC_GARBLED, "says it has 0 bytes and has 1" },
		{ FAKE_NO_TRAILERS, "x", 1, TS_RPC_GARBLED, "without gRPC's status" },
		{ FAKE_HTTP_500, "", 0, TS_RPC_GARBLED, "HTTP status 500" },
		{ FAKE_HANG_UP, "", 0, TS_RPC_UNREACHABLE, "" },
		{ FAKE_CUT, "half of it", 10, TS_RPC_UNREACHABLE, "" },
		{ FAKE_GARBAGE, "", 0, TS_RPC_UNREACHABLE, "" },
		{ FAKE_ENDLESS, "", 0, TS_RPC_GARBLED, "larger than 1048576 bytes" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const struct bad *row = &rows[i];
		struct call call;
		enum ts_status st;

		begin(&call, row->way, (struct ts_bytes){ (const uint8_t *)row->body, row->n });
		st = make(&call, TS_LIT("ask"));
		assert_int_not_equal(st, TS_OK);
		assert_int_equal(call.answer.message.n, 0);
		if (row->words[0] && !strstr(call.err.text, row->words))
			fail_msg("row %zu: %s", i, call.err.text);
		if (row->words[0])
			assert_int_equal(call.answer.fault, row->fault);
		/* and the next call is as good as a first one */
		atomic_store(&call.fake.way, FAKE_ANSWER);
		fake_set_message(&call.fake, TS_LIT("well"));
		if (row->way != FAKE_GARBAGE) {
			assert_int_equal(make(&call, TS_LIT("ask")), TS_OK);
			assert_true(ts_bytes_is(call.answer.message, "well"));
		}
		end(&call);
	}
}

TEST(headers_without_end_are_not_read_for_ever)
{
	struct call call;

	begin(&call, FAKE_HEADERS, TS_LIT(""));
	assert_int_not_equal(make(&call, TS_LIT("")), TS_OK);
	end(&call);
}

TEST(a_silent_server_costs_the_limit_and_no_more)
{
	struct call call;
	int64_t start = now_ms();

	begin(&call, FAKE_SILENT, TS_LIT(""));
	assert_int_equal(make_in_haste(&call), TS_IO);
	assert_int_equal(call.answer.fault, TS_RPC_SLOW);
	assert_in_range(now_ms() - start, 1900, BUSY_MS);
	end(&call);
}

static void *cancel_soon(void *arg)
{
	struct timespec soon = { .tv_nsec = 100000000 };

	nanosleep(&soon, NULL);
	ts_rpc_cancel(arg);
	return NULL;
}

TEST(a_call_ends_at_once_when_it_is_cancelled)
{
	struct call call;
	int64_t start = now_ms();
	pthread_t thread;

	begin(&call, FAKE_SILENT, TS_LIT(""));
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, call.rpc), 0);
	assert_int_equal(make(&call, TS_LIT("")), TS_IO);
	assert_int_equal(call.answer.fault, TS_RPC_CANCELLED);
	assert_in_range(now_ms() - start, 50, BUSY_MS);
	pthread_join(thread, NULL);
	assert_int_equal(make(&call, TS_LIT("")), TS_IO); /* and so does every later one */
	assert_int_equal(call.answer.fault, TS_RPC_CANCELLED);
	end(&call);
}

TEST(a_port_without_a_server_is_unreachable)
{
	struct call call;

	begin(&call, FAKE_ANSWER, TS_LIT(""));
	fake_stop(&call.fake);
	assert_int_equal(make(&call, TS_LIT("")), TS_IO);
	assert_int_equal(call.answer.fault, TS_RPC_UNREACHABLE);
	assert_non_null(strstr(call.err.text, "no server answers"));
	ts_rpc_free(call.rpc);
	ts_buf_release(&call.answer.body);
}

TEST(a_server_that_is_another_one_by_the_next_call_is_told)
{
	struct call call;
	uint16_t port;

	begin(&call, FAKE_ANSWER, TS_LIT("answer"));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(make(&call, TS_LIT("")), TS_OK);
		assert_false(call.answer.peer_left);
	}
	port = call.fake.port;
	fake_stop(&call.fake);
	assert_true(fake_start(&call.fake, port, TS_LIT("answer")));
	assert_int_equal(make(&call, TS_LIT("")), TS_OK);
	assert_true(call.answer.peer_left);
	assert_int_equal(make(&call, TS_LIT("")), TS_OK);
	assert_false(call.answer.peer_left);
	end(&call);
}

TEST(a_server_that_refuses_or_is_late_is_still_the_same)
{
	struct call call;

	begin(&call, FAKE_ANSWER, TS_LIT("answer"));
	assert_int_equal(make(&call, TS_LIT("")), TS_OK);
	call.fake.status = "14";
	call.fake.words = "busy";
	atomic_store(&call.fake.way, FAKE_STATUS);
	assert_int_equal(make(&call, TS_LIT("")), TS_IO);
	assert_false(call.answer.peer_left);
	atomic_store(&call.fake.way, FAKE_SILENT);
	assert_int_equal(make_in_haste(&call), TS_IO);
	assert_int_equal(call.answer.fault, TS_RPC_SLOW);
	assert_false(call.answer.peer_left);
	atomic_store(&call.fake.way, FAKE_ANSWER);
	assert_int_equal(make(&call, TS_LIT("")), TS_OK);
	assert_false(call.answer.peer_left);
	end(&call);
}

TEST(an_address_is_a_host_and_a_port_alone)
{
	static const char *const good[] = { "localhost:9012", "10.0.0.1:1", "[::1]:65535" };
	static const char *const bad[] = { "",
					   "localhost",
					   ":9012",
					   "localhost:",
					   "localhost:0",
					   "localhost:65536",
					   "localhost:x",
					   "a/b:1",
					   "u@host:1",
					   "::1:9012",
					   "[::1]",
					   "host:1/x",
					   "ho st:1",
					   "a?b:1",
					   "http://h:1",
					   "h%00:1" };

	for (size_t i = 0; i < TS_NELEM(good); i++) {
		struct ts_rpc *rpc;

		assert_int_equal(ts_rpc_new(&rpc, good[i], NULL), TS_OK);
		ts_rpc_free(rpc);
	}
	for (size_t i = 0; i < TS_NELEM(bad); i++) {
		struct ts_rpc *rpc;

		if (ts_rpc_new(&rpc, bad[i], NULL) != TS_USAGE)
			fail_msg("%s was taken", bad[i]);
		assert_null(rpc);
	}
}
