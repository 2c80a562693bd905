// What to do, the costliest first: evidence, advice, code to copy, and where it is.
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { clean, coreTime, cut, time, title, value } from "../format.js";
import { ByHand, OpenFinding } from "../open.jsx";
import { Code, columnsOf, Facts, gainOf, Missing, Notes } from "../parts.jsx";
import { xprof } from "../source.js";
import { usePage } from "../state.js";
import { copy, Table } from "../table.jsx";

/** @import { Finding as FindingData, FindingRange, Kpi, Maybe } from "../report.d.ts" */

const SEVERITIES = ["critical", "warning", "info"];

// Links are relative to TensorBoard. Outside of it the button copies the link, to be pasted after TensorBoard's address.
/** @param {{ name: string, link: Maybe<string> }} props */
function Link({ name, link }) {
	const href = xprof(link);
	if (href)
		return (
			<a href={href} target="_blank" rel="noopener noreferrer">
				{name}
			</a>
		);
	return link ? (
		<button type="button" title={`copies the part of the link that follows TensorBoard's address: ${cut(clean(link), 300)}`} onClick={() => copy(link)}>
			{`Copy link: ${name}`}
		</button>
	) : null;
}

/** @param {{ finding: FindingData, ranges: FindingRange[] }} props */
function Ranges({ finding, ranges }) {
	const { setLook } = usePage();
	const mine = finding.time_ranges ?? ranges.filter((r) => r.finding === finding.id);
	return mine.slice(0, 6).map((r, i) => (
		<button key={i} type="button" onClick={() => setLook({ range: [r.start_ps, r.end_ps], device: typeof r.device === "number" ? r.device : null, view: "time" })}>
			{`${time(r.start_ps)} to ${time(r.end_ps)}`}
		</button>
	));
}

/** @param {{ finding: FindingData, ranges: FindingRange[], open: boolean }} props */
function Finding({ finding: f, ranges, open }) {
	const box = useRef(/** @type {HTMLDetailsElement | null} */ (null));
	useEffect(() => {
		if (open) box.current?.scrollIntoView({ block: "start" });
	}, [open]);
	const gain = gainOf(f) ?? "gain unknown";
	const alone = typeof f.impact_pct === "number" ? `By itself it is ${value("_pct", f.impact_pct)} of core time (${coreTime(f.impact_ps ?? 0)}) at most: ${clean(f.ceiling ?? "")}.` : "";
	return (
		<details class="finding" open={open} ref={box}>
			<summary>
				<span class={`severity ${f.severity}`}>{f.severity}</span> {clean(f.title)} <span class="impact">{gain}</span>
			</summary>
			<p>{clean(f.evidence ?? "")}</p>
			{f.severity_reason && <p class="count">{`It is ${f.severity} because ${clean(f.severity_reason)}.`}</p>}
			{alone && <p class="count">{alone}</p>}
			{f.where && f.where.length > 0 && (
				<ul class="where">
					{f.where.map((w, i) => (
						<li key={i}>
							{clean([w.op, w.module && `in ${w.module}`, w.source && `at ${w.source}`].filter(Boolean).join(" "))}
						</li>
					))}
				</ul>
			)}
			<p class="advice">{clean(f.advice ?? "")}</p>
			{f.code && <Code text={f.code} />}
			<p class="links">
				<Link name="XProf graph" link={f.links?.xprof} />
				<Link name="XProf trace viewer" link={f.links?.xprof_trace} />
				<OpenFinding finding={f} />
				<Ranges finding={f} ranges={ranges} />
				<span class="count">{`${f.confidence}; ${f.id}`}</span>
			</p>
			<ByHand finding={f} />
		</details>
	);
}

/** @type {Record<string, string>} */
const BANDS = { good: "good", fair: "fair", poor: "poor" };
/** @param {number} x */
const number = (x) => (Number.isInteger(x) ? String(x) : String(+x.toPrecision(3)));

/**
 * Figures that people judge a run by, with the limits they judge it by.
 * @param {{ kpis: Kpi[] }} props
 */
function KeyFigures({ kpis }) {
	if (!kpis.length) return null;
	return (
		<section aria-label="key figures">
			<h3>Key figures</h3>
			<dl class="facts">
				{kpis.map((k) => (
					<div key={k.name} class={`fact kpi ${BANDS[k.band] ?? ""}`} title={k.band_reason ? `${k.meaning}; ${k.band_reason}` : k.meaning}>
						<dt>{title(k.name)}</dt>
						<dd>
							{k.value === null ? <span class="unknown">unknown</span> : `${number(k.value)} ${k.unit}`}
							<span class="origin">{k.value === null ? "" : k.band}</span>
						</dd>
						<dd class="count">{`good ${k.better === "higher" ? "from" : "up to"} ${k.good} ${k.unit}${k.fair === null ? "" : `, fair ${k.better === "higher" ? "from" : "up to"} ${k.fair}`}`}</dd>
					</div>
				))}
			</dl>
		</section>
	);
}

export function Doctor() {
	const { report, look } = usePage();
	const [only, setOnly] = useState("");
	const d = report.doctor;
	if (!d) return <Missing what="findings" />;
	const all = d.findings ?? [];
	const shown = only ? all.filter((f) => f.severity === only) : all;
	return (
		<div>
			<Facts view={d} />
			<p class="bar">
				<label class="choice">
					show
					<select value={only} onChange={(e) => setOnly(e.currentTarget.value)}>
						<option value="">all {all.length}</option>
						{SEVERITIES.map((s) => (
							<option key={s} value={s}>{`${s} (${all.filter((f) => f.severity === s).length})`}</option>
						))}
					</select>
				</label>
			</p>
			{all.length === 0 && <p class="empty">No finding is worth your time.</p>}
			{shown.map((f) => (
				<Finding key={f.id} finding={f} ranges={d.ranges ?? []} open={look.finding === f.id} />
			))}
			{Object.keys(d)
				.filter((n) => Array.isArray(d[n]) && !["findings", "notes", "ranges", "kpis"].includes(n))
				.map((n) => (
					<Table key={n} name={n} caption={n === "kpis" ? "Key figures" : title(n)} rows={d[n]} columns={columnsOf(d[n])} />
				))}
			<KeyFigures kpis={d.kpis ?? []} />
			<Notes view={d} />
		</div>
	);
}
