// SPDX-License-Identifier: MIT
// The findings of a run in their order, and where on the run's time each of them is.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { clean, time } from "./format.js";
import { lane, rangesOf } from "./overview.js";
import { gainOf } from "./parts.jsx";
import { Place } from "./place.jsx";
import { deviceIn, usePage } from "./state.js";
import { SEVERITY_COLORS } from "./strip.jsx";
import { TimeLane } from "./timeaxis.jsx";

/** @import { Finding, FindingRange, LaneRow, Report, SetLook } from "./report.d.ts" */

const MOST = 8;

/** @type {(whole: Report, report: Report, setLook: SetLook, range: FindingRange) => void} */
const go = (whole, report, setLook, r) => setLook({ range: [r.start_ps, r.end_ps], device: deviceIn(whole, report, r.device), view: "slices" });

/** @typedef {{ finding: Finding, nr: number, ranges: FindingRange[] }} Listed */

/** @param {{ listed: Listed[] }} props */
function OverTime({ listed }) {
	const { report, whole, setLook, theme } = usePage();
	const rows = useMemo(() => {
		const of = getComputedStyle(document.documentElement);
		return listed.map(({ finding, nr, ranges }) => {
			const color = of.getPropertyValue(SEVERITY_COLORS[finding.severity].slice(4, -1)).trim();
			/** @type {LaneRow} */
			const row = { name: ranges.every((r) => r.example) ? `${nr}*` : `${nr}`, slices: lane(ranges), color: () => color, text: (kind) => `${clean(finding.title)}${ranges[kind].example ? " (one example)" : ""}` };
			return row;
		});
	}, [listed, theme]);
	return <TimeLane rows={rows} height={16} label={`when ${listed.length} ${listed.length === 1 ? "finding is" : "findings are"} in the run, a row each; a click shows the moment`} onPick={(row, kind) => go(whole, report, setLook, listed[rows.indexOf(row)].ranges[kind])} />;
}

/** @param {{ of: Listed }} props */
function Entry({ of: { finding: f, ranges } }) {
	const { report, whole, setLook } = usePage();
	const gain = gainOf(f);
	const [first] = ranges;
	return (
		<li>
			<span class={`severity ${f.severity}`}>{f.severity}</span>
			<button type="button" class="link" onClick={() => setLook({ view: "doctor", finding: f.id })}>
				{clean(f.title)}
			</button>
			{gain && <span class="impact">{gain}</span>}
			{first && (
				<button type="button" class="moment" onClick={() => go(whole, report, setLook, first)} title="shows the moment in the timeline">
					{`${first.example ? "for example at" : "at"} ${time(first.start_ps)}`}
				</button>
			)}
			<Place finding={f} />
		</li>
	);
}

export function Findings() {
	const { report, setLook } = usePage();
	const all = report.doctor?.findings ?? [];
	const listed = useMemo(() => all.slice(0, MOST).map((finding, i) => ({ finding, nr: i + 1, ranges: rangesOf(report, finding) })), [report]);
	const placed = useMemo(() => listed.filter(({ ranges }) => lane(ranges).length), [listed]);
	return (
		<section aria-label="findings">
			<h3>Findings, the costliest first</h3>
			{all.length > 1 && <p class="count">They stand in the order of their gains, the time behind each: no moment counts for two findings.</p>}
			{all.length === 0 && <p class="empty">Nothing to change was found.</p>}
			<ol class="findings">
				{listed.map((entry) => (
					<Entry key={entry.finding.id} of={entry} />
				))}
			</ol>
			{all.length > MOST && (
				<button type="button" class="link" onClick={() => setLook({ view: "doctor" })}>{`All ${all.length} findings`}</button>
			)}
			{placed.length > 0 && <p class="count">{`When they are: a row each, with the number of the finding. Click a mark to see the moment. A star says that the mark is one example of many.${placed.length < listed.length ? " A finding without a row has no moment of its own." : ""}`}</p>}
			{placed.length > 0 && <OverTime listed={placed} />}
		</section>
	);
}
