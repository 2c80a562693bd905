// SPDX-License-Identifier: MIT
// Looks at hundreds of runs in headless Chromium: node several.mjs JOB.json
//
// JOB: {shots, url, other, runs, titles, newest: {when, median, health, chips}, word, found, program, folder, failed, most, older}. URL: a server of
// RUNS runs; OTHER: one of more than a trend has. Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faults, launch, PATIENCE_MS, shut, turn, watch } from "./browser.mjs";

const SIGHTS = fileURLToPath(new URL("sights.js", import.meta.url));
const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const wrong = [];
const must = (good, text) => good || wrong.push(text);
const DOTS = /one text on another: "[\u25b2\u25cf]" and "[\u25b2\u25cf]"/; // of hundreds of runs
const WIDTHS = [1280, 1920, 390];
const SEEN = ["Run", "Compare", "When (UTC)", "Chips", "Median step", "Health", "Verdict", "Step times"];

async function open(browser, url, selector) {
	const page = await browser.newPage({ viewport: { width: WIDTHS[0], height: 800 }, colorScheme: "light" });
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [url.split("#")[0]], bad: (text) => must(false, text) });
	await page.addInitScript({ path: SIGHTS });
	await page.goto(url);
	await page.waitForSelector(selector);
	return page;
}

async function shots(page, name) {
	for (const theme of ["light", "dark"]) {
		for (const width of WIDTHS) {
			await page.setViewportSize({ width, height: 800 });
			const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
			must(wide <= room, `${name}: the page is ${wide} pixels wide in ${room}`);
			for (const sight of (await page.evaluate(() => window.sights())).filter((said) => !DOTS.test(said))) must(false, `${name}, ${width} wide, ${theme}: ${sight}`);
			if (job.shots) await page.screenshot({ path: `${job.shots}/several-${name}-${width}-${theme}.png`, fullPage: true });
		}
		for (const fault of await faults(page)) must(false, `${name}, ${theme}: ${fault}`);
		await turn(page);
	}
	await page.setViewportSize({ width: WIDTHS[0], height: 800 });
}

const section = 'section.table[aria-label="Runs, the newest first"]';

async function list(page) {
	must((await page.$eval(`${section} .count`, (e) => e.innerText)) === String(job.runs), "the list does not say how many runs there are");
	const seen = await page.$eval(section, (e) => {
		const room = e.querySelector(".scroll").getBoundingClientRect().right;
		return [...e.querySelectorAll("th")].filter((th) => th.getBoundingClientRect().right <= room + 1).map((th) => th.innerText.trim());
	});
	must(SEEN.every((name) => seen.includes(name)), `at ${WIDTHS[0]} pixels these columns are in sight: ${seen}`);
	const rows = await page.$$eval(`${section} tr[data-row]`, (all) => all.map((r) => [...r.cells].map((c) => c.innerText.trim())));
	const { when, median, health, chips } = job.newest;
	must([when, median, health, chips].every((text) => rows[0].includes(text)), `the first run is ${rows[0]}, the newest ${JSON.stringify(job.newest)}`);
	must((await page.$$(`${section} tr[data-row="0"] svg.spark`)).length === 1, "the first run has no sparkline");
	const times = rows.map((r) => r[2]);
	must(JSON.stringify(times) === JSON.stringify([...times].sort().reverse()), `the newest do not come first: ${times}`);
	const names = await page.$$eval(`${section} tr[data-row] button.link`, (all) => all.map((e) => [e.innerText, e.title, e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > e.closest("td").getBoundingClientRect().right]));
	must(new Set(names.map(([name]) => name)).size === names.length, `two runs have one name: ${names.map(([name]) => name)}`);
	must(names.every(([name, whole, isCut]) => !isCut && whole.length >= name.length), "a name is cut by the column, not in its middle");
	await page.fill(`${section} input[type="search"]`, job.word);
	await page.waitForFunction(([where, n]) => document.querySelectorAll(`${where} tr[data-row]`).length === n, [section, job.found]);
	await page.fill(`${section} input[type="search"]`, "");
	await page.waitForFunction(([where, n]) => document.querySelectorAll(`${where} tr[data-row]`).length > n, [section, job.found]);
}

