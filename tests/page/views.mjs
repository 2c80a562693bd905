// SPDX-License-Identifier: MIT
// Looks at single views, their pictures and what a click in them does: node views.mjs JOBS.json [SHOTS]
//
// JOBS: [{name, url, views: [VIEW], want: {...}}]. Each view is drawn on three widths and in both themes: nothing is wider than the window, no canvas is
// blank, axe finds nothing serious; then the check of its name looks at it. SHOTS: a folder. Prints what is wrong, a line each. Exit 1: something is
// wrong; 77: a tool is missing.
import { mkdirSync, readFileSync } from "node:fs";
import { blank, bounded, faults, launch, PATIENCE_MS, settled, show, shut, theme, turn, watch } from "./browser.mjs";

const SIZES = [[1280, 900], [1920, 1080], [390, 844]];
const [jobsFile, shots] = process.argv.slice(2);
const wrong = [];
let job;
const must = (good, text) => good || wrong.push(`${job.name}: ${text}`);

const text = (page, selector) => page.$eval(selector, (e) => e.innerText.replaceAll("\n", " "));
const has = (page, key, value) => page.waitForFunction(([k, v]) => new URLSearchParams(location.hash.slice(1)).get(k) === v, [key, value]);

async function open(browser, view, viewport) {
	const context = await browser.newContext({ viewport: { width: viewport[0], height: viewport[1] }, colorScheme: "light", offline: true });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	await watch(page, { inside: [job.url], bad: (said) => must(false, said) });
	await page.addInitScript(() => {
		window.written = []; // on canvases, whose text cannot be read
		const { fillText } = CanvasRenderingContext2D.prototype;
		CanvasRenderingContext2D.prototype.fillText = function write(said, ...at) {
			window.written.push([this.canvas, said]);
			return fillText.call(this, said, ...at);
		};
	});
	await page.goto(`${job.url}#view=${view}`);
	await page.waitForSelector(`#view[data-view="${view}"]`);
	await settled(page);
	return page;
}

const drawn = () => ({
	wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
	edges: new Set([...document.querySelectorAll(".over-time")].map((e) => Math.round(e.getBoundingClientRect().left))).size,
});

// A view as people see it.
async function looks(browser, view) {
	for (const [i, size] of SIZES.entries()) {
		const page = await open(browser, view, size);
		for (const wanted of ["light", "dark"]) {
			if ((await theme(page)) !== wanted) await turn(page).then(() => settled(page));
			const seen = await page.evaluate(drawn);
			const at = `${view}, ${size[0]} wide, ${wanted}`;
			must(seen.wide <= 0, `${at}: ${seen.wide} pixels wider than the window`);
			const nr = await blank(page);
			must(nr === 0, `${at}: ${nr} charts are blank`);
			must(seen.edges <= 1, `${at}: charts over time have ${seen.edges} left edges`);
			if (i !== 1) for (const fault of await faults(page)) must(false, `${at}: ${fault}`);
			if (shots) await page.screenshot({ path: `${shots}/${job.name}-${view}-${size[0]}-${wanted}.png`, fullPage: true });
		}
		await shut(page.context());
	}
}

