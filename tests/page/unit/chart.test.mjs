import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { fromZero, held, holds, picking, shade, stacked, stepAt, stepEdges, stepTimes, times } = await load("chart.jsx");
const { BUCKETS, bucketColor } = await load("parts.jsx");

const STEPS = [0, 1, 2].map((i) => ({ step: i + 10, start_ps: i * 100, duration_ps: 90 }));

test("a point holds until the next one", () => {
	const xs = [1, 3, 5];
	assert.deepEqual([0, 1, 2.9, 3, 5, 99].map((x) => holds(xs, x)), [0, 0, 0, 1, 2, 2]);
	assert.equal(holds([7], 0), 0);
});

test("stacked columns are sums from below, the last on top and first in the list", () => {
	assert.deepEqual(stacked([[1, 2], [10, 20], [100, 200]]), [[111, 222], [11, 22], [1, 2]]);
});

test("an unknown part of a stack has no height", () => assert.deepEqual(stacked([[1, null], [null, 5]]), [[1, 5], [1, 0]]));

test("an axis of amounts begins at 0, also where the least of them is large", () => {
	const [low, high] = fromZero(null, 41, 100);
	assert.equal(low, 0);
	assert.ok(near(high, 105));
	assert.ok(fromZero(null, 0, 0)[1] > 0);
});

test("a step is as wide as any other, and its middle is its number", () => {
	assert.deepEqual(stepEdges(STEPS), [-0.5, 0.5, 1.5, 2.5]);
	assert.deepEqual([-5, -0.5, 0.49, 0.5, 2.4, 99].map((x) => stepAt(STEPS, x)), [0, 0, 0, 1, 2, 2]);
});

test("a choice of steps reaches from the first one's start to the last one's end", () => {
	assert.deepEqual(stepTimes(STEPS)(0.6, 2.4), [100, 290]);
	assert.deepEqual(stepTimes(STEPS)(-3, 99), [0, 290]);
});

test("the last value holds to its own end", () => assert.deepEqual(held([1, 2]), [1, 2, 2]));

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

test("dragging chooses a range, and a click does not", () => {
	const changes = [];
	const plot = (left, width) => ({ select: { left, width }, posToVal: (x) => x / 100, setSelect: () => {} });
	const [onSelect] = picking((change) => changes.push(change)).hooks.setSelect;
	onSelect(plot(10, 2));
	assert.deepEqual(changes, []);
	onSelect(plot(100, 200));
	assert.equal(changes.length, 1);
	assert.ok(near(changes[0].range[0], 1e12) && near(changes[0].range[1], 3e12));
});
