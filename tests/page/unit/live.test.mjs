// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { add, latestOf, MAX, runAt } = await load("live.js");

const fresh = () => ({ sample: [], alert: [], session: [], counts: { sample: 0, alert: 0, session: 0 }, end: null, news: [], last: 0 });
const sample = (hosts = 1) => ({ type: "sample", hosts });
function told(...events) {
	const known = fresh();
	events.forEach((event, i) => add(known, event, i + 1, false));
	return known;
}

test("the history is bounded, and what was dropped is counted", () => {
	const known = told(...Array.from({ length: MAX.sample + 5 }, () => sample()));
	assert.equal(known.sample.length, MAX.sample);
	assert.equal(known.counts.sample, MAX.sample + 5);
	assert.equal(known.sample[0].id, 6);
});

test("a job that is gone for long leaves its past alone", () => {
	const known = told(sample(2), ...Array.from({ length: 1000 }, () => sample(0)), sample(2));
	assert.deepEqual(known.sample.map((s) => [s.hosts, s.id]), [[2, 1], [0, 2], [0, 1001], [2, 1002]]);
});

test("a server that began anew begins a new history", () => {
	const known = told(sample(), sample(), { type: "alert" });
	add(known, sample(), 2, false);
	assert.deepEqual([known.sample.length, known.alert.length, known.counts.sample, known.last], [1, 0, 1, 2]);
});

test("alerts of the past are not read out, and those of now are", () => {
	const known = fresh();
	add(known, { type: "alert", rule: "old" }, 1, true);
	add(known, { type: "alert", rule: "new" }, 2, false);
	assert.deepEqual(known.news.map((a) => a.rule), ["new"]);
	assert.equal(known.alert.length, 2);
});

test("of many alerts at once the last eight are read out", () => {
	const known = told(...Array.from({ length: 30 }, () => ({ type: "alert" })));
	assert.deepEqual(known.news.map((a) => a.id), [23, 24, 25, 26, 27, 28, 29, 30]);
});

test("the end is known until something comes after it", () => {
	const known = told(sample(), { type: "end" });
	assert.equal(known.end.type, "end");
	add(known, sample(), 3, false);
	assert.equal(known.end, null);
});

test("an event of a newer program changes no list", () => {
	const known = told(sample(), { type: "weather" });
	assert.equal(known.sample.length, 1);
	assert.equal(known.last, 2);
});

test("a session is found among the runs by its path", () => {
	const runs = [{ id: "a", path: "/x" }, { id: "b", path: "/y" }];
	assert.equal(runAt(runs, "/y").id, "b");
	assert.equal(runAt(runs, "/z"), undefined);
	assert.equal(runAt(undefined, "/z"), undefined);
});

test("other views follow the first run where nothing is watched", () => assert.equal(latestOf([{ id: "a" }], null).id, "a"));

test("other views follow the latest sample of a job", () => {
	assert.equal(latestOf([{ id: "live" }], fresh()).id, "live");
	assert.equal(latestOf([{ id: "old-run" }], fresh()), undefined);
});

test("other views follow the latest session that is complete", () => {
	const known = told({ type: "session", state: "annotated", path: "/x" }, { type: "session", state: "annotated", path: "/y" }, { type: "session", state: "failed", path: "/z" });
	const runs = ["/x", "/y", "/z"].map((path) => ({ id: path, path }));
	assert.equal(latestOf(runs, known).id, "/y");
	assert.equal(latestOf(runs.slice(0, 1), known), undefined);
});
