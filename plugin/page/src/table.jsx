// SPDX-License-Identifier: MIT
// A table of the report: sorted by its headings, filtered by a word, copied as CSV. Only rows in sight are in the page, so ten
// thousand are as quick as ten.
import { Fragment, h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { copy } from "./clipboard.js";
import { labelOf } from "./glossary.js";
import { useDrawn } from "./later.jsx";
import { Line } from "./line.jsx";
import { Middle } from "./middle.jsx";
import { Op } from "./op.jsx";
import { opIn, opKey } from "./opdata.js";
import { ofAll, useChoice, usePage } from "./state.js";
import { Columns, meaning, spokenFor } from "./words.jsx";
import { csv, cut, emptyOf, isNothing, titles, unit, value } from "./format.js";

/** @import { Cell as Value, DrawCell, Report, Row, Sort, TableProps } from "./report.d.ts" */

const ROW = 28; // pixels: .rows td in page.css
const STILL_MS = 200;
const NARROW = 40; // pixels of a column
const PX_PER_KEY = 24;
const DRAG = 8; // pixels; less is a click
const MORE = 6; // rows kept above and below those in sight

/** @type {(a: Value, b: Value) => number} */
function compare(a, b) {
	if (a === b) return 0;
	if (typeof a === "number" && typeof b === "number") return a - b;
	return String(a).localeCompare(String(b), "en", { numeric: true });
}

/**
 * Whatever the order is, the row of what the table does not list ("154 others", is_others) stays the last one.
 * @type {(rows: Row[], sort: Sort) => Row[]}
 */
export function sorted(rows, { column, down }) {
	if (!column) return rows;
	/** @param {Row} row */
	const isUnknown = (row) => row[column] === null || row[column] === undefined;
	const sign = down ? -1 : 1;
	/** @type {(a: Row, b: Row) => number} */
	const order = (a, b) => (isUnknown(a) ? 0 : sign * compare(a[column], b[column]));
	/** @param {Row} row */
	const isLast = (row) => Number(row.is_others === true);
	return [...rows].sort((a, b) => isLast(a) - isLast(b) || Number(isUnknown(a)) - Number(isUnknown(b)) || order(a, b));
}

/**
 * A table's order as links have it: "-COLUMN" with the largest above, "" in the order of the report.
 * @type {(sort: Sort | undefined) => string}
 */
export const sortText = (sort) => (sort?.column ? `${sort.down ? "-" : ""}${sort.column}` : "");
/** @type {(text: string) => Sort} */
export const sortOf = (text) => ({ column: text.replace(/^-/, "") || null, down: text.startsWith("-") || !text });

/** @type {(v: Value) => string} */
const short = (v) => (typeof v === "string" ? v.slice(0, 2000) : typeof v === "object" && v !== null ? JSON.stringify(v).slice(0, 2000) : String(v ?? ""));
/** @type {(rows: Row[], columns: string[], word: string) => Row[]} */
export function filtered(rows, columns, word) {
	const wanted = word.trim().toLowerCase();
	return wanted ? rows.filter((r) => columns.some((c) => short(r[c]).toLowerCase().includes(wanted))) : rows;
}

// --- columns: which are shown, and how wide

/**
 * The source stands beside the name: it is what people go to. So do NEAR, what tells rows of one name apart.
 * @type {(columns: string[], near?: string[]) => string[]}
 */
export const inOrder = (columns, near = []) => {
	const first = ["source", ...near].filter((c) => columns.indexOf(c) > 0);
	return [...columns.slice(0, 1), ...first, ...columns.slice(1).filter((c) => !first.includes(c))];
};

const PLACES = ["device", "host"];
/**
 * Of the same thing there is a row for each device or host.
 * @type {(rows: Row[], columns: string[]) => string[]}
 */
const apart = (rows, columns) => {
	const isNamed = new Set(rows.map((r) => r[columns[0]])).size < rows.length;
	return isNamed ? PLACES.filter((c) => columns.includes(c) && new Set(rows.map((r) => r[c])).size > 1) : [];
};

/** @type {(wide: string[]) => Map<string, number>} */
export const widthsOf = (wide) => new Map(wide.flatMap((text) => {
	const [column, px] = [text.slice(0, text.lastIndexOf(":")), Number(text.slice(text.lastIndexOf(":") + 1))];
	return column && px >= NARROW ? [[column, px]] : [];
}));
/** @type {(wide: string[], column: string, px: number | null) => string[]} null: as wide as its text */
export const widened = (wide, column, px) => {
	const widths = widthsOf(wide);
	if (px === null) widths.delete(column);
	else widths.set(column, Math.max(Math.round(px), NARROW));
	return [...widths].map(([c, w]) => `${c}:${w}`);
};

/**
 * COLUMN in the place of TO; the first column stays where it is.
 * @type {(columns: string[], column: string, to: number) => string[]}
 */
export function movedTo(columns, column, to) {
	const others = columns.filter((c) => c !== column);
	if (column === columns[0] || others.length === columns.length) return columns;
	const at = Math.min(Math.max(to, 1), columns.length - 1);
	return [...others.slice(0, at), column, ...others.slice(at)];
}

/**
 * COLUMN among those that are SHOWN, behind its neighbour in ALL; or no more.
 * @type {(all: string[], shown: string[], column: string) => string[]}
 */
export function toggled(all, shown, column) {
	if (shown.includes(column)) return shown.filter((c) => c !== column);
	const before = all.slice(0, all.indexOf(column)).reverse().find((c) => shown.includes(c));
	const at = before === undefined ? 0 : shown.indexOf(before) + 1;
	return [...shown.slice(0, at), column, ...shown.slice(at)];
}

/** @type {(px: number | undefined) => { width: string, minWidth: string, maxWidth: string } | undefined} */
const wideStyle = (px) => (px === undefined ? undefined : { width: `${px}px`, minWidth: `${px}px`, maxWidth: `${px}px` });

/** @param {{ columns: string[], shown: string[], labels: Map<string, string>, caption: string, onPick: (columns: string[]) => void }} props */
function Chooser({ columns, shown, labels, caption, onPick }) {
	/** @type {(column: string, by: number) => import("preact").VNode} */
	const mover = (column, by) => {
		const next = movedTo(shown, column, shown.indexOf(column) + by);
		return (
			<button type="button" aria-label={`${labels.get(column)}: to the ${by < 0 ? "left" : "right"}`} disabled={!shown.includes(column) || `${next}` === `${shown}`} onClick={() => onPick(next)}>
				{by < 0 ? "\u2190" : "\u2192"}
			</button>
		);
	};
	return (
		<details class="chooser">
			<summary aria-label={`choose columns of ${caption}`}>{shown.length < columns.length ? `Columns (${shown.length} of ${columns.length})` : "Columns"}</summary>
			<div class="menu">
				<button type="button" class="all" onClick={() => onPick(columns)}>
					Show all columns
				</button>
				{[...shown.slice(1), ...columns.filter((c) => !shown.includes(c))].map((c) => (
					<Fragment key={c}>
						<label>
							<input type="checkbox" checked={shown.includes(c)} onChange={() => onPick(toggled(columns, shown, c))} /> {labels.get(c)}
						</label>
						<span class="moves">
							{mover(c, -1)}
							{mover(c, 1)}
						</span>
					</Fragment>
				))}
			</div>
		</details>
	);
}

/**
 * ONWIDE: its right edge was dragged, or Shift and an arrow key were pressed; null: its text says how wide it is. ONMOVE: it was dragged over the
 * heading with the number TO.
 * @param {{ of: string, column: string, label?: string, sort: Sort, onSort: (column: string) => void, numeric: boolean, wide?: number,
 *	onWide: (column: string, px: number | null) => void, onMove: (column: string, to: number) => void }} props
 */
function Heading({ of, column, label, sort, onSort, numeric, wide, onWide, onMove }) {
	const mine = sort.column === column;
	const cell = useRef(/** @type {HTMLTableCellElement | null} */ (null));
	const now = () => cell.current?.offsetWidth ?? 0;
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		const by = e.shiftKey && { ArrowRight: 1, ArrowLeft: -1 }[e.key];
		if (!by) return;
		e.preventDefault();
		e.stopPropagation();
		onWide(column, now() + by * PX_PER_KEY);
	};
	const onDown = (/** @type {PointerEvent & { currentTarget: HTMLElement }} */ e) => {
		const edge = e.currentTarget;
		const from = now() - e.clientX;
		edge.setPointerCapture(e.pointerId);
		edge.onpointermove = (to) => onWide(column, from + to.clientX);
		edge.onpointerup = edge.onpointercancel = () => {
			edge.onpointermove = edge.onpointerup = edge.onpointercancel = null;
		};
	};
	const isDragged = useRef(false); // its end is no click
	const onGrab = (/** @type {PointerEvent & { currentTarget: HTMLElement }} */ e) => {
		const button = e.currentTarget;
		isDragged.current = false;
		if (e.pointerType === "touch" || e.button !== 0) return; // a finger scrolls
		button.setPointerCapture(e.pointerId);
		button.onpointermove = (to) => {
			isDragged.current ||= Math.abs(to.clientX - e.clientX) > DRAG;
			cell.current?.classList.toggle("dragged", isDragged.current);
		};
		button.onpointerup = button.onpointercancel = (to) => {
			button.onpointermove = button.onpointerup = button.onpointercancel = null;
			cell.current?.classList.remove("dragged");
			const over = isDragged.current && to.type === "pointerup" ? document.elementFromPoint(to.clientX, to.clientY)?.closest("th") : null;
			if (over && over.parentElement === cell.current?.parentElement) onMove(column, over.cellIndex);
		};
	};
	return (
		<th scope="col" class={numeric ? "number" : ""} aria-sort={mine ? (sort.down ? "descending" : "ascending") : "none"} style={wideStyle(wide)} ref={cell}>
			<button type="button" onClick={() => isDragged.current || onSort(column)} onPointerDown={onGrab} onKeyDown={onKey} title={[...meaning(`${of}.${column}`), "Drag it to move the column; Shift and an arrow key make it wider or narrower"].join("\n")}>
				{label}
				<span aria-hidden="true">{mine ? (sort.down ? " \u2193" : " \u2191") : ""}</span>
			</button>
			<span class="edge" aria-hidden="true" onPointerDown={onDown} onDblClick={() => onWide(column, null)} />
		</th>
	);
}

