// SPDX-License-Identifier: MIT
// What the compiler put together, and what meets in HBM because it did not.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { OTHERS } from "../colors.js";
import { Legend } from "../chart.jsx";
import { bytes, capital, clean, value } from "../format.js";
import { graphOf, opOfKey, shortened } from "../graph.js";
import { hintOf, opKey, rowOf } from "../opdata.js";
import { Choice, Shares } from "../parts.jsx";
import { useChoice, usePage } from "../state.js";
import { Generic } from "./generic.jsx";

/** @import { Graph, GraphEdge, Row } from "../report.d.ts" */

/** @typedef {[name: string, ps: number]} Reason */

const DRAWN = 8; // the smallest are drawn as one

/** @param {Row} pair */
const reasonOf = (pair) => capital(clean(String(pair.reason_name ?? pair.reason_code ?? "unknown").replaceAll("_", " ")));

/** @type {(parts: Reason[]) => Reason[]} */
function joined(parts) {
	if (parts.length <= DRAWN) return parts;
	return [...parts.slice(0, DRAWN - 1), ["Other reasons", parts.slice(DRAWN - 1).reduce((sum, [, ps]) => sum + ps, 0)]];
}

/** @type {(pairs: Row[]) => Reason[]} */
function reasonsOf(pairs) {
	/** @type {Map<string, number>} */
	const reasons = new Map();
	for (const pair of pairs) if (pair.impact_ps > 0) reasons.set(reasonOf(pair), (reasons.get(reasonOf(pair)) ?? 0) + pair.impact_ps);
	return joined([...reasons].sort((a, b) => b[1] - a[1]));
}

// --- the graph

const [WIDE, HIGH, BETWEEN, BELOW] = [170, 34, 90, 22]; // of an op, and of the room between two
const LETTERS = 21;
const THICK = 6; // the most bytes
const ROUND = 44;

/** @type {(at: { x: number, y: number }) => [x: number, y: number]} the upper left corner */
const cornerOf = ({ x, y }) => [x * (WIDE + BETWEEN) + 4, y * (HIGH + BELOW) + 4];

/** @param {{ edge: GraphEdge, graph: Graph, most: number, color: string }} props */
function Way({ edge, graph, most, color }) {
	const [from, to] = [edge.from, edge.to].map((name) => /** @type {{ x: number, y: number }} */ (graph.places.get(name)));
	const [[ax, ay], [bx, by]] = [cornerOf(from), cornerOf(to)];
	const [x1, y1, x2, y2] = [ax + WIDE, ay + HIGH * edge.out, bx, by + HIGH * edge.into];
	const bend = Math.max((x2 - x1) / 2, 30);
	const under = to.x - from.x > 1 ? ROUND : 0; // what stands between the two is passed below
	const { row } = edge;
	const says = `${clean(row.producer)} to ${clean(row.consumer)}: ${value("total_bytes", row.total_bytes)}, ${value(STAKE, row.impact_ps)} at stake; ${clean(row.reason ?? "")}`;
	return (
		<g>
			<path d={`M${x1} ${y1} C${x1 + bend} ${y1 + under} ${x2 - bend} ${y2 + under} ${x2} ${y2}`} stroke={color} stroke-width={1 + (THICK - 1) * Math.sqrt((row.total_bytes ?? 0) / most)}>
				<title>{says}</title>
			</path>
			<text x={x2 - 8} y={y2 - 3} text-anchor="end">
				{typeof row.total_bytes === "number" ? bytes(row.total_bytes) : ""}
			</text>
		</g>
	);
}

