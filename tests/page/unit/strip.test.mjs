import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { columns } = await load("strip.jsx");
const { BUCKETS } = await load("parts.jsx");

const step = (start_ps, duration_ps) => ({ start_ps, duration_ps, total_ps: 10, ...Object.fromEntries(BUCKETS.map((b) => [`${b}_ps`, b === "compute" ? 10 : 0])) });

test("the strip goes from 0 to the end of the capture, and says what no step has", () => {
	const { x, of, parts } = columns([step(3e12, 2e12), step(5e12, 1e12), step(8e12, 1e12)], 12e12);
	assert.deepEqual(x, [0, 3, 5, 6, 8, 9, 12]);
	assert.deepEqual(of, [-1, 0, 1, -1, 2, -1]);
	assert.deepEqual(parts.at(-1), [100, 0, 0, 100, 0, 100, 100]);
	assert.deepEqual(parts[BUCKETS.indexOf("compute")], [0, 100, 100, 0, 100, 0, 0]);
});

test("steps that fill the run leave nothing outside", () => {
	const { x, parts } = columns([step(0, 1e12), step(1e12, 1e12)], 2e12);
	assert.deepEqual(x, [0, 1, 2]);
	assert.deepEqual(parts.at(-1), [0, 0, 0]);
});
