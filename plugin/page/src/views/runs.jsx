// SPDX-License-Identifier: MIT
// The list of runs, the newest first: what tells each apart and how it went. A server has it, a file of one run does not.
import { Fragment, h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { shortNames } from "../compare.js";
import { clean, cut, time } from "../format.js";
import { apart, when } from "../runs.js";
import { chosenOf, Predicted, useNarrow } from "../several.jsx";
import { runs as fetchRuns } from "../source.js";
import { ofRun, runName, usePage } from "../state.js";
import { Table } from "../table.jsx";
import "../several.css";

/** @import { DrawCell, ListedRun, Row } from "../report.d.ts" */

const AGAIN_MS = 3000; // until a list that is not complete is asked for again
const LETTERS = 54; // of a name: the rest of the row is to stay in sight
const FEW = 22; // on a phone
const MOST = 16; // runs side by side

// --- the list

// Times of steps, from 0: a line is as high as the longest.
/** @param {{ of: number[], name: string }} props */
function Spark({ of, name }) {
	const most = of.reduce((a, b) => Math.max(a, b), 0) || 1;
	const points = of.map((ps, i) => `${(100 * i) / Math.max(of.length - 1, 1)},${20 - (19 * ps) / most}`);
	return (
		<svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={`times of steps of ${name}, up to ${time(most)}`}>
			<polyline points={points.join(" ")} fill="none" stroke="currentColor" stroke-width="1.5" vector-effect="non-scaling-stroke" />
		</svg>
	);
}

// What people choose by stands in front; the rest is there for who scrolls.
const COLUMNS = ["name", "compared", "when", "chips", "step_median_ps", "health_score", "verdict", "spark", "program", "steps"];

const HEADINGS = { name: "Run", compared: "Compare", when: "When (UTC)", chips: "Chips", step_median_ps: "Median step", health_score: "Health", verdict: "Verdict", spark: "Step times", program: "Program", steps: "Steps" };

/** @type {(run: ListedRun & Row) => string | null} */
const chipsOf = (run) => (run.chips > 0 ? [`${run.chips} \u00d7 ${run.chip ?? "unknown chip"}`, Array.isArray(run.hosts) && run.hosts.length > 1 ? `${run.hosts.length} hosts` : ""].filter(Boolean).join(", ") : null);

export function Runs() {
	const { runs: first, look, setLook } = usePage();
	const [runs, setRuns] = useState(/** @type {ListedRun[]} */ (first ?? []));
	const [turn, setTurn] = useState(0);
	useEffect(() => {
		let timer = 0;
		let current = true;
		fetchRuns()
			.then((list) => {
				if (!current) return;
				setRuns(list.runs);
				if (!list.is_known) timer = setTimeout(() => setTurn((t) => t + 1), AGAIN_MS);
			})
			.catch(() => {}); // the page has said so
		return () => {
			current = false;
			clearTimeout(timer);
		};
	}, [turn]);
	const isNarrow = useNarrow();
	const rows = useMemo(() => {
		const names = apart(runs.map((r) => clean(r.title ?? r.id)));
		const shown = shortNames(names, isNarrow ? FEW : LETTERS);
		return runs.map((r, i) => ({ ...r, name: names[i], shown: shown[i], when: typeof r.when_unix_ms === "number" ? when(r.when_unix_ms) : null, chips: chipsOf(r) }));
	}, [runs, isNarrow]);
	const chosen = chosenOf(look.compared, runs);
	/** @param {Row} row */
	const toggle = (row) => {
		const name = runName(/** @type {ListedRun} */ (row), runs);
		setLook({ compared: look.compared.includes(name) ? look.compared.filter((n) => n !== name) : [...look.compared, name] });
	};
	/** @type {Record<string, DrawCell>} */
	const draw = {
		name: (v, row) => (
			<Fragment>
				<button type="button" class="link" title={v} onClick={(e) => { e.stopPropagation(); setLook({ ...ofRun(runName(/** @type {ListedRun} */ (row), runs)), view: "overview" }); }}>
					{row.shown}
				</button>
				<Predicted of={row} />
			</Fragment>
		),
		compared: (_, row) => <input type="checkbox" aria-label={`compare ${clean(row.name)}`} checked={chosen.some((r) => r.id === row.id)} onClick={(e) => e.stopPropagation()} onChange={() => toggle(row)} />,
		when: (v) => v ?? "unknown",
		verdict: (v) => (v ? <span title={clean(v)}>{clean(v).split(":")[0]}</span> : "unknown"),
		health_score: (v) => (typeof v === "number" ? `${Math.round(v)} of 100` : "unknown"),
		spark: (v, row) => (v?.length > 1 ? <Spark of={v} name={clean(row.name)} /> : ""),
	};
	const program = chosen[0]?.program;
	return (
		<div>
			<p class="bar">
				<button type="button" disabled={chosen.length < 2 || chosen.length > MOST} onClick={() => setLook({ view: "compare" })}>
					{chosen.length < 2 ? "Compare: choose two runs or more" : chosen.length > MOST ? `Compare: choose ${MOST} runs at most` : `Compare ${chosen.length} runs`}
				</button>
				<button type="button" disabled={!chosen.length || (chosen.length === 1 && !program)} onClick={() => setLook({ view: "trend" })}>
					{chosen.length > 1 ? `Trend of ${chosen.length} runs` : program ? `Trend of ${cut(clean(program), 60)}` : "Trend: choose a run"}
				</button>
			</p>
			<Table name="runs" caption="Runs, the newest first" rows={rows} columns={COLUMNS.filter((c) => c === "compared" || rows.some((r) => (/** @type {Row} */ (r)[c] ?? null) !== null))} draw={draw} labels={HEADINGS} max={20} empty="No profile was found." />
		</div>
	);
}
