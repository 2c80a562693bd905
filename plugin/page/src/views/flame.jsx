// SPDX-License-Identifier: MIT
// Flame graph: time by path of calls, the outermost on top. A click (or Enter) makes a frame as wide as the page, Escape shows all
// again; arrow keys go from frame to frame. Only frames in sight are drawn, so a hundred thousand are as quick as a hundred.
import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FRAMES, INK } from "../colors.js";
import { clean, cut, title, value } from "../format.js";
import { labelOf } from "../glossary.js";
import { Check, Choice, Facts, filled, Missing, Notes } from "../parts.jsx";
import { useChoice, usePage } from "../state.js";
import { Table } from "../table.jsx";
import { build, children, find, folded, frameOf, heaviest, KINDS, placeOf, visit, WEIGHTS } from "./flame_tree.js";

const ROW = 19; // pixels
const TALL = 560; // of the box; more rows scroll
const NARROW = 0.5; // pixels: what is narrower is not drawn
const LETTERS = 24; // pixels that a frame needs for a text
const US = 1e6; // ps

/** @import { DrawCell, FrameRow, Row, Tree, Weight } from "../report.d.ts" */

// Light enough for dark letters in either theme; without colours, their lightness and the words below tell them apart.
/** @type {Record<string, string>} */
/** @type {Record<string, string>} */
const MEANS = { python: "Python", op: "operator", annotation: "range", runtime: "runtime call", kernel: "on the device", module: "module", scope: "scope", group: "many", host: "host event" };

// What the command line asked for, where the page is its file.
function asked() {
	const at = document.body.dataset;
	/** @param {string | undefined} text */
	const number = (text) => (text !== undefined && Number.isFinite(Number(text)) ? Number(text) : 0);
	return { kind: at.tree, weight: at.weight, least: number(at.minDurationPs) / US, depth: number(at.maxDepth), group: at.groupSmall === "true" };
}

/** Own time is a sum over threads or over devices. @type {Record<string, DrawCell>} */
const OWN = { self_ps: (v, row) => value(WEIGHTS.find((w) => w.name === row.weight)?.unit ?? "_ps", v) };
/** @type {(weight: Weight, v: number) => string} */
const shown = (weight, v) => (weight.unit ? value(weight.unit, v) : v.toLocaleString("en-US"));
/** @type {(part: number, all: number) => string} */
const shareOf = (part, all) => value("_pct", all > 0 ? (100 * part) / all : 0);

// --- drawing

/** @typedef {{ count: number, by: number }} Turn */
/** @typedef {{ tree: Tree, zoom: number, chosen: number, over: number, hits: Uint8Array, word: string, depth: number }} Drawn */

/** @type {(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, width: number, letter: number) => void} */
function label(ctx, text, x, y, width, letter) {
	const room = width - 8;
	const most = Math.floor(room / letter);
	if (width < LETTERS || most < 2) return;
	let drawn = text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
	const measured = ctx.measureText(drawn).width;
	if (measured > room) drawn = `${text.slice(0, Math.floor((drawn.length * room) / measured) - 1)}\u2026`; // these letters are wider than most
	ctx.fillText(drawn, x + 4, y + ROW - 6);
}

/** @type {(canvas: HTMLCanvasElement, box: HTMLElement, look: Drawn) => void} */
function paint(canvas, box, look) {
	const { tree, zoom, chosen, over, hits, word, depth } = look;
	const width = box.clientWidth;
	const height = Math.min(box.clientHeight, tree.depths * ROW + 1);
	const ratio = devicePixelRatio;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = `${height}px`;
	}
	const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
	const top = box.scrollTop;
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.clearRect(0, 0, width, height);
	ctx.font = "12px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
	const letter = ctx.measureText("abcdefghijklmnopqrst").width / 20;
	const of = getComputedStyle(document.documentElement);
	const [focus, panel, soft] = ["--text", "--panel", "--soft"].map((name) => of.getPropertyValue(name).trim());
	/** @type {[x: number, y: number, width: number, thickness: number][]} */
	const marks = [];
	visit(tree, zoom, NARROW / width, (i, at, share) => {
		const y = tree.depth[i] * ROW - top;
		if (y + ROW < 0 || y > height || (depth > 0 && tree.depth[i] >= depth)) return;
		const row = tree.rows[i];
		const x = at * width;
		const wide = Math.max(share * width - 0.5, NARROW);
		const dim = word && !hits[i];
		ctx.fillStyle = dim ? panel : (FRAMES[row.category] ?? FRAMES.host);
		ctx.fillRect(x, y, wide, ROW - 1);
		ctx.fillStyle = dim ? soft : INK.dark;
		label(ctx, clean(row.name), x, y, wide, letter);
		if (i === chosen || i === over) marks.push([x, y, wide, i === chosen ? 2 : 1]);
	});
	ctx.strokeStyle = focus;
	for (const [x, y, wide, thick] of marks) {
		ctx.lineWidth = thick;
		ctx.strokeRect(x + thick / 2, y + thick / 2, Math.max(wide - thick, 1), ROW - 1 - thick);
	}
}

