// SPDX-License-Identifier: MIT
// Links out of the page: to XProf in TensorBoard, and to a line of a source. What a page from a file cannot know it asks for, once.
import { h } from "preact";
import { useState } from "preact/hooks";
import { clean, cut } from "./format.js";
import { editorLink } from "./opdata.js";
import { xprof } from "./source.js";
import { copy } from "./clipboard.js";

/** @import { Maybe } from "./report.d.ts" */

/**
 * A word that this browser keeps for all pages: where something is on this machine.
 * @type {(name: string, first: string) => [string, (value: string) => void]}
 */
export function useKept(name, first) {
	const [value, set] = useState(() => {
		try {
			return localStorage.getItem(`tpusight-${name}`) ?? first;
		} catch {
			return first; // pages from a file may have no storage
		}
	});
	/** @param {string} next */
	const keep = (next) => {
		set(next);
		try {
			localStorage.setItem(`tpusight-${name}`, next);
		} catch {
			/* it holds until the page is closed */
		}
	};
	return [value, keep];
}

/** @type {(address: string, link: string) => string} */
export const wholeLink = (address, link) => `${address.replace(/[?#].*$/, "").replace(/\/*$/, "/")}${link}`;

// In TensorBoard a link. Outside of it, the whole link to copy, once TensorBoard's address is known.
/** @param {{ name: string, link: Maybe<string> }} props */
export function XProfLink({ name, link }) {
	const [address, setAddress] = useKept("tensorboard", "http://localhost:6006/");
	const [asks, setAsks] = useState(false);
	const [notice, setNotice] = useState("");
	const href = xprof(link);
	if (href)
		return (
			<a href={href} target="_blank" rel="noopener noreferrer">
				{name}
			</a>
		);
	if (!link) return null;
	const onCopy = async () => setNotice((await copy(wholeLink(address, link))) ? `copied: ${cut(clean(wholeLink(address, link)), 80)}` : "the browser did not allow the copy");
	return (
		<span class="outside">
			<button type="button" aria-expanded={asks} onClick={() => setAsks(!asks)}>
				{name} &hellip;
			</button>
			{asks && (
				<span class="choice">
					<label class="choice">
						TensorBoard{"\u2019"}s address
						<input type="url" value={address} onInput={(e) => setAddress(e.currentTarget.value)} />
					</label>
					<button type="button" onClick={onCopy}>
						Copy link
					</button>
					<span role="status">{notice}</span>
				</span>
			)}
		</span>
	);
}

// FILE:LINE, to copy and to open in an editor.
/** @param {{ source: string }} props */
export function Source({ source }) {
	const [root, setRoot] = useKept("sources", "");
	const [notice, setNotice] = useState("");
	const link = editorLink(source, root);
	const isWhole = editorLink(source, "") !== null;
	return (
		<p class="source">
			<code>{clean(source)}</code>{" "}
			<button type="button" onClick={async () => setNotice((await copy(source)) ? "copied" : "the browser did not allow the copy")}>
				Copy
			</button>{" "}
			{link && <a href={link}>Open in VS Code</a>} <span role="status">{notice}</span>
			{!isWhole && (
				<label class="choice">
					folder of the sources
					<input type="text" value={root} placeholder="/home/me/project" onInput={(e) => setRoot(e.currentTarget.value)} />
				</label>
			)}
		</p>
	);
}
