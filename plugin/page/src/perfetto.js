// SPDX-License-Identifier: MIT
// A run's trace, opened in Perfetto's page: in a window of this browser, by messages from this page to that one. Nothing is uploaded.
// The messages and the parts of the address are those of google/perfetto: ui/src/frontend/post_message_handler.ts,
// ui/src/plugins/dev.perfetto.DeeplinkQuerystring, docs/visualization/deep-linking-to-perfetto-ui.md and commands-automation-reference.md.

/** @import { Finding, FindingRange, Maybe, OpenState, PerfettoCommand, PerfettoRange, PerfettoTrace, Report } from "./report.d.ts" */

const FINDINGS = "[1-6]"; // with the rows of the run eight: more would leave no room for the trace
const PING_MS = 200;
export const PATIENCE_MS = 10000; // then the page says that nothing answers; it goes on asking
const MOST_ADDRESS = 65536; // a longer address is opened without the query

/**
 * The longest time of a finding, as its link to XProf shows: where the most can be seen of it.
 * @type {(finding: Finding) => FindingRange | null}
 */
export function longest(finding) {
	let best = null;
	for (const range of finding.time_ranges ?? []) if (!best || range.end_ps - range.start_ps > best.end_ps - best.start_ps) best = range;
	return best;
}

/**
 * The trace to open: that of the host, else the first, which has all hosts where there is one.
 * @type {(traces: PerfettoTrace[], host: Maybe<string>) => PerfettoTrace | undefined}
 */
export const traceOf = (traces, host) => traces.find((t) => host && t.host === host) ?? traces[0];

/**
 * The host on whose device the longest time of a finding is.
 * @type {(report: Report | null, finding: Finding) => string | undefined}
 */
export const hostOf = (report, finding) => report?.run?.devices?.find((d) => d.id === longest(finding)?.device)?.host;

/**
 * The finding's time on the clock of the trace, in whole ns; null: it has no time, or the clock is unknown.
 * @type {(finding: Finding, trace: Maybe<PerfettoTrace>) => PerfettoRange | null}
 */
export function rangeOf(finding, trace) {
	const range = longest(finding);
	if (!range || !trace || trace.shift_ns === null) return null;
	const shift = BigInt(trace.shift_ns);
	const start = shift + BigInt(Math.floor(range.start_ps / 1000));
	const end = shift + BigInt(Math.floor(range.end_ps / 1000));
	return { start, end: end > start ? end : start + 1n };
}

/**
 * What Perfetto does once the trace is read. QUERY: false leaves it out.
 * @type {(report: Report | null, finding: Maybe<Finding>, range: Maybe<PerfettoRange>, query?: boolean) => PerfettoCommand[]}
 */
export function commandsOf(report, finding, range, query = true) {
	const rank = 1 + (report?.doctor?.findings ?? []).findIndex((f) => f.id === finding?.id);
	const pinned = `^TPUsight: (Steps|Critical path|${finding && rank ? rank : FINDINGS} [a-z]+)$`; // as "1 critical" is called
	/** @type {PerfettoCommand[]} */
	const commands = [{ id: "dev.perfetto.PinTracksByRegex", args: [pinned, "name"] }];
	if (!finding) return commands;
	if (range) commands.push({ id: "dev.perfetto.AddNoteAtTimestamp", args: [String(range.start), finding.title] });
	const sql = finding.links?.perfetto_sql;
	if (sql && query) commands.push({ id: "dev.perfetto.RunQueryAndShowTab", args: [sql, finding.title] });
	return commands;
}

/**
 * The trace that annotate makes for a host of a report, by its path, for a page that has no server to ask; null: there cannot be one.
 * @type {(report: Report | null, host?: Maybe<string>) => string | null}
 */
export function fileOf(report, host) {
	const hosts = report?.run?.hosts ?? [];
	const file = (hosts.find((h) => h.name === host) ?? hosts[0])?.file ?? "";
	if (/\.xplane\.pb$/.test(file)) return file.replace(/[^/]*$/, "perfetto_trace.json.gz");
	return /\.json(\.gz)?$/.test(file) ? file.replace(/\.json(\.gz)?$/, ".tpusight.json.gz") : null;
}

