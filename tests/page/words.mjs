// SPDX-License-Identifier: MIT
// Reads each view of each page as a person does: node words.mjs JOBS.json
//
// JOBS: [{name, url, want: {wrong: [WORD], lines, compilation, classes}}]. Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is
// missing.
import { readFileSync } from "node:fs";
import { bounded, launch, PATIENCE_MS, settled, show, shut, viewNames, watch } from "./browser.mjs";

const wrong = [];
let job;
const must = (good, text) => good || wrong.push(`${job.name}: ${text}`);

// What stands on the page, as far as the program says it: not in cells, code and lists, where names of other people stand.
function read() {
	const NOTHING = ["Ends with", "Smallest dimension"]; // known of every op
	const THEIRS = "td, pre, code, option, svg, .name, .where, .finding > p, .links, .findings, .run, h4, .tip";
	const said = [];
	const walk = document.createTreeWalker(document.querySelector("#view"), NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const { parentElement: at, data } = walk.currentNode;
		if (!at.closest(THEIRS) && at.getClientRects().length) said.push(data);
	}
	const texts = (selector) => [...document.querySelectorAll(selector)].map((e) => e.innerText.trim());
	const swatches = [...document.querySelectorAll(".legend li .swatch:not(.hatched)")].map((e) => [getComputedStyle(e).backgroundColor, e.parentElement.innerText.trim()]);
	const bars = [...document.querySelectorAll(".shares span")].map((e) => [getComputedStyle(e).backgroundColor, e.title]);
	const tables = [...document.querySelectorAll("section.table")].map((table) => {
		const rows = [...table.querySelectorAll("tr[data-row]")];
		const all = Number(table.querySelector("table").getAttribute("aria-rowcount")) - 1;
		const columns = [...table.querySelectorAll("th")].map((th, i) => [th.innerText.trim(), rows.every((r) => r.children[i].classList.contains("unknown"))]);
		/** What a column without a value says, by row. */
		const cells = (label) => {
			const i = columns.findIndex(([n]) => n === label);
			return i < 0 ? [] : rows.map((r) => [r.children[i].innerText.trim(), r.children[i].classList.contains("unknown")]);
		};
		return { name: table.getAttribute("aria-label"), nothing: Object.fromEntries(NOTHING.map((label) => [label, cells(label)]).filter(([, found]) => found.length)), unknown: rows.length && rows.length === all ? columns.filter(([, is]) => is).map(([n]) => n) : [] };
	});
	return {
		said: said.join("\n"),
		labels: texts("#view dt, #view th, #view h2, #view h3:not(:has(code))"),
		tiles: texts("#view .fact"),
		unknowns: texts("#view .unknowns"),
		notes: texts("#view .notes li"),
		colors: [...swatches, ...bars],
		tables,
		plates: [...document.querySelectorAll("#view .plate rect, #view .arrival:not(.last)")].map((e) => (e.tagName === "rect" ? getComputedStyle(e).fill : getComputedStyle(e).backgroundColor)),
		codes: texts("#view .code pre"),
	};
}

// What bounds an op, and what a trace's events are, has the colour of the class that its time then is of.
const OF_CLASS = { "bound by the matrix units": "compute", "bound by HBM": "memory", kernel: "compute", memcpy: "memory", dataloader: "input" };
const firstWord = (name) => name.toLowerCase().match(/[a-z]+/)?.[0] ?? name;
const first = (name) => OF_CLASS[name] ?? OF_CLASS[firstWord(name)] ?? firstWord(name);

// One colour, one meaning: names may differ in what follows their first word.
function meanings(view, { colors, plates }) {
	const meant = new Map();
	for (const [color, name] of colors) meant.set(color, (meant.get(color) ?? new Set()).add(first(name)));
	for (const color of plates) must(!meant.has(color), `${view}: a bar of whole steps or chips has the colour of ${[...(meant.get(color) ?? [])]}`);
	for (const [color, names] of meant) must(names.size === 1, `${view}: ${color} means ${[...names].join(" and ")}`);
}

function words(view, seen) {
	for (const label of seen.labels) must(!/[a-z]_[a-z]|\[\]/.test(label), `${view}: a label is called "${label}"`);
	for (const note of seen.notes) must(!/\w\[\]|\w_(ps|pct)\b/.test(note), `${view}: a note has a name of JSON: "${note}"`);
	for (const word of job.want.wrong) must(!new RegExp(`\\b${word}\\b`, "i").test(seen.said), `${view}: it says "${word}": ${seen.said.split("\n").find((l) => new RegExp(`\\b${word}\\b`, "i").test(l))}`);
	must(!/\bnull\b|\bundefined\b|\bNaN\b/.test(seen.said), `${view}: it says ${seen.said.match(/.*(null|undefined|NaN).*/)?.[0]}`);
	must(!/\d min\b/.test(seen.said), `${view}: a time in minutes: ${seen.said.match(/.*\d min\b.*/)?.[0]}`);
	must(!/\b0\.\d+ (s|ms|µs)\b(?!, fair)/.test(seen.tiles.join("\n").replace(/good .*/g, "")), `${view}: a time below one of its unit: ${seen.tiles.find((t) => /\b0\.\d+ (s|ms|µs)\b/.test(t))}`);
	must(!/[Ss]tep \d+,\d/.test(seen.said), `${view}: the number of a step has a comma`);
}

