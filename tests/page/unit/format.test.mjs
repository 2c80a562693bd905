// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { bytes, clean, csv, cut, emptyOf, isNothing, percent, time, title, titles, UNKNOWN, unit, value } = await load("format.js");

const rows = (name, write, cases) =>
	test(name, () => {
		for (const [input, expected] of cases) assert.equal(write(input), expected, `of ${input}`);
	});

rows("a time is written in the unit that suits it", time, [[0, "0"], [999, "999 ps"], [1e3, "1.00 ns"], [12.5e6, "12.5 \u00b5s"], [150e9, "150 ms"], [1.5e12, "1.50 s"], [-2e9, "-2.00 ms"]]);
rows("a minute and more is written in seconds, as on the terminal", time, [[5.9e13, "59.0 s"], [6e13, "60.0 s"], [99.9e12, "99.9 s"], [304.31e12, "304.3 s"], [-3e14, "-300 s"], [6e15, "6000 s"]]);
rows("sizes are binary", bytes, [[0, "0"], [1023, "1023 B"], [1024, "1.00 KiB"], [1536 * 1024, "1.50 MiB"], [2 ** 60, "1024 PiB"]]);
rows("a share that is not zero does not read as zero", percent, [[0, "0 %"], [0.0001, "< 0.001 %"], [-0.0001, "> -0.001 %"], [0.05, "0.05 %"], [0.004, "0.004 %"]]);
rows("a share has no more figures than it is worth", percent, [[0.1, "0.1 %"], [9.96, "10.0 %"], [12.4, "12 %"], [999, "999 %"], [12345, "12,345 %"]]);

test("what is null or missing is unknown, and zero is not", () => {
	assert.equal(value("total_ps", null), UNKNOWN);
	assert.equal(value("total_ps", undefined), UNKNOWN);
	assert.equal(value("total_ps", 0), "0");
	assert.equal(value("waste_pct", 0), "0 %");
	assert.equal(value("steps", 0), "0");
});

test("what has no name says none, and where nobody knows it says unknown", () => {
	assert.equal(emptyOf("systolic.ops.limiting_dim", { fill_pct: 100 }), "none");
	assert.equal(emptyOf("systolic.ops.limiting_dim", { fill_pct: null }), UNKNOWN);
	assert.equal(emptyOf("async.ops.done", { is_async: false }), "none");
	assert.equal(emptyOf("async.ops.done", { is_async: true }), UNKNOWN);
	assert.equal(emptyOf("time.idle_gaps.ended_by", { host_event: "save" }), "none");
	assert.equal(emptyOf("idle_gaps.ended_by", { host_event: "save" }), "none"); // a table is named with its view or without
	assert.equal(emptyOf("time.idle_gaps.ended_by", { host_event: null }), UNKNOWN);
	assert.equal(emptyOf("ops.source", {}), UNKNOWN);
});

test("nothing is 0 of what is counted, and not the number of a step", () => {
	assert.ok(isNothing("waste_ps", 0));
	for (const [name, v] of [["step", 0], ["rank", 0], ["waste_ps", null], ["waste_ps", 1]]) assert.ok(!isNothing(name, v), name);
});

test("a time class is called by its label", () => {
	assert.equal(value("ops.bucket", "memory_wait"), "Memory wait");
	assert.equal(value("time.bottleneck_bucket", "unexplained"), "Unexplained");
	assert.equal(value("time.bottleneck_bucket", "below_roofline"), "Below roofline");
	assert.equal(value("ops.name", "memory_wait"), "memory_wait");
});

test("booleans are words", () => {
	assert.equal(value("is_remat", true), "yes");
	assert.equal(value("is_remat", false), "no");
});

test("whole numbers have separators, others three figures", () => {
	assert.equal(value("count", 1234567), "1,234,567");
	assert.equal(value("ratio", 0.12345), "0.12");
	assert.equal(value("ratio", 12.345), "12.3");
	assert.equal(value("ratio", 123.45), "123");
});

test("a number that says which one has no separators", () => {
	assert.equal(value("step", 1009), "1009");
	assert.equal(value("first_step", 12345), "12345");
	assert.equal(value("device_id", 1024), "1024");
	assert.equal(value("op_index", 5000), "5000");
	assert.equal(value("steps", 1009), "1,009");
});

test("rates carry their unit", () => {
	assert.equal(value("peak_flops_per_s", 9.18e14), "918 TFLOP/s");
	assert.equal(value("hbm_bytes_per_s", 1.64e12), "1.64 TB/s");
	assert.equal(value("allocations_per_s", 12), "12 /s");
	assert.equal(value("flops", 2e9), "2.00 GFLOP");
	assert.equal(value("operational_intensity", 240.4), "240 FLOP/B");
	assert.equal(value("ridge_flops_per_byte", 24.04), "24.0 FLOP/B");
});

test("time a minute is a time, and nothing is 0 ms of it", () => {
	assert.equal(value("compilation_ms_per_min", 0), "0");
	assert.equal(value("compilation_ms_per_min", 1.5), "1.50 ms/min");
});

test("a part of an object has the unit of the object's name", () => {
	assert.equal(value("step_time_ps.mean", 2e9), "2.00 ms");
	assert.equal(value("overview.step_time_ps.p99", 2e9), "2.00 ms");
	assert.equal(unit("buckets.count"), "");
});

test("the longer of two endings is the unit", () => {
	assert.equal(unit("flops_per_s"), "FLOP/s");
	assert.equal(unit("read_bytes_per_s"), "B/s");
	assert.equal(unit("calls_per_s"), "/s");
});

