// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, put } from "./page.mjs";

const { Choices, decode, deviceIn, encode, inSight, isEntry, ofAll, ofRun, partOf, readLink, runName, runNamed, writeLink } = await load("state.js");
const { address, isElsewhere, ours } = await load("address.js");
const { frameOf, placeOf, build, WEIGHTS } = await load("views/flame_tree.js");
const { sortOf, sortText } = await load("table.jsx");
const { PAGES, placesOf, viewOf, viewsOf } = await load("views/index.js");

const ALL = { view: "overview", run: null, compared: [], op: null, host: null, device: null, finding: null, range: null };
const REPORT = { run: { devices: [{ id: 0, host: "h0", name: "TPU:0" }, { id: 1, host: "h0", name: "TPU:1" }, { id: 2, host: "h1", name: "TPU:0 of h1" }] } };
const reading = (text) => readLink(text).look;
const names = (rows, look) => inSight(rows, { ...ALL, ...look }, REPORT).map((r) => r.name);

test("an address without a choice shows everything", () => assert.deepEqual(readLink(""), { look: ALL, chosen: new Map() }));

test("device 0 is a device", () => {
	assert.equal(reading("device=0").device, 0);
	assert.equal(reading("device=x").device, null);
	assert.equal(reading("").device, null);
});

test("a time range needs both ends, in their order", () => {
	assert.deepEqual(reading("from_ps=5&to_ps=9").range, [5, 9]);
	for (const text of ["from_ps=5", "to_ps=9", "from_ps=9&to_ps=5", "from_ps=5&to_ps=5", "from_ps=a&to_ps=9"]) assert.equal(reading(text).range, null, text);
});

test("what an address says is what was written into it", () => {
	const look = { view: "doctor", run: "a/b c", compared: ["x/1", "y,2"], op: "jit_step/%fusion.1=&?", host: "h&1", device: 0, finding: "f#1", range: [1, 2e12] };
	const chosen = new Map([["time.ops.sort", "-self_time_ps"], ["time.ops.find", "a+b & \u00fc=%41"]]);
	const text = writeLink(look, chosen);
	assert.deepEqual(readLink(text), { look, chosen });
	assert.match(text, /^[\x21-\x7e]+$/);
	assert.ok(text.includes("run=a/b%20c"));
});

test("a link that was cut in the middle of a letter is read as far as it goes", () => assert.equal(reading("view=time&op=a%C3").view, "time"));

test("the first view and no choice leave the address empty", () => assert.equal(writeLink(ALL, new Map()), ""));

test("picoseconds in an address are whole", () => assert.equal(writeLink({ ...ALL, range: [1.4, 2.6] }, new Map()), "from_ps=1&to_ps=3"));

test("another view, op, finding or run can be gone back from, another order cannot", () => {
	for (const change of [{ view: "time" }, { op: "m/o" }, { finding: "f" }, { run: "b" }]) assert.ok(isEntry({ ...ALL, run: "a" }, { ...ALL, run: "a", ...change }), Object.keys(change)[0]);
	for (const change of [{ range: [1, 2] }, { device: 1 }, { host: "h" }, { compared: ["a", "b"] }]) assert.ok(!isEntry(ALL, { ...ALL, ...change }), Object.keys(change)[0]);
	assert.ok(!isEntry(ALL, { ...ALL, run: "a" }), "the run that a page opens with");
	assert.ok(!isEntry({ ...ALL, finding: "f" }, ALL), "a finding that is closed");
});

test("another run keeps nothing that belongs to the one before", () => assert.deepEqual(ofRun("b"), { run: "b", range: null, device: null, host: null, finding: null, op: null }));

test("a run has its title in links, and its id where titles are equal", () => {
	const runs = [{ id: "0a", title: "adam/1" }, { id: "0b", title: "muon/1" }, { id: "0c", title: "twice" }, { id: "0d", title: "twice" }, { id: "0e" }, { id: "f", title: "0a" }];
	assert.deepEqual(runs.map((r) => runName(r, runs)), ["adam/1", "muon/1", "0c", "0d", "0e", "f"]);
	for (const run of runs) assert.equal(runNamed(runName(run, runs), runs), run);
	assert.equal(runNamed("nothing", runs), undefined);
	assert.equal(runNamed("0b", runs), runs[1]); // links of before
});

test("a choice is written where it is not the first one, and read as it was", () => {
	for (const [first, value] of [["", "a b"], ["x", ""], [0, 7.5], [true, false], [false, true], [[], ["a,b", "c%"]], [["a"], []]]) {
		const text = encode(first, value);
		assert.notEqual(text, null);
		assert.deepEqual(decode(first, text), value);
		assert.equal(encode(value, value), null);
	}
	assert.equal(decode(5, "x"), 5);
	assert.equal(decode(5, undefined), 5);
});