/** @type {(ui: string, commands: PerfettoCommand[], range: Maybe<PerfettoRange>) => string} */
function address(ui, commands, range) {
	const to = new URLSearchParams();
	if (range) {
		to.set("visStart", String(range.start));
		to.set("visEnd", String(range.end));
		to.set("ts", String(range.start)); // the slice there is selected
		to.set("dur", String(range.end - range.start));
	}
	to.set("startupCommands", JSON.stringify(commands));
	// Behind the # is what no server gets. Perfetto's page reports its own address to Google Analytics, the part behind the # too:
	// testing=1 keeps it from that (ui/src/core/analytics_impl.ts), as names of the profile stand there.
	return `${ui.replace(/\/+$/, "")}/?testing=1#!/?${to.toString().replaceAll("+", "%20")}`;
}

/** @type {(ui: string, report: Report | null, finding: Maybe<Finding>, range: Maybe<PerfettoRange>) => string} */
export function addressOf(ui, report, finding, range) {
	const whole = address(ui, commandsOf(report, finding, range), range);
	return whole.length <= MOST_ADDRESS ? whole : address(ui, commandsOf(report, finding, range, false), range);
}

/**
 * What Perfetto's page takes as a trace.
 * @type {(buffer: ArrayBuffer, title: string, file: string) => { perfetto: { buffer: ArrayBuffer, title: string, fileName: string, localOnly: boolean } }}
 */
export const messageOf = (buffer, title, file) => ({ perfetto: { buffer, title, fileName: file, localOnly: true } }); // localOnly: no button there uploads it

/**
 * Does the window show its page? Before, it shows an empty one, whose address may be read: it is ours.
 * @type {(target: Window) => boolean}
 */
function hasArrived(target) {
	try {
		return target.location.href !== "about:blank";
	} catch {
		return true; // of another origin
	}
}

/**
 * Chromium loses a close() that meets the arrival of a window's first page, and ignores those that follow. So the page is waited for,
 * for PATIENCE_MS at most.
 * @type {(target: Window) => void}
 */
function shut(target) {
	const since = performance.now();
	const timer = setInterval(() => {
		if (!hasArrived(target) && performance.now() - since <= PATIENCE_MS) return;
		clearInterval(timer);
		target.close();
	}, PING_MS);
}

/**
 * Perfetto's page answers PING as soon as it takes messages; the trace is sent once, then. ON hears how it goes: "opening", "sent",
 * or why not: "blocked" (no window), "closed" (it was closed before), "silent" (no answer for PATIENCE_MS; asked on), or an Error of FETCHTRACE.
 * @type {(url: string, fetchTrace: () => Promise<ArrayBuffer>, send: (buffer: ArrayBuffer) => object, on: (state: OpenState) => void) => void}
 */
export function open(url, fetchTrace, send, on) {
	const target = window.open(url, "_blank"); // at once: browsers allow it to a click alone
	if (!target) return on("blocked");
	const origin = new URL(url).origin;
	const since = performance.now();
	/** @type {ArrayBuffer | null} */
	let trace = null;
	let answered = false;
	let silent = false;
	let over = false;
	/** @param {"sent" | "closed" | Error} state */
	const end = (state) => {
		if (over) return;
		over = true;
		clearInterval(timer);
		removeEventListener("message", onMessage);
		on(state);
	};
	const sendBoth = () => {
		if (!trace || !answered || over) return;
		target.postMessage(send(trace), origin, [trace]);
		end("sent");
	};
	/** @param {MessageEvent} e */
	const onMessage = (e) => {
		if (e.source !== target || e.origin !== origin || e.data !== "PONG") return;
		answered = true;
		sendBoth();
	};
	const ask = () => {
		if (target.closed) return end("closed");
		if (!answered) target.postMessage("PING", "*"); // to whatever is there while it loads; the trace is for ORIGIN alone
		if (!answered && !silent && performance.now() - since > PATIENCE_MS) {
			silent = true;
			on("silent");
		}
	};
	const timer = setInterval(ask, PING_MS);
	addEventListener("message", onMessage);
	on("opening");
	fetchTrace().then(
		(buffer) => {
			trace = buffer;
			sendBoth();
		},
		(e) => {
			shut(target);
			end(e);
		},
	);
}
