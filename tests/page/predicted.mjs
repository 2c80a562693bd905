// SPDX-License-Identifier: MIT
// The list of a measured and of a predicted run in headless Chromium: node predicted.mjs '{"url": ..., "shots": ...}'
//
// Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync } from "node:fs";
import { launch, PATIENCE_MS, show, shut, watch } from "./browser.mjs";

const setup = JSON.parse(process.argv[2]);
const wrong = [];
const bad = (text) => wrong.push(text);
const LIST = 'section.table[aria-label^="Runs"]';

// {name of the run: whether its row says predicted}
const marks = (page) => page.$$eval(`${LIST} tr[data-row]`, (all) => Object.fromEntries(all.map((row) => [row.querySelector("button.link").innerText.trim(), /\bpredicted\b/.test(row.querySelector(".predicted")?.innerText ?? "")])));

function are_marked(where, found) {
	for (const [name, isMarked] of Object.entries(found)) if (isMarked !== name.startsWith("predicted")) bad(`${where}: ${name} ${isMarked ? "says" : "does not say"} predicted`);
	if (Object.keys(found).length !== 2) bad(`${where}: ${Object.keys(found).length} rows, not two`);
}

async function shot(page, name) {
	if (!setup.shots) return;
	mkdirSync(setup.shots, { recursive: true });
	await page.screenshot({ path: `${setup.shots}/${name}.png`, fullPage: true });
}

async function copied(page, table) {
	await page.click(`${table} button[data-copy]`);
	return page.evaluate(() => navigator.clipboard.readText());
}

async function list_says_it(page) {
	await page.goto(`${setup.url}#view=runs`);
	await page.waitForSelector(`${LIST} tr[data-row]:nth-of-type(2)`);
	await page.waitForSelector(`${LIST} .predicted`);
	are_marked("the list", await marks(page));
	const choices = await page.$$eval("header select option", (all) => all.map((option) => option.innerText).filter((text) => /predicted|measured/.test(text)));
	for (const text of choices) if (text.includes("(predicted)") !== text.startsWith("predicted")) bad(`the choice of a run says "${text}"`);
	if (choices.length !== 2) bad(`${choices.length} runs can be chosen, not two`);
	const lines = (await copied(page, LIST)).trim().split("\r\n");
	if (!lines[0].endsWith(",is_predicted")) bad(`rows of the list are copied as "${lines[0]}"`);
	const said = lines.slice(1).map((line) => [line.startsWith("predicted"), line.endsWith(",true")]);
	if (said.some(([is, says]) => is !== says)) bad(`rows of the list are copied as ${lines.join(" | ")}`);
	await shot(page, "runs-predicted");
}

async function trend_says_it(page) {
	for (const row of [0, 1]) await page.click(`${LIST} tr[data-row="${row}"] input[type="checkbox"]`);
	await page.click('button:has-text("Trend of 2 runs")');
	await page.waitForSelector(`${LIST} .predicted`);
	are_marked("the trend", await marks(page));
	await shot(page, "trend-predicted");
}

async function rows_say_it(page, run, isPredicted) {
	await page.goto(`${setup.url}#view=runs`);
	await page.click(`${LIST} button.link:has-text("${run}")`);
	await show(page, "time");
	const table = 'section.table[aria-label^="Ops"]';
	await page.waitForSelector(`${table} tr[data-row]`);
	const lines = (await copied(page, table)).trim().split("\r\n");
	if (lines[0].endsWith(",is_predicted") !== isPredicted) bad(`ops of ${run} are copied as "${lines[0]}"`);
}

const browser = await launch();
try {
	const context = await browser.newContext({ viewport: { width: 1300, height: 800 }, colorScheme: "light", reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"] });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [setup.url], bad });
	await list_says_it(page);
	await trend_says_it(page);
	await rows_say_it(page, "predicted", true);
	await rows_say_it(page, "measured", false);
} catch (e) {
	bad(e.stack);
}
await shut(browser);
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
