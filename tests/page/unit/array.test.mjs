// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { lastTile, lossesOf, tilesOf } = await load("array.js");
const { nearest } = await load("dots.js");
const { middles } = await load("heat.jsx");

test("a product lies on the array in tiles, and the report's fill is theirs", () => {
	const tiles = tilesOf({ m: 500, n: 500, k: 64, batch: 256 }, 256);
	assert.deepEqual([tiles.across, tiles.down, tiles.full, tiles.edge, tiles.batch], [2, 1, 0, 2, 256]);
	assert.deepEqual(tiles.stream, { name: "M", size: 500, stored: 504 });
	assert.deepEqual(lastTile(tiles), { columns: 244, rows: 64 });
	assert.ok(Math.abs(100 * tiles.fill - 24.22030009920635) < 1e-9);
	const even = tilesOf({ m: 8000, n: 2048, k: 1024 }, 256);
	assert.deepEqual([even.full, even.edge, even.fill, even.batch], [32, 0, 1, 1]);
	assert.deepEqual(lastTile(even), { columns: 256, rows: 256 });
});

test("M and N change places where that fills more", () => {
	const tiles = tilesOf({ m: 8000, n: 64, k: 2048 }, 256);
	assert.deepEqual([tiles.stream.name, tiles.columns.name, tiles.across], ["N", "M", 32]);
	assert.ok(near(tiles.fill, 8000 / 8192));
	assert.equal(tilesOf({ m: 8, n: 8, k: null }, 256), null);
	assert.equal(tilesOf({ m: 8, n: 8, k: 8 }, null), null);
});

test("the steps from the peak end at what was reached", () => {
	const steps = lossesOf({ loss_shape_pct: 10, loss_memory_pct: 30, loss_other_pct: 20, u: 40 }, "u");
	assert.deepEqual(steps.map((s) => [s.key, s.from, s.to]), [["peak", 100, 0], ["loss_shape_pct", 100, 90], ["loss_memory_pct", 90, 60], ["loss_other_pct", 60, 40], ["reached", 40, 0]]);
	assert.deepEqual(lossesOf({ loss_shape_pct: null, loss_memory_pct: 30, u: 70 }, "u").map((s) => s.key), ["peak", "loss_memory_pct", "reached"]);
	assert.equal(lossesOf({ u: null }, "u"), null);
});

test("the pointer finds the nearest dot and none that is far away", () => {
	assert.equal(nearest([[0, 0], [10, 0], [10, 12]], 9, 8), 2);
	assert.equal(nearest([[0, 0]], 30, 0), -1);
	assert.equal(nearest([], 0, 0), -1);
});

test("columns have their names below their middles, as many as there is room for", () => {
	assert.deepEqual(middles(3, 400), [0.5, 1.5, 2.5]);
	assert.deepEqual(middles(20, 480), [0.5, 2.5, 4.5, 6.5, 8.5, 10.5, 12.5, 14.5, 16.5, 18.5]);
	assert.deepEqual(middles(2, 0), [0.5]);
});
