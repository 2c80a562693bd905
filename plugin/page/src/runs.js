// SPDX-License-Identifier: MIT
// What the list of runs and a program's trend draw, worked out of what the server says of them.

/** @import { Maybe, Row } from "./report.d.ts" */

const [SIDE, ABOVE] = [0.03, 0.06]; // of the picture stay free, so that no dot stands on its edge

/**
 * Runs in the order of time, with their places in a picture of 0..1 x 0..1. What has no time of a step, or did not say when it ran, has no
 * place. LIMIT: ps, where the gate fails; ISFROMZERO: else the axis begins below the shortest.
 * @type {(runs: Row[], limit?: Maybe<number>, isFromZero?: boolean) => { points: { run: Row, x: number, y: number, isBad: boolean }[], low: number, high: number, begin: number, end: number, left: number }}
 */
export function trend(runs, limit = null, isFromZero = true) {
	const known = runs.filter((r) => typeof r.step_median_ps === "number" && typeof r.when_unix_ms === "number").sort((a, b) => a.when_unix_ms - b.when_unix_ms);
	const all = [...known.map((r) => r.step_median_ps), ...(known.length && typeof limit === "number" ? [limit] : [])];
	const most = all.reduce((a, b) => Math.max(a, b), 0);
	const least = all.reduce((a, b) => Math.min(a, b), most);
	const low = isFromZero ? 0 : Math.max(least - ABOVE * 2 * (most - least || least), 0);
	const high = most + ABOVE * (most - low) || 1;
	const begin = known[0]?.when_unix_ms ?? 0;
	const end = known[known.length - 1]?.when_unix_ms ?? 0;
	return {
		points: known.map((run) => ({ run, x: placeOf(run.when_unix_ms, begin, end), y: (run.step_median_ps - low) / (high - low), isBad: run.gate?.state === "failed" })),
		low, high, begin, end,
		left: runs.length - known.length,
	};
}

/** A moment's place across the picture. @type {(ms: number, begin: number, end: number) => number} */
export const placeOf = (ms, begin, end) => (end > begin ? SIDE + ((1 - 2 * SIDE) * (ms - begin)) / (end - begin) : 0.5);

/** @type {(span: number, most: number, steps: number[]) => number} the least step with at most MOST in SPAN */
const stepOf = (span, most, steps) => steps.find((s) => span / s <= most) ?? span / most;

/**
 * Round values from LOW to HIGH for an axis.
 * @type {(low: number, high: number, most: number) => number[]}
 */
export function ticks(low, high, most) {
	const ten = 10 ** Math.floor(Math.log10((high - low) / most || 1));
	const step = stepOf(high - low, most, [1, 2, 5, 10, 20].map((x) => x * ten));
	const first = Math.ceil(low / step);
	return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

const [MINUTE, HOUR, DAY] = [6e4, 36e5, 864e5];
const SPANS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY, 1825 * DAY];

/**
 * Round moments between two, and how they are written: days where days pass, else times of a day.
 * @type {(begin: number, end: number, most: number) => { ms: number, text: string }[]}
 */
export function moments(begin, end, most) {
	if (!(end > begin)) return [{ ms: begin, text: when(begin) }];
	const step = stepOf(end - begin, most, SPANS);
	const first = Math.ceil(begin / step);
	const all = Array.from({ length: Math.max(Math.floor(end / step) - first + 1, 0) }, (_, i) => (first + i) * step);
	return (all.length > 1 ? all : [begin, end]).map((ms) => ({ ms, text: step >= DAY && all.length > 1 ? when(ms).slice(0, 10) : when(ms) }));
}

/** @type {(unixMs: Maybe<number>) => string} */
export const when = (unixMs) => (typeof unixMs === "number" ? new Date(unixMs).toISOString().slice(0, 16).replace("T", " ") : "unknown");

const TIME = /^\d{4}(_\d\d){5}(_\d+)?$/; // how profilers name a session

/**
 * Paths without the folders that all of them begin with: what tells them apart. A session's time goes too, where the folders are names enough.
 * @type {(paths: string[]) => string[]}
 */
export function apart(paths) {
	const all = paths.map((p) => p.split("/"));
	const named = all.map((parts) => (parts.length > 1 && TIME.test(parts[parts.length - 1]) ? parts.slice(0, -1) : parts));
	const parts = new Set(named.map((n) => n.join("/"))).size === all.length ? named : all;
	let same = 0;
	while (parts.length > 1 && parts.every((p) => same < p.length - 1 && p[same] === parts[0][same])) same++;
	return parts.map((p) => p.slice(same).join("/"));
}

/**
 * The folder that all runs stand in, by its name alone: of "/home/ann/logs/a" and "/home/ann/logs/b" it is "logs". What TensorBoard puts between
 * a run and its sessions is no name. null: they have none in common.
 * @type {(paths: string[]) => string | null}
 */
export function folderOf(paths) {
	const all = paths.map((p) => p.split("/").slice(0, -1));
	let same = 0;
	while (all.length && same < all[0].length && all.every((parts) => parts[same] === all[0][same])) same++;
	const parts = (all[0] ?? []).slice(0, same).join("/").replace(/\/?plugins(\/profile)?$/, "").split("/");
	return parts[parts.length - 1] || null;
}
