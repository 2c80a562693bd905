// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { colorOf, columns, heading, ticks } = await load("views/live.jsx");

const session = (path, captured_unix_ms, time_unix_ms, duty) => ({ type: "session", path, captured_unix_ms, time_unix_ms, sample: 1, metrics: { duty } });

test("sessions stand where they were captured, in that order, and no line joins two runs", () => {
	const found = columns([
		session("logs/b/plugins/profile/1", 9000, 100000, 3),
		session("logs/a/plugins/profile/2", 5000, 100001, 2),
		session("logs/a/plugins/profile/1", 1000, 100002, 1),
	], ["duty"]);
	assert.deepEqual(found, [[1, 5, 7, 9], [1, 2, null, 3]]);
});

test("a session whose start is unknown stands where it was annotated", () =>
	assert.deepEqual(columns([session("x", null, 4000, 1)], ["duty"]), [[4], [1]]));

test("samples have a gap where the watch paused", () => {
	const sample = (number, time_unix_ms) => ({ type: "sample", sample: number, time_unix_ms, metrics: { duty: number } });
	assert.deepEqual(columns([sample(1, 1000), sample(2, 2000), sample(3, 602000)], ["duty"]), [[1, 2, 302, 602], [1, 2, null, 3]]);
});

test("no two ticks have the same words", () => {
	const at = Date.UTC(2026, 0, 1, 9, 44, 18) / 1000;
	for (const step of [0.001, 0.25, 0.5, 1, 60, 86400]) {
		const labels = ticks([0, 1, 2, 3].map((i) => at + i * step));
		assert.equal(new Set(labels).size, 4, labels.join());
	}
	assert.match(ticks([at, at + 1])[0], /:44:18$/);
	assert.match(ticks([at, at + 0.5])[1], /:44:18\.5$/);
});

test("a point of a session says which it is and on which day it was captured", () => {
	const at = new Date(2026, 0, 2, 9, 44, 18).getTime();
	assert.equal(heading(session("logs/a/plugins/profile/1", at, 5, 1), at / 1000), "a/1, captured on 2 Jan 2026 at 09:44:18");
	assert.match(heading(session("logs/a/plugins/profile/1", null, at, 1), at / 1000), /, annotated on 2 Jan 2026/);
	assert.equal(heading({ type: "sample", sample: 1, time_unix_ms: at, metrics: {} }, at / 1000), "09:44:18");
});

test("a metric has the colour of its time class or none", () => {
	const colors = ["mxu_utilization_pct", "hbm_utilization_pct", "idle_pct", "communication_pct", "input_pct", "compiling_pct"].map(colorOf);
	assert.equal(new Set(colors).size, colors.length);
	assert.ok(colors.every((color) => /^#/.test(color)));
	assert.equal(colorOf("health_score"), null);
});
