// SPDX-License-Identifier: MIT
// The glossary (docs/glossary.md), which the program, the page and the Python package share, as a module for the page.
import { readFile } from "node:fs/promises";

/** @type {(lines: string[], mark: string) => string} */
const behind = (lines, mark) => lines.find((line) => line.startsWith(mark))?.slice(mark.length) ?? "";
const MARKS = /^(Names|Formula|Unit|More): /;

// A section that is not understood is an error: the page must not lack a word that the program has.
function readSection(section) {
	const [title, ...lines] = section.trim().split("\n");
	const names = [...behind(lines, "Names: ").matchAll(/`([^`]+)`([^,`]*)/g)].map(([, name, own]) => [name, own.trim()]);
	const text = lines.filter((line) => line && !MARKS.test(line)).join(" ");
	const page = /\]\((.+)\)$/.exec(behind(lines, "More: "))?.[1];
	if (!names.length || !text || !page) throw new Error(`the glossary has a section of another form: ${title}`);
	return { title, names, text, formula: behind(lines, "Formula: "), page: `docs/${page}` };
}

export function readGlossary(text) {
	const [, ...sections] = text.split("\n## ");
	if (!sections.length) throw new Error("the glossary has no section");
	return sections.map(readSection);
}

// Rules have their own titles and advice in the report; the page does not show their names.
const isShown = ({ names }) => !names[0][0].startsWith("rule.");

export const moduleOf = async (path) => `export const GLOSSARY = ${JSON.stringify(readGlossary(await readFile(path, "utf8")).filter(isShown))};\n`;
