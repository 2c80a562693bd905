// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./page.mjs";

const { BUCKETS, bucketColor, inkOn, kindColor, OTHERS } = await load("colors.js");

const LEAST = 25; // what one sees at once as another colour, in small areas: about ten times what one just sees

// CIE Lab of "#rrggbb".
function lab(color) {
	const [r, g, b] = [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
	const xyz = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089];
	const [x, y, z] = xyz.map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
	return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const apart = (a, b) => Math.hypot(...lab(a).map((v, i) => v - lab(b)[i]));

test("what is no class of time has a colour of no class, and no two have the same", () => {
	const classes = BUCKETS.map(bucketColor);
	for (const [i, color] of OTHERS.entries())
		for (const other of [...classes, ...OTHERS.slice(0, i)]) assert.ok(apart(color, other) >= LEAST, `${color} and ${other} are ${apart(color, other).toFixed(0)} apart`);
});

test("no other file of the page has a colour", () => {
	const folder = new URL("../../../plugin/page/src/", import.meta.url);
	for (const name of readdirSync(folder, { recursive: true }).filter((f) => /\.jsx?$/.test(f) && f !== "colors.js"))
		assert.deepEqual(readFileSync(new URL(name, folder), "utf8").match(/"#[0-9a-f]{3,8}"|rgb\(\d/gi), null, name);
});

test("the classes are those of the program, in its order, and what other tools divide in their way has their colours", () => {
	const c = readFileSync(new URL("../../../src/model/bucket.h", import.meta.url), "utf8");
	assert.deepEqual(BUCKETS, [...c.matchAll(/X\([A-Z_]+, (\w+)_ps\)/g)].map(([, name]) => name));
	assert.deepEqual(["kernel", "communication", "copy", "launch", "input", "idle"].map(kindColor), ["compute", "communication", "memory_wait", "launch", "input", "idle"].map(bucketColor));
});

test("letters on a class can be read", () => {
	for (const bucket of BUCKETS) assert.ok(contrast(inkOn(bucketColor(bucket)), bucketColor(bucket)) >= 4.5, `${bucket}: ${contrast(inkOn(bucketColor(bucket)), bucketColor(bucket)).toFixed(2)}`);
});

// What those see who lack a kind of cones (Machado, Oliveira, Fernandes 2009, severity 1), of linear RGB.
const CONES = {
	protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
	deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
	tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const seen = (color, cones) => {
	const from = [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
	const to = cones.map((row) => Math.min(1, Math.max(0, row.reduce((sum, part, i) => sum + part * from[i], 0))));
	return `#${to.map((v) => Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055)).toString(16).padStart(2, "0")).join("")}`;
};

test("what is below its roofline is told from all other classes, with any cones", () => {
	for (const [name, cones] of Object.entries(CONES))
		for (const other of BUCKETS.filter((b) => b !== "below_roofline")) {
			const [a, b] = ["below_roofline", other].map((bucket) => seen(bucketColor(bucket), cones));
			assert.ok(apart(a, b) >= 20, `${other}, with ${name}: ${apart(a, b).toFixed(0)} apart`);
		}
});

// WCAG's contrast of two colours.
const light = (color) => ((lab(color)[0] + 16) / 116) ** 3;
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);

test("a line is seen on the dark page, and the first colour, that of all lines, on the light one too", () => {
	const css = readFileSync(new URL("../../../plugin/page/src/page.css", import.meta.url), "utf8");
	const [white, dark] = [...css.matchAll(/--back: (#[0-9a-f]{6})/g)].map(([, color]) => color);
	for (const color of OTHERS) assert.ok(contrast(color, dark) >= 3, `${color} has a contrast of ${contrast(color, dark).toFixed(2)} on ${dark}`);
	assert.ok(contrast(OTHERS[0], white) >= 3);
});

test("a finding in the picture of the run has the colour of no class, in light and dark", () => {
	const css = readFileSync(new URL("../../../plugin/page/src/page.css", import.meta.url), "utf8");
	const found = [...css.matchAll(/--(?:critical|warning|info): (#[0-9a-f]{6})/g)].map(([, color]) => color);
	assert.equal(found.length, 6);
	for (const color of found) for (const other of BUCKETS.map(bucketColor)) assert.ok(apart(color, other) >= LEAST, `${color} and ${other} are ${apart(color, other).toFixed(0)} apart`);
});
