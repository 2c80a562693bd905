// SPDX-License-Identifier: MIT
// How an array is stored, as a picture: its two innermost dimensions in the tiles of its layout, as far as they are used.
import { h } from "preact";
import { useMemo } from "preact/hooks";
import { Filled } from "./array.jsx";
import { percent } from "./format.js";
import { storedOf } from "./layout.js";

/** @import { ComponentChildren } from "preact" */
/** @import { StoredSide } from "./report.d.ts" */

/** @param {StoredSide} side */
const sideText = ({ size, stored }) => `${size.toLocaleString("en-US")}${size === stored ? "" : ` of ${stored.toLocaleString("en-US")}`}`;
/** @type {(side: StoredSide, what: string) => string} */
const along = ({ dimension, tile }, what) => `${dimension === null ? "no dimension" : `dimension ${dimension}`} in ${what} of ${tile}`;

/**
 * Nothing, where the shape has no tile.
 * @param {{ shape: string, children?: ComponentChildren }} props
 */
export function Plane({ shape, children }) {
	const stored = useMemo(() => storedOf(shape), [shape]);
	if (!stored) return null;
	const { columns, rows, planes } = stored;
	const used = (columns.size * rows.size) / (columns.stored * rows.stored);
	return (
		<div class="tiles">
			<figure>
				<Filled wide={columns.stored} high={rows.stored} usedWide={columns.size} usedHigh={rows.size} across={columns.stored / columns.tile} down={rows.stored / rows.tile} top={sideText(columns)} left={sideText(rows)} label={`stored are ${rows.stored} by ${columns.stored}, of which ${rows.size} by ${columns.size} are used`} />
				<figcaption>{`Tiles of ${rows.tile} × ${columns.tile}: ${along(columns, "columns")}, ${along(rows, "rows")}`}</figcaption>
			</figure>
			<p class="count">{`${planes > 1 ? `${planes.toLocaleString("en-US")} such planes. ` : ""}${used < 1 ? `${percent(100 * used)} of what is stored is used; the hatched rest is padding.` : "All that is stored is used."}`}</p>
			{children}
		</div>
	);
}
