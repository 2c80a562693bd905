// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { filtered, inOrder, movedTo, sorted, toggled, widened, widthsOf } = await load("table.jsx");
const { findable, search } = await load("search.js");
const { value } = await load("format.js");
const { columnsOf, flat, gainOf } = await load("parts.jsx");

const names = (rows) => rows.map((r) => r.name);
const OPS = [{ name: "b", ps: 2 }, { name: "none", ps: null }, { name: "a", ps: 10 }, { name: "c", ps: 1 }, { name: "gone" }];

test("unknown rows come last, whichever way a table is sorted", () => {
	assert.deepEqual(names(sorted(OPS, { column: "ps", down: true })), ["a", "b", "c", "none", "gone"]);
	assert.deepEqual(names(sorted(OPS, { column: "ps", down: false })), ["c", "b", "a", "none", "gone"]);
});

test("the sum of what is not listed stays the last row, whichever way a table is sorted", () => {
	const rows = [...OPS, { name: "7 others", ps: 5, is_others: true }];
	assert.deepEqual(names(sorted(rows, { column: "ps", down: true })), ["a", "b", "c", "none", "gone", "7 others"]);
	assert.deepEqual(names(sorted(rows, { column: "name", down: false })).at(-1), "7 others");
	assert.deepEqual(columnsOf(rows), ["name", "ps"]);
});

test("texts are sorted by the numbers in them", () => {
	const rows = ["fusion.10", "fusion.9", "dot.1"].map((name) => ({ name }));
	assert.deepEqual(names(sorted(rows, { column: "name", down: false })), ["dot.1", "fusion.9", "fusion.10"]);
});

test("sorting leaves the report as it is", () => {
	const before = names(OPS);
	sorted(OPS, { column: "ps", down: true });
	assert.deepEqual(names(OPS), before);
	assert.equal(sorted(OPS, { column: null, down: true }), OPS);
});

test("rows that are equal keep their order", () => {
	const rows = [{ name: "x", n: 1 }, { name: "y", n: 1 }, { name: "z", n: 1 }];
	assert.deepEqual(names(sorted(rows, { column: "n", down: true })), ["x", "y", "z"]);
});

test("a filter looks into the columns that are shown, and not at case", () => {
	const rows = [{ name: "Dot", module: "jit_step" }, { name: "add", module: "dotted" }];
	assert.deepEqual(names(filtered(rows, ["name"], " dOT ")), ["Dot"]);
	assert.deepEqual(names(filtered(rows, ["name", "module"], "dot")), ["Dot", "add"]);
	assert.equal(filtered(rows, ["name"], "  "), rows);
});

test("a filter finds numbers and what stands in lists", () => {
	const rows = [{ name: "a", n: 128 }, { name: "b", n: 3, list: ["bf16"] }];
	assert.deepEqual(names(filtered(rows, ["n"], "12")), ["a"]);
	assert.deepEqual(names(filtered(rows, ["list"], "bf16")), ["b"]);
	assert.deepEqual(names(filtered(rows, ["n"], "null")), []);
});

test("the single values of a result have dotted names", () => {
	const view = { a: 1, notes: ["x"], provenance: { a: "measured" }, rows: [{}], inside: { b: null, deeper: { c: "d" } } };
	assert.deepEqual(flat(view), [["a", 1], ["inside.b", null], ["inside.deeper.c", "d"]]);
	assert.deepEqual(flat(view, new Set(["a", "inside.b"])), [["inside.deeper.c", "d"]]);
	assert.deepEqual(flat(undefined), []);
});

test("columns that are asked for come first, where there are any", () => {
	const rows = [{ a: 1, b: 2 }, { c: 3, id: 4 }];
	assert.deepEqual(columnsOf(rows, ["c", "missing"], ["id"]), ["c", "a", "b"]);
	assert.deepEqual(columnsOf([]), []);
});

test("a gain is time of the run, and one that is not known is not a number", () => {
	for (const gain_ps of [null, undefined]) assert.equal(gainOf({ gain_ps, gain_pct: 3 }), null);
	assert.equal(gainOf({ gain_ps: 2e9, gain_pct: 12, impact_ps: 8e9 }), "up to 2.00 ms (12 % of the run)");
	assert.equal(gainOf({ gain_ps: 0, gain_pct: 0, impact_ps: 8e9 }), "counted with other findings");
	assert.equal(gainOf({ gain_ps: 0, gain_pct: 0, impact_ps: 0 }), "up to 0 (0 % of the run)");
});

