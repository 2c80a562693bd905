// SPDX-License-Identifier: MIT
// What the page of several runs side by side draws and says, worked out of the report's result "compare" (docs/compare.md).
import { percent, time, unit, value } from "./format.js";

/** @import { Compared, Maybe, Row } from "./report.d.ts" */

// --- names

const HEAD = 0.3; // of a short name is what the long one begins with

/** @type {(a: string, b: string) => number} how many letters both begin with */
function sameBegin(a, b) {
	let same = 0;
	while (same < a.length && same < b.length && a[same] === b[same]) same++;
	return same;
}

/**
 * A long name loses its middle. AT: the letter that tells it apart, which stays.
 * @type {(text: string, most: number, at?: number) => string}
 */
export function middle(text, most, at = text.length) {
	if (text.length <= most) return text;
	const head = Math.floor(most * HEAD);
	const room = most - head - 2;
	const from = Math.min(Math.max(at - Math.floor(room / 2), head), text.length - room - 1);
	const end = text.length - from <= room + 1 ? text.slice(from) : `${text.slice(from, from + room)}\u2026`;
	return from <= head ? `${text.slice(0, head + room + 1)}\u2026` : `${text.slice(0, head)}\u2026${end}`;
}

/**
 * Names of at most MOST letters that no two runs share: what stays is where a name differs from those most like it. If that is not enough, a
 * number stands in front.
 * @type {(names: string[], most: number) => string[]}
 */
export function shortNames(names, most) {
	const sorted = [...names].sort();
	const places = new Map(sorted.map((n, i) => [n, Math.max(sameBegin(n, sorted[i - 1] ?? ""), sameBegin(n, sorted[i + 1] ?? ""))]));
	const cut = names.map((n) => middle(n, most, places.get(n)));
	/** @type {Map<string, number>} */
	const times = new Map();
	for (const c of cut) times.set(c, (times.get(c) ?? 0) + 1);
	return cut.map((c, i) => (times.get(c) === 1 ? c : `${i + 1}: ${middle(names[i], most - 5, places.get(names[i]))}`));
}

// --- differences in words

const SAME_PCT = 1; // a figure that differs by less is "about the same"
const TIMES = 2; // from there on a ratio is read, not a share: 4.3 times, never 329 %

/** @param {number} x */
const factor = (x) => (x >= 100 ? Math.round(x).toLocaleString("en-US") : x >= 10 ? x.toFixed(1) : x.toFixed(2));

/**
 * How long one thing takes beside another, in words. RATIO: its time / the other's.
 * @type {(ratio: number) => string}
 */
export function longer(ratio) {
	if (ratio === 1) return "as long";
	if (ratio >= TIMES) return `${factor(ratio)} times as long`;
	return ratio > 1 ? `${percent(100 * (ratio - 1))} longer` : `${percent(100 * (1 - ratio))} shorter`;
}

/** @type {(ps: number) => string} */
export const signed = (ps) => `${ps > 0 ? "+" : ps < 0 ? "\u2212" : ""}${time(Math.abs(ps))}`;

/**
 * A time that changed, in words: slower is more of it. BASE: what it was; null: it was not there.
 * @type {(change: number, base?: Maybe<number>) => string}
 */
export function slower(change, base) {
	if (change === 0) return "as before";
	const ratio = base ? (base + change) / base : NaN;
	const by = Number.isFinite(ratio) && ratio > 0 ? ` (${longer(ratio)})` : "";
	return `${time(Math.abs(change))} ${change > 0 ? "slower" : "faster"}${by}`;
}

/**
 * The difference of two values of a figure. NAME: with its unit at the end.
 * @type {(name: string, base: Maybe<number>, other: Maybe<number>) => string}
 */
export function differs(name, base, other) {
	if (typeof base !== "number" || typeof other !== "number") return "unknown";
	const change = other - base;
	if (change === 0) return "the same";
	const sign = change > 0 ? "+" : "\u2212";
	const points = percent(Math.abs(change)).replace(" %", "");
	if (unit(name) === "%") return points.startsWith("<") ? `less than ${points.slice(2)} points` : `${sign}${points} points`;
	const ratio = other / base;
	const share = base > 0 && ratio >= TIMES ? ` (${factor(ratio)} times)` : base > 0 ? ` (${sign}${percent(Math.abs(100 * (ratio - 1)))})` : "";
	return `${sign}${value(name, Math.abs(change))}${share}`;
}

/**
 * Whether that is good. BETTER: lower, higher; null: nobody can say.
 * @type {(row: Row, base: Maybe<number>, other: Maybe<number>) => string}
 */
export function judged(row, base, other) {
	if (typeof base !== "number" || typeof other !== "number") return "unknown";
	const change = other - base;
	const share = unit(row.figure) === "%" ? Math.abs(change) : base === 0 ? Math.abs(change) * Infinity : Math.abs((100 * change) / base);
	if (change === 0 || share < SAME_PCT) return "about the same";
	if (!row.better) return change > 0 ? "more" : "less";
	return change > 0 === (row.better === "higher") ? "better" : "worse";
}

