// SPDX-License-Identifier: MIT
// A stranger looks for what is wrong with a run, in headless Chromium: node task.mjs JOB.json
//
// JOB: {url, run, hosts, late, tasks, clicks, seconds, shots}. A task: {name, finding, says, op, source, who, step, word, range, inside, shape}: words that
// stand on the page; LATE is what the host is called that all wait for. Each begins at the list of runs. Prints clicks and seconds of each; on stderr what is wrong, a line each. Exit 1:
// something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { launch, PATIENCE_MS, shut, watch } from "./browser.mjs";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wrong = [];
const LIST = `${job.url}#view=runs`;

const flat = (text) => text.replace(/\s+/g, " ").trim();
const hashRange = (page) => page.evaluate(() => ["from_ps", "to_ps"].map((name) => Number(new RegExp(`${name}=(\\d+)`).exec(location.hash)?.[1] ?? NaN)));

// Somebody with a mouse: counts its clicks, and says what is not as it must be.
class Stranger {
	constructor(page, task) {
		Object.assign(this, { page, task, clicks: 0 });
	}

	must(good, text) {
		if (!good) wrong.push(`${this.task.name}: ${text}`);
	}

	async click(locator) {
		await locator.click();
		this.clicks++;
	}

	// The line below the finding's title, which says where it is.
	async place() {
		const { finding, says, source } = this.task;
		const line = this.page.locator(".findings > li").filter({ hasText: finding }).filter({ hasText: says ?? "" }).filter({ hasText: source }).locator(".place");
		await line.first().waitFor();
		return line.first();
	}

	// What the drawer of an op says: its name, its line to copy and for an editor, and ways into XProf.
	async drawer(op) {
		const { page, task } = this;
		await page.waitForSelector(".drawer h2");
		const name = await page.$eval(".drawer h2", (e) => e.textContent);
		this.must(!op || name === op, `the drawer is of ${name} and not of ${op}`);
		const source = await page.$eval(".drawer .source code", (e) => e.textContent);
		this.must(source === task.source, `the drawer says ${source} and not ${task.source}`);
		this.must((await page.$$(".drawer .source button")).length === 1, "the line of source cannot be copied");
		this.must((await page.$$(".drawer .source input")).length === 1, "an editor cannot be told where the sources are");
		const ways = flat(await page.$eval(".drawer .links", (e) => e.textContent));
		for (const way of ["XProf graph", "XProf trace viewer", "First execution"]) this.must(ways.includes(way), `the drawer leads to "${ways}" and not to ${way}`);
	}

	async moment() {
		const { page, task } = this;
		await page.waitForFunction(() => location.hash.includes("view=slices") && location.hash.includes("from_ps="));
		const range = await hashRange(page);
		this.must(task.range.every((ps, i) => Math.abs(ps - range[i]) <= 1), `step ${task.step} leads to ${range} and not to ${task.range}`);
		if (task.inside) this.must(range[0] <= task.inside[0] && range[1] >= task.inside[1], `it happens at ${task.inside}, outside of ${range}`);
		await page.waitForSelector('#view[data-view="slices"]');
	}
}

// The op that is slow, its line; which core; since when; and the chip among the others.
async function straggler(of) {
	const { page, task } = of;
	const line = await of.place();
	const text = flat(await line.innerText());
	for (const part of [task.op, task.source, task.who, `${task.word} step ${task.step}`]) of.must(text.includes(part), `"${text}" lacks "${part}"`);
	await of.click(line.getByRole("button", { name: task.op, exact: true }));
	await of.drawer(task.op);
	const first = flat(await page.$eval('.drawer section[aria-label="time by core"] li', (e) => e.innerText));
	of.must(first.startsWith(task.who), `the slowest core is "${first}" and not ${task.who}`);
	of.must(flat(await page.$eval('.drawer section[aria-label="time by core"]', (e) => e.innerText)).includes(`since step ${task.step}`), "the drawer does not say since which step");
	await of.click(line.getByRole("button", { name: task.who, exact: true }));
	await page.waitForSelector('section[aria-label="arrivals at collectives"] .verdict');
	const verdict = flat(await page.$eval('section[aria-label="arrivals at collectives"] .verdict', (e) => e.innerText));
	of.must(verdict.startsWith(`${task.who} comes last`) && verdict.includes(`since step ${task.step}`), `the chips' view says "${verdict}"`);
}

