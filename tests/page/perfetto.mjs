// SPDX-License-Identifier: MIT
// Clicks what opens Perfetto, in headless Chromium: node perfetto.mjs JOBS.json
//
// JOBS: [{name, url, run, text, does: [[WHAT, FINDING]], shots}]. TEXT: the run, as the page calls it. A page (perfetto_test.py) stands for Perfetto's own. WHAT: "open" clicks the
// button of FINDING ("" the run's) and hands back what the window got and what the page says; "silent" the same where the window does not
// answer, and closes it; "late" where it answers after that; "blocked" where the browser opens no window; "gone" where the file PATH is not
// there any more; "words" what stands in place of the button; "hand" what the page says to people who do it by hand. Prints {name: [answer]}. Exit 77: a tool is missing.
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { bounded, faults, launch, PATIENCE_MS, show, shut, turn } from "./browser.mjs";

const wrong = [];
let job;

async function find_frame(page) {
	const end = Date.now() + PATIENCE_MS;
	const there = (text) => document.querySelector("#tpusight header .perfetto") && document.querySelector("header .run").textContent.startsWith(text);
	for (;;) {
		for (const frame of page.frames()) {
			if (job.run) await frame.selectOption("header label.choice:first-of-type select", job.run, { timeout: 2000 }).catch(() => {});
			if (await frame.evaluate(there, job.text ?? "").catch(() => false)) return frame;
		}
		if (Date.now() > end) throw new Error("the page did not come up");
		await page.waitForTimeout(200);
	}
}

// The words of the button that was clicked, when they are those.
const says = async (frame, finding, part) => {
	const at = `[data-perfetto="${finding}"] + [role="status"]`;
	await frame.waitForFunction(([where, text]) => document.querySelector(where)?.textContent.includes(text), [at, part], { timeout: PATIENCE_MS });
	return frame.$eval(at, (e) => e.textContent);
};

async function click(page, frame, finding) {
	const [window] = await Promise.all([page.waitForEvent("popup"), frame.click(`[data-perfetto="${finding}"]`)]);
	return window;
}

const DOES = {
	async open(page, frame, finding) {
		const window = await click(page, frame, finding);
		const words = await says(frame, finding, "has the trace");
		await window.waitForFunction(() => globalThis.got.length > 0);
		await window.waitForTimeout(1000); // nothing comes twice
		const got = await window.evaluate(() => globalThis.got);
		const url = window.url();
		await window.close();
		return { url, got, words };
	},
	async silent(page, frame, finding) {
		const window = await click(page, frame, finding);
		const words = await says(frame, finding, "has not answered");
		await window.close();
		return { words, closed: await says(frame, finding, "was closed") };
	},
	async late(page, frame, finding) { // it answers after the page said that it does not
		const window = await click(page, frame, finding);
		await says(frame, finding, "has not answered");
		await window.evaluate(() => (globalThis.silent = false));
		const words = await says(frame, finding, "has the trace");
		await window.waitForFunction(() => globalThis.got.length > 0);
		const got = await window.evaluate(() => globalThis.got.length);
		await window.close();
		return { words, got };
	},
	async blocked(page, frame, finding) {
		await frame.evaluate(() => (window.open = () => null));
		await frame.click(`[data-perfetto="${finding}"]`);
		return { words: await says(frame, finding, "pop-up") };
	},
	async gone(page, frame, finding) {
		renameSync(job.path, `${job.path}.away`);
		const window = await click(page, frame, finding);
		const words = await says(frame, finding, "could not be read");
		renameSync(`${job.path}.away`, job.path);
		if (!window.isClosed()) await window.waitForEvent("close", { timeout: PATIENCE_MS });
		return { words };
	},
	async words(page, frame) {
		await frame.click("header details.perfetto > summary");
		return { words: await frame.$eval("header .perfetto", (e) => e.innerText), buttons: (await frame.$$("[data-perfetto]")).length };
	},
	async hand(page, frame, finding) {
		await frame.click("header details.perfetto > summary");
		await frame.evaluate(() => document.querySelectorAll("#view details").forEach((d) => (d.open = true)));
		const texts = await frame.$$eval(`details.finding[data-finding="${finding}"] pre`, (all) => all.map((e) => e.textContent));
		return { words: await frame.$eval("header .perfetto", (e) => e.innerText), buttons: (await frame.$$("[data-perfetto]")).length, texts };
	},
};

const told = {};

async function run(page) {
	await page.goto(job.url, { timeout: PATIENCE_MS });
	const frame = await find_frame(page);
	await show(frame, "doctor");
	await frame.evaluate(() => document.querySelectorAll("details.finding").forEach((d) => (d.open = true)));
	for (const [what, finding] of job.does) told[job.name].push(await DOES[what](page, frame, finding));
	if (job.shots) mkdirSync(job.shots, { recursive: true });
	for (const theme of ["light", "dark"]) {
		if (job.axe) for (const fault of await faults(frame)) wrong.push(`${job.name}, ${theme}: ${fault}`);
		for (const width of job.shots ? [1300, 420] : []) {
			await page.setViewportSize({ width, height: 900 });
			await page.screenshot({ path: `${job.shots}/${job.name}-${theme}-${width}.png` });
		}
		await turn(frame);
	}
	const wide = await frame.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	if (wide > 0) wrong.push(`${job.name}: the page is ${wide} pixels wider than the window`);
}

const browser = await launch();
for (job of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, colorScheme: "light", reducedMotion: "reduce" });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	page.on("pageerror", (e) => wrong.push(`${job.name}: error on the page: ${e.stack}`));
	page.on("console", (m) => {
		const ours = !job.ours || job.ours.some((part) => m.location().url.includes(part));
		if (ours && ["error", "warning"].includes(m.type()) && !/status of 404/.test(m.text())) wrong.push(`${job.name}: console ${m.type()}: ${m.text()}`);
	});
	told[job.name] = [];
	try {
		await bounded("the job", run(page));
	} catch (e) {
		wrong.push(`${job.name}: ${e.stack}`);
	}
	await shut(context);
}
await shut(browser);
console.log(JSON.stringify(told));
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
