// SPDX-License-Identifier: MIT
// The sessions of a watched log directory in headless Chromium: node sessions.mjs SETUP.json
//
// SETUP: {program, port, logdir, sessions, captured, when, shots}: LOGDIR has SESSIONS sessions of two runs: run a at 0 and at 1/3 of the time between
// the first and the last, run b at its end, WHEN (CAPTURED, in the table). Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { launch, PATIENCE_MS, shut, watch } from "./browser.mjs";

const setup = JSON.parse(readFileSync(process.argv[2], "utf8"));
const url = `http://127.0.0.1:${setup.port}/`;
const wrong = [];
const bad = (text) => wrong.push(text);

const CHART = '.history[aria-label="Health"]';
const annotated = (page) => page.waitForFunction((nr) => [...document.querySelectorAll('section.table[aria-label^="Sessions"] tr[data-row]')].filter((row) => row.innerText.includes("annotated")).length === nr, setup.sessions);
const drawn = (page) => page.waitForFunction(([chart, nr]) => document.querySelector(`${chart} [role="img"]`)?.ariaLabel.includes(`last ${nr} sessions`) && document.querySelector(`${chart} canvas`)?.width > 100, [CHART, setup.sessions]);

// How many pixels of the line are drawn at each of the SHARES of the chart's width, from its first session to its last. The ground and
// the grid are light, and so they are not counted.
function inked(page, shares) {
	return page.evaluate(([chart, all]) => {
		const canvas = document.querySelector(`${chart} canvas`);
		const [over, whole] = [document.querySelector(`${chart} .u-over`), canvas].map((e) => e.getBoundingClientRect());
		const scale = canvas.width / whole.width;
		const [left, top, width, height] = [over.left - whole.left, over.top - whole.top, over.width, over.height].map((v) => Math.round(v * scale));
		const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
		return all.map((share) => {
			const x = Math.round(share * width);
			let dark = 0;
			for (let y = 2; y < height - 2; y++) {
				const [r, g, b, a] = data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4);
				dark += a > 200 && r + g + b < 240;
			}
			return dark;
		});
	}, [CHART, shares]);
}

async function lines_join_one_run_only(page) {
	await page.waitForFunction(([chart]) => document.querySelector(`${chart} .u-over`)?.clientWidth > 100, [CHART]);
	const [within, between] = await inked(page, [1 / 6, 2 / 3]);
	if (!within) bad("no line joins the two sessions of run a");
	if (between) bad(`a line joins run a to run b: ${between} pixels of it`);
}

async function table_says_when(page) {
	const first = await page.$eval('section.table[aria-label^="Sessions"] tr[data-row]', (row) => row.innerText);
	for (const word of [setup.captured, "b/2023_11_14_12_00_00"]) if (!first.includes(word)) bad(`the first row of the sessions is "${first}", not of the last that was captured`);
}

async function points_say_which(page) {
	const over = await page.$(`${CHART} .u-over`);
	await over.scrollIntoViewIfNeeded();
	const box = await over.boundingBox();
	await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2);
	const tip = await page.waitForFunction((chart) => [...document.querySelectorAll(`${chart} .tip`)].find((e) => !e.hidden && e.textContent)?.textContent, CHART);
	const text = await tip.jsonValue();
	for (const word of ["b/2023_11_14_12_00_00", setup.when]) if (!text.includes(word)) bad(`the last point says "${text}", not "${word}"`);
}

// Grey is idle, as in the strip; no colour stands for two things. What is of no class has the colour of the text.
async function colours_are_of_classes(page) {
	const keys = await page.$$eval(".history .legend li", (all) => all.map((li) => [li.textContent.trim(), li.querySelector("line").getAttribute("stroke")]));
	const meanings = new Map();
	for (const [label, color] of keys) if (color.startsWith("#")) meanings.set(color, new Set([...(meanings.get(color) ?? []), label]));
	for (const [color, labels] of meanings) if (labels.size > 1 && ![...labels].every((label) => label.startsWith("compil"))) bad(`${color} means ${[...labels].join(" and ")}`);
	const idle = keys.find(([label]) => label === "idle")?.[1];
	if (idle !== "#999999") bad(`idle is drawn in ${idle}`);
}

const live = spawn(setup.program, ["live", setup.logdir, "--serve", `--port=${setup.port}`, "--settle=0.3", "--interval=0.2", "--perfetto=none", "--color=never"], { stdio: ["ignore", "pipe", "inherit"] });
await new Promise((said) => live.stdout.once("data", said));
live.stdout.resume();
const browser = await launch();
try {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, colorScheme: "light", reducedMotion: "reduce" });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [url], bad });
	await page.goto(url);
	await annotated(page);
	await drawn(page);
	await lines_join_one_run_only(page);
	await colours_are_of_classes(page);
	await table_says_when(page);
	await points_say_which(page);
	if (setup.shots) {
		mkdirSync(setup.shots, { recursive: true });
		await page.screenshot({ path: `${setup.shots}/live-sessions.png`, fullPage: true });
	}
} catch (e) {
	bad(e.stack);
}
await shut(browser);
live.kill("SIGKILL");
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
