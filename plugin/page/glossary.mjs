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

// Pages stand once, and names as one text: the module is a third smaller than the list would be.
function packed(words) {
	const pages = [...new Set(words.map(({ page }) => page))];
	const rows = words.map(({ title, names, text, formula, page }) => [title, names.map(([name, own]) => (own ? `${name}=${own}` : name)).join("|"), pages.indexOf(page), text, formula]);
	return `const PAGES = ${JSON.stringify(pages)};
const of = (name) => [name.split("=")[0], name.split("=")[1] ?? ""];
export const GLOSSARY = ${JSON.stringify(rows)}.map(([title, names, page, text, formula]) => ({ title, names: names.split("|").map(of), text, formula, page: PAGES[page] }));
`;
}

export const moduleOf = async (path) => packed(readGlossary(await readFile(path, "utf8")).filter(isShown));
