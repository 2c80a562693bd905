// SPDX-License-Identifier: MIT
// Rows of a timeline's slices on a canvas: coloured by their time class, named where there is room, with the critical path through them. What is
// drawn of a picture that comes late is drawn of the one before, stretched.
import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bucketColor, inkOn } from "./colors.js";
import { Plot, timeAxis, tooltip } from "./chart.jsx";
import { within } from "./fit.js";
import { clean, percent, time, title, value } from "./format.js";
import { gapAt, gapWords } from "./gaps.js";
import { FIELDS, firstAt, fitted, pictureOf, sliceUnder } from "./slices.js";
import { usePage } from "./state.js";
import { gutter, style, useShared } from "./timeaxis.jsx";

/** @import uPlot from "uplot" */
/** @import { Drawing, Lanes as Known, Gap, PathSpan, Picture, Range, TimelineRow } from "./report.d.ts" */
/** @import { TimeScale } from "./timescale.js" */

const ROW = 20;
const AXIS = 40;
const OF_OPS = new Set(["chip", "ops", "collectives"]);
const GAP = 8; // pixels between a name and its row
const TINY = 1; // device pixels: what is narrower is drawn so
const MOST_JUMPS = 60; // of the critical path, from row to row
const NAMED = 28; // pixels that a name needs

/**
 * What is drawn. MARKS: colours by names of ops that something is said of.
 * ONLY: names that keep their colour, where something is chosen; GAPS: by device.
 * @typedef {{ all: Known[], path: PathSpan[], marks: Map<string, string>, only: Map<string, string> | null, gaps: Map<number, Gap[]> }} Shown
 * A slice: its row, and where it begins. Pictures come and go.
 * @typedef {{ row: number, at: number }} Place
 */

/** What ran on no device has no class. @type {(picture: Picture) => { fill: string, ink: string }[]} */
const inksOf = (picture) =>
	picture.classes.map((name) => {
		const color = name === null ? undefined : bucketColor(name);
		return color ? { fill: color, ink: inkOn(color) } : { fill: style("--line"), ink: style("--text") };
	});

/** @type {(u: uPlot) => { left: number, right: number, top: number, from: number, to: number, x: (ps: number) => number }} */
function frameOf(u) {
	const { left, top, width } = u.bbox;
	const from = (u.scales.x.min ?? 0) * 1e12;
	const to = (u.scales.x.max ?? 0) * 1e12;
	return { left, right: left + width, top, from, to, x: (ps) => left + ((ps - from) * width) / (to - from) };
}

const NUMBER = new Intl.NumberFormat("en-US"); // toLocaleString makes one for each slice of each frame
/** @type {(slices: ArrayLike<number>, i: number, picture: Picture) => string} */
const nameOf = (slices, i, picture) => (slices[i + 3] < 0 ? `${NUMBER.format(slices[i + 4])} events` : picture.names[slices[i + 3]]);

const LEGIBLE = 0.8; // of a row's height: letters are on it
const LOW = 0.3; // and above it; in between they would be on its edge
const FAINT = 0.25;

/** How much of its time something ran in: as high is a slice. @type {(slices: ArrayLike<number>, i: number) => number} */
export const fullness = (slices, i) => (slices[i + 1] > slices[i] ? Math.max(1 - slices[i + 5] / (slices[i + 1] - slices[i]), 0.08) : 1);

