// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { bySource, withoutSource } = await load("sources.js");
const op = (name, source, self_time_ps, more = {}) => ({ name, module: "m", source, self_time_ps, compute_ps: self_time_ps, ...more });

test("ops are summed by the line that they are from, the longest first", () => {
	const rows = bySource([op("a", "x.py:1", 10), op("b", "y.py:2", 40), op("c", "x.py:1", 50, { bucket: "communication" }), op("d", null, 7), op("2 others", "x.py:1", 5, { is_others: true })], 200, ["compute", "memory_wait", "communication"]);
	assert.deepEqual(rows.map((r) => [r.source, r.self_time_ps, r.time_pct, r.op_count, r.class, r.name]), [["x.py:1", 60, 30, 2, "communication", "c"], ["y.py:2", 40, 20, 1, "compute", "b"]]);
});

test("the time of ops without a line is told", () => assert.deepEqual(withoutSource([op("a", null, 7), op("b", "x.py:1", 8), op("3 others", null, 2, { is_others: true })]), { count: 1, ps: 9 }));

test("of no total there is no share", () => assert.equal(bySource([op("a", "x", 1)], 0, ["compute"])[0].time_pct, null));
