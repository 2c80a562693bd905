// Numbers and texts of the report for people. A name's ending is its unit (tpusight/1): _ps, _bytes, _per_s, _pct.

export const UNKNOWN = "unknown";

function digits(x) {
	const a = Math.abs(x);
	return a >= 100 ? x.toFixed(0) : a >= 10 ? x.toFixed(1) : x.toFixed(2);
}

function scaled(x, steps, base) {
	let i = 0;
	let v = x;
	while (Math.abs(v) >= base && i < steps.length - 1) {
		v /= base;
		i++;
	}
	return `${i === 0 && Number.isInteger(v) ? v : digits(v)} ${steps[i]}`;
}

export const time = (ps) =>
	Math.abs(ps) < 6e13 ? scaled(ps, ["ps", "ns", "\u00b5s", "ms", "s"], 1000) : `${(ps / 6e13).toFixed(1)} min`;
export const bytes = (n) => scaled(n, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024);
export const percent = (x) => `${x !== 0 && Math.abs(x) < 0.1 ? x.toPrecision(1) : Math.abs(x) < 10 ? x.toFixed(1) : x.toFixed(0)} %`;
const si = (x, unit) => scaled(x, ["", "K", "M", "G", "T", "P"].map((s) => s + unit), 1000).trim();

// [ending of the name, what it measures, how it is written, what a CSV header calls it]
const UNITS = [
	["flops_per_s", (x) => si(x, "FLOP/s"), "FLOP/s"],
	["bytes_per_s", (x) => si(x, "B/s"), "B/s"],
	["flops_per_byte", (x) => `${digits(x)} FLOP/B`, "FLOP/B"],
	["operational_intensity", (x) => `${digits(x)} FLOP/B`, "FLOP/B"],
	["_per_s", (x) => si(x, "/s"), "/s"],
	["_ps", time, "ps"],
	["_bytes", bytes, "B"],
	["_pct", percent, "%"],
	["flops", (x) => si(x, "FLOP"), "FLOP"],
];
// Names without a unit's ending that have one all the same: parts of an object whose own name has it.
const INSIDE = [["step_time_ps.", time]];

const unitOf = (name) => UNITS.find(([end]) => name === end.replace(/^_/, "") || name.endsWith(end));

export function unit(name) {
	return unitOf(name)?.[2] ?? (name === "bytes" ? "B" : "");
}

export function value(name, v) {
	if (v === null || v === undefined) return UNKNOWN;
	if (typeof v === "boolean") return v ? "yes" : "no";
	if (Array.isArray(v)) return v.map((x) => value("", x)).join(", ");
	if (typeof v === "object") return clean(JSON.stringify(v));
	if (typeof v !== "number") return clean(String(v));
	const inside = INSIDE.find(([start]) => name.startsWith(start));
	if (inside) return inside[1](v);
	const known = unitOf(name);
	if (known) return known[1](v);
	if (name === "bytes") return bytes(v);
	if (Number.isInteger(v)) return v.toLocaleString("en-US");
	return digits(v);
}

const WORDS = { hbm: "HBM", vmem: "VMEM", cmem: "CMEM", mxu: "MXU", ps: "", pct: "", bytes: "", id: "id", flops: "FLOP", hlo: "HLO", per: "per", s: "s" };
const KEEP = { bytes: "bytes", flops: "FLOPs", flops_per_s: "FLOP rate", bytes_per_s: "bandwidth", hbm_bytes_per_s: "HBM bandwidth" };

// hbm_read_bytes -> "HBM read"
export function title(name) {
	const last = name.split(".").pop();
	if (KEEP[last]) return KEEP[last];
	const words = last
		.replace(/_bytes_per_s$/, "_bandwidth")
		.replace(/_flops_per_s$/, "_FLOP rate")
		.split("_")
		.map((w) => WORDS[w] ?? w)
		.filter(Boolean)
		.join(" ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

// Texts are other people's bytes. Control characters and marks that turn the direction of writing are shown, not obeyed.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
export const clean = (s) => s.replace(HIDDEN, (c) => (c.charCodeAt(0) < 32 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd"));

export function cut(s, n) {
	return s.length > n ? `${s.slice(0, n)}\u2026 (${(s.length - n).toLocaleString("en-US")} more characters)` : s;
}

const quote = (s) => (/[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
// As a spreadsheet takes it: what begins like a formula is kept a text.
const cell = (v) => (v === null || v === undefined ? "" : typeof v === "number" ? String(v) : quote(/^[=+\-@\t\r]/.test(String(v)) ? `'${v}` : typeof v === "object" ? JSON.stringify(v) : String(v)));

export function csv(columns, rows) {
	const head = columns.map((c) => quote(unit(c) && !c.endsWith(unit(c)) ? `${c} (${unit(c)})` : c));
	return [head, ...rows.map((r) => columns.map((c) => cell(r[c])))].map((r) => r.join(",")).join("\r\n") + "\r\n";
}
