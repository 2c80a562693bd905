/* SPDX-License-Identifier: MIT */
/* A job that stands still, hosts that are gone, and what the job says of itself. Times are given, so answers are by hand. */
#include "tests/test.h"

#include <unistd.h>

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "base/units.h"
#include "live/stall.h"

struct given {
	struct ts_settings settings;
	struct ts_alerts alerts;
	struct ts_ring ring;
	struct ts_stall stall;
	struct ts_told told;
	int pipe[2];
	char changes
		[1024]; /* "RULE SEVERITY: TITLE (EVIDENCE)" of each that was raised, "-RULE" of each that was cleared */
};

static struct given given;

static void note(void *ctx, const struct ts_alert *alert)
{
	size_t n = strlen(given.changes);

	(void)ctx;
	if (alert->is_active)
		snprintf(given.changes + n, sizeof(given.changes) - n, "%s %s: %.*s (%.*s) ",
			 alert->rule, ts_severity_name(alert->severity),
			 TS_ARG(ts_buf_bytes(&alert->title)),
			 TS_ARG(ts_buf_bytes(&alert->evidence)));
	else
		snprintf(given.changes + n, sizeof(given.changes) - n, "-%s ", alert->rule);
}

static int begin(void **state)
{
	(void)state;
	memset(&given, 0, sizeof(given));
	ts_settings_init(&given.settings);
	ts_alerts_init(&given.alerts, &given.settings, 1000, 0);
	given.stall.limit_ms = 10000;
	assert_int_equal(pipe(given.pipe), 0);
	ts_told_init(&given.told, given.pipe[0]);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ts_alerts_release(&given.alerts);
	ts_told_release(&given.told);
	close(given.pipe[0]);
	close(given.pipe[1]);
	return 0;
}

static void must_have_changed(const char *text)
{
	assert_string_equal(given.changes, text);
	given.changes[0] = '\0';
}

/* A sample of a job that begins step NUMBER in it, or none where NUMBER is -1. */
static void sample(int64_t at_ms, int64_t number, bool lowers)
{
	struct ts_op op = { .name = TS_LIT("train") };
	struct ts_profile profile = { .ops = &op, .nr_ops = 1 };
	struct ts_look_step step = { .number = (uint64_t)number };
	struct ts_look look = { .steps = &step, .nr_steps = number >= 0, .lowers = lowers };
	struct ts_ring_row *row = ts_ring_add(&given.ring);
	bool advances;

	row->at_ms = at_ms;
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		row->values[i] = NAN;
	advances = ts_stall_sample(&given.stall, &look, &profile, row->values, at_ms);
	assert_int_equal(advances, number >= 0);
	row->values[TS_METRIC_COMPILING] = advances ? 0 : NAN;
	ts_alerts_begin(&given.alerts, at_ms);
	ts_stall_judge(&given.stall, &given.alerts, &given.ring, &given.told, at_ms);
	ts_alerts_end(&given.alerts, true, note, NULL);
}

TEST_WITH(a_job_that_hangs_is_told_and_gets_worse_until_it_goes_on, begin, end)
{
	sample(1000, 7, false);
	sample(10999, -1, false);
	must_have_changed("");
	sample(11000, -1, false);
	must_have_changed("no_step warning: No step for 10.0 s (The last step seen is train 7.) ");
	sample(30999, -1, false);
	must_have_changed("");
	sample(31000, -1, false);
	must_have_changed("no_step critical: No step for 30.0 s (The last step seen is train 7.) ");
	sample(31500, 8, false);
	must_have_changed("-no_step ");
}

TEST_WITH(a_job_that_never_began_is_told_but_not_as_critical, begin, end)
{
	sample(1000, -1, false);
	sample(11000, -1, false);
	must_have_changed(
		"no_step warning: No step for 10.0 s (Nothing ran since the watch began.) ");
	sample(99000, -1, false);
	must_have_changed("");
}

TEST_WITH(ten_of_its_own_steps_may_pass, begin, end)
{
	sample(1000, 7, false);
	given.ring.rows[0].values[TS_METRIC_STEP] = 3e12; /* 3 s */
	sample(30999, -1, false);
	must_have_changed("");
	sample(31000, -1, false);
	must_have_changed("no_step warning: No step for 30.0 s (The last step seen is train 7.) ");
}

