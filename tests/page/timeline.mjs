// SPDX-License-Identifier: MIT
// Drives the page's timeline in headless Chromium: node timeline.mjs JOB.json
//
// JOB: {file, url, run, made, shots, mean: {from_ps, to_ps}, op: {name, from_ps, to_ps, device}, rows: [labels], devices}. FILE is a page
// without a server, URL one with; MADE a server of a report whose profile is gone. OP is one that ran on a device, in a step. Prints what is
// wrong, a line each, and a line of figures: what a frame of a pan costs the page's thread. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { bounded, faults, launch, PATIENCE_MS, shut, watch } from "./browser.mjs";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wrong = [];
const bad = (text) => wrong.push(text);
const must = (good, text) => good || bad(text);
const ROW = 20;
const THEMES = ["light", "dark"];

async function open(browser, url, size = { width: 1280, height: 900 }, theme = "light") {
	const context = await browser.newContext({ viewport: size, colorScheme: theme, offline: url.startsWith("file:") });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [url.split("#")[0]], bad });
	await page.goto(url);
	await page.waitForSelector("#view[data-view='slices']");
	return page;
}

const range = (page) => page.evaluate(() => ["from_ps", "to_ps"].map((name) => Number(new RegExp(`${name}=(\\d+)`).exec(location.hash)?.[1] ?? NaN)));
const moved = (page, was) => page.waitForFunction((before) => location.hash !== before, was);
const hash = (page) => page.evaluate(() => location.hash);
const plot = (page) => page.$eval(".lanes .u-over", (e) => {
	const { left, top, width, height } = e.getBoundingClientRect();
	return { left, top, width, height };
});
const table = (page) => page.$$eval('section.table[aria-label="What is in sight"] tr[data-row]', (rows) => rows.map((r) => [...r.cells].map((c) => c.innerText)));

// Where a moment of a row stands on the screen.
async function place(page, at_ps, row) {
	await page.$eval(".rows-box", (e) => e.scrollIntoView({ block: "start" }));
	const box = await plot(page);
	const [from, to] = await range(page);
	return [box.left + ((at_ps - from) / (to - from)) * box.width, box.top + (row + 0.5) * ROW];
}

// A click on an op opens what is known of it; Escape closes it, and then leads back.
async function clicked(page) {
	await page.mouse.click(...(await place(page, (job.op.from_ps + job.op.to_ps) / 2, job.op.row)));
	await page.waitForFunction((name) => document.querySelector(".drawer h2")?.textContent === name, job.op.name);
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !document.querySelector(".drawer"));
}

async function words_of_pointer(page) {
	await page.mouse.move(...(await place(page, (job.op.from_ps + job.op.to_ps) / 2, job.op.row)));
	await page.waitForFunction((name) => document.querySelector(".lanes .tip:not([hidden])")?.textContent.includes(name), job.op.name);
	const crosses = await page.$$eval(".u-over", (all) => all.map((e) => [e.getBoundingClientRect().left, e.querySelector(".u-cursor-x")]).map(([left, e]) => e && Math.round(left + new DOMMatrix(getComputedStyle(e).transform).e)));
	must(crosses.length >= 3 && crosses.every((x) => x !== null), `the crosshair is on ${crosses} of the charts over time`);
	const edges = await page.$$eval(".over-time", (all) => all.map((e) => e.getBoundingClientRect()).map((b) => `${Math.round(b.left)} to ${Math.round(b.right)}`));
	must(new Set(edges).size === 1, `charts over time stand at ${edges}`);
}

