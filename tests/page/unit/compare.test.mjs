// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { axis, calledOp, changed, closeUp, differs, judged, longer, middle, odds, placed, placeOf, sentences, shortNames, slower, waterfall } = await load("compare.js");

test("long names keep what tells them apart, and no two are the same", () => {
	assert.equal(middle("short", 10), "short");
	assert.ok(middle("x".repeat(90), 30).length <= 30);
	const long = (n) => `experiments/llama_8b_pretrain_batch_${n}_seq_4096_with_flash_attention_and_more`;
	const names = shortNames([long(16), long(32), "run_1", "run_2"], 34);
	assert.ok(names[0].includes("16") && names[1].includes("32") && names.every((n) => n.length <= 34), names.join());
	assert.deepEqual(names.slice(2), ["run_1", "run_2"]);
	const twice = shortNames([`${"a".repeat(60)}b${"c".repeat(60)}`, `${"a".repeat(60)}b${"c".repeat(59)}d`, "x", "x"], 20);
	assert.equal(new Set(twice).size, 4);
	assert.deepEqual(shortNames([], 20), []);
});

test("what takes longer is said in times or in percent, never as 329 %", () => {
	assert.equal(longer(1), "as long");
	assert.equal(longer(1.02), "2.0 % longer");
	assert.equal(longer(0.6), "40 % shorter");
	assert.equal(longer(4.29), "4.29 times as long");
	assert.equal(longer(42.94), "42.9 times as long");
	assert.equal(slower(3e9, 1e9), "3.00 ms slower (4.00 times as long)");
	assert.equal(slower(-5e8, 1e9), "500 \u00b5s faster (50 % shorter)");
	assert.equal(slower(0, 1), "as before");
	assert.equal(slower(3e9, null), "3.00 ms slower");
});

test("figures differ in their own unit", () => {
	assert.equal(differs("step_time_ps.median", 1e9, 4.29e9), "+3.29 ms (4.29 times)");
	assert.equal(differs("step_time_ps.median", 2e9, 1e9), "\u22121.00 ms (\u221250 %)");
	assert.equal(differs("duty_cycle_pct", 40, 52.5), "+13 points");
	assert.equal(differs("padding_waste_pct", 0, 0.0001), "less than 0.001 points");
	assert.equal(differs("health_score", 92, 87), "\u22125 (\u22125.4 %)");
	assert.equal(differs("wall_ps", 0, 1e9), "+1.00 ms");
	assert.equal(differs("wall_ps", 1, 1), "the same");
	assert.equal(differs("wall_ps", null, 1), "unknown");
});

test("better and worse are what the figure says, not what its sign is", () => {
	assert.equal(judged({ figure: "health_score", better: "higher" }, 50, 80), "better");
	assert.equal(judged({ figure: "wall_ps", better: "lower" }, 50, 80), "worse");
	assert.equal(judged({ figure: "wall_ps", better: "lower" }, 1000, 1001), "about the same");
	assert.equal(judged({ figure: "core_flops", better: null }, 50, 80), "more");
	assert.equal(judged({ figure: "peak_bytes", better: "lower" }, 0, 80), "worse");
	assert.equal(judged({ figure: "wall_ps", better: "lower" }, null, 80), "unknown");
});

test("chance is said in cases", () => {
	assert.equal(odds(0.95), "in about 95 of 100 cases");
	assert.equal(odds(0.00016), "in about 2 of 10,000 cases");
	assert.equal(odds(1e-9), "in less than one of a million cases");
	assert.equal(odds(1), "in nearly all cases");
});

