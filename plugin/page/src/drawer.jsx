// SPDX-License-Identifier: MIT
// All that is known of one op, beside the page: it stays while one goes from table to table.
import { h } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { bucketColor, BUCKETS } from "./colors.js";
import { tilesOf } from "./array.js";
import { Tiles } from "./array.jsx";
import { Executions } from "./executions.jsx";
import { clean, time, title, value } from "./format.js";
import { Heat } from "./heat.jsx";
import { Source, XProfLink } from "./links.jsx";
import { Op } from "./op.jsx";
import { graphLink, hintOf, opOf, traceLink } from "./opdata.js";
import { Facts, gainOf, Shares } from "./parts.jsx";
import { deviceName } from "./pod.js";
import { slowOf } from "./place.js";
import { Place as PlaceLine } from "./place.jsx";
import { deviceIn, runNamed, usePage } from "./state.js";
import { Plane } from "./stored.jsx";

/** @import { ComponentChildren } from "preact" */
/** @import { Edge, Finding, KnownOp, Maybe, Row } from "./report.d.ts" */

// What is shown of each result, under a heading that says what it answers. AT: where it stands in the report.
/** @type {[heading: string, of: keyof KnownOp, at: string, names: string[]][]} */
const RESULTS = [
	["What bounds it", "roofline", "roofline", ["bound_by", "roofline_efficiency_pct", "flops_per_s", "optimal_flops_per_s", "hbm_bytes_per_s", "operational_intensity"]],
	["Its shape on the matrix units", "systolic", "systolic.ops", ["m", "n", "k", "batch", "dtype", "fill_pct", "mxu_utilization_pct", "limiting_dim", "lost_ps"]],
	["Padding", "padding", "padding.ops", ["waste_ps", "waste_bytes_pct", "waste_flops_pct", "predicted_gain_ps", "suggestion"]],
	["Bytes that it moves", "memory", "memory.ops", ["hbm_read_bytes", "hbm_written_bytes", "vmem_read_bytes", "vmem_written_bytes", "hbm_pct"]],
	["Behind compute", "async", "async.ops", ["exposed_ps", "hidden_ps", "could_hide", "coverable_ps"]],
	["As a collective", "collective", "collectives", ["kind", "bytes", "bus_bytes_per_s", "link_pct", "wait_ps", "straggler"]],
];

const LONG = 40; // letters: what has more is a sentence, and stands below the figures

/** @param {{ heading: string, at: string, row: Maybe<Row>, names: string[] }} props */
function Result({ heading, at, row, names }) {
	const known = names.filter((n) => (row?.[n] ?? null) !== null);
	const isSentence = (/** @type {string} */ n) => typeof row?.[n] === "string" && row[n].length > LONG;
	if (!known.length) return null;
	return (
		<section aria-label={heading}>
			<h3>{heading}</h3>
			<Facts of={at} view={row} names={known.filter((n) => !isSentence(n))} />
			{known.filter(isSentence).map((n) => (
				<p key={n}>{clean(/** @type {Row} */ (row)[n])}</p>
			))}
		</section>
	);
}

/** @param {{ of: KnownOp }} props */
function Times({ of }) {
	const facts = { self_time_ps: of.row.self_time_ps, time_pct: of.share_pct, occurrences: of.row.occurrences, mean_ps: of.mean_ps };
	const parts = BUCKETS.map((b) => ({ name: title(b), value: of.row[`${b}_ps`] ?? 0, color: bucketColor(b) })).filter((p) => p.value > 0);
	const total = parts.reduce((sum, p) => sum + p.value, 0);
	return (
		<section aria-label="times">
			<Facts of="ops" view={facts} names={Object.keys(facts)} />
			{total > 0 && <Shares parts={parts} total={total} label="its time by class" unit="ops.self_time_ps" />}
		</section>
	);
}

// Two bars of one scale.
/** @param {{ estimated: number, measured: number }} props */
function Estimate({ estimated, measured }) {
	const most = Math.max(estimated, measured);
	/** @type {(name: string, ps: number) => ComponentChildren} */
	const bar = (name, ps) => (
		<div class="estimate">
			<span>{`${name} ${time(ps)}`}</span>
			<span class="length" style={{ width: `${(100 * ps) / most}%` }} />
		</div>
	);
	return (
		<section aria-label="estimate and measurement">
			<h3>What the compiler expected, and what was measured</h3>
			{bar("expected", estimated)}
			{bar("measured", measured)}
		</section>
	);
}

