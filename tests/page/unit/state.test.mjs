import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { inSight, readHash, writeHash } = await load("state.js");
const { viewOf, viewsOf } = await load("views/index.js");

const ALL = { view: "overview", run: null, host: null, device: null, finding: null, range: null };
const REPORT = { run: { devices: [{ id: 0, host: "h0", name: "TPU:0" }, { id: 1, host: "h0", name: "TPU:1" }, { id: 2, host: "h1", name: "TPU:0 of h1" }] } };
const reading = (hash) => {
	location.hash = hash;
	return readHash();
};
const names = (rows, look) => inSight(rows, { ...ALL, ...look }, REPORT).map((r) => r.name);

test("an address without a choice shows everything", () => assert.deepEqual(reading(""), ALL));

test("device 0 is a device", () => {
	assert.equal(reading("#device=0").device, 0);
	assert.equal(reading("#device=x").device, null);
	assert.equal(reading("").device, null);
});

test("a time range needs both ends, in their order", () => {
	assert.deepEqual(reading("#from_ps=5&to_ps=9").range, [5, 9]);
	for (const hash of ["#from_ps=5", "#to_ps=9", "#from_ps=9&to_ps=5", "#from_ps=5&to_ps=5", "#from_ps=a&to_ps=9"]) assert.equal(reading(hash).range, null, hash);
});

test("what an address says is what was written into it", () => {
	const look = { view: "doctor", run: "a/b c", host: "h&1", device: 0, finding: "f#1", range: [1, 2e12] };
	location.hash = "";
	writeHash(look);
	assert.deepEqual(readHash(), look);
});

test("the first view and no choice leave the address empty", () => {
	location.hash = "#view=time";
	writeHash(ALL);
	assert.equal(location.hash, "#");
});

test("picoseconds in an address are whole", () => {
	writeHash({ ...ALL, range: [1.4, 2.6] });
	assert.equal(location.hash, "#from_ps=1&to_ps=3");
});

test("rows that touch the time range are shown", () => {
	const rows = [{ name: "before", start_ps: 0, duration_ps: 9 }, { name: "into", start_ps: 0, duration_ps: 10 }, { name: "in", start_ps: 12, end_ps: 13 }, { name: "point", start_ps: 20 }, { name: "after", start_ps: 21 }, { name: "timeless" }];
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

test("a report without rows shows none", () => assert.deepEqual(inSight(undefined, ALL, REPORT), []));

test("eight views are in every report, others where there is something to show", () => {
	assert.equal(viewsOf(null, false).length, 8);
	assert.ok(viewsOf({ kernels: [{}] }, false).some((v) => v.name === "kernels"));
	assert.ok(!viewsOf({ kernels: [], hta: { kernel_count: 0 } }, false).some((v) => v.name === "kernels" || v.name === "hta"));
	assert.ok(viewsOf({ flame: { stacks: [], scopes: [{}] } }, false).some((v) => v.name === "flame"));
});

test("what goes on stands in front", () => assert.equal(viewsOf(null, true)[0].name, "live"));

test("a view is found by its name or by a result that it shows", () => {
	const views = viewsOf(null, false);
	assert.equal(viewOf(views, "doctor").name, "doctor");
	assert.equal(viewOf(views, "capacity").name, "memory");
	assert.equal(viewOf(views, "no such").name, "overview");
});
