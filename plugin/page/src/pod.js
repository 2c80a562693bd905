// SPDX-License-Identifier: MIT
// The chips of a run of several hosts, side by side: what is known of each, and how early each comes to collectives.

/** @import { Arrival, Chip, Maybe, Measure, Report, Row } from "./report.d.ts" */

const WORD = /[^-_./: ]+|[-_./: ]+/g;

/**
 * What tells NAMES apart, by the names: what all of them begin or end with is left out, but for the word in front of it.
 * @type {(names: string[]) => Map<string, string>}
 */
export function shortNames(names) {
	const all = [...new Set(names)];
	if (all.length < 2) return new Map(all.map((name) => [name, name]));
	const words = all.map((name) => name.match(WORD) ?? [name]);
	const least = words.reduce((n, w) => Math.min(n, w.length), Infinity);
	/** @param {number} i counted from the front, or from the end where it is negative */
	const isShared = (i) => words.every((w) => w.at(i) === words[0].at(i));
	let front = 0;
	while (front < least - 1 && isShared(front)) front++;
	let back = 0;
	while (back < least - front - 1 && isShared(-back - 1)) back++;
	const begin = Math.max(front - 2, 0);
	return new Map(all.map((name, i) => [name, words[i].slice(begin, words[i].length - back).join("")]));
}

/** /device:TPU:3 -> TPU:3 @param {string} name */
export const plain = (name) => name.replace(/^\/device:/, "");

/** @type {WeakMap<Report, Map<number, string>>} */
const named = new WeakMap();

/**
 * What a device is called among all of the run: where there are several hosts, by what tells its host apart.
 * @type {(report: Report, id: number) => string}
 */
export function deviceName(report, id) {
	const known = named.get(report) ?? namesOf(report);
	named.set(report, known);
	return known.get(id) ?? `device ${id}`;
}

/** @type {(report: Report) => Map<number, string>} */
function namesOf(report) {
	const hosts = shortNames((report.run?.hosts ?? []).map((h) => h.name));
	return new Map((report.run?.devices ?? []).map((d) => [d.id, hosts.size > 1 ? `${hosts.get(d.host) ?? d.host} ${plain(d.name)}` : d.name]));
}

// Classes in which a core does something of its own: the others are waits, and time with nothing to run.
const WORK = ["compute", "below_roofline", "memory_wait", "host_transfer", "rematerialization", "unexplained"];

/** @type {(core: Maybe<Row>, steps: number) => number | null} */
function workOf(core, steps) {
	const known = WORK.map((c) => core?.[`${c}_ps`]).filter((ps) => typeof ps === "number");
	return known.length && steps ? known.reduce((sum, ps) => sum + ps, 0) / steps : null;
}

/** @type {(rows: Maybe<Row[]>, key: (row: Row) => unknown) => Map<unknown, Row>} */
const by = (rows, key) => new Map((rows ?? []).map((row) => [key(row), row]));
/** @param {Row} row */
const place = (row) => `${row.host ?? ""}\n${row.device ?? row.name ?? ""}`;

// w-2 before w-10, as people count.
const counted = new Intl.Collator("en", { numeric: true }).compare;

/**
 * The chips by the names of their hosts, and on each host in the order of the report.
 * @type {(report: Report) => Chip[]}
 */
export function chipsOf(report) {
	const hosts = shortNames((report.run?.hosts ?? []).map((h) => h.name));
	const cores = by(report.time?.per_core, (r) => r.device_id);
	const late = by(report.collective_cores, (r) => r.device_id);
	const matrix = by(report.systolic?.devices, place);
	const held = by([...(report.allocators?.allocators ?? []), ...(report.memory_timeline?.devices ?? [])], place);
	const steps = report.overview?.step_count ?? 0;
	const devices = [...(report.run?.devices ?? [])].sort((a, b) => counted(a.host, b.host) || a.id - b.id);
	return devices.map((d) => {
		const memory = held.get(place(d));
		const room = memory?.capacity_bytes ?? d.hbm_bytes ?? null;
		const core = cores.get(d.id);
		return {
			id: d.id,
			host: d.host,
			shortHost: hosts.get(d.host) ?? d.host,
			name: deviceName(report, d.id),
			work_ps: workOf(core, steps),
			waited_ps: late.get(d.id)?.waited_ps ?? null,
			communication_ps: core?.communication_ps ?? null,
			duty_cycle_pct: core?.duty_cycle_pct ?? null,
			mxu_utilization_pct: matrix.get(place(d))?.mxu_utilization_pct ?? null,
			peak_bytes: memory?.peak_bytes ?? null,
			memory_pct: typeof memory?.peak_bytes === "number" && room ? (100 * memory.peak_bytes) / room : null,
			late: late.get(d.id) ?? null,
		};
	});
}

// What chips are coloured by. MOST: the scale ends there; without it the scale goes from the least to the most of the chips.
/** @type {Measure[]} */
export const MEASURES = [
	{ key: "work_ps", title: "own work in a step", says: "time in which the core did something of its own: all classes but Communication, Compilation, Input, Launch and Idle, over the steps" },
	{ key: "waited_ps", title: "wait at collectives", says: "time that the core waited for the last one to arrive at collectives" },
	{ key: "communication_ps", title: "time in collectives", says: "time of the class Communication: what collectives took, and the waiting in them" },
	{ key: "duty_cycle_pct", title: "duty cycle", most: 100, says: "share of time with a program on the core" },
	{ key: "mxu_utilization_pct", title: "use of the matrix units", most: 100, says: "FLOPs of the peak" },
	{ key: "memory_pct", title: "peak of memory", most: 100, says: "most bytes that were held, of the memory of the chip" },
];

