// SPDX-License-Identifier: MIT
// One search over all that a report names; key "/" leads to it.
import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clean, cut } from "./format.js";
import { findable, search } from "./search.js";
import { usePage } from "./state.js";

/** @import { Hit, PageView } from "./report.d.ts" */

/** @param {{ views: PageView[] }} props */
export function Search({ views }) {
	const { report, setLook, choices } = usePage();
	const input = useRef(/** @type {HTMLInputElement | null} */ (null));
	const [word, setWord] = useState("");
	const [at, setAt] = useState(0);
	const all = useMemo(() => (report ? findable(report, views) : []), [report, views]);
	const hits = useMemo(() => search(all, word), [all, word]);
	useEffect(() => {
		const onKey = (/** @type {KeyboardEvent} */ e) => {
			if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || (e.target instanceof Element && /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName))) return;
			e.preventDefault();
			input.current?.focus();
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, []);
	/** @param {Hit | undefined} hit */
	const go = (hit) => {
		if (!hit) return;
		setWord("");
		for (const [key, text] of Object.entries(hit.choices ?? {})) choices.set(key, text);
		setLook(hit.change);
	};
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		/** @type {Record<string, () => void>} */
		const keys = { ArrowDown: () => setAt(Math.min(at + 1, hits.length - 1)), ArrowUp: () => setAt(Math.max(at - 1, 0)), Enter: () => go(hits[at]), Escape: () => setWord("") };
		if (!keys[e.key]) return;
		e.preventDefault();
		keys[e.key]();
	};
	if (!report) return null;
	const isOpen = word.trim() !== "";
	return (
		<span class="search">
			<input
				ref={input}
				type="text"
				role="combobox"
				placeholder="search  /"
				aria-label="search ops, modules, sources and findings"
				aria-expanded={isOpen}
				aria-controls="hits"
				aria-activedescendant={isOpen && hits.length ? `hit-${at}` : undefined}
				aria-autocomplete="list"
				autocomplete="off"
				value={word}
				onInput={(e) => { setWord(e.currentTarget.value); setAt(0); }}
				onKeyDown={onKey}
			/>
			<ul id="hits" role="listbox" aria-label="what was found" hidden={!isOpen || !hits.length}>
				{hits.map((hit, i) => (
					<li key={i} id={`hit-${i}`} role="option" aria-selected={i === at} onMouseDown={(e) => { e.preventDefault(); go(hit); }}>
						<span class="kind">{hit.kind}</span> {cut(clean(hit.name), 120)} <span class="count">{cut(clean(hit.hint), 120)}</span>
					</li>
				))}
			</ul>
			{isOpen && !hits.length && <span role="status" class="count">nothing has this name</span>}
		</span>
	);
}
