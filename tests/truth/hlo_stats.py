#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds ops[] of a report against what XProf's hlo_stats says of the same profile.

hlo_stats.py REPORT.json HLO_STATS.json: the same ops, occurrences, total and self time to 1e-6, FLOPs and
bytes where XProf has them. Truth: ../shared/corpus/truth/xprof_*.hlo_stats.json, asked of xprof 2.24.2.
"""
import json
import sys

from executions import once

GIB = 1024.0 ** 3


def xprof_ops(path):
    table = json.load(open(path))
    names = [c["id"] for c in table["cols"]]
    rows = [dict(zip(names, [c["v"] for c in r["c"]])) for r in table["rows"]]
    return {(r["program_id"], r["hlo_op_name"]): r for r in rows}


def close(ours, theirs, tolerance=1e-6):
    return abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs), 1e-12)


def rate_holds(per_run, count, total_us, rate, unit):
    """XProf gives rates: work = rate x time. A rate of 0 is 'nothing known' there."""
    if rate == 0:
        return True
    return per_run is not None and close(per_run * count, rate * unit * total_us * 1e-6, 1e-6)


def compare(name, ours, theirs, once, bad):
    checks = {
        "occurrences": close(ours["occurrences"], theirs["occurrences"] * once),
        "total time": close(ours["total_time_ps"] * 1e-6, theirs["total_time"]),
        "self time": close(ours["self_time_ps"] * 1e-6, theirs["total_self_time"]),
        "category": ours["category"] == theirs["category"],
        "flops": rate_holds(ours["flops"], ours["occurrences"], theirs["total_time"],
                            theirs["normalized_flop_rate"] * once, 1e9),
        "bytes": rate_holds(ours["bytes_accessed"], ours["occurrences"], theirs["total_time"],
                            theirs["measured_memory_bw"] * once, GIB),
    }
    for what, holds in checks.items():
        if not holds:
            bad.append(f"{name}: {what} differs: {ours} / {theirs}")
    return len(checks)


def main(report, truth):
    report = json.load(open(report))
    ours = {(o["program_id"], o["name"]): o for o in report["ops"]}
    shares = once(report)
    theirs = {k: v for k, v in xprof_ops(truth).items() if k[1] != "IDLE"}
    bad, nr = [], 0
    for key in sorted(set(ours) ^ set(theirs)):
        bad.append(f"{key}: only in {'ours' if key in ours else 'XProf'}")
    for key in sorted(set(ours) & set(theirs)):
        nr += compare(key, ours[key], theirs[key], shares.get(key[1], 1), bad)
    print(f"{len(theirs)} ops of XProf, {len(ours)} of ours, {nr} figures compared, {len(bad)} differ")
    for line in bad:
        print(" ", line)
    return bool(bad) or nr == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
