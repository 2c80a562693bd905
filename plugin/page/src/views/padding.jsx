// SPDX-License-Identifier: MIT
// What tiles add to arrays: how an array is stored, what of that is used, and what it costs.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { bytes, clean, cut } from "../format.js";
import { byShape, storedOf } from "../layout.js";
import { useChoice, usePage } from "../state.js";
import { Plane } from "../stored.jsx";
import { Counter } from "../tracks.jsx";
import { Generic } from "./generic.jsx";

/** @import { StoredArray } from "../report.d.ts" */

const SHAPES = 12; // drawn; the table has all arrays
const NAMES = 3;

/** @type {(array: StoredArray) => number} */
const waste = (array) => array.allocated - array.logical;

// An array's innermost plane, in its tiles, and which arrays these are.
/** @param {{ array: StoredArray }} props */
function Tile({ array }) {
	if (!storedOf(array.shape)) return <p class="empty">This shape has no tile, so how it is stored cannot be drawn.</p>;
	return (
		<Plane shape={array.shape}>
			<p class="count">{`Stored ${bytes(array.allocated / array.count)}, used ${bytes(array.logical / array.count)}${array.count > 1 ? `, by each of ${array.count} arrays` : ""}: ${array.names.slice(0, NAMES).map((n) => cut(clean(n.name), 60)).join(", ")}${array.names.length > NAMES ? " and others" : ""}`}</p>
		</Plane>
	);
}

function Stored() {
	const { report } = usePage();
	const all = useMemo(() => byShape(/** @type {any} */ (report.padding)?.arrays), [report]);
	const [chosen, setChosen] = useChoice("padding.shape", "");
	if (!all.length || waste(all[0]) <= 0) return null;
	const array = all.find((a) => a.shape === chosen) ?? all[0];
	const most = all.slice(0, SHAPES).reduce((m, a) => Math.max(m, a.allocated), 1);
	return (
		<section aria-label="stored against used">
			<h3>Stored against used</h3>
			<p class="count">Arrays of one shape stand together, those that waste most first. The bar is what is stored: the filled part is used, the hatched rest is padding. A click draws the tiles.</p>
			<ul class="bars">
				{all.slice(0, SHAPES).filter((a) => waste(a) > 0).map((a) => (
					<li key={a.shape}>
						<span class="name">
							<button type="button" class="link" aria-pressed={a === array} title={clean(a.shape)} onClick={() => setChosen(a.shape)}>
								{`${clean(a.shape.replace(/\{.*/, ""))}${a.count > 1 ? ` × ${a.count}` : ""}`}
							</button>
						</span>
						<span class="track">
							<span class="length hatched" style={{ left: 0, width: `${(100 * a.allocated) / most}%` }} />
							<span class="length used" style={{ left: 0, width: `${(100 * a.logical) / most}%` }} />
						</span>
						<span class="number">{`${bytes(waste(a))} lost`}</span>
					</li>
				))}
			</ul>
			<h3>
				<code>{clean(array.shape)}</code>
			</h3>
			<Tile array={array} />
		</section>
	);
}

export function Padding() {
	return (
		<Generic
			name="padding"
			first={{
				ops: ["op", "waste_ps", "predicted_gain_ps", "waste_bytes_pct", "waste_flops_pct", "suggestion", "self_time_ps", "module"],
				arrays: ["name", "shape", "waste_pct", "logical_bytes", "allocated_bytes", "time_ps", "uses", "role", "module"],
			}}
			sort={{ ops: { column: "waste_ps", down: true }, arrays: { column: "time_ps", down: true } }}
			names={["ops", "arrays"]}
			empty={{ ops: "No op spends time on padding.", arrays: "No array's layout is known: the profile has no compiled module." }}
		>
			<Stored />
			<Counter name="Padding waste (%)" />
		</Generic>
	);
}
