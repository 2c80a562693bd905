// SPDX-License-Identifier: MIT
// What ops reached against what the chip can do: the roofs of its memories and of its matrix units, and each op below its own.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { BOUNDS, bucketColor } from "../colors.js";
import { Legend, Plot } from "../chart.jsx";
import { dotted } from "../dots.js";
import { clean, percent, value } from "../format.js";
import { bare, hintOf, opKey, rowOf } from "../opdata.js";
import { columnsOf, Facts, ImpossibleNote, Missing } from "../parts.jsx";
import { axesOf, freePlace, mattering, placedOps, roofsOf, without } from "../roofline.js";
import { useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";
import { isGpu } from "../words.jsx";

/** @import uPlot from "uplot" */
/** @import { Dot, Drawing, OpName, Roof, RooflineOp, Row } from "../report.d.ts" */

// What waits for memory has the colour of that class, in shades by the memory.
/** @type {Record<string, string>} */
const BOUND_TEXTS = { Compute: "the matrix units", "Host link": "the host link", Interconnect: "the interconnect", Waiting: "a copy that it waits for", Unknown: "something unknown" };
const ORDER = [...Object.keys(BOUNDS), "Waiting", "Unknown"];
/** @param {string} bound */
const placeOf = (bound) => ORDER.indexOf(bound);
/** @param {string} bound */
const boundColor = (bound) => BOUNDS[bound] ?? bucketColor("idle");
/** @type {(bound: string) => string} */
const boundText = (bound) => `bound by ${BOUND_TEXTS[bound] ?? bound}`;

/** @type {(u: unknown, axis: number, low: number, high: number) => number[]} */
const decades = (_, axis, low, high) => {
	const out = [];
	for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.floor(Math.log10(high) + 1e-9); e++) out.push(10 ** e);
	return out;
};

const CLOSE = 3; // times the rate
const LETTER = 12; // pixels

/** @type {(name: string) => string} */
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/**
 * Below a roof, from LOW to HIGH, in a colour that can be looked through.
 * @type {(u: uPlot, roof: Roof, low: number, high: number, color: string) => void}
 */
function shadeBelow(u, { rate, peak }, low, high, color) {
	const { ctx, bbox } = u;
	/** @param {number} x */
	const top = (x) => u.valToPos(Math.min(x * rate, peak), "y", true);
	ctx.globalAlpha = 0.1;
	ctx.fillStyle = color;
	ctx.beginPath();
	ctx.moveTo(u.valToPos(low, "x", true), bbox.top + bbox.height);
	ctx.lineTo(u.valToPos(low, "x", true), top(low));
	ctx.lineTo(u.valToPos(high, "x", true), top(high));
	ctx.lineTo(u.valToPos(high, "x", true), bbox.top + bbox.height);
	ctx.fill();
	ctx.globalAlpha = 1;
}

/** @typedef {[x: number, y: number]} Place */
/** @typedef {[x: number, y: number, radius: number]} Round */

// A name along the line from A to B, where the fewest of the DOTS touch it; DOWN: pixels below the line. ISLATE: the later, the better.
/** @type {(u: uPlot, text: string, a: Place, b: Place, down: number, dots: Round[], isLate?: boolean) => void} */
function along(u, text, a, b, down, dots, isLate = false) {
	const { ctx } = u;
	const [gap, below, high] = [6, down, LETTER].map((px) => px * devicePixelRatio);
	const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
	const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
	const [wide, all] = [ctx.measureText(text).width, Math.hypot(b[0] - a[0], b[1] - a[1]) - 2 * gap];
	/** @param {number} x */
	const toward = (x) => (isLate ? all - x : x);
	/** @type {Round[]} */
	const turned = dots.map(([x, y, r]) => [toward((x - a[0]) * cos + (y - a[1]) * sin - gap), (y - a[1]) * cos - (x - a[0]) * sin, r]);
	const free = freePlace(turned, wide, all, [below - high, below + high / 4]);
	const at = isLate ? all - wide - free : free;
	ctx.save();
	ctx.translate(...a);
	ctx.rotate(angle);
	ctx.fillText(text, at + gap, below);
	ctx.restore();
}