/** @type {(u: uPlot, slices: Float64Array, picture: Picture, inks: ReturnType<typeof inksOf>, y: number, height: number, marks: (i: number) => string | undefined, isFaint: (i: number) => boolean) => void} */
function paintRow(u, slices, picture, inks, y, height, marks, isFaint) {
	const { ctx } = u;
	const { left, right, from, x } = frameOf(u);
	const one = devicePixelRatio;
	let last = -1;
	for (let i = firstAt(slices, from); i < slices.length; i += FIELDS) {
		const a = Math.max(x(slices[i]), left);
		if (a > right) break;
		const b = Math.min(x(slices[i + 1]), right);
		if (b - a < TINY && Math.floor(b) === last) continue; // the pixel has its colour
		last = Math.floor(b);
		const { fill, ink } = inks[slices[i + 2]];
		const width = Math.max(b - a - (b - a > 3 * one ? one : 0), TINY);
		const full = fullness(slices, i);
		const faint = isFaint(slices[i + 3]);
		ctx.globalAlpha = faint ? FAINT : 1;
		ctx.fillStyle = fill;
		ctx.fillRect(a, y + height * (1 - full), width, height * full);
		ctx.globalAlpha = 1;
		const mark = marks(slices[i + 3]);
		if (mark && width > 2 * one) {
			ctx.fillStyle = mark;
			ctx.fillRect(a, y, width, 3 * one);
		}
		if (width < NAMED * one || faint || (full > LOW && full < LEGIBLE)) continue;
		ctx.fillStyle = full > LOW ? ink : style("--text");
		ctx.fillText(fitted(clean(nameOf(slices, i, picture)), width / one), a + 3 * one, y + height / 2 + one);
	}
}

/** Time without an op: pale, in the colour of what the launch waited for, and worded by it where there is room. @type {(u: uPlot, gaps: Gap[], y: number, height: number) => void} */
function paintGaps(u, gaps, y, height) {
	const { ctx } = u;
	const { left, right, from, to, x } = frameOf(u);
	for (const gap of gaps) {
		if (gap.end < from || gap.start > to) continue;
		const a = Math.max(x(gap.start), left);
		const width = Math.min(x(gap.end), right) - a;
		if (width < TINY) continue;
		ctx.globalAlpha = GAP_ALPHA;
		ctx.fillStyle = bucketColor(gap.bucket);
		ctx.fillRect(a, y + height / 4, width, height / 2);
		ctx.globalAlpha = 1;
		if (width < NAMED * devicePixelRatio) continue;
		ctx.fillStyle = style("--text");
		ctx.fillText(fitted(clean(gapWords(gap)), width / devicePixelRatio), a + 3 * devicePixelRatio, y + height / 2 + devicePixelRatio);
	}
}
const GAP_ALPHA = 0.4;

// A line under what is on the path, and where it goes on in another row, lines to there, as long as they can be told apart.
/** @type {(u: uPlot, rows: TimelineRow[], path: PathSpan[], height: number) => void} */
function paintPath(u, rows, path, height) {
	const { ctx } = u;
	const { from, to, top, x } = frameOf(u);
	const at = new Map(rows.map((r, i) => [r.key, Math.round(top + (i + 1) * height - 1.5 * devicePixelRatio)]));
	const seen = path.filter((span) => span.end_ps >= from && span.start_ps <= to && at.has(span.key));
	const jumps = seen.flatMap((span, i) => (i && seen[i - 1].key !== span.key ? [[seen[i - 1].key, span]] : []));
	ctx.strokeStyle = ctx.fillStyle = style("--text");
	ctx.lineWidth = devicePixelRatio;
	for (const span of seen) ctx.fillRect(x(span.start_ps), (at.get(span.key) ?? 0) - 1.5 * devicePixelRatio, Math.max(x(span.end_ps) - x(span.start_ps), TINY), 3 * devicePixelRatio);
	if (jumps.length > MOST_JUMPS) return;
	ctx.beginPath();
	for (const [key, span] of /** @type {[string, PathSpan][]} */ (jumps)) {
		ctx.moveTo(x(span.start_ps), at.get(key) ?? 0);
		ctx.lineTo(x(span.start_ps), at.get(span.key) ?? 0);
	}
	ctx.stroke();
}

/** @type {WeakMap<Map<string, string>, WeakMap<Picture, (string | undefined)[]>>} */
const found = new WeakMap();
/**
 * The mark of each name of a picture: looked for once, and not in each frame.
 * @type {(marks: Map<string, string>, picture: Picture) => (string | undefined)[]}
 */
