/* SPDX-License-Identifier: MIT */
/*
 * Thresholds, settable with --threshold NAME=VALUE and the config file. Each is a line in
 * settings_list.h, which only files that read one of them include: a new threshold recompiles no other.
 */
#ifndef TS_ANALYSIS_SETTINGS_H
#define TS_ANALYSIS_SETTINGS_H

#include "base/bytes.h"

struct ts_settings;

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
