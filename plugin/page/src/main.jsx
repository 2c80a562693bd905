// The page: a heading, the run's picture, and one of the views.
import { h, render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clean, cut, time } from "./format.js";
import "./page.css";
import { latestOf, useLive } from "./live.js";
import { OpenRun } from "./open.jsx";
import { hasServer, hasTraces, inlined, isLive, report as fetchReport, runs as fetchRuns, traces as fetchTraces, xprof } from "./source.js";
import { Page, readHash, usePage, useWatch, Watch, writeHash } from "./state.js";
import { Strip } from "./strip.jsx";
import { viewOf, viewsOf } from "./views/index.js";

/** @import { ListedRun, Look, Maybe, PageView, Perfetto, Report, Run, SetLook, Watched } from "./report.d.ts" */

const SCHEMA = "tpusight/1";

/** @type {() => [string, (theme: string) => void]} */
function useTheme() {
	const stored = () => {
		try {
			return localStorage.getItem("tpusight-theme");
		} catch {
			return null; // pages from a file may have no storage
		}
	};
	const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
	const [theme, setTheme] = useState(() => stored() ?? system());
	useEffect(() => {
		document.documentElement.dataset.theme = theme;
		try {
			localStorage.setItem("tpusight-theme", theme);
		} catch {
			/* it holds until the page is closed */
		}
	}, [theme]);
	document.documentElement.dataset.theme = theme; // before anything is drawn with its colours
	return [theme, setTheme];
}

/** @param {{ views: PageView[], view: string, onView: (name: string) => void }} props */
function Tabs({ views, view, onView }) {
	const list = useRef(/** @type {HTMLDivElement | null} */ (null));
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
		<div class="tabs" role="tablist" aria-label="views" ref={list} onKeyDown={onKey}>
			{views.map((v, i) => (
				<button key={v.name} type="button" role="tab" id={`tab-${v.name}`} aria-controls="view" aria-selected={v.name === view} tabIndex={v.name === view ? 0 : -1} onClick={() => onView(v.name)} title={i < 9 ? `key ${i + 1}` : undefined}>
					{v.title}
				</button>
			))}
		</div>
	);
}

/** @param {{ label: string, value: Maybe<string | number>, options: [string | number, string][], onPick: (value: string | null) => void }} props */
function Choice({ label, value, options, onPick }) {
	return (
		<label class="choice">
			{label}
			<select value={value ?? ""} onChange={(e) => onPick(e.currentTarget.value === "" ? null : e.currentTarget.value)}>
				{options.map(([v, name]) => (
					<option key={v} value={v}>
						{name}
					</option>
				))}
			</select>
		</label>
	);
}