// --- what the rank test says

/** In how many cases of a round number something happens. @param {number} p */
export function odds(p) {
	if (p >= 0.995) return "in nearly all cases";
	if (p < 1e-6) return "in less than one of a million cases";
	let of = 100;
	while (Math.round(p * of) < 1) of *= 10;
	return `in about ${Math.round(p * of)} of ${of.toLocaleString("en-US")} cases`;
}

/** @type {(n: number) => string} */
const steps = (n) => `${n.toLocaleString("en-US")} ${n === 1 ? "step" : "steps"}`;

const MEAN = 0.01; // as in src/compare/times.c: from there on the mean is said beside the median

/** @type {(run: Row, base: Row) => string[]} */
function ofMean(run, base) {
	const change = run.time_ps / base.time_ps;
	return Math.abs(change - 1) > MEAN ? [`The mean step is ${longer(change)}: a few ${change > 1 ? "slow" : "fast"} steps make that.`] : [];
}

/** @type {(run: Row, base: Row) => string} */
function ofChance(run, base) {
	const test = `the rank test (Mann-Whitney U of ${steps(run.steps)} against ${steps(base.steps)})`;
	const sure = run.verdict === "faster" || run.verdict === "slower";
	return `Chance alone makes such a difference ${odds(run.p_value)}, says ${test}${sure ? "" : ": the steps do not show that one is faster"}.`;
}

/** @type {(run: Row) => string[]} */
function ofInterval({ speed_up_low: low, speed_up_high: high }) {
	if (!(low > 0) || !(high > 0)) return [];
	const [least, most] = [longer(1 / high), longer(1 / low)];
	/** @type {(text: string) => string[]} */
	const parts = (text) => [text.slice(0, text.lastIndexOf(" ")), text.slice(text.lastIndexOf(" ") + 1)];
	const [a, b] = [parts(least), parts(most)];
	const both = a[1] !== b[1] || a[1] === "long" ? `between ${least} and ${most}` : a[0] === b[0] ? most : `between ${(a[1] === "shorter" ? [b, a] : [a, b]).map((x) => x[0]).join(" and ")} ${a[1]}`;
	return [`With 95 % certainty a step is ${both}.`];
}

/** @type {(run: Row, base: Row, of: string, than: string) => string[]} */
function tested(run, base, of, than) {
	const ratio = run.median_ps / base.median_ps;
	const agrees = run.verdict === "slower" ? ratio > 1 : ratio <= 1;
	const medians = `the median step takes ${time(run.median_ps)} and not ${time(base.median_ps)}`;
	if (run.p_value === null)
		return [`${of} is ${run.verdict} than ${than}: its predicted step takes ${time(run.median_ps)} and not ${time(base.median_ps)}, which is ${longer(ratio)}.`, "Both are predicted, from what the compiler made: there is no chance in it."];
	return [`${of} is ${run.verdict} than ${than}: ${medians}${agrees ? `, which is ${longer(ratio)}` : ", but most of its other steps say the opposite"}.`, ...ofInterval(run), ofChance(run, base)];
}

/**
 * The verdict on a run in sentences. OF and THAN: how the run and the baseline are called.
 * @type {(run: Row, base: Row, of: string, than: string) => string[]}
 */
export function sentences(run, base, of, than) {
	const medians = () => `median steps of ${time(run.median_ps)} and ${time(base.median_ps)}`;
	switch (run.verdict) {
		case "slower":
		case "faster":
			return tested(run, base, of, than);
		case "equal":
			return [`The predicted steps of ${of} and ${than} are equal: ${time(run.median_ps)}.`];
		case "no clear difference":
			return [`${of} and ${than} show no clear difference: ${medians()}.`, ofChance(run, base), ...ofMean(run, base)];
		case "too few steps to tell":
			return [`${of} and ${than} have too few steps to tell which is faster: ${medians()}.`, `No order of ${steps(run.steps)} and ${steps(base.steps)} could be told from chance.`];
		case "unknown":
			return [`Which of ${of} and ${than} is faster is not known: there is no time on a device to compare.`];
		default:
			return [`${of} takes ${time(run.median_ps)} and ${than} ${time(base.median_ps)}: ${longer(run.median_ps / base.median_ps)}.`, "These are single times, without steps: nothing can be tested."];
	}
}

// --- the waterfall

/** Words of the parts that the report has in other ones. @type {Record<string, string>} */
const PARTS = { same: "ops that changed by less than 1 %", compilation: "compilation, without ops", input: "waiting for input, without ops", launch: "waiting for launches, without ops", idle: "idle, without ops", left_over: "not explained by ops" };

/**
 * The parts of the difference by what ops did, the largest first, and by time class.
 * @type {{ ops: (of: Compared, column: string) => Row[], classes: (of: Compared, column: string) => Row[] }}
 */
