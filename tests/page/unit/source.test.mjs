// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { body, load } from "./page.mjs";

const { hasServer, inlined, isLive, listen, report, runs, xprof } = await load("source.js");

function answering(status, answer) {
	const asked = [];
	globalThis.fetch = async (url) => {
		asked.push(url);
		return { ok: status < 400, status, statusText: "Words", json: async () => (answer instanceof Error ? Promise.reject(answer) : answer) };
	};
	return asked;
}

test("a page without a server asks none", () => {
	body.dataset = {};
	assert.equal(hasServer(), false);
	assert.equal(isLive(), false);
	assert.equal(inlined(), null);
});

test("the report of a file is read once and taken out of the page", (t) => {
	const element = { textContent: '{"schema":"tpusight/1"}', remove: mock.fn() };
	t.mock.method(document, "getElementById", () => element);
	assert.deepEqual(inlined(), { schema: "tpusight/1" });
	assert.equal(element.remove.mock.callCount(), 1);
	element.textContent = "{";
	assert.throws(inlined, SyntaxError);
	assert.equal(element.remove.mock.callCount(), 2);
});

test("a run's id cannot leave its place in the address", async () => {
	body.dataset = { report: "api/report" };
	const asked = answering(200, {});
	await report("../x?y=1&z#/ü");
	assert.deepEqual(asked, ["api/report?run=..%2Fx%3Fy%3D1%26z%23%2F%C3%BC"]);
});

test("a list of runs may stand in an object", async () => {
	body.dataset = { runs: "api/runs" };
	answering(200, { runs: [{ id: "a" }], problems: ["b: a link leads out"] });
	assert.deepEqual(await runs(), { runs: [{ id: "a" }], problems: ["b: a link leads out"], is_known: true });
	answering(200, { runs: [{ id: "b" }], is_known: false });
	assert.equal((await runs()).is_known, false);
	answering(200, [{ id: "b" }]);
	assert.deepEqual(await runs(), { runs: [{ id: "b" }], problems: [], is_known: true });
});

test("what a server complains of is what the page says", async () => {
	body.dataset = { runs: "api/runs" };
	answering(500, { error: { message: "a.xplane.pb: truncated" } });
	await assert.rejects(runs(), { message: "a.xplane.pb: truncated" });
	answering(404, { error: "gone" });
	await assert.rejects(runs(), { message: "gone" });
	answering(502, new SyntaxError("no JSON"));
	await assert.rejects(runs(), { message: "api/runs: 502 Words" });
});

test("only links into TensorBoard are links", () => {
	body.dataset = { xprof: "http://localhost:6006/" };
	assert.equal(xprof("?run=a#profile"), "http://localhost:6006/?run=a#profile");
	assert.equal(xprof("data/plugin/profile/x?y"), "http://localhost:6006/data/plugin/profile/x?y");
	for (const link of ["javascript:alert(1)", "//elsewhere.example/", "https://elsewhere.example/", "data:text/html,x", "", null, 5]) assert.equal(xprof(link), null, String(link));
});

test("outside of TensorBoard there are no links to it", () => {
	body.dataset = {};
	assert.equal(xprof("?run=a"), null);
});

test("who was cut off asks for what came after the last event", (t) => {
	const opened = [];
	globalThis.EventSource = class {
		static CLOSED = 2;
		constructor(url) {
			Object.assign(this, { url, on: {}, readyState: 1, close: mock.fn() });
			opened.push(this);
		}
		addEventListener(type, call) {
			this.on[type] = call;
		}
	};
	t.mock.timers.enable({ apis: ["setTimeout"] });
	body.dataset = { events: "api/live" };
	const events = [];
	const states = [];
	const close = listen((event, id) => events.push([event.type, id]), (state) => states.push(state));
	opened[0].onopen();
	opened[0].on.sample({ lastEventId: "41", data: '{"type":"sample"}' });
	opened[0].onerror(); // the browser itself tries again
	t.mock.timers.tick(10000);
	assert.equal(opened.length, 1);
	opened[0].readyState = 2;
	opened[0].onerror();
	t.mock.timers.tick(10000);
	assert.deepEqual(opened.map((o) => o.url), ["api/live", "api/live?after=41"]);
	assert.deepEqual(events, [["sample", 41]]);
	assert.deepEqual(states, ["open", "lost", "lost"]);
	close();
	assert.equal(opened[1].close.mock.callCount(), 1);
});
