// SPDX-License-Identifier: MIT
// Looks at the overview and the list of findings: node overview.mjs JOBS.json [SHOTS]
//
// JOBS: [{name, url, overview: {...}, doctor: {...}}], as overview_test.py works them out. Both views are drawn on three widths and in both themes: nothing of them
// is wider than the window, no canvas is blank, axe finds nothing serious. SHOTS: a folder. Prints what is wrong, a line each. Exit 1: something is wrong; 77:
// a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { blank, bounded, faults, launch, PATIENCE_MS, settled, shut, theme, turn, watch } from "./browser.mjs";

const SIZES = [[1280, 900], [1920, 1080], [390, 844]];
const NEAR = 1; // percent
const [jobsFile, shots] = process.argv.slice(2);
const wrong = [];
let job;
const must = (good, text) => good || wrong.push(`${job.name}: ${text}`);

const all = (page, selector) => page.$$eval(selector, (found) => found.map((e) => e.innerText.replace(/\s+/g, " ").trim()));
const text = async (page, selector) => (await all(page, selector)).join(" ");
const has = (page, values) => page.waitForFunction((want) => {
	const at = new URLSearchParams(location.hash.slice(1));
	return Object.entries(want).every(([k, v]) => at.get(k) === String(v));
}, values);

async function open(browser, view, [width, height] = SIZES[0]) {
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: "light", offline: true });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [job.url], bad: (said) => must(false, said) });
	await page.goto(`${job.url}#view=${view}`);
	await page.waitForSelector(`#view[data-view="${view}"]`);
	await settled(page);
	must((await blank(page)) === 0, `${view}, ${width} wide: ${await blank(page)} charts are blank`);
	return page;
}

async function looks(browser, view) {
	for (const size of SIZES) {
		const page = await open(browser, view, size);
		for (const wanted of ["light", "dark"]) {
			if ((await theme(page)) !== wanted) await turn(page).then(() => settled(page));
			const at = `${view}, ${size[0]} wide, ${wanted}`;
			const wide = await page.$eval("#view", (e) => e.scrollWidth - e.clientWidth);
			must(wide <= 0, `${at}: ${wide} pixels wider than the window`);
			if (size[0] !== 1920) for (const fault of await faults(page)) must(false, `${at}: ${fault}`);
			if (shots) await page.screenshot({ path: `${shots}/${job.name}-${view}-${size[0]}-${wanted}.png`, fullPage: true });
		}
		await shut(page.context());
	}
}

// --- the overview

async function says(page, want) {
	await page.waitForFunction((title) => document.title === title, want.title);
	const run = await text(page, ".profiled");
	for (const said of want.profiled) must(run.includes(said), `what was profiled is without "${said}": ${run}`);
	const judged = (await text(page, ".judged")).toLowerCase();
	for (const said of want.verdict) must(judged.includes(said.toLowerCase()), `the verdict is without "${said}": ${judged}`);
	const health = await all(page, "#view .health b");
	must(`${health}` === (want.health ?? ""), `health is ${health} and not ${want.health}`);
	const unknown = await all(page, "#view .unknowns");
	must(unknown.length === (want.unknown ? 1 : 0), `what is unknown is said ${unknown.length} times: ${unknown}`);
	must(!(await text(page, "#view .facts")).includes("unknown"), "a tile is unknown");
}

async function draws_classes(page, want) {
	const legend = await all(page, ".classes li");
	for (const [name, share, time] of want.classes) must(legend.some((l) => l.startsWith(name) && l.includes(share) && l.endsWith(time)), `the legend is without ${name} ${share} ${time}: ${legend}`);
	const bar = await page.$$eval("#view .shares span", (spans) => spans.map((s) => s.style.background));
	const swatches = await page.$$eval(".classes .swatch", (spans) => spans.map((s) => s.style.background));
	must(`${bar}` === `${swatches}`, `the bar has the colours ${bar} and its legend ${swatches}`);
}

async function lists_ops(page, want) {
	const bars = await page.$$eval(".tops li", (found) => found.map((e) => ({ text: e.innerText.replace(/\s+/g, " "), width: parseFloat(e.querySelector(".stack").style.width) })));
	must(bars.length === want.ops.length, `${bars.length} ops instead of ${want.ops.length}`);
	want.ops.forEach((op, i) => {
		for (const said of op.texts) must(bars[i]?.text.includes(said), `op ${i} is without "${said}": ${bars[i]?.text}`);
		must(Math.abs(bars[i]?.width - op.width) < NEAR, `the bar of op ${i} has ${bars[i]?.width} % and not ${op.width}`);
	});
}

async function has_steps(page, want) {
	if (!want.steps) return must((await all(page, ".steptimes")).length === 0, "steps are drawn that are not there");
	const marks = await all(page, ".percentile");
	must(`${marks}` === `${want.steps.marks}`, `the histogram has ${marks} and not ${want.steps.marks}`);
	const slow = await all(page, ".slow li");
	must(slow.length === want.steps.slow.length, `${slow.length} slow steps instead of ${want.steps.slow.length}`);
	want.steps.slow.forEach((s, i) => must(slow[i]?.startsWith(s.text), `slow step ${i} is "${slow[i]}" and not "${s.text}"`));
	return null;
}

