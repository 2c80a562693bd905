// SPDX-License-Identifier: MIT
// Looks at the page on paper, on a phone and in a dark TensorBoard: node media.mjs FILE TAB GPU SHOTS
//
// FILE: address of a report's page; GPU: of one of a GPU's trace. TAB: of a page with the page in a frame, as TensorBoard has it. SHOTS: a folder, or "".
// Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync } from "node:fs";
import { bounded, launch, PATIENCE_MS, settled, show, shut, viewNames, watch } from "./browser.mjs";

const PAPER = { width: 718, height: 1000 }; // A4 less its margins
const PHONE = { width: 390, height: 844 };
const [file, tab, gpu, shots] = process.argv.slice(2);
const wrong = [];
const must = (good, text) => good || wrong.push(text);

async function shot(page, name) {
	if (!shots) return;
	mkdirSync(shots, { recursive: true });
	await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}

async function open(browser, url, viewport, more = {}) {
	const page = await (await browser.newContext({ viewport, ...more })).newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [new URL(".", url).href], bad: (text) => wrong.push(text) });
	await page.goto(url);
	return page;
}

async function choose(page, view) {
	await show(page, view);
	await settled(page);
}


// What a sheet shows that it must not, and the reverse. Canvases are read: their letters must be dark.
const sheet = () => {
	const seen = (e) => e.checkVisibility({ checkVisibilityCSS: true });
	const right = document.documentElement.clientWidth + 1;
	const name = (e) => `${e.tagName} ${e.className} "${e.textContent.slice(0, 40)}" to ${Math.round(e.getBoundingClientRect().right)}`;
	return {
		theme: document.documentElement.dataset.theme,
		back: getComputedStyle(document.body).backgroundColor,
		closed: document.querySelectorAll("details:not([open])").length,
		buttons: [...document.querySelectorAll("button, select, input")].filter((e) => seen(e) && !e.closest("th") && !e.classList.contains("link")).map(name),
		cut: [...document.querySelectorAll("#tpusight *")].filter((e) => seen(e) && e.getBoundingClientRect().right > right).map(name),
		grey: [...document.querySelectorAll(".swatch, .shares span")].filter((e) => getComputedStyle(e).printColorAdjust !== "exact").length,
	};
};

async function paper(browser) {
	const page = await open(browser, file, { width: 1280, height: 900 }, { colorScheme: "dark" });
	await page.waitForSelector("#view");
	for (const view of await viewNames(page)) {
		await choose(page, view);
		const before = await page.evaluate(() => [document.documentElement.dataset.theme, document.querySelectorAll("details[open]").length].join());
		await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
		await page.emulateMedia({ media: "print", colorScheme: "dark" });
		await page.setViewportSize(PAPER);
		await page.waitForTimeout(200);
		const found = await page.evaluate(sheet);
		await shot(page, `paper-${view}`);
		must(found.theme === "light" && found.back === "rgb(255, 255, 255)", `paper, ${view}: ${found.theme} on ${found.back}`);
		must(found.closed === 0, `paper, ${view}: ${found.closed} parts are closed`);
		must(found.grey === 0, `paper, ${view}: ${found.grey} colours are not printed`);
		must(found.buttons.length === 0, `paper, ${view}: ${found.buttons.slice(0, 3)}`);
		must(found.cut.length === 0, `paper, ${view}: ${found.cut.length} are cut, ${found.cut.slice(0, 3)}`);
		await page.emulateMedia({ media: "screen", colorScheme: "dark" });
		await page.setViewportSize({ width: 1280, height: 900 });
		await page.evaluate(() => dispatchEvent(new Event("afterprint")));
		await page.waitForTimeout(200);
		const after = await page.evaluate(() => [document.documentElement.dataset.theme, document.querySelectorAll("details[open]").length].join());
		must(before === after && before.startsWith("dark"), `paper, ${view}: before ${before}, after ${after}`);
	}
	await shut(page);
}

const phoneful = () => {
	const box = (selector) => document.querySelector(selector).getBoundingClientRect();
	return {
		heading: box("header").height,
		tabs: Math.max(...[...document.querySelectorAll(".places, .tabs")].map((e) => e.getBoundingClientRect().height)),
		wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
		above: box("#view").top,
		cells: [...document.querySelectorAll(".rows td")].filter((e) => e.getBoundingClientRect().width > innerWidth / 2).map((e) => `"${e.textContent.slice(0, 60)}" in ${e.closest("section")?.getAttribute("aria-label")}`),
	};
};

async function phone(browser) {
	const page = await open(browser, file, PHONE, { hasTouch: true, isMobile: true, deviceScaleFactor: 1 });
	await page.waitForSelector("#view");
	for (const view of await viewNames(page)) {
		await choose(page, view);
		const found = await page.evaluate(phoneful);
		await shot(page, `phone-${view}`);
		must(found.heading <= 90, `phone, ${view}: the heading is ${found.heading} pixels high`);
		must(found.tabs <= 50, `phone, ${view}: places or tabs are ${found.tabs} pixels high, and not one line`);
		must(found.wide <= 0, `phone, ${view}: ${found.wide} pixels are beside the screen`);
		must(found.cells.length === 0, `phone, ${view}: cells wider than half of the screen: ${found.cells.slice(0, 2)}`);
	}
	await shut(page);
}

async function dark(browser) {
	const page = await open(browser, tab, { width: 1280, height: 800 }, { colorScheme: "light" });
	const frame = await (await page.waitForSelector("iframe")).contentFrame();
	await frame.waitForSelector("#view");
	const theme = () => frame.evaluate(() => document.documentElement.dataset.theme);
	must(await theme() === "dark", "the page is light in a dark TensorBoard");
	must(await frame.$("button.theme") === null, "the tab has a switch beside TensorBoard's");
	await shot(page, "tensorboard-dark");
	await page.evaluate(() => document.body.classList.remove("dark-mode"));
	await frame.waitForFunction(() => document.documentElement.dataset.theme === "light").catch(() => must(false, "the page does not follow TensorBoard"));
	await shut(page);
}

// Figures of programs that stand in the report beside those of people.
async function twins(browser) {
	const page = await open(browser, gpu, { width: 1280, height: 800 });
	await page.waitForSelector("#view");
	for (const view of await viewNames(page)) {
		await choose(page, view);
		const found = await page.$$eval("dt, th", (all) => all.map((e) => e.textContent.trim()).filter((text) => /\bus\b/i.test(text)));
		must(found.length === 0, `gpu, ${view}: ${found.slice(0, 5)}`);
	}
	await shut(page);
}

const browser = await launch();
for (const does of [paper, phone, dark, twins]) await bounded(does.name, does(browser)).catch((e) => wrong.push(`${does.name}: ${e.stack}`));
await shut(browser);
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
