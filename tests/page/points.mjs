// SPDX-License-Identifier: MIT
// What a picture makes people believe: node points.mjs JOBS.json [SHOTS]
//
// JOBS: [{name, url, inside, checks: {CHECK: WANT}}]. Each check is one way in which a page misled people who looked at it; points_test.py says which
// and works out what is true. SHOTS: a folder. Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { bounded, launch, PATIENCE_MS, settled, show, shut, viewNames, watch } from "./browser.mjs";

const [jobsFile, shots] = process.argv.slice(2);
const wrong = [];
let job;
const must = (good, text) => good || wrong.push(`${job.name}: ${text}`);

const text = (page, selector) => page.$eval(selector, (e) => e.innerText.replaceAll("\n", " "));
// What does not come about is a fault, and not the end of the test.
const comes = (page, test, arg, what) => page.waitForFunction(test, arg).then(() => true, () => must(false, what));

// --- what is written on canvases, whose text cannot be read, by where it stands

function listen() {
	window.written = new Map();
	const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
	CanvasRenderingContext2D.prototype.clearRect = function clear(...box) {
		if (box[2] >= this.canvas.width) window.written.delete(this.canvas);
		return clearRect.call(this, ...box);
	};
	CanvasRenderingContext2D.prototype.fillText = function write(said, x, y, ...more) {
		const at = this.getTransform().transformPoint({ x, y });
		if (!window.written.has(this.canvas)) window.written.set(this.canvas, []);
		window.written.get(this.canvas).push({ said, x: at.x / devicePixelRatio, y: at.y / devicePixelRatio });
		return fillText.call(this, said, x, y, ...more);
	};
}

async function drawn(page) {
	await settled(page);
	await page.waitForFunction(() => [...document.querySelectorAll(".u-wrap canvas")].every((c) => window.written.get(c)?.length));
}

async function open(link, about = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...about });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: job.inside, bad: (said) => must(false, said) });
	await page.addInitScript(listen);
	await page.goto(`${job.url}#${link}`);
	await page.waitForSelector("#view");
	await drawn(page);
	return page;
}

async function choose(page, view) {
	await show(page, view);
	await drawn(page);
}

// The charts over time that match: where each stands, and what is written left of it and below it.
const charts = (page, selector = ".over-time") => page.$$eval(selector, (all) => all.map((over) => {
	const canvas = over.closest(".u-wrap").querySelector("canvas");
	const [box, around] = [over.getBoundingClientRect(), canvas.getBoundingClientRect()];
	const near = (window.written.get(canvas) ?? []).map((w) => ({ said: w.said, x: w.x + around.left - box.left, y: w.y + around.top - box.top }));
	return {
		label: over.closest('[role="img"]')?.getAttribute("aria-label") ?? "",
		left: box.left,
		top: box.top,
		width: box.width,
		height: box.height,
		rows: near.filter((w) => w.x < 0 && w.y < box.height + 8),
		times: near.filter((w) => w.x >= -8 && w.y >= box.height),
		inside: near.filter((w) => w.x >= 0 && w.y < box.height).map((w) => w.said),
	};
}));

const UNITS = { s: 1e12, ms: 1e9, "\u00b5s": 1e6, ns: 1e3, ps: 1 };
/** "17.5 ms" in ps; null: it is no time. */
function psOf(said) {
	const [, number, unit] = /^([\d.,]+) (s|ms|\u00b5s|ns|ps)$/.exec(said) ?? [];
	return unit ? Number(number.replaceAll(",", "")) * UNITS[unit] : null;
}

/** The times at both edges of a chart, by two of its labels. */
function timesOf(chart) {
	const known = chart.times.map((w) => [w.x, psOf(w.said)]).filter(([, ps]) => ps !== null).sort(([a], [b]) => a - b);
	const [[x, from], [y, to]] = [known[0], known.at(-1)];
	const at = (px) => from + ((px - x) * (to - from)) / (y - x);
	return [at(0), at(chart.width)];
}

const point = (chart, share, row = 0.5) => [chart.left + chart.width * share, chart.top + chart.height * row];

// --- A1: the axes of stacked and filled charts begin at 0

