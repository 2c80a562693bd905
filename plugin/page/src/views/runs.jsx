// The pages over several runs: what there is, two or more side by side, and one program over time. A server has them, a file of one run does not.
import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { COLORS, Legend } from "../chart.jsx";
import { clean, cut, time, title, value } from "../format.js";
import { BUCKETS, bucketColor, Choice, columnsOf, Shares } from "../parts.jsx";
import { apart, changed, headings, histograms, trend, waterfall, when } from "../runs.js";
import { report as fetchReport, runs as fetchRuns, several } from "../source.js";
import { ofRun, runName, runNamed, useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";

/** @import { DrawCell, ListedRun, Maybe, Report, Row } from "../report.d.ts" */

const AGAIN_MS = 3000; // until a list that is not complete is asked for again
const OPS = 20;
const BINS = 30;
const MAX_DRAWN = 4; // runs whose steps are drawn

/**
 * What a server answers, asked for again when KEY is another. null: it has not answered.
 * @type {(key: string | null, ask: () => Promise<any>) => { answer: any, error: string | null }}
 */
function useAnswer(key, ask) {
	const [state, setState] = useState(/** @type {{ key: string | null, answer: any, error: string | null }} */ ({ key: null, answer: null, error: null }));
	useEffect(() => {
		if (key === null) return;
		let current = true;
		ask()
			.then((answer) => current && setState({ key, answer, error: null }))
			.catch((e) => current && setState({ key, answer: null, error: e.message }));
		return () => {
			current = false;
		};
	}, [key]);
	return state.key === key ? state : { answer: null, error: null };
}

/** @param {{ error: string | null }} props */
function Waiting({ error }) {
	if (error)
		return (
			<p class="error" role="alert">
				{clean(error)}
			</p>
		);
	return (
		<div class="loading">
			<p role="status">Reading the runs &hellip;</p>
			<progress aria-label="Reading the runs" />
		</div>
	);
}

/** @type {(names: string[], runs: ListedRun[] | undefined) => ListedRun[]} */
const chosenOf = (names, runs) => names.map((n) => runNamed(n, runs)).filter((r) => r !== undefined);

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

const COLUMNS = ["name", "compared", "when", "program", "chip", "chips", "host_count", "steps", "step_median_ps", "health_score", "verdict", "spark"];

const HEADINGS = { compared: "Compare", when: "When (UTC)", host_count: "Hosts", step_median_ps: "Median step", health_score: "Health of 100", spark: "Step times" };

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
	const rows = useMemo(() => {
		const names = apart(runs.map((r) => r.title ?? r.id));
		return runs.map((r, i) => ({ ...r, name: names[i], when: when(r.when_unix_ms), host_count: Array.isArray(r.hosts) ? r.hosts.length : null }));
	}, [runs]);
	const chosen = chosenOf(look.compared, runs);
	/** @param {Row} row */
	const toggle = (row) => {
		const name = runName(/** @type {ListedRun} */ (row), runs);
		setLook({ compared: look.compared.includes(name) ? look.compared.filter((n) => n !== name) : [...look.compared, name] });
	};
	/** @type {Record<string, DrawCell>} */
	const draw = {
		name: (v, row) => (
			<button type="button" class="link" onClick={(e) => { e.stopPropagation(); setLook({ ...ofRun(runName(/** @type {ListedRun} */ (row), runs)), view: "overview" }); }}>
				{cut(clean(v), 200)}
			</button>
		),
		compared: (_, row) => <input type="checkbox" aria-label={`compare ${clean(row.name)}`} checked={chosen.some((r) => r.id === row.id)} onClick={(e) => e.stopPropagation()} onChange={() => toggle(row)} />,
		health_score: (v) => (typeof v === "number" ? Math.round(v) : "unknown"),
		spark: (v, row) => (v?.length > 1 ? <Spark of={v} name={clean(row.name)} /> : ""),
	};
	const program = chosen[0]?.program;
	return (
		<div>
			<p class="bar">
				<button type="button" disabled={chosen.length < 2} onClick={() => setLook({ view: "compare" })}>
					{chosen.length < 2 ? "Compare: choose two runs or more" : `Compare ${chosen.length} runs`}
				</button>
				<button type="button" disabled={!chosen.length || (chosen.length === 1 && !program)} onClick={() => setLook({ view: "trend" })}>
					{chosen.length > 1 ? `Trend of ${chosen.length} runs` : program ? `Trend of ${cut(clean(program), 60)}` : "Trend: choose a run"}
				</button>
			</p>
			<Table name="runs" caption="Runs, the latest first" rows={rows} columns={COLUMNS.filter((c) => c === "compared" || rows.some((r) => (/** @type {Row} */ (r)[c] ?? null) !== null))} draw={draw} labels={HEADINGS} max={20} empty="No profile was found." />
		</div>
	);
}