TEST_WITH(a_limit_of_zero_is_never, begin, end)
{
	given.stall.limit_ms = 0;
	sample(1000, 7, false);
	sample(1000000, -1, false);
	must_have_changed("");
}

TEST_WITH(a_function_that_was_traced_last_may_be_compiling, begin, end)
{
	sample(1000, 7, true);
	sample(11000, -1, false);
	must_have_changed("no_step warning: No step for 10.0 s (The last step seen is train 7. A "
			  "function was "
			  "traced or lowered since: is it being compiled?) ");
}

static double compiling(size_t ago)
{
	return ts_ring_back(&given.ring, ago)->values[TS_METRIC_COMPILING];
}

/* A minute's mean over them is not known before. */
TEST_WITH(a_stretch_before_a_new_program_was_a_compilation, begin, end)
{
	sample(1000, 7, false);
	for (int64_t at_ms = 2000; at_ms <= 9000; at_ms += 1000)
		sample(at_ms, -1, false);
	assert_true(isnan(ts_ring_mean(&given.ring, TS_METRIC_COMPILING, 0)));
	sample(10000, 8, false);
	ts_stall_explain(&given.stall, &given.ring, 0, false);
	assert_true(isnan(compiling(1)) && ts_stall_is_open(&given.stall));
	sample(10500, 9, false);
	ts_stall_explain(&given.stall, &given.ring, 1, true);
	for (size_t ago = 2; ago <= 9; ago++)
		assert_true(compiling(ago) == 100);
	assert_true(compiling(1) == 0 && compiling(10) == 0);
	assert_false(ts_stall_is_open(&given.stall));
	/* eight seconds of the ten and a half from the start on */
	assert_true(fabs(ts_ring_mean(&given.ring, TS_METRIC_COMPILING, 0) - 800 / 10.5) < 1e-9);
}

/* Modules are asked for less and less often: an answer that has them may come many samples behind it. */
TEST_WITH(a_stretch_waits_for_the_modules_of_now, begin, end)
{
	sample(1000, 7, false);
	sample(2000, -1, false);
	sample(2500, -1, false);
	ts_stall_explain(&given.stall, &given.ring, 0, true); /* it still stands */
	for (int64_t i = 0; i < 20; i++) {
		sample(3000 + i * 100, 8 + i, false);
		ts_stall_explain(&given.stall, &given.ring, 0, false);
	}
	sample(5100, -1, false); /* a shorter one meanwhile */
	sample(5200, 30, false);
	ts_stall_explain(&given.stall, &given.ring, 1, true);
	assert_true(isnan(compiling(1)));
	assert_true(compiling(22) == 100 && compiling(23) == 100);
}

TEST_WITH(a_program_that_is_new_before_it_runs_was_compiled_in_the_stretch, begin, end)
{
	sample(1000, 7, false);
	sample(2000, -1, false);
	ts_stall_explain(&given.stall, &given.ring, 1, true);
	assert_true(isnan(compiling(0)));
	sample(2500, 8, false);
	ts_stall_explain(&given.stall, &given.ring, 0, false);
	assert_true(compiling(1) == 100);
}

TEST_WITH(a_stretch_behind_which_nothing_is_new_stays_unknown, begin, end)
{
	sample(1000, 7, false);
	sample(2000, -1, false);
	sample(3000, 8, false);
	ts_stall_explain(&given.stall, &given.ring, 0, true);
	assert_false(ts_stall_is_open(&given.stall));
	sample(3500, 20, false);
	ts_stall_explain(&given.stall, &given.ring, 1, true); /* this one has another reason */
	assert_true(isnan(compiling(2)));
}

static void services(int64_t at_ms, const struct ts_service *items, size_t nr)
{
	ts_alerts_begin(&given.alerts, at_ms);
	ts_stall_services(&given.alerts, items, nr, at_ms);
	ts_alerts_end(&given.alerts, true, note, NULL);
}

