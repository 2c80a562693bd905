// SPDX-License-Identifier: MIT
// Labels with their meaning, and what is not known with the reason: the words are those of docs/glossary.md.
import { Fragment, h } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { clean } from "./format.js";
import { labelOf, spoken, wordOf } from "./glossary.js";
import { usePage } from "./state.js";

/** @import { Maybe, Report } from "./report.d.ts" */

// Every device of the run is a GPU: there the matrix units have other names.
/** @param {Maybe<Report>} report */
export const isGpu = (report) => (report?.run?.devices ?? []).length > 0 && (report?.run?.devices ?? []).every((d) => !d.mxu_dim && !/TPU/i.test(`${d.chip ?? ""} ${d.name}`));

/**
 * A label in the words of this chip: MXU is Google's word.
 * @type {(label: string, report: Maybe<Report>) => string}
 */
export const spokenFor = (label, report) => (isGpu(report) ? label.replaceAll(" (MXU)", "").replace(/\bMXU\b/g, "Matrix unit") : label);

/**
 * What a figure is called on this chip.
 * @type {(path: string, report: Maybe<Report>) => string}
 */
export const labelFor = (path, report) => spokenFor(labelOf(path), report);

// Figures that are of another time than the run, by the end of their names and by the view: how idle something was has several answers.
/** @type {[of: RegExp, window: string][]} */
const WINDOWS = [
	[/(^|\.)duty_cycle_pct$/, "each core, from its first event to its last"],
	[/(^|\.)gpu_idle_pct$/, "the capture"],
	[/^hta\./, "from the first kernel to the last"],
	[/^timeline\./, "from the first event of a host or a device to the last"],
];

/**
 * The time that a figure is of.
 * @type {(path: string, report: Maybe<Report>) => string}
 */
export function windowOf(path, report) {
	const own = WINDOWS.find(([of]) => of.test(path))?.[1];
	if (own) return report?.part ? `${own}, in the chosen part` : own;
	return report?.part ? "the chosen part of the run" : "the whole run";
}

/**
 * The meaning of a figure, as lines of text. WINDOW: the time that it is of.
 * @type {(path: string, more?: { origin?: string, window?: string }) => string[]}
 */
export function meaning(path, { origin, window } = {}) {
	const word = wordOf(path);
	if (!word) return [];
	const known = origin && wordOf(`origin.${origin}`);
	return [
		word.text,
		...(word.formula ? [`Formula: ${spoken(word.formula)}`] : []),
		...(known ? [`${labelOf(`origin.${origin}`)}: ${known.text}`] : []),
		...(window ? [`Window: ${window}`] : []),
		`More: tpusight explain "${word.title}", ${word.page}`,
	];
}

// The text stands under its question mark, and never outside of the window.
/** @param {{ id: string, label: string, lines: string[] }} props */
function Meaning({ id, label, lines }) {
	const box = useRef(/** @type {HTMLSpanElement | null} */ (null));
	useLayoutEffect(() => {
		const at = /** @type {HTMLSpanElement} */ (box.current);
		const over = at.getBoundingClientRect().right - document.documentElement.clientWidth + 8;
		if (over > 0) at.style.marginLeft = `${-over}px`;
	}, []);
	return (
		<span role="tooltip" id={id} class="meaning" ref={box}>
			<b>{label}</b>
			{lines.map((line) => (
				<span key={line}>{line}</span>
			))}
		</span>
	);
}

/** @param {{ label: string, lines: string[] }} props */
function Help({ label, lines }) {
	const [open, setOpen] = useState(false);
	const id = useId();
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		if (e.key !== "Escape" || !open) return;
		e.stopPropagation(); // it closes this, and not what else is chosen
		setOpen(false);
	};
	return (
		<span class="help" onMouseEnter={() => setOpen(true)} onMouseLeave={() => setOpen(false)}>
			<button type="button" aria-label={`what ${label} means`} aria-expanded={open} aria-describedby={open ? id : undefined} onClick={() => setOpen(true)} onFocus={() => setOpen(true)} onBlur={() => setOpen(false)} onKeyDown={onKey}>
				?
			</button>
			{open && <Meaning id={id} label={label} lines={lines} />}
		</span>
	);
}

/**
 * The label of a figure, with what it means behind a question mark. OF: where it stands in the report.
 * @param {{ of: string, text?: string, origin?: string, window?: string }} props
 */
export function Label({ of, text, origin, window }) {
	const { report } = usePage();
	const label = text ?? labelFor(of, report);
	const lines = meaning(of, { origin, window: window ?? windowOf(of, report) }).map((line) => spokenFor(line, report));
	const last = label.lastIndexOf(" ") + 1; // the question mark stays with the last word
	if (!lines.length) return label;
	return (
		<Fragment>
			{label.slice(0, last)}
			<span class="last">
				{label.slice(last)} <Help label={label} lines={lines} />
			</span>
		</Fragment>
	);
}