test("who listens to a choice hears of its changes alone", () => {
	let heard = 0;
	let written = 0;
	const choices = new Choices(new Map([["a.x", "1"]]), () => written++);
	const close = choices.listen("a.x", () => heard++);
	choices.set("a.y", "1");
	choices.set("a.x", "1");
	assert.deepEqual([heard, written], [0, 1]);
	choices.set("a.x", "2");
	choices.set("a.x", null);
	assert.deepEqual([heard, written, choices.get("a.x")], [2, 3, undefined]);
	choices.replace(new Map([["a.x", "3"]]));
	assert.deepEqual([heard, written], [3, 3]); // the address has it already
	close();
	choices.set("a.x", "4");
	assert.equal(heard, 3);
});

test("a new entry is made where back is to lead, and no address twice", () => {
	location.hash = "";
	put.length = 0;
	address.put("", false);
	address.put("view=time", true);
	address.put("view=time", true);
	address.put("view=time&a.b=1", false);
	assert.deepEqual(put, [["pushed", "#view=time"], ["replaced", "#view=time&a.b=1"]]);
	assert.equal(address.get(), "view=time&a.b=1");
});

test("in TensorBoard the part behind our tab is ours", () => {
	assert.equal(ours("#tpusight&view=time", "tpusight"), "view=time");
	for (const hash of ["", "#tpusight", "#scalars&run=a", "#tpusight2&view=a"]) assert.equal(ours(hash, "tpusight"), null, hash);
	assert.equal(ours("#view=time", undefined), "view=time");
	assert.deepEqual(["", "#", "#tpusight", "#tpusight&a=b", "#scalars", "#tpusight2"].map((hash) => isElsewhere(hash, "tpusight")), [false, false, false, false, true, true]);
	assert.equal(isElsewhere("#anything", undefined), false);
});

test("an order of a table is one word", () => {
	for (const sort of [{ column: "a_ps", down: true }, { column: "a_ps", down: false }, { column: null, down: true }]) assert.deepEqual(sortOf(sortText(sort)), sort);
	assert.equal(sortText({ column: "a_ps", down: true }), "-a_ps");
	assert.equal(sortText(undefined), "");
});

test("a frame is found again by its path, whatever else the tree has", () => {
	const row = (name, parent) => ({ name, parent, category: "python", count: 1, cpu_self_ps: 5, device_self_ps: 0 });
	const tree = build([row("main", null), row("a", 0), row("step", 1), row("b", 0), row("step", 3)], WEIGHTS[0]);
	const places = tree.rows.map((_, i) => placeOf(tree, i));
	assert.equal(new Set(places).size, 5);
	assert.deepEqual(places.map((p) => frameOf(tree, p)), [0, 1, 2, 3, 4]);
	const other = build([row("main", null), row("b", 0), row("step", 1)], WEIGHTS[0]);
	assert.equal(frameOf(other, places[4]), 2);
	assert.equal(frameOf(other, places[2]), -1);
	assert.deepEqual([placeOf(tree, -1), frameOf(tree, "")], ["", -1]);
});

test("a step does not touch its neighbours", () => {
	const steps = [0, 1, 2].map((i) => ({ name: `step ${i}`, start_ps: i * 10, duration_ps: 10 }));
	assert.deepEqual(names(steps, { range: [10, 20] }), ["step 1"]);
});

test("rows that touch the time range are shown", () => {
	const rows = [{ name: "before", start_ps: 0, duration_ps: 9 }, { name: "into", start_ps: 0, duration_ps: 11 }, { name: "in", start_ps: 12, end_ps: 13 }, { name: "point", start_ps: 20 }, { name: "after", start_ps: 21 }, { name: "timeless" }];
	assert.deepEqual(names(rows, { range: [10, 20] }), ["into", "in", "point", "timeless"]);
	assert.deepEqual(names(rows, {}), rows.map((r) => r.name));
});

test("rows of another device are not shown, and rows of none stay", () => {
	const rows = [{ name: "id", device_id: 1 }, { name: "other", device_id: 0 }, { name: "named", device: "TPU:1" }, { name: "of another name", device: "TPU:0" }, { name: "none" }];
	assert.deepEqual(names(rows, { device: 1 }), ["id", "named", "none"]);
});

test("a row that names its device and host is that device's, whatever number it has there", () => {
	const rows = [{ name: "a", device: "TPU:1", host: "h0", device_id: 0 }, { name: "b", device: "TPU:1", host: "h1", device_id: 1 }];
	assert.deepEqual(names(rows, { device: 1 }), ["a"]);
});

test("a host's rows are those of its devices", () => {
	const rows = [{ name: "a", device_id: 0 }, { name: "b", device_id: 2 }, { name: "c", host: "h1" }, { name: "d", host: "h0" }];
	assert.deepEqual(names(rows, { host: "h1" }), ["b", "c"]);
});

