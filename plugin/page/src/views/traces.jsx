// SPDX-License-Identifier: MIT
// The views of the profiling suite: what GPUs did and waited for, kernels, steps by class, compiled code. Of traces, and of profiles
// with GPUs.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { bucketColor, kindColor, OTHERS } from "../colors.js";
import { Legend } from "../chart.jsx";
import { capital, clean, title, value } from "../format.js";
import { columnsOf, Facts, Missing, Notes, Shares } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { StepChart } from "../steps.jsx";
import { Table } from "../table.jsx";
import { Generic, Tables } from "./generic.jsx";

/** @import { Cell, Row, SharesPart, Step } from "../report.d.ts" */

/** @type {(rows: Row[], column: string) => number} */
const sum = (rows, column) => rows.reduce((all, r) => all + (r[column] ?? 0), 0);

/**
 * SAYS: what the times are sums over, where they are. UNIT: a name that says how the times are written; "": they are sums over many, and their shares alone say something.
 * @param {{ heading: string, parts: SharesPart[], label: string, says?: string, unit?: string }} props
 */
function Bars({ heading, parts, label, says, unit = "_ps" }) {
	const known = parts.filter((p) => p.value > 0);
	const total = sum(known, "value");
	if (!(total > 0)) return null;
	return (
		<div>
			<h3>{heading}</h3>
			{says && <p class="count">{says}</p>}
			<Shares parts={unit ? known : known.map((p) => ({ ...p, value: (100 * p.value) / total }))} total={unit ? total : 100} label={label} unit={unit || "_pct"} />
			<Legend items={known.map((p) => [[p.name, ...(unit ? [value(unit, p.value)] : []), `(${value("_pct", (100 * p.value) / total)})`].join(" "), p.color])} />
		</div>
	);
}

// --- hta

// Each moment of the devices once: compute whatever runs beside it, then communication alone, then what is left.
/** @type {(exact: Record<string, number>) => SharesPart[]} */
function breakdown(exact) {
	const rest = exact.kernel_ps - exact.idle_ps - exact.compute_ps - exact.exposed_communication_ps;
	return [
		{ name: "Compute", value: exact.compute_ps, color: bucketColor("compute") },
		{ name: "Communication alone", value: exact.exposed_communication_ps, color: bucketColor("communication") },
		{ name: "Copies without compute", value: Math.max(rest, 0), color: kindColor("copy") },
		{ name: "Idle", value: exact.idle_ps, color: bucketColor("idle") },
	];
}

const WAITS = [["host_wait_ps", "Waits for the host", kindColor("launch")], ["kernel_wait_ps", "Between launched kernels", kindColor("queue")], ["other_wait_ps", "Other waits", kindColor("rest")]];

// HolisticTraceAnalysis' words for what runs at once, as people read them.
/** @type {[code: RegExp, name: string][]} */
const KINDS = [[/COMPUTATION/g, "compute"], [/COMMUNICATION/g, "communication"], [/MEMORY/g, "copies"], [/ overlapping /g, " beside "]];
/** @type {(type: string) => string} */
const kindOf = (type) => capital(clean(KINDS.reduce((text, [code, name]) => text.replace(code, name), type)));
/** @type {Record<string, string>} */
const KIND_COLORS = { Compute: bucketColor("compute"), Communication: bucketColor("communication"), Copies: kindColor("copy") };
/** @type {(kinds: Row[]) => SharesPart[]} */
const kindsOf = (kinds) => kinds.map((t, i) => ({ name: kindOf(t.kernel_type), value: t.sum_ps, color: KIND_COLORS[kindOf(t.kernel_type)] ?? OTHERS[1 + (i % 6)] }));

