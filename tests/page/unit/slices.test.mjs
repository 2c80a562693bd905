// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { executionsOf, FIELDS, firstAt, fitted, inSight, joined, keptRange, lanesOf, pictureOf, rowsOf, sliceUnder, typical, wanted, woven } = await load("slices.js");
const { fullness, stepped } = await load("lanes.jsx");

const NAMES = ["fusion.1", "all-reduce.2", "copy-done.3", "copy"];
const FUSION = 0;
const REDUCE = 1;
const COPY = 3;

/** Slices as START, END, NAME each. */
const flat = (slices) => slices.flatMap(([start, end, name]) => [start, end - start, name === REDUCE ? 2 : 0, name, name < 0 ? 7 : 1, 0]);
const lane = (kind, device, slices, name = "line") => ({ kind, host: "h", device, name, slices: flat(slices) });
const picture = (lanes, from_ps = 0, to_ps = 100) => ({ from_ps, to_ps, classes: ["compute", "memory_wait", "communication", null], names: NAMES, modules: NAMES.map(() => "jit_f"), lanes, left_out: 0 });
const nameOf = (id) => `TPU:${id}`;
const drawn = (lanes, ...ends) => {
	const known = lanesOf(picture(lanes, ...ends));
	return { known, ...rowsOf(known, nameOf, false) };
};

test("slices get the run's own times", () => {
	const known = lanesOf(picture([lane("ops", 0, [[5, 8, FUSION]])], 1000, 1100));
	assert.deepEqual([...known.rows.values()][0].slices, Float64Array.from([1005, 1008, 0, 0, 1, 0]));
});

test("lanes of one name stay apart", () => {
	assert.equal(lanesOf(picture([lane("thread", null, [[0, 1, FUSION]], "worker"), lane("thread", null, [[2, 3, FUSION]], "worker")])).rows.size, 2);
});

test("rows are a tree: chips that are open have what is below them, the threads that did most stand behind", () => {
	const threads = Array.from({ length: 14 }, (_, n) => lane("thread", null, Array.from({ length: n + 1 }, (__, i) => [i, i + 1, FUSION]), `t${n}`));
	const lanes = [lane("async", 1, [[0, 1, COPY]]), lane("ops", 1, [[0, 1, FUSION]]), lane("ops", 0, [[0, 1, FUSION]]), ...threads];
	const { known, rows, threads: left } = drawn(lanes);
	assert.deepEqual(rows.slice(0, 3).map((r) => [r.label, r.kind, r.level, r.fold]), [["TPU:0", "chip", 0, null], ["TPU:1", "chip", 0, "chip 1"], ["DMA", "async", 1, null]]);
	assert.deepEqual(rows.slice(3).map((r) => r.name), threads.slice(2).map((t) => t.name));
	assert.equal(left, 2);
	assert.equal(rowsOf(known, nameOf, true).rows.length, 3 + 14);
	assert.deepEqual(rowsOf(known, nameOf, false, String, ["chip 1"]).rows.slice(0, 3).map((r) => r.label), ["TPU:0", "TPU:1", "t2"], "a chip that is shut");
});

test("a chip's own lane has its ops and its collectives, in the order of time", () => {
	const { known } = drawn([lane("ops", 0, [[0, 10, FUSION], [30, 40, FUSION]]), lane("collectives", 0, [[10, 30, REDUCE], [40, 45, REDUCE]])]);
	const { slices } = known.rows.get("chip 0");
	assert.deepEqual(Array.from({ length: slices.length / FIELDS }, (_, i) => [...slices.subarray(FIELDS * i, FIELDS * i + 4)]), [[0, 10, 0, FUSION], [10, 30, 2, REDUCE], [30, 40, 0, FUSION], [40, 45, 2, REDUCE]]);
});

test("what stands for several events is in front of what runs within it, and behind, as full as it was", () => {
	const several = [0, 100, 0, -1, 7, 20];
	assert.deepEqual([...woven(Float64Array.from(several), Float64Array.from([40, 50, 2, REDUCE, 1, 0]))], [0, 40, 0, -1, 7, 8, 40, 50, 2, REDUCE, 1, 0, 50, 100, 0, -1, 7, 10]);
	assert.deepEqual([...woven(Float64Array.from(several), Float64Array.from([90, 120, 2, -1, 3, 0]))].filter((_, i) => i % FIELDS < 2), [0, 90, 90, 120]);
});

