// Where the report comes from. Three doors, one page:
//   a file      <script type="application/json" id="tpusight-report"> holds it
//   a server    <body data-runs="api/runs" data-report="api/report"> says where to ask
export function inlined() {
	const element = document.getElementById("tpusight-report");
	if (!element) return null;
	try {
		return JSON.parse(element.textContent);
	} finally {
		element.remove(); // the text is not needed twice
	}
}

async function get(url) {
	const answer = await fetch(url, { headers: { accept: "application/json" } });
	const body = await answer.json().catch(() => null);
	if (!answer.ok) throw new Error(body?.error?.message ?? body?.error ?? `${url}: ${answer.status} ${answer.statusText}`);
	return body;
}

const door = () => document.body.dataset;
export const hasServer = () => Boolean(door().runs);
export const runs = () => get(door().runs).then((r) => r.runs ?? r);
export const report = (run) => get(`${door().report}?run=${encodeURIComponent(run)}`);
// TensorBoard's own address, where the page stands in it. A link of the report is relative to that.
export function xprof(link) {
	const base = door().xprof;
	if (!base || typeof link !== "string" || !/^(\?|data\/plugin\/profile\/)/.test(link)) return null;
	return new URL(link, base).href;
}

// Live reports come as server-sent events where the server offers them.
export const events = () => door().events;
