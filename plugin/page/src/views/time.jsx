// SPDX-License-Identifier: MIT
// Where the time went: in all, per step, per core; the gaps; collectives.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { bucketColor, BUCKETS } from "../colors.js";
import { title, value } from "../format.js";
import { columnsOf, Fact, Missing, Notes, Shares } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Part, Tables } from "./generic.jsx";
import { Sources } from "./sources.jsx";
import { Table } from "../table.jsx";
import { StepChart } from "../steps.jsx";
import { Label, Unknown } from "../words.jsx";

/** @import { Report, Step } from "../report.d.ts" */

/** @param {{ steps: Step[] }} props */
function PerStep({ steps }) {
	const parts = BUCKETS.map((b) => ({ name: title(b), color: bucketColor(b), of: (/** @type {Step} */ s) => s[`${b}_ps`] / s.cores }));
	return <StepChart steps={steps} parts={parts} label={`time classes of ${steps.length} steps, in time of one core`} />;
}

// What the colours of the bar mean, with the time of each: what took none is pale.
/** @param {{ t: NonNullable<Report["time"]>, total: number }} props */
function Classes({ t, total }) {
	const buckets = t.buckets ?? {};
	const known = BUCKETS.filter((b) => typeof buckets[`${b}_ps`] === "number");
	return (
		<ul class="legend classes">
			{known.map((b) => {
				const ps = buckets[`${b}_ps`];
				return (
					<li key={b} class={ps === 0 ? "zero" : ""}>
						<span class="swatch" style={{ background: bucketColor(b) }} aria-hidden="true" />
						<Label of={`time.buckets.${b}_ps`} origin={t.provenance?.[`buckets.${b}_ps`]} /> {ps === 0 ? "0" : `${value("time.total_ps", ps)} (${value("_pct", (100 * ps) / total)})`}
					</li>
				);
			})}
		</ul>
	);
}

export function Time() {
	const { report, look } = usePage();
	const t = report.time;
	const steps = useMemo(() => inSight(t?.per_step, look, report), [report, look]);
	const listed = useMemo(() => steps.filter((s) => !s.is_others), [steps]);
	const cores = useMemo(() => inSight(report.collective_cores, look, report), [report, look]);
	const all = useMemo(() => (t?.per_step ?? []).filter((s) => !s.is_others), [t]);
	if (!t) return <Missing what="time breakdown" />;
	const total = t.total_ps ?? 0;
	const parts = BUCKETS.map((b) => ({ name: title(b), value: t.buckets?.[`${b}_ps`] ?? 0, color: bucketColor(b), key: b }));
	return (
		<div>
			{t.bottleneck && <p class="verdict">{t.bottleneck}</p>}
			{total > 0 && <Shares parts={parts} total={total} label="core time by class" unit="time.total_ps" />}
			{total > 0 && <Classes t={t} total={total} />}
			<dl class="facts">
				<Fact name="time.total_ps" of={t.total_ps} origin={t.provenance?.total_ps} />
				<Fact name="time.wall_ps" of={t.wall_ps} origin={t.provenance?.wall_ps} />
				<Fact name="time.cores" of={t.cores} origin={t.provenance?.cores} />
			</dl>
			<Unknown of={BUCKETS.map((b) => `${b}_ps`).filter((name) => (t.buckets?.[name] ?? null) === null).map((name) => `time.buckets.${name}`)} view="time" why="The profile has no events of host threads." />
			{listed.length > 1 && <h3>Per step</h3>}
			{listed.length > 1 && <PerStep steps={all} />}
			<Table name="per_step" of="time.per_step" caption="Steps" rows={steps} columns={columnsOf(steps, ["step", "duration_ps"])} max={8} empty={t.per_step?.length ? "No step lies in the chosen time." : "No device has steps."} />
			<Tables of="time" view={t} names={Object.entries(t).filter(([n, rows]) => Array.isArray(rows) && n !== "per_step" && n !== "notes").map(([n]) => n)} empty={{ steps_outliers: "No step took much longer than the others.", idle_gaps: "No core was idle for long." }} />
			<Sources />
			<Table name="ops" caption="Ops" rows={report.ops ?? []} columns={columnsOf(report.ops ?? [], ["name", "category", "self_time_ps", "total_time_ps", "occurrences", "flops", "bytes_accessed", "mxu_utilization_pct", "hbm_bytes_per_s", "bound_by", "bucket", "padding_waste_pct", "source", "framework_op", "is_remat", "module"], ["op_index", "program_id"])} sort={{ column: "self_time_ps", down: true }} empty="No op ran while the profile was taken." />
			<Table name="collectives" caption="Collectives" rows={report.collectives ?? []} columns={columnsOf(report.collectives ?? [], ["name", "kind", "bytes", "occurrences", "exposed_ps", "hidden_ps", "bus_bytes_per_s", "link_pct", "mean_skew_ps", "straggler"], ["op_index", "straggler_device_id", "program_id"])} sort={{ column: "exposed_ps", down: true }} max={8} />
			<Table name="collective_cores" caption="Arrival at collectives" rows={cores} columns={columnsOf(cores, ["device", "host"], ["device_id"])} max={8} />
			<Notes view={t} />
			<Part name="gaps" heading="What hosts did while cores had nothing to run" />
			<Part name="async" heading="Transfers behind compute" sort={{ ops: { column: "exposed_ps", down: true } }} />
			<Part name="remat" heading="Rematerialization" />
			<Part name="sparsecore" heading="SparseCores" />
		</div>
	);
}
