// The eight views, in the order of their tabs.
import { h } from "preact";
import { Generic } from "./generic.jsx";
import { Overview } from "./overview.jsx";
import { Time } from "./time.jsx";

const of = (name, what) => () => h(Generic, { name, what });

export const VIEWS = [
	{ name: "overview", title: "Overview", Draw: Overview },
	{ name: "systolic", title: "Systolic", Draw: of("systolic", "matrix-unit analysis") },
	{ name: "padding", title: "Padding", Draw: of("padding") },
	{ name: "fusion", title: "Fusion", Draw: of("fusion") },
	{ name: "cache", title: "Cache", Draw: of("cache", "compilations") },
	{ name: "memory", title: "Memory", Draw: of("memory") },
	{ name: "time", title: "Time", Draw: Time },
	{ name: "doctor", title: "Doctor", Draw: of("doctor") },
];
