// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { load } from "./page.mjs";

const { addressOf, commandsOf, fileOf, hostOf, open, PATIENCE_MS, rangeOf, traceOf } = await load("perfetto.js");

const UI = "https://ui.perfetto.dev";
const FINDING = {
	id: "idle", title: "50 % + more: \"a\" & b#c", links: { perfetto_sql: "select 'a+b' from slice -- 100 %" },
	time_ranges: [{ device: 0, start_ps: 1999, end_ps: 5000 }, { device: 1, start_ps: 10_500, end_ps: 20_500 }],
};
const TRACE = { file: "a.json.gz", path: "/runs/a.json.gz", host: null, bytes: 1, shift_ns: "0" };
const of = (devices) => ({ run: { devices: Array.from({ length: devices }, (_, id) => ({ id, host: `h${id}`, name: "" })) } });

// As Perfetto reads an address: ui/src/core/router.ts.
function read(url) {
	const [address, fragment] = url.split("#!");
	const args = Object.fromEntries(new URL(`https://example.com${fragment}`).search.slice(1).split("&").map((part) => part.replaceAll("+", " ").split("=").map(decodeURIComponent)));
	return { address, args, commands: JSON.parse(args.startupCommands) };
}

test("the longest time of a finding is shown, on the clock of the trace, to the ns", () => {
	assert.deepEqual(rangeOf(FINDING, TRACE), { start: 10n, end: 20n });
	assert.deepEqual(rangeOf(FINDING, { ...TRACE, shift_ns: "1767225600000000001" }), { start: 1767225600000000011n, end: 1767225600000000021n });
	assert.deepEqual(rangeOf({ ...FINDING, time_ranges: [{ start_ps: 1100, end_ps: 1200 }] }, TRACE), { start: 1n, end: 2n }, "a time shorter than a ns is one");
});

test("a finding without a time, and a trace whose clock is unknown, are opened as a whole", () => {
	assert.equal(rangeOf({ ...FINDING, time_ranges: [] }, TRACE), null);
	assert.equal(rangeOf(FINDING, { ...TRACE, shift_ns: null }), null);
	const { args, commands } = read(addressOf(UI, null, FINDING, null));
	assert.deepEqual(Object.keys(args), ["startupCommands"]);
	assert.deepEqual(commands.map((c) => c.id.split(".").at(-1)), ["PinTracksByRegex", "RunQueryAndShowTab"]);
});

test("what Perfetto reads is behind the #, to the character", () => {
	const { address, args, commands } = read(addressOf(`${UI}/`, null, FINDING, { start: 10n, end: 20n }));
	assert.equal(address, "https://ui.perfetto.dev/?testing=1");
	assert.deepEqual([args.visStart, args.visEnd], ["10", "20"]);
	assert.deepEqual([args.ts, args.dur], ["10", "10"], "the slice there is selected");
	assert.deepEqual(commands[1], { id: "dev.perfetto.AddNoteAtTimestamp", args: ["10", FINDING.title] });
	assert.deepEqual(commands[2], { id: "dev.perfetto.RunQueryAndShowTab", args: [FINDING.links.perfetto_sql, FINDING.title] });
});

test("an address that no browser opens is opened without the query", () => {
	const long = { ...FINDING, links: { perfetto_sql: "x".repeat(100000) } };
	assert.deepEqual(read(addressOf(UI, null, long, null)).commands.map((c) => c.id), ["dev.perfetto.PinTracksByRegex"]);
});

test("eight rows are pinned at most, of a finding those of the run and its own", () => {
	const rows = ["TPUsight: Findings", "TPUsight: Gaps: /device:TPU:0", "TPUsight: Steps", "TPUsight: Critical path", "TPUsight: Critical path: /device:TPU:0"];
	for (let rank = 1; rank <= 20; rank++) rows.push(`TPUsight: ${rank} warning`);
	const pinned = (...given) => rows.filter((name) => new RegExp(commandsOf(...given)[0].args[0]).test(name));
	assert.equal(pinned(of(4), null, null).length, 8);
	const report = { ...of(64), doctor: { findings: [{ id: "other" }, FINDING] } };
	assert.deepEqual(pinned(report, FINDING, null), ["TPUsight: Steps", "TPUsight: Critical path", "TPUsight: 2 warning"]);
});

test("the trace is that of the finding's host, else the first", () => {
	const all = [{ ...TRACE, host: "h0" }, { ...TRACE, host: "h1" }];
	assert.equal(hostOf(of(2), FINDING), "h1");
	assert.equal(traceOf(all, "h1"), all[1]);
	assert.equal(traceOf(all, undefined), all[0]);
	assert.equal(traceOf([], "h1"), undefined);
});

