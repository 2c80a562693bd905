// SPDX-License-Identifier: MIT
// Charts over time: all begin at the same left edge and have one scale, one crosshair and one set of gestures. Drag chooses a time; Ctrl and the
// wheel (or two fingers) show less or more of it, Shift and the wheel or the mouse (or one finger) move it; W S A D do the same, Escape goes back.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { holds, Plot, stacked, stairs, timeAxis, tooltip } from "./chart.jsx";
import { within } from "./fit.js";
import { bytes, time } from "./format.js";
import { usePage } from "./state.js";
import { isLoose, outside, sliceAt } from "./timescale.js";

/** @import uPlot from "uplot" */
/** @import { Drawing, LaneRow, Maybe, Range, TimeBand, TimeChartProps, TimeLine, TimePart } from "./report.d.ts" */
/** @import { TimeScale } from "./timescale.js" */

export const gutter = () => (innerWidth < 600 ? 78 : innerWidth < 1200 ? 110 : 176); // pixels left of every chart: names of rows stand there
const EDGE = 24; // and right of it: half of the last time has room there
const TICK = 18; // pixels between a name and its row
const LANE = 22; // height of a row of slices

/**
 * How high a chart of COUNT rows is, in pixels; BARE: without an axis.
 * @type {(count: number, row?: number, bare?: boolean) => number}
 */
export const laneHeight = (count, row = LANE, bare = false) => row * count + (bare ? 12 : 44);
const THIN = 2; // pixels; time in no step that has fewer shows no lines, and thousands of such places take seconds
const TINY = 0.5; // what is narrower is drawn so
const DRAG = 4; // pixels; less is a click
const PER_NOTCH = 1.0015;
export const POWERS = Array.from({ length: 60 }, (_, i) => 2 ** i); // steps of an axis of bytes

/** @type {(name: string) => string} */
export const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** @type {(range: Range) => { min: number, max: number }} */
const seconds = ([from, to]) => ({ min: from / 1e12, max: to / 1e12 });

// --- what is drawn on all of them

/** @type {(u: uPlot, from: number, to: number) => [number, number]} */
function places(u, from, to) {
	const { left, width } = u.bbox;
	const [a, b] = [from, to].map((ps) => Math.min(Math.max(u.valToPos(ps / 1e12, "x", true), left), left + width));
	return [a, b];
}

// Time that is in no step: thin lines across, which no class is drawn with.
/** @type {(u: uPlot, ranges: Range[]) => void} */
function hatch(u, ranges) {
	const { ctx } = u;
	const { top, height } = u.bbox;
	const gap = 7 * devicePixelRatio;
	ctx.save();
	ctx.strokeStyle = style("--line");
	ctx.lineWidth = devicePixelRatio;
	ctx.beginPath();
	const [first, last] = [u.posToVal(u.bbox.left, "x", true) * 1e12, u.posToVal(u.bbox.left + u.bbox.width, "x", true) * 1e12];
	const least = (THIN * (last - first)) / u.bbox.width;
	for (const [from, to] of ranges) {
		if (to - from < least || to < first || from > last) continue;
		const [a, b] = places(u, from, to);
		if (b > a) ctx.rect(a, top, b - a, height);
	}
	ctx.clip();
	ctx.beginPath();
	for (let x = u.bbox.left - height; x < u.bbox.left + u.bbox.width; x += gap) {
		ctx.moveTo(x, top + height);
		ctx.lineTo(x + height, top);
	}
	ctx.stroke();
	ctx.restore();
}

// On a chart of the whole capture, what is not looked at is dimmed.
/** @type {(u: uPlot, range: Range | null) => void} */
function dim(u, range) {
	if (!range) return;
	const { left, top, width, height } = u.bbox;
	const [from, to] = places(u, ...range);
	u.ctx.save();
	u.ctx.globalAlpha = 0.75;
	u.ctx.fillStyle = style("--panel");
	u.ctx.fillRect(left, top, from - left, height);
	u.ctx.fillRect(to, top, left + width - to, height);
	u.ctx.globalAlpha = 1;
	u.ctx.strokeStyle = style("--text");
	u.ctx.lineWidth = devicePixelRatio;
	u.ctx.strokeRect(from, top, Math.max(to - from, devicePixelRatio), height);
	u.ctx.restore();
}

