/* SPDX-License-Identifier: MIT */
/*
 * Compilations and caches by host events drawn by hand. What jax itself says of real profiles is held
 * against the report by tests/truth/compilations.py.
 */
#include "tests/analysis/given.h"

/* Names of a host's events. */
enum {
	CALL = 1,
	INNER,
	EXECUTE,
	TRACE,
	LOWER,
	REQUEST,
	BACKEND,
	PASSES,
	CODEGEN,
	PIPELINE,
	GET,
	READ,
	WRITE,
	FILE_GET,
	FILE_PUT,
	OTHER_CALL,
	SAME_CALL,
	TORCH
};

static const char *const names[] = {
	[CALL] = "PjitFunction(f)",
	[INNER] = "PjitFunction(inner)",
	[EXECUTE] = "TfrtTpuLoadedExecutable::Execute",
	[TRACE] = "trace_to_jaxpr_dynamic",
	[LOWER] = "lower_sharding_computation",
	[REQUEST] = "backend_compile_and_load",
	[BACKEND] = "PjRtCpuClient::Compile",
	[PASSES] = "XLA::TPU run hlo passes",
	[CODEGEN] = "XLA::TPU run backend",
	[PIPELINE] = "simplification (jit_f)",
	[GET] = "$compiler.py:387 compile_or_get_cached",
	[READ] = "$compilation_cache.py:324 get_executable_and_time",
	[WRITE] = "$compilation_cache.py:346 put_executable_and_time",
	[FILE_GET] = "$lru_cache.py:84 get",
	[FILE_PUT] = "$lru_cache.py:121 put",
	[OTHER_CALL] = "PjitFunction(g)",
	[SAME_CALL] = "PjitFunction(jit(f))",
	[TORCH] = "PjRtComputationClient::Compile",
};

struct event {
	int64_t name, start_us, dur_us;
};

#define MAX_EVENTS 16

static void put_thread(struct xp *xp, const char *name, const struct event *events)
{
	xp_line(xp, name, 0);
	for (size_t i = 0; i < MAX_EVENTS && events[i].name; i++) {
		size_t mark = xp_begin_event(xp, events[i].name, events[i].start_us * US,
					     events[i].dur_us * US);

		if (events[i].name == PIPELINE)
			xp_stat_text(xp, XP_EVENT_STATS, "module", "jit_f");
		ts_pbw_end(xp->out, mark);
	}
	xp_line_end(xp);
}

/* A host with up to three threads. */
static struct given *given_threads(const struct event (*threads)[MAX_EVENTS], size_t nr)
{
	static const char *const lines[] = { "main", "worker", "worker2" };
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");

	for (size_t i = 1; i < TS_NELEM(names); i++)
		xp_name(&xp, (int64_t)i, names[i]);
	for (size_t i = 0; i < nr; i++)
		put_thread(&xp, lines[i], threads[i]);
	xp_plane_end(&xp);
	return given;
}

struct counts { /* -1: unknown */
	int64_t compiled, compile_us, hits, misses, restored, persistent_misses;
};

static void assert_counts(struct given *given, struct counts expected)
{
	const struct {
		const char *field;
		int64_t value;
	} rows[] = {
		{ "compilation_count", expected.compiled },
		{ "compilation_ps", expected.compile_us < 0 ? -1 : expected.compile_us * US },
		{ "cache_hits", expected.hits },
		{ "cache_misses", expected.misses },
		{ "persistent_cache_hits", expected.restored },
		{ "persistent_cache_misses", expected.persistent_misses },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		int64_t is = ts_value_int(field(given, "cache", rows[i].field));

		if (is != rows[i].value)
			fail_msg("%s is %lld, not %lld", rows[i].field, (long long)is,
				 (long long)rows[i].value);
	}
}

static struct ts_value of(struct given *given, size_t row, const char *column)
{
	return cell(given, "cache", "compilations", row, column);
}

