// A picture of the whole run under the heading of every view: where the time of each step went. Drag over it to look at a
// part: all views then show what happened in that time.
import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { held, holds, Legend, picking, Plot, stacked, stairs, timeAxis, tooltip } from "./chart.jsx";
import { time, title, value } from "./format.js";
import { BUCKETS, bucketColor } from "./parts.jsx";
import { usePage } from "./state.js";
import { Rows } from "./tracks.jsx";

const MAX_STEPS = 2000; // drawn; of more, neighbours are drawn as one

/** @import uPlot from "uplot" */
/** @import { Drawing, Range, Step } from "./report.d.ts" */

/**
 * Columns for uPlot: each step is a bar from its start to its end, as shares of its time.
 * @param {Step[]} steps
 */
function columns(steps) {
	const each = Math.ceil(steps.length / MAX_STEPS);
	const x = [];
	/** @type {number[][]} */
	const parts = BUCKETS.map(() => []);
	for (let i = 0; i < steps.length; i += each) {
		const group = steps.slice(i, i + each);
		const total = group.reduce((sum, s) => sum + s.total_ps, 0);
		x.push(group[0].start_ps / 1e12);
		BUCKETS.forEach((b, k) => parts[k].push(total ? (100 * group.reduce((sum, s) => sum + s[`${b}_ps`], 0)) / total : 0));
	}
	const last = steps[steps.length - 1];
	x.push((last.start_ps + last.duration_ps) / 1e12);
	return { x, parts: parts.map(held), each };
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
		const { x, parts, each } = columns(steps);
		const pick = picking(setLook);
		/** @type {(index: number, u: uPlot, x: number) => string[] | null} */
		const say = (_, u, at) => {
			const step = steps[Math.min(holds(x, at) * each, steps.length - 1)];
			return [`step ${step.step}, at ${time(step.start_ps)}, ${time(step.duration_ps)}`, ...BUCKETS.filter((b) => step[`${b}_ps`] > 0).map((b) => `${title(b)}: ${value("_pct", (100 * step[`${b}_ps`]) / step.total_ps)}`)];
		};
		return {
			data: [x, ...stacked(parts)],
			options: {
				legend: { show: false },
				cursor: pick.cursor,
				scales: { x: { time: false }, y: { range: [0, 100] } },
				axes: [timeAxis, { values: (_, v) => v.map((p) => `${p} %`), size: 60 }],
				series: [{}, ...[...BUCKETS].reverse().map((b) => ({ fill: bucketColor(b), width: 0, points: { show: false }, paths: stairs }))],
				plugins: [tooltip(say)],
				hooks: { ...pick.hooks, draw: [(u) => dim(u, look.range)] },
			},
		};
	}, [steps, look.range]);
	return (
		<section class="strip" aria-label="the whole run">
			<div class="bar">
				<button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
					{open ? "\u25be" : "\u25b8"} Whole run
				</button>
				{drawing && <Legend items={BUCKETS.map((b) => [title(b), bucketColor(b)])} />}
				{look.range && (
					<span class="range">
						{`${time(look.range[0])} to ${time(look.range[1])} `}
						<button type="button" onClick={() => setLook({ range: null })}>
							Show all
						</button>
					</span>
				)}
			</div>
			{open && !drawing && <Rows name="Time classes" whole empty="The profile has no steps and no time classes, so the run cannot be drawn." />}
			{open && drawing && <Plot {...drawing} height={120} label={`time classes of ${steps.length} steps over the run; drag to choose a time range`} />}
		</section>
	);
}