test("the file to drag is named by the profile", () => {
	const from = (file) => fileOf({ run: { hosts: [{ name: "h", file }] } });
	assert.equal(from("a/b/host.xplane.pb"), "a/b/perfetto_trace.json.gz");
	assert.equal(from("a/rank0.1.pt.trace.json.gz"), "a/rank0.1.pt.trace.tpusight.json.gz");
	assert.equal(from("rank0.json"), "rank0.tpusight.json.gz");
	assert.equal(from("-"), null);
	assert.equal(fileOf({ run: null }), null);
});

// A browser in which a window opens that answers what ANSWER says.
function opened(url, fetchTrace) {
	const listeners = new Set();
	const target = { closed: false, sent: [], postMessage: (...message) => target.sent.push(message), close: () => (target.closed = true) };
	globalThis.window = { open: (...args) => ((target.opened = args), target) };
	globalThis.addEventListener = (_, f) => listeners.add(f);
	globalThis.removeEventListener = (_, f) => listeners.delete(f);
	const states = [];
	open(url, fetchTrace, (buffer) => ({ buffer }), (state) => states.push(state));
	const hear = (data, more) => [...listeners].forEach((f) => f({ source: target, origin: UI, data, ...more }));
	return { target, states, hear, listeners };
}
const settled = () => new Promise((done) => setImmediate(done));

test("the trace is sent once, to the page that answered and to no other", async () => {
	mock.timers.enable({ apis: ["setInterval"] });
	const buffer = new ArrayBuffer(4);
	const { target, states, hear, listeners } = opened(`${UI}/?testing=1#!/`, async () => buffer);
	await settled();
	mock.timers.tick(200);
	assert.deepEqual(target.sent, [["PING", "*"]]);
	hear("PONG", { origin: "https://evil.example" });
	hear("PONG", { source: {} });
	hear("something else");
	assert.equal(target.sent.length, 1);
	hear("PONG");
	hear("PONG");
	assert.deepEqual(target.sent.slice(1), [[{ buffer }, UI, [buffer]]]);
	assert.deepEqual(states, ["opening", "sent"]);
	assert.equal(listeners.size, 0);
	mock.timers.tick(1000);
	assert.equal(target.sent.length, 2, "it asks on");
	mock.timers.reset();
});

test("a window that does not answer is asked on, and one that is closed is not", async () => {
	mock.timers.enable({ apis: ["setInterval"] });
	let now = 0;
	const clock = mock.method(performance, "now", () => now);
	const { target, states } = opened(UI, async () => new ArrayBuffer(4));
	await settled();
	now = PATIENCE_MS + 1;
	mock.timers.tick(400);
	assert.deepEqual(states, ["opening", "silent"]);
	assert.equal(target.sent.length, 2);
	target.closed = true;
	mock.timers.tick(400);
	assert.deepEqual(states, ["opening", "silent", "closed"]);
	assert.equal(target.sent.length, 2);
	clock.mock.restore();
	mock.timers.reset();
});

// A window shows an empty page of ours until its own arrives.
test("a trace that cannot be read is said at once, and closes the window when its page arrived", async () => {
	mock.timers.enable({ apis: ["setInterval"] });
	const why = new Error("gone");
	const { target, states } = opened(UI, () => Promise.reject(why));
	let address = () => "about:blank";
	target.location = { get href() { return address(); } };
	await settled();
	assert.deepEqual(states, ["opening", why]);
	mock.timers.tick(1000);
	assert.equal(target.closed, false, "a browser may lose a close() before");
	address = () => { throw new Error("of another origin"); };
	mock.timers.tick(200);
	assert.equal(target.closed, true);
	mock.timers.reset();
});

test("a window whose page never arrives is closed all the same", async () => {
	mock.timers.enable({ apis: ["setInterval"] });
	let now = 0;
	const clock = mock.method(performance, "now", () => now);
	const { target } = opened(UI, () => Promise.reject(new Error("gone")));
	target.location = { href: "about:blank" };
	await settled();
	now = PATIENCE_MS + 1;
	mock.timers.tick(200);
	assert.equal(target.closed, true);
	clock.mock.restore();
	mock.timers.reset();
});

test("a trace that comes after the window was closed goes nowhere", async () => {
	mock.timers.enable({ apis: ["setInterval"] });
	let give;
	const { target, states, hear } = opened(UI, () => new Promise((done) => (give = done)));
	hear("PONG");
	target.closed = true;
	mock.timers.tick(200);
	give(new ArrayBuffer(4));
	await settled();
	assert.deepEqual(states, ["opening", "closed"]);
	assert.equal(target.sent.length, 0);
	mock.timers.reset();
});

test("a browser that opens no window is noticed", () => {
	globalThis.window = { open: () => null };
	const states = [];
	open(UI, () => assert.fail("the trace is not needed"), () => {}, (state) => states.push(state));
	assert.deepEqual(states, ["blocked"]);
});