// The cores that run it slower than the others do, the slowest first, on one scale with the others' mean.
/** @param {{ of: KnownOp }} props */
function ByCore({ of }) {
	const { report: part, whole, look, setLook } = usePage();
	const report = look.device === null && !look.host ? part : whole; // a core is seen among the others
	if (!report.op_cores) return null;
	const sorted = slowOf(report, { op: of.name, module: of.module }).sort((a, b) => b.mean_ps - a.mean_ps);
	const most = sorted[0]?.mean_ps;
	return (
		<section aria-label="time by core">
			<h3>One execution, by core</h3>
			{!sorted.length && <p class="count">No core is slower in it than the others by 10 % or more.</p>}
			<ul class="bars cores">
				{sorted.map((r) => (
					<li key={r.device_id}>
						<span class="name">
							<button type="button" class="link" title={clean(`${r.device} of ${r.host}`)} onClick={() => setLook({ device: deviceIn(whole, report, r.device_id), host: null })}>
								{clean(deviceName(report, r.device_id))}
							</button>
						</span>
						<span class="track"><span class="length slow" style={{ width: `${(100 * r.mean_ps) / most}%` }} /></span>
						<span class="number">{time(r.mean_ps)}</span>
					</li>
				))}
				{sorted.length > 0 && (
					<li>
						<span class="name">the others, mean</span>
						<span class="track"><span class="length used" style={{ width: `${(100 * sorted[0].others_ps) / most}%` }} /></span>
						<span class="number">{time(sorted[0].others_ps)}</span>
					</li>
				)}
			</ul>
			{sorted.map((r) => (
				<p key={r.device_id} class="count">
					{`${clean(deviceName(report, r.device_id))} loses ${time(r.excess_ps)} by it in ${r.executions} executions${typeof r.since_step === "number" ? `, since step ${r.since_step}` : ""}.`}
				</p>
			))}
		</section>
	);
}

/** @param {{ heading: string, edges: Edge[] }} props */
function Edges({ heading, edges }) {
	if (!edges.length) return null;
	return (
		<section aria-label={heading}>
			<h3>{heading}</h3>
			<ul class="where">
				{edges.map((e) => (
					<li key={e.op.name} title={e.why ? clean(e.why) : undefined}>
						<Op of={e.op} says /> {e.bytes !== null && <span class="count">{value("bytes", e.bytes)}</span>}
					</li>
				))}
			</ul>
		</section>
	);
}

/** @param {{ of: KnownOp }} props */
function BySteps({ of }) {
	const { heatmap } = usePage().report;
	const row = heatmap?.ops.find((o) => o.op === of.name);
	const drawn = useMemo(() => ({ rows: row ? [{ label: of.name, cells: row.mxu_utilization_pct }] : [], columns: (heatmap?.steps ?? []).map((s) => `step ${s ?? "?"}`) }), [row, heatmap]);
	if (!row) return null;
	return (
		<section aria-label="utilization by step">
			<h3>Utilization by step</h3>
			<Heat {...drawn} max={100} say={(v) => value("_pct", v)} label={`MXU utilization of ${clean(of.name)} by step`} />
		</section>
	);
}

/** @param {{ of: KnownOp }} props */
function Moment({ of: { row } }) {
	const { report, whole, setLook } = usePage();
	if (typeof row.first_start_ps !== "number") return null;
	const device = report.run?.devices?.find((d) => d.id === row.first_device);
	return (
		<button type="button" onClick={() => setLook({ range: [row.first_start_ps, row.first_end_ps], device: deviceIn(whole, report, row.first_device), view: "slices" })}>
			{`First execution: ${time(row.first_end_ps - row.first_start_ps)} at ${time(row.first_start_ps)}${device ? ` on ${clean(deviceName(report, device.id))}` : ""}`}
		</button>
	);
}