/** A share of what is drawn in one column of a chart, by its colours. */
const columnOf = (page, label, share, colors) => page.evaluate(([start, at, wanted]) => {
	const box = [...document.querySelectorAll('[role="img"]')].find((e) => e.getAttribute("aria-label").startsWith(start));
	const [canvas, over] = [box.querySelector("canvas"), box.querySelector(".u-over").getBoundingClientRect()];
	const around = canvas.getBoundingClientRect();
	const x = Math.round((over.left - around.left + over.width * at) * devicePixelRatio);
	const pixels = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height).data;
	return wanted.map(([r, g, b]) => {
		let nr = 0;
		for (let i = 0; i < pixels.length; i += 4) if (Math.abs(pixels[i] - r) + Math.abs(pixels[i + 1] - g) + Math.abs(pixels[i + 2] - b) < 9 && pixels[i + 3] > 250) nr++;
		return nr;
	});
}, [label, share, colors]);

async function from_zero({ views, step }) {
	const page = await open("view=overview");
	let nr = 0;
	for (const view of views ?? (await viewNames(page))) {
		await choose(page, view);
		for (const { label, rows, height } of await charts(page)) {
			const numbers = rows.filter((w) => /^-?[\d.,]+( [\w%/\u00b5]+)*$/.test(w.said));
			if (!numbers.length || numbers.length < rows.length || label.startsWith("when ")) continue; // names of rows
			const lowest = numbers.reduce((a, b) => (a.y > b.y ? a : b));
			must(/^0(\.0+)?( |$)/.test(lowest.said) && Math.abs(lowest.y - height) <= 8, `${view}: the axis of "${label}" begins with ${lowest.said}, ${Math.round(height - lowest.y)} pixels above its end`);
			nr++;
		}
	}
	must(nr > 0, "no chart over time has an axis");
	if (step) {
		await choose(page, "time");
		const found = await columnOf(page, "time classes of", step.at, step.colors);
		const all = found.reduce((sum, n) => sum + n, 0);
		for (const [i, share] of step.shares.entries()) must(Math.abs(found[i] / all - share) < 0.05, `class ${i} is ${(100 * share).toFixed(0)} % of a step and drawn as ${((100 * found[i]) / all).toFixed(0)} %`);
	}
	await shut(page.context());
}

// Classes of a device are drawn over time only where their slices say what its time was; else as shares of it.
async function shares_of_cores({ shares }) {
	const page = await open("view=systolic");
	const at = 'section[aria-label="Time classes"]';
	await (await page.$(at)).scrollIntoViewIfNeeded();
	await drawn(page);
	must(!(await page.$(`${at} .over-time`)), "classes of a core are drawn over time with two slices for all of it");
	const said = (await page.$$eval(`${at} .shares`, (all) => all.map((e) => [...e.children].find((c) => c.title.startsWith("Communication"))?.style.width))).map(Number.parseFloat);
	for (const [i, share] of shares.entries()) must(Math.abs(said[i] - 100 * share) < 1, `core ${i} communicates for ${(100 * share).toFixed(0)} % of its time, and ${said[i]} % are drawn`);
	await shut(page.context());
}

// --- A2: the strip is the whole capture

async function whole_capture({ end_ps, in_step, outside, loose, findings }) {
	const page = await open("view=overview");
	const [strip] = await charts(page, ".strip .over-time");
	const [from, to] = timesOf(strip);
	must(Math.abs(from) < end_ps / 100 && Math.abs(to - end_ps) < end_ps / 100, `the strip goes from ${from} to ${to} ps instead of 0 to ${end_ps}`);
	const says = async (share, what) => {
		await page.mouse.move(...point(strip, share));
		await comes(page, (want) => document.querySelector(".strip .tip:not([hidden])")?.textContent.includes(want), what, `at ${(100 * share).toFixed(1)} % of the strip nothing says "${what}"`);
	};
	if (in_step) await says(in_step.at, in_step.says);
	if (loose) must((await page.$$(".strip .swatch.hatched")).length === 0, "the strip calls a time outside of steps in which devices are at one");
	if (outside) {
		await says(outside.at, outside.says);
		must((await page.$$(".strip .swatch.hatched")).length + Number(!outside.hatched) > 0, "the legend does not say what lies outside of steps");
	}
	const lane = (await charts(page, ".strip .over-time")).at(-1);
	const nr = Math.round(lane.height / 6); // of the lowest rows
	let place = null;
	for (const { id, title, at } of findings) {
		let found = null;
		for (const share of at)
			for (let row = 0; row < nr && !found; row++) {
				await page.mouse.move(...point(lane, share, (row + 0.5) / nr));
				const said = await page.$$eval(".strip .tip:not([hidden])", (all) => all.map((e) => e.textContent).join());
				if (said.includes(title)) found = { id, at: point(lane, share, (row + 0.5) / nr), isOwn: !said.includes(`also here: ${title}`) };
			}
		must(found, `the strip does not mark "${title}"`);
		if (found?.isOwn) place ??= found;
	}
	if (shots) await page.screenshot({ path: `${shots}/strip-${job.name}.png` });
	if (place) {
		await page.mouse.click(...place.at);
		await comes(page, (id) => location.hash.includes("view=doctor") && location.hash.includes(`finding=${id}`), place.id, "a click on a mark does not lead to its finding");
	}
	await shut(page.context());
}

