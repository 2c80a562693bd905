// SPDX-License-Identifier: MIT
// What was in memory, over time and at the peak, against what the device has; and what moved through it.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { OTHERS } from "../colors.js";
import { Legend, Plot, stacked, stairs, tooltip, holds } from "../chart.jsx";
import { bytes, clean, cut, percent, time } from "../format.js";
import { grouped, hasRoom, limitsOf, overSchedule } from "../held.js";
import { Choice, Facts, Missing, Notes } from "../parts.jsx";
import { inSight, useChoice, usePage } from "../state.js";
import { bytesAxis, gutter, POWERS, TimeChart } from "../timeaxis.jsx";
import { Counter } from "../tracks.jsx";
import { Part, Tables } from "./generic.jsx";

/** @import uPlot from "uplot" */
/** @import { Drawing, Maybe, Row } from "../report.d.ts" */

const TRAFFIC = ["HBM bandwidth (GB/s)", "HBM read (GB/s)", "HBM write (GB/s)", "VMEM bandwidth (GB/s)", "Host link in (GB/s)", "Host link out (GB/s)"];

const UNSPLIT = new Set(["hbm_unsplit_bytes"]); // there are none where both ways are known

/** @type {(name: string) => string} */
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// What is said where the line of the capacity has no room in a picture.
/** @param {{ most: number, capacity: Maybe<number> }} props */
function Room({ most, capacity }) {
	if (!capacity || hasRoom(most, capacity)) return null;
	return <p class="count">{`The device has ${bytes(capacity)}; the most that is held is ${percent((100 * most) / capacity)} of it, so its line has no room here.`}</p>;
}

// --- over time

const SERIES = [["reserved_bytes", "reserved", OTHERS[8]], ["allocated_bytes", "allocated", OTHERS[9]]]; // not those of buffers and lines, further down
const DEVICES = 8; // drawn
/** @param {Row} r */
const keyOf = (r) => `${r.host ?? ""} ${r.device ?? ""}`;

/** @param {{ points: Row[] }} props */
function Held({ points }) {
	const { report } = usePage();
	const { host, device } = points[0];
	const name = clean(keyOf(points[0]).trim());
	const series = useMemo(() => SERIES.filter(([c]) => points.some((p) => typeof p[c] === "number")), [points]);
	const { capacity, isLimit, peak } = useMemo(() => limitsOf({ host, device }, [...(report.allocators?.allocators ?? []), ...(report.memory_timeline?.devices ?? []), ...(report.run?.devices ?? [])], points), [report, points]);
	const drawn = useMemo(() => ({ times: points.map((p) => p.time_ps), lines: series.map(([c, label, color]) => ({ name: label, color, fill: c === "allocated_bytes", values: points.map((p) => p[c]) })) }), [points, series]);
	const most = points.reduce((m, p) => Math.max(m, p.allocated_bytes ?? 0, p.reserved_bytes ?? 0), peak?.bytes ?? 0);
	const line = useMemo(() => (hasRoom(most, capacity) ? { value: Number(capacity), name: `${isLimit ? "the allocator may take" : "the device has"} ${bytes(Number(capacity))}` } : null), [most, capacity, isLimit]);
	const mark = useMemo(() => (peak ? { at: peak.at_ps, value: peak.bytes, name: `peak ${bytes(peak.bytes)}` } : null), [peak]);
	/** @type {(index: number) => string[]} */
	const say = (index) => [time(points[index].time_ps), ...series.filter(([c]) => points[index][c] !== null).map(([c, label]) => `${label}: ${bytes(points[index][c])}`)];
	return (
		<section aria-label={`memory of ${name}`}>
			<div class="bar">
				<h4>{name}</h4>
				<Legend items={series.map(([, label, color]) => [label, color])} />
				{peak && <span class="count">{`peak ${bytes(peak.bytes)} at ${time(peak.at_ps)}${capacity ? `, ${percent((100 * peak.bytes) / capacity)} of the ${bytes(capacity)} that ${isLimit ? "its allocator may take" : "the device has"}` : ""}`}</span>}
			</div>
			<TimeChart {...drawn} peak={line} mark={mark} axis={bytesAxis} say={say} height={200} label={`memory of ${name} over time, ${series.map(([, label]) => label).join(" and ")}`} />
		</section>
	);
}

// Who held it at the peak, by what was chosen.
/** @type {[string, string][]} */
const HOLDERS = [["op", "op"], ["source", "line"], ["module", "module"], ["phase", "phase"]];

/** @param {{ holders: Row[] }} props */
function Holders({ holders }) {
	const [by, setBy] = useChoice("memory.holders", "op");
	const known = useMemo(() => HOLDERS.filter(([c]) => holders.some((r) => typeof r[c] === "string")), [holders]);
	const column = known.some(([c]) => c === by) ? by : known[0]?.[0];
	const parts = useMemo(() => (column ? grouped(holders, column) : []), [holders, column]);
	if (!parts.length) return null;
	const most = parts.reduce((m, p) => Math.max(m, p.bytes), 1);
	return (
		<section aria-label="who holds the memory at the peak">
			<h3>Who holds the memory at the peak</h3>
			<Choice label="holders by" value={column} options={known} onPick={setBy} />
			<ul class="bars">
				{parts.map((p) => (
					<li key={p.name}>
						<span class="name" title={clean(p.name)}>
							{cut(clean(p.name), 200)}
						</span>
						<span class="track">
							<span class="length used" style={{ left: 0, width: `${(100 * p.bytes) / most}%` }} />
						</span>
						<span class="number">{bytes(p.bytes)}</span>
					</li>
				))}
			</ul>
		</section>
	);
}

