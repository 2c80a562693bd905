// SPDX-License-Identifier: MIT
// Looks at runs side by side in headless Chromium: node compare.mjs JOB.json
//
// JOB: {shots, doors: [{name, url, expected, whole, tables}]}. EXPECTED: {median, classes, bars, parts, parts_by_class, ends, ops, steps, verdict}; WHOLE:
// the names of all runs, uncut; TABLES: instead of EXPECTED, {caption: rows of texts}. Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faults, launch, PATIENCE_MS, shut, turn, watch } from "./browser.mjs";

const SIGHTS = fileURLToPath(new URL("sights.js", import.meta.url));
const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wrong = [];
const WIDTHS = [1280, 1920, 390];
const PALETTE = readFileSync(new URL("../../plugin/page/src/colors.js", import.meta.url), "utf8");
const CLASS_COLORS = [.../const CLASSES = \{([^}]+)\}/.exec(PALETTE)[1].matchAll(/#[0-9a-f]{6}/g)].map(([c]) => `rgb(${[1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)).join(", ")})`);

const texts = (page, selector) => page.$$eval(selector, (all) => all.map((e) => e.innerText.trim()));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const cells = (page, caption) => page.$$eval(`section.table[aria-label="${caption}"] tr[data-row]`, (rows) => rows.map((r) => [...r.cells].map((c) => c.innerText.trim())));

async function said(page, must, of) {
	const verdict = await texts(page, ".said p");
	must(verdict.every((s) => /^[A-Za-z].*\.$/.test(s)), `the verdict is not made of sentences: ${verdict}`);
	for (const median of of.median) must(verdict[0].includes(median), `"${verdict[0]}" lacks ${median}`);
	if (["faster", "slower"].includes(of.verdict)) must(verdict[0].includes(`is ${of.verdict} than`), `"${verdict[0]}" is not ${of.verdict}`);
	must(verdict.some((s) => s.includes("rank test")), "the rank test is not named");
	const page_text = await page.$eval("body", (e) => e.innerText);
	must(!/change pct|_p[cs]\b|run_\d/i.test(page_text), "a name of JSON stands on the page");
	must(!/[2-9]\d\d(\.\d)? %|\d,\d\d\d %/.test(page_text), `a share above 200 % stands on the page: ${/.*(?:[2-9]\d\d(?:\.\d)?|,\d\d\d) %.*/.exec(page_text)?.[0]}`);
}

async function classes(page, must, of) {
	const rows = (await cells(page, "The same in numbers")).map((r) => r.slice(0, 3));
	must(same(rows, of.classes), `time classes are ${JSON.stringify(rows)} and not ${JSON.stringify(of.classes)}`);
	const bars = await texts(page, ".compared .number");
	must(same(bars, of.bars), `bars of classes are ${bars} and not ${of.bars}`);
	const legend = await texts(page, 'section[aria-label="time classes"] > .legend li');
	must(same(legend, of.classes.map(([name]) => name)), `the legend has ${legend}`);
}

const parts = (page) => page.$$eval('section[aria-label="the difference"] li[data-part]', (all) => all.map((e) => [".name", ".number"].map((s) => e.querySelector(s).innerText.trim())));

async function difference(page, must, of) {
	must(same(await parts(page), of.parts), `the difference is made of ${JSON.stringify(await parts(page))} and not ${JSON.stringify(of.parts)}`);
	const ends = await texts(page, ".bars.steps .total .number");
	must(same(ends, of.ends), `the waterfall goes from ${ends[0]} to ${ends[1]}, not from ${of.ends[0]} to ${of.ends[1]}`);
	const edges = await page.$$eval(".bars.steps .length", (all) => all.map((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]));
	const joined = edges.slice(1).every(([left, right], i) => edges[i].some((x) => Math.abs(x - left) < 2 || Math.abs(x - right) < 2));
	must(joined, `bars of the waterfall do not follow one another: ${edges}`);
	await page.selectOption('section[aria-label="the difference"] select', "classes");
	await page.waitForFunction((n) => document.querySelectorAll('section[aria-label="the difference"] li[data-part]').length === n, of.parts_by_class.length);
	must(same(await parts(page), of.parts_by_class), `by class the difference is made of ${JSON.stringify(await parts(page))} and not ${JSON.stringify(of.parts_by_class)}`);
}

async function ops(page, must, of) {
	const rows = await page.$$eval("li[data-op]", (all) => all.map((e) => [e.querySelector("small").innerText, e.querySelector(".number").innerText.trim(), e.querySelector("b").innerText]));
	must(rows.length === of.ops.length, `${rows.length} ops are drawn and not ${of.ops.length}`);
	of.ops.forEach(([source, name, became], i) => must(rows[i] && rows[i][0].startsWith(source) && rows[i][0].includes(name) && rows[i][1] === became && rows[i][2] !== "", `op ${i + 1} is "${rows[i]}" and not ${source}, ${name}, ${became}`));
	const bars = await page.$$eval("li[data-op]", (all) => all.map((e) => {
		const [track, length] = [".track", ".length"].map((s) => e.querySelector(s).getBoundingClientRect());
		return [e.querySelector(".number").innerText, (length.left + length.right) / 2 - (track.left + track.right) / 2, getComputedStyle(e.querySelector(".length")).backgroundColor];
	}));
	for (const [text, side, color] of bars) {
		const isMore = /slower|only here/.test(text);
		must(Math.abs(side) < 2 || side > 0 === isMore, `"${text}" is drawn ${side > 0 ? "right" : "left"} of the middle`);
		must(!CLASS_COLORS.includes(color), `"${text}" has the colour of a time class`);
	}
}

async function histogram(page, must, of) {
	const legend = await texts(page, 'section[aria-label="times of steps"] .legend li');
	of.steps.forEach((n, i) => must(legend[i]?.endsWith(`${n} steps`), `the legend of steps has "${legend[i]}" and not ${n} steps`));
	must((await page.$$(".overlaid .base polygon")).length > 0 && (await page.$$(".overlaid .other polygon")).length > 0, "the two histograms are not over one another");
	must((await page.$$(".overlaid .tick")).length >= 2, "the histogram's axis has no times");
}

// Names that are cut: each once, and whole where somebody points.
async function names(page, must, whole) {
	const shown = await page.$$eval(".compared .name", (all) => all.map((e) => [e.innerText.trim(), e.title]));
	must(new Set(shown.map(([name]) => name)).size === whole.length, `runs are called ${shown.map(([name]) => name)}`);
	must(shown.every(([name], i) => name.length <= 34 && shown[i][1] === whole[i]), "a name is too long, or is nowhere whole");
}

async function tables(page, must, of) {
	for (const [caption, rows] of Object.entries(of)) {
		const shown = (await cells(page, caption)).slice(0, rows.length);
		must(rows.length > 0 && same(shown, rows), `"${caption}" has ${JSON.stringify(shown)} and not ${JSON.stringify(rows)}`);
	}
}

async function everything(page, must, of) {
	await said(page, must, of);
	await classes(page, must, of);
	await ops(page, must, of);
	await histogram(page, must, of);
	if (of.parts.length) await difference(page, must, of);
}

const widths = (page) => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);

