// SPDX-License-Identifier: MIT
// The time that all charts over time show: the whole capture, or what is chosen of it. Gestures move it at once, for all charts, and choose it
// (state.js: range) when they stand still.

/** @import { Maybe, Range, Report, Step } from "./report.d.ts" */

const LEAST = 1000; // ps: nothing is shorter than the clock's own steps
const STILL_MS = 250;
const MANY = 50; // ranges that Escape leads back through

/**
 * Where the run ends: the capture, or what ran last. It begins at 0.
 * @type {(report: Report) => number}
 */
export const runEnd = (report) => Math.max(report.run?.capture_ps ?? 0, (report.time?.wall_start_ps ?? 0) + (report.time?.wall_ps ?? 0));

/**
 * RANGE as far as it lies in the capture; null: it is all of it.
 * @type {(range: Range, end: number) => Range | null}
 */
export function inside([from, to], end) {
	const width = Math.min(Math.max(to - from, Math.min(LEAST, end)), end);
	const begin = Math.min(Math.max(from, 0), end - width);
	return width >= end ? null : [begin, begin + width];
}

/**
 * FACTOR below 1 shows less time; what is at AT stays where it is.
 * @type {(range: Range, at: number, factor: number) => Range}
 */
export const zoomed = ([from, to], at, factor) => [at - (at - from) * factor, at + (to - at) * factor];
/** @type {(range: Range, share: number) => Range} */
export const panned = ([from, to], share) => [from + share * (to - from), to + share * (to - from)];

/** @type {(a: Maybe<Range>, b: Maybe<Range>) => boolean} */
const isSame = (a, b) => `${a ?? ""}` === `${b ?? ""}`;

export class TimeScale {
	/** @type {Set<() => void>} */
	#listeners = new Set();
	/** @type {Range | null} */
	#range = null;
	/** @type {(Range | null)[]} */
	#past = [];
	#timer = 0;
	end = 0;
	/** @type {number | null} where the pointer is */
	at = null;

	/** @param {(range: Range | null) => void} choose */
	constructor(choose) {
		this.choose = choose;
	}

	/** @type {() => Range} */
	whole = () => [0, Math.max(this.end, LEAST)];
	now = () => this.#range ?? this.whole();
	chosen = () => this.#range;

