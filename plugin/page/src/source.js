// SPDX-License-Identifier: MIT
/** @import { KeptPicture, LiveEvent, ListedRun, PerfettoTrace, Picture, Report } from "./report.d.ts" */

// Where the report comes from. Three doors, one page:
//   a file      <script type="application/json" id="tpusight-report"> holds it
//   a server    <body data-runs="api/runs" data-report="api/report"> says where to ask
/** @type {() => Report | null} */
export function inlined() {
	const element = document.getElementById("tpusight-report");
	if (!element) return null;
	try {
		return JSON.parse(element.textContent ?? "");
	} finally {
		element.remove(); // the text is not needed twice
	}
}

/**
 * What a file has of the run's timeline: read when it is first looked at.
 * @type {() => KeptPicture[]}
 */
export function pictures() {
	if (kept) return kept;
	const element = document.getElementById("tpusight-slices");
	kept = JSON.parse(element?.textContent || "[]");
	element?.remove();
	return kept ?? [];
}
/** @type {KeptPicture[] | null} */
let kept = null;

/** @type {(url: string | undefined, signal?: AbortSignal) => Promise<any>} */
async function get(url, signal) {
	const answer = await fetch(url ?? "", { headers: { accept: "application/json" }, signal });
	const body = await answer.json().catch(() => null);
	if (!answer.ok) throw new Error(body?.error?.message ?? body?.error ?? `${url}: ${answer.status} ${answer.statusText}`);
	return body;
}

const door = () => document.body.dataset;
export const hasServer = () => Boolean(door().runs);
// PROBLEMS: places whose profiles are not in the list, and why. IS_KNOWN: the figures of all runs are known.
/** @type {() => Promise<{ runs: ListedRun[], problems: string[], is_known: boolean }>} */
export const runs = () => get(door().runs).then((r) => ({ runs: r.runs ?? r, problems: r.problems ?? [], is_known: r.is_known !== false }));
// "compare" and "trend" stand beside the list of runs.
/** @type {(name: string, fields: Record<string, string>) => Promise<any>} */
export const several = (name, fields) => get(`${new URL(name, new URL(door().runs ?? "", location.href)).href}?${new URLSearchParams(fields)}`);
/** @type {(run: string, fields: Record<string, string>) => Promise<Picture>} */
export const slices = (run, fields) => several("slices", { run, ...fields });
/**
 * PART: from_ps, to_ps, device and host, as far as they are chosen. Who gives SIGNAL does not wait any more, and the server ends its work.
 * @type {(run: string, part?: Record<string, string>, signal?: AbortSignal) => Promise<Report>}
 */
export const report = (run, part = {}, signal) => get(`${door().report}?${new URLSearchParams({ run, ...part })}`, signal);
export const hasTraces = () => Boolean(door().traces);
// The traces for Perfetto that stand beside the run's profiles.
/** @type {(run: string) => Promise<{ ui: string, traces: PerfettoTrace[] }>} */
export const traces = (run) => get(`${door().traces}?run=${encodeURIComponent(run)}`);
/** @type {(run: string, file: string) => Promise<ArrayBuffer>} */
export async function trace(run, file) {
	const answer = await fetch(`${door().trace}?run=${encodeURIComponent(run)}&file=${encodeURIComponent(file)}`);
	if (!answer.ok) throw new Error((await answer.json().catch(() => null))?.error?.message ?? `${file}: ${answer.status} ${answer.statusText}`);
	return answer.arrayBuffer();
}
// TensorBoard's own address, where the page stands in it. A link of the report is relative to that.
/** @type {(link: unknown) => string | null} */
export function xprof(link) {
	const base = door().xprof;
	if (!base || typeof link !== "string" || !/^(\?|data\/plugin\/profile\/)/.test(link)) return null;
	return new URL(link, base).href;
}

// What goes on comes as server-sent events where the server offers them: <body data-events="api/live">.
export const isLive = () => Boolean(door().events);

const AGAIN_MS = 2000; // until it is tried again where the browser itself gave up
const TYPES = ["sample", "alert", "session", "end"];

// ON(data, id) for each event, ONSTATE("open" or "lost"). After a lost connection it goes on behind the last event that it got.
/** @type {(on: (event: LiveEvent, id: number) => void, onState: (state: "open" | "lost") => void) => () => void} */
export function listen(on, onState) {
	let last = "";
	/** @type {EventSource} */
	let source;
	let timer = 0;
	const open = () => {
		source = new EventSource(`${door().events}${last && `?after=${last}`}`);
		source.onopen = () => onState("open");
		source.onerror = () => {
			onState("lost");
			if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
		};
		for (const type of TYPES)
			source.addEventListener(type, (e) => {
				last = e.lastEventId;
				on(JSON.parse(e.data), Number(e.lastEventId));
			});
	};
	open();
	return () => {
		clearTimeout(timer);
		source.close();
	};
}