test("of several streams each has a row, of several hosts each its chips and threads; many are shut", () => {
	const lanes = [lane("ops", 0, [[0, 1, FUSION]], "Stream #17(Kernel)"), lane("ops", 0, [[0, 1, FUSION], [2, 3, FUSION]], "Stream #18(Kernel)"), lane("thread", null, [[0, 1, FUSION]], "main/7"), { ...lane("ops", 1, [[0, 1, FUSION]]), host: "other" }, { ...lane("thread", null, [[0, 1, FUSION]], "main/7"), host: "other" }];
	const known = lanesOf(picture(lanes));
	const { rows } = rowsOf(known, nameOf, false, (host) => host.toUpperCase());
	assert.deepEqual(rows.map((r) => [r.label, r.level]), [["H", 0], ["TPU:0", 1], ["#17", 2], ["#18", 2], ["main/7", 1], ["OTHER", 0], ["TPU:1", 1], ["main/7", 1]]);
	assert.deepEqual([rows[2].name, rows[7].name], ["TPU:0 Stream #17(Kernel)", "OTHER main/7"]);
	assert.equal(known.rows.get("chip 0").slices.length / FIELDS, 2, "the busiest stream");
	const shut = rowsOf(known, nameOf, false, String, ["host h", "chip 0"]).rows;
	assert.deepEqual(shut.map((r) => r.label), ["h", "other", "TPU:1", "main/7"]);
	const pod = lanesOf(picture(Array.from({ length: 6 }, (_, d) => [{ ...lane("ops", d, [[0, 1, FUSION]]), host: `h${d}` }, { ...lane("async", d, [[0, 1, COPY]]), host: `h${d}` }]).flat()));
	assert.deepEqual(rowsOf(pod, nameOf, false).rows.map((r) => [r.kind, r.open]), Array.from({ length: 6 }, () => ["host", false]));
});

test("an op's executions stand core by core, in the order of time, without what is merged or of another module", () => {
	const made = picture([lane("ops", 1, [[30, 40, FUSION], [50, 60, REDUCE]]), lane("ops", 0, [[5, 8, FUSION], [20, 22, -1], [10, 12, FUSION]]), lane("thread", null, [[0, 1, FUSION]])], 100, 200);
	const spans = executionsOf(lanesOf(made), { module: "jit_f", name: "fusion.1" });
	assert.deepEqual(spans.map(({ device, spans: all }) => [device, all.map((s) => [s.start, s.end, s.bucket])]), [[0, [[105, 108, "compute"], [110, 112, "compute"]]], [1, [[130, 140, "compute"]]]]);
	assert.deepEqual(executionsOf(lanesOf(made), { module: "jit_g", name: "fusion.1" }), []);
});

test("lanes of a newer server are left out", () => {
	assert.deepEqual(drawn([lane("ops", 0, [[0, 1, FUSION]]), lane("newer", 0, [[0, 1, FUSION]]), lane("newer", null, [[0, 1, FUSION]])]).rows.map((r) => r.kind), ["chip"]);
});

test("of very many devices the first are drawn, and the others are counted", () => {
	const { rows, devices } = drawn(Array.from({ length: 130 }, (_, d) => lane("ops", d, [[0, 1, FUSION]])));
	assert.deepEqual([rows.length, devices], [128, 2]);
});

test("a slice is found by its time", () => {
	const { known, rows } = drawn([lane("ops", 0, [[0, 10, FUSION], [10, 20, FUSION], [30, 40, FUSION]])]);
	const { slices } = known.rows.get(rows[0].key);
	assert.deepEqual([-1, 9, 10, 25, 40].map((at) => firstAt(slices, at) / FIELDS), [0, 0, 1, 2, 3]);
	assert.deepEqual([-1, 9, 10, 25, 40].map((at) => sliceUnder(slices, at)), [-1, 0, FIELDS, -1, -1]);
});

test("what is asked for has all that is in sight, a place for each pixel, and is the same nearby", () => {
	for (const [from, length] of [[0, 1000], [123456, 700], [999000, 1000], [5, 2], [0, 1000000]]) {
		const { from_ps, to_ps, width } = wanted([from, from + length], 1000000, 1200);
		assert.ok(from_ps <= from && to_ps >= from + length, `${from} + ${length}: ${from_ps} to ${to_ps}`);
		assert.ok(width <= 8192 && (to_ps - from_ps) / width <= Math.max(length / 1200, 3 * length / 8192), `${from} + ${length}: ${width}`);
	}
	assert.deepEqual(wanted([123456, 124156], 1e6, 1200), wanted([123460, 124150], 1e6, 1200));
});

test("the narrowest picture that has all of it is drawn, else the widest", () => {
	const [whole, near, far] = [[0, 100], [20, 40], [60, 80]].map((ends) => lanesOf(picture([], ...ends)));
	assert.equal(pictureOf([whole, near, far], [25, 30]), near);
	assert.equal(pictureOf([whole, near, far], [25, 70]), whole);
	assert.equal(pictureOf([near, whole], [90, 120]), whole);
	assert.equal(pictureOf([], [0, 1]), undefined);
});

