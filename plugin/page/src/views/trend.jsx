// SPDX-License-Identifier: MIT
// One program over time: how long its median step took in each run, and where a gate would have failed.
import { Fragment, h } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { differs, shortNames } from "../compare.js";
import { clean, cut, time } from "../format.js";
import { Check, Choice } from "../parts.jsx";
import { apart, folderOf, moments, placeOf, ticks, trend, when } from "../runs.js";
import { chosenOf, Predicted, useAnswer, useNarrow, Waiting } from "../several.jsx";
import { several } from "../source.js";
import { ofRun, runName, useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";
import "../several.css";

/** @import { DrawCell, ListedRun, Maybe, Row } from "../report.d.ts" */

const CROWD = 100; // dots: more are drawn smaller

/** @type {(value: Maybe<number>, ps: number) => string} */
const against = (value, ps) => differs("_ps", ps, value);

/**
 * LIMIT: ps, where the gate would fail; MORE: percent above the baseline.
 * @param {{ runs: Row[], names: Map<string, string>, limit: Maybe<number>, more: number }} props
 */
function Chart({ runs, names, limit, more }) {
	const { runs: listed, setLook } = usePage();
	const [isFromZero, setFromZero] = useChoice("trend.zero", true);
	const drawn = useMemo(() => trend(runs, limit, isFromZero), [runs, limit, isFromZero]);
	const [at, setAt] = useState(-1);
	const box = useRef(/** @type {HTMLDivElement | null} */ (null));
	const { points, low, high, begin, end, left } = drawn;
	if (!points.length) return <p class="empty">No run says when it ran and how long a step took.</p>;
	const base = points[0];
	const focused = Math.min(at < 0 ? points.length - 1 : at, points.length - 1);
	/** @param {number} ps */
	const up = (ps) => `${(100 * (ps - low)) / (high - low)}%`;
	/** @param {number} x */
	const across = (x) => `${100 * x}%`;
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		const by = { ArrowRight: 1, ArrowLeft: -1, Home: -points.length, End: points.length }[e.key];
		if (!by) return;
		e.preventDefault();
		const to = Math.min(Math.max(focused + by, 0), points.length - 1);
		setAt(to);
		/** @type {HTMLElement | null | undefined} */ (box.current?.querySelector(`[data-point="${to}"]`))?.focus();
	};
	/** @param {{ run: Row, isBad: boolean }} point */
	const says = ({ run, isBad }) => [names.get(run.id), when(run.when_unix_ms), `median step ${time(run.step_median_ps)}`, run === base.run ? "the baseline" : `${against(run.step_median_ps, base.run.step_median_ps)} against the baseline`, ...(isBad ? ["the gate fails"] : [])];
	const failed = points.filter((p) => p.isBad).length;
	return (
		<section aria-label="median step over time">
			<p>{failed ? `The gate would have failed in ${failed} of ${points.length - 1} runs: their median step is more than ${more} % longer than that of the first run (${time(base.run.step_median_ps)}).` : `The gate would have held in all ${points.length - 1} runs: no median step is more than ${more} % longer than that of the first run (${time(base.run.step_median_ps)}).`}</p>
			<ul class="legend">
				<li><span class="dot">{"\u25cf"}</span> median step of a run</li>
				<li><span class="dot bad">{"\u25b2"}</span> here the gate would have failed</li>
				<li><span class="swatch baseline" />{`baseline: the first run, to ${more} % more`}</li>
			</ul>
			<div class="over" ref={box} onKeyDown={onKey}>
				<span class="axis-name">Median step</span>
				<div class={points.length > CROWD ? "trend crowded" : "trend"}>
					{ticks(low, high, 5).map((ps) => (
						<span key={ps} class="row" style={{ bottom: up(ps) }}>
							<span>{time(ps)}</span>
						</span>
					))}
					{typeof limit === "number" && <span class="band" style={{ bottom: up(base.run.step_median_ps), height: `${(100 * (Math.min(limit, high) - base.run.step_median_ps)) / (high - low)}%` }} />}
					{typeof limit === "number" && <span class="limit" style={{ bottom: up(limit) }}><span>{`the gate fails above ${time(limit)}`}</span></span>}
					{points.map((point, i) => (
						<button key={point.run.id} type="button" data-point={i} tabIndex={i === focused ? 0 : -1} class={point.isBad ? "point bad" : "point"} style={{ left: across(point.x), bottom: across(point.y) }} title={says(point).join("\n")} aria-label={says(point).join(", ")} onClick={() => listed && setLook({ ...ofRun(runName(/** @type {ListedRun} */ (point.run), listed)), view: "overview" })}>
							{point.isBad ? "\u25b2" : "\u25cf"}
						</button>
					))}
				</div>
				<div class="moments">
					{moments(begin, end, 5).map(({ ms, text }) => (
						<span key={ms} class={placeOf(ms, begin, end) > 0.92 ? "last" : placeOf(ms, begin, end) < 0.08 ? "first" : ""} style={{ left: across(placeOf(ms, begin, end)) }}>
							{text}
						</span>
					))}
				</div>
				<span class="axis-name across">When the run began (UTC)</span>
			</div>
			<p class="bar">
				<Check label="the axis begins at 0" value={isFromZero} onPick={setFromZero} />
				{low > 0 && <span class="count">{`The axis begins at ${time(low)}, not at 0.`}</span>}
				{left > 0 && <span class="count">{`${left} ${left === 1 ? "run is" : "runs are"} not drawn: when it ran, or how long its steps took, is not known.`}</span>}
			</p>
		</section>
	);
}