// --- gestures

/** @type {(u: uPlot, scale: TimeScale) => (e: WheelEvent) => void} */
const wheel = (u, scale) => (e) => {
	const isAcross = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
	if (!e.ctrlKey && !e.metaKey && !isAcross) return; // the page scrolls
	e.preventDefault();
	if (isAcross) scale.pan((e.deltaX || e.deltaY) / u.over.clientWidth);
	else scale.zoom(PER_NOTCH ** e.deltaY, u.posToVal(e.offsetX, "x") * 1e12);
};

// One finger moves the time, or chooses one where all of it is shown; two fingers take what is between them with them.
/** @type {(u: uPlot, scale: TimeScale, isWhole: boolean) => Record<string, (e: PointerEvent) => void>} */
function touch(u, scale, isWhole) {
	/** @type {Map<number, number>} */
	const fingers = new Map();
	let begin = 0;
	/** @param {PointerEvent} e */
	const placeOf = (e) => e.clientX - u.over.getBoundingClientRect().left;
	/** @param {number} x */
	const timeAt = (x) => u.posToVal(x, "x") * 1e12;
	const isChoice = () => isWhole || !scale.chosen();
	/** @type {(before: number[], after: number[]) => void} */
	const pinch = ([a, b], [c, d]) => {
		if (Math.abs(d - c) < 1) return;
		scale.zoom(Math.abs(b - a) / Math.abs(d - c), timeAt((c + d) / 2));
		scale.pan(((a + b) / 2 - (c + d) / 2) / u.over.clientWidth);
	};
	/** @param {PointerEvent} e */
	const end = (e) => {
		const to = placeOf(e);
		if (e.type === "pointerup" && fingers.size === 1 && isChoice() && Math.abs(to - begin) > DRAG) scale.pick([timeAt(Math.min(begin, to)), timeAt(Math.max(begin, to))]);
		u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
		fingers.delete(e.pointerId);
	};
	/** @type {Record<string, (e: PointerEvent) => void>} */
	const on = {
		pointerdown: (e) => {
			fingers.set(e.pointerId, placeOf(e));
			if (fingers.size === 1) begin = placeOf(e);
		},
		pointermove: (e) => {
			const last = fingers.get(e.pointerId);
			if (last === undefined) return;
			const before = [...fingers.values()];
			const x = placeOf(e);
			fingers.set(e.pointerId, x);
			if (fingers.size === 2) pinch(before, [...fingers.values()]);
			else if (isChoice()) u.setSelect({ left: Math.min(begin, x), width: Math.abs(x - begin), top: 0, height: u.over.clientHeight }, false);
			else scale.pan((last - x) / u.over.clientWidth);
		},
		pointerup: end,
		pointercancel: end,
	};
	return Object.fromEntries(Object.entries(on).map(([kind, act]) => [kind, (/** @type {PointerEvent} */ e) => e.pointerType === "touch" && act(e)]));
}

// Shift and the mouse move the time.
/** @type {(u: uPlot, scale: TimeScale) => (e: MouseEvent) => void} */
const grab = (u, scale) => (down) => {
	if (!down.shiftKey || down.button !== 0) return;
	down.preventDefault();
	down.stopImmediatePropagation(); // nothing is chosen
	let last = down.clientX;
	/** @param {MouseEvent} e */
	const move = (e) => {
		scale.pan((last - e.clientX) / u.over.clientWidth);
		last = e.clientX;
	};
	addEventListener("mousemove", move);
	addEventListener("mouseup", () => removeEventListener("mousemove", move), { once: true });
};

/**
 * What makes a chart one of them: it follows the scale and moves it. A uPlot plugin.
 * @type {(scale: TimeScale, isWhole: boolean, gaps: Range[]) => uPlot.Plugin}
 */
