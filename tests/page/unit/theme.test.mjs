// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { themeOf } = await load("theme.js");

const body = (...names) => ({ classList: { contains: (name) => names.includes(name) } });

test("TensorBoard's dark mode is a class of its body", () => {
	assert.equal(themeOf(body("dark-mode")), "dark");
	assert.equal(themeOf(body("other")), "light");
});
