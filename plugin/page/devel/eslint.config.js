// SPDX-License-Identifier: MIT
// What eslint asks of the page, of TensorBoard's door to it, and of the browser tests. Few rules: each finds an error, or keeps one
// way of doing a thing. How code looks is not eslint's business.
import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import globals from "globals";

const RULES = {
	...js.configs.recommended.rules,
	"array-callback-return": "error",
	"consistent-return": "off", // a callback of an effect may give its end, or nothing
	eqeqeq: "error",
	"no-constructor-return": "error",
	"no-control-regex": "off", // names in profiles have control characters, and format.js looks for them
	"no-eval": "error",
	"no-implicit-globals": "error",
	"no-implied-eval": "error",
	"no-new-func": "error",
	"no-restricted-syntax": ["error", { selector: "Identifier[name=/^(dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML)$/], JSXIdentifier[name=/^(dangerouslySetInnerHTML|innerHTML|srcdoc)$/]", message: "text of a profile is set as text, never as markup" }],
	"no-shadow": "error",
	"no-template-curly-in-string": "error",
	"no-unused-vars": ["error", { args: "after-used", argsIgnorePattern: "^_", varsIgnorePattern: "^(h|Fragment)$" }],
	"no-var": "error",
	"object-shorthand": "error",
	"prefer-const": "error",
	"prefer-template": "error",
};

export default [
	{ ignores: ["**/node_modules/", "**/dist/", "**/work/", "**/build*/"] },
	{
		files: ["**/*.js", "**/*.jsx", "**/*.mjs"],
		languageOptions: { ecmaVersion: 2023, sourceType: "module", parserOptions: { ecmaFeatures: { jsx: true } } },
		linterOptions: { reportUnusedDisableDirectives: "error" },
		rules: RULES,
	},
	{
		files: ["plugin/page/src/**", "plugin/tensorboard_plugin_tpusight/static/*.js"],
		languageOptions: { globals: globals.browser },
		plugins: { hooks },
		rules: { "hooks/rules-of-hooks": "error" },
	},
	{ files: ["plugin/page/*.mjs", "plugin/page/devel/*"], languageOptions: { globals: globals.node } },
	{ files: ["tests/**"], languageOptions: { globals: { ...globals.node, ...globals.browser } } }, // functions of tests run in the page too
];
