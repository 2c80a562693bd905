#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Offload to SparseCores, planted: sparsecore.py TPUSIGHT

Makes a profile of two TensorCores with two SparseCores each and holds our report against what was put in. Simulated: no
profile with SparseCores is public, so planes, lines and stats are those that XProf's readers ask for. A look-up is
waited for 300 us where HBM's peak would take 100 us; an other one, as large, runs behind a product. The first must be
found, with its loss, by each way to link the two sides: the mark, the compiler's word, the clock. The other must not.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from wire import Plane, space

US = 1_000_000
TICK_PS = 1250
STEPS, CORES, SPARSE_CORES, PROGRAM = 40, 2, 2, 77
HBM = 1640e9  # v6e
BYTES = int(100e-6 * HBM)
WORD = ', async_execution_thread="sparsecore"'
START = {"waited": 0x8F30A352, "hidden": 0x11C0FFEE}
TOLERANCE = 0.01


def tick(ps):
    return int(ps) // TICK_PS * TICK_PS


class Core:
    """A TensorCore's line and those of its SparseCores, laid event by event; what was waited is counted on the way."""

    def __init__(self, number, rng, marks, named):
        self.rng, self.marks, self.now = rng, marks, 50 * US
        self.waited = 0
        word = WORD if named else ""
        self.plane = Plane(f"/device:TPU:{number}", number + 1)
        self.plane.add_stats({"device_type_string": ("str", "TPU v6 lite"), "peak_teraflops_per_second": ("double", 918),
                              "peak_hbm_bw_gigabytes_per_second": ("double", HBM / 1e9)})
        self._op(1, "fusion.1", "convolution fusion", "%fusion.1 = bf16[8]", flops=4 * 10**11)
        for id, name in ((2, "waited"), (4, "hidden")):
            self._op(id, f"{name}-start.1", "async-start",
                     f"%{name}-start.1 = ((f32[8]), f32[8]) call-start(%p.{id}){word}", bytes_accessed=BYTES)
            self._op(id + 1, f"{name}-done.1", "async-done", f"%{name}-done.1 = f32[8] call-done(%{name}-start.1)")
        self.events, self.work = [], [([], []) for _ in range(SPARSE_CORES)]
        self.sparse = [Plane(f"/device:TPU:{number} SparseCore {i}", 100 + SPARSE_CORES * number + i)
                       for i in range(SPARSE_CORES)]

    def _op(self, id, name, category, text, **costs):
        stats = {"hlo_category": ("str", category), "program_id": ("uint", PROGRAM), "symbol_id": ("uint", id)}
        stats.update({key: ("int", value) for key, value in costs.items()})
        self.plane.event_metadata(id, text, name, stats)

    def _run(self, id, ps, mark=None):
        stats = self._mark(mark)
        self.events.append(self.plane.event(id, self.now, tick(ps), stats))
        self.now += tick(ps)
        return tick(ps)

    def _mark(self, mark):
        if not mark or not self.marks:
            return {}
        return {"tc_offload_start_id": ("int", START[mark]), "offload_core_id": ("int", 0)}

    def _work(self, mark, start, ps):
        """All SparseCores of the chip share it."""
        for plane, (modules, ops) in zip(self.sparse, self.work):
            modules.append(plane.event(1, tick(start), tick(ps), self._mark(mark)))
            ops.append(plane.event(2, tick(start) + 2 * TICK_PS, tick(ps) - 4 * TICK_PS))

    def step(self):
        ps = self.rng.uniform(290, 310) * US
        begin = self.now
        wait = self._run(2, TICK_PS, "waited")
        self._work("waited", begin, ps)
        wait += self._run(3, ps)
        self.waited += wait
        begin = self.now
        self._run(4, TICK_PS, "hidden")
        self._run(1, self.rng.uniform(480, 520) * US)
        self._work("hidden", begin, 450 * US)
        self._run(5, TICK_PS)
        self.now += tick(5 * US)

    def planes(self):
        self.plane.line(1, "XLA Ops", self.events)
        for plane, (modules, ops) in zip(self.sparse, self.work):
            plane.event_metadata(1, "offloaded(77)")
            plane.event_metadata(2, "%gather.9 = f32[8] gather(%t)", "gather.9", {
                "hlo_category": ("str", "gather"), "program_id": ("uint", PROGRAM + 1), "symbol_id": ("uint", 9)})
            plane.line(1, "Sparse Core Modules", modules)
            plane.line(2, "Sparse Core Ops", ops)
        return [self.plane, *self.sparse]


def profile(marks, named):
    rng = random.Random(11)
    cores = [Core(i, rng, marks, named) for i in range(CORES)]
    for _ in range(STEPS):
        for core in cores:
            core.step()
    waited = sum(core.waited for core in cores)
    return space([plane for core in cores for plane in core.planes()], ["simulated-host"]), waited


def report_of(tpusight, data):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "simulated-host.xplane.pb")
        with open(path, "wb") as f:
            f.write(data)
        run = subprocess.run([tpusight, "report", "--format=json", path], capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit(f"exit {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def near(what, ours, planted):
    if not isinstance(ours, (int, float)) or abs(ours - planted) > TOLERANCE * abs(planted):
        sys.exit(f"{what} is {ours}, put in was {planted}")


def same(what, ours, planted):
    if ours != planted:
        sys.exit(f"{what} is {ours}, put in was {planted}")


def check(tpusight, linked_by, marks, named):
    data, waited = profile(marks, named)
    report = report_of(tpusight, data)
    loss = waited - CORES * STEPS * 100 * US
    rows = {row["op"]: row for row in report["sparsecore"]["offloads"]}
    found = [f for f in report["doctor"]["findings"] if f["rule"] == "sparsecore_offload"]
    row = rows["waited-start.1"]
    same("linked by", row["linked_by"], linked_by)
    same("executions", row["executions"], CORES * STEPS)
    near("exposed wait", row["exposed_wait_ps"], waited)
    near("estimate", row["tensorcore_estimate_ps"], CORES * STEPS * 100 * US)
    near("loss", row["loss_ps"], loss)
    if "hidden-start.1" in rows:
        same("loss of what is hidden", rows["hidden-start.1"]["loss_ps"], 0)
    same("findings", len(found), 1)
    near("impact", found[0]["impact_ps"], loss)
    same("where", [where["op"] for where in found[0]["where"]], ["waited-done.1"])
    same("cores", report["time"]["cores"], CORES)
    same("SparseCores", len(report["sparsecore"]["cores"]), CORES * SPARSE_CORES)
    print(f"{linked_by}: loss {row['loss_ps'] / 1e9:.4f} ms, put in {loss / 1e9:.4f} ms")


def main():
    check(sys.argv[1], "stats", True, False)
    check(sys.argv[1], "hlo", False, True)
    check(sys.argv[1], "overlap", False, False)


if __name__ == "__main__":
    main()
