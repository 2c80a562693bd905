// SPDX-License-Identifier: MIT
// Numbers and texts of the report for people. A name's ending is its unit, by the program's own table (tpusight/1).
import { UNITS } from "../../../src/base/units_list.h";
import { labelOf } from "./glossary.js";

/** @import { Cell, Row } from "./report.d.ts" */

export const UNKNOWN = "unknown";

/** @param {number} x */
function digits(x) {
	const a = Math.abs(x);
	return a >= 100 ? x.toFixed(0) : a >= 10 ? x.toFixed(1) : x.toFixed(2);
}

/** @type {(x: number, steps: string[], base: number) => string} */
function scaled(x, steps, base) {
	if (x === 0) return "0";
	let i = 0;
	let v = x;
	while (Math.abs(v) >= base && i < steps.length - 1) {
		v /= base;
		i++;
	}
	return `${i === 0 && Number.isInteger(v) ? v : digits(v)} ${steps[i]}`;
}

// Seconds above a hundred keep a decimal, as on the terminal (base/units.c).
/** @param {number} ps */
export const time = (ps) => (Math.abs(ps) < 1e14 ? scaled(ps, ["ps", "ns", "\u00b5s", "ms", "s"], 1000) : `${+(ps / 1e12).toFixed(1)} s`);
// Summed over cores.
/** @param {number} ps */
export const coreTime = (ps) => scaled(ps, ["ps", "ns", "\u00b5s", "ms", "s"].map((s) => `core-${s}`), 1000);
// Summed over threads.
/** @param {number} ps */
const threadTime = (ps) => scaled(ps, ["ps", "ns", "\u00b5s", "ms", "s"].map((s) => `thread-${s}`), 1000);
/** @param {number} n */
export const bytes = (n) => scaled(n, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
/** @param {number} x */
export const percent = (x) => {
	const a = Math.abs(x);
	if (a === 0) return "0 %";
	if (a < 0.001) return `${x < 0 ? "> -" : "< "}0.001 %`;
	return `${a < 0.1 ? x.toPrecision(1) : a < 10 ? x.toFixed(1) : a < 1000 ? x.toFixed(0) : Math.round(x).toLocaleString("en-US")} %`;
};
/** @type {(x: number, unit: string) => string} */
const si = (x, unit) => scaled(x, ["", "K", "M", "G", "T", "P"].map((s) => s + unit), 1000).trim();

/**
 * How a number of each kind is written; those of the kind NUMBER by their unit.
 * @type {Record<string, (x: number, unit: string) => string>}
 */
const WRITE = {
	TIME: time,
	CORE: coreTime,
	THREAD: threadTime,
	BYTES: bytes,
	SHARE: percent,
	BANDWIDTH: si,
	COUNT: si,
	RATE: si,
	"FLOP/byte": (x) => `${digits(x)} FLOP/B`,
	"ms/min": (x) => `${time(x * 1e9)}/min`,
};

/**
 * The last part of a dotted name that ends in a unit says it, as in base/units.c: step_time_ps.mean is a time.
 * @type {(name: string) => import("../../../src/base/units_list.h").Unit | undefined}
 */
function unitFor(name) {
	for (let part = name; part; part = part.slice(0, Math.max(part.lastIndexOf("."), 0))) {
		const found = UNITS.find(({ ending }) => part.endsWith(ending));
		if (found) return found;
	}
	return undefined;
}

/** @type {Map<string, ReturnType<typeof unitFor>>} */
const unitsKnown = new Map(); // a table asks for those of its columns in each cell
/** @param {string} name */
function unitOf(name) {
	if (!unitsKnown.has(name)) unitsKnown.set(name, unitFor(name));
	return unitsKnown.get(name);
}

/** @param {string} name */
export const unit = (name) => unitOf(name)?.unit ?? "";

/** @type {(unit: import("../../../src/base/units_list.h").Unit, x: number) => string} */
const written = (known, x) => (x === 0 && known.kind !== "SHARE" ? "0" : (WRITE[known.kind] ?? WRITE[known.unit] ?? digits)(x, known.unit));

// A list in a cell, as report --format csv writes it.
/** @param {Cell} v */
const plain = (v) => (v === null || v === undefined || Array.isArray(v) ? "" : String(v));
/** @type {(v: Cell) => string} */
const item = (v) => (v !== null && typeof v === "object" && !Array.isArray(v) ? Object.entries(v).map(([k, x]) => `${k}=${plain(x)}`).join(" ") : plain(v));
/** @type {(list: Cell[]) => string} */
const listed = (list) => list.map(item).join("; ");

// These numbers say which one, not how many: step 1009, as the program and XProf call it.
const ORDINAL = /(^|_|\.)(step|rank|stream|id|index)$/;

// These cells have the name of a time class, or of what it came from, as the report calls it.
const CLASS = /(^|\.)((bottleneck_)?bucket|cause)$/;
const CODE = /^[a-z_]+$/;

// Null that is not unknown: a column, and whether its row knows that there is nothing to name. By the two last parts of its path.
/** @type {Record<string, (row: Row) => boolean>} */
const NONE = {
	"ops.done": (row) => row.is_async === false, // it ends with itself
	"ops.could_hide": (row) => typeof row.coverable_ps === "number",
	"ops.could_hide_source": (row) => row.could_hide === null && typeof row.coverable_ps === "number",
	"ops.hidden_by": (row) => typeof row.between_ps === "number",
	"ops.limiting_dim": (row) => typeof row.fill_pct === "number", // all dimensions fill the array
	"idle_gaps.ended_by": (row) => typeof row.host_event === "string",
	"gaps_by_event.ended_by": (row) => typeof row.host_event === "string",
	"steps_outliers.op": (row) => typeof row.cause === "string",
	"steps_outliers.module": (row) => typeof row.cause === "string",
	"steps_outliers.op_excess_ps": (row) => typeof row.cause === "string",
	"ops.suggestion": (row) => typeof row.waste_bytes_pct === "number",
	"unfused.advice": () => true,
	"layout_copies.advice": () => true,
	"named.inside": () => true,
	"hottest_cpu.caller": () => true,
	"hottest_device.caller": () => true,
	"collective_cores.since_step": (row) => row.last_count === 0, // it was never late
	"kernels.category_rule": (row) => typeof row.category === "string",
	"top_kernels.category_rule": (row) => typeof row.category === "string",
	"rank_kernels.category_rule": (row) => typeof row.category === "string",
};
/**
 * What stands in a cell without a value.
 * @type {(path: string, row: Row) => string} PATH: its table and column
 */
export const emptyOf = (path, row) => (NONE[path.split(".").slice(-2).join(".")]?.(row) ? "none" : UNKNOWN);

// Nothing was there: drawn pale.
/** @type {(name: string, v: Cell) => boolean} */
export const isNothing = (name, v) => v === 0 && !ORDINAL.test(name);

const NUMBER = new Intl.NumberFormat("en-US"); // toLocaleString makes one for each cell
/** @type {(name: string, v: Cell) => string} */
export function value(name, v) {
	if (v === null || v === undefined) return UNKNOWN;
	if (typeof v === "boolean") return v ? "yes" : "no";
	if (Array.isArray(v)) return clean(listed(v));
	if (typeof v === "object") return clean(JSON.stringify(v));
	if (typeof v !== "number") return clean(CLASS.test(name) && CODE.test(String(v)) ? labelOf(String(v)) : String(v));
	const known = unitOf(name);
	if (known) return written(known, v);
	if (Number.isInteger(v)) return ORDINAL.test(name) ? String(v) : NUMBER.format(v);
	return digits(v);
}

/**
 * What a name of the report is called.
 * @param {string} name
 */
export const title = (name) => labelOf(name);

/**
 * Names side by side, of the view or table OF: those that would read the same get what they measure behind them.
 * @type {(names: string[], of?: string) => Map<string, string>}
 */
export function titles(names, of = "") {
	const all = names.map((n) => labelOf(of ? `${of}.${n}` : n));
	/** @type {(name: string, i: number) => string} */
	const named = (n, i) => {
		const kind = unitOf(n)?.label;
		const alone = all.indexOf(all[i]) === all.lastIndexOf(all[i]);
		return alone || !kind || all[i].toLowerCase().endsWith(kind) ? all[i] : `${all[i]}, ${kind}`;
	};
	return new Map(names.map((n, i) => [n, named(n, i)]));
}

// Texts are other people's bytes. Control characters and marks that turn the direction of writing are shown, not obeyed.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
/** @param {string} s */
export const clean = (s) => s.replace(HIDDEN, (c) => (c.charCodeAt(0) < 32 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd"));

/** @param {string} s */
export const capital = (s) => s.charAt(0).toUpperCase() + s.slice(1);

/** @type {(s: string, n: number) => string} */
export function cut(s, n) {
	return s.length > n ? `${s.slice(0, n)}\u2026 (${(s.length - n).toLocaleString("en-US")} more characters)` : s;
}

/** @param {string} s */
const quote = (s) => (/[",;\t\n\r]|^ | $/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
// As report --format csv writes it (codec/csv.c): what begins like a formula, or would behind another separator, is kept a text; unknown is
// empty.
/** @param {string} s */
const guarded = (s) => (/^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/.test(s) ? "'" : "") + s.replace(/([;\t\r\n])(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1'");
/** @type {(v: Cell) => string} */
function cell(v) {
	if (v === null || v === undefined) return "";
	if (typeof v !== "string" && typeof v !== "object") return String(v);
	return quote(guarded(typeof v === "string" ? v : Array.isArray(v) ? listed(v) : item(v)));
}

// Most names end in their unit (tpusight/1). The others get it behind them, in the CSV of the program too (write/report_csv.c).
/** @param {string} name */
const header = (name) => (unitOf(name)?.said === false ? `${name} (${unit(name)})` : name);

/**
 * ISPREDICTED: nothing of the rows was measured, which a column says; rows of several runs say it themselves.
 * @type {(columns: string[], rows: Row[], isPredicted?: boolean) => string}
 */
export function csv(columns, rows, isPredicted = false) {
	const marked = isPredicted || rows.some((r) => r.is_predicted);
	const all = marked && !columns.includes("is_predicted") ? [...columns, "is_predicted"] : columns;
	const lines = [all.map((c) => quote(header(c))), ...rows.map((r) => all.map((c) => cell(c === "is_predicted" && isPredicted ? true : r[c])))];
	return lines.map((line) => `${line.join(",")}\r\n`).join("");
}
