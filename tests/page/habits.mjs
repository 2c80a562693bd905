// SPDX-License-Identifier: MIT
// Looks whether people find the habits here that they have from other profilers: node habits.mjs JOB.json
//
// JOB: {file, flame, named, doors, habits, want, shots}. FILE: address of a report's page; FLAME: of one of a trace with call stacks above its kernels
// (null: there is none, and what needs it is left out); NAMED: of one whose run has a name; DOORS: [{name, url, inside, ours, run, title}], the ways to
// the page, each with the run to choose and its name; HABITS: those to try, all if it is empty; WANT: what habits_test.py works out of the report. Each
// habit has a browser context of its own, and a time after which it is given up: the others go on.
// Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { bounded, launch, PATIENCE_MS, settled, show, shut, viewNames, watch } from "./browser.mjs";

const DESK = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1 };
const PAPER = { width: 718, height: 1000 }; // A4 less its margins

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { want } = job;
const wrong = [];
let habit = "";
let contexts = [];
let browser;
const bad = (text) => wrong.push(`${habit}: ${text}`);
const must = (good, text) => good || bad(text);
const same = (found, wanted, what) => must(JSON.stringify(found) === JSON.stringify(wanted), `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);

// --- how to get there

async function blank(options = DESK, door = { inside: [job.file, job.flame, job.named].filter(Boolean) }) {
	const context = await browser.newContext({ colorScheme: "light", ...options });
	contexts.push(context);
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { ...door, bad });
	return page;
}

async function open(url, options) {
	const page = await blank(options);
	await page.goto(url);
	await page.waitForSelector("#view");
	return page;
}

const shows = (page, view) => page.waitForSelector(`#view[data-view="${view}"]`);
const table = (caption) => `section.table[aria-label="${caption}"]`;
const text = (frame, selector) => frame.$eval(selector, (e) => e.innerText.trim());
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const drawer = (page, name) => page.waitForFunction((wanted) => document.querySelector(".drawer h2")?.textContent === wanted, name);
// What the address carries under NAME.
const carried = (page, name) => page.evaluate((key) => new URLSearchParams(location.hash.slice(1)).get(key), name);
const carries = (page, name, value) => page.waitForFunction(([key, wanted]) => {
	const found = new URLSearchParams(location.hash.slice(1)).get(key);
	return wanted === null ? found !== null : found === wanted;
}, [name, value]);

async function drag(page, selector, from, to) {
	const box = await (await page.$(selector)).boundingBox();
	await page.mouse.move(box.x + box.width * from, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * to, box.y + box.height / 2, { steps: 5 });
	await page.mouse.up();
}

// --- what people came for

// A click on an op's name shows the same, wherever it stands: in a table or in a finding.
async function op() {
	const { finding, name, nr } = want.op;
	const page = await open(`${job.file}#view=time&time.ops.find=${name}`);
	await page.click(`${table("Ops")} tr[data-row] .op button >> text=${name}`);
	await drawer(page, name);
	const when = '.drawer section[aria-label="executions over time"]';
	await page.waitForSelector(when);
	const first = await text(page, ".drawer");
	same(await page.$$eval(`${when} .number`, (all) => all.map((e) => Number(e.innerText.split(" ")[0]))), want.op.executions.counts, "executions, core by core");
	must((await text(page, `${when} h3`)).endsWith(`step ${want.op.executions.step}`), `the drawer says "${await text(page, `${when} h3`)}"`);
	same((await page.$$(`${when} .length`)).length, want.op.executions.counts.reduce((a, b) => a + b, 0), "executions that are drawn");
	const link = await carried(page, "op");
	await page.click(".drawer .close");
	await page.goto(`${job.file}#view=doctor&finding=${finding}`);
	await page.waitForSelector("details.finding[open] .where");
	for (const more of await page.$$("details.finding[open] .where button:text-matches('^[0-9]+ more$')")) await more.click();
	same(await page.$$eval("details.finding[open] .where li", (all) => all.filter((li) => li.querySelector(".op button")).length), nr, "ops of the finding that can be clicked");
	must(/core-/.test(await text(page, "details.finding[open] .where li")), `an op of a finding does not say its time: ${await text(page, "details.finding[open] .where li")}`);
	await page.click(`details.finding[open] .where .op button >> text=${name}`);
	await drawer(page, name);
	await page.waitForSelector(when);
	same(await text(page, ".drawer"), first, "the drawer from a finding is another one than from a table");
	same(await carried(page, "op"), link, "the op in the address");
}

// To the source line: it is in sight, can be copied alone and opened in an editor, and time is listed by it.
async function source() {
	const { line, lines } = want.source;
	const page = await open(`${job.file}#view=time`, { ...DESK, permissions: ["clipboard-read", "clipboard-write"] });
	const ops = table("Ops");
	must(await page.$eval(`${ops} thead`, (head) => {
		const heading = [...head.querySelectorAll("th")].find((th) => th.innerText.trim() === "Source").getBoundingClientRect();
		return heading.left >= 0 && heading.right <= innerWidth;
	}), "the source is out of sight in Ops");
	await page.fill(`input[aria-label="filter Ops"]`, line);
	await page.click(`${ops} button[aria-label="copy ${line}"]`);
	await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, line).catch(() => bad("a source line is not copied alone"));
	same(await page.$$eval(`${ops} tr.marked`, (all) => all.length), 0, "rows that the copy of a source line selects");
	await page.click(`${ops} .op button`);
	await page.fill(".drawer .source input", "/home/me/project");
	const editor = `vscode://file/home/me/project/${line}`;
	await page.waitForFunction((href) => document.querySelector(".drawer .source a")?.getAttribute("href") === href, editor).catch(() => bad("the drawer has no link into an editor"));
	await page.click(".drawer .close");
	await page.reload();
	await page.waitForSelector(`${ops} a[href="${editor}"]`).catch(() => bad("a table has no link into an editor"));
	const by = table("Time by source line");
	await page.waitForSelector(by);
	const rows = await page.$$eval(`${by} tr[data-row]`, (all) => all.map((r) => [r.cells[0].querySelector("[data-source]")?.dataset.source ?? r.cells[0].innerText.trim(), r.cells[1].innerText.trim()]));
	same(rows.slice(0, lines.length), lines, "time by source line");
	await page.click(`${by} tr[data-row="0"] button.ops`);
	await carries(page, "time.ops.find", lines[0][0]);
}

