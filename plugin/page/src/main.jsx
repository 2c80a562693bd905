// SPDX-License-Identifier: MIT
// The page: a heading, the run's picture, and one of the views.
import { Fragment, h, render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { address } from "./address.js";
import { clean, cut, time } from "./format.js";
import "./page.css";
import "./wide.css";
import "./phone.css";
import "./bench.css";
import "./print.css";
import { latestOf, useLive } from "./live.js";
import { Hatching } from "./array.jsx";
import { Contents } from "./contents.jsx";
import { Drawer } from "./drawer.jsx";
import { OpenRun } from "./open.jsx";
import { isTrace } from "./opdata.js";
import { Choice } from "./parts.jsx";
import { deviceName, shortNames } from "./pod.js";
import { hasServer, hasTraces, inlined, isLive, report as fetchReport, runs as fetchRuns, traces as fetchTraces, xprof } from "./source.js";
import { apart } from "./runs.js";
import { ofRun, Page, partOf, runName, runNamed, useLook, usePage, useWatch, Watch } from "./state.js";
import { Rail } from "./rail.jsx";
import { Search } from "./search.jsx";
import { Strip } from "./strip.jsx";
import { useTheme } from "./theme.js";
import { copy } from "./clipboard.js";
import { runEnd, TimeScale } from "./timescale.js";
import { PAGES, placesOf, viewOf, viewsOf } from "./views/index.js";

/** @import { Theme } from "./theme.js" */
/** @import { ListedRun, Look, Maybe, PageView, Perfetto, Report, Run, SetLook, Watched } from "./report.d.ts" */

const SCHEMA = "tpusight/1";
/** @param {string} view */
const isPage = (view) => PAGES.some((p) => p.name === view);

/** @param {{ views: PageView[], view: string, onView: (name: string) => void }} props */
function Tabs({ views, view, onView }) {
	const list = useRef(/** @type {HTMLDivElement | null} */ (null));
	useLayoutEffect(() => {
		const box = /** @type {HTMLElement} */ (list.current);
		const tab = /** @type {HTMLElement | undefined} */ (box.children[views.findIndex((v) => v.name === view)]);
		if (tab) box.scrollLeft = tab.offsetLeft - box.offsetLeft - (box.clientWidth - tab.offsetWidth) / 2; // on a phone the tabs are one line that scrolls
	}, [view, views]);
	/** @param {number} i */
	const go = (i) => {
		const at = (i + views.length) % views.length;
		onView(views[at].name);
		/** @type {HTMLElement | undefined} */ (list.current?.children[at])?.focus();
	};
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		const at = views.findIndex((v) => v.name === view);
		/** @type {Record<string, number | undefined>} */
		const places = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 };
		const to = places[e.key];
		if (to === undefined) return;
		e.preventDefault();
		go(to);
	};
	return (
		<div class="tabs" role="tablist" aria-label="ways to look at it" ref={list} onKeyDown={onKey}>
			{views.map((v) => (
				<button key={v.name} type="button" role="tab" id={`tab-${v.name}`} aria-controls="view" aria-selected={v.name === view} tabIndex={v.name === view ? 0 : -1} onClick={() => onView(v.name)}>
					{v.title}
				</button>
			))}
		</div>
	);
}

/**
 * Where one can be; each leads to the view that was last looked at there.
 * @param {{ places: ReturnType<typeof placesOf>, view: PageView, onView: (name: string) => void }} props
 */
function Places({ places, view, onView }) {
	const last = useRef(/** @type {Map<string, string>} */ (new Map())).current;
	last.set(view.place, view.name);
	/** @param {ReturnType<typeof placesOf>[number]} place */
	const wayOf = (place) => (place.views.find((v) => v.name === last.get(place.name)) ?? place.views[0]).name;
	return (
		<nav class="places" aria-label="places">
			{places.map((place, i) => (
				<button key={place.name} type="button" id={`place-${place.name}`} data-views={place.views.map((v) => v.name).join(" ")} aria-current={place.name === view.place ? "page" : undefined} onClick={() => onView(wayOf(place))} title={`key ${i + 1}`}>
					{place.title}
				</button>
			))}
		</nav>
	);
}

