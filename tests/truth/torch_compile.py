#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the report of a trace of torch.compile against what PyTorch counted in the same process.

Counts are equal: places where the graph broke (functions that go on behind a break have the line in their names), compilations,
recompilations, ops of each kernel. The time is the outermost events'; PyTorch's own clock runs inside them: 1 % or 20 ms more at most.
"""
import json
import re
import sys


def compile_seconds(truth):
    inner = [times for name, times in truth["compile_seconds"].items() if name.endswith("compile_inner")]
    backward = truth["compile_seconds"].get("backward._backward_impl", [])
    return (inner[0] if inner else []), backward


def check_breaks(ours, truth, bad):
    places = {re.sub(r".*_at_", "", name) for name in truth["counters"].get("resumes", {})}
    theirs = len(places) if places else len(truth["counters"].get("graph_break", {}))
    if ours["graph_breaks"] != theirs:
        bad.append(f"{ours['graph_breaks']} graph breaks, PyTorch has {theirs}")
    for row in ours["graph_break_places"]:
        if row["source"] and row["source"].split(":")[-1] not in places:
            bad.append(f"a graph break at {row['source']}, PyTorch's are at {places}")


def check_time(ours, truth, bad):
    inner, backward = compile_seconds(truth)
    theirs = sum(inner) + sum(backward)
    if ours["compile_time_from"] == "log":
        if abs(ours["compile_time_ms"] * 1e-3 - theirs) > 1e-3 * len(inner + backward):
            bad.append(f"{ours['compile_time_ms']} ms by the log, PyTorch says {theirs} s")
    elif ours["phases"]:
        if not -0.001 <= ours["compile_time_ms"] * 1e-3 - theirs <= max(0.01 * theirs, 0.02):
            bad.append(f"{ours['compile_time_ms']} ms in the compiler, PyTorch says {theirs} s")
    elif ours["compile_time_ms"] is not None:
        bad.append(f"{ours['compile_time_ms']} ms in the compiler, though all was compiled before")
    if ours["compiled_graphs"] not in (None, len(inner) if ours["phases"] else 0):
        bad.append(f"{ours['compiled_graphs']} compilations, PyTorch says {len(inner)}")


def check_recompilations(ours, truth, bad):
    inner, _ = compile_seconds(truth)
    frames = len({row["compile_id"].split("/")[0] for row in ours["regions"] if row["compile_id"]})
    if ours["recompilations"] is not None and ours["recompilations"] != len(inner) - frames:
        bad.append(f"{ours['recompilations']} recompilations, PyTorch compiled {len(inner)} times {frames} frames")


def check_kernels(ours, truth, bad):
    for row in ours["fused_kernels"]:
        name = re.sub(r"^.*(fused.*)_\d+$", r"\1", row["name"])
        theirs = truth["kernels"].get(name)
        if theirs != row["ops"] or row["ops_before_fusion"] != max(len(theirs or []), 1):
            bad.append(f"{row['name']}: {row['ops']}, Inductor made it of {theirs}")


def check_log(ours, truth, bad):
    """With the log of TORCH_TRACE beside the trace: times one by one, and a reason for everything."""
    inner, backward = compile_seconds(truth)
    for kind, theirs in (False, inner), (True, backward):
        times = sorted(row["time_ps"] * 1e-12 for row in ours["compilations"] if row["is_backward"] == kind)
        if len(times) != len(theirs) or any(abs(a - b) > 1e-3 for a, b in zip(times, sorted(theirs))):
            bad.append(f"the log's times {times}, PyTorch says {theirs}")
    told = {row["reason"] for row in ours["graph_break_places"]}
    missing = [reason for reason in truth["counters"].get("graph_break", {}) if reason.split("\n")[0] not in told]
    if missing or None in told:
        bad.append(f"reasons {told} are not PyTorch's {missing}")
    if any(row["reason"] is None for row in ours["recompiles"]):
        bad.append("a recompilation without a reason")


def main():
    with open(sys.argv[1]) as file:
        ours = json.load(file)
    ours = ours.get("compile", ours)
    with open(sys.argv[2]) as file:
        truth = json.load(file)
    bad = []
    if ours.get("compiler") is None:
        if compile_seconds(truth)[0]:
            bad.append("nothing of a compiler was found")
    else:
        check_breaks(ours, truth, bad)
        check_time(ours, truth, bad)
        check_recompilations(ours, truth, bad)
        check_kernels(ours, truth, bad)
        if "compilations" in ours:
            check_log(ours, truth, bad)
    for line in bad:
        print(f"{sys.argv[2]}: {line}")
    if not bad:
        print(f"{sys.argv[2]}: as PyTorch {truth['torch']} says")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