// Two that are ticked, side by side; one of them over time.
async function chosen(page) {
	await page.click(`${section} tr[data-row="0"] input[type="checkbox"]`);
	await page.waitForSelector("text=/^Trend of /");
	await page.click(`${section} tr[data-row="1"] input[type="checkbox"]`);
	await page.click("text=/^Compare 2 runs/");
	await page.waitForSelector('#view[data-page="compare"] .said');
	must((await page.$$(".compared li")).length === 2, "two runs are not side by side");
}

async function trend(page, { failed, shown, older }) {
	await page.waitForSelector(".trend .point");
	const heading = await page.$eval("h3.program", (e) => e.innerText);
	must(heading.startsWith(job.program) && !heading.includes("/"), `the trend is called "${heading}"`);
	const points = await page.$$eval(".trend .point", (all) => all.map((e) => {
		const [dot, box] = [e.getBoundingClientRect(), e.parentElement.getBoundingClientRect()];
		return [dot.left >= box.left && dot.right <= box.right && dot.top >= box.top && dot.bottom <= box.bottom, (dot.left + dot.right) / 2, e.className.includes("bad"), e.getAttribute("aria-label")];
	}));
	must(points.length === shown, `${points.length} runs are drawn and not ${shown}`);
	must(points.every(([isInside]) => isInside), "a dot stands on the edge of the picture");
	must(points.every(([, middle], i) => i === 0 || middle >= points[i - 1][1]), "the runs are not in the order of time");
	const gaps = points.slice(1).map(([, middle], i) => middle - points[i][1]);
	must(Math.max(...gaps) - Math.min(...gaps) < 1, "runs that began at even times are not drawn so");
	if (failed !== undefined) {
		must(points.filter(([, , isBad]) => isBad).length === failed, `${points.filter((p) => p[2]).length} runs are marked and not ${failed}`);
		must(points.every(([, , isBad, label]) => isBad === label.includes("the gate fails")), "what is marked is not said");
		must((await page.$eval("section[aria-label='median step over time'] > p", (e) => e.innerText)).includes(`failed in ${failed} of ${shown - 1} runs`), "how often the gate fails is not said");
	}
	must((await page.$$(".trend .row")).length >= 3 && (await page.$$(".moments > span")).length >= 3, "the axes have too few labels");
	must((await page.$$(".trend .band")).length === 1, "the baseline has no band");
	const said = await page.$eval("#view", (e) => e.innerText);
	must(said.includes("older ones are not here") === older > 0 && (!older || said.includes(`newest ${shown} runs`)), `what is left out is not said: ${older} runs`);
}

// Every dot by one stop of the tab key and the arrows; a click leads to the run.
async function keys(page) {
	must((await page.$$('.trend .point[tabindex="0"]')).length === 1, "the dots are more than one stop of the tab key");
	await page.focus('.trend .point[tabindex="0"]');
	await page.keyboard.press("Home");
	await page.waitForFunction(() => document.activeElement?.dataset.point === "0");
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction(() => document.activeElement?.dataset.point === "1");
	await page.selectOption("#view select", "20");
	await page.waitForFunction(() => document.querySelector(".trend .point") && !document.querySelector(".trend .point.bad"));
	await page.click("text=the axis begins at 0");
	await page.waitForSelector("text=/The axis begins at .*, not at 0/");
	await page.$eval('.trend [data-point="0"]', (e) => e.click());
	await page.waitForSelector('#view[data-view="overview"]');
}

if (job.shots) mkdirSync(job.shots, { recursive: true });
const browser = await launch();
const page = await open(browser, `${job.url}#view=runs`, `${section} tr[data-row]`);
await list(page);
await shots(page, "runs");
await chosen(page);
await shut(page);
const over = await open(browser, `${job.url}#view=trend&runs=${encodeURIComponent(job.titles[0])}`, ".trend .point");
await trend(over, { failed: job.failed, shown: job.runs, older: 0 });
must((await over.$eval("h3.program", (e) => e.innerText)).endsWith(` in ${job.folder}`), "the trend does not name the log directory");
await shots(over, "trend");
await keys(over);
await shut(over);
const full = await open(browser, `${job.other}#view=runs`, `${section} tr[data-row]`);
await full.click(`${section} tr[data-row="0"] input[type="checkbox"]`);
await full.click("text=/^Trend of /");
await trend(full, { shown: job.most, older: job.older });
await shut(full);
await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
