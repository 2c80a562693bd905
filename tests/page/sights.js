// SPDX-License-Identifier: MIT
// Looks for what a view must not do to the eye: runs inside of the page (pictures.mjs adds it to each), and says it by window.sights().
//
// Texts of HTML and SVG are measured by the browser, those on canvases when they are drawn. Shares of a pixel, and the room above and below
// letters, are no faults.
"use strict";
(() => {
	const SLACK = 2; // pixels
	const LEAST = 0.6; // of a line's height is ink
	const CONTRAST = 4.5; // WCAG's, of text
	const WIDE = 1280; // from here on a table shows its source
	const SHORT = 60; // letters of a text in a message

	// --- texts on canvases

	/** @typedef {{ left: number, top: number, right: number, bottom: number, text: string, isSlanted: boolean, contrast?: number }} Box */
	/** @type {Map<HTMLCanvasElement, Box[]>} */
	const written = new Map();
	const { getContext } = HTMLCanvasElement.prototype;
	HTMLCanvasElement.prototype.getContext = function opened(kind, more) {
		return getContext.call(this, kind, { ...more, willReadFrequently: true });
	};
	const proto = CanvasRenderingContext2D.prototype;
	const { fillText, clearRect, fillRect } = proto;

	const paint = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const colorOf = (style) => {
		paint.clearRect(0, 0, 1, 1);
		paint.fillStyle = style;
		paint.fillRect(0, 0, 1, 1);
		return paint.getImageData(0, 0, 1, 1).data;
	};
	const part = (v) => (v <= 10 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4);
	const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
	const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const backOf = (element) => {
		for (let e = element; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor;
			if (!/, 0\)$|transparent/.test(color)) return colorOf(color);
		}
		return [255, 255, 255];
	};

	// What lies below a text: the color that most of its box has, of nine places.
	function under(ctx, box) {
		const seen = new Map();
		for (const x of [0.1, 0.5, 0.9])
			for (const y of [0.2, 0.5, 0.8]) {
				const [r, g, b, a] = ctx.getImageData(Math.round(box.left + x * (box.right - box.left)), Math.round(box.top + y * (box.bottom - box.top)), 1, 1).data;
				const key = a < 128 ? "none" : `${r},${g},${b}`;
				seen.set(key, (seen.get(key) ?? 0) + 1);
			}
		const [most] = [...seen].reduce((x, y) => (y[1] > x[1] ? y : x));
		return most === "none" ? backOf(ctx.canvas) : most.split(",").map(Number);
	}

	function boxOf(ctx, text, x, y) {
		const m = ctx.measureText(text);
		const t = ctx.getTransform();
		const corners = [[x - m.actualBoundingBoxLeft, y - m.actualBoundingBoxAscent], [x + m.actualBoundingBoxRight, y + m.actualBoundingBoxDescent]].map(([a, b]) => [t.a * a + t.c * b + t.e, t.b * a + t.d * b + t.f]);
		const isSlanted = t.a !== 0 && t.b !== 0; // its corners say little of where it is
		const [xs, ys] = [0, 1].map((i) => corners.map((c) => c[i]).sort((a, b) => a - b));
		return { left: xs[0], top: ys[0], right: xs[1], bottom: ys[1], text, isSlanted };
	}
	proto.fillText = function drawn(text, x, y, ...more) {
		const box = boxOf(this, String(text), x, y);
		if (this.canvas instanceof HTMLCanvasElement && box.right > box.left) {
			box.contrast = contrast(colorOf(this.fillStyle), under(this, box));
			written.set(this.canvas, [...(written.get(this.canvas) ?? []), box]);
		}
		return fillText.call(this, text, x, y, ...more);
	};
	const isAll = ({ canvas }, [, , w, h]) => w >= 0.95 * canvas.clientWidth && h >= 0.95 * canvas.clientHeight;
	proto.clearRect = function cleared(...box) {
		if (isAll(this, box)) written.delete(this.canvas);
		return clearRect.call(this, ...box);
	};
	// What is painted over a text hides it, or its front, or all from there on.
	function below(text, [x, y, w, h]) {
		const middle = (text.top + text.bottom) / 2;
		if (middle < y || middle > y + h || text.left > x + w || text.right < x) return text;
		const rest = x <= text.left ? { ...text, left: x + w } : { ...text, right: x };
		return rest.right - rest.left > SLACK ? rest : null;
	}
	proto.fillRect = function filled(...box) {
		const known = written.get(this.canvas);
		if (isAll(this, box)) written.delete(this.canvas);
		else if (known?.length && this.globalAlpha === 1) written.set(this.canvas, known.map((text) => below(text, box)).filter(Boolean));
		return fillRect.call(this, ...box);
	};
	const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
	Object.defineProperty(HTMLCanvasElement.prototype, "width", { ...width, set(w) { written.delete(this); width.set.call(this, w); } });

	// --- what was found, in words

	const short = (text) => `"${text.trim().slice(0, SHORT)}"`;
	const place = (e) => e.closest("section[aria-label]")?.getAttribute("aria-label") ?? e.closest("header, nav, .tabs, .strip, .drawer")?.className ?? "the view";
	const isInked = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > SLACK && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > SLACK;

	// Pairs of boxes that meet.
	function pairs(boxes) {
		const found = [];
		const open = [];
		for (const box of [...boxes].sort((a, b) => a.top - b.top)) {
			for (let i = open.length - 1; i >= 0; i--) if (open[i].bottom <= box.top) open.splice(i, 1);
			for (const other of open) if (isInked(box, other)) found.push([other, box]);
			open.push(box);
		}
		return found;
	}

	function canvases() {
		const wrong = [];
		for (const canvas of document.querySelectorAll("canvas")) {
			if (!canvas.width || !canvas.height || !canvas.checkVisibility()) continue;
			const where = canvas.closest("[aria-label]")?.getAttribute("aria-label") ?? place(canvas);
			const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
			if (pixels.every((v) => v === pixels[0])) wrong.push(`blank: ${where}`);
			const boxes = written.get(canvas) ?? [];
			for (const box of boxes) {
				if (box.left < -SLACK || box.right > canvas.width + SLACK || box.top < -SLACK || box.bottom > canvas.height + SLACK) wrong.push(`cut at the edge of a chart: ${short(box.text)} in ${where}`);
				if (box.contrast < CONTRAST) wrong.push(`contrast ${box.contrast.toFixed(1)}: ${short(box.text)} in ${where}`);
			}
			for (const [a, b] of pairs(boxes.filter((box) => !box.isSlanted))) wrong.push(`one text on another: ${short(a.text)} and ${short(b.text)} in ${where}`);
		}
		return wrong;
	}

	// --- texts of the page

	// The texts that are seen: where they stand, as far as nothing hides them, and what cuts them.
	function texts() {
		const found = [];
		const cuts = [];
		const styles = new Map();
		const styleOf = (e) => styles.get(e) ?? styles.set(e, (({ overflowX, overflowY, textOverflow, position }) => ({ overflowX, overflowY, textOverflow, position }))(getComputedStyle(e))).get(e);
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		const range = document.createRange();
		for (let node = walk.nextNode(); node; node = walk.nextNode()) {
			const parent = node.parentElement;
			if (!node.data.trim() || parent.closest("script, style, option, title, .unseen, [aria-hidden='true'] title") || !parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
			range.selectNodeContents(node);
			for (const { left, top, right, bottom } of range.getClientRects()) {
				const room = ((1 - LEAST) / 2) * (bottom - top);
				const box = { left, top: top + room, right, bottom: bottom - room, text: node.data, element: parent };
				clipped(box, parent, styleOf, cuts);
				if (box.right - box.left > SLACK && box.bottom - box.top > SLACK) found.push(box);
			}
		}
		return { found, cuts };
	}

	// BOX becomes what is left of it. A box that scrolls hides what one can scroll to; one that hides needs three dots, and a title.
	function clipped(box, parent, styleOf, cuts) {
		let isFixed = false;
		for (let e = parent; e && e !== document.documentElement && !isFixed; e = e.parentElement) {
			const s = styleOf(e);
			isFixed = s.position === "fixed";
			if (s.overflowX === "visible" && s.overflowY === "visible") continue;
			const edge = e.getBoundingClientRect();
			const [left, right] = [edge.left + e.clientLeft, edge.left + e.clientLeft + (e.clientWidth || edge.width)];
			const [top, bottom] = [edge.top + e.clientTop, edge.top + e.clientTop + (e.clientHeight || edge.height)];
			const across = s.overflowX !== "visible" && (box.right > right + SLACK || box.left < left - SLACK);
			const down = s.overflowY !== "visible" && (box.bottom > bottom + SLACK || box.top < top - SLACK);
			const isHidden = (o) => o === "hidden" || o === "clip";
			if (across && isHidden(s.overflowX) && !(s.textOverflow === "ellipsis" && parent.closest("[title]") && (e.contains(parent.closest("[title]")) || parent.closest("[title]").contains(e)))) cuts.push(`cut at the side${s.textOverflow === "ellipsis" ? " without a title" : ""}: ${short(box.text)} in ${place(parent)}`);
			if (down && isHidden(s.overflowY)) cuts.push(`cut in its height: ${short(box.text)} in ${place(parent)}`);
			if (s.overflowX !== "visible") [box.left, box.right] = [Math.max(box.left, left), Math.min(box.right, right)];
			if (s.overflowY !== "visible") [box.top, box.bottom] = [Math.max(box.top, top), Math.min(box.bottom, bottom)];
		}
	}

	// Whether something that cannot be seen through lies between two texts, as a heading that stays over its rows.
	function isCovered([a, b]) {
		const middle = (from, to) => (Math.max(a[from], b[from]) + Math.min(a[to], b[to])) / 2;
		const at = { x: middle("left", "right"), y: middle("top", "bottom") };
		const before = scrollY;
		if (at.y < 0 || at.y > innerHeight) scrollTo(0, at.y + scrollY - innerHeight / 2);
		const stack = document.elementsFromPoint(at.x, at.y - (scrollY - before));
		scrollTo(0, before);
		const places = [a, b].map((box) => stack.indexOf(box.element));
		const [upper, lower] = places[0] < places[1] ? [a, b] : [b, a];
		const begin = Math.max(Math.min(...places), 0);
		const end = Math.max(...places);
		const isSolid = (e) => !e.contains(lower.element) && !/, 0(\.\d+)?\)$|transparent/.test(getComputedStyle(e).backgroundColor);
		return stack.slice(begin, end < 0 ? undefined : end).some(isSolid) || (places[0] >= 0 && isSolid(upper.element));
	}

	function page() {
		const wrong = [];
		const root = document.documentElement;
		const over = root.scrollWidth - root.clientWidth;
		if (over > 0) wrong.push(`${over} pixels wider than the window: ${[...document.querySelectorAll("#tpusight *")].filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1).slice(-3).map((e) => `${e.tagName}.${e.className}`)}`);
		const style = new CSSStyleSheet();
		style.insertRule("* { pointer-events: auto !important; }"); // all that is drawn is found by its place
		document.adoptedStyleSheets.push(style);
		const { found, cuts } = texts();
		wrong.push(...cuts);
		for (const pair of pairs(found)) if (pair[0].element !== pair[1].element && !isCovered(pair)) wrong.push(`one text on another: ${short(pair[0].text)} and ${short(pair[1].text)} in ${place(pair[0].element)}`);
		document.adoptedStyleSheets.pop();
		return wrong;
	}

	function tables() {
		if (innerWidth < WIDE) return [];
		return [...document.querySelectorAll("section.table")].flatMap((table) => {
			const heading = [...table.querySelectorAll("th")].find((e) => /^Source( [↓↑])?$/.test(e.textContent));
			const box = table.querySelector(".scroll")?.getBoundingClientRect();
			return heading && heading.getBoundingClientRect().right > box.right + SLACK ? [`the source is out of sight in ${table.getAttribute("aria-label")}`] : [];
		});
	}

	// A length is as high as the track that it lies in: else another view's styles reach into it.
	const bars = () =>
		[...document.querySelectorAll(".bars .track > .length")].flatMap((e) => {
			const [bar, track] = [e.getBoundingClientRect(), e.parentElement.getBoundingClientRect()];
			return Math.abs(bar.height - track.height) > SLACK && track.height > 0 ? [`a bar is ${Math.round(bar.height)} of ${Math.round(track.height)} pixels high: ${e.className} in ${place(e)}`] : [];
		});

	// The strip's findings have the colours of the theme that is shown.
	function severities() {
		const canvas = document.querySelector('.strip [aria-label^="places of"] canvas');
		if (!canvas?.checkVisibility()) return [];
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		const known = ["critical", "warning", "info"].map((name) => colorOf(getComputedStyle(document.documentElement).getPropertyValue(`--${name}`)).slice(0, 3).join());
		for (let i = 0; i < data.length; i += 4) if (known.includes(data.slice(i, i + 3).join())) return [];
		return ["the findings on the strip have no colour of this theme"];
	}

	// What stands beside rows, and over tables, tells them apart.
	function twice() {
		const again = (names) => names.filter((name, i) => names.indexOf(name) !== i);
		const cut = [...document.querySelectorAll('section[aria-label="utilization by op and step"] canvas')].flatMap((e) => (written.get(e) ?? []).map((box) => box.text).filter((text) => text.includes("\u2026")));
		const captions = [...document.querySelectorAll("#view section.table .bar h3")].map((e) => e.textContent.replace(/[\d, ]+(of [\d, ]+)?$/, ""));
		return [...again(cut).map((name) => `two rows are called ${short(name)}`), ...again(captions).map((name) => `two tables are called ${short(name)}`)];
	}

	// Two boxes of help at once, or one that does not show all that it says. AT: where the pointer is.
	window.tips = ({ x, y }) => {
		const wrong = [];
		const open = [...document.querySelectorAll(".tip, [role='tooltip']")].filter((e) => e.checkVisibility() && e.textContent);
		const titled = document.elementFromPoint(x, y)?.closest("[title]");
		if (open.length > 1) wrong.push(`${open.length} boxes of help at once: ${open.map((e) => short(e.textContent))}`);
		if (open.length && titled && !open[0].contains(titled)) wrong.push(`two boxes of help: ${short(open[0].textContent)} and the title ${short(titled.title)}`);
		for (const e of open) {
			const box = e.getBoundingClientRect();
			if (e.scrollWidth > e.clientWidth + 1) wrong.push(`a box of help is cut: ${short(e.textContent)}`);
			if (box.left < -SLACK || box.right > document.documentElement.clientWidth + SLACK) wrong.push(`a box of help is out of the window: ${short(e.textContent)}`);
		}
		return wrong;
	};
	window.sights = () => [...new Set([...page(), ...canvases(), ...tables(), ...bars(), ...severities(), ...twice()])];
})();
