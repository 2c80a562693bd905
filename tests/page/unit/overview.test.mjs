// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { classesOf, lane, marksOf, percentile, profiledOf, programOf, rangesOf, slowSteps, splitOf, stepBins, topOps, verdictOf } = await load("overview.js");
const { bandOf } = await load("views/doctor.jsx");

const REPORT = {
	run: {
		duration_ps: 5e9, duration_of: "devices", capture_ps: 8e9,
		hosts: ["pod-w-0.zone", "pod-w-1.zone"].map((name, i) => ({ name, file: `/logs/${name}.xplane.pb`, bytes: 1024, start_unix_ns: `${1767225600000000000n + BigInt(i)}` })),
		devices: [0, 1, 2].map((id) => ({ id, host: "pod-w-0.zone", name: `/device:TPU:${id}`, chip: id < 2 ? "TPU v6e" : null, kind: "TPU v7", hbm_bytes: id < 2 ? 2 ** 35 : null })),
	},
	overview: { step_count: 3, step_time_ps: { median: 10, p90: 28, p99: 30 } },
	modules: [{ name: "jit_init", total_time_ps: 1, executions: 1 }, { name: "jit_step", total_time_ps: 9, executions: 6 }],
	steps: [{ step: 7, start_ps: 0, duration_ps: 10, source: "marked" }, { step: 8, start_ps: 10, duration_ps: 10, source: "marked" }, { step: 9, start_ps: 20, duration_ps: 30, source: "marked" }],
	time: {
		total_ps: 1000, buckets: { compute_ps: 250, memory_wait_ps: 0, idle_ps: 750 }, bottleneck: "Your workload is compute-bound (good for TPU!)", bottleneck_bucket: "compute", bottleneck_evidence: "60 % of core time is what the matrix units need",
		steps_outliers: [{ step: 9, start_ps: 20, cause: "compilation", reason: "Compilation, with the host in compile" }],
	},
	ops: [
		{ module: "m", name: "fusion.1", self_time_ps: 100, bucket: "compute", compute_ps: 50, below_roofline_ps: 40, memory_wait_ps: 10, unexplained_ps: 0, framework_op: "jit(f)/bhst,bhtk->bhsk/dot_general", source: "a/b/model.py:26" },
		{ module: "m", name: "all-reduce.2", self_time_ps: 200, bucket: "communication", compute_ps: 0, memory_wait_ps: 0, unexplained_ps: 0, category: "all-reduce" },
		{ is_others: true, name: "3 others", self_time_ps: 900 },
		{ module: "", name: "void k<1>()", self_time_ps: 5, bucket: "unexplained", unexplained_ps: 5, category: "kernel" },
	],
	kernels: [{ name: "void k<1>()", op: "aten::mm" }],
};

test("what was profiled is said in words, and what is not there is not made up", () => {
	const said = Object.fromEntries(profiledOf(REPORT));
	assert.equal(said.Chips, "2 \u00d7 TPU v6e, 32.0 GiB each; 1 \u00d7 TPU v7");
	assert.equal(said.Hosts, "2: w-0, w-1");
	assert.equal(said.Program, "jit_step, 6 executions, and 1 other module");
	assert.equal(said.Steps, "3, 7 to 9, marked by the program");
	assert.equal(said.Began, "2026-01-01 00:00 UTC");
	assert.equal(said.Length, "5.00 ms from the first to the last event of devices, in a capture of 8.00 ms");
	assert.equal(said.Profile, "2 files, 2.00 KiB");
	const empty = Object.fromEntries(profiledOf({ run: { hosts: [], devices: [] } }));
	assert.deepEqual(empty, { Chips: "none: no TPU or GPU ran", Hosts: null, Program: "not named: the profile has no compiled module", Steps: "none", Began: null, Length: null, Profile: null });
	assert.equal(Object.fromEntries(profiledOf({ run: { duration_ps: 1e9, duration_of: "capture", capture_ps: 1e9 } })).Length, "a capture of 1.00 ms");
	assert.match(Object.fromEntries(profiledOf({ run: { hosts: Array.from({ length: 64 }, (_, i) => `pod-w-${i}`).sort().map((name) => ({ name })) } })).Hosts, /^64: w-0 to w-63$/);
	assert.equal(programOf([{ name: "a", total_time_ps: null }, { name: "b", total_time_ps: null }]), null);
	assert.equal(programOf([{ name: "a", total_time_ps: null }]).name, "a");
});

test("no praise stands above a warning, and the rate is said once", () => {
	const verdict = (severity) => verdictOf({ ...REPORT, doctor: { findings: severity ? [{ severity }] : [] } });
	assert.equal(verdict("warning").verdict, "Your workload is compute-bound");
	assert.equal(verdict("critical").verdict, "Your workload is compute-bound");
	assert.equal(verdict("info").verdict, "Your workload is compute-bound (good for TPU!)");
	assert.equal(verdict().rate, "60 % of core time is what the matrix units need");
	assert.equal(verdictOf({ time: { bottleneck: "Nothing dominates: compute 3 %", bottleneck_evidence: "3 %" } }).rate, "");
	assert.equal(verdictOf({ time: { bottleneck: null } }), null);
	assert.equal(verdictOf({}), null);
});

