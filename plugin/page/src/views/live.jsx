// SPDX-License-Identifier: MIT
// A running job, watched: its figures of now and of the last samples, its servers, what is wrong with it. Or a log directory: the
// same of its sessions, each as it was annotated.
import { h } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { bucketColor } from "../colors.js";
import { ink, Plot, tooltip } from "../chart.jsx";
import { clean, cut, value } from "../format.js";
import { runAt } from "../live.js";
import { Fact } from "../parts.jsx";
import { ofRun, runName, usePage, useWatch } from "../state.js";
import { Table } from "../table.jsx";

/** @import { DrawCell, Drawing, LiveAlert, LiveSample, LiveSession, Maybe, Row, Severity as Level } from "../report.d.ts" */
/** @import uPlot from "uplot" */
/** @typedef {LiveSample | LiveSession} Shown */

const SCORE = "health_score";
// [name in the events, for people, where it comes from, why it may be unknown]: docs/live.md
/** @type {[name: string, label: string, origin?: string, why?: string][]} */
const METRICS = [
	["mxu_utilization_pct", "MXU utilization", "modelled", "no device, or no op has a known cost"],
	["hbm_utilization_pct", "HBM utilization", "modelled", "no device, or its bandwidth or the ops' bytes are unknown"],
	["duty_cycle_pct", "duty cycle", "measured", "no device"],
	["step_time_ps", "step time", "measured", "the sample has fewer than two steps"],
	["step_marked_ps", "step's mark", "measured", "the job does not number its steps"],
	["step_time_unsampled_ps", "step between samples", "measured", "the job does not number its steps"],
	[SCORE, "health of 100", undefined, "no device"],
	["padding_waste_pct", "padding waste", "modelled", "no device"],
	["idle_pct", "idle", "measured", "no device"],
	["communication_pct", "communication", "measured", "no device"],
	["input_pct", "waiting for input", "measured", "no device"],
	["compiling_pct", "compiling", "measured", "the job did not advance in the sample"],
	["compilation_ms_per_min", "compilation per minute", "modelled", "too much of the last minute is not known"],
	["memory_used_bytes", "memory in use", "measured", "no device says it"],
	["no_step_ms", "since the last step", "measured"],
	["sampled_pct", "sampled", "measured"],
	["sampling_cost_pct", "price of sampling", "modelled", "the job does not number its steps"],
];
const LABELS = new Map(METRICS.map(([name, label]) => [name, label]));
const OF_SAMPLES = new Set(["step_marked_ps", "step_time_unsampled_ps", "no_step_ms", "compilation_ms_per_min", "sampled_pct", "sampling_cost_pct"]);
/** @param {string} type */
const metricsOf = (type) => METRICS.filter(([name]) => type === "sample" || !OF_SAMPLES.has(name));
/** @type {(name: string, v: unknown) => string} */
const written = (name, v) => (name === SCORE && typeof v === "number" ? value(name, Math.round(v)) : value(name, v));

/** @type {{ title: string, of: string[], most?: number }[]} */
const CHARTS = [
	{ title: "Utilization", of: ["mxu_utilization_pct", "hbm_utilization_pct", "duty_cycle_pct"], most: 100 },
	{ title: "Time lost", of: ["idle_pct", "communication_pct", "input_pct", "compiling_pct", "padding_waste_pct"] },
	{ title: "Step time", of: ["step_time_ps", "step_marked_ps", "step_time_unsampled_ps"] },
	{ title: "Compilation per minute", of: ["compilation_ms_per_min"] },
	{ title: "Memory in use", of: ["memory_used_bytes"] },
	{ title: "Health", of: [SCORE], most: 100 },
	{ title: "Sampling", of: ["sampled_pct", "sampling_cost_pct"] },
];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 5]]; // the lines differ without colours too
// A metric has the colour of its time class, where it is of one; the others have that of the text.
/** @type {Record<string, string>} */
const CLASSES = { mxu_utilization_pct: "compute", hbm_utilization_pct: "memory_wait", idle_pct: "idle", communication_pct: "communication", input_pct: "input", compiling_pct: "compilation", compilation_ms_per_min: "compilation" };
/** @param {string} name */
export const colorOf = (name) => (CLASSES[name] ? bucketColor(CLASSES[name]) : null);
const GAP_MS = 10000; // without a sample so long, the line is broken; sessions may be hours apart

