// Drives the page in headless Chromium through one door: node page.mjs JOBS.json
//
// JOBS: [{name, url, inside, run, views: {VIEW: {texts, counts, canvases}}, tasks: [TASK], ...}]. URL is the door; requests to
// anything that does not begin with one of INSIDE are cut and reported. RUN is chosen in the page's list where it has one.
// TASKS: "views" every view as the job says it must look; "axe" no serious fault, in both themes; "use" mouse, keys, range,
// state; "big" long tables; "flame" the flame graph. Prints what is wrong, a line each, and a line of figures. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { faults, launch, PATIENCE_MS, watch } from "./browser.mjs";

const wrong = [];
let job;
const bad = (text) => wrong.push(`${job.name}: ${text}`);
const must = (good, text) => good || bad(text);

// The frame that the page stands in, with the run in its list: TensorBoard gives each plugin one of its own, and may do so again.
async function find_frame(page) {
	const end = Date.now() + PATIENCE_MS;
	const there = (run) => document.querySelector("#tpusight header") && (!run || [...document.querySelectorAll("header option")].some((o) => o.value === run));
	for (;;) {
		for (const frame of page.frames())
			if (await frame.evaluate(there, job.run).catch(() => false)) return frame;
		if (Date.now() > end) throw new Error("the page did not come up");
		await page.waitForTimeout(200);
	}
}

async function open(context) {
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: job.inside, ours: job.ours, bad });
	await page.goto(job.url, { timeout: PATIENCE_MS });
	const frame = await find_frame(page);
	if (job.run) {
		await frame.selectOption("header label.choice:first-of-type select", job.run);
		await frame.waitForFunction((text) => document.querySelector("header .run")?.textContent.includes(text), job.run_text);
	}
	await frame.waitForSelector(job.error ? ".error" : "#view");
	return { page, frame };
}

async function choose(frame, view) {
	await frame.click(`#tab-${view}`);
	await frame.waitForSelector(`#view[aria-labelledby="tab-${view}"]`);
	await frame.waitForTimeout(150); // charts are drawn in the next frame
}

const look = (frame) => frame.evaluate(() => ({
	text: document.getElementById("view").innerText,
	hacked: window.hacked,
	blank: [...document.querySelectorAll("canvas")].filter((c) => {
		const copy = document.createElement("canvas");
		[copy.width, copy.height] = [c.width, c.height];
		const pen = copy.getContext("2d", { willReadFrequently: true });
		pen.drawImage(c, 0, 0);
		const p = new Uint32Array(pen.getImageData(0, 0, c.width, c.height).data.buffer);
		return p.every((v) => v === p[0]);
	}).length,
	canvases: document.querySelectorAll("canvas").length,
	tables: [...document.querySelectorAll("section.table")].map((t) => [t.getAttribute("aria-label"), t.querySelectorAll("tr[data-row]").length]),
	rows: document.querySelectorAll("tr").length,
	wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
}));

async function check_view(frame, view, want) {
	await choose(frame, view);
	const seen = await look(frame);
	must(seen.hacked === undefined, `${view}: markup of the profile was run`);
	must(seen.blank === 0, `${view}: ${seen.blank} of ${seen.canvases} charts are blank`);
	must(seen.canvases >= (want.canvases ?? 0), `${view}: ${seen.canvases} charts instead of ${want.canvases}`);
	must(seen.rows < 200, `${view}: ${seen.rows} rows stand in the page`);
	must(seen.wide <= 0, `${view}: it is ${seen.wide} pixels wider than the window`);
	for (const [name, rows] of seen.tables) must(rows > 0, `${view}: table ${name} shows no row`);
	for (const text of want.texts ?? []) must(seen.text.includes(text), `${view}: "${text.slice(0, 100)}" is not there`);
	for (const [selector, nr] of Object.entries(want.counts ?? {})) {
		const found = await frame.$$eval(selector, (all) => all.length);
		must(found === nr, `${view}: ${found} of ${selector} instead of ${nr}`);
	}
}

async function views(page, frame) {
	const tabs = await frame.$$eval('[role="tab"]', (all) => all.map((t) => t.id.slice(4)));
	must(`${tabs}` === `${Object.keys(job.views)}`, `the tabs are ${tabs} instead of ${Object.keys(job.views)}`);
	for (const view of tabs) {
		await check_view(frame, view, job.views[view] ?? {});
		if (job.shots) await page.screenshot({ path: `${job.shots}/${job.name.replaceAll(/\W+/g, "-")}-${view}.png` });
	}
	return { xprof: await frame.$$eval("header .xprof a", (links) => links.map((a) => a.href.split("#")[0])) };
}

const theme = (frame) => frame.evaluate(() => document.documentElement.dataset.theme);

async function axe(page, frame) {
	for (let pass = 0; pass < 2; pass++) {
		for (const view of Object.keys(job.views)) {
			await choose(frame, view);
			for (const closed of await frame.$$("details.finding:not([open]) > summary")) await closed.click();
			for (const fault of await faults(frame)) bad(`${view}, ${await theme(frame)}: ${fault}`);
		}
		await frame.click("button.theme");
	}
}