/** @type {(u: uPlot, roofs: Roof[], matrix: string, all: Dot[]) => void} */
function drawRoofs(u, roofs, matrix, all) {
	const { ctx, bbox, scales } = u;
	const [low, high] = [scales.x.min ?? 1, scales.x.max ?? 1];
	/** @type {(x: number, y: number) => [number, number]} */
	const at = (x, y) => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
	/** @type {Round[]} */
	const dots = all.map(({ x, y, radius }) => [...at(x, y), radius * devicePixelRatio]);
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	const slowest = roofs.reduce((m, r) => (r.rate < m.rate ? r : m), roofs[0]);
	shadeBelow(u, slowest, low, slowest.ridge, bucketColor("memory_wait"));
	shadeBelow(u, slowest, slowest.ridge, high, bucketColor("compute"));
	ctx.strokeStyle = ctx.fillStyle = style("--text");
	ctx.font = `${LETTER * devicePixelRatio}px sans-serif`;
	ctx.lineWidth = 1.5 * devicePixelRatio;
	ctx.textAlign = "left";
	for (const { memory, rate, peak, ridge } of roofs) {
		const isClose = roofs.some((r) => r.rate > rate && r.rate < CLOSE * rate); // no room for a name above it
		ctx.beginPath();
		ctx.moveTo(...at(low, low * rate));
		ctx.lineTo(...at(ridge, peak));
		ctx.lineTo(...at(high, peak));
		ctx.stroke();
		const begin = Math.max(low, (scales.y.min ?? 0) / rate);
		along(u, `${memory} ${value("bytes_per_s", rate)}`, at(begin, begin * rate), at(ridge, peak), isClose ? 16 : -7, dots);
	}
	for (const peak of new Set(roofs.map((r) => r.peak))) {
		const ridge = Math.min(...roofs.filter((r) => r.peak === peak).map((r) => r.ridge));
		along(u, `${matrix} ${value("flops_per_s", peak)} (bf16)`, at(Math.max(ridge, low), peak), at(high, peak), -7, dots, true);
	}
	ctx.restore();
}

/** @param {{ ops: RooflineOp[], roofs: Roof[] }} props */
function Chart({ ops, roofs }) {
	const { report, setLook, theme } = usePage();
	const matrix = isGpu(report) ? "Matrix units" : "MXU";
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const range = axesOf(ops, roofs);
		const dots = ops.map(({ row, x, y }) => ({ x, y, radius: 3 + 12 * Math.sqrt((row.self_time_pct ?? 0) / 100), color: boundColor(row.bound_by), edge: style("--back") }));
		/** @type {(row: Row) => OpName} */
		const nameOf = (row) => ({ module: row.module, name: bare(row.name) });
		/** @type {(i: number) => string[]} */
		const say = (i) => {
			const { row } = ops[i];
			const near = typeof row.roofline_efficiency_pct === "number" ? `${percent(row.roofline_efficiency_pct)} of its roof, ` : "";
			return [clean(row.name), clean(hintOf(rowOf(report, nameOf(row)) ?? row)), `${near}${boundText(row.bound_by ?? "Unknown")}`, `${value("flops_per_s", row.flops_per_s)} at ${value("operational_intensity", ops[i].x)}`, `${value("ops.self_time_ps", row.self_time_ps)}${typeof row.self_time_pct === "number" ? `, ${percent(row.self_time_pct)} of the program` : ""}`].filter(Boolean);
		};
		return {
			data: [range.x, range.y],
			options: {
				legend: { show: false },
				cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
				padding: [8, 16, 0, 0],
				scales: { x: { time: false, distr: 3, range: range.x }, y: { distr: 3, range: range.y } },
				axes: [
					{ splits: decades, filter: (_, v) => v, values: (_, v) => v.map((x) => `${+x.toPrecision(3)}`), size: 30, label: innerWidth < 600 ? "FLOP per byte" : "FLOP per byte of what bounds the op", labelSize: 20 },
					{ splits: decades, filter: (_, v) => v, values: (_, v) => v.map((x) => value("flops_per_s", +x.toPrecision(3)).replace(/\.0+ /, " ")), size: innerWidth < 600 ? 78 : 92, label: "FLOP rate reached", labelSize: 18 },
				],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { drawAxes: roofs.length ? [(u) => drawRoofs(u, roofs, matrix, dots)] : [] },
				plugins: dotted(dots, say, (i) => setLook({ op: opKey(nameOf(ops[i].row)) })),
			},
		};
	}, [ops, roofs, theme, report]);
	return <Plot {...drawing} height={420} label={`roofline of ${ops.length} ops: FLOP rate over FLOP per byte, both logarithmic`} />;
}

