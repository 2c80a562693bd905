// What the pages over several runs draw, worked out of what the server says of them: differences, histograms, places over time.

/** @import { Maybe, Row } from "./report.d.ts" */

/**
 * The difference of two runs part by part: where each bar begins and ends, as time of a step. What makes OTHER slower goes up, the rest down.
 * @type {(parts: Row[], base: number, column: string) => { title: string, from: number, to: number, change: number }[]}
 */
export function waterfall(parts, base, column) {
	let at = base;
	return parts
		.filter((p) => p.part !== "all" && typeof p[column] === "number" && p[column] !== 0)
		.sort((a, b) => Math.abs(b[column]) - Math.abs(a[column]))
		.map((p) => {
			const from = at;
			at += p[column];
			return { title: p.title, from, to: at, change: p[column] };
		});
}

/**
 * How many steps of each run took how long, in bins that all share.
 * @type {(runs: number[][], bins: number) => { low: number, high: number, counts: number[][] } | null}
 */
export function histograms(runs, bins) {
	const all = runs.flat();
	if (!all.length) return null;
	const low = all.reduce((a, b) => Math.min(a, b), Infinity);
	const high = all.reduce((a, b) => Math.max(a, b), 0);
	const width = (high - low) / bins || 1;
	const counts = runs.map((steps) => {
		const out = new Array(bins).fill(0);
		for (const ps of steps) out[Math.min(Math.floor((ps - low) / width), bins - 1)]++;
		return out;
	});
	return { low, high: low + width * bins, counts };
}

/** The ops that differ most. @type {(ops: Row[], column: string, most: number) => Row[]} */
export const changed = (ops, column, most) => ops.filter((op) => typeof op[column] === "number" && op[column] !== 0).sort((a, b) => Math.abs(b[column]) - Math.abs(a[column])).slice(0, most);

/**
 * Runs in the order of time, with their places in a picture of 0..1 x 0..1. What has no time of a step, or did not say when it ran, has no place.
 * @type {(runs: Row[]) => { points: { run: Row, x: number, y: number, isBad: boolean }[], high: number, left: number }}
 */
export function trend(runs) {
	const known = runs.filter((r) => typeof r.step_median_ps === "number" && typeof r.when_unix_ms === "number").sort((a, b) => a.when_unix_ms - b.when_unix_ms);
	const high = known.reduce((most, r) => Math.max(most, r.step_median_ps), 0) * 1.1;
	const begin = known[0]?.when_unix_ms ?? 0;
	const span = (known[known.length - 1]?.when_unix_ms ?? 0) - begin;
	return {
		points: known.map((run) => ({ run, x: span > 0 ? (run.when_unix_ms - begin) / span : 0.5, y: run.step_median_ps / high, isBad: run.gate?.state === "failed" })),
		high,
		left: runs.length - known.length,
	};
}

/** @type {(unixMs: Maybe<number>) => string} */
export const when = (unixMs) => (typeof unixMs === "number" ? new Date(unixMs).toISOString().slice(0, 16).replace("T", " ") : "unknown");

/**
 * Paths without the folders that all of them begin with: what tells them apart.
 * @type {(paths: string[]) => string[]}
 */
export function apart(paths) {
	const all = paths.map((p) => p.split("/"));
	let same = 0;
	while (all.length > 1 && all.every((parts) => same < parts.length - 1 && parts[same] === all[0][same])) same++;
	return all.map((parts) => parts.slice(same).join("/"));
}

/**
 * Headings of a comparison's columns: run_1_change_ps is a change of the second run.
 * @type {(columns: string[], names: string[], title: (name: string) => string) => Record<string, string>}
 */
export function headings(columns, names, title) {
	/** @type {[string, string][]} */
	const found = columns.flatMap((column) => {
		const [, at, rest] = /^run_(\d+)_?(.*)$/.exec(column) ?? [];
		return at === undefined ? [] : [[column, [names[Number(at)] ?? column, rest && rest !== "ps" && rest !== "pct" ? title(rest).toLowerCase() : ""].filter(Boolean).join(", ")]];
	});
	return Object.fromEntries(found);
}
