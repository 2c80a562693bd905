// SPDX-License-Identifier: MIT
// What a word finds in a report: ops, modules, sources, findings and views, each with what is chosen by it.
import { hintOf, opKey } from "./opdata.js";

/** @import { Hit, PageView, Report, Row } from "./report.d.ts" */

const MOST = 12;

/**
 * Names that begin with the word come first, then those that have it; among equals the order of HITS.
 * @type {(hits: Hit[], word: string) => Hit[]}
 */
function ranked(hits, word) {
	/** @param {Hit} hit */
	const rank = ({ name, hint }) => {
		const at = name.toLowerCase().indexOf(word);
		return at === 0 ? 0 : at > 0 ? 1 : hint.toLowerCase().includes(word) ? 2 : 3;
	};
	const ranks = new Map(hits.map((hit) => [hit, rank(hit)]));
	const of = (/** @type {Hit} */ hit) => ranks.get(hit) ?? 3;
	return hits.filter((hit) => of(hit) < 3).sort((a, b) => of(a) - of(b));
}

/**
 * The time of ops by their source lines or modules, the longest first.
 * @type {(ops: Row[], column: string) => [string, number][]}
 */
function sums(ops, column) {
	/** @type {Map<string, number>} */
	const all = new Map();
	for (const op of ops) if (typeof op[column] === "string") all.set(op[column], (all.get(op[column]) ?? 0) + (op.self_time_ps ?? 0));
	return [...all].sort((a, b) => b[1] - a[1]);
}

/** Everything that can be found. @type {(report: Report, views: PageView[]) => Hit[]} */
export function findable(report, views) {
	const ops = (report.ops ?? []).filter((op) => !op.is_others).sort((a, b) => (b.self_time_ps ?? 0) - (a.self_time_ps ?? 0));
	/** @type {(kind: string) => ([name]: [string, number]) => Hit} */
	const rowsOf = (kind) => ([name]) => ({ kind, name, hint: "its ops", change: { view: "time", op: null }, choices: { "time.ops.find": name } });
	return [
		...views.map((v) => ({ kind: "view", name: v.title, hint: "", change: { view: v.name } })),
		...(report.doctor?.findings ?? []).map((f) => ({ kind: "finding", name: f.title, hint: f.severity, change: { view: "doctor", finding: f.id, op: null } })),
		...ops.map((op) => ({ kind: "op", name: op.name, hint: [hintOf(op), op.module].filter(Boolean).join(" in "), change: { op: opKey({ module: op.module, name: op.name }) } })),
		...sums(ops, "source").map(rowsOf("source")),
		...sums(ops, "module").map(rowsOf("module")),
	];
}

/** @type {(hits: Hit[], word: string) => Hit[]} */
export function search(hits, word) {
	const wanted = word.trim().toLowerCase();
	return wanted ? ranked(hits, wanted).slice(0, MOST) : [];
}
