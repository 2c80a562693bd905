// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { bare, editorLink, graphLink, hintOf, opIn, opKey, opOf } = await load("opdata.js");
const { wholeLink } = await load("links.jsx");
const { rangeText } = await load("views/doctor.jsx");

const REPORT = {
	run: { hosts: [{ name: "h0" }, { name: "h1" }], devices: [{ id: 3, host: "h1", name: "TPU:0" }] },
	time: { total_ps: 1000 },
	ops: [
		{ module: "m", name: "fusion.1", self_time_ps: 250, total_time_ps: 300, occurrences: 3, source: "a.py:1", framework_op: "jit(f)/while/dot_general" },
		{ module: "n", name: "fusion.1", self_time_ps: 1, total_time_ps: 1, occurrences: 0 },
		{ module: "m", name: "fusion.2", self_time_ps: null, total_time_ps: null, occurrences: 1 },
		{ module: null, name: "154 others", is_others: true },
	],
	systolic: { ops: [{ module: "n", op: "fusion.1", m: 1 }, { module: "m", op: "fusion.1", m: 2 }] },
	fusion: { unfused: [{ module: "m", producer: "fusion.1", consumer: "fusion.2", bytes: 64, reason: "r" }, { module: "n", producer: "fusion.1", consumer: "x", bytes: 1 }] },
	memory: { layout_copies: [{ module: "m", producer: "copy.3", op: "copy.4", consumer: "fusion.1", bytes: 8 }] },
	capacity: { buffers: [{ module: "m", op: "fusion.1{0,1}", shape: "bf16[8]", bytes: 16, from_op: "fusion.1", to_op: "fusion.9" }] },
	doctor: { findings: [{ id: "a", where: [{ op: "fusion.1", module: "m" }] }, { id: "b", where: [{ op: "fusion.1", module: "n" }] }, { id: "c", where: [{ op: "fusion.1", module: null }] }, { id: "d" }] },
};

test("an op is known by its module and its name, not by one alone", () => {
	const op = opOf(REPORT, opKey({ module: "m", name: "fusion.1" }));
	assert.equal(op.systolic.m, 2);
	assert.equal(op.share_pct, 25);
	assert.ok(near(op.mean_ps, 100));
	assert.deepEqual(op.findings.map((f) => f.id), ["a", "c"]);
	assert.equal(opOf(REPORT, "n/fusion.1").systolic.m, 1);
	assert.equal(opOf(REPORT, "fusion.1"), null);
	assert.equal(opOf(REPORT, "/154 others"), null);
});

test("what is not known of an op is not 0", () => {
	assert.equal(opOf(REPORT, "m/fusion.2").share_pct, null);
	assert.equal(opOf(REPORT, "n/fusion.1").mean_ps, null);
	assert.equal(opOf({ ops: REPORT.ops }, "m/fusion.1").share_pct, null);
});

test("ops that read from it and that it reads from are named once, with their bytes", () => {
	const op = opOf(REPORT, "m/fusion.1");
	assert.deepEqual(op.consumers.map((e) => [e.op.name, e.bytes]), [["fusion.2", 64], ["fusion.9", 16]]);
	assert.deepEqual(op.producers.map((e) => [e.op.name, e.bytes]), [["copy.3", 8]]);
	assert.deepEqual(opOf(REPORT, "m/fusion.2").producers.map((e) => e.op.name), ["fusion.1"]);
	assert.equal(op.buffers[0].shape, "bf16[8]");
});

test("a cell names an op where the report lists one", () => {
	assert.deepEqual(opIn(REPORT, "op", { op: "fusion.1{0}", module: "m" }), { module: "m", name: "fusion.1" });
	for (const [column, row] of [["op", { op: "fusion.7", module: "m" }], ["op", { op: "fusion.1" }], ["reason", { reason: "fusion.1", module: "m" }], ["op", { op: null, module: "m" }], ["name", { name: "154 others", module: null }]]) assert.equal(opIn(REPORT, column, row), null);
	assert.equal(opIn(null, "op", { op: "fusion.1", module: "m" }), null);
	assert.equal(bare("while.3"), "while.3");
});

test("a person's words for an op are the framework's name and the source", () => {
	assert.equal(hintOf(REPORT.ops[0]), "dot_general \u00b7 a.py:1");
	assert.equal(hintOf({ source: "a.py:1" }), "a.py:1");
	assert.equal(hintOf({ framework_op: "jit(f)/while/bhst,bhtk->bhsk/dot_general" }), "bhst,bhtk->bhsk");
	assert.equal(hintOf(undefined), "");
});

test("a link into an editor has the whole path", () => {
	assert.equal(editorLink("/home/a b/x.py:3", ""), "vscode://file/home/a%20b/x.py:3");
	assert.equal(editorLink("C:\\x\\y.py:3", "/r"), "vscode://file/C:/x/y.py:3");
	assert.equal(editorLink("x.py:3", ""), null);
	assert.equal(editorLink("x.py:3", "/r/"), "vscode://file/r/x.py:3");
	assert.equal(editorLink("/a?b#c.py:1", ""), "vscode://file/a%3Fb%23c.py:1");
});

test("a link into XProf is whole, and names the program", () => {
	const link = graphLink(REPORT.run, "s/1", { module: "m", program_id: "7", name: "fusion.1" });
	assert.equal(link, "?run=s%2F1&tag=graph_viewer&host=h0&module_name=m%287%29&node_name=fusion.1#profile");
	assert.equal(graphLink(REPORT.run, null, { program_id: "7" }), null);
	assert.equal(graphLink(REPORT.run, "s/1", { program_id: null }), null);
	for (const address of ["http://h:6006", "http://h:6006/", "http://h:6006/?a=b#tpusight"]) assert.equal(wholeLink(address, "?run=1"), "http://h:6006/?run=1");
});

test("a button to a time says how long, when, on what, and whether it is an example", () => {
	assert.equal(rangeText(REPORT, { start_ps: 2e9, end_ps: 5e9, device: 3, example: true }), "Show an example: 3.00 ms at 2.00 ms on h1 TPU:0");
	assert.equal(rangeText({ run: null }, { start_ps: 0, end_ps: 5e9, device: null }), "Show: 5.00 ms at 0");
});
