/* SPDX-License-Identifier: MIT */
/* The JSON report, read back by cJSON and held against the sample that went in. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "write/report_json.h"

#include "sample.h"

static const struct ts_report everything = { .generator = "tpusight", .version = "0.1.0" };

static cJSON *report_of(const struct ts_results *results, const struct ts_report *report)
{
	struct ts_buf out = TS_BUF_INIT;
	cJSON *json;

	assert_int_equal(ts_report_json(&out, results, report, NULL), TS_OK);
	json = cJSON_ParseWithLength((char *)out.p, out.n);
	assert_non_null(json);
	ts_buf_release(&out);
	return json;
}

/* "overview.step_time_ps.max", "ops.0.name": the item there. */
static cJSON *at(cJSON *json, const char *path)
{
	char part[64];

	while (json && *path) {
		size_t n = strcspn(path, ".");

		memcpy(part, path, n);
		part[n] = '\0';
		json = cJSON_IsArray(json) ? cJSON_GetArrayItem(json, (int)strtol(part, NULL, 10))
					   : cJSON_GetObjectItemCaseSensitive(json, part);
		path += n + (path[n] == '.');
	}
	return json;
}

static void assert_is(cJSON *json, const char *path, const char *printed)
{
	cJSON *item = at(json, path);
	char *text;

	if (!item)
		fail_msg("%s is not there", path);
	text = cJSON_PrintUnformatted(item);
	assert_string_equal(text, printed);
	free(text);
}

static void assert_keys(cJSON *json, const char *keys)
{
	char all[256] = "";
	size_t n = 0;
	cJSON *item;

	cJSON_ArrayForEach(item, json) n +=
		(size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? " " : "", item->string);
	assert_string_equal(all, keys);
}

TEST(report_has_every_value_where_its_name_says)
{
	static const char *const expected[][2] = {
		{ "schema", "\"tpusight/1\"" },
		{ "generator", "{\"name\":\"tpusight\",\"version\":\"0.1.0\"}" },
		{ "run.logdir", "\"profiles\"" },
		{ "run.duration_ps", "92600000000000" },
		{ "run.hosts",
		  "[{\"name\":\"h0\",\"file\":null,\"bytes\":4096,\"start_unix_ns\":null}]" },
		{ "run.devices.1.kind", "\"TPU v6 Lite\"" },
		{ "overview.health_score", "14" },
		{ "overview.duty_cycle_pct", "86.5" },
		{ "overview.mxu_utilization_pct", "null" },
		{ "overview.step_time_ps", "{\"mean\":0.5,\"max\":7}" },
		{ "ops.0.program_id", "\"18446744073709551615\"" },
		{ "ops.0.flops", "null" },
		{ "ops.0.is_remat", "true" },
		{ "ops.1", "{\"program_id\":\"7\",\"name\":\"fusion.12\",\"self_time_ps\":1000,"
			   "\"flops\":2000000000,\"is_remat\":false}" },
		{ "notes", "[\"steps are inferred from jit_f\"]" },
		{ "time.total_ps", "125320000000" },
		{ "time.buckets.compilation_ps", "10120000000" },
		{ "time.per_step.1", "{\"step\":1,\"total_ps\":62660000000}" },
		{ "time.notes", "[]" },
		{ "doctor.findings.0.severity", "\"critical\"" },
		{ "doctor.findings.0.severity_reason", "null" },
		{ "doctor.findings.0.gain_ps", "18750000000000" },
		{ "doctor.findings.0.gain_pct", "82" },
		{ "doctor.findings.0.merged", "[]" },
		{ "doctor.findings.1.gain_ps", "null" },
		{ "doctor.findings.1.gain_pct", "null" },
		{ "doctor.findings.0.impact_ps", "75000000000000" },
		{ "doctor.findings.0.impact_pct", "82" },
		{ "doctor.findings.0.where", "[{\"op\":\"copy.3\",\"module\":\"jit_f\",\"source\":"
					     "\"/home/u/host-offload.py:29\"}]" },
		{ "doctor.findings.1.impact_ps", "null" },
		{ "doctor.findings.1.impact_pct", "null" },
		{ "doctor.findings.1.code", "null" },
		{ "doctor.findings.1.where", "[]" },
		{ "doctor.findings.0.time_ranges",
		  "[{\"device\":2,\"start_ps\":3000,\"end_ps\":8000,\"example\":true}]" },
		{ "doctor.findings.0.start_ps", "3000" },
		{ "doctor.findings.0.links.xprof", "\"?run=r&node_name=copy.3#profile\"" },
		{ "doctor.findings.0.links.perfetto", "null" },
		{ "doctor.findings.1.time_ranges", "[]" },
		{ "doctor.findings.1.end_ps", "null" },
	};
	struct ts_results results;
	cJSON *json;

	sample_make(&results);
	json = report_of(&results, &everything);
	assert_keys(json, "schema generator run overview ops time doctor notes provenance");
	assert_keys(at(json, "time"), "total_ps buckets bottleneck per_step notes provenance");
	assert_keys(at(json, "doctor.findings.0"),
		    "id rule severity severity_reason title evidence "
		    "gain_ps gain_pct gain_alone_ps gain_low_ps gain_high_ps kind impact_ps "
		    "impact_pct ceiling "
		    "confidence start_ps end_ps advice code cause where "
		    "time_ranges links merged");
	for (size_t i = 0; i < TS_NELEM(expected); i++)
		assert_is(json, expected[i][0], expected[i][1]);
	assert_string_equal(cJSON_GetStringValue(at(json, "ops.0.name")), EVIL);
	cJSON_Delete(json);
	ts_results_release(&results);
}

