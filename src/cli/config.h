/* SPDX-License-Identifier: MIT */
/*
 * The config file: a JSON object {"thresholds": {"mxu_utilization_low": 30, ...}, "step_mark": "train_step", "input_names": ["read_records",
 * "my_*", ...]}: host events that are input beside those that are known, by name or by its beginning.
 */
#ifndef TS_CLI_CONFIG_H
#define TS_CLI_CONFIG_H

#include "analysis/settings.h"
#include "base/status.h"

struct ts_arena;

/* TS_USAGE: there is no such threshold (the story names the one that is close), or the value is below
 * zero. */
enum ts_status ts_threshold_set(struct ts_settings *settings, struct ts_bytes name, double value,
				struct ts_error *err);
/* NAME: of host events that mark steps, or how they begin and '*'. */
enum ts_status ts_step_mark_set(struct ts_settings *settings, const char *name,
				struct ts_arena *arena, struct ts_error *err);
/* Sets what the text says; names are copied into the arena. An unknown name or a value that is not a number is
 * an error. */
enum ts_status ts_config_apply(struct ts_bytes text, struct ts_settings *settings,
			       struct ts_arena *arena, struct ts_error *err);

#endif
