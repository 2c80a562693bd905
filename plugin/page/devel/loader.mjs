// SPDX-License-Identifier: MIT
// Lets node run the page's sources as they are: node --import ./devel/loader.mjs --test FILES. A header of C is its table of
// units, a document the glossary, JSX is what esbuild makes of it, and a style sheet is nothing.
import { readFile } from "node:fs/promises";
import { createRequire, register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { moduleOf as glossaryOf } from "../glossary.mjs";
import { moduleOf as unitsOf } from "../units.mjs";

if (isMainThread) register(import.meta.url);

const { transform } = createRequire(new URL("../package.json", import.meta.url))("esbuild");
const JSX = { loader: "jsx", jsxFactory: "h", jsxFragment: "Fragment", sourcemap: "inline" };

async function sourceOf(path) {
	if (path.endsWith(".h")) return unitsOf(path);
	if (path.endsWith(".md")) return glossaryOf(path);
	if (path.endsWith(".css")) return "";
	return (await transform(await readFile(path, "utf8"), { ...JSX, sourcefile: path })).code;
}

export async function load(url, context, next) {
	if (!/\.(h|md|css|jsx)$/.test(url)) return next(url, context);
	return { format: "module", shortCircuit: true, source: await sourceOf(fileURLToPath(url)) };
}
