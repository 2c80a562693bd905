// SPDX-License-Identifier: MIT
// Where the address is kept that a link to this page carries, and how it is written: names and values behind the "#". In TensorBoard the page
// stands in a frame whose address nobody sees. TensorBoard keeps its own behind "#" too, as TAB&NAME=VALUE, of the window around the frame:
// ours go there, behind the name of our tab (<body data-tab="tpusight">).

const TAB = document.body.dataset.tab;

/** @type {() => Window} */
function around() {
	try {
		if (TAB && parent.location.origin === location.origin) return parent;
	} catch {
		/* a window of another origin does not say what its address is: the frame keeps its own */
	}
	return globalThis.self;
}

/** @param {string} name */
const written = (name) => encodeURIComponent(name).replace(/%(2F|3A|2C|40)/g, decodeURIComponent);

/** @param {string} text */
export function read(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text; // somebody cut the link in the middle of a letter
	}
}

/** @type {(pairs: Iterable<[string, string]>) => string} */
export const join = (pairs) => [...pairs].map(([name, value]) => `${written(name)}=${written(value)}`).join("&");

/** @type {(text: string) => Map<string, string>} */
export function split(text) {
	const pairs = text.split("&").filter((part) => part.includes("="));
	return new Map(pairs.map((part) => [read(part.slice(0, part.indexOf("="))), read(part.slice(part.indexOf("=") + 1).replaceAll("+", " "))])); // "+": a blank in links of before
}

/**
 * What stands behind "#"; null: TensorBoard wrote it, and knows of no choice.
 * @type {(hash: string, tab?: string) => string | null}
 */
export function ours(hash, tab = TAB) {
	const text = hash.slice(1);
	if (!tab) return text;
	return text.startsWith(`${tab}&`) ? text.slice(tab.length + 1) : null;
}

/**
 * Whether the window shows another tab: what is chosen here meanwhile is written when ours is shown again.
 * @type {(hash: string, tab?: string) => boolean}
 */
export const isElsewhere = (hash, tab = TAB) => Boolean(tab) && hash.length > 1 && hash !== `#${tab}` && !hash.startsWith(`#${tab}&`);

// A page that stands in another one as text (a notebook's cell: about:srcdoc) has no address that it may write: what is chosen is kept here.
let kept = "";

const isText = () => around().location.protocol === "about:";

export const address = {
	get: () => (isText() ? kept : ours(around().location.hash)),
	/** @type {(text: string, isEntry: boolean) => void} ISENTRY: the button "back" leads to what was there before. */
	put: (text, isEntry) => {
		if (isText()) {
			kept = text;
			return;
		}
		const { history, location } = around();
		const hash = `#${TAB ? `${TAB}&` : ""}${text}`;
		if (hash === location.hash || (hash === "#" && !location.hash) || isElsewhere(location.hash)) return;
		if (isEntry) history.pushState(history.state, "", hash);
		else history.replaceState(history.state, "", hash);
	},
	/** Whether it leads anybody here. */
	isLink: () => !isText(),
	link: () => around().location.href,
	/** @type {(on: () => void) => () => void} */
	listen: (on) => {
		const shown = around();
		const kinds = ["hashchange", "popstate"];
		for (const kind of kinds) shown.addEventListener(kind, on);
		return () => kinds.forEach((kind) => shown.removeEventListener(kind, on));
	},
};
