/* SPDX-License-Identifier: MIT */
/* A server: one program, launched when somebody asks. */
#include "tests/analysis/given.h"

enum { WORK = 1, CALL, WAIT, OTHER_WAIT };

#define REQUESTS 10

/* A program of 100 us each 500 us; between two of them the host is in EVENT, or OTHER in turns, for 380 of the 400 us, then launches. */
static struct given *given_server(const char *event, const char *other)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, WORK, "fusion.1", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < REQUESTS; i++)
		given_event(&xp, WORK, 500 * i, 100);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	xp = xp_plane(&given->bytes, "/host:CPU");
	xp_name(&xp, CALL, "PjitFunction(generate)");
	xp_name(&xp, WAIT, event);
	xp_name(&xp, OTHER_WAIT, other);
	xp_line(&xp, "python3", 0);
	for (int64_t i = 0; i + 1 < REQUESTS; i++) {
		given_event(&xp, i % 2 == 0 ? WAIT : OTHER_WAIT, 500 * i + 105, 380);
		given_event(&xp, CALL, 500 * i + 486, 5);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	return given;
}

TEST(waiting_for_requests_is_no_loss)
{
	struct given *given = given_server("wait_for_request", "wait_for_request");
	const struct ts_finding *finding = finding_by(given, "requests");

	assert_non_null(finding);
	assert_int_equal(finding->severity, TS_INFO);
	assert_int_equal(finding->gain_ps, 0);
	assert_true(ts_bytes_has(finding->title, "wait for requests 77 % of the time"));
	assert_null(finding_by(given, "idle"));
	done(given);
}

TEST(what_else_the_host_does_is_a_loss)
{
	struct given *given = given_server("postprocess", "postprocess");
	const struct ts_finding *finding = finding_by(given, "idle");

	assert_null(finding_by(given, "requests"));
	assert_non_null(finding);
	assert_int_equal(finding->gain_ps, (REQUESTS - 1) * 395 * US); /* 5 us launch */
	assert_string_equal(finding->root.kind, "host");
	assert_true(ts_bytes_is(finding->root.event, "postprocess"));
	assert_true(ts_bytes_has(finding->title, "the launch waits for postprocess"));
	done(given);
}

/* Of nine gaps five are waits for requests; the four others are all that a faster host could give. */
TEST(of_idle_time_what_is_no_wait_for_requests_is_a_loss)
{
	struct given *given = given_server("wait_for_request", "postprocess");
	const struct ts_finding *finding = finding_by(given, "idle");

	assert_non_null(finding_by(given, "requests"));
	assert_non_null(finding);
	assert_int_equal(finding->impact_ps, 4 * 395 * US);
	assert_int_equal(finding->gain_ps, 4 * 395 * US);
	done(given);
}