/** @param {number} n */
const two = (n) => String(n).padStart(2, "0");
/** @param {number} unixMs */
export function clock(unixMs) {
	const at = new Date(unixMs);
	return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

const DAY_S = 86400;
/** @param {number} unixMs */
const day = (unixMs) => `${new Date(unixMs).getMonth() + 1}/${new Date(unixMs).getDate()} ${clock(unixMs).slice(0, 5)}`;

/** @type {(digits: number) => (unixMs: number) => string} */
const fine = (digits) => (unixMs) => `${clock(unixMs)}.${String(Math.floor(unixMs % 1000)).padStart(3, "0").slice(0, digits)}`;
/**
 * The words at SECONDS on an axis, as short as they can be when no two are the same.
 * @param {number[]} seconds
 */
export function ticks(seconds) {
	const isLong = seconds[seconds.length - 1] - seconds[0] > DAY_S;
	const all = [isLong ? day : clock, fine(1), fine(3)].map((form) => seconds.map((s) => form(Math.round(s * 1000))));
	return all.find((words) => new Set(words).size === words.length) ?? all[0];
}

/**
 * When it ran: a session when it was captured, not when it was annotated.
 * @param {Shown} s
 */
const ran = (s) => (s.type === "session" ? s.captured_unix_ms : null) ?? s.time_unix_ms;

/** @param {string} path */
const runOf = (path) => path.split("/plugins/profile/")[0];

/** @param {number} unixMs */
const date = (unixMs) => new Date(unixMs).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });

/**
 * What a chart says above its figures: of a session which one it is, and on which day it ran.
 * @type {(s: Maybe<Shown>, seconds: number) => string}
 */
export function heading(s, seconds) {
	const at = clock(seconds * 1000);
	if (s?.type !== "session") return at;
	return `${place(s.path)}, ${typeof s.captured_unix_ms === "number" ? "captured" : "annotated"} on ${date(ran(s))} at ${at}`;
}

/**
 * No line joins them: sessions of two runs, a watch that began anew, or paused long.
 * @type {(before: Shown, s: Shown) => boolean}
 */
function apart(before, s) {
	if (s.type === "session") return before.type !== "session" || runOf(before.path) !== runOf(s.path);
	return s.sample < before.sample || ran(s) - ran(before) > GAP_MS;
}

/**
 * uPlot's columns: seconds, then the metrics, in the order in which they ran.
 * @type {(samples: Shown[], names: string[]) => Drawing["data"]}
 */
export function columns(samples, names) {
	/** @type {number[]} */
	const seconds = [];
	const rows = names.map(() => /** @type {(number | null)[]} */ ([]));
	const sorted = samples[0]?.type === "session" ? [...samples].sort((a, b) => ran(a) - ran(b)) : samples;
	sorted.forEach((s, i) => {
		if (i > 0 && apart(sorted[i - 1], s)) {
			seconds.push((ran(sorted[i - 1]) + ran(s)) / 2000);
			rows.forEach((row) => row.push(null));
		}
		seconds.push(ran(s) / 1000);
		names.forEach((name, k) => rows[k].push(s.metrics[name] ?? null));
	});
	return [seconds, ...rows];
}

/**
 * Where an alert was raised: a line, in its colour, with a triangle on top.
 * @type {(u: uPlot, raised: LiveAlert[]) => void}
 */
function mark(u, raised) {
	const { left, top, width, height } = u.bbox;
	const style = getComputedStyle(document.documentElement);
	u.ctx.save();
	for (const alert of raised) {
		const x = u.valToPos(alert.time_unix_ms / 1000, "x", true);
		if (x < left || x > left + width) continue;
		u.ctx.strokeStyle = u.ctx.fillStyle = style.getPropertyValue(`--${alert.severity}`);
		u.ctx.beginPath();
		u.ctx.setLineDash([3, 3]);
		u.ctx.moveTo(x, top);
		u.ctx.lineTo(x, top + height);
		u.ctx.stroke();
		u.ctx.beginPath();
		u.ctx.moveTo(x - 5, top);
		u.ctx.lineTo(x + 5, top);
		u.ctx.lineTo(x, top + 8);
		u.ctx.fill();
	}
	u.ctx.restore();
}

