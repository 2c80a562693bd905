// SPDX-License-Identifier: MIT
// Tracks over time: rows of slices, and counters. What the viewers show of a run, coarse enough to look at all of it.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { bucketColor, BUCKETS, OTHERS } from "./colors.js";
import { Legend } from "./chart.jsx";
import { clean, time, title } from "./format.js";
import { Later } from "./later.jsx";
import { Shares } from "./parts.jsx";
import { deviceName, shortNames } from "./pod.js";
import { usePage } from "./state.js";
import { laneHeight, TimeChart, TimeLane } from "./timeaxis.jsx";
import { spokenFor } from "./words.jsx";

/** @import { LaneRow, Look, Maybe, PointTrack, Range, Report, SliceTrack, Track } from "./report.d.ts" */

/** @type {(report: Report, id: number) => string} */
const nameOf = (report, id) => clean(deviceName(report, id));
/** @type {(report: Report, look: Look) => Track[]} */
const visible = (report, look) => {
	if (report.part) return report.tracks ?? [];
	const wanted = (report.run?.devices ?? []).filter((d) => (look.device === null || d.id === look.device) && (!look.host || d.host === look.host)).map((d) => d.id);
	return (report.tracks ?? []).filter((t) => wanted.includes(t.device_id));
};
// Labels of a track -> colours. Time classes keep theirs, and their names, everywhere.
/** @param {string} label */
const bucketOf = (label) => BUCKETS.find((b) => title(b).toLowerCase() === label.toLowerCase());
/** @type {(label: string, i: number) => string} */
const classColor = (label, i) => bucketColor(bucketOf(label) ?? "") ?? OTHERS[i % OTHERS.length];
/** @type {(label: string) => string} */
const className = (label) => {
	const bucket = bucketOf(label);
	return bucket ? title(bucket) : clean(label);
};

/**
 * SLICES of time classes, with what lies between them from FROM to TO as one more KIND: there no op ran.
 * @type {(slices: number[], [from, to]: Range, kind: number) => number[]}
 */
export function withIdle(slices, [from, to], kind) {
	/** @type {number[]} */
	const out = [];
	let at = from;
	for (let i = 0; i < slices.length; i += 3) {
		if (slices[i] > at) out.push(at, slices[i], kind);
		out.push(slices[i], slices[i + 1], slices[i + 2]);
		at = Math.max(at, slices[i + 1]);
	}
	if (to > at) out.push(at, to, kind);
	return out;
}

/**
 * What hosts did is the same on all devices of a host: one track of each.
 * @type {<T extends Track>(report: Report, tracks: T[]) => T[]}
 */
export function ofHosts(report, tracks) {
	const hosts = new Map((report.run?.devices ?? []).map((d) => [d.id, d.host]));
	const seen = new Set();
	return tracks.filter(({ device_id: id }) => !seen.has(hosts.get(id)) && seen.add(hosts.get(id)));
}

/**
 * From the first event of a core to the last one of all; nothing where that is unknown.
 * @type {(report: Report) => Range}
 */
const wallOf = ({ time: t }) => [t?.wall_start_ps ?? Infinity, (t?.wall_start_ps ?? -Infinity) + (t?.wall_ps ?? -Infinity)];

const FEW = 3; // rows above all views that may be high
const LOW = 15; // pixels of more

const FALSE = 0.25; // of a core's time

/**
 * Whether a file has so few slices for each of its devices that their rows no longer show where the time of the cores went: a slice has the class that
 * most of it was of, and one of a whole run says that all of the run was that.
 * @type {(report: Report, tracks: SliceTrack[]) => boolean}
 */
export function isCoarse(report, tracks) {
	const cores = new Map((report.time?.per_core ?? []).map((row) => [row.device_id, row]));
	return tracks.some(({ device_id: id, labels, slices }) => {
		const row = cores.get(id);
		if (!row?.total_ps) return false;
		const drawn = new Map();
		for (let i = 0; i < slices.length; i += 3) drawn.set(slices[i + 2], (drawn.get(slices[i + 2]) ?? 0) + slices[i + 1] - slices[i]);
		return labels.some((label, kind) => {
			const bucket = bucketOf(label);
			return bucket && bucket !== "idle" && Math.abs((drawn.get(kind) ?? 0) - (row[`${bucket}_ps`] ?? 0)) > FALSE * row.total_ps;
		});
	});
}

