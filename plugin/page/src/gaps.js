// SPDX-License-Identifier: MIT
// Time in which a chip had nothing to run, by what its launch waited for: as the report has it, in rows of classes and in the list of the longest gaps.
import { BUCKETS } from "./colors.js";
import { title } from "./format.js";

/** @import { Gap, Report, Row } from "./report.d.ts" */

const PAUSES = BUCKETS.slice(BUCKETS.indexOf("compilation"));

/** What the host was in, where the report says so of this gap. @type {(gaps: Row[], device: number, start: number, end: number) => Row | undefined} */
const knownOf = (gaps, device, start, end) => gaps.find((g) => g.device_id === device && g.start_ps < end && g.start_ps + g.duration_ps > start);

/**
 * The gaps of each device, in the order of time.
 * @type {(report: Report) => Map<number, Gap[]>}
 */
export function gapsOf(report) {
	const listed = report.time?.idle_gaps ?? [];
	/** @type {Map<number, Gap[]>} */
	const all = new Map();
	for (const { device_id: device, name, labels, slices } of report.tracks ?? []) {
		if (name !== "Time classes" || !slices) continue;
		const buckets = labels.map((label) => PAUSES.find((b) => title(b).toLowerCase() === label.toLowerCase()));
		/** @type {Gap[]} */
		const gaps = [];
		for (let i = 0; i < slices.length; i += 3) {
			const bucket = buckets[slices[i + 2]];
			if (!bucket) continue;
			const known = knownOf(listed, device, slices[i], slices[i + 1]);
			gaps.push({ start: slices[i], end: slices[i + 1], bucket, event: known?.host_event ?? null, thread: known?.host_thread ?? null, ended: known?.ended_by ?? null });
		}
		all.set(device, gaps);
	}
	return all;
}

/** @type {(gaps: Gap[], at: number) => Gap | undefined} */
export const gapAt = (gaps, at) => gaps.find((g) => g.start <= at && at < g.end);

/** @type {(gap: Gap) => string} */
export const gapWords = ({ bucket, event }) => (event ? `${title(bucket)}: ${event}` : title(bucket));