/** @param {{ names: string[] }} props */
function Key({ names }) {
	return (
		<ul class="legend">
			{names.map((name, i) => (
				<li key={name}>
					<svg width="26" height="8" aria-hidden="true">
						<line x1="0" y1="4" x2="26" y2="4" stroke={colorOf(name) ?? "var(--text)"} stroke-width="2" stroke-dasharray={DASHES[i].join(" ")} />
					</svg>
					{LABELS.get(name)}
				</li>
			))}
		</ul>
	);
}

/** @param {{ chart: { title: string, most?: number }, names: string[], samples: Shown[], raised: LiveAlert[] }} props */
function History({ chart, names, samples, raised }) {
	const point = samples[0].type === "session" ? { show: true, size: 8 } : { size: 4 };
	const marks = useRef(raised);
	const places = new Map(samples.map((s) => [s.type === "session" ? s.path : null, ran(s)]));
	const shown = useRef(samples);
	shown.current = samples;
	marks.current = raised.map((alert) => ({ ...alert, time_unix_ms: (alert.session && places.get(alert.session)) || alert.time_unix_ms }));
	const data = useMemo(() => columns(samples, names), [samples, names]);
	const options = useMemo(
		/** @returns {Drawing["options"]} */
		() => ({
			legend: { show: false },
			padding: [null, 34, null, null], // room for half of the last word of the axis
			cursor: { drag: { x: false, y: false } },
			scales: { y: { range: (_, low, high) => [0, chart.most ?? Math.max(high * 1.1, 1)] } },
			axes: [{ values: (_, at) => ticks(at), space: 90, size: 28 }, { values: (_, at) => at.map((v) => (v === 0 ? "0" : written(names[0], v))), size: 92 }],
			series: [{}, ...names.map((name, i) => ({ label: LABELS.get(name), stroke: () => colorOf(name) ?? ink().stroke, width: 2, dash: DASHES[i], points: point }))],
			hooks: { draw: [(u) => mark(u, marks.current)] },
			plugins: [tooltip((i, u) => [heading(shown.current.find((s) => ran(s) / 1000 === u.data[0][i]), u.data[0][i]), ...names.map((name, k) => `${LABELS.get(name)}: ${written(name, u.data[k + 1][i])}`)])],
		}),
		[chart, names],
	);
	const now = samples[samples.length - 1].metrics;
	return (
		<section class="history" aria-label={chart.title}>
			<h3>{chart.title}</h3>
			<Key names={names} />
			<Plot options={options} data={data} height={170} label={`${chart.title} over the last ${samples.length} ${samples[0].type}s; now ${names.map((n) => `${LABELS.get(n)} ${written(n, now[n])}`).join(", ")}`} />
		</section>
	);
}

// Charts of the metrics that some sample knows; the others are named below.
/** @param {{ samples: Shown[], log: LiveAlert[] }} props */
function Histories({ samples, log }) {
	const known = useMemo(() => new Set(METRICS.map(([name]) => name).filter((name) => samples.some((s) => typeof s.metrics[name] === "number"))), [samples]);
	const key = [...known].join();
	const charts = useMemo(() => CHARTS.map((chart) => ({ chart, names: chart.of.filter((n) => known.has(n)) })).filter(({ names }) => names.length), [key]);
	const raised = log.filter((a) => a.state === "raised").sort((a, b) => Number(a.severity === "critical") - Number(b.severity === "critical")); // on top
	const unplaced = samples.filter((s) => s.type === "session" && typeof s.captured_unix_ms !== "number").length;
	const missing = metricsOf(samples[0].type).filter(([name]) => !known.has(name));
	return (
		<div>
			<div class="histories">
				{charts.map(({ chart, names }) => (
					<History key={`${chart.title} ${names}`} chart={chart} names={names} samples={samples} raised={raised} />
				))}
			</div>
			<p class="empty">
				{unplaced > 0 && `${unplaced} of ${samples.length} sessions do not say when they were captured: they stand at the time when they were annotated. `}
				{raised.length > 0 && "\u25bc: an alert was raised. "}
				{missing.length > 0 && `Unknown in every ${samples[0].type}: ${missing.map(([, label]) => label).join(", ")}.`}
			</p>
		</div>
	);
}

