/* SPDX-License-Identifier: MIT */
/* Thresholds by name: for --help, --threshold and the config file. */
#include "analysis/settings.h"
#include "analysis/settings_list.h"

#include <math.h>
#include <stddef.h>

#include "base/check.h"

const struct ts_setting ts_setting_list[] = {
#define ROW(name, unit, value, help) \
	{ #name, unit, help, offsetof(struct ts_settings, name), value },
	TS_SETTINGS(ROW)
#undef ROW
		{ NULL, NULL, NULL, 0, 0 },
};

static double *settings_place(struct ts_settings *settings, const struct ts_setting *row)
{
	return (double *)(void *)((char *)settings + row->offset);
}

void ts_settings_init(struct ts_settings *settings)
{
	for (const struct ts_setting *row = ts_setting_list; row->name; row++)
		*settings_place(settings, row) = row->value;
	settings->input_names = (struct ts_bytes){ NULL, 0 };
	settings->step_mark = (struct ts_bytes){ NULL, 0 };
}

double ts_settings_get(const struct ts_settings *settings, const struct ts_setting *setting)
{
	double value;

	TS_ASSERT(settings && setting);
	memcpy(&value, (const char *)settings + setting->offset, sizeof(value));
	return value;
}

bool ts_settings_set(struct ts_settings *settings, struct ts_bytes name, double value)
{
	if (!isfinite(value) || value < 0)
		return false;
	for (const struct ts_setting *row = ts_setting_list; row->name; row++) {
		if (!ts_bytes_is(name, row->name))
			continue;
		*settings_place(settings, row) = value;
		return true;
	}
	return false;
}
