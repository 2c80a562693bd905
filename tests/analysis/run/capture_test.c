/* SPDX-License-Identifier: MIT */
/*
 * The quality of a capture, in what tests/fixtures/captures.py does not show: calls counted over
 * threads, messages beyond the kept ones, sizes, and inputs that are no captures. Answers by hand.
 */
#include "tests/analysis/given.h"

static void given_program(struct xp *xp)
{
	xp_name(xp, 10, "jit_f(7)");
	xp_op(xp, 1, "fusion.1", "loop fusion", PROGRAM, 1);
}

static void given_executions(struct xp *xp, int64_t nr)
{
	xp_line(xp, "XLA Modules", 0);
	for (int64_t i = 0; i < nr; i++)
		given_event(xp, 10, i * 100, 50);
	xp_line_end(xp);
	xp_line(xp, "XLA Ops", 0);
	for (int64_t i = 0; i < nr; i++)
		given_event(xp, 1, i * 100, 50);
	xp_line_end(xp);
}

static void given_device(struct given *given, int64_t nr)
{
	struct xp xp = given_core(given, "/device:TPU:0");

	given_program(&xp);
	given_executions(&xp, nr);
	xp_plane_end(&xp);
}

/* A thread with NR calls, each with two more inside it. */
static void given_calls(struct xp *xp, const char *thread, int64_t nr, int64_t first_us)
{
	xp_line(xp, thread, 0);
	for (int64_t i = 0; i < nr; i++) {
		given_event(xp, 1, first_us + i * 100, 60);
		given_event(xp, 1, first_us + i * 100 + 1, 20);
		given_event(xp, 1, first_us + i * 100 + 30, 20);
	}
	xp_line_end(xp);
}

static bool has_cause(struct given *given, const char *id)
{
	for (size_t i = 0; i < nr_rows(given, "capture", "causes"); i++)
		if (ts_bytes_is(cell(given, "capture", "causes", i, "id").as.s, id))
			return true;
	return false;
}

static void then_verdict_is(struct given *given, const char *verdict)
{
	struct ts_value value = field(given, "capture", "verdict");

	assert_int_equal(value.type, TS_VALUE_TEXT);
	if (!ts_bytes_is(value.as.s, verdict))
		fail_msg("%.*s is not %s", TS_ARG(value.as.s), verdict);
}

TEST(calls_of_all_threads_count_and_those_inside_others_do_not)
{
	struct given *given = given_nothing();
	struct xp host = xp_plane(&given->bytes, "/host:CPU");

	xp_name(&host, 1, "PjitFunction(f)");
	given_calls(&host, "main/1", 90, 0);
	given_calls(&host, "worker/2", 8, 5000);
	xp_plane_end(&host);
	given_device(given, 98);

	analyse(given, 0);

	assert_int_equal(ts_value_int(field(given, "capture", "call_count")), 98);
	assert_int_equal(ts_value_int(field(given, "capture", "execution_count")), 98);
	assert_int_equal(ts_value_int(field(given, "capture", "host_event_count")), 3 * 98);
	assert_false(has_cause(given, "not_blocked"));
	done(given);
}

/* Two programs of 30 us on the CPU, one with another inside it; a logger's 40 us in the steps of the
 * device, 0 to 950 us, and another call behind them. */
TEST(work_of_hosts_is_summed_without_what_is_inside)
{
	struct given *given = given_nothing();
	struct xp host = xp_plane(&given->bytes, "/host:CPU");
	const struct ts_finding *finding;

	xp_name(&host, 1, "ThunkExecutor::Execute");
	xp_name(&host, 2, "$/lib/logging/__init__.py:1524 info");
	xp_line(&host, "main/1", 0);
	given_event(&host, 1, 100, 30);
	given_event(&host, 1, 110, 10);
	given_event(&host, 1, 200, 30);
	given_event(&host, 2, 300, 40);
	given_event(&host, 2, 5000, 40);
	xp_line_end(&host);
	xp_plane_end(&host);
	given_device(given, 10);
	analyse(given, 0);

	finding = finding_by(given, "cpu_fallback");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->title, "2 programs ran on the host's CPU"));
	assert_true(ts_bytes_has(finding->evidence, "at work for 60.0 \u00b5s"));
	finding = finding_by(given, "logging_in_steps");
	assert_non_null(finding);
	assert_true(ts_bytes_has(finding->evidence, "1 call of loggers takes 40.0 \u00b5s"));
	done(given);
}