// Allocated and reserved memory of each device over time, and who held it at the peak.
function OverTime() {
	const { report, look } = usePage();
	const view = report.memory_timeline;
	const points = useMemo(() => inSight(view?.timeline, { ...look, range: null }, report), [report, look.device, look.host]);
	const devices = useMemo(() => [...new Set(points.map(keyOf))].map((key) => points.filter((p) => keyOf(p) === key)).filter((of) => of.length > 1), [points]);
	if (!view) return null;
	const tables = Object.entries(view).filter(([n, rows]) => Array.isArray(rows) && rows.length && n !== "notes" && n !== "timeline").map(([n]) => n);
	const heading = (view.timeline ?? []).length > 1 ? "Memory over time" : "Memory at the peak";
	return (
		<section aria-label={heading}>
			<h3>{heading}</h3>
			{(view.peak_bytes ?? null) !== null && <Facts of="memory_timeline" view={view} names={["peak_bytes", "allocated_bytes", "reserved_bytes", "source", "device"]} />}
			{devices.slice(0, DEVICES).map((of) => (
				<Held key={keyOf(of[0])} points={of} />
			))}
			{devices.length > DEVICES && <p class="empty">{`${devices.length - DEVICES} more devices: choose one above.`}</p>}
			<Holders holders={view.holders ?? []} />
			<Tables of="memory_timeline" view={view} names={tables} />
			<Notes view={view} />
		</section>
	);
}

// --- at the peak of a program

/** @type {[string, string][]} */
const GROUPS = [["op", "buffer"], ["source", "line"], ["kind", "kind"]];

// The lines of the peak and of the capacity have one look.
/** @param {uPlot} u */
function pen({ ctx }) {
	ctx.strokeStyle = ctx.fillStyle = style("--text");
	ctx.lineWidth = devicePixelRatio;
	ctx.font = `${12 * devicePixelRatio}px sans-serif`;
	ctx.setLineDash([6, 4]);
}

/** @type {(u: uPlot, at: number, value: number, text: string) => void} */
function drawPeak(u, at, value, text) {
	const { ctx, bbox } = u;
	const [x, y] = [u.valToPos(at, "x", true), u.valToPos(value, "y", true)];
	const isRight = x > bbox.left + bbox.width * 0.7;
	ctx.save();
	pen(u);
	ctx.textAlign = isRight ? "right" : "left";
	ctx.beginPath();
	ctx.moveTo(x, y);
	ctx.lineTo(x, bbox.top + bbox.height);
	ctx.stroke();
	ctx.fillText(text, x + (isRight ? -6 : 6) * devicePixelRatio, y - 5 * devicePixelRatio);
	ctx.restore();
}

/** @type {(u: uPlot, value: number, text: string) => void} */
function drawCapacity(u, value, text) {
	const { ctx, bbox } = u;
	const y = u.valToPos(value, "y", true);
	ctx.save();
	pen(u);
	ctx.beginPath();
	ctx.moveTo(bbox.left, y);
	ctx.lineTo(bbox.left + bbox.width, y);
	ctx.stroke();
	ctx.textAlign = "right";
	ctx.fillText(text, bbox.left + bbox.width - 6 * devicePixelRatio, y + 14 * devicePixelRatio);
	ctx.restore();
}

/** @param {{ module: Row, buffers: Row[], capacity: Maybe<number>, column: string }} props */
function Schedule({ module, buffers, capacity, column }) {
	const { theme } = usePage();
	const { xs, parts } = useMemo(() => overSchedule(buffers, column, module.positions), [buffers, column, module]);
	const most = Math.max(module.peak_bytes, ...xs.map((_, i) => parts.reduce((sum, p) => sum + p.values[i], 0)));
	const drawing = useMemo(/** @returns {Drawing} */ () => {
		const top = hasRoom(most, capacity) ? Math.max(Number(capacity), most) : most;
		/** @type {(u: uPlot) => void} */
		const draw = (u) => {
			drawPeak(u, module.peak_position, module.peak_bytes, `peak ${bytes(module.peak_bytes)}${innerWidth < 600 ? "" : ` at ${clean(module.peak_op ?? "")}`}`);
			if (hasRoom(most, capacity)) drawCapacity(u, Number(capacity), `the device has ${bytes(Number(capacity))}`);
		};
		/** @type {(i: number, u: uPlot, x: number) => string[]} */
		const say = (_, u, x) => [`position ${Math.floor(x)} of ${module.positions}`, ...parts.map((p) => /** @type {[string, number]} */ ([p.name, p.values[holds(xs, x)]])).filter(([, v]) => v > 0).map(([name, v]) => `${cut(clean(name), 60)}: ${bytes(v)}`)];
		return {
			data: /** @type {uPlot.AlignedData} */ ([xs, ...stacked(parts.map((p) => p.values))]),
			options: {
				legend: { show: false },
				cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
				padding: [8, 14, 0, 0],
				scales: { x: { time: false, range: [0, module.positions] }, y: { range: [0, top * 1.12] } },
				axes: [{ size: 30, label: "position in the schedule of the program", labelSize: 20, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000] }, { size: gutter, values: bytesAxis, incrs: POWERS }],
				series: [{}, ...parts.map((_, i) => ({ points: { show: false }, paths: stairs, fill: OTHERS[parts.length - 1 - i], width: 0 }))],
				hooks: { draw: [draw] },
				plugins: [tooltip(say)],
			},
		};
	}, [xs, parts, module, capacity, theme]);
	return (
		<div>
			<Legend items={parts.map((p, i) => [`${cut(clean(p.name), 60)} ${bytes(p.bytes)}`, OTHERS[i]])} />
			<Plot {...drawing} height={260} label={`memory of ${clean(module.module)} over its schedule, by what is held at its peak`} />
			<Room most={most} capacity={capacity} />
		</div>
	);
}