// --- two or more

const SLOWER = "#d55e00";
const FASTER = "#009e73";

/** @param {{ heading: string, rows: { name: string, from: number, to: number, change: number, text: string }[] }} props */
function Bars({ heading, rows }) {
	if (!rows.length) return null;
	const low = rows.reduce((m, r) => Math.min(m, r.from, r.to), rows[0].from);
	const high = rows.reduce((m, r) => Math.max(m, r.from, r.to), rows[0].from);
	/** @param {number} v */
	const at = (v) => (100 * (v - low)) / (high - low || 1);
	return (
		<section aria-label={heading}>
			<h3>{heading}</h3>
			<ul class="bars">
				{rows.map((r, i) => (
					<li key={i}>
						<span class="name" title={r.name}>
							{r.name}
						</span>
						<span class="track">
							<span class="length" style={{ left: `${at(Math.min(r.from, r.to))}%`, width: `${at(Math.max(r.from, r.to)) - at(Math.min(r.from, r.to))}%`, background: r.change > 0 ? SLOWER : FASTER }} />
						</span>
						<span class="number">{r.text}</span>
					</li>
				))}
			</ul>
		</section>
	);
}

/** @type {(ps: number) => string} */
const signed = (ps) => `${ps > 0 ? "+" : ps < 0 ? "\u2212" : ""}${time(Math.abs(ps))}`;

/** @param {{ reports: Report[], names: string[] }} props */
function Histogram({ reports, names }) {
	const drawn = useMemo(() => histograms(reports.map((r) => (r.steps ?? []).filter((s) => !s.is_others).map((s) => s.duration_ps)), BINS), [reports]);
	if (!drawn) return null;
	const most = drawn.counts.flat().reduce((a, b) => Math.max(a, b), 1);
	/** @param {number[]} counts */
	const outline = (counts) => ["0,100", ...counts.flatMap((n, i) => [`${i},${100 - (98 * n) / most}`, `${i + 1},${100 - (98 * n) / most}`]), `${BINS},100`].join(" ");
	return (
		<section aria-label="times of steps">
			<h3>How long steps took</h3>
			<Legend items={names.map((n, i) => [n, COLORS[i]])} />
			<svg class="histogram" viewBox={`0 0 ${BINS} 100`} preserveAspectRatio="none" role="img" aria-label={`steps of ${names.join(" and ")} by their time, ${time(drawn.low)} to ${time(drawn.high)}`}>
				{drawn.counts.map((counts, i) => (
					<polygon key={i} points={outline(counts)} fill={`${COLORS[i]}44`} stroke={COLORS[i]} stroke-width="1.5" stroke-dasharray={i ? `${3 * i} 2` : undefined} vector-effect="non-scaling-stroke" />
				))}
			</svg>
			<p class="ends">
				<span>{time(drawn.low)}</span>
				<span>{`up to ${most} steps in a bin`}</span>
				<span>{time(drawn.high)}</span>
			</p>
		</section>
	);
}