function marksIn(marks, picture) {
	const pictures = found.get(marks) ?? new WeakMap();
	const known = pictures.get(picture) ?? picture.names.map((name, i) => marks.get(`${picture.modules[i] ?? ""}/${name}`));
	found.set(marks, pictures.set(picture, known));
	return known;
}

/** @type {(u: uPlot, rows: TimelineRow[], shown: Shown, chosen: Place | null) => void} */
function paint(u, rows, { all, path, marks, only, gaps }, chosen) {
	const { ctx } = u;
	const { left, right, top, from, to, x } = frameOf(u);
	const height = u.bbox.height / rows.length;
	const known = pictureOf(all, [from, to]);
	if (!known) return;
	const inks = inksOf(known.picture);
	const said = marksIn(marks, known.picture);
	const kept = only && marksIn(only, known.picture);
	const isFaint = (/** @type {number} */ i) => kept !== null && !kept[i];
	ctx.save();
	ctx.beginPath();
	ctx.rect(left, top, right - left, u.bbox.height);
	ctx.clip();
	ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
	ctx.textBaseline = "middle";
	ctx.textAlign = "left";
	rows.forEach((row, r) => {
		const y = top + r * height;
		const slices = known.rows.get(row.key)?.slices;
		if (row.isFirst && r) {
			ctx.fillStyle = style("--soft");
			ctx.fillRect(left, Math.round(y), right - left, devicePixelRatio);
		}
		if (row.kind === "chip" && row.device !== null) paintGaps(u, gaps.get(row.device) ?? [], y + 2 * devicePixelRatio, height - 4 * devicePixelRatio);
		if (!slices) return;
		paintRow(u, slices, known.picture, inks, y + 2 * devicePixelRatio, height - 4 * devicePixelRatio, OF_OPS.has(row.kind) ? (i) => said[i] : () => undefined, isFaint);
		const i = chosen?.row === r ? sliceUnder(slices, chosen.at) : -1;
		if (i < 0) return;
		ctx.strokeStyle = style("--focus");
		ctx.lineWidth = 3 * devicePixelRatio;
		ctx.strokeRect(x(slices[i]), y + devicePixelRatio, Math.max(x(slices[i + 1]) - x(slices[i]), 2), height - 2 * devicePixelRatio);
	});
	if (path.length) paintPath(u, rows, path, height);
	ctx.restore();
}

/**
 * A slice in words.
 * @type {(row: TimelineRow, known: Known, i: number) => string[]}
 */
export function wordsOf(row, { picture, rows }, i) {
	const slices = rows.get(row.key)?.slices;
	if (!slices || i < 0) return [clean(row.name), "nothing"];
	const name = picture.classes[slices[i + 2]];
	return [clean(row.name), clean(nameOf(slices, i, picture)), `${time(slices[i + 1] - slices[i])} at ${time(slices[i])}`, ...(name ? [title(name)] : []), ...(slices[i + 4] > 1 ? [`${value("events", slices[i + 4])} events, ${percent(100 * (1 - slices[i + 5] / (slices[i + 1] - slices[i])))} of the time busy: zoom in`] : [])];
}

/** Names of rows stand beside the canvas. @type {() => Drawing["options"]["axes"]} */
const axesOf = () => [{ ...timeAxis, side: 0, size: 0, values: () => [], ticks: { show: false } }, { size: gutter, values: () => [], splits: () => [], grid: { show: false }, ticks: { show: false } }];

/** @type {(row: TimelineRow, shown: Shown, at: { i: number }, u: uPlot) => string[] | null} */
function gapWordsOf(row, { gaps }, { i }, u) {
	if (i >= 0 || row.kind !== "chip" || row.device === null) return null;
	const gap = gapAt(gaps.get(row.device) ?? [], u.posToVal(u.cursor.left ?? 0, "x") * 1e12);
	if (!gap) return null;
	return [clean(row.name), `nothing ran for ${time(gap.end - gap.start)}: ${clean(gapWords(gap))}`, ...(gap.thread ? [`host thread ${clean(gap.thread)}`] : []), ...(gap.ended ? [`ended by ${clean(gap.ended)}`] : [])];
}

