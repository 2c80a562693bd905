// SPDX-License-Identifier: MIT
// What the page's tests in headless Chromium share. A missing tool ends the test with 77.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

const SKIP = 77;
export const PATIENCE_MS = 120000;
const PART_MS = 900000;
const CLOSE_MS = 60000;
const LIMIT_MS = 3000000; // of the whole program; what runs it (NODE_S in doors.py) waits longer
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
// Pages of the browser's own that draw all the time where nobody sees them; the rest is what playwright turns off, which ours replaces.
const QUIET = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,Translate,MediaRouter,OptimizationHints,HttpsUpgrades";
const FLAGS = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
	`--disable-features=${QUIET}`];

const require = createRequire(new URL("../viewers/package.json", import.meta.url));

export function tool(name) {
	try {
		return require(name);
	} catch {
		console.error(`${name} is not installed (npm ci in tests/viewers): skipped`);
		process.exit(SKIP);
	}
}

export const theme = (frame) => frame.evaluate(() => document.documentElement.dataset.theme);

// From light to dark and back: by the page's own button, or by TensorBoard's class where the page is its tab.
export async function turn(frame) {
	const was = await theme(frame);
	if (await frame.$("button.theme")) await frame.click("button.theme");
	else await frame.evaluate(() => void parent.document.body.classList.toggle("dark-mode"));
	await frame.waitForFunction((before) => document.documentElement.dataset.theme !== before, was);
}

// A promise that is given up after MS, and then says what it was. Not all of playwright's have an end of their own.
function within(ms, what, promise) {
	let timer;
	const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`${what} took more than ${ms / 1000} s`)), ms); });
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// One part of a test: the others go on when it does not end.
export const bounded = (what, promise) => within(PART_MS, what, promise);

// Closes a page, a context or the browser. False: it hangs, and is left behind.
export const shut = (what) => within(CLOSE_MS, "closing", what.close()).then(() => true, () => false);

// Ends the test in any case, and says where it was.
function limit(browser) {
	setTimeout(() => {
		const pages = browser.contexts().flatMap((context) => context.pages());
		console.error(`not done after ${LIMIT_MS / 1000} s; these pages are open: ${pages.map((page) => page.url()).join(" ") || "none"}`);
		process.exit(1);
	}, LIMIT_MS).unref();
	return browser;
}

// DRAWING are flags of how the browser draws, which need no graphics card.
export function launch(drawing = ["--disable-gpu"]) {
	const { chromium } = tool("playwright-core");
	if (!existsSync(CHROMIUM)) {
		console.error(`${CHROMIUM} is not there (apt-get install chromium, or set CHROMIUM): skipped`);
		process.exit(SKIP);
	}
	return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...drawing] }).then(limit);
}

// BAD is called with each thing that must not happen: an error, a word on the console (where OURS is given, only of addresses with a
// part of it; and not where EXPECTED() accepts the word), a request to an address that begins with no part of INSIDE.
export function watch(page, { inside, ours, bad, expected = () => false }) {
	page.on("pageerror", (e) => bad(`error on the page: ${e.stack}`));
	page.on("console", (m) => {
		const mine = ours ? ours.some((part) => m.location().url.includes(part)) : true;
		if (mine && ["error", "warning"].includes(m.type()) && !expected(m.text())) bad(`console ${m.type()}: ${m.text()} (${m.location().url})`);
	});
	return page.route("**/*", (route) => {
		const url = route.request().url();
		if (/^(data|blob):/.test(url) || inside.some((start) => url.startsWith(start))) return route.continue();
		bad(`asked for ${url}`);
		return route.abort();
	});
}

// The views that there are, place by place.
export const viewNames = (frame) => frame.$$eval(".places [data-views]", (all) => all.flatMap((e) => e.dataset.views.split(" ")));

// Goes to a view as one does: to its place, and there to the way of looking at it, where there are several.
export async function show(frame, view) {
	const place = await (await frame.waitForSelector(`.places [data-views~="${view}"]`, { state: "attached" })).evaluate((e) => e.id);
	await frame.$eval(`#${place}`, (e) => e.getAttribute("aria-current") || e.click());
	await frame.waitForSelector(`#${place}[aria-current]`);
	if ((await frame.$eval(`#${place}`, (e) => e.dataset.views)) !== view) {
		await frame.waitForSelector(`#tab-${view}`, { state: "attached" });
		await frame.$eval(`#tab-${view}`, (e) => e.click());
	}
	await frame.waitForSelector(`#view[data-view="${view}"]`, { state: "attached" });
}

// Until all of a view is drawn: what lies below waits for its turn, and charts are drawn in the frames after.
export async function settled(frame) {
	await frame.waitForFunction(() => !document.querySelector("#view [aria-busy=true]"));
	await frame.evaluate(async () => {
		const next = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		await next();
		await next();
	});
}

// How many canvases have nothing on them. A copy is read: a canvas that is read often draws slower, and Chromium says so.
export const blank = (frame) => frame.$$eval("canvas", (all) => all.filter((c) => {
	const copy = document.createElement("canvas");
	[copy.width, copy.height] = [Math.max(c.width, 1), Math.max(c.height, 1)];
	const pen = copy.getContext("2d", { willReadFrequently: true });
	if (c.width && c.height) pen.drawImage(c, 0, 0);
	const p = new Uint32Array(pen.getImageData(0, 0, copy.width, copy.height).data.buffer);
	return p.every((v) => v === p[0]);
}).length);

// What axe says of what is shown; by RULES alone, if they are given. Rows of a table are alike: it looks at the first ones.
export async function axe(frame, rules) {
	if (!(await frame.evaluate(() => Boolean(window.axe)))) await frame.evaluate(tool("axe-core").source);
	return frame.evaluate((only) => window.axe.run({ include: document, exclude: ["table.rows tbody tr:nth-child(n + 6)"] }, { resultTypes: ["violations"], ...(only ? { runOnly: only } : {}) }), rules);
}

// Until nothing changes its colour any more: a button that is on its way from one theme to the other is too pale in between.
const still = (frame) => frame.waitForFunction(() => document.getAnimations().every((a) => a.playState !== "running" || a.effect?.getComputedTiming().endTime === Infinity));

// Serious faults that axe finds in what is shown, in words. In the dark only colours are others than in the light.
export async function faults(frame) {
	const isDark = (await theme(frame)) === "dark";
	await still(frame);
	const found = await axe(frame, isDark ? ["color-contrast"] : undefined);
	const serious = found.violations.filter((x) => ["serious", "critical"].includes(x.impact));
	const words = serious.map((v) => `${v.id} (${v.impact}): ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.failureSummary.slice(0, 200)}`).join(" | ")}`);
	return found.passes.length > (isDark ? 0 : 10) ? words : [...words, "axe looked at nothing"];
}
