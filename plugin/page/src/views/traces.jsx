// The views of the profiling suite: what GPUs did and waited for, kernels, steps by class, compiled code. Of traces, and of profiles
// with GPUs.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { COLORS, fromZero, held, holds, Legend, Plot, picking, stacked, stairs, stepAt, stepAxis, stepEdges, stepTimes, timeAxis, times, tooltip } from "../chart.jsx";
import { bytes, clean, time, title, value } from "../format.js";
import { columnsOf, Facts, Missing, Notes, Shares } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Table } from "../table.jsx";
import { Generic, Tables } from "./generic.jsx";

/** @import uPlot from "uplot" */
/** @import { Cell, Drawing, Row, SharesPart, Step } from "../report.d.ts" */

/** @type {(rows: Row[], column: string) => number} */
const sum = (rows, column) => rows.reduce((all, r) => all + (r[column] ?? 0), 0);

/** @param {{ heading: string, parts: SharesPart[], label: string }} props */
function Bars({ heading, parts, label }) {
	const known = parts.filter((p) => p.value > 0);
	const total = sum(known, "value");
	if (!(total > 0)) return null;
	return (
		<div>
			<h3>{heading}</h3>
			<Shares parts={known} total={total} label={label} />
			<Legend items={known.map((p) => [`${p.name} ${value("_ps", p.value)} (${value("_pct", (100 * p.value) / total)})`, p.color])} />
		</div>
	);
}

// --- hta

// Each moment of the devices once: compute whatever runs beside it, then communication alone, then what is left.
/** @type {(exact: Record<string, number>) => SharesPart[]} */
function breakdown(exact) {
	const rest = exact.kernel_ps - exact.idle_ps - exact.compute_ps - exact.exposed_communication_ps;
	return [
		{ name: "Compute", value: exact.compute_ps, color: COLORS[0] },
		{ name: "Communication alone", value: exact.exposed_communication_ps, color: COLORS[3] },
		{ name: "Copies without compute", value: Math.max(rest, 0), color: COLORS[1] },
		{ name: "Idle", value: exact.idle_ps, color: COLORS[7] },
	];
}

const WAITS = [["host_wait_ps", "Waits for the host", COLORS[5]], ["kernel_wait_ps", "Between launched kernels", COLORS[4]], ["other_wait_ps", "Other", COLORS[7]]];

// Which window a share of idle time is of.
const WINDOWS = { gpu_idle_pct: "GPU idle, of the capture", gpu_idle_time_pct: "GPU idle, first kernel to last" };

export function Hta() {
	const view = usePage().report.hta;
	if (!view) return <Missing what="kernels of a GPU" />;
	const known = view.exact?.kernel_ps > 0;
	/** @type {Row[]} */
	const kinds = view.kernel_types ?? [];
	return (
		<div>
			<Facts view={view} labels={WINDOWS} names={["gpu_idle_pct", "gpu_idle_time_pct", "compute_time_pct", "non_compute_time_pct", "communication_time_pct", "memory_time_pct", "comm_comp_overlap_pct", "kernel_count", "short_kernel_count", "rank_count"]} />
			{known && <Bars heading="Time of the devices, from the first kernel to the last" parts={breakdown(view.exact)} label="time of the devices" />}
			<Bars heading="What runs together" parts={kinds.map((t, i) => ({ name: clean(t.kernel_type), value: t.sum_ps, color: COLORS[i % COLORS.length] }))} label="busy time by what runs together" />
			<Bars heading="Why streams are idle" parts={WAITS.map(([column, name, color]) => ({ name, value: sum(view.idle ?? [], column), color }))} label="idle time of streams by cause" />
			<Tables
				view={view}
				first={{
					ranks: ["rank", "host", "gpu_idle_time_pct", "compute_time_pct", "non_compute_time_pct", "communication_time_pct", "comm_comp_overlap_pct"],
					top_kernels: ["name", "kernel_type", "count", "sum_ps", "share_pct", "mean_ps", "min_ps", "max_ps", "stddev_ps"],
				}}
				sort={{ top_kernels: { column: "sum_ps", down: true }, launches: { column: "cpu_sum_ps", down: true } }}
				empty={{ idle: "No stream was idle between two kernels.", launches: "The trace has no launch together with its kernel.", queues: "No launch waited on a stream." }}
			/>
			<Notes view={view} />
		</div>
	);
}

// --- kernels

