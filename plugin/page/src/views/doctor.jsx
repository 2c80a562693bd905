// What to do, the costliest first: evidence, advice, code to copy, and where it is.
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clean, coreTime, time, title, value } from "../format.js";
import { XProfLink } from "../links.jsx";
import { Op } from "../op.jsx";
import { ByHand, OpenFinding } from "../open.jsx";
import { Place as PlaceLine } from "../place.jsx";
import { Choice, Code, columnsOf, Facts, gainOf, Missing, Notes } from "../parts.jsx";
import { deviceIn, useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";
import { Label, Unknown } from "../words.jsx";

/** @import { Finding as FindingData, FindingRange, Kpi, Report } from "../report.d.ts" */

const SEVERITIES = ["critical", "warning", "info"];

const MANY_RANGES = 6;

/**
 * What a button leads to: the time, the device with its host, and whether there are more like it.
 * @type {(report: Report, range: FindingRange) => string}
 */
export function rangeText(report, range) {
	const device = report.run?.devices?.find((d) => d.id === range.device);
	const name = device && ((report.run?.hosts?.length ?? 0) > 1 ? `${device.host} ${device.name}` : device.name);
	return `${range.example ? "Show an example" : "Show"}: ${time(range.end_ps - range.start_ps)} at ${time(range.start_ps)}${name ? ` on ${clean(name)}` : ""}`;
}

/** @param {{ finding: FindingData, ranges: FindingRange[] }} props */
function Ranges({ finding, ranges }) {
	const { report, whole, setLook } = usePage();
	const [all, setAll] = useChoice(`doctor.${finding.id}`, false);
	const mine = [...(finding.time_ranges ?? ranges.filter((r) => r.finding === finding.id))].sort((a, b) => b.end_ps - b.start_ps - (a.end_ps - a.start_ps));
	return (
		<span class="links">
			{mine.slice(0, all ? mine.length : MANY_RANGES).map((r, i) => (
				<button key={i} type="button" onClick={() => setLook({ range: [r.start_ps, r.end_ps], device: deviceIn(whole, report, r.device), view: "slices" })}>
					{rangeText(report, r)}
				</button>
			))}
			{mine.length > MANY_RANGES && !all && (
				<button type="button" onClick={() => setAll(true)}>{`${mine.length - MANY_RANGES} shorter times`}</button>
			)}
		</span>
	);
}

/** @param {{ where: NonNullable<FindingData["where"]>[number] }} props */
function Place({ where: { op, module, source } }) {
	const text = clean([module && `in ${module}`, source && `at ${source}`].filter(Boolean).join(" "));
	return (
		<li>
			{op && <Op of={{ module: module ?? "", name: op }} />} {text}
		</li>
	);
}

/** @param {{ finding: FindingData, ranges: FindingRange[], open: boolean, isLed: boolean, onToggle: (open: boolean) => void }} props ISLED: a link leads to it */
function Finding({ finding: f, ranges, open, isLed, onToggle }) {
	const box = useRef(/** @type {HTMLDetailsElement | null} */ (null));
	useEffect(() => {
		if (isLed) box.current?.scrollIntoView({ block: "start" });
	}, [isLed]);
	const gain = gainOf(f) ?? "gain unknown";
	const alone = typeof f.impact_pct === "number" ? `Alone it could give back ${value("_pct", f.impact_pct)} of core time (${coreTime(f.impact_ps ?? 0)}) at most: ${clean(f.ceiling ?? "")}.` : "";
	return (
		<details class="finding" data-finding={f.id} open={open} ref={box} onToggle={(e) => e.currentTarget.open !== open && onToggle(e.currentTarget.open)}>
			<summary>
				<span class={`severity ${f.severity}`}>{f.severity}</span> {clean(f.title)} <span class="impact">{gain}</span>
			</summary>
			<PlaceLine finding={f} />
			<p>{clean(f.evidence ?? "")}</p>
			{f.severity_reason && <p class="count">{`It is ${f.severity} because ${clean(f.severity_reason)}.`}</p>}
			{alone && <p class="count">{alone}</p>}
			{f.where && f.where.length > 0 && (
				<ul class="where">
					{f.where.map((w, i) => (
						<Place key={i} where={w} />
					))}
				</ul>
			)}
			<p class="advice">{clean(f.advice ?? "")}</p>
			{f.code && <Code text={f.code} />}
			<p class="links">
				<XProfLink name="XProf graph" link={f.links?.xprof} />
				<XProfLink name="XProf trace viewer" link={f.links?.xprof_trace} />
				<OpenFinding finding={f} />
				<Ranges finding={f} ranges={ranges} />
				<span class="count">{`Confidence: ${f.confidence}`}</span>
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
	const known = kpis.filter((k) => k.value !== null);
	const unknown = kpis.filter((k) => k.value === null);
	return (
		<section aria-label="key figures">
			<h3>Key figures</h3>
			<dl class="facts">
				{known.map((k) => (
					<div key={k.name} class={`fact kpi ${BANDS[k.band] ?? ""}`} title={k.band_reason ? `${k.meaning}; ${k.band_reason}` : k.meaning}>
						<dt>
							<Label of={`kpis.${k.name}`} origin={k.origin} window={k.window} />
						</dt>
						<dd>
							{`${number(/** @type {number} */ (k.value))} ${k.unit}`}
							<span class="origin">{k.band}</span>
						</dd>
						<dd class="count">{`good ${k.better === "higher" ? "from" : "up to"} ${number(k.good)} ${k.unit}${k.fair === null ? "" : `, fair ${k.better === "higher" ? "from" : "up to"} ${number(k.fair)} ${k.unit}`}`}</dd>
					</div>
				))}
			</dl>
			<Unknown of={unknown.map((k) => `kpis.${k.name}`)} view="doctor" why="The profile does not have what they need." />
		</section>
	);
}

export function Doctor() {
	const { report, look, setLook } = usePage();
	const [only, setOnly] = useChoice("doctor.show", "");
	const [opened, setOpened] = useChoice("doctor.open", /** @type {string[]} */ ([]));
	/** @type {(id: string, isOpen: boolean) => void} */
	const onToggle = (id, isOpen) => {
		setOpened((ids) => [...ids.filter((i) => i !== id), ...(isOpen ? [id] : [])]);
		if (!isOpen && look.finding === id) setLook({ finding: null });
	};
	const d = report.doctor;
	if (!d) return <Missing what="findings" />;
	const all = d.findings ?? [];
	const shown = only ? all.filter((f) => f.severity === only) : all;
	/** @type {(severity: string) => [string, string]} */
	const counted = (severity) => [severity, `${severity} (${all.filter((f) => f.severity === severity).length})`];
	return (
		<div>
			<Facts of="doctor" view={d} />
			<p class="bar">
				<Choice label="show" value={only} options={[["", `all ${all.length}`], ...SEVERITIES.map(counted)]} onPick={setOnly} />
			</p>
			{all.length === 0 && <p class="empty">Nothing to change was found.</p>}
			{shown.map((f) => (
				<Finding key={f.id} finding={f} ranges={d.ranges ?? []} open={look.finding === f.id || opened.includes(f.id)} isLed={look.finding === f.id} onToggle={(open) => onToggle(f.id, open)} />
			))}
			{Object.keys(d)
				.filter((n) => Array.isArray(d[n]) && !["findings", "notes", "ranges", "kpis"].includes(n))
				.map((n) => (
					<Table key={n} name={n} caption={title(`doctor.${n}`)} rows={d[n]} columns={columnsOf(d[n])} />
				))}
			<KeyFigures kpis={d.kpis ?? []} />
			<Notes view={d} />
		</div>
	);
}
