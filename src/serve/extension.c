/* SPDX-License-Identifier: MIT */
/* The three answers of an extension server, as JSON. */
#include "serve/extension.h"

#include "base/check.h"
#include "codec/json.h"
#include "trace/perfetto/sql.h"

#define QUERY "dev.perfetto.RunQueryAndShowTab"

static const struct macro {
	const char *id, *name, *command, *args[2];
} macros[] = {
	{ "PinRows",
	  "TPUsight: pin its rows",
	  "dev.perfetto.PinTracksByRegex",
	  { "^TPUsight: ", NULL } },
	{ "Findings",
	  "TPUsight: findings, the gravest first",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.findings; SELECT id, ts, max(dur) AS dur, track_id, "
	    "rank, severity, title, impact_ns, impact_pct, evidence, advice FROM tpusight_findings "
	    "GROUP BY finding ORDER BY rank",
	    "Findings" } },
	{ "TopOps",
	  "TPUsight: ops by self time",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.ops; SELECT module, name, category, count(*) AS "
	    "executions, sum(self_ns) AS self_ns FROM tpusight_ops GROUP BY 1, 2, 3 ORDER BY "
	    "self_ns DESC",
	    "Ops by self time" } },
	{ "TimeClasses",
	  "TPUsight: where the time of each core went",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.classes; SELECT device, name, sum(own_ns) AS own_ns "
	    "FROM tpusight_classes GROUP BY 1, 2 ORDER BY 1, 3 DESC",
	    "Time classes" } },
};

/* A list of one object. */
static void extension_put_named(struct ts_json *json, const char *key, const char *id,
				const char *name)
{
	ts_json_key(json, key);
	ts_json_array(json);
	ts_json_object(json);
	ts_json_put_text(json, "id", id);
	ts_json_put_text(json, "name", name);
	ts_json_object_end(json);
	ts_json_array_end(json);
}

static void put_feature(struct ts_json *json, const char *name)
{
	ts_json_object(json);
	ts_json_put_text(json, "name", name);
	ts_json_object_end(json);
}

void ts_extension_manifest(struct ts_buf *out)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_put_text(&json, "name", "TPUsight");
	ts_json_put_text(&json, "namespace", TS_SQL_PACKAGE);
	ts_json_key(&json, "features");
	ts_json_array(&json);
	put_feature(&json, "macros");
	put_feature(&json, "sql_modules");
	ts_json_array_end(&json);
	extension_put_named(&json, "modules", "default", "Default");
	ts_json_object_end(&json);
}

static void put_macro(struct ts_json *json, const struct macro *macro)
{
	char id[64];

	snprintf(id, sizeof(id), "%s.%s", TS_SQL_PACKAGE, macro->id);
	ts_json_object(json);
	ts_json_put_text(json, "id", id);
	ts_json_put_text(json, "name", macro->name);
	ts_json_key(json, "run");
	ts_json_array(json);
	ts_json_object(json);
	ts_json_put_text(json, "id", macro->command);
	ts_json_key(json, "args");
	ts_json_array(json);
	for (size_t i = 0; i < TS_NELEM(macro->args) && macro->args[i]; i++)
		ts_json_text(json, macro->args[i]);
	ts_json_array_end(json);
	ts_json_object_end(json);
	ts_json_array_end(json);
	ts_json_object_end(json);
}

void ts_extension_macros(struct ts_buf *out)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_json_key(&json, "macros");
	ts_json_array(&json);
	for (size_t i = 0; i < TS_NELEM(macros); i++)
		put_macro(&json, &macros[i]);
	ts_json_array_end(&json);
	ts_json_object_end(&json);
}

void ts_extension_sql(struct ts_buf *out)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);
	char name[64];

	ts_json_object(&json);
	ts_json_key(&json, "sql_modules");
	ts_json_array(&json);
	for (size_t i = 0; i < ts_nr_sql_modules; i++) {
		snprintf(name, sizeof(name), "%s.%s", TS_SQL_PACKAGE, ts_sql_modules[i].name);
		ts_json_object(&json);
		ts_json_put_text(&json, "name", name);
		ts_json_put_string(&json, "sql", ts_sql_modules[i].text);
		ts_json_object_end(&json);
	}
	ts_json_array_end(&json);
	ts_json_object_end(&json);
}
