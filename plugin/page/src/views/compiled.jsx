// The views that are mostly tables: padding, fusion, compilations, memory.
import { h } from "preact";
import { title, value } from "../format.js";
import { COLORS } from "../chart.jsx";
import { Facts, Missing, Notes, Shares } from "../parts.jsx";
import { usePage } from "../state.js";
import { Counter, Rows } from "../tracks.jsx";
import { Generic, Part, Tables } from "./generic.jsx";
import { TraceMemory } from "./traces.jsx";

export function Padding() {
	return (
		<Generic
			name="padding"
			first={{
				ops: ["op", "waste_ps", "predicted_gain_ps", "waste_bytes_pct", "waste_flops_pct", "suggestion", "self_time_ps", "module"],
				arrays: ["name", "shape", "waste_pct", "logical_bytes", "allocated_bytes", "time_ps", "uses", "role", "module"],
			}}
			sort={{ ops: { column: "waste_ps", down: true }, arrays: { column: "time_ps", down: true } }}
			names={["ops", "arrays"]}
			empty={{ ops: "No op spends time on padding.", arrays: "No array's layout is known: the profile has no compiled module." }}
		>
			<Counter name="Padding waste (%)" />
		</Generic>
	);
}

/** @typedef {[code: string, ps: number]} Reason */

/**
 * At most one part a colour: the smallest are drawn as one.
 * @type {(parts: Reason[]) => Reason[]}
 */
function joined(parts) {
	const most = COLORS.length;
	if (parts.length <= most) return parts;
	return [...parts.slice(0, most - 1), ["other_reasons", parts.slice(most - 1).reduce((sum, [, ps]) => sum + ps, 0)]];
}

export function Fusion() {
	const { report } = usePage();
	/** @type {Map<string, number>} */
	const reasons = new Map();
	for (const pair of report.fusion?.unfused ?? []) if (pair.impact_ps > 0) reasons.set(pair.reason_code, (reasons.get(pair.reason_code) ?? 0) + pair.impact_ps);
	const parts = joined([...reasons].sort((a, b) => b[1] - a[1]));
	const total = parts.reduce((sum, [, ps]) => sum + ps, 0);
	return (
		<Generic
			name="fusion"
			first={{ unfused: ["producer", "consumer", "reason", "impact_ps", "total_bytes", "bytes", "executions", "advice", "confidence", "producer_source", "consumer_source", "module"] }}
			sort={{ unfused: { column: "impact_ps", down: true } }}
			empty={{ unfused: "No two ops were found that could have been fused.", kinds: "No fusion ran.", chains: "No chain of short ops was found." }}
		>
			{total > 0 && <h3>Time at stake, by reason</h3>}
			{total > 0 && <Shares parts={parts.map(([code, ps], i) => ({ name: title(code), value: ps, color: COLORS[i] }))} total={total} label="time at stake by reason" />}
			{total > 0 && (
				<ul class="legend">
					{parts.map(([code, ps], i) => (
						<li key={code}>
							<span class="swatch" style={{ background: COLORS[i] }} aria-hidden="true" />
							{`${title(code)} ${value("_ps", ps)}`}
						</li>
					))}
				</ul>
			)}
		</Generic>
	);
}

export function Cache() {
	const isKnown = typeof usePage().report.cache?.compilation_count === "number";
	return (
		<Generic
			name="cache"
			what="compilations"
			sort={{ compilations: { column: "duration_ps", down: true } }}
			empty={{
				compilations: isKnown ? "Nothing was compiled while the profile was taken." : "The profile has no event of a host thread: what was compiled is unknown.",
				functions: "The profile has no call of a compiled function.",
				families: "No function ran as several compiled programs.",
			}}
		>
			<Rows name="Host compiles" />
		</Generic>
	);
}

const TRAFFIC = ["HBM bandwidth (GB/s)", "HBM read (GB/s)", "HBM write (GB/s)", "VMEM bandwidth (GB/s)", "Host link in (GB/s)", "Host link out (GB/s)"];

// What moved through memory, and what was in it.
export function Memory() {
	const { report } = usePage();
	const { memory, capacity } = report;
	const held = typeof report.memory_timeline?.peak_bytes === "number"; // a trace knows it over time: that comes first
	return (
		<div>
			{held && <TraceMemory />}
			{held && <h3>Memory traffic</h3>}
			{memory ? <Facts view={memory} /> : <Missing what="memory traffic by op" />}
			{TRAFFIC.map((name) => (
				<Counter key={name} name={name} />
			))}
			{memory && <Tables view={memory} />}
			{memory && <Notes view={memory} />}
			<h3>What was in memory at the peak</h3>
			{!capacity && <Missing what="memory capacity" />}
			{capacity && <Facts view={capacity} />}
			{capacity && <Tables view={capacity} />}
			{capacity && <Notes view={capacity} />}
			{!held && <TraceMemory />}
			<Part name="allocators" heading="What allocators did" />
		</div>
	);
}