export function Hta() {
	const view = usePage().report.hta;
	if (!view) return <Missing what="kernels of a GPU" />;
	const known = view.exact?.kernel_ps > 0;
	/** @type {Row[]} */
	const kinds = view.kernel_types ?? [];
	const ranks = view.ranks?.length ?? 0;
	const summed = ranks > 1 ? `Summed over ${ranks} GPUs.` : "";
	return (
		<div>
			<Facts of="hta" view={view} names={["gpu_idle_pct", "gpu_idle_time_pct", "compute_time_pct", "non_compute_time_pct", "communication_time_pct", "memory_time_pct", "comm_comp_overlap_pct", "kernel_count", "short_kernel_count", "rank_count"]} />
			{known && <Bars heading="Time of the devices, from the first kernel to the last" parts={breakdown(view.exact)} label="time of the devices" says={summed} unit="exact.kernel_ps" />}
			<Bars heading="What runs together" parts={kindsOf(kinds)} label="busy time by what runs together" says={summed} unit="exact.kernel_ps" />
			<Bars heading="Why streams are idle" parts={WAITS.map(([column, name, color]) => ({ name, value: sum(view.idle ?? [], column), color }))} label="idle time of streams by cause" says="Each stream counts for itself, so only the shares say something." unit="" />
			<Tables
				of="hta"
				view={view}
				first={{
					ranks: ["rank", "host", "gpu_idle_time_pct", "compute_time_pct", "non_compute_time_pct", "communication_time_pct", "comm_comp_overlap_pct"],
					top_kernels: ["name", "kernel_type", "count", "sum_ps", "share_pct", "mean_ps", "min_ps", "max_ps", "stddev_ps"],
				}}
				draw={{ kernel_type: (v) => kindOf(String(v ?? "")) }}
				sort={{ top_kernels: { column: "sum_ps", down: true }, launches: { column: "cpu_sum_ps", down: true } }}
				empty={{ idle: "No stream was idle between two kernels.", launches: "The trace has no launch together with its kernel.", queues: "No launch waited on a stream." }}
			/>
			<Notes view={view} />
		</div>
	);
}

// --- kernels

/** @type {Record<string, string>} */
const KERNEL_COLORS = { Communication: kindColor("communication"), Kernel: kindColor("kernel") };

export function Kernels() {
	const { report, look } = usePage();
	const rows = useMemo(() => inSight(report.kernels, look, report), [report, look]);
	const classes = new Map();
	for (const k of rows) classes.set(k.class ?? "Kernel", (classes.get(k.class ?? "Kernel") ?? 0) + k.total_ps);
	const names = [...classes.keys()];
	const devices = new Set(rows.map((k) => k.device_id)).size;
	if (!report.kernels?.length) return <Missing what="kernels" />;
	return (
		<div>
			<Bars heading="Time by class" parts={names.map((name, i) => ({ name: clean(name), value: classes.get(name), color: KERNEL_COLORS[name] ?? OTHERS[i % OTHERS.length] }))} label="time of kernels by class" says={devices > 1 ? `Summed over ${devices} GPUs.` : ""} />
			<Table name="kernels" caption="Kernels" rows={rows} columns={columnsOf(rows, ["name", ...(devices > 1 ? ["device"] : []), "class", "count", "total_ps", "share_pct", "mean_ps", "min_ps", "max_ps", "stddev_ps", "tensor_core", "occupancy_pct", "bytes_per_s", "op"], ["op_index", "device_id", "kernel_type"])} sort={{ column: "total_ps", down: true }} max={20} empty="No kernel belongs to the chosen device." />
		</div>
	);
}

// --- operators

const OPERATOR = ["name", "calls", "self_gpu_ps", "self_gpu_pct", "gpu_ps", "self_cpu_ps", "cpu_ps", "cpu_mean_ps", "kernels", "flops", "flops_per_s", "category", "dtype", "bytes", "operational_intensity", "bound_by", "roofline_efficiency_pct", "kernel"];

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

/** @type {Record<string, string>} */
const CLASSES = { kernel: "kernel", memcpy: "copy", memset: "fill", communication: "communication", runtime: "runtime", dataloader: "input", cpu_exec: "operator", other: "rest" };
/** @param {string} c */
const className = (c) => title(`timeline.steps.${c}_ps`);

