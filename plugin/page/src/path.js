// SPDX-License-Identifier: MIT
// The critical path as the report has it (docs/analyses/waits/critical_path.md): the page draws it, and looks for none of its own. So a file and a
// server show the same one, whatever of the events is in the picture.

import { gapAt, gapsOf } from "./gaps.js";

/** @import { CriticalPathSteps, PathSpan, Range, Report, Row, SeenPath, TimelineRow } from "./report.d.ts" */

const SLIVER = 0.01; // of a step or of what is in sight: less does not count

/** @type {[field: string, words: string][]} */
const PARTS = [
	["ops_ps", "in ops"],
	["collectives_ps", "in collectives"],
	["transfers_ps", "in transfers"],
	["input_ps", "waiting for input"],
	["compile_ps", "waiting for a compilation"],
	["launch_ps", "waiting for a launch"],
	["host_ps", "waiting for the host"],
	["idle_ps", "with nothing known"],
];

/**
 * Steps of which more than a sliver is in sight; where nothing is chosen, all of them.
 * @type {(steps: CriticalPathSteps, range: Range | null) => CriticalPathSteps}
 */
const stepsIn = (steps, range) =>
	steps.filter((s) => {
		if (!range || s.is_others) return !s.is_others;
		const shared = Math.min(s.start_ps + s.duration_ps, range[1]) - Math.max(s.start_ps, range[0]);
		return shared > SLIVER * Math.min(s.duration_ps, range[1] - range[0]);
	});

const WAITS = new Set(["input", "compilation", "launch", "host"]);

/**
 * The row that a part of the path is drawn in: that of the chip; where the chip waits for its host, the thread that it waits for.
 * @type {(report: Report, rows: TimelineRow[]) => (span: Row) => string | undefined}
 */
function placesOf(report, rows) {
	const chips = new Map(rows.filter((r) => r.kind === "chip").map((r) => [r.device, r]));
	const threads = new Map(rows.filter((r) => r.kind === "thread").map((r) => [`${r.host} ${r.label}`, r.key]));
	const gaps = gapsOf(report);
	return ({ device_id: device, kind, start_ps: start, dur_ps: length }) => {
		const chip = chips.get(device);
		const gap = WAITS.has(kind) ? gapAt(gaps.get(device) ?? [], start + length / 2) : undefined;
		return (gap?.thread && threads.get(`${chip?.host} ${gap.thread}`)) || chip?.key;
	};
}

/**
 * What is drawn of the path in RANGE, in the order of time: of the steps whose spans the report has.
 * @type {(report: Report, rows: TimelineRow[], range: Range | null) => PathSpan[]}
 */
export function pathOf(report, rows, range) {
	const place = placesOf(report, rows);
	return stepsIn(report.critical_path?.steps ?? [], range).flatMap(({ spans }) =>
		(spans ?? []).flatMap((/** @type {Row} */ s) => {
			const key = place(s);
			return key === undefined ? [] : [{ key, start_ps: s.start_ps, end_ps: s.start_ps + s.dur_ps, kind: s.kind, name: s.op ?? null }];
		}),
	);
}

/** @type {(numbers: number[]) => string} */
const listed = (numbers) => (numbers.length > 1 ? `steps ${numbers.slice(0, -1).join(", ")} and ${numbers[numbers.length - 1]}` : `step ${numbers[0]}`);

/**
 * How long the path is in each kind of thing: of the steps in sight, or of the run where all of it is. MISSING: the line that cannot be drawn.
 * @type {(report: Report, range: Range | null) => SeenPath | null} null: the report has no path of it
 */
export function timesOf(report, range) {
	const known = report.critical_path;
	const steps = stepsIn(known?.steps ?? [], range);
	const isRun = !range || !steps.length;
	const total = isRun ? known?.run?.total_ps : steps.reduce((sum, s) => sum + s.duration_ps, 0);
	if (!total || (range && !steps.length && (known?.steps ?? []).length)) return null;
	const parts = PARTS.map(([field, words]) => ({ words, ps: isRun ? (known?.run?.[field] ?? 0) : steps.reduce((sum, s) => sum + (s[field] ?? 0), 0) })).filter(({ ps }) => ps > 0);
	const of = isRun ? "the run" : steps.length > 2 ? `${steps.length} steps, ${steps[0].step} to ${steps[steps.length - 1].step}` : listed(steps.map((s) => s.step));
	const drawn = (known?.steps ?? []).filter((s) => s.spans?.length).map((s) => s.step);
	const isMissing = steps.some((s) => !s.spans?.length);
	return { of, total, parts, missing: isMissing && drawn.length ? `The report has the line of the path for ${listed(drawn)}; of other steps it has how long the path is in what.` : null };
}
