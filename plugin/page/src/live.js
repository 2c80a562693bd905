// SPDX-License-Identifier: MIT
// What is watched, as the page has it. Two states of one form: what is known, always up to date, and what is shown, which
// stands still while it is paused. Both are bounded, whatever the hours.
import { useEffect, useRef, useState } from "preact/hooks";
import { isLive, listen } from "./source.js";

/** @import { Known, LiveCounts, LiveEvent, ListedRun, Watched } from "./report.d.ts" */

export const MAX = { sample: 600, alert: 200, session: 200 }; // as the server keeps (cli/serving.c)
const SAMPLE = "live"; // the id of the latest sample among the runs (serve/latest.h)
const NEWS = 8; // alerts that are read out, if they come at once
const SHOW_MS = 100; // events that come together are drawn together
const PAST_MS = 1500; // events that come this soon after the page was opened are old, and are not read out

/** @type {() => Known} */
const nothing = () => ({ sample: [], alert: [], session: [], counts: { sample: 0, alert: 0, session: 0 }, end: null, news: [], last: 0 });

// Of samples in a row that no host answered, the first and the last are kept: a job that is away for hours does not push its past out.
/** @param {LiveEvent | undefined} event */
const isEmpty = (event) => event?.type === "sample" && event.hosts === 0;

// An event of a server whose numbers began anew below ours (its clock was set back) begins a new history.
/** @type {(known: Known, event: LiveEvent, id: number, isPast?: boolean) => void} */
export function add(known, event, id, isPast) {
	if (id <= known.last) Object.assign(known, nothing());
	known.last = id;
	known.end = event.type === "end" ? event : null;
	if (event.type === "end" || !MAX[event.type]) return; // of a newer program
	/** @type {(LiveEvent & { id: number })[]} */
	const list = /** @type {any} */ (known[event.type]);
	if (isEmpty(event) && isEmpty(list[list.length - 1]) && isEmpty(list[list.length - 2])) list.pop();
	list.push({ ...event, id });
	if (list.length > MAX[event.type]) list.shift();
	known.counts[event.type]++;
	if (event.type === "alert" && !isPast) known.news = [...known.news.slice(1 - NEWS), { ...event, id }];
}

/** @type {(known: Known) => Known} */
const copy = (known) => ({ ...known, sample: [...known.sample], alert: [...known.alert], session: [...known.session], counts: { ...known.counts } });

// The run in the server's list that has this path; undefined where the list does not have it yet.
/** @type {(runs: ListedRun[] | undefined, path: string) => ListedRun | undefined} */
export const runAt = (runs, path) => runs?.find((r) => r.path === path);

// What the other views follow: the latest sample, or the latest session that is complete. Others are shown only when they are chosen.
/** @type {(runs: ListedRun[], live: Known | null) => ListedRun | undefined} */
export function latestOf(runs, live) {
	if (!live || !live.session.length) return live && runs[0]?.id !== SAMPLE ? undefined : runs[0];
	const annotated = live.session.filter((s) => s.state === "annotated");
	return annotated.length ? runAt(runs, annotated[annotated.length - 1].path) : undefined;
}

/** @type {() => Watched} */
export function useLive() {
	const known = useRef(nothing());
	const stopped = useRef(false);
	const [shown, setShown] = useState(nothing);
	const [state, setState] = useState("connecting");
	const [paused, setPaused] = useState(false);
	const [waiting, setWaiting] = useState(/** @type {LiveCounts | null} */ (null));
	const show = () => {
		const now = known.current;
		if (!stopped.current) setShown(copy(now));
		else setWaiting({ ...now.counts });
	};
	useEffect(() => {
		if (!isLive()) return;
		const begin = performance.now();
		let timer = 0;
		const close = listen((event, id) => {
			add(known.current, event, id, performance.now() - begin < PAST_MS);
			timer ||= setTimeout(() => {
				timer = 0;
				show();
			}, SHOW_MS);
		}, setState);
		return () => {
			clearTimeout(timer);
			close();
		};
	}, []);
	const pause = () => {
		stopped.current = !stopped.current;
		setPaused(stopped.current);
		show();
	};
	/** @param {keyof LiveCounts} type */
	const behind = (type) => (paused && waiting ? Math.max(waiting[type] - shown.counts[type], 0) : 0);
	return { ...shown, state: state === "lost" && known.current.end ? "ended" : state, paused, pause, waiting: { samples: behind("sample"), alerts: behind("alert") + behind("session") } };
}
