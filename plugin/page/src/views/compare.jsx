// SPDX-License-Identifier: MIT
// Runs side by side: who is faster and whether that may be chance, and where the difference comes from. A server has it of any runs, a file
// (tpusight compare -o x.html, tpusight compile A B -o x.html) of those that it was made of. It draws the report's result "compare" and nothing else.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { bucketColor, BUCKETS } from "../colors.js";
import { Legend } from "../chart.jsx";
import { BECAME, axis, calledOp, changed, closeUp, differs, judged, partsOf, placed, placeOf, sentences, shortNames, signed, slower, waterfall } from "../compare.js";
import { clean, percent, time, value } from "../format.js";
import { Choice, Notes, Shares } from "../parts.jsx";
import { chosenOf, useAnswer, useNarrow, Waiting } from "../several.jsx";
import { several } from "../source.js";
import { useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";
import "../several.css";

/** @import { Compared, Maybe, Row } from "../report.d.ts" */

const OPS = 20;
const [LETTERS, FEW] = [34, 20]; // of a run's name in a legend or a heading, and on a phone

/**
 * What the parts of the page share. AT: which run is drawn against the first; NAMES: of all, short, each once.
 * @typedef {{ of: Compared, names: string[], at: number }} Sides
 */

// --- the runs and the verdicts

/** @type {(run: Row) => string} */
const chipOf = (run) => [run.chip && run.devices ? `${run.devices} \u00d7 ${clean(run.chip)}` : clean(run.chip ?? ""), run.hosts > 1 ? `${run.hosts} hosts` : ""].filter(Boolean).join(", ");

/** @param {Sides} props */
function Who({ of, names }) {
	const rows = of.runs.map((r, i) => ({ name: names[i], is: i ? (r.verdict ?? null) : "baseline", median_ps: r.median_ps, time_ps: r.time_ps, steps: r.steps, chips: chipOf(r), path: r.path }));
	const labels = { name: "Run", is: "Is", median_ps: of.basis === "step" ? "Median step" : "Time", time_ps: "Mean step", steps: "Steps", chips: "Chips", path: "Where it is" };
	const columns = ["name", "is", "median_ps", ...(of.basis === "step" ? ["time_ps", "steps"] : []), "chips", "path"];
	const draw = { name: (/** @type {string} */ v, /** @type {Row} */ row) => <span title={clean(of.runs[rows.indexOf(/** @type {any} */ (row))]?.run ?? "")}>{v}</span> };
	return <Table name="runs" caption="The runs" rows={rows} columns={columns} labels={labels} draw={draw} />;
}

/** @param {Sides} props */
function Verdict({ of, names, at }) {
	const said = sentences(of.runs[at], of.runs[0], names[at], names[0]);
	return (
		<div class="said" data-verdict={at}>
			<p class="verdict">{said[0]}</p>
			{said.slice(1).map((text) => (
				<p key={text}>{text}</p>
			))}
		</div>
	);
}

const MODES = {
	mode: "Mode", steps: "Steps", step_time_ms: "A step, ms", speedup: "Speed-up", speedup_low: "At least", speedup_high: "At most", compile_time_ms: "Compilation, ms", pays_after_steps: "Pays after, steps",
	graph_breaks: "Graph breaks", recompilations: "Compiled again", fusion_ratio: "Ops of a kernel", kernels_a_step: "Kernels of a step", kernel_launches_a_step: "Launches of a step", uses_cuda_graphs: "CUDA graphs",
};

/** Of `tpusight compile A B`: the modes of the compiler. @param {{ of: Maybe<import("../report.d.ts").Modes> }} props */
function Modes({ of }) {
	const rows = of?.modes ?? [];
	if (!rows.length) return null;
	const columns = Object.keys(MODES).filter((name) => rows.some((row) => (row[name] ?? null) !== null));
	return (
		<section aria-label="modes of the compiler">
			<Table name="modes" caption="Modes of the compiler" rows={rows} columns={columns} labels={MODES} />
			<Notes view={of} />
		</section>
	);
}

const GATE = { passed: "holds", failed: "fails", unknown: "fails: the figure is not known" };

/** Of --fail-if. @param {{ gates: Row[] }} props */
function Gates({ gates }) {
	if (!gates.length) return null;
	const rows = gates.map((g) => ({ gate: g.gate, run: g.run, state: GATE[/** @type {keyof typeof GATE} */ (g.state)] ?? g.state, value: g.value, limit: g.limit }));
	return <Table name="gates" caption="Gates" rows={rows} columns={["gate", "run", "state", "value", "limit"]} labels={{ gate: "Fails if", run: "Run", state: "The gate", value: "Value", limit: "Limit" }} />;
}

// --- time classes

/** @param {Sides} props */
function Classes({ of, names, at }) {
	const buckets = [...(of.buckets ?? [])].sort((a, b) => BUCKETS.indexOf(a.bucket) - BUCKETS.indexOf(b.bucket)).filter((b) => names.some((_, i) => b[`run_${i}_ps`] > 0));
	if (!buckets.length) return null;
	/** @param {number} i */
	const sum = (i) => buckets.reduce((all, b) => all + (b[`run_${i}_ps`] ?? 0), 0);
	const most = names.reduce((m, _, i) => Math.max(m, sum(i)), 1);
	const heading = of.basis === "step" ? "Where the time of a step goes, per core" : "Where the time goes, per core";
	const rows = buckets.map((b) => ({ bucket: b.bucket, name: b.title, a: b.run_0_ps, b: b[`run_${at}_ps`], change: b[`run_${at}_change_ps`] }));
	return (
		<section aria-label="time classes">
			<h3>{heading}</h3>
			<Legend items={buckets.map((b) => [b.title, bucketColor(b.bucket)])} />
			<ul class="compared">
				{names.map((name, i) => (
					<li key={name}>
						<span class="name" title={clean(of.runs[i].run)}>
							{name}
						</span>
						<div class="room">
							<div style={{ width: `${(100 * sum(i)) / most}%` }}>
								<Shares parts={buckets.map((b) => ({ name: b.title, value: b[`run_${i}_ps`] ?? 0, color: bucketColor(b.bucket) }))} total={sum(i) || 1} label={`time classes of ${name}`} />
							</div>
						</div>
						<span class="number">{time(sum(i))}</span>
					</li>
				))}
			</ul>
			<Table
				name="classes"
				caption="The same in numbers"
				rows={rows}
				columns={["name", "a", "b", "change"]}
				labels={{ name: "Time class", a: names[0], b: names[at], change: "Difference" }}
				draw={{
					name: (v, row) => (
						<span>
							<span class="swatch" style={{ background: bucketColor(row.bucket) }} />
							{v}
						</span>
					),
					a: (v) => time(v ?? 0),
					b: (v) => time(v ?? 0),
					change: (v, row) => differs("_ps", row.a, row.b),
				}}
			/>
		</section>
	);
}

// --- the difference

const KEY = /** @type {[string, string][]} */ ([["slower", "more"], ["faster", "less"]]);

/** Slower is filled, faster is hatched: colours are those of time classes. */
function Key() {
	return (
		<ul class="legend">
			{KEY.map(([word, kind]) => (
				<li key={word}>
					<span class={`swatch ${kind}`} />
					{word}
				</li>
			))}
		</ul>
	);
}

/** @param {{ from: number, to: number, at: (v: number) => number, kind: string }} props */
function Length({ from, to, at, kind }) {
	const [low, high] = [at(Math.min(from, to)), at(Math.max(from, to))];
	return <span class={`length ${kind}`} style={{ left: `${low}%`, width: `${high - low}%` }} />;
}

/** @param {number} change */
const kindOf = (change) => (change > 0 ? "more" : "less");

/** @param {Sides} props */
function Waterfall({ of, names, at }) {
	const [by, setBy] = useChoice("compare.parts", "ops");
	const column = `run_${at}_change_ps`;
	const [base, end] = [of.runs[0].time_ps, of.runs[at].time_ps];
	const parts = useMemo(() => waterfall(partsOf[by === "classes" ? "classes" : "ops"](of, column), base ?? 0), [of, by, column]);
	if (typeof base !== "number" || typeof end !== "number" || !parts.length) return null;
	const { low, high } = axis([base, end, ...parts.flatMap((p) => [p.from, p.to])]);
	/** @param {number} v */
	const place = (v) => (100 * (v - low)) / (high - low || 1);
	const what = of.basis === "step" ? "the mean step" : "the time";
	return (
		<section aria-label="the difference">
			<h3>{`From ${what} of ${names[0]} to ${what} of ${names[at]}`}</h3>
			<div class="bar">
				<Choice label="Parts" value={by} options={[["ops", "by what ops did"], ["classes", "by time class"]]} onPick={setBy} />
				<Key />
			</div>
			<ul class="bars steps">
				<li class="total">
					<span class="name">{names[0]}</span>
					<span class="track">
						<Length from={low} to={base} at={place} kind="whole" />
					</span>
					<span class="number">{time(base)}</span>
				</li>
				{parts.map((p) => (
					<li key={p.name} data-part>
						<span class="name" title={clean(p.name)}>
							{clean(p.name)}
						</span>
						<span class="track">
							<Length from={p.from} to={p.to} at={place} kind={kindOf(p.change)} />
						</span>
						<span class="number">{signed(p.change)}</span>
					</li>
				))}
				<li class="total">
					<span class="name">{names[at]}</span>
					<span class="track">
						<Length from={low} to={end} at={place} kind="whole" />
					</span>
					<span class="number">{time(end)}</span>
				</li>
			</ul>
			<p class="ends bars-ends">
				<span>{low > 0 ? `${time(low)}: the axis does not begin at 0` : "0"}</span>
				<span>{time(high)}</span>
			</p>
		</section>
	);
}

/** What became of the op, in words. @type {(op: Row, at: number) => string} */
function became(op, at) {
	const change = op[`run_${at}_change_ps`];
	const state = op[`run_${at}_state`];
	if (state === "new") return `${time(change)}, only here`;
	if (state === "gone") return `${time(-change)}, gone`;
	return slower(change, op.run_0_ps);
}

/** @param {Sides} props */
function Ops({ of, names, at }) {
	const column = `run_${at}_change_ps`;
	const ops = useMemo(() => changed(of.ops ?? [], column, OPS), [of, column]);
	if (!ops.length) return null;
	const most = ops.reduce((m, op) => Math.max(m, Math.abs(op[column])), 1);
	/** From the middle. @param {number} v */
	const place = (v) => 50 + (50 * v) / most;
	const left = (of.ops ?? []).filter((op) => op[column]).length - ops.length;
	return (
		<section aria-label="ops that differ most">
			<h3>Ops that differ most</h3>
			<p class="count">{`Time of ${of.basis === "step" ? "a step" : "the run"} and core: ${names[at]} against ${names[0]}. ${left > 0 ? `${left.toLocaleString("en-US")} more ops differ by less; the table below has them all.` : ""}`}</p>
			<Key />
			<ul class="bars diverging">
				{ops.map((op) => (
					<li key={`${op.module} ${op.name} ${op.shape} ${op.category} ${op.op}`} data-op>
						<span class="name" title={clean([op.framework_op, op.name, op.shape, op.module, op.source].filter(Boolean).join("\n"))}>
							<b>{clean(calledOp(op))}</b>
							<small>{clean([op.source, op.name, op.other_shape ? `${op.shape} and ${op.other_shape}` : op.shape].filter(Boolean).join(" \u00b7 "))}</small>
						</span>
						<span class="track">
							<Length from={0} to={op[column]} at={place} kind={kindOf(op[column])} />
						</span>
						<span class="number">{became(op, at)}</span>
					</li>
				))}
			</ul>
			<p class="ends bars-ends">
				<span>{`${time(most)} faster`}</span>
				<span>0</span>
				<span>{`${time(most)} slower`}</span>
			</p>
		</section>
	);
}

/** @param {Sides} props */
function AllOps({ of, names, at }) {
	const rows = useMemo(
		() =>
			(of.ops ?? []).map((op) => ({
				op: calledOp(op), source: op.source, a: op.run_0_ps, b: op[`run_${at}_ps`], change: op[`run_${at}_change_ps`],
				state: BECAME[op[`run_${at}_state`]] ?? null, name: op.name, category: op.category, shape: op.shape, module: op.module,
			})).filter((op) => (op.a ?? op.b ?? null) !== null),
		[of, at],
	);
	const labels = { op: "Op", source: "Source", a: names[0], b: names[at], change: "Difference", state: "Is", name: "Compiler's name", category: "Kind", shape: "Shape", module: "Program" };
	const draw = { op: (/** @type {string} */ v) => clean(v), source: (/** @type {Maybe<string>} */ v) => clean(v ?? ""), a: (/** @type {Maybe<number>} */ v) => (v === null ? "not there" : time(v ?? 0)), b: (/** @type {Maybe<number>} */ v) => (v === null ? "not there" : time(v ?? 0)), change: (/** @type {number} */ v) => signed(v ?? 0) };
	return <Table name="ops" caption="All ops by what they changed" rows={rows} columns={["op", "source", "a", "b", "change", "state", "name", "category", "shape", "module"]} labels={labels} draw={draw} max={12} />;
}

/** PyTorch's, with the time of its own on GPUs; on hosts where a run has no GPU. @param {Sides & { rows: Row[], name: string, caption: string }} props */
function Operators({ rows: all, name, caption, names, at }) {
	const unit = all.some((row) => typeof row[`run_${at}_change_self_gpu_ps`] === "number") ? "self_gpu_ps" : "self_cpu_ps";
	const rows = useMemo(
		() =>
			all.map((row) => ({
				op: row.name, shapes: row.input_shapes, a: row[`run_0_${unit}`], b: row[`run_${at}_${unit}`], change: row[`run_${at}_change_${unit}`], state: BECAME[row[`run_${at}_state`]] ?? null,
				calls_a: row.run_0_calls, calls_b: row[`run_${at}_calls`], category: row.category,
			})).filter((row) => (row.calls_a ?? row.calls_b ?? null) !== null),
		[all, unit, at],
	);
	if (!rows.length) return null;
	const labels = { op: "Operator", shapes: "Shapes", a: names[0], b: names[at], change: "Difference", state: "Is", calls_a: `Calls, ${names[0]}`, calls_b: `Calls, ${names[at]}`, category: "Kind" };
	const shown = (/** @type {Maybe<number>} */ v) => (typeof v === "number" ? time(v) : "not there");
	const calls = (/** @type {Maybe<number>} */ v) => (typeof v === "number" ? value("calls", v) : "not there");
	const word = (/** @type {Maybe<string>} */ v) => clean(v ?? "");
	const draw = { op: word, shapes: word, a: shown, b: shown, change: (/** @type {Maybe<number>} */ v) => signed(v ?? 0), calls_a: calls, calls_b: calls, category: word };
	const columns = ["op", ...(rows.some((row) => row.shapes) ? ["shapes"] : []), "a", "b", "change", "state", "calls_a", "calls_b", "category"];
	return <Table name={name} caption={`${caption}, own time on ${unit === "self_gpu_ps" ? "GPUs" : "hosts"}`} rows={rows} columns={columns} labels={labels} draw={draw} max={12} />;
}

// --- the histogram

/** One run's bins: its outline, each stretch of bins that touch. @param {{ bins: Row[], column: string, kind: string, most: number }} props */
function Outline({ bins, column, kind, most }) {
	const { xs, shares } = placed(bins, column);
	/** @param {number} share */
	const y = (share) => 100 - (96 * share) / most;
	/** @type {string[][]} */
	const stretches = [];
	xs.forEach((x, i) => {
		if (i === 0 || x !== xs[i - 1] + 1) stretches.push([`${x},100`]);
		stretches[stretches.length - 1].push(`${x},${y(shares[i])}`, `${x + 1},${y(shares[i])}`);
		if (xs[i + 1] !== x + 1) stretches[stretches.length - 1].push(`${x + 1},100`);
	});
	return (
		<g class={kind}>
			{stretches.map((points) => (
				<polygon key={points[0]} points={points.join(" ")} vector-effect="non-scaling-stroke" />
			))}
		</g>
	);
}

const TICKS = 5;

/** @param {Sides} props */
function Histogram({ of, names, at }) {
	const column = `run_${at}_steps`;
	const bins = useMemo(() => closeUp(of.histogram ?? [], ["run_0_steps", column]), [of, column]);
	if (!of.histogram?.length) return null;
	const [base, other] = [placed(bins, "run_0_steps"), placed(bins, column)];
	const most = Math.max(...base.shares, ...other.shares, 0.01);
	const { xs, width } = base;
	const closed = bins.map((_, i) => i).filter((i) => bins[i].from_ps !== null && bins[i].to_ps !== null);
	const every = Math.max(Math.ceil(closed.length / TICKS), 1);
	const last = closed[closed.length - 1];
	/** @type {[x: number, text: string][]} */
	const ticks = [...closed.filter((_, k) => k % every === 0 && k + every / 2 < closed.length).map((i) => /** @type {[number, string]} */ ([xs[i], time(bins[i].from_ps)])), [xs[last] + 1, time(bins[last].to_ps)]];
	/** @type {[number | null, string, string][]} */
	const medians = [[placeOf(bins, of.runs[0].median_ps), "base", `median of ${names[0]}`], [placeOf(bins, of.runs[at].median_ps), "other", `median of ${names[at]}`]];
	/** @param {number} x */
	const place = (x) => `${(100 * x) / width}%`;
	return (
		<section aria-label="times of steps">
			<h3>How long steps took</h3>
			<ul class="legend">
				<li>
					<span class="swatch base" />
					{`${names[0]}, ${base.total.toLocaleString("en-US")} steps`}
				</li>
				<li>
					<span class="swatch other" />
					{`${names[at]}, ${other.total.toLocaleString("en-US")} steps`}
				</li>
				<li>lines: medians</li>
			</ul>
			<p class="count">{`Up: share of the run's steps, to ${percent(100 * most)}. Across: time of a step.`}</p>
			<div class="overlaid">
				<svg viewBox={`0 0 ${width} 100`} preserveAspectRatio="none" role="img" aria-label={`times of steps of ${names[0]} and ${names[at]}, ${time(bins[closed[0]].from_ps)} to ${time(bins[last].to_ps)}`}>
					<Outline bins={bins} column="run_0_steps" kind="base" most={most} />
					<Outline bins={bins} column={column} kind="other" most={most} />
					{medians.map(([x, kind, says]) => x !== null && (
						<line key={kind} class={kind} x1={x} x2={x} y1="0" y2="100" vector-effect="non-scaling-stroke">
							<title>{says}</title>
						</line>
					))}
				</svg>
				{ticks.map(([x, text], i) => (
					<span key={text} class={i === 0 && x === 0 ? "tick first" : i === ticks.length - 1 && x === width ? "tick last" : "tick"} style={{ left: place(x) }}>
						{text}
					</span>
				))}
			</div>
			{(bins[0].from_ps === null || bins[bins.length - 1].to_ps === null) && <p class="count">{`The bar${bins[0].from_ps === null && bins[bins.length - 1].to_ps === null ? "s" : ""} that stand${bins[0].from_ps === null && bins[bins.length - 1].to_ps === null ? "" : "s"} apart: steps far from the others, ${[bins[0].from_ps === null ? `below ${time(bins[0].to_ps)}` : "", bins[bins.length - 1].to_ps === null ? `from ${time(bins[bins.length - 1].from_ps)} on` : ""].filter(Boolean).join(", and ")}.`}</p>}
		</section>
	);
}

// --- figures, programs, findings

/** @param {Sides} props */
function Figures({ of, names, at }) {
	const rows = (of.figures ?? []).map((f) => {
		const [a, b] = [f.run_0, f[`run_${at}`]];
		return { ...Object.fromEntries(names.map((_, i) => [`run_${i}`, f[`run_${i}`] ?? null])), figure: `${f.title.charAt(0).toUpperCase()}${f.title.slice(1)}`, key: f.figure, change: differs(f.figure, a, b), is: judged(f, a, b) };
	});
	if (!rows.length) return null;
	const columns = ["figure", "run_0", `run_${at}`, "change", "is", ...names.map((_, i) => `run_${i}`).filter((_, i) => i && i !== at)];
	/** @type {Record<string, import("../report.d.ts").DrawCell>} */
	const draw = Object.fromEntries(names.map((_, i) => [`run_${i}`, (/** @type {Maybe<number>} */ v, /** @type {Row} */ row) => (v === null ? "unknown" : row.key === "health_score" ? `${Math.round(v ?? 0)} of 100` : value(row.key, v))]));
	return <Table name="figures" caption="Figures" rows={rows} columns={columns} draw={draw} labels={{ figure: "Figure", change: "Difference", is: "Is", ...Object.fromEntries(names.map((n, i) => [`run_${i}`, n])) }} />;
}

/** What one of the two has. @type {(of: Compared, name: "modules" | "findings", figure: string, at: number) => Row[]} */
const pairs = (of, name, figure, at) =>
	(of[name] ?? []).map((row) => ({ name: row.module ?? row.title, a: row[`run_0_${figure}`], b: row[`run_${at}_${figure}`], state: BECAME[row[`run_${at}_state`]] ?? row[`run_${at}_state`] ?? null })).filter((row) => (row.a ?? row.b ?? row.state) !== null);

/** @param {Sides} props */
function Programs({ of, names, at }) {
	const rows = pairs(of, "modules", "ps", at);
	const shown = (/** @type {Maybe<number>} */ v) => (typeof v === "number" ? time(v) : "not there");
	return <Table name="modules" caption={`Programs, time of ${of.basis === "step" ? "a step" : "the run"} and core`} rows={rows} columns={["name", "a", "b", "state"]} labels={{ name: "Program", a: names[0], b: names[at], state: "Is" }} draw={{ a: shown, b: shown }} />;
}

/** @param {Sides} props */
function Findings({ of, names, at }) {
	const rows = pairs(of, "findings", "impact_pct", at);
	const shown = (/** @type {Maybe<number>} */ v) => (typeof v === "number" ? percent(v) : "");
	return <Table name="findings" caption="What each finding could give back, share of core time" rows={rows} columns={["name", "a", "b", "state"]} labels={{ name: "Finding", a: names[0], b: names[at], state: "Is" }} draw={{ a: shown, b: shown }} />;
}

/** Those about runs that are not drawn would stand between. @type {(of: Compared, at: number) => string[]} */
const notesOf = (of, at) => (of.notes ?? []).filter((note) => !of.runs.some((r, i) => i > 0 && i !== at && note.startsWith(`${r.run}: `)));

/** @param {{ of: Compared }} props */
export function Differences({ of }) {
	const [other, setOther] = useChoice("compare.other", 1);
	const at = other > 0 && other < of.runs.length ? other : 1;
	const isNarrow = useNarrow();
	const names = useMemo(() => shortNames(of.runs.map((r) => clean(r.run)), isNarrow ? FEW : LETTERS), [of, isNarrow]);
	const sides = { of, names, at };
	return (
		<div class="compare">
			{names.length > 2 && <Choice label={`against ${names[0]}`} value={at} options={names.slice(1).map((n, i) => [i + 1, n])} onPick={(v) => setOther(Number(v))} />}
			<Verdict {...sides} />
			{of.comparable !== "yes" && <p>{of.comparable === "no" ? "These runs cannot be compared fairly:" : "Compare these runs with care:"}</p>}
			<Notes view={{ notes: notesOf(of, at) }} />
			<Modes of={of.modes} />
			<Who {...sides} />
			<Gates gates={of.gates ?? []} />
			<Classes {...sides} />
			<Waterfall {...sides} />
			<Ops {...sides} />
			<Histogram {...sides} />
			<Figures {...sides} />
			<AllOps {...sides} />
			<Operators {...sides} rows={of.operators ?? []} name="operators" caption="PyTorch's operators by what they changed" />
			<Operators {...sides} rows={of.operator_shapes ?? []} name="operator_shapes" caption="PyTorch's operators by the shapes of their inputs" />
			<Programs {...sides} />
			<Findings {...sides} />
		</div>
	);
}

/** Of the runs that are chosen, by a server. */
function Asked() {
	const { runs, look } = usePage();
	const ids = chosenOf(look.compared, runs).map((r) => r.id);
	const { answer, error } = useAnswer(ids.length > 1 ? ids.join() : null, () => several("compare", { runs: ids.join() }));
	if (ids.length < 2) return <p class="empty">Choose two runs or more in the list of runs.</p>;
	return answer ? <Differences of={answer.compare} /> : <Waiting error={error} />;
}

export function Compare() {
	const { comparison } = usePage();
	return comparison ? <Differences of={comparison} /> : <Asked />;
}
