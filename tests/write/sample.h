/* SPDX-License-Identifier: MIT */
/*
 * Results made by hand, small enough to write every output of them down: a run of two steps on two
 * cores, times that add up, one finding with a place and one without, names that try to escape. Tables
 * have fewer columns than the schema says: outputs take them as they are. No profile is behind them: a
 * change of an analysis changes no output here.
 */
#ifndef TESTS_WRITE_SAMPLE_H
#define TESTS_WRITE_SAMPLE_H

#include "result/schema/doctor.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"

#define EVIL "=cmd|' /C calc'!A0,\"</script>\x1b[2J"

static inline void sample_overview(struct ts_results *results)
{
	static const struct ts_column columns[] = {
		{ "program_id", TS_MEASURED, NULL },
		{ "name", TS_MEASURED, "op" },
		{ "self_time_ps", TS_MEASURED, "self time" },
		{ "flops", TS_COMPILED, "FLOPs" },
		{ "is_remat", TS_DERIVED, NULL },
	};
	struct ts_result *result = TS_ADD(results, overview);
	struct ts_overview_device_row *device;
	struct ts_value *row, list;
	struct ts_table *ops;

	TS_SET(result, overview, run.logdir, ts_text(ts_bytes_of("profiles")));
	TS_SET(result, overview, run.run, ts_text(ts_bytes_of("run1")));
	TS_SET(result, overview, run.session, ts_text(ts_bytes_of("2025_03_11")));
	TS_SET(result, overview, run.duration_ps, ts_int(92600000000000));
	list = TS_ITEMS(result, overview_host, 1);
	TS_ITEM_ROWS(list, overview_host)->name = ts_text(ts_bytes_of("h0"));
	TS_ITEM_ROWS(list, overview_host)->bytes = ts_int(4096);
	TS_SET(result, overview, run.hosts, list);
	list = TS_ITEMS(result, overview_device, 2);
	device = TS_ITEM_ROWS(list, overview_device);
	for (int i = 0; i < 2; i++) {
		device[i].id = ts_int(i);
		device[i].kind = ts_text(ts_bytes_of("TPU v6 Lite"));
		device[i].chip = ts_text(ts_bytes_of("TPU v6e"));
	}
	TS_SET(result, overview, run.devices, list);
	TS_SET(result, overview, overview.health_score, ts_int(14));
	TS_SET(result, overview, overview.duty_cycle_pct, ts_share_pct(0.865));
	TS_SET(result, overview, overview.mxu_utilization_pct, ts_null());
	TS_SET(result, overview, overview.step_count, ts_int(2));
	TS_SET(result, overview, overview.step_source, ts_text(ts_bytes_of("inferred from jit_f")));
	TS_SET(result, overview, overview.step_time_ps.mean, ts_real(0.5));
	TS_SET(result, overview, overview.step_time_ps.max, ts_int(7));
	ops = ts_result_table(result, "ops", "Ops by self time", columns, TS_NELEM(columns));
	row = ts_table_row(result, ops);
	row[0] = ts_id(UINT64_MAX);
	row[1] = ts_text(TS_LIT(EVIL));
	row[2] = ts_int(1234567);
	row[4] = ts_bool(true);
	row = ts_table_row(result, ops);
	row[0] = ts_id(7);
	row[1] = ts_text(ts_bytes_of("fusion.12"));
	row[2] = ts_int(1000);
	row[3] = ts_int(2000000000);
	row[4] = ts_bool(false);
	ts_result_note(result, "steps are inferred from %s", "jit_f");
}

static inline void sample_time(struct ts_results *results)
{
	static const struct ts_column columns[] = {
		{ "step", TS_MEASURED, "step" },
		{ "total_ps", TS_MEASURED, "total" },
	};
	struct ts_result *result = TS_ADD(results, time);
	struct ts_table *steps;
	struct ts_value *row;

	TS_SET(result, time, total_ps, ts_int(125320000000));
	TS_SET(result, time, buckets.compute_ps, ts_int(85200000000));
	TS_SET(result, time, buckets.memory_wait_ps, ts_int(25500000000));
	TS_SET(result, time, buckets.communication_ps, ts_int(0));
	TS_SET(result, time, buckets.rematerialization_ps, ts_int(4500000000));
	TS_SET(result, time, buckets.compilation_ps, ts_int(10120000000));
	TS_SET(result, time, bottleneck,
	       ts_text(ts_bytes_of("Your workload is compute-bound (good for TPU!)")));
	steps = ts_result_table(result, "per_step", NULL, columns, TS_NELEM(columns));
	for (int i = 0; i < 2; i++) {
		row = ts_table_row(result, steps);
		row[0] = ts_int(i);
		row[1] = ts_int(62660000000);
	}
}

static inline void sample_doctor(struct ts_results *results)
{
	static const struct ts_where where[] = {
		{ { (const uint8_t *)"copy.3", 6 },
		  { (const uint8_t *)"jit_f", 5 },
		  { (const uint8_t *)"/home/u/host-offload.py:29", 26 },
		  UINT32_MAX },
	};
	struct ts_result *result = TS_ADD(results, doctor);
	static const struct ts_when when[] = { { 2, true, 3000, 8000 } };
	struct ts_finding *finding = ts_result_finding(result);

	TS_SET(result, doctor, health_score, ts_int(14));
	*finding = (struct ts_finding){
		.id = TS_LIT("host_transfer:jit_f"),
		.rule = "host_transfer",
		.severity = TS_CRITICAL,
		.confidence = TS_CERTAIN,
		.title = TS_LIT("82 % of core time waits for copies to and from host memory"),
		.evidence = TS_LIT("4 copies of 5.0 GiB a step at 26 GB/s"),
		.advice = TS_LIT("keep the parameters in HBM"),
		.code = TS_LIT("x = jax.device_put(x, d)\n\ny = f(x)\n"),
		.impact_ps = 75000000000000,
		.impact_share = 0.82,
		.gain_ps = 18750000000000, /* on four cores */
		.gain_share = 0.82,
		.gain_alone_ps = 18750000000000,
		.gain_low_ps = -1,
		.gain_high_ps = -1,
		.is_headroom = true,
		.where = where,
		.nr_where = 1,
		.ceiling = "their core time",
		.when = when,
		.nr_when = 1,
		.links = { .xprof = TS_LIT("?run=r&node_name=copy.3#profile") },
	};
	finding = ts_result_finding(result);
	finding->id = TS_LIT("damage");
	finding->rule = "damage";
	finding->severity = TS_INFO;
	finding->confidence = TS_POSSIBLE;
	finding->title = TS_LIT("a file is cut off");
}

static inline void sample_make(struct ts_results *results)
{
	ts_results_init(results);
	sample_overview(results);
	sample_time(results);
	sample_doctor(results);
}

#endif
