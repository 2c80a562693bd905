// SPDX-License-Identifier: MIT
// What to do, the costliest first: evidence, advice, code to copy, and where it is.
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clean, coreTime, time, title, value } from "../format.js";
import { XProfLink } from "../links.jsx";
import { Op } from "../op.jsx";
import { hintOf, rowOf } from "../opdata.js";
import { ByHand, OpenFinding } from "../open.jsx";
import { Choice, Code, columnsOf, Facts, gainOf, Missing, Notes, Window } from "../parts.jsx";
import { Place as PlaceLine } from "../place.jsx";
import { deviceIn, useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";
import { Label, Unknown } from "../words.jsx";

/** @import { Finding as FindingData, FindingRange, Kpi, Maybe, Report } from "../report.d.ts" */

const SEVERITIES = ["critical", "warning", "info"];

const MANY_RANGES = 3;
const ELSEWHERE = new Set(["health_score", "what_if"]); // the overview has one, and WhatIf the other
const ORDER = "Findings stand in the order of their gains. The time behind each is its gain: time of the whole run. Two findings may save the same moment: it is counted for one of them only.";

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
				<button type="button" onClick={() => setAll(true)}>{`${mine.length - MANY_RANGES} shorter ${mine.length - MANY_RANGES === 1 ? "time" : "times"}`}</button>
			)}
		</span>
	);
}

/** @param {{ where: NonNullable<FindingData["where"]>[number] }} props */
function Place({ where: { op, module, source } }) {
	const { report } = usePage();
	const of = op ? { module: module ?? "", name: op } : null;
	const row = of && rowOf(report, of);
	const isSaid = Boolean(row && hintOf(row).includes(source ?? "")); // the op's own hint has the line
	const text = clean([module && `in ${module}`, source && !isSaid && `at ${source}`].filter(Boolean).join(" "));
	return (
		<li>
			{of && <Op of={of} says />} {text} {typeof row?.self_time_ps === "number" && <span class="count">{coreTime(row.self_time_ps)}</span>}
		</li>
	);
}

const FEW = 3; // places that are shown at first

/** @param {{ finding: FindingData }} props */
function Places({ finding: { id, where } }) {
	const [all, setAll] = useChoice(`doctor.places.${id}`, false);
	if (!where?.length) return null;
	const more = all ? 0 : where.length - FEW;
	return (
		<ul class="where">
			{(all ? where : where.slice(0, FEW)).map((w, i) => (
				<Place key={i} where={w} />
			))}
			{more > 0 && (
				<li>
					<button type="button" class="link" onClick={() => setAll(true)}>{`${more} more`}</button>
				</li>
			)}
		</ul>
	);
}

// One line on how sure this is, and what it could give back if nothing else were done.
/** @param {{ finding: FindingData }} props */
function Ceiling({ finding: f }) {
	const alone = typeof f.impact_pct === "number" ? `Alone it could give back ${value("_pct", f.impact_pct)} of core time (${coreTime(f.impact_ps ?? 0)}) at most: ${clean(f.ceiling ?? "")}.` : "";
	const why = f.severity_reason ? `It is ${f.severity} because ${clean(f.severity_reason)}.` : "";
	return <p class="count">{[alone, why, `Confidence: ${f.confidence}.`].filter(Boolean).join(" ")}</p>;
}

/** @param {{ finding: FindingData, ranges: FindingRange[], open: boolean, isLed: boolean, onToggle: (open: boolean) => void }} props ISLED: a link leads to it */
function Finding({ finding: f, ranges, open, isLed, onToggle }) {
	const box = useRef(/** @type {HTMLDetailsElement | null} */ (null));
	useEffect(() => {
		if (isLed) box.current?.scrollIntoView({ block: "start" });
	}, [isLed]);
	return (
		<details class="finding" data-finding={f.id} open={open} ref={box} onToggle={(e) => e.currentTarget.open !== open && onToggle(e.currentTarget.open)}>
			<summary>
				<span class={`severity ${f.severity}`}>{f.severity}</span> {clean(f.title)} <span class="impact">{gainOf(f) ?? "gain unknown"}</span>
			</summary>
			<PlaceLine finding={f} />
			<p>{clean(f.evidence ?? "")}</p>
			<p class="advice">{clean(f.advice ?? "")}</p>
			<Places finding={f} />
			<p class="links">
				<Ranges finding={f} ranges={ranges} />
				<XProfLink name="XProf graph" link={f.links?.xprof} />
				<XProfLink name="XProf trace viewer" link={f.links?.xprof_trace} />
				<OpenFinding finding={f} />
			</p>
			<Ceiling finding={f} />
			{f.code && (
				<details class="example">
					<summary>Example in code</summary>
					<Code text={f.code} />
				</details>
			)}
			<ByHand finding={f} />
		</details>
	);
}

/** @type {Record<string, string>} */
const BANDS = { good: "good", fair: "fair", poor: "poor" };

// What a run is not limited by may stay low: the class of the verdict, the figure, and why.
/** @type {Record<string, [figure: string, why: string]>} */
const NO_FAULTS = {
	compute: ["memory_bandwidth", "the run is bound by compute, not by memory"],
	memory_wait: ["mxu_utilization", "the run is bound by memory, not by the matrix units"],
};

/**
 * How a figure is judged, and why it is no fault if it is low: never against the verdict.
 * @type {(kpi: Kpi, limit: Maybe<string>) => { band: string, reason: string }}
 */