const [LETTERS, FEW] = [54, 22]; // of a run's name, and on a phone
const COLUMNS = ["name", "when", "step_median_ps", "change", "gate", "health_score", "verdict", "chips"];
const LABELS = { name: "Run", when: "When (UTC)", step_median_ps: "Median step", change: "Against the first", gate: "Gate", health_score: "Health", verdict: "Verdict", chips: "Chips" };

/** @type {Record<string, string>} */
const GATE = { passed: "holds", failed: "fails", unknown: "not known" };

export function Trend() {
	const { runs, look, setLook } = usePage();
	const [more, setMore] = useChoice("trend.gate", 5);
	const isNarrow = useNarrow();
	const chosen = chosenOf(look.compared, runs);
	const program = chosen[0]?.program;
	const gate = `step_time_ms.median > baseline * ${(1 + more / 100).toFixed(3)}`;
	/** @type {Record<string, string> | null} */
	const asked = chosen.length > 1 ? { runs: chosen.map((r) => r.id).join(), gate } : program ? { program, gate } : null;
	const { answer, error } = useAnswer(asked && JSON.stringify(asked), () => several("trend", /** @type {Record<string, string>} */ (asked)));
	if (!asked) return <p class="empty">Choose a run in the list of runs: its program is shown over time.</p>;
	if (!answer) return <Waiting error={error} />;
	/** @type {Row[]} */
	const all = answer.runs;
	const titles = apart(all.map((r) => clean(r.title ?? r.id)));
	const names = new Map(all.map((r, i) => [r.id, titles[i]]));
	const shown = shortNames(titles, isNarrow ? FEW : LETTERS);
	const limit = all.find((r) => typeof r.gate?.limit === "number")?.gate.limit;
	const base = all.find((r) => !r.gate);
	const programs = [...new Set(all.map((r) => r.program).filter(Boolean))];
	const folder = folderOf(all.map((r) => r.path ?? ""));
	const heading = [programs.length === 1 ? clean(programs[0]) : `${all.length} runs of ${programs.length} programs`, folder ? `in ${clean(folder)}` : ""].filter(Boolean).join(" ");
	/** @type {Record<string, DrawCell>} */
	const draw = {
		name: (v, row) => (
			<Fragment>
				<button type="button" class="link" title={v} onClick={(e) => { e.stopPropagation(); if (runs) setLook({ ...ofRun(runName(/** @type {ListedRun} */ (row.run), runs)), view: "overview" }); }}>{row.shown}</button>
				<Predicted of={row.run} />
			</Fragment>
		),
		verdict: (v) => (v ? <span title={clean(v)}>{clean(v).split(":")[0]}</span> : "unknown"),
		health_score: (v) => (typeof v === "number" ? `${Math.round(v)} of 100` : "unknown"),
	};
	const rows = all.map((r, i) => ({
		run: r, is_predicted: r.is_predicted, shown: shown[i], name: names.get(r.id), when: typeof r.when_unix_ms === "number" ? when(r.when_unix_ms) : null, step_median_ps: r.step_median_ps,
		change: r === base ? "the baseline" : against(r.step_median_ps, base?.step_median_ps), gate: r.gate ? (GATE[r.gate.state] ?? r.gate.state) : r === base ? "the baseline" : null,
		health_score: r.health_score, verdict: r.verdict, chips: r.chips > 0 ? `${r.chips} \u00d7 ${r.chip ?? "unknown chip"}` : null,
	}));
	return (
		<div>
			<h3 class="program">{cut(heading, 200)}</h3>
			<p class="bar">
				<Choice label="the gate fails above the first run by" value={more} options={[[1, "1 %"], [2, "2 %"], [5, "5 %"], [10, "10 %"], [20, "20 %"]]} onPick={(v) => setMore(Number(v))} />
				<span class="count">{`${all.length.toLocaleString("en-US")} runs`}</span>
			</p>
			{answer.older_count > 0 && <p class="count">{`These are the newest ${all.length.toLocaleString("en-US")} runs of the program. ${answer.older_count.toLocaleString("en-US")} older ones are not here.`}</p>}
			<Chart runs={all} names={names} limit={typeof limit === "number" ? limit * 1e9 : null} more={more} />
			<Table name="runs" caption="Runs, the oldest first" rows={rows} columns={COLUMNS} labels={LABELS} draw={draw} />
		</div>
	);
}
