// The views in the order of their tabs. The eight of every report, then those of the profiling suite, where the report has what
// they show; in front of all what goes on, where something is watched. OF: results of the report that a view shows beside the one of its own name.
import { Doctor } from "./doctor.jsx";
import { Cache, Fusion, Memory, Padding } from "./compiled.jsx";
import { Flame } from "./flame.jsx";
import { Live } from "./live.jsx";
import { Overview } from "./overview.jsx";
import { Systolic } from "./systolic.jsx";
import { Time } from "./time.jsx";
import { Compile, Hta, Kernels, Timeline } from "./traces.jsx";

const rows = (report, ...names) => names.some((n) => report[n[0]]?.[n[1]]?.length);

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
	{ name: "kernels", title: "Kernels", Draw: Kernels, has: (r) => r.kernels?.length > 0 },
	{ name: "timeline", title: "Timeline", Draw: Timeline, has: (r) => r.timeline?.total_time_ps > 0 },
	{ name: "flame", title: "Flame", Draw: Flame, has: (r) => rows(r, ["flame", "stacks"], ["flame", "modules"], ["flame", "scopes"]) },
	{ name: "compile", title: "Compile", Draw: Compile, has: (r) => rows(r, ["compile", "regions"], ["compile", "phases"], ["compile", "fused_kernels"], ["compile", "graph_break_places"]) },
];

const LIVE = { name: "live", title: "Live", Draw: Live };

export const viewsOf = (report, isLive) => [...(isLive ? [LIVE] : []), ...VIEWS.filter((v) => !v.has || (report && v.has(report)))];
// A view by its name, or by that of a result it shows; else the first.
export const viewOf = (views, name) => views.find((v) => v.name === name || v.of?.includes(name)) ?? views[0];
