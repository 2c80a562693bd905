// What is looked at: the report, the view, and what all views share: time range, host, device.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { isLive } from "./source.js";

/** @import { Look, PageState, Range, Report, Row, Watched } from "./report.d.ts" */

// What is used below them is always given (main.jsx); a view is drawn only where there is what it shows.
export const Page = createContext(/** @type {PageState} */ ({}));
export const usePage = () => useContext(Page);
// What goes on (live.js) changes twice a second: not for views that draw a report. null: nothing is watched.
export const Watch = createContext(/** @type {Watched | null} */ (null));
export const useWatch = () => useContext(Watch);

// The view that a page opens with: a command's own (write/report_html.c), what goes on, or the first.
const FIRST = document.body.dataset.view?.split(".")[0] ?? (isLive() ? "live" : "overview");

/** @type {() => Look} */
export function readHash() {
	const at = new URLSearchParams(location.hash.slice(1));
	/** @param {string} name */
	const number = (name) => (at.has(name) && Number.isFinite(Number(at.get(name))) ? Number(at.get(name)) : null);
	const from = number("from_ps");
	const to = number("to_ps");
	return {
		view: at.get("view") ?? FIRST,
		run: at.get("run"),
		host: at.get("host"),
		device: number("device"),
		finding: at.get("finding"),
		range: from !== null && to !== null && from < to ? [from, to] : null,
	};
}

/** @param {Look} look */
export function writeHash(look) {
	const to = new URLSearchParams();
	if (look.view !== FIRST) to.set("view", look.view);
	for (const [name, chosen] of Object.entries({ run: look.run, host: look.host, device: look.device, finding: look.finding })) if (chosen !== null && chosen !== undefined) to.set(name, String(chosen));
	if (look.range) {
		to.set("from_ps", String(Math.round(look.range[0])));
		to.set("to_ps", String(Math.round(look.range[1])));
	}
	const hash = `#${to}`;
	if (hash !== location.hash && !(hash === "#" && !location.hash)) history.replaceState(null, "", hash);
}

/**
 * Rows that fall into the time range and belong to the chosen device; rows without either stay.
 * @template {Row} T
 * @param {T[] | undefined} rows
 * @param {Pick<Look, "device" | "host" | "range">} look
 * @param {Report} report
 */
export function inSight(rows, look, report) {
	const devices = report.run?.devices ?? [];
	const wanted = devices.filter((d) => (look.device === null || d.id === look.device) && (!look.host || d.host === look.host));
	const names = new Set(wanted.map((d) => d.name));
	return (rows ?? []).filter((r) => {
		if (look.range && typeof r.start_ps === "number") {
			const end = r.end_ps ?? r.start_ps + (r.duration_ps ?? 0);
			if (end < look.range[0] || r.start_ps > look.range[1]) return false;
		}
		if (look.host && typeof r.host === "string" && r.host !== look.host) return false;
		if (look.device === null && !look.host) return true;
		if (typeof r.device === "string" && typeof r.host === "string") return wanted.some((d) => d.name === r.device && d.host === r.host);
		if (typeof r.device_id === "number") return wanted.some((d) => d.id === r.device_id);
		return typeof r.device !== "string" || names.has(r.device);
	});
}
