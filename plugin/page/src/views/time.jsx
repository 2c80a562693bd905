// Where the time went: in all, per step, per core; the gaps; the roofline.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { COLORS, fromZero, held, Legend, picking, Plot, stacked, stairs, stepAt, stepAxis, stepEdges, stepTimes, times, tooltip } from "../chart.jsx";
import { clean, time, title, value } from "../format.js";
import { BUCKETS, bucketColor, columnsOf, Fact, Missing, Notes, Shares } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Part, Tables } from "./generic.jsx";
import { Table } from "../table.jsx";

/** @import uPlot from "uplot" */
/** @import { Drawing, Row, Step } from "../report.d.ts" */

/** @param {{ steps: Step[] }} props */
function PerStep({ steps }) {
	const { setLook } = usePage();
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const parts = BUCKETS.map((b) => held(steps.map((s) => s[`${b}_ps`] / s.cores / 1e9)));
		/** @param {Step} step */
		const say = (step) => [`step ${step.step}: ${time(step.duration_ps)}`, ...BUCKETS.filter((b) => step[`${b}_ps`] > 0).map((b) => `${title(b)}: ${time(step[`${b}_ps`] / step.cores)}`)];
		return {
			data: [stepEdges(steps), ...stacked(parts)],
			options: {
				legend: { show: false },
				...picking(setLook, stepTimes(steps)),
				scales: { x: { time: false, range: [-0.5, steps.length - 0.5] }, y: { range: fromZero } },
				axes: [stepAxis(steps), { values: times(1e-3), size: 70 }],
				series: [{}, ...[...BUCKETS].reverse().map((b) => ({ fill: bucketColor(b), width: 0, points: { show: false }, paths: stairs }))],
				plugins: [tooltip((_, u, x) => say(steps[stepAt(steps, x)]))],
			},
		};
	}, [steps]);
	return <Plot {...drawing} height={220} label={`time classes of ${steps.length} steps, in milliseconds of one core`} />;
}

const BOUNDS = ["Compute", "HBM", "VMEM Read", "VMEM Write", "CMEM Read", "CMEM Write"];
/** @param {string} bound */
const boundColor = (bound) => COLORS[Math.max(BOUNDS.indexOf(bound), 0)];
/** @type {(u: unknown, axis: number, low: number, high: number) => number[]} */
const decades = (_, axis, low, high) => {
	const out = [];
	for (let e = Math.ceil(Math.log10(low)); e <= Math.floor(Math.log10(high) + 1e-9); e++) out.push(10 ** e);
	return out;
};
/** @param {number} x */
const below = (x) => 10 ** Math.floor(Math.log10(x));
/** @param {number} x */
const above = (x) => 10 ** Math.ceil(Math.log10(x));

/** @param {{ rows: Row[], ridges: Row[] }} props */
function Roofline({ rows, ridges }) {
	const ops = useMemo(() => rows.filter((r) => r.kind === "op" && r.operational_intensity > 0 && r.flops_per_s > 0).sort((a, b) => a.operational_intensity - b.operational_intensity), [rows]);
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const roof = ridges.filter((r) => r.peak_flops_per_s > 0 && r.bytes_per_s > 0);
		const xs = ops.map((r) => r.operational_intensity);
		/** @type {(of: (row: Row) => number, list: Row[], start: number) => number} */
		const most = (of, list, start) => list.reduce((m, r) => Math.max(m, of(r)), start);
		const low = below(Math.min(xs[0] ?? 0.1, 0.1));
		const high = above(most((r) => r.ridge_flops_per_byte * 4, roof, xs[xs.length - 1] ?? 1));
		/** @type {(u: uPlot) => void} */
		const lines = (u) => {
			const ctx = u.ctx;
			ctx.save();
			ctx.beginPath();
			ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
			ctx.clip();
			ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
			ctx.lineWidth = devicePixelRatio;
			for (const r of roof) {
				ctx.beginPath();
				ctx.moveTo(u.valToPos(low, "x", true), u.valToPos(low * r.bytes_per_s, "y", true));
				ctx.lineTo(u.valToPos(r.ridge_flops_per_byte, "x", true), u.valToPos(r.peak_flops_per_s, "y", true));
				ctx.lineTo(u.valToPos(high, "x", true), u.valToPos(r.peak_flops_per_s, "y", true));
				ctx.stroke();
			}
			ctx.restore();
		};
		/** @type {(u: uPlot) => void} */
		const dots = (u) => {
			for (const r of ops) {
				u.ctx.fillStyle = boundColor(r.bound_by);
				const size = (3 + 9 * Math.sqrt((r.self_time_pct ?? 0) / 100)) * devicePixelRatio;
				u.ctx.beginPath();
				u.ctx.arc(u.valToPos(r.operational_intensity, "x", true), u.valToPos(r.flops_per_s, "y", true), size, 0, 2 * Math.PI);
				u.ctx.fill();
			}
		};
		const top = most((r) => r.flops_per_s, ops, most((r) => r.peak_flops_per_s, roof, 1));
		const bottom = ops.reduce((m, r) => Math.min(m, r.flops_per_s), top);
		return {
			data: [xs, ops.map((r) => r.flops_per_s)],
			options: {
				legend: { show: false },
				scales: { x: { time: false, distr: 3, range: [low, high] }, y: { distr: 3, range: [below(bottom), above(top)] } },
				axes: [
					{ splits: decades, filter: (_, v) => v, values: (_, v) => v.map((x) => `${+x.toPrecision(3)}`), size: 30, label: "FLOP per byte", labelSize: 20 },
					{ splits: decades, filter: (_, v) => v, values: (_, v) => v.map((x) => value("flops_per_s", +x.toPrecision(3)).replace(/\.0+ /, " ")), size: 96 },
				],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [lines, dots] },
				plugins: [tooltip((i) => [clean(ops[i].name), `${value("flops_per_s", ops[i].flops_per_s)}, ${value("operational_intensity", ops[i].operational_intensity)}`, `bound by ${ops[i].bound_by ?? "unknown"}`])],
			},
		};
	}, [ops, ridges]);
	if (ops.length === 0) return <p class="empty">No op has known FLOPs and known bytes, so there is no roofline to draw.</p>;
	return (
		<div>
			<Legend items={[...new Set(ops.map((r) => r.bound_by).filter(Boolean))].map((b) => [`bound by ${b}`, boundColor(b)])} />
			<Plot {...drawing} height={320} label={`roofline of ${ops.length} ops: FLOP rate over FLOP per byte, both logarithmic`} />
		</div>
	);
}