/** @param {{ rows: Row[] }} props */
function Beside({ rows }) {
	const all = useMemo(() => without(rows), [rows]);
	if (!all.length) return null;
	return (
		<ul class="notes beside">
			{all.map(({ why, count, time_ps: ps, share_pct: pct }) => (
				<li key={why}>{`${count.toLocaleString("en-US")} ${count === 1 ? "op has" : "ops have"} no place here, ${value("ops.self_time_ps", ps)} or ${percent(pct)} of the program: they ${why}.`}</li>
			))}
		</ul>
	);
}

const SUMMARY = ["flops_per_s", "hbm_bytes_per_s", "operational_intensity", "roofline_efficiency_pct", "flops_utilization_pct", "bound_by"];

export function Roofline() {
	const { report } = usePage();
	const [all, setAll] = useChoice("roofline.all", false);
	const rows = report.roofline ?? [];
	const placed = useMemo(() => placedOps(rows), [rows]);
	const shown = useMemo(() => (all ? placed : mattering(placed)), [placed, all]);
	const roofs = useMemo(() => roofsOf(report.roofline_ridges ?? []), [report]);
	const ops = useMemo(() => rows.filter((r) => r.kind === "op"), [rows]);
	const program = rows.find((r) => r.kind === "program");
	if (!rows.length) return <Missing what="roofline" />;
	const bounds = [...new Set(shown.map((o) => o.row.bound_by ?? "Unknown"))].sort((a, b) => placeOf(a) - placeOf(b));
	const left = placed.length - shown.length;
	return (
		<div>
			<ImpossibleNote report={report} view="roofline" />
			{program && <Facts of="roofline" view={program} names={SUMMARY.filter((n) => ![null, "Unknown"].includes(program[n] ?? null))} />}
			{placed.length === 0 && <p class="empty">No op has known FLOPs and known bytes, so there is no roofline to draw.</p>}
			{placed.length > 0 && (
				<section aria-label="roofline">
					<p class="count">Each dot is an op below the roof of what bounds it: the nearer, the better. A larger dot took more time. A click shows the op.</p>
					<Legend items={bounds.map((b) => [boundText(b), boundColor(b)])} />
					<Chart ops={shown} roofs={roofs} />
					{(left > 0 || all) && (
						<p class="bar">
							<span class="count">{all ? "All ops that have a place are drawn." : `${left.toLocaleString("en-US")} ops with less than 1 % of the time in all are left out.`}</span>
							<button type="button" onClick={() => setAll(!all)}>
								{all ? "Draw those that matter" : "Draw all"}
							</button>
						</p>
					)}
				</section>
			)}
			<Beside rows={rows} />
			<Table name="roofline" caption="Roofline of ops" rows={ops} columns={columnsOf(rows, ["name", "category", "self_time_ps", "roofline_efficiency_pct", "flops_per_s", "operational_intensity", "bound_by", "flops_utilization_pct", "hbm_utilization_pct", "memory_utilization_pct", "source", "module"], ["kind", "step", "op_index", "program_id"])} sort={{ column: "self_time_ps", down: true }} />
			<Table name="roofline_ridges" caption="Ridge points" rows={report.roofline_ridges ?? []} columns={columnsOf(report.roofline_ridges ?? [])} max={4} />
		</div>
	);
}