const heads = (page, caption) => page.$$eval(`${table(caption)} thead th`, (all) => all.map((th) => th.innerText.trim().replace(/ [\u2191\u2193]$/, "")));

// Columns are chosen, moved and made wider, and are so in a link; the first one stays.
async function columns() {
	const page = await open(`${job.file}#view=time`);
	const ops = table("Ops");
	const before = await heads(page, "Ops");
	await page.click(`${ops} .chooser summary`);
	await page.click(`${ops} .chooser label:has-text("${before[3]}") input`);
	await page.waitForFunction(([at, nr]) => document.querySelectorAll(`${at} thead th`).length === nr, [ops, before.length - 1]);
	const fewer = before.filter((name) => name !== before[3]);
	same(await heads(page, "Ops"), fewer, "columns when one is left out");
	await page.click(`${ops} .chooser button[aria-label="${fewer[3]}: to the left"]`);
	const moved = [fewer[0], fewer[1], fewer[3], fewer[2], ...fewer.slice(4)];
	await page.waitForFunction(([at, name]) => document.querySelectorAll(`${at} thead th`)[2].innerText.trim().startsWith(name), [ops, fewer[3]]);
	same(await heads(page, "Ops"), moved, "columns when one is moved by its button");
	await page.click(`${ops} .chooser summary`);
	const [from, to] = await Promise.all([3, 1].map(async (i) => (await page.$(`${ops} thead th:nth-child(${i + 1})`)).boundingBox()));
	await page.mouse.move(from.x + 12, from.y + from.height / 2);
	await page.mouse.down();
	await page.mouse.move(to.x + 6, to.y + to.height / 2, { steps: 6 });
	await page.mouse.up();
	const dragged = [moved[0], moved[3], moved[1], moved[2], ...moved.slice(4)];
	await page.waitForFunction(([at, name]) => document.querySelectorAll(`${at} thead th`)[1].innerText.trim().startsWith(name), [ops, moved[3]]);
	same(await heads(page, "Ops"), dragged, "columns when one is dragged");
	const wide = () => page.$eval(`${ops} thead th:nth-child(2)`, (th) => Math.round(th.getBoundingClientRect().width));
	const was = await wide();
	const edge = await (await page.$(`${ops} thead th:nth-child(2) .edge`)).boundingBox();
	await page.mouse.move(edge.x + edge.width / 2, edge.y + edge.height / 2);
	await page.mouse.down();
	await page.mouse.move(edge.x + edge.width / 2 + 90, edge.y + edge.height / 2, { steps: 4 });
	await page.mouse.up();
	await carries(page, "time.ops.wide", null);
	const now = await wide();
	must(now > was + 60, `a column of ${was} pixels is ${now} wide when its edge was dragged by 90`);
	await page.reload();
	await page.waitForSelector(ops);
	same(await heads(page, "Ops"), dragged, "columns after a reload");
	must(Math.abs(await wide() - now) <= 1, `a column of ${now} pixels is ${await wide()} wide after a reload`);
	await page.$eval(`${ops} .scroll`, (e) => e.scrollTo(e.scrollWidth, 0));
	await page.waitForFunction((at) => {
		const box = document.querySelector(`${at} .scroll`);
		return box.scrollLeft > 0 && Math.abs(box.querySelector("tr[data-row] td").getBoundingClientRect().left - box.getBoundingClientRect().left - box.clientLeft) <= 1;
	}, ops).catch(() => bad("the first column does not stay"));
}

