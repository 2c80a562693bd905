// SPDX-License-Identifier: MIT
// The timeline: what ran on each core and on its host, from the whole run down to one op. The events are asked for at the server; a file has those of
// two steps, and the others as far as they are wide enough.
import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { bucketColor, BUCKETS } from "../colors.js";
import { Legend } from "../chart.jsx";
import { clean, time, title } from "../format.js";
import { gapsOf } from "../gaps.js";
import { Lanes, Ruler } from "../lanes.jsx";
import { opKey, rowOf } from "../opdata.js";
import { Check, Missing } from "../parts.jsx";
import { deviceName, plain, shortNames } from "../pod.js";
import { pathOf, timesOf } from "../path.js";
import { FIELDS, inSight, joined, KINDS, keptRange, lanesOf, pictureOf, rowsOf, typical, wanted } from "../slices.js";
import { hasServer, pictures, slices as ask } from "../source.js";
import { runNamed, useChoice, usePage } from "../state.js";
import { Places, SEVERITY_COLORS } from "../strip.jsx";
import { Table } from "../table.jsx";
import { style } from "../timeaxis.jsx";

/** @import { Finding, Lanes as Known, PageState, Range, Step, TimelineRow } from "../report.d.ts" */
/** @import { TimeScale } from "../timescale.js" */

const KEPT = 6; // pictures, beside that of the whole run
const SOON_MS = 60; // a gesture asks once
const SEEN = 300; // slices in the table

const pixels = () => Math.min(innerWidth, 2600);

/**
 * Asks for pictures as the scale moves, one at a time. TELL: there is another one, or an error.
 * @type {(run: string, more: Record<string, string>, scale: TimeScale, tell: (all: Known[], error: string | null) => void) => () => void}
 */
function asking(run, more, scale, tell) {
	/** @type {Map<string, Known>} */
	const known = new Map();
	let isBusy = false;
	let isOver = false;
	let timer = 0;
	/** @type {(range: Range) => Promise<void>} */
	const get = async (range) => {
		const fields = wanted(range, scale.end, pixels());
		const key = Object.values(fields).join(" ");
		if (known.has(key) || isOver) return;
		isBusy = true;
		try {
			const picture = await ask(run, { ...more, ...Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, String(v)])) });
			if (isOver) return;
			known.set(key, lanesOf(picture));
			if (known.size > KEPT + 1) known.delete([...known.keys()][1]); // the first is of the whole run
			tell([...known.values()], null);
		} catch (e) {
			if (!isOver) tell([...known.values()], e instanceof Error ? e.message : String(e));
			return;
		} finally {
			isBusy = false;
		}
		soon();
	};
	const soon = () => {
		if (isBusy || isOver) return;
		clearTimeout(timer);
		timer = setTimeout(() => get(scale.now()), SOON_MS);
	};
	get(scale.whole());
	const close = scale.listen(soon);
	return () => {
		isOver = true;
		clearTimeout(timer);
		close();
	};
}

/** @typedef {{ all: Known[], error: string | null }} Asked */
const NOTHING = /** @type {Asked} */ ({ all: [], error: null });

/** @type {() => Asked} */
function usePictures() {
	const { runs, look, whole: report, scale } = usePage();
	const run = hasServer() ? runNamed(look.run, runs) : undefined;
	const [id, isMade] = [run?.id, run?.has_events === false];
	const [state, setState] = useState(NOTHING);
	useEffect(() => {
		setState(NOTHING);
		if (!hasServer()) return void setState({ all: joined(pictures()).map((k) => lanesOf(k.picture)), error: null });
		if (isMade) return void setState({ all: [], error: "This is a report that was made before: it has no events." });
		if (!id || !scale.end) return undefined;
		/** @type {Record<string, string>} */
		const more = { ...(look.device === null ? {} : { device: String(look.device) }), ...(look.host ? { host: look.host } : {}) };
		return asking(id, more, scale, (all, error) => setState({ all, error }));
	}, [id, isMade, look.device, look.host, report]);
	return state;
}

/** @type {(findings: Finding[]) => Map<string, string>} */
function marksOf(findings) {
	/** @type {Map<string, string>} */
	const marks = new Map();
	for (const finding of [...findings].reverse())
		for (const where of finding.where ?? []) if (where.op) marks.set(opKey({ module: where.module, name: where.op }), style(SEVERITY_COLORS[finding.severity].slice(4, -1)));
	return marks;
}

/** The ops that a finding is about, where it is about some. @type {(finding: Finding | undefined) => Map<string, string> | null} */
function chosenOf(finding) {
	const ops = (finding?.where ?? []).flatMap(({ op, module }) => (op ? [/** @type {[string, string]} */ ([opKey({ module, name: op }), op])] : []));
	return ops.length ? new Map(ops) : null;
}

