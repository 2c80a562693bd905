// The views whose tables say it: padding, fusion, compilations, memory.
import { h } from "preact";
import { title, value } from "../format.js";
import { Shares } from "../parts.jsx";
import { COLORS } from "../chart.jsx";
import { usePage } from "../state.js";
import { Counter, Rows } from "../tracks.jsx";
import { Generic, Tables } from "./generic.jsx";
import { Facts, Notes } from "../parts.jsx";

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
		>
			<Counter name="Padding waste (%)" />
		</Generic>
	);
}

export function Fusion() {
	const { report } = usePage();
	const reasons = new Map();
	for (const pair of report.fusion?.unfused ?? []) if (pair.impact_ps > 0) reasons.set(pair.reason_code, (reasons.get(pair.reason_code) ?? 0) + pair.impact_ps);
	const parts = [...reasons].sort((a, b) => b[1] - a[1]);
	const total = parts.reduce((sum, [, ps]) => sum + ps, 0);
	return (
		<Generic
			name="fusion"
			first={{ unfused: ["producer", "consumer", "reason", "impact_ps", "total_bytes", "bytes", "executions", "advice", "confidence", "producer_source", "consumer_source", "module"] }}
			sort={{ unfused: { column: "impact_ps", down: true } }}
		>
			{total > 0 && <h3>Time at stake, by reason</h3>}
			{total > 0 && <Shares parts={parts.map(([code, ps], i) => ({ name: title(code), value: ps, color: COLORS[i % COLORS.length] }))} total={total} label="time at stake by reason" />}
			{total > 0 && (
				<ul class="legend">
					{parts.map(([code, ps], i) => (
						<li key={code}>
							<span class="swatch" style={{ background: COLORS[i % COLORS.length] }} aria-hidden="true" />
							{`${title(code)} ${value("_ps", ps)}`}
						</li>
					))}
				</ul>
			)}
		</Generic>
	);
}

export function Cache() {
	return (
		<Generic name="cache" what="compilations" sort={{ compilations: { column: "duration_ps", down: true } }}>
			<Rows name="Compilation" />
		</Generic>
	);
}

// What moved through memory, and what stood in it.
export function Memory() {
	const { report } = usePage();
	return (
		<div>
			<Generic name="memory" what="memory traffic">
				<Counter name="HBM bandwidth (GB/s)" />
				<Counter name="HBM read (GB/s)" />
				<Counter name="HBM write (GB/s)" />
				<Counter name="Host link (GB/s)" />
			</Generic>
			{report.capacity && <h3>What stood in memory at the peak</h3>}
			{report.capacity && <Facts view={report.capacity} />}
			{report.capacity && <Tables view={report.capacity} />}
			{report.capacity && <Notes view={report.capacity} />}
		</div>
	);
}
