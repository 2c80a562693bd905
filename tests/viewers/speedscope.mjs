// SPDX-License-Identifier: MIT
// Opens files in speedscope's own page and parser: node speedscope.mjs FILES.json
//
// FILES: [{file, profiles: [{name, rows: [[TEXTS, ...], ...]}]}]: the profiles that its list must have, and of each the rows of its
// "sandwich" view that must be among the first: for each of TEXTS a cell that has one of them. Prints what is wrong, a line each. Exit 1: something is; 77: a
// tool is missing.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import { launch, shut, tool } from "../page/browser.mjs";

const PATIENCE_MS = 120000;
const DRAWING = ["--disable-gpu-sandbox", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"];
const require = createRequire(new URL("../viewers/package.json", import.meta.url));
const wrong = [];

function page_of_speedscope() {
	tool("speedscope/package.json");
	return path.join(path.dirname(require.resolve("speedscope/package.json")), "dist/release/index.html");
}

async function open(browser, url, file) {
	const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
	page.on("pageerror", (e) => wrong.push(`${file}: ${e.message}`));
	page.on("console", (m) => m.type() === "error" && wrong.push(`${file}: ${m.text()}`));
	page.on("dialog", (d) => { wrong.push(`${file}: ${d.message()}`); d.dismiss(); });
	await page.goto(url, { timeout: PATIENCE_MS });
	await page.setInputFiles("input[type=file]", file, { timeout: PATIENCE_MS });
	return page;
}

// The cells of the table of functions, as they are printed.
const rows = (page) => page.evaluate(() => [...document.querySelectorAll("tr")].map((row) => [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim())));

const has = (found, row) => found.some((cells) => row.every((texts) => cells.some((cell) => texts.some((text) => cell.includes(text)))));

// The table is drawn after the name is said; until then the list of profiles is the only one. Gives what is there, with all ROWS or not.
async function rows_with(page, wanted) {
	let found = await rows(page);
	for (const end = Date.now() + PATIENCE_MS; Date.now() < end && !wanted.every((row) => has(found, row)); found = await rows(page))
		await page.waitForTimeout(100);
	return found;
}

async function check(browser, url, { file, profiles }) {
	const page = await open(browser, url, file);
	for (const [at, profile] of profiles.entries()) {
		const said = await page.waitForFunction((name) => document.body.innerText.includes(name) && document.querySelectorAll("td").length > 0, profile.name, { timeout: PATIENCE_MS }).catch(() => null);
		if (!said) {
			wrong.push(`${file}: no profile ${profile.name} at place ${at}`);
			break;
		}
		const found = await rows_with(page, profile.rows);
		for (const row of profile.rows)
			if (!has(found, row))
				wrong.push(`${file}: ${profile.name} has no row ${row.join(" | ")} but ${JSON.stringify(found.slice(0, 5))}`);
		if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `speedscope-${path.basename(file)}-${at}.png`) });
		await page.keyboard.press("n"); // the next profile
	}
	await shut(page);
}

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const url = `file://${page_of_speedscope()}#view=sandwich`; // the table of functions: its drawings need a graphics card
const browser = await launch(DRAWING);
for (const job of jobs) await check(browser, url, job);
await shut(browser);
wrong.forEach((text) => console.log(text));
console.log(`speedscope: ${jobs.length} files, ${jobs.reduce((n, j) => n + j.profiles.length, 0)} profiles, ${wrong.length} wrong`);
process.exit(wrong.length ? 1 : 0);
