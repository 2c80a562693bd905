// SPDX-License-Identifier: MIT
// Both frontends of XProf's trace viewer in headless Chromium: node frontend.mjs SETUP.json
//
// SETUP: {url, run, host, shots}: a running TensorBoard with an annotated run. Prints what is wrong, a line each. Exit 1: something is wrong;
// 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";

import { bounded, launch, shut } from "../page/browser.mjs";

const PATIENCE_MS = 120000;
const AGAIN_MS = 10000; // what has no answer by then is asked again
// The new frontend draws by WebGPU, which a machine without a graphics card has in software.
const DRAWING = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--use-vulkan=swiftshader", "--use-angle=swiftshader",
	"--ignore-gpu-blocklist"];

const setup = JSON.parse(readFileSync(process.argv[2], "utf8"));
const address = `${setup.url}/data/plugin/profile/index.html?run=${encodeURIComponent(setup.run)}&tag=trace_viewer@&host=${encodeURIComponent(setup.host)}`;
const wrong = [];
const must = (good, text) => good || wrong.push(text);

async function open(browser, choose_new) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	page.setDefaultTimeout(PATIENCE_MS);
	await page.route("**/*", (route) =>
		route.request().url().startsWith(setup.url) || /^(data|blob):/.test(route.request().url()) ? route.continue() : route.abort());
	if (choose_new) await page.addInitScript(() => localStorage.setItem("use_trace_viewer_v2", "true"));
	await page.goto(address);
	return page;
}

async function shoot(page, name) {
	if (!setup.shots) return;
	mkdirSync(setup.shots, { recursive: true });
	await page.screenshot({ path: `${setup.shots}/xprof-${name}.png` });
}

// How far down each heading stands, from the top of the frame that has it; headings lie in shadow roots.
function tops(frame) {
	return frame.evaluate(() => {
		const found = {};
		const walk = (node) => {
			const text = node.nodeType === Node.TEXT_NODE && node.textContent.trim();
			if (text && !(text in found)) {
				const range = document.createRange();
				range.selectNode(node);
				const { top, height } = range.getBoundingClientRect();
				if (height > 0) found[text] = top;
			}
			if (node.shadowRoot) walk(node.shadowRoot);
			node.childNodes.forEach(walk);
		};
		walk(document.body);
		return found;
	});
}

async function headings(page) {
	for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((done) => setTimeout(done, 500)))
		for (const frame of page.frames()) {
			const found = await tops(frame).catch(() => ({}));
			if ("Time classes" in found) return { found, height: await frame.evaluate(() => innerHeight) };
		}
	throw new Error("the trace viewer draws no row \"Time classes\"");
}

async function rows_are_in_sight(page) {
	const { found, height } = await headings(page);
	const counters = Object.entries(found).filter(([text]) => /TPUsight .* counters/.test(text)).map(([, top]) => top);
	must(counters.length > 0, "no group of counters is there");
	for (const row of ["Time classes", "Findings"]) {
		must(found[row] < height, `"${row}" is below the fold: at ${found[row]} of ${height}`);
		must(counters.every((top) => top > found[row]), `counters stand above "${row}"`);
	}
}

async function until(what, test) {
	for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) if (await test()) return;
	throw new Error(`gave up waiting until ${what}`);
}

const has_webgpu = (page) => page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));

// It goes to a slice that the search found, and shows what a click on it would.
async function search_leads_to_the_op(page) {
	await page.getByText("Got it").click();
	await page.keyboard.press("/");
	const box = page.getByPlaceholder("Search events");
	await until("the search finds slices", async () => {
		await box.click();
		await box.fill(""); // what was typed before the trace was there found nothing
		await box.pressSequentially("of core time");
		return page.waitForFunction(() => /[1-9]\d* results?/.test(document.body.innerText), null, { timeout: AGAIN_MS }).catch(() => false);
	});
	await box.press("Enter");
	await page.waitForFunction(() => /Event details/.test(document.body.innerText) && /hlo_op/.test(document.body.innerText));
	const text = await page.evaluate(() => document.body.innerText);
	must(/name: "[\d.]+ % of core time/.test(text), "the slice does not say its own figure");
	const op = /hlo_op: "?([^"\s]+)/.exec(text)?.[1];
	must(text.includes(`See HLO graph for ${op} @ jit_train_step(`), `no link to the graph of ${op}`);
	must(text.includes(`See op level analysis for ${op}\n`) || text.endsWith(`See op level analysis for ${op}`), `no link to the roofline of ${op}`);
}

async function old_frontend(browser) {
	const page = await open(browser, false);
	await rows_are_in_sight(page);
	await shoot(page, "trace-viewer");
}

async function new_frontend(browser) {
	const page = await open(browser, true);
	if (!(await has_webgpu(page))) {
		console.error("this Chromium has no WebGPU: the new frontend is left out");
		return;
	}
	await page.waitForFunction(() => document.querySelector("#canvas")?.width > 100);
	await search_leads_to_the_op(page);
	await shoot(page, "new-frontend");
}

// Each frontend gets a browser of its own: the new one loses its WebGPU device where another page draws beside it.
for (const look of [old_frontend, new_frontend]) {
	const browser = await launch(DRAWING);
	try {
		await bounded(look.name, look(browser));
	} catch (e) {
		wrong.push(e.stack);
	}
	await shut(browser);
}
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