export function Kernels() {
	const { report, look } = usePage();
	const rows = useMemo(() => inSight(report.kernels, look, report), [report, look]);
	const classes = new Map();
	for (const k of rows) classes.set(k.class ?? "Kernel", (classes.get(k.class ?? "Kernel") ?? 0) + k.total_ps);
	const names = [...classes.keys()];
	if (!report.kernels?.length) return <Missing what="kernels" />;
	return (
		<div>
			<Bars heading="Time by class" parts={names.map((name, i) => ({ name: clean(name), value: classes.get(name), color: COLORS[i % COLORS.length] }))} label="time of kernels by class" />
			<Table name="kernels" caption="Kernels" rows={rows} columns={columnsOf(rows, ["name", "class", "count", "total_ps", "share_pct", "mean_ps", "min_ps", "max_ps", "stddev_ps", "tensor_core", "occupancy_pct", "bytes_per_s", "op"], ["op_index"])} sort={{ column: "total_ps", down: true }} max={20} empty="No kernel belongs to the chosen device." />
		</div>
	);
}

// --- operators

const OPERATOR = ["name", "calls", "self_gpu_ps", "self_gpu_pct", "gpu_ps", "self_cpu_ps", "cpu_ps", "cpu_mean_ps", "kernels", "flops", "flops_per_s", "kernel"];

export function Operators() {
	const { report } = usePage();
	const column = (report.operators?.gpu_ps ?? null) === null ? "self_cpu_ps" : "self_gpu_ps";
	const sort = { column, down: true };
	return (
		<Generic
			name="operators"
			first={{ by_name: OPERATOR, by_shape: [...OPERATOR.slice(0, 1), "input_shapes", ...OPERATOR.slice(1)] }}
			sort={{ by_name: sort, by_shape: sort }}
			empty={{ by_shape: "The trace has no shapes (profile with record_shapes=True)." }}
		/>
	);
}

// --- timeline

const CLASSES = ["kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other"];
/** @type {Record<string, string>} */
const NAMES = { dataloader: "DataLoader", cpu_exec: "CPU Exec" };
/** @param {string} c */
const className = (c) => NAMES[c] ?? title(c);

/** @param {{ steps: Step[] }} props */
function StepClasses({ steps }) {
	const { setLook } = usePage();
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const parts = CLASSES.map((c) => held(steps.map((s) => s[`${c}_ps`] / 1e9)));
		/** @param {Step} step */
		const say = (step) => [`step ${step.step}: ${time(step.duration_ps)}`, ...CLASSES.filter((c) => step[`${c}_ps`] > 0).map((c) => `${className(c)}: ${time(step[`${c}_ps`])}`)];
		return {
			data: [stepEdges(steps), ...stacked(parts)],
			options: {
				legend: { show: false },
				...picking(setLook, stepTimes(steps)),
				scales: { x: { time: false, range: [-0.5, steps.length - 0.5] }, y: { range: fromZero } },
				axes: [stepAxis(steps), { values: times(1e-3), size: 70 }],
				series: [{}, ...[...CLASSES].reverse().map((c) => ({ fill: COLORS[CLASSES.indexOf(c)], width: 0, points: { show: false }, paths: stairs }))],
				plugins: [tooltip((_, u, x) => say(steps[stepAt(steps, x)]))],
			},
		};
	}, [steps]);
	return (
		<div>
			<h3>Steps by class</h3>
			<Legend items={CLASSES.map((c, i) => [className(c), COLORS[i]])} />
			<Plot {...drawing} height={260} label={`time classes of ${steps.length} steps, stacked`} />
		</div>
	);
}

// The host and the devices: alone, at once, and neither.
/** @type {(view: Record<string, Cell>) => SharesPart[]} */
function active(view) {
	const both = view.overlap_ps ?? 0;
	const cpu = (view.cpu_active_ps ?? 0) - both;
	const gpu = (view.gpu_active_ps ?? 0) - both;
	return [
		{ name: "Both", value: both, color: COLORS[2] },
		{ name: "Host alone", value: cpu, color: COLORS[1] },
		{ name: "Devices alone", value: gpu, color: COLORS[0] },
		{ name: "Neither", value: (view.total_time_ps ?? 0) - both - cpu - gpu, color: COLORS[7] },
	];
}

const MAX_RANKS = 16; // drawn; the table has them all

export function Timeline() {
	const { report, look } = usePage();
	const view = report.timeline;
	const steps = useMemo(() => inSight(view?.steps, look, report), [report, look]);
	if (!view) return <Missing what="timeline" />;
	/** @type {Row[]} */
	const ranks = (view.ranks ?? []).length > 1 ? view.ranks.slice(0, MAX_RANKS) : [];
	const first = [...new Set(steps.map((s) => s.rank))][0];
	const drawn = steps.filter((s) => s.rank === first);
	return (
		<div>
			<Facts view={view} labels={{ gpu_active_ps: "some device active", gpu_active_pct: "some device active, of the total time", cpu_active_pct: "CPU active, of the total time", overlap_pct: "overlap, of the total time" }} names={["total_time_ps", "cpu_active_ps", "cpu_active_pct", "gpu_active_ps", "gpu_active_pct", "overlap_ps", "overlap_pct", "cpu_time_ps", "cuda_time_ps", "step_count"]} />
			<Bars heading={ranks.length ? "Host and devices, mean of ranks" : "Host and devices"} parts={active(view)} label="time with the host or the devices active" />
			{ranks.map((r) => (
				<Bars key={r.rank} heading={`Rank ${r.rank}`} parts={active(r)} label={`rank ${r.rank}: time with the host or the devices active`} />
			))}
			{drawn.length > 0 && <StepClasses steps={drawn} />}
			<Tables view={view} names={["classes", "steps", "ranks", "streams"].filter((n) => view[n])} first={{ steps: ["rank", "step", "duration_ps", ...CLASSES.map((c) => `${c}_ps`)] }} empty={{ steps: "The profile has no steps." }} />
			<Notes view={view} />
		</div>
	);
}