/** @type {(known: Known, row: TimelineRow | undefined) => Float64Array} */
const slicesOf = (known, row) => (row && known.rows.get(row.key)?.slices) || new Float64Array();

/**
 * Where the arrows lead from a slice, in the rows as they are drawn: to its neighbour, or to what runs at its time in another row; null: nowhere.
 * @type {(key: string, from: Place, rows: TimelineRow[], known: Known) => { row: number, i: number } | null}
 */
export function stepped(key, { row: begin, at }, rows, known) {
	if (key === "ArrowLeft" || key === "ArrowRight") {
		const own = slicesOf(known, rows[begin]);
		const i = firstAt(own, at) + (key === "ArrowLeft" ? -FIELDS : FIELDS);
		return i >= 0 && i < own.length ? { row: begin, i } : null;
	}
	const by = key === "ArrowUp" ? -1 : 1;
	for (let row = begin + by; row >= 0 && row < rows.length; row += by) {
		const slices = slicesOf(known, rows[row]);
		if (slices.length) return { row, i: Math.min(firstAt(slices, at), slices.length - FIELDS) };
	}
	return null;
}

/**
 * What the canvas, the pointer and the keys share. PICK: a slice was clicked, or chosen with Enter.
 * @typedef {{ plot: uPlot | null, shown: Shown, chosen: Place | null, pick: (row: TimelineRow, known: Known, i: number) => void }} State
 */

/** @type {(u: uPlot, rows: TimelineRow[], { all }: Shown) => { row: number, i: number, known: Known } | null} */
function under(u, rows, { all }) {
	const row = Math.floor((u.cursor.top ?? -1) / (u.over.clientHeight / rows.length));
	const { from, to } = frameOf(u);
	const known = pictureOf(all, [from, to]);
	return known && rows[row] ? { row, known, i: sliceUnder(slicesOf(known, rows[row]), u.posToVal(u.cursor.left ?? 0, "x") * 1e12) } : null;
}

/** @type {(rows: TimelineRow[], state: State) => uPlot.Plugin} */
const picking = (rows, state) => ({
	hooks: {
		init: (u) => {
			state.plot = u;
			u.over.addEventListener("click", () => {
				const at = under(u, rows, state.shown);
				if (!at || at.i < 0) return;
				state.chosen = { row: at.row, at: slicesOf(at.known, rows[at.row])[at.i] };
				u.redraw(false);
				state.pick(rows[at.row], at.known, at.i);
			});
		},
		destroy: () => {
			state.plot = null;
		},
	},
});

/** @type {(base: ReturnType<typeof useShared>, whole: Range, rows: TimelineRow[], state: State) => Drawing} */
const drawingOf = (base, whole, rows, state) => ({
	data: [whole.map((ps) => ps / 1e12), [0, 0]],
	options: {
		legend: base.legend,
		cursor: base.cursor,
		padding: [0, base.padding?.[1] ?? 0, 0, 0],
		scales: { x: base.x, y: { range: [0, rows.length] } },
		axes: axesOf(),
		series: [{}, { paths: () => null, points: { show: false } }],
		hooks: { draw: [(u) => paint(u, rows, state.shown, state.chosen)] },
		plugins: [base.follow, picking(rows, state), tooltip((_, u) => {
			const at = under(u, rows, state.shown);
			return at && (gapWordsOf(rows[at.row], state.shown, at, u) ?? wordsOf(rows[at.row], at.known, at.i));
		})],
	},
});

/**
 * The arrows choose a slice, and Enter opens it. What is chosen is in sight, and in words.
 * @type {(key: string, rows: TimelineRow[], state: State, scale: TimeScale) => string | null} null: it is as it was
 */
