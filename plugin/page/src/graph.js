// SPDX-License-Identifier: MIT
// Ops and what goes from one to the other through memory, in columns: who makes something stands left of who reads it.

/** @import { Graph, GraphEdge, Row } from "./report.d.ts" */

/**
 * The pairs that cost most, each op once. An op's column is behind those of all that it reads from; what would close a circle is left out of that.
 * @type {(pairs: Row[], most: number) => Graph}
 */
export function graphOf(pairs, most) {
	/** @type {GraphEdge[]} */
	const edges = pairs
		.filter((p) => !p.is_others && typeof p.producer === "string" && typeof p.consumer === "string")
		.sort((a, b) => (b.impact_ps ?? 0) - (a.impact_ps ?? 0) || (b.total_bytes ?? 0) - (a.total_bytes ?? 0))
		.slice(0, most)
		.map((row) => ({ row, from: key(row.module, row.producer), to: key(row.module, row.consumer), out: 0.5, into: 0.5 }));
	const names = [...new Set(edges.flatMap((e) => [e.from, e.to]))];
	const column = columnsOf(names, edges);
	/** @type {string[][]} */
	const columns = [];
	for (const name of names) (columns[column.get(name) ?? 0] ??= []).push(name);
	inRows(columns, edges);
	const places = new Map(columns.flatMap((of, x) => of.map((name, y) => /** @type {[string, { x: number, y: number }]} */ ([name, { x, y }]))));
	ported(edges, places);
	return { edges, places, columns: columns.length, rows: columns.reduce((n, of) => Math.max(n, of.length), 0) };
}

// Where each line leaves and enters, along the side of its op: none stands on another, and those that pass below others are the lowest.
/** @type {(edges: GraphEdge[], places: Graph["places"]) => void} */
function ported(edges, places) {
	/** @param {string} name */
	const at = (name) => /** @type {{ x: number, y: number }} */ (places.get(name));
	/** @param {GraphEdge} e */
	const isLong = (e) => Number(at(e.to).x - at(e.from).x > 1);
	for (const [end, other, port] of /** @type {["from" | "to", "from" | "to", "out" | "into"][]} */ ([["from", "to", "out"], ["to", "from", "into"]]))
		for (const name of new Set(edges.map((e) => e[end]))) {
			const mine = edges.filter((e) => e[end] === name).sort((a, b) => at(a[other]).y - at(b[other]).y || isLong(a) - isLong(b));
			mine.forEach((e, i) => {
				e[port] = (i + 1) / (mine.length + 1);
			});
		}
}

/** @type {(module: string, name: string) => string} */
const key = (module, name) => `${module}\n${name}`;

/** @param {string} of */
export const opOfKey = (of) => ({ module: of.slice(0, of.indexOf("\n")), name: of.slice(of.indexOf("\n") + 1) });

/** @type {(names: string[], edges: GraphEdge[]) => Map<string, number>} */
function columnsOf(names, edges) {
	const before = new Map(names.map((n) => [n, edges.filter((e) => e.to === n && e.from !== n).map((e) => e.from)]));
	/** @type {Map<string, number>} */
	const column = new Map();
	const open = new Set();
	/** @type {(name: string) => number} */
	const find = (name) => {
		const known = column.get(name);
		if (known !== undefined) return known;
		open.add(name);
		const own = (before.get(name) ?? []).filter((n) => !open.has(n)).reduce((most, n) => Math.max(most, find(n) + 1), 0);
		open.delete(name);
		column.set(name, own);
		return own;
	};
	names.forEach(find);
	return column;
}

// Each beside those that it reads from, so that fewer lines cross.
/** @type {(columns: string[][], edges: GraphEdge[]) => void} */
function inRows(columns, edges) {
	const row = new Map((columns[0] ?? []).map((name, y) => [name, y]));
	for (const of of columns.slice(1)) {
		/** @param {string} name */
		const middle = (name) => {
			const known = edges.filter((e) => e.to === name).flatMap((e) => row.get(e.from) ?? []);
			return known.length ? known.reduce((sum, y) => sum + y, 0) / known.length : Infinity;
		};
		const middles = new Map(of.map((name) => [name, middle(name)]));
		of.sort((a, b) => (/** @type {number} */ (middles.get(a)) === middles.get(b) ? 0 : /** @type {number} */ (middles.get(a)) - /** @type {number} */ (middles.get(b))));
		of.forEach((name, y) => row.set(name, y));
	}
}

const END = 8; // letters of a name's end, where its number stands

/** @type {(name: string, most: number) => string} */
export const shortened = (name, most) => (name.length > most ? `${name.slice(0, most - END - 1)}\u2026${name.slice(-END)}` : name);
