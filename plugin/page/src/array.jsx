// SPDX-License-Identifier: MIT
// The matrix unit as a picture: how the product of an op fills it, and the way from the peak to what it reached.
import { h } from "preact";
import { bucketColor } from "./colors.js";
import { lastTile, lossesOf } from "./array.js";
import { percent } from "./format.js";
import { Label } from "./words.jsx";

/** @import { ComponentChildren } from "preact" */
/** @import { ArrayTiles, Row } from "./report.d.ts" */

const SIDE = 200; // of a picture, in its own units
const MOST_LINES = 40; // tiles beside each other whose edges are drawn

/** @type {(n: number) => string} */
const count = (n) => n.toLocaleString("en-US");
/** @type {(n: number, what: string) => string} */
const nr = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
/** @param {{ name: string, size: number, stored: number }} side */
const sideText = ({ name, size, stored }) => `${name} ${count(size)}${size === stored ? "" : ` of ${count(stored)}`}`;

// What is stored or worked on, as far as it is used: the rest is hatched. ACROSS and DOWN: pieces whose edges are drawn.
/** @param {{ wide: number, high: number, usedWide: number, usedHigh: number, across: number, down: number, top: string, left: string, label: string }} props */
export function Filled({ wide, high, usedWide, usedHigh, across, down, top, left, label }) {
	const unit = SIDE / Math.max(wide, high);
	const [w, t] = [Math.max(wide * unit, 6), Math.max(high * unit, 6)];
	/** @type {(pieces: number) => number[]} */
	const lines = (pieces) => (pieces > MOST_LINES ? [] : Array.from({ length: pieces - 1 }, (_, i) => (i + 1) / pieces));
	return (
		<svg class="filled" viewBox={`-22 -22 ${SIDE + 26} ${Math.max(t, 40) + 26}`} role="img" aria-label={label}>
			<rect x="0" y="0" width={w} height={t} class="stored" />
			<rect x="0" y="0" width={w} height={t} class="idle" fill="url(#idle)" />
			<rect x="0" y="0" width={(w * usedWide) / wide} height={(t * usedHigh) / high} class="used" />
			{lines(across).map((x) => (
				<line key={`x${x}`} x1={x * w} x2={x * w} y1="0" y2={t} />
			))}
			{lines(down).map((y) => (
				<line key={`y${y}`} x1="0" x2={w} y1={y * t} y2={y * t} />
			))}
			<rect x="0" y="0" width={w} height={t} class="outline" />
			<text x="0" y="-8">
				{top}
			</text>
			<text x="-8" y={t} transform={`rotate(-90 -8 ${t})`}>
				{left}
			</text>
		</svg>
	);
}

// The hatching that all pictures share: it stands once on the page (main.jsx).
export const Hatching = () => (
	<svg width="0" height="0" class="defs" aria-hidden="true">
		<defs>
			<pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
				<line x1="0" x2="0" y1="0" y2="6" class="hatch" />
			</pattern>
		</defs>
	</svg>
);

/** @param {{ tiles: ArrayTiles }} props */
export function Tiles({ tiles }) {
	const { d, stream, columns, depth, across, down, full, edge, batch } = tiles;
	const last = lastTile(tiles);
	const idle = 1 - (last.columns * last.rows) / (d * d);
	return (
		<div class="tiles">
			<figure>
				<Filled wide={columns.stored} high={depth.stored} usedWide={columns.size} usedHigh={depth.size} across={across} down={down} top={sideText(columns)} left={sideText(depth)} label={`the product in tiles of ${d} x ${d}: ${full} full, ${edge} at the edge`} />
				<figcaption>{`${nr(across * down, "tile")} of ${d} × ${d}${batch > 1 ? ` in each of ${count(batch)} products` : ""}: ${count(full)} full, ${count(edge)} at the edge`}</figcaption>
			</figure>
			<figure>
				<Filled wide={d} high={d} usedWide={last.columns} usedHigh={last.rows} across={1} down={1} top={`${last.columns} of ${d} columns`} left={`${last.rows} of ${d} rows`} label={`the array with its last tile: ${last.rows} rows and ${last.columns} columns of ${d} are used`} />
				<figcaption>{idle > 0 ? `The array with its last tile: ${nr(d - last.rows, "row")} and ${nr(d - last.columns, "column")} are idle, ${percent(100 * idle)} of it` : "The array: each tile fills it"}</figcaption>
			</figure>
			<p class="count">{`${sideText(stream)} rows stream through each tile. The shape allows ${percent(100 * tiles.fill)} of the peak.`}</p>
		</div>
	);
}

// What each step of the way is drawn with: idle cells hatched as in the array.
/** @type {Record<string, { background?: string, class?: string }>} */
const FILLS = {
	peak: { background: "var(--soft)" },
	loss_shape_pct: { class: "hatched" },
	loss_memory_pct: { background: bucketColor("memory_wait") },
	loss_other_pct: { background: bucketColor("below_roofline") },
	reached: { background: bucketColor("compute") },
};

/**
 * ROW: an op, or the run; REACHED: its field with what it reached of the peak. OF: where the row stands in the report.
 * @param {{ heading: string, row: Row, reached: string, of: string, children?: ComponentChildren }} props
 */
export function Losses({ heading, row, reached, of, children }) {
	const steps = lossesOf(row, reached);
	if (!steps) return null;
	/** @param {string} key */
	const name = (key) => (key === "peak" ? "Peak of the matrix units" : key === "reached" ? "Reached" : <Label of={`${of}.${key}`} />);
	return (
		<section class="losses" aria-label={heading}>
			<h3>{heading}</h3>
			{children}
			<ul class="bars">
				{steps.map(({ key, from, to }) => (
					<li key={key}>
						<span class="name">{name(key)}</span>
						<span class="track">
							<span class={`length ${FILLS[key].class ?? ""}`} style={{ left: `${to}%`, width: `${from - to}%`, background: FILLS[key].background }} />
						</span>
						<span class="number">{`${key.startsWith("loss_") && from > to ? "−" : ""}${percent(from - to)}`}</span>
					</li>
				))}
			</ul>
		</section>
	);
}
