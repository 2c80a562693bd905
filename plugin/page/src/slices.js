// SPDX-License-Identifier: MIT
// Pictures of a timeline (docs/serving.md, The timeline) as the page draws them: rows, what of them is in sight, and the critical path. A slice is
// FIELDS numbers: start and end in ps, class, name, events.

/** @import { KeptPicture, Lanes, Maybe, PathSpan, Picture, Range, SeenSlice, Step, TimelineRow } from "./report.d.ts" */

export const FIELDS = 5;
const MOST_PATH = 20000; // spans: of more slices no path is looked for
const MOST_DEVICES = 16; // that are drawn together
const MOST_THREADS = 12;
const MOST_PLACES = 8192; // that a server gives

// What a device has, in the order of its rows.
/** @type {Record<string, string>} */
export const KINDS = { steps: "Steps", modules: "Modules", ops: "Compute", collectives: "Collectives", async: "DMA", sparsecore: "SparseCore", thread: "Host thread" };

/** @type {(lane: { kind: string, host: string, device: number | null, name: string }, nr: number) => string} */
const keyOf = ({ kind, host, device, name }, nr) => `${kind} ${device ?? host} ${name} ${nr}`;

/**
 * What a picture has in each of its lanes, by their keys. Lanes of one name are told apart by their order.
 * @type {(picture: Picture) => Lanes}
 */
export function lanesOf(picture) {
	/** @type {Map<string, number>} */
	const same = new Map();
	/** @type {Lanes["rows"]} */
	const rows = new Map();
	/** @type {Set<number>} */
	const classes = new Set();
	for (const lane of picture.lanes) {
		const plain = keyOf(lane, 0);
		const nr = same.get(plain) ?? 0;
		same.set(plain, nr + 1);
		const slices = new Float64Array(lane.slices);
		for (let i = 0; i < slices.length; i += FIELDS) {
			slices[i] += picture.from_ps;
			slices[i + 1] += slices[i];
			classes.add(slices[i + 2]);
		}
		rows.set(keyOf(lane, nr), { lane, slices });
	}
	return { picture, rows, classes: picture.classes.filter((name, i) => name !== null && classes.has(i)) };
}

/** @type {(a: Picture, b: Picture) => Picture} */
function beside(a, b) {
	const from_ps = Math.min(a.from_ps, b.from_ps);
	/** @type {(picture: Picture, before: number) => Picture["lanes"]} */
	const moved = (picture, before) => picture.lanes.map((lane) => ({ ...lane, slices: lane.slices.map((v, i) => (i % FIELDS === 0 ? v + picture.from_ps - from_ps : i % FIELDS === 3 && v >= 0 ? v + before : v)) }));
	return { from_ps, to_ps: Math.max(a.to_ps, b.to_ps), classes: a.classes, names: [...a.names, ...b.names], modules: [...a.modules, ...b.modules], lanes: [...moved(a, 0), ...moved(b, a.names.length)], left_out: a.left_out + b.left_out };
}

/**
 * A file has pictures of each host by itself: those of one kind become one.
 * @type {(kept: KeptPicture[]) => KeptPicture[]}
 */
export function joined(kept) {
	/** @type {Map<string, KeptPicture>} */
	const kinds = new Map();
	for (const one of kept) {
		const before = kinds.get(one.kind);
		kinds.set(one.kind, before ? { ...before, picture: beside(before.picture, one.picture) } : one);
	}
	return [...kinds.values()];
}

/** @param {Float64Array} slices */
const events = (slices) => {
	let sum = 0;
	for (let i = 4; i < slices.length; i += FIELDS) sum += slices[i];
	return sum;
};

