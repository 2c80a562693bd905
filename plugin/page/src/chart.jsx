// SPDX-License-Identifier: MIT
// uPlot in a Preact component: it has the size of its box and the colours of the page's theme, and is drawn again when data or theme change.
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePage } from "./state.js";
import { timeTexts } from "./timescale.js";

/** @import { ComponentChildren } from "preact" */
/** @import { Drawing, Maybe } from "./report.d.ts" */

/** @param {string} name */
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const ink = () => ({ stroke: style("--text"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line"), width: 1 } });

/**
 * OPTIONS: uPlot's, less width; DATA: uPlot's columns. LABEL says in words what is drawn, for those who do not see it.
 * @param {Drawing & { label: string, height?: number }} props
 */
export function Plot({ options, data, label, height = 220 }) {
	const box = useRef(/** @type {HTMLDivElement | null} */ (null));
	const drawn = useRef(/** @type {{ plot: uPlot, data: uPlot.AlignedData } | null} */ (null));
	const { theme } = usePage();
	useEffect(() => {
		const element = /** @type {HTMLDivElement} */ (box.current);
		const axes = (options.axes ?? [{}, {}]).map((a) => ({ ...ink(), ...a }));
		const plot = new uPlot({ ...options, axes, width: Math.max(element.clientWidth, 200), height }, data, element);
		const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(element.clientWidth, 200), height }));
		watch.observe(element);
		drawn.current = { plot, data };
		return () => {
			watch.disconnect();
			plot.destroy();
		};
	}, [options, theme, height]);
	useEffect(() => {
		const now = drawn.current;
		if (!now || now.data === data) return;
		now.plot.setData(data);
		now.data = data;
	}, [data]);
	return <div class="plot" ref={box} role="img" aria-label={label} />;
}

// What holds from one point until the next is drawn so, not on the way to the next one.
export const stairs = uPlot.paths.stepped?.({ align: 1 });

// Which of the rising XS holds at X.
/** @type {(xs: number[], x: number) => number} */
export function holds(xs, x) {
	let low = 0;
	let high = xs.length - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (xs[middle] <= x) low = middle;
		else high = middle - 1;
	}
	return low;
}

// Times on an axis: VALUES are in units of ONE seconds.
/** @type {(one: number) => (u: unknown, values: number[]) => string[]} */
export const times = (one) => (_, values) => timeTexts(values.map((v) => v * one * 1e12));
export const timeAxis = { values: times(1), size: 26, space: 64 };

const NARROW = 640; // phone.css: there it is one line that scrolls

// A legend of our own: uPlot's is a table that follows the pointer.
/** @param {{ items: [string, string][], children?: ComponentChildren }} props */
export function Legend({ items, children }) {
	return (
		<ul class="legend" tabIndex={innerWidth <= NARROW ? 0 : undefined}>
			{items.map(([name, color]) => (
				<li key={name}>
					<span class="swatch" style={{ background: color }} aria-hidden="true" />
					{name}
				</li>
			))}
			{children}
		</ul>
	);
}

// Columns stacked on each other, as uPlot draws them: the last on top, drawn first.
/** @type {(columns: Maybe<number>[][]) => number[][]} */
export function stacked(columns) {
	/** @type {number[][]} */
	const sums = [];
	for (const column of columns) {
		const below = sums[sums.length - 1];
		sums.push(column.map((v, i) => (v ?? 0) + (below ? below[i] : 0)));
	}
	return sums.reverse();
}

/**
 * What is under the pointer, in words: a uPlot plugin. SAY(index, plot, x) gives lines of text.
 * @type {(say: (index: number, u: uPlot, x: number) => string[] | null) => uPlot.Plugin}
 */
export function tooltip(say) {
	const tip = document.createElement("div");
	tip.className = "tip";
	tip.hidden = true;
	let isHere = false; // charts over time share a crosshair, and the one under the pointer speaks
	return {
		hooks: {
			init: (u) => {
				u.over.appendChild(tip);
				u.over.addEventListener("mouseenter", () => {
					isHere = true;
				});
				u.over.addEventListener("mouseleave", () => {
					isHere = false;
					tip.hidden = true;
				});
			},
			setCursor: (u) => {
				const { idx, left = -1, top = -1 } = u.cursor;
				const lines = !isHere || idx === null || idx === undefined || left < 0 ? null : say(idx, u, u.posToVal(left, "x"));
				tip.hidden = !lines;
				if (!lines) return;
				tip.textContent = lines.join("\n");
				tip.style.left = `${Math.min(left + 12, u.over.clientWidth - tip.offsetWidth - 4)}px`;
				tip.style.top = `${Math.max(Math.min(top + 12, u.over.clientHeight - tip.offsetHeight - 4), 0)}px`;
			},
		},
	};
}