test("the rank test's words are sentences", () => {
	const base = { median_ps: 1e9, time_ps: 1e9, steps: 8 };
	const run = { median_ps: 4e9, time_ps: 4e9, steps: 9, p_value: 0.00016, verdict: "slower", speed_up_low: 0.2, speed_up_high: 0.3 };
	const said = sentences(run, base, "B", "A");
	assert.equal(said[0], "B is slower than A: the median step takes 4.00 ms and not 1.00 ms, which is 4.00 times as long.");
	assert.equal(said[1], "With 95 % certainty a step is between 3.33 times as long and 5.00 times as long.");
	assert.match(said[2], /^Chance alone makes such a difference in about 2 of 10,000 cases, says the rank test \(Mann-Whitney U of 9 steps against 8 steps\)\.$/);
	const same = sentences({ ...run, verdict: "no clear difference", median_ps: 1e9, time_ps: 1.12e9, p_value: 0.5 }, base, "B", "A");
	assert.equal(same.length, 3);
	assert.match(same[2], /12 % longer: a few slow steps/);
	assert.match(sentences({ ...run, verdict: "too few steps to tell", steps: 1 }, base, "B", "A")[1], /1 step and 8 steps/);
	assert.match(sentences({ ...run, verdict: "unknown" }, base, "B", "A")[0], /not known/);
	assert.match(sentences({ ...run, verdict: "one time against another: nothing to test" }, base, "B", "A")[0], /4.00 ms and A 1.00 ms/);
	assert.match(sentences({ ...run, speed_up_low: 2.4, speed_up_high: 2.5, median_ps: 0.4e9, verdict: "faster" }, base, "B", "A")[1], /between 58 % and 60 % shorter/);
});

test("bars of a difference follow one another, from one run's step to the other's", () => {
	const parts = [{ name: "A", change: -2 }, { name: "B", change: 7 }, { name: "C", change: 0 }, { name: "D", change: null }];
	assert.deepEqual(waterfall(parts, 100), [{ name: "B", from: 100, to: 107, change: 7 }, { name: "A", from: 107, to: 105, change: -2 }]);
	assert.deepEqual(axis([1, 5, 10]), { low: 0, high: 10 });
	assert.deepEqual(axis([98, 100]), { low: 96, high: 100 });
	assert.equal(axis([-2, 5]).low, -2);
});

test("ops that differ most come first, faster ones too", () => assert.deepEqual(changed([{ n: 1, c: 2 }, { n: 2, c: -9 }, { n: 3, c: 0 }, { n: 4, c: null }], "c", 5).map((op) => op.n), [2, 1]));

test("an op is called by what somebody wrote", () => {
	assert.equal(calledOp({ framework_op: "jit(train_step)/jit(main)/while/body/bsd,df->bsf/dot_general", name: "fusion.337" }), "bsd,df->bsf/dot_general");
	assert.equal(calledOp({ framework_op: "jit(mlp)/dot_general", name: "fusion.7" }), "dot_general");
	assert.equal(calledOp({ framework_op: "jit(f)/transpose(jvp())/dot_general" }), "backward/dot_general");
	assert.equal(calledOp({ framework_op: "jit(f)/jvp()/dot_general" }), "dot_general");
	assert.equal(calledOp({ framework_op: null, op: "copy-done.2", name: "copy-done.2" }), "copy-done.2");
});

test("bins stand beside each other, those without an end apart", () => {
	const bins = [{ from_ps: null, to_ps: 10, n: 1 }, { from_ps: 10, to_ps: 20, n: 2 }, { from_ps: 20, to_ps: 30, n: 1 }, { from_ps: 30, to_ps: null, n: 0 }];
	assert.deepEqual(placed(bins, "n"), { xs: [0, 2, 3, 5], shares: [0.25, 0.5, 0.25, 0], width: 6, total: 4 });
	assert.ok(near(placeOf(bins, 25), 3.5));
	assert.equal(placeOf(bins, 5), null);
	assert.equal(placeOf(bins, null), null);
});

test("of many bins those of two runs are drawn, and no step is lost", () => {
	const bins = Array.from({ length: 120 }, (_, i) => ({ from_ps: i, to_ps: i + 1, a: i === 40 ? 3 : 0, b: i === 103 ? 2 : 0, c: 9 }));
	const close = closeUp([{ from_ps: null, to_ps: 0, a: 0, b: 0, c: 1 }, ...bins, { from_ps: 120, to_ps: null, a: 1, b: 0, c: 0 }], ["a", "b"]);
	assert.equal(close[0].from_ps, 40);
	assert.equal(close[close.length - 2].to_ps, 104);
	assert.equal(close[close.length - 1].to_ps, null);
	assert.ok(close.length <= 31);
	assert.equal(close.reduce((n, x) => n + x.a, 0), 4);
	assert.equal(close.reduce((n, x) => n + x.b, 0), 2);
});