test("the mean step is the nearest to the mean, and others are not steps", () => {
	const steps = [10, 12, 30].map((duration_ps, step) => ({ step, start_ps: step * 40, duration_ps }));
	const found = typical([...steps, { is_others: true, step: "5 others", start_ps: null, duration_ps: 99 }], null);
	assert.deepEqual([found.mean.step, found.slowest.step], [1, 2]);
	assert.equal(typical(steps, 28).mean.step, 2);
	assert.equal(typical([], null), null);
	assert.equal(typical(undefined, null), null);
});

test("a file says where the steps are that it has", () => {
	const kept = [{ kind: "whole", step: null, picture: picture([]) }, { kind: "mean", step: 3, picture: picture([], 10, 20) }];
	assert.deepEqual(keptRange(kept, "mean"), [10, 20]);
	assert.equal(keptRange(kept, "slowest"), null);
});

test("pictures of several hosts are one of each kind, with their own names and times", () => {
	const of = (kind, from, name, slices) => ({ kind, step: null, host: name, picture: { ...picture([{ ...lane("ops", 0, slices), host: name }], from, from + 100), names: [`${name}.0`, `${name}.1`, `${name}.2`], modules: ["f", "f", "f"] } });
	const all = joined([of("whole", 0, "a", [[0, 9, 0]]), of("mean", 50, "a", [[0, 9, 1]]), of("whole", 0, "b", [[3, 4, -1]]), of("mean", 20, "b", [[1, 2, 2]])]);
	assert.deepEqual(all.map((k) => [k.kind, k.picture.from_ps, k.picture.to_ps, k.picture.lanes.length]), [["whole", 0, 100, 2], ["mean", 20, 150, 2]]);
	const { picture: whole, rows: found } = lanesOf(all[1].picture);
	const rows = new Map([...found].filter(([, { lane: l }]) => l.kind === "ops"));
	assert.deepEqual([...rows.values()].map(({ lane: l, slices }) => [l.host, slices[0], slices[1], whole.names[slices[3]]]), [["a", 50, 59, "a.1"], ["b", 21, 22, "b.2"]]);
	assert.equal([...lanesOf(all[0].picture).rows.values()].filter(({ lane: l }) => l.kind === "ops")[1].slices[3], -1);
});

test("a slice of several events is as high as they fill its time, one of one event is full", () => {
	assert.equal(fullness([0, 100, 0, 0, 1, 0], 0), 1);
	assert.equal(fullness([0, 100, 0, -1, 7, 75], 0), 0.25);
	assert.ok(fullness([0, 100, 0, -1, 7, 100], 0) > 0, "what ran is seen");
});

test("the table has the longest slices in sight, in the order of time", () => {
	const { known, rows } = drawn([lane("ops", 0, [[0, 10, FUSION], [20, 25, FUSION], [30, 50, -1], [60, 61, FUSION], [95, 99, FUSION]])]);
	const seen = inSight(known, rows, [5, 90], 2);
	assert.equal(seen.nr, 4);
	assert.deepEqual(seen.slices.map((s) => [s.name, s.start_ps, s.duration_ps, s.events]), [["fusion.1", 0, 10, 1], [null, 30, 20, 7]]);
});

test("a name is cut where it has no room, and left out where nothing of it would be told", () => {
	assert.equal(fitted("fusion.337", 200), "fusion.337");
	assert.match(fitted("fusion.337", 50), /^fusio?n?\u2026$/);
	assert.equal(fitted("fusion.337", 20), "");
});

test("arrows lead from slice to slice and from row to row, to the same time", () => {
	const { known, rows } = drawn([lane("ops", 0, [[0, 10, FUSION], [10, 20, FUSION]]), lane("ops", 1, [[0, 4, FUSION], [5, 9, FUSION], [12, 20, FUSION]])]);
	assert.deepEqual(stepped("ArrowRight", { row: 0, at: 0 }, rows, known), { row: 0, i: FIELDS });
	assert.equal(stepped("ArrowRight", { row: 0, at: 10 }, rows, known), null);
	assert.deepEqual(stepped("ArrowDown", { row: 0, at: 10 }, rows, known), { row: 1, i: 2 * FIELDS });
	assert.deepEqual(stepped("ArrowDown", { row: -1, at: 5 }, rows, known), { row: 0, i: 0 });
	assert.deepEqual(stepped("ArrowDown", { row: -1, at: 12 }, rows, known), { row: 0, i: FIELDS });
	assert.equal(stepped("ArrowUp", { row: 0, at: 0 }, rows, known), null);
});