export const partsOf = {
	ops: (of, column) => (of.difference ?? []).filter((p) => p.part !== "all").map((p) => ({ name: PARTS[p.part] ?? p.title, change: p[column] })),
	classes: (of, column) => (of.buckets ?? []).map((b) => ({ name: b.title, change: b[column] })),
};

/**
 * From the baseline to the run, part by part: where each bar begins and ends.
 * @type {(parts: Row[], base: number) => { name: string, from: number, to: number, change: number }[]}
 */
export function waterfall(parts, base) {
	let at = base;
	return parts
		.filter((p) => typeof p.change === "number" && p.change !== 0)
		.sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
		.map(({ name, change }) => {
			const from = at;
			at += change;
			return { name, from, to: at, change };
		});
}

const NEAR = 0.75; // bars that all end above this share of the longest would look alike on an axis from 0

/**
 * Where the axis of a waterfall begins and ends.
 * @type {(edges: number[]) => { low: number, high: number }}
 */
export function axis(edges) {
	const low = edges.reduce((a, b) => Math.min(a, b), Infinity);
	const high = edges.reduce((a, b) => Math.max(a, b), 0);
	return { low: low > NEAR * high ? Math.max(low - (high - low), 0) : Math.min(low, 0), high: high || 1 };
}

// --- ops

/** The ops that differ most. @type {(ops: Row[], column: string, most: number) => Row[]} */
export const changed = (ops, column, most) => ops.filter((op) => typeof op[column] === "number" && op[column] !== 0).sort((a, b) => Math.abs(b[column]) - Math.abs(a[column])).slice(0, most);

const WRAPPERS = /^(jit|pjit|xla_computation|while|body|cond|checkpoint|remat2?|rematted_computation|closed_call|named|shard_map)(\(|$)/;

/** A function's gradient, as JAX names it. @type {Record<string, string>} */
const GRADIENTS = { "jvp()": "", "transpose(jvp())": "backward" };

/**
 * What people call an op: what they wrote, as the framework tells it, without the functions that are only wrapped around it.
 * @type {(op: Row) => string}
 */
export function calledOp(op) {
	const scope = String(op.framework_op ?? "");
	const parts = scope.split("/").map((part) => GRADIENTS[part] ?? part).filter(Boolean);
	const own = parts.filter((part, i) => i === parts.length - 1 || !WRAPPERS.test(part));
	return own.slice(-2).join("/") || String(op.op ?? op.name ?? "");
}

// --- the histogram

const BINS = 30;

/**
 * The bins in which one of COLUMNS has steps, and those between, at most BINS of them: those that stand beside each other become one.
 * @type {(bins: Row[], columns: string[]) => Row[]}
 */
export function closeUp(bins, columns) {
	/** @param {Row} bin */
	const has = (bin) => columns.some((c) => bin[c] > 0);
	const isOpen = (/** @type {Row} */ b) => b.from_ps === null || b.to_ps === null;
	const closed = bins.filter((b) => !isOpen(b));
	const inside = closed.slice(Math.max(closed.findIndex(has), 0), closed.length - Math.max([...closed].reverse().findIndex(has), 0));
	const each = Math.max(Math.ceil(inside.length / BINS), 1);
	const joined = inside.flatMap((bin, i) => (i % each ? [] : [inside.slice(i, i + each).reduce((all, b) => ({ ...all, to_ps: b.to_ps, ...Object.fromEntries(columns.map((c) => [c, all[c] + b[c]])) }), { from_ps: bin.from_ps, ...Object.fromEntries(columns.map((c) => [c, 0])) })]));
	return [...bins.filter((b) => b.from_ps === null && has(b)), ...joined, ...bins.filter((b) => b.to_ps === null && has(b))];
}

/**
 * The bins of a run as places in a picture: x from 0 to WIDTH, y from 0 to 1. A bin without an end stands apart from the others.
 * @type {(bins: Row[], column: string) => { xs: number[], shares: number[], width: number, total: number }}
 */
export function placed(bins, column) {
	const total = bins.reduce((sum, b) => sum + (b[column] ?? 0), 0);
	let at = 0;
	const xs = bins.map((bin) => {
		if (bin.to_ps === null) at += 1;
		const x = at;
		at += bin.from_ps === null ? 2 : 1;
		return x;
	});
	return { xs, shares: bins.map((b) => (total ? (b[column] ?? 0) / total : 0)), width: at, total };
}

/**
 * Where a time stands in that picture; null: in a bin without an end.
 * @type {(bins: Row[], ps: Maybe<number>) => number | null}
 */
export function placeOf(bins, ps) {
	const { xs } = placed(bins, "");
	const at = typeof ps === "number" ? bins.findIndex((b) => b.from_ps !== null && b.to_ps !== null && ps >= b.from_ps && ps < b.to_ps) : -1;
	return at < 0 ? null : xs[at] + (/** @type {number} */ (ps) - bins[at].from_ps) / (bins[at].to_ps - bins[at].from_ps);
}

/** @type {Record<string, string>} what became of an op, a module or a finding */
export const BECAME = { new: "only here", gone: "gone", same: "as before", slower: "slower", faster: "faster" };