TEST(as_many_calls_as_executions_are_no_cause_and_twice_as_many_are)
{
	static const struct {
		int64_t calls, executions;
		bool told;
	} rows[] = { { 4, 4, false }, { 4, 6, false }, { 4, 2, false },
		     { 5, 2, true },  { 2, 1, false }, { 1, 0, true } };

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given *given = given_nothing();
		struct xp host = xp_plane(&given->bytes, "/host:CPU");

		xp_name(&host, 1, "PjitFunction(f)");
		given_calls(&host, "main/1", rows[i].calls, 0);
		xp_plane_end(&host);
		given_device(given, rows[i].executions);
		analyse(given, 0);
		if (has_cause(given, "not_blocked") != rows[i].told)
			fail_msg("%lld calls, %lld executions", (long long)rows[i].calls,
				 (long long)rows[i].executions);
		done(given);
	}
}

TEST(messages_of_the_profiler_are_kept_and_counted)
{
	struct given *given = given_nothing();
	const struct ts_host *host;

	given_device(given, 2);
	for (int i = 0; i < 25; i++)
		ts_pbw_text(&given->bytes, 3, TS_LIT("the clock was set back"));
	ts_pbw_text(&given->bytes, 2, TS_LIT("no permission"));
	ts_pbw_u64(&given->bytes, 2, 7); /* of another type: a newer writer's, no text */

	analyse(given, 0);

	host = &given->mem.run.profile.hosts[0];
	assert_int_equal(host->nr_warnings, 25);
	assert_int_equal(host->nr_errors, 1);
	assert_true(ts_bytes_is(host->errors[0], "no permission"));
	assert_true(ts_bytes_is(host->warnings[TS_MAX_MESSAGES - 1], "the clock was set back"));
	assert_true(has_cause(given, "profiler_messages"));
	then_verdict_is(given, "misleading");
	done(given);
}

TEST(damage_is_told_with_its_place)
{
	for (int minor = 0; minor <= 1; minor++) {
		struct given *given = given_nothing();
		struct ts_bytes evidence;

		given_device(given, 2);
		ts_profile_add_damage(&given->mem.run.profile, TS_LIT("a.xplane.pb"), 812,
				      "truncated", minor);
		analyse(given, 0);
		assert_true(has_cause(given, "damaged_input"));
		then_verdict_is(given, minor ? "usable" : "misleading");
		evidence = cell(given, "capture", "causes", 0, "evidence").as.s;
		assert_true(ts_bytes_has(evidence, "a.xplane.pb, byte 812: truncated"));
		done(given);
	}
}

TEST(a_thread_that_is_read_more_than_once_is_damaged_once)
{
	struct given *given = given_nothing();
	struct xp host = xp_plane(&given->bytes, "/host:CPU");

	xp_line(&host, "main/1", 0);
	ts_pbw_text(&given->bytes, 4, TS_LIT("\x08\x01\x10")); /* the offset's value is missing */
	xp_line_end(&host);
	xp_plane_end(&host);
	given_device(given, 2);

	analyse(given, 0);

	assert_int_equal(given->mem.run.profile.nr_damage, 1);
	assert_true(ts_bytes_has(cell(given, "capture", "causes", 0, "what").as.s, "1 place"));
	done(given);
}

TEST(files_that_viewers_cannot_open_are_told)
{
	struct given *given = given_nothing();

	given_device(given, 2);
	assert_int_equal(memory_run_add(&given->mem, ts_buf_bytes(&given->bytes), "host", NULL),
			 TS_OK);
	given->mem.run.profile.hosts[0].file_bytes = INT64_C(2147483648); /* 2 GiB */
	assert_int_equal(memory_run_analyse(&given->mem, 0, NULL), TS_OK);

	assert_true(has_cause(given, "file_too_large"));
	done(given);
}

TEST(many_steps_are_told_from_their_threshold_on)
{
	for (int high = 3; high <= 4; high++) {
		struct given *given = given_nothing();

		given->mem.settings.capture_steps_high = high;
		given_device(given, 4); /* inferred from the module that repeats */
		analyse(given, 0);
		assert_int_equal(has_cause(given, "too_many_steps"), high == 3);
		done(given);
	}
}