const shown_rows = (frame, caption) => frame.$$eval(`section.table[aria-label="${caption}"] tr[data-row]`,
	(rows) => rows.map((r) => [...r.cells].map((c) => c.innerText)));
const count_of = (frame, caption) => frame.$eval(`section.table[aria-label="${caption}"] .count`, (e) => e.textContent);
const tab = (frame) => frame.$eval('[role="tab"][aria-selected="true"]', (e) => e.id.slice(4));

async function keys(page, frame) {
	await choose(frame, "overview");
	await frame.focus("#tab-overview");
	await page.keyboard.press("ArrowRight");
	must(await tab(frame) === "systolic", "the right arrow does not go to the next view");
	await page.keyboard.press("End");
	must(await tab(frame) === Object.keys(job.views).at(-1), "End does not go to the last view");
	await page.keyboard.press("ArrowRight");
	must(await tab(frame) === "overview", "the right arrow does not go round");
	must(await frame.evaluate(() => document.activeElement.id) === "tab-overview", "the focus does not follow the arrows");
	await frame.evaluate(() => document.activeElement.blur());
	for (const [i, view] of Object.keys(job.views).slice(0, 9).entries()) {
		await page.keyboard.press(String(i + 1));
		must(await tab(frame) === view, `key ${i + 1} does not show ${view}`);
	}
	await choose(frame, "time");
	await frame.fill('input[aria-label="filter Ops"]', "1");
	must(await tab(frame) === "time", "a digit written into a filter changes the view");
	await frame.fill('input[aria-label="filter Ops"]', "");
}

// Sorted by the heading, filtered by the word, copied as it is shown; the copy is handed back for Python to compare.
async function table(page, frame) {
	await choose(frame, "time");
	const ops = 'section.table[aria-label="Ops"]';
	const heading = `${ops} thead th:first-child`;
	await frame.click(`${heading} button`);
	const up = (await shown_rows(frame, "Ops")).map((r) => r[0]);
	must(await frame.$eval(heading, (e) => e.ariaSort) === "ascending", "sorting by a text does not begin with a");
	await frame.click(`${heading} button`);
	const down = (await shown_rows(frame, "Ops")).map((r) => r[0]);
	must(await frame.$eval(heading, (e) => e.ariaSort) === "descending", "the second click does not turn the order");
	must(up[0] !== down[0], "the second click does not turn the rows");
	await frame.fill('input[aria-label="filter Ops"]', job.filter.word);
	must(await count_of(frame, "Ops") === job.filter.count, `the filter shows ${await count_of(frame, "Ops")} instead of ${job.filter.count}`);
	await frame.click(`${ops} [data-copy]`);
	await frame.waitForFunction(() => document.querySelector('section.table[aria-label="Ops"] [role="status"]').textContent.includes("copied"));
	const copied = await frame.evaluate(() => navigator.clipboard.readText());
	await frame.fill('input[aria-label="filter Ops"]', "no op is called like this");
	must(await count_of(frame, "Ops") === `0 of ${job.filter.all}`, "a filter that fits nothing shows rows");
	await frame.fill('input[aria-label="filter Ops"]', "");
	await frame.focus(`${ops} .scroll`);
	await page.keyboard.press("End");
	await frame.waitForFunction((last) => document.activeElement.dataset.row === last, String(job.filter.all - 1));
	return copied;
}

async function range(page, frame) {
	await choose(frame, "time");
	const before = await count_of(frame, "Idle gaps");
	const steps = await count_of(frame, "Steps");
	await frame.evaluate(() => scrollTo(0, 0));
	const box = await (await frame.$(".strip .u-over")).boundingBox();
	await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2, { steps: 5 });
	await page.mouse.up();
	await frame.waitForSelector(".strip .range");
	const chosen = [Number(await count_of(frame, "Idle gaps")), Number(await count_of(frame, "Steps"))];
	must(chosen[0] < Number(before) && chosen[1] < Number(steps), `the range leaves ${chosen} of ${before} gaps and ${steps} steps`);
	must(/from_ps=\d+&to_ps=\d+/.test(await frame.evaluate(() => location.hash)), "the address does not keep the range");
	await page.reload();
	await frame.waitForSelector(".strip .range");
	must(await tab(frame) === "time", "the view is lost over a reload");
	must(Number(await count_of(frame, "Steps")) === chosen[1], "the range is lost over a reload");
	await frame.evaluate(() => document.activeElement?.blur?.());
	await page.keyboard.press("Escape");
	await frame.waitForFunction(() => !document.querySelector(".strip .range"));
	must(await count_of(frame, "Steps") === steps, "Escape does not show all again");
}