struct count_row {
	const char *name;
	struct event threads[2][MAX_EVENTS];
	struct counts expected;
};

static const struct count_row count_rows[] = {
	{ "a call is written twice, and found its executable",
	  { { { CALL, 0, 10 }, { CALL, 1, 8 }, { EXECUTE, 2, 3 } } },
	  { 0, 0, 1, 0, -1, -1 } },
	{ "two calls, one after the other",
	  { { { CALL, 0, 10 }, { EXECUTE, 2, 3 }, { CALL, 10, 10 }, { EXECUTE, 12, 3 } } },
	  { 0, 0, 2, 0, -1, -1 } },
	{ "a call that is traced into another runs nothing",
	  { { { CALL, 0, 90 },
	      { TRACE, 1, 20 },
	      { INNER, 2, 5 },
	      { LOWER, 30, 10 },
	      { REQUEST, 45, 30 },
	      { EXECUTE, 80, 5 } } },
	  { 1, 30, 0, 1, -1, -1 } },
	{ "a constant computed while another is traced is a call of its own",
	  { { { CALL, 0, 90 },
	      { TRACE, 1, 30 },
	      { INNER, 2, 25 },
	      { LOWER, 3, 2 },
	      { REQUEST, 6, 10 },
	      { EXECUTE, 20, 2 },
	      { LOWER, 35, 5 },
	      { REQUEST, 45, 30 },
	      { EXECUTE, 80, 5 } } },
	  { 2, 40, 0, 2, -1, -1 } },
	{ "compiled ahead of time, without a call",
	  { { { LOWER, 0, 5 }, { REQUEST, 10, 30 } } },
	  { 1, 30, -1, -1, -1, -1 } },
	{ "the compiler inside the request is the same compilation",
	  { { { TORCH, 0, 50 }, { BACKEND, 5, 40 }, { PIPELINE, 6, 10 } } },
	  { 1, 50, -1, -1, -1, -1 } },
	{ "the compiler works on another thread",
	  { { { CALL, 0, 90 }, { REQUEST, 10, 50 }, { EXECUTE, 70, 5 } },
	    { { BACKEND, 12, 40 }, { PIPELINE, 13, 10 }, { CODEGEN, 25, 20 } } },
	  { 1, 50, 0, 1, -1, -1 } },
	{ "a compiler that nobody here asked is a compilation",
	  { { { CALL, 0, 90 }, { REQUEST, 10, 20 }, { EXECUTE, 70, 5 } }, { { BACKEND, 40, 40 } } },
	  { 2, 60, 0, 1, -1, -1 } },
	{ "two compilers for one request: the second is a compilation of its own",
	  { { { REQUEST, 10, 80 } }, { { BACKEND, 12, 30 }, { BACKEND, 50, 30 } } },
	  { 2, 110, -1, -1, -1, -1 } },
	{ "lowered and run without a compilation: it was restored",
	  { { { CALL, 0, 90 }, { LOWER, 10, 20 }, { EXECUTE, 50, 5 } } },
	  { 0, 0, 0, 1, 1, 0 } },
	{ "lowered alone is nothing", { { { LOWER, 10, 20 } } }, { 0, 0, -1, -1, -1, -1 } },
	{ "the tracer shows that it was restored",
	  { { { CALL, 0, 90 },
	      { LOWER, 10, 20 },
	      { GET, 31, 10 },
	      { READ, 33, 5 },
	      { EXECUTE, 50, 5 } } },
	  { 0, 0, 0, 1, 1, 0 } },
	{ "looked up, not found, compiled and kept",
	  { { { CALL, 0, 90 },
	      { LOWER, 10, 10 },
	      { GET, 21, 40 },
	      { READ, 22, 2 },
	      { FILE_GET, 23, 1 },
	      { REQUEST, 25, 30 },
	      { WRITE, 56, 3 },
	      { FILE_PUT, 57, 1 },
	      { EXECUTE, 70, 5 } } },
	  { 1, 30, 0, 1, 0, 1 } },
	{ "looked up, not found, and compiled too fast to be kept",
	  { { { CALL, 0, 90 },
	      { LOWER, 10, 10 },
	      { GET, 21, 40 },
	      { READ, 22, 2 },
	      { FILE_GET, 23, 1 },
	      { REQUEST, 25, 30 },
	      { EXECUTE, 70, 5 } } },
	  { 1, 30, 0, 1, 0, 1 } },
	{ "JAX offers what it compiled to a cache that is off",
	  { { { FILE_GET, 1, 2 }, /* of another cache */
	      { CALL, 5, 85 },
	      { LOWER, 10, 10 },
	      { GET, 21, 40 },
	      { READ, 22, 1 },
	      { REQUEST, 25, 30 },
	      { WRITE, 56, 3 },
	      { EXECUTE, 70, 5 } } },
	  { 1, 30, 0, 1, -1, -1 } },
	{ "a look-up without a cache has no hits and no misses",
	  { { { CALL, 0, 90 },
	      { LOWER, 10, 10 },
	      { GET, 21, 40 },
	      { READ, 22, 1 },
	      { REQUEST, 25, 30 },
	      { EXECUTE, 70, 5 } } },
	  { 1, 30, 0, 1, -1, -1 } },
	{ "no host event at all: unknown", { { { 0, 0, 0 } } }, { -1, -1, -1, -1, -1, -1 } },
};

