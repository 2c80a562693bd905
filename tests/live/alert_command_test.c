/* SPDX-License-Identifier: MIT */
/* The command of an alert: its environment, whatever the text; how many run, and what becomes of
 * them. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"
#include "io/input.h"
#include "live/alert_command.h"

#define OUT	    "alert_command_test.out"
#define PATIENCE_MS 60000 /* a busy machine takes less for what ends at once */

static void say(struct ts_buf *buf, const char *text)
{
	ts_buf_puts(buf, text);
	assert_false(buf->failed);
}

static struct ts_alert alert_of(const char *title, const char *evidence)
{
	struct ts_alert alert = { .rule = "idle",
				  .severity = TS_WARNING,
				  .is_active = true,
				  .value = 12.5,
				  .threshold = NAN };

	say(&alert.title, title);
	say(&alert.evidence, evidence);
	return alert;
}

static void release(struct ts_alert *alert)
{
	ts_buf_release(&alert->title);
	ts_buf_release(&alert->evidence);
	ts_buf_release(&alert->advice);
}

static void run(const char *command, const struct ts_alert *alert)
{
	struct ts_alert_command runner = { .text = command };
	struct ts_error err = TS_ERROR_INIT;

	remove(OUT);
	if (ts_alert_command_run(&runner, alert, &err))
		fail_msg("%s", err.text);
	ts_alert_command_finish(&runner, PATIENCE_MS);
	assert_int_equal(runner.nr_running, 0);
	assert_int_equal(runner.nr_failed, 0);
	assert_int_equal(runner.nr_run, 1);
}

static void must_have_written(const char *text)
{
	struct ts_input input = TS_INPUT_INIT;

	assert_int_equal(ts_input_open(&input, OUT, NULL), TS_OK);
	assert_int_equal(input.bytes.n, strlen(text));
	assert_memory_equal(input.bytes.p, text, input.bytes.n);
	ts_input_release(&input);
	remove(OUT);
}

TEST(an_alert_is_in_the_environment)
{
	struct ts_alert alert = alert_of("42 % idle", "Between steps.");

	say(&alert.advice, "Prefetch.");
	run("printf '%s|' \"$TPUSIGHT_ALERT_STATE\" \"$TPUSIGHT_ALERT_RULE\" "
	    "\"$TPUSIGHT_ALERT_SEVERITY\" \"$TPUSIGHT_ALERT_MESSAGE\" \"$TPUSIGHT_ALERT_EVIDENCE\" "
	    "\"$TPUSIGHT_ALERT_ADVICE\" \"$TPUSIGHT_ALERT_VALUE\" \"$TPUSIGHT_ALERT_THRESHOLD\" "
	    "> " OUT,
	    &alert);
	must_have_written("raised|idle|warning|42 % idle|Between steps.|Prefetch.|12.5||");
	alert.is_active = false;
	run("printf '%s' \"$TPUSIGHT_ALERT_STATE\" > " OUT, &alert);
	must_have_written("cleared");
	release(&alert);
}

TEST(what_a_shell_would_obey_is_text)
{
	static const struct {
		const char *said, *comes;
	} rows[] = {
		{ "$(touch alert_command_test.bad)", "$(touch alert_command_test.bad)" },
		{ "`touch alert_command_test.bad`", "`touch alert_command_test.bad`" },
		{ "'; touch alert_command_test.bad; '", "'; touch alert_command_test.bad; '" },
		{ "\"; touch alert_command_test.bad; \"", "\"; touch alert_command_test.bad; \"" },
		{ "a\ntouch alert_command_test.bad\n", "a touch alert_command_test.bad " },
		{ "\033]0;title\007", "\xEF\xBF\xBD]0;title\xEF\xBF\xBD" },
		{ "$TPUSIGHT_ALERT_RULE ${HOME} %s %n", "$TPUSIGHT_ALERT_RULE ${HOME} %s %n" },
		{ "A=B\\", "A=B\\" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_alert alert = alert_of(rows[i].said, "");

		run("printf '%s' \"$TPUSIGHT_ALERT_MESSAGE\" > " OUT, &alert);
		must_have_written(rows[i].comes);
		release(&alert);
	}
	assert_int_not_equal(access("alert_command_test.bad", F_OK), 0);
}

TEST(a_text_of_a_megabyte_is_cut_and_the_command_runs)
{
	struct ts_alert alert = alert_of("", "");

	for (int i = 0; i < 1 << 20; i++)
		ts_buf_putc(&alert.title, 'x');
	ts_buf_put(&alert.evidence, ts_buf_bytes(&alert.title));
	ts_buf_put(&alert.advice, ts_buf_bytes(&alert.title));
	run("echo $(($(printf '%s' \"$TPUSIGHT_ALERT_MESSAGE\" | wc -c))) > " OUT, &alert);
	release(&alert);
	must_have_written("4098\n"); /* 4095 and an ellipsis of three bytes */
}

TEST(variables_of_an_outer_alert_do_not_come_through)
{
	struct ts_alert alert = alert_of("inner", "");

	setenv("TPUSIGHT_ALERT_MESSAGE", "outer", 1);
	setenv("TPUSIGHT_ALERT_OTHER", "outer", 1);
	run("env | grep -c ^TPUSIGHT_ALERT_ > " OUT
	    "; printf '%s' \"$TPUSIGHT_ALERT_MESSAGE\" >> " OUT,
	    &alert);
	unsetenv("TPUSIGHT_ALERT_MESSAGE");
	unsetenv("TPUSIGHT_ALERT_OTHER");
	must_have_written("9\ninner");
	release(&alert);
}

TEST(eight_run_and_no_more_and_none_is_left)
{
	struct ts_alert alert = alert_of("busy", "");
	struct ts_alert_command runner = { .text = "exec sleep 600" };
	struct ts_error err = TS_ERROR_INIT;

	for (int i = 0; i < TS_MAX_ALERT_COMMANDS; i++)
		assert_int_equal(ts_alert_command_run(&runner, &alert, &err), TS_OK);
	assert_int_equal(ts_alert_command_run(&runner, &alert, &err), TS_LIMIT);
	assert_non_null(strstr(err.text, "8 commands still run"));
	assert_int_equal(runner.nr_left_out, 1);
	for (int i = 0; i < TS_MAX_ALERT_COMMANDS; i++)
		kill(runner.running[i], SIGKILL);
	ts_alert_command_finish(&runner, PATIENCE_MS);
	assert_int_equal(runner.nr_running, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, dead or alive */
	runner.text = "exec true";
	assert_int_equal(ts_alert_command_run(&runner, &alert, &err), TS_OK);
	ts_alert_command_finish(&runner, PATIENCE_MS);
	assert_int_equal(runner.nr_running, 0);
	release(&alert);
}

TEST(one_that_does_not_end_is_waited_for_so_long)
{
	struct ts_alert alert = alert_of("", "");
	struct ts_alert_command runner = { .text = "exec sleep 600" };
	time_t start = time(NULL);

	assert_int_equal(ts_alert_command_run(&runner, &alert, NULL), TS_OK);
	ts_alert_command_finish(&runner, 100);
	assert_in_range(time(NULL) - start, 0, 300); /* far less than it sleeps */
	assert_int_equal(runner.nr_running, 1);
	kill(runner.running[0], SIGKILL);
	ts_alert_command_finish(&runner, PATIENCE_MS);
	assert_int_equal(runner.nr_failed, 1);
	release(&alert);
}