/* 3 executions by XLA's executor for CPUs; one more thread of its pool, which says nothing. */
TEST(executions_on_the_cpu_are_counted_where_the_host_shows_them)
{
	for (int shown = 0; shown <= 1; shown++) {
		struct given *given = given_nothing();
		struct xp host = xp_plane(&given->bytes, "/host:CPU");

		xp_name(&host, 1, "PjitFunction(f)");
		xp_name(&host, 2, "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice");
		xp_name(&host, 3, "ThunkExecutor::Execute");
		xp_line(&host, "python", 0);
		for (int64_t i = 0; i < 3; i++) {
			given_event(&host, 1, 20 * i, 10);
			given_event(&host, shown ? 2 : 3, 20 * i + 2, 5);
		}
		xp_line_end(&host);
		xp_plane_end(&host);
		analyse(given, 0);
		if (shown)
			assert_int_equal(ts_value_int(field(given, "capture", "execution_count")),
					 3);
		else
			assert_int_equal(field(given, "capture", "execution_count").type,
					 TS_VALUE_NULL);
		done(given);
	}
}

TEST(more_than_two_epochs_are_told)
{
	for (int64_t nr = 2; nr <= 3; nr++) {
		struct given *given = given_nothing();
		struct xp host = xp_plane(&given->bytes, "/host:CPU");

		xp_name(&host, 1, "epoch");
		xp_line(&host, "python", 0);
		for (int64_t i = 0; i < nr; i++)
			given_event(&host, 1, 20 * i, 10);
		xp_line_end(&host);
		xp_plane_end(&host);
		analyse(given, 0);
		assert_int_equal(has_cause(given, "too_many_epochs"), nr == 3);
		done(given);
	}
}

TEST(compiled_modules_alone_are_no_capture)
{
	struct given *given = given_nothing();

	assert_non_null(ts_profile_add_module(&given->mem.run.profile, 1));
	assert_int_equal(memory_run_analyse(&given->mem, 0, NULL), TS_OK);

	assert_int_equal(field(given, "capture", "verdict").type, TS_VALUE_NULL);
	assert_null(ts_result_find_table(view(given, "capture"), "causes"));
	done(given);
}

/* --- what is there and no rule takes, and what is not there */

static const char *only_cause(struct given *given)
{
	static char id[64];

	if (nr_rows(given, "capture", "causes") != 1)
		fail_msg("%zu causes", nr_rows(given, "capture", "causes"));
	snprintf(id, sizeof(id), "%.*s", TS_ARG(cell(given, "capture", "causes", 0, "id").as.s));
	return id;
}

static void then_evidence_begins(struct given *given, const char *text)
{
	struct ts_bytes evidence = cell(given, "capture", "causes", 0, "evidence").as.s;

	if (!ts_bytes_starts(evidence, text))
		fail_msg("%.*s", TS_ARG(evidence));
}

