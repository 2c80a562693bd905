// SPDX-License-Identifier: MIT
// A tree of the result `flame` for drawing: flat arrays, the children of a frame one after the other below it. Nothing is
// worked out anew but sums: a frame is as wide as the own weights of all below it.

/** @import { FrameRow, Tree, Weight } from "../report.d.ts" */

/** @type {Weight[]} */
export const WEIGHTS = [
	{ name: "cpu", title: "CPU time", self: "cpu_self_ps", unit: "flame.cpu_time_ps" },
	{ name: "device", title: "device time", self: "device_self_ps", unit: "flame.device_time_ps" },
	{ name: "count", title: "calls", self: "count", unit: "" },
];
export const KINDS = /** @type {const} */ (["stacks", "modules", "scopes"]);

/** @type {(row: FrameRow, least: number) => boolean} */
const isSmall = (row, least) => row.category === "kernel" && row.device_self_ps / Math.max(row.count, 1) < least;

// Kernels shorter than LEAST, each, as one frame below each parent. Rows stay in order: it stands where the first of them did.
/** @type {(rows: FrameRow[], least: number) => FrameRow[]} */
function grouped(rows, least) {
	/** @type {FrameRow[]} */
	const out = [];
	const moved = new Int32Array(rows.length);
	const groups = new Map();
	rows.forEach((row, i) => {
		const parent = row.parent === null ? null : moved[row.parent];
		if (!isSmall(row, least)) {
			moved[i] = out.length;
			out.push({ ...row, parent });
			return;
		}
		if (!groups.has(parent)) {
			groups.set(parent, out.length);
			out.push({ name: "(small kernels)", parent, category: "kernel", count: 0, cpu_self_ps: 0, device_self_ps: 0 });
		}
		moved[i] = groups.get(parent);
		const group = out[moved[i]];
		for (const { self } of WEIGHTS) group[self] += row[self];
	});
	return out;
}

const FOLD = 3; // fewer callers are drawn as they are

/**
 * What stands around all the rest, each calling only the next one, as one frame: the launchers of a program. Of each root of ROWS; what it took
 * itself stays in the sum. NR: how many frames it is.
 * @type {(rows: FrameRow[], weight: Weight) => { rows: FrameRow[], nr: number }}
 */
export function folded(rows, weight) {
	const total = Float64Array.from(rows, (row) => row[weight.self]);
	for (let i = rows.length - 1; i >= 0; i--) {
		const { parent } = rows[i];
		if (parent !== null) total[parent] += total[i];
	}
	const callees = new Int32Array(rows.length);
	rows.forEach((row, i) => {
		if (row.parent !== null && total[i] > 0) callees[row.parent]++;
	});
	const root = new Int32Array(rows.length).fill(-1); // of the callers that a frame belongs to; -1: of none
	const length = new Int32Array(rows.length);
	rows.forEach((row, i) => {
		if (total[i] > 0 && callees[i] === 1 && (row.parent === null || root[row.parent] >= 0)) root[i] = row.parent === null ? i : root[row.parent];
		if (root[i] >= 0) length[root[i]]++;
	});
	let nr = 0;
	const moved = new Int32Array(rows.length);
	/** @type {FrameRow[]} */
	const out = [];
	rows.forEach((row, i) => {
		const parent = row.parent === null ? null : moved[row.parent];
		const isFolded = root[i] >= 0 && length[root[i]] >= FOLD;
		if (!isFolded || root[i] === i) {
			moved[i] = out.length;
			out.push({ ...row, parent });
		}
		if (!isFolded) return;
		nr++;
		moved[i] = moved[root[i]];
		const one = out[moved[i]];
		one.name = `${length[root[i]]} callers: ${rows[root[i]].name} \u2026 ${row.name}`;
		if (root[i] !== i) for (const { self } of WEIGHTS) if (self !== "count") one[self] += row[self];
	});
	return { rows: out, nr };
}

/**
 * The frames with WORD that are drawn, the heaviest first.
 * @type {(tree: Tree, hits: Uint8Array) => number[]}
 */
export const heaviest = (tree, hits) => [...hits.keys()].filter((i) => hits[i] && !tree.hidden(i)).sort((a, b) => tree.total[b] - tree.total[a]);

