/* The config file: a JSON object {"thresholds": {"mxu_utilization_low": 30, ...}}. */
#ifndef TS_CLI_CONFIG_H
#define TS_CLI_CONFIG_H

#include "analysis/analysis.h"

/* Sets what the text says. An unknown name or a value that is no number is an error. */
enum ts_status ts_config_apply(struct ts_bytes text, struct ts_settings *settings,
			       struct ts_error *err);

#endif