// A finding's time leads to the moment: the view is seen from its top, with the device and what it is an example of.
async function moment() {
	for (const { finding, texts, first } of want.moments) {
		const page = await open(`${job.file}#view=doctor&finding=${finding}`, { viewport: { width: 1280, height: 600 } });
		const button = "details.finding[open] > .links .links button";
		await page.waitForSelector(button);
		same(await page.$$eval(button, (all) => all.map((e) => e.innerText.trim())), texts, `times of ${finding}`);
		await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
		await page.click(button);
		await shows(page, "slices");
		await carries(page, "from_ps", String(first.from));
		await carries(page, "to_ps", String(first.to));
		same(await carried(page, "device"), first.device, `device of ${finding}`);
		await settled(page);
		const top = await page.$eval("#view h2", (e) => e.getBoundingClientRect().top);
		must(top >= 0 && top < 600, `${finding}: the view that a time leads to begins at ${top} pixels`);
		await shut(page.context());
	}
}

// --- a link is all that one sees

async function framed(page, run) {
	const there = (id) => document.querySelector("#view") && (!id || [...document.querySelectorAll("header option")].some((o) => o.value === id));
	const end = Date.now() + PATIENCE_MS;
	for (;;) {
		for (const frame of page.frames()) if (await frame.evaluate(there, run).catch(() => false)) return frame;
		if (Date.now() > end) throw new Error("the page did not come up");
		await page.waitForTimeout(100); // frames come and go in TensorBoard
	}
}

