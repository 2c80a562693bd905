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

/** @type {(texts: string[]) => number} how many letters all of them begin with */
function sharedBy(texts) {
	let n = 0;
	while (n < texts[0].length && texts.every((text) => text[n] === texts[0][n])) n++;
	return n;
}

const PASSES = 4; // of names that still look alike; what does so after that gets the number of its row

/**
 * CUTS are TEXTS as far as they have room: of those that look alike now the front is left out, up to where they differ. One text is one row
 * twice, or a row of another module, and keeps its cut.
 * @type {(texts: string[], cuts: string[], px: number, measure?: (text: string) => number) => string[]}
 */
export function apart(texts, cuts, px, measure = textWidth) {
	const told = [...cuts];
	const alike = () => {
		/** @type {Map<string, number[]>} */
		const by = new Map();
		told.forEach((cut, i) => by.set(cut, [...(by.get(cut) ?? []), i]));
		return [...by.values()].filter((all) => new Set(all.map((i) => texts[i])).size > 1);
	};
	for (let pass = 0; pass < PASSES; pass++)
		for (const all of alike()) {
			const same = sharedBy([...new Set(all.map((i) => texts[i]))]);
			for (const i of all) told[i] = within(`\u2026${texts[i].slice(same)}`, px, 1, measure);
		}
	for (const i of alike().flat()) told[i] = `${i + 1} ${within(texts[i], px - measure(`${i + 1} `), 0.5, measure)}`;
	return told;
}
