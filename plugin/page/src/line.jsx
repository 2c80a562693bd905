// SPDX-License-Identifier: MIT
// FILE:LINE in a cell: alone to be copied, and a link into the editor once a whole path is known (links.jsx asks for the folder).
import { h } from "preact";
import { useState } from "preact/hooks";
import { copy } from "./clipboard.js";
import { clean, cut } from "./format.js";
import { useKept } from "./links.jsx";
import { editorLink } from "./opdata.js";

const NOTICE_MS = 3000;
const LONG = 36; // letters; what is shorter has room

/**
 * Where a path has no room, its folders are cut: the file and the line are what tells it from others.
 * @param {{ name: string }} props
 */
function Path({ name }) {
	const file = name.lastIndexOf("/") + 1;
	if (name.length <= LONG || file === 0) return name;
	return (
		<span class="path">
			<span class="head">{name.slice(0, file)}</span>
			<span class="tail">{name.slice(file)}</span>
		</span>
	);
}

/** @param {{ source: string }} props */
export function Line({ source }) {
	const [root] = useKept("sources", "");
	const [done, setDone] = useState(false);
	const link = editorLink(source, root);
	const name = cut(clean(source), 300);
	/** @param {MouseEvent} e */
	const onCopy = async (e) => {
		e.stopPropagation(); // the row is not selected
		setDone(await copy(source));
		setTimeout(() => setDone(false), NOTICE_MS);
	};
	return (
		<span class="line" data-source={source.slice(0, 300)}>
			{link ? (
				<a href={link} title={`opens ${name} in VS Code`} onClick={(e) => e.stopPropagation()}>
					<Path name={name} />
				</a>
			) : (
				<Path name={name} />
			)}
			<button type="button" class="copy" aria-label={`copy ${name}`} title={`copies ${name}`} onClick={onCopy}>
				{done ? (
					"\u2713"
				) : (
					<svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
						<path d="M4 3.5h6.5v8H4zM2 9H1.5V.5H8V1" fill="none" stroke="currentColor" />
					</svg>
				)}
			</button>
		</span>
	);
}
