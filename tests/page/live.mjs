// SPDX-License-Identifier: MIT
// The live page in headless Chromium: node live.mjs SETUP.json
//
// SETUP: {program, fake, quiet, loud, port, shots, job, logdir}. FAKE (tests/live/fake_server.c) answers as a profiler server does, with the
// profile QUIET (no alert) or LOUD (alerts), as it is told; PROGRAM watches it and serves the page on PORT. JOB, where there is one, is the command of a
// real job that compiles again and again, and the address of its server; LOGDIR is an empty folder. Prints what is wrong, a line each. Exit 1: something is wrong; 77: a tool is missing.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { faults, launch, PATIENCE_MS, show, shut, viewNames, watch } from "./browser.mjs";

const setup = JSON.parse(readFileSync(process.argv[2], "utf8"));
const url = `http://127.0.0.1:${setup.port}/`;
const wrong = [];
const bad = (text) => wrong.push(text);
const must = (good, text) => good || bad(text);
const nap = (ms) => new Promise((done) => setTimeout(done, ms));
const line_of = (child) => new Promise((done, fail) => {
	child.stdout.once("data", (d) => done(String(d).trim()));
	child.once("exit", (code) => fail(new Error(`${child.spawnfile} ended with status ${code}`)));
});
const end_of = (child) => new Promise((done) => (child.exitCode !== null || child.signalCode ? done(child.exitCode) : child.once("exit", done)));

function start(command, ...args) {
	const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
	children.push(child);
	return child;
}
const children = [];

async function serve(...what) {
	const live = start(setup.program, "live", ...what, "--serve", `--port=${setup.port}`, "--interval=0.2", "--color=never");
	const said = await line_of(live);
	must(said.includes(url), `it says "${said}" and not where the page is`);
	live.stdout.resume();
	return live;
}

// What is to be seen, in words.
const text_of = (page, selector) => page.$eval(selector, (e) => e.innerText).catch(() => "");
const says = (page, selector, text) => page.waitForFunction(([s, t]) => [...document.querySelectorAll(s)].some((e) => e.textContent.includes(t)), [selector, text]);
const sample_of = async (page) => Number(/Sample ([\d,]+)/.exec(await text_of(page, "#view .verdict"))?.[1].replace(",", "") ?? 0);
const drawn = (page) => page.$eval('.history [role="img"]', (e) => Number(/last (\d+) samples/.exec(e.ariaLabel)[1]));
async function until(what, test) {
	for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await nap(50)) if (await test()) return;
	throw new Error(`gave up waiting until ${what}`);
}

const blank = (page) => page.$$eval("canvas", (all) => all.filter((c) => {
	const p = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
	return p.every((v) => v === p[0]);
}).length);

async function shoot(page, name) {
	if (!setup.shots) return;
	mkdirSync(setup.shots, { recursive: true });
	await page.screenshot({ path: `${setup.shots}/live-${name}.png`, fullPage: true });
}

async function updates_itself(page) {
	await says(page, ".live .state", "live");
	await until("the second sample comes", async () => (await sample_of(page)) >= 2);
	const before = await sample_of(page);
	await until("another sample comes", async () => (await sample_of(page)) > before);
	must((await text_of(page, "#view")).includes("No alert is active."), "a quiet job has active alerts");
	must((await viewNames(page)).length >= 9, "the other views are not there");
	must((await page.$eval('[role="tab"][aria-selected="true"]', (e) => e.innerText)) === "Live", "Live is not the first view");
}