// What is in sight, as people would tell it.
const sight = (frame) => frame.evaluate(() => {
	const ops = document.querySelector('section.table[aria-label="Ops"]');
	const head = ops?.querySelector("th[aria-sort]:not([aria-sort=none])");
	return {
		view: document.querySelector("#view").getAttribute("aria-labelledby"),
		run: document.querySelector("header .run").textContent,
		range: document.querySelector(".strip .range")?.textContent,
		device: [...document.querySelectorAll("header label.choice")].find((e) => e.textContent.startsWith("device"))?.querySelector("select").value,
		sort: head && `${head.querySelector("button").textContent} ${head.getAttribute("aria-sort")}`,
		word: ops?.querySelector("input").value,
		row: ops && Math.round(ops.querySelector(".scroll").scrollTop / 28),
	};
});
const settles = async (frame, wanted, what) => {
	const end = Date.now() + PATIENCE_MS / 4;
	let found = await sight(frame).catch(() => null);
	while (JSON.stringify(found) !== JSON.stringify(wanted) && Date.now() < end) {
		await frame.waitForTimeout(200);
		found = await sight(frame).catch(() => null);
	}
	same(found, wanted, what);
};

async function share() {
	for (const door of job.doors) {
		const was = habit;
		habit = `${was}, ${door.name}`;
		await share_by(door);
		habit = was;
	}
}

async function share_by(door) {
	const page = await blank(DESK, door);
	await page.goto(door.url);
	let frame = await framed(page, door.run);
	const ops = table("Ops");
	if (door.run) {
		await frame.selectOption("header label.choice:first-of-type select", door.run);
		await frame.waitForFunction((wanted) => document.querySelector("header .run")?.textContent.includes(wanted), door.title);
	}
	await show(frame, "time");
	await shows(frame, "time");
	await frame.selectOption('header label.choice:has-text("device") select', { index: 1 });
	const strip = await frame.$(".strip .u-over");
	await strip.scrollIntoViewIfNeeded();
	const box = await strip.boundingBox();
	await page.mouse.move(box.x + box.width * 0.2, box.y + box.height / 2);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 5 });
	await page.mouse.up();
	await frame.waitForSelector(".strip .range");
	if (door.run) await frame.waitForFunction(() => document.querySelector(".scope")?.textContent.startsWith("All figures"));
	await frame.fill('input[aria-label="filter Ops"]', "fusion");
	await frame.click(`${ops} thead th:first-child button`);
	await frame.waitForSelector(`${ops} thead th:first-child[aria-sort="ascending"]`);
	await frame.$eval(`${ops} .scroll`, (e) => e.scrollTo(0, 28 * 9));
	for (const part of ["time.ops.row=9", "time.ops.find=fusion", "time.ops.sort=", "from_ps=", "device=", "view=time", ...(door.title ? ["run="] : [])])
		await page.waitForFunction((wanted) => location.hash.includes(wanted), part).catch(() => bad(`the address lacks ${part}: ${page.url()}`));
	if (door.title) must(decodeURIComponent(page.url()).includes(door.title) && !/run=[0-9a-f]{16}/.test(page.url()), `the address does not call the run by its name: ${page.url()}`);
	const before = await sight(frame);
	must(before.row === 9 && before.range && before.word === "fusion", `what is chosen is not in sight: ${JSON.stringify(before)}`);
	const other = await blank(DESK, door);
	await other.goto(page.url());
	await settles(await framed(other, door.run), before, "sent to somebody");
	await shut(other.context());
	await frame.fill('input[aria-label="filter Ops"]', "fusion.3");
	await frame.fill('input[aria-label="filter Ops"]', "fusion.33"); // the last choice before the page goes
	await page.reload();
	frame = await framed(page, door.run);
	await frame.waitForFunction(() => document.querySelector('input[aria-label="filter Ops"]')?.value === "fusion.33", null, { timeout: PATIENCE_MS / 4 }).catch(async () => bad(`what was written just before a reload is lost: "${await frame.$eval('input[aria-label="filter Ops"]', (e) => e.value)}"`));
	const { range } = await sight(frame);
	await frame.click("#view h2"); // keys go to the frame that was clicked last
	await frame.evaluate(() => scrollTo(0, 0));
	await frame.hover(".strip .over-time");
	await page.keyboard.press("w");
	await page.reload();
	frame = await framed(page, door.run);
	await frame.waitForFunction((was) => (document.querySelector(".strip .range")?.textContent ?? was) !== was, range, { timeout: PATIENCE_MS / 4 }).catch(() => bad("a zoom just before a reload is lost"));
	await shut(page.context());
}

