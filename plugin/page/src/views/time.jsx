// Where the time went: in all, per step, per core; the gaps; the roofline.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { COLORS, Legend, Plot, stacked, tooltip } from "../chart.jsx";
import { time, title, value } from "../format.js";
import { BUCKETS, bucketColor, columnsOf, Fact, Missing, Notes, Shares } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Tables } from "./generic.jsx";
import { Table } from "../table.jsx";

function PerStep({ steps }) {
	const drawing = useMemo(() => {
		const parts = BUCKETS.map((b) => steps.map((s) => s[`${b}_ps`] / s.cores / 1e9));
		const say = (i) => [`step ${steps[i].step}: ${time(steps[i].duration_ps)}`, ...BUCKETS.filter((b) => steps[i][`${b}_ps`] > 0).map((b) => `${title(b)}: ${time(steps[i][`${b}_ps`] / steps[i].cores)}`)];
		return {
			data: [steps.map((_, i) => i), ...stacked(parts)],
			options: {
				legend: { show: false },
				scales: { x: { time: false } },
				axes: [{ values: (_, v) => v.map((i) => steps[i]?.step ?? ""), size: 30 }, { values: (_, v) => v.map((ms) => `${ms} ms`), size: 64 }],
				series: [{}, ...[...BUCKETS].reverse().map((b) => ({ fill: bucketColor(b), width: 0, points: { show: false } }))],
				plugins: [tooltip(say)],
			},
		};
	}, [steps]);
	return <Plot {...drawing} height={220} label={`time classes of ${steps.length} steps, in milliseconds of one core`} />;
}

const BOUNDS = ["Compute", "HBM", "VMEM Read", "VMEM Write", "CMEM Read", "CMEM Write"];
const boundColor = (bound) => COLORS[Math.max(BOUNDS.indexOf(bound), 0)];

function Roofline({ rows, ridges }) {
	const ops = useMemo(() => rows.filter((r) => r.kind === "op" && r.operational_intensity > 0 && r.flops_per_s > 0).sort((a, b) => a.operational_intensity - b.operational_intensity), [rows]);
	const drawing = useMemo(() => {
		const roof = ridges.filter((r) => r.peak_flops_per_s > 0 && r.bytes_per_s > 0);
		const xs = ops.map((r) => r.operational_intensity);
		const low = Math.min(...xs, 0.1);
		const high = Math.max(...xs, ...roof.map((r) => r.ridge_flops_per_byte * 4));
		const lines = (u) => {
			const ctx = u.ctx;
			ctx.save();
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
		const dots = (u) => {
			for (const r of ops) {
				u.ctx.fillStyle = boundColor(r.bound_by);
				const size = (3 + 9 * Math.sqrt((r.self_time_pct ?? 0) / 100)) * devicePixelRatio;
				u.ctx.beginPath();
				u.ctx.arc(u.valToPos(r.operational_intensity, "x", true), u.valToPos(r.flops_per_s, "y", true), size, 0, 2 * Math.PI);
				u.ctx.fill();
			}
		};
		const top = Math.max(...roof.map((r) => r.peak_flops_per_s), ...ops.map((r) => r.flops_per_s));
		const bottom = Math.min(...ops.map((r) => r.flops_per_s));
		return {
			data: [xs, ops.map((r) => r.flops_per_s)],
			options: {
				legend: { show: false },
				scales: { x: { time: false, distr: 3, range: [low, high] }, y: { distr: 3, range: [bottom / 2, top * 2] } },
				axes: [{ values: (_, v) => v.map((x) => (x === null ? "" : `${x}`)), size: 30, label: "FLOP per byte" }, { values: (_, v) => v.map((x) => (x === null ? "" : value("flops_per_s", x))), size: 96 }],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [lines, dots] },
				plugins: [tooltip((i) => [ops[i].name, `${value("flops_per_s", ops[i].flops_per_s)}, ${value("operational_intensity", ops[i].operational_intensity)}`, `bound by ${ops[i].bound_by ?? "unknown"}`])],
			},
		};
	}, [ops, ridges]);
	if (ops.length === 0) return <p class="empty">No op has both FLOPs and bytes that are known: there is no roofline to draw.</p>;
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
	if (!t) return <Missing what="time breakdown" />;
	const parts = BUCKETS.map((b) => ({ name: title(b), value: t.buckets?.[`${b}_ps`] ?? 0, color: bucketColor(b), key: b }));
	return (
		<div>
			{t.bottleneck && <p class="verdict">{t.bottleneck}</p>}
			{t.total_ps > 0 && <Shares parts={parts} total={t.total_ps} label="core time by class" />}
			<dl class="facts">
				<Fact name="total_ps" label="core time" of={t.total_ps} origin="measured" />
				<Fact name="wall_ps" label="wall time" of={t.wall_ps} origin="measured" />
				<Fact name="cores" of={t.cores} origin="measured" />
				{parts.map((p) => (
					<Fact key={p.key} name={`${p.key}_ps`} label={p.name} of={t.buckets?.[`${p.key}_ps`]} origin="measured" />
				))}
			</dl>
			{steps.length > 1 && <h3>Per step</h3>}
			{steps.length > 1 && <PerStep steps={steps} />}
			<Table name="per_step" caption="Steps" rows={steps} columns={columnsOf(steps, ["step", "duration_ps"])} max={8} />
			<Tables view={t} names={Object.keys(t).filter((n) => Array.isArray(t[n]) && n !== "per_step" && n !== "notes")} />
			<h3>Roofline</h3>
			<Roofline rows={roofline} ridges={report.roofline_ridges ?? []} />
			<Table name="roofline" caption="Roofline of ops" rows={roofline.filter((r) => r.kind === "op")} columns={columnsOf(roofline, ["name", "category", "self_time_ps", "flops_per_s", "operational_intensity", "bound_by", "roofline_efficiency_pct", "flops_utilization_pct", "hbm_utilization_pct", "memory_utilization_pct", "source", "module"], ["kind", "step", "op_index", "program_id"])} sort={{ column: "self_time_ps", down: true }} />
			<Table name="roofline_ridges" caption="Ridge points" rows={report.roofline_ridges ?? []} columns={columnsOf(report.roofline_ridges ?? [])} max={4} />
			<Table name="collectives" caption="Collectives" rows={report.collectives ?? []} columns={columnsOf(report.collectives ?? [], ["name", "kind", "bytes", "occurrences", "exposed_ps", "hidden_ps", "bus_bytes_per_s", "link_pct", "mean_skew_ps", "straggler"], ["op_index", "straggler_device_id", "program_id"])} sort={{ column: "exposed_ps", down: true }} max={8} />
			<Table name="collective_cores" caption="Arrival at collectives" rows={report.collective_cores ?? []} columns={columnsOf(report.collective_cores ?? [], ["device", "host"], ["device_id"])} max={8} />
			<Notes view={t} />
		</div>
	);
}
