// SPDX-License-Identifier: MIT
// The chips of a run as a picture: a square each, side by side as on their hosts, shaded by one of their figures.
import { h } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { shade } from "./colors.js";
import { clean } from "./format.js";
import { at, cornerOf, meshOf } from "./pod.js";
import { usePage } from "./state.js";

/** @import { Chip } from "./report.d.ts" */

const INSET = 1; // pixels between chips

/** @type {(chips: Chip[]) => { name: string, chips: Chip[] }[]} */
function hostsOf(chips) {
	/** @type {Map<string, { name: string, chips: Chip[] }>} */
	const hosts = new Map();
	for (const chip of chips) {
		const host = hosts.get(chip.host) ?? { name: clean(chip.shortHost), chips: [] };
		host.chips.push(chip);
		hosts.set(chip.host, host);
	}
	return [...hosts.values()];
}

/**
 * A canvas of this size, in the page's colours.
 * @type {(canvas: HTMLCanvasElement, width: number, height: number) => { ctx: CanvasRenderingContext2D, color: (name: string) => string }}
 */
function begin(canvas, width, height) {
	const ratio = devicePixelRatio;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.height = `${height}px`;
	const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.font = "11px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
	const of = getComputedStyle(document.documentElement);
	return { ctx, color: (name) => of.getPropertyValue(name).trim() };
}

/**
 * SHARE: where a chip lies on the scale, 0 to 1; null: it has no figure, and is drawn empty. SAY: a chip in words. MARKED: chips with a frame.
 * @param {{ chips: Chip[], share: (chip: Chip) => number | null, say: (chip: Chip) => string, isMarked: (chip: Chip) => boolean, onPick: (chip: Chip) => void, label: string }} props
 */
export function Mesh({ chips, share, say, isMarked, onPick, label }) {
	const { theme } = usePage();
	const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
	const [width, setWidth] = useState(0);
	const [over, setOver] = useState(/** @type {Chip | null} */ (null));
	const hosts = useMemo(() => hostsOf(chips), [chips]);
	const mesh = useMemo(() => meshOf(hosts.map((host) => ({ name: host.name, chips: host.chips.length })), width || 300), [hosts, width]);
	useLayoutEffect(() => {
		const box = /** @type {HTMLElement} */ (canvas.current?.parentElement);
		setWidth(box.clientWidth);
		const watch = new ResizeObserver(() => setWidth(box.clientWidth));
		watch.observe(box);
		return () => watch.disconnect();
	}, []);
	useLayoutEffect(() => {
		const { ctx, color } = begin(/** @type {HTMLCanvasElement} */ (canvas.current), width, mesh.height);
		const [line, soft, text, back] = ["--line", "--soft", "--text", "--back"].map(color);
		const side = mesh.size - INSET;
		hosts.forEach((host, i) => {
			const [left, top] = cornerOf(mesh, i, 0);
			ctx.fillStyle = soft;
			if (mesh.labels) ctx.fillText(host.name, left, top - 4);
			host.chips.forEach((chip, k) => {
				const [x, y] = cornerOf(mesh, i, k);
				const at1 = share(chip);
				ctx.strokeStyle = line;
				ctx.fillStyle = at1 === null ? "transparent" : shade(at1);
				ctx.fillRect(x, y, side, side);
				ctx.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
				if (!isMarked(chip) && chip !== over) return;
				ctx.lineWidth = 2; // both frames stand inside of the cell, so that one is seen on any shade
				ctx.strokeStyle = text;
				ctx.strokeRect(x + 1, y + 1, side - 2, side - 2);
				ctx.lineWidth = 1;
				ctx.strokeStyle = back;
				ctx.strokeRect(x + 2.5, y + 2.5, side - 5, side - 5);
			});
		});
	}, [mesh, width, share, isMarked, over, theme]);
	const chipAt = (/** @type {PointerEvent | MouseEvent} */ e) => {
		const found = at(mesh, hosts.map((host) => ({ chips: host.chips.length })), e.offsetX, e.offsetY);
		return found && hosts[found[0]].chips[found[1]];
	};
	/** @param {number} by */
	const move = (by) => {
		const from = over ?? chips.find(isMarked);
		setOver(chips[Math.min(Math.max((from ? chips.indexOf(from) : -1) + by, 0), chips.length - 1)]);
	};
	const onKey = (/** @type {KeyboardEvent} */ e) => {
		/** @type {Record<string, number | undefined>} */
		const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: hosts[0]?.chips.length, ArrowUp: -hosts[0]?.chips.length, Home: -chips.length, End: chips.length };
		const by = moves[e.key];
		if (by !== undefined) {
			e.preventDefault();
			move(by);
		} else if (e.key === "Enter" && over) onPick(over);
	};
	const onClick = (/** @type {MouseEvent} */ e) => {
		const chip = chipAt(e);
		setOver(chip);
		if (chip) onPick(chip);
	};
	return (
		<div class="mesh">
			<canvas ref={canvas} role="application" aria-label={label} tabIndex={0} onPointerMove={(e) => setOver(chipAt(e))} onPointerLeave={() => setOver(null)} onClick={onClick} onKeyDown={onKey} />
			<p class="count" role="status">
				{over ? say(over) : "Point at a chip, or use the arrow keys: here stands what it is. A click chooses it."}
			</p>
		</div>
	);
}
