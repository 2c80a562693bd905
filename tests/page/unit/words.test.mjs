// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./page.mjs";

const root = new URL("../../../", import.meta.url);
const { readGlossary } = await import(new URL("plugin/page/glossary.mjs", root).href);
const { labelOf, spoken, wordOf } = await load("glossary.js");
const { isGpu, labelFor, meaning, reasonOf, windowOf } = await load("words.jsx");
const { bytesAxis } = await load("timeaxis.jsx");
const { viewsOf } = await load("views/index.js");
const GLOSSARY = readGlossary(readFileSync(new URL("docs/glossary.md", root), "utf8"));

const TPU = { run: { devices: [{ id: 0, host: "h", name: "/device:TPU:0", chip: "TPU v6e", mxu_dim: 256 }] } };
const GPU = { run: { devices: [{ id: 0, host: "h", name: "/device:GPU:0", chip: "MI300X", mxu_dim: null }] } };
const NOTHING = { run: { devices: [] } };

test("a section of another form is an error", () => {
	assert.throws(() => readGlossary("# Glossary\n"), /no section/);
	assert.throws(() => readGlossary("# G\n\n## Word\n\nIt has no name.\n"), /another form: Word/);
	assert.throws(() => readGlossary("# G\n\n## Word\nNames: `a`\n\nIt has no page.\n"), /another form: Word/);
});

test("the longest name that a path ends with is its label", () => {
	assert.equal(labelOf("systolic.steps.time_ps"), "Core time of the step");
	assert.equal(labelOf("systolic.ops.time_ps"), "Time of the op, all cores");
	assert.equal(labelOf("nowhere.time_ps"), "Time");
	assert.equal(labelOf("ops.mxu_utilization_pct"), "MXU utilization");
});

test("names that share a meaning have labels of their own", () => {
	assert.equal(labelOf("steps_outliers.idle_excess_ps"), "Idle above median");
	assert.equal(labelOf("steps_outliers.compute_excess_ps"), "Compute above median");
	assert.equal(wordOf("idle_excess_ps"), wordOf("compute_excess_ps"));
});

test("no label is a name of JSON", () => {
	for (const { names } of GLOSSARY) for (const [name] of names) assert.doesNotMatch(labelOf(name), /[a-z]_[a-z]/, name);
});

test("a formula is written with labels", () => {
	assert.equal(spoken("`waste_ps` / `time.total_ps`"), "Padding waste, all cores / Core time");
	for (const { title, formula } of GLOSSARY) assert.doesNotMatch(spoken(formula), /[a-z]_[a-z]|`/, title);
});

test("the meaning has the formula, the origin, the window and the page", () => {
	const lines = meaning("overview.mxu_utilization_pct", { origin: "modelled", window: "the whole run" });
	assert.match(lines[0], /^The matrix units \(MXU\) did this share/);
	assert.match(lines[1], /^Formula: FLOPs \/ \(time x Peak FLOP rate\)$/);
	assert.match(lines[2], /^Modelled: A formula gives the number/);
	assert.equal(lines[3], "Window: the whole run");
	assert.equal(lines[4], 'More: tpusight explain "MXU utilization", docs/analyses/matrix/systolic.md');
	assert.deepEqual(meaning("a name of no figure"), []);
});

test("a figure has the window that it is of", () => {
	assert.equal(windowOf("overview.mxu_utilization_pct", TPU), "the whole run");
	assert.equal(windowOf("overview.mxu_utilization_pct", { ...TPU, part: { from_ps: 0 } }), "the chosen part of the run");
	assert.equal(windowOf("overview.duty_cycle_pct", TPU), "each core, from its first event to its last");
	assert.equal(windowOf("overview.duty_cycle_pct", { ...TPU, part: { from_ps: 0 } }), "each core, from its first event to its last, in the chosen part");
	assert.equal(windowOf("hta.compute_time_pct", GPU), "from the first kernel to the last");
	assert.equal(windowOf("hta.gpu_idle_pct", GPU), "the capture");
	assert.equal(windowOf("timeline.gpu_active_pct", GPU), "from the first event of a host or a device to the last");
});

test("a GPU has matrix units, and no MXU", () => {
	assert.equal(isGpu(TPU), false);
	assert.equal(isGpu(GPU), true);
	assert.equal(isGpu(NOTHING), false);
	assert.equal(labelFor("mxu_utilization_pct", TPU), "MXU utilization");
	assert.equal(labelFor("mxu_utilization_pct", GPU), "Matrix unit utilization");
});

test("a GPU without matrix ops has no view of matrix units", () => {
	const names = (report) => viewsOf(report, false).map((v) => v.name);
	assert.ok(names(TPU).includes("systolic"));
	assert.ok(!names(GPU).includes("systolic"));
	assert.ok(names({ ...GPU, systolic: { ops: [{ op: "dot", mxu_utilization_pct: 5 }] } }).includes("systolic"));
});

test("a GPU without modules has no view of padding, fusion and roofline", () => {
	const names = (report) => viewsOf(report, false).map((v) => v.name);
	for (const view of ["padding", "fusion"]) {
		assert.ok(names(TPU).includes(view));
		assert.ok(!names({ ...GPU, padding: { allocated_bytes: null }, fusion: { fused_count: null, unfused: [] } }).includes(view), view);
		assert.ok(names({ ...GPU, padding: { allocated_bytes: 4 }, fusion: { fused_count: 0 } }).includes(view), view);
	}
	const roofline = (flops) => names({ ...GPU, roofline: [{ kind: "op", flops_per_s: flops }] }).includes("roofline");
	assert.ok(roofline(5) && !roofline(null));
});

test("tabs and labels have no word of one vendor", () => {
	for (const { title } of viewsOf(GPU, false)) assert.doesNotMatch(title, /CUDA|HTA|Systolic/, title);
	for (const name of ["cuda_time_ps", "tensor_core", "tensor_core_pct", "gpu_idle_pct"]) assert.doesNotMatch(labelOf(name), /CUDA|NVIDIA|Tensor core/i, name);
});

test("what is unknown has a reason, and what would make it known", () => {
	assert.equal(reasonOf({ ...TPU, systolic: { ops: [] }, ops: [{ flops: 1 }] }, "systolic"), "No matrix work is in this profile.");
	const cause = { id: "ran_on_cpu", fix: "Run the job on a TPU." };
	assert.equal(reasonOf({ ...NOTHING, capture: { causes: [cause] } }, "overview"), "No TPU or GPU is in this profile. Run the job on a TPU.");
	const inferred = { id: "steps_inferred", fix: "Mark steps." };
	assert.equal(reasonOf({ ...TPU, systolic: { ops: [] }, capture: { causes: [inferred] } }, "systolic"), "No matrix work is in this profile.");
	assert.equal(reasonOf(TPU, "cache", "It was off."), "It was off.");
	assert.equal(reasonOf(null, "cache"), "The profile does not say.");
});

test("sizes on an axis are whole", () => {
	assert.deepEqual(bytesAxis(null, [0, 2 ** 30, 2 ** 31, 3 * 2 ** 30]), ["0", "1 GiB", "2 GiB", "3 GiB"]);
	assert.deepEqual(bytesAxis(null, [512 * 2 ** 20]), ["512 MiB"]);
});

test("classes of a step are called on the page as in the table of the program", () => {
	const names = ["Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec", "Other"];
	assert.deepEqual(["kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other"].map((c) => labelOf(`timeline.steps.${c}_ps`)), names);
});