// Wheel, keys and mouse, as in Perfetto.
async function gestures(page) {
	const [x, y] = await place(page, (job.op.from_ps + job.op.to_ps) / 2, job.op.row);
	const first = await range(page);
	/** A gesture that changes the range. */
	const does = async (what, good, act) => {
		const before = await hash(page);
		const old = await range(page);
		await act();
		await moved(page, before);
		const now = await range(page);
		must(good(old, now), `${what}: ${old} to ${now}`);
	};
	const less = (old, now) => now[1] - now[0] < old[1] - old[0];
	const more = (old, now) => now[1] - now[0] > old[1] - old[0];
	const later = (old, now) => now[0] > old[0] && Math.abs(now[1] - now[0] - (old[1] - old[0])) < 10;
	const earlier = (old, now) => later(now, old);
	await page.mouse.move(x, y);
	await does("Ctrl and the wheel show less", less, async () => {
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -300);
		await page.keyboard.up("Control");
	});
	await does("w shows less", less, () => page.keyboard.press("w"));
	await does("d goes on", later, () => page.keyboard.press("d"));
	await does("a goes back", earlier, () => page.keyboard.press("a"));
	await does("s shows more", more, () => page.keyboard.press("s"));
	await does("Shift and the mouse move", later, async () => {
		await page.keyboard.down("Shift");
		await page.mouse.down();
		await page.mouse.move(x - 100, y, { steps: 4 });
		await page.mouse.up();
		await page.keyboard.up("Shift");
	});
	await does("a drag chooses", less, async () => {
		await page.mouse.move(x - 100, y);
		await page.mouse.down();
		await page.mouse.move(x + 100, y, { steps: 4 });
		await page.mouse.up();
	});
	for (let i = 0; i < 20 && `${await range(page)}` !== `${first}`; i++) {
		const before = await hash(page);
		await page.keyboard.press("Escape");
		await moved(page, before);
	}
	must(`${await range(page)}` === `${first}`, `Escape leads to ${await range(page)} and not to ${first}`);
}

// With the keyboard alone: from slice to slice, into one, and to the next row.
async function keyboard(page) {
	await page.focus(".lanes");
	const said = () => page.$eval(".lanes [role=status]", (e) => e.textContent);
	/** What is said when a key has led to another slice. */
	const after = async (key) => {
		const was = await said();
		await page.keyboard.press(key);
		await page.waitForFunction((old) => document.querySelector(".lanes [role=status]").textContent !== old, was);
		return said();
	};
	await after("ArrowRight"); // from the slice that was clicked
	const back = await after("ArrowLeft");
	must(back.startsWith(`TPU:0, ${job.op.name}, `), `the keyboard is at ${JSON.stringify(back)}`);
	await page.keyboard.press("Enter");
	await page.waitForFunction((want) => document.querySelector(".drawer h2")?.textContent === want, job.op.name);
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !document.querySelector(".drawer"));
	await page.focus(".lanes");
	must((await after("ArrowDown")).startsWith("TPU:0 Steps, "), "down does not lead to the next row");
}

