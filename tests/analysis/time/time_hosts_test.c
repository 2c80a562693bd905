/* SPDX-License-Identifier: MIT */
/* What hosts did is known from their events: without them it is unknown, and steps may be a conclusion. */
#include "tests/analysis/given.h"

/* Two programs of 10 us with a gap of 10 us; a host's thread beside them, or no host at all. */
static struct given *given_gap(bool has_host)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	given_event(&xp, 1, 0, 10);
	given_event(&xp, 1, 20, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	if (has_host) {
		xp = xp_plane(&given->bytes, "/host:CPU");
		xp_op(&xp, 1, "anything", "", 0, 0);
		xp_line(&xp, "python", 0);
		given_event(&xp, 1, 0, 30);
		xp_line_end(&xp);
		xp_plane_end(&xp);
	}
	analyse(given, 0);
	return given;
}

static struct ts_value kpi(struct given *given, const char *name, const char *column)
{
	for (size_t i = 0; i < nr_rows(given, "doctor", "kpis"); i++)
		if (ts_bytes_is(cell(given, "doctor", "kpis", i, "name").as.s, name))
			return cell(given, "doctor", "kpis", i, column);
	return ts_null();
}

static const char *const of_hosts[] = { "buckets.compilation_ps", "buckets.input_ps",
					"compilation_count", "compilation_host_ps" };

TEST(without_host_events_what_hosts_did_is_unknown)
{
	struct given *given = given_gap(false);
	bool told = false;

	for (size_t i = 0; i < TS_NELEM(of_hosts); i++)
		assert_int_equal(field(given, "time", of_hosts[i]).type, TS_VALUE_NULL);
	assert_us(given, "time", "buckets.idle_ps", 10);
	assert_int_equal(cell(given, "time", "per_core", 0, "input_ps").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "capture", "call_count").type, TS_VALUE_NULL);
	assert_int_equal(kpi(given, "host_overhead", "value").type, TS_VALUE_NULL);
	assert_true(ts_bytes_is(kpi(given, "host_overhead", "band").as.s, "unknown"));
	for (size_t i = 0; i < view(given, "time")->nr_notes; i++)
		told |= ts_bytes_has(view(given, "time")->notes[i], "no host events");
	assert_true(told);
	done(given);
}

TEST(with_them_it_is_a_number)
{
	struct given *given = given_gap(true);

	for (size_t i = 0; i < TS_NELEM(of_hosts); i++)
		assert_near(field(given, "time", of_hosts[i]), 0, 0);
	assert_near(kpi(given, "host_overhead", "value"), 0, 0);
	/* 10 of 30 us, and it says of what */
	assert_near(kpi(given, "idle", "value"), 100.0 / 3, 1e-9);
	assert_true(ts_bytes_is(kpi(given, "idle", "window").as.s, "core time: wall time x cores"));
	done(given);
}

/* Four executions of one module: steps that no marker says. */
TEST(inferred_steps_say_so_value_by_value)
{
	struct given *given = given_nothing();
	struct xp xp = given_core(given, "/device:TPU:0");
	const struct ts_result *overview;

	xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
	xp_op(&xp, 2, "jit_f(7)", "", PROGRAM, 0);
	xp_line(&xp, "XLA Modules", 0);
	for (int64_t i = 0; i < 4; i++)
		given_event(&xp, 2, i * 20, 10);
	xp_line_end(&xp);
	xp_line(&xp, "XLA Ops", 0);
	for (int64_t i = 0; i < 4; i++)
		given_event(&xp, 1, i * 20, 10);
	xp_line_end(&xp);
	xp_plane_end(&xp);
	analyse(given, 0);
	overview = view(given, "overview");
	assert_near(field(given, "overview", "overview.step_count"), 4, 0);
	for (size_t i = 0; i < overview->nr_fields; i++) {
		const struct ts_field *of = &overview->fields[i];

		if (strcmp(of->name, "overview.step_count") == 0 ||
		    strcmp(of->name, "overview.step_time_ps.median") == 0)
			assert_int_equal(ts_field_origin(of), TS_INFERRED);
	}
	assert_int_equal(cell(given, "overview", "steps", 0, "duration_ps").origin, TS_INFERRED);
	assert_int_equal(cell(given, "time", "per_step", 0, "duration_ps").origin, TS_INFERRED);
	done(given);
}
