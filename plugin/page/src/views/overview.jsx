// What the run cost and what to do about it first.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { clean, title } from "../format.js";
import { BUCKETS, bucketColor, Fact, gainOf, impossibleOf, Notes, Shares } from "../parts.jsx";
import { Place } from "../place.jsx";
import { inSight, usePage } from "../state.js";
import { StepChart } from "../steps.jsx";
import { Table } from "../table.jsx";
import { isGpu, Unknown } from "../words.jsx";
import { Part } from "./generic.jsx";

/** @import { Report, Step } from "../report.d.ts" */

/** @param {{ score: unknown }} props */
function Health({ score }) {
	const known = typeof score === "number";
	const word = !known ? "unknown" : score >= 80 ? "good" : score >= 50 ? "fair" : "poor";
	return (
		<div class={`health ${word}`} title={known ? `how near the run comes to what the chip could do in the time; ${word}` : "unknown: no time was measured"}>
			<b>{known ? Math.round(score) : "\u2013"}</b>
			<span>health of 100</span>
		</div>
	);
}

const STEP = [{ name: "time of the step", color: bucketColor("compute"), of: (/** @type {Step} */ s) => s.duration_ps }];

/**
 * The figures that say most of a run, by where they stand in the report. What only GPUs have, and what only a host marked, is
 * not asked of the others.
 * @type {(report: Report) => [path: string, value: unknown][]}
 */
function figuresOf(report) {
	const o = report.overview ?? {};
	const gpu = isGpu(report);
	const host = o.host_step_time_ps && report.steps?.[0]?.source !== "host";
	/** @type {[string, unknown][]} */
	const always = ["duty_cycle_pct", ...(gpu ? ["gpu_idle_pct"] : []), "mxu_utilization_pct", "hbm_utilization_pct", "padding_waste_pct", "step_count"].map((name) => [`overview.${name}`, o[name]]);
	return [
		["run.duration_ps", report.run?.duration_ps],
		...always,
		["overview.step_time_ps.median", o.step_time_ps?.median],
		...(host ? [/** @type {[string, unknown]} */ (["overview.host_step_time_ps.median", o.host_step_time_ps?.median])] : []),
	];
}

export function Overview() {
	const { report, look, setLook } = usePage();
	const o = report.overview ?? {};
	const t = report.time ?? {};
	const from = report.provenance ?? {};
	const total = t.total_ps ?? 0;
	const steps = useMemo(() => inSight(report.steps, look, report).filter((s) => !s.is_others), [report, look]);
	const all = useMemo(() => (report.steps ?? []).filter((s) => !s.is_others), [report]);
	const findings = report.doctor?.findings ?? [];
	const figures = figuresOf(report);
	/** @param {string} path */
	const cause = (path) => impossibleOf(report, "overview", path)[0]?.cause;
	const parts = BUCKETS.map((b) => ({ name: title(b), value: t.buckets?.[`${b}_ps`] ?? 0, color: bucketColor(b) }));
	return (
		<div>
			<div class="cards">
				<Health score={o.health_score} />
				<dl class="facts">
					{figures.map(([path, v]) => (
						<Fact key={path} name={path} of={v} origin={from[path]} cause={cause(path)} />
					))}
				</dl>
			</div>
			<Unknown of={figures.filter(([path, v]) => (v ?? null) === null && !cause(path)).map(([path]) => path)} view="overview" />
			{report.capture?.verdict && report.capture.verdict !== "good" && <p class="verdict">{`This capture is ${clean(report.capture.verdict)}: ${report.capture.causes.map((c) => clean(c.what ?? c.id)).join("; ")}`}</p>}
			{t.bottleneck && <p class="verdict">{t.bottleneck}</p>}
			{total > 0 && <Shares parts={parts} total={total} label="core time by class" unit="time.total_ps" />}
			<h3>Findings, the costliest first</h3>
			{findings.length === 0 && <p class="empty">Nothing to change was found.</p>}
			<ol class="findings">
				{findings.slice(0, 8).map((f) => (
					<li key={f.id}>
						<span class={`severity ${f.severity}`}>{f.severity}</span>
						<button type="button" class="link" onClick={() => setLook({ view: "doctor", finding: f.id })}>
							{clean(f.title)}
						</button>
						<span class="impact">{gainOf(f) ?? ""}</span>
						<Place finding={f} />
					</li>
				))}
			</ol>
			{steps.length < 2 && <p class="empty">{(report.steps?.length ?? 0) > 1 ? "Fewer than two steps lie in the chosen time." : "The profile has fewer than two steps: there are no step times to compare."}</p>}
			{steps.length > 1 && (
				<div>
					<h3>Step times</h3>
					<StepChart steps={all} parts={STEP} label={`time of ${all.length} steps`} />
					<dl class="facts">
						{Object.entries(o.step_time_ps ?? {}).map(([name, v]) => (
							<Fact key={name} name={`overview.step_time_ps.${name}`} of={v} />
						))}
					</dl>
				</div>
			)}
			{(report.scopes?.named?.length ?? 0) > 0 && <Part name="scopes" heading="What the program named on its hosts" sort={{ named: { column: "total_ps", down: true } }} />}
			<Table name="modules" caption="Modules" rows={report.modules ?? []} columns={["name", "executions", "total_time_ps", "flops", "bytes_accessed", "parameter_bytes", "output_bytes", "program_id"]} sort={{ column: "total_time_ps", down: true }} max={6} />
			<Notes view={report} />
		</div>
	);
}