test("a figure that the verdict excuses is not called poor", () => {
	const kpi = (name, band) => ({ name, band, band_reason: null });
	assert.equal(bandOf(kpi("memory_bandwidth", "poor"), "compute").band, "neutral");
	assert.match(bandOf(kpi("memory_bandwidth", "poor"), "compute").reason, /bound by compute/);
	assert.equal(bandOf(kpi("memory_bandwidth", "poor"), "communication").band, "poor");
	assert.equal(bandOf(kpi("mxu_utilization", "poor"), "memory_wait").band, "neutral");
	assert.equal(bandOf(kpi("idle", "poor"), null).band, "poor");
	assert.deepEqual(bandOf({ name: "x", band: "neutral", band_reason: "why" }, null), { band: "neutral", reason: "why" });
});

test("classes have shares of core time, and those without time are left out", () => {
	assert.deepEqual(classesOf(REPORT), [{ bucket: "compute", ps: 250, share: 25 }, { bucket: "idle", ps: 750, share: 75 }]);
	assert.deepEqual(classesOf({ time: { total_ps: null, buckets: {} } }), []);
});

test("ops are called by what a person wrote, and divided as their time is", () => {
	const ops = topOps(REPORT, 10);
	assert.deepEqual(ops.map((o) => o.op.name), ["all-reduce.2", "fusion.1", "void k<1>()"]);
	assert.deepEqual(ops.map((o) => o.says), ["all-reduce", "bhst,bhtk->bhsk \u00b7 model.py:26", "aten::mm"]);
	assert.deepEqual(ops.map((o) => o.share), [20, 10, 0.5]);
	assert.deepEqual(ops[1].parts, [{ bucket: "compute", share: 50 }, { bucket: "below_roofline", share: 40 }, { bucket: "memory_wait", share: 10 }]);
	assert.deepEqual(ops[0].parts, [{ bucket: "communication", share: 100 }]);
	assert.deepEqual(splitOf({ bucket: null }), []);
	assert.equal(topOps(REPORT, 1).length, 1);
	assert.deepEqual(topOps({}, 5), []);
});

test("each step is in one bin, and the bins go from the shortest to the longest", () => {
	const steps = Array.from({ length: 100 }, (_, i) => ({ step: i, start_ps: i, duration_ps: 100 + i }));
	const bins = stepBins(steps);
	assert.equal(bins.length, 20);
	assert.equal(bins.reduce((n, b) => n + b.count, 0), 100);
	assert.ok(near(bins[0].from, 100) && near(bins.at(-1).to, 199));
	assert.ok(bins.every((b) => b.count === 5));
	assert.deepEqual(stepBins([{ duration_ps: 5 }, { duration_ps: 5 }]), [{ from: 5, to: 5, count: 2 }]);
	assert.deepEqual(stepBins([]), []);
	assert.equal(stepBins(steps.slice(0, 2)).length, 6);
});

test("percentiles are the report's for all steps, and worked out for a part of them", () => {
	assert.equal(percentile([], 0.5), null);
	assert.equal(percentile([1, 2, 3, 4], 0.5), 2.5);
	assert.equal(percentile([4, 1, 3, 2], 1), 4);
	assert.deepEqual(marksOf(REPORT, REPORT.steps, REPORT.steps), [{ name: "median", ps: 10 }, { name: "p90", ps: 28 }, { name: "p99", ps: 30 }]);
	assert.deepEqual(marksOf(REPORT, REPORT.steps.slice(1), REPORT.steps).map((m) => m.ps)[0], 20);
	assert.deepEqual(marksOf({}, [], []), []);
});

test("slow steps are those of the report; where it has none, the longest is not called slow", () => {
	const slow = slowSteps(REPORT, REPORT.steps);
	assert.deepEqual(slow.map((s) => [s.step.step, s.excess, s.isSlow, s.reason]), [[9, 200, true, "Compilation, with the host in compile"]]);
	const [longest, ...others] = slowSteps({ ...REPORT, time: {} }, REPORT.steps);
	assert.deepEqual([longest.step.step, longest.isSlow, longest.reason, others.length], [9, false, null, 0]);
	assert.deepEqual(slowSteps({ overview: { step_time_ps: { median: 10 } } }, [{ step: 1, start_ps: 0, duration_ps: 10 }]), []);
});

test("moments of a finding lie in a row one behind the other, and keep their places in its list", () => {
	const ranges = [{ start_ps: 50, end_ps: 90 }, { start_ps: 0, end_ps: 60 }, { start_ps: 55, end_ps: 58 }];
	assert.deepEqual(lane(ranges), [0, 60, 1, 60, 90, 0]);
	assert.deepEqual(lane([]), []);
	const report = { doctor: { ranges: [{ finding: "a", start_ps: 0, end_ps: 1 }, { finding: "a", start_ps: 5, end_ps: 9 }, { finding: "b", start_ps: 0, end_ps: 9 }] } };
	assert.deepEqual(rangesOf(report, { id: "a" }).map((r) => r.start_ps), [5, 0]);
	assert.deepEqual(rangesOf(report, { id: "a", time_ranges: [{ start_ps: 3, end_ps: 4 }] }).map((r) => r.start_ps), [3]);
});
