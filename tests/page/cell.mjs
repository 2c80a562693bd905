// SPDX-License-Identifier: MIT
// Looks at the page as a notebook's cell shows it: node cell.mjs NAME=ADDRESS...
//
// Each address is a page that imitates a notebook, with the output of a cell in it. Prints what is wrong, a line each. Exit 1: something is
// wrong; 77: a tool is missing.
import { launch, PATIENCE_MS, show, shut, watch } from "./browser.mjs";

const wrong = [];

// The frame that has the page, however deep a notebook puts it.
async function inner(page) {
	const until = Date.now() + PATIENCE_MS;
	while (Date.now() < until) {
		for (const frame of page.frames()) if (frame !== page.mainFrame() && (await frame.$("#view"))) return frame;
		await page.waitForTimeout(200); // until the frames are there
	}
	return null;
}

async function look(browser, name, url) {
	const page = await (await browser.newContext({ viewport: { width: 1000, height: 800 } })).newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	const expected = (word) => word.includes("can escape its sandboxing"); // of the frame that Colab itself makes
	await watch(page, { inside: [new URL(".", url).href, "about:"], bad: (text) => wrong.push(`${name}: ${text}`), expected });
	await page.goto(url);
	const frame = await inner(page);
	if (!frame) return wrong.push(`${name}: the page is not shown`);
	if ((await frame.getByText("Copy link").count()) > 0) wrong.push(`${name}: a link is offered, and a cell has no address`);
	const before = await frame.textContent("#view");
	await show(frame, "time");
	const after = await frame.textContent("#view");
	if (!before.includes("%") || before === after) wrong.push(`${name}: a tab that is clicked shows nothing new`);
	const reached = await frame.evaluate(() => {
		try {
			return Boolean(parent.document.body);
		} catch {
			return false;
		}
	});
	if (reached) wrong.push(`${name}: the page can reach the notebook`);
	console.error(`${name}: ${before.length} characters, ${after.length} in view Time`);
}

const browser = await launch();
for (const given of process.argv.slice(2)) {
	const at = given.indexOf("=");
	await look(browser, given.slice(0, at), given.slice(at + 1));
}
await shut(browser);
for (const line of wrong) console.log(line);
process.exit(wrong.length ? 1 : 0);