/** Beside a row there is room for a dozen letters: Stream #17(Kernel) -> #17. @param {string} name */
const brief = (name) => name.replace(/^stream\s*#?(\d+)\b.*$/i, "#$1");

/**
 * The rows of a run: devices, each with what it has, and below them the threads that did most. NAME and HOSTNAME: what a device and a host are
 * called; ALL: every thread.
 * @type {(lanes: Lanes, name: (device: number) => string, all: boolean, hostName?: (host: string) => string) => { rows: TimelineRow[], devices: number, threads: number }}
 */
export function rowsOf(lanes, name, all, hostName = String) {
	const kinds = Object.keys(KINDS);
	const found = [...lanes.rows].flatMap(([key, { lane, slices }]) => (kinds.includes(lane.kind) ? [{ key, ...lane, nr: events(slices) }] : []));
	const devices = [...new Set(found.flatMap((l) => (l.device === null ? [] : [l.device])))].sort((a, b) => a - b);
	const shown = devices.slice(0, MOST_DEVICES);
	const threads = found.filter((l) => l.kind === "thread");
	const most = new Set(all ? threads : [...threads].sort((a, b) => b.nr - a.nr).slice(0, MOST_THREADS));
	const rows = shown.flatMap((device) =>
		found
			.filter((l) => l.device === device)
			.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
			.map((l, i, of) => {
				const own = of.filter((o) => o.kind === l.kind).length > 1 ? l.name : KINDS[l.kind];
				const whole = `${name(device)} ${own}`;
				return { key: l.key, kind: l.kind, host: l.host, device, name: whole, label: i ? brief(own) : `${name(device)} ${brief(own)}`, isFirst: i === 0 };
			}),
	);
	const isOne = new Set(threads.map((l) => l.host)).size < 2;
	/** Threads of several hosts have the same names. @type {(l: { host: string, name: string }) => string} */
	const called = (l) => (isOne ? l.name : `${hostName(l.host)} ${l.name}`);
	/** @type {TimelineRow[]} */
	const below = threads.filter((l) => most.has(l)).map((l, i) => ({ key: l.key, kind: l.kind, host: l.host, device: null, name: called(l), label: called(l), isFirst: i === 0 }));
	return { rows: [...rows, ...below], devices: devices.length - shown.length, threads: threads.length - most.size };
}

/**
 * The first slice that ends behind AT, as its place in SLICES.
 * @type {(slices: ArrayLike<number>, at: number) => number}
 */
export function firstAt(slices, at) {
	let low = 0;
	let high = slices.length / FIELDS;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (slices[FIELDS * middle + 1] <= at) low = middle + 1;
		else high = middle;
	}
	return FIELDS * low;
}

/**
 * The slice at a moment; -1: there is none.
 * @type {(slices: ArrayLike<number>, at: number) => number}
 */
export function sliceUnder(slices, at) {
	const i = firstAt(slices, at);
	return i < slices.length && slices[i] <= at ? i : -1;
}

// --- which picture

/**
 * What is asked for to draw RANGE, and what is near it, on PIXELS: the same for ranges that differ little.
 * @type {(range: Range, end: number, pixels: number) => { from_ps: number, to_ps: number, width: number }}
 */
export function wanted([from, to], end, pixels) {
	const half = 2 ** (Math.ceil(Math.log2(Math.max(to - from, 2))) - 1);
	const begin = Math.floor(from / half) * half;
	const until = Math.min(begin + 3 * half, Math.ceil(end));
	const width = Math.ceil((pixels * (until - begin)) / half);
	return { from_ps: begin, to_ps: until, width: Math.min(Math.max(width, 1), MOST_PLACES) };
}

/**
 * The narrowest picture that has all of RANGE; else the widest.
 * @type {(all: Lanes[], range: Range) => Lanes | undefined}
 */
export function pictureOf(all, [from, to]) {
	/** @param {Lanes} lanes */
	const length = ({ picture }) => picture.to_ps - picture.from_ps;
	const sorted = [...all].sort((a, b) => length(a) - length(b));
	return sorted.find(({ picture }) => picture.from_ps <= from && picture.to_ps >= to) ?? sorted[sorted.length - 1];
}

/**
 * The steps that are looked at most: the one that is nearest to the mean, and the slowest.
 * @type {(steps: Step[] | undefined, mean: Maybe<number>) => { mean: Step, slowest: Step } | null}
 */
export function typical(steps, mean) {
	const known = (steps ?? []).filter((s) => !s.is_others && typeof s.start_ps === "number");
	if (!known.length) return null;
	const of = mean ?? known.reduce((sum, s) => sum + s.duration_ps, 0) / known.length;
	/** @type {(better: (a: Step, b: Step) => boolean) => Step} */
	const best = (better) => known.reduce((a, b) => (better(b, a) ? b : a));
	return { mean: best((a, b) => Math.abs(a.duration_ps - of) < Math.abs(b.duration_ps - of)), slowest: best((a, b) => a.duration_ps > b.duration_ps) };
}

const OF_OPS = new Set(["ops", "collectives", "async", "sparsecore"]);

/**
 * When an op ran in a picture, core by core. What is merged with others has no name, and is left out.
 * @type {(known: Lanes, op: { module: string, name: string }) => { device: number, spans: { start: number, end: number, bucket: string | null }[] }[]}
 */
