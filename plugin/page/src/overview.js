// SPDX-License-Identifier: MIT
// What the overview says of a run, worked out of its report: what was profiled, its verdict, the ops that took the most time, how long its steps were.
import { BUCKETS } from "./colors.js";
import { bytes, clean as legible, cut, percent, time } from "./format.js";
import { hintOf } from "./opdata.js";
import { shortNames } from "./pod.js";
import { when } from "./runs.js";

/** @import { Finding, FindingRange, Maybe, Report, Row, SlowStep, Step, StepBin, TopOp } from "./report.d.ts" */

// Names are other people's texts, and may be as long as they like.
/** @param {string} text */
const clean = (text) => cut(legible(text), 200);

/** @type {(n: number, what: string) => string} */
const nr = (n, what) => `${n.toLocaleString("en-US")} ${what}${n === 1 ? "" : "s"}`;

// --- what was profiled

/** @param {Report} report */
function chipsText(report) {
	/** @type {Map<string, number>} */
	const kinds = new Map();
	for (const d of report.run?.devices ?? []) {
		const kind = [d.chip ?? d.kind ?? "chip of an unknown kind", d.hbm_bytes ? `${bytes(d.hbm_bytes)} each` : ""].filter(Boolean).join(", ");
		kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
	}
	return kinds.size ? [...kinds].map(([kind, n]) => `${n.toLocaleString("en-US")} \u00d7 ${clean(kind)}`).join("; ") : "none: no TPU or GPU ran";
}

const NAMED = 3; // hosts by their names

/** @param {Report} report */
function hostsText(report) {
	const all = (report.run?.hosts ?? []).map((h) => h.name);
	if (all.length < 2) return all.length ? clean(all[0]) : null;
	const short = [...shortNames(all).values()].map(clean).sort((a, b) => a.localeCompare(b, "en", { numeric: true })); // w-2 before w-10
	return `${all.length}: ${short.length > NAMED ? `${short[0]} to ${short[short.length - 1]}` : short.join(", ")}`;
}

/**
 * The module that took the most time is the program; null: no module has a time, and there are several.
 * @type {(modules: Row[]) => Row | null}
 */
export function programOf(modules) {
	const timed = modules.filter((m) => typeof m.total_time_ps === "number");
	if (!timed.length) return modules.length === 1 ? modules[0] : null;
	return timed.reduce((most, m) => (m.total_time_ps > most.total_time_ps ? m : most));
}

/** @param {Report} report */
function programText(report) {
	const modules = (report.modules ?? []).filter((m) => !m.is_others);
	const first = programOf(modules);
	if (!modules.length) return "not named: the profile has no compiled module";
	if (!first) return `${nr(modules.length, "module")}; which of them took most time is not known`;
	const others = modules.length - 1;
	return [clean(first.name), typeof first.executions === "number" ? nr(first.executions, "execution") : "", others > 0 ? `and ${nr(others, "other module")}` : ""].filter(Boolean).join(", ");
}

/** @type {Record<string, string>} */
const SOURCES = { marked: "marked by the program", inferred: "inferred from what repeats", host: "marked on the host", launched: "marked on the host, each until its last kernel" };

/** @param {Report} report */
function stepsText(report) {
	const all = (report.steps ?? []).filter((s) => !s.is_others);
	const count = report.overview?.step_count ?? all.length;
	if (!count) return "none";
	const source = report.overview?.step_source ?? SOURCES[all[0]?.source ?? ""];
	const ends = all.length === count && count > 1 ? `${all[0].step} to ${all[all.length - 1].step}` : "";
	return [count.toLocaleString("en-US"), ends, source && clean(source)].filter(Boolean).join(", ");
}

/** @param {Report} report */
function beganText(report) {
	const first = (report.run?.hosts ?? []).map((h) => Number(h.start_unix_ns ?? 0) / 1e6).filter((ms) => ms > 0);
	return first.length ? `${when(Math.min(...first))} UTC` : null;
}

/** @param {Report} report */
function lengthText(report) {
	const { duration_ps: ran, capture_ps: capture, duration_of: of } = report.run ?? {};
	const all = typeof capture === "number" ? `a capture of ${time(capture)}` : null;
	if (typeof ran !== "number" || of === "capture") return all;
	return [`${time(ran)} from the first to the last event of ${of === "hosts" ? "hosts" : "devices"}`, all && `in ${all}`].filter(Boolean).join(", ");
}