// The same run in XProf: its overview with our suggestions, and its trace viewer with our rows under each device.
/** @param {{ look: Look, run: Maybe<Run> }} props */
function XProf({ look, run }) {
	const host = look.host ?? run?.hosts?.[0]?.name;
	const name = look.run ?? (run?.run && run.run !== "." ? `${run.run}/${run.session}` : run?.session);
	if (!run || !name) return null;
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

/** @param {{ runs: ListedRun[] | undefined, theme: string, setTheme: (theme: string) => void }} props */
function Heading({ runs, theme, setTheme }) {
	const { report, look, setLook } = usePage();
	const live = useWatch();
	const run = report?.run;
	const wall = run?.duration_ps ?? 0;
	const hosts = run?.hosts ?? [];
	const hostChoices = [pair("", `all ${hosts.length}`), ...hosts.map((x) => pair(x.name, x.name))];
	const devices = (run?.devices ?? []).filter((d) => !look.host || d.host === look.host);
	const deviceChoices = [pair("", `all ${devices.length}`), ...devices.map((d) => pair(d.id, hosts.length > 1 ? `${d.host} ${d.name}` : d.name))];
	return (
		<header>
			<h1>TPUsight</h1>
			{live && <LiveBar live={live} />}
			{runs && (runs.length > 1 || !live || !look.run) && <Choice label="run" value={look.run} options={[...(look.run ? [] : [pair("", "choose a run")]), ...runs.map((r) => pair(r.id, r.title ?? r.id))]} onPick={(id) => id && setLook({ run: id, range: null, device: null, host: null })} />}
			{(run || live) && <span class="run">{cut(clean(run ? nameOf(run) : watchedOf(live)), 120)}</span>}
			{wall > 0 && <span class="count">{time(wall)}</span>}
			{hosts.length > 1 && <Choice label="host" value={look.host} options={hostChoices} onPick={(host) => setLook({ host, device: null })} />}
			{devices.length > 1 && <Choice label="device" value={look.device} options={deviceChoices} onPick={(id) => setLook({ device: id === null ? null : Number(id) })} />}
			<XProf look={look} run={run} />
			<OpenRun name={run ? nameOf(run) : ""} />
			<button type="button" class="theme" onClick={() => setTheme(theme === "dark" ? "light" : "dark")}>
				{theme === "dark" ? "Light" : "Dark"}
			</button>
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

// Keys 1 to 9 choose a view wherever no text is being written; p makes a live page stand still.
/** @type {(views: PageView[], setLook: SetLook, live: Watched | null) => void} */
function useKeys(views, setLook, live) {
	const pause = useRef(/** @type {(() => void) | undefined} */ (undefined));
	pause.current = live?.pause;
	useEffect(() => {
		const onKey = (/** @type {KeyboardEvent} */ e) => {
			const into = e.target instanceof Element ? e.target.tagName : "";
			if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(into)) return;
			const view = views[Number(e.key) - 1];
			if (view) setLook({ view: view.name });
			else if (e.key === "p") pause.current?.();
			else if (e.key === "Escape") setLook({ range: null });
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, [views]);
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
 * What there is to draw. OF: the run that the report is of.
 * @typedef {{ report: Report | null, loading: boolean, of?: Maybe<string>, runs?: ListedRun[], problems?: string[], error?: string | null }} Fetched
 * @type {(look: Look, setLook: SetLook, live: Watched | null) => Fetched}
 */
function useReport(look, setLook, live) {
	const [state, setState] = useState(/** @type {() => Fetched} */ () => {
		const report = inlined();
		return { report, loading: !report && hasServer() };
	});
	const wanted = hasServer() && look.view !== "live" ? look.run : null;
	const turn = useTurn(live, Boolean(wanted));
	const latest = useRef(/** @type {string | null} */ (null)); // a page that shows the latest run goes on to the next one
	useEffect(() => {
		if (!hasServer()) return;
		fetchRuns()
			.then(({ runs, problems }) => {
				const newest = latestOf(runs, live)?.id ?? null;
				setState((s) => ({ ...s, runs, problems, loading: newest !== null && !s.report, error: runs.length || live ? null : "No profile was found in this log directory." }));
				if (newest && (look.run === latest.current || !runs.some((r) => r.id === look.run))) setLook({ run: newest });
				latest.current = newest ?? latest.current;
			})
			.catch((e) => setState((s) => ({ ...s, loading: false, error: e.message })));
	}, [live?.counts.session]);
	useEffect(() => {
		if (!wanted) return;
		let current = true;
		setState((s) => ({ ...s, loading: s.of !== wanted, error: null }));
		fetchReport(wanted)
			.then((report) => current && setState((s) => ({ ...s, report, of: wanted, loading: false })))
			.catch((e) => current && setState((s) => ({ ...s, report: s.of === wanted ? s.report : null, loading: false, error: e.message })));
		return () => {
			current = false;
		};
	}, [wanted, turn]);
	return state;
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

function App() {
	const [look, set] = useState(readHash);
	const setLook = useCallback(/** @type {SetLook} */ (change) => set((l) => ({ ...l, ...change })), []);
	const [theme, setTheme] = useTheme();
	const watched = useLive();
	const live = isLive() ? watched : null;
	const { report, of, runs, problems, loading, error } = useReport(look, setLook, live);
	const perfetto = useTraces(of);
	const views = useMemo(() => viewsOf(report, isLive()), [report]);
	useKeys(views, setLook, live);
	useEffect(() => writeHash(look), [look]);
	useEffect(() => {
		const onHash = () => set(readHash());
		addEventListener("hashchange", onHash);
		return () => removeEventListener("hashchange", onHash);
	}, []);
	const view = viewOf(views, look.view);
	const isNow = view.name === "live"; // it has figures of its own, no report
	const shown = isNow ? null : report;
	const page = useMemo(() => ({ report: /** @type {Report} */ (shown), runs, look, setLook, theme, perfetto }), [shown, runs, look, theme, perfetto]);
	const wrong = shown && shown.schema !== SCHEMA ? `This page draws ${SCHEMA} and not ${clean(String(shown.schema))}: use the page of the same program.` : isNow ? null : error;
	const drawn = isNow || (shown && !wrong);
	const main = useMemo(
		() => (
			<main>
				<Tabs views={views} view={view.name} onView={(name) => setLook({ view: name })} />
				{drawn && !isNow && <Strip />}
				<div id="view" role="tabpanel" aria-labelledby={`tab-${view.name}`}>
					<h2>{view.title}</h2>
					{drawn && <view.Draw key={view.name} />}
					{live && !look.run && !isNow && <p class="empty">No session was annotated since the watch began; choose a run.</p>}
				</div>
			</main>
		),
		[views, view, drawn, look.run],
	);
	return (
		<Page.Provider value={page}>
			<Watch.Provider value={live}>
				<Heading runs={runs} theme={theme} setTheme={setTheme} />
				<Problems all={problems ?? []} />
				{wrong && (
					<p class="error" role="alert">
						{clean(wrong)}
					</p>
				)}
				{loading && !isNow && <p role="status">Reading the profile &hellip;</p>}
				{(drawn || live) && main}
			</Watch.Provider>
		</Page.Provider>
	);
}

render(<App />, /** @type {HTMLElement} */ (document.getElementById("tpusight")));
