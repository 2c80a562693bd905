// SPDX-License-Identifier: MIT
// Where a finding is: op, line, chip and step, in the words of the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { placeOf, slowOf, stepAt } = await load("place.js");
const { traceLink } = await load("opdata.js");

const HOSTS = [{ name: "pod-w-0.zone", start_unix_ns: "1000000000" }, { name: "pod-w-1.zone", start_unix_ns: "1005000000" }];
const SLOW = { module: "m", op: "fusion.48", device: "/device:TPU:0", host: HOSTS[1].name, device_id: 1, since_step: 104, mean_ps: 40, others_ps: 20 };
const REPORT = {
	run: { hosts: HOSTS, devices: HOSTS.map((h, id) => ({ id, host: h.name, name: "/device:TPU:0" })) },
	steps: [{ step: 103, start_ps: 0, duration_ps: 10 }, { step: 104, start_ps: 10, duration_ps: 10 }, { step: null, is_others: true, start_ps: 0, duration_ps: 99 }],
	collective_cores: [{ device_id: 0, excess_ps: 1 }, { device_id: 1, excess_ps: 9, since_step: 103 }],
	op_cores: [SLOW],
	cache: { compilations: [{ function: "score", source: "model.py:22", host: HOSTS[0].name, start_ps: 12, duration_ps: 5 }] },
};
const at = (finding) => placeOf(REPORT, finding);

test("a moment lies in the step that has begun, and not in the sum of all others", () => {
	assert.deepEqual([0, 9, 10, 19, 20, null].map((t) => stepAt(REPORT, t)), [103, 103, 104, 104, null, null]);
});

test("a late chip is named with the op that makes it late and the step since which that is slow", () => {
	const place = at({ rule: "straggler", where: [{ op: "fusion.48", module: "m", source: "model.py:41" }, { op: "all-reduce", module: "m" }] });
	assert.deepEqual([place.op, place.source, place.who, place.device, place.since, place.what], [{ module: "m", name: "fusion.48" }, "model.py:41", "w-1 TPU:0", 1, 104, "is slow"]);
});

test("of a chip that is late without a slow op, the collective is named and since when it is late", () => {
	const place = at({ rule: "straggler", where: [{ op: "all-reduce", module: "m", source: "model.py:50" }] });
	assert.deepEqual([place.who, place.since, place.what], ["w-1 TPU:0", 103, null]);
});

test("a compilation is named with its function, host and step, whatever op stands at its line", () => {
	const place = at({ rule: "slow_steps", where: [{ op: "tanh", module: "jit_score", source: "other.py:1" }], time_ranges: [{ start_ps: 10, end_ps: 20 }] });
	assert.deepEqual([place.op, place.line, place.source, place.who, place.since, place.what], [null, { module: "jit_score", name: "tanh" }, "model.py:22", "w-0", 104, "score is compiled"]);
	assert.equal(at({ rule: "slow_steps", time_ranges: [{ start_ps: 0, end_ps: 10 }] }).what, null);
});

test("of any other finding the first op and its line stand there, and how many more there are", () => {
	const place = at({ rule: "padding_waste", where: [{ op: "add", module: "m", source: "model.py:7" }, { op: "mul", module: "m" }, { op: "sub", module: "m" }] });
	assert.deepEqual([place.op, place.source, place.who, place.since, place.more], [{ module: "m", name: "add" }, "model.py:7", null, null, 2]);
	assert.equal(at({ rule: "idle" }).op, null);
});

test("an op that is slow on one core says on which, in every finding that begins with it", () => {
	assert.deepEqual([at({ rule: "dominant_op", where: [{ op: "fusion.48", module: "m" }] })].map((p) => [p.who, p.what, p.since]), [["w-1 TPU:0", "is slowest", 104]]);
	assert.deepEqual(slowOf(REPORT, { op: "fusion.48", module: "another" }), []);
});

test("XProf's trace viewer is asked for the op's first execution by its host's own clock", () => {
	const row = { first_device: 1, first_start_ps: 20e9, first_end_ps: 30e9 };
	const link = new URLSearchParams(traceLink(REPORT.run, "pod/1", row).split("?").slice(1).join("?"));
	assert.deepEqual([link.get("view_start"), link.get("view_end")], ["14.500000", "25.500000"]);
	assert.equal(link.get("trace_data_url"), "/data/plugin/profile/data?run=pod%2F1&tag=trace_viewer%40&host=pod-w-1.zone");
	assert.equal(traceLink(REPORT.run, null, row), null);
	assert.equal(traceLink({ ...REPORT.run, hosts: HOSTS.map((host) => ({ ...host, file: "logs/rank0.json.gz" })) }, "pod/1", row), null, "XProf opens no trace in JSON");
	assert.equal(traceLink(REPORT.run, "pod/1", { first_device: null }), null);
});
