// SPDX-License-Identifier: MIT
// Dots on a chart that has no lines: the pointer finds the nearest one, whichever way it lies.
import { tooltip } from "./chart.jsx";

/** @import uPlot from "uplot" */
/** @import { Dot } from "./report.d.ts" */

const NEAR = 24; // pixels

/**
 * The place of the nearest of POINTS to [X, Y], all in pixels; -1: none is near.
 * @type {(points: [x: number, y: number][], x: number, y: number) => number}
 */
export function nearest(points, x, y) {
	let found = -1;
	let least = NEAR * NEAR;
	points.forEach(([px, py], i) => {
		const far = (px - x) ** 2 + (py - y) ** 2;
		if (far >= least) return;
		least = far;
		found = i;
	});
	return found;
}

/**
 * A uPlot plugin that draws DOTS. SAY: one in words; ONPICK: it was clicked.
 * @type {(dots: Dot[], say: (i: number) => string[], onPick?: (i: number) => void) => uPlot.Plugin[]}
 */
export function dotted(dots, say, onPick) {
	/** @type {(u: uPlot) => number} */
	const under = (u) => nearest(dots.map((d) => [u.valToPos(d.x, "x"), u.valToPos(d.y, "y")]), u.cursor.left ?? -NEAR, u.cursor.top ?? -NEAR);
	/** @type {uPlot.Plugin} */
	const drawn = {
		hooks: {
			init: (u) => {
				u.over.style.cursor = onPick ? "pointer" : "";
				u.over.addEventListener("click", () => {
					const i = under(u);
					if (i >= 0) onPick?.(i);
				});
			},
			draw: (u) => {
				for (const { x, y, radius, color, edge } of dots) {
					u.ctx.beginPath();
					u.ctx.fillStyle = color;
					u.ctx.strokeStyle = edge;
					u.ctx.lineWidth = devicePixelRatio;
					u.ctx.arc(u.valToPos(x, "x", true), u.valToPos(y, "y", true), radius * devicePixelRatio, 0, 2 * Math.PI);
					u.ctx.fill();
					u.ctx.stroke();
				}
			},
		},
	};
	return [
		drawn,
		tooltip((_, u) => {
			const i = under(u);
			return i < 0 ? null : say(i);
		}),
	];
}
