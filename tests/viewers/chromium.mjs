// SPDX-License-Identifier: MIT
// Opens the real XProf pages in headless Chromium and looks: node chromium.mjs --url URL --run RUN --host HOST --shots DIR
//
// URL is a running TensorBoard (run_chromium.py starts one). Only that server is reachable: every other request is cut.
// Shots: trace.png (the trace viewer, drawn), trace_top.png (what stands right under the first device), overview.png.
// --expect TEXT (repeatable): must be in the trace's data and on the page's track headings, else exit 1.
// --op ADDRESS (repeatable): a finding's link to the graph viewer must show the op it names, else exit 1.
// --time ADDRESS (repeatable): one to the trace viewer must ask for the time it names and get events inside, else exit 1.
// --suggest TEXT (repeatable): must be in the overview page's recommendations, else exit 1.
// Exit 77 when playwright-core or Chromium is not there.
import { mkdirSync } from "node:fs";

import { launch, shut } from "../page/browser.mjs";

const PATIENCE_MS = 120000;

function options(argv) {
	const out = { expect: [], suggest: [], op: [], time: [] };
	for (let i = 0; i < argv.length; i += 2) {
		const key = argv[i].replace(/^--/, "");
		if (Array.isArray(out[key]))
			out[key].push(argv[i + 1]);
		else
			out[key] = argv[i + 1];
	}
	for (const key of ["url", "run", "host", "shots"])
		if (!out[key]) {
			console.error(`chromium.mjs: --${key} is missing`);
			process.exit(2);
		}
	return out;
}

async function open_page(chromium, base) {
	const page = await chromium.newPage({ viewport: { width: 1600, height: 1200 } });
	await page.route("**/*", (route) =>
		route.request().url().startsWith(base) || /^(data|blob):/.test(route.request().url())
			? route.continue() : route.abort());
	return page;
}

// The trace viewer draws into a canvas in nested frames and shadow roots; its headings are elements.
async function deep_text(page) {
	const texts = [];
	for (const frame of page.frames())
		texts.push(await frame.evaluate(() => {
			const out = [];
			const walk = (node) => {
				if (node.nodeType === Node.TEXT_NODE)
					out.push(node.textContent);
				if (node.shadowRoot)
					walk(node.shadowRoot);
				node.childNodes.forEach(walk);
			};
			walk(document);
			return out.join("\n");
		}).catch(() => ""));
	return texts.join("\n");
}

async function wait_for(what, test) {
	const end = Date.now() + PATIENCE_MS;
	for (;;) {
		if (await test())
			return true;
		if (Date.now() > end) {
			console.error(`gave up waiting for ${what}`);
			return false;
		}
		await new Promise((done) => setTimeout(done, 500));
	}
}

async function trace(chromium, opt) {
	const page = await open_page(chromium, opt.url);
	const query = `run=${encodeURIComponent(opt.run)}&tag=trace_viewer@&host=${encodeURIComponent(opt.host)}`;
	let data = "";
	page.on("response", async (r) => {
		if (r.url().includes("/data/plugin/profile/data?"))
			data += await r.text().catch(() => "");
	});
	await page.goto(`${opt.url}/data/plugin/profile/index.html?${query}`);
	const drawn = await wait_for("the trace's tracks", async () => /XLA Ops|\/device:|\/host:/.test(await deep_text(page)));
	await page.waitForTimeout(3000);
	mkdirSync(opt.shots, { recursive: true });
	await page.screenshot({ path: `${opt.shots}/trace.png` });
	const heads = await deep_text(page);
	const missing = opt.expect.filter((t) => !data.includes(t) || !heads.includes(t));
	for (const t of missing)
		console.error(`"${t}" is ${data.includes(t) ? "in the trace's data, not on the page" : "not in the trace"}`);
	await shut(page);
	return drawn && missing.length === 0;
}

