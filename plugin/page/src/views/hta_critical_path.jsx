// SPDX-License-Identifier: MIT
// The critical path of PyTorch's steps: what their time was, step by step, and which operators and kernels have most of it.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { kindColor } from "../colors.js";
import { Legend } from "../chart.jsx";
import { clean, time, value } from "../format.js";
import { Missing, Notes, Shares } from "../parts.jsx";
import { usePage } from "../state.js";
import { StepChart } from "../steps.jsx";
import { Tables } from "./generic.jsx";

/** @import { HtaCriticalPath, CriticalStep, Maybe, Report, Row, SharesPart, Step } from "../report.d.ts" */

/** @type {{ kind: string, column: string, name: string, color: string }[]} */
const KINDS = [
	{ kind: "host operator", column: "host_operator_ps", name: "Operators on the host", color: kindColor("operator") },
	{ kind: "runtime call", column: "runtime_call_ps", name: "Calls of the runtime", color: kindColor("runtime") },
	{ kind: "launch delay", column: "launch_delay_ps", name: "Launch delays", color: kindColor("launch") },
	{ kind: "kernel", column: "kernel_ps", name: "Kernels", color: kindColor("kernel") },
	{ kind: "copy", column: "copy_ps", name: "Copies", color: kindColor("copy") },
	{ kind: "communication", column: "communication_ps", name: "Communication", color: kindColor("communication") },
	{ kind: "kernel queue delay", column: "queue_delay_ps", name: "Gaps between queued kernels", color: kindColor("queue") },
];
const REST = { name: "Not on the path", color: kindColor("rest") };
const WAITS = "Waits (their time is the kernels' they are for)";
/** @type {(kind: Maybe<string>) => typeof KINDS[number] | undefined} */
const kindOf = (kind) => KINDS.find((k) => k.kind === kind);

const STEP_PARTS = [
	...KINDS.map((k) => ({ name: k.name, color: k.color, of: (/** @type {Step} */ s) => s[k.column] })),
	{ ...REST, of: (/** @type {Step} */ s) => s.duration_ps - s.path_ps },
];

/** @type {(step: CriticalStep) => string} */
const nameOf = (step) => [step.which === "only" ? "" : `the ${step.which === "median" ? "step of median length" : "slowest step"}`, step.step === null ? "the whole trace" : `step ${step.step}`].filter(Boolean).join(", ");

// The whole of a step: its path by kind, and what is not on it.
/** @param {{ step: CriticalStep, kinds: Row[], column: string }} props */
function Whole({ step, kinds, column }) {
	/** @type {SharesPart[]} */
	const parts = [...KINDS.map((k) => ({ name: k.name, color: k.color, value: kinds.find((row) => row.kind === k.kind)?.[column] ?? 0 })), { ...REST, value: Math.max(step.duration_ps - step.path_ps, 0) }];
	const known = parts.filter((p) => p.value > 0);
	const name = nameOf(step);
	return (
		<div>
			<h3>{name.charAt(0).toUpperCase() + name.slice(1)}</h3>
			<p class="count">{`It took ${time(step.duration_ps)}, of which ${time(step.path_ps)} (${value("_pct", step.path_pct)}) are its critical path${step.waits ? `, with ${step.waits} ${step.waits === 1 ? "wait" : "waits"} for what went before` : ""}.`}</p>
			<Shares parts={known} total={step.duration_ps} label={`${name}, by what is on its critical path`} />
			<Legend items={known.map((p) => [`${p.name} ${time(p.value)} (${value("_pct", (100 * p.value) / step.duration_ps)})`, p.color])} />
		</div>
	);
}

const TOP = 8; // of which bars are drawn; the table has them all
const FOUND = 60; // letters of a name by which a table finds it

/**
 * Where the report has a row of this name: operators and calls among the operators, all else among the kernels.
 * @type {(report: Report, row: Row) => { view: string, key: string } | null}
 */
