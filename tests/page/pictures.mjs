// SPDX-License-Identifier: MIT
// Looks at every view as people see it: node pictures.mjs JOBS.json [SHOTS]
//
// JOBS: [{name, url, states: [[WIDTH, HEIGHT, THEME, HOW]], views}]. In each state each view of the run (those named in VIEWS, if there are any) is looked
// at: nothing is cut, lies on another thing, is wider than the window, blank or too pale (sights.js). HOW: "all" has axe look at the contrast
// of texts too, and holds the pointer over its charts. SHOTS: a folder for pictures of all of them. Prints what is wrong, a line each; exit 1:
// something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { axe, bounded, launch, PATIENCE_MS, settled, show as goTo, shut, theme, turn, viewNames, watch } from "./browser.mjs";

const SIGHTS = fileURLToPath(new URL("sights.js", import.meta.url));
const HOVERED = "#view .u-over, #view .mesh canvas, #view .flame canvas, #view svg [role='button'], #view .help button";
const MOST_HOVERED = 5; // of a view
const PLACES = [0.5, 0.97]; // of its width
const [jobsFile, shots] = process.argv.slice(2);
const wrong = new Map(); // what: where

const told = (at, words) => words.forEach((word) => wrong.set(word, [...(wrong.get(word) ?? []), at]));

async function show(page, view) {
	await goTo(page, view);
	await settled(page);
}

async function hover(page) {
	const found = [];
	for (const element of (await page.$$(HOVERED)).slice(0, MOST_HOVERED)) {
		await element.scrollIntoViewIfNeeded();
		const box = await element.boundingBox();
		for (const place of box ? PLACES : []) {
			const at = { x: box.x + place * box.width, y: box.y + box.height / 2 };
			await page.mouse.move(at.x, at.y);
			await settled(page);
			found.push(...(await page.evaluate((p) => window.tips(p), at)));
		}
	}
	await page.mouse.move(0, 0);
	await page.evaluate(() => scrollTo(0, 0));
	return found;
}

const pale = async (page) => (await axe(page, ["color-contrast"])).violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.help}: ${n.html.slice(0, 120)}`));

async function look(page, job, [width, , wanted, how], view) {
	const at = `${job.name}, ${view}, ${width} wide, ${wanted}`;
	told(at, await page.evaluate(() => window.sights()));
	if (how === "all") told(at, [...(await pale(page)), ...(await hover(page))]);
	if (shots) await page.screenshot({ path: `${shots}/${job.name}-${view}-${width}-${wanted}.png`, fullPage: true });
}

async function views(page, job, state) {
	const all = await viewNames(page);
	for (const view of all.filter((v) => !job.views || job.views.includes(v))) {
		await show(page, view);
		await look(page, job, state, view);
	}
	if (!job.op) return;
	await page.evaluate((op) => (location.hash = `view=overview&op=${encodeURIComponent(op)}`), job.op);
	await page.waitForSelector(".drawer");
	await settled(page);
	await look(page, job, state, "op");
	await page.keyboard.press("Escape");
	await page.waitForSelector(".drawer", { state: "detached" });
}

// The list of the parts of a long view, and a table that is folded.
async function parts(page, { view, last }) {
	const must = (good, text) => good || told(`parts of ${view}`, [text]);
	await page.goto(`${page.url().split("#")[0]}#view=${view}`);
	await show(page, view);
	const names = await page.$$eval(".contents button", (all) => all.map((e) => e.textContent));
	const headings = await page.$$eval("#view h3", (all) => all.filter((e) => !e.closest("section")?.parentElement.closest("section")).map((e) => e.textContent));
	must(names.length > 3 && `${names}` === `${headings}`, `the list has ${names} instead of ${headings}`);
	await page.click(`.contents >> text="${last}"`);
	await page.waitForFunction((name) => {
		const box = document.querySelector(`section[aria-label="${name}"]`).getBoundingClientRect();
		return box.top >= 0 && box.top < innerHeight;
	}, last);
	const table = 'section.table[aria-label="Ops"]';
	await page.click(`${table} h3 button >> nth=0`);
	await page.waitForFunction((at) => !document.querySelector(`${at} .scroll`).checkVisibility() && decodeURIComponent(location.hash).includes(".shut"), table);
	await page.reload();
	await page.waitForSelector(`${table}.shut`);
	must(await page.$eval(`${table} h3 button`, (e) => e.getAttribute("aria-expanded")) === "false", "a folded table does not say so");
	await page.click(`${table} h3 button >> nth=0`);
	await page.waitForFunction((at) => document.querySelector(`${at} .scroll`).checkVisibility(), table);
}

async function run(browser, job) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", offline: true });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [job.url], bad: (said) => told(job.name, [said]) });
	await page.addInitScript({ path: SIGHTS });
	let last = 0;
	for (const state of job.states) {
		const [width, height, wanted] = state;
		await page.setViewportSize({ width, height });
		if (width !== last) await page.goto(`${job.url}#view=overview`).then(() => page.reload()); // as it is opened at this width
		last = width;
		await page.waitForSelector(".places button");
		if ((await theme(page)) !== wanted) await turn(page);
		await views(page, job, state);
	}
	if (job.parts) await parts(page, job.parts);
	await shut(context);
}

if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
for (const job of JSON.parse(readFileSync(jobsFile, "utf8"))) await bounded("the job", run(browser, job)).catch((e) => told(job.name, [e.stack]));
await shut(browser);
for (const [word, at] of wrong) console.error(`${word} (${at[0]}${at.length > 1 ? `, and ${at.length - 1} more` : ""})`);
process.exit(wrong.size ? 1 : 0);
