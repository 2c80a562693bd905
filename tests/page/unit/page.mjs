// SPDX-License-Identifier: MIT
// The page's sources as modules, and as much of a browser as they look at when they are loaded.
const SRC = new URL("../../../plugin/page/src/", import.meta.url);

export const body = { dataset: {} };
globalThis.document ??= { body, getElementById: () => null };
globalThis.location ??= { hash: "" };
export const put = []; // into the address: [its kind, the address]
const putting = (kind) => (_state, _title, hash) => {
	put.push([kind, hash]);
	location.hash = hash;
};
globalThis.history ??= { state: null, replaceState: putting("replaced"), pushState: putting("pushed") };
globalThis.self ??= globalThis;

export const load = (name) => import(new URL(name, SRC).href);
export const near = (a, b) => Math.abs(a - b) < 1e-9;
