// SPDX-License-Identifier: MIT
// A picture of the whole run under the heading of every view: where the time of each step went, and where findings are. Drag over it to look at a
// part: all views then show what happened in that time.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { bucketColor, BUCKETS, STEPS } from "./colors.js";
import { Legend } from "./chart.jsx";
import { clean, time, title, value } from "./format.js";
import { useChoice, usePage } from "./state.js";
import { shareAxis, TimeChart, TimeLane } from "./timeaxis.jsx";
import { isLoose, overSteps, rangeText, sliceAt } from "./timescale.js";
import { Rows } from "./tracks.jsx";

const MAX_STEPS = 2000; // drawn; of more, neighbours are drawn as one
const MAX_DEVICES = 8;
const MAX_ROWS = 6; // of findings that overlap
const HEIGHT = 36; // pixels of all of them, where they are more than LOW rows
const LOW = 3;
/** @type {Record<string, string>} */
export const SEVERITY_COLORS = { critical: "var(--critical)", warning: "var(--warning)", info: "var(--info)" };

/** @import { Finding, FindingRange, LaneRow, Report, Step } from "./report.d.ts" */
/** @typedef {{ start_ps: number, end_ps: number, kind: number }} Place KIND: which finding */

/**
 * Columns from 0 to END: each step from its start to its end, as shares of its time. OF: the step that each column begins with; -1: none.
 * @param {Step[]} steps
 * @param {number} end
 */
export function columns(steps, end) {
	const each = Math.ceil(steps.length / MAX_STEPS);
	const { times, of } = overSteps(steps, end, each);
	/** @type {(step: number, bucket: string) => number} */
	const share = (step, bucket) => {
		const group = step < 0 ? [] : steps.slice(step, step + each);
		const total = group.reduce((sum, s) => sum + s.total_ps, 0);
		return total ? (100 * group.reduce((sum, s) => sum + s[`${bucket}_ps`], 0)) / total : 0;
	};
	return { times, of, parts: BUCKETS.map((b) => of.map((step) => share(step, b))) };
}

/**
 * The places of findings in rows, so that none hides another: those that stand first in RANGES find their place first. One that finds none in
 * MAX_ROWS rows is not drawn: `also` says it where the pointer is.
 * @type {(ranges: Place[]) => number[][]}
 */
export function laid(ranges) {
	/** @type {number[][]} */
	const rows = [];
	for (const { start_ps, end_ps, kind } of ranges.filter((r) => r.end_ps > r.start_ps)) {
		const isFree = (/** @type {number[]} */ slices) => {
			const next = sliceAt(slices, start_ps);
			return next >= slices.length || slices[next] >= end_ps;
		};
		const row = rows.find(isFree) ?? (rows.length < MAX_ROWS ? rows[rows.push([]) - 1] : null);
		row?.splice(sliceAt(row, start_ps), 0, start_ps, end_ps, kind);
	}
	return rows;
}

/** The findings at most NEAR from AT, but KIND. @type {(ranges: Place[], kind: number, at: number, near: number) => number[]} */
export const also = (ranges, kind, at, near) => [...new Set(ranges.filter((r) => r.kind !== kind && r.start_ps - near <= at && at <= r.end_ps + near).map((r) => r.kind))];

/**
 * Steps as slices, one behind the other: start, end, which step.
 * @type {(steps: Pick<Step, "start_ps" | "duration_ps">[]) => number[]}
 */
export function oneByOne(steps) {
	/** @type {number[]} */
	const slices = [];
	for (const [i, step] of steps.entries()) {
		const start = Math.max(step.start_ps, slices.length ? slices[slices.length - 2] : 0);
		const end = step.start_ps + step.duration_ps;
		if (end > start) slices.push(start, end, i);
	}
	return slices;
}

/** @type {(findings: Finding[], ranges: FindingRange[]) => Place[]} */
const placesOf = (findings, ranges) => findings.flatMap((f, kind) => (f.time_ranges ?? ranges.filter((r) => r.finding === f.id)).map((r) => ({ start_ps: r.start_ps, end_ps: r.end_ps, kind })));

/**
 * Where findings are; a click leads to what is said of one. WHOLE: in the whole capture, whatever is chosen.
 * @param {{ whole?: boolean }} props
 */