export function bandOf(kpi, limit) {
	const [figure, why] = NO_FAULTS[limit ?? ""] ?? [];
	if (kpi.band === "poor" && figure === kpi.name) return { band: "neutral", reason: why ?? "" };
	return { band: kpi.band, reason: clean(kpi.band_reason ?? "") };
}

// Where the bands of a figure end, in words.
/** @param {Kpi} k */
function limitsOf(k) {
	const word = k.better === "higher" ? "from" : "up to";
	return `good ${word} ${round(k.good, k.unit)}${k.fair === null ? "" : `, fair ${word} ${round(k.fair, k.unit)}`}`;
}

/** @param {{ kpi: Kpi, limit: Maybe<string> }} props */
function KeyFigure({ kpi: k, limit }) {
	const { band, reason } = bandOf(k, limit);
	return (
		<div class={`fact kpi ${BANDS[band] ?? ""}`}>
			<dt>
				<Label of={`kpis.${k.name}`} origin={k.origin} window={k.window} />
			</dt>
			<dd>
				{figure(/** @type {number} */ (k.value), k.unit)}
				<span class="origin">{BANDS[band] ?? "not judged"}</span>
			</dd>
			<Window of={`kpis.${k.name}`} window={k.window} />
			<dd class="count">{BANDS[band] ? limitsOf(k) : reason}</dd>
		</div>
	);
}
/** @param {number} x */
const number = (x) => (Number.isInteger(x) ? String(x) : String(+x.toPrecision(3)));
/** @type {Record<string, number>} */
const PS = { s: 1e12, ms: 1e9 };
/** A figure in its unit; times are written as everywhere. @type {(x: number, unit: string) => string} */
const figure = (x, unit) => (unit in PS ? time(x * PS[unit]) : `${number(x)} ${unit}`);
/** The same of a limit: people set those, and round ones stay so. @type {(x: number, unit: string) => string} */
const round = (x, unit) => `${number(x)} ${unit}`;

/**
 * Figures that people judge a run by, with the limits they judge it by.
 * @param {{ kpis: Kpi[], limit: Maybe<string> }} props LIMIT: the class that limits the run
 */
function KeyFigures({ kpis, limit }) {
	if (!kpis.length) return null;
	const known = kpis.filter((k) => k.value !== null);
	const unknown = kpis.filter((k) => k.value === null);
	return (
		<section aria-label="key figures">
			<h3>Key figures</h3>
			<dl class="facts">
				{known.map((k) => (
					<KeyFigure key={k.name} kpi={k} limit={limit} />
				))}
			</dl>
			<Unknown of={unknown.map((k) => `kpis.${k.name}`)} view="doctor" why="The profile does not have what they need." />
		</section>
	);
}

// What could mend some of the findings can be tried without the machine that was measured.
/** @param {{ command: string }} props */
function WhatIf({ command }) {
	return (
		<section aria-label="what would help">
			<h3>What would help</h3>
			<p>
				Sizes, bf16, donation, rematerialization and the mesh can be tried without a TPU: this compiles the program again with each change, and shows those that win. Write your script and the function of one step in place of
				SCRIPT.py:FUNCTION, and add its arguments.
			</p>
			<Code text={command} what="command" />
		</section>
	);
}

export function Doctor() {
	const { report, look, setLook } = usePage();
	const [only, setOnly] = useChoice("doctor.show", "");
	const first = look.finding ? [] : (report.doctor?.findings ?? []).slice(0, 1).map((f) => f.id); // open until somebody closes it
	const [opened, setOpened] = useChoice("doctor.open", first);
	/** @type {(id: string, isOpen: boolean) => void} */
	const onToggle = (id, isOpen) => {
		setOpened((ids) => [...ids.filter((i) => i !== id), ...(isOpen ? [id] : [])]);
		if (!isOpen && look.finding === id) setLook({ finding: null });
	};
	const d = report.doctor;
	if (!d) return <Missing what="findings" />;
	const command = typeof d.what_if === "string" ? d.what_if : "";
	const all = d.findings ?? [];
	const shown = only ? all.filter((f) => f.severity === only) : all;
	/** @type {(severity: string) => [string, string]} */
	const counted = (severity) => [severity, `${severity} (${all.filter((f) => f.severity === severity).length})`];
	return (
		<div>
			{all.length > 1 && <p class="order">{ORDER}</p>}
			<p class="bar">
				<Choice label="show" value={only} options={[["", `all ${all.length}`], ...SEVERITIES.map(counted)]} onPick={setOnly} />
			</p>
			{all.length === 0 && <p class="empty">Nothing to change was found.</p>}
			{shown.map((f) => (
				<Finding key={f.id} finding={f} ranges={d.ranges ?? []} open={look.finding === f.id || opened.includes(f.id)} isLed={look.finding === f.id} onToggle={(open) => onToggle(f.id, open)} />
			))}
			{command && <WhatIf command={command} />}
			{Object.entries(d)
				.filter(([n, rows]) => Array.isArray(rows) && !["findings", "notes", "ranges", "kpis"].includes(n))
				.map(([n, rows]) => (
					<Table key={n} name={n} caption={title(`doctor.${n}`)} rows={rows} columns={columnsOf(rows)} />
				))}
			<Facts of="doctor" view={d} skip={ELSEWHERE} />
			<KeyFigures kpis={d.kpis ?? []} limit={report.time?.bottleneck_bucket} />
			<Notes view={{ notes: (d.notes ?? []).filter((n) => !command || !n.includes(command)) }} />
		</div>
	);
}