TEST(what_threads_did_is_counted_once)
{
	for (size_t i = 0; i < TS_NELEM(count_rows); i++) {
		struct given *given = given_threads(count_rows[i].threads, 2);

		print_message("\t%s\n", count_rows[i].name);
		analyse(given, 0);
		assert_counts(given, count_rows[i].expected);
		done(given);
	}
}

/* Of a profile without the tracer's frames nothing is known of it. */
TEST(a_persistent_cache_is_on_off_or_unknown)
{
	static const struct {
		struct event events[MAX_EVENTS];
		const char *expected; /* NULL: unknown */
	} rows[] = {
		{ { { READ, 22, 1 }, { REQUEST, 25, 30 }, { WRITE, 56, 3 } }, "off" },
		{ { { READ, 22, 3 }, { FILE_GET, 23, 1 }, { REQUEST, 26, 30 } }, "on" },
		{ { { REQUEST, 26, 30 }, { WRITE, 60, 3 }, { FILE_PUT, 61, 1 } }, "on" },
		{ { { REQUEST, 26, 30 } }, NULL },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given *given = given_threads(&rows[i].events, 1);
		struct ts_value is;

		analyse(given, 0);
		is = field(given, "cache", "persistent_cache");
		if (rows[i].expected)
			assert_text(is, rows[i].expected);
		else
			assert_int_equal(is.type, TS_VALUE_NULL);
		done(given);
	}
}

TEST(a_compilation_has_its_phases_its_function_and_its_module)
{
	static const struct event threads[][MAX_EVENTS] = {
		{ { CALL, 0, 100 },
		  { TRACE, 1, 9 },
		  { LOWER, 15, 5 },
		  { REQUEST, 22, 70 },
		  { EXECUTE, 95, 2 } },
		{ { BACKEND, 24, 60 },
		  { PIPELINE, 25, 10 },
		  { PIPELINE, 26, 4 },
		  { PIPELINE, 36, 3 },
		  { CODEGEN, 40, 30 } },
	};
	struct given *given = given_threads(threads, 2);

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "cache", "compilations"), 1);
	assert_text(of(given, 0, "module"), "jit_f");
	assert_text(of(given, 0, "function"), "f");
	assert_text(of(given, 0, "thread"), "main");
	assert_text(of(given, 0, "outcome"), "compiled");
	assert_int_equal(ts_value_int(of(given, 0, "start_ps")), 22 * US);
	assert_int_equal(ts_value_int(of(given, 0, "duration_ps")), 70 * US);
	assert_int_equal(ts_value_int(of(given, 0, "trace_ps")), 9 * US);
	assert_int_equal(ts_value_int(of(given, 0, "lower_ps")), 5 * US);
	assert_int_equal(ts_value_int(of(given, 0, "passes_ps")), 13 * US); /* outermost only */
	assert_int_equal(ts_value_int(of(given, 0, "codegen_ps")), 30 * US);
	assert_int_equal(ts_value_int(of(given, 0, "wait_ps")), -1); /* there is no device */
	done(given);
}

