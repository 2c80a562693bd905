// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { build, children, find, folded, heaviest, visit, WEIGHTS } = await load("views/flame_tree.js");

const [CPU, DEVICE, COUNT] = WEIGHTS;
const frame = (name, parent, cpu, device = 0, more = {}) => ({ name, parent, category: "python", count: 1, cpu_self_ps: cpu, device_self_ps: device, ...more });
// main 10 (a 20 (b 30), c 40); other 100
const ROWS = [frame("main", null, 10), frame("a", 0, 20), frame("b", 1, 30), frame("c", 0, 40), frame("other", null, 100)];
function drawn(tree, zoom = -1, narrow = 0) {
	const out = [];
	visit(tree, zoom, narrow, (i, at, share) => out.push([tree.rows[i].name, at, share]));
	return out;
}
const namesOf = (list) => list.map(([name]) => name);

test("a frame is as wide as all below it", () => {
	const tree = build(ROWS, CPU);
	assert.deepEqual([...tree.total], [100, 50, 30, 40, 100]);
	assert.equal(tree.all, 200);
	assert.equal(tree.depths, 3);
});

test("children lie side by side inside their parent", () => {
	const tree = build(ROWS, CPU);
	assert.deepEqual(drawn(tree), [["main", 0, 0.5], ["a", 0, 0.25], ["b", 0, 0.15], ["c", 0.25, 0.2], ["other", 0.5, 0.5]]);
});

test("a frame that is widened takes the whole width, with its callers above it", () => {
	const tree = build(ROWS, CPU);
	assert.deepEqual(drawn(tree, 1), [["main", 0, 1], ["a", 0, 1], ["b", 0, 0.6]]);
});

test("below a frame that is too narrow nothing is drawn", () => assert.deepEqual(namesOf(drawn(build(ROWS, CPU), -1, 0.22)), ["main", "a", "other"]));

test("a weight that no frame has draws nothing", () => {
	const tree = build(ROWS, DEVICE);
	assert.deepEqual(drawn(tree), []);
	assert.equal(tree.depths, 0);
});

test("calls are a weight too", () => assert.equal(build(ROWS, COUNT).all, 5));

test("frames below the least time are not drawn, and their time stays with the parent", () => {
	const tree = build(ROWS, CPU, { least: 35 });
	assert.deepEqual(namesOf(drawn(tree)), ["main", "a", "c", "other"]);
	assert.equal(tree.total[1], 50);
	assert.equal(tree.depths, 2);
});

test("children are those that are drawn, in their order", () => {
	const tree = build(ROWS, CPU, { least: 35 });
	assert.deepEqual(children(tree, 0), [1, 3]);
	assert.deepEqual(children(tree, -1), [0, 4]);
	assert.deepEqual(children(tree, 1), []);
});

test("small kernels become one frame below each parent", () => {
	const kernel = (name, parent, ps, count = 1) => frame(name, parent, 0, ps, { category: "kernel", count });
	const rows = [frame("op", null, 1), kernel("k1", 0, 3), kernel("large", 0, 50), kernel("k2", 0, 8, 4), frame("op2", null, 1), kernel("k3", 4, 3)];
	const tree = build(rows, DEVICE, { least: 5, group: true });
	assert.deepEqual(tree.rows.map((r) => [r.name, r.device_self_ps, r.count]), [["op", 0, 1], ["(small kernels)", 11, 5], ["large", 50, 1], ["op2", 0, 1], ["(small kernels)", 3, 1]]);
	assert.deepEqual(tree.rows.map((r) => r.parent), [null, 0, 0, null, 3]);
	assert.equal(rows[1].name, "k1");
});

test("what is found inside what is found counts once", () => {
	const rows = [frame("step", null, 10), frame("inner step", 0, 30), frame("x", null, 60)];
	const found = find(build(rows, CPU), " STEP ");
	assert.deepEqual([found.nr, found.share, [...found.hits]], [2, 0.4, [1, 1, 0]]);
});

test("no word finds nothing", () => assert.equal(find(build(ROWS, CPU), "  ").nr, 0));

test("a tree without frames is empty", () => {
	const tree = build([], CPU);
	assert.deepEqual([tree.all, tree.depths, drawn(tree), children(tree, -1)], [0, 0, [], []]);
});

test("callers that only call the next one are one frame, and nothing is lost", () => {
	const rows = [frame("run", null, 1), frame("spawn", 0, 2), frame("wrap", 1, 3), frame("main", 2, 4), frame("a", 3, 5), frame("b", 3, 6), frame("never", 1, 0)];
	const { rows: out, nr } = folded(rows, CPU);
	assert.equal(nr, 3);
	assert.deepEqual(out.map((r) => [r.name, r.parent]), [["3 callers: run \u2026 wrap", null], ["main", 0], ["a", 1], ["b", 1], ["never", 0]]);
	assert.equal(build(out, CPU).all, build(rows, CPU).all);
	assert.equal(folded(ROWS, CPU).nr, 0);
});

test("hits are those that are drawn, the heaviest first", () => {
	const tree = build(ROWS, CPU, { least: 35 });
	assert.deepEqual(heaviest(tree, find(tree, "").hits), []);
	assert.deepEqual(heaviest(tree, Uint8Array.from([1, 0, 1, 1, 0])), [0, 3]);
});
