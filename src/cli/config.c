/* Thresholds from a JSON file. */
#include "cli/config.h"

#include <cjson/cJSON.h>

#include "analysis/settings.h"

static enum ts_status apply_thresholds(const cJSON *thresholds, struct ts_settings *settings,
				       struct ts_error *err)
{
	const cJSON *item;

	if (!cJSON_IsObject(thresholds))
		return ts_fail(err, TS_USAGE, "\"thresholds\" is no object");
	cJSON_ArrayForEach(item, thresholds)
	{
		if (!cJSON_IsNumber(item))
			return ts_fail(err, TS_USAGE, "threshold %s: the value is no number",
				       item->string);
		if (!ts_settings_set(settings, ts_bytes_of(item->string), item->valuedouble))
			return ts_fail(err, TS_USAGE, "no threshold is called %s", item->string);
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
