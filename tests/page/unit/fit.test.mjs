// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";

const { within } = await load("fit.js");
const letters = (text) => text.length; // each a pixel wide

test("a name that has room stays, another one loses its front, or its middle", () => {
	for (const [px, front, expected] of [[17, 0, "tf_private/431042"], [8, 0, "\u2026/431042"], [9, 0.5, "tf_p\u20261042"], [8, 0.5, "tf_p\u2026042"], [1, 0, "\u2026"]])
		assert.equal(within("tf_private/431042", px, front, letters), expected);
});