/**
 * What stands in a cell, in words: a list has its parts one behind the other, each with what it is called.
 * @type {(table: string, column: string, v: Value) => string}
 */
function words(table, column, v) {
	if (!Array.isArray(v)) return value(`${table}.${column}`, v);
	/** @type {(name: string, x: Value) => string} */
	const named = (name, x) => `${labelOf(`${column}.${name}`)}: ${value(name, x)}`;
	return v.map((x) => (x !== null && typeof x === "object" && !Array.isArray(x) ? Object.entries(x).filter(([, y]) => y !== null).map(([k, y]) => named(k, y)).join(", ") : value(column, x))).join("; ");
}

/**
 * Not a component: a view has thousands of them.
 * @type {(of: { report: Report, table: string, at: string, column: string, row: Row, numeric: boolean, draw?: DrawCell, wide?: number }) => import("preact").VNode}
 */
function cellOf({ report, table, at, column, row, numeric, draw, wide }) {
	const raw = row[column];
	const op = draw ? null : opIn(report, column, row);
	const said = words(table, column, raw);
	const text = draw ? draw(raw, row) : op ? <Op of={op} /> : column === "source" && raw ? <Line source={String(raw)} /> : numeric || column === "host" ? cut(said, 300) : <Middle text={said} />;
	const unknown = raw === null || raw === undefined;
	const none = unknown ? emptyOf(`${at}.${column}`, row) : "";
	const whole = typeof raw === "number" ? `${raw} ${unit(column)}` : typeof raw === "string" || typeof raw === "object" ? cut(said, 1000) : undefined;
	return (
		<td key={column} style={wideStyle(wide)} class={`${numeric ? "number" : ""}${unknown ? ` ${none}` : ""}${isNothing(column, raw) ? " zero" : ""}`} title={unknown ? undefined : whole}>
			{unknown && !draw ? none : text}
		</td>
	);
}

