// SPDX-License-Identifier: MIT
// What was profiled, what limited it, and what to do about it first.
import { Fragment, h } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import "../overview.css";
import { bucketColor, shade } from "../colors.js";
import { clean, percent, title, value } from "../format.js";
import { Mesh } from "../mesh.jsx";
import { Findings } from "../moments.jsx";
import { Op } from "../op.jsx";
import { classesOf, profiledOf, shareText, topOps, verdictOf } from "../overview.js";
import { Fact, filled, impossibleOf, Notes, Shares } from "../parts.jsx";
import { chipsOf, latest, measuresOf, scaleOf } from "../pod.js";
import { useChoice, usePage } from "../state.js";
import { StepTimes } from "../steptimes.jsx";
import { Table } from "../table.jsx";
import { isGpu, Label, Unknown } from "../words.jsx";
import { Part } from "./generic.jsx";

/** @import { Chip, Report } from "../report.d.ts" */

const OPS = 10;

// --- what was profiled

function Profiled() {
	const { report, whole } = usePage();
	return (
		<section aria-label="what was profiled">
			{report.part && <p class="count">The whole run, of which a part is chosen:</p>}
			<dl class="profiled">
				{profiledOf(whole).map(([label, text]) => (
					<div key={label}>
						<dt>{label}</dt>
						<dd>{text ?? <span class="unknown">the profile does not say</span>}</dd>
					</div>
				))}
			</dl>
		</section>
	);
}

// --- the verdict

/** @param {{ score: unknown }} props */
function Health({ score }) {
	if (typeof score !== "number") return null;
	const word = score >= 80 ? "good" : score >= 50 ? "fair" : "poor";
	return (
		<div class={`health ${word}`}>
			<b>{Math.round(score)}</b>
			<span>
				<Label of="overview.health_score" text={`health of 100: ${word}`} />
			</span>
		</div>
	);
}

function Verdict() {
	const { report } = usePage();
	const found = verdictOf(report);
	const { verdict, causes } = report.capture ?? {};
	return (
		<div class="judged">
			{found && <p class="verdict">{clean(found.verdict)}</p>}
			{found?.rate && <p class="rate">{`${clean(found.rate)}.`}</p>}
			{verdict && verdict !== "good" && <p class="verdict">{`This capture is ${clean(verdict)}: ${(causes ?? []).map((c) => clean(c.what ?? c.id)).join("; ")}`}</p>}
		</div>
	);
}

// Its legend stands below it: each class with its time and its share.
function Classes() {
	const { report } = usePage();
	const classes = useMemo(() => classesOf(report), [report]);
	if (!classes.length) return null;
	return (
		<section aria-label="core time by class">
			<Shares parts={classes.map((c) => ({ name: title(c.bucket), value: c.ps, color: bucketColor(c.bucket) }))} total={report.time?.total_ps ?? 0} label="core time by class" unit="time.total_ps" />
			<ul class="classes">
				{classes.map((c) => (
					<li key={c.bucket}>
						<span class="swatch" style={{ background: bucketColor(c.bucket) }} aria-hidden="true" />
						<Label of={`time.buckets.${c.bucket}_ps`} text={title(c.bucket)} /> <b>{percent(c.share)}</b> {value("time.total_ps", c.ps)}
					</li>
				))}
			</ul>
		</section>
	);
}

/**
 * The figures that say most of a run, by where they stand in the report. What only GPUs have is not asked of the others.
 * @type {(report: Report) => [path: string, value: unknown][]}
 */
function figuresOf(report) {
	const o = report.overview ?? {};
	const names = /** @type {const} */ (["duty_cycle_pct", ...(isGpu(report) ? /** @type {const} */ (["gpu_idle_pct"]) : []), "mxu_utilization_pct", "hbm_utilization_pct", "padding_waste_pct", "step_count"]);
	return [...names.map((name) => /** @type {[string, unknown]} */ ([`overview.${name}`, o[name]])), ["overview.step_time_ps.median", o.step_time_ps?.median]];
}

function Figures() {
	const { report } = usePage();
	const from = report.provenance ?? {};
	const figures = figuresOf(report);
	/** @param {string} path */
	const cause = (path) => impossibleOf(report, "overview", path)[0]?.cause;
	/** @type {[path: string, value: unknown][]} */
	const all = [["overview.health_score", report.overview?.health_score], ...figures.filter(([path]) => !path.includes("step_"))]; // what is said of steps stands with them
	const unknown = all.filter(([path, v]) => (v ?? null) === null && !cause(path)).map(([path]) => path);
	const isMatrix = unknown.every((path) => path === "overview.mxu_utilization_pct") && !report.systolic?.ops?.length;
	return (
		<Fragment>
			<dl class="facts">
				{figures.map(([path, v]) => (
					<Fact key={path} name={path} of={v} origin={from[path]} cause={cause(path)} />
				))}
			</dl>
			<Unknown of={unknown} view="overview" why={isMatrix ? "No matrix work is in this profile." : undefined} />
		</Fragment>
	);
}

// --- ops

