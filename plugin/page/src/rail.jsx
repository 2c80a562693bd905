// SPDX-License-Identifier: MIT
// What is to be known of a run wherever one is in it: its verdict, the findings that would save the most, and its slow steps. A click marks what it is
// about; what is said of it stands at the other side (drawer.jsx).
import { h } from "preact";
import { bucketColor } from "./colors.js";
import { clean, time, title } from "./format.js";
import { rangesOf, verdictOf } from "./overview.js";
import { placeOf } from "./place.js";
import { deviceIn, usePage } from "./state.js";

/** @import { Finding, Look, PageState, Range, Report, Row } from "./report.d.ts" */

const MOST = 5;
const AROUND = 4; // times as long as a moment is what is shown of it

/** @type {(finding: Finding) => string} */
const saved = ({ gain_ps: ps }) => (typeof ps === "number" && ps > 0 ? `\u2212${time(ps)}` : "");

/**
 * Where to look for a finding: at its longest moment, with some time around it. Elsewhere than in the timeline nothing moves.
 * @type {(page: Pick<PageState, "report" | "whole" | "scale">, finding: Finding) => Partial<Look>}
 */
export function lookAt({ report, whole, scale }, finding) {
	const [first] = rangesOf(report, finding);
	if (!first) return {};
	const length = Math.max(first.end_ps - first.start_ps, 1);
	/** @type {Range} */
	const range = [Math.max(first.start_ps - AROUND * length, 0), Math.min(first.end_ps + AROUND * length, scale.end)];
	return { range, ...(typeof first.device === "number" && (whole.run?.devices?.length ?? 0) > 64 ? { device: deviceIn(whole, report, first.device) } : {}) };
}

/** @param {{ finding: Finding }} props */
function One({ finding }) {
	const page = usePage();
	const { report, look, setLook } = page;
	const isChosen = look.finding === finding.id;
	const { source, op } = placeOf(report, finding);
	const onClick = () => setLook(isChosen ? { finding: null } : { finding: finding.id, op: null, ...(look.view === "slices" ? lookAt(page, finding) : {}) });
	return (
		<li>
			<button type="button" class={`said ${finding.severity}`} aria-pressed={isChosen} onClick={onClick}>
				<b>{clean(finding.title)}</b>
				<span class="saved">{saved(finding)}</span>
				<span class="at">{clean(source ?? op?.name ?? "")}</span>
			</button>
		</li>
	);
}

/** @type {(report: Report) => Row[]} */
const slowOf = (report) => [...(report.time?.steps_outliers ?? [])].sort((a, b) => (b.excess_ps ?? 0) - (a.excess_ps ?? 0)).slice(0, MOST);

export function Rail() {
	const { whole: report, look, setLook } = usePage();
	const findings = report.doctor?.findings ?? [];
	const slow = slowOf(report);
	const found = verdictOf(report);
	if (!findings.length && !found) return null;
	return (
		<aside class="rail" aria-label="findings and slow steps">
			{found && <p class="verdict">{clean(found.verdict)}</p>}
			{findings.length > 0 && <h2>Findings, by the time they would save</h2>}
			<ol>
				{findings.slice(0, MOST).map((f) => (
					<One key={f.id} finding={f} />
				))}
			</ol>
			{findings.length > MOST && (
				<button type="button" class="link" onClick={() => setLook({ view: "doctor", finding: null })}>{`${findings.length - MOST} more`}</button>
			)}
			{slow.length > 0 && <h2>{`Slow steps, against a median of ${time(report.overview?.step_time_ps?.median ?? 0)}`}</h2>}
			<ol>
				{slow.map((s) => {
					/** @type {Range} */
					const range = [s.start_ps, s.start_ps + s.duration_ps];
					return (
						<li key={s.start_ps}>
							<button type="button" class="said" aria-pressed={`${look.range?.map(Math.round)}` === `${range}`} onClick={() => setLook({ range, view: "slices", finding: null })}>
								<b>{`${s.step}`}</b>
								<span class="saved">{`+${time(s.excess_ps)}`}</span>
								<span class="at">
									<span class="swatch" style={{ background: bucketColor(s.cause) }} aria-hidden="true" />
									{clean(s.reason ?? title(s.cause ?? ""))}
								</span>
							</button>
						</li>
					);
				})}
			</ol>
		</aside>
	);
}