TEST(calls_of_both_of_jaxs_names_are_of_one_function)
{
	static const struct event threads[][MAX_EVENTS] = {
		{ { CALL, 0, 40 },
		  { REQUEST, 5, 20 },
		  { EXECUTE, 30, 2 },
		  { SAME_CALL, 50, 10 },
		  { EXECUTE, 52, 2 },
		  { OTHER_CALL, 70, 10 },
		  { EXECUTE, 72, 2 } },
	};
	struct given *given = given_threads(threads, 1);

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "cache", "functions"), 2);
	assert_text(cell(given, "cache", "functions", 0, "function"), "f");
	assert_int_equal(ts_value_int(cell(given, "cache", "functions", 0, "calls")), 2);
	assert_int_equal(ts_value_int(cell(given, "cache", "functions", 0, "hits")), 1);
	done(given);
}

/* Of two requests at once, each gets the compiler that works on a module of its name. */
TEST(work_goes_to_the_request_of_its_name)
{
	static const struct event threads[][MAX_EVENTS] = {
		{ { CALL, 0, 100 }, { REQUEST, 10, 80 }, { EXECUTE, 95, 2 } },
		{ { OTHER_CALL, 0, 90 }, { REQUEST, 12, 70 }, { EXECUTE, 85, 2 } },
		{ { BACKEND, 20, 40 }, { PIPELINE, 25, 10 } },
	};
	struct given *given = given_threads(threads, 3);

	analyse(given, 0);
	assert_int_equal(nr_rows(given, "cache", "compilations"), 2);
	assert_int_equal(ts_value_int(of(given, 0, "passes_ps")), 10 * US);
	assert_text(of(given, 0, "function"), "f");
	assert_int_equal(ts_value_int(of(given, 1, "passes_ps")), -1);
	assert_text(of(given, 1, "module"), "jit_g"); /* by the name of the call */
	done(given);
}

/*
 *		0    10   20   30   40   50   60
 *	host	     compile-------  compile-
 *	core	op---          op---          op
 */
TEST(the_wait_for_each_compilation_is_the_gap_in_it)
{
	static const struct event threads[][MAX_EVENTS] = {
		{ { CALL, 8, 22 },
		  { REQUEST, 10, 15 },
		  { EXECUTE, 26, 1 },
		  { CALL, 35, 20 },
		  { REQUEST, 40, 10 },
		  { EXECUTE, 52, 1 } },
	};
	static const int64_t ops[][2] = { { 0, 12 }, { 27, 15 }, { 55, 5 } };
	struct given *given = given_threads(threads, 1);
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "fusion.1", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	for (size_t i = 0; i < TS_NELEM(ops); i++)
		given_event(&xp, 1, ops[i][0], ops[i][1]);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 1000);
	assert_us(given, "cache", "wait_ps", 21);
	assert_us(given, "cache", "wait_attributed_ps", 21);
	assert_us(given, "time", "buckets.compilation_ps", 21);
	assert_int_equal(ts_value_int(of(given, 0, "wait_ps")), 13 * US); /* 12 to 25 */
	assert_int_equal(ts_value_int(of(given, 1, "wait_ps")), 8 * US);  /* 42 to 50 */
	assert_int_equal(view(given, "cache")->nr_tracks, 1);
	assert_int_equal(view(given, "cache")->tracks[0].nr_slices, 2);
	done(given);
}

