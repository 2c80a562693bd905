// Tracks over time: rows of slices, and counters. What the viewers show of a run, coarse enough to look at all of it.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { COLORS, holds, Legend, picking, Plot, stairs, timeAxis, tooltip } from "./chart.jsx";
import { clean, time, title } from "./format.js";
import { BUCKETS, bucketColor } from "./parts.jsx";
import { usePage } from "./state.js";

/** @import uPlot from "uplot" */
/** @import { Drawing, Look, Maybe, PointTrack, Range, Report, SliceTrack, Track } from "./report.d.ts" */

const ROW = 22; // pixels of a row of slices

/** @type {(report: Report, id: number) => string} */
const deviceName = (report, id) => clean(report.run?.devices?.find((d) => d.id === id)?.name ?? `device ${id}`);
/** @type {(report: Report, look: Look) => Track[]} */
const visible = (report, look) => {
	const wanted = (report.run?.devices ?? []).filter((d) => (look.device === null || d.id === look.device) && (!look.host || d.host === look.host)).map((d) => d.id);
	return (report.tracks ?? []).filter((t) => wanted.includes(t.device_id));
};
/** @type {(tracks: Track[], look: { range?: Maybe<Range> }) => Range | null} */
const span = (tracks, look) => {
	if (look.range) return look.range;
	let from = Infinity;
	let to = -Infinity;
	for (const t of tracks) {
		const xs = t.slices ?? t.points ?? [];
		const step = t.slices ? 3 : 2;
		if (xs.length < step) continue;
		from = Math.min(from, xs[0]);
		to = Math.max(to, xs[xs.length - 2]); // the last end, or the last point
	}
	return from < to ? [from, to] : null;
};

/**
 * Where the run ends: the capture, or what ran last. It begins at 0.
 * @type {(report: Report) => number}
 */
export const runEnd = (report) => Math.max(report.run?.capture_ps ?? 0, (report.time?.wall_start_ps ?? 0) + (report.time?.wall_ps ?? 0));

// Labels of a track -> colours. Time classes keep theirs, and their names, everywhere.
/** @param {string} label */
const bucketOf = (label) => BUCKETS.find((b) => title(b).toLowerCase() === label.toLowerCase());
/** @type {(label: string, i: number) => string} */
const classColor = (label, i) => bucketColor(bucketOf(label) ?? "") ?? COLORS[i % COLORS.length];
/** @type {(label: string) => string} */
const className = (label) => {
	const bucket = bucketOf(label);
	return bucket ? title(bucket) : clean(label);
};

/**
 * One row a device, of the track with this NAME. WHOLE: of the whole run, whatever the time range. EMPTY: the text where there is no track.
 * @param {{ name: string, max?: number, whole?: boolean, empty?: string }} props
 */
export function Rows({ name, max = 32, whole, empty }) {
	const { report, look, setLook } = usePage();
	const tracks = useMemo(() => /** @type {SliceTrack[]} */ (visible(report, look).filter((t) => t.name === name && t.slices)), [report, look, name]);
	const shown = tracks.slice(0, max);
	const drawing = useMemo(/** @returns {Drawing | null} */ () => {
		const seen = span(shown, whole ? {} : look);
		if (!seen) return null;
		/** @type {Range} */
		const range = whole ? [0, Math.max(seen[1], runEnd(report))] : seen;
		const pick = picking(setLook);
		/** @type {(u: uPlot) => void} */
		const paint = (u) => {
			const height = u.bbox.height / shown.length;
			u.ctx.save();
			u.ctx.beginPath();
			u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
			u.ctx.clip();
			shown.forEach((t, row) => {
				const colors = t.labels.map(classColor);
				for (let i = 0; i < t.slices.length; i += 3) {
					const a = u.valToPos(t.slices[i] / 1e12, "x", true);
					const b = u.valToPos(t.slices[i + 1] / 1e12, "x", true);
					u.ctx.fillStyle = colors[t.slices[i + 2]];
					u.ctx.fillRect(a, u.bbox.top + row * height + 1, Math.max(b - a, 0.5), height - 2);
				}
			});
			u.ctx.restore();
		};
		/** @type {(index: number, u: uPlot, x: number) => string[] | null} */
		const say = (_, u) => {
			const t = shown[Math.floor((u.cursor.top ?? 0) / (u.over.clientHeight / shown.length))];
			const at = u.posToVal(u.cursor.left ?? 0, "x") * 1e12;
			if (!t) return null;
			for (let i = 0; i < t.slices.length; i += 3)
				if (t.slices[i] <= at && at < t.slices[i + 1]) return [deviceName(report, t.device_id), className(t.labels[t.slices[i + 2]]), `${time(t.slices[i + 1] - t.slices[i])} at ${time(t.slices[i])}`];
			return [deviceName(report, t.device_id), `nothing at ${time(at)}`];
		};
		return {
			data: [[range[0] / 1e12, range[1] / 1e12], [0, 0]],
			options: {
				legend: { show: false },
				cursor: pick.cursor,
				scales: { x: { time: false, range: [range[0] / 1e12, range[1] / 1e12] }, y: { range: [0, shown.length] } },
				axes: [timeAxis, { size: 110, splits: () => shown.map((_, i) => shown.length - i - 0.5), values: () => shown.map((t) => deviceName(report, t.device_id).slice(-14)), grid: { show: false } }],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { ...pick.hooks, draw: [paint] },
				plugins: [tooltip(say)],
			},
		};
	}, [tracks, look]);
	if (!drawing) return empty ? <p class="empty">{empty}</p> : null;
	const labels = shown[0].labels;
	return (
		<section aria-label={name}>
			{!whole && <h3>{name}</h3>}
			{labels.length <= COLORS.length && <Legend items={labels.map((l, i) => [className(l), classColor(l, i)])} />}
			<Plot {...drawing} height={ROW * shown.length + 44} label={`${name} of ${shown.length} devices over time`} />
			{tracks.length > max && <p class="empty">{`${tracks.length - max} more devices: choose one above.`}</p>}
		</section>
	);
}