// Chips open and shut, by mouse and by keys, and the address has it. A finding that is chosen leaves its ops their colour; gaps have that of what was waited for.
async function tree(browser) {
	const page = await open(browser, `${job.file}#view=slices&from_ps=${job.gap.from_ps}&to_ps=${job.gap.to_ps}`, { width: 1440, height: 900 });
	await page.waitForSelector(".lanes canvas");
	const names = () => page.$$eval(".row-name", (all) => all.map((e) => e.title));
	const before = await names();
	must(before[0] === "TPU:0" && before.includes("TPU:0 DMA"), `the rows are ${before}`);
	await page.click(".row-name button");
	await page.waitForFunction(() => location.hash.includes("slices.turned=chip%200"));
	must(!(await names()).includes("TPU:0 DMA") && (await names()).includes("TPU:1 DMA"), "a chip does not shut");
	await page.keyboard.press("Enter");
	await page.waitForFunction((nr) => document.querySelectorAll(".row-name").length === nr, before.length);
	/** How many pixels of the first row have a colour, and how much of it; a copy is read, as reading makes a canvas slow. */
	const pixels = (color, share = 1) => page.evaluate(([r, g, b, alpha]) => {
		const canvas = document.querySelector(".lanes canvas");
		const copy = document.createElement("canvas");
		[copy.width, copy.height] = [canvas.width, 20 * devicePixelRatio];
		const pen = copy.getContext("2d", { willReadFrequently: true });
		pen.drawImage(canvas, 0, 0);
		const { data } = pen.getImageData(0, 0, copy.width, copy.height);
		let nr = 0;
		for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12 && Math.abs(data[i + 3] - alpha) < 5) nr++;
		return nr;
	}, [...color, 255 * share]);
	must((await pixels(job.colors.compilation, 0.4)) > 500, "a wait for the compiler does not have its colour");
	const [x, y] = await place(page, (job.gap.from_ps + job.gap.to_ps) / 2, 0);
	await page.mouse.move(x, y);
	await page.waitForFunction((words) => document.querySelector(".lanes .tip:not([hidden])")?.textContent.includes(words), job.gap.words).catch(() => bad("a gap does not say what it waited for"));
	await page.evaluate(([from, to]) => {
		location.hash = location.hash.replace(/from_ps=\d+&to_ps=\d+/, `from_ps=${from}&to_ps=${to}`);
	}, [job.mean.from_ps, job.mean.to_ps]);
	await page.waitForFunction(() => !document.querySelector(".path-words").textContent.includes("step 216"));
	const full = await pixels(job.colors.communication);
	await page.click(".rail .said");
	await page.waitForFunction(() => location.hash.includes("finding=") && document.querySelector(".drawer.of-finding"));
	must((await page.$$(".rail .said.critical, .rail .said.warning, .rail .said.info")).length <= 5, "more than five findings stand at the left");
	must((await pixels(job.colors.communication)) < full / 2 || !full, "what a finding is not about keeps its colour");
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => !document.querySelector(".drawer"));
	await shut(page.context());
}

