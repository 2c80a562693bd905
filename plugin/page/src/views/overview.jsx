// What the run cost and what to do about it first.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { held, picking, Plot, stairs, stepAt, stepAxis, stepEdges, stepTimes, times, tooltip } from "../chart.jsx";
import { clean, time, title } from "../format.js";
import { BUCKETS, bucketColor, Fact, gainOf, impossibleOf, Notes, Shares } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Table } from "../table.jsx";
import { Part } from "./generic.jsx";

/** @import { Drawing, Finding, Step } from "../report.d.ts" */

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

/** @param {{ steps: Step[] }} props */
function StepTimes({ steps }) {
	const { setLook } = usePage();
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		/** @param {Step} step */
		const say = (step) => [`step ${step.step}`, time(step.duration_ps)];
		return {
			data: [stepEdges(steps), held(steps.map((s) => s.duration_ps / 1e9))],
			options: {
				legend: { show: false },
				...picking(setLook, stepTimes(steps)),
				scales: { x: { time: false, range: [-0.5, steps.length - 0.5] }, y: { range: (_, low, high) => [0, high * 1.05] } },
				axes: [stepAxis(steps), { values: times(1e-3), size: 70 }],
				series: [{}, { stroke: bucketColor("compute"), fill: `${bucketColor("compute")}33`, width: 1.5, points: { show: false }, paths: stairs }],
				plugins: [tooltip((_, u, x) => say(steps[stepAt(steps, x)]))],
			},
		};
	}, [steps]);
	return <Plot {...drawing} height={200} label={`time of ${steps.length} steps, in milliseconds`} />;
}

export function Overview() {
	const { report, look, setLook } = usePage();
	const o = report.overview ?? {};
	const t = report.time ?? {};
	const from = report.provenance ?? {};
	const total = t.total_ps ?? 0;
	const steps = useMemo(() => inSight(report.steps, look, report), [report, look]);
	const findings = report.doctor?.findings ?? [];
	/** @param {string} name */
	const cause = (name) => impossibleOf(report, "overview", `overview.${name}`)[0]?.cause;
	const parts = BUCKETS.map((b) => ({ name: title(b), value: t.buckets?.[`${b}_ps`] ?? 0, color: bucketColor(b) }));
	return (
		<div>
			<div class="cards">
				<Health score={o.health_score} />
				<dl class="facts">
					<Fact name="duration_ps" label="wall time" of={report.run?.duration_ps} origin={from["run.duration_ps"]} />
					<Fact name="duty_cycle_pct" label="duty cycle" of={o.duty_cycle_pct} origin={from["overview.duty_cycle_pct"]} />
					{(o.gpu_idle_pct ?? null) !== null && <Fact name="gpu_idle_pct" label="GPU idle, of the capture" of={o.gpu_idle_pct} origin={from["overview.gpu_idle_pct"]} />}
					<Fact name="mxu_utilization_pct" label="MXU utilization" of={o.mxu_utilization_pct} origin={from["overview.mxu_utilization_pct"]} why="no op has a known cost" cause={cause("mxu_utilization_pct")} />
					<Fact name="hbm_utilization_pct" label="HBM utilization" of={o.hbm_utilization_pct} origin={from["overview.hbm_utilization_pct"]} why="the chip's bandwidth or the ops' bytes are unknown" cause={cause("hbm_utilization_pct")} />
					<Fact name="padding_waste_pct" label="padding waste" of={o.padding_waste_pct} origin={from["overview.padding_waste_pct"]} />
					<Fact name="step_count" label="steps" of={o.step_count} origin={from["overview.step_count"]} />
					<Fact name="median_ps" label="median step" of={o.step_time_ps?.median ?? null} origin={from["overview.step_time_ps.median"]} why="there are no steps" />
					{o.host_step_time_ps && report.steps?.[0]?.source !== "host" && <Fact name="median_ps" label="median step of the host" of={o.host_step_time_ps.median} origin={from["overview.host_step_time_ps.median"]} />}
				</dl>
			</div>
			{report.capture?.verdict && report.capture.verdict !== "good" && <p class="verdict">{`This capture is ${clean(report.capture.verdict)}: ${report.capture.causes.map((c) => clean(c.what ?? c.id)).join("; ")}`}</p>}
			{t.bottleneck && <p class="verdict">{t.bottleneck}</p>}
			{total > 0 && <Shares parts={parts} total={total} label="core time by class" unit="time.total_ps" />}
			<h3>Findings, the costliest first</h3>
			{findings.length === 0 && <p class="empty">No finding is worth your time.</p>}
			<ol class="findings">
				{findings.slice(0, 8).map((f) => (
					<li key={f.id}>
						<span class={`severity ${f.severity}`}>{f.severity}</span>
						<button type="button" class="link" onClick={() => setLook({ view: "doctor", finding: f.id })}>
							{clean(f.title)}
						</button>
						<span class="impact">{gainOf(f) ?? ""}</span>
					</li>
				))}
			</ol>
			{steps.length < 2 && <p class="empty">{(report.steps?.length ?? 0) > 1 ? "Fewer than two steps lie in the chosen time." : "The profile has fewer than two steps: there are no step times to compare."}</p>}
			{steps.length > 1 && (
				<div>
					<h3>Step times</h3>
					<StepTimes steps={steps} />
					<dl class="facts">
						{Object.entries(o.step_time_ps ?? {}).map(([name, v]) => (
							<Fact key={name} name={`${name}_ps`} label={name} of={v} />
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