function following(scale, isWhole, gaps) {
	/** @type {() => void} */
	let close;
	return {
		hooks: {
			init: (u) => {
				close = scale.listen(() => (isWhole ? u.redraw(false) : u.setScale("x", seconds(scale.now()))));
				u.over.classList.add("over-time");
				u.over.addEventListener("wheel", wheel(u, scale), { passive: false });
				u.over.addEventListener("mousedown", grab(u, scale), { capture: true });
				for (const [kind, act] of Object.entries(touch(u, scale, isWhole))) u.over.addEventListener(kind, /** @type {EventListener} */ (act));
				u.over.addEventListener("mouseleave", () => {
					scale.at = null;
				});
			},
			destroy: () => close(),
			drawClear: (u) => hatch(u, gaps),
			draw: (u) => isWhole && dim(u, scale.chosen()),
			setCursor: (u) => {
				if (u.over.matches(":hover")) scale.at = u.posToVal(u.cursor.left ?? 0, "x") * 1e12;
			},
			setSelect: (u) => {
				const { left, width } = u.select;
				if (width < DRAG) return;
				scale.pick([u.posToVal(left, "x") * 1e12, u.posToVal(left + width, "x") * 1e12]);
				u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
			},
		},
	};
}

// Of one chart, the others follow the pointer alone: what is dragged is chosen once.
/** @param {string} type */
const isMove = (type) => type === "mousemove" || type === "mouseleave" || type === "mouseenter";

/** @type {(scale: TimeScale, isWhole: boolean, gaps: Range[]) => Pick<Drawing["options"], "legend" | "cursor" | "padding"> & { x: uPlot.Scale, follow: uPlot.Plugin }} */
function shared(scale, isWhole, gaps) {
	const range = () => {
		const { min, max } = seconds(isWhole ? scale.whole() : scale.now());
		return /** @type {[number, number]} */ ([min, max]);
	};
	return {
		legend: { show: false },
		cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: { key: "time", scales: ["x", null], setSeries: false, filters: { pub: isMove } } },
		padding: [8, EDGE, 0, 0],
		x: { time: false, range },
		follow: following(scale, isWhole, gaps),
	};
}

/** @type {(whole: boolean | undefined) => ReturnType<typeof shared>} */
export function useShared(whole) {
	const { whole: report, scale } = usePage();
	return useMemo(() => shared(scale, Boolean(whole), isLoose(report) ? [] : outside(report.time?.per_step?.length ? report.time.per_step : report.steps, scale.end)), [report, scale, whole]);
}

// --- series

/** @type {TimePart[]} */
const NO_PARTS = []; // one list for all charts without: a chart is drawn anew when a list is another one
/** @type {TimeBand[]} */
const NO_BANDS = [];
/** @type {TimeLine[]} */
const NO_LINES = [];

/** @type {(of: { parts: TimePart[], bands: TimeBand[], lines: TimeLine[] }) => Maybe<number>[][]} */
const columnsOf = ({ parts, bands, lines }) => [...stacked(parts.map((p) => p.values)), ...bands.flatMap((b) => [b.high, b.low, b.mean]), ...lines.map((l) => l.values)];

/** @type {(of: { parts: TimePart[], bands: TimeBand[], lines: TimeLine[] }) => uPlot.Series[]} */
function seriesOf({ parts, bands, lines }) {
	const plain = { points: { show: false }, paths: stairs };
	return [
		...[...parts].reverse().map((p) => ({ ...plain, fill: p.color, width: 0 })),
		...bands.flatMap((b) => [{ ...plain, width: 0 }, { ...plain, width: 0 }, { ...plain, stroke: b.color, width: 1.5 }]),
		...lines.map((l) => ({ ...plain, stroke: l.color, fill: l.fill ? `${l.color}44` : undefined, dash: l.dash, width: 1.5 })),
	];
}

/** @type {(parts: TimePart[], bands: TimeBand[]) => uPlot.Band[]} */
const bandsOf = (parts, bands) => bands.map((b, i) => ({ series: [1 + parts.length + 3 * i, 2 + parts.length + 3 * i], fill: `${b.color}44` }));

/** @type {(columns: Maybe<number>[][]) => number} */
const most = (columns) => columns.reduce((top, c) => c.reduce((m, v) => Math.max(m ?? 0, v ?? 0), top) ?? top, 0);

