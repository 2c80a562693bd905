import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { apart, changed, headings, histograms, trend, waterfall, when } = await load("runs.js");

test("bars of a difference follow one another, from one run's step to the other's", () => {
	const parts = [{ part: "all", title: "the difference", run_1_change_ps: 5 }, { part: "a", title: "A", run_1_change_ps: -2 }, { part: "b", title: "B", run_1_change_ps: 7 }, { part: "c", title: "C", run_1_change_ps: 0 }, { part: "d", title: "D", run_1_change_ps: null }];
	assert.deepEqual(waterfall(parts, 100, "run_1_change_ps"), [{ title: "B", from: 100, to: 107, change: 7 }, { title: "A", from: 107, to: 105, change: -2 }]);
});

test("each step is in one bin, and all runs share the bins", () => {
	const { low, high, counts } = histograms([[10, 20, 20], [30]], 2);
	assert.deepEqual([low, high, counts], [10, 30, [[1, 2], [0, 1]]]);
	assert.deepEqual(histograms([[5, 5]], 3).counts, [[2, 0, 0]]);
	assert.equal(histograms([[], []], 3), null);
});

test("ops that differ most come first, faster ones too", () => assert.deepEqual(changed([{ n: 1, c: 2 }, { n: 2, c: -9 }, { n: 3, c: 0 }, { n: 4, c: null }], "c", 5).map((op) => op.n), [2, 1]));

test("a trend is in the order of time, from 0, and says what it leaves out", () => {
	const runs = [{ id: "b", when_unix_ms: 200, step_median_ps: 50, gate: { state: "failed" } }, { id: "a", when_unix_ms: 100, step_median_ps: 100, gate: null }, { id: "c", when_unix_ms: null, step_median_ps: 1 }];
	const { points, high, left } = trend(runs);
	assert.deepEqual(points.map((p) => [p.run.id, p.x, p.isBad]), [["a", 0, false], ["b", 1, true]]);
	assert.ok(near(points[1].y, 50 / high) && points[0].y < 1);
	assert.equal(left, 1);
	assert.equal(trend([runs[1]]).points[0].x, 0.5);
	assert.deepEqual(trend([]).points, []);
});

test("when a run ran is said in full, or unknown", () => {
	assert.equal(when(0), "1970-01-01 00:00");
	assert.equal(when(null), "unknown");
});

test("names say what tells runs apart", () => {
	assert.deepEqual(apart(["/logs/adam/1", "/logs/muon/1"]), ["adam/1", "muon/1"]);
	assert.deepEqual(apart(["/logs/a", "/logs/a"]), ["a", "a"]);
	assert.deepEqual(apart(["/logs/a"]), ["/logs/a"]);
	assert.deepEqual(apart([]), []);
});

test("columns of a comparison have the names of the runs", () => {
	assert.deepEqual(headings(["rule", "run_0_ps", "run_1_change_ps", "run_1", "run_7_count"], ["a", "b"], (n) => n), { run_0_ps: "a", run_1_change_ps: "b, change_ps", run_1: "b", run_7_count: "run_7_count, count" });
});