function typed(key, rows, state, scale) {
	const [from, until] = scale.now();
	const known = pictureOf(state.shown.all, [from, until]);
	const at = state.chosen ?? { row: -1, at: from };
	if (!known) return null;
	if (key === "Enter") {
		const i = sliceUnder(slicesOf(known, rows[at.row]), at.at);
		if (i >= 0) state.pick(rows[at.row], known, i);
		return null;
	}
	const to = stepped(at.row < 0 ? "ArrowDown" : key, at, rows, known);
	if (!to) return null;
	const [start, end] = slicesOf(known, rows[to.row]).subarray(to.i, to.i + 2);
	state.chosen = { row: to.row, at: start };
	if (end <= from || start >= until) scale.move([start - (until - from) / 2, start + (until - from) / 2]);
	return wordsOf(rows[to.row], known, to.i).join(", ");
}

/** The times, above rows that scroll. */
export function Ruler() {
	const base = useShared(false);
	const { scale } = usePage();
	const drawing = useMemo(
		() => /** @type {Drawing} */ ({
			data: [scale.whole().map((ps) => ps / 1e12), [0, 0]],
			options: { legend: base.legend, cursor: base.cursor, padding: base.padding, scales: { x: base.x, y: { range: [0, 1] } }, axes: [{ ...timeAxis, side: 0 }, { size: gutter, values: () => [], splits: () => [], grid: { show: false }, ticks: { show: false } }], series: [{}, { paths: () => null, points: { show: false } }], plugins: [base.follow] },
		}),
		[base],
	);
	return <Plot {...drawing} height={AXIS} label="the times of the rows below" />;
}

const INDENT = 12;

/** Names of rows, those of hosts and chips to open and shut. @param {{ rows: TimelineRow[], onFold: (key: string) => void }} props */
function Names({ rows, onFold }) {
	return (
		<div class="row-names" style={{ width: `${gutter()}px` }}>
			{rows.map((r) => {
				const text = within(clean(r.label), gutter() - GAP - INDENT * (r.level + (r.fold ? 1 : 0)));
				return (
					<div key={r.key} class={r.kind === "chip" || r.kind === "host" ? "row-name group" : "row-name"} style={{ height: `${ROW}px`, paddingLeft: `${INDENT * r.level}px` }} title={clean(r.name)}>
						{r.fold ? (
							<button type="button" class="link" aria-expanded={r.open} onClick={() => onFold(/** @type {string} */ (r.fold))}>
								{`${r.open ? "\u25be" : "\u25b8"} ${text}`}
							</button>
						) : (
							text
						)}
					</div>
				);
			})}
		</div>
	);
}

/** @param {{ label: string, rows: TimelineRow[], shown: Shown, onPick: State["pick"], onFold: (key: string) => void }} props */
export function Lanes({ label, rows, shown, onPick, onFold }) {
	const base = useShared(false);
	const { scale } = usePage();
	const state = useRef(/** @type {State} */ ({ plot: null, shown, chosen: null, pick: onPick })).current;
	Object.assign(state, { shown, pick: onPick });
	const [said, say] = useState("");
	useEffect(() => state.plot?.redraw(false), [shown]);
	useEffect(() => {
		state.chosen = null;
	}, [rows]);
	const drawing = useMemo(() => drawingOf(base, scale.whole(), rows, state), [base, rows]);
	/** @param {KeyboardEvent} e */
	const onKey = (e) => {
		if (!/^(Arrow|Enter)/.test(e.key)) return;
		e.preventDefault();
		const words = typed(e.key, rows, state, scale);
		if (words === null) return;
		say(words);
		state.plot?.redraw(false);
	};
	return (
		<div class="rows-box">
			<Names rows={rows} onFold={onFold} />
			<div class="lanes" role="application" aria-label={`${label}; arrows go from slice to slice, Enter opens one`} tabIndex={0} onKeyDown={onKey}>
				<Plot {...drawing} height={rows.length * ROW} label={label} />
				<p role="status" class="unseen">
					{said}
				</p>
			</div>
		</div>
	);
}
