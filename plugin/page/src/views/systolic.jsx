// SPDX-License-Identifier: MIT
// How well the matrix units were used: op by op and step by step, by shape, and over time.
import { h } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { shade } from "../colors.js";
import { Losses, Tiles } from "../array.jsx";
import { tilesOf } from "../array.js";
import { Plot } from "../chart.jsx";
import { dotted } from "../dots.js";
import { clean, value } from "../format.js";
import { Heat, heatHeight } from "../heat.jsx";
import { Later } from "../later.jsx";
import { Op } from "../op.jsx";
import { bare, hintOf, opKey, rowOf } from "../opdata.js";
import { Choice, impossibleOf } from "../parts.jsx";
import { useChoice, usePage } from "../state.js";
import { Counter, Rows } from "../tracks.jsx";
import { Generic, Part } from "./generic.jsx";

/** @import uPlot from "uplot" */
/** @import { Drawing, Report, Row } from "../report.d.ts" */

const LOSSES = new Set(["loss_shape_pct", "loss_memory_pct", "loss_other_pct"]); // drawn as steps

/** @param {Row} op */
const keyOf = (op) => opKey({ module: op.module, name: op.op });

/** Its name, and its size where others have the same name. @type {(ops: Row[], op: Row) => string} */
const nameIn = (ops, op) => `${clean(op.op)}${ops.filter((o) => o.op === op.op).length > 1 ? ` (${[op.m, op.n, op.k].map((side) => side ?? "?").join(" \u00d7 ")})` : ""}`;

/** The columns of a row of the heat map whose figure cannot be true. @type {(report: Report, row: number) => number[]} */
const impossibleIn = (report, row) => impossibleOf(report, "heatmap").flatMap((i) => (i.row === row && typeof i.item_index === "number" ? [i.item_index] : []));

/** @type {(name: string) => string} */
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Nothing can be above this line: the shape allows no more.
/** @param {uPlot} u */
function drawMost(u) {
	u.ctx.save();
	u.ctx.strokeStyle = u.ctx.fillStyle = style("--soft");
	u.ctx.font = `${12 * devicePixelRatio}px sans-serif`;
	u.ctx.setLineDash([6, 4]);
	u.ctx.beginPath();
	u.ctx.moveTo(u.valToPos(0, "x", true), u.valToPos(0, "y", true));
	u.ctx.lineTo(u.valToPos(100, "x", true), u.valToPos(100, "y", true));
	u.ctx.stroke();
	u.ctx.textAlign = "right";
	u.ctx.fillText("what the shape allows", u.valToPos(62, "x", true), u.valToPos(66, "y", true));
	u.ctx.restore();
}

// Fill (what the shape allows) against utilization (what was reached), as large as the time it took.
/** @param {{ ops: Row[], onPick: (op: Row) => void }} props */
function Shapes({ ops, onPick }) {
	const { report, theme } = usePage();
	const known = useMemo(() => ops.filter((o) => typeof o.fill_pct === "number" && typeof o.mxu_utilization_pct === "number"), [ops]);
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const most = known.reduce((m, o) => Math.max(m, o.time_ps), 1);
		const dots = known.map((o) => ({ x: o.fill_pct, y: o.mxu_utilization_pct, radius: 3 + 12 * Math.sqrt(o.time_ps / most), color: shade(o.mxu_utilization_pct / 100), edge: style("--soft") }));
		/** @type {(i: number) => string[]} */
		const say = (i) => [clean(known[i].op), clean(hintOf(rowOf(report, { module: known[i].module, name: bare(known[i].op) }))), `m ${known[i].m}  n ${known[i].n}  k ${known[i].k}  batch ${known[i].batch}`, `fill ${value("_pct", known[i].fill_pct)}, reached ${value("_pct", known[i].mxu_utilization_pct)}`, value("ops.time_ps", known[i].time_ps)].filter(Boolean);
		return {
			data: [[0, 100], [0, 100]],
			options: {
				legend: { show: false },
				cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
				scales: { x: { time: false, range: [0, 100] }, y: { range: [0, 100] } },
				axes: [{ label: "fill of the array that the shape allows (%)", size: 30, labelSize: 20 }, { label: "utilization reached (%)", size: 50, labelSize: 20 }],
				padding: [16, 16, 0, 0],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { drawAxes: [drawMost] },
				plugins: dotted(dots, say, (i) => onPick(known[i])),
			},
		};
	}, [known, onPick, theme, report]);
	if (!known.length) return null;
	return (
		<section aria-label="shapes">
			<h3>Shapes: the utilization that they allow, and that was reached</h3>
			<p class="empty">Each circle is an op. A larger circle took more time; a brighter one used the matrix units better. A click shows how the op fills the array.</p>
			<Plot {...drawing} height={320} label={`fill and utilization of ${known.length} matrix ops`} />
		</section>
	);
}

