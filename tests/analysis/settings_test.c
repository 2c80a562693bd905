/* SPDX-License-Identifier: MIT */
/* Thresholds: defaults, names, and what is refused. */
#include "tests/analysis/doctor/doctor_given.h"

TEST(defaults_are_those_of_the_list)
{
	struct ts_settings settings;

	memset(&settings, 0xff, sizeof(settings));
	ts_settings_init(&settings);
	assert_true(settings.mxu_utilization_low == 30);
	assert_true(settings.mxu_utilization_warning == 50);
	assert_true(settings.padding_waste_high == 30);
	assert_true(settings.compilation_time_high == 5000);
	assert_true(settings.max_findings == 20);
}

TEST(every_threshold_has_a_unit_and_help)
{
	for (const struct ts_setting *row = ts_setting_list; row->name; row++)
		if (!row->unit || !row->help || strlen(row->help) <= 10)
			fail_msg("%s has no unit, or no help", row->name);
}

TEST(a_name_sets_its_own_value_only)
{
	struct ts_settings settings, before;

	ts_settings_init(&settings);
	before = settings;
	assert_true(ts_settings_set(&settings, TS_LIT("padding_waste_high"), 12.5));
	assert_true(settings.padding_waste_high == 12.5);
	settings.padding_waste_high = before.padding_waste_high;
	assert_memory_equal(&settings, &before, sizeof(settings));
}

TEST(what_is_not_a_threshold_is_refused)
{
	struct ts_settings settings, before;

	ts_settings_init(&settings);
	before = settings;
	assert_false(ts_settings_set(&settings, TS_LIT("padding_waste"), 1));
	assert_false(ts_settings_set(&settings, TS_LIT("padding_waste_high2"), 1));
	assert_false(ts_settings_set(&settings, TS_LIT(""), 1));
	assert_false(ts_settings_set(&settings, TS_LIT("idle_high"), NAN));
	assert_false(ts_settings_set(&settings, TS_LIT("idle_high"), INFINITY));
	assert_false(ts_settings_set(&settings, TS_LIT("idle_high"), -1));
	assert_memory_equal(&settings, &before, sizeof(settings));
}
