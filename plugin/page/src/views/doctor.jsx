// What to do, the costliest first: evidence, advice, code to copy, and where it is.
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { clean, time, title, value } from "../format.js";
import { columnsOf, Facts, Missing, Notes } from "../parts.jsx";
import { usePage } from "../state.js";
import { copy, Table } from "../table.jsx";

const SEVERITIES = ["critical", "warning", "info"];

function Code({ text }) {
	const [told, setTold] = useState("");
	const onCopy = async () => setTold((await copy(text)) ? "copied" : "the browser did not let us copy");
	return (
		<div class="code">
			<button type="button" onClick={onCopy}>
				Copy code
			</button>
			<span role="status">{told}</span>
			<pre tabIndex={0}>{clean(text)}</pre>
		</div>
	);
}

// Links are relative to TensorBoard, or to ui.perfetto.dev: only those two kinds are followed.
function Link({ name, href }) {
	const good = typeof href === "string" && (/^https:\/\/ui\.perfetto\.dev\//.test(href) || /^(\/|\?|\.\/)[^/\\]/.test(href));
	return good ? (
		<a href={href} target="_blank" rel="noopener noreferrer">
			{name}
		</a>
	) : null;
}

function Ranges({ finding, ranges }) {
	const { setLook } = usePage();
	const mine = finding.time_ranges ?? ranges.filter((r) => r.finding === finding.id);
	return mine.slice(0, 6).map((r, i) => (
		<button key={i} type="button" onClick={() => setLook({ range: [r.start_ps, r.end_ps], device: r.device_id ?? null, view: "time" })}>
			{`${time(r.start_ps)} to ${time(r.end_ps)}`}
		</button>
	));
}

function Finding({ finding: f, ranges, open }) {
	const box = useRef(null);
	useEffect(() => {
		if (open) box.current.scrollIntoView({ block: "start" });
	}, [open]);
	const impact = f.impact_ps === null || f.impact_ps < 0 ? "impact unknown" : `up to ${value("_ps", f.impact_ps)}${f.impact_pct === null ? "" : ` (${value("_pct", f.impact_pct)} of core time)`}`;
	return (
		<details class="finding" open={open} ref={box}>
			<summary>
				<span class={`severity ${f.severity}`}>{f.severity}</span> {clean(f.title)} <span class="impact">{impact}</span>
			</summary>
			<p>{clean(f.evidence ?? "")}</p>
			{f.where?.length > 0 && (
				<ul class="where">
					{f.where.map((w, i) => (
						<li key={i}>
							{clean([w.op, w.module && `in ${w.module}`, w.source && `at ${w.source}`].filter(Boolean).join(" "))} <Link name="XProf" href={w.links?.xprof} />
						</li>
					))}
				</ul>
			)}
			<p class="advice">{clean(f.advice ?? "")}</p>
			{f.code && <Code text={f.code} />}
			<p class="links">
				<Link name="Open in XProf" href={f.links?.xprof} />
				<Link name="Open in Perfetto" href={f.links?.perfetto} />
				<Ranges finding={f} ranges={ranges} />
				<span class="count">{`${f.confidence}; ${f.id}`}</span>
			</p>
			{f.links?.perfetto_sql && <Code text={f.links.perfetto_sql} />}
		</details>
	);
}

export function Doctor() {
	const { report, look } = usePage();
	const [only, setOnly] = useState("");
	const d = report.doctor;
	if (!d) return <Missing what="findings" />;
	const all = d.findings ?? [];
	const shown = only ? all.filter((f) => f.severity === only) : all;
	return (
		<div>
			<Facts view={d} />
			<p class="bar">
				<label class="choice">
					show
					<select value={only} onChange={(e) => setOnly(e.currentTarget.value)}>
						<option value="">all {all.length}</option>
						{SEVERITIES.map((s) => (
							<option key={s} value={s}>{`${s} (${all.filter((f) => f.severity === s).length})`}</option>
						))}
					</select>
				</label>
			</p>
			{all.length === 0 && <p class="empty">Nothing was found that would be worth your time.</p>}
			{shown.map((f) => (
				<Finding key={f.id} finding={f} ranges={d.ranges ?? []} open={look.finding === f.id} />
			))}
			{Object.keys(d)
				.filter((n) => Array.isArray(d[n]) && !["findings", "notes", "ranges"].includes(n))
				.map((n) => (
					<Table key={n} name={n} caption={n === "kpis" ? "Key figures" : title(n)} rows={d[n]} columns={columnsOf(d[n])} />
				))}
			<Notes view={d} />
		</div>
	);
}
