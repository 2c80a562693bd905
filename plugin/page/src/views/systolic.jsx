// How well the matrix units were used: op by op and step by step, by shape, and over time.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { Plot, shade, tooltip } from "../chart.jsx";
import { clean, value } from "../format.js";
import { Heat } from "../heat.jsx";
import { usePage } from "../state.js";
import { Counter, Rows } from "../tracks.jsx";
import { Generic, Part } from "./generic.jsx";

/** @import uPlot from "uplot" */
/** @import { Drawing, Report, Row } from "../report.d.ts" */

// Fill (what the shape allows) against utilization (what was reached), as large as the time it took.
/** @param {{ ops: Row[] }} props */
function Shapes({ ops }) {
	const known = useMemo(() => ops.filter((o) => o.fill_pct !== null && o.mxu_utilization_pct !== null).sort((a, b) => a.fill_pct - b.fill_pct), [ops]);
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const most = known.reduce((m, o) => Math.max(m, o.time_ps), 1);
		/** @type {(u: uPlot) => void} */
		const paint = (u) => {
			for (const o of known) {
				u.ctx.beginPath();
				u.ctx.fillStyle = shade(o.mxu_utilization_pct / 100);
				u.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--soft");
				u.ctx.arc(u.valToPos(o.fill_pct, "x", true), u.valToPos(o.mxu_utilization_pct, "y", true), (3 + 12 * Math.sqrt(o.time_ps / most)) * devicePixelRatio, 0, 2 * Math.PI);
				u.ctx.fill();
				u.ctx.stroke();
			}
		};
		return {
			data: [known.map((o) => o.fill_pct), known.map((o) => o.mxu_utilization_pct)],
			options: {
				legend: { show: false },
				scales: { x: { time: false, range: [0, 105] }, y: { range: [0, 105] } },
				axes: [{ label: "fill of the array that the shape allows (%)", size: 30, labelSize: 20 }, { label: "utilization reached (%)", size: 50, labelSize: 20 }],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [paint] },
				plugins: [tooltip((i) => [clean(known[i].op), `m ${known[i].m}  n ${known[i].n}  k ${known[i].k}  batch ${known[i].batch}`, `fill ${value("_pct", known[i].fill_pct)}, reached ${value("_pct", known[i].mxu_utilization_pct)}`, value("ops.time_ps", known[i].time_ps)])],
			},
		};
	}, [known]);
	if (!known.length) return null;
	return (
		<section aria-label="shapes">
			<h3>Shapes: the utilization that they allow, and that was reached</h3>
			<p class="empty">Each circle is an op. A larger circle took more time; a brighter one used the matrix units better.</p>
			<Plot {...drawing} height={280} label={`fill and utilization of ${known.length} matrix ops`} />
		</section>
	);
}

/** @param {{ heatmap: NonNullable<Report["heatmap"]> }} props */
function ByStep({ heatmap }) {
	const rows = useMemo(() => heatmap.ops.map((o) => ({ label: o.op, cells: o.mxu_utilization_pct })), [heatmap]);
	const columns = useMemo(() => heatmap.steps.map((s) => `step ${s ?? "?"}`), [heatmap]);
	return (
		<section aria-label="utilization by op and step">
			<h3>Utilization by op and step</h3>
			<Heat rows={rows} columns={columns} max={100} say={(v) => value("_pct", v)} label={`MXU utilization of ${rows.length} ops in ${columns.length} columns of steps`} />
			{heatmap.steps_per_column > 1 && <p class="empty">{`Each column stands for ${heatmap.steps_per_column} steps.`}</p>}
		</section>
	);
}

export function Systolic() {
	const { report } = usePage();
	return (
		<Generic
			name="systolic"
			what="matrix-unit analysis"
			first={{ ops: ["op", "m", "n", "k", "batch", "dtype", "mxu_utilization_pct", "fill_pct", "limiting_dim", "time_ps", "lost_ps", "bound_by", "source", "module"] }}
			sort={{ ops: { column: "lost_ps", down: true } }}
			empty={{ ops: "No matrix product with a known shape ran, so there is nothing to draw op by op." }}
		>
			<Counter name="MXU utilization (%)" />
			{report.heatmap && report.heatmap.ops.length > 0 && <ByStep heatmap={report.heatmap} />}
			<Shapes ops={report.systolic?.ops ?? []} />
			<Rows name="Time classes" />
			<Part name="custom_calls" heading="Custom calls" />
		</Generic>
	);
}
