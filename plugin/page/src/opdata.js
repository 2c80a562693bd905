// SPDX-License-Identifier: MIT
// All that a report knows of one op, found by its key: MODULE/NAME.

/** @import { Edge, Finding, KnownOp, Maybe, OpName, Report, Row, Run } from "./report.d.ts" */

/** @type {(op: { module?: Maybe<string>, name?: Maybe<string> }) => string} */
export const opKey = ({ module, name }) => `${module ?? ""}/${name ?? ""}`;

/** An output of an op is the op's: fusion.335{1}. @param {string} name */
export const bare = (name) => name.replace(/\{[\d,]*\}$/, "");

/** @type {WeakMap<Report, Map<string, Row>>} */
const indexes = new WeakMap();
/** @type {(report: Report) => Map<string, Row>} */
function indexOf(report) {
	const known = indexes.get(report) ?? new Map((report.ops ?? []).filter((op) => !op.is_others).map((op) => [opKey({ module: op.module, name: op.name }), op]));
	indexes.set(report, known);
	return known;
}

// Columns that name an op of the row's module.
const OP_COLUMNS = new Set(["op", "name", "producer", "consumer", "original", "hidden_by", "could_hide", "done"]);

/**
 * The op that a cell names; null: it names none that the report lists.
 * @type {(report: Maybe<Report>, column: string, row: Row) => OpName | null}
 */
export function opIn(report, column, row) {
	const name = row[column];
	if (!report || !OP_COLUMNS.has(column) || typeof name !== "string" || typeof row.module !== "string") return null;
	const op = { module: row.module, name: bare(name) };
	return indexOf(report).has(opKey(op)) ? op : null;
}

/** @type {(report: Report, op: OpName) => Row | undefined} */
export const rowOf = (report, op) => indexOf(report).get(opKey(op));

/**
 * What a person wrote: the einsum, or else the last part of the framework's name, and where it stands.
 * @type {(row: Maybe<Row>) => string}
 */
export function hintOf(row) {
	const scopes = typeof row?.framework_op === "string" ? row.framework_op.split("/") : [];
	const framework = scopes.at(-2)?.includes("->") ? scopes.at(-2) : scopes.at(-1);
	return [framework, row?.source].filter(Boolean).join(" \u00b7 ");
}

/** @type {(rows: Maybe<Row[]>, op: OpName, column?: string) => Row[]} */
const mine = (rows, { module, name }, column = "op") => (rows ?? []).filter((r) => r.module === module && typeof r[column] === "string" && bare(r[column]) === name);

/**
 * Ops before and behind it, each once, with the bytes that go from one to the other.
 * @type {(report: Report, op: OpName, from: string, to: string) => Edge[]}
 */
function edges(report, op, from, to) {
	/** @type {Map<string, Edge>} */
	const found = new Map();
	/** @type {(rows: Maybe<Row[]>, here: string, there: string, bytes: string) => void} */
	const look = (rows, here, there, bytes) => {
		for (const r of mine(rows, op, here)) if (typeof r[there] === "string" && !found.has(bare(r[there]))) found.set(bare(r[there]), { op: { module: op.module, name: bare(r[there]) }, bytes: r[bytes] ?? null, why: r.reason ?? null });
	};
	look(report.fusion?.unfused, from, to, "bytes");
	look(report.memory?.layout_copies, from, to, "bytes");
	look(report.capacity?.buffers, from === "producer" ? "from_op" : "to_op", to === "consumer" ? "to_op" : "from_op", "bytes");
	return [...found.values()];
}

/**
 * null: the report does not list this op.
 * @type {(report: Report, key: string) => KnownOp | null}
 */
export function opOf(report, key) {
	const row = indexOf(report).get(key);
	if (!row) return null;
	const op = { module: row.module, name: row.name };
	const total = report.time?.total_ps ?? 0;
	return {
		...op,
		row,
		share_pct: total > 0 && typeof row.self_time_ps === "number" ? (100 * row.self_time_ps) / total : null,
		mean_ps: row.occurrences > 0 && typeof row.total_time_ps === "number" ? row.total_time_ps / row.occurrences : null,
		roofline: mine(report.roofline, op, "name").find((r) => r.kind === "op"),
		systolic: mine(report.systolic?.ops, op)[0],
		padding: mine(report.padding?.ops, op)[0],
		memory: mine(report.memory?.ops, op)[0],
		async: mine(report.async?.ops, op, "name")[0],
		collective: mine(report.collectives, op, "name")[0],
		buffers: mine(report.capacity?.buffers, op),
		producers: edges(report, op, "consumer", "producer"),
		consumers: edges(report, op, "producer", "consumer"),
		findings: (report.doctor?.findings ?? []).filter((f) => f.where?.some((w) => w.op === op.name && (!w.module || w.module === op.module))),
	};
}

/** XProf opens no trace in JSON. @type {(run: Maybe<Run>) => boolean} */
export const isTrace = (run) => (run?.hosts ?? []).some((host) => /\.json(\.gz)?$/.test(String(host.file ?? "")));

/**
 * Where XProf draws the op among its neighbours.
 * @type {(run: Maybe<Run>, runName: Maybe<string>, row: Row) => string | null}
 */
export function graphLink(run, runName, row) {
	if (!runName || !row.program_id) return null;
	const at = new URLSearchParams({ run: runName, tag: "graph_viewer", host: run?.hosts?.[0]?.name ?? "", module_name: `${row.module}(${row.program_id})`, node_name: row.name });
	return `?${at}#profile`;
}

/**
 * Where XProf's trace viewer shows the op's first execution: its page takes the time in ms of the host's own clock (src/analysis/doctor/places.c).
 * @type {(run: Maybe<Run>, runName: Maybe<string>, row: Row) => string | null}
 */
export function traceLink(run, runName, row) {
	const device = run?.devices?.find((d) => d.id === row.first_device);
	const host = run?.hosts?.find((one) => one.name === device?.host);
	if (!runName || !host || isTrace(run) || typeof row.first_start_ps !== "number") return null;
	const first = (run?.hosts ?? []).map((one) => one.start_unix_ns).filter(Boolean).map((ns) => BigInt(/** @type {string} */ (ns)));
	const earliest = first.reduce((a, b) => (b < a ? b : a), first[0] ?? 0n);
	const later = host.start_unix_ns ? Number(BigInt(host.start_unix_ns) - earliest) * 1e-6 : 0;
	const [start, end] = [row.first_start_ps * 1e-9 - later, row.first_end_ps * 1e-9 - later];
	const margin = (end - start) * 0.05;
	const data = `/data/plugin/profile/data?${new URLSearchParams({ run: runName, tag: "trace_viewer@", host: host.name })}`;
	return `data/plugin/profile/trace_viewer_index.html?${new URLSearchParams({ is_streaming: "true", is_oss: "true", trace_data_url: data, view_start: Math.max(start - margin, 0).toFixed(6), view_end: Math.max(end + margin, 0).toFixed(6) })}`;
}

/**
 * A line of a source for an editor: its address wants the whole path. ROOT: the folder of sources that are named without theirs.
 * @type {(source: string, root: string) => string | null}
 */
export function editorLink(source, root) {
	const isWhole = /^(\/|[A-Za-z]:[\\/])/.test(source);
	if (!isWhole && !root) return null;
	const path = (isWhole ? source : `${root.replace(/[\\/]+$/, "")}/${source}`).replaceAll("\\", "/");
	return `vscode://file/${encodeURI(path.replace(/^\//, "")).replace(/[?#]/g, encodeURIComponent)}`;
}
