// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { byShape, storedOf } = await load("layout.js");
const { graphOf, opOfKey, shortened } = await load("graph.js");
const { grouped, hasRoom, limitsOf, overSchedule } = await load("held.js");

// Shapes that libtpu compiled, with the bytes that it allocated.
const STORED = [
	["f32[16,16,500,500]{2,3,1,0:T(8,128)}", 4, 264241152],
	["bf16[16,16,500,500]{2,3,1,0:T(8,128)(2,1)}", 2, 132120576],
	["bf16[16,500,5000]{1,2,0:T(8,128)(2,1)}", 2, 81920000],
	["bf16[3,16,16,500,64]{3,4,1,2,0:T(8,128)(2,1)}", 2, 50331648],
	["bf16[16,500,2048,1,1]{2,1,4,0,3:T(8,128)(2,1)}", 2, 33030144],
	["f32[16,500]{1,0:T(8,128)}", 4, 32768],
	["pred[]{:T(512)}", 1, 512],
	["s32[4]{0:T(128)}", 4, 512],
	["f32[2,2048]{1,0:T(2,128)}", 4, 16384],
];

test("what is drawn of an array is what the compiler allocated", () => {
	for (const [text, each, allocated] of STORED) {
		const { columns, rows, planes } = storedOf(text);
		assert.equal(columns.stored * rows.stored * planes * each, allocated, text);
	}
	const { columns, rows, planes } = storedOf(STORED[0][0]);
	assert.deepEqual([columns.size, columns.stored, columns.dimension, rows.size, rows.stored, rows.dimension, planes], [500, 512, 2, 500, 504, 3, 256]);
	for (const text of ["f32[8,8]{1,0}", "f32[8]", "(f32[8]{0:T(128)}, s32[])", "", null, "f32[8,8]{1:T(8,128)}", "f32[0,8]{1,0:T(8,128)}"]) assert.equal(storedOf(text), null);
});

test("arrays of one shape stand together, the most waste first", () => {
	const row = (shape, logical_bytes, allocated_bytes) => ({ module: "m", name: "a", shape, logical_bytes, allocated_bytes });
	const all = byShape([row("x", 10, 11), row("y", 1, 100), row("x", 10, 11), row(null, 1, 2), { ...row("z", 0, 9), is_others: true }]);
	assert.deepEqual(all.map((a) => [a.shape, a.count, a.logical, a.allocated, a.names.length]), [["y", 1, 1, 100, 1], ["x", 2, 20, 22, 2]]);
	assert.deepEqual(byShape(undefined), []);
});

const pair = (producer, consumer, impact_ps = 1) => ({ module: "m", producer, consumer, impact_ps });

test("an op stands behind all that it reads from, each once", () => {
	const { places, columns, rows, edges } = graphOf([pair("a", "b"), pair("b", "c"), pair("a", "c"), pair("d", "c", 9)], 10);
	const x = (name) => places.get(`m\n${name}`).x;
	assert.deepEqual(["a", "b", "c", "d"].map(x), [0, 1, 2, 0]);
	assert.deepEqual([columns, rows, edges.length, edges[0].row.producer], [3, 2, 4, "d"]);
	assert.deepEqual(opOfKey("m\na"), { module: "m", name: "a" });
	assert.deepEqual(edges.filter((e) => e.to === "m\nc").map((e) => e.into).sort(), [0.25, 0.5, 0.75]);
	assert.equal(edges.find((e) => e.to === "m\nb").into, 0.5);
	const spots = [...places.values()].map((p) => `${p.x},${p.y}`);
	assert.equal(new Set(spots).size, spots.length);
});

test("a circle has an end, and only the costliest pairs are drawn", () => {
	const circle = graphOf([pair("a", "b"), pair("b", "a"), pair("c", "c")], 10);
	assert.equal(circle.places.size, 3);
	assert.equal(graphOf([pair("a", "b", 1), pair("c", "d", 2), { ...pair("x", "y", 9), is_others: true }], 1).edges[0].row.producer, "c");
	assert.deepEqual([...graphOf([], 5).places], []);
	const long = graphOf(Array.from({ length: 3000 }, (_, i) => pair(`n${i}`, `n${i + 1}`)), 3000);
	assert.equal(long.columns, 3001);
});

test("buffers are stacked over the schedule, and the peak is their sum", () => {
	const buffers = [{ op: "a", bytes: 10, from_position: 0, to_position: 9 }, { op: "b", bytes: 5, from_position: 3, to_position: 4 }, { op: "a", bytes: 1, from_position: 4, to_position: 4 }, { op: "c", bytes: 7, from_position: null, to_position: null }];
	const { xs, parts } = overSchedule(buffers, "op", 10);
	assert.deepEqual(xs, [0, 3, 4, 5, 10]);
	assert.deepEqual(parts.map((p) => [p.name, p.bytes, p.values]), [["a", 11, [10, 10, 11, 10, 0]], ["b", 5, [0, 5, 5, 0, 0]]]);
});

test("what is small is one part, and what has no name says so", () => {
	const parts = grouped(Array.from({ length: 20 }, (_, i) => ({ source: i ? `s${i}` : null, bytes: i + 1 })), "source");
	assert.equal(parts.length, 8);
	assert.deepEqual([parts[0].name, parts[7].name, parts[7].bytes], ["s19", "13 others", 91]);
	assert.equal(grouped([{ source: null, bytes: 1 }], "source")[0].name, "not named");
});

test("the peak is what the report says of the device, else what is drawn of it", () => {
	const points = [{ time_ps: 1, allocated_bytes: 5 }, { time_ps: 2, allocated_bytes: 9 }];
	const device = { host: "h", device: "d" };
	assert.deepEqual(limitsOf(device, [{ host: "h", device: "d", peak_bytes: 10, peak_time_ps: 3, capacity_bytes: 20 }], points), { capacity: 20, isLimit: false, peak: { at_ps: 3, bytes: 10 } });
	assert.deepEqual(limitsOf(device, [{ host: "h", name: "d", hbm_bytes: 16 }, { host: "g", device: "d", capacity_bytes: 1 }], points), { capacity: 16, isLimit: false, peak: { at_ps: 2, bytes: 9 } });
	assert.deepEqual(limitsOf(device, [], []), { capacity: null, isLimit: false, peak: null });
	assert.equal(limitsOf(device, [{ host: "h", device: "d", capacity_bytes: 12 }, { host: "h", name: "d", hbm_bytes: 16 }], points).isLimit, true);
	assert.ok(hasRoom(5, 20) && !hasRoom(4, 20) && !hasRoom(4, null));
});

test("a name that is too long keeps its end, where it differs from others", () => {
	assert.equal(shortened("slice_bitcast_fusion.11", 21), "slice_bitcas\u2026usion.11");
	assert.equal(shortened("fusion.1", 21), "fusion.1");
});