// --- A3: what is chosen is what all figures are of, or they say that they are not

const counts = (page) => page.$$eval("section.table", (all) => Object.fromEntries(all.map((e) => [e.getAttribute("aria-label"), { count: e.querySelector(".count").textContent, scope: e.querySelector(".of-all")?.textContent ?? "" }])));

// A server makes the report of the part: its figures stand there, and those of the whole run do not.
async function recomputed({ link, views }) {
	const page = await open(`view=overview&${link}`);
	await comes(page, () => document.querySelector(".scope")?.textContent.startsWith("All figures"), null, "it is not said that all figures are of what is chosen");
	for (const [view, { part, whole }] of Object.entries(views)) {
		await choose(page, view);
		const seen = await page.$eval("#view", (e) => e.innerText);
		for (const said of part) must(seen.includes(said), `${view}: "${said}" of the part is not there`);
		for (const said of whole) must(!seen.includes(said), `${view}: "${said}" of the whole run stands among figures of a part`);
		must((await page.$$(".of-all")).length === 0, `${view}: a table of the part says that it is of the whole run`);
	}
	await shut(page.context());
}

// A file has the whole run: what has times is narrowed, all else says that it is not.
async function narrowed({ link, word, views }) {
	const page = await open("view=overview");
	const before = {};
	for (const view of views) {
		await choose(page, view);
		before[view] = await counts(page);
	}
	await shut(page.context());
	const chosen = await open(`view=overview&${link}`);
	must(/of the whole run/.test(await text(chosen, ".scope")), "it is not said that figures are of the whole run");
	for (const view of views) {
		await choose(chosen, view);
		for (const [name, { count, scope }] of Object.entries(await counts(chosen))) {
			const isNarrowed = count !== before[view][name]?.count;
			must(isNarrowed || scope.includes(word), `${view}: table ${name} is not narrowed, and does not say "${word}"`);
			must(!isNarrowed || !scope.includes(word), `${view}: table ${name} is narrowed and says "${scope}"`);
		}
	}
	await shut(chosen.context());
}

// One of something is one.
async function one({ link, view, table, scope }) {
	const page = await open(`view=${view}&${link}`);
	if (scope) await comes(page, () => document.querySelector(".scope")?.textContent.startsWith("All figures"), null, "the server made no report of the part");
	await comes(page, (name) => document.querySelector(`section.table[aria-label="${name}"] .count`)?.textContent === "1", table, `${view}: ${link} leaves ${(await counts(page))[table]?.count} rows of ${table}`);
	await shut(page.context());
}

// --- A4: scales of utilization and bandwidth end at what the chip can do

