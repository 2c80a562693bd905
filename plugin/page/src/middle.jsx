// SPDX-License-Identifier: MIT
// A long name: where it has no room, its middle is left out, because names of one family differ at their ends.
import { Fragment, h } from "preact";
import { cut } from "./format.js";

const LONG = 36; // letters; what is shorter has room
const END = 14; // of them stay (wide.css keeps the room)
const MOST = 300; // nobody sees more

/** A sentence is read from its beginning. @param {string} text */
const isSentence = (text) => (text.slice(0, MOST).match(/(^| )[a-z]{2,}(?= )/gi) ?? []).length > 3;

/** @param {{ text: string }} props */
export function Middle({ text }) {
	if (text.length <= LONG || isSentence(text)) return cut(text, MOST);
	return (
		<Fragment>
			<span class="head">{text.length - END > MOST ? `${text.slice(0, MOST)}\u2026` : text.slice(0, -END)}</span>
			<span class="tail">{text.slice(-END)}</span>
		</Fragment>
	);
}