/* A program is made by the compilation of its name that it first ran behind. */
TEST(a_compilation_finds_its_program)
{
	static const struct event threads[][MAX_EVENTS] = {
		{ { CALL, 10, 20 },
		  { REQUEST, 12, 10 },
		  { EXECUTE, 24, 2 },
		  { CALL, 40, 20 },
		  { REQUEST, 42, 12 },
		  { EXECUTE, 56, 2 } },
	};
	struct given *given = given_threads(threads, 1);
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_name(&xp, 1, "jit_f(11)");
	xp_name(&xp, 2, "jit_f(22)");
	xp_name(&xp, 3, "jit_f(33)");
	xp_line(&xp, "XLA Modules", 0);
	given_event(&xp, 1, 0, 5); /* compiled before the profile */
	given_event(&xp, 3, 25, 5);
	given_event(&xp, 1, 31, 5);
	given_event(&xp, 2, 57, 5);
	given_event(&xp, 2, 63, 5);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_int_equal(of(given, 0, "program_id").as.u, 22); /* the longer one stands first */
	assert_int_equal(of(given, 1, "program_id").as.u, 33);
	assert_int_equal(nr_rows(given, "cache", "families"), 1);
	assert_text(cell(given, "cache", "families", 0, "name"), "jit_f");
	assert_int_equal(ts_value_int(cell(given, "cache", "families", 0, "variants")), 3);
	assert_int_equal(ts_value_int(cell(given, "cache", "families", 0, "compilations")), 2);
	assert_int_equal(ts_value_int(cell(given, "cache", "families", 0, "executions")), 5);
	done(given);
}

struct again_row {
	const char *name;
	struct event events[MAX_EVENTS];
	int64_t runs[4][2]; /* on the device: program, start in us */
	int64_t recompilations;
	const char *cause; /* of the compilation that began last */
};

static const struct again_row again_rows[] = {
	{ "the first of its function",
	  { { CALL, 10, 30 }, { REQUEST, 12, 10 }, { EXECUTE, 30, 2 } },
	  { { 1, 35 } },
	  0,
	  "first" },
	{ "the second of its function",
	  { { CALL, 10, 30 },
	    { REQUEST, 12, 10 },
	    { EXECUTE, 30, 2 },
	    { CALL, 50, 30 },
	    { REQUEST, 52, 10 },
	    { EXECUTE, 70, 2 } },
	  { { 1, 35 }, { 2, 75 } },
	  1,
	  "again" },
	{ "a program of the function ran before its first compilation here",
	  { { CALL, 10, 30 }, { REQUEST, 12, 10 }, { EXECUTE, 30, 2 } },
	  { { 1, 5 }, { 2, 35 } },
	  1,
	  "again" },
	{ "another program of it runs only later, but was not made here",
	  { { CALL, 10, 30 }, { REQUEST, 12, 10 }, { EXECUTE, 30, 2 } },
	  { { 2, 35 }, { 1, 60 } },
	  1,
	  "again" },
	{ "another function was compiled before",
	  { { OTHER_CALL, 10, 30 },
	    { REQUEST, 12, 10 },
	    { EXECUTE, 30, 2 },
	    { CALL, 50, 30 },
	    { REQUEST, 52, 10 },
	    { EXECUTE, 70, 2 } },
	  { { 2, 75 } },
	  0,
	  "first" },
	{ "restored, and then compiled for other arguments",
	  { { CALL, 10, 30 },
	    { LOWER, 12, 5 },
	    { EXECUTE, 30, 2 },
	    { CALL, 50, 30 },
	    { REQUEST, 52, 10 },
	    { EXECUTE, 70, 2 } },
	  { { 1, 35 }, { 2, 75 } },
	  1,
	  "again" },
	{ "compiled by hand, though the function had an executable",
	  { { CALL, 10, 30 },
	    { REQUEST, 12, 10 },
	    { EXECUTE, 30, 2 },
	    { LOWER, 50, 5 },
	    { REQUEST, 60, 20 },
	    { PIPELINE, 62, 5 } },
	  { { 1, 35 } },
	  0,
	  "by hand" },
	{ "called after it was compiled by hand",
	  { { LOWER, 0, 5 },
	    { REQUEST, 10, 20 },
	    { PIPELINE, 12, 5 },
	    { CALL, 50, 30 },
	    { REQUEST, 52, 10 },
	    { EXECUTE, 70, 2 } },
	  { { 1, 75 } },
	  1,
	  "again" },
};

