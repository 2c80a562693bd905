// SPDX-License-Identifier: MIT
// Steps over time: each as wide as it ran, and as high as what is counted of it.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { times as timeAxisOf } from "./chart.jsx";
import { time } from "./format.js";
import { usePage } from "./state.js";
import { TimeChart } from "./timeaxis.jsx";
import { overSteps } from "./timescale.js";

/** @import { Step } from "./report.d.ts" */

const AXIS = timeAxisOf(1e-12);

/**
 * PARTS are stacked, in picoseconds of each step.
 * @param {{ steps: Step[], parts: { name: string, color: string, of: (step: Step) => number }[], label: string }} props
 */
export function StepChart({ steps, parts, label }) {
	const { scale } = usePage();
	const drawn = useMemo(() => {
		const { times, of } = overSteps(steps, scale.end);
		return { times, of, parts: parts.map((p) => ({ ...p, values: of.map((step) => (step < 0 ? 0 : p.of(steps[step]))) })) };
	}, [steps, scale.end]);
	/** @type {(index: number, at: number) => string[]} */
	const say = (index, at) => {
		const step = steps[drawn.of[index]];
		if (!step) return [`at ${time(at)}`, "outside of steps"];
		return [`step ${step.step}: ${time(step.duration_ps)}`, ...parts.filter((p) => p.of(step) > 0 && parts.length > 1).map((p) => `${p.name}: ${time(p.of(step))}`)];
	};
	return <TimeChart {...drawn} axis={AXIS} say={say} height={220} label={label} />;
}
