// SPDX-License-Identifier: MIT
// A header of C, as the build reads it (units.mjs): src/base/units_list.h says what the columns are.
declare module "*/units_list.h" {
	export interface Unit {
		ending: string;
		kind: string;
		unit: string;
		label: string;
		said: boolean;
	}
	export const UNITS: Unit[];
}
// The glossary, as the build reads it (glossary.mjs).
declare module "*/glossary.md" {
	export interface Word {
		title: string;
		names: [name: string, own: string][];
		text: string;
		formula: string;
		page: string;
	}
	export const GLOSSARY: Word[];
}