async function fixed_scales({ peak, has_matrix, impossible }) {
	const page = await open("view=systolic");
	const heat = 'section[aria-label="utilization by op and step"]';
	if (await page.$(heat)) {
		must(/^0 %\s*100 %$/.test((await text(page, `${heat} .scale`)).trim()), `the heat map's scale is ${await text(page, `${heat} .scale`)}`);
		must((await text(page, heat)).includes("\u2715 impossible") === Boolean(impossible), `the heat map says of what cannot be true: ${await text(page, heat)}`);
	}
	if (impossible) {
		const over = await page.$(`${heat} .u-over`);
		await over.scrollIntoViewIfNeeded();
		const box = await over.boundingBox();
		for (const [row, column] of impossible.cells) {
			await page.mouse.move(box.x + (box.width * (column + 0.5)) / impossible.columns, box.y + (box.height * (row + 0.5)) / impossible.rows);
			await comes(page, (at) => document.querySelector(`${at} .tip:not([hidden])`)?.textContent.includes("impossible"), heat, `cell ${row}, ${column} does not say that it cannot be true`);
		}
		if (shots) await (await page.$(heat)).screenshot({ path: `${shots}/heat-${job.name}.png` });
	}
	const ends = async (name, top) => {
		const [chart] = await charts(page, `section[aria-label="${name}"] .over-time`);
		must(chart, `there is no chart of ${name}`);
		if (!chart) return;
		const highest = chart.rows.reduce((a, b) => (a.y < b.y ? a : b));
		must(highest.said === top && Math.abs(highest.y) <= 8, `the axis of ${name} ends with ${highest.said}`);
	};
	if (has_matrix) await ends("MXU utilization (%)", "100 %");
	await choose(page, "memory");
	const [chart] = await charts(page, 'section[aria-label="HBM bandwidth (GB/s)"] .over-time');
	must(chart?.inside.includes("peak of the chip"), "the bandwidth has no line at its peak");
	const highest = Math.max(...(chart?.rows.map((w) => Number(w.said.split(" ")[0].replaceAll(",", ""))) ?? [0]));
	must(highest * 1e9 <= peak * 1.1 && highest * 1e9 >= peak * 0.7, `the axis of the bandwidth ends at ${highest} GB/s; the peak is ${peak / 1e9}`);
	await shut(page.context());
}

// --- A5, A8, A10, A13: facts

const facts = (page) => page.$$eval("#view .fact", (all) => all.map((e) => ({
	label: e.querySelector("dt").innerText.replace(/\s*\?\s*$/, "").trim(),
	value: e.querySelector("dd").firstChild.textContent,
	origin: e.querySelector(".origin")?.textContent ?? "",
	window: e.querySelector(".window")?.textContent ?? "",
	kind: e.className,
})));

async function one_utilization({ pct }) {
	const page = await open("view=overview");
	for (const view of ["overview", "memory"]) {
		await choose(page, view);
		const found = (await facts(page)).filter((f) => /^HBM/.test(f.label) && f.value.endsWith("%")).map((f) => f.value);
		must(`${found}` === pct, `${view}: HBM utilization is ${found} instead of ${pct}`);
	}
	await shut(page.context());
}

// Beside each number that says how idle something was stands the time that it is of.
async function windows({ views }) {
	const page = await open("view=overview");
	for (const [view, labels] of Object.entries(views)) {
		await choose(page, view);
		const found = await facts(page);
		for (const [label, window] of Object.entries(labels)) {
			const fact = found.find((f) => f.label === label);
			must(fact, `${view}: there is no ${label}, only ${found.map((f) => f.label)}`);
			if (fact) must(fact.window === window, `${view}: ${label} is "${fact.window}" and not "${window}"`);
		}
	}
	await shut(page.context());
}

async function inferred() {
	const page = await open("view=overview");
	const found = (await facts(page)).filter((f) => /^(steps?|median step|mean|median|p90|p99|least|most|number of steps)\b/i.test(f.label));
	must(found.length > 0, "the overview has no figure of steps");
	for (const f of found) must(f.origin !== "measured", `${f.label} is called measured, but steps are inferred`);
	must(found.some((f) => f.origin === "inferred"), `no figure of ${found.map((f) => f.label)} is called inferred`);
	await shut(page.context());
}

// A verdict praises nothing that findings warn of, and a figure is not poor for being the smaller of two limits.
async function one_voice({ praised, excused }) {
	const page = await open("view=overview");
	const verdict = (await page.$$eval(".verdict", (all) => all.map((e) => e.innerText))).join(" ");
	must(praised || !/\bgood\b|!/i.test(verdict), `"${verdict}" stands above findings that warn`);
	await choose(page, "doctor");
	const figures = (await facts(page)).filter((f) => f.kind.includes("kpi"));
	for (const label of excused) {
		const fact = figures.find((f) => f.label === label);
		must(fact, `there is no ${label} among ${figures.map((f) => f.label)}`);
		if (fact) must(!fact.kind.includes("poor") && fact.origin !== "poor", `${label} is poor though the run is bound by something else`);
	}
	await shut(page.context());
}

