/* SPDX-License-Identifier: MIT */
/* Thresholds from a JSON file. */
#include "cli/config.h"

#include <cjson/cJSON.h>

#include "base/check.h"
#include "base/closest.h"

static enum ts_status no_threshold(struct ts_bytes name, double number, struct ts_error *err)
{
	struct ts_closest closest = ts_closest_to(name);

	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++) {
		if (ts_bytes_is(name, setting->name))
			return ts_fail(err, TS_USAGE, "%g is below zero", number);
		ts_closest_try(&closest, setting->name);
	}
	if (closest.name[0])
		return ts_fail(err, TS_USAGE, "no threshold is called %.*s (did you mean %s?)",
			       TS_ARG(name), closest.name);
	return ts_fail(err, TS_USAGE,
		       "no threshold is called %.*s (tpusight thresholds lists them)",
		       TS_ARG(name));
}

enum ts_status ts_threshold_set(struct ts_settings *settings, struct ts_bytes name, double value,
				struct ts_error *err)
{
	TS_ASSERT(settings);
	return ts_settings_set(settings, name, value) ? TS_OK : no_threshold(name, value, err);
}

static enum ts_status apply_thresholds(const cJSON *thresholds, struct ts_settings *settings,
				       struct ts_error *err)
{
	const cJSON *item;
	enum ts_status st;

	if (!cJSON_IsObject(thresholds))
		return ts_fail(err, TS_USAGE, "\"thresholds\" is not an object");
	cJSON_ArrayForEach(item, thresholds)
	{
		if (!cJSON_IsNumber(item))
			return ts_fail(err, TS_USAGE, "threshold %s: the value is not a number",
				       item->string);
		st = ts_threshold_set(settings, ts_bytes_of(item->string), item->valuedouble, err);
		if (st)
			return st;
	}
	return TS_OK;
}

enum ts_status ts_config_apply(struct ts_bytes text, struct ts_settings *settings,
			       struct ts_error *err)
{
	const char *end = NULL;
	cJSON *root = cJSON_ParseWithLengthOpts((const char *)text.p, text.n, &end, 0);
	enum ts_status st = TS_OK;
	const cJSON *item;

	TS_ASSERT(settings);
	if (!cJSON_IsObject(root)) {
		st = ts_fail(err, TS_FORMAT, "byte %zu: not a JSON object",
			     end ? (size_t)(end - (const char *)text.p) : 0);
		goto done;
	}
	cJSON_ArrayForEach(item, root)
	{
		if (strcmp(item->string, "thresholds") != 0)
			st = ts_fail(err, TS_USAGE,
				     "\"%s\" means nothing here (known: \"thresholds\")",
				     item->string);
		else
			st = apply_thresholds(item, settings, err);
		if (st)
			break;
	}
done:
	cJSON_Delete(root);
	return st;
}