test("sums over cores say so", () => {
	assert.equal(value("per_step.compute_ps", 16.5e9), "16.5 core-ms");
	assert.equal(value("per_core.compute_ps", 16.5e9), "16.5 ms");
	assert.equal(value("steps.time_ps", 358e9), "358 core-ms");
	assert.equal(value("families.wait_ps", 148e9), "148 core-ms");
	assert.equal(value("cores.kernel_wait_ps", 148e9), "148 ms");
});

test("whole microseconds are for programs, in tables and in figures", () => {
	assert.deepEqual(columnsOf([{ name: "a", sum_us: 0, sum_ps: 5 }]), ["name", "sum_ps"]);
	assert.deepEqual(flat({ kernel_time_us: null, idle_ps: 3, hta_0_5: { idle_time_us: 1 } }), [["idle_ps", 3]]);
});

test("the source stands beside the name, and nothing else moves", () => {
	assert.deepEqual(inOrder(["name", "a", "b", "source", "module"]), ["name", "source", "a", "b", "module"]);
	for (const columns of [["name", "source", "a"], ["source", "a"], ["name", "a"], []]) assert.deepEqual(inOrder(columns), columns);
	assert.deepEqual(inOrder(["name", "a", "device", "source"], ["device", "host"]), ["name", "source", "device", "a"]);
});

test("a column is as wide as it was made, and not too narrow to be seen", () => {
	const wide = widened(widened([], "name", 300.4), "a:b", 3);
	assert.deepEqual(widthsOf(wide), new Map([["name", 300], ["a:b", 40]]));
	assert.deepEqual(widened(wide, "name", null), ["a:b:40"]);
	assert.deepEqual(widthsOf(["", "name", "name:x", "name:-1", ":50"]), new Map());
});

const FOUND = {
	ops: [{ name: "fusion.9", module: "jit_f", source: "a.py:1", self_time_ps: 1 }, { name: "fusion.10", module: "jit_f", source: "model.py:2", self_time_ps: 5, framework_op: "jit/dot_general" }, { name: "3 others", is_others: true, module: null }],
	doctor: { findings: [{ id: "f", title: "Fusions wait", severity: "info" }] },
};
const hits = (word) => search(findable(FOUND, [{ name: "fusion", title: "Fusion" }]), word).map((hit) => `${hit.kind} ${hit.name}`);

test("one search finds views, findings, ops, sources and modules, names before what is said of them", () => {
	assert.deepEqual(hits("FUSION"), ["view Fusion", "finding Fusions wait", "op fusion.10", "op fusion.9"]);
	assert.deepEqual(hits("model.py"), ["source model.py:2", "op fusion.10"]);
	assert.deepEqual(hits("dot_general"), ["op fusion.10"]);
	assert.deepEqual(hits("jit_f"), ["module jit_f", "op fusion.10", "op fusion.9"]);
	for (const word of ["", "  ", "others", "no such"]) assert.deepEqual(hits(word), []);
	assert.equal(search(findable({ ops: Array.from({ length: 100 }, (_, i) => ({ name: `x${i}`, module: "m" })) }, []), "x").length, 12);
});

test("a column is moved, but never in front of the first one", () => {
	assert.deepEqual(movedTo(["a", "b", "c", "d"], "d", 1), ["a", "d", "b", "c"]);
	assert.deepEqual(movedTo(["a", "b", "c", "d"], "b", 9), ["a", "c", "d", "b"]);
	assert.deepEqual(movedTo(["a", "b", "c"], "c", 0), ["a", "c", "b"]);
	assert.deepEqual(movedTo(["a", "b"], "a", 1), ["a", "b"]);
});

test("a column comes back behind its neighbour", () => {
	const all = ["a", "b", "c", "d"];
	assert.deepEqual(toggled(all, all, "c"), ["a", "b", "d"]);
	assert.deepEqual(toggled(all, ["a", "d", "b"], "c"), ["a", "d", "b", "c"]);
	assert.deepEqual(toggled(all, ["a"], "d"), ["a", "d"]);
});
