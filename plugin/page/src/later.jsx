// SPDX-License-Identifier: MIT
// A view may have a dozen tables and charts, of which a window shows two. Those that do not fit into one frame's work are drawn in the
// frames that follow, so that a click on a tab is answered at once.
import { h } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

const MOST = 320; // cells of tables that are drawn in one frame
const CHART = 160; // as much work as so many cells

/** @typedef {{ cost: number, draw: () => void }} Waiting */

/** @type {Waiting[]} */
const queue = []; // in the order of the page
let spent = 0; // cells of this frame
let frame = 0;

/** @param {number} cost */
const fits = (cost) => spent === 0 || spent + cost <= MOST;

function next() {
	frame = spent = 0;
	while (queue.length && fits(queue[0].cost)) {
		const one = /** @type {Waiting} */ (queue.shift());
		spent += one.cost;
		one.draw();
	}
	if (spent) soon();
}

function soon() {
	frame ||= requestAnimationFrame(() => setTimeout(next)); // when what was drawn is seen
}

/** @type {(cost: number) => boolean} */
function takes(cost) {
	if (queue.length || !fits(cost)) return false;
	spent += cost;
	soon();
	return true;
}

/**
 * Whether something of COST cells is drawn yet. What was drawn stays.
 * @type {(cost: number) => boolean}
 */
export function useDrawn(cost) {
	const [isDrawn, setDrawn] = useState(() => takes(cost));
	useLayoutEffect(() => {
		if (isDrawn) return undefined;
		const one = { cost, draw: () => setDrawn(true) };
		queue.push(one);
		soon();
		return () => {
			if (queue.includes(one)) queue.splice(queue.indexOf(one), 1);
		};
	}, []);
	return isDrawn;
}

/**
 * A chart, HEIGHT pixels high, that is drawn when its turn comes.
 * @param {{ height: number, children: import("preact").ComponentChildren }} props
 */
export function Later({ height, children }) {
	const isDrawn = useDrawn(CHART);
	return isDrawn ? <div>{children}</div> : <div aria-busy="true" style={{ height: `${height}px` }} />;
}