/** @param {{ buckets: Row[], names: string[] }} props */
function Classes({ buckets, names }) {
	/** @param {number} i */
	const sum = (i) => buckets.reduce((all, b) => all + (b[`run_${i}_ps`] ?? 0), 0);
	const most = names.reduce((m, _, i) => Math.max(m, sum(i)), 1);
	/** @param {string} bucket */
	const color = (bucket) => bucketColor(bucket) ?? COLORS[7];
	return (
		<section aria-label="time of a step by class">
			<h3>Time of a step, by class</h3>
			<Legend items={BUCKETS.filter((b) => buckets.some((row) => row.bucket === b)).map((b) => [title(b), bucketColor(b)])} />
			{names.map((name, i) => (
				<div key={name}>
					<p class="count">{`${name}: ${time(sum(i))}`}</p>
					<div style={{ width: `${(100 * sum(i)) / most}%` }}>
						<Shares parts={buckets.map((b) => ({ name: b.title, value: b[`run_${i}_ps`] ?? 0, color: color(b.bucket) }))} total={sum(i) || 1} label={`time of a step of ${name}`} />
					</div>
				</div>
			))}
		</section>
	);
}

/** @type {(rows: Row[], names: string[]) => Row[]} */
const figuresOf = (rows, names) =>
	rows.map((r) => ({ figure: r.title, ...Object.fromEntries(names.map((_, i) => [`run_${i}`, value(r.figure, r[`run_${i}`])])), better: r.better, change_pct: names.length === 2 ? r.run_1_change_pct : undefined }));

/** @param {{ of: Record<string, any>, names: string[], ids: string[] }} props OF: compare of tpusight/1 */
function Differences({ of, names, ids }) {
	const [other, setOther] = useChoice("compare.other", 1);
	const at = other > 0 && other < names.length ? other : 1;
	const column = `run_${at}_change_ps`;
	const { answer: reports } = useAnswer(ids.slice(0, MAX_DRAWN).join(), () => Promise.all(ids.slice(0, MAX_DRAWN).map((id) => fetchReport(id))));
	const parts = waterfall(of.difference ?? [], of.runs?.[0]?.time_ps ?? 0, column).map((p) => ({ ...p, name: clean(p.title), text: signed(p.change) }));
	const ops = changed(of.ops ?? [], column, OPS).map((op) => ({ name: clean([op.name, op.source].filter(Boolean).join(" \u00b7 ")), from: 0, to: op[column], change: op[column], text: signed(op[column]) }));
	const figures = figuresOf(of.figures ?? [], names);
	return (
		<div>
			{Object.entries(of.verdicts ?? {}).map(([run, text]) => (
				<p key={run} class="verdict">{`${names[Number(run.slice(4))] ?? run}: ${clean(String(text))}`}</p>
			))}
			{names.length > 2 && (
				<Choice label="drawn against the first" value={at} options={names.slice(1).map((n, i) => [i + 1, n])} onPick={(v) => setOther(Number(v))} />
			)}
			<Classes buckets={of.buckets ?? []} names={names} />
			<Legend items={[["slower", SLOWER], ["faster", FASTER]]} />
			<Bars heading="Where the difference of a step comes from" rows={parts} />
			<Bars heading="Ops that differ most, in a step" rows={ops} />
			{reports && <Histogram reports={reports} names={names.slice(0, MAX_DRAWN)} />}
			{figures.length > 0 && <Table name="figures" caption="Figures" rows={figures} columns={columnsOf(figures)} labels={headings(columnsOf(figures), names, title)} />}
			{["differences", "modules", "findings"].map((n) => of[n]?.length > 0 && <Table key={n} name={n} caption={title(n)} rows={of[n]} columns={columnsOf(of[n])} labels={headings(columnsOf(of[n]), names, title)} />)}
		</div>
	);
}

