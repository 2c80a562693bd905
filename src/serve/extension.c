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
	/* few enough to leave room for the trace: the run's, and the gravest findings */
	{ "PinRows",
	  "TPUsight: pin the rows of the run",
	  "dev.perfetto.PinTracksByRegex",
	  { "^TPUsight: (Steps|Critical path|[1-6] [a-z]+)$", NULL } },
	/* the questions of docs/perfetto.md */
	{ "TopOps",
	  "TPUsight: which ops take the time?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.ops; SELECT module, program_id, name, "
	    "category, count(*) AS executions, sum(self_ns) AS self_ns, sum(flops) AS "
	    "flops FROM tpusight_ops GROUP BY module, program_id, name, category ORDER BY "
	    "self_ns DESC",
	    "Which ops take the time" } },
	{ "Lines",
	  "TPUsight: which lines of the program take the time?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.ops; SELECT source, tf_op, count(*) AS "
	    "executions, sum(self_ns) AS self_ns FROM tpusight_ops GROUP BY 1, 2 ORDER BY "
	    "self_ns DESC",
	    "Which lines of the program take the time" } },
	{ "TimeClasses",
	  "TPUsight: where did the time of the cores go?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.classes; SELECT name, sum(own_ns) AS own_ns, "
	    "100.0 * sum(own_ns) / (SELECT sum(own_ns) FROM tpusight_classes) AS pct FROM "
	    "tpusight_classes GROUP BY 1 ORDER BY own_ns DESC",
	    "Where did the time of the cores go" } },
	{ "Steps",
	  "TPUsight: how long is a step, and why is one slow?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.steps; SELECT id, ts, dur AS step_ns, "
	    "track_id, step, source, slow_by_ns, cause, reason FROM tpusight_steps ORDER "
	    "BY step_ns DESC",
	    "How long is a step, and why is one slow" } },
	{ "Findings",
	  "TPUsight: what did the doctor find?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.findings; SELECT id, ts, max(dur) AS dur, "
	    "track_id, rank, severity, rule, title, impact_ns, impact_pct, evidence, "
	    "advice FROM tpusight_findings GROUP BY finding ORDER BY rank",
	    "What did the doctor find" } },
	{ "Padding",
	  "TPUsight: what does padding cost?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.padding; SELECT module, name, "
	    "max(time_lost_ns) AS time_lost_ns, max(logical_bytes) AS logical_bytes, "
	    "max(allocated_bytes) AS allocated_bytes, max(padded_flops_pct) AS "
	    "padded_flops_pct FROM tpusight_padding GROUP BY 1, 2 ORDER BY time_lost_ns "
	    "DESC",
	    "What does padding cost" } },
	{ "Waits",
	  "TPUsight: which asynchronous ops do the cores wait for?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.ops; SELECT module, name, count(*) AS waits, "
	    "sum(self_ns) AS wait_ns, max(dur) AS longest_ns FROM tpusight_ops WHERE name "
	    "GLOB '*-done*' GROUP BY 1, 2 ORDER BY wait_ns DESC",
	    "Which asynchronous ops do the cores wait for" } },
	{ "Collectives",
	  "TPUsight: what do collectives take, and on which device longest?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.ops; SELECT module, name, count(*) AS "
	    "executions, sum(dur) AS total_ns, max(dur) AS longest_ns, sum(bytes_accessed) "
	    "AS bytes FROM tpusight_collectives GROUP BY 1, 2 ORDER BY total_ns DESC",
	    "What do collectives take, and on which device longest" } },
	{ "Transfers",
	  "TPUsight: what is copied while the cores work?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.ops; SELECT device, name, count(*) AS "
	    "copies, sum(dur) AS total_ns, sum(bytes_accessed) AS bytes FROM "
	    "tpusight_transfers GROUP BY 1, 2 ORDER BY total_ns DESC",
	    "What is copied while the cores work" } },
	{ "Gaps",
	  "TPUsight: when did devices have nothing to run, and what did the host do?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.gaps; SELECT id, ts, dur, track_id, device, "
	    "cause, host_event, host_thread, ended_by FROM tpusight_gaps ORDER BY dur DESC",
	    "When did devices have nothing to run, and what did the host do" } },
	{ "CriticalPath",
	  "TPUsight: what is on the critical path?",
	  QUERY,
	  { "INCLUDE PERFETTO MODULE tpusight.path; SELECT step, kind, name, device, "
	    "count(*) AS spans, sum(dur) AS path_ns FROM tpusight_path GROUP BY 1, 2, 3, 4 "
	    "ORDER BY path_ns DESC",
	    "What is on the critical path" } },
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