// What is not known stands once, with a reason; never in tiles, or down a whole column.
function unknowns(view, seen) {
	must(!seen.tiles.some((t) => /\bunknown$/i.test(t)), `${view}: a tile is unknown: ${seen.tiles.find((t) => /unknown$/i.test(t))}`);
	const named = seen.unknowns.flatMap((t) => t.replace("Unknown: ", "").split(". ")[0].split("; "));
	const twice = named.filter((n, i) => named.indexOf(n) !== i);
	must(!twice.length || view === "memory", `${view}: unknown twice: ${twice}`);
	for (const text of seen.unknowns) must(/\. .+\.$/.test(text), `${view}: unknown without a reason: "${text}"`);
	for (const { name, unknown } of seen.tables) must(!unknown.length, `${view}: the table ${name} has columns that are unknown all along: ${unknown}`);
}

// Where there is nothing to name it says so: a dimension that fills its side of the array is not unknown, and neither is the end of an op that is one event.
function nothing(view, seen, wanted) {
	for (const { name, nothing: columns } of seen.tables)
		for (const [label, cells] of Object.entries(columns)) {
			must(cells.some(([said]) => said === "none"), `${view}: no cell of ${label} in ${name} says "none"`);
			must(!cells.some(([, isUnknown]) => isUnknown), `${view}: a cell of ${label} in ${name} is unknown`);
			wanted.delete(label);
		}
}

// What only the sample has.
const OF_SAMPLE = {
	overview: (seen) => must(!seen.labels.some((l) => l.startsWith("Verdict of the capture")), "overview: the verdict of a good capture stands there again"),
	time: (seen) => {
		const legend = seen.colors.map(([, name]) => name);
		for (const ps of job.want.classes) must(legend.some((name) => name.includes(`${ps} (`)), `time: no class in the legend has ${ps}`);
		must(!seen.tiles.some((t) => t.startsWith("Communication")), "time: a tile repeats a class of the bar");
	},
	doctor: (seen) => {
		must(seen.tiles.some((t) => t.startsWith("Compilation time") && t.includes(job.want.compilation)), `doctor: the compilation time is not ${job.want.compilation}`);
		must(seen.codes.filter((c) => c === job.want.command).length === 1 && !seen.tiles.some((t) => t.includes("tpusight before")), "doctor: the command that tries changes is not one text to copy");
	},
	compile: (seen) => must(!/Unknown: Graph breaks/.test(seen.said) && /there are no graph breaks/.test(seen.said), "compile: XLA's graph breaks are unknown, and there are none"),
	fusion: (seen) => must(seen.colors.filter(([, name]) => name.includes(" core-")).length > 4, "fusion: time of all cores stands there as time of the run"),
	flame: (seen) => must(/sums over all threads/.test(seen.said), "flame: it is not said that its times are sums"),
};

// The keys are shown by "?", and gone by Escape, which closes nothing else then.
async function keys(page) {
	await page.keyboard.press("?");
	await page.waitForFunction(() => document.querySelector("header .keys").open);
	must((await page.$eval("header .keys .menu", (e) => e.innerText)).includes("search"), "the keys do not name the search");
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !document.querySelector("header .keys").open);
}

async function look(browser) {
	const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, offline: true })).newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [job.url], bad: (said) => must(false, said) });
	await page.goto(job.url);
	await page.waitForSelector("#view");
	const wanted = new Set(job.name === "sample" ? ["Ends with", "Smallest dimension"] : []);
	if (job.want.lines) {
		const tops = await page.$$eval("header .who > *, header .what > *", (all) => all.map((e) => e.getBoundingClientRect()).filter((r) => r.height > 0).map((r) => [r.top, r.bottom]));
		must(tops.every(([top]) => tops.every(([, bottom]) => top < bottom)), "the heading has more than one line");
	}
	for (const view of await viewNames(page)) {
		await show(page, view);
		await settled(page);
		const seen = await page.evaluate(read);
		meanings(view, seen);
		words(view, seen);
		unknowns(view, seen);
		if (job.name === "sample") nothing(view, seen, wanted);
		if (job.name === "sample") OF_SAMPLE[view]?.(seen);
	}
	must(!wanted.size, `no table has a column ${[...wanted]}`);
	if (job.name === "sample") await keys(page);
	await shut(page.context());
}

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch();
for (job of jobs)
	try {
		await bounded("the job", look(browser));
	} catch (e) {
		must(false, e.stack);
	}
await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