/** @type {Record<string, string>} */
const SIGNS = { critical: "\u25b2", warning: "\u25c6", info: "\u25cf" };
/** @param {{ of: Level }} props */
export function Severity({ of }) {
	return (
		<span class={`severity ${of}`}>
			<span aria-hidden="true">{SIGNS[of]}</span> {of}
		</span>
	);
}

/** @type {(v: unknown) => string} */
const said = (v) => (v ? cut(clean(String(v)), 300) : ""); // null: there is no text
/** @param {{ sample: Shown }} props */
function Active({ sample }) {
	if (!sample.alerts.length) return <p class="empty">No alert is active.</p>;
	return (
		<ul class="alerts">
			{sample.alerts.map((a) => (
				<li key={a.rule} class={`alert ${a.severity}`}>
					<details>
						<summary>
							<Severity of={a.severity} />
							<b>{clean(a.message ?? a.rule)}</b>
							{sample.type === "sample" && <span class="count">{`since ${clock(sample.time_unix_ms - a.for_ms)}`}</span>}
						</summary>
						{a.evidence && <p>{cut(clean(a.evidence), 600)}</p>}
						{a.advice && <p class="advice">{cut(clean(a.advice), 600)}</p>}
						<p class="count">{`rule ${a.rule}`}</p>
					</details>
				</li>
			))}
		</ul>
	);
}

/**
 * RUN/SESSION, where a log directory has it so; the tip has all of it.
 * @param {string} path
 */
const place = (path) => {
	const [run, session] = path.split("/plugins/profile/");
	return clean(session ? `${run.split("/").pop()}/${session}` : path);
};
// A problem begins with its file; the folder of the file is in the column beside it.
/** @type {(problem: Maybe<string>, path: string) => Maybe<string>} */
const without = (problem, path) => (problem?.startsWith(`${path}/`) ? problem.slice(path.length + 1) : problem);

/** @param {{ log: LiveAlert[] }} props */
function Log({ log }) {
	const rows = useMemo(() => log.map((a) => ({ ...a, time: clock(a.time_unix_ms) })).reverse(), [log]);
	const names = ["time", ...(rows[0]?.session ? ["session"] : []), "state", "severity", "message", "rule", "evidence"];
	/** @type {Record<string, DrawCell>} */
	const draw = { severity: (v, row) => (row.state === "cleared" ? `was ${v}` : <Severity of={v} />), session: place, evidence: said };
	return <Table name="alerts" caption="Alerts so far, the latest first" rows={rows} columns={names} draw={draw} max={8} empty="No alert was raised." />;
}

/** @type {Record<string, string>} */
const STATES = { new: "\u25cb", up: "\u25cf", busy: "\u25d0", late: "\u25d4", down: "\u2715" };
const TOOK = { took_ms: "Took" }; // its cells say the unit

/** @param {{ services: Row[] }} props */
function Services({ services }) {
	/** @type {Record<string, DrawCell>} */
	const draw = {
		state: (v) => <span class={`state ${v}`}>{`${STATES[v] ?? ""} ${v}`}</span>,
		took_ms: (v) => `${v} ms`,
		problem: said,
	};
	return <Table name="services" caption="Profiler servers" rows={services} columns={["service", "state", "samples", "failures", "restarts", "bytes", "took_ms", "problem"]} labels={TOOK} draw={draw} max={8} />;
}

