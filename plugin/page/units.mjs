// SPDX-License-Identifier: MIT
// The table of units (src/base/units_list.h), which C and the page share, as a module for the page.
import { readFile } from "node:fs/promises";

const LINE = /^\s*X\("([^"]+)", ([A-Z]+), "([^"]*)", "([^"]*)", ([01])\)/;

// A line that is not understood is an error: the page must not lack a unit that the program has.
export function readUnits(text) {
	const lines = text.split("\n").filter((line) => /^\s*X\(/.test(line));
	if (!lines.length) throw new Error("the table of units has no line");
	return lines.map((line) => {
		const found = LINE.exec(line);
		if (!found) throw new Error(`the table of units has a line of another form: ${line.trim()}`);
		const [, ending, kind, unit, label, said] = found;
		return { ending, kind, unit, label, said: said === "1" };
	});
}

export const moduleOf = async (path) => `export const UNITS = ${JSON.stringify(readUnits(await readFile(path, "utf8")))};\n`;
