// The views in the order of their tabs. The eight of every report, then those of the profiling suite, where the report has what
// they show; in front of all what goes on, where something is watched. OF: results of the report that a view shows beside the one of its own name.
import { Doctor } from "./doctor.jsx";
import { Cache, Fusion, Memory, Padding } from "./compiled.jsx";
import { Flame } from "./flame.jsx";
import { Live } from "./live.jsx";
import { Overview } from "./overview.jsx";
import { Systolic } from "./systolic.jsx";
import { Time } from "./time.jsx";
import { Compile, Hta, Kernels, Operators, Timeline } from "./traces.jsx";

/** @import { PageView, Report } from "../report.d.ts" */

/** @type {(tables: (unknown[] | undefined)[]) => boolean} */
const any = (tables) => tables.some((rows) => rows && rows.length > 0);

/** @type {PageView[]} */
const VIEWS = [
	{ name: "overview", title: "Overview", Draw: Overview },
	{ name: "systolic", title: "Systolic", Draw: Systolic },
	{ name: "padding", title: "Padding", Draw: Padding },
	{ name: "fusion", title: "Fusion", Draw: Fusion },
	{ name: "cache", title: "Cache", Draw: Cache },
	{ name: "memory", title: "Memory", Draw: Memory, of: ["memory_timeline", "capacity", "allocators"] },
	{ name: "time", title: "Time", Draw: Time },
	{ name: "doctor", title: "Doctor", Draw: Doctor },
	{ name: "hta", title: "HTA", Draw: Hta, has: (r) => r.hta?.kernel_count > 0 },
	{ name: "kernels", title: "Kernels", Draw: Kernels, has: (r) => any([r.kernels]) },
	{ name: "operators", title: "Operators", Draw: Operators, has: (r) => any([r.operators?.by_name]) },
	{ name: "timeline", title: "Timeline", Draw: Timeline, has: (r) => r.timeline?.total_time_ps > 0 },
	{ name: "flame", title: "Flame", Draw: Flame, has: (r) => any([r.flame?.stacks, r.flame?.modules, r.flame?.scopes]) },
	{ name: "compile", title: "Compile", Draw: Compile, has: (r) => any([r.compile?.regions, r.compile?.phases, r.compile?.fused_kernels, r.compile?.graph_break_places]) },
];

const LIVE = { name: "live", title: "Live", Draw: Live };

/** @type {(report: Report | null, isLive: boolean) => PageView[]} */
export const viewsOf = (report, isLive) => [...(isLive ? [LIVE] : []), ...VIEWS.filter((v) => !v.has || (report && v.has(report)))];
/**
 * A view by its name, or by that of a result it shows; else the first.
 * @type {(views: PageView[], name: string) => PageView}
 */
export const viewOf = (views, name) => views.find((v) => v.name === name || v.of?.includes(name)) ?? views[0];