/**
 * The classes of each core as shares of its time, where their order is not known.
 * @param {{ tracks: SliceTrack[] }} props
 */
function CoreShares({ tracks }) {
	const { report } = usePage();
	const ids = new Set(tracks.map((t) => t.device_id));
	const rows = (report.time?.per_core ?? []).filter((row) => ids.has(row.device_id));
	return (
		<div>
			<p class="count">{`This file has too few pieces for ${(report.run?.devices ?? []).length} devices to show when each class was. The bars are shares of the time of each core. tpusight serve shows a chosen device over time.`}</p>
			<ul class="bars cores">
				{rows.map((row) => (
					<li key={row.device_id}>
						<span class="name">{nameOf(report, row.device_id)}</span>
						<Shares parts={BUCKETS.map((b) => ({ name: title(b), value: row[`${b}_ps`] ?? 0, color: bucketColor(b) }))} total={row.total_ps} label={`classes of ${nameOf(report, row.device_id)}`} />
						<span class="number">{time(row.total_ps)}</span>
					</li>
				))}
			</ul>
		</div>
	);
}

/**
 * One row a device, or a host where HOST says so, of the track with this NAME. WHOLE: of the whole run, whatever the time range. EMPTY: the text where there is no track.
 * @param {{ name: string, max?: number, whole?: boolean, host?: boolean, empty?: string }} props
 */
export function Rows({ name, max = 32, whole, host, empty }) {
	const { report: shown, whole: entire, look } = usePage();
	const report = whole ? entire : shown;
	const tracks = useMemo(() => {
		const all = /** @type {SliceTrack[]} */ (visible(report, look).filter((t) => t.name === name && t.slices && t.slices.length >= 3));
		return host ? ofHosts(report, all) : all;
	}, [report, look.device, look.host, name, host]);
	const rows = useMemo(() => {
		const hosts = shortNames((report.run?.hosts ?? []).map((x) => x.name));
		/** @param {number} id */
		const hostOf = (id) => report.run?.devices?.find((d) => d.id === id)?.host ?? "";
		/** @param {number} id */
		const named = (id) => (host ? clean(hosts.get(hostOf(id)) ?? hostOf(id)) : nameOf(report, id));
		/** @type {(t: SliceTrack) => LaneRow} */
		const row = (t) => {
			const colors = t.labels.map(classColor);
			const idle = t.labels.findIndex((l) => bucketOf(l) === "idle");
			const none = t.labels.length; // no op ran, and the track does not say why
			const slices = idle < 0 ? t.slices : withIdle(t.slices, wallOf(report), none);
			return { name: named(t.device_id), slices, color: (kind) => colors[kind === none ? idle : kind], text: (kind) => (kind === none ? "no op ran" : className(t.labels[kind])) };
		};
		return tracks.slice(0, max).map(row);
	}, [tracks, max]);
	if (!rows.length) return empty ? <p class="empty">{empty}</p> : null;
	const { labels } = tracks[0];
	const drawn = tracks.slice(0, max);
	const isShares = !whole && !host && isCoarse(report, drawn);
	const lane = <TimeLane rows={rows} whole={whole} height={whole && rows.length > FEW ? LOW : undefined} label={`${name} of ${rows.length} ${host ? "hosts" : "devices"} over time`} />;
	return (
		<section aria-label={name}>
			{!whole && <h3>{name}</h3>}
			{labels.length <= OTHERS.length && <Legend items={labels.map((l, i) => [className(l), classColor(l, i)])} />}
			{whole ? lane : isShares ? <CoreShares tracks={drawn} /> : <Later height={laneHeight(rows.length)}>{lane}</Later>}
			{tracks.length > max && <p class="empty">{`${tracks.length - max} more ${host ? "hosts" : "devices"}: choose one above.`}</p>}
		</section>
	);
}

/**
 * The peak of a counter, in its unit: where its axis ends.
 * @type {(report: Report, track: Track) => { value: number, name: string } | null}
 */
function peakOf(report, track) {
	const device = report.run?.devices?.[track.device_id ?? 0];
	return track.name.startsWith("HBM ") && typeof device?.hbm_bytes_per_s === "number" ? { value: device.hbm_bytes_per_s / 1e9, name: "peak of the chip" } : null;
}