TEST(each_number_says_where_it_comes_from)
{
	static const char *const expected[][2] = {
		{ "run.duration_ps", "measured" },
		{ "overview.mxu_utilization_pct", "unknown" },
		{ "overview.health_score", "derived" },
		{ "ops.flops", "compiled" },
	};
	struct ts_results results;
	cJSON *json, *origins;

	sample_make(&results);
	json = report_of(&results, &everything);
	origins = at(json, "provenance");
	for (size_t i = 0; i < TS_NELEM(expected); i++) /* dots belong to the key here */
		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
					    origins, expected[i][0])),
				    expected[i][1]);
	origins = at(json, "time.provenance");
	assert_string_equal(cJSON_GetStringValue(
				    cJSON_GetObjectItemCaseSensitive(origins, "per_step.total_ps")),
			    "measured");
	cJSON_Delete(json);
	ts_results_release(&results);
}

TEST(view_is_that_part_alone_with_the_run)
{
	static const char *const expected[][2] = {
		{ "ops", "schema generator run ops notes provenance" },
		{ "overview", "schema generator run overview ops notes provenance" },
		{ "time", "schema generator run time notes provenance" },
		{ "time.per_step", "schema generator run time notes provenance" },
		{ "doctor", "schema generator run doctor notes provenance" },
	};
	struct ts_results results;

	sample_make(&results);
	for (size_t i = 0; i < TS_NELEM(expected); i++) {
		struct ts_report report = everything;
		cJSON *json;

		report.view = expected[i][0];
		json = report_of(&results, &report);
		assert_keys(json, expected[i][1]);
		if (i == 3)
			assert_keys(at(json, "time"), "per_step notes provenance");
		cJSON_Delete(json);
	}
	ts_results_release(&results);
}

TEST(unknown_view_names_those_there_are)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_report report = everything;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	report.view = "nonsense";
	assert_int_equal(ts_report_json(&out, &results, &report, &err), TS_USAGE);
	assert_string_equal(err.text, "unknown view 'nonsense' (there are: overview, time, doctor, "
				      "and the tables of each)");
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}

TEST(without_a_run_it_is_null)
{
	struct ts_results results;
	struct ts_result *result;
	cJSON *json;

	ts_results_init(&results);
	sample_time(&results);
	json = report_of(&results, &everything);
	assert_is(json, "run", "null");
	assert_keys(json, "schema generator run time notes provenance");
	cJSON_Delete(json);
	result = TS_ADD(&results, overview); /* one that says so itself */
	TS_SET(result, overview, run.whole, ts_null());
	ts_result_field(result, "runs", ts_int(0), TS_MEASURED, NULL);
	json = report_of(&results, &everything);
	assert_is(json, "run", "null");
	assert_keys(json, "schema generator run time runs notes provenance");
	cJSON_Delete(json);
	ts_results_release(&results);
}

TEST(pretty_and_compact_are_the_same_report)
{
	struct ts_report report = everything;
	struct ts_results results;
	cJSON *compact, *pretty;

	sample_make(&results);
	compact = report_of(&results, &report);
	report.pretty = true;
	pretty = report_of(&results, &report);
	assert_true(cJSON_Compare(compact, pretty, true));
	cJSON_Delete(compact);
	cJSON_Delete(pretty);
	ts_results_release(&results);
}

TEST(results_that_are_not_whole_are_not_reported)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	results.failed = true;
	assert_int_equal(ts_report_json(&out, &results, &everything, NULL), TS_NOMEM);
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}
