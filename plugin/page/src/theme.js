// SPDX-License-Identifier: MIT
// Light or dark: what was chosen on this page, else what the browser prefers. In TensorBoard its switch is the page's.
import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

/** @typedef {"light" | "dark"} Theme */

/** @type {() => Theme | null} */
function stored() {
	try {
		const theme = localStorage.getItem("tpusight-theme");
		return theme === "light" || theme === "dark" ? theme : null;
	} catch {
		return null; // pages from a file may have no storage
	}
}

/** @param {Theme} theme */
function keep(theme) {
	try {
		localStorage.setItem("tpusight-theme", theme);
	} catch {
		/* it holds until the page is closed */
	}
}

/**
 * TensorBoard's body, where the page is its tab: it has the class dark-mode while TensorBoard is dark.
 * @type {() => HTMLElement | null}
 */
function outside() {
	if (!document.body.dataset.tab || parent === window) return null;
	try {
		return parent.document.body;
	} catch {
		return null; // a frame of another origin
	}
}

/** @type {(body: HTMLElement) => Theme} */
export const themeOf = (body) => (body.classList.contains("dark-mode") ? "dark" : "light");

/** @type {() => Theme} */
const preferred = () => stored() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/**
 * Draws what CHANGE changes before it returns: a printer does not wait for the next frame.
 * @param {() => void} change
 */
function atOnce(change) {
	const { debounceRendering, requestAnimationFrame: frame } = options;
	options.debounceRendering = options.requestAnimationFrame = (draw) => draw();
	change();
	options.debounceRendering = debounceRendering;
	options.requestAnimationFrame = frame;
}

// Paper is white, and nobody can open on it what is closed.
/** @param {(isPaper: boolean) => void} setPaper */
function usePaper(setPaper) {
	useEffect(() => {
		/** @type {HTMLDetailsElement[]} */
		let opened = [];
		const begin = () => {
			opened = [...opened, ...document.querySelectorAll("details:not([open])")].filter((x) => x instanceof HTMLDetailsElement);
			for (const details of opened) details.open = true;
			atOnce(() => setPaper(true));
		};
		const end = () => {
			for (const details of opened) details.open = false;
			opened = [];
			setPaper(false);
		};
		addEventListener("beforeprint", begin);
		addEventListener("afterprint", end);
		return () => {
			removeEventListener("beforeprint", begin);
			removeEventListener("afterprint", end);
		};
	}, []);
}

/**
 * The theme, and what a switch of the page's own calls: null where another one rules.
 * @type {() => [Theme, ((theme: Theme) => void) | null]}
 */
export function useTheme() {
	const [above] = useState(outside);
	const [theme, setTheme] = useState(() => (above ? themeOf(above) : preferred()));
	const [isPaper, setPaper] = useState(false);
	useEffect(() => {
		if (!above) return;
		const follow = new MutationObserver(() => setTheme(themeOf(above)));
		follow.observe(above, { attributes: true, attributeFilter: ["class"] });
		return () => follow.disconnect();
	}, [above]);
	usePaper(setPaper);
	const shown = isPaper ? "light" : theme;
	document.documentElement.dataset.theme = shown; // before anything is drawn with its colours
	const choose = (/** @type {Theme} */ chosen) => {
		keep(chosen);
		setTheme(chosen);
	};
	return [shown, above ? null : choose];
}
