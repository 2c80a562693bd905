// SPDX-License-Identifier: MIT
// Where a finding is: the op, its line of source, the chip, the step since which it is so, each to click.
import { h } from "preact";
import { clean } from "./format.js";
import { Op } from "./op.jsx";
import { opKey, rowOf } from "./opdata.js";
import { placeOf } from "./place.js";
import { deviceIn, usePage } from "./state.js";

/** @import { Finding, Place as PlaceData, Report, Step } from "./report.d.ts" */

// A line of source leads to the op that stands there, where one is known: its drawer has it to copy and to open.
/** @param {{ of: PlaceData }} props */
function Line({ of: { line, source } }) {
	const { report, setLook } = usePage();
	if (!source) return null;
	if (!line || !rowOf(report, line)) return <code>{clean(source)}</code>;
	return (
		<button type="button" class="link" onClick={() => setLook({ op: opKey(line) })}>
			<code>{clean(source)}</code>
		</button>
	);
}

/** @param {{ of: PlaceData }} props */
function Who({ of: { device, host, who } }) {
	const { report, whole, setLook } = usePage();
	if (!who) return null;
	const look = device !== null ? { device: deviceIn(whole, report, device), host: null } : { host, device: null };
	return (
		<span>
			{"on "}
			<button type="button" class="link" title={clean(host ?? "")} onClick={() => setLook({ ...look, view: "pod" })}>
				{clean(who)}
			</button>
		</span>
	);
}

/** @type {(report: Report, number: number) => Step | undefined} */
const stepOf = (report, number) => (report.steps ?? []).find((s) => s.step === number && !s.is_others);

/** @param {{ of: PlaceData }} props */
function Since({ of: { since, device, host, at } }) {
	const { report, whole, setLook } = usePage();
	const step = since === null ? undefined : stepOf(report, since);
	if (!step) return null;
	/** @type {[number, number]} */
	const range = [step.start_ps, step.start_ps + (step.duration_ps ?? 0)];
	const whom = device !== null ? { device: deviceIn(whole, report, device), host: null } : host ? { host, device: null } : {};
	return (
		<span>
			{at === undefined ? "since " : "in "}
			<button type="button" class="link" onClick={() => setLook({ range, ...whom, view: "slices" })}>
				{`step ${since}`}
			</button>
		</span>
	);
}

/** @param {{ finding: Finding }} props */
export function Place({ finding }) {
	const { report } = usePage();
	const place = placeOf(report, finding);
	const { op, source, who, since, what, more } = place;
	if (!op && !source && !who) return null;
	return (
		<p class="place">
			{op && <Op of={op} />}
			{what && <span>{clean(what)}</span>}
			<Line of={place} />
			{who && <Who of={place} />}
			{since !== null && <Since of={place} />}
			{more > 0 && <span class="count">{`and ${more} more ${more === 1 ? "op" : "ops"}`}</span>}
		</p>
	);
}
