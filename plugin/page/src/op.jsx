// SPDX-License-Identifier: MIT
// An op by its name, wherever one is named: a click shows all that is known of it (drawer.jsx).
import { h } from "preact";
import { clean } from "./format.js";
import { Middle } from "./middle.jsx";
import { hintOf, opKey, rowOf } from "./opdata.js";
import { usePage } from "./state.js";

/** @import { OpName } from "./report.d.ts" */

/**
 * SAYS: with what a person wrote behind it, the framework's name and the source.
 * @param {{ of: OpName, says?: boolean }} props
 */
export function Op({ of, says }) {
	const { report, setLook } = usePage();
	const row = rowOf(report, of);
	const hint = clean(hintOf(row));
	const name = <Middle text={clean(of.name)} />;
	if (!row) return name;
	return (
		<span class="op">
			<button type="button" class="link" title={[clean(of.name), hint].filter(Boolean).join("\n")} onClick={(e) => { e.stopPropagation(); setLook({ op: opKey(of) }); }}>
				{name}
			</button>
			{says && hint && <span class="count">{` ${hint}`}</span>}
		</span>
	);
}