export function executionsOf({ picture, rows }, { module, name }) {
	const isIt = picture.names.map((n, i) => n === name && (picture.modules[i] ?? module) === module);
	/** @type {Map<number, { start: number, end: number, bucket: string | null }[]>} */
	const found = new Map();
	for (const { lane, slices } of rows.values()) {
		if (lane.device === null || !OF_OPS.has(lane.kind)) continue;
		for (let i = 0; i < slices.length; i += FIELDS) {
			if (!isIt[slices[i + 3]]) continue;
			found.set(lane.device, [...(found.get(lane.device) ?? []), { start: slices[i], end: slices[i + 1], bucket: picture.classes[slices[i + 2]] ?? null }]);
		}
	}
	return [...found].sort(([a], [b]) => a - b).map(([device, spans]) => ({ device, spans: spans.sort((a, b) => a.start - b.start) }));
}

/**
 * Where the steps of a file's pictures are.
 * @type {(kept: KeptPicture[], kind: string) => Range | null}
 */
export function keptRange(kept, kind) {
	const found = kept.find((k) => k.kind === kind)?.picture;
	return found ? [found.from_ps, found.to_ps] : null;
}

// --- the critical path

/**
 * A core's own slices, collectives among them, one behind the other; and what its copy engines did.
 * @typedef {{ device: number | null, ops: string, collectives: string | null, dma: string | null, own: { key: string, i: number, start: number, end: number, name: number }[], moves: Float64Array }} Core
 */

/** @type {(lanes: Lanes, rows: TimelineRow[]) => Core[]} */
function coresOf({ rows: all }, rows) {
	return rows
		.filter((r) => r.kind === "ops")
		.map((row) => {
			const line = (/** @type {TimelineRow} */ r) => all.get(r.key)?.lane.name;
			const collectives = rows.find((r) => r.kind === "collectives" && r.device === row.device && line(r) === line(row))?.key ?? null;
			const dma = rows.find((r) => r.kind === "async" && r.device === row.device)?.key ?? null;
			const own = [row.key, collectives].flatMap((key) => {
				const slices = key === null ? undefined : all.get(key)?.slices;
				return key === null || !slices ? [] : Array.from({ length: slices.length / FIELDS }, (_, n) => ({ key, i: FIELDS * n, start: slices[FIELDS * n], end: slices[FIELDS * n + 1], name: slices[FIELDS * n + 3] }));
			});
			return { device: row.device, ops: row.key, collectives, dma, own: own.sort((a, b) => a.start - b.start), moves: (dma && all.get(dma)?.slices) || new Float64Array() };
		});
}

/** The last slice that begins before AT; -1: none. @type {(own: { start: number }[], at: number) => number} */
function lastBefore(own, at) {
	let low = 0;
	let high = own.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (own[middle].start < at) low = middle + 1;
		else high = middle;
	}
	return low - 1;
}

const BEHIND = 4; // slices that a core may have begun when another one still ends the collective before them

/**
 * The core that came last to a collective on CORE, before UNTIL: on it the path goes on.
 * @type {(cores: Core[], core: Core, at: Core["own"][number], until: number) => { core: Core, start: number }}
 */
function lastToCome(cores, core, at, until) {
	let last = { core, start: at.start };
	for (const other of cores) {
		const end = lastBefore(other.own, until) + 1;
		const theirs = other.own.slice(Math.max(end - BEHIND, 0), end).find((o) => o.key === other.collectives && o.name === at.name && o.end > at.start);
		if (theirs && theirs.start > last.start) last = { core: other, start: theirs.start };
	}
	return last;
}

/**
 * The one of a device's cores (a GPU's streams) that was the last to do something before AT, and until when.
 * @type {(cores: Core[], core: Core, at: number) => { core: Core, end: number }}
 */
function lastBusy(cores, core, at) {
	let last = { core, end: -Infinity };
	for (const other of cores) {
		const i = other.device === core.device ? lastBefore(other.own, at) : -1;
		const end = i < 0 ? -Infinity : Math.min(other.own[i].end, at);
		if (end > last.end || (end === last.end && other === core)) last = { core: other, end };
	}
	return last;
}

/**
 * The transfer that a wait ends with, if it began before the wait did.
 * @type {(core: Core, at: Core["own"][number]) => number} its place; -1: there is none
 */
function awaited(core, at) {
	const i = firstAt(core.moves, at.start);
	if (i >= core.moves.length) return -1;
	return core.moves[i] < at.start && core.moves[i + 1] <= at.end ? i : -1;
}

