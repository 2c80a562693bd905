// SPDX-License-Identifier: MIT
// A view as the report has it: its single values, then its tables. What has a drawing of its own draws it above.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { title } from "../format.js";
import { columnsOf, Facts, flat, impossibleOf, ImpossibleNote, Missing, Notes } from "../parts.jsx";
import { inSight, usePage } from "../state.js";
import { Table } from "../table.jsx";

/** @import { ComponentChildren } from "preact" */
/** @import { Cell, DrawCell, Maybe, Row, Sort, Report, TablesProps, View } from "../report.d.ts" */

const LEAVE = ["op_index", "device_id", "straggler_device_id", "program_id", "reason_code"]; // for programs, not for people

// What no other table of the same tab is called: one that reads the list of a tab's parts sees none of what is around a table.
/** @type {Record<string, string>} */
const CAPTIONS = {
	"capacity.modules": "Modules by their peak",
	"capacity.lines": "Peak by source line",
	"memory.ops": "Traffic of each op",
	"memory.categories": "Traffic by category",
	"memory.modules": "Traffic of each module",
	"async.ops": "Each transfer",
	"remat.regions": "Recomputed regions",
	"remat.ops": "Recomputed ops",
};

/** @type {(path: string) => string} */
const captionOf = (path) => CAPTIONS[path] ?? title(path);

/**
 * OF: the view; FIRST: columns that come first; EMPTY: why it has no rows.
 * @param {{ of: string, name: string, rows: Row[], caption: string, first?: string[], sort?: Sort, draw?: Record<string, DrawCell>, empty?: string,
 *	onPick?: (row: Row) => void, under?: string }} props
 */
function One({ of, name, rows: all, caption, first, sort, draw, empty, onPick, under }) {
	const { report, look } = usePage();
	const rows = useMemo(() => inSight(all, look, report), [all, look, report]);
	const columns = useMemo(() => columnsOf(all, first, LEAVE), [all, first]);
	if (!all.length || !rows.length) return <p class="empty">{all.length ? `${caption}: no row belongs to the chosen time, host or device.` : (empty ?? `${caption}: nothing in this report.`)}</p>;
	return <Table name={name} of={`${of}.${name}`} caption={caption} label={under && `${under}: ${caption}`} rows={rows} columns={columns} sort={sort} draw={draw} onPick={onPick} />;
}

const BESIDE = new Set(["capture_verdict"]); // the overview says it above

/** @param {Cell} v */
const isTable = (v) => Array.isArray(v) && v.every((row) => row !== null && typeof row === "object" && !Array.isArray(row));

/** @param {TablesProps & { of: string, view: Maybe<View> }} props */
export function Tables({ of, view, names, first = {}, sort = {}, draw = {}, empty = {}, onPick, under }) {
	const all = names ?? Object.keys(view ?? {}).filter((n) => n !== "notes" && isTable(view?.[n]));
	const missing = Object.keys(empty).filter((n) => !all.includes(n)); // these are named with their reason, like those without rows
	return (
		<div class="tables">
			{[...all, ...missing].map((n) => (
				<One key={n} of={of} name={n} rows={view?.[n] ?? []} caption={captionOf(`${of}.${n}`)} first={first[n]} sort={sort[n]} draw={draw} empty={empty[n]} onPick={onPick} under={under} />
			))}
		</div>
	);
}

/** @param {TablesProps & { name: keyof Report, what?: string, skip?: Set<string>, children?: ComponentChildren }} props */
export function Generic({ name, what, skip, children, ...tables }) {
	const { report } = usePage();
	const view = /** @type {Maybe<View>} */ (report[name]);
	if (!view) return <Missing what={what ?? name} />;
	return (
		<div>
			<ImpossibleNote report={report} view={name} />
			<Facts of={name} view={view} skip={skip} causes={new Map(impossibleOf(report, name).filter((i) => i.table === null).map((i) => [i.field, i.cause]))} />
			{children}
			<Tables of={name} view={view} {...tables} />
			<Notes view={view} />
		</div>
	);
}

/**
 * A further result under a heading of its own; nothing where the report has none, or it has nothing to say.
 * @param {TablesProps & { name: keyof Report, heading: string }} props
 */
export function Part({ name, heading, ...tables }) {
	const view = /** @type {Maybe<View>} */ (usePage().report[name]);
	const full = view && Object.keys(view).filter((n) => n !== "notes" && isTable(view[n]) && view[n].length);
	if (!full || (!full.length && !flat(view).length)) return null;
	return (
		<section aria-label={heading}>
			<h3>{heading}</h3>
			<Facts of={name} view={view} skip={BESIDE} />
			<Tables of={name} view={view} names={full} under={heading} {...tables} />
			<Notes view={view} />
		</section>
	);
}