export function Places({ whole }) {
	const { whole: report, setLook, theme } = usePage();
	const findings = report.doctor?.findings ?? [];
	const rows = useMemo(() => {
		const of = getComputedStyle(document.documentElement);
		const colors = findings.map((f) => of.getPropertyValue(SEVERITY_COLORS[f.severity].slice(4, -1)).trim());
		const places = placesOf(findings, report.doctor?.ranges ?? []);
		/** @type {(kind: number) => string} */
		const called = (kind) => clean(findings[kind].title);
		/** @type {LaneRow["text"]} */
		const text = (kind, at, near) => [called(kind), ...also(places, kind, at, near).map((other) => `also here: ${called(other)}`)].join("\n");
		return laid(places).map((slices, i) => /** @type {LaneRow} */ ({ name: i ? "" : "Findings", slices, color: (kind) => colors[kind], text }));
	}, [report, theme]);
	if (!rows.length) return null;
	return <TimeLane whole={whole} bare rows={rows} height={HEIGHT / Math.max(rows.length, LOW)} label={`places of ${findings.length} findings in the run; a click opens one`} onPick={(_, kind) => setLook({ view: "doctor", finding: findings[kind].id })} />;
}

/** @type {(report: Report) => boolean} */
const hasClasses = (report) => (report.tracks ?? []).some((t) => t.name === "Time classes" && t.slices?.length);

// Steps of hosts alone: nothing is known of them but when they ran.
function Marked() {
	const { whole: report } = usePage();
	const rows = useMemo(() => {
		const steps = (report.steps ?? []).filter((s) => !s.is_others);
		/** @type {LaneRow} */
		const row = { name: "Steps", slices: oneByOne(steps), color: (kind) => STEPS[kind % 2], text: (kind) => `step ${steps[kind].step}` };
		return row.slices.length ? [row] : [];
	}, [report]);
	if (!rows.length) return <p class="empty">No device has steps or time classes, so the run cannot be drawn.</p>;
	return (
		<div>
			<p class="bar count">No device ran, so the time of a step has no classes. The capture is drawn with its steps.</p>
			<TimeLane whole rows={rows} label={`${rows[0].slices.length / 3} steps of the hosts over the whole capture; drag to choose a time range`} />
		</div>
	);
}

/** The steps whose time classes fill the whole run, where they do. @type {(report: Report) => Step[]} */
const classified = (report) => (isLoose(report) ? [] : (report.time?.per_step ?? []).filter((s) => !s.is_others));

function Classes() {
	const { whole: report, scale } = usePage();
	const steps = useMemo(() => classified(report), [report]);
	const drawn = useMemo(() => {
		const { times, of, parts } = columns(steps, scale.end);
		return { times, of, parts: parts.map((values, i) => ({ name: title(BUCKETS[i]), color: bucketColor(BUCKETS[i]), values })) };
	}, [steps, scale.end]);
	/** @type {(index: number, at: number) => string[]} */
	const say = (index, at) => {
		const step = steps[drawn.of[index]];
		if (!step) return [`at ${time(at)}`, "outside of steps"];
		return [`step ${step.step}, at ${time(step.start_ps)}, ${time(step.duration_ps)}`, ...BUCKETS.filter((b) => step[`${b}_ps`] > 0).map((b) => `${title(b)}: ${value("_pct", (100 * step[`${b}_ps`]) / step.total_ps)}`)];
	};
	if (steps.length < 2) return hasClasses(report) ? <Rows name="Time classes" whole max={MAX_DEVICES} /> : <Marked />;
	return (
		<TimeChart whole {...drawn} top={100} axis={shareAxis} say={say} height={110} label={`time classes of ${steps.length} steps over the whole capture; drag to choose a time range`} />
	);
}

/** @param {{ isFolded?: boolean }} props ISFOLDED: the view has nothing over time, so the picture waits until it is asked for */
export function Strip({ isFolded }) {
	const { whole: report, look, scale } = usePage();
	const hasSteps = classified(report).length > 1;
	const [open, setOpen] = useChoice("strip.open", !isFolded);
	return (
		<section class="strip" aria-label="the whole run">
			<div class="bar">
				<button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
					{open ? "\u25be" : "\u25b8"} Whole run
				</button>
				{open && hasSteps && (
					<div class="swipe" tabIndex={0} role="region" aria-label="colours of the time classes">
						<Legend items={BUCKETS.map((b) => [title(b), bucketColor(b)])}>
							<li>
								<span class="swatch hatched" aria-hidden="true" />
								outside of steps
							</li>
						</Legend>
					</div>
				)}
				{look.range && (
					<span class="range">
						{`${rangeText(look.range)} `}
						<button type="button" onClick={() => scale.back()} title="key Escape">
							Back
						</button>{" "}
						<button type="button" onClick={() => scale.choose(null)}>
							Show all
						</button>
					</span>
				)}
			</div>
			{open && <Classes />}
			{open && <Places whole />}
		</section>
	);
}