/** @param {{ metrics: Shown["metrics"], type: Shown["type"] }} props */
function Figures({ metrics, type }) {
	const shown = metricsOf(type);
	const unknown = shown.filter(([name]) => (metrics[name] ?? null) === null);
	const reasons = [...new Set(unknown.map(([, , , why]) => why ?? "it was not measured"))];
	return (
		<div>
			<dl class="facts">
				{shown.map(([name, label, origin]) => (
					<Fact key={name} name={`live.${name}`} label={label} of={name === SCORE && metrics[name] !== null ? Math.round(metrics[name]) : metrics[name]} origin={origin} window={`this ${type}`} />
				))}
			</dl>
			{reasons.map((reason) => (
				<p key={reason} class="unknowns">
					<b>Unknown:</b> {`${unknown.filter(([, , , why]) => (why ?? "it was not measured") === reason).map(([, label]) => label).join(", ")} (${reason}).`}
				</p>
			))}
		</div>
	);
}

/** @type {Record<string, string>} */
const SESSION_STATES = { waiting: "\u25cb", annotated: "\u25cf", failed: "\u2715" };
/**
 * Each session as its last event has it. The other views show the one that is picked.
 * @param {{ sessions: LiveSession[] }} props
 */
function Sessions({ sessions }) {
	const { runs, setLook } = usePage();
	const rows = useMemo(() => {
		const last = new Map(sessions.map((s) => [s.path, { ...s, ran: ran(s), captured: s.captured_unix_ms ? `${date(s.captured_unix_ms)}, ${clock(s.captured_unix_ms)}` : null, time: clock(s.time_unix_ms), alerts: s.alerts.length }]));
		return [...last.values()].sort((a, b) => b.ran - a.ran || b.id - a.id);
	}, [sessions]);
	/** @type {Record<string, DrawCell>} */
	const draw = {
		state: (v) => <span class={`state ${v}`}>{`${SESSION_STATES[v] ?? ""} ${v}`}</span>,
		path: place,
		took_ms: (v) => `${v} ms`,
		problem: (v, row) => said(without(v, row.path)),
	};
	const pick = (/** @type {Row} */ row) => {
		const run = runAt(runs, row.path);
		if (run && runs) setLook({ ...ofRun(runName(run, runs)), view: "overview" });
	};
	return <Table name="sessions" caption="Sessions, the latest first" rows={rows} columns={["captured", "path", "state", "alerts", "hosts", "files", "bytes", "time", "took_ms", "problem"]} labels={TOOK} draw={draw} onPick={pick} />;
}

/** @param {{ sample: Shown }} props */
function Headline({ sample }) {
	if (sample.hosts === 0) return <p class="verdict">{`No host answered at ${clock(sample.time_unix_ms)}.`}</p>;
	const from = `of ${sample.hosts} host${sample.hosts === 1 ? "" : "s"}`;
	if (sample.type === "session") return <p class="verdict">{`Session ${cut(clean(sample.path), 160)}, ${from}, annotated at ${clock(sample.time_unix_ms)} in ${sample.took_ms} ms.`}</p>;
	return <p class="verdict">{`Sample ${sample.sample.toLocaleString("en-US")} at ${clock(sample.time_unix_ms)}, ${from}; fetched in ${sample.took_ms} ms, analysed in ${sample.analysed_ms} ms.`}</p>;
}

// Drawn only where something is watched (views/index.js).
export function Live() {
	const live = /** @type {import("../report.d.ts").Watched} */ (useWatch());
	const { session: sessions, alert: log } = live;
	const annotated = useMemo(() => sessions.filter((s) => s.state === "annotated"), [sessions]);
	/** @type {Shown[]} */
	const samples = live.sample.length ? live.sample : annotated;
	const sample = samples[samples.length - 1];
	return (
		<div>
			{!sample && <p class="empty">{sessions.length ? "No session is complete yet." : "No sample has arrived yet."}</p>}
			{sample && <Headline sample={sample} />}
			{sample?.problem && <p class="error">{`The ${sample.type} cannot be read: ${clean(sample.problem)}`}</p>}
			{sample && <Figures metrics={sample.metrics} type={sample.type} />}
			{sample && <h3>{sample.type === "session" ? "Alerts of this session" : "Active alerts"}</h3>}
			{sample && <Active sample={sample} />}
			{sample && <Histories samples={samples} log={log} />}
			{sample?.services && <Services services={sample.services} />}
			{sessions.length > 0 && <Sessions sessions={sessions} />}
			{sample && <Log log={log} />}
		</div>
	);
}
