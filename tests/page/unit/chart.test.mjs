// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { holds, stacked, times } = await load("chart.jsx");
const { BUCKETS, bucketColor, shade } = await load("colors.js");

test("a point holds until the next one", () => {
	const xs = [1, 3, 5];
	assert.deepEqual([0, 1, 2.9, 3, 5, 99].map((x) => holds(xs, x)), [0, 0, 0, 1, 2, 2]);
	assert.equal(holds([7], 0), 0);
});

test("stacked columns are sums from below, the last on top and first in the list", () => {
	assert.deepEqual(stacked([[1, 2], [10, 20], [100, 200]]), [[111, 222], [11, 22], [1, 2]]);
});

test("an unknown part of a stack has no height", () => assert.deepEqual(stacked([[1, null], [null, 5]]), [[1, 5], [1, 0]]));

test("an axis has one unit, that of its longest time", () => {
	assert.deepEqual(times(1)(null, [0, 0.001, 0.5]), ["0 ms", "1 ms", "500 ms"]);
	assert.deepEqual(times(1e-3)(null, [0, 2000]), ["0 s", "2 s"]);
	assert.deepEqual(times(1)(null, [0]), ["0 ns"]);
});

test("shades reach from dark to light, and no further", () => {
	const light = (s) => shade(s).match(/\d+/g).reduce((sum, c) => sum + Number(c), 0);
	assert.ok(light(0) < light(0.5) && light(0.5) < light(1));
	assert.equal(shade(-1), shade(0));
	assert.equal(shade(2), shade(1));
});

test("each time class has a colour of its own", () => assert.equal(new Set(BUCKETS.map(bucketColor)).size, BUCKETS.length));