// Chips by what is chosen, the one that is late, and a chip that is clicked.
async function pod(page) {
	const { late, chips, measures, rows } = job.want.pod;
	must((await text(page, "#view .verdict")).startsWith(chips), `the view says "${await text(page, "#view .verdict")}"`);
	must((await text(page, 'section[aria-label="arrivals at collectives"] .verdict')).startsWith(late), `it is not ${late} that comes last`);
	must(await page.$$eval(".arrivals .arrival.last", (all) => all.length) === 1, "not one chip is marked as the last");
	const names = await page.$$eval(".arrivals .name", (all) => all.map((e) => e.innerText));
	must(names.length === rows && new Set(names).size === rows, `${names.length} hosts are drawn by ${new Set(names).size} names instead of ${rows}`);
	const found = await page.$$eval('section[aria-label="chips"] option', (all) => all.map((o) => o.value));
	must(`${found}` === `${measures}`, `chips are shaded by ${found} instead of ${measures}`);
	await page.selectOption('section[aria-label="chips"] select', "duty_cycle_pct");
	await has(page, "pod.by", "duty_cycle_pct");
	must(/^0 %.*100 %$/.test((await text(page, ".scale")).trim()), `a share has the scale ${await text(page, ".scale")}`);
	const box = await (await page.$(".mesh canvas")).boundingBox();
	await page.mouse.move(box.x + 5, box.y + 18);
	await page.waitForFunction(() => /TPU:0 of .*: .* %/.test(document.querySelector(".mesh p").textContent));
	await page.mouse.click(box.x + 5, box.y + 18);
	await has(page, "device", "0");
	await page.focus(".mesh canvas");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	await has(page, "device", "1");
	must((await text(page, "#view .verdict")).startsWith(chips), "a chosen chip takes the others away");
	must((await text(page, 'section[aria-label="chips"]')).includes("Of the whole run:"), "it is not said what time the figures are of");
	await show(page, "systolic");
	must(await count(page, "Devices") === "1", `of one chip ${await count(page, "Devices")} devices are listed`);
	await page.selectOption("header label.choice:last-of-type select", { index: 0 });
	await page.waitForFunction(() => !location.hash.includes("device="));
	await settled(page);
	const lanes = (await written(page, "Time classes")).filter((said) => said.includes("TPU:"));
	must(lanes.length > 1 && lanes.every((name) => /^(host|w)-\d+ TPU:\d$/.test(name)), `rows of devices are called ${lanes.slice(0, 4)}`);
}

// What is written on the canvases of a section.
const written = (page, section) => page.evaluate((name) => {
	const box = document.querySelector(`section[aria-label="${name}"]`);
	return window.written.filter(([canvas]) => box.contains(canvas)).map(([, said]) => said);
}, section);
// No share of a table is above all of it.
const shares = (page) => page.$$eval("section.table td", (all) => all.map((e) => e.innerText).filter((said) => /^[\d,.]+ %$/.test(said) && Number(said.replaceAll(",", "").slice(0, -2)) > 100));
const count = (page, table) => text(page, `section.table[aria-label="${table}"] .count`);

const bars = (page, heading) => page.$$eval(`section[aria-label="${heading}"] .bars li`, (all) => all.map((e) => e.querySelector(".number").innerText));

// The way from the peak, an op on the array, the heat map's scale, and a circle that is clicked.
async function systolic(page) {
	const { run, op, tiles, chosen } = job.want.systolic;
	const all = await bars(page, "From the peak to what all matrix ops reached");
	must(`${all}` === `${run}`, `the run's way from the peak is ${all} instead of ${run}`);
	const first = await bars(page, "From the peak to what this op reached");
	must(`${first}` === `${op}`, `the op's way from the peak is ${first} instead of ${op}`);
	const says = await text(page, ".tiles");
	for (const part of tiles) must(says.includes(part), `the array says "${says}" and not "${part}"`);
	const scale = (await text(page, 'section[aria-label="utilization by op and step"] .scale')).trim();
	must(/^0 %\s*100 %$/.test(scale), `the heat map's scale is ${scale}`);
	must((await written(page, "MXU utilization (%)")).includes("100 %"), "the axis of the utilization does not end at 100 %");
	must(/core-/.test(await text(page, 'section.table[aria-label="Steps"] tr[data-row="0"]')), "the time of all cores is written as time of the run");
	await page.selectOption('section[aria-label="an op on the array"] select', chosen.key);
	await has(page, "systolic.op", chosen.key);
	must((await text(page, ".tiles")).includes(chosen.text), `another op's array says "${await text(page, ".tiles")}"`);
	const over = await page.$('section[aria-label="shapes"] .u-over');
	await over.scrollIntoViewIfNeeded();
	const box = await over.boundingBox();
	await page.mouse.click(box.x + box.width * chosen.dot[0], box.y + box.height * (1 - chosen.dot[1]));
	await has(page, "systolic.op", chosen.picks);
}