// --- compile

const COMPILED = ["regions", "graph_break_places", "recompiles", "fused_kernels", "phases"];
const TWICE = new Set(["compile_time_ms"]); // compile_time_ps is there

export function Compile() {
	const view = usePage().report.compile;
	if (!view) return <Missing what="compiled code" />;
	const others = Object.keys(view).filter((n) => Array.isArray(view[n]) && n !== "notes" && !COMPILED.includes(n));
	return (
		<div>
			<Facts view={view} skip={TWICE} />
			<Tables
				view={view}
				names={[...COMPILED.filter((n) => view[n]), ...others]}
				first={{ regions: ["compile_id", "function", "source", "calls", "time_ps", "self_time_ps", "mean_self_ps", "compilations", "compile_ps"] }}
				sort={{ regions: { column: "time_ps", down: true }, fused_kernels: { column: "time_ps", down: true } }}
				empty={{ regions: "No compiled region ran while the profile was taken.", recompiles: view.recompilations === null ? "Whether something was compiled again is unknown." : "Nothing was compiled again.", graph_break_places: "No graph break is known." }}
			/>
			<Notes view={view} />
		</div>
	);
}

// --- memory of a trace, in the view of memory

const SERIES = [["reserved_bytes", "reserved", COLORS[7]], ["allocated_bytes", "allocated", COLORS[0]]];
/** @param {Row} r */
const keyOf = (r) => `${r.host ?? ""} ${r.device ?? ""}`;

/** @param {{ points: Row[], name: string }} props */
function Held({ points, name }) {
	const { setLook } = usePage();
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const xs = points.map((p) => p.time_ps / 1e12);
		/** @type {(index: number, u: uPlot, x: number) => string[] | null} */
		const say = (_, u, x) => {
			const p = points[holds(xs, x)];
			return [time(p.time_ps), ...SERIES.filter(([c]) => p[c] !== null).map(([c, label]) => `${label}: ${bytes(p[c])}`)];
		};
		return {
			data: [xs, ...SERIES.map(([c]) => points.map((p) => p[c]))],
			options: {
				legend: { show: false },
				...picking(setLook),
				scales: { x: { time: false }, y: { range: fromZero } },
				axes: [timeAxis, { values: (_, v) => v.map(bytes), size: 84 }],
				series: [{}, ...SERIES.map(([, label, color], i) => ({ label, stroke: color, fill: i ? `${color}55` : undefined, width: 1.5, points: { show: false }, paths: stairs }))],
				plugins: [tooltip(say)],
			},
		};
	}, [points]);
	return <Plot {...drawing} height={220} label={`memory of ${name} over time, allocated and reserved`} />;
}

// Allocated and reserved memory of each device over time, and who held it at the peak.
export function TraceMemory() {
	const { report, look } = usePage();
	const view = report.memory_timeline;
	const points = useMemo(() => inSight(view?.timeline, { ...look, range: null }, report).filter((p) => !look.range || (p.time_ps >= look.range[0] && p.time_ps <= look.range[1])), [report, look]);
	if (!view) return null;
	const devices = [...new Set(points.map(keyOf))];
	const tables = Object.keys(view).filter((n) => Array.isArray(view[n]) && view[n].length && n !== "notes" && n !== "timeline");
	const heading = view.timeline?.length > 1 ? "Memory over time" : "Memory at the peak";
	return (
		<section aria-label={heading}>
			<h3>{heading}</h3>
			{(view.peak_bytes ?? null) !== null && <Facts view={view} names={["peak_bytes", "allocated_bytes", "reserved_bytes", "source", "device"]} />}
			{points.length > 1 && <Legend items={SERIES.map(([, label, color]) => [label, color])} />}
			{devices.map((d) => {
				const of = points.filter((p) => keyOf(p) === d);
				return of.length > 1 && <Held key={d} points={of} name={clean(d.trim())} />;
			})}
			<Tables view={view} names={tables} />
			<Notes view={view} />
		</section>
	);
}
