// SPDX-License-Identifier: MIT
// Drives the page in headless Chromium through one door: node page.mjs JOBS.json
//
// JOBS: [{name, url, inside, run, views: {VIEW: {texts, counts, canvases}}, tasks: [TASK], ...}]. URL is the door; requests to
// anything that does not begin with one of INSIDE are cut and reported. RUN is chosen in the page's list where it has one.
// TASKS: "views" every view as the job says it must look; "words" labels, their meaning, and what is unknown; "axe" no serious fault,
// in both themes; "use" mouse, keys, range, state; "part" what is chosen of a run; "several" pages over several runs, of which FAKED has the server's answers; "link"
// the address has all that is chosen; "big" long tables; "flame" the flame graph. Prints what is wrong, a line each, and a line of
// figures. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { blank, bounded, faults, launch, PATIENCE_MS, settled, show, shut, theme, turn, viewNames, watch } from "./browser.mjs";

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
	for (const [name, answer] of Object.entries(job.faked ?? {})) await page.route(new RegExp(`/${name}(\\?|$)`), (route) => route.fulfill({ json: answer }));
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
	await show(frame, view);
	await settled(frame);
}

const look = (frame) => frame.evaluate(() => ({
	text: document.getElementById("view").innerText,
	hacked: window.hacked,
	canvases: document.querySelectorAll("canvas").length,
	tables: [...document.querySelectorAll("section.table")].map((t) => [t.getAttribute("aria-label"), t.querySelectorAll("tr[data-row]").length]),
	rows: document.querySelectorAll("tr").length,
	wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
}));

async function check_view(frame, view, want) {
	await choose(frame, view);
	const seen = await look(frame);
	must(seen.hacked === undefined, `${view}: markup of the profile was run`);
	const empty = await blank(frame);
	must(empty === 0, `${view}: ${empty} of ${seen.canvases} charts are blank`);
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
	const tabs = await viewNames(frame);
	const own = tabs.filter((view) => !["runs", "compare", "trend"].includes(view)); // what of several runs there is, "several" looks at
	must(`${[...own].sort()}` === `${Object.keys(job.views).sort()}`, `the views are ${own} instead of ${Object.keys(job.views)}`);
	must((await frame.$$eval(".places button", (all) => all.length)) <= 5, "there are more than five places");
	for (const view of own) {
		await check_view(frame, view, job.views[view] ?? {});
		if (job.shots) await page.screenshot({ path: `${job.shots}/${job.name.replaceAll(/\W+/g, "-")}-${view}.png` });
	}
	return { xprof: await frame.$$eval("header .xprof a", (links) => links.map((a) => a.href.split("#")[0])) };
}

