// SPDX-License-Identifier: MIT
// The views in the order of their tabs. The eight of every report, then those of the profiling suite, where the report has what
// they show; in front of all what goes on, where something is watched. OF: results of the report that a view shows beside the one of its own name.
import { Doctor } from "./doctor.jsx";
import { Cache } from "./cache.jsx";
import { Compare } from "./compare.jsx";
import { CriticalPathView } from "./hta_critical_path.jsx";
import { Flame } from "./flame.jsx";
import { Fusion } from "./fusion.jsx";
import { Live } from "./live.jsx";
import { Memory } from "./memory.jsx";
import { Overview } from "./overview.jsx";
import { Padding } from "./padding.jsx";
import { Pod } from "./pod.jsx";
import { Roofline } from "./roofline.jsx";
import { Runs } from "./runs.jsx";
import { Slices } from "./slices.jsx";
import { Systolic } from "./systolic.jsx";
import { Time } from "./time.jsx";
import { Trend } from "./trend.jsx";
import { isGpu } from "../words.jsx";
import { Compile, Hta, Kernels, Operators, Timeline } from "./traces.jsx";

/** @import { PageView, Report } from "../report.d.ts" */

/** @type {(tables: (unknown[] | undefined)[]) => boolean} */
const any = (tables) => tables.some((rows) => rows && rows.length > 0);

/** @type {PageView[]} */
const VIEWS = [
	{ name: "overview", title: "Overview", Draw: Overview },
	{ name: "systolic", title: "Matrix units", Draw: Systolic, lacks: (r) => isGpu(r) && !r.systolic?.ops?.some((op) => typeof op.mxu_utilization_pct === "number") },
	{ name: "roofline", title: "Roofline", Draw: Roofline, isTimeless: true, of: ["roofline_ridges"], has: (r) => any([r.roofline?.filter((row) => row.kind === "op")]) },
	{ name: "padding", title: "Padding", Draw: Padding, isTimeless: true },
	{ name: "fusion", title: "Fusion", Draw: Fusion, isTimeless: true },
	{ name: "cache", title: "Compilations", Draw: Cache },
	{ name: "memory", title: "Memory", Draw: Memory, of: ["memory_timeline", "capacity", "allocators"] },
	{ name: "time", title: "Where time went", Draw: Time },
	{ name: "slices", title: "Timeline", Draw: Slices, isOfEvents: true },
	{ name: "pod", title: "Hosts and chips", Draw: Pod, has: (r) => (r.run?.hosts?.length ?? 0) > 1 && any([r.run?.devices]) },
	{ name: "doctor", title: "Findings", Draw: Doctor },
	{ name: "hta", title: "GPU idle", Draw: Hta, isTimeless: true, has: (r) => r.hta?.kernel_count > 0 },
	{ name: "hta_critical_path", title: "Critical path", Draw: CriticalPathView, has: (r) => any([r.hta_critical_path?.steps]) },
	{ name: "kernels", title: "Kernels", Draw: Kernels, isTimeless: true, has: (r) => any([r.kernels]) },
	{ name: "operators", title: "Operators", Draw: Operators, isTimeless: true, has: (r) => any([r.operators?.by_name]) },
	{ name: "timeline", title: "Host and device", Draw: Timeline, has: (r) => r.timeline?.total_time_ps > 0 },
	{ name: "flame", title: "Call stacks", Draw: Flame, isTimeless: true, has: (r) => any([r.flame?.stacks, r.flame?.modules, r.flame?.scopes]) },
	{ name: "compile", title: "Compiled code", Draw: Compile, isTimeless: true, has: (r) => any([r.compile?.regions, r.compile?.phases, r.compile?.fused_kernels, r.compile?.graph_break_places]) },
];

const LIVE = { name: "live", title: "Live", Draw: Live };

/**
 * Pages over several runs: no tabs of one.
 * @type {PageView[]}
 */
export const PAGES = [
	{ name: "runs", title: "Runs", Draw: Runs },
	{ name: "compare", title: "Runs side by side", Draw: Compare },
	{ name: "trend", title: "One program over time", Draw: Trend },
];

/**
 * What has nothing to say of GPUs where the profile has no compiled module: tiles are XLA's, and so is what XLA fused.
 * @type {Record<string, (report: Report) => boolean>}
 */
const NEEDS_MODULES = {
	roofline: (r) => any([r.roofline?.filter((row) => row.kind === "op" && typeof row.flops_per_s === "number")]),
	padding: (r) => typeof r.padding?.allocated_bytes === "number",
	fusion: (r) => typeof r.fusion?.fused_count === "number" || any([r.fusion?.unfused]),
};
/** @type {(view: PageView, report: Report) => boolean} */
const isEmpty = ({ name }, report) => isGpu(report) && name in NEEDS_MODULES && !NEEDS_MODULES[name](report);

/** @type {(report: Report | null, isLive: boolean) => PageView[]} */
export const viewsOf = (report, isLive) => [...(isLive ? [LIVE] : []), ...VIEWS.filter((v) => (!v.has || (report && v.has(report))) && !(report && (v.lacks?.(report) || isEmpty(v, report))))];
/**
 * A view by its name, or by that of a result it shows; else the first.
 * @type {(views: PageView[], name: string) => PageView}
 */
export const viewOf = (views, name) => views.find((v) => v.name === name || v.of?.includes(name)) ?? views[0];
