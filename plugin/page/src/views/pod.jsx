// SPDX-License-Identifier: MIT
// A run of several hosts: its chips as a heat map, and who comes late to collectives.
import { h } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { shade } from "../colors.js";
import { clean, percent, time, value } from "../format.js";
import { Mesh } from "../mesh.jsx";
import { Choice, filled } from "../parts.jsx";
import { arrivalsOf, chipsOf, deviceName, latest, MEASURES, measuresOf, scaleOf } from "../pod.js";
import { useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";

/** @import { Arrival, Chip, Measure, Row } from "../report.d.ts" */

const SHADES = [0, 0.25, 0.5, 0.75, 1];
const ROWS = 12; // hosts whose arrivals are drawn
const MARK = "3px"; // as wide as .arrival

/** @type {(chip: Chip, measure: Measure) => string} */
const figure = (chip, { key }) => (key === "memory_pct" && chip.peak_bytes !== null ? `${value("peak_bytes", chip.peak_bytes)}, ${value(key, chip[key])} of the memory` : value(key, chip[key]));

// From dark to light, with its ends in words.
/** @param {{ low: string, high: string }} props */
function Scale({ low, high }) {
	return (
		<p class="scale">
			{low}
			{SHADES.map((s) => (
				<span key={s} class="swatch" aria-hidden="true" style={{ background: shade(s), width: "28px" }} />
			))}
			{high}
		</p>
	);
}

/** @param {{ chip: Chip }} props */
function Named({ chip }) {
	const { setLook } = usePage();
	return (
		<button type="button" class="link" title={clean(chip.host)} onClick={() => setLook({ device: chip.id })}>
			{clean(chip.name)}
		</button>
	);
}

/** OF: the time that its figures are of. @param {{ chips: Chip[], of: string }} props */
function HeatMap({ chips, of }) {
	const { look, setLook } = usePage();
	const measures = useMemo(() => measuresOf(chips), [chips]);
	const [key, setKey] = useChoice("pod.by", measures[0]?.key ?? "");
	const measure = measures.find((m) => m.key === key) ?? measures[0];
	const scale = useMemo(() => measure && scaleOf(chips, measure), [chips, measure]);
	const share = useCallback((/** @type {Chip} */ chip) => (chip[measure.key] === null ? null : (Number(chip[measure.key]) - scale.low) / (scale.high - scale.low || 1)), [measure, scale]);
	const isMarked = useCallback((/** @type {Chip} */ chip) => (look.device === null ? Boolean(look.host) && chip.host === look.host : chip.id === look.device), [look.device, look.host]);
	if (!measure) return <p class="empty">No figure of single chips is in this report.</p>;
	const { least, most, alike } = scale;
	const missing = MEASURES.filter((m) => !measures.includes(m));
	return (
		<section aria-label="chips">
			<Choice label="Chips shaded by" value={measure.key} options={measures.map((m) => [m.key, m.title])} onPick={setKey} />
			<p class="count">{`Of ${of}: ${measure.says}. ${measure.most === undefined && !alike ? "The scale goes from the least to the most of these chips." : ""}`}</p>
			{missing.length > 0 && <p class="count">{`Not in this profile: ${missing.map((m) => m.title).join(", ")}.`}</p>}
			<Scale low={value(measure.key, scale.low)} high={value(measure.key, scale.high)} />
			<Mesh chips={chips} share={share} isMarked={isMarked} say={(chip) => `${clean(chip.name)} of ${clean(chip.host)}: ${figure(chip, measure)}`} onPick={(chip) => setLook({ device: chip.id === look.device ? null : chip.id })} label={`${measure.title} of ${chips.length} chips`} />
			{alike && <p class="count">{`All chips are within 1 % of ${value(measure.key, scaleOf(chips, { ...measure, most: undefined }).high)}.`}</p>}
			{!alike && least && most && (
				<p>
					{"Most: "}
					<Named chip={most} />
					{`, ${figure(most, measure)}. Least: `}
					<Named chip={least} />
					{`, ${figure(least, measure)}.`}
				</p>
			)}
		</section>
	);
}

// A host's chips on the way to the moment when the last one arrives: that is the right edge.
/** @param {{ host: Arrival, far: number, isLate: boolean }} props */
function Way({ host, far, isLate }) {
	// A mark stands inside of its track, the first one and the last one, too.
	/** @param {number} early */
	const left = (early) => `calc((100% - ${MARK}) * ${1 - early / far})`;
	return (
		<li>
			<span class="name" title={clean(host.host)}>
				{clean(host.name)}
			</span>
			<span class="track">
				<span class="wait" style={{ left: left(host.early), right: 0 }} />
				{host.chips.map(({ chip, early }) => (
					<span key={chip.id} class={`arrival${isLate && early === host.early ? " last" : ""}`} style={{ left: left(early) }} title={`${clean(chip.name)}: ${time(early)} before the last one`} />
				))}
			</span>
			<span class="number">{time(host.early)}</span>
		</li>
	);
}

/** @param {{ chips: Chip[] }} props */
function Arrivals({ chips }) {
	const hosts = useMemo(() => arrivalsOf(chips), [chips]);
	const late = useMemo(() => latest(chips), [chips]);
	const far = hosts.reduce((most, host) => host.chips.reduce((m, c) => Math.max(m, c.early), most), 0);
	if (!hosts.length) return <p class="empty">Who comes late is not known: no collective of this run could be matched between chips. The notes of the view of time say why.</p>;
	return (
		<section aria-label="arrivals at collectives">
			<h3>Who comes late to collectives</h3>
			{late?.late && (
				<p class="verdict">
					<Named chip={late} />
					{` comes last in ${percent(late.late.last_pct)} of ${late.late.matched_count} collectives${typeof late.late.since_step === "number" ? `, since step ${late.late.since_step}` : ""}. Without that the others would wait ${value("collective_cores.excess_ps", late.late.excess_ps)} less, summed over all of them.`}
				</p>
			)}
			<p class="count">Each mark is a chip. It stands where the chip arrives in the mean: one arrival that is very late moves it far. The bar is the time that its host waits for the last chip. The host that the others wait for most stands first, and its chip is red.</p>
			<ul class="bars arrivals">
				{hosts.slice(0, ROWS).map((host) => (
					<Way key={host.host} host={host} far={far || 1} isLate={late?.host === host.host} />
				))}
				<li aria-hidden="true">
					<span />
					<span class="ends">
						<span>{`${time(far)} before the last one`}</span>
						<span>the last one</span>
					</span>
				</li>
			</ul>
			{hosts.length > ROWS && <p class="empty">{`${hosts.length - ROWS} more hosts come ${time(hosts.slice(ROWS).reduce((m, host) => Math.min(m, host.early), Infinity))} or more before the last one; the table has them.`}</p>}
		</section>
	);
}

/** @type {(chip: Chip) => Row} */
const rowOf = (chip) => ({ device: chip.name, host: chip.host, work_ps: chip.work_ps, "collective_cores.waited_ps": chip.waited_ps, last_pct: chip.late?.last_pct ?? null, "collective_cores.excess_ps": chip.late?.excess_ps ?? null, communication_ps: chip.communication_ps, duty_cycle_pct: chip.duty_cycle_pct, mxu_utilization_pct: chip.mxu_utilization_pct, peak_bytes: chip.peak_bytes });

export function Pod() {
	const { report: part, whole, look, setLook } = usePage();
	const report = look.device === null && !look.host ? part : whole; // a chip is seen among the others
	const chips = useMemo(() => chipsOf(report), [report]);
	const shown = useMemo(() => (look.host ? chips.filter((c) => c.host === look.host) : chips), [chips, look.host]);
	const rows = useMemo(() => shown.map((chip) => /** @type {Row} */ ({ ...rowOf(chip), id: chip.id })), [shown]);
	const slow = useMemo(() => (report.op_cores ?? []).filter((r) => (!look.host || r.host === look.host) && (look.device === null || r.device_id === look.device)).map((r) => ({ ...r, device: deviceName(report, r.device_id) })), [report, look.host, look.device]);
	const columns = useMemo(() => Object.keys(rows[0] ?? {}).filter((c) => c !== "id" && rows.some((r) => r[c] !== null)), [rows]);
	return (
		<div>
			<p class="verdict">{`${chips.length} chips of ${report.run?.hosts?.length ?? 0} hosts`}</p>
			<p class="count">Hosts stand in the order of their names, each with its chips side by side. The profile does not say where in the mesh they stand.</p>
			<HeatMap chips={shown} of={report.part ? "the chosen time" : "the whole run"} />
			<Arrivals chips={shown} />
			{report.op_cores && <Table name="op_cores" caption="Ops that a chip runs slower than the others" rows={slow} columns={filled(slow, ["op", "device", "since_step", "mean_ps", "others_ps", "excess_ps", "executions", "source"])} sort={{ column: "excess_ps", down: true }} max={8} empty="No chip is slower in an op than the others by 10 % or more." />}
			<Table name="chips" of="time.per_core" caption="Chips" rows={rows} columns={columns} labels={{ work_ps: "Own work in a step" }} sort={{ column: "collective_cores.excess_ps", down: true }} onPick={(row) => setLook({ device: row.id })} />
		</div>
	);
}