// COLUMNS: names, in order; DRAW: column -> (value, row) => what stands in the cell; LABELS: headings of columns
// whose names do not say enough; ONPICK: a row was chosen.
/** @param {TableProps} props */
export function Table({ name, of = name, rows, columns, caption, sort: first, draw = {}, labels: own, onPick, max = 14, empty, label = caption }) {
	const { report, look, setLook } = usePage();
	const key = of.startsWith(`${look.view}.`) ? of : `${look.view}.${of}`; // a view may have several tables of one name
	const [order, setOrder] = useChoice(`${key}.sort`, sortText(first));
	const sort = useMemo(() => sortOf(order), [order]);
	const [word, setWord] = useChoice(`${key}.find`, "");
	const [topRow, setTopRow] = useChoice(`${key}.row`, 0); // the first in sight, where it stands still
	const [top, setTop] = useState(topRow * ROW);
	const full = useMemo(() => inOrder(columns, apart(rows, columns)), [rows, columns]);
	const [isShut, setShut] = useChoice(`${key}.shut`, false);
	const [picked, setPicked] = useChoice(`${key}.cols`, full);
	const seen = useMemo(() => full.filter((c, i) => i === 0 || picked.includes(c)).sort((a, b) => Number(b === full[0]) - Number(a === full[0]) || picked.indexOf(a) - picked.indexOf(b)), [full, picked]);
	const [wide, setWide] = useChoice(`${key}.wide`, /** @type {string[]} */ ([]));
	const widths = useMemo(() => widthsOf(wide), [wide]);
	const [marks, setMarks] = useChoice(`${key}.rows`, /** @type {string[]} */ ([])); // places in the report
	const marked = useMemo(() => new Set(marks.map((i) => rows[Number(i)]).filter(Boolean)), [marks, rows]);
	const [focus, setFocus] = useState(-1);
	const [notice, setNotice] = useState("");
	const box = useRef(/** @type {HTMLDivElement | null} */ (null));
	const isDrawn = useDrawn(Math.min(max + MORE, rows.length) * full.length);
	const scope = ofAll(rows, look, report);
	/** @param {Row[]} all */
	const count = (all) => all.filter((r) => !r.is_others).length;
	const shown = useMemo(() => sorted(filtered(rows, columns, word), sort), [rows, columns, word, sort]);
	const numeric = useMemo(() => new Set(columns.filter((c) => unit(c) || typeof rows.find((r) => r[c] !== null && r[c] !== undefined)?.[c] === "number")), [rows, columns]);
	const labels = useMemo(() => new Map([...[...titles(columns, of)].map(([c, text]) => /** @type {[string, string]} */ ([c, spokenFor(text, report)])), ...Object.entries(own ?? {})]), [columns, of, own, report]);
	const firstSeen = Math.floor(top / ROW);
	const begin = Math.max(firstSeen - MORE, 0);
	const end = Math.min(firstSeen + max + MORE, shown.length);

	useEffect(() => {
		if (focus >= 0) /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(`[data-row="${focus}"]`))?.focus({ preventScroll: true });
	}, [focus, begin]);
	useEffect(() => {
		if (box.current && Math.round(box.current.scrollTop / ROW) !== topRow) box.current.scrollTop = topRow * ROW;
	}, [topRow, isDrawn]);
	useEffect(() => {
		const timer = setTimeout(() => setTopRow(Math.round(top / ROW)), STILL_MS);
		return () => clearTimeout(timer);
	}, [top]);
	/** @param {string} column */
	const onSort = (column) => setOrder((now) => sortText({ column, down: sortOf(now).column === column ? !sortOf(now).down : numeric.has(column) }));
	const ofRuns = name === "runs" || look.view === "compare"; // which may be of both kinds
	const onCopy = async () => {
		const some = shown.filter((row) => marked.has(row));
		const copied = some.length ? some : shown;
		const done = await copy(csv(columns, copied, !ofRuns && report?.run?.is_predicted === true));
		setNotice(done ? `${copied.length} rows copied` : "the browser did not allow the copy");
		setTimeout(() => setNotice(""), 3000);
	};
	/** @param {Row} row */
	const mark = (row) => {
		const at = String(rows.indexOf(row));
		setMarks((all) => (all.includes(at) ? all.filter((i) => i !== at) : [...all, at]));
	};
	/** The others are not one thing that could be looked at. @param {Row} row */
	const pick = (row) => {
		if (row.is_others) return;
		if (onPick) onPick(row);
		else mark(row);
	};
	/** What the row is of. @param {Row} row */
	const enter = (row) => {
		const op = onPick ? null : seen.map((c) => opIn(report, c, row)).find(Boolean);
		if (op) setLook({ op: opKey(op) });
		else pick(row);
	};
	/** @param {number} by */
	const move = (by) => {
		const next = Math.min(Math.max(focus + by, 0), shown.length - 1);
		const y = next * ROW;
		const view = /** @type {HTMLElement} */ (box.current);
		if (y < view.scrollTop) view.scrollTop = y;
		if (y + 2 * ROW > view.scrollTop + view.clientHeight) view.scrollTop = y + 2 * ROW - view.clientHeight;
		setFocus(next);
	};
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		/** @type {Record<string, number | undefined>} */
		const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: max, PageUp: -max, Home: -shown.length, End: shown.length };
		const by = moves[e.key];
		if (by !== undefined) {
			e.preventDefault();
			move(by);
		} else if (e.key === "Enter" && shown[focus] && e.target instanceof HTMLTableRowElement) {
			enter(shown[focus]);
		} else if (e.key === " " && shown[focus] && e.target instanceof HTMLTableRowElement) {
			e.preventDefault();
			pick(shown[focus]);
		}
	};

	if (!rows.length) return empty ? <p class="empty">{empty}</p> : null;
	return (
		<section class={`table${rows.length <= max + MORE ? " few" : ""}${isShut ? " shut" : ""}`} aria-label={label}>
			<div class="bar">
				<h3>
					<button type="button" class="link" aria-expanded={!isShut} onClick={() => setShut(!isShut)}>
						{caption}
					</button>
				</h3>
				<span class="count">{count(shown) === count(rows) ? count(rows).toLocaleString("en-US") : `${count(shown).toLocaleString("en-US")} of ${count(rows).toLocaleString("en-US")}`}</span>
				{scope && <span class="count of-all">{scope}</span>}
				<span role="status">{notice}</span>
				{rows.length > 5 && <input type="search" placeholder="filter" aria-label={`filter ${label}`} value={word} onInput={(e) => setWord(e.currentTarget.value)} />}
				{full.length > 2 && <Chooser columns={full} shown={seen} labels={labels} caption={label} onPick={setPicked} />}
				<Columns of={of} columns={columns} caption={label} />
				<button type="button" onClick={onCopy} data-copy={name}>
					{marked.size ? `Copy ${marked.size} as CSV` : "Copy as CSV"}
				</button>
				{marked.size > 0 && (
					<button type="button" onClick={() => setMarks([])}>
						Clear selection
					</button>
				)}
			</div>
			{/* A region that scrolls must be reachable by keyboard. */}
			<div class="scroll" style={{ maxHeight: `${(max + 1) * ROW + 8}px`, minHeight: isDrawn ? undefined : `${Math.min(max + 1, rows.length + 1) * ROW}px` }} aria-busy={isDrawn ? undefined : "true"} ref={box} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={onKey} tabIndex={0} role="region" aria-label={`${label}, rows`}>
				{isDrawn && (
					<table class="rows" aria-rowcount={shown.length + 1}>
						<thead>
							<tr aria-rowindex={1}>
								{seen.map((c) => (
									<Heading key={c} of={of} column={c} label={labels.get(c)} sort={sort} onSort={onSort} numeric={numeric.has(c)} wide={widths.get(c)} onWide={(column, px) => setWide((now) => widened(now, column, px))} onMove={(column, to) => setPicked(movedTo(seen, column, to))} />
								))}
							</tr>
						</thead>
						<tbody>
							{begin > 0 && <tr style={{ height: `${begin * ROW}px` }} aria-hidden="true" />}
							{shown.slice(begin, end).map((row, i) => (
								<tr key={begin + i} data-row={begin + i} tabIndex={-1} aria-rowindex={begin + i + 2} class={row.is_others ? "others" : marked.has(row) ? "marked pick" : "pick"} aria-current={marked.has(row) ? "true" : undefined} onClick={() => { setFocus(begin + i); pick(row); }}>
									{seen.map((c) => cellOf({ report, table: name, at: of, column: c, row, numeric: numeric.has(c), draw: draw[c], wide: widths.get(c) }))}
								</tr>
							))}
							{end < shown.length && <tr style={{ height: `${(shown.length - end) * ROW}px` }} aria-hidden="true" />}
						</tbody>
					</table>
				)}
			</div>
		</section>
	);
}
