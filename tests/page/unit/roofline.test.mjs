// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { axesOf, freePlace, mattering, placedOps, roofsOf, without } = await load("roofline.js");

const op = (more) => ({ kind: "op", flops_per_s: 100, operational_intensity: 2, bottleneck_operational_intensity: 4, self_time_ps: 10, self_time_pct: 1, ...more });

test("an op stands below the roof of what bounds it, and rows of steps have no place", () => {
	const rows = [op({}), op({ bottleneck_operational_intensity: null }), { ...op({}), kind: "step" }, op({ is_others: true })];
	assert.deepEqual(placedOps(rows).map((o) => [o.x, o.y]), [[4, 100], [2, 100]]);
});

test("what has no place is counted with its time, by the reason", () => {
	const rows = [op({}), op({ flops_per_s: 0, self_time_ps: 70, self_time_pct: 7 }), op({ flops_per_s: 0 }), op({ flops_per_s: null, self_time_ps: 5 }), op({ bottleneck_operational_intensity: null, operational_intensity: null, self_time_ps: null, self_time_pct: null })];
	const all = without(rows);
	assert.deepEqual(all.map((w) => [w.count, w.time_ps, w.share_pct]), [[2, 80, 8], [1, 5, 1], [1, 0, 0]]);
	assert.match(all[0].why, /no arithmetic/);
	assert.match(all[1].why, /unknown cost/);
	assert.match(all[2].why, /unknown number of bytes/);
	assert.deepEqual(without([op({})]), []);
});

test("what matters is what nearly all of the time goes to", () => {
	const ops = placedOps([op({ self_time_ps: 1 }), op({ self_time_ps: 990 }), op({ self_time_ps: 9 })]);
	assert.deepEqual(mattering(ops).map((o) => o.time_ps), [990]);
	const unknown = placedOps([op({ self_time_ps: null }), op({ self_time_ps: null })]);
	assert.equal(mattering(unknown).length, 2);
	assert.deepEqual(mattering([]), []);
});

test("axes reach around ops and ridges", () => {
	const roofs = roofsOf([{ device_kind: "v6e", memory: "HBM", peak_flops_per_s: 1000, bytes_per_s: 10, ridge_flops_per_byte: 100 }, { memory: "VMEM", peak_flops_per_s: null, bytes_per_s: 1 }]);
	assert.equal(roofs.length, 1);
	const { x, y } = axesOf(placedOps([op({})]), roofs);
	assert.ok(x[0] < 4 && x[1] > 100 && y[0] < 100 && y[1] > 1000);
});

test("the name of a roof stands where no dot touches it, else where the fewest do", () => {
	const across = [-10, 2];
	assert.equal(freePlace([], 80, 400, across), 0);
	assert.equal(freePlace([[200, 0, 4]], 80, 400, across), 0);
	const moved = freePlace([[20, 0, 4], [90, -8, 4]], 80, 400, across);
	assert.ok(moved > 94, `it stands at ${moved}`);
	assert.equal(freePlace([[20, 40, 4]], 80, 400, across), 0); // far below the line
	assert.equal(freePlace([[10, 0, 4]], 80, 60, across), 0); // there is no other place
});
