// SPDX-License-Identifier: MIT
// What the figures of a report are called and mean: docs/glossary.md. A PATH is where a figure stands: systolic.ops.time_ps.
import { GLOSSARY } from "../../../docs/glossary.md";

/** @typedef {import("../../../docs/glossary.md").Word} Word */

/** @type {Map<string, { word: Word, own: string }>} */
const byName = new Map();
/** @type {Map<string, Word>} */
const byLast = new Map(); // time_ps of any table, where none is meant
for (const word of GLOSSARY)
	for (const [name, own] of word.names) {
		byName.set(name, { word, own });
		const last = name.slice(name.lastIndexOf(".") + 1);
		if (!byLast.has(last)) byLast.set(last, word);
	}

// The longest name that PATH ends with says the most.
/** @param {string} path */
function found(path) {
	for (let rest = path; rest; rest = rest.includes(".") ? rest.slice(rest.indexOf(".") + 1) : "") {
		const entry = byName.get(rest);
		if (entry) return entry;
	}
	return undefined;
}

/** @param {string} path */
export const wordOf = (path) => found(path)?.word;

// What the glossary does not know is a name of the job's or a code: read as words.
/** @param {string} name */
function spelled(name) {
	const words = name.slice(name.lastIndexOf(".") + 1).replaceAll("_", " ").trim();
	return words.charAt(0).toUpperCase() + words.slice(1);
}

// Time classes are called by their names without a unit, too.
/** @param {string} path */
export function labelOf(path) {
	const entry = found(path) ?? byName.get(`${path}_ps`);
	return entry ? entry.own || entry.word.title : spelled(path);
}

/**
 * A formula with labels in place of names.
 * @param {string} formula
 */
export const spoken = (formula) => formula.replace(/`([^`]+)`/g, (_, name) => (found(name) ? labelOf(name) : (byLast.get(name)?.title ?? spelled(name))));