// Which frame stands at these pixels of the box; -1: none.
/** @type {(look: Drawn, box: HTMLElement, x: number, y: number) => number} */
function frameAt(look, box, x, y) {
	const wanted = Math.floor((y + box.scrollTop) / ROW);
	const width = box.clientWidth;
	let found = -1;
	visit(look.tree, look.zoom, NARROW / width, (i, at, share) => {
		if (look.tree.depth[i] === wanted && x >= at * width && x < Math.max((at + share) * width, at * width + 1)) found = i;
	});
	return look.depth > 0 && wanted >= look.depth ? -1 : found;
}

// --- what a frame is, in words

/** @param {{ tree: Tree, weight: Weight, at: number }} props */
function Frame({ tree, weight, at }) {
	if (at < 0)
		return (
			<p class="frame" role="status">
				{`All: ${shown(weight, tree.all)} of ${weight.title}, ${tree.rows.length.toLocaleString("en-US")} frames.`}
			</p>
		);
	const row = tree.rows[at];
	const above = tree.parent[at] < 0 ? tree.all : tree.total[tree.parent[at]];
	return (
		<p class="frame" role="status">
			<b>{cut(clean(row.name), 600)}</b>
			{` ${MEANS[row.category] ?? row.category}: ${shown(weight, tree.total[at])} of ${weight.title}, ${shareOf(tree.total[at], tree.all)} of all, ${shareOf(tree.total[at], above)} of its caller; its own ${shown(weight, tree.self[at])}; ${row.count.toLocaleString("en-US")} calls`}
		</p>
	);
}

// Where the arrow keys lead from a frame.
/** @type {(tree: Tree, at: number, key: string) => number} */
function step(tree, at, key) {
	if (key === "ArrowUp") return tree.parent[at] ?? -1;
	if (key === "ArrowDown") return children(tree, at).reduce((best, i) => (best === at || tree.total[i] > tree.total[best] ? i : best), at);
	if (at < 0) return at;
	const siblings = children(tree, tree.parent[at]);
	const to = siblings.indexOf(at) + (key === "ArrowRight" ? 1 : -1);
	return siblings[Math.min(Math.max(to, 0), siblings.length - 1)] ?? at;
}

// Wide enough to be seen: if it is not, its nearest caller that is gets the whole width.
/** @type {(tree: Tree, zoom: number, at: number) => boolean} */
const within = (tree, zoom, at) => zoom < 0 || (at >= zoom && at < tree.end[zoom]);

