// SPDX-License-Identifier: MIT
// The views by their places, in the order in which they stand there; each where the report has what it shows, and what goes on where something is
// watched. Their names are those of --view and of addresses (docs/page.md). OF: results of the report that a view shows beside the one of its own name.
import { Doctor } from "./doctor.jsx";
import { Cache } from "./cache.jsx";
import { Compare } from "./compare.jsx";
import { CriticalPathView } from "./hta_critical_path.jsx";
import { Flame } from "./flame.jsx";
import { Fusion } from "./fusion.jsx";
import { Live } from "./live.jsx";
import { Memory } from "./memory.jsx";
import { Ops } from "./ops.jsx";
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

// The five places of the page, and the ways to look at what each has.
export const PLACES = [
	{ name: "summary", title: "Summary" },
	{ name: "timeline", title: "Timeline" },
	{ name: "operations", title: "Operations" },
	{ name: "memory", title: "Memory" },
	{ name: "runs", title: "Runs" },
];

/** @type {PageView[]} */
const VIEWS = [
	{ name: "overview", place: "summary", title: "Overview", Draw: Overview },
	{ name: "doctor", place: "summary", title: "Findings", Draw: Doctor },
	{ name: "time", place: "summary", title: "Where time went", Draw: Time },
	{ name: "slices", place: "timeline", title: "Chips and threads", Draw: Slices, isOfEvents: true },
	{ name: "pod", place: "timeline", title: "Hosts and chips", Draw: Pod, has: (r) => (r.run?.hosts?.length ?? 0) > 1 && any([r.run?.devices]) },
	{ name: "timeline", place: "timeline", title: "Host and device", Draw: Timeline, has: (r) => r.timeline?.total_time_ps > 0 },
	{ name: "hta", place: "timeline", title: "GPU idle", Draw: Hta, isTimeless: true, has: (r) => r.hta?.kernel_count > 0 },
	{ name: "hta_critical_path", place: "timeline", title: "Path by operator", Draw: CriticalPathView, has: (r) => any([r.hta_critical_path?.steps]) },
	{ name: "ops", place: "operations", title: "Table", Draw: Ops, isTimeless: true, has: (r) => any([r.ops]) },
	{ name: "kernels", place: "operations", title: "Kernels", Draw: Kernels, isTimeless: true, has: (r) => any([r.kernels]) },
	{ name: "operators", place: "operations", title: "Operators", Draw: Operators, isTimeless: true, has: (r) => any([r.operators?.by_name]) },
	{ name: "flame", place: "operations", title: "Call stacks", Draw: Flame, isTimeless: true, has: (r) => any([r.flame?.stacks, r.flame?.modules, r.flame?.scopes]) },
	{ name: "roofline", place: "operations", title: "Roofline", Draw: Roofline, isTimeless: true, of: ["roofline_ridges"], has: (r) => any([r.roofline?.filter((row) => row.kind === "op")]) },
	{ name: "systolic", place: "operations", title: "Matrix units", Draw: Systolic, lacks: (r) => isGpu(r) && !r.systolic?.ops?.some((op) => typeof op.mxu_utilization_pct === "number") },
	{ name: "padding", place: "operations", title: "Padding", Draw: Padding, isTimeless: true },
	{ name: "fusion", place: "operations", title: "Fusion", Draw: Fusion, isTimeless: true },
	{ name: "cache", place: "operations", title: "Compilations", Draw: Cache },
	{ name: "compile", place: "operations", title: "Compiled code", Draw: Compile, isTimeless: true, has: (r) => any([r.compile?.regions, r.compile?.phases, r.compile?.fused_kernels, r.compile?.graph_break_places]) },
	{ name: "memory", place: "memory", title: "Memory", Draw: Memory, of: ["memory_timeline", "capacity", "allocators"] },
];

const LIVE = { name: "live", place: "runs", title: "Live", Draw: Live };

/**
 * Of several runs: what they are, or what differs.
 * @type {PageView[]}
 */
export const PAGES = [
	{ name: "runs", place: "runs", title: "Runs", Draw: Runs },
	{ name: "compare", place: "runs", title: "Runs side by side", Draw: Compare },
	{ name: "trend", place: "runs", title: "One program over time", Draw: Trend },
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
export const viewsOf = (report, isLive) => [...VIEWS.filter((v) => (!v.has || (report && v.has(report))) && !(report && (v.lacks?.(report) || isEmpty(v, report)))), ...(isLive ? [LIVE] : [])];
/**
 * The places that have something to show, each with its views.
 * @type {(views: PageView[], pages: PageView[]) => { name: string, title: string, views: PageView[] }[]}
 */
export const placesOf = (views, pages) => PLACES.map((place) => ({ ...place, views: [...views, ...pages].filter((v) => v.place === place.name) })).filter((place) => place.views.length);
/**
 * A view by its name, or by that of a result it shows; else the first.
 * @type {(views: PageView[], name: string) => PageView}
 */
export const viewOf = (views, name) => views.find((v) => v.name === name || v.of?.includes(name)) ?? views[0];
