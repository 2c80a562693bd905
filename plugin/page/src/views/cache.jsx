// SPDX-License-Identifier: MIT
// What was compiled while the profile was taken.
import { h } from "preact";
import { usePage } from "../state.js";
import { Rows } from "../tracks.jsx";
import { Generic } from "./generic.jsx";

export function Cache() {
	const isKnown = typeof usePage().report.cache?.compilation_count === "number";
	return (
		<Generic
			name="cache"
			what="compilations"
			sort={{ compilations: { column: "duration_ps", down: true } }}
			empty={{
				compilations: isKnown ? "Nothing was compiled while the profile was taken." : "The profile has no event of a host thread: what was compiled is unknown.",
				functions: "The profile has no call of a compiled function.",
				families: "No function ran as several compiled programs.",
			}}
		>
			<Rows name="Host compiles" host />
		</Generic>
	);
}
