// SPDX-License-Identifier: MIT
// Pictures of a timeline (docs/serving.md, The timeline) as the page draws them: rows, and what of them is in sight. A slice is
// FIELDS numbers: start and end in ps, class, name, events, and the ps of it in which none of them was.

/** @import { KeptPicture, Lanes, Maybe, Picture, Range, SeenSlice, Step, TimelineRow } from "./report.d.ts" */

export const FIELDS = 6;
const MOST_DEVICES = 128; // that are drawn together
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
	for (const [key, chip] of chipsOf(rows)) rows.set(key, chip);
	return { picture, rows, classes: picture.classes.filter((name, i) => name !== null && classes.has(i)) };
}

/** A part of a slice, as full as the whole. @type {(slice: number[], start: number, end: number) => number[]} */
const partOf = ([from, to, of, name, nr, idle], start, end) => [start, end, of, name, nr, (idle * (end - start)) / (to - from)];

/**
 * Two lanes of one line as one. What stands for several events may have others of the second lane within it: it is then in front of them, and behind.
 * @type {(a: Float64Array, b: Float64Array) => Float64Array}
 */
export function woven(a, b) {
	/** @type {number[][]} */
	const all = [];
	for (const lane of [a, b]) for (let i = 0; i < lane.length; i += FIELDS) all.push([...lane.subarray(i, i + FIELDS)]);
	/** @type {number[][]} */
	const out = [];
	for (const slice of all.sort((x, y) => x[0] - y[0])) {
		const last = out[out.length - 1];
		const isWithin = last && slice[0] < last[1];
		if (isWithin) out.pop();
		if (isWithin && slice[0] > last[0]) out.push(partOf(last, last[0], slice[0]));
		out.push(slice);
		if (isWithin && last[1] > slice[1]) out.push(partOf(last, slice[1], last[1]));
	}
	return Float64Array.from(out.flat());
}

/**
 * One lane for each device: what its core did, collectives among it; of a GPU its busiest stream.
 * @type {(rows: Lanes["rows"]) => Lanes["rows"]}
 */
function chipsOf(rows) {
	/** @type {Lanes["rows"]} */
	const chips = new Map();
	for (const { lane, slices } of rows.values()) {
		if (lane.kind !== "ops" || lane.device === null) continue;
		const of = [...rows.values()].find((r) => r.lane.kind === "collectives" && r.lane.device === lane.device && r.lane.name === lane.name);
		const whole = of ? woven(slices, of.slices) : slices;
		const before = chips.get(chipKey(lane.device));
		if (!before || events(before.slices) < events(whole)) chips.set(chipKey(lane.device), { lane: { ...lane, kind: "chip" }, slices: whole });
	}
	return chips;
}
/** @param {number} device */
export const chipKey = (device) => `chip ${device}`;

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

const FEW_CHIPS = 4; // that are open at first
const FEW_HOSTS = 4;

/** What stands below a chip that is open: a core's ops and collectives are its own lane; of several streams each has one. @type {<T extends { kind: string }>(found: T[]) => T[]} */
function belowChip(found) {
	const kinds = Object.keys(KINDS);
	const isMany = found.filter((l) => l.kind === "ops").length > 1;
	return found.filter((l) => isMany || (l.kind !== "ops" && l.kind !== "collectives")).sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
}

/**
 * The rows of a run as a tree: hosts, where there are several; their chips, each with what it has; and their threads that did most. NAME and
 * HOSTNAME: what a device and a host are called; ALL: every thread; TURNED: what is not open or shut as it would be.
 * @type {(lanes: Lanes, name: (device: number) => string, all: boolean, hostName?: (host: string) => string, turned?: string[]) => { rows: TimelineRow[], devices: number, threads: number }}
 */
export function rowsOf(lanes, name, all, hostName = String, turned = []) {
	const kinds = Object.keys(KINDS);
	const found = [...lanes.rows].flatMap(([key, { lane, slices }]) => (kinds.includes(lane.kind) ? [{ key, ...lane, nr: events(slices) }] : []));
	const devices = [...new Set(found.flatMap((l) => (l.device === null ? [] : [l.device])))].sort((a, b) => a - b);
	const shown = devices.slice(0, MOST_DEVICES);
	const threads = found.filter((l) => l.kind === "thread");
	const most = new Set(all ? threads : [...threads].sort((a, b) => b.nr - a.nr).slice(0, MOST_THREADS));
	const hosts = [...new Set(found.filter((l) => l.device === null || shown.includes(l.device)).map((l) => l.host))];
	const isOne = hosts.length < 2;
	/** @type {(key: string, usual: boolean) => boolean} */
	const isOpen = (key, usual) => turned.includes(key) !== usual;
	/** @type {(device: number) => TimelineRow[]} */
	const chip = (device) => {
		const own = found.filter((l) => l.device === device);
		const key = chipKey(device);
		const open = isOpen(key, shown.length <= FEW_CHIPS);
		const below = belowChip(own);
		const isLane = lanes.rows.has(key) && !(open && below.some((l) => l.kind === "ops"));
		const level = isOne ? 0 : 1;
		const head = { key: isLane ? key : `${key} alone`, fold: below.length ? key : null, open, kind: "chip", host: own[0].host, device, name: name(device), label: name(device), level, isFirst: true };
		return [head, ...(open ? below : []).map((l) => {
			const line = own.filter((o) => o.kind === l.kind).length > 1 ? l.name : KINDS[l.kind];
			return { key: l.key, fold: null, open: false, kind: l.kind, host: l.host, device, name: `${name(device)} ${line}`, label: brief(line), level: level + 1, isFirst: false };
		})];
	};
	const rows = hosts.flatMap((host) => {
		const key = `host ${host}`;
		const open = isOne || isOpen(key, hosts.length <= FEW_HOSTS);
		const called = (/** @type {string} */ own) => (isOne ? own : `${hostName(host)} ${own}`);
		/** @type {TimelineRow[]} */
		const head = isOne ? [] : [{ key, fold: key, open, kind: "host", host, device: null, name: hostName(host), label: hostName(host), level: 0, isFirst: true }];
		const chips = shown.filter((d) => found.some((l) => l.device === d && l.host === host)).flatMap(chip);
		const below = threads.filter((l) => l.host === host && most.has(l)).map((l, i) => ({ key: l.key, fold: null, open: false, kind: l.kind, host, device: null, name: called(l.name), label: l.name, level: isOne ? 0 : 1, isFirst: i === 0 }));
		return [...head, ...(open ? [...chips, ...below] : [])];
	});
	return { rows, devices: devices.length - shown.length, threads: threads.length - most.size };
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