// What a frame costs the page's own thread while all is moved, without the waiting for the machine.
async function cost(page) {
	const client = await page.context().newCDPSession(page);
	await client.send("Performance.enable", { timeDomain: "threadTicks" });
	const spent = async () => (await client.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
	const before = await spent();
	const frames = await page.evaluate(async () => {
		const over = document.querySelector(".lanes .u-over");
		for (let i = 0; i < 100; i++) {
			over.dispatchEvent(new WheelEvent("wheel", { deltaX: i % 50 < 25 ? 20 : -20, shiftKey: true, bubbles: true, cancelable: true }));
			await new Promise(requestAnimationFrame);
		}
		return 100;
	});
	return (1000 * (await spent() - before)) / frames;
}

async function in_file(browser) {
	const page = await open(browser, `${job.file}#view=slices`);
	await page.waitForSelector(".lanes canvas");
	must((await page.$eval("#view", (e) => e.innerText)).includes(`This file has single ops of steps ${job.kept.join(" and ")};`), "the file does not say what it has");
	await page.click("#view >> text=Mean step");
	await page.waitForFunction(() => location.hash.includes("from_ps="));
	must(`${await range(page)}` === `${[job.mean.from_ps, job.mean.to_ps]}`, `the mean step is ${await range(page)}`);
	const path = await page.$eval(".path-words", (e) => e.textContent);
	must(path === job.path, `the path is ${path} instead of ${job.path}`);
	const rows = await table(page);
	must(rows.length > 3 && rows[0].length === 6, `the table has ${rows.length} rows`);
	await words_of_pointer(page);
	await clicked(page);
	await gestures(page);
	await keyboard(page);
	const link = await page.evaluate(() => location.href);
	await page.goto("about:blank");
	await page.goto(link);
	await page.waitForSelector(".lanes canvas");
	must(`${await range(page)}` === `${[job.mean.from_ps, job.mean.to_ps]}`, "a link does not lead to what was seen");
	const frame_ms = await cost(page);
	await shut(page.context());
	return { frame_ms };
}

// Each theme and width: nothing is wider than the window, and axe has nothing serious to say.
async function looks(browser) {
	for (const theme of THEMES)
		for (const [width, height] of [[1280, 900], [1920, 1080], [390, 844]]) {
			const page = await open(browser, `${job.file}#view=slices&from_ps=${job.mean.from_ps}&to_ps=${job.mean.to_ps}`, { width, height }, theme);
			await page.waitForSelector(".lanes canvas");
			const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
			must(wide <= 0, `${width}, ${theme}: ${wide} pixels wider than the window`);
			for (const fault of await faults(page)) bad(`${width}, ${theme}: ${fault}`);
			if (job.shots) {
				mkdirSync(job.shots, { recursive: true });
				await page.screenshot({ path: `${job.shots}/timeline-${width}-${theme}.png`, fullPage: true });
			}
			await shut(page.context());
		}
}

// Each look asks for what is in sight, no more places than a server gives, and at most as often as there was a gesture.
async function at_server(browser) {
	const page = await open(browser, `${job.url}#view=slices`);
	const asked = [];
	page.on("request", (r) => r.url().includes("/slices?") && asked.push(new URL(r.url()).searchParams));
	await page.reload();
	await page.waitForSelector(".lanes canvas");
	const rows = await table(page);
	must(rows.length > 3, `the whole run is a table of ${rows.length} rows`);
	await page.evaluate(([from, to]) => {
		location.hash = `${location.hash}&from_ps=${from}&to_ps=${to}`;
	}, [job.mean.from_ps, job.mean.to_ps]);
	await page.waitForFunction((words) => document.querySelector(".path-words")?.textContent === words, job.path).catch(() => bad("a server has another path than a file"));
	await page.evaluate(() => {
		location.hash = location.hash.replace(/&from_ps=.*/, "");
	});
	await page.waitForFunction(() => document.querySelector(".path-words")?.textContent.startsWith("Critical path of the run"));
	const before = asked.length;
	const next = () => page.waitForRequest((r) => r.url().includes("/slices?")); // what is in sight already is drawn before
	const look = next();
	await page.evaluate(([from, to]) => {
		location.hash = location.hash.replace(/&from_ps=.*/, "").concat(`&from_ps=${from}&to_ps=${to}`);
	}, [job.op.from_ps, job.op.to_ps]);
	await page.fill('input[aria-label="filter What is in sight"]', job.op.name);
	await page.waitForFunction((name) => [...document.querySelectorAll('section.table[aria-label="What is in sight"] tr[data-row]')].some((r) => r.cells[0].innerText === "TPU:0" && r.cells[1].innerText === name && r.cells[5].innerText === "1"), job.op.name);
	await look;
	must(asked.length - before === 1, `one look asks ${asked.length - before} times`);
	for (const at of asked) must(Number(at.get("width")) <= 8192 && Number(at.get("from_ps")) < Number(at.get("to_ps")), `asked for ${at}`);
	must(Number(asked.at(-1).get("from_ps")) <= job.op.from_ps && Number(asked.at(-1).get("to_ps")) >= job.op.to_ps, `asked for ${asked.at(-1)}`);
	const ofDevice = next();
	await page.selectOption("header label.choice:has-text('device') select", "1");
	await ofDevice;
	await page.waitForFunction(() => [...document.querySelectorAll('section.table[aria-label="What is in sight"] tr[data-row]')].every((r) => !r.cells[0].innerText.startsWith("TPU:0")));
	must(asked.at(-1).get("device") === "1", `the device is not asked for: ${asked.at(-1)}`);
	await shut(page.context());
}

async function without_events(browser) {
	const page = await open(browser, `${job.made}#view=slices`);
	await page.waitForFunction(() => document.querySelector("#view").innerText.includes("a report that was made before: it has no events"));
	must((await page.$$(".lanes")).length === 0, "rows are drawn of nothing");
	await shut(page.context());
}

const browser = await launch();
let told = {};
for (const does of [in_file, tree, looks, at_server, without_events])
	try {
		told = { ...told, ...(await bounded(does.name, does(browser))) };
	} catch (e) {
		bad(`${does.name}: ${e.stack}`);
	}
await shut(browser);
console.log(JSON.stringify(told));
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
