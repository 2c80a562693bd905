// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { load, near } from "./page.mjs";

const { inside, outside, overSteps, panned, rangeText, runEnd, sliceAt, timeTexts, TimeScale, zoomed } = await load("timescale.js");
const { spread } = await load("tracks.jsx");

const step = (start_ps, duration_ps) => ({ start_ps, duration_ps });

test("the axis ends with the capture, or with what ran last", () => {
	assert.equal(runEnd({ run: { capture_ps: 10 }, time: { wall_start_ps: 2, wall_ps: 5 } }), 10);
	assert.equal(runEnd({ run: { capture_ps: null }, time: { wall_start_ps: 2, wall_ps: 5 } }), 7);
	assert.equal(runEnd({}), 0);
});

test("a range stays in the capture, and all of it is not a choice", () => {
	assert.deepEqual(inside([-5e6, 5e6], 20e6), [0, 10e6]);
	assert.deepEqual(inside([15e6, 25e6], 20e6), [10e6, 20e6]);
	assert.equal(inside([-1, 21e6], 20e6), null);
	const least = inside([5e6, 5e6], 20e6);
	assert.ok(least[1] - least[0] > 0);
});

test("what is under the pointer stays there when less is shown", () => {
	const [from, to] = zoomed([0, 100], 25, 0.5);
	assert.deepEqual([from, to], [12.5, 62.5]);
	assert.ok(near((25 - from) / (to - from), 0.25));
	assert.deepEqual(panned([10, 30], 0.5), [20, 40]);
});

test("steps stand where they ran, with what is between them", () => {
	assert.deepEqual(overSteps([step(10, 10), step(20, 5), step(40, 10)], 60), { times: [0, 10, 20, 25, 40, 50, 60], of: [-1, 0, 1, -1, 2, -1, -1] });
	assert.deepEqual(overSteps([step(0, 10)], 10), { times: [0, 10], of: [0, -1] });
	assert.deepEqual(overSteps([step(0, 10), step(5, 10), step(6, 2)], 15), { times: [0, 10, 15], of: [0, 1, -1] });
});

test("time outside of steps is known where all steps are", () => {
	assert.deepEqual(outside([step(10, 10), step(30, 10)], 50), [[0, 10], [20, 30], [40, 50]]);
	assert.deepEqual(outside([step(10, 10), { is_others: true, start_ps: null }], 50), []);
	assert.deepEqual(outside(undefined, 50), []);
});

test("a slice is found by its time", () => {
	const slices = [0, 10, 0, 10, 20, 1, 30, 40, 0];
	assert.deepEqual([-1, 0, 9, 10, 25, 39, 40].map((at) => sliceAt(slices, at)), [0, 0, 0, 3, 6, 6, 9]);
});

test("a band reaches from the least to the most, with the mean between", () => {
	assert.deepEqual(spread([{ points: [0, 1, 20, 2] }, { points: [10, 7] }]), { times: [0, 10, 20], low: [1, 1, 2], mean: [1, 4, 4.5], high: [1, 7, 7] });
	assert.deepEqual(spread([{ points: [0, 1, 20, 2] }]), { times: [0, 20], low: [1, 2], mean: [1, 2], high: [1, 2] });
});

test("a gesture moves all charts at once, chooses when it stands still, and Escape leads back", () => {
	mock.timers.enable({ apis: ["setTimeout"] });
	const chosen = [];
	let told = 0;
	const scale = new TimeScale((range) => {
		chosen.push(range);
		scale.be(range, 1e9);
	});
	scale.be(null, 1e9);
	scale.listen(() => told++);
	scale.zoom(0.5, 0);
	scale.zoom(0.5, 0);
	assert.deepEqual([scale.now(), told, chosen.length], [[0, 2.5e8], 2, 0]);
	scale.be(null, 1e9); // something else was drawn meanwhile
	assert.deepEqual(scale.now(), [0, 2.5e8]);
	mock.timers.tick(1000);
	assert.deepEqual(chosen, [[0, 2.5e8]]);
	scale.pan(0.5);
	mock.timers.tick(1000);
	scale.pick([2e8, 3e8]);
	assert.deepEqual(chosen.slice(1), [[1.25e8, 3.75e8], [2e8, 3e8]]);
	for (const before of [[1.25e8, 3.75e8], [0, 2.5e8], null, null]) {
		scale.back();
		assert.deepEqual(chosen.at(-1), before);
	}
	assert.deepEqual(scale.now(), [0, 1e9]);
	mock.timers.reset();
});

test("nothing moves where there is no time", () => {
	const scale = new TimeScale(() => assert.fail("something was chosen"));
	scale.zoom(0.5);
	scale.pan(1);
	assert.equal(scale.chosen(), null);
});

test("times that are near each other are written so that they differ", () => {
	assert.equal(rangeText([30e12, 30.002e12]), "30.000 s to 30.002 s");
	assert.equal(rangeText([0, 405e9]), "0 ms to 405 ms");
	assert.equal(rangeText([236154000000, 236154020000]), "236.15400 ms to 236.15402 ms");
	assert.deepEqual(timeTexts([0, 2.5e9, 5e9]), ["0.0 ms", "2.5 ms", "5.0 ms"]);
	assert.deepEqual(timeTexts([0, 25e7, 5e8, 75e7, 1e9]), ["0.00 ms", "0.25 ms", "0.50 ms", "0.75 ms", "1.00 ms"]);
	assert.deepEqual(timeTexts([30e12, 30.00001e12, 30.00002e12]), ["30.00000 s", "30.00001 s", "30.00002 s"]);
	assert.deepEqual(timeTexts([1000, 1001]), ["1.000 ns", "1.001 ns"]);
});
