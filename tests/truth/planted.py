#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the report of each planted profile against what was put into it: planted.py TPUSIGHT DIR [NAME...]

Each profile of DIR (tests/data/planted) has one thing in it, put there by tests/fixtures/make_planted.py, which counted
its size while it laid the timeline (NAME.json). Buckets are equal to the picosecond, per run and per step; the findings
that must be there are, within 1 % of what was planted; and no other finding but those that NAME.json declares, with
the reason.
"""
import glob
import json
import os
import subprocess
import sys

from working import folded

TOLERANCE = 0.01

# What one thing limits each run, by the class of time it is said of (None: no single one). Worked out from what was planted: a verdict
# needs 40 % of the core time, and half of that at the peak of matrix units or HBM, or by the compiler's estimate alone.
LIMITS = {
    "collectives": "communication", "dominant_op": "below_roofline", "heads": "compute", "host_copies": "host_transfer",
    "layout_copies": None, "padding": "memory_wait", "recompiles": "compilation", "small_ops": "compute", "two_hosts": "communication",
}
BY_ESTIMATE = {"heads", "small_ops"}


def report_of(tpusight, path):
    run = subprocess.run([tpusight, "report", "--format=json", path], capture_output=True, text=True)
    if run.returncode or run.stderr:
        sys.exit(f"{path}: exit {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def is_near(ours, planted):
    if planted is None or isinstance(planted, (str, bool, list)):
        return ours == planted
    return isinstance(ours, (int, float)) and abs(ours - planted) <= TOLERANCE * abs(planted)


class Check:
    def __init__(self, report, truth):
        self.report, self.truth, self.bad, self.nr = report, truth, [], 0

    def same(self, what, ours, planted, holds):
        self.nr += 1
        if not holds:
            self.bad.append(f"{what} is {ours}, put in was {planted}")

    def exact(self, what, ours, planted):
        self.same(what, ours, planted, ours == planted)

    def near(self, what, ours, planted):
        self.same(what, ours, planted, is_near(ours, planted))

    def time(self):
        time = self.report["time"]
        for name in ("total_ps", "wall_ps", "cores", "compilation_count"):
            self.exact(name, time[name], self.truth[name])
        self.exact("compilation_host_ps", time["compilation_host_ps"], self.truth["compilation_ps"])
        for name, ps in folded(self.truth["buckets"]).items():
            self.exact(name, folded(time["buckets"])[name], ps)
        self.exact("steps", [s["step"] for s in time["per_step"]], [s["number"] for s in self.truth["steps"]])
        for ours, planted in zip(time["per_step"], self.truth["steps"]):
            for name, ps in folded(planted["buckets"]).items():
                self.exact(f"step {planted['number']}: {name}", folded(ours)[name], ps)

    def verdict(self, name):
        """What is known, and no more: the classes that the ops below do not fill are never named."""
        time, limit = self.report["time"], LIMITS.get(name, "compute")
        self.exact("bottleneck_bucket", time["bottleneck_bucket"], limit)
        for bucket, origin in (("compute", "modelled"), ("memory_wait", "modelled"), ("below_roofline", "modelled"),
                               ("unexplained", "modelled"), ("launch", "measured"), ("idle", "measured")):
            self.exact(f"origin of {bucket}", time["provenance"][f"buckets.{bucket}_ps"], origin)
        says = "estimate" in time["bottleneck"]
        self.exact("the compiler's estimate is named", says, name in BY_ESTIMATE)
        if limit in (None, "unexplained"):
            is_open = time["bottleneck"].startswith(("Nothing dominates: ", "No limit is known: "))
            self.same("bottleneck", time["bottleneck"], "no limit", is_open)

    def findings(self):
        found = self.report["doctor"]["findings"]
        told = set(self.truth["also"])
        for planted in self.truth["findings"]:
            told.add(planted["rule"])
            ours = [f for f in found if f["rule"] == planted["rule"]]
            merged = [m for f in found for m in f["merged"] if m["rule"] == planted["rule"]]
            self.exact(f"findings of {planted['rule']}", len(ours + merged), 1)
            if ours:
                self.finding(ours[0], planted)
            elif merged and planted["impact_ps"] is not None:
                self.near(f"{planted['rule']}: impact", merged[0]["impact_ps"], planted["impact_ps"])
        self.gains(found)
        for f in found:
            self.same(f["id"], f["title"], "no such thing", f["rule"] in told)

    def gains(self, found):
        """Time of the run: each at most its impact, all together at most the run."""
        gains = [f["gain_ps"] for f in found if f["gain_ps"] is not None]
        self.same("gains", sum(gains), "at most the run", sum(gains) <= self.truth["wall_ps"])
        for f in found:
            impact = f["impact_ps"]
            self.same(f["id"], f["gain_ps"], "at most its impact",
                      impact is None or 0 <= f["gain_ps"] <= impact)  # no core ends earlier by more than is taken

    def finding(self, ours, planted):
        if planted["impact_ps"] is not None:
            self.near(f"{planted['rule']}: impact", ours["impact_ps"], planted["impact_ps"])
        told = [[r["device"], r["start_ps"], r["end_ps"]] for r in ours["time_ranges"]]
        for when in planted.get("when", ()):
            self.same(f"{planted['rule']}: when", told, when, when in told)
        if "op" in planted:
            ops = [w["op"] for w in ours["where"]]
            self.same(f"{planted['rule']}: where", ops, planted["op"], planted["op"] in ops)

    def at(self, path):
        value = self.report
        for part in path.split("."):
            value = value[part]
        return value

    def compilations(self):
        """Each with the program it made; cores that wait for one wait for as long as it takes, here."""
        cache = self.report["cache"]
        planted = sorted((p for p in self.truth["planted"] if p["kind"] == "compilation"), key=lambda p: p["start_ps"])
        ours = sorted(cache["compilations"], key=lambda c: c["start_ps"])
        self.exact("compilations", cache["compilation_count"], len(planted))
        self.exact("waits of all compilations", cache["wait_attributed_ps"], self.truth["buckets"]["compilation_ps"])
        for c, p in zip(ours, planted):
            for name in ("module", "program_id", "start_ps", "duration_ps"):
                self.exact(f"compilation: {name}", c[name], p[name])

    def tables(self):
        for planted in self.truth["tables"]:
            if "field" in planted:
                self.near(planted["field"], self.at(planted["field"]), planted["expect"])
                continue
            rows = self.at(planted["table"])
            rows = [r for r in rows if all(r[k] == v for k, v in planted["key"].items())]
            where = f"{planted['table']}: {planted['key']}"
            self.exact(f"{where}: rows", len(rows), 1)
            for name, value in planted["expect"].items() if rows else ():
                self.near(f"{where}: {name}", rows[0][name], value)


def check(tpusight, truth_path):
    base = truth_path[:-len(".json")]
    with open(truth_path) as f:
        truth = json.load(f)
    checks = Check(report_of(tpusight, base + ".tar.gz"), truth)
    checks.time()
    checks.verdict(truth["scenario"])
    checks.findings()
    checks.compilations()
    checks.tables()
    rules = ", ".join(f["rule"] for f in truth["findings"]) or "nothing"
    print(f"{os.path.basename(base)}: {rules}: {checks.nr} figures compared, {len(checks.bad)} differ")
    for line in checks.bad[:20]:
        print("   ", line)
    return bool(checks.bad)


def main(tpusight, folder, *names):
    paths = [os.path.join(folder, n + ".json") for n in names] or sorted(glob.glob(os.path.join(folder, "*.json")))
    if not paths:
        sys.exit(f"{folder}: no planted profiles")
    bad = [check(tpusight, path) for path in paths]
    return any(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
