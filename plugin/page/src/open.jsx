// SPDX-License-Identifier: MIT
// Buttons that open the trace of the run in Perfetto, at a finding or as a whole; where that cannot be, the words that say why and what to do.
import { h } from "preact";
import { useState } from "preact/hooks";
import { bytes, clean, cut } from "./format.js";
import { Code } from "./parts.jsx";
import { addressOf, commandsOf, fileOf, hostOf, messageOf, open, PATIENCE_MS, rangeOf, traceOf } from "./perfetto.js";
import { hasServer, hasTraces, trace as fetchTrace } from "./source.js";
import { usePage } from "./state.js";

/** @import { Finding, Maybe, OpenState, Perfetto, PerfettoTrace } from "./report.d.ts" */

const UI = "https://ui.perfetto.dev"; // where no server says another

/** @type {(path: string) => string} */
const shown = (path) => cut(clean(path), 300);

/** @type {(state: OpenState, ui: string, trace: PerfettoTrace) => string} */
function words(state, ui, trace) {
	const name = new URL(ui).host;
	if (state instanceof Error) return `The trace could not be read: ${clean(state.message)}`;
	return {
		opening: `Opening ${name} \u2026`,
		sent: `${name} has the trace. It stays in your browser: nothing was uploaded.`,
		blocked: "The browser did not open a window. Allow pop-up windows for this page, then click again.",
		closed: `The window was closed before ${name} had the trace.`,
		silent: `${name} has not answered for ${PATIENCE_MS / 1000} s. Is there a network? The trace is the file ${shown(trace.path)}: you can open it in any copy of Perfetto. This page keeps trying while the window is open.`,
	}[state];
}

/** @param {{ perfetto: Perfetto, trace: PerfettoTrace, finding?: Finding, name: string }} props */
function Button({ perfetto, trace, finding, name }) {
	const { whole } = usePage();
	const [state, setState] = useState(/** @type {OpenState | null} */ (null));
	const onClick = () => {
		const range = finding ? rangeOf(finding, trace) : null;
		open(addressOf(perfetto.ui, whole, finding, range), () => fetchTrace(perfetto.run, trace.file), (buffer) => messageOf(buffer, `TPUsight ${name}`, trace.file), setState);
	};
	return (
		<span class="perfetto">
			<button type="button" data-perfetto={finding ? finding.id : ""} disabled={state === "opening"} onClick={onClick} title={`gives ${clean(trace.file)} (${bytes(trace.bytes)}) to ${new URL(perfetto.ui).host} in a window of this browser`}>
				Open in Perfetto <small>nothing is uploaded</small>
			</button>
			<span role="status">{state ? words(state, perfetto.ui, trace) : ""}</span>
		</span>
	);
}

/** @param {{ perfetto: Perfetto, path: Maybe<string> }} props */
function NoTrace({ perfetto, path }) {
	if (perfetto.error) return <span class="perfetto count">{`Traces for Perfetto are not known: ${cut(clean(perfetto.error), 300)}`}</span>;
	return (
		<details class="perfetto">
			<summary>Open in Perfetto</summary>
			No trace for Perfetto stands beside this run. To get one, run <code>{`tpusight-annotate ${path ? shown(path) : "LOGDIR"}`}</code> (without --perfetto=none) and load this page again.
		</details>
	);
}

/** @param {{ path: string }} props */
function Drag({ path }) {
	const at = path.lastIndexOf("/") + 1;
	return (
		<span>
			Open <code>{UI}</code> and drag the file <code>{shown(path.slice(at))}</code> into it. {at > 1 && <span>{`It is in the folder ${shown(path.slice(0, at - 1))}. `}</span>}
			The file stays on your machine: nothing is uploaded. If there is no such file, <code>tpusight-annotate</code> makes it.
		</span>
	);
}

/** @param {{ name: string }} props */
export function OpenRun({ name }) {
	const { whole: report, runs, look, perfetto } = usePage();
	if (!report) return null;
	const file = hasServer() ? null : fileOf(report, look.host);
	if (file)
		return (
			<details class="perfetto">
				<summary>Open in Perfetto</summary>
				<Drag path={file} />
			</details>
		);
	if (!perfetto) return null;
	const trace = traceOf(perfetto.traces, look.host);
	return trace ? <Button perfetto={perfetto} trace={trace} name={name} /> : <NoTrace perfetto={perfetto} path={runs?.find((r) => r.id === perfetto.run)?.path} />;
}

/** @param {{ finding: Finding }} props */
export function OpenFinding({ finding }) {
	const { report, perfetto } = usePage();
	const trace = perfetto && traceOf(perfetto.traces, hostOf(report, finding));
	return trace ? <Button perfetto={perfetto} trace={trace} finding={finding} name={finding.id} /> : null;
}

// What the button does, for people who have to do it themselves.
/** @param {{ finding: Finding }} props */
export function ByHand({ finding }) {
	const { report, whole, perfetto } = usePage();
	const host = hostOf(report, finding);
	const trace = perfetto && traceOf(perfetto.traces, host);
	const path = trace?.path ?? (hasTraces() ? null : fileOf(whole, host));
	const sql = finding.links?.perfetto_sql;
	if (!sql && !path) return null;
	return (
		<details>
			<summary>Find it in Perfetto by hand</summary>
			{path && (
				<p>
					<Drag path={path} />
				</p>
			)}
			{sql && <p>This query lists the slices of the finding. Put it into Perfetto{"\u2019"}s page {"\u201c"}Query (SQL){"\u201d"}:</p>}
			{sql && <Code text={sql} what="query" />}
			{path && <p>These commands pin the rows of TPUsight and run the query. Put them into Perfetto{"\u2019"}s Settings, {"\u201c"}Startup Commands{"\u201d"}, before you open the file; take them out again afterwards, as they run for every trace:</p>}
			{path && <Code text={JSON.stringify(commandsOf(whole, finding, rangeOf(finding, trace)), null, 1)} what="commands" />}
		</details>
	);
}