// The same run in XProf: its overview with our suggestions, and its trace viewer with our rows under each device.
/** @param {{ look: Look, id: Maybe<string>, run: Maybe<Run> }} props */
function XProf({ look, id, run }) {
	const host = look.host ?? run?.hosts?.[0]?.name;
	const name = id ?? (run?.run && run.run !== "." ? `${run.run}/${run.session}` : run?.session);
	if (!run || !name || isTrace(run)) return null;
	const at = new URLSearchParams(host ? { run: name, host } : { run: name });
	const overview = xprof(`data/plugin/profile/index.html?${at}&tag=overview_page&enable_smart_suggestion=true`);
	const trace = xprof(`?${at}&tag=trace_viewer%40#profile`);
	if (!overview || !trace) return null;
	return (
		<span class="xprof">
			<a href={overview} target="_blank" rel="noopener noreferrer">
				XProf overview
			</a>{" "}
			<a href={trace} target="_blank" rel="noopener noreferrer">
				XProf trace viewer
			</a>
		</span>
	);
}

// A profile outside of a log directory has no run: it goes by its host.
/** @param {Run} run */
const nameOf = (run) => [run.run === "." ? null : run.run, run.session].filter(Boolean).join(" / ") || (run.hosts?.[0]?.name ?? "");

/** @type {Record<string, string>} */
const STATES = {
	connecting: "\u25cb connecting",
	open: "\u25cf live",
	lost: "\u2715 disconnected, trying again",
	ended: "\u25a0 the watch has ended; waiting for the next one",
};
/** @type {(n: number, what: string) => string} */
const nr = (n, what) => `${n.toLocaleString("en-US")} ${what}${n === 1 ? "" : "s"}`;

// Whether the page is up to date, and the button that makes it stand still.
/** @param {{ live: Watched }} props */
function LiveBar({ live }) {
	const { samples, alerts } = live.waiting;
	const active = live.sample[live.sample.length - 1]?.alerts.length ?? 0;
	useEffect(() => {
		document.title = active ? `(${active}) TPUsight` : "TPUsight"; // seen on the tab of a page in the background
	}, [active]);
	return (
		<span class="live">
			<span role="status" class={`state ${live.paused && live.state === "open" ? "paused" : live.state}`}>
				{live.paused ? "\u2016 paused" : STATES[live.state]}
				{live.paused && live.state !== "open" ? `, ${STATES[live.state]}` : ""}
			</span>
			<button type="button" onClick={live.pause} title="key p" aria-pressed={live.paused}>
				{live.paused ? "Go on" : "Pause"}
			</button>
			{live.paused && <span class="count">{`${nr(samples, "sample")}${alerts ? ` and ${nr(alerts, "alert")}` : ""} waiting`}</span>}
			<span role="log" class="unseen">
				{live.news.map((a) => (
					<span key={a.id}>{`${a.state} ${a.severity}: ${clean(a.message ?? a.rule)}. `}</span>
				))}
			</span>
		</span>
	);
}

/** @param {Watched | null} live */
const watchedOf = (live) => (live?.sample[live.sample.length - 1]?.services ?? []).map((s) => s.service).join(", ");

/** @type {(value: string | number, name: string) => [string | number, string]} */
const pair = (value, name) => [value, clean(name)];

// To send what is seen to somebody, or to keep it.
function CopyLink() {
	const { link } = usePage();
	const [notice, setNotice] = useState("");
	const onClick = async () => {
		setNotice((await copy(link())) ? "copied" : "the browser did not allow the copy");
		setTimeout(() => setNotice(""), 3000);
	};
	return (
		<span class="copylink">
			<button type="button" onClick={onClick} title="copies the address of this page with all that is chosen in it">
				Copy link
			</button>
			<span role="status" class="count">
				{notice}
			</span>
		</span>
	);
}

/** @type {[keys: string, what: string][]} */
const KEYS = [
	["1 to 5", "go to a place"],
	["/", "search ops, modules, sources and findings"],
	["w, s", "see a shorter or a longer time"],
	["a, d", "see an earlier or a later time"],
	["Escape", "close what is chosen, or go back to the last time"],
	["p", "stop a live page, or let it go on"],
	["?", "show these keys"],
];

