// SPDX-License-Identifier: MIT
// What a long view consists of: its headings, each a button that leads there.
import { h } from "preact";
import { useEffect, useState } from "preact/hooks";

const LEAST = 4; // parts that are worth a list

/** @typedef {{ name: string, element: HTMLElement }} Part */

/**
 * The headings of a view, in order, without those inside of a part that has one.
 * @type {(view: HTMLElement) => Part[]}
 */
function partsOf(view) {
	const all = [...view.querySelectorAll("h3")].filter((x) => x.checkVisibility());
	/** @param {Element} heading */
	const boxOf = (heading) => /** @type {HTMLElement | null} */ (heading.closest("section"));
	return all.filter((x) => !boxOf(x)?.parentElement?.closest("section")).map((x) => ({ name: x.textContent ?? "", element: boxOf(x) ?? x }));
}

/** @type {(a: Part[], b: Part[]) => boolean} */
const isSame = (a, b) => a.length === b.length && a.every((p, i) => p.name === b[i].name && p.element === b[i].element);

/** VIEW: its name; another one has other parts. @param {{ view: string }} props */
export function Contents({ view }) {
	const [parts, setParts] = useState(/** @type {Part[]} */ ([]));
	useEffect(() => {
		const box = document.getElementById("view");
		if (!box) return undefined;
		let frame = 0;
		const read = () => {
			frame = 0;
			const found = partsOf(box);
			setParts((now) => (isSame(now, found) ? now : found));
		};
		const soon = () => {
			frame ||= requestAnimationFrame(read);
		};
		const watch = new MutationObserver((all) => all.some((m) => m.target instanceof Element && !m.target.closest("tbody, .plot, .tip")) && soon());
		watch.observe(box, { childList: true, subtree: true });
		read();
		return () => {
			watch.disconnect();
			cancelAnimationFrame(frame);
		};
	}, [view]);
	if (parts.length < LEAST) return null;
	/** @param {HTMLElement} element */
	const go = (element) => {
		element.scrollIntoView({ block: "start" });
		element.querySelector("button")?.focus({ preventScroll: true });
	};
	return (
		<nav class="contents" aria-label="parts of this view">
			{parts.map((p, i) => (
				<button key={i} type="button" class="link" onClick={() => go(p.element)}>
					{p.name}
				</button>
			))}
		</nav>
	);
}
