// SPDX-License-Identifier: MIT
// Cells of rows and columns, shaded from dark (0) to light (the maximum). Without a value a cell is hatched: dark means 0. A figure that cannot be true
// is crossed.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { shade } from "./colors.js";
import { Plot, tooltip } from "./chart.jsx";
import { apart, textWidth, within } from "./fit.js";
import { clean } from "./format.js";
import { usePage } from "./state.js";

/** @import uPlot from "uplot" */
/** @import { Drawing } from "./report.d.ts" */

const ROW = 16;
/** @type {(count: number) => number} pixels, of so many rows */
export const heatHeight = (count) => ROW * count + 44;

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

const WIDE = [[600, 110], [1000, 300], [Infinity, 400]]; // of the window; of the names, where they have a hint
const PLAIN = 190; // where they have none

/** @typedef {{ label: string, hint?: string, cells: (number | null)[], impossible?: number[] }} HeatRow IMPOSSIBLE: columns whose figure cannot be true */

/** @type {(rows: HeatRow[]) => number} pixels */
const widthOf = (rows) => Math.min(WIDE.find(([most]) => innerWidth < most)?.[1] ?? PLAIN, rows.some((r) => r.hint) ? Infinity : PLAIN);

/** @type {(name: string) => string} */
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A cell without a value.
/** @type {(ctx: CanvasRenderingContext2D, x: number, y: number, width: number, height: number) => void} */
function hatch(ctx, x, y, width, height) {
	ctx.save();
	ctx.beginPath();
	ctx.rect(x, y, width, height);
	ctx.clip();
	ctx.strokeStyle = style("--line");
	ctx.beginPath();
	for (let at = x - (x % 8) - height; at < x + width; at += 8) {
		ctx.moveTo(at, y + height);
		ctx.lineTo(at + height, y);
	}
	ctx.stroke();
	ctx.restore();
}

/** @type {(ctx: CanvasRenderingContext2D, x: number, y: number, width: number, height: number) => void} */
function cross(ctx, x, y, width, height) {
	const size = Math.min(width, height) / 2 - 2;
	ctx.save();
	ctx.strokeStyle = style("--critical");
	ctx.lineWidth = 2 * devicePixelRatio;
	ctx.beginPath();
	for (const sign of [-1, 1]) {
		ctx.moveTo(x + width / 2 - size, y + height / 2 - sign * size);
		ctx.lineTo(x + width / 2 + size, y + height / 2 + sign * size);
	}
	ctx.stroke();
	ctx.restore();
}

const LEAST_HINT = 60; // pixels: of less nobody reads anything

// The hint gives way to the label: that tells rows apart, and the box of help has both.
/** @type {(row: { label: string, hint?: string }, most: number) => string} */
function nameOf({ label, hint }, most) {
	const name = clean(label);
	const room = most - textWidth(`${name} `);
	if (!hint || room < LEAST_HINT) return within(name, most, 0.5);
	return `${name} ${within(clean(hint), room)}`;
}

/** @type {(rows: { label: string, hint?: string }[], most: number) => string[]} */
const namesOf = (rows, most) => apart(rows.map((r) => clean(r.label)), rows.map((r) => nameOf(r, most)), most);

/**
 * The program left the figure empty, or the file is of one that did not.
 * @type {(row: HeatRow, column: number, max: number | undefined) => boolean}
 */
const isBeyond = ({ cells, impossible }, column, max) => Boolean(impossible?.includes(column)) || (max !== undefined && (cells[column] ?? 0) > max * (1 + 1e-9));

/**
 * COLUMNS: their names; SAY(value) writes one; MAX: the brightest, instead of the highest: the scale is then the same in all runs.
 * @param {{ rows: HeatRow[], columns: string[], max?: number, say: (value: number) => string,
 *	label: string }} props
 */
export function Heat({ rows, columns, max, say, label }) {
	const { theme } = usePage();
	const highest = useMemo(() => max ?? rows.reduce((top, r) => r.cells.reduce((most, v) => Math.max(most ?? 0, v ?? 0), top) ?? 0, 0), [rows, max]);
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const top = Math.max(highest, 1e-9);
		const wide = widthOf(rows);
		const names = namesOf(rows, wide - TICK);
		/** @type {(u: uPlot) => void} */
		const paint = (u) => {
			const height = u.bbox.height / rows.length;
			const width = u.bbox.width / columns.length;
			rows.forEach((r, y) =>
				r.cells.forEach((v, x) => {
					/** @type {[number, number, number, number]} */
					const at = [u.bbox.left + x * width, u.bbox.top + y * height, Math.ceil(width), Math.ceil(height) - 1];
					if (isBeyond(r, x, max)) return cross(u.ctx, ...at);
					if (v === null) return hatch(u.ctx, ...at);
					u.ctx.fillStyle = shade(v / top);
					u.ctx.fillRect(...at);
				}),
			);
		};
		/** @type {(u: uPlot) => string[] | null} */
		const at = (u) => {
			const row = rows[Math.floor((u.cursor.top ?? 0) / (u.over.clientHeight / rows.length))];
			const x = Math.floor((u.cursor.left ?? 0) / (u.over.clientWidth / columns.length));
			if (!row || x < 0 || x >= columns.length) return null;
			return [clean(row.label), ...(row.hint ? [clean(row.hint)] : []), columns[x], isBeyond(row, x, max) ? "impossible: it is above the peak" : row.cells[x] === null ? "unknown" : say(row.cells[x])];
		};
		return {
			data: [columns.map((_, i) => i + 0.5), columns.map(() => 0)],
			options: {
				legend: { show: false },
				cursor: { drag: { x: false, y: false }, points: { show: false } },
				scales: { x: { time: false, range: [0, columns.length] }, y: { range: [0, rows.length] } },
				axes: [
					{ size: 26, splits: (u) => middles(columns.length, u.bbox.width / devicePixelRatio), values: (_, v) => v.map((i) => columns[Math.floor(i)]?.replace(/^step /, "") ?? ""), filter: (_, v) => v, grid: { show: false } },
					{ size: wide, splits: () => rows.map((_, i) => rows.length - i - 0.5), values: () => names, grid: { show: false } },
				],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [paint] },
				plugins: [tooltip((_, u) => at(u))],
			},
		};
	}, [rows, columns, highest, theme]);
	const isCrossed = useMemo(() => rows.some((r) => r.cells.some((_, x) => isBeyond(r, x, max))), [rows, max]);
	const isHatched = useMemo(() => rows.some((r) => r.cells.some((v, x) => v === null && !isBeyond(r, x, max))), [rows, max]);
	return (
		<div>
			<p class="scale" aria-hidden="true">
				{say(0)}
				{[0, 0.25, 0.5, 0.75, 1].map((s) => (
					<span key={s} class="swatch" style={{ background: shade(s), width: "28px" }} />
				))}
				{say(highest)}
			</p>
			{isHatched && (
				<p class="count">
					<span class="swatch hatched" aria-hidden="true" />
					no value: the op did not run there
				</p>
			)}
			{isCrossed && <p class="count">{`\u2715 impossible: above ${say(highest)}, so its FLOPs or its time cannot be right`}</p>}
			<Plot {...drawing} height={heatHeight(rows.length)} label={label} />
		</div>
	);
}