// LEAST: ps that a frame takes in all, CPU or device, to be drawn; what is not drawn is the parent's own.
/** @type {(all: FrameRow[], weight: Weight, only?: { least?: number, group?: boolean }) => Tree} */
export function build(all, weight, { least = 0, group = false } = {}) {
	const rows = group ? grouped(all, least) : all;
	const n = rows.length;
	const longest = [new Float64Array(n), new Float64Array(n)];
	/** @type {Tree} */
	const tree = {
		rows,
		parent: new Int32Array(n),
		depth: new Int32Array(n),
		end: new Int32Array(n), // behind the last frame below it
		self: new Float64Array(n),
		total: new Float64Array(n),
		start: new Float64Array(n), // where it begins, in the weight
		all: 0,
		depths: 0,
		hidden: (i) => tree.total[i] <= 0 || Math.max(longest[0][i], longest[1][i]) < least,
	};
	for (let i = 0; i < n; i++) {
		const row = rows[i];
		tree.parent[i] = row.parent ?? -1;
		tree.depth[i] = row.parent === null ? 0 : tree.depth[row.parent] + 1;
		tree.self[i] = tree.total[i] = row[weight.self];
		longest[0][i] = row.cpu_self_ps;
		longest[1][i] = row.device_self_ps;
		tree.end[i] = i + 1;
	}
	for (let i = n - 1; i >= 0; i--) {
		const above = tree.parent[i];
		if (above < 0) {
			tree.all += tree.total[i];
			continue;
		}
		tree.total[above] += tree.total[i];
		for (const column of longest) column[above] += column[i];
		tree.end[above] = Math.max(tree.end[above], tree.end[i]);
	}
	const next = new Float64Array(n + 1); // where the next child of each begins; of the roots at the end
	for (let i = 0; i < n; i++) {
		const above = tree.parent[i] < 0 ? n : tree.parent[i];
		tree.start[i] = next[above];
		next[above] += tree.total[i];
		next[i] = tree.start[i];
	}
	for (let i = 0; i < n; i++) if (!tree.hidden(i)) tree.depths = Math.max(tree.depths, tree.depth[i] + 1);
	return tree;
}

// The frames to draw below ZOOM (-1: all), each with its place in 0..1; below those narrower than NARROW nothing is looked at.
// Those that hold ZOOM are as wide as it is.
/** @type {(tree: Tree, zoom: number, narrow: number, each: (i: number, at: number, share: number) => void) => void} */
export function visit(tree, zoom, narrow, each) {
	const from = zoom < 0 ? 0 : tree.start[zoom];
	const width = zoom < 0 ? tree.all : tree.total[zoom];
	if (!(width > 0)) return;
	for (let i = tree.parent[zoom] ?? -1; i >= 0; i = tree.parent[i]) each(i, 0, 1);
	for (let i = Math.max(zoom, 0); i < (zoom < 0 ? tree.rows.length : tree.end[zoom]); ) {
		const share = tree.total[i] / width;
		if (tree.hidden(i) || share < narrow) {
			i = tree.end[i];
			continue;
		}
		each(i, (tree.start[i] - from) / width, share);
		i++;
	}
}

// Children that are drawn, the first to begin first.
/** @type {(tree: Tree, at: number) => number[]} */
export function children(tree, at) {
	/** @type {number[]} */
	const out = [];
	for (let i = at + 1, end = at < 0 ? tree.rows.length : tree.end[at]; i < end; i = tree.end[i]) if (!tree.hidden(i)) out.push(i);
	return out;
}

// Frames whose name has WORD: which, how many, and their share of all; one inside another counts once.
/** @type {(tree: Tree, word: string) => { hits: Uint8Array, nr: number, share: number }} */
export function find(tree, word) {
	const wanted = word.trim().toLowerCase();
	const hits = new Uint8Array(tree.rows.length);
	if (!wanted) return { hits, nr: 0, share: 0 };
	let nr = 0;
	let sum = 0;
	let until = 0;
	for (let i = 0; i < tree.rows.length; i++) {
		if (!tree.rows[i].name.toLowerCase().includes(wanted)) continue;
		hits[i] = 1;
		nr++;
		if (i < until) continue;
		sum += tree.total[i];
		until = tree.end[i];
	}
	return { hits, nr, share: tree.all > 0 ? sum / tree.all : 0 };
}

// A frame by its path, in a few letters: a link finds it again whatever else is drawn.
/** @type {(hash: number, text: string) => number} */
function mixed(hash, text) {
	let out = hash;
	for (let i = 0; i < text.length; i++) out = Math.imul(out ^ text.charCodeAt(i), 16777619); // FNV-1a
	return out;
}
/** @type {(tree: Tree, at: number) => string} */
export function placeOf(tree, at) {
	/** @type {string[]} */
	const names = [];
	for (let i = at; i >= 0; i = tree.parent[i]) names.push(tree.rows[i].name);
	return names.length ? (names.reduceRight((hash, name) => mixed(hash, `/${name}`), 2166136261) >>> 0).toString(36) : "";
}
// -1: the tree does not draw it.
/** @type {(tree: Tree, place: string) => number} */
export function frameOf(tree, place) {
	if (!place) return -1;
	const hashes = new Int32Array(tree.rows.length);
	for (let i = 0; i < hashes.length; i++) {
		hashes[i] = mixed(tree.parent[i] < 0 ? 2166136261 : hashes[tree.parent[i]], `/${tree.rows[i].name}`);
		if ((hashes[i] >>> 0).toString(36) === place && !tree.hidden(i)) return i;
	}
	return -1;
}
