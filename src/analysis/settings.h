/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds, settable with --threshold NAME=VALUE and the config file. Each is a line in
 * settings_list.h.
 */
#ifndef TS_ANALYSIS_SETTINGS_H
#define TS_ANALYSIS_SETTINGS_H

#include "analysis/settings_list.h"
#include "base/bytes.h"

struct ts_settings {
#define MEMBER(name, unit, value, help) double name;
	TS_SETTINGS(MEMBER)
#undef MEMBER
};

struct ts_setting {
	const char *name, *unit, *help;
	size_t offset; /* of the double in struct ts_settings */
	double value;  /* by default */
};
extern const struct ts_setting ts_setting_list[]; /* name NULL at the end */
void ts_settings_init(struct ts_settings *settings);
double ts_settings_get(const struct ts_settings *settings, const struct ts_setting *setting);
/* False: no such threshold, or the value is negative or not a finite number. */
bool ts_settings_set(struct ts_settings *settings, struct ts_bytes name, double value);

#endif
