#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds roofline[] and roofline_ridges[] of a report against XProf's roofline_model of the same profile.

roofline.py REPORT.json ROOFLINE_MODEL.json: the same rows (the whole program and its ops), and each figure to
1e-6. XProf says 0 for unknown: where it does, ours may be null. Truth: ../shared/corpus/truth, of xprof 2.24.2.

Where the peaks are not the same (GPU: XProf takes the boost clock and, on AMD, half the memory's rate), what
follows from a peak is compared after XProf's figure was put in terms of ours. Its HBM bytes of a GPU's custom
call leave out tuples (docs/analyses/cost-model.md, exception 7): what rests on them is not compared. Its rates of
asynchronous ops are over the moment of the start, 895 PB/s; ours are over the time under way: their times alone are compared.
It bounds transfers and waits by HBM, or nothing: ours are bound by their link (docs/analyses/xprof.md).
"""
import json
import sys
from collections import Counter

from executions import once

GIB = 1024.0 ** 3
PS_PER_US = 1e6

# ours -> theirs, and how many of ours one of theirs is
PLAIN = [
    ("occurrences", "occurrences", 1), ("total_time_ps", "total_time", PS_PER_US),
    ("self_time_ps", "total_self_time", PS_PER_US), ("time_pct", "total_time_in_percentage", 100),
    ("self_time_pct", "total_self_time_percent", 100), ("flops_per_s", "measured_flop_rate", 1e9),
    ("model_flops_per_s", "model_flop_rate", 1e9), ("bytes_per_s", "measured_memory_bw", GIB),
    ("operational_intensity", "operational_intensity", 1),
    ("cmem_read_bytes_per_s", "cmem_read_bw", GIB), ("cmem_write_bytes_per_s", "cmem_write_bw", GIB),
    ("vmem_read_bytes_per_s", "vmem_read_bw", GIB), ("vmem_write_bytes_per_s", "vmem_write_bw", GIB),
]
HBM = [("hbm_bytes_per_s", "hbm_bw", GIB), ("hbm_operational_intensity", "hbm_operational_intensity", 1)]
BY_PEAK = [("bottleneck_operational_intensity", "bottleneck_operational_intensity", 1),
           ("optimal_flops_per_s", "optimal_flop_rate", 1e9),
           ("roofline_efficiency_pct", "roofline_efficiency", 100),
           ("memory_utilization_pct", "max_mem_bw_utilization", 100)]
TIMES = PLAIN[:5]
ASYNC = ("-start", "-done")
LINKS = [("Interconnect", ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-", "ragged-all-to-all", "send", "recv")),
         ("Host link", ("infeed", "outfeed"))]  # and copies with the host, which are asynchronous
RIDGES = {"HBM": "hbm", "CMEM read": "cmem_read", "CMEM write": "cmem_write", "VMEM read": "vmem_read",
          "VMEM write": "vmem_write"}


def holds(ours, theirs, tolerance=1e-6):
    if ours is None:
        return theirs == 0
    return abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs), 1e-12)


def xprof_rows(table):
    names = [c["id"] for c in table["cols"]]
    rows = [dict(zip(names, [c["v"] for c in r["c"]])) for r in table["rows"]]
    rows = [r for r in rows if r["step"] == "Total" and r["include_infeed_outfeed"]]
    return {("" if r["operation"] == "Program" else r["hlo_module_id"], r["operation"]): r for r in rows}


def bound_of(theirs):
    """XProf's, but for ops that are transfers."""
    return next((link for link, words in LINKS if theirs["category"].startswith(words)), theirs["bound_by"])


RATES = ("measured_flop_rate", "model_flop_rate", "measured_memory_bw", "compute_efficiency")


def count_once(rows, shares):
    """Takes out of XProf's rows what ops of several kernels did but once: of the op, and of the program that has it."""
    program = next(r for r in rows.values() if r["operation"] == "Program")
    for row in rows.values():
        share = shares.get(row["operation"], 1)
        if row is program or share == 1:
            continue
        for rate in RATES:
            program[rate] -= (1 - share) * row[rate] * row["total_time"] / program["total_time"]
            row[rate] *= share
        row["occurrences"] *= share
        program["operational_intensity"] = program["measured_flop_rate"] * 1e9 / (program["measured_memory_bw"] * GIB)


class Comparison:
    def __init__(self, ours, theirs):
        self.nr, self.bad = 0, []
        self.peaks = theirs["p"]
        self.several_hosts = len(ours["run"]["hosts"]) > 1
        self.gpu = "GPU" in self.peaks["device_type"]
        self.most_wait_for = self.link_of_most(ours["roofline"])
        self.hbm = next(r for r in ours["roofline_ridges"] if r["memory"] == "HBM")
        self.same_peaks = (holds(self.hbm["peak_flops_per_s"], float(self.peaks["peak_flop_rate"]) * 1e9, 1e-5) and
                           holds(self.hbm["bytes_per_s"], float(self.peaks["peak_hbm_bw"]) * GIB, 1e-5))

    @staticmethod
    def link_of_most(rows):
        """What most of the ops' time waits for, if it is a link: a program is bound by that."""
        times = Counter()
        for row in rows:
            times[row["bound_by"]] += row["self_time_ps"] if row["kind"] == "op" else 0
        waits = {bound: times[bound] for bound in ("Host link", "Interconnect", "Waiting")}
        return max(waits, key=waits.get) if 2 * sum(waits.values()) > sum(times.values()) else None

    def check(self, where, what, good, ours, theirs):
        self.nr += 1
        if not good:
            self.bad.append(f"{where}: {what}: {ours} / XProf {theirs}")

    def figures(self, where, ours, theirs, columns):
        for mine, his, factor in columns:
            if his in theirs:
                self.check(where, mine, holds(ours[mine], theirs[his] * factor), ours[mine], theirs[his] * factor)

    def utilization(self, where, ours, theirs):
        flops = theirs["compute_efficiency"] * 100
        flops *= float(self.peaks["peak_flop_rate"]) * 1e9 / self.hbm["peak_flops_per_s"]
        self.check(where, "flops_utilization_pct",  # their peak is printed with six digits
                   holds(ours["flops_utilization_pct"], flops, 1e-6 if self.same_peaks else 1e-5),
                   ours["flops_utilization_pct"], flops)

    def row(self, where, ours, theirs):
        self.check(where, "category", ours["category"] == theirs["category"], ours["category"], theirs["category"])
        if theirs["category"].endswith(ASYNC):
            self.figures(where, ours, theirs, TIMES)
            return
        self.figures(where, ours, theirs, PLAIN)
        self.utilization(where, ours, theirs)
        if not (self.gpu and theirs["category"] in ("custom-call", "Program")):
            self.figures(where, ours, theirs, HBM)
        if self.same_peaks:
            self.figures(where, ours, theirs, BY_PEAK)
        if self.same_peaks or theirs["category"] not in ("custom-call", "Program"):
            bound = self.most_wait_for or bound_of(theirs) if theirs["category"] == "Program" else bound_of(theirs)
            self.check(where, "bound_by", ours["bound_by"] == bound, ours["bound_by"], bound)

    def ridges(self, rows):
        """Properties are printed with six digits."""
        if not self.same_peaks:
            return
        told = {r["memory"]: r for r in rows}
        for memory, name in RIDGES.items():
            peak, ridge = float(self.peaks[f"peak_{name}_bw"]), float(self.peaks[f"{name}_ridge_point"])
            if peak == 0 and self.several_hosts:
                continue  # it joins hosts without their on-chip rates
            row = told.get(memory, {"bytes_per_s": None, "ridge_flops_per_byte": None})
            self.check(memory, "bandwidth", holds(row["bytes_per_s"], peak * GIB, 1e-5), row["bytes_per_s"], peak * GIB)
            self.check(memory, "ridge", holds(row["ridge_flops_per_byte"], ridge, 1e-5),
                       row["ridge_flops_per_byte"], ridge)


def main(report, truth):
    ours = json.load(open(report))
    theirs = json.load(open(truth))[0]
    comparison = Comparison(ours, theirs)
    told = xprof_rows(theirs)
    count_once(told, once(ours))
    rows = {(r["program_id"] or "", r["name"]): r for r in ours["roofline"] if r["kind"] in ("program", "op")}
    for key in sorted(set(rows) ^ set(told)):
        comparison.bad.append(f"{key}: only in {'ours' if key in rows else 'XProf'}")
    for key in sorted(set(rows) & set(told)):
        comparison.row(key[1], rows[key], told[key])
    comparison.ridges(ours["roofline_ridges"])
    print(f"roofline: {len(told)} rows of XProf, {len(rows)} of ours, {comparison.nr} figures compared, "
          f"{len(comparison.bad)} differ")
    for line in comparison.bad:
        print(" ", line)
    return bool(comparison.bad) or comparison.nr == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