// A line across, with its name: what the chip can do, or has.
/** @type {(u: uPlot, peak: { value: number, name: string }) => void} */
function drawPeak(u, { value, name }) {
	const y = u.valToPos(value, "y", true);
	u.ctx.save();
	u.ctx.strokeStyle = u.ctx.fillStyle = style("--soft");
	u.ctx.font = `${12 * devicePixelRatio}px sans-serif`;
	u.ctx.setLineDash([6, 4]);
	u.ctx.beginPath();
	u.ctx.moveTo(u.bbox.left, y);
	u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
	u.ctx.stroke();
	u.ctx.textAlign = "right";
	u.ctx.fillText(name, u.bbox.left + u.bbox.width - 4, y + 14 * devicePixelRatio);
	u.ctx.restore();
}

// A moment, with its name.
/** @type {(u: uPlot, mark: { at: number, value: number, name: string }) => void} */
function drawMark(u, { at, value, name }) {
	const [x, y] = [u.valToPos(at / 1e12, "x", true), u.valToPos(value, "y", true)];
	const { left, top, width, height } = u.bbox;
	if (x < left || x > left + width) return;
	const isRight = x > left + width * 0.7;
	u.ctx.save();
	u.ctx.strokeStyle = u.ctx.fillStyle = style("--text");
	u.ctx.font = `${12 * devicePixelRatio}px sans-serif`;
	u.ctx.textAlign = isRight ? "right" : "left";
	u.ctx.lineWidth = devicePixelRatio;
	u.ctx.beginPath();
	u.ctx.moveTo(x, y);
	u.ctx.lineTo(x, top + height);
	u.ctx.stroke();
	u.ctx.beginPath();
	u.ctx.arc(x, y, 4 * devicePixelRatio, 0, 2 * Math.PI);
	u.ctx.fill();
	u.ctx.fillText(name, x + (isRight ? -8 : 8) * devicePixelRatio, y + 14 * devicePixelRatio);
	u.ctx.restore();
}

/**
 * Series over time. TIMES: where each value begins to hold, in ps, the last where it ends. PARTS are stacked from 0; BANDS have a mean between the
 * least and the most; LINES stand alone. TOP: where the axis ends, else it follows the data and says so. MARK: a moment
 * with a name. AXIS writes its values.
 * @param {TimeChartProps} props
 */
export function TimeChart({ label, times, parts = NO_PARTS, bands = NO_BANDS, lines = NO_LINES, top, peak, mark, axis, say, height = 180, whole }) {
	const base = useShared(whole);
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const columns = columnsOf({ parts, bands, lines });
		const high = top ?? (Math.max(most(columns), peak?.value ?? 0, mark?.value ?? 0) * 1.05 || 1);
		const xs = times.map((ps) => ps / 1e12);
		return {
			data: /** @type {uPlot.AlignedData} */ ([xs, ...columns]),
			options: {
				legend: base.legend,
				cursor: base.cursor,
				padding: base.padding,
				scales: { x: base.x, y: { range: [0, high] } },
				axes: [timeAxis, { size: gutter, values: axis, ...(axis === bytesAxis ? { incrs: POWERS } : {}) }],
				series: [{}, ...seriesOf({ parts, bands, lines })],
				bands: bandsOf(parts, bands),
				hooks: { draw: [...(peak ? [(/** @type {uPlot} */ u) => drawPeak(u, peak)] : []), ...(mark ? [(/** @type {uPlot} */ u) => drawMark(u, mark)] : [])] },
				plugins: [base.follow, tooltip((_, u, x) => say(holds(xs, x), x * 1e12))],
			},
		};
	}, [base, times, parts, bands, lines, top, peak?.value, mark?.at, mark?.value]);
	return (
		<div>
			<Plot {...drawing} height={height} label={label} />
			{top === undefined && !whole && <p class="count axis">The upper end of this scale follows the data.</p>}
		</div>
	);
}

/** @type {(u: unknown, values: number[]) => string[]} */
export const bytesAxis = (_, values) => values.map((v) => bytes(v).replace(/\.0+ /, " ")); // 1, 2, 3 GiB
/** @type {(u: unknown, values: number[]) => string[]} */
export const shareAxis = (_, values) => values.map((v) => `${v} %`);

