// SPDX-License-Identifier: MIT
// TensorBoard loads this into the plugin's frame and calls render(). The page is the same as everywhere; only its doors differ.
const here = new URL(".", import.meta.url); // .../data/plugin/tpusight/

export function render() {
	document.title = "TPUsight"; // TensorBoard gives its frames neither
	document.documentElement.lang = "en";
	const page = document.createElement("div");
	page.id = "tpusight";
	document.body.append(page);
	document.body.dataset.tab = "tpusight"; // TensorBoard's name of the tab in its address (page/src/address.js)
	document.body.dataset.runs = new URL("runs", here).href;
	document.body.dataset.report = new URL("report", here).href;
	document.body.dataset.traces = new URL("traces", here).href;
	document.body.dataset.trace = new URL("trace", here).href;
	document.body.dataset.xprof = new URL("../../../", here).href; // TensorBoard itself
	const policy = document.createElement("meta"); // windows that are opened do not hear the name of this server
	policy.name = "referrer";
	policy.content = "no-referrer";
	const style = document.createElement("link");
	style.rel = "stylesheet";
	style.href = new URL("page.css", here).href;
	const script = document.createElement("script");
	script.src = new URL("page.js", here).href;
	document.head.append(policy, style, script);
}