static void given_counters(struct given *given, const char *plane)
{
	struct xp xp = given_core(given, plane);

	xp_name(&xp, 1, "counter");
	xp_line(&xp, "_counters_", 0);
	for (int64_t i = 0; i < 4; i++)
		given_event(&xp, 1, 10 * i, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

TEST(counters_of_a_tpu_alone_make_a_capture_of_counters)
{
	struct given *given = given_nothing();

	given_counters(given, "/device:TPU:0");
	analyse(given, 0);
	then_verdict_is(given, "usable");
	assert_string_equal(only_cause(given), "counters_only");
	then_evidence_begins(given, "0 counters at the end of the capture and 4 samples of "
				    "counters over time, of TPU v5 lite");
	done(given);
}

TEST(counters_alone_are_not_called_a_device_that_ran_nothing)
{
	static const char *const planes[] = { "/device:GPU:0", "/device:NPU:0" };

	for (size_t i = 0; i < TS_NELEM(planes); i++) {
		struct given *given = given_nothing();

		given_counters(given, planes[i]);
		analyse(given, 0);
		then_verdict_is(given, "empty");
		assert_string_equal(only_cause(given), "counters_only");
		then_evidence_begins(given, "4 events of line _counters_ on /device:");
		done(given);
	}
}

/* Beside ops, counters and planes of others are named, and the capture is as good as without. */
TEST(what_is_not_read_beside_ops_is_named)
{
	struct given *given = given_nothing();
	struct xp other;

	given_device(given, 4);
	other = xp_plane(&given->bytes, "/device:CUSTOM:Megascale");
	xp_name(&other, 1, "send");
	for (int line = 0; line < 2; line++) {
		xp_line(&other, "hops", 0);
		given_event(&other, 1, 10, 10);
		xp_line_end(&other);
	}
	xp_plane_end(&other);
	analyse(given, 0);
	assert_true(ts_bytes_is(cell(given, "capture", "causes", 0, "id").as.s, "not_read"));
	then_evidence_begins(given, "2 events of line hops on /device:CUSTOM:Megascale.");
	assert_true(ts_bytes_is(cell(given, "capture", "causes", 0, "verdict").as.s, "good"));
	done(given);
}

static struct given *given_trace(const char *text)
{
	struct given *given = given_nothing();

	assert_int_equal(memory_run_add_as(&given->mem, memory_run_reader("chrome"),
					   ts_bytes_of(text), "h", NULL),
			 TS_OK);
	assert_int_equal(memory_run_analyse(&given->mem, 0, NULL), TS_OK);
	return given;
}

#define AN(cat, pid, name, ts)                                                              \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid        \
	",\"tid\":1,\"ts\":" ts ",\"dur\":5,\"args\":{}}"
#define OPERATORS AN("cpu_op", "9", "aten::mm", "0") "," AN("cpu_op", "9", "aten::mm", "10")

TEST(a_trace_says_what_it_has_and_what_it_lacks)
{
	static const struct {
		const char *text, *verdict, *cause, *evidence;
	} rows[] = {
		{ "[" OPERATORS "]", "usable", "ran_on_cpu", "2 operators ran on host threads" },
		{ "{\"deviceProperties\":[{\"id\":0,\"name\":\"H100\"}],\"traceEvents\":[" OPERATORS
		  "]}",
		  "misleading", "ran_on_cpu",
		  "2 operators ran on host threads, and no call of a device's runtime was "
		  "recorded. The profile has deviceProperties: H100." },
		{ "[" OPERATORS "," AN("cuda_runtime", "9", "cudaMalloc", "20") "]", "empty",
		  "no_device", "The input has" },
		{ "[" OPERATORS "," AN("zpu_task", "7", "k", "20") "]", "empty", "not_read",
		  "1 event of category zpu_task on process 7." },
		{ "[" OPERATORS "," AN("cuda_profiler_range", "0", "k", "20") "]", "empty",
		  "counters_only", "1 event of category cuda_profiler_range on /device:GPU:0." },
		/* cut: what is behind is not known */
		{ "[" OPERATORS ",{\"ph\":\"X\",\"cat\":\"ker", "misleading", "damaged_input",
		  "memory.xplane.pb, byte" },
		{ "[" OPERATORS "," AN("cuda_runtime", "9", "cudaMalloc", "20") ",{\"ph\":",
		  "misleading", "damaged_input", "memory.xplane.pb, byte" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given *given = given_trace(rows[i].text);

		then_verdict_is(given, rows[i].verdict);
		assert_string_equal(only_cause(given), rows[i].cause);
		then_evidence_begins(given, rows[i].evidence);
		done(given);
	}
}

TEST(a_device_of_another_maker_is_told)
{
	struct given *given =
		given_trace("[" OPERATORS "," AN("mtia_ccp_events", "17", "pe_exe",
						 "2") "," AN("cpu_op", "9", "aten::mm", "30") "]");

	assert_true(has_cause(given, "other_device"));
	assert_true(ts_bytes_has(cell(given, "capture", "causes", 0, "what").as.s, "MTIA"));
	assert_false(has_cause(given, "not_blocked"));
	done(given);
}

/* A trace has no end of its own: what ends last is no sign of a cut. */
TEST(a_trace_that_ends_with_a_kernel_is_not_cut)
{
	struct given *given = given_trace("[" OPERATORS "," AN("kernel", "0", "k", "20") "]");

	assert_false(has_cause(given, "not_blocked"));
	done(given);
}

TEST(ranks_without_a_trace_are_counted)
{
	for (int64_t all = 2; all <= 8; all += 6) {
		struct given *given = given_nothing();

		for (int64_t rank = 0; rank < 2; rank++) {
			struct ts_buf *text = &given->bytes;

			ts_buf_clear(text);
			ts_buf_printf(text,
				      "{\"distributedInfo\":{\"rank\":%d,\"world_size\":%d},"
				      "\"traceEvents\":[" OPERATORS
				      "," AN("kernel", "0", "k", "2") "]}",
				      (int)rank, (int)all);
			assert_int_equal(
				memory_run_add_as(&given->mem, memory_run_reader("chrome"),
						  ts_arena_copy(&given->mem.run.profile.arena,
								ts_buf_bytes(text)),
						  "h", NULL),
				TS_OK);
		}
		assert_int_equal(memory_run_analyse(&given->mem, 0, NULL), TS_OK);
		assert_int_equal(has_cause(given, "ranks_missing"), all == 8);
		done(given);
	}
}
