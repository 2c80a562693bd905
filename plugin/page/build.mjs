// SPDX-License-Identifier: MIT
// Bundles the page: dist/page.js and dist/page.css, from src/main.jsx and what it imports; and dist/page.csp, the part of a policy that
// lets a file run this script and have this style sheet, both inlined, and no other (CSP Level 3, hashes).
//   node build.mjs [--watch] [--outdir=DIR]
// Nothing is fetched when the page runs: the bundle is all there is.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { argv } from "node:process";
import { build, context } from "esbuild";
import { moduleOf as glossaryOf } from "./glossary.mjs";
import { moduleOf as unitsOf } from "./units.mjs";

// A header of C is the table of units that it holds, a document the glossary.
const made = (filter, moduleOf) => ({
	name: "made",
	setup: (b) => b.onLoad({ filter }, async ({ path }) => ({ contents: await moduleOf(path), loader: "js", watchFiles: [path] })),
});

async function allow(name) {
	return `'sha256-${createHash("sha256").update(await readFile(`${outdir}/${name}`)).digest("base64")}'`;
}
const hashes = {
	name: "hashes",
	setup: (b) => b.onEnd(async ({ errors }) => {
		if (!errors.length) await writeFile(`${outdir}/page.csp`, `script-src ${await allow("page.js")}; style-src ${await allow("page.css")}`);
	}),
};

const outdir = argv.find((a) => a.startsWith("--outdir="))?.slice(9) ?? "dist";
const options = {
	entryPoints: { page: "src/main.jsx" },
	outdir,
	bundle: true,
	minify: true,
	format: "iife",
	target: ["chrome100", "firefox100", "safari15"],
	jsxFactory: "h",
	jsxFragment: "Fragment",
	legalComments: "inline",
	plugins: [made(/\.h$/, unitsOf), made(/\.md$/, glossaryOf), hashes],
	charset: "ascii", // the page is inlined into files of any encoding
	logLevel: "warning",
};

if (argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