const CLASS_PARTS = Object.entries(CLASSES).map(([c, kind]) => ({ name: className(c), color: kindColor(kind), of: (/** @type {Step} */ s) => s[`${c}_ps`] }));

/** @param {{ steps: Step[] }} props */
function StepClasses({ steps }) {
	return (
		<div>
			<h3>Steps by class</h3>
			<Legend items={CLASS_PARTS.map((p) => [p.name, p.color])} />
			<StepChart steps={steps} parts={CLASS_PARTS} label={`time classes of ${steps.length} steps, stacked`} />
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
		{ name: "Both", value: both, color: OTHERS[8] },
		{ name: "Host alone", value: cpu, color: OTHERS[7] },
		{ name: "Devices alone", value: gpu, color: OTHERS[9] },
		{ name: "Idle, both of them", value: (view.total_time_ps ?? 0) - both - cpu - gpu, color: bucketColor("idle") },
	];
}

const MAX_RANKS = 16; // drawn; the table has them all

export function Timeline() {
	const view = usePage().report.timeline;
	const first = view?.steps?.[0]?.rank;
	const drawn = useMemo(() => (view?.steps ?? []).filter((s) => s.rank === first && !s.is_others), [view, first]);
	if (!view) return <Missing what="timeline" />;
	const all = view.ranks ?? [];
	const ranks = all.length > 1 ? all.slice(0, MAX_RANKS) : [];
	return (
		<div>
			<Facts of="timeline" view={view} names={["total_time_ps", "cpu_active_ps", "cpu_active_pct", "gpu_active_ps", "gpu_active_pct", "overlap_ps", "overlap_pct", "cpu_time_ps", "cuda_time_ps", "step_count"]} />
			<Bars heading={ranks.length ? "Host and devices, mean of ranks" : "Host and devices"} parts={active(view)} label="time with the host or the devices active" />
			{ranks.map((r) => (
				<Bars key={r.rank} heading={`Rank ${r.rank}`} parts={active(r)} label={`rank ${r.rank}: time with the host or the devices active`} />
			))}
			{drawn.length > 0 && <StepClasses steps={drawn} />}
			<Tables of="timeline" view={view} names={/** @type {const} */ (["classes", "steps", "ranks", "streams"]).filter((n) => view[n])} first={{ steps: ["rank", "step", "duration_ps", ...Object.keys(CLASSES).map((c) => `${c}_ps`)] }} empty={{ steps: "The profile has no steps." }} />
			<Notes view={view} />
		</div>
	);
}

// --- compile

const BREAKS = new Set(["graph_breaks"]); // of a program that XLA compiles as a whole there are none
const COMPILED = /** @type {const} */ (["regions", "graph_break_places", "recompiles", "fused_kernels", "phases"]);

export function Compile() {
	const view = usePage().report.compile;
	if (!view) return <Missing what="compiled code" />;
	const others = Object.entries(view).filter(([n, rows]) => Array.isArray(rows) && n !== "notes" && !/** @type {readonly string[]} */ (COMPILED).includes(n)).map(([n]) => n);
	const isXla = view.compiler === "XLA";
	return (
		<div>
			<Facts of="compile" view={view} skip={isXla ? BREAKS : undefined} />
			<Tables
				of="compile"
				view={view}
				names={[...COMPILED.filter((n) => view[n]), ...others]}
				first={{ regions: ["compile_id", "function", "source", "calls", "time_ps", "self_time_ps", "mean_self_ps", "compilations", "compile_ps"] }}
				draw={isXla ? { time_ps: (v) => value("modules.time_ps", v ?? null) } : {}}
				sort={{ regions: { column: "time_ps", down: true }, fused_kernels: { column: "time_ps", down: true } }}
				empty={{ regions: "No compiled region ran while the profile was taken.", recompiles: view.recompilations === null ? "Whether something was compiled again is unknown." : "Nothing was compiled again.", graph_break_places: isXla ? "XLA compiles whole programs: there are no graph breaks." : "No graph break is known." }}
			/>
			<Notes view={view} />
		</div>
	);
}
