// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { also, columns, laid, oneByOne } = await load("strip.jsx");
const { BUCKETS } = await load("colors.js");

const step = (start_ps, duration_ps) => ({ start_ps, duration_ps, total_ps: 10, ...Object.fromEntries(BUCKETS.map((b) => [`${b}_ps`, b === "compute" ? 10 : 0])) });

test("the strip goes from 0 to the end of the capture, and nothing is drawn outside of steps", () => {
	const { times, of, parts } = columns([step(3e12, 2e12), step(5e12, 1e12), step(8e12, 1e12)], 12e12);
	assert.deepEqual(times, [0, 3e12, 5e12, 6e12, 8e12, 9e12, 12e12]);
	assert.deepEqual(of, [-1, 0, 1, -1, 2, -1, -1]);
	assert.deepEqual(parts[BUCKETS.indexOf("compute")], [0, 100, 100, 0, 100, 0, 0]);
});

test("of many steps, neighbours are drawn as one", () => {
	const { times, of } = columns(Array.from({ length: 4001 }, (_, i) => step(i * 10, 10)), 40010);
	assert.equal(of[1], 3);
	assert.equal(times[1], 30);
	assert.ok(times.length < 2000);
});

test("findings that overlap lie in rows, the first ones first, and one that has no row left does not hide another", () => {
	const at = (start_ps, end_ps, kind) => ({ start_ps, end_ps, kind });
	assert.deepEqual(laid([at(20, 30, 1), at(0, 10, 0), at(5, 25, 2)]), [[0, 10, 0, 20, 30, 1], [5, 25, 2]]);
	const ranges = [0, 1, 2, 3, 4, 5, 6].map((kind) => at(0, 100 - kind, kind));
	assert.deepEqual(laid([...ranges, at(95, 99, 7)]), [[0, 100, 0], [0, 99, 1], [0, 98, 2], [0, 97, 3], [0, 96, 4], [0, 95, 5, 95, 99, 7]]);
	assert.deepEqual(also(ranges, 2, 95, 0), [0, 1, 3, 4, 5]);
	assert.deepEqual(also(ranges, 2, 95, 1), [0, 1, 3, 4, 5, 6]);
	assert.deepEqual(laid([at(5, 5, 0)]), []);
	assert.deepEqual(laid([]), []);
});

test("steps of hosts are drawn one behind the other", () => {
	const at = (start_ps, duration_ps) => ({ start_ps, duration_ps });
	assert.deepEqual(oneByOne([at(5, 10), at(12, 8), at(13, 2), at(30, 5)]), [5, 15, 0, 15, 20, 1, 30, 35, 3]);
	assert.deepEqual(oneByOne([]), []);
});