// Why a figure is unknown, whatever else is known of its view; nothing: not for a reason of its own.
const NO_MATRIX = "No matrix work is in this profile.";
const NO_TRACER = "Only JAX's Python tracer shows the persistent cache.";
/** @type {Record<string, (report: Maybe<Report>) => string | false | undefined>} */
const ALONE = {
	"overview.mxu_utilization_pct": (r) => !r?.systolic?.ops?.length && NO_MATRIX,
	"systolic.mxu_measured_pct": () => "The profile has no counters of the matrix units.",
	"systolic.fill_pct": (r) => isGpu(r) && "How large the matrix units of this chip are is not known.",
	"hta.comm_comp_overlap_pct": () => "There is no communication.",
	"kpis.occupancy": () => "Only a GPU has an occupancy, where the profiler notes it.",
	"memory_timeline.reserved_bytes": (r) => (/^cpu/i.test(r?.memory_timeline?.device ?? "") ? "A CPU's allocator reserves nothing." : "The events of the allocator do not say what it reserves."),
	"cache.persistent_cache": () => NO_TRACER,
	"cache.persistent_cache_hits": () => NO_TRACER,
	"cache.persistent_cache_misses": () => NO_TRACER,
	"cache.persistent_cache_hit_pct": () => NO_TRACER,
};
const OF_DEVICES = new Set(["overview", "systolic", "padding", "fusion", "memory", "capacity", "time", "doctor"]);

// Why figures of a view are unknown, where the report shows it: the terminal gives the same reasons (write/summary.c).
// CAUSES: those doubts about the capture whose remedy would make the figures known.
/** @type {[is: (report: Report, view: string) => boolean, why: string, causes: string[]][]} */
const REASONS = [
	[(r, view) => OF_DEVICES.has(view) && !(r.run?.devices ?? []).length, "No TPU or GPU is in this profile.", ["ran_on_cpu", "no_device"]],
	[(r, view) => view === "systolic" && !(r.systolic?.ops ?? []).length, NO_MATRIX, []],
	[(r, view) => ["overview", "systolic", "memory", "padding", "fusion"].includes(view) && (r.ops ?? []).every((op) => (op.flops ?? null) === null), "No op has a known cost: the profile has no compiled module.", ["no_hlo"]],
	[(r, view) => view === "cache" && Boolean(r.cache) && !(r.cache?.functions ?? []).length, "No call of a compiled function is in this profile.", []],
	[(r, view) => view === "overview" && !(r.steps ?? []).length, "The profile has no steps.", ["steps_inferred"]],
];

/** @type {(report: Maybe<Report>, view: string) => string[] | undefined} */
function whyOf(report, view) {
	const [, why, causes] = (report && REASONS.find(([is]) => is(report, view))) ?? [];
	const fix = report?.capture?.causes?.find((c) => causes?.includes(c.id))?.fix;
	return why ? [why, ...(fix ? [clean(fix)] : [])] : undefined;
}

/**
 * Why figures of VIEW are unknown, and what would make them known.
 * WHY: where nothing else is known.
 * @type {(report: Maybe<Report>, view: string, why?: string) => string}
 */
export const reasonOf = (report, view, why = "The profile does not say.") => (whyOf(report, view) ?? [why]).join(" ");

/**
 * All figures of a view that are unknown, in a sentence for each reason. OF: where they stand in the report.
 * @param {{ of: string[], view: string, why?: string }} props
 */
export function Unknown({ of, view, why: otherwise }) {
	const { report } = usePage();
	const all = reasonOf(report, view, otherwise);
	/** @type {Map<string, Set<string>>} */
	const reasons = new Map();
	for (const path of of) {
		const why = whyOf(report, view) ? all : (ALONE[path]?.(report) || all);
		reasons.set(why, (reasons.get(why) ?? new Set()).add(labelFor(path, report)));
	}
	return (
		<Fragment>
			{[...reasons].map(([why, labels]) => (
				<p key={why} class="unknowns">
					<b>Unknown:</b> {`${[...labels].join("; ")}. ${why}`}
				</p>
			))}
		</Fragment>
	);
}

/**
 * What the columns of a table mean. OF: where the table stands in the report.
 * @param {{ of: string, columns: string[], caption: string }} props
 */
export function Columns({ of, columns, caption }) {
	const { report } = usePage();
	const known = columns.filter((c) => wordOf(`${of}.${c}`));
	if (!known.length) return null;
	return (
		<details class="columns">
			<summary aria-label={`what the columns of ${caption} mean`}>?</summary>
			<dl>
				{known.map((c) => (
					<Fragment key={c}>
						<dt>{labelFor(`${of}.${c}`, report)}</dt>
						<dd>{spokenFor(meaning(`${of}.${c}`).slice(0, -1).join(" "), report)}</dd>
					</Fragment>
				))}
			</dl>
		</details>
	);
}