/** @param {{ tree: Tree, weight: Weight, word: string, depth: number, turn: Turn }} props TURN: which hit is asked for */
function Graph({ tree, weight, word, depth, turn }) {
	const { theme } = usePage();
	const box = useRef(/** @type {HTMLDivElement | null} */ (null));
	const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
	const [place, setPlace] = useChoice("flame.zoom", "");
	const zoom = useMemo(() => frameOf(tree, place), [tree, place]);
	const setZoom = (/** @type {number} */ at) => setPlace(placeOf(tree, at));
	const [chosen, setChosen] = useState(-1);
	const [over, setOver] = useState(-1);
	const found = useMemo(() => find(tree, word), [tree, word]);
	const hits = useMemo(() => heaviest(tree, found.hits), [tree, found]);
	const [hit, setHit] = useState(-1);
	const look = { tree, zoom, chosen, over, hits: found.hits, word, depth };
	const now = useRef(look);
	now.current = look;
	const draw = () => {
		if (canvas.current && box.current) paint(canvas.current, box.current, now.current);
	};
	const scroller = () => /** @type {HTMLDivElement} */ (box.current);

	useEffect(() => {
		setChosen(-1);
		setOver(-1);
	}, [tree]);
	useEffect(() => setHit(-1), [tree, word]);
	const jump = (/** @type {number} */ by) => {
		if (!hits.length) return;
		const next = hit < 0 && by < 0 ? hits.length - 1 : (hit + by + hits.length) % hits.length;
		setHit(next);
		setOver(-1);
		setChosen(hits[next]);
		widen(hits[next]);
	};
	useEffect(() => {
		if (turn.count) jump(turn.by);
	}, [turn]);
	useEffect(draw, [tree, zoom, chosen, over, found, theme, depth]);
	useEffect(() => {
		const watch = new ResizeObserver(draw);
		watch.observe(scroller());
		return () => watch.disconnect();
	}, []);

	/** @param {MouseEvent} e */
	const under = (e) => {
		const at = scroller().getBoundingClientRect();
		return frameAt(now.current, scroller(), e.clientX - at.left, e.clientY - at.top);
	};
	/** @param {number} at */
	const choose = (at) => {
		setChosen(at);
		if (!within(tree, zoom, at)) setZoom(-1);
		const y = (at < 0 ? 0 : tree.depth[at]) * ROW;
		const view = scroller();
		if (y < view.scrollTop) view.scrollTop = y;
		if (y + ROW > view.scrollTop + view.clientHeight) view.scrollTop = y + ROW - view.clientHeight;
	};
	/** @param {number} at */
	const widen = (at) => {
		setZoom(at);
		scroller().scrollTop = at < 0 ? 0 : Math.max(tree.depth[at] - 3, 0) * ROW; // its callers are one bar each
	};
	const onClick = (/** @type {MouseEvent} */ e) => {
		const at = under(e);
		setChosen(at);
		widen(at === zoom ? -1 : at);
	};
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		if (/^Arrow/.test(e.key)) choose(step(tree, chosen, e.key));
		else if (e.key === "Enter" || e.key === " ") widen(chosen);
		else if (e.key === "Escape") widen(-1);
		else return;
		e.preventDefault();
		e.stopPropagation();
	};
	return (
		<div>
			<Frame tree={tree} weight={weight} at={over >= 0 ? over : chosen} />
			{word && (
				<p class="found">
					<span role="status">
						{`${found.nr.toLocaleString("en-US")} frames contain "${clean(word)}": ${value("_pct", 100 * found.share)} of ${weight.title}. `}
						{hits.length > 0 && (hit < 0 ? "Enter leads to the largest." : `This is number ${hit + 1} of ${hits.length}.`)}
					</span>{" "}
					<button type="button" disabled={!hits.length} onClick={() => jump(-1)}>
						Previous hit
					</button>{" "}
					<button type="button" disabled={!hits.length} onClick={() => jump(1)}>
						Next hit
					</button>
				</p>
			)}
			<div
				class="flame"
				ref={box}
				style={{ height: `${Math.min(tree.depths * ROW + 2, TALL)}px` }}
				tabIndex={0}
				role="application"
				aria-label={`flame graph of ${tree.rows.length} frames by ${weight.title}: arrow keys choose a frame, Enter widens it, Escape shows all`}
				onClick={onClick}
				onMouseMove={(e) => setOver(under(e))}
				onMouseLeave={() => setOver(-1)}
				onScroll={draw}
				onKeyDown={onKey}
			>
				<canvas ref={canvas} aria-hidden="true" />
				<div style={{ height: `${Math.max(tree.depths * ROW - Math.min(tree.depths * ROW, TALL), 0)}px` }} />
			</div>
		</div>
	);
}

/** @param {{ rows: FrameRow[] }} props */
function Colors({ rows }) {
	const seen = useMemo(() => Object.keys(MEANS).filter((c) => rows.some((r) => r.category === c)), [rows]);
	return (
		<ul class="legend">
			{seen.map((c) => (
				<li key={c}>
					<span class="swatch" style={{ background: FRAMES[c] }} aria-hidden="true" />
					{MEANS[c]}
				</li>
			))}
		</ul>
	);
}

