// The page: a heading, the run's picture, and one of the views.
import { h, render } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clean, cut, time } from "./format.js";
import "./page.css";
import { hasServer, inlined, report as fetchReport, runs as fetchRuns, xprof } from "./source.js";
import { Page, readHash, usePage, writeHash } from "./state.js";
import { Strip } from "./strip.jsx";
import { viewOf, viewsOf } from "./views/index.js";

const SCHEMA = "tpusight/1";

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

function Tabs({ views, view, onView }) {
	const list = useRef(null);
	const go = (i) => {
		const at = (i + views.length) % views.length;
		onView(views[at].name);
		list.current.children[at].focus();
	};
	const onKey = (e) => {
		const at = views.findIndex((v) => v.name === view);
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 }[e.key];
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
function XProf({ look, run }) {
	const host = look.host ?? run?.hosts?.[0]?.name;
	const name = look.run ?? (run?.run && run.run !== "." ? `${run.run}/${run.session}` : run?.session);
	if (!run || !name || !xprof("?")) return null;
	const at = new URLSearchParams({ run: name, host });
	return (
		<span class="xprof">
			<a href={xprof(`data/plugin/profile/index.html?${at}&tag=overview_page&enable_smart_suggestion=true`)} target="_blank" rel="noopener noreferrer">
				XProf overview
			</a>{" "}
			<a href={xprof(`?${at}&tag=trace_viewer%40#profile`)} target="_blank" rel="noopener noreferrer">
				XProf trace viewer
			</a>
		</span>
	);
}

// A profile outside of a log directory has no run: it goes by its host.
const nameOf = (run) => [run.run === "." ? null : run.run, run.session].filter(Boolean).join(" / ") || (run.hosts?.[0]?.name ?? "");

function Heading({ runs, theme, setTheme }) {
	const { report, look, setLook } = usePage();
	const run = report?.run;
	const hosts = run?.hosts ?? [];
	const devices = (run?.devices ?? []).filter((d) => !look.host || d.host === look.host);
	return (
		<header>
			<h1>TPUsight</h1>
			{runs && <Choice label="run" value={look.run} options={runs.map((r) => [r.id, clean(r.title ?? r.id)])} onPick={(id) => setLook({ run: id, range: null, device: null, host: null })} />}
			{run && <span class="run">{cut(clean(nameOf(run)), 120)}</span>}
			{run?.duration_ps > 0 && <span class="count">{time(run.duration_ps)}</span>}
			{hosts.length > 1 && <Choice label="host" value={look.host} options={[["", `all ${hosts.length}`], ...hosts.map((x) => [x.name, clean(x.name)])]} onPick={(host) => setLook({ host, device: null })} />}
			{devices.length > 1 && <Choice label="device" value={look.device} options={[["", `all ${devices.length}`], ...devices.map((d) => [d.id, clean(hosts.length > 1 ? `${d.host} ${d.name}` : d.name)])]} onPick={(id) => setLook({ device: id === null ? null : Number(id) })} />}
			<XProf look={look} run={run} />
			<button type="button" class="theme" onClick={() => setTheme(theme === "dark" ? "light" : "dark")}>
				{theme === "dark" ? "Light" : "Dark"}
			</button>
		</header>
	);
}

// Keys 1 to 9 choose a view wherever no text is being written.
function useKeys(views, setLook) {
	useEffect(() => {
		const onKey = (e) => {
			if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
			const view = views[Number(e.key) - 1];
			if (view) setLook({ view: view.name });
			else if (e.key === "Escape") setLook({ range: null });
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, [views]);
}

function useReport(look, setLook) {
	const [state, setState] = useState(() => {
		const report = inlined();
		return { report, loading: !report && hasServer() };
	});
	useEffect(() => {
		if (!hasServer()) return;
		fetchRuns()
			.then((runs) => {
				setState((s) => ({ ...s, runs, loading: runs.length > 0, error: runs.length ? null : "No profile was found in this log directory." }));
				if (runs.length && !runs.some((r) => r.id === look.run)) setLook({ run: runs[0].id });
			})
			.catch((e) => setState((s) => ({ ...s, loading: false, error: e.message })));
	}, []);
	useEffect(() => {
		if (!hasServer() || !look.run) return;
		let wanted = true;
		setState((s) => ({ ...s, loading: true, error: null }));
		fetchReport(look.run)
			.then((report) => wanted && setState((s) => ({ ...s, report, loading: false })))
			.catch((e) => wanted && setState((s) => ({ ...s, report: null, loading: false, error: e.message })));
		return () => (wanted = false);
	}, [look.run]);
	return state;
}

function App() {
	const [look, set] = useState(readHash);
	const setLook = useCallback((change) => set((l) => ({ ...l, ...change })), []);
	const [theme, setTheme] = useTheme();
	const { report, runs, loading, error } = useReport(look, setLook);
	const views = useMemo(() => viewsOf(report), [report]);
	useKeys(views, setLook);
	useEffect(() => writeHash(look), [look]);
	useEffect(() => {
		const onHash = () => set(readHash());
		addEventListener("hashchange", onHash);
		return () => removeEventListener("hashchange", onHash);
	}, []);
	const view = viewOf(views, look.view);
	const page = useMemo(() => ({ report, look, setLook, theme }), [report, look, theme]);
	const wrong = report && report.schema !== SCHEMA ? `This page draws ${SCHEMA} and not ${clean(String(report.schema))}: use the page of the same program.` : error;
	return (
		<Page.Provider value={page}>
			<Heading runs={runs} theme={theme} setTheme={setTheme} />
			{wrong && (
				<p class="error" role="alert">
					{clean(wrong)}
				</p>
			)}
			{loading && <p role="status">Reading the profile &hellip;</p>}
			{report && !wrong && (
				<main>
					<Tabs views={views} view={view.name} onView={(name) => setLook({ view: name })} />
					<Strip />
					<div id="view" role="tabpanel" aria-labelledby={`tab-${view.name}`}>
						<h2>{view.title}</h2>
						<view.Draw key={view.name} />
					</div>
				</main>
			)}
		</Page.Provider>
	);
}

render(<App />, document.getElementById("tpusight"));