// --- one search

async function search() {
	const page = await open(job.file);
	for (const { word, kind, name } of want.search) {
		await page.evaluate(() => document.activeElement?.blur?.());
		await page.keyboard.press("/");
		await page.keyboard.type(word);
		await page.waitForSelector('#hits [role="option"]');
		const found = await page.$$eval('#hits [role="option"]', (all) => all.map((e) => [e.querySelector(".kind").textContent, e.innerText]));
		const place = found.findIndex(([k, all]) => k === kind && all.includes(name));
		must(place >= 0, `"${word}" does not find the ${kind} ${name}: ${JSON.stringify(found.slice(0, 4))}`);
		for (let i = 0; i < place; i++) await page.keyboard.press("ArrowDown");
		await page.keyboard.press("Enter");
		if (kind === "op") {
			await drawer(page, name);
			await page.click(".drawer .close");
		} else if (kind === "finding") await page.waitForSelector(`details.finding[open]:has-text("${name}")`);
		else await carries(page, "time.ops.find", name);
	}
	if (!job.flame) return;
	await page.goto(`${job.flame}#view=flame`);
	await page.waitForSelector(".flame");
	const { word, nr, part, measure } = want.flame;
	await page.fill('input[aria-label="find frames"]', word);
	await page.waitForFunction((wanted) => document.querySelector(".found")?.innerText.includes(wanted), `${nr} frames contain "${word}"`);
	const said = await text(page, ".found");
	must(said.includes(`${part} of ${measure}`), `the flame graph says "${said}" and not "${part} of ${measure}"`);
	const places = new Set();
	for (let i = 0; i < 3; i++) {
		await page.press('input[aria-label="find frames"]', "Enter");
		await page.waitForFunction((known) => !known.includes(document.querySelector(".found")?.innerText), [said, ...places]);
		places.add(await text(page, ".found"));
		const frame = await text(page, ".frame");
		must(frame.toLowerCase().includes(word), `the search leads to "${frame}"`);
	}
	await carries(page, "flame.zoom", null); // a hit is shown larger
}

// The device's time first, without what every stack begins with, and the hottest by kind.
async function flame() {
	if (!job.flame) return;
	const page = await open(`${job.flame}#view=flame`);
	same(await page.$eval('label.choice:has-text("by") select', (e) => e.value), "device", "the flame graph opens by");
	const { folded, hottest } = want.flame;
	must((await text(page, "#view")).includes(`${folded} that only call the next one are folded`), `the ${folded} frames that stacks begin with are not folded`);
	await page.click('label.choice:has-text("all callers")');
	await carries(page, "flame.whole", "true");
	same(await page.$$eval("section.table", (all) => all.map((e) => e.getAttribute("aria-label")).filter((name) => name.startsWith("Hottest"))), hottest, "tables of the hottest");
	await page.focus(".flame");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await carries(page, "flame.zoom", null);
	const place = await carried(page, "flame.zoom");
	await page.reload();
	await page.waitForSelector(".flame");
	await carries(page, "flame.zoom", place);
}

// --- near enough to see it

const ends = (page) => page.evaluate(() => {
	const on = new URLSearchParams(location.hash.slice(1));
	return on.has("from_ps") ? [Number(on.get("from_ps")), Number(on.get("to_ps"))] : null;
});
// Waits until TEST of what the address says of the time holds.
const until = async (page, test, what) => {
	const end = Date.now() + PATIENCE_MS / 4;
	let found = await ends(page);
	while (!test(found)) {
		if (Date.now() > end) return bad(`${what}: the time is ${found}`), found;
		await page.waitForTimeout(50);
		found = await ends(page);
	}
	return found;
};
const width = (range) => (range ? range[1] - range[0] : Infinity);

