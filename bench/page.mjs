// SPDX-License-Identifier: MIT
// How quick the page is, in headless Chromium: node bench/page.mjs [--profile FOLDER] PAGE.html...
//
// Prints for each page: the size of its file; when the first paint came, and when the view stood there; how long each view takes from the click to its
// paint, and until all of it is drawn (the better of two, after it was drawn once); and how long the frames are while the timeline is moved and zoomed: the share of them that
// took at most 20 ms (50 a second), the median, the longest. Work is the processor time of the page's thread, which is what to compare where
// the machine has something else to do. FOLDER gets a CPU profile of each (for Chromium's
// developer tools). Times judge nothing: the tests do not run this.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { launch, PATIENCE_MS } from "../tests/page/browser.mjs";

const SIZE = { width: 1920, height: 1080 };
const FRAMES = 120;
const GESTURES = {
	pan: { deltaX: 40, deltaY: 0 },
	zoom: { deltaX: 0, deltaY: -120, ctrlKey: true },
};
const given = process.argv.slice(2);
const folder = given[0] === "--profile" ? given.splice(0, 2)[1] : null;

const ms = (x) => `${x < 10 ? x.toFixed(1) : Math.round(x)} ms`;
const told = ({ wall, whole, work }) => `${ms(wall)}, whole ${ms(whole)}, work ${ms(work)}`;
const say = (name, text) => console.log(`  ${name.padEnd(26)}${text}`);

// From the click until what it changes was painted, and until the tables below that were drawn too.
const changed = (page, view) => page.evaluate(async (name) => {
	const begin = performance.now();
	document.getElementById(`tab-${name}`).click();
	await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	if (!document.querySelector(`#view[aria-labelledby="tab-${name}"]`)) throw new Error(`${name} does not come`);
	const wall = performance.now() - begin;
	while (document.querySelector("#view [aria-busy=true]")) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	return { wall, whole: performance.now() - begin };
}, view);

async function change(page, session, view) {
	const before = await worked(session);
	const times = await changed(page, view);
	return { ...times, work: (await worked(session)) - before };
}

// One event of the wheel in each frame, there and back.
const moved = (page, gesture, frames) => page.evaluate(([event, count]) => new Promise((done) => {
	const over = document.querySelector(".lanes .u-over");
	const { left, top, width, height } = over.getBoundingClientRect();
	const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true };
	const times = [];
	const frame = (now) => {
		times.push(now);
		if (times.length > count) return done(times.slice(1).map((t, i) => t - times[i]));
		const sign = times.length < count / 2 ? 1 : -1;
		over.dispatchEvent(new WheelEvent("wheel", { ...at, ...event, deltaX: sign * event.deltaX, deltaY: sign * event.deltaY }));
		requestAnimationFrame(frame);
	};
	requestAnimationFrame(frame);
}), [gesture, frames]);

async function worked(session) {
	const { metrics } = await session.send("Performance.getMetrics");
	return metrics.find((m) => m.name === "TaskDuration").value * 1000;
}

async function profiled(session, name, act) {
	if (!folder) return act();
	await session.send("Profiler.enable");
	await session.send("Profiler.start");
	const out = await act();
	const { profile } = await session.send("Profiler.stop");
	writeFileSync(path.join(folder, `${name}.cpuprofile`), JSON.stringify(profile));
	return out;
}

async function opened(page, url) {
	await page.goto(url);
	await page.waitForSelector("#view > *:not(h2)");
	return page.evaluate(() => new Promise((done) => {
		const stood = performance.now();
		requestAnimationFrame(() => setTimeout(() => done({ stood, paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN })));
	}));
}

async function timeline(page, session, name) {
	await changed(page, "slices");
	if (!(await page.$(".lanes .u-over"))) return;
	await page.$eval(".lanes", (e) => e.scrollIntoView({ block: "start" }));
	await moved(page, GESTURES.zoom, 10);
	for (const [gesture, event] of Object.entries(GESTURES)) {
		const before = await worked(session);
		const frames = await profiled(session, `${name}-${gesture}`, () => moved(page, event, FRAMES));
		const work = (await worked(session)) - before;
		const sorted = [...frames].sort((a, b) => a - b);
		const quick = frames.filter((f) => f <= 20.5).length / frames.length;
		say(`timeline, ${gesture}`, `${Math.round(100 * quick)} % of ${frames.length} frames within 20 ms, median ${ms(sorted[frames.length >> 1])}, longest ${ms(sorted.at(-1))}, work ${ms(work / frames.length)} a frame`);
	}
}

async function measure(browser, file) {
	const page = await browser.newPage({ viewport: SIZE });
	page.setDefaultTimeout(PATIENCE_MS);
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" }); // processor time, whatever else runs
	const name = path.basename(file, ".html");
	console.log(`${file}: ${(statSync(file).size / 2 ** 20).toFixed(2)} MiB`);
	const url = `${pathToFileURL(file)}#view=overview`;
	const before = await worked(session);
	const { paint, stood } = await profiled(session, `${name}-open`, () => opened(page, url));
	say("first paint", `${ms(paint)} (the view stands at ${ms(stood)}), work ${ms((await worked(session)) - before)}`);
	const views = await page.$$eval('[role="tab"]', (tabs) => tabs.map((e) => e.id.slice(4)));
	const first = {};
	const best = {};
	for (const view of views) first[view] = await profiled(session, `${name}-${view}`, () => change(page, session, view));
	for (let i = 0; i < 2; i++)
		for (const view of views) {
			const now = await change(page, session, view);
			if (!best[view] || now.work < best[view].work) best[view] = now;
		}
	for (const view of views) say(`view ${view}`, `${told(best[view])} (the first time ${told(first[view])})`);
	await timeline(page, session, name);
	await page.close();
}

if (folder) mkdirSync(folder, { recursive: true });
const browser = await launch();
console.log(`Chromium ${browser.version()}, ${SIZE.width} x ${SIZE.height}`);
for (const file of given) await measure(browser, file);
await browser.close();