async function alerts_appear(page, fake) {
	fake.stdin.write(`say 0 ${setup.loud}\n`);
	await says(page, ".alert .severity", "critical");
	must((await text_of(page, ".alert.critical")).includes("Matrix-unit utilization"), "the alert does not say what is wrong");
	await says(page, 'section.table[aria-label^="Alerts so far"] td', "mxu_utilization_low");
	must(/raised critical: Matrix-unit utilization/.test(await page.$eval(".live [role=log]", (e) => e.textContent)), "the alert is not read out");
	must(/^\(\d\) TPUsight$/.test(await page.title()), `the title is "${await page.title()}"`);
	await page.click(".alert.warning summary");
	const opened = await text_of(page, ".alert.warning details");
	const now = await sample_of(page);
	await until("two more samples come", async () => (await sample_of(page)) > now + 2);
	must(opened.includes("rule ") && (await text_of(page, ".alert.warning details")) !== "" && (await page.$(".alert.warning details[open]")), "an alert that was opened is closed by the next sample");
	must((await blank(page)) === 0, "a chart is blank");
	must((await page.$$(".history canvas")).length >= 5, "charts are missing");
	const heads = await page.$$eval("section.table thead th", (all) => all.map((e) => e.innerText.trim()));
	must(heads.includes("Took") && !heads.some((name) => / (ms|us|ps|pct)$/.test(name)), `columns are called ${heads}`);
}

// Who opens the page later sees what was before, and is not told of it again.
async function has_a_past(page) {
	const [count, rows] = [await drawn(page), await page.$$eval('section.table[aria-label^="Alerts"] tr[data-row]', (all) => all.length)];
	await page.reload();
	await says(page, ".live .state", "live");
	await until("the history is there", async () => (await page.$(".history")) && (await drawn(page)) >= count);
	must((await page.$$eval('section.table[aria-label^="Alerts"] tr[data-row]', (all) => all.length)) >= rows, "alerts of before are not in the log");
	must((await page.$eval(".live [role=log]", (e) => e.textContent)) === "", "what is past is read out");
}

async function pauses(page) {
	await page.keyboard.press("p");
	await says(page, ".live .state", "paused");
	const [frozen, shown] = [await sample_of(page), await text_of(page, "#view")];
	await page.waitForFunction(() => /^([3-9]|\d\d+) samples( and .*)? waiting$/.test(document.querySelector(".live .count")?.textContent));
	must((await text_of(page, "#view")) === shown, "the page changes while it is paused");
	const waited = Number(/^\d+/.exec(await text_of(page, ".live .count"))[0]);
	await page.click(".live button");
	await until("it goes on", async () => (await sample_of(page)) >= frozen + waited);
	must((await text_of(page, ".live .state")).includes("live"), "it is not live again");
	must((await page.$(".live .count")) === null, "something waits still");
}

// The report of a sample, in the views of every report, and again when there is a newer one.
async function other_views(page, fake) {
	await show(page, "overview");
	await page.waitForFunction(() => /^\d+$/.test(document.querySelector("#view .health b")?.textContent ?? ""));
	await shoot(page, "overview");
	const first = await text_of(page, "#view .health b");
	fake.stdin.write(`say 0 ${setup.quiet}\n`); // another run, with a health of its own
	await page.waitForFunction((before) => (document.querySelector("#view .health b")?.textContent ?? before) !== before, first);
	fake.stdin.write(`say 0 ${setup.loud}\n`);
	await show(page, "live");
	await says(page, ".alert .severity", "critical");
}

// While it stands still: what is clicked on would be gone.
async function accessible(page) {
	await page.click(".live button");
	for (const theme of ["light", "dark"]) {
		must((await page.evaluate(() => document.documentElement.dataset.theme)) === theme, `the theme is not ${theme}`);
		for (const closed of await page.$$(".alert details:not([open]) > summary")) await closed.click();
		for (const fault of await faults(page)) bad(`${theme}: ${fault}`);
		await shoot(page, theme);
		await page.click("button.theme");
	}
	for (const width of [500, 1300]) {
		await page.setViewportSize({ width, height: 900 });
		await nap(300);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		must(wide <= 0, `it is ${wide} pixels wider than a window of ${width}`);
		if (width === 500) await shoot(page, "narrow");
	}
	await page.click(".live button");
}

async function job_goes_away(page, fake) {
	fake.stdin.write("kill 0\n");
	await says(page, "#view .verdict", "No host answered");
	await says(page, ".state.down", "down");
	fake.stdin.write("start 0\n");
	await says(page, "#view .verdict", "Sample");
}