/**
 * The peak of a counter, in its unit: where its axis ends.
 * @type {(report: Report, track: Track) => number | null}
 */
function peakOf(report, track) {
	if (track.unit === "%") return 100;
	const device = report.run?.devices?.[track.device_id ?? 0];
	return track.name.startsWith("HBM ") && typeof device?.hbm_bytes_per_s === "number" ? device.hbm_bytes_per_s / 1e9 : null;
}

/**
 * Counters with this NAME, a line a device. What was cut at the peak says so in front of its unit.
 * @param {{ name: string, max?: number }} props
 */
export function Counter({ name, max = 16 }) {
	const { report, look, setLook } = usePage();
	const tracks = useMemo(() => /** @type {PointTrack[]} */ (visible(report, look).filter((t) => (t.name === name || t.name === name.replace(" (", ", cut at the peak (")) && t.points && t.points.length > 2)), [report, look, name]);
	const shown = tracks.slice(0, max);
	const drawing = useMemo(/** @returns {Drawing | null} */ () => {
		const range = span(shown, look);
		if (!range) return null;
		const xs = [...new Set(shown.flatMap((t) => t.points.filter((_, i) => i % 2 === 0)))].sort((a, b) => a - b);
		const columns = shown.map((t) => {
			let k = -2;
			/** @type {number | null} */
			let held = null;
			return xs.map((x) => {
				while (k + 2 < t.points.length && t.points[k + 2] <= x) held = t.points[(k += 2) + 1];
				return held;
			});
		});
		const pick = picking(setLook);
		const peak = peakOf(report, shown[0]);
		/** @type {(u: uPlot) => void} */
		const drawPeak = (u) => {
			if (peak === null) return;
			const y = u.valToPos(peak, "y", true);
			u.ctx.save();
			u.ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--soft");
			u.ctx.setLineDash([6, 4]);
			u.ctx.beginPath();
			u.ctx.moveTo(u.bbox.left, y);
			u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
			u.ctx.stroke();
			u.ctx.restore();
		};
		/** @type {(t: Track, v: number | null) => string} */
		const said = (t, v) => (v === null ? "unknown" : `${+v.toPrecision(4)} ${t.unit ?? ""}`);
		return {
			data: [xs.map((x) => x / 1e12), ...columns],
			options: {
				legend: { show: false },
				...pick,
				scales: { x: { time: false, range: [range[0] / 1e12, range[1] / 1e12] }, y: { range: (_, low, high) => [0, Math.max(high, peak ?? 0) * 1.05 || 1] } },
				hooks: { draw: [drawPeak] },
				axes: [timeAxis, { size: 84, values: (_, v) => v.map((x) => `${x} ${shown[0].unit ?? ""}`) }],
				series: [{}, ...shown.map((_, i) => ({ stroke: COLORS[i % COLORS.length], width: 1, points: { show: false }, paths: stairs }))],
				plugins: [
					tooltip((_, u, at) => {
						const i = holds(xs, at * 1e12);
						return [`at ${time(xs[i])}`, ...shown.map((t, k) => `${deviceName(report, t.device_id)}: ${said(t, columns[k][i])}`)];
					}),
				],
			},
		};
	}, [tracks, look]);
	if (!drawing) return null;
	return (
		<section aria-label={name}>
			<h3>{shown.find((t) => t.name !== name)?.name ?? name}</h3>
			{shown.length > 1 && <Legend items={shown.map((t, i) => [deviceName(report, t.device_id), COLORS[i % COLORS.length]])} />}
			<Plot {...drawing} height={180} label={`${name} of ${shown.length} devices over time`} />
		</section>
	);
}