// --- slices

/** @type {(u: uPlot, rows: LaneRow[]) => void} */
function paint(u, rows) {
	const { left, top, width } = u.bbox;
	const height = u.bbox.height / rows.length;
	const from = u.posToVal(left, "x", true) * 1e12;
	u.ctx.save();
	u.ctx.beginPath();
	u.ctx.rect(left, top, width, u.bbox.height);
	u.ctx.clip();
	rows.forEach(({ slices, color }, row) => {
		for (let i = sliceAt(slices, from); i < slices.length; i += 3) {
			const a = u.valToPos(slices[i] / 1e12, "x", true);
			if (a > left + width) break;
			u.ctx.fillStyle = color(slices[i + 2]);
			u.ctx.fillRect(a, top + row * height + 1, Math.max(u.valToPos(slices[i + 1] / 1e12, "x", true) - a, TINY), height - 2);
		}
	});
	u.ctx.restore();
}

/** @type {(u: uPlot, rows: LaneRow[]) => LaneRow | undefined} */
const rowUnder = (u, rows) => rows[Math.floor((u.cursor.top ?? 0) / (u.over.clientHeight / rows.length))];

const NEAR = 3; // pixels: a slice may be narrower than a hand is steady

/** What is as good as under the pointer, in ps. @type {(u: uPlot) => number} */
const nearOf = (u) => (u.posToVal(NEAR, "x") - u.posToVal(0, "x")) * 1e12;

/** @type {(u: uPlot, row: LaneRow, at: number) => number} the place of the slice that is meant; -1: there is none */
function under(u, { slices }, at) {
	const next = sliceAt(slices, at);
	const far = (/** @type {number} */ i) => (i < 0 || i >= slices.length ? Infinity : Math.max(slices[i] - at, at - slices[i + 1], 0));
	const best = far(next - 3) < far(next) ? next - 3 : next;
	return far(best) <= nearOf(u) ? best : -1;
}

/** @type {(u: uPlot, rows: LaneRow[], at: number) => string[] | null} */
function sayOf(u, rows, at) {
	const row = rowUnder(u, rows);
	if (!row) return null;
	const i = under(u, row, at);
	return [row.name, ...(i < 0 ? [`nothing at ${time(at)}`] : [row.text(row.slices[i + 2], at, nearOf(u)), `${time(row.slices[i + 1] - row.slices[i])} at ${time(row.slices[i])}`])];
}

/**
 * Rows of slices over time. BARE: another chart above has the times. ONPICK: a slice was clicked; its row and its kind.
 * @param {{ label: string, rows: LaneRow[], whole?: boolean, bare?: boolean, height?: number, onPick?: (row: LaneRow, kind: number) => void }} props
 */
export function TimeLane({ label, rows, whole, bare, height = LANE, onPick }) {
	const base = useShared(whole);
	const { scale } = usePage();
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		/** @type {uPlot.Plugin} */
		const picking = {
			hooks: {
				init: (u) =>
					u.over.addEventListener("click", () => {
						const row = rowUnder(u, rows);
						const i = row ? under(u, row, u.posToVal(u.cursor.left ?? 0, "x") * 1e12) : -1;
						if (row && i >= 0) onPick?.(row, row.slices[i + 2]);
					}),
			},
		};
		return {
			data: [scale.whole().map((ps) => ps / 1e12), [0, 0]],
			options: {
				legend: base.legend,
				cursor: base.cursor,
				padding: base.padding,
				scales: { x: base.x, y: { range: [0, rows.length] } },
				axes: [{ ...timeAxis, show: !bare }, { size: gutter, splits: () => rows.map((_, i) => rows.length - i - 0.5), values: () => rows.map((r) => within(r.name, gutter() - TICK)), grid: { show: false } }],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [(u) => paint(u, rows)] },
				plugins: [base.follow, ...(onPick ? [picking] : []), tooltip((_, u, x) => sayOf(u, rows, x * 1e12))],
			},
		};
	}, [base, rows]);
	return <Plot {...drawing} height={laneHeight(rows.length, height, bare)} label={label} />;
}
