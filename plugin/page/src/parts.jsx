// SPDX-License-Identifier: MIT
// Small pieces that several views share.
import { h } from "preact";
import { useState } from "preact/hooks";
import { clean, isNothing, value } from "./format.js";
import { copy } from "./clipboard.js";
import { labelOf } from "./glossary.js";
import { usePage } from "./state.js";
import { Label, Unknown, windowOf } from "./words.jsx";

/** @import { Cell, Finding, Impossible, Maybe, Report, Row, SharesPart, View } from "./report.d.ts" */

/**
 * One of several, by its name. What is chosen of them is a text, as in the address.
 * @param {{ label: string, value: Maybe<string | number>, options: [value: string | number, name: string][], onPick: (value: string) => void }} props
 */
export function Choice({ label, value: chosen, options, onPick }) {
	return (
		<label class="choice">
			{label}
			<select value={chosen ?? ""} onChange={(e) => onPick(e.currentTarget.value)}>
				{options.map(([v, name]) => (
					<option key={v} value={v}>
						{name}
					</option>
				))}
			</select>
		</label>
	);
}

/** @param {{ label: string, value: boolean, onPick: (value: boolean) => void }} props */
export function Check({ label, value: isOn, onPick }) {
	return (
		<label class="choice">
			<input type="checkbox" checked={isOn} onChange={(e) => onPick(e.currentTarget.checked)} />
			{label}
		</label>
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
	const { item, table, field, cause } = all[0];
	const label = labelOf([view, table, field].filter(Boolean).join("."));
	return <p class="verdict">{`${all.length} of these figures ${all.length === 1 ? "is" : "are"} above a peak and cannot be true: they are left empty. The first, ${label}${item ? ` of ${clean(item)}` : ""}: ${clean(cause)}.`}</p>;
}

/** @param {Cell} v */
const isKnown = (v) => v !== null && v !== undefined;

// How idle or busy something was: of which time must stand beside the number, because there are several answers.
const IDLENESS = /(^|[._])(duty_cycle|idle|idle_time|gpu_active|cpu_active|device_utilization)(_pct)?$/;

/**
 * The time that a figure is of, where one could think of another.
 * @param {{ of: string, window?: string }} props
 */
export function Window({ of, window }) {
	const { report } = usePage();
	return IDLENESS.test(of) ? <dd class="count window">{`Window: ${window ?? windowOf(of, report)}`}</dd> : null;
}

/**
 * A number with its name, and where it comes from; nothing where it is unknown (Unknown says so once for all). NAME: where it
 * stands in the report. WINDOW: the time that it is of, if not the run. CAUSE: why it cannot be true.
 * @param {{ name: string, label?: string, of: Cell, origin?: string, cause?: string, window?: string }} props
 */
export function Fact({ name, label, of, origin, cause, window }) {
	if (!isKnown(of) && !cause) return null;
	return (
		<div class="fact">
			<dt>
				<Label of={name} text={label} origin={origin} window={window} />
			</dt>
			<dd class={isNothing(name, of) ? "zero" : ""}>
				{cause ? <span class="unknown" title={clean(cause)}>impossible</span> : value(name, of)}
				{origin && isKnown(of) && <span class={`origin ${origin}`}>{origin}</span>}
			</dd>
			{isKnown(of) && <Window of={name} window={window} />}
		</div>
	);
}

/** @param {Cell} v */
const isPlain = (v) => v === null || typeof v !== "object";

// Figures in one unit, for programs: people read the same beside them, with a unit that fits.
/** @param {string} name */
const isTwin = (name) => /_(ms|us|mb)$/.test(name) && !name.includes("_per_");

// All single values of a view, those inside objects too.
/** @type {(object: Maybe<Record<string, Cell>>, skip?: Set<string>, prefix?: string) => [string, Cell][]} */
export function flat(object, skip, prefix = "") {
	/** @type {[string, Cell][]} */
	const out = [];
	for (const [name, v] of Object.entries(object ?? {})) {
		if (skip?.has(prefix + name) || isTwin(name) || name === "notes" || name === "provenance" || Array.isArray(v)) continue;
		if (isPlain(v)) out.push([prefix + name, v]);
		else out.push(...flat(v, skip, `${prefix}${name}.`));
	}
	return out;
}

/**
 * The single values of a view: those that are known as tiles, the others in one sentence. OF: the view's name. CAUSES: why a
 * field cannot be true, by its name.
 * @param {{ of: string, view: Maybe<View>, names?: string[], skip?: Set<string>, causes?: Map<string, string> }} props
 */
export function Facts({ of, view, names, skip, causes }) {
	const all = flat(view, skip);
	/** @type {[string, Cell][]} */
	const shown = names ? names.map((n) => [n, all.find(([name]) => name === n)?.[1] ?? null]) : all;
	const unknown = shown.filter(([name, v]) => !isKnown(v) && !causes?.has(name));
	return (
		<div>
			<dl class="facts">
				{shown.map(([name, v]) => (
					<Fact key={name} name={`${of}.${name}`} of={v} origin={view?.provenance?.[name]} cause={causes?.get(name)} />
				))}
			</dl>
			<Unknown of={unknown.map(([name]) => `${of}.${name}`)} view={of} why={view?.notes?.length ? "The notes below say why." : undefined} />
		</div>
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
 * Those of COLUMNS in which some row has a value.
 * @type {(rows: Row[], columns: string[]) => string[]}
 */
export const filled = (rows, columns) => columns.filter((c) => rows.some((row) => (row[c] ?? null) !== null));

/**
 * The columns in which some row has a value.
 * @type {(rows: Row[], first?: string[], leave?: string[]) => string[]}
 */
export const columnsOf = (rows, first = [], leave = []) => {
	const names = new Set();
	for (const row of rows.slice(0, 20)) for (const name of Object.keys(row)) names.add(name);
	for (const name of ["is_others", ...leave]) names.delete(name);
	const all = new Set(filled(rows, [...names]).filter((name) => !isTwin(name)));
	return [...first.filter((c) => all.has(c)), ...[...all].filter((c) => !first.includes(c))];
};
