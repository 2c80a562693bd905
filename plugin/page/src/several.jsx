// SPDX-License-Identifier: MIT
// What the pages over several runs share: what a server is asked for, and what stands there until it answers.
import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { clean } from "./format.js";
import { runNamed } from "./state.js";

/** @import { ListedRun, Row } from "./report.d.ts" */

/**
 * What a server answers, asked for again when KEY is another. null: it has not answered.
 * @type {(key: string | null, ask: () => Promise<any>) => { answer: any, error: string | null }}
 */
export function useAnswer(key, ask) {
	const [state, setState] = useState(/** @type {{ key: string | null, answer: any, error: string | null }} */ ({ key: null, answer: null, error: null }));
	useEffect(() => {
		if (key === null) return;
		let current = true;
		ask()
			.then((answer) => current && setState({ key, answer, error: null }))
			.catch((e) => current && setState({ key, answer: null, error: e.message }));
		return () => {
			current = false;
		};
	}, [key]);
	return state.key === key ? state : { answer: null, error: null };
}

/** @param {{ error: string | null }} props */
export function Waiting({ error }) {
	if (error)
		return (
			<p class="error" role="alert">
				{clean(error)}
			</p>
		);
	return (
		<div class="loading">
			<p role="status">Reading the runs &hellip;</p>
			<progress aria-label="Reading the runs" />
		</div>
	);
}

/** Behind the name of a run of which nothing was measured. @param {{ of: Row }} props */
export const Predicted = ({ of }) => (of.is_predicted ? <span class="predicted" title="nothing ran: its times are predicted, not measured">predicted</span> : null);

/** @type {(names: string[], runs: ListedRun[] | undefined) => ListedRun[]} */
export const chosenOf = (names, runs) => names.map((n) => runNamed(n, runs)).filter((r) => r !== undefined);

/** Whether the page is as narrow as a phone. */
export function useNarrow() {
	const query = useMemo(() => matchMedia("(max-width: 600px)"), []);
	const [isNarrow, setNarrow] = useState(query.matches);
	useEffect(() => {
		const on = () => setNarrow(query.matches);
		query.addEventListener("change", on);
		return () => query.removeEventListener("change", on);
	}, [query]);
	return isNarrow;
}