/** @param {{ name: string, at: { x: number, y: number } }} props */
function Node({ name, at }) {
	const { report, look, setLook } = usePage();
	const of = opOfKey(name);
	const row = rowOf(report, of);
	const hint = clean(hintOf(row));
	const [x, y] = cornerOf(at);
	const open = () => setLook({ op: opKey(of) });
	const onKey = (/** @type {KeyboardEvent} */ e) => void (e.key === "Enter" && open());
	return (
		<g class={`node${look.op === opKey(of) ? " chosen" : ""}`} transform={`translate(${x} ${y})`} data-op={clean(of.name)} {...(row ? { role: "button", tabindex: 0, onClick: open, onKeyDown: onKey } : {})}>
			<title>{[clean(of.name), hint].filter(Boolean).join("\n")}</title>
			<rect width={WIDE} height={HIGH} rx="6" />
			<text x="8" y={hint ? 14 : 21}>
				{shortened(clean(of.name), LETTERS)}
			</text>
			<text class="hint" x="8" y="28">
				{shortened(hint, LETTERS + 4)}
			</text>
		</g>
	);
}

const COUNTS = [12, 24, 48];
const STAKE = "fusion.unfused.impact_ps"; // how time at stake is written: it is summed over cores

/** @param {{ pairs: Row[], reasons: Reason[] }} props */
function Meeting({ pairs, reasons }) {
	const [count, setCount] = useChoice("fusion.pairs", COUNTS[0]);
	const graph = useMemo(() => graphOf(pairs, count), [pairs, count]);
	if (!graph.edges.length) return null;
	const most = graph.edges.reduce((m, e) => Math.max(m, e.row.total_bytes ?? 0), 1);
	const [width, height] = [graph.columns * (WIDE + BETWEEN) - BETWEEN + 8, graph.rows * (HIGH + BELOW) + 8];
	/** @param {string} reason */
	const color = (reason) => {
		const i = reasons.findIndex(([r]) => r === reason);
		return i < 0 ? "var(--soft)" : OTHERS[i];
	};
	return (
		<section aria-label="what meets in HBM">
			<h3>What meets in HBM</h3>
			<p class="bar">
				<span class="count">An op on the left writes what one on the right reads. A thicker line is more bytes, its colour is the reason above. A click shows the op.</span>
				<Choice label="pairs" value={count} options={COUNTS.map((n) => [n, `the ${n} that cost most`])} onPick={(n) => setCount(Number(n))} />
			</p>
			<div class="graph" tabIndex={0} role="region" aria-label="graph of ops">
				<svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`${graph.places.size} ops and ${graph.edges.length} arrays between them`}>
					{graph.edges.map((edge) => (
						<Way key={`${edge.from}\n${edge.to}`} edge={edge} graph={graph} most={most} color={color(reasonOf(edge.row))} />
					))}
					{[...graph.places].map(([name, at]) => (
						<Node key={name} name={name} at={at} />
					))}
				</svg>
			</div>
		</section>
	);
}

export function Fusion() {
	const { report } = usePage();
	const pairs = useMemo(() => report.fusion?.unfused ?? [], [report]);
	const parts = useMemo(() => reasonsOf(pairs), [pairs]);
	const total = parts.reduce((sum, [, ps]) => sum + ps, 0);
	return (
		<Generic
			name="fusion"
			first={{ unfused: ["producer", "consumer", "reason", "impact_ps", "total_bytes", "bytes", "executions", "advice", "confidence", "producer_source", "consumer_source", "module"] }}
			sort={{ unfused: { column: "impact_ps", down: true } }}
			empty={{ unfused: "No two ops were found that could have been fused.", kinds: "No fusion ran.", chains: "No chain of short ops was found." }}
		>
			{total > 0 && <h3>Time at stake, by reason</h3>}
			{total > 0 && <Shares parts={parts.map(([name, ps], i) => ({ name, value: ps, color: OTHERS[i] }))} total={total} label="time at stake by reason" unit={STAKE} />}
			{total > 0 && <Legend items={parts.map(([name, ps], i) => [`${name} ${value(STAKE, ps)}`, OTHERS[i]])} />}
			<Meeting pairs={pairs} reasons={parts} />
		</Generic>
	);
}