// What has a place, what has none, a dot that is pointed at and clicked.
async function roofline(page) {
	const { beside, bounds, roofs, button } = job.want.roofline;
	for (const part of beside) must((await text(page, ".beside")).includes(part), `beside the roofline stands "${await text(page, ".beside")}" and not "${part}"`);
	must((await page.$$eval('section[aria-label="roofline"] .legend li', (all) => all.map((e) => e.innerText.trim()))).join() === bounds.join(), "the legend is another one");
	const over = await page.$('section[aria-label="roofline"] .u-over');
	await over.scrollIntoViewIfNeeded();
	const box = await over.boundingBox();
	const found = await page.evaluate(({ left, top, width, height }) => {
		const at = (x, y) => document.elementFromPoint(x, y)?.dispatchEvent(new MouseEvent("mousemove", { clientX: x, clientY: y, bubbles: true }));
		const tip = document.querySelector('section[aria-label="roofline"] .tip');
		document.querySelector('section[aria-label="roofline"] .u-over').dispatchEvent(new MouseEvent("mouseenter"));
		for (let y = top + height - 4; y > top; y -= 10)
			for (let x = left + 4; x < left + width; x += 10) {
				at(x, y);
				if (!tip.hidden) return { x, y, lines: tip.textContent.split("\n") };
			}
		return null;
	}, { left: box.x, top: box.y, width: box.width, height: box.height });
	must(found?.lines.some((l) => / of its roof, bound by /.test(l)), `a dot says ${found?.lines}`);
	must(found?.lines.some((l) => /core-.* of the program$/.test(l)), `a dot does not say its time: ${found?.lines}`);
	await page.mouse.click(found.x, found.y);
	await page.waitForFunction((name) => document.querySelector(".drawer h2")?.textContent === name, found.lines[0]);
	await page.click(".drawer .close");
	must((await shares(page)).length === 0, `shares above all: ${await shares(page)}`);
	const names = await written(page, "roofline");
	for (const roof of roofs) must(names.includes(roof), `no roof is called "${roof}"`);
	must(names.some((said) => said.startsWith("FLOP per byte")) && names.includes("FLOP rate reached"), "an axis has no title");
	if (!button) return;
	await page.click("text=Draw all");
	await has(page, "roofline.all", "true");
	await page.waitForSelector("text=Draw those that matter");
}

// The shape that wastes most, its tiles, and another one by a click.
async function padding(page) {
	const { rows, says, other } = job.want.padding;
	const found = await page.$$eval('section[aria-label="stored against used"] .bars li', (all) => all.map((e) => `${e.querySelector(".name").innerText} ${e.querySelector(".number").innerText}`));
	must(`${found.slice(0, rows.length)}` === `${rows}`, `the bars are ${found.slice(0, rows.length)} instead of ${rows}`);
	for (const part of says) must((await text(page, ".tiles")).includes(part), `the tile says "${await text(page, ".tiles")}" and not "${part}"`);
	await page.click(`.bars button[title="${other.shape}"]`);
	await has(page, "padding.shape", other.shape);
	must((await text(page, ".tiles")).includes(other.says), `another tile says "${await text(page, ".tiles")}"`);
	const parts = await page.$$eval(".filled", (all) => all.map((e) => [...e.querySelectorAll(".used, .outline")].map((r) => Number(r.getAttribute("width")) * Number(r.getAttribute("height")))));
	must(parts.every(([used, stored]) => used > 0 && used <= stored), `of the tile ${parts} is drawn`);
}

