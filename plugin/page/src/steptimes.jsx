// SPDX-License-Identifier: MIT
// How long the steps of a run were: over time, how many took how long, and the slow ones to go to.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { OTHERS } from "./colors.js";
import { percent, time } from "./format.js";
import { marksOf, slowSteps, stepBins } from "./overview.js";
import { inSight, usePage } from "./state.js";
import { StepChart } from "./steps.jsx";

/** @import { SlowStep, Step } from "./report.d.ts" */

const STEP = [{ name: "time of the step", color: OTHERS[0], of: (/** @type {Step} */ s) => s.duration_ps }];
const [WIDE, HIGH, ROW] = [1000, 160, 18]; // of the picture, in its own units; ROW: of a name above it
/** @type {Record<string, string>} */
const NAMES = { median: "median", p90: "90 % of steps are shorter: p90", p99: "99 % of steps are shorter: p99" };
const SHORT = /** @type {Record<string, string>} */ ({ median: "median", p90: "p90", p99: "p99" });

/** @type {(n: number) => string} */
const nrSteps = (n) => `${n.toLocaleString("en-US")} step${n === 1 ? "" : "s"}`;

/** @param {{ steps: Step[], marks: { name: string, ps: number }[] }} props */
function Histogram({ steps, marks }) {
	const bins = useMemo(() => stepBins(steps), [steps]);
	const most = bins.reduce((m, b) => Math.max(m, b.count), 1);
	const low = bins[0].from;
	const width = bins[bins.length - 1].to - low || 1;
	/** @param {number} ps */
	const at = (ps) => (100 * Math.min(Math.max(ps - low, 0), width)) / width;
	const words = `${nrSteps(steps.length)} by their time, from ${time(low)} to ${time(low + width)}. ${marks.map((m) => `${NAMES[m.name]} ${time(m.ps)}`).join(", ")}.`;
	return (
		<figure class="steptimes">
			<div class="plate" role="img" aria-label={words}>
				<svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
					{bins.map((b, i) => {
						const high = (b.count / most) * HIGH;
						return (
							<rect key={b.from} x={(i * WIDE) / bins.length} width={WIDE / bins.length} y={HIGH - Math.max(high, b.count ? 2 : 0)} height={Math.max(high, b.count ? 2 : 0)}>
								<title>{`${nrSteps(b.count)} of ${time(b.from)} to ${time(b.to)}`}</title>
							</rect>
						);
					})}
				</svg>
				{marks.map((m, i) => (
					<span key={m.name} class={`percentile ${m.name}${at(m.ps) > 70 ? " left" : ""}`} style={{ left: `${at(m.ps)}%`, top: `${i * ROW}px` }}>
						{`${SHORT[m.name]} ${time(m.ps)}`}
					</span>
				))}
			</div>
			<figcaption class="ends">
				<span>{time(low)}</span>
				<span>{`how long a step took, from the shortest to the longest; the highest bar is ${nrSteps(most)}`}</span>
				<span>{time(low + width)}</span>
			</figcaption>
		</figure>
	);
}

/** @param {{ of: SlowStep }} props */
function Slow({ of: { step, excess, isSlow, reason } }) {
	const { setLook } = usePage();
	const more = excess === null ? "" : `, ${percent(excess)} over the median`;
	const why = reason ? `. ${reason}` : "";
	return (
		<li>
			<button type="button" class="link" onClick={() => setLook({ range: [step.start_ps, step.start_ps + step.duration_ps], view: "slices" })}>
				{`Step ${step.step}`}
			</button>
			{` at ${time(step.start_ps)}: ${time(step.duration_ps)}${more}${why}${isSlow ? "." : ". It is the longest step."}`}
		</li>
	);
}

const MOST = 8;

export function StepTimes() {
	const { report, look } = usePage();
	const all = useMemo(() => (report.steps ?? []).filter((s) => !s.is_others), [report]);
	const steps = useMemo(() => inSight(all, look, report), [all, look, report]);
	const marks = useMemo(() => marksOf(report, steps, all), [report, steps, all]);
	const slow = useMemo(() => slowSteps(report, steps), [report, steps]);
	if (steps.length < 2) return <p class="empty">{all.length > 1 ? "Fewer than two steps lie in the chosen time." : "The profile has fewer than two steps: there are no step times to compare."}</p>;
	const count = report.overview?.step_count ?? all.length;
	return (
		<section aria-label="step times">
			<h3>Step times</h3>
			<StepChart steps={all} parts={STEP} label={`time of ${all.length} steps`} />
			<Histogram steps={steps} marks={marks} />
			{all.length < count && <p class="count">{`The report lists ${all.length} of ${count} steps; the picture has these. Percentiles are of all.`}</p>}
			{slow.length > 0 && (
				<ul class="slow">
					{slow.slice(0, MOST).map((s) => (
						<Slow key={s.step.start_ps} of={s} />
					))}
				</ul>
			)}
			{slow.length > MOST && <p class="count">{`${slow.length - MOST} more slow steps stand in the view of time.`}</p>}
		</section>
	);
}