async function zoom() {
	const page = await blank();
	await page.addInitScript(() => {
		window.written = []; // on canvases, whose text cannot be read
		const { fillText } = CanvasRenderingContext2D.prototype;
		CanvasRenderingContext2D.prototype.fillText = function write(said, ...place) {
			window.written.push([this.canvas, said]);
			return fillText.call(this, said, ...place);
		};
	});
	await page.goto(`${job.file}#view=time`);
	await shows(page, "time");
	await page.waitForSelector(".strip .u-over");
	await drag(page, ".strip .u-over", 0.2, 0.6);
	const first = await until(page, (r) => r !== null, "a drag chooses nothing");
	await drag(page, ".strip .u-over", 0.3, 0.4);
	const second = await until(page, (r) => width(r) < width(first), "a second drag in the strip");
	await page.hover("#view .over-time", { position: { x: 200, y: 20 } });
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -400);
	await page.keyboard.up("Control");
	const third = await until(page, (r) => width(r) < width(second), "the wheel with Ctrl");
	await page.keyboard.press("w");
	const fourth = await until(page, (r) => width(r) < width(third), "key w");
	await page.keyboard.press("d");
	const fifth = await until(page, (r) => r && r[0] > fourth[0], "key d");
	await page.keyboard.press("a");
	await until(page, (r) => r && r[0] < fifth[0], "key a");
	await page.keyboard.press("s");
	await until(page, (r) => width(r) > width(fourth) * 1.2, "key s");
	for (const was of [null, null, null]) {
		void was;
		await page.keyboard.press("Escape");
		await settled(page);
	}
	await page.click(".strip .range >> text=Show all").catch(() => null);
	await until(page, (r) => r === null, "back to all");
	for (const [from, to] of want.near) {
		await page.evaluate(() => { window.written.length = 0; });
		await page.evaluate(([a, b]) => { location.hash = `#view=systolic&from_ps=${a}&to_ps=${b}`; }, [from, to]);
		await page.waitForFunction(([a, b]) => new URLSearchParams(location.hash.slice(1)).get("from_ps") === String(a) && new URLSearchParams(location.hash.slice(1)).get("to_ps") === String(b), [from, to]);
		await shows(page, "systolic");
		await page.waitForFunction(() => document.querySelector(".strip .range") && [...document.querySelectorAll("#view .over-time")].some((e) => window.written.some(([canvas]) => canvas === e.closest(".uplot").querySelector("canvas"))));
		await settled(page);
		const said = (await text(page, ".strip .range")).split("\n")[0].replace(/\s*Back.*$/, "");
		const [a, b] = said.split(" to ");
		must(a && b && a !== b, `the strip says "${said}" of ${to - from} ps`);
		const ticks = await page.evaluate(() => {
			const chart = [...document.querySelectorAll("#view .over-time")].at(0)?.closest(".uplot").querySelector("canvas");
			return window.written.filter(([canvas, words]) => canvas === chart && /^-?[\d.,]+ (s|ms|\u00b5s|ns|ps)$/.test(words)).map(([, words]) => words);
		});
		const once = ticks.slice(ticks.lastIndexOf(ticks[0]));
		must(once.length > 1 && new Set(once).size === once.length, `the axis of ${to - from} ps says ${once}`);
	}
}

// --- on paper and on a phone

