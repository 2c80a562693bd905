// Opens the real XProf pages in headless Chromium and looks: node chromium.mjs --url URL --run RUN --host HOST --shots DIR
//
// URL is a running TensorBoard (run_chromium.py starts one). Only that server is reachable: every other request is cut.
// Shots: trace.png (the trace viewer, drawn), trace_top.png (what stands right under the first device), overview.png.
// --expect TEXT (repeatable): must be in the trace's data and on the page's track headings, else exit 1.
// --suggest TEXT (repeatable): must be in the overview page's recommendations, else exit 1.
// Exit 77 when playwright-core or Chromium is not there.
import { existsSync, mkdirSync } from "node:fs";

const SKIP = 77;
const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync"];
const PATIENCE_MS = 120000;

function skip(why) {
	console.error(`${why}: skipped`);
	process.exit(SKIP);
}

function options(argv) {
	const out = { expect: [], suggest: [] };
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

async function browser() {
	let playwright;
	try {
		playwright = await import("playwright-core");
	} catch {
		skip("playwright-core is not installed (npm ci in tests/viewers)");
	}
	if (!existsSync(CHROMIUM))
		skip(`${CHROMIUM} is not there (apt-get install chromium, or set CHROMIUM)`);
	return playwright.chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
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
	await page.close();
	return drawn && missing.length === 0;
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
	await page.close();
	return drawn && missing.length === 0;
}

const opt = options(process.argv.slice(2));
const chromium = await browser();
const good = [await trace(chromium, opt), await overview(chromium, opt)];
await chromium.close();
console.log(`trace ${good[0] ? "good" : "bad"}, overview ${good[1] ? "good" : "bad"}; screenshots in ${opt.shots}`);
process.exit(good.every(Boolean) ? 0 : 1);
