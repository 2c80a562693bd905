// SPDX-License-Identifier: MIT
// What is in memory: by buffer, op, line or kind over the schedule of a program, and who held it.

/** @import { HeldPart, Maybe, Row } from "./report.d.ts" */

const PARTS = 7; // that have a colour of their own

/** What people are told of rows without a name. */
export const NAMELESS = "not named";

/**
 * The largest of ROWS by their COLUMN, and the others as one.
 * @type {(rows: Row[], column: string) => { name: string, rows: Row[], bytes: number }[]}
 */
export function grouped(rows, column) {
	/** @type {Map<string, { name: string, rows: Row[], bytes: number }>} */
	const all = new Map();
	for (const row of rows) {
		const name = row.is_others ? String(row[column] ?? "others") : String(row[column] ?? NAMELESS);
		const one = all.get(name) ?? { name, rows: [], bytes: 0 };
		one.rows.push(row);
		one.bytes += row.bytes ?? 0;
		all.set(name, one);
	}
	const sorted = [...all.values()].sort((a, b) => b.bytes - a.bytes);
	if (sorted.length <= PARTS + 1) return sorted;
	const rest = sorted.slice(PARTS);
	return [...sorted.slice(0, PARTS), { name: `${rest.length} others`, rows: rest.flatMap((p) => p.rows), bytes: rest.reduce((sum, p) => sum + p.bytes, 0) }];
}

/**
 * The buffers of a program over the positions of its schedule: each stands from its first to behind its last. POSITIONS: how many there are.
 * @type {(buffers: Row[], column: string, positions: number) => { xs: number[], parts: HeldPart[] }}
 */
export function overSchedule(buffers, column, positions) {
	const known = buffers.filter((b) => typeof b.from_position === "number" && typeof b.to_position === "number");
	const ends = known.flatMap((b) => [b.from_position, Math.min(b.to_position + 1, positions)]);
	const xs = [...new Set([0, ...ends, positions])].sort((a, b) => a - b);
	/** @type {(rows: Row[]) => number[]} */
	const values = (rows) => xs.map((x) => rows.reduce((sum, b) => (b.from_position <= x && x <= b.to_position ? sum + b.bytes : sum), 0));
	return { xs, parts: grouped(known, column).map(({ name, rows, bytes }) => ({ name, bytes, values: values(rows) })) };
}

/**
 * How much a device has, and the most that it held: what the report says of it, else what is drawn of it.
 * ISLIMIT: an allocator may take no more of it.
 * @type {(device: { host: Maybe<string>, device: Maybe<string> }, known: Row[], points: Row[]) => { capacity: number | null, isLimit: boolean, peak: { at_ps: number, bytes: number } | null }}
 */
export function limitsOf(device, known, points) {
	const rows = known.filter((r) => r.host === device.host && (r.device ?? r.name) === device.device);
	/** @param {string} column */
	const first = (column) => rows.find((r) => typeof r[column] === "number")?.[column] ?? null;
	const drawn = points.reduce((/** @type {Row | null} */ most, p) => ((p.allocated_bytes ?? 0) > (most?.allocated_bytes ?? 0) ? p : most), null);
	const said = rows.find((r) => typeof r.peak_time_ps === "number" && typeof r.peak_bytes === "number");
	const peak = said ? { at_ps: said.peak_time_ps, bytes: said.peak_bytes } : drawn && { at_ps: drawn.time_ps, bytes: drawn.allocated_bytes };
	const [limit, all] = [first("capacity_bytes"), first("hbm_bytes")];
	return { capacity: limit ?? all, isLimit: limit !== null && all !== null && limit < all, peak };
}

const FULL = 0.25; // of the capacity: below that its line would leave no room for the rest

/** Whether the line of the capacity stands in the picture. @type {(most: number, capacity: Maybe<number>) => boolean} */
export const hasRoom = (most, capacity) => typeof capacity === "number" && capacity > 0 && most >= FULL * capacity;
