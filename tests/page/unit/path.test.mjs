// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { pathOf, timesOf } = await load("path.js");

const row = (device, kind) => ({ key: `${kind}${device}`, kind, device, host: "h", label: kind });
const ROWS = [row(0, "chip"), row(0, "steps"), row(1, "chip"), { ...row(null, "thread"), key: "thread", label: "main/1" }];
const step = (nr, start_ps, duration_ps, spans = null) => ({ step: nr, start_ps, duration_ps, ops_ps: duration_ps - 10, collectives_ps: 0, transfers_ps: 0, input_ps: 10, compile_ps: 0, launch_ps: 0, host_ps: 0, idle_ps: 0, spans });
const span = (device_id, kind, start_ps, dur_ps, op = null) => ({ device_id, kind, start_ps, dur_ps, op });
const report = { critical_path: {
	run: { total_ps: 400, ops_ps: 300, input_ps: 100 },
	steps: [step(7, 0, 100), step(8, 100, 200, [span(0, "op", 100, 50, "fusion.1"), span(1, "collective", 150, 40, "all-reduce.2"), span(0, "collective", 190, 10), span(0, "input", 200, 100)]), step(9, 300, 100)],
} };

test("the path is that of the report: each part in the row of its chip, a wait for the host in the row of the thread", () => {
	const path = pathOf(report, ROWS, [100, 300]);
	assert.deepEqual(path.map((s) => [s.key, s.start_ps, s.end_ps, s.kind, s.name]), [["chip0", 100, 150, "op", "fusion.1"], ["chip1", 150, 190, "collective", "all-reduce.2"], ["chip0", 190, 200, "collective", null], ["chip0", 200, 300, "input", null]]);
	const waits = { ...report, tracks: [{ device_id: 0, name: "Time classes", labels: ["Compute", "Input"], slices: [100, 200, 0, 200, 300, 1] }], time: { idle_gaps: [{ device_id: 0, start_ps: 200, duration_ps: 100, cause: "input", host_event: "next", host_thread: "main/1", ended_by: "f" }] } };
	assert.deepEqual(pathOf(waits, ROWS, [100, 300]).map((s) => s.key), ["chip0", "chip1", "chip0", "thread"]);
	assert.deepEqual(pathOf(report, ROWS, [0, 100]), []);
	assert.deepEqual(pathOf(report, [], [100, 300]), []);
	assert.deepEqual(pathOf({}, ROWS, null), []);
});

test("how long the path is in what comes from the report, of the steps in sight", () => {
	const one = timesOf(report, [110, 130]);
	assert.deepEqual([one.of, one.total, one.parts], ["step 8", 200, [{ words: "in ops", ps: 190 }, { words: "waiting for input", ps: 10 }]]);
	assert.equal(one.missing, null);
	const two = timesOf(report, [0, 300]);
	assert.deepEqual([two.of, two.total, two.parts[0].ps], ["steps 7 and 8", 300, 280]);
	assert.match(two.missing, /line of the path for step 8;/);
	assert.equal(timesOf(report, [0, 301]).of, "steps 7 and 8", "a sliver of a step is not that step");
	assert.deepEqual([timesOf(report, null).of, timesOf(report, null).total, timesOf(report, null).parts.length], ["the run", 400, 2]);
});

test("where the report has no path nothing is said", () => {
	assert.equal(timesOf({}, null), null);
	assert.equal(timesOf(report, [500, 600]), null);
	assert.deepEqual([timesOf({ critical_path: { run: { total_ps: 5, ops_ps: 5 }, steps: [] } }, [1, 2]).of], ["the run"]);
});