/** @param {Report} report */
function filesText(report) {
	const all = (report.run?.hosts ?? []).filter((h) => h.file);
	if (!all.length) return null;
	const size = all.reduce((sum, h) => sum + (h.bytes ?? 0), 0);
	const name = all.length === 1 ? clean(String(all[0].file).split("/").pop() ?? "") : nr(all.length, "file");
	return `${name}${size ? `, ${bytes(size)}` : ""}`;
}

/**
 * What was profiled, by labels; null: the profile does not say.
 * @type {(report: Report) => [label: string, text: string | null][]}
 */
export const profiledOf = (report) => [
	["Chips", chipsText(report)],
	["Hosts", hostsText(report)],
	["Program", programText(report)],
	["Steps", stepsText(report)],
	["Began", beganText(report)],
	["Length", lengthText(report)],
	["Profile", filesText(report)],
];

// --- the verdict

/** @param {Report} report */
const isWarned = (report) => (report.doctor?.findings ?? []).some((f) => f.severity !== "info");

/**
 * What limits the run, and the rate that says so. There is no praise above warnings.
 * @type {(report: Report) => { verdict: string, rate: string } | null}
 */
export function verdictOf(report) {
	const { bottleneck, bottleneck_evidence: rate } = report.time ?? {};
	if (!bottleneck) return null;
	const verdict = isWarned(report) ? bottleneck.replace(/ \(good[^)]*\)/, "") : bottleneck;
	return { verdict, rate: rate && !verdict.includes(rate) ? rate.charAt(0).toUpperCase() + rate.slice(1) : "" };
}

/**
 * The classes that have core time, with their shares of it, in the order in which they are stacked.
 * @type {(report: Report) => { bucket: string, ps: number, share: number }[]}
 */
export function classesOf(report) {
	const total = report.time?.total_ps ?? 0;
	if (!total) return [];
	return BUCKETS.map((bucket) => ({ bucket, ps: report.time?.buckets?.[`${bucket}_ps`] ?? 0 }))
		.filter(({ ps }) => ps > 0)
		.map(({ bucket, ps }) => ({ bucket, ps, share: (100 * ps) / total }));
}

// --- ops

const SPLIT = ["compute", "below_roofline", "memory_wait", "unexplained"]; // classes that share out one op's time

/**
 * The classes of an op's own time, as shares of it.
 * @type {(op: Row) => { bucket: string, share: number }[]}
 */
export function splitOf(op) {
	const parts = SPLIT.map((bucket) => ({ bucket, ps: op[`${bucket}_ps`] ?? 0 })).filter(({ ps }) => ps > 0);
	const sum = parts.reduce((total, { ps }) => total + ps, 0);
	if (sum > 0 && SPLIT.includes(op.bucket)) return parts.map(({ bucket, ps }) => ({ bucket, share: (100 * ps) / sum }));
	return BUCKETS.includes(op.bucket) ? [{ bucket: op.bucket, share: 100 }] : [];
}

/** @type {(report: Report, name: string) => string} */
const operatorOf = (report, name) => report.kernels?.find((k) => k.name === name && k.op)?.op ?? "";

/** A path's last part is enough to tell lines apart. @param {string} hint */
const shortened = (hint) => hint.split(" \u00b7 ").map((part) => (/\/[^/]+:\d+$/.test(part) ? (part.split("/").pop() ?? part) : part)).join(" \u00b7 ");

/**
 * The ops with the most time of their own. SAYS: what a person wrote, or the kind of the op where nothing is known of that.
 * @type {(report: Report, most: number) => TopOp[]}
 */
export function topOps(report, most) {
	const total = report.time?.total_ps ?? 0;
	const ops = (report.ops ?? []).filter((op) => !op.is_others && (op.self_time_ps ?? 0) > 0).sort((a, b) => b.self_time_ps - a.self_time_ps);
	return ops.slice(0, most).map((op) => ({
		op: { module: op.module ?? "", name: op.name },
		says: clean(shortened(hintOf(op)) || operatorOf(report, op.name) || String(op.category ?? "")),
		self_ps: op.self_time_ps,
		share: total ? (100 * op.self_time_ps) / total : null,
		bucket: op.bucket ?? null,
		parts: splitOf(op),
	}));
}