export function Compare() {
	const { runs, look } = usePage();
	const chosen = chosenOf(look.compared, runs);
	const ids = chosen.map((r) => r.id);
	const { answer, error } = useAnswer(ids.length > 1 ? ids.join() : null, () => several("compare", { runs: ids.join() }));
	if (ids.length < 2) return <p class="empty">Choose two runs or more in the list of runs.</p>;
	return answer ? <Differences of={answer.compare} names={apart(chosen.map((r) => clean(r.title ?? r.id)))} ids={ids} /> : <Waiting error={error} />;
}

// --- one program over time

/** @param {{ runs: Row[], limit: Maybe<number> }} props LIMIT: ps, where the gate would fail */
function TrendChart({ runs, limit }) {
	const { runs: listed, setLook } = usePage();
	const { points, high, left } = useMemo(() => trend(runs), [runs]);
	if (!points.length) return <p class="empty">No run says when it ran and how long a step took.</p>;
	const base = points[0];
	/** @param {number} y */
	const up = (y) => `${100 * y}%`;
	return (
		<section aria-label="median step over time">
			<Legend items={[["median step", COLORS[0]], ["within the gate of the first run", "var(--line)"], ["the gate fails", SLOWER]]} />
			<div class="trend">
				<span class="top count">{time(high)}</span>
				{typeof limit === "number" && <span class="band" style={{ bottom: up(base.y), height: up(Math.min(limit / high, 1) - base.y) }} />}
				{points.map(({ run, x, y, isBad }) => (
					<button key={run.id} type="button" class={isBad ? "point bad" : "point"} style={{ left: `${100 * x}%`, bottom: up(y) }} title={`${clean(run.title ?? run.id)}\n${when(run.when_unix_ms)}: ${time(run.step_median_ps)}${isBad ? "\nthe gate fails" : ""}`} aria-label={`${clean(run.title ?? run.id)}, ${when(run.when_unix_ms)}, ${time(run.step_median_ps)}${isBad ? ", the gate fails" : ""}`} onClick={() => listed && setLook({ ...ofRun(runName(/** @type {ListedRun} */ (run), listed)), view: "overview" })}>
						{isBad ? "\u25b2" : "\u25cf"}
					</button>
				))}
			</div>
			<p class="ends">
				<span>{when(base.run.when_unix_ms)}</span>
				<span>{when(points[points.length - 1].run.when_unix_ms)}</span>
			</p>
			{left > 0 && <p class="count">{`${left} runs are not drawn: when they ran, or their steps, are not known.`}</p>}
		</section>
	);
}

export function Trend() {
	const { runs, look } = usePage();
	const chosen = chosenOf(look.compared, runs);
	const program = chosen[0]?.program;
	/** @type {Record<string, string> | null} */
	const asked = chosen.length > 1 ? { runs: chosen.map((r) => r.id).join() } : program ? { program } : null;
	const { answer, error } = useAnswer(asked && JSON.stringify(asked), () => several("trend", /** @type {Record<string, string>} */ (asked)));
	if (!asked) return <p class="empty">Choose a run in the list of runs: its program is shown over time.</p>;
	if (!answer) return <Waiting error={error} />;
	const limit = answer.runs.find((/** @type {Row} */ r) => typeof r.gate?.limit === "number")?.gate.limit;
	return (
		<div>
			<p class="count">{chosen.length > 1 ? `${chosen.length} runs` : clean(program ?? "")}</p>
			<TrendChart runs={answer.runs} limit={typeof limit === "number" ? limit * 1e9 : null} />
			<Table name="runs" caption="Runs, the first is the baseline" rows={answer.runs.map((/** @type {Row} */ r) => ({ ...r, when: when(r.when_unix_ms), gate: r.gate?.state ?? null }))} columns={["title", "when", "gate", "step_median_ps", "health_score", "chip", "chips"]} labels={HEADINGS} />
		</div>
	);
}
