// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { apart, folderOf, moments, ticks, trend, when } = await load("runs.js");

const RUNS = [{ id: "b", when_unix_ms: 200, step_median_ps: 50, gate: { state: "failed" } }, { id: "a", when_unix_ms: 100, step_median_ps: 100, gate: null }, { id: "c", when_unix_ms: null, step_median_ps: 1 }];

test("a trend is in the order of time, from 0, no dot stands on the edge, and it says what it leaves out", () => {
	const { points, low, high, left } = trend(RUNS);
	assert.deepEqual(points.map((p) => [p.run.id, p.isBad]), [["a", false], ["b", true]]);
	assert.ok(points[0].x > 0 && points[1].x < 1 && points[0].x < points[1].x);
	assert.ok(low === 0 && near(points[1].y, 50 / high) && points[0].y < 1);
	assert.equal(left, 1);
	assert.equal(trend([RUNS[1]]).points[0].x, 0.5);
	assert.deepEqual(trend([]).points, []);
});

test("an axis that does not begin at 0 has every run and the gate's limit", () => {
	const { points, low, high } = trend(RUNS, 105, false);
	assert.ok(low > 0 && low < 50 && high > 105);
	assert.ok(points.every((p) => p.y > 0 && p.y < 1));
	assert.ok(trend([RUNS[1]], null, false).low < 100);
});

test("axes have round values inside of their ends", () => {
	assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
	assert.deepEqual(ticks(93, 121, 5), [100, 110, 120]);
	assert.ok(ticks(0, 1.7e10, 5).length <= 6);
});

test("moments are days where days pass, and times within a day", () => {
	const day = 864e5;
	assert.deepEqual(moments(0, 4 * day, 5).map((m) => m.text), ["1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04", "1970-01-05"]);
	assert.deepEqual(moments(0, 2 * 36e5, 5).map((m) => m.text), ["1970-01-01 00:00", "1970-01-01 01:00", "1970-01-01 02:00"]);
	assert.deepEqual(moments(5, 5, 5).map((m) => m.text), ["1970-01-01 00:00"]);
	assert.equal(moments(1000, 2000, 5).length, 2);
});

test("when a run ran is said in full, or unknown", () => {
	assert.equal(when(0), "1970-01-01 00:00");
	assert.equal(when(null), "unknown");
});

test("names say what tells runs apart", () => {
	assert.deepEqual(apart(["/logs/adam/1", "/logs/muon/1"]), ["adam/1", "muon/1"]);
	assert.deepEqual(apart(["/logs/adam/2026_01_01_00_00_00", "/logs/muon/2026_01_02_00_00_00"]), ["adam", "muon"]);
	assert.deepEqual(apart(["/logs/adam/2026_01_01_00_00_00", "/logs/adam/2026_01_02_00_00_00"]), ["2026_01_01_00_00_00", "2026_01_02_00_00_00"]);
	assert.deepEqual(apart(["/logs/a", "/logs/a"]), ["a", "a"]);
	assert.deepEqual(apart(["/logs/a"]), ["/logs/a"]);
	assert.deepEqual(apart([]), []);
});

test("runs stand in a folder that has a name, not a path", () => {
	assert.equal(folderOf(["/home/ann/logs/a/plugins/profile/1", "/home/ann/logs/b/plugins/profile/1"]), "logs");
	assert.equal(folderOf(["/home/ann/logs/plugins/profile/1", "/home/ann/logs/plugins/profile/2"]), "logs");
	assert.equal(folderOf(["a", "b"]), null);
	assert.equal(folderOf([]), null);
});