export function Time() {
	const { report, look } = usePage();
	const t = report.time;
	const steps = useMemo(() => inSight(t?.per_step, look, report), [report, look]);
	const roofline = report.roofline ?? [];
	const roofOps = useMemo(() => roofline.filter((r) => r.kind === "op"), [roofline]);
	if (!t) return <Missing what="time breakdown" />;
	const total = t.total_ps ?? 0;
	const parts = BUCKETS.map((b) => ({ name: title(b), value: t.buckets?.[`${b}_ps`] ?? 0, color: bucketColor(b), key: b }));
	return (
		<div>
			{t.bottleneck && <p class="verdict">{t.bottleneck}</p>}
			{total > 0 && <Shares parts={parts} total={total} label="core time by class" unit="time.total_ps" />}
			<dl class="facts">
				<Fact name="time.total_ps" label="core time" of={t.total_ps} origin={t.provenance?.total_ps} />
				<Fact name="wall_ps" label="wall time" of={t.wall_ps} origin={t.provenance?.wall_ps} />
				<Fact name="cores" of={t.cores} origin={t.provenance?.cores} />
				{parts.map((p) => (
					<Fact key={p.key} name={`buckets.${p.key}_ps`} label={p.name} of={t.buckets?.[`${p.key}_ps`]} origin={t.provenance?.[`buckets.${p.key}_ps`]} why="the profile has no host events" />
				))}
			</dl>
			{steps.length > 1 && <h3>Per step</h3>}
			{steps.length > 1 && <PerStep steps={steps} />}
			<Table name="per_step" caption="Steps" rows={steps} columns={columnsOf(steps, ["step", "duration_ps"])} max={8} empty={t.per_step?.length ? "No step lies in the chosen time." : "No device has steps."} />
			<Tables view={t} names={Object.keys(t).filter((n) => Array.isArray(t[n]) && n !== "per_step" && n !== "notes")} empty={{ steps_outliers: "No step took much longer than the others.", idle_gaps: "No core was idle for long." }} />
			<Table name="ops" caption="Ops" rows={report.ops ?? []} columns={columnsOf(report.ops ?? [], ["name", "category", "self_time_ps", "total_time_ps", "occurrences", "flops", "bytes_accessed", "mxu_utilization_pct", "hbm_bytes_per_s", "bound_by", "bucket", "padding_waste_pct", "source", "framework_op", "is_remat", "module"], ["op_index", "program_id"])} sort={{ column: "self_time_ps", down: true }} empty="No op ran while the profile was taken." />
			<h3>Roofline</h3>
			<Roofline rows={roofline} ridges={report.roofline_ridges ?? []} />
			<Table name="roofline" caption="Roofline of ops" rows={roofOps} columns={columnsOf(roofline, ["name", "category", "self_time_ps", "flops_per_s", "operational_intensity", "bound_by", "roofline_efficiency_pct", "flops_utilization_pct", "hbm_utilization_pct", "memory_utilization_pct", "source", "module"], ["kind", "step", "op_index", "program_id"])} sort={{ column: "self_time_ps", down: true }} />
			<Table name="roofline_ridges" caption="Ridge points" rows={report.roofline_ridges ?? []} columns={columnsOf(report.roofline_ridges ?? [])} max={4} />
			<Table name="collectives" caption="Collectives" rows={report.collectives ?? []} columns={columnsOf(report.collectives ?? [], ["name", "kind", "bytes", "occurrences", "exposed_ps", "hidden_ps", "bus_bytes_per_s", "link_pct", "mean_skew_ps", "straggler"], ["op_index", "straggler_device_id", "program_id"])} sort={{ column: "exposed_ps", down: true }} max={8} />
			<Table name="collective_cores" caption="Arrival at collectives" rows={report.collective_cores ?? []} columns={columnsOf(report.collective_cores ?? [], ["device", "host"], ["device_id"])} max={8} />
			<Notes view={t} />
			<Part name="gaps" heading="What hosts did while cores had nothing to run" />
			<Part name="async" heading="Transfers behind compute" sort={{ ops: { column: "exposed_ps", down: true } }} />
			<Part name="remat" heading="Rematerialization" />
			<Part name="sparsecore" heading="SparseCores" />
		</div>
	);
}
