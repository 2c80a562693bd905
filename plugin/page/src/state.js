// SPDX-License-Identifier: MIT
// What is looked at: the report, the view, and all that was chosen in it. A link carries all of this: what a component lets people choose is kept
// here (useChoice), and never in the component.
import { createContext } from "preact";
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks";
import { address, join, read, split } from "./address.js";
import { isLive } from "./source.js";

/** @import { Choice, Chosen, ListedRun, Look, Maybe, PageState, Range, Report, Row, SetLook, UseChoice, Watched } from "./report.d.ts" */

// What is used below them is always given (main.jsx); a view is drawn only where there is what it shows.
export const Page = createContext(/** @type {PageState} */ ({}));
export const usePage = () => useContext(Page);
// What goes on (live.js) changes twice a second: not for views that draw a report. null: nothing is watched.
export const Watch = createContext(/** @type {Watched | null} */ (null));
export const useWatch = () => useContext(Watch);

// The view that a page opens with: a command's own (write/report_html.c), what goes on, or the first.
const FIRST = document.body.dataset.view?.split(".")[0] ?? (isLive() ? "live" : "overview");

// --- a link: all views share what LOOK has, and CHOSEN has what one table, one chart or one view keeps, by keys with a dot in them

// A place's own name leads to its first view. "timeline" and "memory" are names of views, too, and stay those.
/** @type {Record<string, string>} */
const NAMED = { summary: "overview", operations: "ops", findings: "doctor" };
/** @param {string} view */
const placeAt = (view) => NAMED[view] ?? view;

/** @type {(text: string) => { look: Look, chosen: Chosen }} */
export function readLink(text) {
	const at = split(text);
	/** @param {string} name */
	const number = (name) => (at.get(name) && Number.isFinite(Number(at.get(name))) ? Number(at.get(name)) : null);
	const from = number("from_ps");
	const to = number("to_ps");
	return {
		look: {
			view: placeAt(at.get("view") ?? (/^\w+$/.test(text) ? text : FIRST)),
			run: at.get("run") ?? null,
			compared: decode(/** @type {string[]} */ ([]), at.get("runs")),
			op: at.get("op") ?? null,
			host: at.get("host") ?? null,
			device: number("device"),
			finding: at.get("finding") ?? null,
			range: from !== null && to !== null && from < to ? [from, to] : null,
		},
		chosen: new Map([...at].filter(([key]) => key.includes("."))),
	};
}

/** @type {(look: Look, chosen: Chosen) => string} */
export function writeLink(look, chosen) {
	/** @type {[string, Maybe<string | number>][]} */
	const pairs = [
		["view", look.view === FIRST && !document.body.dataset.tab ? null : look.view], // TensorBoard's own tab is not a choice: something stands behind it
		["run", look.run],
		["runs", encode([], look.compared)],
		["op", look.op],
		["host", look.host],
		["device", look.device],
		["finding", look.finding],
		["from_ps", look.range && Math.round(look.range[0])],
		["to_ps", look.range && Math.round(look.range[1])],
		...[...chosen].sort(([a], [b]) => (a < b ? -1 : 1)),
	];
	return join(pairs.flatMap(([name, value]) => (value === null || value === undefined ? [] : [/** @type {[string, string]} */ ([name, String(value)])])));
}

/**
 * Whether "back" leads from AFTER to BEFORE: they show something else, not the same in another order. The first run is not a choice.
 * @type {(before: Look, after: Look) => boolean}
 */
export const isEntry = (before, after) => before.view !== after.view || before.op !== after.op || (after.finding !== null && before.finding !== after.finding) || (before.run !== null && before.run !== after.run);

/**
 * What is chosen when another run is: nothing that belongs to the one before.
 * @type {(run: string) => Partial<Look>}
 */
export const ofRun = (run) => ({ run, range: null, device: null, host: null, finding: null, op: null });

/**
 * What a run is called in links: by its title, where no other has the same.
 * @type {(run: ListedRun, runs: ListedRun[]) => string}
 */
export const runName = (run, runs) => (run.title && runs.filter((r) => r.title === run.title || r.id === run.title).length === 1 ? run.title : run.id);
/** @type {(name: Maybe<string>, runs: ListedRun[] | undefined) => ListedRun | undefined} */
export const runNamed = (name, runs) => runs?.find((r) => r.id === name) ?? runs?.find((r) => r.title === name);

// --- choices of one table, chart or view

/** @type {(first: Choice, value: Choice) => string | null} */
export function encode(first, value) {
	const text = Array.isArray(value) ? value.map((v) => String(v).replace(/[%,]/g, encodeURIComponent)).join(",") : value === null ? "" : String(value);
	return `${first ?? ""}` === `${value ?? ""}` ? null : text;
}

/**
 * A text that is not of the kind of FIRST is not a choice.
 * @template {Choice} T
 * @param {T} first
 * @param {string | undefined} text
 * @returns {T}
 */