TEST_WITH(hosts_that_are_gone_are_critical_until_they_answer, begin, end)
{
	struct ts_service items[] = {
		{ .address = "a:1",
		  .state = TS_SERVICE_DOWN,
		  .nr_samples = 3,
		  .answered_ms = 1000 },
		{ .address = "b:1",
		  .state = TS_SERVICE_LATE,
		  .nr_samples = 3,
		  .answered_ms = 1000,
		  .took_ms = 4000 },
		{ .address = "c:1",
		  .state = TS_SERVICE_DOWN }, /* never there: the exit status says so */
		{ .address = "d:1", .state = TS_SERVICE_BUSY, .nr_samples = 3, .answered_ms = 1 },
	};

	services(5999, items, TS_NELEM(items));
	must_have_changed("");
	services(6000, items, TS_NELEM(items));
	must_have_changed("service_down critical: a:1 has not answered for 5.00 s () ");
	services(17000, items, TS_NELEM(items));
	must_have_changed("");
	assert_int_equal(given.alerts.items[0].title.n,
			 strlen("a:1, b:1 have not answered for up to 16.0 s"));
	items[0].state = items[1].state = TS_SERVICE_UP;
	services(18000, items, TS_NELEM(items));
	must_have_changed("-service_down ");
}

static void say(const char *text)
{
	assert_int_equal(write(given.pipe[1], text, strlen(text)), (ssize_t)strlen(text));
}

TEST_WITH(compilations_that_the_job_tells_of_are_known_to_the_millisecond, begin, end)
{
	say("{\"event\":\"ready\"}\n{\"event\":\"compiling\",\"thread\":1,\"function\":\"f\","
	    "\"time_unix_ms\":1000500}\n{\"ev");
	ts_told_read(&given.told, 1000, 1001000); /* by the epoch's clock it is 1000 s later */
	assert_true(given.told.is_ready);
	assert_string_equal(ts_told_compiling(&given.told)->function, "f");
	assert_int_equal(ts_told_compiled_ms(&given.told, 0, 1000), 500);
	say("ent\":\"memory\",\"bytes\":4096}\nnonsense\n\n{\"event\":\"compiled\",\"thread\":2,"
	    "\"duration_ms\":200.9,\"time_unix_ms\":1001900}\n");
	ts_told_read(&given.told, 2000, 1002000);
	assert_true(given.told.memory_bytes == 4096);
	assert_int_equal(ts_told_compiled_ms(&given.told, 0, 2000),
			 1500); /* two at once count once */
	say("{\"event\":\"compiled\",\"thread\":1,\"duration_ms\":1600,\"time_unix_ms\":1002100}"
	    "\n");
	ts_told_read(&given.told, 3000, 1003000);
	assert_null(ts_told_compiling(&given.told));
	assert_int_equal(ts_told_compiled_ms(&given.told, 0, 3000), 1600);
	assert_int_equal(ts_told_compiled_ms(&given.told, 2000, 3000), 100);
}

TEST_WITH(a_compilation_that_is_told_of_is_named_and_never_critical, begin, end)
{
	sample(1000, 7, false);
	say("{\"event\":\"ready\"}\n{\"event\":\"compiling\",\"thread\":1,\"function\":\"big\","
	    "\"time_unix_ms\":1002000}\n");
	ts_told_read(&given.told, 41000, 1041000);
	sample(41000, -1, false);
	must_have_changed("no_step warning: No step for 40.0 s (The last step seen is train 7. big "
			  "has been compiled for 39.0 s.) ");
}

TEST_WITH(a_job_that_says_nothing_more_is_not_taken_at_its_word, begin, end)
{
	say("{\"event\":\"ready\"}\n{\"event\":\"compiling\",\"thread\":1,\"function\":\"f\","
	    "\"time_unix_ms\":1000500}\n");
	close(given.pipe[1]);
	ts_told_read(&given.told, 1000, 1001000);
	assert_false(given.told.is_ready);
	assert_null(ts_told_compiling(&given.told));
	ts_told_read(&given.told, 2000, 1002000);
	given.pipe[1] = dup(given.pipe[0]);
}
