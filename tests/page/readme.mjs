// SPDX-License-Identifier: MIT
// Takes the pictures of the README: node readme.mjs JOBS.json FOLDER
//
// JOBS: [{name, url, until, at, acts}]. A page is opened at its address, in the light theme, and waits for UNTIL; each of ACTS clicks what it names; AT
// is scrolled to the top.
import { readFileSync } from "node:fs";
import { launch, PATIENCE_MS, settled, shut } from "./browser.mjs";

const SIZE = { width: 960, height: 600 };
const [jobsFile, folder] = process.argv.slice(2);

async function take(browser, { name, url, until, at, acts }) {
	const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
	page.setDefaultTimeout(PATIENCE_MS);
	await page.goto(url);
	await page.waitForSelector("#view > *:not(h2)");
	if (until) await page.waitForSelector(until);
	for (const act of acts ?? []) {
		await page.click(act);
		await settled(page);
	}
	await settled(page);
	if (at) await page.locator(at).first().evaluate((e) => e.scrollIntoView({ block: "start" }));
	await page.evaluate(() => document.activeElement?.blur());
	await settled(page);
	await page.screenshot({ path: `${folder}/${name}.png` });
	await shut(page);
}

const browser = await launch();
for (const job of JSON.parse(readFileSync(jobsFile, "utf8"))) await take(browser, job);
await shut(browser);