function placeOf(report, row) {
	const has = (/** @type {Maybe<Row[]>} */ rows) => (rows ?? []).some((r) => r.name === row.name);
	if (has(report.operators?.by_name)) return { view: "operators", key: "operators.by_name.find" };
	return has(report.kernels) ? { view: "kernels", key: "kernels.kernels.find" } : null;
}

/** @param {{ row: Row }} props */
function Name({ row }) {
	const { report, setLook, choices } = usePage();
	const place = useMemo(() => placeOf(report, row), [report, row]);
	const name = clean(row.name ?? "");
	if (!place) return <span title={name}>{name}</span>;
	const onClick = () => {
		choices.set(place.key, String(row.name).slice(0, FOUND));
		setLook({ view: place.view });
	};
	return (
		<button type="button" class="link" title={`${name}: show it among all ${place.view}`} onClick={onClick}>
			{name}
		</button>
	);
}

/** @param {{ rows: Row[], step: CriticalStep }} props */
function Tops({ rows, step }) {
	const tops = rows.filter((row) => !row.is_others).slice(0, TOP);
	if (!tops.length) return null;
	return (
		<section aria-label={`on the critical path of ${nameOf(step)}`}>
			<h3>{`Most on the path of ${nameOf(step)}`}</h3>
			<p class="count">Each bar is the time on the critical path. The step gets shorter only if something on its path does.</p>
			<ul class="bars tops">
				{tops.map((row) => (
					<li key={`${row.name} ${row.kind}`}>
						<span class="name">
							<Name row={row} /> <span class="count">{row.kind}</span>
						</span>
						<span class="track">
							<span class="length" style={{ width: `${(100 * row.path_ps) / tops[0].path_ps}%`, background: kindOf(row.kind)?.color ?? REST.color }} />
						</span>
						<span class="number">{`${time(row.path_ps)}, ${value("_pct", row.path_pct)}`}</span>
					</li>
				))}
			</ul>
		</section>
	);
}

/** @param {{ steps: Step[] }} props */
function EachStep({ steps }) {
	return (
		<div>
			<h3>Each step by what is on its critical path</h3>
			<Legend items={STEP_PARTS.map((p) => [p.name, p.color])} />
			<StepChart steps={steps} parts={STEP_PARTS} label={`critical paths of ${steps.length} steps, stacked`} />
		</div>
	);
}

const COLUMN = { median: "path_ps", only: "path_ps", slowest: "slowest_path_ps" };
const ROWS = ["name", "kind", "path_ps", "path_pct", "parts"];

export function CriticalPathView() {
	/** @type {Maybe<HtaCriticalPath>} */
	const view = usePage().report.hta_critical_path;
	const first = view?.each_step?.[0]?.rank;
	const drawn = useMemo(() => (view?.each_step ?? []).filter((s) => s.rank === first && !s.is_others), [view, first]);
	if (!view?.steps?.length) return <Missing what="critical path" />;
	return (
		<div>
			<p class="count">
				The critical path is the longest chain of operators, launches and kernels of a step in which each waits for the one before. What is not on it is time between the outermost operators (Python, the input pipeline), and waiting behind
				another step{"\u2019"}s kernels.
			</p>
			{view.steps.map((step) => (
				<Whole key={step.which} step={step} kinds={view.kinds ?? []} column={COLUMN[step.which]} />
			))}
			{drawn.length > 1 && <EachStep steps={drawn} />}
			{view.steps.map((step) => (
				<Tops key={step.which} step={step} rows={(step.which === "slowest" ? view.slowest_rows : view.rows) ?? []} />
			))}
			<Tables
				of="hta_critical_path"
				view={view}
				names={/** @type {const} */ (["each_step", "kinds", "rows", "slowest_rows"]).filter((n) => view[n])}
				first={{ rows: ROWS, slowest_rows: ROWS, each_step: ["rank", "step", "duration_ps", "path_ps", "path_pct"] }}
				draw={{ name: (_, row) => <Name row={row} />, kind: (v) => kindOf(v)?.name ?? (v ? WAITS : "") }}
				sort={{ rows: { column: "path_ps", down: true }, slowest_rows: { column: "path_ps", down: true } }}
			/>
			<Notes view={view} />
		</div>
	);
}