async function look(browser, door) {
	const must = (good, text) => good || wrong.push(`${door.name}: ${text}`);
	const page = await browser.newPage({ viewport: { width: WIDTHS[0], height: 900 }, colorScheme: "light" });
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [door.url.split("#")[0]], bad: (text) => must(false, text) });
	await page.addInitScript({ path: SIGHTS });
	await page.goto(door.url);
	await page.waitForSelector(".compare");
	if (door.expected) await everything(page, must, door.expected);
	if (door.tables) await tables(page, must, door.tables);
	if (door.whole) await names(page, must, door.whole);
	for (const theme of ["light", "dark"]) {
		for (const width of WIDTHS) {
			await page.setViewportSize({ width, height: 900 });
			const [wide, room] = await widths(page);
			must(wide <= room, `the page is ${wide} pixels wide in ${room}`);
			for (const sight of await page.evaluate(() => window.sights())) must(false, `${width} wide, ${theme}: ${sight}`);
			if (job.shots) await page.screenshot({ path: `${job.shots}/compare-${door.name}-${width}-${theme}.png`, fullPage: true });
		}
		for (const fault of await faults(page)) must(false, `${theme}: ${fault}`);
		await turn(page);
	}
	await shut(page);
}

if (job.shots) mkdirSync(job.shots, { recursive: true });
const browser = await launch();
for (const door of job.doors) await look(browser, door);
await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
