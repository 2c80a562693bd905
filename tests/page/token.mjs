// SPDX-License-Identifier: MIT
// A server with a token in headless Chromium: node token.mjs JOB.json
//
// JOB: {url, token}; url without the token. Opens the page with the token, as it is printed; then a link to a view, as it is copied from there;
// then the page in a browser that never had the token. On stderr what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { readFileSync } from "node:fs";
import { launch, PATIENCE_MS, shut, watch } from "./browser.mjs";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wrong = [];
const must = (good, text) => good || wrong.push(text);

const browser = await launch();
try {
	const context = await browser.newContext();
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [job.url], bad: (text) => wrong.push(text) });
	await page.goto(`${job.url}?token=${job.token}#view=roofline`);
	await page.waitForSelector('#view[data-view="roofline"]');
	must(!page.url().includes("token"), `the address is ${page.url()}`);
	must(page.url().includes("#view=roofline"), `what the address named is gone: ${page.url()}`);
	must(!(await page.content()).includes(job.token), "the token stands in the page");
	must((await page.evaluate(() => document.cookie)) === "", "scripts can read the cookie");
	const again = await context.newPage();
	again.setDefaultTimeout(PATIENCE_MS);
	await watch(again, { inside: [job.url], bad: (text) => wrong.push(text) });
	await again.goto(`${job.url}#view=overview`);
	await again.waitForSelector('#view[data-view="overview"]');
	const stranger = await (await browser.newContext()).newPage();
	const answer = await stranger.goto(job.url);
	must(answer.status() === 401, `a stranger gets ${answer.status()}`);
	must((await stranger.content()).includes("/?token=TOKEN"), "a stranger is not told what to do");
} finally {
	await shut(browser);
}
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
