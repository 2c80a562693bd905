// SPDX-License-Identifier: MIT
// What a roofline shows: the roofs of the chip, the ops below them, and how much has no place there.

/** @import { Roof, RooflineOp, Row, Without } from "./report.d.ts" */

const MOST = 0.99; // of the ops' time: the range that is shown has so much

/**
 * Ops with a place: X is FLOPs to a byte of what bounds it, so that the roof above it is its own.
 * @type {(rows: Row[]) => RooflineOp[]}
 */
export function placedOps(rows) {
	const ops = rows.filter((r) => r.kind === "op" && !r.is_others);
	return ops.flatMap((row) => {
		const x = row.bottleneck_operational_intensity ?? row.operational_intensity;
		return x > 0 && row.flops_per_s > 0 ? [{ row, x, y: row.flops_per_s, time_ps: row.self_time_ps ?? 0 }] : [];
	});
}

// Why an op has no place on two axes of which neither begins at 0.
/** @type {[is: (row: Row) => boolean, why: string][]} */
const REASONS = [
	[(r) => r.flops_per_s === 0, "do no arithmetic, such as copies and waits"],
	[(r) => r.flops_per_s === null || r.flops_per_s === undefined, "have an unknown cost, or one that cannot be true"],
	[() => true, "move an unknown number of bytes"],
];

/**
 * What has no place, by the reason, the most time first.
 * @type {(rows: Row[]) => Without[]}
 */
export function without(rows) {
	const placed = new Set(placedOps(rows).map((o) => o.row));
	/** @type {Map<string, Without>} */
	const all = new Map();
	for (const row of rows.filter((r) => r.kind === "op" && !r.is_others && !placed.has(r))) {
		const why = REASONS.find(([is]) => is(row))?.[1] ?? "";
		const one = all.get(why) ?? { why, count: 0, time_ps: 0, share_pct: 0 };
		one.count++;
		one.time_ps += row.self_time_ps ?? 0;
		one.share_pct += row.self_time_pct ?? 0;
		all.set(why, one);
	}
	return [...all.values()].sort((a, b) => b.time_ps - a.time_ps);
}

/**
 * The ops that nearly all of the time goes to.
 * @type {(ops: RooflineOp[]) => RooflineOp[]}
 */
export function mattering(ops) {
	const all = ops.reduce((sum, o) => sum + o.time_ps, 0);
	let seen = 0;
	return [...ops].sort((a, b) => b.time_ps - a.time_ps).filter((o) => {
		const isIn = seen < MOST * all || all === 0;
		seen += o.time_ps;
		return isIn;
	});
}

/**
 * The roofs: of each memory its own, and above them the peak.
 * @type {(ridges: Row[]) => Roof[]}
 */
export const roofsOf = (ridges) => ridges.filter((r) => r.peak_flops_per_s > 0 && r.bytes_per_s > 0).map((r) => ({ kind: r.device_kind, memory: r.memory, rate: r.bytes_per_s, peak: r.peak_flops_per_s, ridge: r.ridge_flops_per_byte }));

/**
 * The ends of both axes: around the ops and the ridges, with room for the names of the roofs.
 * @type {(ops: RooflineOp[], roofs: Roof[]) => { x: [number, number], y: [number, number] }}
 */
export function axesOf(ops, roofs) {
	const xs = [...ops.map((o) => o.x), ...roofs.map((r) => r.ridge)];
	const ys = [...ops.map((o) => o.y), ...roofs.map((r) => r.peak)];
	const least = (/** @type {number[]} */ of) => of.reduce((m, v) => Math.min(m, v), Infinity);
	const most = (/** @type {number[]} */ of) => of.reduce((m, v) => Math.max(m, v), 0);
	return { x: [least(xs) / 2, most(xs) * 4], y: [least(ys) / 3, most(ys) * 4] };
}

/**
 * Where a name of this LENGTH stands along a line of the length ALL, so that it touches the fewest dots: the first such place. It reaches
 * from TOP to BOTTOM across the line. DOTS: along the line, across it, their radius. All in pixels.
 * @type {(dots: [along: number, across: number, radius: number][], length: number, all: number, across: [top: number, bottom: number]) => number}
 */
export function freePlace(dots, length, all, [top, bottom]) {
	const near = dots.filter(([, y, r]) => y + r >= top && y - r <= bottom);
	/** @param {number} at */
	const touched = (at) => near.filter(([x, , r]) => x + r >= at && x - r <= at + length).length;
	let best = 0;
	let least = Infinity;
	for (let at = 0; at <= Math.max(all - length, 0); at += length / 8) {
		const count = touched(at);
		if (count >= least) continue;
		[best, least] = [at, count];
	}
	return best;
}
