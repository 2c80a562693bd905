// SPDX-License-Identifier: MIT
// Time by source line: the way from "what is slow" to the line that somebody can change.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { BUCKETS } from "../colors.js";
import { title, value } from "../format.js";
import { bySource, withoutSource } from "../sources.js";
import { usePage } from "../state.js";
import { Table } from "../table.jsx";

/** @import { DrawCell } from "../report.d.ts" */

const COLUMNS = ["source", "self_time_ps", "time_pct", "class", "op_count", "name", "module"];
const LABELS = { source: "Source", self_time_ps: "Self time", time_pct: "Share of core time", class: "Mostly", op_count: "Ops", name: "Longest op", module: "Its module" };

export function Sources() {
	const { report, choices } = usePage();
	const rows = useMemo(() => bySource(report.ops ?? [], report.time?.total_ps ?? 0, BUCKETS), [report]);
	const rest = useMemo(() => withoutSource(report.ops ?? []), [report]);
	/** Its ops, in the table of all ops. @param {string} source */
	const show = (source) => {
		choices.set("time.ops.find", source);
		document.querySelector('section.table[aria-label="Ops"]')?.scrollIntoView({ block: "start" });
	};
	/** @type {Record<string, DrawCell>} */
	const draw = useMemo(() => ({
		self_time_ps: (v) => value("ops.self_time_ps", v),
		class: (v) => (v ? title(v) : ""),
		op_count: (v, row) => (
			<button type="button" class="link ops" title="shows them in the table of all ops" onClick={(e) => { e.stopPropagation(); show(row.source); }}>
				{v}
			</button>
		),
	}), [choices]);
	if (!rows.length) return <p class="empty">{report.ops?.length ? "Time by source line: the profile does not name the source of any op." : "Time by source line: no op ran."}</p>;
	return (
		<div>
			<Table name="sources" caption="Time by source line" rows={rows} columns={COLUMNS} labels={LABELS} draw={draw} max={10} sort={{ column: "self_time_ps", down: true }} />
			{rest.ps > 0 && <p class="count">{`The profile names no source line for ${value("ops.self_time_ps", rest.ps)}${rest.count ? `, the time of ${rest.count.toLocaleString("en-US")} ops` : ""}.`}</p>}
		</div>
	);
}
