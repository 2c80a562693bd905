// SPDX-License-Identifier: MIT
// How a product lies on the matrix unit, an array of D x D cells: K goes along its rows and N along its columns, in tiles of its size, and M
// streams through. docs/analyses/matrix/systolic.md has the rule.

/** @import { ArrayTiles, Row } from "./report.d.ts" */

const SUBLANES = 8; // M comes in rows of so many

/** @type {(n: number, to: number) => number} */
const up = (n, to) => Math.ceil(n / to) * to;

/**
 * ROWS of the product stream through, COLUMNS and K lie on the array.
 * @type {(rows: number, columns: number, k: number, d: number) => number}
 */
const fillOf = (rows, columns, k, d) => (rows / up(rows, SUBLANES)) * (columns / up(columns, d)) * (k / up(k, d));

/**
 * The tiles of an op's largest product; M and N change places where that fills more. null: a size is not known.
 * @type {(op: Row, d: number | null | undefined) => ArrayTiles | null}
 */
export function tilesOf({ m, n, k, batch }, d) {
	if (!d || ![m, n, k].every((size) => typeof size === "number" && size > 0)) return null;
	const isSwapped = fillOf(n, m, k, d) > fillOf(m, n, k, d);
	const [rows, columns] = isSwapped ? [n, m] : [m, n];
	const [across, down] = [Math.ceil(columns / d), Math.ceil(k / d)];
	const full = Math.floor(columns / d) * Math.floor(k / d);
	return {
		d,
		stream: { name: isSwapped ? "N" : "M", size: rows, stored: up(rows, SUBLANES) },
		columns: { name: isSwapped ? "M" : "N", size: columns, stored: across * d },
		depth: { name: "K", size: k, stored: down * d },
		across,
		down,
		full,
		edge: across * down - full,
		batch: batch ?? 1,
		fill: fillOf(rows, columns, k, d),
	};
}

/**
 * The last tile, as far as it is used: the least filled one.
 * @type {(tiles: ArrayTiles) => { columns: number, rows: number }}
 */
export const lastTile = ({ d, columns, depth }) => ({ columns: columns.size % d || d, rows: depth.size % d || d });

/**
 * From the peak to what was reached, in percent of the peak; what is not known has no step.
 * @type {(row: Row, reached: string) => { key: string, from: number, to: number }[] | null}
 */
export function lossesOf(row, reached) {
	if (typeof row[reached] !== "number") return null;
	let at = 100;
	const steps = ["loss_shape_pct", "loss_memory_pct", "loss_other_pct"].flatMap((key) => {
		if (typeof row[key] !== "number") return [];
		const from = at;
		at -= row[key];
		return [{ key, from, to: Math.max(at, 0) }];
	});
	return [{ key: "peak", from: 100, to: 0 }, ...steps, { key: "reached", from: row[reached], to: 0 }];
}