// A card that something widens is cut by the page, words and all: the first words of those that are.
async function cut_suggestions(page, width) {
	await page.setViewportSize({ width, height: 1200 });
	await page.waitForTimeout(500);
	const cut = await page.locator(".suggestion-text").evaluateAll((texts) => texts.filter((text) =>
		text.getBoundingClientRect().right > text.closest("mat-expansion-panel").getBoundingClientRect().right
			|| text.scrollWidth > text.clientWidth).map((text) => text.textContent.trim().slice(0, 80)));
	for (const words of cut)
		console.error(`at ${width} pixels this recommendation is wider than its card: ${words}`);
	return cut.length;
}

async function overview(chromium, opt) {
	const page = await open_page(chromium, opt.url);
	const query = `run=${encodeURIComponent(opt.run)}&tag=overview_page&host=${encodeURIComponent(opt.host)}`;
	await page.goto(`${opt.url}/data/plugin/profile/index.html?${query}&enable_smart_suggestion=true`);
	const drawn = await wait_for("the overview", async () => /Performance Summary|Run Environment|Recommend/i
		.test(await deep_text(page)));
	await page.waitForTimeout(2000);
	await page.screenshot({ path: `${opt.shots}/overview.png`, fullPage: true });
	const text = await deep_text(page);
	const missing = opt.suggest.filter((t) => !text.includes(t));
	for (const t of missing)
		console.error(`"${t}" is not on the overview page`);
	let cut = 0;
	for (const width of [1280, 1440, 1920])
		cut += await cut_suggestions(page, width);
	await shut(page);
	return drawn && missing.length === 0 && cut === 0;
}

// The graph viewer heads its drawing with the op it was asked for; of a name it does not know it says so.
async function op_link(chromium, opt, address) {
	const page = await open_page(chromium, opt.url);
	const node = new URL(address, `${opt.url}/`).searchParams.get("node_name");
	await page.goto(new URL(address, `${opt.url}/`).href);
	const shown = await wait_for(`the graph of ${node}`, async () =>
		(await deep_text(page)).includes(`Neighborhood of 1 nodes around ${node}`));
	await page.screenshot({ path: `${opt.shots}/link_op.png` });
	await shut(page);
	return shown;
}

// XProf fetches some time on either side; what lies in the range itself must be there.
async function time_link(chromium, opt, address) {
	const page = await open_page(chromium, opt.url);
	const query = new URL(address, `${opt.url}/`).searchParams;
	const [from, to] = [Number(query.get("view_start")), Number(query.get("view_end"))];
	let inside = 0, asked = false;
	page.on("response", async (r) => {
		const sent = new URL(r.url()).searchParams;
		if (!r.url().includes("/data/plugin/profile/data?") || !sent.has("start_time_ms"))
			return;
		asked ||= Number(sent.get("start_time_ms")) <= from && Number(sent.get("end_time_ms")) >= to;
		for (const e of JSON.parse(await r.text()).traceEvents ?? [])
			inside += e.ph === "X" && e.ts / 1e3 < to && (e.ts + (e.dur ?? 0)) / 1e3 > from;
	});
	await page.goto(new URL(address, `${opt.url}/`).href);
	const drawn = await wait_for(`the trace from ${from} to ${to} ms`, async () =>
		asked && inside > 0 && /XLA Ops|\/device:|\/host:/.test(await deep_text(page)));
	await page.waitForTimeout(2000);
	await page.screenshot({ path: `${opt.shots}/link_time.png` });
	await shut(page);
	return drawn;
}

async function all(addresses, open) {
	let good = true;
	for (const address of addresses)
		good = await open(address) && good;
	return good;
}

const opt = options(process.argv.slice(2));
const chromium = await launch();
const good = [await trace(chromium, opt), await overview(chromium, opt),
	await all(opt.op, (a) => op_link(chromium, opt, a)), await all(opt.time, (a) => time_link(chromium, opt, a))];
await shut(chromium);
const word = good.map((g) => (g ? "good" : "bad"));
console.log(`trace ${word[0]}, overview ${word[1]}, links to ops ${word[2]} (${opt.op.length}), to times ${word[3]} ` +
	`(${opt.time.length}); screenshots in ${opt.shots}`);
process.exit(good.every(Boolean) ? 0 : 1);