	/** What is chosen, of a capture of END. @type {(range: Range | null, end: number) => void} */
	be(range, end) {
		if (end === this.end && this.#timer) return; // a gesture goes on, and chooses what it ends with
		if (end !== this.end) this.#past = [];
		const isNew = end !== this.end || !isSame(range, this.#range);
		this.end = end;
		if (!isNew) return;
		clearTimeout(this.#timer);
		this.#timer = 0;
		this.#range = range;
		this.#tell();
	}

	/** @param {Range} range */
	move(range) {
		if (!this.end) return;
		if (!this.#timer) this.#remember();
		this.#range = inside(range, this.end);
		this.#tell();
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			this.#timer = 0;
			this.choose(this.#range);
		}, STILL_MS);
	}

	/** What a gesture shows is chosen now. */
	settle = () => {
		if (!this.#timer) return;
		clearTimeout(this.#timer);
		this.#timer = 0;
		this.choose(this.#range);
	};

	/** @param {number} factor */
	zoom(factor, at = this.at ?? (this.now()[0] + this.now()[1]) / 2) {
		this.move(zoomed(this.now(), at, factor));
	}

	/** @param {number} share of what is shown */
	pan(share) {
		if (this.#range) this.move(panned(this.#range, share));
	}

	/** @param {Range} range */
	pick(range) {
		this.#remember();
		this.choose(inside(range, this.end));
	}

	/** To what was shown before; in the end to all. */
	back() {
		clearTimeout(this.#timer);
		this.#timer = 0;
		this.choose(this.#past.pop() ?? null);
	}

	#remember() {
		this.#past.push(this.#range);
		if (this.#past.length > MANY) this.#past.shift();
	}

	#tell() {
		for (const on of this.#listeners) on();
	}

	/** @type {(on: () => void) => () => void} */
	listen(on) {
		this.#listeners.add(on);
		return () => this.#listeners.delete(on);
	}
}

// --- what is on the axis

/** @type {[string, number][]} */
const UNITS = [["s", 1e12], ["ms", 1e9], ["\u00b5s", 1e6], ["ns", 1e3]];
const MOST_DIGITS = 12;

/**
 * The decimals that a step needs, and one more where it is not a round one.
 * @param {number} step
 */
function decimals(step) {
	const digits = Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0);
	const isRound = Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6;
	return Math.min(digits + Number(!isRound), MOST_DIGITS);
}

/**
 * Times that are to be told from each other: all in the unit of the longest, with as many decimals as the nearest two need.
 * @type {(times: number[], apart?: number) => string[]} in ps; APART: how near they may be, if they do not say it themselves
 */
export function timeTexts(times, apart = 0) {
	const most = times.reduce((m, ps) => Math.max(m, Math.abs(ps)), 0);
	const [unit, size] = UNITS.find(([, one]) => most >= one) ?? UNITS[UNITS.length - 1];
	const steps = times.slice(1).map((ps, i) => Math.abs(ps - times[i])).filter((step) => step > 0);
	const digits = decimals((apart || Math.min(...steps, most || size)) / size);
	return times.map((ps) => `${(ps / size).toFixed(digits)} ${unit}`);
}

/**
 * A chosen time in words: its ends differ however near it is looked at.
 * @type {(range: Range) => string}
 */
export function rangeText(range) {
	let texts = timeTexts(range, Math.max((range[1] - range[0]) / 10, 1));
	while (texts.every((text) => /\.\d*0 /.test(text))) texts = texts.map((text) => text.replace(/\.?0 /, " "));
	return texts.join(" to ");
}

/**
 * Steps as columns over time, from 0 to END: each from its start to its end. OF: which step each column is; -1: none runs.
 * @type {(steps: Pick<Step, "start_ps" | "duration_ps">[], end: number, each?: number) => { times: number[], of: number[] }}
 */
export function overSteps(steps, end, each = 1) {
	/** @type {number[]} */
	const times = [];
	/** @type {number[]} */
	const of = [];
	let at = 0;
	/** @type {(from: number, step: number) => void} */
	const put = (from, step) => {
		times.push(from);
		of.push(step);
	};
	for (let i = 0; i < steps.length; i += each) {
		const last = steps[Math.min(i + each, steps.length) - 1];
		const start = Math.max(steps[i].start_ps, at);
		const until = last.start_ps + last.duration_ps;
		if (until <= start) continue; // inside the one before
		if (start > at) put(at, -1);
		put(start, i);
		at = until;
	}
	if (end > at) put(at, -1);
	put(Math.max(at, end), -1);
	return { times, of };
}

/**
 * Whether a time that lies in no step of the report is not outside of steps: devices are at what a mark of the host launched later than that, and
 * several GPUs begin a step one after the other, each until its next one, while the report has the earliest start and the mean length.
 * @type {(report: Report) => boolean}
 */
export function isLoose({ steps, run }) {
	const source = steps?.find((s) => !s.is_others)?.source;
	const devices = run?.devices ?? [];
	return source === "launched" || (source === "inferred" && devices.length > 1 && devices.every((d) => d.name.includes("GPU")));
}

/**
 * The time that lies in no step; none is known where steps are not listed.
 * @type {(steps: Step[] | undefined, end: number) => Range[]}
 */
export function outside(steps, end) {
	if (!steps?.length || steps.some((s) => s.is_others)) return [];
	const { times, of } = overSteps(steps, end);
	return of.slice(0, -1).flatMap((step, i) => (step < 0 ? [/** @type {Range} */ ([times[i], times[i + 1]])] : []));
}

/**
 * The first of the slices (start, end, kind; in the order of their starts, one behind the other) that ends behind AT.
 * @type {(slices: number[], at: number) => number} its place in SLICES
 */
export function sliceAt(slices, at) {
	let low = 0;
	let high = Math.floor(slices.length / 3);
	while (low < high) {
		const middle = (low + high) >> 1;
		if (slices[3 * middle + 1] <= at) low = middle + 1;
		else high = middle;
	}
	return 3 * low;
}
