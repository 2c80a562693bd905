/* SPDX-License-Identifier: MIT */
/* A server: one program, launched when somebody asks. */
#include "tests/analysis/given.h"

enum { WORK = 1, CALL, WAIT };

#define REQUESTS 10

/* A program of 100 us each 500 us; between two of them the host is in EVENT for 380 of the 400 us, then launches. */
static struct given *given_server(const char *event)
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
	xp_line(&xp, "python3", 0);
	for (int64_t i = 0; i + 1 < REQUESTS; i++) {
		given_event(&xp, WAIT, 500 * i + 105, 380);
		given_event(&xp, CALL, 500 * i + 486, 5);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	return given;
}

static const struct ts_finding *finding_of(struct given *given, const char *rule)
{
	const struct ts_result *doctor = view(given, "doctor");

	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (strcmp(doctor->findings[i].rule, rule) == 0)
			return &doctor->findings[i];
	return NULL;
}

TEST(nobody_asked_for_work)
{
	struct given *given = given_server("wait_for_request");
	const struct ts_finding *finding = finding_of(given, "requests");

	assert_non_null(finding);
	assert_int_equal(finding->severity, TS_INFO);
	assert_int_equal(finding->gain_ps, 0);
	assert_true(ts_bytes_has(finding->title, "78 % of the time nobody asked for work"));
	assert_null(finding_of(given, "idle"));
	done(given);
}

TEST(what_else_the_host_does_is_a_loss)
{
	struct given *given = given_server("postprocess");
	const struct ts_finding *finding = finding_of(given, "idle");

	assert_null(finding_of(given, "requests"));
	assert_non_null(finding);
	assert_int_equal(finding->gain_ps, (REQUESTS - 1) * 400 * US);
	assert_string_equal(finding->root.kind, "host");
	assert_true(ts_bytes_is(finding->root.event, "postprocess"));
	assert_true(ts_bytes_has(finding->title, "the launch waits for postprocess"));
	done(given);
}