async function shows_findings(page, want) {
	const entries = await all(page, ".findings li");
	want.findings.titles.forEach((said, i) => must(entries[i]?.includes(said.replace(/\s+/g, " ")), `finding ${i} is "${entries[i]}" and not "${said}"`));
	const picture = await page.$$eval('[aria-label="findings"] [role="img"]', (found) => found.map((e) => e.getAttribute("aria-label")));
	must(want.findings.rows ? picture[0]?.includes(`${want.findings.rows} finding${want.findings.rows === 1 ? "" : "s"} `) : picture.length === 0, `the picture of findings is "${picture}"`);
}

async function leads(browser, want) {
	const first = want.findings.first;
	const slow = want.steps?.slow[0];
	const ways = [
		[first, () => `.findings li:nth-child(${first.at + 1}) .moment`, () => ({ view: "slices", from_ps: first.range[0], to_ps: first.range[1] })],
		[slow, () => ".slow li:first-child button", () => ({ view: "slices", from_ps: Math.round(slow.range[0]), to_ps: Math.round(slow.range[1]) })],
		[want.ops[0], () => ".tops li:first-child .op button", () => ({ op: want.ops[0].key })],
		[want.hosts > 1, () => '[aria-label="hosts and chips"] > button.link', () => ({ view: "pod" })],
	];
	for (const [there, selector, address] of ways) {
		if (!there) continue;
		const page = await open(browser, "overview");
		await page.click(selector());
		await has(page, address());
		await shut(page.context());
	}
}

// A click on a mark of the picture leads to the moment, as the button beside the finding does.
async function leads_from_the_picture(browser, want) {
	const { mark, rows } = want.findings;
	if (!mark) return;
	const page = await open(browser, "overview");
	const box = await page.$eval('[aria-label="findings"] [role="img"] .u-over', (e) => {
		e.scrollIntoView({ block: "center" });
		const { left, top, width, height } = e.getBoundingClientRect();
		return { left, top, width, height };
	});
	await page.mouse.click(box.left + (box.width * mark.at) / mark.end, box.top + (box.height * (mark.row + 0.5)) / rows);
	await has(page, { view: "slices" });
	await shut(page.context());
}

async function overview(browser) {
	const want = job.overview;
	const page = await open(browser, "overview");
	for (const look of [says, draws_classes, lists_ops, has_steps, shows_findings]) await look(page, want);
	must((await all(page, '[aria-label="hosts and chips"] canvas')).length === (want.hosts > 1 && want.chips ? 1 : 0), "the picture of the pod is not where several hosts are");
	await shut(page.context());
	await leads(browser, want);
	await leads_from_the_picture(browser, want);
}

// --- findings

async function doctor(browser) {
	const want = job.doctor;
	const page = await open(browser, "doctor");
	const shown = () => page.$$eval("details.finding[open]", (found) => found.map((e) => e.dataset.finding));
	const listed = await page.$$eval("details.finding", (found) => found.map((e) => e.dataset.finding));
	must(`${listed}` === `${want.ids}` && `${listed}` === `${want.order}`, `findings stand in the order ${listed}, by gain it is ${want.order}`);
	must(`${await shown()}` === `${want.ids.slice(0, 1)}`, `open at first: ${await shown()}`);
	must((await all(page, ".order")).length === (want.count > 1 ? 1 : 0), "the order of findings is not explained");
	must(!(await text(page, "#view .facts")).includes("Health"), "health is said again");
	must((await all(page, "#view .kpi.poor")).length === want.poor, `${(await all(page, "#view .kpi.poor")).length} figures are poor and not ${want.poor}`);
	if (want.places > want.few) {
		const places = () => all(page, "details.finding[open] .where li");
		must((await places()).at(-1) === `${want.places - want.few} more`, `places: ${await places()}`);
		await page.click("details.finding[open] .where li:last-child button");
		await page.waitForFunction((n) => document.querySelectorAll("details.finding[open] .where li").length === n, want.places);
	}
	if (want.count) {
		await page.click("details.finding[open] > summary");
		await page.waitForFunction(() => !document.querySelector("details.finding[open]") && location.hash.includes("doctor.open="));
		await page.reload();
		await page.waitForSelector("details.finding");
		must(`${await shown()}` === "", "what was closed is open after a reload");
	}
	await shut(page.context());
}

async function main() {
	if (shots) mkdirSync(shots, { recursive: true });
	const browser = await launch();
	for (job of JSON.parse(readFileSync(jobsFile, "utf8"))) {
		try {
			await bounded("overview", overview(browser));
			await bounded("doctor", doctor(browser));
			for (const view of ["overview", "doctor"]) await bounded(`looks at ${view}`, looks(browser, view));
		} catch (e) {
			must(false, e.stack);
		}
	}
	await shut(browser);
	for (const line of wrong) console.error(line);
	return wrong.length ? 1 : 0;
}

process.exit(await main());