// Ops that meet in HBM: each once, a click opens one, more of them are in the link.
async function fusion(page) {
	const { nodes, edges, first, more } = job.want.fusion;
	const drawnNow = async () => [(await page.$$(".graph .node")).length, (await page.$$(".graph path")).length];
	must(`${await drawnNow()}` === `${[nodes, edges]}`, `${await drawnNow()} ops and lines are drawn instead of ${[nodes, edges]}`);
	await page.click(`.graph .node[data-op="${first}"]`);
	await page.waitForFunction((name) => document.querySelector(".drawer h2")?.textContent === name, first);
	must((await page.$$(".drawer .filled")).length >= 2, "the op's drawer does not draw how it fills the array");
	for (const fault of await faults(page)) must(false, `an op's drawer: ${fault}`);
	await page.click(".drawer .close");
	await page.focus(`.graph .node[data-op="${first}"]`);
	await page.keyboard.press("Enter");
	await page.waitForSelector(".drawer");
	await page.click(".drawer .close");
	await page.selectOption('section[aria-label="what meets in HBM"] select', "48");
	await has(page, "fusion.pairs", "48");
	must((await drawnNow())[1] === more, `${(await drawnNow())[1]} lines are drawn instead of ${more}`);
	const spots = await page.$$eval(".graph .node", (all) => all.map((e) => e.getAttribute("transform")));
	must(new Set(spots).size === spots.length, "two ops stand in one place");
}

// What is held at the peak by buffer and by line; over time the peak and what the device has.
async function memory(page) {
	const { held, charts, peaks, legend, room, holders, hbm, lines } = job.want.memory;
	must((await page.$$('section[aria-label^="memory of "] canvas')).length === charts, `${(await page.$$('section[aria-label^="memory of "] canvas')).length} charts over time instead of ${charts}`);
	const tops = await page.$$eval('section[aria-label^="memory of "] .bar .count', (all) => all.map((e) => e.innerText));
	for (const [i, peak] of peaks.entries()) must(tops[i]?.startsWith(peak), `a device says "${tops[i]}" and not "${peak}"`);
	if (legend) must((await text(page, 'section[aria-label^="memory of "] .legend')).trim() === legend, `the legend is ${await text(page, 'section[aria-label^="memory of "] .legend')}`);
	for (const [section, line] of Object.entries(lines ?? {})) must((await written(page, section)).includes(line), `${section}: no line is called "${line}"`);
	must((await shares(page)).length === 0, `shares above all: ${await shares(page)}`);
	if (room) must((await text(page, "#view")).includes(room), `it is not said that "${room}"`);
	if (held) {
		const first = () => page.$eval('section[aria-label="what a program holds"] .legend li', (e) => e.innerText.trim());
		must(await first() === held.buffer, `the largest buffer is ${await first()} instead of ${held.buffer}`);
		await page.selectOption('section[aria-label="what a program holds"] select', "source");
		await has(page, "memory.by", "source");
		must(await first() === held.line, `the largest line is ${await first()} instead of ${held.line}`);
	}
	if (holders) {
		await page.selectOption('section[aria-label="who holds the memory at the peak"] select', "phase");
		const found = await bars(page, "who holds the memory at the peak");
		must(found[0] === holders, `the phase that holds most has ${found[0]} instead of ${holders}`);
	}
	if (!hbm) return;
	const said = async () => page.$$eval("#view .fact", (all) => all.filter((e) => /^HBM (bandwidth|utilization)/.test(e.innerText) && e.querySelector("dd").innerText.includes("%")).map((e) => e.querySelector("dd").firstChild.textContent));
	must(`${await said()}` === hbm, `the share of the HBM bandwidth is ${await said()} here instead of ${hbm}`);
	await show(page, "overview");
	must(`${await said()}` === hbm, `the share of the HBM bandwidth is ${await said()} on the overview instead of ${hbm}`);
}

const CHECKS = { pod, systolic, roofline, padding, fusion, memory };

const jobs = JSON.parse(readFileSync(jobsFile, "utf8"));
if (shots) mkdirSync(shots, { recursive: true });
const browser = await launch();
for (job of jobs)
	for (const view of job.views) {
		try {
			await bounded("its looks", looks(browser, view));
			await bounded("its check", open(browser, view, SIZES[0]).then(CHECKS[view]));
		} catch (e) {
			must(false, `${view}: ${e.stack}`);
		}
	}
await shut(browser);
for (const line of wrong) console.error(line);
process.exit(wrong.length ? 1 : 0);