// The watch is killed, and begins anew at the same address; then it is told to end.
async function watch_goes_away(page, live, address) {
	const before = await drawn(page);
	live.kill("SIGKILL");
	await says(page, ".live .state", "disconnected");
	await shoot(page, "disconnected");
	must((await drawn(page)) >= before, "what was there is lost with the connection");
	await end_of(live);
	const next = await serve(`--service=${address}`);
	await until("it is live again", async () => (await text_of(page, ".live .state")).includes("live"));
	await until("the new watch's samples come", async () => (await sample_of(page)) >= 2 && (await drawn(page)) > before);
	next.kill("SIGTERM");
	const begin = Date.now();
	must((await end_of(next)) === 0, `SIGTERM ends it with status ${next.exitCode}`);
	must(Date.now() - begin < 5000, `it takes ${Date.now() - begin} ms to end while a page is connected`);
	await says(page, ".live .state", "ended");
}

// A source that is made up: feed(FROM, TO) sends those samples, and every fourth raises an alert.
function made_up() {
	const metrics = { duty_cycle_pct: 50, step_time_ps: 3e9 };
	const services = [{ service: "a:1", state: "up", samples: 1, failures: 0, restarts: 0, bytes: 1, took_ms: 1, problem: null }];
	window.EventSource = class extends EventTarget {
		constructor() {
			super();
			const tell = (type, id, data) => this.dispatchEvent(new MessageEvent(type, { lastEventId: String(id), data: JSON.stringify({ type, time_unix_ms: 1e12 + id * 500, ...data }) }));
			setTimeout(() => this.onopen());
			window.feed = (from, to, hosts) => {
				for (let i = from; i <= to; i++) {
					tell("sample", 2 * i, { sample: i, took_ms: 1, analysed_ms: 1, hosts, services, problem: null, metrics: { ...metrics }, alerts: [] });
					if (i % 4 === 0 && hosts) tell("alert", 2 * i + 1, { sample: i, state: "raised", severity: "warning", rule: "r", message: `number ${i}`, evidence: null, advice: null });
				}
			};
		}
		close() {}
	};
}

// Hours of samples: what is kept, and what it takes.
async function stays_small(context) {
	const page = await context.newPage();
	const devtools = await context.newCDPSession(page);
	const heap = async (from, to) => {
		for (let i = from; i <= to; i += 500) {
			await page.evaluate(([a, b]) => window.feed(a, b, 1), [i, i + 499]);
			await says(page, "#view .verdict", `Sample ${(i + 499).toLocaleString("en-US")} `);
		}
		await devtools.send("HeapProfiler.collectGarbage");
		return (await devtools.send("Runtime.getHeapUsage")).usedSize;
	};
	await page.addInitScript(made_up);
	await page.goto(url);
	await says(page, ".live .state", "live");
	const early = await heap(1, 2000);
	const late = await heap(2001, 20000);
	console.log(`heap of the page after 2,000 samples: ${early} bytes, after 20,000: ${late}`);
	must(late < early + (1 << 20), `the page's memory grows from ${early} to ${late} bytes`);
	must((await drawn(page)) === 600, `${await drawn(page)} samples are kept`);
	must((await text_of(page, 'section.table[aria-label^="Alerts"] .count')) === "200", "not 200 alerts are kept");
	must((await page.$$eval("tr", (all) => all.length)) < 100, "too many rows stand in the page");
	await page.evaluate(() => window.feed(20001, 22000, 0)); // the job is gone for long
	await says(page, "#view .verdict", "No host answered");
	must((await drawn(page)) === 600, "samples that no host answered take the room of others");
	must((await page.$$('.history[aria-label="Step time"]')).length === 1, "a job that is gone takes its past along");
	await shut(page);
}

