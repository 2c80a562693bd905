// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { isCoarse, ofHosts, withIdle } = await load("tracks.jsx");

test("where no op ran is a slice of its own, from the first event of the run to the last", () => {
	assert.deepEqual(withIdle([10, 20, 0, 20, 30, 1, 50, 60, 0], [5, 70], 9), [5, 10, 9, 10, 20, 0, 20, 30, 1, 30, 50, 9, 50, 60, 0, 60, 70, 9]);
	assert.deepEqual(withIdle([10, 20, 0], [10, 20], 9), [10, 20, 0]);
	assert.deepEqual(withIdle([10, 20, 0, 30, 40, 1], [Infinity, -Infinity], 9), [10, 20, 0, 30, 40, 1]);
});

test("what hosts did is drawn once a host", () => {
	const report = { run: { devices: [{ id: 0, host: "a" }, { id: 1, host: "a" }, { id: 2, host: "b" }] } };
	assert.deepEqual(ofHosts(report, [{ device_id: 0 }, { device_id: 1 }, { device_id: 2 }]), [{ device_id: 0 }, { device_id: 2 }]);
});

test("slices that were joined until they show another class than the core's time was of are not drawn", () => {
	const labels = ["Compute", "Memory wait", "Communication"];
	const report = { time: { per_core: [{ device_id: 0, total_ps: 100, compute_ps: 40, memory_wait_ps: 0, communication_ps: 60 }] } };
	const track = (slices) => [{ device_id: 0, labels, slices }];
	assert.ok(isCoarse(report, track([0, 100, 2])));
	assert.ok(!isCoarse(report, track([0, 40, 0, 40, 100, 2])));
	assert.ok(!isCoarse({ time: {} }, track([0, 100, 2])));
});
