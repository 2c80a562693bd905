// SPDX-License-Identifier: MIT
// Goes through the whole page of hostile profiles in headless Chromium: node hostile.mjs JOBS.json
//
// JOBS: [{name, url, inside, ours, runs: [ID], has, columns}]. HAS is an element that must be there. Every view of every run is opened; all that folds is unfolded, every table is sorted
// by its first COLUMNS, filtered and copied, every element with a tip is hovered, the time range is set. Nothing of the profile may run,
// become an element or an address, turn the writing's direction, widen the page, or ask for anything. Prints what is wrong, a line each.
import { readFileSync } from "node:fs";
import { bounded, launch, PATIENCE_MS, settled, show, shut, viewNames, watch } from "./browser.mjs";

const wrong = new Set();
let job;
let at = "";
const bad = (text) => wrong.add(`${job.name} ${at}: ${text.slice(0, 400)}`);

// In the page.
const look = () => {
	const found = [];
	const own = /^(data-|aria-)/;
	for (const e of document.querySelectorAll("*")) {
		if (e.matches('head > base[href="plugin/tpusight/"]')) continue; // TensorBoard's, in the frame of each plugin
		const tag = e.tagName.toLowerCase();
		if (["iframe", "img", "object", "embed", "form", "base", "video", "audio", "applet", "math", "template"].includes(tag)) found.push(`an element <${tag}>`);
		// The page's own pictures have shapes and words; what else an <svg> may have can load or run something.
		if (e.closest("svg") && !["svg", "g", "path", "rect", "line", "circle", "text", "tspan", "title", "defs", "pattern", "polygon", "polyline"].includes(tag)) found.push(`<${tag}> in a picture`);
		for (const a of e.attributes) {
			if (/^on/i.test(a.name)) found.push(`an attribute ${a.name}`);
			if (["href", "src", "action", "formaction", "srcdoc", "xlink:href"].includes(a.name) && !own.test(a.name) && !/^(https?:|#|data:,|page\.(js|css)$|\?)/.test(a.value)) found.push(`an address ${a.value.slice(0, 80)}`);
		}
	}
	const shown = document.body.innerText;
	const bidi = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/.exec(shown);
	if (bidi) found.push(`a character that turns the direction: ...${shown.slice(Math.max(bidi.index - 40, 0), bidi.index + 20)}`);
	if (/[\0-\x08\x0b-\x1f\x7f]/.test(shown)) found.push("a control character");
	if (window.hacked !== undefined) found.push("markup of the profile was run");
	if ({}.polluted !== undefined || Object.keys(Object.prototype).length) found.push("Object.prototype has a new property");
	const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
	if (wide > 0) found.push(`it is ${wide} pixels wider than the window`);
	if (document.querySelectorAll(`script:not([src]):not([type="application/json"])`).length > 1) found.push("a script more");
	return found;
};

const use = async (columns) => {
	const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	for (const d of document.querySelectorAll("details:not([open])")) d.open = true;
	for (const table of document.querySelectorAll("section.table")) {
		for (const button of [...table.querySelectorAll("thead button")].slice(0, columns)) {
			button.click();
			await painted();
			button.click();
			await painted();
		}
		const input = table.querySelector('input[type="search"]');
		for (const word of input ? ["__proto__", "<img", "(", "\\", ""] : []) {
			input.value = word;
			input.dispatchEvent(new Event("input", { bubbles: true }));
			await painted();
		}
		table.querySelector("tr[data-row]")?.click();
		await painted();
	}
	for (const e of document.querySelectorAll("[title], td, .u-over, canvas, summary"))
		for (const type of ["mouseenter", "mouseover", "mousemove"]) e.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: 100, clientY: 100 }));
	await painted();
};

let seen = 0; // views in which an attack stands as text

async function check(frame, where) {
	at = where;
	for (const text of await frame.evaluate(look)) bad(text);
	seen += await frame.evaluate(() => Number(document.body.innerText.includes("window.hacked=1")));
}

async function find_frame(page) {
	const end = Date.now() + PATIENCE_MS;
	for (;;) {
		for (const frame of page.frames())
			if (await frame.evaluate(() => Boolean(document.querySelector("#tpusight header"))).catch(() => false)) return frame;
		if (Date.now() > end) throw new Error("the page did not come up");
		await page.waitForTimeout(200);
	}
}

async function every_view(frame, run) {
	await frame.waitForFunction(() => document.querySelector("#view h2 ~ *") || document.querySelector(".error"));
	await check(frame, run);
	const tabs = await viewNames(frame);
	for (const tab of tabs) {
		await show(frame, tab);
		await settled(frame);
		await check(frame, `${run} ${tab}`);
		await frame.evaluate(use, job.columns);
		await check(frame, `${run} ${tab}, used`);
	}
	return tabs.length;
}

const answered = (frame) => frame.waitForFunction(() => ![...document.querySelectorAll('[role="status"]')].some((e) => e.textContent.startsWith("Reading")));

// The page says that it reads before it asks, and until the answer is drawn.
async function pick(page, frame, run) {
	const select = "header label.choice:first-of-type select";
	await frame.waitForSelector(`${select} option:checked:not([value=''])`, { state: "attached" });
	await answered(frame);
	if ((await frame.$eval(select, (e) => e.value)) === run) return;
	const response = page.waitForResponse((r) => {
		const asked = new URL(r.url());
		return asked.pathname.endsWith("/report") && asked.searchParams.get("run") === run;
	});
	await frame.selectOption(select, run);
	await response;
	await answered(frame);
}

async function through(context) {
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	page.on("dialog", (d) => { bad(`a dialog: ${d.message()}`); d.dismiss().catch(() => {}); });
	page.on("popup", (p) => bad(`a window: ${p.url()}`));
	await watch(page, { inside: job.inside, ours: job.ours, bad, expected: (text) => /status of 422|status of 404/.test(text) });
	await page.goto(job.url, { timeout: PATIENCE_MS });
	const frame = await find_frame(page);
	if (job.has) await frame.waitForSelector(job.has);
	let views = 0;
	seen = 0;
	for (const run of job.runs ?? [null]) {
		if (run) {
			await pick(page, frame, run);
		}
		views += await every_view(frame, run ?? "");
	}
	const selects = await frame.$$("header label.choice select");
	for (const select of selects.slice(job.runs ? 1 : 0)) await select.selectOption({ index: 1 });
	await check(frame, "one host or device");
	if (seen * 4 < views) bad(`attacks were shown ${seen} times in ${views} views`); // else the test would see nothing
	return views;
}

const browser = await launch();
const told = {};
for (job of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, offline: job.url.startsWith("file:"), permissions: ["clipboard-read", "clipboard-write"] });
	try {
		told[job.name] = await bounded("the job", through(context));
	} catch (e) {
		bad(e.stack);
	}
	await shut(context);
}
await shut(browser);
console.log(JSON.stringify(told));
for (const text of wrong) console.error(text);
process.exit(wrong.size ? 1 : 0);
