// The eight views, in the order of their tabs.
import { Doctor } from "./doctor.jsx";
import { Cache, Fusion, Memory, Padding } from "./compiled.jsx";
import { Overview } from "./overview.jsx";
import { Systolic } from "./systolic.jsx";
import { Time } from "./time.jsx";

export const VIEWS = [
	{ name: "overview", title: "Overview", Draw: Overview },
	{ name: "systolic", title: "Systolic", Draw: Systolic },
	{ name: "padding", title: "Padding", Draw: Padding },
	{ name: "fusion", title: "Fusion", Draw: Fusion },
	{ name: "cache", title: "Cache", Draw: Cache },
	{ name: "memory", title: "Memory", Draw: Memory },
	{ name: "time", title: "Time", Draw: Time },
	{ name: "doctor", title: "Doctor", Draw: Doctor },
];