/** @param {{ heatmap: NonNullable<Report["heatmap"]> }} props */
function ByStep({ heatmap }) {
	const { report } = usePage();
	const rows = useMemo(() => {
		const names = heatmap.ops.map((o) => o.op);
		const keys = heatmap.ops.map((o) => `${o.op} in ${o.module}`);
		/** Ops of two modules may have one name, and so may two programs of one function. @type {(o: { op: string, module: string | null }, i: number) => string} */
		const labelled = ({ op, module }, i) => {
			if (!module || names.indexOf(op) === names.lastIndexOf(op)) return op;
			const before = keys.slice(0, i).filter((key) => key === keys[i]).length;
			return keys.indexOf(keys[i]) === keys.lastIndexOf(keys[i]) ? keys[i] : `#${before + 1} ${keys[i]}`;
		};
		return heatmap.ops.map((o, i) => ({ label: labelled(o, i), hint: hintOf(rowOf(report, { module: o.module ?? "", name: bare(o.op) })), cells: o.mxu_utilization_pct, impossible: impossibleIn(report, i) }));
	}, [heatmap, report]);
	const columns = useMemo(() => heatmap.steps.map((s) => `step ${s ?? "?"}`), [heatmap]);
	return (
		<section aria-label="utilization by op and step">
			<h3>Utilization by op and step</h3>
			<p class="count">The op that loses most time stands first. The scale is the same for every run.</p>
			<Later height={heatHeight(rows.length)}>
				<Heat rows={rows} columns={columns} max={100} say={(v) => value("_pct", v)} label={`MXU utilization of ${rows.length} ops in ${columns.length} columns of steps`} />
			</Later>
			{heatmap.steps_per_column > 1 && <p class="empty">{`Each column stands for ${heatmap.steps_per_column} steps.`}</p>}
		</section>
	);
}

// How one op fills the array, and where the rest of its time went.
/** @param {{ ops: Row[], chosen: string, onChoose: (key: string) => void }} props */
function OnArray({ ops, chosen, onChoose }) {
	const { report } = usePage();
	const known = useMemo(() => ops.filter((o) => !o.is_others), [ops]);
	const op = known.find((o) => keyOf(o) === chosen) ?? known[0];
	if (!op) return null;
	const tiles = tilesOf(op, report.run?.devices?.find((d) => d.mxu_dim)?.mxu_dim);
	const of = { module: op.module, name: bare(op.op) };
	return (
		<section aria-label="an op on the array">
			<h3>One op on the matrix unit</h3>
			<p class="bar">
				<Choice label="op" value={keyOf(op)} options={known.map((o) => [keyOf(o), nameIn(known, o)])} onPick={onChoose} />
				<Op of={of} says />
				<span class="count">{typeof op.time_ps === "number" ? `${value("systolic.ops.time_ps", op.time_ps)}, ${op.occurrences.toLocaleString("en-US")} executions` : "No execution of it is in this profile."}</span>
			</p>
			{tiles ? <Tiles tiles={tiles} /> : <p class="empty">The size of the product or of the array is not known, so it cannot be drawn.</p>}
			<Losses heading="From the peak to what this op reached" row={op} reached="mxu_utilization_pct" of="systolic.ops">
				<p class="count">Of the time in which this op ran. A bad shape loses little of it where memory or something else takes longer.</p>
			</Losses>
		</section>
	);
}

export function Systolic() {
	const { report } = usePage();
	const [chosen, setChosen] = useChoice("systolic.op", "");
	const pick = useCallback((/** @type {Row} */ op) => setChosen(keyOf(op)), [setChosen]);
	const ops = report.systolic?.ops ?? [];
	return (
		<Generic
			name="systolic"
			what="matrix-unit analysis"
			skip={LOSSES}
			first={{ ops: ["op", "m", "n", "k", "batch", "dtype", "mxu_utilization_pct", "fill_pct", "limiting_dim", "time_ps", "lost_ps", "bound_by", "source", "module"] }}
			sort={{ ops: { column: "lost_ps", down: true } }}
			empty={{ ops: "No matrix product with a known shape ran, so there is nothing to draw op by op." }}
		>
			<Losses heading="From the peak to what all matrix ops reached" row={report.systolic ?? {}} reached="matrix_op_utilization_pct" of="systolic">
				<p class="count">Of the time in which matrix ops ran. Each step takes its part away.</p>
			</Losses>
			<OnArray ops={ops} chosen={chosen} onChoose={setChosen} />
			<Counter name="MXU utilization (%)" />
			{report.heatmap && report.heatmap.ops.length > 0 && <ByStep heatmap={report.heatmap} />}
			<Shapes ops={ops} onPick={pick} />
			<Rows name="Time classes" />
			<Part name="counters" heading="Counters of the hardware" />
			{report.custom_calls?.call_count > 0 && <Part name="custom_calls" heading="Custom calls" />}
		</Generic>
	);
}
