// SPDX-License-Identifier: MIT
// The time of a program by the lines that people wrote.

/** @import { Row } from "./report.d.ts" */

const SPLIT = ["compute", "below_roofline", "memory_wait", "unexplained"]; // of what the cores do themselves

/** @type {(op: Row, name: string) => number} */
function timeOf(op, name) {
	if (op.bucket && !SPLIT.includes(op.bucket)) return op.bucket === name ? op.self_time_ps : 0;
	return op[`${name}_ps`] ?? 0;
}

/**
 * OPS by their source lines, the longest time first: how long and how many, the class that most of it is, and the op that most of it is.
 * TOTAL: core time of the run.
 * @type {(ops: Row[], total: number, classes: string[]) => Row[]}
 */
export function bySource(ops, total, classes) {
	/** @type {Map<string, Row[]>} */
	const groups = new Map();
	for (const op of ops) {
		if (typeof op.source !== "string" || op.is_others || typeof op.self_time_ps !== "number") continue;
		groups.set(op.source, [...(groups.get(op.source) ?? []), op]);
	}
	const rows = [...groups].map(([source, some]) => {
		const time = some.reduce((all, op) => all + op.self_time_ps, 0);
		const longest = some.reduce((most, op) => (op.self_time_ps > most.self_time_ps ? op : most));
		const most = classes.map((name) => ({ name, ps: some.reduce((all, op) => all + timeOf(op, name), 0) })).reduce((a, b) => (b.ps > a.ps ? b : a));
		return { source, self_time_ps: time, time_pct: total > 0 ? (100 * time) / total : null, op_count: some.length, class: most.ps > 0 ? most.name : null, name: longest.name, module: longest.module };
	});
	return rows.sort((a, b) => b.self_time_ps - a.self_time_ps);
}

/** What no line is known of. @type {(ops: Row[]) => { count: number, ps: number }} */
export function withoutSource(ops) {
	const some = ops.filter((op) => typeof op.source !== "string");
	return { count: some.filter((op) => !op.is_others).length, ps: some.reduce((all, op) => all + (op.self_time_ps ?? 0), 0) };
}
