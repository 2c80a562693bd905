/* SPDX-License-Identifier: MIT */
/* Quantities as people read them: a row each. */
#include <math.h>

#include "base/units.h"
#include "base/units_list.h"
#include "tests/test.h"

struct row {
	const char *(*format)(char out[TS_UNIT_MAX], double value);
	double value;
	const char *text;
};

static const char *ps(char out[TS_UNIT_MAX], double value)
{
	return ts_fmt_ps(out, (int64_t)value);
}

static const struct row rows[] = {
	{ ps, 0, "0 ps" },
	{ ps, 1, "1 ps" },
	{ ps, 999, "999 ps" },
	{ ps, 1000, "1.00 ns" },
	{ ps, 1234567, "1.23 \u00b5s" },
	{ ps, 12.34e9, "12.3 ms" },
	{ ps, 125.32e9, "125.3 ms" },
	{ ps, 999.9e9, "1.00 s" }, /* not 1000 ms */
	{ ps, 9.994e12, "9.99 s" },
	{ ps, 9.996e12, "10.0 s" },
	{ ps, 99.96e12, "100.0 s" },
	{ ps, 92.6e12, "92.6 s" },
	{ ps, 3600e12, "3600 s" },
	{ ps, -5e9, "-5.00 ms" },
	{ ts_fmt_bytes, 0, "0 B" },
	{ ts_fmt_bytes, 1023, "1023 B" },
	{ ts_fmt_bytes, 1024, "1.00 KiB" },
	{ ts_fmt_bytes, 5368709120.0, "5.00 GiB" },
	{ ts_fmt_bytes, 1.5 * 1099511627776.0, "1.50 TiB" },
	{ ts_fmt_rate, 26.1e9, "26.1 GB/s" },
	{ ts_fmt_rate, 1.64e12, "1.64 TB/s" },
	{ ts_fmt_rate, 999, "999 B/s" },
	{ ts_fmt_count, 0, "0" },
	{ ts_fmt_count, 9999, "9999" },
	{ ts_fmt_count, 12345, "12.3 k" },
	{ ts_fmt_count, 999999, "1.00 M" },
	{ ts_fmt_count, 1.34e9, "1.34 G" },
	{ ts_fmt_count, 2.5e15, "2.50 P" },
	{ ts_fmt_pct, 86.54, "86.5 %" },
	{ ts_fmt_pct, 0, "0.0 %" },
	{ ts_fmt_pct, 100, "100.0 %" },
};

TEST(each_value_has_its_text)
{
	char out[TS_UNIT_MAX];
	size_t nr_wrong = 0;

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		const char *text = rows[i].format(out, rows[i].value);

		if (strcmp(text, rows[i].text) != 0) {
			print_error("%g: \"%s\", not \"%s\"\n", rows[i].value, text, rows[i].text);
			nr_wrong++;
		}
	}
	assert_int_equal(nr_wrong, 0);
}

TEST(unknown_is_a_dash)
{
	char out[TS_UNIT_MAX];

	assert_string_equal(ts_fmt_bytes(out, NAN), "-");
	assert_string_equal(ts_fmt_rate(out, NAN), "-");
	assert_string_equal(ts_fmt_count(out, NAN), "-");
	assert_string_equal(ts_fmt_pct(out, NAN), "-");
}

/* Nothing is too large for the caller's room. */
TEST(extremes_end_inside_the_room)
{
	static const double odd[] = { 1e300, -1e300, INFINITY, -INFINITY, 1.7e308, 5e-324 };
	char out[TS_UNIT_MAX];

	for (size_t i = 0; i < TS_NELEM(odd); i++) {
		assert_true(strlen(ts_fmt_bytes(out, odd[i])) < TS_UNIT_MAX);
		assert_true(strlen(ts_fmt_rate(out, odd[i])) < TS_UNIT_MAX);
		assert_true(strlen(ts_fmt_count(out, odd[i])) < TS_UNIT_MAX);
		assert_true(strlen(ts_fmt_pct(out, odd[i])) < TS_UNIT_MAX);
	}
	assert_true(strlen(ts_fmt_ps(out, INT64_MIN)) < TS_UNIT_MAX);
	assert_true(strlen(ts_fmt_ps(out, INT64_MAX)) < TS_UNIT_MAX);
}

TEST(an_ending_says_the_unit)
{
	static const struct {
		const char *name, *unit, *label, *text; /* of 1.5e12; NULL: none is said */
	} names[] = {
		{ "total_ps", "ps", "time", "1.50 s" },
		{ "step_time_ps.mean", "ps", "time", "1.50 s" },
		{ "per_step.idle_ps", "ps", "core time", "1.50 core-s" },
		{ "hta.exact.idle_ps", "ps", "core time", "1.50 core-s" },
		{ "hta.ranks.idle_ps", "ps", "time", "1.50 s" },
		{ "ops.self_time_ps", "ps", "core time", "1.50 core-s" },
		{ "memory.layout_copy_ps", "ps", "core time", "1.50 core-s" },
		{ "collectives.exposed_ps", "ps", "core time", "1.50 core-s" },
		{ "modules.total_time_ps", "ps", "core time", "1.50 core-s" },
		{ "timeline.total_time_ps", "ps", "time", "1.50 s" },
		{ "per_core.idle_ps", "ps", "time", "1.50 s" },
		{ "hbm_bytes", "bytes", "bytes", "1.36 TiB" },
		{ "bytes_accessed", "bytes", "bytes", "1.36 TiB" },
		{ "hbm_bytes_per_s", "B/s", "bandwidth", "1.50 TB/s" },
		{ "flops", "FLOP", "FLOPs", "1.50 T" },
		{ "peak_flops_per_s", "FLOP/s", "rate", "1.50 T/s" },
		{ "ridge_flops_per_byte", "FLOP/byte", "intensity", "1.5e+12" },
		{ "allocations_per_s", "/s", "rate", "1.50 T/s" },
		{ "idle_ms_per_min", "ms/min", "rate", "1.5e+12" },
		{ "idle_pct", "%", "share", "1500000000000.0 %" },
		{ "count", NULL, NULL, NULL },
		{ "", NULL, NULL, NULL },
	};
	char out[TS_UNIT_MAX];

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		const struct ts_unit *unit = ts_unit_of(ts_bytes_of(names[i].name));

		if (!names[i].unit) {
			assert_null(unit);
			continue;
		}
		assert_non_null(unit);
		assert_string_equal(unit->name, names[i].unit);
		assert_string_equal(unit->label, names[i].label);
		assert_string_equal(ts_fmt_unit(out, unit, 1.5e12), names[i].text);
	}
}

TEST(a_csv_adds_only_the_unit_that_a_name_does_not_say)
{
	assert_false(ts_unit_of(TS_LIT("hbm_operational_intensity"))->is_said);
	assert_true(ts_unit_of(TS_LIT("ridge_flops_per_byte"))->is_said);
}

/* The first line that fits counts, so a line below one that is its own ending is never reached. */
TEST(no_line_hides_another)
{
	static const char *const endings[] = {
#define ENDING(ending, kind, name, label, said) ending,
		TS_UNITS(ENDING)
#undef ENDING
	};

	for (size_t i = 0; i < TS_NELEM(endings); i++)
		assert_string_equal(ts_unit_of(ts_bytes_of(endings[i]))->ending, endings[i]);
}