async function device(frame) {
	await choose(frame, "time");
	const select = (await frame.$$("header label.choice select")).at(-1);
	const all = Number(await count_of(frame, "Per core"));
	await select.selectOption({ index: 1 });
	await frame.waitForFunction(() => location.hash.includes("device="));
	must(Number(await count_of(frame, "Per core")) === 1 && all > 1, "one device of several does not leave one core");
	await select.selectOption({ index: 0 });
	must(Number(await count_of(frame, "Per core")) === all, "all devices do not come back");
}

async function themes(page, frame) {
	const back = () => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const [was, color] = [await theme(frame), await back()];
	await frame.click("button.theme");
	must(await theme(frame) !== was && await back() !== color, "the button does not change the theme");
	await page.reload();
	await frame.waitForSelector("#view");
	must(await theme(frame) !== was, "the theme is lost over a reload");
	await frame.click("button.theme");
}

async function use(page, frame) {
	await keys(page, frame);
	const copied = await table(page, frame);
	await range(page, frame);
	await device(frame);
	await themes(page, frame);
	return { copied };
}

// The first paint, and how long a scroll to the end, a filter and a sort of the long table keep the page busy.
async function big(page, frame) {
	const paint = await frame.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
	await choose(frame, "time");
	const times = await frame.evaluate(async (word) => {
		const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		const ops = document.querySelector('section.table[aria-label="Ops"]');
		const timed = async (act) => {
			const from = performance.now();
			act();
			await settled();
			return Math.round(performance.now() - from);
		};
		const box = ops.querySelector(".scroll");
		const out = { scroll_ms: await timed(() => (box.scrollTop = box.scrollHeight)) };
		out.last = Math.max(...[...ops.querySelectorAll("tr[data-row]")].map((r) => Number(r.dataset.row)));
		out.sort_ms = await timed(() => ops.querySelector("thead th:first-child button").click());
		const input = ops.querySelector("input");
		out.filter_ms = await timed(() => {
			input.value = word;
			input.dispatchEvent(new Event("input", { bubbles: true }));
		});
		out.count = ops.querySelector(".count").textContent;
		return out;
	}, job.filter.word);
	must(times.last === job.filter.all - 1, `the end of the table is row ${times.last} instead of ${job.filter.all - 1}`);
	must(times.count === job.filter.count, `the filter shows ${times.count} instead of ${job.filter.count}`);
	return { paint_ms: Math.round(paint), ...times };
}

// The flame graph that a command's own file opens with: keys, mouse, finding, and how long each keeps the page busy.
async function flame(page, frame) {
	const { first, below, word, found, least } = job.flame;
	must(await tab(frame) === "flame", "the file does not open at its view");
	must(await frame.$eval('label.choice input[type="number"]', (e) => Number(e.value)) === least, "the shortest frame is not as it was asked for");
	const says = () => frame.$eval(".frame", (e) => e.innerText);
	const timed = async (act) => {
		const from = performance.now();
		await act();
		await frame.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
		return Math.round(performance.now() - from);
	};
	const press = async (key) => timed(() => page.keyboard.press(key));
	await frame.focus(".flame");
	const key_ms = await press("ArrowDown");
	must((await says()).startsWith(first.name) && (await says()).includes(first.value), `the heaviest frame is said to be "${await says()}"`);
	const zoom_ms = await press("Enter");
	await press("ArrowDown");
	must((await says()).startsWith(below.name), `below it is "${await says()}" and not "${below.name}"`);
	await press("ArrowUp");
	await press("ArrowUp");
	must((await says()).startsWith("All: "), "the arrow up does not lead to all");
	await press("Escape");
	const box = await (await frame.$(".flame")).boundingBox();
	await page.mouse.click(box.x + 3, box.y + 5);
	await frame.waitForFunction(() => !document.querySelector(".frame").innerText.startsWith("All: "));
	const find_ms = await timed(() => frame.fill('input[aria-label="find frames"]', word));
	must((await frame.$eval("#view", (e) => e.innerText)).includes(`${found.toLocaleString("en-US")} frames contain "${word}"`), `not ${found} frames have "${word}"`);
	return { key_ms, zoom_ms, find_ms };
}

async function refused(page, frame) {
	const text = await frame.$eval(".error", (e) => e.innerText);
	must(text.includes(job.error), `the page says "${text}" and not "${job.error}"`);
}

const TASKS = { views, axe, use, big, flame, refused };

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch();
const told = {};
for (job of jobs) {
	if (job.shots) mkdirSync(job.shots, { recursive: true });
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, colorScheme: "light", offline: job.url.startsWith("file:") });
	if (job.tasks.includes("use")) await context.grantPermissions(["clipboard-read", "clipboard-write"]); // refuses all others
	try {
		const { page, frame } = await open(context);
		for (const task of job.tasks) told[job.name] = { ...told[job.name], ...(await TASKS[task](page, frame)) };
	} catch (e) {
		bad(e.stack);
	}
	await context.close();
}
await browser.close();
console.log(JSON.stringify(told));
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
