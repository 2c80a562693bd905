// SPDX-License-Identifier: MIT
// Colours of what is not a class of time. A page has the classes' own colours (parts.jsx) in the picture of the run, so nothing else has one of them:
// these differ from all of those, and from each other, by more than one takes for the same (tests/page/unit/colors.test.mjs).
export const OTHERS = ["#7f57cc", "#a6d854", "#ad2f66", "#b5a4e0", "#6b8e23", "#ff6f91", "#7fe5d6", "#e8b4a2", "#3a6b5e", "#b81fd6"];