const sheet = () => {
	const right = document.documentElement.clientWidth + 1;
	const shown = (e) => e.checkVisibility({ checkVisibilityCSS: true });
	const name = (e) => `${e.tagName} ${e.className} "${e.textContent.slice(0, 40)}"`;
	return {
		back: getComputedStyle(document.body).backgroundColor,
		closed: document.querySelectorAll("details.finding:not([open])").length,
		advice: [...document.querySelectorAll("details.finding .advice")].filter((e) => !shown(e) || !e.innerText.trim()).length,
		pale: [...document.querySelectorAll(".shares span, .swatch")].filter((e) => getComputedStyle(e).printColorAdjust !== "exact").length,
		parts: new Set([...document.querySelectorAll(".shares span")].map((e) => getComputedStyle(e).backgroundColor)).size,
		buttons: [...document.querySelectorAll("button, select, input, summary.button")].filter((e) => shown(e) && !e.closest("th") && !e.classList.contains("link")).map(name),
		cut: [...document.querySelectorAll("#tpusight *")].filter((e) => shown(e) && e.getBoundingClientRect().right > right).map(name),
		charts: [...document.querySelectorAll("canvas")].filter(shown).map((e) => e.getBoundingClientRect()).filter((b) => b.width === 0 || b.right > right).length,
	};
};

async function paper() {
	const page = await open(job.file, { ...DESK, colorScheme: "dark" });
	for (const view of ["overview", "time", "doctor"]) {
		await show(page, view);
		await shows(page, view);
		await settled(page);
		const folded = () => page.evaluate(() => [document.documentElement.dataset.theme, document.querySelectorAll("details[open]").length].join());
		const before = await folded();
		const path = job.shots ? `${job.shots}/paper-${view}.pdf` : undefined;
		must((await page.pdf({ format: "A4", path })).length > 5000, `${view}: nothing is printed`);
		same(await folded(), before, `${view} after it was printed`);
		await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
		await page.emulateMedia({ media: "print", colorScheme: "dark" });
		await page.setViewportSize(PAPER);
		await settled(page);
		const found = await page.evaluate(sheet);
		same(found.back, "rgb(255, 255, 255)", `${view}: the paper is`);
		same([found.closed, found.advice], [0, 0], `${view}: findings closed, findings without advice`);
		same(found.pale, 0, `${view}: colours that are not printed`);
		if (view === "overview") must(found.parts > 2, `${view}: the class bar has ${found.parts} colours`);
		same(found.buttons.slice(0, 3), [], `${view}: what only a pointer can use`);
		same(found.cut.slice(0, 3), [], `${view}: cut at the right edge`);
		same(found.charts, 0, `${view}: charts that are cut`);
		await page.emulateMedia({ media: "screen", colorScheme: "dark" });
		await page.setViewportSize(DESK.viewport);
		await page.evaluate(() => dispatchEvent(new Event("afterprint")));
	}
}

// One finger from one place to another.
async function finger(page, from, to) {
	const touch = await page.context().newCDPSession(page);
	const send = (type, places) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: places.map(([x, y]) => ({ x, y })) });
	await send("touchStart", [from]);
	for (let i = 1; i <= 5; i++) await send("touchMove", [[from[0] + ((to[0] - from[0]) * i) / 5, from[1] + ((to[1] - from[1]) * i) / 5]]);
	await send("touchEnd", []);
}