test("a list is written as in the CSV of the program", () => {
	assert.equal(value("shapes", ["a", "b"]), "a; b");
	assert.equal(value("where", [{ op: "dot", line: 3 }, { op: null, line: 4 }]), "op=dot line=3; op= line=4");
	assert.equal(value("lists", [["inside"], "x"]), "; x");
	assert.equal(value("none", []), "");
});

test("an object is written as JSON", () => assert.equal(value("x", { a: 1 }), '{"a":1}'));

test("control characters of a name are shown and not obeyed", () => {
	assert.equal(clean("a\u0000b\u001bc"), "a\u2400b\u241bc");
	assert.equal(clean("a\u007fb\u009bc"), "a\ufffdb\ufffdc");
});

test("marks that turn the direction of writing are not obeyed", () => {
	for (const mark of ["\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\u200b", "\ufeff"]) assert.equal(clean(`a${mark}b`), "a\ufffdb");
});

test("line ends and tabs stay", () => assert.equal(clean("a\n\tb"), "a\n\tb"));

test("texts of a report are cleaned wherever they stand", () => {
	assert.equal(value("op", "a\u202eb"), "a\ufffdb");
	assert.equal(value("ops", ["a\u202eb"]), "a\ufffdb");
	assert.ok(!value("op", { "\u202e": 1 }).includes("\u202e"));
});

test("a text that is cut says how much is missing", () => {
	assert.equal(cut("abcdef", 6), "abcdef");
	assert.equal(cut("abcdefg", 6), "abcdef\u2026 (1 more characters)");
	assert.match(cut("x".repeat(5000), 300), /\(4,700 more characters\)$/);
});

rows("a name becomes the label of the glossary", title, [
	["hbm_read_bytes", "Read from HBM"],
	["self_time_ps", "Self time, all cores"],
	["mxu_utilization_pct", "MXU utilization"],
	["hbm_bytes_per_s", "HBM bandwidth"],
	["peak_flops_per_s", "Peak FLOP rate"],
	["flops", "FLOPs"],
	["bytes", "Bytes"],
	["memory_wait", "Memory wait"],
	["host_transfer", "Host transfer"],
	["input_fusion", "Input fusion"],
	["step_time_ps.p99", "Step time, 99th percentile"],
]);

test("headings are those of the table", () => {
	const found = titles(["time_ps", "occurrences", "source"], "systolic.ops");
	assert.deepEqual([...found.values()], ["Time of the op, all cores", "Runs", "Source"]);
	assert.equal(titles(["time_ps"], "host_link").get("time_ps"), "Time under way, all cores");
});

test("headings that would read the same say what they measure", () => {
	const found = titles(["own_thing_ps", "own_thing_ps"]);
	assert.equal(found.get("own_thing_ps"), "Own thing ps, time");
});

test("a CSV has a heading, a line a row and CRLF at each end", () => {
	assert.equal(csv(["op", "self_ps"], [{ op: "dot", self_ps: 5 }, { op: "add", self_ps: 7 }]), "op,self_ps\r\ndot,5\r\nadd,7\r\n");
	assert.equal(csv(["op"], []), "op\r\n");
});

test("a CSV of what was predicted says so in a column behind the others", () => {
	assert.equal(csv(["op"], [{ op: "dot" }, { op: "add" }], true), "op,is_predicted\r\ndot,true\r\nadd,true\r\n");
	assert.equal(csv(["run"], [{ run: "a", is_predicted: true }, { run: "b", is_predicted: false }]), "run,is_predicted\r\na,true\r\nb,false\r\n");
	assert.equal(csv(["run"], [{ run: "b", is_predicted: false }]), "run\r\nb\r\n");
	assert.equal(csv(["run", "is_predicted"], [{ run: "a", is_predicted: true }]), "run,is_predicted\r\na,true\r\n");
});

test("in a CSV unknown is empty and zero is 0", () => assert.equal(csv(["a", "b", "c"], [{ a: null, c: 0 }]), "a,b,c\r\n,,0\r\n"));

test("in a CSV texts with separators are quoted", () => {
	assert.equal(csv(["a"], [{ a: 'say "x", y' }]), 'a\r\n"say ""x"", y"\r\n');
	assert.equal(csv(["a"], [{ a: "two\nlines" }]), 'a\r\n"two\nlines"\r\n');
	assert.equal(csv(["a"], [{ a: " led by a space" }]), 'a\r\n" led by a space"\r\n');
});

test("in a CSV a text cannot become a formula, and a number stays one", () => {
	for (const text of ["=1+1", "+1", "-1", "@x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x"]) assert.equal(csv(["a"], [{ a: text }]), `a\r\n'${text}\r\n`);
	assert.equal(csv(["a"], [{ a: "a;=1+1;b" }]), "a\r\n\"a;'=1+1;b\"\r\n");
	assert.equal(csv(["a"], [{ a: "a\t-1" }]), "a\r\n\"a\t'-1\"\r\n");
	assert.equal(csv(["a"], [{ a: "a\r\n@x" }]), "a\r\n\"a\r\n'@x\"\r\n");
	assert.equal(csv(["a"], [{ a: "\t=1" }]), "a\r\n\"'\t'=1\"\r\n");
	assert.equal(csv(["a"], [{ a: -1 }]), "a\r\n-1\r\n");
});

test("a CSV's heading adds the unit that a name does not say", () => {
	assert.equal(csv(["operational_intensity", "flops_per_byte", "self_ps"], []), "operational_intensity (FLOP/byte),flops_per_byte,self_ps\r\n");
});