async function axe(page, frame) {
	for (let pass = 0; pass < 2; pass++) {
		for (const view of Object.keys(job.views)) {
			await choose(frame, view);
			for (const closed of await frame.$$("details.finding:not([open]) > summary")) await closed.click();
			for (const fault of await faults(frame)) bad(`${view}, ${await theme(frame)}: ${fault}`);
		}
		await turn(frame);
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
	must(await tab(frame) === "doctor", "the right arrow does not go to the next view");
	await page.keyboard.press("End");
	must(await tab(frame) === "time", "End does not go to the last view of the place");
	await page.keyboard.press("ArrowRight");
	must(await tab(frame) === "overview", "the right arrow does not go round");
	must(await frame.evaluate(() => document.activeElement.id) === "tab-overview", "the focus does not follow the arrows");
	await frame.evaluate(() => document.activeElement.blur());
	for (const [i, place] of (await frame.$$eval(".places button", (all) => all.map((e) => e.id))).entries()) {
		await page.keyboard.press(String(i + 1));
		await frame.waitForSelector(`#${place}[aria-current]`).catch(() => bad(`key ${i + 1} does not lead to ${place}`));
	}
	for (const [address, view] of [["doctor", "doctor"], ["view=summary", "overview"], ["view=operations", "ops"], ["slices", "slices"]]) {
		if (!(await viewNames(frame)).includes(view) || !job.url.startsWith("file:")) continue;
		await frame.evaluate((text) => void (location.hash = text), address);
		await frame.waitForSelector(`#view[data-view="${view}"]`).catch(() => bad(`#${address} does not lead to ${view}`));
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
	await frame.waitForFunction(() => /from_ps=\d+&to_ps=\d+/.test(location.hash)); // the address follows what is chosen
	await page.reload();
	await frame.waitForSelector(".strip .range");
	must(await tab(frame) === "time", "the view is lost over a reload");
	must(Number(await count_of(frame, "Steps")) === chosen[1], "the range is lost over a reload");
	await frame.evaluate(() => document.activeElement?.blur?.());
	await page.keyboard.press("Escape");
	await frame.waitForFunction(() => !document.querySelector(".strip .range"));
	must(await count_of(frame, "Steps") === steps, "Escape does not show all again");
}

// All charts over time have one place and one scale, and are moved by wheel and keys.
async function axis(page, frame) {
	await choose(frame, "time");
	const edges = await frame.$$eval(".over-time", (all) => all.map((e) => e.getBoundingClientRect()).map((b) => `${Math.round(b.left)} to ${Math.round(b.right)}`));
	must(edges.length > 2 && new Set(edges).size === 1, `charts over time stand at ${edges}`);
	await frame.evaluate(() => scrollTo(0, 0));
	await frame.hover(".strip .over-time");
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -600);
	await page.keyboard.up("Control");
	await frame.waitForFunction(() => location.hash.includes("from_ps="));
	const width = () => frame.evaluate(() => Number(/to_ps=(\d+)/.exec(location.hash)?.[1]) - Number(/from_ps=(\d+)/.exec(location.hash)?.[1]));
	const first = await width();
	await page.keyboard.press("w");
	await frame.waitForFunction((was) => Number(/to_ps=(\d+)/.exec(location.hash)?.[1]) - Number(/from_ps=(\d+)/.exec(location.hash)?.[1]) < was, first);
	await page.keyboard.press("Escape");
	await frame.waitForFunction((was) => Number(/to_ps=(\d+)/.exec(location.hash)?.[1]) - Number(/from_ps=(\d+)/.exec(location.hash)?.[1]) === was, first);
	await page.keyboard.press("Escape");
	await frame.waitForFunction(() => !document.querySelector(".strip .range"));
}

// Columns are chosen, the first one stays, rows are selected, and one search finds an op from anywhere.
async function columns(page, frame) {
	await choose(frame, "time");
	const ops = 'section.table[aria-label="Ops"]';
	const all = await frame.$$eval(`${ops} thead th`, (th) => th.length);
	const shown = (nr) => frame.waitForFunction((want) => document.querySelectorAll('section.table[aria-label="Ops"] thead th').length === want, nr);
	must((await frame.$$eval(`${ops} thead th`, (th) => th.map((e) => e.innerText.trim())))[1] === "Source", "the source does not stand beside the name");
	await frame.click(`${ops} .chooser summary`);
	await frame.click(`${ops} .chooser label:nth-of-type(2) input`);
	await frame.waitForFunction(() => location.hash.includes("time.ops.cols="));
	await shown(all - 1);
	await frame.click(`${ops} .chooser button`);
	await frame.waitForFunction(() => !location.hash.includes("time.ops.cols="));
	await shown(all);
	await frame.click(`${ops} .chooser summary`);
	// Against its own frame, and when all is drawn: the page around the table may still move.
	await frame.$eval(`${ops} .scroll`, (e) => e.scrollTo(400, 0));
	await frame.waitForFunction((at) => {
		const scroll = document.querySelector(`${at} .scroll`), cell = document.querySelector(`${at} tr[data-row] td`);
		return scroll.scrollLeft > 0 && Math.abs(cell.getBoundingClientRect().left - scroll.getBoundingClientRect().left - scroll.clientLeft) <= 1;
	}, ops).catch(() => must(false, "the first column does not stay"));
	await frame.click(`${ops} tr[data-row="1"] td:nth-child(6)`);
	await frame.waitForFunction(() => document.querySelector('section.table[aria-label="Ops"] [data-copy]').textContent === "Copy 1 as CSV");
	await frame.$eval(`${ops} .scroll`, (e) => e.scrollTo(0, 0));
	const name = await frame.$eval(`${ops} tr[data-row="2"] .op button`, (e) => e.textContent);
	await frame.evaluate(() => document.activeElement?.blur?.());
	await page.keyboard.press("/");
	await page.keyboard.type(name);
	await frame.waitForSelector('#hits [role="option"]');
	await page.keyboard.press("Enter");
	await frame.waitForFunction((want) => document.querySelector(".drawer h2")?.textContent === want, name);
	await frame.click(".drawer .close");
}

// An op that is named can be clicked: in a table and in a finding it is the same drawer, and the link has it.
async function op(page, frame) {
	await choose(frame, "time");
	const name = await frame.$eval('section.table[aria-label="Ops"] .op button', (e) => e.textContent);
	await frame.click('section.table[aria-label="Ops"] .op button');
	await frame.waitForFunction((want) => document.querySelector(".drawer h2")?.textContent === want, name);
	must((await frame.$$(".drawer .source button")).length > 0, "the drawer has no source line to copy");
	for (const fault of await faults(frame)) bad(`an op's drawer: ${fault}`);
	await page.reload();
	await frame.waitForFunction((want) => document.querySelector(".drawer h2")?.textContent === want, name);
	await page.keyboard.press("Escape");
	await frame.waitForFunction(() => !document.querySelector(".drawer"));
	await choose(frame, "doctor");
	if (!(await frame.$("details.finding[open] .where .op"))) await frame.click("details.finding:has(.where .op) > summary"); // the first is open
	await frame.click("details.finding[open] .where .op button");
	await frame.waitForSelector(".drawer h2");
	await frame.click(".drawer .close");
	await frame.click("details.finding[open] > .links .links button");
	await frame.waitForSelector('#view[data-view="slices"]');
	must(await frame.evaluate(() => document.querySelector("main").getBoundingClientRect().top >= -1), "a finding's time does not lead to the top of the view");
	await page.keyboard.press("Escape");
	await frame.waitForFunction(() => !document.querySelector(".strip .range"));
	const select = (await frame.$$("header label.choice select")).at(-1);
	await select.selectOption({ index: 0 });
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

// What was chosen is in the address that people see: copied, loaded again and gone back from, it shows the same.
async function link(page, frame) {
	const heading = 'section.table[aria-label="Ops"] thead th:first-child';
	await choose(frame, "overview");
	await choose(frame, "time");
	must(page.url().includes("view=time"), `the address is ${page.url()} where the view of time is shown`);
	await frame.click(`${heading} button`);
	await page.waitForFunction(() => location.hash.includes("time.ops.sort="));
	await frame.fill('input[aria-label="filter Ops"]', "a");
	await page.waitForFunction(() => location.hash.includes("time.ops.find=a"));
	if (job.run) must(!page.url().includes(job.run) || job.run.includes("/"), "the address calls the run by a number");
	await frame.click(".copylink button");
	await frame.waitForFunction(() => document.querySelector(".copylink [role=status]").textContent !== "");
	await page.goto("about:blank");
	await page.goBack();
	let now = await find_frame(page);
	await now.waitForSelector(`${heading}[aria-sort="ascending"]`);
	must(await tab(now) === "time", "the view is lost over a reload");
	must(await now.$eval('input[aria-label="filter Ops"]', (e) => e.value) === "a", "the filter is lost over a reload");
	await page.goto("about:blank");
	await page.goto(job.url);
	now = await find_frame(page);
	await now.waitForSelector("#view");
	await choose(now, "memory");
	await choose(now, "slices");
	await page.goBack();
	await now.waitForSelector('#view[data-view="memory"]');
	await page.goForward();
	await now.waitForSelector('#view[data-view="slices"]');
	await page.evaluate(() => history.go(0));
	now = await find_frame(page);
	await now.waitForSelector('#view[data-view="slices"]');
}

// What is chosen is asked of the server: figures of all views are of that part, from a link too, and Escape brings back the whole run's.
async function part(page, frame) {
	const figure = () => frame.$$eval("#view .fact", (all, name) => all.find((f) => f.querySelector("dt").textContent.startsWith(name))?.querySelector("dd").firstChild.textContent, job.part.steps);
	const said = (text) => frame.waitForFunction((want) => document.querySelector(".scope")?.textContent.startsWith(want), text);
	await choose(frame, "overview");
	const { steps, verdict } = job.part;
	const whole = await figure();
	const box = await (await frame.$(".strip .u-over")).boundingBox();
	await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2, { steps: 5 });
	await page.mouse.up();
	await said("All figures");
	must((await figure()) !== whole, `${steps}: ${whole} are of the whole run where a part is chosen`);
	await page.goto(`${job.url}#${job.part.link}`);
	await page.reload();
	await said("All figures");
	must((await figure()) === job.part.count, `${steps} of the part: ${await figure()} instead of ${job.part.count}`);
	must((await frame.$eval("#view", (e) => e.innerText)).includes(verdict), `the verdict is not the part's: ${verdict}`);
	must((await frame.$$(".strip .u-over")).length > 0 && (await frame.$$eval("header option", (all) => all.map((o) => o.textContent))).includes(job.part.other), "the other devices are gone from the list");
	if (job.shots) await page.screenshot({ path: `${job.shots}/part.png` });
	await (await frame.$$("header label.choice select")).at(-1).selectOption({ index: 0 });
	await frame.evaluate(() => document.activeElement?.blur?.());
	await page.keyboard.press("Escape");
	await frame.waitForFunction(() => !document.querySelector(".scope"));
	must((await figure()) === whole, "Escape does not bring back the figures of the whole run");
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
	await axis(page, frame);
	await columns(page, frame);
	await op(page, frame);
	await device(frame);
	await themes(page, frame);
	return { copied };
}

// The first paint, and how long a scroll to the end, a filter and a sort of the long table keep the page busy.
async function big(page, frame) {
	const paint = await frame.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
	await choose(frame, "time");
	const times = await frame.evaluate(async (word) => {
		const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		const ops = document.querySelector('section.table[aria-label="Ops"]');
		const timed = async (act) => {
			const from = performance.now();
			act();
			await painted();
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

// From the list of runs to two side by side, to one program over time, and to one of them.
async function several(page, frame) {
	const at = (name) => frame.waitForSelector(`#view[data-page="${name}"]`);
	const check = async (name) => {
		for (const fault of await faults(frame)) bad(`${name}: ${fault}`);
		if (job.shots) await page.screenshot({ path: `${job.shots}/several-${name}.png`, fullPage: true });
	};
	await frame.click("#place-runs");
	await at("runs");
	await frame.waitForSelector("svg.spark");
	must((await frame.$$("tr[data-row]")).length === job.faked.runs.runs.length, "the list does not have all runs");
	await check("runs");
	for (const row of [0, 1]) await frame.click(`tr[data-row="${row}"] input[type="checkbox"]`);
	await frame.click("text=/^Compare 2 runs/");
	await at("compare");
	await frame.waitForSelector(".overlaid svg");
	must((await frame.$$('section[aria-label="the difference"] li[data-part]')).length === 2, "the difference is not drawn part by part");
	await check("compare");
	await page.reload();
	await frame.waitForSelector(".overlaid svg");
	await frame.click("#tab-trend");
	await at("trend");
	await frame.waitForSelector(".trend .point");
	must((await frame.$$(".trend .point.bad")).length === 1, "where the gate fails is not marked");
	await check("trend");
	await page.goBack();
	await at("compare");
	await page.goBack();
	await at("runs");
	await frame.click('tr[data-row="1"] button.link');
	await frame.waitForSelector('#view[data-view="overview"] .facts');
}

const explained = (frame) => frame.$eval(".meaning", (e) => ({ text: e.innerText, right: e.getBoundingClientRect().right, window: innerWidth })).catch(() => null);

// The "?" of a label opens by pointer, focus, tap and key, and Escape closes it without giving up the chosen time.
async function ask(page, frame) {
	await choose(frame, "overview");
	const asked = '.fact:last-of-type .help button';
	await frame.hover(asked);
	const seen = await explained(frame);
	must(seen?.text.includes("More: tpusight explain"), `the pointer on "?" shows ${JSON.stringify(seen)}`);
	must(seen && seen.right <= seen.window, `the meaning ends at ${seen?.right} of ${seen?.window} pixels`);
	await frame.hover("h1");
	must(await explained(frame) === null, "the meaning stays when the pointer has left");
	await frame.focus(asked);
	must((await explained(frame))?.text, "the focus on a ? shows nothing");
	const before = await frame.evaluate(() => location.hash);
	await page.keyboard.press("Escape");
	must(await explained(frame) === null, "Escape does not close the meaning");
	must(await frame.evaluate(() => location.hash) === before, "Escape on a meaning changes what is chosen");
	await page.keyboard.press("Enter");
	must((await explained(frame))?.text, "Enter on a ? shows nothing");
	await frame.evaluate(() => document.activeElement.blur());
	await frame.click(asked);
	must((await explained(frame))?.text, "a tap on a ? shows nothing");
	await frame.hover("h1");
}

// Headings are words and not names of JSON, and no two tables of a view have one name; what is unknown stands in a sentence, and not in tiles.
async function words(page, frame) {
	await ask(page, frame);
	for (const view of Object.keys(job.views)) {
		await choose(frame, view);
		for (const folded of ["details.more", "details.columns"])
			for (const closed of await frame.$$(`${folded}:not([open]) > summary`)) await closed.click();
		const labels = await frame.$$eval("[role=tab], .fact dt, h2, h3, th button, details.columns dl", (all) => all.map((e) => [e.textContent, e.title].join(" ")));
		for (const label of labels) must(!/[a-z]_[a-z]/.test(label.replaceAll(/docs\/\S+/g, "")), `${view}: "${label.slice(0, 120)}" has a name of JSON`);
		must(!(await frame.$(".fact .unknown")), `${view}: a tile is "unknown"`);
		const heads = await frame.$$eval("section.table", (all) => all.map((t) => [t.getAttribute("aria-label"), [...t.querySelectorAll("th button")].map((b) => b.textContent.replace(/ [\u2191\u2193]$/, ""))]));
		const captions = heads.map(([caption]) => caption);
		must(new Set(captions).size === captions.length, `${view}: two tables are called ${captions.filter((n, i) => captions.indexOf(n) !== i)}`);
		for (const [caption, names] of heads) must(new Set(names).size === names.length, `${view}: ${caption} has one heading twice: ${names.filter((n, i) => names.indexOf(n) !== i)}`);
	}
}

async function refused(page, frame) {
	const text = await frame.$eval(".error", (e) => e.innerText);
	must(text.includes(job.error), `the page says "${text}" and not "${job.error}"`);
}

const TASKS = { views, words, axe, use, link, part, several, big, flame, refused };

const jobs = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch();
const told = {};
for (job of jobs) {
	if (job.shots) mkdirSync(job.shots, { recursive: true });
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, colorScheme: "light", offline: job.url.startsWith("file:") });
	if (job.tasks.includes("use")) await context.grantPermissions(["clipboard-read", "clipboard-write"]); // refuses all others
	try {
		const { page, frame } = await bounded("opening", open(context));
		for (const task of job.tasks) told[job.name] = { ...told[job.name], ...(await bounded(task, TASKS[task](page, frame))) };
	} catch (e) {
		bad(e.stack);
	}
	await shut(context);
}
await shut(browser);
console.log(JSON.stringify(told));
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
