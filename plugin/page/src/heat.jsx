// Cells of rows and columns, shaded from dark (0) to light (the maximum). Unknown cells stay empty.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { Plot, shade, tooltip } from "./chart.jsx";
import { within } from "./fit.js";
import { clean } from "./format.js";

/** @import uPlot from "uplot" */
/** @import { Drawing } from "./report.d.ts" */

const ROW = 16;
const APART = 48; // pixels between the names of columns
const TICK = 18; // pixels between a name and its row

/**
 * The middles of columns that have their names below them: each, or every so many.
 * @type {(count: number, width: number) => number[]}
 */
export function middles(count, width) {
	const every = Math.max(Math.ceil((count * APART) / Math.max(width, APART)), 1);
	return Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every + 0.5);
}

/** @type {(row: { label: string, hint?: string }, most: number) => string} */
const nameOf = ({ label, hint }, most) => within(clean(hint ? `${label} ${hint}` : label), most, 0.5);

/**
 * COLUMNS: their names; SAY(value) writes one; MAX: the brightest, instead of the highest.
 * @param {{ rows: { label: string, hint?: string, cells: (number | null)[] }[], columns: string[], max?: number, say: (value: number) => string,
 *	label: string }} props
 */
export function Heat({ rows, columns, max, say, label }) {
	const highest = useMemo(() => max ?? rows.reduce((top, r) => r.cells.reduce((most, v) => Math.max(most ?? 0, v ?? 0), top) ?? 0, 0), [rows, max]);
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const top = Math.max(highest, 1e-9);
		const wide = innerWidth < 600 ? 110 : rows.some((r) => r.hint) ? 300 : 190;
		/** @type {(u: uPlot) => void} */
		const paint = (u) => {
			const height = u.bbox.height / rows.length;
			const width = u.bbox.width / columns.length;
			rows.forEach((r, y) =>
				r.cells.forEach((v, x) => {
					if (v === null) return;
					u.ctx.fillStyle = shade(v / top);
					u.ctx.fillRect(u.bbox.left + x * width, u.bbox.top + y * height, Math.ceil(width), Math.ceil(height) - 1);
				}),
			);
		};
		/** @type {(u: uPlot) => string[] | null} */
		const at = (u) => {
			const row = rows[Math.floor((u.cursor.top ?? 0) / (u.over.clientHeight / rows.length))];
			const x = Math.floor((u.cursor.left ?? 0) / (u.over.clientWidth / columns.length));
			if (!row || x < 0 || x >= columns.length) return null;
			return [clean(row.label), ...(row.hint ? [clean(row.hint)] : []), columns[x], row.cells[x] === null ? "unknown" : say(row.cells[x])];
		};
		return {
			data: [columns.map((_, i) => i + 0.5), columns.map(() => 0)],
			options: {
				legend: { show: false },
				cursor: { drag: { x: false, y: false }, points: { show: false } },
				scales: { x: { time: false, range: [0, columns.length] }, y: { range: [0, rows.length] } },
				axes: [
					{ size: 26, splits: (u) => middles(columns.length, u.bbox.width / devicePixelRatio), values: (_, v) => v.map((i) => columns[Math.floor(i)]?.replace(/^step /, "") ?? ""), filter: (_, v) => v, grid: { show: false } },
					{ size: wide, splits: () => rows.map((_, i) => rows.length - i - 0.5), values: () => rows.map((r) => nameOf(r, wide - TICK)), grid: { show: false } },
				],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [paint] },
				plugins: [tooltip((_, u) => at(u))],
			},
		};
	}, [rows, columns, highest]);
	return (
		<div>
			<p class="scale" aria-hidden="true">
				{say(0)}
				{[0, 0.25, 0.5, 0.75, 1].map((s) => (
					<span key={s} class="swatch" style={{ background: shade(s), width: "28px" }} />
				))}
				{say(highest)}
			</p>
			<Plot {...drawing} height={ROW * rows.length + 44} label={label} />
		</div>
	);
}