// --- A6, A7, A9, A12: all that stands on all views

async function sweep({ end_ps, bytes_per_s, more }) {
	const page = await open("view=overview");
	for (const view of await viewNames(page)) {
		await choose(page, view);
		for (const closed of await page.$$("details.finding:not([open]) > summary, details.more:not([open]) > summary")) await closed.click();
		const seen = await page.evaluate(() => {
			/** The table and the column of a cell, the label of a figure. */
			const placeOf = (e) => `${e.closest("section.table")?.getAttribute("aria-label") ?? ""}/${e.closest("table")?.querySelectorAll("thead th")[e.cellIndex]?.innerText.trim() ?? e.closest(".fact")?.querySelector("dt").innerText ?? ""}`;
			return {
			cells: [...document.querySelectorAll("section.table td, .fact dd, .bars .number, .impact, .legend li")].map((e) => [e.innerText.trim(), placeOf(e)]),
			texts: [...document.querySelectorAll("#view :is(td, dd, p, li, summary, .count)")].map((e) => [placeOf(e), e.innerText]),
			headings: [...document.querySelectorAll("section.table")].map((t) => [t.getAttribute("aria-label"), [...t.querySelectorAll("thead th")].map((th) => th.innerText.replace(/[\u2191\u2193]/, "").trim())]),
			facts: [...document.querySelectorAll("#view .fact dt")].map((e) => e.innerText.replace(/\s*\?\s*$/, "").trim()),
			};
		});
		for (const [cell, place] of seen.cells) {
			const share = /^([\d,.]+) %/.exec(cell);
			must(!share || Number(share[1].replaceAll(",", "")) <= 100 || more.some((part) => `${view}/${place}`.includes(part)), `${view}: a share of ${cell}: ${place}`);
			const rate = /^([\d.]+) ([MGTP])B\/s/.exec(cell);
			must(!rate || Number(rate[1]) * { M: 1e6, G: 1e9, T: 1e12, P: 1e15 }[rate[2]] <= bytes_per_s, `${view}: a rate of ${cell}, and nothing on the chip is that fast: ${place}`);
		}
		for (const [table, said] of seen.texts)
			for (const [all, number, unit] of said.matchAll(/(?<![\w.,-])(\d[\d,.]*) (s|ms|\u00b5s)(?![\w/])/g))
				must(Number(number.replaceAll(",", "")) * UNITS[unit] <= end_ps * 1.01 || more.some((part) => `${view}/${table}/${said}`.includes(part)), `${view}: ${all} is longer than the run: ${table}: ${said.slice(0, 160)}`);
		for (const [table, names] of seen.headings) {
			must(new Set(names).size === names.length, `${view}: table ${table} has a heading twice: ${names.filter((n, i) => names.indexOf(n) !== i)}`);
			for (const name of names) must(!/(^|[^\d\s]\s)(us|ms|MB|ns|ps)$/.test(name), `${view}: table ${table} has a column for programs: ${name}`);
		}
		for (const name of seen.facts) must(!/(^|[^\d\s]\s)(us|ms|MB|ns|ps)$/.test(name), `${view}: a figure for programs: ${name}`);
		const places = (await charts(page)).map(({ left, width }) => `${Math.round(left)} to ${Math.round(left + width)}`);
		must(new Set(places).size <= 1, `${view}: charts over time stand at ${places}`);
	}
	await shut(page.context());
}

// --- A9: one axis and one crosshair