/** @param {PointTrack[]} tracks */
function timesOf(tracks) {
	const at = new Float64Array(tracks.reduce((sum, t) => sum + t.points.length / 2, 0));
	let nr = 0;
	for (const { points } of tracks) for (let i = 0; i < points.length; i += 2) at[nr++] = points[i];
	at.sort();
	return at.filter((x, i) => i === 0 || x !== at[i - 1]);
}

/**
 * Least, mean and most of counters at each of their times; null where none has a value yet. A pod has hundreds, of thousands of points.
 * @type {(tracks: PointTrack[]) => { times: number[], low: Maybe<number>[], mean: Maybe<number>[], high: Maybe<number>[] }}
 */
export function spread(tracks) {
	const times = timesOf(tracks);
	const [low, high, sum] = [new Float64Array(times.length).fill(Infinity), new Float64Array(times.length).fill(-Infinity), new Float64Array(times.length)];
	const known = new Uint32Array(times.length);
	for (const { points } of tracks)
		for (let k = 0, i = times.indexOf(points[0]); k < points.length; k += 2) {
			const v = points[k + 1];
			const end = k + 2 < points.length ? points[k + 2] : Infinity;
			for (; i < times.length && times[i] < end; i++) {
				low[i] = Math.min(low[i], v);
				high[i] = Math.max(high[i], v);
				sum[i] += v;
				known[i]++;
			}
		}
	/** @type {(of: (i: number) => number) => Maybe<number>[]} */
	const where = (of) => Array.from(known, (nr, i) => (nr ? of(i) : null));
	return { times: Array.from(times), low: where((i) => low[i]), mean: where((i) => sum[i] / known[i]), high: where((i) => high[i]) };
}

const COUNTER = 180; // pixels high

/** @param {{ name: string, tracks: PointTrack[] }} props */
function Points({ name, tracks }) {
	const { report } = usePage();
	const drawn = useMemo(() => {
		const { times, ...of } = spread(tracks);
		const color = OTHERS[0];
		return { times, of, bands: tracks.length > 1 ? [{ name, color, ...of }] : [], lines: tracks.length === 1 ? [{ name, color, values: of.mean }] : [] };
	}, [tracks]);
	const unit = tracks[0].unit ?? "";
	const isShare = unit === "%";
	/** @param {Maybe<number>} v */
	const said = (v) => (v === null || v === undefined ? "unknown" : `${+v.toPrecision(4)} ${unit}`);
	/** @type {(index: number, at: number) => string[]} */
	const say = (index, at) => [`at ${time(at)}`, ...(tracks.length > 1 ? [`mean of ${tracks.length} devices: ${said(drawn.of.mean[index])}`, `least ${said(drawn.of.low[index])}, most ${said(drawn.of.high[index])}`] : [`${nameOf(report, tracks[0].device_id)}: ${said(drawn.of.mean[index])}`])];
	return <TimeChart times={drawn.times} bands={drawn.bands} lines={drawn.lines} top={isShare ? 100 : undefined} peak={peakOf(report, tracks[0])} axis={(_, v) => v.map((x) => `${x} ${unit}`)} say={say} height={COUNTER} label={`${name} of ${tracks.length} devices over time`} />;
}

/**
 * Counters with this NAME: of one device a line, of several their mean between the least and the most. What was cut at the peak says so in front of
 * its unit.
 * @param {{ name: string }} props
 */
export function Counter({ name }) {
	const { report, look } = usePage();
	const tracks = useMemo(() => /** @type {PointTrack[]} */ (visible(report, look).filter((t) => (t.name === name || t.name === name.replace(" (", ", cut at the peak (")) && t.points && t.points.length > 2)), [report, look.device, look.host, name]);
	if (!tracks.length) return null;
	return (
		<section aria-label={name}>
			<h3>{spokenFor(tracks.find((t) => t.name !== name)?.name ?? name, report)}</h3>
			{tracks.length > 1 && <p class="count">{`The line is the mean of ${tracks.length} devices, the band reaches from the least to the most.`}</p>}
			<Later height={COUNTER}>
				<Points name={name} tracks={tracks} />
			</Later>
		</section>
	);
}