/** @param {{ of: KnownOp }} props */
function Known({ of }) {
	const { report, look, runs, setLook } = usePage();
	const { row } = of;
	const run = report.run;
	const name = runNamed(look.run, runs)?.id ?? (run?.run && run.run !== "." ? `${run.run}/${run.session}` : run?.session);
	const tiles = of.systolic && tilesOf(of.systolic, run?.devices?.find((d) => d.mxu_dim)?.mxu_dim);
	const shapes = [...new Set(of.buffers.map((b) => b.shape).filter(Boolean))];
	return (
		<div>
			<p class="count">{[hintOf({ framework_op: row.framework_op }), row.category, `in ${row.module}`].filter(Boolean).map((s) => clean(s)).join(", ")}</p>
			{row.source ? <Source source={row.source} /> : <p class="empty">The profile does not have its source line.</p>}
			<p class="links">
				<Moment of={of} />
				<XProfLink name="XProf graph" link={graphLink(run, name, row)} />
				<XProfLink name="XProf trace viewer" link={traceLink(run, name, row)} />
			</p>
			<Times of={of} />
			<Executions of={of} />
			<ByCore of={of} />
			{of.findings.length > 0 && <h3>Findings</h3>}
			<ul class="findings">
				{of.findings.map((f) => (
					<li key={f.id}>
						<span class={`severity ${f.severity}`}>{f.severity}</span>
						<button type="button" class="link" onClick={() => setLook({ view: "doctor", finding: f.id })}>
							{clean(f.title)}
						</button>
						<span class="impact">{gainOf(f) ?? ""}</span>
					</li>
				))}
			</ul>
			{typeof of.systolic?.estimated_ps === "number" && of.mean_ps !== null && <Estimate estimated={of.systolic.estimated_ps} measured={of.mean_ps} />}
			{RESULTS.map(([heading, result, at, names]) => (
				<Result key={heading} heading={heading} at={at} row={/** @type {Maybe<Row>} */ (of[result])} names={names} />
			))}
			{tiles && <h3>How it fills the matrix unit</h3>}
			{tiles && <Tiles tiles={tiles} />}
			{shapes.length > 0 && <h3>Arrays that it makes</h3>}
			{shapes.map((s) => (
				<div key={s}>
					<code>{clean(s)}</code>
					<Plane shape={s} />
				</div>
			))}
			<Edges heading="Reads from" edges={of.producers} />
			<Edges heading="Is read by" edges={of.consumers} />
			<BySteps of={of} />
		</div>
	);
}

/** What is said of a finding, beside what it is about. @param {{ finding: Finding }} props */
function Said({ finding: f }) {
	const { setLook } = usePage();
	const chain = f.cause?.chain ?? [];
	return (
		<div>
			<p>
				<span class={`severity ${f.severity}`}>{f.severity}</span> <span class="impact">{gainOf(f) ?? "gain unknown"}</span>
			</p>
			<PlaceLine finding={f} />
			<p>{clean(f.evidence ?? "")}</p>
			<p class="advice">{clean(f.advice ?? "")}</p>
			{chain.length > 0 && <h3>How it came about</h3>}
			<ol class="chain">
				{chain.map((/** @type {string} */ link, /** @type {number} */ i) => (
					<li key={i}>{clean(link)}</li>
				))}
			</ol>
			<p class="links">
				<button type="button" onClick={() => setLook({ view: "doctor", finding: f.id })}>
					All of this finding
				</button>
			</p>
		</div>
	);
}

// The op that is chosen, whatever view is shown; or a finding, where the list of them stands beside the view.
/** @param {{ hasFindings: boolean }} props */
export function Drawer({ hasFindings }) {
	const { report, look, setLook } = usePage();
	const box = useRef(/** @type {HTMLElement | null} */ (null));
	const before = useRef(/** @type {Element | null} */ (null));
	const of = useMemo(() => (look.op ? opOf(report, look.op) : null), [report, look.op]);
	const finding = look.op || !hasFindings ? undefined : report.doctor?.findings?.find((f) => f.id === look.finding);
	const isOpen = Boolean(look.op || finding);
	useEffect(() => {
		if (!look.op) return;
		if (!box.current?.contains(document.activeElement)) before.current = document.activeElement;
		box.current?.focus();
	}, [look.op]);
	useLayoutEffect(() => {
		document.documentElement.toggleAttribute("data-details", isOpen);
		return () => document.documentElement.removeAttribute("data-details");
	}, [isOpen]);
	if (!isOpen) return null;
	const name = finding ? clean(finding.title) : clean(of?.name ?? look.op ?? "");
	const close = () => {
		setLook(look.op ? { op: null } : { finding: null });
		if (before.current instanceof HTMLElement) before.current.focus();
	};
	return (
		<aside class={finding ? "drawer of-finding" : "drawer"} aria-label={finding ? `finding ${name}` : `op ${name}`} tabIndex={-1} ref={box}>
			<div class="bar">
				<h2>{name}</h2>
				<button type="button" class="close" onClick={close} title="key Escape">
					Close
				</button>
			</div>
			{finding && <Said finding={finding} />}
			{!finding && (of ? <Known of={of} /> : <p class="empty">This report does not list this op. It may be one of the others, or of another run, or did not run in what is chosen.</p>)}
		</aside>
	);
}
