// SPDX-License-Identifier: MIT
// What a finding is about, in the words that people ask in: which op, at which line, on which chip, since which step.

import { deviceName, latest, shortNames } from "./pod.js";

/** @import { Finding, Maybe, Place, Report, Row } from "./report.d.ts" */

/** @type {(report: Report, t: unknown) => number | null} */
export function stepAt(report, t) {
	if (typeof t !== "number") return null;
	const step = (report.steps ?? []).find((s) => !s.is_others && typeof s.start_ps === "number" && t >= s.start_ps && t < s.start_ps + (s.duration_ps ?? 0));
	return step?.step ?? null;
}

/** @type {(report: Report, name: Maybe<string>) => string | null} */
function hostOf(report, name) {
	const hosts = (report.run?.hosts ?? []).map((h) => h.name);
	return name && hosts.length > 1 ? (shortNames(hosts).get(name) ?? name) : null;
}

/**
 * What a core runs slower than the others do.
 * @type {(report: Report, op: { op?: Maybe<string>, module?: Maybe<string> }, device?: number) => Row[]}
 */
export const slowOf = (report, { op, module }, device) => (report.op_cores ?? []).filter((r) => r.op === op && (!module || r.module === module) && (device === undefined || r.device_id === device));

/** A compilation that is under way in the times of a finding, the longest. @type {(report: Report, finding: Finding) => Row | undefined} */
function compiledIn(report, { time_ranges: ranges }) {
	/** @type {Row[]} */
	const rows = report.cache?.compilations ?? [];
	const found = rows.filter((c) => c.function && ranges?.some((r) => c.start_ps < r.end_ps && c.start_ps + (c.duration_ps ?? 0) > r.start_ps));
	return found.sort((a, b) => b.duration_ps - a.duration_ps)[0];
}

/** @type {(report: Report) => import("./report.d.ts").Chip | null} */
const lateChip = (report) => latest(/** @type {any} */ ((report.collective_cores ?? []).map((late) => ({ id: late.device_id, late }))));

/**
 * @type {(report: Report, finding: Finding) => Place}
 */
export function placeOf(report, finding) {
	const where = finding.where?.[0];
	const op = where?.op ? { module: where.module ?? "", name: where.op } : null;
	/** @type {Place} */
	const place = { op, line: op, source: where?.source ?? null, device: null, host: null, who: null, since: null, what: null, more: Math.max((finding.where?.length ?? 0) - 1, 0) };
	const many = (report.run?.devices?.length ?? 0) > 1;
	const compiled = ["recompilation", "slow_steps"].includes(finding.rule ?? "") ? compiledIn(report, finding) : undefined;
	if (compiled) {
		const source = compiled.source ?? place.source;
		return { ...place, op: null, source, what: `${compiled.function} is compiled`, host: compiled.host ?? null, who: hostOf(report, compiled.host), since: stepAt(report, compiled.start_ps) ?? stepAt(report, compiled.start_ps + compiled.duration_ps), at: compiled.start_ps, more: 0 };
	}
	if (finding.rule === "straggler") {
		const late = lateChip(report);
		const slow = late && where ? slowOf(report, where, late.id)[0] : undefined;
		if (late) return { ...place, device: late.id, who: deviceName(report, late.id), since: slow?.since_step ?? late.late?.since_step ?? null, what: slow ? "is slow" : null, more: 0 };
	}
	const slow = where && many ? slowOf(report, where)[0] : undefined;
	if (slow) return { ...place, device: slow.device_id, who: deviceName(report, slow.device_id), since: slow.since_step ?? null, what: "is slowest" };
	return place;
}