/**
 * The chain of what had to end for the last slice in RANGE to end when it did, from its end back: on a core what ran before, on a GPU in whichever stream; at a collective the core
 * that came last; at a wait for a transfer the transfer. Time in which a core of the chain did nothing is part of it, without a row of its own.
 * @type {(lanes: Lanes, rows: TimelineRow[], range: Range) => PathSpan[]} in the order of time
 */
export function criticalPath(lanes, rows, [from, to]) {
	const cores = coresOf(lanes, rows);
	/** @type {PathSpan[]} */
	const path = [];
	const isWait = lanes.picture.names.map((name) => /-done(\.\d+)?$/.test(name));
	let at = -Infinity;
	/** @type {Core | undefined} */
	let core;
	for (const c of cores) {
		const i = lastBefore(c.own, to);
		const end = i < 0 ? -Infinity : Math.min(c.own[i].end, to);
		if (end > at) [core, at] = [c, end];
	}
	/** @type {(key: string, start: number, end: number, kind: PathSpan["kind"]) => void} */
	const put = (key, start, end, kind) => {
		if (end > start) path.push({ key, start_ps: Math.max(start, from), end_ps: end, kind });
	};
	while (core && at > from && path.length < MOST_PATH) {
		const busy = lastBusy(cores, core, at);
		const own = core.ops;
		core = busy.core;
		if (busy.end < at) put(own, Math.max(busy.end, from), at, "idle");
		at = busy.end;
		if (at <= from) break;
		const slice = core.own[lastBefore(core.own, at)];
		const move = isWait[slice.name] ? awaited(core, slice) : -1;
		if (slice.key === core.collectives) {
			const last = lastToCome(cores, core, slice, at);
			put(slice.key, last.start, at, "collectives");
			core = last.core;
			at = Math.min(at, last.start);
		} else if (move >= 0 && core.dma) {
			put(slice.key, core.moves[move + 1], at, "ops");
			put(core.dma, core.moves[move], core.moves[move + 1], "async");
			at = core.moves[move];
		} else {
			put(slice.key, slice.start, at, "ops");
			at = slice.start;
		}
	}
	return path.reverse();
}

/**
 * How long the path is in each kind of row.
 * @type {(path: PathSpan[]) => Record<PathSpan["kind"], number>}
 */
export function pathTimes(path) {
	const sums = { ops: 0, collectives: 0, async: 0, idle: 0 };
	for (const span of path) sums[span.kind] += span.end_ps - span.start_ps;
	return sums;
}

// --- in words

/**
 * The longest slices in RANGE, at most MOST, in the order of time; and how many there are.
 * @type {(lanes: Lanes, rows: TimelineRow[], range: Range, most: number) => { slices: SeenSlice[], nr: number }}
 */
export function inSight({ picture, rows: all }, rows, [from, to], most) {
	/** @type {(visit: (row: TimelineRow, slices: Float64Array, i: number) => void) => void} */
	const each = (visit) => {
		for (const row of rows) {
			const slices = all.get(row.key)?.slices ?? new Float64Array();
			for (let i = firstAt(slices, from); i < slices.length && slices[i] < to; i += FIELDS) visit(row, slices, i);
		}
	};
	/** @type {number[]} */
	const lengths = [];
	each((_, slices, i) => lengths.push(slices[i + 1] - slices[i]));
	const least = lengths.length > most ? Float64Array.from(lengths).sort()[lengths.length - most] : 0;
	/** @type {SeenSlice[]} */
	const found = [];
	each((row, slices, i) => {
		const length = slices[i + 1] - slices[i];
		if (length < least || found.length >= 2 * most) return;
		found.push({ row: row.name, kind: row.kind, name: picture.names[slices[i + 3]] ?? null, module: picture.modules[slices[i + 3]] ?? null, class: picture.classes[slices[i + 2]], start_ps: slices[i], duration_ps: length, events: slices[i + 4] });
	});
	const longest = found.sort((a, b) => b.duration_ps - a.duration_ps).slice(0, most);
	return { slices: longest.sort((a, b) => a.start_ps - b.start_ps), nr: lengths.length };
}

/**
 * What of a text has room in so many pixels; empty: nothing that says anything.
 * @type {(text: string, pixels: number) => string}
 */
export function fitted(text, pixels) {
	const room = Math.floor((pixels - 6) / 5.9);
	if (text.length <= room) return text;
	return room >= 4 ? `${text.slice(0, room - 1)}\u2026` : "";
}
