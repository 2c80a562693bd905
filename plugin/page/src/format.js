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
export const percent = (x) => {
	const a = Math.abs(x);
	if (a !== 0 && a < 0.001) return `${x < 0 ? "> -" : "< "}0.001 %`;
	return `${a !== 0 && a < 0.1 ? x.toPrecision(1) : a < 10 ? x.toFixed(1) : a < 1000 ? x.toFixed(0) : Math.round(x).toLocaleString("en-US")} %`;
};
const si = (x, unit) => scaled(x, ["", "K", "M", "G", "T", "P"].map((s) => s + unit), 1000).trim();

// [ending of the name, how it is written for people, its unit, what kind of quantity it is]
const UNITS = [
	["flops_per_s", (x) => si(x, "FLOP/s"), "FLOP/s", "rate"],
	["bytes_per_s", (x) => si(x, "B/s"), "B/s", "bandwidth"],
	["flops_per_byte", (x) => `${digits(x)} FLOP/B`, "FLOP/byte", "intensity"],
	["operational_intensity", (x) => `${digits(x)} FLOP/B`, "FLOP/byte", "intensity"],
	["_ms_per_min", (x) => `${x === 0 ? "0 ms" : time(x * 1e9)}/min`, "ms/min", "rate"],
	["_per_s", (x) => si(x, "/s"), "/s", "rate"],
	["_ps", time, "ps", "time"],
	["_bytes", bytes, "bytes", "bytes"],
	["bytes_accessed", bytes, "bytes", "bytes"],
	["_pct", percent, "%", "share"],
	["flops", (x) => si(x, "FLOP"), "FLOP", "FLOPs"],
];
// Names without a unit's ending that have one all the same: parts of an object whose own name has it.
const INSIDE = [["step_time_ps.", time]];

const unitOf = (name) => UNITS.find(([end]) => name === end.replace(/^_/, "") || name.endsWith(end));

export const unit = (name) => unitOf(name)?.[2] ?? "";

// A list in a cell, as report --format csv writes it.
const plain = (v) => (v === null || v === undefined || Array.isArray(v) ? "" : String(v));
const item = (v) => (v !== null && typeof v === "object" && !Array.isArray(v) ? Object.entries(v).map(([k, x]) => `${k}=${plain(x)}`).join(" ") : plain(v));
const listed = (list) => list.map(item).join("; ");

export function value(name, v) {
	if (v === null || v === undefined) return UNKNOWN;
	if (typeof v === "boolean") return v ? "yes" : "no";
	if (Array.isArray(v)) return clean(listed(v));
	if (typeof v === "object") return clean(JSON.stringify(v));
	if (typeof v !== "number") return clean(String(v));
	const inside = INSIDE.find(([start]) => name.startsWith(start));
	if (inside) return inside[1](v);
	const known = unitOf(name);
	if (known) return known[1](v);
	if (Number.isInteger(v)) return v.toLocaleString("en-US");
	return digits(v);
}

const WORDS = { cpu: "CPU", gpu: "GPU", cuda: "CUDA", hbm: "HBM", vmem: "VMEM", cmem: "CMEM", mxu: "MXU", flops: "FLOP", hlo: "HLO" };
const KEEP = { bytes: "Bytes", flops: "FLOPs", flops_per_s: "FLOP rate", bytes_per_s: "Bandwidth" };

// hbm_read_bytes -> "HBM read"
export function title(name) {
	const last = name.split(".").pop();
	if (KEEP[last]) return KEEP[last];
	const words = last
		.replace(/_bytes_per_s$/, "_bandwidth")
		.replace(/_flops_per_s$/, "_FLOP rate")
		.replace(/_(ps|pct|bytes)$/, "")
		.split("_")
		.map((w) => WORDS[w] ?? w)
		.filter(Boolean)
		.join(" ");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

// Names side by side: those that would read the same get what they measure behind them.
export function titles(names) {
	const all = names.map((n) => title(n));
	const told = (n, i) => {
		const kind = unitOf(n)?.[3];
		const alone = all.indexOf(all[i]) === all.lastIndexOf(all[i]);
		return alone || !kind || all[i].toLowerCase().endsWith(kind) ? all[i] : `${all[i]}, ${kind}`;
	};
	return new Map(names.map((n, i) => [n, told(n, i)]));
}

// Texts are other people's bytes. Control characters and marks that turn the direction of writing are shown, not obeyed.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
export const clean = (s) => s.replace(HIDDEN, (c) => (c.charCodeAt(0) < 32 ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd"));

export function cut(s, n) {
	return s.length > n ? `${s.slice(0, n)}\u2026 (${(s.length - n).toLocaleString("en-US")} more characters)` : s;
}

const quote = (s) => (/[",\n\r]|^ | $/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
// As report --format csv writes it (codec/csv.c): what begins like a formula is kept a text; unknown is empty.
const guarded = (s) => (/^[=+\-@\t\r]/.test(s) ? `'${s}` : s);
function cell(v) {
	if (v === null || v === undefined) return "";
	if (typeof v !== "string" && typeof v !== "object") return String(v);
	return quote(guarded(typeof v === "string" ? v : Array.isArray(v) ? listed(v) : item(v)));
}

// Most names end in their unit (tpusight/1). The others get it behind them, in the CSV of the program too (write/report_csv.c).
const header = (name) => (name.endsWith("operational_intensity") ? `${name} (${unit(name)})` : name);

export function csv(columns, rows) {
	return [columns.map((c) => quote(header(c))), ...rows.map((r) => columns.map((c) => cell(r[c])))].map((r) => r.join(",")).join("\r\n") + "\r\n";
}