function TopOps() {
	const { report } = usePage();
	const ops = useMemo(() => topOps(report, OPS), [report]);
	if (!ops.length) return null;
	const most = ops[0].self_ps;
	return (
		<section aria-label="ops with the most time">
			<h3>{`${isGpu(report) ? "Kernels" : "Ops"} with the most time`}</h3>
			<p class="count">
				Each bar is the <Label of="ops.self_time_ps" text="own time" /> over all cores, in the colours of the classes above. Behind it stands its share of core time.
			</p>
			<ul class="bars tops">
				{ops.map(({ op, says, self_ps: ps, share, parts }) => (
					<li key={`${op.module}/${op.name}`}>
						<span class="name">
							<b title={says}>{says}</b> <Op of={op} />
						</span>
						<span class="track" role="img" aria-label={parts.map((p) => `${title(p.bucket)} ${percent(p.share)} of it`).join(", ")} title={parts.map((p) => `${title(p.bucket)}: ${percent(p.share)} of it`).join("\n")}>
							<span class="stack" style={{ width: `${(100 * ps) / most}%` }}>
								{parts.map((p) => (
									<span key={p.bucket} style={{ width: `${p.share}%`, background: bucketColor(p.bucket) }} />
								))}
							</span>
						</span>
						<span class="number">{`${value("ops.self_time_ps", ps)}${share === null ? "" : `, ${shareText(share)}`}`}</span>
					</li>
				))}
			</ul>
		</section>
	);
}

// --- the pod

/** @param {{ chips: Chip[] }} props */
function Late({ chips }) {
	const { setLook } = usePage();
	const late = latest(chips);
	if (!late?.late) return null;
	return (
		<p>
			<button type="button" class="link" title={clean(late.host)} onClick={() => setLook({ device: late.id })}>
				{clean(late.name)}
			</button>
			{` comes last in ${percent(late.late.last_pct)} of ${late.late.matched_count} collectives: the others wait for it.`}
		</p>
	);
}

function Pod() {
	const { whole, look, setLook } = usePage();
	const chips = useMemo(() => chipsOf(whole), [whole]);
	const measure = useMemo(() => measuresOf(chips)[0], [chips]);
	const scale = useMemo(() => measure && scaleOf(chips, measure), [chips, measure]);
	const share = useCallback((/** @type {Chip} */ c) => (c[measure.key] === null ? null : (Number(c[measure.key]) - scale.low) / (scale.high - scale.low || 1)), [measure, scale]);
	const isMarked = useCallback((/** @type {Chip} */ c) => (look.device === null ? Boolean(look.host) && c.host === look.host : c.id === look.device), [look.device, look.host]);
	if (!measure || (whole.run?.hosts?.length ?? 0) < 2) return null;
	return (
		<section aria-label="hosts and chips">
			<h3>{`${chips.length} chips of ${whole.run?.hosts?.length} hosts`}</h3>
			<Late chips={chips} />
			<p class="scale">
				{`${measure.title}, of the whole run: ${value(measure.key, scale.low)}`}
				{[0, 0.25, 0.5, 0.75, 1].map((s) => (
					<span key={s} class="swatch" aria-hidden="true" style={{ background: shade(s), width: "28px" }} />
				))}
				{value(measure.key, scale.high)}
			</p>
			<Mesh chips={chips} share={share} isMarked={isMarked} say={(c) => `${clean(c.name)} of ${clean(c.host)}: ${value(measure.key, c[measure.key])}`} onPick={(c) => setLook({ device: c.id === look.device ? null : c.id })} label={`${measure.title} of ${chips.length} chips`} />
			<button type="button" class="link" onClick={() => setLook({ view: "pod" })}>
				More of hosts and chips
			</button>
		</section>
	);
}

// --- tables, for those who want them

const MODULES = ["name", "executions", "total_time_ps", "flops", "bytes_accessed", "parameter_bytes", "output_bytes", "program_id"];

function More() {
	const { report } = usePage();
	const [open, setOpen] = useChoice("overview.tables", false);
	const isNamed = (report.scopes?.named?.length ?? 0) > 0;
	const modules = report.modules ?? [];
	if (!isNamed && !modules.length) return null;
	const columns = filled(modules, MODULES);
	const missing = modules.length ? MODULES.filter((c) => !columns.includes(c)) : [];
	return (
		<details class="more" open={open} onToggle={(e) => e.currentTarget.open !== open && setOpen(e.currentTarget.open)}>
			<summary>{["Tables: modules", ...(isNamed ? ["what the program named on its hosts"] : [])].join(", ")}</summary>
			{isNamed && <Part name="scopes" heading="What the program named on its hosts" sort={{ named: { column: "total_ps", down: true } }} />}
			<Table name="modules" caption="Modules" rows={modules} columns={columns} sort={{ column: "total_time_ps", down: true }} max={6} />
			{open && <Unknown of={missing.map((c) => `modules.${c}`)} view="modules" why="The profile does not show when modules ran." />}
		</details>
	);
}

// Nothing ran: what is predicted, by what, and how far off such predictions were.
function Predicted() {
	const { report } = usePage();
	if (!report.run?.is_predicted) return null;
	return (
		<section aria-label="prediction" class="predicted">
			<p>
				<strong>Predicted, not measured.</strong> Every time on this page is predicted from the compiler’s estimates and the chip’s rates; nothing ran.
			</p>
			<Part name="prediction" heading="How the step is predicted" />
		</section>
	);
}

export function Overview() {
	const { report } = usePage();
	return (
		<div>
			<Predicted />
			<Profiled />
			<div class="cards">
				<Health score={report.overview?.health_score} />
				<Verdict />
			</div>
			<Classes />
			<Figures />
			<Findings />
			<Pod />
			<TopOps />
			<StepTimes />
			<More />
			<Notes view={report} />
		</div>
	);
}
