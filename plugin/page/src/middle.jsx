// A long name: where it has no room, its middle is left out, because names of one family differ at their ends.
import { Fragment, h } from "preact";

const LONG = 36; // letters; what is shorter has room
const END = 14; // of them stay (page.css keeps the room)

/** A sentence is read from its beginning. @param {string} text */
const isSentence = (text) => (text.match(/(^| )[a-z]{2,}(?= )/gi) ?? []).length > 3;

/** @param {{ text: string }} props */
export function Middle({ text }) {
	if (text.length <= LONG || isSentence(text)) return text;
	return (
		<Fragment>
			<span class="head">{text.slice(0, -END)}</span>
			<span class="tail">{text.slice(-END)}</span>
		</Fragment>
	);
}