// What keys do, and where words are explained.
function Keys() {
	const box = useRef(/** @type {HTMLDetailsElement | null} */ (null));
	useEffect(() => {
		const onKey = (/** @type {KeyboardEvent} */ e) => {
			const at = box.current;
			if (!at || e.ctrlKey || e.metaKey || e.altKey || (e.target instanceof Element && /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))) return;
			if (e.key === "?") at.open = !at.open;
			else if (e.key === "Escape" && at.open) {
				at.open = false;
				e.stopImmediatePropagation(); // it closes this, and not what else is chosen
			}
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, []);
	return (
		<details class="chooser keys" ref={box}>
			<summary aria-label="keys and help" title="key ?">
				?
			</summary>
			<div class="menu">
				<dl>
					{KEYS.map(([keys, what]) => (
						<Fragment key={keys}>
							<dt>{keys}</dt>
							<dd>{what}</dd>
						</Fragment>
					))}
				</dl>
				<p>A “?” beside a label says what it means. So does “tpusight explain WORD”, and docs/glossary.md has all words.</p>
			</div>
		</details>
	);
}

/** @param {{ runs: ListedRun[] | undefined, views: PageView[], theme: Theme, setTheme: ((theme: Theme) => void) | null }} props */
function Heading({ runs, views, theme, setTheme }) {
	const { whole: report, look, setLook } = usePage();
	const live = useWatch();
	const run = report?.run;
	const listed = runNamed(look.run, runs);
	const pickRun = (/** @type {string | null} */ id) => {
		const to = runNamed(id, runs);
		if (to && runs) setLook({ ...ofRun(runName(to, runs)), ...(isPage(look.view) ? { view: "overview" } : {}) });
	};
	const wall = run?.duration_ps ?? 0;
	const hosts = run?.hosts ?? [];
	const short = shortNames(hosts.map((x) => x.name));
	const called = useMemo(() => apart((runs ?? []).map((r) => r.title ?? r.id)), [runs]); // as the list of runs has it
	const hostChoices = [pair("", `all ${hosts.length}`), ...hosts.map((x) => pair(x.name, short.get(x.name) ?? x.name)).sort((a, b) => a[1].localeCompare(b[1], "en", { numeric: true }))];
	const devices = (run?.devices ?? []).filter((d) => !look.host || d.host === look.host);
	const deviceChoices = [pair("", `all ${devices.length}`), ...devices.map((d) => pair(d.id, report ? deviceName(report, d.id) : d.name))];
	return (
		<header>
			<div class="who">
				<h1>TPUsight</h1>
				{(run || live) && <span class="run" title={clean(run ? nameOf(run) : watchedOf(live))}>{cut(clean(run ? nameOf(run) : watchedOf(live)), 120)}</span>}
				{wall > 0 && <span class="count">{time(wall)}</span>}
				{run?.is_predicted && <strong class="predicted">predicted, not measured</strong>}
			</div>
			<div class="what">
				{live && <LiveBar live={live} />}
				{runs && (runs.length > 1 || !live || !look.run) && <Choice label="run" value={listed?.id} options={[...(listed ? [] : [pair("", "choose a run")]), ...runs.map((r, i) => pair(r.id, r.is_predicted ? `${called[i]} (predicted)` : called[i]))]} onPick={(id) => pickRun(id || null)} />}
				{(hosts.length > 1 || devices.length > 1) && (
					<span class="of">
						{hosts.length > 1 && <Choice label="host" value={look.host} options={hostChoices} onPick={(host) => setLook({ host: host || null, device: null })} />}
						{devices.length > 1 && <Choice label="device" value={look.device} options={deviceChoices} onPick={(id) => setLook({ device: id === "" ? null : Number(id) })} />}
					</span>
				)}
				<XProf look={look} id={listed?.id} run={run} />
				<OpenRun name={run ? nameOf(run) : ""} />
				<Search views={views} />
				{address.isLink() && <CopyLink />}
				<Keys />
				{setTheme && (
					<button type="button" class="theme" onClick={() => setTheme(theme === "dark" ? "light" : "dark")}>
						{theme === "dark" ? "Light" : "Dark"}
					</button>
				)}
			</div>
		</header>
	);
}

// What the list of runs lacks.
/** @param {{ all: string[] }} props */
function Problems({ all }) {
	if (!all.length) return null;
	return (
		<details class="problems">
			<summary>{`${nr(all.length, "place")} in the log directory ${all.length === 1 ? "is" : "are"} not shown`}</summary>
			<ul class="notes">
				{all.map((text) => (
					<li key={text}>{cut(clean(text), 1000)}</li>
				))}
			</ul>
		</details>
	);
}

// What the keys of Perfetto's page do there, they do here.
/** @type {Record<string, (scale: TimeScale) => void>} */
const MOVES = { w: (s) => s.zoom(0.7), s: (s) => s.zoom(1 / 0.7), a: (s) => s.pan(-0.2), d: (s) => s.pan(0.2), Escape: (s) => s.back() };

// Keys 1 to 5 choose a place wherever no text is being written, others the time; p makes a live page stand still.
/** @type {(places: ReturnType<typeof placesOf>, op: string | null, setLook: SetLook, live: Watched | null, scale: TimeScale) => void} */
function useKeys(places, op, setLook, live, scale) {
	const openOp = useRef(op);
	openOp.current = op;
	const pause = useRef(/** @type {(() => void) | undefined} */ (undefined));
	pause.current = live?.pause;
	useEffect(() => {
		const onKey = (/** @type {KeyboardEvent} */ e) => {
			const into = e.target instanceof Element ? e.target.tagName : "";
			if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(into)) return;
			const place = places[Number(e.key) - 1];
			if (place) document.getElementById(`place-${place.name}`)?.click();
			else if (e.key === "p") pause.current?.();
			else if (e.key === "Escape" && openOp.current) setLook({ op: null, finding: null });
			else MOVES[e.key]?.(scale);
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, [places]);
}

// Counts up when the report of what goes on is to be asked for again: there was a sample since, and REPORT_MS have passed.
const REPORT_MS = 5000;
/** @type {(live: Watched | null, wanted: boolean) => number} */
function useTurn(live, wanted) {
	const [turn, setTurn] = useState(0);
	const count = live ? live.counts.sample + live.counts.session : 0;
	const last = useRef(/** @type {{ count: number, at: number } | null} */ (null));
	useEffect(() => {
		const now = performance.now();
		if (!wanted) last.current = null;
		else last.current ??= { count, at: now };
		if (!last.current || count === last.current.count) return;
		const timer = setTimeout(() => {
			last.current = { count, at: performance.now() };
			setTurn((t) => t + 1);
		}, Math.max(last.current.at + REPORT_MS - now, 0));
		return () => clearTimeout(timer);
	}, [count, wanted]);
	return turn;
}

/**
 * What there is to draw. OF: the id of the run that the report is of; WANTED: of the one that is asked for.
 * @typedef {{ report: Report | null, loading: boolean, of?: Maybe<string>, wanted?: Maybe<string>, runs?: ListedRun[], problems?: string[], error?: string | null }} Fetched
 * @type {(look: Look, setLook: SetLook, live: Watched | null) => Fetched}
 */
function useReport(look, setLook, live) {
	const [state, setState] = useState(/** @type {() => Fetched} */ () => {
		const report = inlined();
		return { report, loading: !report && hasServer() };
	});
	const wanted = hasServer() && look.view !== "live" && !isPage(look.view) ? (runNamed(look.run, state.runs)?.id ?? null) : null;
	const turn = useTurn(live, Boolean(wanted));
	const latest = useRef(/** @type {string | null} */ (null)); // a page that shows the latest run goes on to the next one
	useEffect(() => {
		if (!hasServer()) return;
		fetchRuns()
			.then(({ runs, problems }) => {
				const last = latestOf(runs, live);
				const newest = last ? runName(last, runs) : null;
				setState((s) => ({ ...s, runs, problems, loading: newest !== null && !s.report, error: runs.length || live ? null : "No profile was found in this log directory." }));
				if (newest && (look.run === latest.current || !runNamed(look.run, runs))) setLook({ run: newest });
				latest.current = newest ?? latest.current;
			})
			.catch((e) => setState((s) => ({ ...s, loading: false, error: e.message })));
	}, [live?.counts.session]);
	useEffect(() => {
		if (!wanted) return;
		let current = true;
		setState((s) => ({ ...s, report: s.of === wanted ? s.report : null, loading: s.of !== wanted, error: null })); // nothing old stands under the new name
		fetchReport(wanted)
			.then((report) => current && setState((s) => ({ ...s, report, of: wanted, loading: false })))
			.catch((e) => current && setState((s) => ({ ...s, report: s.of === wanted ? s.report : null, loading: false, error: e.message })));
		return () => {
			current = false;
		};
	}, [wanted, turn]);
	return { ...state, wanted };
}

/**
 * The report of what is chosen of a run, where a server makes it; null: all is chosen, or there is no server. WHOLE: another one is of another time.
 * @type {(run: Maybe<string>, whole: Report | null, look: Look) => { report: Report | null, error: string | null } | null}
 */
function usePart(run, whole, look) {
	const [state, setState] = useState(/** @type {{ key: string | null, report: Report | null, error: string | null }} */ ({ key: null, report: null, error: null }));
	const part = run && whole && hasServer() ? partOf(look) : null;
	const key = part && `${run}?${new URLSearchParams(part)}`;
	useEffect(() => {
		if (!run || !part) return;
		const gone = new AbortController();
		fetchReport(run, part, gone.signal)
			.then((report) => setState({ key, report, error: null }))
			.catch((e) => gone.signal.aborted || setState({ key, report: null, error: e.message }));
		return () => gone.abort();
	}, [key, whole]);
	if (!key) return null;
	return state.key === key ? state : { report: null, error: null };
}

// What can be opened in Perfetto of the run that the report is of; null: it is not known yet, or the page has no server.
/** @type {(run: Maybe<string>) => Perfetto | null} */
function useTraces(run) {
	const [state, setState] = useState(/** @type {Perfetto | null} */ (null));
	useEffect(() => {
		if (!run || !hasTraces()) return;
		let current = true;
		fetchTraces(run)
			.then(({ ui, traces }) => current && setState({ run, ui, traces }))
			.catch((e) => current && setState({ run, ui: "", traces: [], error: e.message }));
		return () => {
			current = false;
		};
	}, [run]);
	return state?.run === run ? state : null;
}

// A view that a button leads to is seen from its top; "back" leads to where the page stood.
/** @type {(view: string, setLook: SetLook) => SetLook} */
function useTop(view, setLook) {
	const isLed = useRef(false);
	useLayoutEffect(() => {
		const main = document.querySelector("main");
		if (isLed.current && main && main.getBoundingClientRect().top < 0) main.scrollIntoView();
		isLed.current = false;
	}, [view]);
	return useCallback((change) => {
		isLed.current = change.view !== undefined;
		setLook(change);
	}, []);
}

// The browser's tab says which run this is, and a page of what goes on how many alerts there are (LiveBar).
/** @type {(run: Maybe<Run>, live: Watched | null) => void} */
function useTitle(run, live) {
	const name = run ? cut(clean(nameOf(run)), 120) : "";
	useEffect(() => {
		if (!live) document.title = name ? `${name} \u00b7 TPUsight` : "TPUsight";
	}, [name, !live]);
}

// What is read, and for how long: a large run takes its time.
/** @param {{ name: string }} props */
function Loading({ name }) {
	const [seconds, setSeconds] = useState(0);
	useEffect(() => {
		const begin = performance.now();
		const timer = setInterval(() => setSeconds(Math.floor((performance.now() - begin) / 1000)), 1000);
		return () => clearInterval(timer);
	}, []);
	const text = `Reading the profile ${cut(clean(name), 200)} \u2026`;
	return (
		<div class="loading">
			<p role="status">{text}</p>
			<progress aria-label={text} />
			<span class="count" aria-hidden="true">{seconds > 0 ? `${seconds} s` : ""}</span>
		</div>
	);
}

// Which time and devices the figures are of, where not all of the run is chosen.
/** @param {{ look: Look, part: ReturnType<typeof usePart> }} props */
function Scope({ look, part }) {
	if (!partOf(look)) return null;
	if (part?.report) return <p class="scope" role="status">All figures below are of what is chosen.</p>;
	const why = part?.error ? `The server did not make a report of it: ${clean(part.error)}` : hasServer() ? "The report of what is chosen is being made." : "A file has no others: tpusight serve and TensorBoard make them.";
	return <p class="scope" role="status">{`Charts over time, and tables whose rows have a time, show what is chosen. All other figures below are of the whole run. ${why}`}</p>;
}

function App() {
	const { look, setLook: set, choices, link } = useLook();
	const setLook = useTop(look.view, set);
	const [theme, setTheme] = useTheme();
	const watched = useLive();
	const live = isLive() ? watched : null;
	const { report, of, wanted, runs, problems, loading, error } = useReport(look, setLook, live);
	const perfetto = useTraces(of);
	const views = useMemo(() => viewsOf(report, isLive()), [report]);
	const scale = useMemo(() => new TimeScale((range) => setLook({ range })), []);
	scale.be(look.range, report ? runEnd(report) : 0);
	useLayoutEffect(() => addEventListener("pagehide", scale.settle), []); // before the address is kept (state.js)
	const comparison = useMemo(() => (!hasServer() && report?.compare ? { ...report.compare, modes: report.compile_modes } : null), [report]);
	const over = hasServer() || comparison ? PAGES.find((p) => p.name === (comparison ? "compare" : look.view)) : undefined;
	useTitle(over ? null : report?.run, live);
	const view = over ?? viewOf(views, look.view);
	const isCompared = Boolean(comparison);
	const places = useMemo(() => (isCompared ? placesOf([], PAGES.filter((p) => p.name === "compare")) : placesOf(views, runs ? PAGES : [])), [views, Boolean(runs), isCompared]);
	const ways = places.find((p) => p.name === view.place)?.views ?? [];
	useKeys(places, look.op ?? (view.place === "summary" ? null : (look.finding ?? null)), setLook, live, scale);
	const part = usePart(of === wanted && !view.isOfEvents ? of : null, report, look);
	const isNow = view.name === "live" || Boolean(over); // it has figures of its own, no report
	const whole = isNow ? null : report;
	const shown = whole && (part?.report ?? whole);
	const page = useMemo(() => ({ report: /** @type {Report} */ (shown), whole: /** @type {Report} */ (whole), comparison, runs, look, setLook, choices, scale, link, theme, perfetto }), [shown, whole, comparison, runs, look, theme, perfetto]);
	const drawable = shown ?? (comparison && report);
	const wrong = drawable && drawable.schema !== SCHEMA ? `This page draws ${SCHEMA} and not ${clean(String(drawable.schema))}: use the page of the same program.` : isNow ? null : error;
	const drawn = isNow || (shown && !wrong);
	const hasRail = Boolean(drawn && !isNow && view.place !== "summary"); // the summary says it all by itself
	const main = useMemo(
		() => (
			<main>
				<div class="where-to">
					<Places places={places} view={view} onView={(name) => setLook({ view: name })} />
					{ways.length > 1 && <Tabs views={ways} view={view.name} onView={(name) => setLook({ view: name })} />}
				</div>
				<div class={hasRail ? "bench" : ""}>
					{hasRail && <Rail />}
					<div>
						{drawn && !isNow && <Strip isFolded={view.isTimeless} />}
						{drawn && !isNow && !view.isOfEvents && <Scope look={look} part={part} />}
						{drawn && !over && <Contents view={view.name} />}
						<div id="view" data-view={view.name} {...(over ? { "data-page": over.name } : {})} {...(ways.length > 1 ? { role: "tabpanel", "aria-labelledby": `tab-${view.name}` } : { role: "region", "aria-label": view.title })}>
							<h2>{view.title}</h2>
							{drawn && <view.Draw key={view.name} />}
							{live && !look.run && !isNow && <p class="empty">No session was annotated since the watch began; choose a run.</p>}
						</div>
					</div>
				</div>
				{drawn && !isNow && <Hatching />}
				{drawn && !isNow && <Drawer hasFindings={hasRail} />}
			</main>
		),
		[places, view, drawn, hasRail, look, part?.report, part?.error],
	);
	return (
		<Page.Provider value={page}>
			<Watch.Provider value={live}>
				<Heading runs={runs} views={views} theme={theme} setTheme={setTheme} />
				<Problems all={problems ?? []} />
				{wrong && (
					<p class="error" role="alert">
						{clean(wrong)}
					</p>
				)}
				{loading && !isNow && <Loading key={wanted} name={runNamed(wanted, runs)?.title ?? look.run ?? ""} />}
				{(drawn || live) && main}
			</Watch.Provider>
		</Page.Provider>
	);
}

render(<App />, /** @type {HTMLElement} */ (document.getElementById("tpusight")));