/**
 * Those that some chip has a figure of.
 * @type {(chips: Chip[]) => Measure[]}
 */
export const measuresOf = (chips) => MEASURES.filter(({ key }) => chips.some((c) => c[key] !== null));

const ALIKE = 0.01; // of the most: what differs by less is drawn as one

/**
 * The ends of a measure's scale, and the chips at them. ALIKE: they differ by too little for a colour.
 * @type {(chips: Chip[], measure: Measure) => { low: number, high: number, alike: boolean, least: Chip | undefined, most: Chip | undefined }}
 */
export function scaleOf(chips, { key, most: top }) {
	const known = chips.filter((c) => c[key] !== null).sort((a, b) => Number(a[key]) - Number(b[key]));
	const [least, most] = [known[0], known[known.length - 1]];
	const [low, high] = [Number(least?.[key] ?? 0), Number(most?.[key] ?? 0)];
	const alike = high - low <= ALIKE * Math.abs(high);
	if (top !== undefined) return { low: 0, high: top, alike, least, most };
	return { low: alike ? 0 : low, high, alike, least, most };
}

// --- the mesh as a picture

const SIZES = [26, 20, 16, 12, 9, 6]; // of a chip, in pixels
const MOST_HIGH = 520;
const NARROW = 600; // a phone, which scrolls: there the picture may be higher
const NARROW_HIGH = 1000;
const LABEL = 14; // height of a host's name
const ACROSS = 8; // chips of a host beside each other
const LETTER = 6.2; // pixels, of the small letters

/**
 * Where hosts and their chips stand: as large as they fit. Hosts have names where there is room for all.
 * @type {(hosts: { name: string, chips: number }[], width: number) => { size: number, labels: boolean, across: number, wide: number, high: number, height: number }}
 */
export function meshOf(hosts, width) {
	const most = hosts.reduce((n, h) => Math.max(n, h.chips), 1);
	const letters = hosts.reduce((n, h) => Math.max(n, h.name.length), 0) * LETTER;
	const columns = Math.min(most, ACROSS);
	const rows = Math.ceil(most / ACROSS);
	/** @param {number} size */
	const laid = (size) => {
		const gap = size > 12 ? 10 : 6;
		const bare = columns * size + gap;
		const labels = size > 6 && letters <= Math.max(2.5 * bare, 60);
		const wide = labels ? Math.max(bare, letters + gap) : bare;
		const high = rows * size + (labels ? LABEL : 0) + gap;
		const across = Math.max(Math.min(Math.floor(width / wide), hosts.length), 1);
		return { size, labels, across, wide, high, height: Math.ceil(hosts.length / across) * high };
	};
	const high = width < NARROW ? NARROW_HIGH : MOST_HIGH;
	return SIZES.map(laid).find((m) => m.height <= high) ?? laid(SIZES[SIZES.length - 1]);
}

/**
 * The upper left corner of chip K of host I in a mesh.
 * @type {(mesh: ReturnType<typeof meshOf>, i: number, k: number) => [x: number, y: number]}
 */
export const cornerOf = (mesh, i, k) => [(i % mesh.across) * mesh.wide + (k % ACROSS) * mesh.size, Math.floor(i / mesh.across) * mesh.high + (mesh.labels ? LABEL : 0) + Math.floor(k / ACROSS) * mesh.size];

/**
 * What is at a place of the mesh: host and chip; null where there is none.
 * @type {(mesh: ReturnType<typeof meshOf>, hosts: { chips: number }[], x: number, y: number) => [host: number, chip: number] | null}
 */
export function at(mesh, hosts, x, y) {
	const column = Math.floor(x / mesh.wide);
	const i = Math.floor(y / mesh.high) * mesh.across + column;
	const [left, top] = cornerOf(mesh, i, 0);
	const across = Math.floor((x - left) / mesh.size);
	const down = Math.floor((y - top) / mesh.size);
	const k = down * ACROSS + across;
	return column < mesh.across && across >= 0 && across < ACROSS && down >= 0 && hosts[i] && k < hosts[i].chips ? [i, k] : null;
}

// --- who is late

/**
 * The hosts by how long the others wait for their chips alone, then by how late they come: EARLY is the mean time before the last one.
 * @type {(chips: Chip[]) => Arrival[]}
 */
export function arrivalsOf(chips) {
	/** @type {Map<string, Arrival>} */
	const hosts = new Map();
	for (const chip of chips) {
		if (!chip.late?.matched_count || chip.waited_ps === null) continue;
		const host = hosts.get(chip.host) ?? { host: chip.host, name: chip.shortHost, early: Infinity, excess: 0, chips: [] };
		const early = chip.waited_ps / chip.late.matched_count;
		host.chips.push({ chip, early });
		host.early = Math.min(host.early, early);
		host.excess += chip.late.excess_ps ?? 0;
		hosts.set(chip.host, host);
	}
	return [...hosts.values()].sort((a, b) => b.excess - a.excess || a.early - b.early);
}

/**
 * The chip that the others waited for most, if they waited for one.
 * @type {(chips: Chip[]) => Chip | null}
 */
export const latest = (chips) => chips.reduce((/** @type {Chip | null} */ most, c) => ((c.late?.excess_ps ?? 0) > (most?.late?.excess_ps ?? 0) ? c : most), null);
