// SPDX-License-Identifier: MIT
// All colours that say what something is: no other file of the page has any (tests/page/unit/colors.test.mjs). Those of the theme, and of severities,
// are in page.css.

// Classes of time, in the order in which they are drawn. Okabe and Ito's colours, which differ for every colour vision, where they suffice. Work that is
// too long for what it needs is dark, what nothing explains is brown, launches are purple, nothing at all is grey.
/** @type {Record<string, string>} */
const CLASSES = {
	compute: "#0072b2",
	below_roofline: "#60546c",
	memory_wait: "#e69f00",
	communication: "#009e73",
	host_transfer: "#cc79a7",
	rematerialization: "#56b4e9",
	unexplained: "#8c6d4f",
	compilation: "#d55e00",
	input: "#f0e442",
	launch: "#5808d8",
	idle: "#999999",
};
export const BUCKETS = Object.keys(CLASSES);
/** @param {string} bucket */
export const bucketColor = (bucket) => CLASSES[bucket];

// What is not a class of time has none of their colours: these differ from all of those, and from each other, by more than one takes for the same.
export const OTHERS = ["#7f57cc", "#a6d854", "#ad2f66", "#b5a4e0", "#6b8e23", "#ff6f91", "#7fe5d6", "#e8b4a2", "#3a6b5e", "#b81fd6"];

// Times that other tools divide in their own way: where one of theirs is a class of ours, it has its colour.
/** @type {Record<string, string>} */
const KINDS = {
	kernel: CLASSES.compute,
	communication: CLASSES.communication,
	copy: CLASSES.memory_wait,
	launch: CLASSES.launch,
	input: CLASSES.input,
	idle: CLASSES.idle,
	runtime: OTHERS[3],
	fill: OTHERS[1],
	operator: OTHERS[5],
	queue: OTHERS[8],
	rest: OTHERS[6],
};
/** @param {string} kind */
export const kindColor = (kind) => KINDS[kind] ?? OTHERS[9];

// What an op is bound by: the class that its time then is, and in tints of the memory's what is on the chip.
/** @type {Record<string, string>} */
export const BOUNDS = { Compute: CLASSES.compute, HBM: CLASSES.memory_wait, "VMEM Read": "#a66f00", "VMEM Write": "#6e4a00", "CMEM Read": "#f3c766", "CMEM Write": "#d9b458", "Host link": CLASSES.host_transfer, Interconnect: CLASSES.communication };

// Frames of a call stack, pale enough for letters on them.
/** @type {Record<string, string>} */
export const FRAMES = { python: "#ffd58a", op: "#9ccdf2", annotation: "#d3c1ec", runtime: "#c5e1a0", kernel: "#f5ab96", module: "#a6e3cc", scope: "#f2ea9a", group: "#d9d9d9", host: "#e0cdb4" };
export const INK = { dark: "#16191d", light: "#ffffff" };

export const STEPS = ["#7b8794", "#a3adb8"]; // where one step ends and the next begins must be seen

// From dark to light in even steps of lightness (viridis), so that it can be read without colours.
const SCALE = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
/** @param {number} share 0 to 1 */
export function shade(share) {
	const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
	const i = Math.min(Math.floor(at), SCALE.length - 2);
	return `rgb(${SCALE[i].map((c, k) => Math.round(c + (SCALE[i + 1][k] - c) * (at - i))).join(",")})`;
}

const MIDDLE = 0.18; // of lightness: from here on dark letters are read better than white ones

/** By lightness as WCAG has it. @type {(hex: string) => boolean} */
function isLight(hex) {
	const [r, g, b] = [1, 3, 5].map((at) => ((parseInt(hex.slice(at, at + 2), 16) / 255 + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b > MIDDLE;
}
/** Letters on COLOR. @param {string} color */
export const inkOn = (color) => (isLight(color) ? INK.dark : INK.light);