// --- steps

const [FEWEST, MOST_BINS] = [6, 40];

/**
 * How many steps took how long: bins of one width from the shortest to the longest step, more of them where there are more steps.
 * @type {(steps: Step[]) => StepBin[]}
 */
export function stepBins(steps) {
	if (!steps.length) return [];
	const bins = Math.min(Math.max(Math.ceil(2 * Math.sqrt(steps.length)), FEWEST), MOST_BINS);
	const low = steps.reduce((least, s) => Math.min(least, s.duration_ps), Infinity);
	const high = steps.reduce((most, s) => Math.max(most, s.duration_ps), 0);
	const width = (high - low) / bins;
	if (!width) return [{ from: low, to: high, count: steps.length }];
	const counts = new Array(bins).fill(0);
	for (const s of steps) counts[Math.min(Math.floor((s.duration_ps - low) / width), bins - 1)]++;
	return counts.map((count, i) => ({ from: low + i * width, to: low + (i + 1) * width, count }));
}

/**
 * The steps that take much longer than the others, as the report says, and the longest one in any case; with what is known of why.
 * @type {(report: Report, steps: Step[]) => SlowStep[]}
 */
export function slowSteps(report, steps) {
	const median = report.overview?.step_time_ps?.median ?? 0;
	const known = new Map((report.time?.steps_outliers ?? []).map((/** @type {Row} */ o) => [o.start_ps, o]));
	const order = [...steps].sort((x, y) => y.duration_ps - x.duration_ps);
	const slow = order.filter((s, i) => known.has(s.start_ps) || (i === 0 && s.duration_ps > median));
	return slow.map((step) => ({ step, excess: median ? (100 * (step.duration_ps - median)) / median : null, isSlow: known.has(step.start_ps), reason: clean(String(known.get(step.start_ps)?.reason ?? "")) || null }));
}

// --- findings in time

/**
 * The moments of a finding, the longest first.
 * @type {(report: Report, finding: Finding) => FindingRange[]}
 */
export const rangesOf = (report, finding) => [...(finding.time_ranges ?? (report.doctor?.ranges ?? []).filter((r) => r.finding === finding.id))].sort((a, b) => b.end_ps - b.start_ps - (a.end_ps - a.start_ps));

/**
 * RANGES as slices of one row: in the order of their starts, none over another. A slice's kind is the place of its range in RANGES.
 * @type {(ranges: FindingRange[]) => number[]}
 */
export function lane(ranges) {
	/** @type {number[]} */
	const slices = [];
	const order = ranges.map((_, i) => i).sort((a, b) => ranges[a].start_ps - ranges[b].start_ps || ranges[b].end_ps - ranges[a].end_ps);
	for (const i of order) {
		const start = Math.max(ranges[i].start_ps, slices[slices.length - 2] ?? -Infinity);
		if (start < ranges[i].end_ps) slices.push(start, ranges[i].end_ps, i);
	}
	return slices;
}

/** @type {(share: Maybe<number>) => string} */
export const shareText = (share) => (typeof share === "number" ? percent(share) : "");

// --- percentiles, for steps that are chosen in a page without a server

/**
 * Between two values by their distance, as the report's own (analysis/facts).
 * @type {(values: number[], share: number) => number | null}
 */
export function percentile(values, share) {
	if (!values.length) return null;
	const sorted = [...values].sort((a, b) => a - b);
	const at = share * (sorted.length - 1);
	const low = Math.floor(at);
	return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

/** @type {[name: string, share: number][]} */
const MARKS = [["median", 0.5], ["p90", 0.9], ["p99", 0.99]];

/**
 * Median, p90 and p99: the report's own, or of SHOWN where it is less than the report has.
 * @type {(report: Report, shown: Step[], all: Step[]) => { name: string, ps: number }[]}
 */
export function marksOf(report, shown, all) {
	const known = report.overview?.step_time_ps;
	const isAll = shown.length === all.length;
	return MARKS.flatMap(([name, share]) => {
		const ps = isAll ? known?.[name] : percentile(shown.map((s) => s.duration_ps), share);
		return typeof ps === "number" ? [{ name, ps }] : [];
	});
}
