// A table of the report: sorted by its headings, filtered by a word, copied as CSV. Only rows in sight are in the page, so ten
// thousand are as quick as ten.
import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clean, csv, cut, titles, UNKNOWN, unit, value } from "./format.js";

/** @import { Cell as Value, DrawCell, Row, Sort, TableProps } from "./report.d.ts" */

const ROW = 28; // pixels: .rows td in page.css
const MORE = 6; // rows kept above and below those in sight

/** @type {(a: Value, b: Value) => number} */
function compare(a, b) {
	if (a === b) return 0;
	if (typeof a === "number" && typeof b === "number") return a - b;
	return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** @type {(rows: Row[], sort: Sort) => Row[]} */
export function sorted(rows, { column, down }) {
	if (!column) return rows;
	/** @param {Row} row */
	const isUnknown = (row) => row[column] === null || row[column] === undefined;
	const sign = down ? -1 : 1;
	/** @type {(a: Row, b: Row) => number} */
	const order = (a, b) => (isUnknown(a) ? 0 : sign * compare(a[column], b[column]));
	return [...rows].sort((a, b) => Number(isUnknown(a)) - Number(isUnknown(b)) || order(a, b));
}

/** @type {(v: Value) => string} */
const short = (v) => (typeof v === "string" ? v.slice(0, 2000) : typeof v === "object" && v !== null ? JSON.stringify(v).slice(0, 2000) : String(v ?? ""));
/** @type {(rows: Row[], columns: string[], word: string) => Row[]} */
export function filtered(rows, columns, word) {
	const wanted = word.trim().toLowerCase();
	return wanted ? rows.filter((r) => columns.some((c) => short(r[c]).toLowerCase().includes(wanted))) : rows;
}

/** @param {string} text */
export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = document.createElement("textarea"); // pages from a file have no clipboard in some browsers
		area.value = text;
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		return done;
	}
}

/** @param {{ column: string, label?: string, sort: Sort, onSort: (column: string) => void, numeric: boolean }} props */
function Heading({ column, label, sort, onSort, numeric }) {
	const mine = sort.column === column;
	return (
		<th scope="col" class={numeric ? "number" : ""} aria-sort={mine ? (sort.down ? "descending" : "ascending") : "none"}>
			<button type="button" onClick={() => onSort(column)} title={column}>
				{label}
				<span aria-hidden="true">{mine ? (sort.down ? " \u2193" : " \u2191") : ""}</span>
			</button>
		</th>
	);
}

/** @param {{ table: string, column: string, row: Row, numeric: boolean, draw?: DrawCell }} props */
function Cell({ table, column, row, numeric, draw }) {
	const raw = row[column];
	const text = draw ? draw(raw, row) : cut(value(`${table}.${column}`, raw), 300);
	const unknown = raw === null || raw === undefined;
	return (
		<td class={`${numeric ? "number" : ""}${unknown ? " unknown" : ""}`} title={typeof raw === "string" ? cut(clean(raw), 1000) : typeof raw === "number" ? `${raw} ${unit(column)}` : undefined}>
			{unknown && !draw ? UNKNOWN : text}
		</td>
	);
}

// COLUMNS: names, in order; DRAW: column -> (value, row) => what stands in the cell; ONPICK: a row was chosen.
/** @param {TableProps} props */
export function Table({ name, rows, columns, caption, sort: first, draw = {}, onPick, max = 14, empty }) {
	const [sort, setSort] = useState(first ?? { column: null, down: true });
	const [word, setWord] = useState("");
	const [top, setTop] = useState(0);
	const [focus, setFocus] = useState(-1);
	const [notice, setNotice] = useState("");
	const box = useRef(/** @type {HTMLDivElement | null} */ (null));
	const shown = useMemo(() => sorted(filtered(rows, columns, word), sort), [rows, columns, word, sort]);
	const numeric = useMemo(() => new Set(columns.filter((c) => unit(c) || typeof rows.find((r) => r[c] !== null && r[c] !== undefined)?.[c] === "number")), [rows, columns]);
	const labels = useMemo(() => titles(columns), [columns]);
	const begin = Math.max(Math.floor(top / ROW) - MORE, 0);
	const end = Math.min(begin + max + 2 * MORE, shown.length);

	useEffect(() => {
		if (focus >= 0) /** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(`[data-row="${focus}"]`))?.focus({ preventScroll: true });
	}, [focus, begin]);
	/** @param {string} column */
	const onSort = (column) => setSort((s) => ({ column, down: s.column === column ? !s.down : numeric.has(column) }));
	const onCopy = async () => {
		const done = await copy(csv(columns, shown));
		setNotice(done ? `${shown.length} rows copied` : "the browser did not allow the copy");
		setTimeout(() => setNotice(""), 3000);
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
		} else if (e.key === "Enter" && onPick && shown[focus]) {
			onPick(shown[focus]);
		}
	};

	if (!rows.length) return empty ? <p class="empty">{empty}</p> : null;
	return (
		<section class="table" aria-label={caption}>
			<div class="bar">
				<h3>{caption}</h3>
				<span class="count">{shown.length === rows.length ? rows.length.toLocaleString("en-US") : `${shown.length.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")}`}</span>
				<span role="status">{notice}</span>
				{rows.length > 5 && <input type="search" placeholder="filter" aria-label={`filter ${caption}`} value={word} onInput={(e) => setWord(e.currentTarget.value)} />}
				<button type="button" onClick={onCopy} data-copy={name}>
					Copy as CSV
				</button>
			</div>
			{/* A region that scrolls must be reachable by keyboard. */}
			<div class="scroll" style={{ maxHeight: `${(max + 1) * ROW + 8}px` }} ref={box} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={onKey} tabIndex={0} role="region" aria-label={`${caption}, rows`}>
				<table class="rows" aria-rowcount={shown.length + 1}>
					<thead>
						<tr aria-rowindex={1}>
							{columns.map((c) => (
								<Heading key={c} column={c} label={labels.get(c)} sort={sort} onSort={onSort} numeric={numeric.has(c)} />
							))}
						</tr>
					</thead>
					<tbody>
						{begin > 0 && <tr style={{ height: `${begin * ROW}px` }} aria-hidden="true" />}
						{shown.slice(begin, end).map((row, i) => (
							<tr key={begin + i} data-row={begin + i} tabIndex={-1} aria-rowindex={begin + i + 2} class={onPick ? "pick" : ""} onClick={() => { setFocus(begin + i); onPick?.(row); }}>
								{columns.map((c) => (
									<Cell key={c} table={name} column={c} row={row} numeric={numeric.has(c)} draw={draw[c]} />
								))}
							</tr>
						))}
						{end < shown.length && <tr style={{ height: `${(shown.length - end) * ROW}px` }} aria-hidden="true" />}
					</tbody>
				</table>
			</div>
		</section>
	);
}
