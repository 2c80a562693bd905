// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./page.mjs";

const root = new URL("../../../", import.meta.url);
const text = (path) => readFileSync(new URL(path, root), "utf8");
const { readUnits } = await import(new URL("plugin/page/units.mjs", root).href);
const { unit, value } = await load("format.js");
const UNITS = readUnits(text("src/base/units_list.h"));

// { "total_ps", "ps", "time", "1.50 s" }: the examples that C is held against (tests/base/units_test.c), each of 1.5e12.
const EXAMPLES = [...text("tests/base/units_test.c").matchAll(/\{ "([^"]*)", ("[^"]*"|NULL), ("[^"]*"|NULL), ("[^"]*"|NULL) \}/g)].map(([, name, ...rest]) => [name, ...rest.map((s) => (s === "NULL" ? null : s.slice(1, -1)))]);

test("the page and C agree on the unit of every example", () => {
	assert.ok(EXAMPLES.length > 10, `${EXAMPLES.length} examples were found`);
	for (const [name, expected] of EXAMPLES) assert.equal(unit(name), expected ?? "", name);
});

test("the page and C write the times, sizes and bandwidths of the examples alike", () => {
	const alike = EXAMPLES.filter(([, said]) => ["ps", "bytes", "B/s"].includes(said));
	assert.ok(alike.length >= 4);
	for (const [name, , , written] of alike) assert.equal(value(name, 1.5e12), written, name);
});

test("the page writes every unit of the table", () => {
	for (const { ending, unit: said } of UNITS) {
		assert.equal(unit(`x${ending}`), said, ending);
		assert.match(value(`x${ending}`, 3), /[A-Za-z%]/, ending);
	}
});

test("a line of another form stops the build", () => {
	assert.throws(() => readUnits('\tX("_ps", TIME, "ps", "time") \\\n'), /another form/);
	assert.throws(() => readUnits("\tX(_ps, TIME, ps, time, 1)\n"), /another form/);
});

test("a table without lines stops the build", () => assert.throws(() => readUnits("#define TS_UNITS(X)\n"), /no line/));

test("an unsaid unit is known", () => {
	assert.deepEqual(readUnits('\tX("intensity", NUMBER, "FLOP/byte", "intensity", 0)\n'), [{ ending: "intensity", kind: "NUMBER", unit: "FLOP/byte", label: "intensity", said: false }]);
});