/** @type {[weight: string, caption: string][]} */
const HOTTEST = [["device", "Hottest on the device"], ["cpu", "Hottest on the CPU"]];
const COLUMNS = ["name", "self_ps", "share_pct", "count", "caller"];
const LABELS = Object.fromEntries(COLUMNS.map((c) => [c, labelOf(`flame.hottest.${c}`)]));

/** @type {(rows: FrameRow[], weight: Weight) => boolean} */
const hasTime = (rows, weight) => rows.some((r) => r[weight.self] > 0);

export function Flame() {
	const view = usePage().report.flame;
	const first = useMemo(asked, []);
	const kinds = KINDS.filter((k) => view?.[k]?.length);
	const [kind, setKind] = useChoice("flame.of", first.kind ?? "");
	const [wanted, setWeight] = useChoice("flame.by", first.weight ?? "");
	const [least, setLeast] = useChoice("flame.least", first.least);
	const [depth, setDepth] = useChoice("flame.depth", first.depth);
	const [group, setGroup] = useChoice("flame.group", first.group);
	const [word, setWord] = useChoice("flame.find", "");
	const of = kinds.find((k) => k === kind) ?? kinds[0];
	/** @type {FrameRow[]} */
	const rows = view?.[of] ?? [];
	const weights = WEIGHTS.filter((w) => hasTime(rows, w));
	const weight = weights.find((w) => w.name === wanted) ?? ["device", "cpu"].map((n) => weights.find((w) => w.name === n)).find(Boolean) ?? WEIGHTS[2];
	const [whole, setWhole] = useChoice("flame.whole", false);
	const [turn, setTurn] = useState(/** @type {Turn} */ ({ count: 0, by: 1 }));
	const fold = useMemo(() => folded(rows, weight), [rows, weight]);
	const tree = useMemo(() => build(whole ? rows : fold.rows, weight, { least: least * US, group }), [rows, fold, whole, weight, least, group]);
	/** @type {Record<string, Row[]>} */
	const hottest = useMemo(() => Object.fromEntries(HOTTEST.map(([name]) => [name, (view?.hottest ?? []).filter((/** @type {Row} */ row) => row.weight === name)])), [view]);
	if (!view || !kinds.length) return <Missing what="call stacks, modules or scopes" />;
	return (
		<div>
			<Facts of="flame" view={view} names={/** @type {const} */ (["cpu_time_ps", "device_time_ps", "thread_count"]).filter((n) => view[n] !== null)} />
			<p class="count">Times here are sums over all threads and all devices, so they may be longer than the run.</p>
			<div class="bar">
				{kinds.length > 1 && <Choice label="of" value={of} options={kinds.map((k) => [k, title(`flame.${k}`)])} onPick={setKind} />}
				{weights.length > 1 && <Choice label="by" value={weight.name} options={weights.map((w) => [w.name, w.title])} onPick={setWeight} />}
				<label class="choice">
					frames of at least
					<input type="number" min="0" step="any" value={least} onInput={(e) => setLeast(Math.max(Number(e.currentTarget.value) || 0, 0))} />
					{"\u00b5s"}
				</label>
				<label class="choice">
					levels
					<input type="number" min="0" step="1" value={depth || ""} placeholder="all" onInput={(e) => setDepth(Math.max(Math.floor(Number(e.currentTarget.value)) || 0, 0))} />
				</label>
				{hasTime(rows, WEIGHTS[1]) && (
					<Check label="group small kernels" value={group} onPick={setGroup} />
				)}
				{fold.nr > 0 && <Check label={`all callers (${fold.nr} that only call the next one are ${whole ? "drawn" : "folded"})`} value={whole} onPick={setWhole} />}
				<input type="search" placeholder="find" aria-label="find frames" value={word} onInput={(e) => setWord(e.currentTarget.value)} onKeyDown={(e) => e.key === "Enter" && setTurn((t) => ({ count: t.count + 1, by: e.shiftKey ? -1 : 1 }))} />
			</div>
			<Colors rows={rows} />
			<Graph tree={tree} weight={weight} word={word} depth={depth} turn={turn} />
			{HOTTEST.map(([name, caption]) => (
				<Table key={name} name={`hottest_${name}`} caption={caption} rows={hottest[name]} columns={filled(hottest[name], COLUMNS)} draw={OWN} labels={LABELS} />
			))}
			<Notes view={view} />
		</div>
	);
}