async function phone() {
	const page = await open(job.file, PHONE);
	const views = await viewNames(page);
	for (const view of views) {
		await page.goto("about:blank");
		await page.goto(`${job.file}#view=${view}`);
		await shows(page, view);
		await settled(page);
		const found = await page.evaluate(() => {
			const tab = (document.querySelector('[role="tab"][aria-selected="true"]') ?? document.querySelector(".places [aria-current]")).getBoundingClientRect();
			const cells = [...document.querySelectorAll(".rows td")].filter((e) => e.getBoundingClientRect().width > innerWidth / 2);
			return {
				above: (document.querySelector(".tabs") ?? document.querySelector("header")).getBoundingClientRect().bottom + scrollY,
				tab: [Math.round(tab.left), Math.round(tab.right)],
				wide: document.documentElement.scrollWidth - innerWidth,
				cells: cells.map((e) => e.textContent.slice(0, 40)),
				loose: [...document.querySelectorAll("section.table .scroll")].filter((e) => e.scrollWidth <= e.clientWidth && e.querySelector("table").offsetWidth > e.clientWidth).length,
			};
		});
		must(found.above <= 844 / 4, `${view}: heading and tabs take ${found.above} pixels`);
		must(found.tab[0] >= -1 && found.tab[1] <= 391, `${view}: its tab stands at ${found.tab}`);
		must(found.wide <= 0, `${view}: ${found.wide} pixels beside the screen`);
		same([found.cells.slice(0, 2), found.loose], [[], 0], `${view}: cells and tables wider than their use`);
		if (job.shots) await page.screenshot({ path: `${job.shots}/phone-${view}.png` });
	}
	await page.goto("about:blank");
	await page.goto(`${job.file}#view=overview`);
	await shows(page, "overview");
	const help = ".fact .help button";
	await page.$eval(help, (e) => e.scrollIntoView({ block: "center" }));
	await page.tap(help);
	await page.waitForSelector(".meaning");
	must(await page.$eval(".meaning", (e) => {
		const box = e.getBoundingClientRect();
		return box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight && e.innerText.length > 20;
	}), "what a tap explains is not on the screen");
	await page.tap("h1");
	await page.waitForFunction(() => !document.querySelector(".meaning")).catch(() => bad("a tap elsewhere does not close a meaning"));
	await page.evaluate(() => scrollTo(0, 0));
	const box = await (await page.$(".strip .u-over")).boundingBox();
	const y = box.y + box.height / 2;
	await page.touchscreen.tap(box.x + box.width / 2, y);
	await page.waitForFunction(() => [...document.querySelectorAll(".strip .tip")].some((e) => !e.hidden && e.textContent)).catch(() => bad("a tap on a chart does not say its values"));
	await finger(page, [box.x + box.width * 0.2, y], [box.x + box.width * 0.7, y]);
	const range = await until(page, (r) => r !== null, "a finger over the strip");
	must(range && width(range) > 0.3 * want.end && width(range) < 0.7 * want.end, `half of the strip is ${range} of ${want.end}`);
	await finger(page, [box.x + box.width * 0.5, y], [box.x + box.width * 0.6, y]);
	await until(page, (r) => r && width(r) < 0.5 * width(range), "a second finger's way over the strip");
}

// The stand-alone page knows no TensorBoard: it asks where it is, and says what it copied.
async function outside() {
	const page = await open(`${job.named}#op=${want.op.key}`, { ...DESK, permissions: ["clipboard-read", "clipboard-write"] });
	await page.waitForSelector(".drawer");
	must(!(await page.$$eval("button", (all) => all.map((e) => e.innerText))).some((said) => /^Copy link: /.test(said)), "a button promises a link that it does not have");
	await page.click('.drawer button:has-text("XProf graph")');
	await page.fill('.drawer input[type="url"]', "http://tb.example:6006");
	await page.click('.drawer .outside button >> text="Copy link"');
	await page.waitForFunction(() => document.querySelector('.drawer .outside [role="status"]').textContent !== "");
	const link = await clipboard(page);
	must(link.startsWith("http://tb.example:6006/?") && link.endsWith("#profile") && link.includes(`node_name=${want.op.name}`), `the copied link is ${link}`);
	const said = await text(page, '.drawer .outside [role="status"]');
	must(said.startsWith("copied: http://tb.example:6006/"), `the page says "${said}"`);
}

// --- all of them, each for itself

const HABITS = { op, source, columns, moment, share, search, flame, zoom, paper, phone, outside };

if (job.shots) mkdirSync(job.shots, { recursive: true });
for (const name of job.habits.length ? job.habits : Object.keys(HABITS)) {
	habit = name;
	const begin = Date.now();
	browser ??= await launch();
	try {
		await bounded(name, HABITS[name]());
	} catch (e) {
		bad(e.stack);
	}
	if ((await Promise.all(contexts.map(shut))).includes(false)) {
		void shut(browser); // it hangs: the next habit has another one
		browser = undefined;
	}
	contexts = [];
	console.log(`${name}: ${((Date.now() - begin) / 1000).toFixed(1)} s`);
}
if (browser) await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
