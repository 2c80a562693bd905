// A picture of the whole run under the heading of every view: where the time of each step went. Drag over it to look at a
// part: all views then show what happened in that time.
import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { held, holds, Legend, picking, Plot, stacked, stairs, timeAxis, tooltip } from "./chart.jsx";
import { time, title, value } from "./format.js";
import { BUCKETS, bucketColor } from "./parts.jsx";
import { usePage } from "./state.js";
import { Rows, runEnd } from "./tracks.jsx";

const MAX_STEPS = 2000; // drawn; of more, neighbours are drawn as one
const OUTSIDE = "outside of steps";
const OUTSIDE_COLOR = "var(--line)";

/** @import uPlot from "uplot" */
/** @import { Drawing, Range, Step } from "./report.d.ts" */

/**
 * Columns for uPlot, from 0 to END: each step is a bar from its start to its end, as shares of its time; what no step has
 * is a bar of its own. OF: the step that each column begins with; -1: none.
 * @param {Step[]} steps
 * @param {number} end
 */
export function columns(steps, end) {
	const each = Math.ceil(steps.length / MAX_STEPS);
	/** @type {number[]} */
	const x = [];
	/** @type {number[]} */
	const of = [];
	/** @type {number[][]} */
	const parts = [...BUCKETS, OUTSIDE].map(() => []);
	let at = 0;
	/** @type {(ps: number, step: number, shares: number[]) => void} */
	const put = (ps, step, shares) => {
		x.push(ps / 1e12);
		of.push(step);
		parts.forEach((part, k) => part.push(shares[k] ?? 0));
	};
	/** @param {number} until */
	const fill = (until) => until > at && put(at, -1, [...BUCKETS.map(() => 0), 100]);
	for (let i = 0; i < steps.length; i += each) {
		const group = steps.slice(i, i + each);
		const total = group.reduce((sum, s) => sum + s.total_ps, 0);
		const last = group[group.length - 1];
		fill(group[0].start_ps);
		put(group[0].start_ps, i, BUCKETS.map((b) => (total ? (100 * group.reduce((sum, s) => sum + s[`${b}_ps`], 0)) / total : 0)));
		at = last.start_ps + last.duration_ps;
	}
	fill(end);
	x.push(Math.max(at, end) / 1e12);
	return { x, of, parts: parts.map(held) };
}

// What is not looked at is dimmed.
/** @type {(u: uPlot, range: Range | null) => void} */
function dim(u, range) {
	if (!range) return;
	const { left, top, width, height } = u.bbox;
	const [from, to] = range.map((ps) => Math.min(Math.max(u.valToPos(ps / 1e12, "x", true), left), left + width));
	u.ctx.save();
	u.ctx.globalAlpha = 0.75;
	u.ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel");
	u.ctx.fillRect(left, top, from - left, height);
	u.ctx.fillRect(to, top, left + width - to, height);
	u.ctx.restore();
}

export function Strip() {
	const { report, look, setLook } = usePage();
	const steps = report.time?.per_step ?? [];
	const [open, setOpen] = useState(true);
	const drawing = useMemo(/** @returns {Drawing | null} */ () => {
		if (steps.length < 2) return null;
		const { x, of, parts } = columns(steps, runEnd(report));
		const colors = [...BUCKETS.map(bucketColor), getComputedStyle(document.documentElement).getPropertyValue("--line")].reverse();
		const pick = picking(setLook);
		/** @type {(index: number, u: uPlot, x: number) => string[] | null} */
		const say = (_, u, at) => {
			const step = steps[of[Math.min(holds(x, at), of.length - 1)]];
			if (!step) return [`at ${time(at * 1e12)}`, OUTSIDE];
			return [`step ${step.step}, at ${time(step.start_ps)}, ${time(step.duration_ps)}`, ...BUCKETS.filter((b) => step[`${b}_ps`] > 0).map((b) => `${title(b)}: ${value("_pct", (100 * step[`${b}_ps`]) / step.total_ps)}`)];
		};
		return {
			data: [x, ...stacked(parts)],
			options: {
				legend: { show: false },
				cursor: pick.cursor,
				scales: { x: { time: false, range: [0, x[x.length - 1]] }, y: { range: [0, 100] } },
				axes: [timeAxis, { values: (_, v) => v.map((p) => `${p} %`), size: 60 }],
				series: [{}, ...colors.map((fill) => ({ fill, width: 0, points: { show: false }, paths: stairs }))],
				plugins: [tooltip(say)],
				hooks: { ...pick.hooks, draw: [(u) => dim(u, look.range)] },
			},
		};
	}, [report, steps, look.range]);
	return (
		<section class="strip" aria-label="the whole run">
			<div class="bar">
				<button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
					{open ? "\u25be" : "\u25b8"} Whole run
				</button>
				{drawing && <Legend items={[...BUCKETS.map(/** @returns {[string, string]} */ (b) => [title(b), bucketColor(b)]), [OUTSIDE, OUTSIDE_COLOR]]} />}
				{look.range && (
					<span class="range">
						{`${time(look.range[0])} to ${time(look.range[1])} `}
						<button type="button" onClick={() => setLook({ range: null })}>
							Show all
						</button>
					</span>
				)}
			</div>
			{open && !drawing && <Rows name="Time classes" whole empty="No device has steps or time classes, so the run cannot be drawn." />}
			{open && drawing && <Plot {...drawing} height={120} label={`time classes of ${steps.length} steps over the run; drag to choose a time range`} />}
		</section>
	);
}
