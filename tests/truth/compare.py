#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `tpusight compare` against what was planted: compare.py TPUSIGHT DIR

The planted profiles of DIR that run the same program on the same chip differ by what was put into them alone
(NAME.json, counted while the timeline was laid): the difference of the mean step, each bucket's and its parts are
what follows from those counts; the gap that was planted is found within 1 %. A run against itself does not differ.
"""
import csv
import io
import itertools
import json
import os
import subprocess
import sys

from working import folded

GATE = "step_time_ms.mean > baseline * 1.01"


class Check:
    def __init__(self, tpusight, folder):
        self.tpusight, self.folder, self.nr, self.bad = tpusight, folder, 0, []

    def path(self, name):
        return os.path.join(self.folder, name + ".tar.gz")

    def truth(self, name):
        with open(os.path.join(self.folder, name + ".json")) as f:
            return json.load(f)

    def run(self, *args, status=0):
        run = subprocess.run([self.tpusight, "compare", *args], capture_output=True, text=True)
        self.holds(f"exit status of {args}", run.returncode, run.returncode == status)
        return run.stdout

    def compare(self, *names):
        return json.loads(self.run("--format=json", *map(self.path, names)))["compare"]

    def holds(self, what, ours, good):
        self.nr += 1
        if not good:
            self.bad.append(f"{what}: {ours}")

    def near(self, what, ours, planted, within):
        self.holds(f"{what}, planted was {planted}", ours, abs(ours - planted) <= within)


def mean_step(truth, names):
    """Picoseconds of these buckets in a step of a core."""
    steps = [sum(folded(step["buckets"])[n] for n in names) / truth["cores"] for step in truth["steps"]]
    return sum(steps) / len(steps)


def by_name(rows, key):
    return {row[key]: row for row in rows}


def check_difference(check, base, other):
    ours = check.compare(base, other)
    a, b = check.truth(base), check.truth(other)
    names = list(folded(a["buckets"]))
    where = f"{base} and {other}"
    parts = by_name(ours["difference"], "part")
    check.near(f"{where}: step", parts["all"]["run_1_change_ps"], mean_step(b, names) - mean_step(a, names), 2)
    changes = folded({row["bucket"] + "_ps": row["run_1_change_ps"] for row in ours["buckets"]})
    for name in names:
        check.near(f"{where}: {name}", changes[name], mean_step(b, [name]) - mean_step(a, [name]), 2)
    total = sum(row["run_1_change_ps"] for name, row in parts.items() if name != "all")
    check.near(f"{where}: sum of parts", total, parts["all"]["run_1_change_ps"], len(parts))
    ops = sum(row["run_1_change_ps"] for row in ours["ops"])
    named = sum(parts[p]["run_1_change_ps"] for p in ("slower", "faster", "new", "gone", "same"))
    check.near(f"{where}: sum of ops", ops, named, len(ours["ops"]) + 5)
    return ours


def check_gap(check):
    """5 ms in one of twelve steps: the median stands, the mean step is longer by a twelfth of the gap."""
    ours = check_difference(check, "clean", "slow_once")
    truth = check.truth("slow_once")
    gaps = [p["duration_ps"] for p in truth["planted"] if p["kind"] == "idle_gap"]
    planted = sum(gaps) / truth["cores"] / len(truth["steps"])
    difference = by_name(ours["difference"], "part")
    check.near("the planted gap in idle", difference["idle"]["run_1_change_ps"], planted, planted / 100)
    check.near("the planted gap in the step", difference["all"]["run_1_change_ps"], planted, planted / 100)
    check.holds("verdict", ours["runs"][1]["verdict"], ours["runs"][1]["verdict"].startswith("no clear difference"))
    check.holds("modules", ours["modules"], ours["modules"][0]["run_1_state"] == "the same program")
    check.holds("comparable", ours["comparable"], ours["comparable"] == "yes")


def rank_p(a, b):
    """Over all ways to deal the samples out: by counting, not by our recurrence."""
    def rank(x, values):
        return sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2
    both = a + b
    ranks = [rank(x, both) for x in both]
    seen = sum(ranks[len(a):])
    sums = [sum(c) for c in itertools.combinations(ranks, len(b))]
    tails = sum(s <= seen for s in sums), sum(s >= seen for s in sums)
    return min(1, 2 * min(tails) / len(sums))


def check_rank(check, base, other):
    """8 and 8 steps: 12870 ways."""
    ours = check.compare(base, other)
    steps = [[s["total_ps"] for s in report_steps(check, n)] for n in (base, other)]
    check.near(f"{base} and {other}: p", ours["runs"][1]["p_value"], rank_p(*steps), 1e-12)


def report_steps(check, name):
    run = subprocess.run([check.tpusight, "report", "--format=json", "--view=time", check.path(name)],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["time"]["per_step"]


def check_itself(check, name):
    ours = check.compare(name, name)
    check.holds("p of a run against itself", ours["runs"][1]["p_value"], ours["runs"][1]["p_value"] == 1)
    check.holds("differences", ours["differences"], not ours["differences"])
    for table in ("figures", "buckets", "difference", "ops", "modules"):
        for row in ours[table]:
            for key, value in row.items():
                if "_change" in key:
                    check.holds(f"{name} against itself: {table}: {row}", value, not value)
                if key == "run_1_state":
                    check.holds(f"{name} against itself: {table}", value, value in ("same", "the same program"))


def check_gates(check):
    check.run("--fail-if", GATE, check.path("clean"), check.path("slow_once"), status=1)
    check.run("--fail-if", GATE, check.path("clean"), check.path("clean"))
    check.run("--fail-if", "no.such.name > 1", check.path("clean"), status=1)
    text = check.run("--fail-if", GATE, "--view=gates", "--format=csv", check.path("clean"), check.path("slow_once"),
                     status=1)
    row = list(csv.DictReader(io.StringIO(text)))[0]
    mean = {n: mean_step(check.truth(n), list(folded(check.truth(n)["buckets"]))) / 1e9 for n in ("clean", "slow_once")}
    check.near("gate: value", float(row["value"]), mean["slow_once"], 1e-8)
    check.near("gate: limit", float(row["limit"]), mean["clean"] * 1.01, 1e-8)


def main(tpusight, folder):
    check = Check(tpusight, folder)
    check_gap(check)
    check_difference(check, "clean", "slow_every_fifth")
    check_difference(check, "clean", "gaps")
    check_difference(check, "collectives", "ring")
    check_rank(check, "clean", "gaps")
    check_rank(check, "waits", "clean")
    for name in ("clean", "collectives", "recompiles", "two_hosts"):
        check_itself(check, name)
    check_gates(check)
    print(f"compare: {check.nr} figures compared, {len(check.bad)} differ")
    for line in check.bad[:20]:
        print("   ", line)
    return bool(check.bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