/** The steps that are chosen with a button. @param {{ steps: Step[] }} props */
function Moments({ steps }) {
	const { whole: report, look, scale } = usePage();
	const step = useMemo(() => typical(steps, report.overview?.step_time_ps?.mean), [steps]);
	const kept = useMemo(() => (hasServer() ? [] : joined(pictures())), []);
	/** @type {(s: Step) => Range} */
	const rangeOf = (s) => [s.start_ps, s.start_ps + s.duration_ps];
	/** @type {[string, Range | null][]} */
	const places = [
		["Mean step", keptRange(kept, "mean") ?? (step && hasServer() ? rangeOf(step.mean) : null)],
		["Slowest step", keptRange(kept, "slowest") ?? (step && hasServer() ? rangeOf(step.slowest) : null)],
	];
	const at = look.range ? steps.findIndex((s) => s.start_ps + s.duration_ps / 2 > scale.now()[0]) : -1;
	/** @type {(by: number) => void} */
	const go = (by) => {
		const to = steps[at < 0 ? 0 : at + by];
		if (to) scale.pick(rangeOf(to));
	};
	return (
		<span class="links">
			<button type="button" aria-pressed={!look.range} onClick={() => scale.choose(null)}>
				Whole run
			</button>
			{places.map(([name, range]) => range && (
				<button key={name} type="button" aria-pressed={`${look.range}` === `${range.map(Math.round)}`} onClick={() => scale.pick(range)}>
					{name}
				</button>
			))}
			{hasServer() && steps.length > 1 && (
				<span>
					<button type="button" aria-label="the step before" disabled={at === 0} onClick={() => go(-1)}>
						{"\u25c2"}
					</button>{" "}
					{at < 0 ? "Steps" : `Step ${steps[at].step}`}{" "}
					<button type="button" aria-label="the next step" disabled={at === steps.length - 1} onClick={() => go(1)}>
						{"\u25b8"}
					</button>
				</span>
			)}
		</span>
	);
}

/** How long the path is in what, in words. @param {{ range: Range | null }} props */
function PathWords({ range }) {
	const { whole: report } = usePage();
	const seen = useMemo(() => timesOf(report, range), [report, range]);
	if (!seen) return <p class="count">{range && report.critical_path?.steps?.length ? "The report has the critical path of steps: none is in this time." : "The report has no critical path."}</p>;
	return (
		<div>
			<p class="count path-words">{`Critical path of ${seen.of}, ${time(seen.total)}: ${seen.parts.map(({ words, ps }) => `${time(ps)} ${words}`).join(", ")}.`}</p>
			{seen.missing && <p class="empty">{seen.missing}</p>}
		</div>
	);
}

const LABELS = { row: "Row", name: "What ran", time_class: "Class", start_ps: "Start", duration_ps: "Time", events: "Events" };

/** What is drawn, as a table: the longest of it. @param {{ known: Known, rows: TimelineRow[], range: Range }} props */
function Seen({ known, rows, range }) {
	const seen = useMemo(() => inSight(known, rows, range, SEEN), [known, rows, range]);
	const drawn = useMemo(() => seen.slices.map((s) => ({ ...s, name: s.name ?? `${s.events.toLocaleString("en-US")} events`, time_class: s.class ? title(s.class) : KINDS[s.kind] })), [seen]);
	return (
		<div>
			<Table name="slices" caption="What is in sight" rows={drawn} columns={Object.keys(LABELS)} labels={LABELS} max={8} empty="Nothing ran in this time." />
			{seen.nr > SEEN && <p class="count">{`The table has the longest ${SEEN} of ${seen.nr.toLocaleString("en-US")} slices in sight.`}</p>}
		</div>
	);
}

/** @type {(look: { device: number | null, host?: string | null }, known: Known, devices: { id: number, host: string }[]) => Known} */
function narrowed(look, known, devices) {
	if (look.device === null && !look.host) return known;
	const host = look.host ?? devices.find((d) => d.id === look.device)?.host;
	const rows = [...known.rows].filter(([, { lane }]) => lane.host === host && (lane.device === null || look.device === null || lane.device === look.device));
	return { ...known, rows: new Map(rows) };
}

/**
 * What a click on a slice does: an op is opened, several are looked at closer, a step is chosen.
 * @type {(page: Pick<PageState, "whole" | "setLook" | "scale">, row: TimelineRow, known: Known, i: number) => void}
 */
function opened({ whole: report, setLook, scale }, row, { picture, rows }, i) {
	const [start, end, , name, events] = (rows.get(row.key)?.slices ?? new Float64Array(FIELDS)).subarray(i, i + FIELDS);
	const op = { module: picture.modules[name] ?? "", name: picture.names[name] ?? "" };
	if (rowOf(report, op)) setLook({ op: opKey(op) });
	else if (events > 1) scale.pick([start - (end - start) / 10, end + (end - start) / 10]);
	else if (row.kind === "steps") scale.pick([start, end]);
}