async function one_axis({ view, chart: name, end_ps, rows, share }) {
	const page = await open(`view=${view}`);
	const [chart] = await charts(page, `section[aria-label="${name}"] .over-time`);
	must(chart, `there is no chart of ${name}`);
	const [from, to] = timesOf(chart);
	must(Math.abs(from) < end_ps / 100 && Math.abs(to - end_ps) < end_ps / 100, `${name} goes from ${from} to ${to} ps instead of 0 to ${end_ps}`);
	must(`${chart.rows.map((w) => w.said)}` === `${rows}`, `the rows of ${name} are ${chart.rows.map((w) => w.said)} instead of ${rows}`);
	const width = await page.evaluate(([section, height]) => {
		const box = document.querySelector(`section[aria-label="${section}"]`);
		const [canvas, over] = [box.querySelector("canvas"), box.querySelector(".u-over").getBoundingClientRect()];
		const around = canvas.getBoundingClientRect();
		const y = Math.round((over.top - around.top + height) * devicePixelRatio);
		const pixels = canvas.getContext("2d").getImageData(Math.round((over.left - around.left) * devicePixelRatio), y, Math.round(over.width * devicePixelRatio), 1).data;
		let nr = 0;
		for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 250 && Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 60) nr++;
		return nr / (over.width * devicePixelRatio);
	}, [name, 11]);
	must(Math.abs(width - share) < 0.02, `${name} is drawn over ${(100 * width).toFixed(1)} % of the run instead of ${(100 * share).toFixed(1)} %`);
	const crosses = () => page.$$eval(".over-time", (all) => all.map((e) => [e.getBoundingClientRect().left, e.querySelector(".u-cursor-x")]).map(([left, e]) => Math.round(left + new DOMMatrix(getComputedStyle(e).transform).e)));
	await page.evaluate(() => scrollTo(0, 0));
	const [strip] = await charts(page, ".strip .over-time");
	await page.mouse.move(...point(strip, 0.4));
	await comes(page, (x) => [...document.querySelectorAll(".over-time")].every((e) => Math.abs(e.getBoundingClientRect().left + new DOMMatrix(getComputedStyle(e.querySelector(".u-cursor-x")).transform).e - x) < 2), point(strip, 0.4)[0], `the crosshair is at ${await crosses()}`);
	if (shots) await page.screenshot({ path: `${shots}/axis-${job.name}.png` });
	await shut(page.context());
}

// --- A11: nothing old stands under a new name

async function nothing_old({ first, second }) {
	const page = await open(`view=overview&run=${encodeURIComponent(first.run)}`);
	await comes(page, (said) => document.querySelector("#view")?.innerText.includes(said), first.says, "the first run does not come");
	let release;
	const held = new Promise((go) => {
		release = go;
	});
	await page.route(/\/report\?/, async (route) => {
		await held;
		await route.continue();
	});
	await page.selectOption("header label.choice:has-text('run') select", { value: second.id });
	const listed = await page.$$eval("header label.choice:has-text('run') option", (all) => all.map((e) => e.textContent));
	must(listed.every((name) => !name.startsWith("/")), `runs are listed by all of their folders: ${listed}`);
	await page.waitForSelector(".loading progress");
	must((await text(page, ".loading")).includes(second.run), `"${await text(page, ".loading")}" does not say which run is read`);
	const body = await text(page, "body");
	must(!body.includes(first.says), `"${first.says}" of the run before stands under the new name`);
	must(!(await page.$$eval("header .run", (all) => all.map((e) => e.innerText).join(" "))).includes(first.run), "the heading names the run before");
	must((await page.$$(".strip canvas, #view canvas, #view .fact")).length === 0, "pictures or figures of the run before are still there");
	if (shots) await page.screenshot({ path: `${shots}/loading.png` });
	release();
	await comes(page, (said) => document.querySelector("#view")?.innerText.includes(said), second.says, "the second run does not come");
	must((await page.$$(".loading")).length === 0, "the progress bar stays");
	await shut(page.context());
}

// --- the picture over all views, on a phone

async function phone() {
	const page = await open("view=overview", { viewport: { width: 390, height: 844 } });
	const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	must(over <= 0, `the page is ${over} pixels wider than a phone`);
	if (shots) await page.screenshot({ path: `${shots}/phone-${job.name}.png` });
	await shut(page.context());
}

const CHECKS = { phone, from_zero, shares_of_cores, whole_capture, recomputed, said: narrowed, one, fixed_scales, one_utilization, windows, inferred, one_voice, sweep, one_axis, nothing_old };

const jobs = JSON.parse(readFileSync(jobsFile, "utf8"));
if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
for (job of jobs)
	for (const [name, want] of job.checks) {
		const begin = Date.now();
		try {
			await bounded(name, CHECKS[name](want));
		} catch (e) {
			must(false, `${name}: ${e.stack}`);
		}
		for (const context of browser.contexts()) await shut(context);
		console.log(`${job.name}: ${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
	}
await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
