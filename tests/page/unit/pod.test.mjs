// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, near } from "./page.mjs";

const { arrivalsOf, at, chipsOf, cornerOf, deviceName, latest, measuresOf, meshOf, plain, scaleOf, shortNames } = await load("pod.js");

const core = (id, host, compute_ps) => ({ device_id: id, host, compute_ps, memory_wait_ps: 10, communication_ps: 5, duty_cycle_pct: 90 + id });
const REPORT = {
	run: { hosts: [{ name: "pod-w-0.zone" }, { name: "pod-w-1.zone" }], devices: [0, 1, 2, 3].map((id) => ({ id, host: `pod-w-${id >> 1}.zone`, name: `/device:TPU:${id % 2}`, hbm_bytes: 100 })) },
	overview: { step_count: 10 },
	time: { per_core: [core(0, "a", 100), core(1, "a", 100), core(2, "b", 100), core(3, "b", 200)] },
	collective_cores: [0, 1, 2, 3].map((id) => ({ device_id: id, matched_count: 4, last_pct: id === 3 ? 100 : 0, excess_ps: id === 3 ? 60 : 0, waited_ps: id === 3 ? 0 : 40 * (id + 1) })),
	systolic: { devices: [{ host: "pod-w-1.zone", device: "/device:TPU:1", mxu_utilization_pct: 33 }] },
	allocators: { allocators: [{ host: "pod-w-0.zone", device: "/device:TPU:0", peak_bytes: 20, capacity_bytes: 80 }, { host: "pod-w-0.zone", device: "/device:TPU:1", peak_bytes: 20 }] },
};

test("hosts are called by what tells them apart, and never alike", () => {
	const short = (...names) => [...shortNames(names).values()];
	assert.deepEqual(short("t1v-n-w-0.zone.internal", "t1v-n-w-1.zone.internal"), ["w-0", "w-1"]);
	assert.deepEqual(short("a", "b"), ["a", "b"]);
	assert.deepEqual(short("host", "host-1"), ["host", "host-1"]);
	assert.deepEqual(short("one"), ["one"]);
	assert.deepEqual(short("x-1", "x-1"), ["x-1"]);
	assert.deepEqual(short("a-1-z", "b-1-z", "a-2-z"), ["a-1", "b-1", "a-2"]);
	const many = Array.from({ length: 300 }, (_, i) => `pod-${i % 3}-worker-${i}`);
	assert.equal(new Set(short(...many)).size, 300);
	assert.equal(plain("/device:TPU:3"), "TPU:3");
});

test("a chip has the figures of its own core, on its own host", () => {
	const chips = chipsOf(REPORT);
	assert.deepEqual(chips.map((c) => c.name), ["w-0 TPU:0", "w-0 TPU:1", "w-1 TPU:0", "w-1 TPU:1"]);
	assert.deepEqual(chips.map((c) => c.work_ps), [11, 11, 11, 21]);
	assert.deepEqual(chips.map((c) => c.mxu_utilization_pct), [null, null, null, 33]);
	assert.deepEqual(chips.map((c) => c.memory_pct), [25, 20, null, null]);
	assert.deepEqual(measuresOf(chips).map((m) => m.key), ["work_ps", "waited_ps", "communication_ps", "duty_cycle_pct", "mxu_utilization_pct", "memory_pct"]);
	assert.deepEqual(chipsOf({}), []);
	assert.equal(chipsOf({ ...REPORT, overview: {} })[0].work_ps, null);
});

test("a share is on 0 to 100, other scales go from the least to the most, and what is alike has no colours", () => {
	const chips = chipsOf(REPORT);
	const of = (key) => scaleOf(chips, measuresOf(chips).find((m) => m.key === key));
	assert.deepEqual([of("duty_cycle_pct").low, of("duty_cycle_pct").high], [0, 100]);
	assert.deepEqual([of("work_ps").low, of("work_ps").high, of("work_ps").alike], [11, 21, false]);
	assert.equal(of("work_ps").most.name, "w-1 TPU:1");
	assert.deepEqual([of("communication_ps").low, of("communication_ps").high, of("communication_ps").alike], [0, 5, true]);
	assert.deepEqual(scaleOf([], { key: "work_ps" }).least, undefined);
});

test("every chip has a place of its own that is found again, and hosts have names where there is room", () => {
	for (const [count, chips, width] of [[2, 4, 1200], [64, 4, 370], [256, 4, 1248], [256, 8, 370], [2048, 4, 1248], [3, 16, 1000]]) {
		const hosts = Array.from({ length: count }, (_, i) => ({ name: `w-${i}`, chips }));
		const mesh = meshOf(hosts, width);
		assert.ok(mesh.across * mesh.wide <= Math.max(width, mesh.wide), `${count} hosts are wider than ${width}`);
		for (const i of [0, 1, count - 1])
			for (let k = 0; k < chips; k++) {
				const [x, y] = cornerOf(mesh, i, k);
				assert.deepEqual(at(mesh, hosts, x + 1, y + 1), [i, k]);
				assert.ok(y + mesh.size <= mesh.height);
			}
	}
	const mesh = meshOf([{ name: "a", chips: 2 }], 500);
	assert.equal(at(mesh, [{ chips: 2 }], 2 * mesh.size + 1, mesh.height - 12), null);
	assert.equal(at(mesh, [{ chips: 2 }], 490, 5), null);
	assert.ok(meshOf(Array.from({ length: 256 }, (_, i) => ({ name: `w-${i}`, chips: 4 })), 1248).labels);
});

test("who waits least comes last", () => {
	const hosts = arrivalsOf(chipsOf(REPORT));
	assert.deepEqual(hosts.map((h) => h.name), ["w-1", "w-0"]);
	assert.ok(near(hosts[0].early, 0) && near(hosts[1].early, 10));
	assert.deepEqual(hosts[1].chips.map((c) => c.early), [10, 20]);
	assert.equal(latest(chipsOf(REPORT)).name, "w-1 TPU:1");
	assert.equal(latest(chipsOf({ ...REPORT, collective_cores: [] })), null);
	assert.deepEqual(arrivalsOf(chipsOf({ ...REPORT, collective_cores: [{ device_id: 0, matched_count: 0, waited_ps: null }] })), []);
});

test("a device has its host in its name where there are several", () => {
	assert.equal(deviceName(REPORT, 2), "w-1 TPU:0");
	assert.equal(deviceName(REPORT, 9), "device 9");
	assert.equal(deviceName({ run: { hosts: [{ name: "h" }], devices: [{ id: 0, host: "h", name: "/device:TPU:0" }] } }, 0), "/device:TPU:0");
});