test("a server is asked for what is chosen, and for nothing where all is", () => {
	assert.equal(partOf(ALL), null);
	assert.equal(partOf({ ...ALL, host: "" }), null);
	assert.deepEqual(partOf({ ...ALL, range: [0, 9.6], device: 0, host: "h" }), { from_ps: "0", to_ps: "10", device: "0", host: "h" });
});

test("of a report of a part all rows are shown, and its devices are those of the run", () => {
	const part = { part: { device: "2" }, run: { devices: [{ id: 0, host: "h1", name: "TPU:0 of h1" }] } };
	const rows = [{ name: "a", device_id: 0 }, { name: "b", start_ps: 0, end_ps: 1 }];
	assert.deepEqual(inSight(rows, { ...ALL, device: 2, range: [5, 6] }, part), rows);
	assert.deepEqual([deviceIn(REPORT, part, 0), deviceIn(REPORT, part, 1), deviceIn(REPORT, part, null), deviceIn(REPORT, REPORT, 1)], [2, null, null, 1]);
});

test("a report without rows shows none", () => assert.deepEqual(inSight(undefined, ALL, REPORT), []));

test("nine views are in every report, others where there is something to show", () => {
	assert.equal(viewsOf(null, false).length, 9);
	assert.ok(viewsOf({ kernels: [{}] }, false).some((v) => v.name === "kernels"));
	assert.ok(!viewsOf({ kernels: [], hta: { kernel_count: 0 } }, false).some((v) => v.name === "kernels" || v.name === "hta"));
	assert.ok(viewsOf({ flame: { stacks: [], scopes: [{}] } }, false).some((v) => v.name === "flame"));
});

test("each view has its place, and there are five", () => {
	const all = viewsOf({ kernels: [{}], ops: [{}], flame: { scopes: [{}] } }, true);
	const places = placesOf(all, PAGES);
	assert.deepEqual(places.map((p) => p.name), ["summary", "timeline", "operations", "memory", "runs"]);
	assert.deepEqual(places.flatMap((p) => p.views.map((v) => v.name)).sort(), [...all, ...PAGES].map((v) => v.name).sort());
	assert.equal(places[4].views[0].name, "live");
	assert.deepEqual(placesOf(viewsOf(null, false), []).map((p) => p.name), ["summary", "timeline", "operations", "memory"]);
	assert.ok(places.every((p) => !p.views[0].has || ["ops"].includes(p.views[0].name)), "what a place begins with is in every report, or the ops");
});

test("old addresses, and the names of places, lead to views", () => {
	const view = (text) => readLink(text).look.view;
	assert.deepEqual(["view=doctor", "doctor", "slices", "view=summary", "operations", "view=operations", "findings", "view=timeline", "memory"].map(view), ["doctor", "doctor", "slices", "overview", "ops", "ops", "doctor", "timeline", "memory"]);
	assert.equal(view("from_ps=5&to_ps=6"), "overview");
	assert.equal(view(""), "overview");
});

test("a view is found by its name or by a result that it shows", () => {
	const views = viewsOf(null, false);
	assert.equal(viewOf(views, "doctor").name, "doctor");
	assert.equal(viewOf(views, "capacity").name, "memory");
	assert.equal(viewOf(views, "no such").name, "overview");
});

test("a step that is chosen is one step: its neighbours share a sliver with it", () => {
	const rows = [{ name: "before", start_ps: 0, duration_ps: 1001 }, { name: "it", start_ps: 1000, duration_ps: 1000 }, { name: "behind", start_ps: 1995, duration_ps: 1000 }];
	assert.deepEqual(names(rows, { range: [1000, 2000] }), ["it"]);
	assert.deepEqual(names(rows, { range: [900, 2100] }), ["before", "it", "behind"]);
	assert.deepEqual(names(rows, { range: [1500, 1501] }), ["it"]);
});

test("rows say what they are of, where they cannot follow what is chosen", () => {
	const [ops, gaps] = [[{ name: "fusion.1" }], [{ name: "gap", start_ps: 5, device_id: 1, host: "a" }]];
	const range = /** @type {[number, number]} */ ([1, 2]);
	assert.equal(ofAll(ops, { ...ALL, range }, REPORT), "whole run");
	assert.equal(ofAll(ops, { ...ALL, range, device: 1 }, REPORT), "whole run, all devices");
	assert.equal(ofAll(gaps, { ...ALL, range, device: 1 }, REPORT), "");
	assert.equal(ofAll([{ name: "thread", host: "a", start_ps: 5 }], { ...ALL, device: 1 }, REPORT), "all devices");
	assert.equal(ofAll(ops, { ...ALL, range }, { ...REPORT, part: {} }), "");
	assert.equal(ofAll(ops, ALL, REPORT), "");
});