// A log directory: its sessions come while it is looked at, one of them never whole. That one is not asked for.
async function sessions(context) {
	const page = await context.newPage();
	const put = (name, profile, bytes) => {
		const folder = `${setup.logdir}/run/plugins/profile/${name}`;
		mkdirSync(folder, { recursive: true });
		writeFileSync(`${folder}/host.xplane.pb`, readFileSync(profile).subarray(0, bytes));
	};
	const state_of = (name, state) => page.waitForFunction(([n, s]) => [...document.querySelectorAll('section.table[aria-label^="Sessions"] tr[data-row]')].some((row) => row.innerText.includes(n) && row.innerText.includes(s)), [name, state]);
	const asked = [];
	page.on("request", (r) => r.url().includes("/api/report") && asked.push(r.url()));
	await watch(page, { inside: [url], bad });
	put("2026_01_01_00_00_00", setup.quiet);
	const live = await serve(setup.logdir, "--settle=0.3", "--perfetto=none");
	await page.goto(url);
	await state_of("2026_01_01", "annotated");
	put("2026_01_02_00_00_00", setup.loud);
	await state_of("2026_01_02", "annotated");
	await says(page, ".alert .severity", "critical");
	put("2026_01_03_00_00_00", setup.loud, 1000);
	await state_of("2026_01_03", "longer than what is left"); // it waits for the rest
	must((await text_of(page, "#view .verdict")).includes("2026_01_02"), "the last that was annotated is not on top");
	await shoot(page, "sessions");
	await show(page, "overview");
	await says(page, "header .run", "2026_01_02");
	must(/^\d+$/.test(await text_of(page, "#view .health b")), "the report is not that of the last that was annotated");
	put("2026_01_04_00_00_00", setup.quiet);
	await says(page, "header .run", "2026_01_04");
	await show(page, "live");
	await page.click('section.table[aria-label^="Sessions"] tr:has-text("2026_01_01")');
	await says(page, "header .run", "2026_01_01");
	put("2026_01_05_00_00_00", setup.quiet);
	await show(page, "live");
	await state_of("2026_01_05", "annotated");
	await show(page, "overview");
	must((await text_of(page, "header .run")).includes("2026_01_01"), "a run that was chosen is left for a later one");
	const half = JSON.parse(await page.evaluate(async () => (await fetch("api/runs")).text())).runs.find((r) => r.session.includes("2026_01_03"));
	must(half && !asked.some((a) => a.includes(half.id)), "the session that is not whole is looked at unasked");
	live.kill("SIGTERM");
	must((await end_of(live)) === 4, `with a session that is not whole it ends with status ${live.exitCode}`);
	await shut(page);
}

async function real_job(page) {
	const job = start(...setup.job.command);
	await line_of(job);
	const live = await serve(`--service=${setup.job.address}`);
	await says(page, ".alert b", "train_step");
	const told = await page.textContent('.alert:has(b:text("train_step"))');
	must(/\[\d+,64\]/.test(told), `the alert does not name the shapes: ${told}`);
	await shoot(page, "job");
	live.kill("SIGINT");
	must((await end_of(live)) === 0, `SIGINT ends it with status ${live.exitCode}`);
}

const browser = await launch();
try {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, colorScheme: "light", reducedMotion: "reduce" }); // no colours on their way
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	// A server that is not there is what the test is about.
	await watch(page, { inside: [url], bad, expected: (text) => /Failed to load resource: net::ERR_/.test(text) });
	const fake = start(setup.fake, setup.quiet);
	const address = `127.0.0.1:${await line_of(fake)}`;
	fake.stdout.resume();
	const live = await serve(`--service=${address}`);
	await page.goto(url);
	await updates_itself(page);
	await alerts_appear(page, fake);
	await has_a_past(page);
	await pauses(page);
	await other_views(page, fake);
	await accessible(page);
	await job_goes_away(page, fake);
	await stays_small(context);
	await watch_goes_away(page, live, address);
	if (setup.job) await real_job(page);
	await shut(page);
	await sessions(context);
} catch (e) {
	bad(e.stack);
}
await shut(browser);
for (const child of children) child.kill("SIGKILL");
for (const text of wrong) console.error(text);
process.exit(wrong.length ? 1 : 0);