// The programs beside each other, each with its peak; a click shows what it holds.
/** @param {{ modules: Row[], chosen: Row, capacity: Maybe<number>, onChoose: (module: string) => void }} props */
function Modules({ modules, chosen, capacity, onChoose }) {
	const most = modules.reduce((m, r) => Math.max(m, r.peak_bytes ?? 0), 1);
	const full = hasRoom(most, capacity) ? Math.max(Number(capacity), most) : most;
	return (
		<ul class="bars">
			{modules.map((m) => (
				<li key={`${m.module}${m.program_id}`}>
					<span class="name">
						<button type="button" class="link" aria-pressed={m === chosen} title={clean(m.module)} onClick={() => onChoose(m.program_id)}>
							{clean(m.module)}
						</button>
					</span>
					<span class="track">
						<span class="length used" style={{ left: 0, width: `${(100 * (m.peak_bytes ?? 0)) / full}%` }} />
					</span>
					<span class="number">{bytes(m.peak_bytes ?? 0)}</span>
				</li>
			))}
		</ul>
	);
}

const MODULES = 8;

function AtPeak() {
	const { report } = usePage();
	const [by, setBy] = useChoice("memory.by", GROUPS[0][0]);
	const [program, setProgram] = useChoice("memory.program", "");
	const capacity = report.capacity;
	/** @type {Row[]} */
	const modules = useMemo(() => (capacity?.modules ?? []).filter((/** @type {Row} */ m) => typeof m.peak_bytes === "number" && m.positions > 0), [capacity]);
	const module = modules.find((m) => m.program_id === program) ?? modules[0];
	const buffers = useMemo(() => (capacity?.buffers ?? []).filter((/** @type {Row} */ b) => b.module === module?.module), [capacity, module]);
	if (!module) return null;
	const alone = modules.filter((m) => m.module === module.module).length === 1;
	return (
		<section aria-label="what a program holds">
			{modules.length > 1 && <p class="count">The programs by their peak. A click shows what one holds.</p>}
			{modules.length > 1 && <Modules modules={modules.slice(0, MODULES)} chosen={module} capacity={capacity?.hbm_bytes} onChoose={setProgram} />}
			<p class="bar">
				<b>{clean(module.module)}</b>
				{alone && <Choice label="memory by" value={by} options={GROUPS} onPick={setBy} />}
				<span class="count">The buffers that are alive at the peak, each for as long as it is held. What is freed before or taken later is not listed.</span>
			</p>
			{alone ? <Schedule module={module} buffers={buffers} capacity={capacity?.hbm_bytes} column={by} /> : <p class="empty">Several programs have this name, and the report does not tell their buffers apart: the table has them together.</p>}
		</section>
	);
}

// What moved through memory, and what was in it.
export function Memory() {
	const { report } = usePage();
	const { memory, capacity } = report;
	const held = typeof report.memory_timeline?.peak_bytes === "number"; // a trace knows it over time: that comes first
	return (
		<div>
			{held && <OverTime />}
			<h3>What was in memory at the peak</h3>
			{!capacity && <Missing what="memory capacity" />}
			{capacity && <Facts of="capacity" view={capacity} />}
			<AtPeak />
			{capacity && <Tables of="capacity" view={capacity} under="At the peak" />}
			{capacity && <Notes view={capacity} />}
			<h3>Memory traffic</h3>
			{memory ? <Facts of="memory" view={memory} skip={typeof memory.hbm_read_bytes === "number" ? UNSPLIT : undefined} /> : <Missing what="memory traffic by op" />}
			{TRAFFIC.map((name) => (
				<Counter key={name} name={name} />
			))}
			{memory && <Tables of="memory" view={memory} under="Memory traffic" />}
			{memory && <Notes view={memory} />}
			{!held && <OverTime />}
			<Part name="allocators" heading="What allocators did" />
		</div>
	);
}