// What a file cannot hold is said where one looks for it.
function InFile() {
	const steps = useMemo(() => joined(pictures()).flatMap((k) => (k.step === null ? [] : [k.step])), []);
	const which = steps.length > 1 ? `steps ${steps.join(" and ")}` : `step ${steps[0]}`;
	return <p class="empty">{steps.length ? `This file has single ops of ${which}; elsewhere a slice may stand for several events, and its height says how much of its time they fill. tpusight serve has all events.` : "This file has what is wide enough to be seen: tpusight serve has all events."}</p>;
}

/** @param {{ asked: Asked }} props */
function Drawn({ asked }) {
	const page = usePage();
	const { whole: report, look, scale, theme } = page;
	const [isPath, setPath] = useChoice("slices.path", true);
	const [isAll, setAll] = useChoice("slices.threads", false);
	const [turned, setTurned] = useChoice("slices.turned", /** @type {string[]} */ ([]));
	const devices = report.run?.devices ?? [];
	const [whole] = asked.all;
	const hosts = hasServer() ? 0 : (report.run?.hosts?.length ?? 0) - new Set(whole.picture.lanes.map((l) => l.host)).size;
	const nameOf = (/** @type {number} */ id) => clean(plain(deviceName(report, id)));
	const short = useMemo(() => shortNames((report.run?.hosts ?? []).map(({ name }) => name)), [report]);
	const layout = useMemo(() => rowsOf(narrowed(look, whole, devices), nameOf, isAll, (host) => clean(short.get(host) ?? host), turned), [whole, look.device, look.host, isAll, turned]);
	const { rows } = layout;
	const range = useMemo(() => look.range ?? scale.whole(), [look.range, scale.end]);
	const known = pictureOf(asked.all, range) ?? whole;
	const path = useMemo(() => (isPath ? pathOf(report, rows, look.range) : []), [isPath, report, rows, look.range]);
	const marks = useMemo(() => marksOf(report.doctor?.findings ?? []), [report, theme]);
	const only = useMemo(() => chosenOf(report.doctor?.findings?.find((f) => f.id === look.finding)), [report, look.finding]);
	const gaps = useMemo(() => gapsOf(report), [report]);
	const shown = useMemo(() => ({ all: asked.all, path, marks, only, gaps }), [asked.all, path, marks, only, gaps]);
	const fold = (/** @type {string} */ key) => setTurned((keys) => (keys.includes(key) ? keys.filter((k) => k !== key) : [...keys, key]));
	const used = BUCKETS.filter((b) => whole.classes.includes(b));
	if (!rows.length) return <p class="empty">Nothing ran on a device or a host thread while the profile was taken.</p>;
	return (
		<div>
			<div class="bar">
				<Legend items={used.map((b) => [title(b), bucketColor(b)])}>
					<li>
						<span class="swatch finding-mark" aria-hidden="true" />
						op of a finding
					</li>
					<li>
						<span class="swatch path" aria-hidden="true" />
						critical path
					</li>
				</Legend>
				<Check label="Critical path" value={isPath} onPick={setPath} />
				{(layout.threads > 0 || isAll) && <Check label="All host threads" value={isAll} onPick={setAll} />}
			</div>
			<Places />
			<Ruler />
			<Lanes rows={rows} shown={shown} onFold={fold} onPick={(row, of, i) => opened(page, row, of, i)} label={`what ran in ${rows.length} rows from ${time(range[0])} to ${time(range[1])}`} />
			{isPath && <PathWords range={look.range} />}
			{!hasServer() && known === whole && <InFile />}
			{layout.devices > 0 && <p class="empty">{`${layout.devices} more devices: choose one above.`}</p>}
			{hosts > 0 && <p class="empty">{`A file has no events of ${hosts} more hosts: tpusight serve has them.`}</p>}
			{known.picture.left_out > 0 && <p class="empty">{`${known.picture.left_out} more rows have no room in a file: tpusight serve has them.`}</p>}
			<Seen known={known} rows={rows} range={range} />
		</div>
	);
}

export function Slices() {
	const { whole: report, scale } = usePage();
	const asked = usePictures();
	const steps = useMemo(() => (report.steps ?? []).filter((s) => !s.is_others && typeof s.start_ps === "number"), [report]);
	if (!scale.end) return <Missing what="times" />;
	return (
		<div>
			<div class="bar">
				<Moments steps={steps} />
				<span class="count by-mouse">{"Ctrl + wheel or W and S: zoom. A and D, or Shift + drag: move. Drag: choose a time. Escape: back."}</span>
				<span class="count by-finger">Two fingers: zoom and move. One finger to the side: choose a time.</span>
			</div>
			{asked.error && <p class="empty" role="status">{clean(asked.error)}</p>}
			{!asked.all.length && !asked.error && (hasServer() ? <p class="empty" role="status">Reading the events of the run.</p> : <p class="empty">This file has no events of the run: tpusight serve has them.</p>)}
			{asked.all.length > 0 && <Drawn asked={asked} />}
		</div>
	);
}
