// SPDX-License-Identifier: MIT
// How an array is stored: dimensions, layout and tile of a shape as XLA writes it, f32[16,500]{1,0:T(8,128)}.

/** @import { Maybe, Row, StoredArray, StoredShape } from "./report.d.ts" */

const SHAPE = /^(\w+)\[([\d,]*)\](?:\{([\d,]*)(?::(?:T\(([\d,]+)\))?[^}]*)?\})?$/;

/** @param {Maybe<string>} text */
const numbers = (text) => (text ? text.split(",").map(Number) : []);

/**
 * The two dimensions that a tile lies on, as they are and as they are stored, and how many such planes there are. A dimension that the tile has and
 * the array does not is one of size 1. null: the text is not a shape with a tile.
 * @type {(text: Maybe<string>) => StoredShape | null}
 */
export function storedOf(text) {
	const [, type, dims, order, tile] = SHAPE.exec(text ?? "") ?? [];
	if (type === undefined || tile === undefined) return null;
	const sizes = numbers(dims);
	const minor = numbers(order); // the innermost dimension first
	if (minor.length !== sizes.length || minor.some((i) => i >= sizes.length)) return null;
	const [down, across] = tile.includes(",") ? numbers(tile).slice(-2) : [1, Number(tile)];
	/** @type {(at: number, to: number) => { size: number, stored: number, tile: number, dimension: number | null }} */
	const side = (at, to) => {
		const size = sizes[minor[at]] ?? 1;
		return { size, stored: Math.ceil(size / to) * to, tile: to, dimension: minor[at] ?? null };
	};
	const columns = side(0, across);
	const rows = side(1, down);
	if (!columns.stored || !rows.stored) return null;
	return { type, sizes, columns, rows, planes: minor.slice(2).reduce((n, i) => n * sizes[i], 1) };
}

/**
 * Arrays of one shape together, those that waste most first.
 * @type {(rows: Maybe<Row[]>) => StoredArray[]}
 */
export function byShape(rows) {
	/** @type {Map<string, StoredArray>} */
	const all = new Map();
	for (const row of rows ?? []) {
		if (row.is_others || typeof row.shape !== "string" || typeof row.allocated_bytes !== "number") continue;
		const one = all.get(row.shape) ?? { shape: row.shape, count: 0, logical: 0, allocated: 0, names: [] };
		one.count++;
		one.logical += row.logical_bytes;
		one.allocated += row.allocated_bytes;
		one.names.push({ module: row.module, name: row.name });
		all.set(row.shape, one);
	}
	return [...all.values()].sort((a, b) => b.allocated - b.logical - (a.allocated - a.logical));
}
