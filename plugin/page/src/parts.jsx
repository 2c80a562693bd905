// Small pieces that several views share.
import { h } from "preact";
import { useState } from "preact/hooks";
import { clean, title, titles, UNKNOWN, value } from "./format.js";
import { COLORS } from "./chart.jsx";
import { copy } from "./table.jsx";

/** @import { Cell, Finding, Impossible, Maybe, Report, Row, SharesPart, View } from "./report.d.ts" */

/** @type {Record<string, string>} */
const SAYS = {
	measured: "measured: it is in the profile",
	compiled: "compiled: it is in the HLO that the compiler left",
	modelled: "modelled: worked out by a formula from the chip table",
	inferred: "inferred: concluded from what the profile shows, which does not say it",
	assumed: "assumed",
	derived: "derived from the other numbers",
};

/** @param {{ why?: string }} props */
export function Unknown({ why }) {
	return (
		<span class="unknown" title={why}>
			{UNKNOWN}
		</span>
	);
}

/**
 * Those of a view's figures that cannot be true; of one field, if FIELD is given.
 * @type {(report: Report, view: string, field?: string) => Impossible[]}
 */
export const impossibleOf = (report, view, field) => (report.impossible ?? []).filter((i) => i.view === view && (!field || (i.table === null && i.field === field)));

/** @param {{ report: Report, view: string }} props */
export function ImpossibleNote({ report, view }) {
	const all = impossibleOf(report, view);
	if (!all.length) return null;
	const { item, field, cause } = all[0];
	return <p class="verdict">{`${all.length} of these figures ${all.length === 1 ? "is" : "are"} above a peak and cannot be true: they are left empty. The first, ${field}${item ? ` of ${clean(item)}` : ""}: ${clean(cause)}.`}</p>;
}

/**
 * A number with its name, and where it comes from. CAUSE: why it cannot be true.
 * @param {{ name: string, label?: string, of: Cell, origin?: string, why?: string, cause?: string }} props
 */
export function Fact({ name, label, of, origin, why, cause }) {
	const known = of !== null && of !== undefined;
	return (
		<div class="fact">
			<dt title={name}>{label ?? title(name)}</dt>
			<dd>
				{cause ? <span class="unknown" title={clean(cause)}>impossible</span> : known ? value(name, of) : <Unknown why={why ?? "the profile does not say"} />}
				{origin && known && (
					<span class={`origin ${origin}`} title={SAYS[origin]}>
						{origin}
					</span>
				)}
			</dd>
		</div>
	);
}

/** @param {Cell} v */
const isPlain = (v) => v === null || typeof v !== "object";

// All single values of a view, those inside objects too.
/** @type {(object: Maybe<Record<string, Cell>>, skip?: Set<string>, prefix?: string) => [string, Cell][]} */
export function flat(object, skip, prefix = "") {
	/** @type {[string, Cell][]} */
	const out = [];
	for (const [name, v] of Object.entries(object ?? {})) {
		if (skip?.has(prefix + name) || name === "notes" || name === "provenance" || Array.isArray(v)) continue;
		if (isPlain(v)) out.push([prefix + name, v]);
		else out.push(...flat(v, skip, `${prefix}${name}.`));
	}
	return out;
}

/**
 * LABELS: of figures whose name does not say enough. CAUSES: why a field cannot be true, by its name.
 * @param {{ view: Maybe<View>, names?: string[], skip?: Set<string>, labels?: Record<string, string>, causes?: Map<string, string> }} props
 */
export function Facts({ view, names, skip, labels: own = {}, causes }) {
	const all = flat(view, skip);
	const shown = names ? names.map((n) => [n, all.find(([name]) => name === n)?.[1] ?? null]) : all;
	const why = view?.notes?.length ? view.notes.join(" ") : undefined;
	const labels = titles(shown.map(([name]) => name));
	return (
		<dl class="facts">
			{shown.map(([name, v]) => (
				<Fact key={name} name={name} label={own[name] ?? labels.get(name)} of={v} origin={view?.provenance?.[name]} why={why} cause={causes?.get(name)} />
			))}
		</dl>
	);
}

/** @param {{ view: Maybe<{ notes?: string[] }> }} props */
export function Notes({ view }) {
	if (!view?.notes?.length) return null;
	return (
		<ul class="notes">
			{view.notes.map((n) => (
				<li key={n}>{n}</li>
			))}
		</ul>
	);
}

// A text to copy, as it is.
/** @param {{ text: string, what?: string }} props */
export function Code({ text, what = "code" }) {
	const [notice, setNotice] = useState("");
	const onCopy = async () => setNotice((await copy(text)) ? "copied" : "the browser did not allow the copy");
	return (
		<div class="code">
			<button type="button" onClick={onCopy}>
				{`Copy ${what}`}
			</button>
			<span role="status">{notice}</span>
			<pre tabIndex={0}>{clean(text)}</pre>
		</div>
	);
}

// Drawn where the report lacks a view.
/** @param {{ what: string }} props */
export function Missing({ what }) {
	return <p class="empty">{`This report has no ${what}: the profile has no data for it, or an older program wrote the report.`}</p>;
}

/**
 * What a finding could give back at most, as time of the run; null: unknown.
 * @type {(finding: Finding) => string | null}
 */
export function gainOf({ gain_ps: ps, gain_pct: pct, impact_ps: impact }) {
	if (typeof ps !== "number") return null;
	if (ps === 0 && typeof impact === "number" && impact > 0) return "counted with other findings";
	return `up to ${value("_ps", ps)}${typeof pct === "number" ? ` (${value("_pct", pct)} of the run)` : ""}`;
}

export const BUCKETS = ["compute", "memory_wait", "communication", "host_transfer", "rematerialization", "unexplained", "compilation", "input", "idle"];
// Work in the colours that a chart begins with, time that nothing explains in brown, nothing at all in grey.
const BUCKET_COLORS = [...COLORS.slice(0, 5), "#8c6d4f", ...COLORS.slice(5)];
/** @type {(bucket: string) => string} */
export const bucketColor = (bucket) => BUCKET_COLORS[BUCKETS.indexOf(bucket)];

// One bar of shares, with its numbers in words below. UNIT: a name that says how they are written.
/** @param {{ parts: SharesPart[], total: number, label: string, unit?: string }} props */
export function Shares({ parts, total, label, unit = "_ps" }) {
	const known = parts.filter((p) => p.value > 0);
	return (
		<div class="shares" role="img" aria-label={`${label}: ${known.map((p) => `${p.name} ${value(unit, p.value)}`).join(", ")}`}>
			{known.map((p) => (
				<span key={p.name} style={{ width: `${(100 * p.value) / total}%`, background: p.color }} title={`${p.name}: ${value(unit, p.value)} (${value("_pct", (100 * p.value) / total)})`} />
			))}
		</div>
	);
}

/**
 * The columns in which some row has a value.
 * @type {(rows: Row[], first?: string[], leave?: string[]) => string[]}
 */
export const columnsOf = (rows, first = [], leave = []) => {
	const names = new Set();
	for (const row of rows.slice(0, 20)) for (const name of Object.keys(row)) names.add(name);
	for (const name of leave) names.delete(name);
	const all = new Set([...names].filter((name) => rows.some((row) => (row[name] ?? null) !== null)));
	return [...first.filter((c) => all.has(c)), ...[...all].filter((c) => !first.includes(c))];
};