async function padding(of) {
	const { page, task } = of;
	const line = await of.place();
	of.must(flat(await line.innerText()).startsWith(`${task.op} ${task.source}`), `"${flat(await line.innerText())}" is not ${task.op}`);
	await of.click(line.getByRole("button", { name: task.source, exact: true }));
	await of.drawer(task.op);
	const text = flat(await page.$eval(".drawer", (e) => e.innerText));
	of.must(text.includes(task.shape), `the drawer lacks the shape ${task.shape}`);
	of.must((await page.$$(".drawer .filled")).length > 0, "the drawer does not draw the padding");
}

async function recompilation(of) {
	const { task } = of;
	const line = await of.place();
	const text = flat(await line.innerText());
	for (const part of [task.says, task.source, `on ${task.who}`, `${task.word} step ${task.step}`]) of.must(text.includes(part), `"${text}" lacks "${part}"`);
	await of.click(line.getByRole("button", { name: task.source, exact: true }));
	await of.drawer();
	await of.click(line.getByRole("button", { name: `step ${task.step}`, exact: true }));
	await of.moment();
}

const TASKS = { straggler, padding, recompilation };

async function doTask(browser, task) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [job.url], bad: (text) => wrong.push(`${task.name}: ${text}`) });
	const of = new Stranger(page, task);
	const begin = performance.now();
	try {
		await page.goto(LIST);
		await of.click(page.locator('section[aria-label^="Runs"] td').getByRole("button", { name: job.run.split("/")[0], exact: true }));
		await TASKS[task.name](of);
	} catch (e) {
		wrong.push(`${task.name}: ${e.message.split("\n")[0]}`);
	}
	const seconds = (performance.now() - begin) / 1000;
	if (job.shots) await page.screenshot({ path: `${job.shots}/task-${task.name}.png` });
	console.log(`${task.name}: ${of.clicks} clicks, ${seconds.toFixed(1)} s`);
	of.must(of.clicks <= job.clicks, `${of.clicks} clicks are more than ${job.clicks}`);
	of.must(seconds <= job.seconds, `${seconds.toFixed(0)} s are more than ${job.seconds}`);
	await shut(context);
}

// The chips of all hosts: names that tell them apart and count as people do, marks inside of their cells, nothing wider than the screen.
async function pod(browser, width) {
	const page = await browser.newPage({ viewport: { width, height: 900 } });
	const must = (good, text) => good || wrong.push(`pod, ${width} wide: ${text}`);
	await watch(page, { inside: [job.url], bad: (text) => wrong.push(`pod: ${text}`) });
	await page.goto(`${job.url}#run=${job.run}&view=pod`);
	await page.waitForSelector('section[aria-label="arrivals at collectives"] .arrival', { timeout: PATIENCE_MS });
	const names = await page.$$eval(".arrivals .name", (all) => all.map((e) => e.innerText));
	must(new Set(names).size === names.length && names.length > 1, `hosts are called ${names}`);
	must(names[0] === job.late, `${names[0]} stands first and not ${job.late}`);
	const outside = await page.$$eval(".arrivals .track", (all) => all.flatMap((track) => [...track.children].map((e) => [e.getBoundingClientRect(), track.getBoundingClientRect()])).filter(([mark, cell]) => mark.left < cell.left - 0.5 || mark.right > cell.right + 0.5).length);
	must(outside === 0, `${outside} marks stand outside of their cells`);
	const hosts = await page.$$eval("header label.choice", (all) => all.filter((e) => e.firstChild.textContent === "host").flatMap((e) => [...e.querySelectorAll("option")].slice(1).map((o) => o.textContent)));
	must(hosts.length === job.hosts && new Set(hosts).size === job.hosts, `of ${job.hosts} hosts ${new Set(hosts).size} can be told apart`);
	const slow = await page.$$eval('section[aria-label^="Ops that a chip"] tbody tr', (rows) => rows.map((r) => r.innerText));
	must(slow.length === 1, `${slow.length} ops are slow on one chip`);
	must((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "the page is wider than the screen");
	const drawn = await page.$eval(".mesh canvas", (e) => new Set(e.getContext("2d").getImageData(0, 0, e.width, e.height).data).size);
	must(drawn > 3, "no chip is drawn");
	if (job.shots) await page.screenshot({ path: `${job.shots}/pod-${width}.png`, fullPage: true });
	await shut(page);
}

if (job.shots) mkdirSync(job.shots, { recursive: true });
const browser = await launch();
for (const task of job.tasks) await doTask(browser, task);
for (const width of [1280, 390]) await pod(browser, width);
await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
