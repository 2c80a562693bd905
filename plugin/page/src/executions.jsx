// SPDX-License-Identifier: MIT
// When an op ran: its executions in the step that is nearest to the mean one, a row a core. A file has that step's slices; a server is asked for them.
import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { bucketColor } from "./colors.js";
import { clean, time } from "./format.js";
import { deviceName } from "./pod.js";
import { executionsOf, joined, lanesOf, typical } from "./slices.js";
import { hasServer, pictures, slices as ask } from "./source.js";
import { runNamed, usePage } from "./state.js";

/** @import { KnownOp, Lanes, Range, Report } from "./report.d.ts" */
/** @typedef {ReturnType<typeof executionsOf>[number]} Core */
/** @typedef {{ step: number | null, range: Range, known: Lanes }} Seen */

const MOST = 8; // cores
const PLACES = 8192; // of the step: what is narrower is one slice with others

/** @type {() => Seen | null} */
function kept() {
	const mean = joined(pictures()).find((k) => k.kind === "mean");
	return mean ? { step: mean.step, range: [mean.picture.from_ps, mean.picture.to_ps], known: lanesOf(mean.picture) } : null;
}

/** @type {(run: string, report: Report) => Promise<Seen | null>} */
async function asked(run, report) {
	const mean = typical(report.steps, report.overview?.step_time_ps?.mean)?.mean;
	if (!mean) return null;
	/** @type {Range} */
	const range = [mean.start_ps, mean.start_ps + mean.duration_ps];
	const picture = await ask(run, { from_ps: String(Math.floor(range[0])), to_ps: String(Math.ceil(range[1])), width: String(PLACES) });
	return { step: mean.step, range, known: lanesOf(picture) };
}

/** null: not known, or not yet. @type {() => Seen | null} */
function useStep() {
	const { look, runs, whole } = usePage();
	const run = hasServer() ? runNamed(look.run, runs) : undefined;
	const [id, isMade] = [run?.id, run?.has_events === false];
	const [seen, setSeen] = useState(/** @type {Seen | null} */ (null));
	useEffect(() => {
		let isOver = false;
		setSeen(null);
		if (!hasServer()) setSeen(kept());
		else if (id && !isMade) asked(id, whole).then((found) => !isOver && setSeen(found), () => {}); // without it the section is not there
		return () => {
			isOver = true;
		};
	}, [id, isMade, whole]);
	return seen;
}

/** @type {(spans: Core["spans"]) => number} */
const meanOf = (spans) => spans.reduce((sum, s) => sum + s.end - s.start, 0) / spans.length;

/** Of more cores than have room those are worth it that are slow. @type {(cores: Core[]) => Core[]} */
const slowestFirst = (cores) => (cores.length > MOST ? [...cores].sort((a, b) => meanOf(b.spans) - meanOf(a.spans)) : cores);

/** @param {{ of: KnownOp }} props */
export function Executions({ of }) {
	const { whole: report, setLook } = usePage();
	const seen = useStep();
	const rows = useMemo(() => slowestFirst(seen ? executionsOf(seen.known, of) : []), [seen, of]);
	if (!seen || !rows.length) return null;
	const [from, to] = seen.range;
	/** @param {number} ps */
	const across = (ps) => (100 * (Math.min(Math.max(ps, from), to) - from)) / (to - from);
	return (
		<section aria-label="executions over time">
			<h3>{`When it runs in ${seen.step === null ? "a step" : `step ${seen.step}`}`}</h3>
			<ul class="bars cores">
				{rows.slice(0, MOST).map(({ device, spans }) => (
					<li key={device}>
						<span class="name">
							<button type="button" class="link" title={`shows ${clean(deviceName(report, device))} in the timeline`} onClick={() => setLook({ range: seen.range, device, view: "slices" })}>
								{clean(deviceName(report, device))}
							</button>
						</span>
						<span class="track" title={spans.map((s) => `${time(s.end - s.start)} at ${time(s.start)}`).join("\n")}>
							{spans.map((s) => (
								<span key={s.start} class="length" style={{ left: `${across(s.start)}%`, width: `${across(s.end) - across(s.start)}%`, background: (s.bucket && bucketColor(s.bucket)) ?? "var(--used)" }} />
							))}
						</span>
						<span class="number">{`${spans.length} × ${time(meanOf(spans))}`}</span>
					</li>
				))}
			</ul>
			<p class="ends">
				<span>{time(from)}</span>
				<span>time of the run</span>
				<span>{time(to)}</span>
			</p>
			{rows.length > MOST && <p class="count">{`${rows.length - MOST} more cores run it, none of them slower.`}</p>}
		</section>
	);
}