export function decode(first, text) {
	if (text === undefined) return first;
	/** @type {Choice} */
	let value = text;
	if (Array.isArray(first)) value = text.split(",").filter(Boolean).map(read);
	else if (typeof first === "boolean") value = text === "true";
	else if (typeof first === "number") value = text !== "" && Number.isFinite(Number(text)) ? Number(text) : first;
	return /** @type {any} */ (value);
}

// Choices by their keys. Who listens to a key hears of its changes, and nobody else is drawn again.
export class Choices {
	/** @type {Map<string, Set<() => void>>} */
	#listeners = new Map();

	/**
	 * @param {Chosen} chosen
	 * @param {() => void} onChange
	 */
	constructor(chosen, onChange) {
		this.chosen = chosen;
		this.onChange = onChange;
	}

	/** @param {string} key */
	get = (key) => this.chosen.get(key);

	/** @type {(key: string, text: string | null) => void} */
	set = (key, text) => {
		if (text === (this.get(key) ?? null)) return;
		if (text === null) this.chosen.delete(key);
		else this.chosen.set(key, text);
		this.#listeners.get(key)?.forEach((on) => on());
		this.onChange();
	};

	/** All at once, as a link has them. @param {Chosen} chosen */
	replace = (chosen) => {
		const before = this.chosen;
		this.chosen = chosen;
		for (const [key, all] of this.#listeners) if (before.get(key) !== chosen.get(key)) all.forEach((on) => on());
	};

	/** @type {(key: string, on: () => void) => () => void} */
	listen = (key, on) => {
		if (!this.#listeners.has(key)) this.#listeners.set(key, new Set());
		const all = /** @type {Set<() => void>} */ (this.#listeners.get(key));
		all.add(on);
		return () => all.delete(on);
	};
}

/**
 * As useState, of something that a link carries under KEY: VIEW.NAME or TABLE.NAME, it needs the dot. FIRST is what holds where nothing was
 * chosen; it is not written.
 * @type {UseChoice}
 */
export const useChoice = (/** @type {string} */ key, /** @type {any} */ first) => {
	const { choices } = usePage();
	const [, redraw] = useState(0);
	useEffect(() => choices.listen(key, () => redraw((n) => n + 1)), [choices, key]);
	const text = choices.get(key);
	const value = useMemo(() => decode(first, text), [text, `${first}`]);
	const set = useCallback((/** @type {any} */ next) => choices.set(key, encode(first, typeof next === "function" ? next(decode(first, choices.get(key))) : next)), [choices, key, `${first}`]);
	return /** @type {any} */ ([value, set]);
};

const CALM_MS = 250; // browsers refuse addresses that change much oftener
const LATE_MS = 5000; // from the wish to load a page again until it goes
const LEFT_MS = 30000; // a page that loads again takes that long at most
const LEFT = `tpusight-left ${location.pathname}`;

// A browser that loads the page again does it from the address that stood there when it began to: what is chosen behind that, or in a gesture that
// still goes on, it would lose. FROM: the addresses that TO stands for.
/** @type {(from: (string | null)[], to: string) => void} */
function leave(from, to) {
	try {
		if (from.some((text) => text !== to)) sessionStorage.setItem(LEFT, JSON.stringify({ from, to, at: Date.now() }));
	} catch {
		/* pages from a file may have no storage */
	}
}

/** What the address says, or what was chosen there last. @type {() => string | null} */
function arrived() {
	const now = address.get();
	try {
		const { from, to, at } = JSON.parse(sessionStorage.getItem(LEFT) ?? "{}");
		sessionStorage.removeItem(LEFT);
		return from?.includes(now) && Date.now() - at < LEFT_MS ? to : now;
	} catch {
		return now;
	}
}

/**
 * What is looked at, kept in the address: as it is there when the page opens and when somebody goes back, written there when it changes.
 * @type {() => { look: Look, setLook: SetLook, choices: Choices, link: () => string }}
 */
export function useLook() {
	const first = useMemo(() => readLink(arrived() ?? ""), []);
	const [look, set] = useState(first.look);
	const keeper = useMemo(() => {
		let shown = first.look;
		let timer = 0;
		let last = -Infinity;
		/** @type {{ text: string | null, at: number }[]} */
		let replaced = []; // not long ago, by what is chosen now
		const replace = () => {
			const at = performance.now();
			replaced = [...replaced.filter((was) => at - was.at < LATE_MS), { text: address.get(), at }];
		};
		/** @param {boolean} entry */
		const write = (entry) => {
			clearTimeout(timer);
			timer = 0;
			last = performance.now();
			if (entry) replaced = [];
			else replace();
			address.put(writeLink(shown, choices.chosen), entry);
		};
		const soon = () => {
			if (performance.now() - last > CALM_MS) write(false);
			else timer ||= setTimeout(() => write(false), CALM_MS);
		};
		const flush = () => void (timer && write(false));
		const choices = new Choices(first.chosen, soon);
		/** @type {SetLook} */
		const setLook = (change) => {
			const before = shown;
			shown = { ...shown, ...change };
			if (isEntry(before, shown)) {
				const after = shown;
				shown = before;
				flush(); // what was chosen before belongs to the entry that is left
				shown = after;
				write(true);
			} else write(false);
			set(shown);
		};
		const onAddress = () => {
			const text = address.get();
			if (text === null) return write(false);
			const { look: at, chosen } = readLink(text);
			if (writeLink(at, chosen) === writeLink(shown, choices.chosen)) return;
			clearTimeout(timer);
			timer = 0;
			shown = at;
			choices.replace(chosen);
			set(at);
		};
		const link = () => {
			flush();
			return address.link();
		};
		const onLeave = () => {
			flush();
			replace();
			leave(replaced.map((was) => was.text), writeLink(shown, choices.chosen));
		};
		return { choices, setLook, onAddress, onLeave, link };
	}, []);
	useEffect(() => {
		address.put(writeLink(first.look, first.chosen), false);
		addEventListener("pagehide", keeper.onLeave); // behind the gestures (main.jsx)
		const close = address.listen(keeper.onAddress);
		return () => {
			close();
			removeEventListener("pagehide", keeper.onLeave);
		};
	}, []);
	return { look, setLook: keeper.setLook, choices: keeper.choices, link: keeper.link };
}

// --- what of a report is in sight

// Cores begin a step a little apart, so neighbours overlap: a sliver of this share does not count.
const SLIVER = 0.01;

/** @type {(row: Row, range: Range) => boolean} */
function isWithin(row, range) {
	const end = row.end_ps ?? row.start_ps + (row.duration_ps ?? 0);
	if (row.start_ps === end) return row.start_ps >= range[0] && row.start_ps <= range[1];
	const shared = Math.min(end, range[1]) - Math.max(row.start_ps, range[0]);
	return shared > SLIVER * Math.min(end - row.start_ps, range[1] - range[0]);
}

/**
 * What is chosen of the run, as a server is asked for it (docs/serving.md); null: all of it.
 * @type {(look: Pick<Look, "device" | "host" | "range">) => Record<string, string> | null}
 */
export function partOf({ range, device, host }) {
	/** @type {[string, Maybe<string | number>][]} */
	const all = [["from_ps", range && Math.round(range[0])], ["to_ps", range && Math.round(range[1])], ["device", device], ["host", host]];
	const known = all.flatMap(([name, value]) => (value === null || value === undefined || value === "" ? [] : [[name, String(value)]]));
	return known.length ? Object.fromEntries(known) : null;
}

/**
 * A device of REPORT as the whole run counts it: a part has numbers of its own.
 * @type {(whole: Report, report: Report, id: Maybe<number>) => number | null}
 */
export function deviceIn(whole, report, id) {
	const device = report.run?.devices?.find((d) => d.id === id);
	return whole.run?.devices?.find((d) => d.name === device?.name && d.host === device?.host)?.id ?? null;
}

/**
 * Rows that fall into the time range and belong to the chosen device; rows without either stay, and all of a report that is of that part.
 * @template {Row} T
 * @param {T[] | undefined} rows
 * @param {Pick<Look, "device" | "host" | "range">} look
 * @param {Report} report
 */
export function inSight(rows, look, report) {
	if (report.part) return rows ?? [];
	const devices = report.run?.devices ?? [];
	const wanted = devices.filter((d) => (look.device === null || d.id === look.device) && (!look.host || d.host === look.host));
	const names = new Set(wanted.map((d) => d.name));
	return (rows ?? []).filter((r) => {
		if (r.is_others && look.range) return false; // when they ran is not known
		if (look.range && typeof r.start_ps === "number" && !isWithin(r, look.range)) return false;
		if (look.host && typeof r.host === "string" && r.host !== look.host) return false;
		if (look.device === null && !look.host) return true;
		if (typeof r.device === "string" && typeof r.host === "string") return wanted.some((d) => d.name === r.device && d.host === r.host);
		if (typeof r.device_id === "number") return wanted.some((d) => d.id === r.device_id);
		if (typeof r.device !== "string" && typeof r.host === "string") return wanted.some((d) => d.host === r.host);
		return typeof r.device !== "string" || names.has(r.device);
	});
}

/**
 * What ROWS are of, although a part of it is chosen: they do not say when they ran, or where. "": they are of what is chosen.
 * @type {(rows: Row[], look: Pick<Look, "device" | "host" | "range">, report: Maybe<Report>) => string}
 */
export function ofAll(rows, look, report) {
	if (!report || report.part || !rows.length) return "";
	const hasTime = rows.some((r) => typeof r.start_ps === "number");
	const hasDevice = rows.some((r) => typeof r.device_id === "number" || typeof r.device === "string");
	const hasHost = hasDevice || rows.some((r) => typeof r.host === "string");
	return [look.range && !hasTime && "whole run", ((look.device !== null && !hasDevice) || (look.host && !hasHost)) && "all devices"].filter(Boolean).join(", ");
}
