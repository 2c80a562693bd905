// Bundles the page: dist/page.js and dist/page.css, from src/main.jsx and what it imports.
//   node build.mjs [--watch] [--outdir=DIR]
// Nothing is fetched when the page runs: the bundle is all there is.
import { argv } from "node:process";
import { build, context } from "esbuild";
import { moduleOf } from "./units.mjs";

// A header of C is the table of units that it holds.
const headers = {
	name: "headers",
	setup: (b) => b.onLoad({ filter: /\.h$/ }, async ({ path }) => ({ contents: await moduleOf(path), loader: "js", watchFiles: [path] })),
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
	plugins: [headers],
	charset: "ascii", // the page is inlined into files of any encoding
	logLevel: "warning",
};

if (argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
