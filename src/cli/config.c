/* SPDX-License-Identifier: MIT */
/* Thresholds, names of input and the mark of a step, from a JSON file. */
#include "cli/config.h"

#include <cjson/cJSON.h>

#include "analysis/settings_list.h"
#include "base/arena.h"
#include "base/buf.h"
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
		return ts_fail(err, TS_USAGE, "unknown threshold '%.*s' (did you mean '%s'?)",
			       TS_ARG(name), closest.name);
	return ts_fail(err, TS_USAGE, "unknown threshold '%.*s' (tpusight thresholds lists them)",
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

static bool is_input_name(const cJSON *item)
{
	return cJSON_IsString(item) && item->valuestring[0] && !strchr(item->valuestring, '\n') &&
	       strcmp(item->valuestring, "*") != 0;
}

static enum ts_status apply_input_names(const cJSON *names, struct ts_settings *settings,
					struct ts_arena *arena, struct ts_error *err)
{
	struct ts_buf all = TS_BUF_INIT;
	const cJSON *item;

	if (!cJSON_IsArray(names))
		return ts_fail(err, TS_USAGE, "\"input_names\" is not a list");
	cJSON_ArrayForEach(item, names)
	{
		if (!is_input_name(item)) {
			ts_buf_release(&all);
			return ts_fail(err, TS_USAGE,
				       "\"input_names\" are names of host events, or begin as they "
				       "do and end in *");
		}
		ts_buf_printf(&all, "%s\n", item->valuestring);
	}
	settings->input_names = ts_arena_copy(arena, ts_buf_bytes(&all));
	arena->failed |= all.failed;
	ts_buf_release(&all);
	return arena->failed ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_step_mark_set(struct ts_settings *settings, const char *name,
				struct ts_arena *arena, struct ts_error *err)
{
	TS_ASSERT(settings && name && arena);
	if (!name[0] || strchr(name, '\n') || strcmp(name, "*") == 0)
		return ts_fail(err, TS_USAGE,
			       "a step mark is the name of a host event, or begins as it does and "
			       "ends in *");
	settings->step_mark = ts_arena_printf(arena, "%s\n", name);
	return settings->step_mark.p ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status apply_key(const cJSON *item, struct ts_settings *settings,
				struct ts_arena *arena, struct ts_error *err)
{
	if (strcmp(item->string, "thresholds") == 0)
		return apply_thresholds(item, settings, err);
	if (strcmp(item->string, "input_names") == 0)
		return apply_input_names(item, settings, arena, err);
	if (strcmp(item->string, "step_mark") == 0)
		return cJSON_IsString(item)
			       ? ts_step_mark_set(settings, item->valuestring, arena, err)
			       : ts_fail(err, TS_USAGE, "\"step_mark\" is not a text");
	return ts_fail(err, TS_USAGE,
		       "unknown key \"%s\"; known keys: \"thresholds\", \"input_names\", "
		       "\"step_mark\"",
		       item->string);
}

enum ts_status ts_config_apply(struct ts_bytes text, struct ts_settings *settings,
			       struct ts_arena *arena, struct ts_error *err)
{
	const char *end = NULL;
	cJSON *root = cJSON_ParseWithLengthOpts((const char *)text.p, text.n, &end, 0);
	enum ts_status st = TS_OK;
	const cJSON *item;

	TS_ASSERT(settings && arena);
	if (!cJSON_IsObject(root))
		st = ts_fail(err, TS_FORMAT, "byte %zu: not a JSON object",
			     end ? (size_t)(end - (const char *)text.p) : 0);
	for (item = root ? root->child : NULL; item && st == TS_OK; item = item->next)
		st = apply_key(item, settings, arena, err);
	cJSON_Delete(root);
	return st;
}
