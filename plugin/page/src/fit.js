// SPDX-License-Identifier: MIT
// Names beside a chart, as long as there is room for them. What tells two names apart often stands at their end, so the front is left out.

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"; // uPlot's

/** @type {CanvasRenderingContext2D | null | undefined} */
let pen;

/** @type {(text: string) => number} pixels */
export function textWidth(text) {
	pen ??= document.createElement("canvas").getContext("2d");
	if (!pen) return 0;
	pen.font = FONT;
	return pen.measureText(text).width;
}

/**
 * TEXT as far as it has room in PX pixels. Three dots stand for what is left out: its front, or what is behind the share FRONT of what stays.
 * @type {(text: string, px: number, front?: number, measure?: (text: string) => number) => string}
 */
export function within(text, px, front = 0, measure = textWidth) {
	if (measure(text) <= px) return text;
	/** @param {number} letters */
	const cut = (letters) => {
		const before = Math.round(front * letters);
		return `${text.slice(0, before)}\u2026${text.slice(text.length - letters + before)}`;
	};
	let low = 0; // letters that have room
	let high = text.length - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (measure(cut(middle)) <= px) low = middle;
		else high = middle - 1;
	}
	return cut(low);
}