static struct given *given_again(const struct again_row *row)
{
	struct given *given = given_threads(&row->events, 1);
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_name(&xp, 1, "jit_f(11)");
	xp_name(&xp, 2, "jit_f(22)");
	xp_line(&xp, "XLA Modules", 0);
	for (size_t i = 0; i < TS_NELEM(row->runs) && row->runs[i][0]; i++)
		given_event(&xp, row->runs[i][0], row->runs[i][1], 3);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	return given;
}

static size_t last_begun(struct given *given)
{
	size_t last = 0;

	for (size_t i = 1; i < nr_rows(given, "cache", "compilations"); i++)
		if (ts_value_int(of(given, i, "start_ps")) >
		    ts_value_int(of(given, last, "start_ps")))
			last = i;
	return last;
}

TEST(what_had_an_executable_is_compiled_again)
{
	for (size_t i = 0; i < TS_NELEM(again_rows); i++) {
		struct given *given = given_again(&again_rows[i]);

		print_message("\t%s\n", again_rows[i].name);
		analyse(given, 0);
		assert_int_equal(ts_value_int(field(given, "compile", "recompilations")),
				 again_rows[i].recompilations);
		assert_text(of(given, last_begun(given), "cause"), again_rows[i].cause);
		done(given);
	}
}

/* Each process compiles the program of all for itself. */
TEST(two_hosts_that_compile_one_program_do_not_compile_it_again)
{
	static const struct event events[MAX_EVENTS] = { { CALL, 10, 30 },
							 { REQUEST, 12, 10 },
							 { EXECUTE, 30, 2 } };
	struct given *given = given_threads(&events, 1);
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(memory_run_add(&given->mem, ts_buf_bytes(&given->bytes), "first", &err),
			 TS_OK);
	analyse(given, 0);
	assert_int_equal(ts_value_int(field(given, "cache", "compilation_count")), 2);
	assert_int_equal(ts_value_int(field(given, "compile", "recompilations")), 0);
	done(given);
}

/* The same programs without the hosts' events. */
TEST(without_host_events_nothing_is_known_of_compilations)
{
	static const struct again_row row = { .runs = { { 1, 5 }, { 2, 35 } } };
	struct given *given = given_again(&row);

	analyse(given, 0);
	assert_int_equal(field(given, "cache", "compilation_count").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "cache", "compilation_ps").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "cache", "wait_ps").type, TS_VALUE_NULL);
	assert_int_equal(view(given, "cache")->nr_notes, 1);
	assert_int_equal(field(given, "compile", "recompilations").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, "cache", "families", 0, "compilations").type, TS_VALUE_NULL);
	assert_int_equal(ts_value_int(cell(given, "cache", "families", 0, "variants")), 2);
	done(given);
}

TEST(requests_beyond_any_call_are_not_kept_open)
{
	struct given *given = given_nothing();
	struct xp xp = xp_plane(&given->bytes, "/host:CPU");
	const int64_t nr = 1000;

	xp_name(&xp, 1, "$train.py:1 main");
	xp_name(&xp, 2, names[REQUEST]);
	xp_line(&xp, "main", 0);
	given_event(&xp, 1, 0, 10 * nr);
	for (int64_t i = 0; i < nr; i++)
		given_event(&xp, 2, 10 * i + 1, 5);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	assert_counts(given, (struct counts){ nr, 5 * nr, -1, -1, -1, -1 });
	assert_int_equal(nr_rows(given, "cache", "compilations"), 200);
	done(given);
}
