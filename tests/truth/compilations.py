#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the report of a small CPU profile against what jax itself counted and measured while it was taken.

Counts are equal. Times are of jax's own clock around the same work (jax.monitoring): a compilation and a lowering agree
within 5 % or 1 ms (where jax also wrote to the persistent cache, its time holds that: 3 ms); without the Python tracer
a trace is known from above only, and so is what came from the persistent cache: our time holds jax's, and at most
2 ms more.
"""
import json
import sys

SLACK_S = 1e-3
WRITE_S = 3e-3
ABOVE_S = 2e-3


def near(ours, theirs, slack=SLACK_S):
    return abs(ours - theirs) <= max(0.05 * theirs, slack)


def near_or_written(ours, theirs):
    return near(ours, theirs, WRITE_S)


def above(ours, theirs):
    return -1e-4 <= ours - theirs <= ABOVE_S


def check_count(what, ours, theirs, bad):
    if ours != theirs:
        bad.append(f"{what}: {ours}, jax says {theirs}")


def check_times(rows, truth, bad):
    kinds = {"jaxpr_trace_duration": ("trace_ps", above), "jaxpr_to_mlir_module_duration": ("lower_ps", near)}
    theirs, request = [], {}
    for name, function, seconds in truth["durations"]:
        request[name] = seconds
        if name == "backend_compile_duration": # it comes last
            theirs.append(({**request}, function))
    if len(rows) != len(theirs):
        bad.append(f"{len(rows)} rows, jax asked for {len(theirs)} executables")
    for row, (seconds, function) in zip(rows, theirs):
        if f"jit({row['function']})" != function:
            bad.append(f"{row['function']} stands where jax compiled {function}")
        fits = above if row["outcome"] == "restored" else near_or_written if "cache_misses" in truth else near
        if not fits(row["duration_ps"] * 1e-12, seconds["backend_compile_duration"]):
            bad.append(f"{function}: {row['duration_ps']} ps, jax says {seconds['backend_compile_duration']} s")
        for kind, (column, fits) in kinds.items():
            if not fits(row[column] * 1e-12, seconds[kind]):
                bad.append(f"{function}: {column} {row[column]}, jax says {seconds[kind]} s")
        parts = (row["passes_ps"] or 0) + (row["codegen_ps"] or 0)
        if parts > row["duration_ps"] or (row["outcome"] == "compiled") != (parts > 0):
            bad.append(f"{function}: phases of {parts} ps in {row['duration_ps']} ps")


def check_family(cache, truth, bad):
    families = {family["name"]: family for family in cache["families"]}
    family = families.get("jit_" + truth["function"])
    if not family:
        bad.append("the function's variants are no family")
        return
    check_count("variants", family["variants"], len(truth["parameter_shapes"]), bad)
    check_count("shapes in the order of calls", family["parameter_shapes"], truth["parameter_shapes"], bad)
    check_count("executions", [p["executions"] for p in family["programs"]],
                [truth["order"].count(rows) for rows in dict.fromkeys(truth["order"])], bad)
    check_count("compilations of each", [p["compilations"] for p in family["programs"]],
                [1] * len(truth["parameter_shapes"]), bad)
    check_count("what differs", family["differs"], "shape", bad)


def check_recompilations(report, truth, bad):
    """All but the first of a function; all of them where it was called before the profile."""
    functions = len(truth["functions"]) if "functions" in truth else 1
    first = 0 if "shapes_new_while_profiled" in truth or not truth["compilations"] else functions
    check_count("recompilations", report["compile"].get("recompilations"), truth["compilations"] - first, bad)


def check_findings(report, truth, bad):
    """A function compiled again and again is told, and nothing is where each was compiled once."""
    again = truth["compilations"] > 1 and "function" in truth
    found = [f for f in report["doctor"]["findings"] if f["rule"] == "recompilation"]
    check_count("findings of recompilation", len(found), int(again), bad)
    if found and f"was compiled {truth['compilations']} times" not in found[0]["title"]:
        bad.append(f"{found[0]['title']}: jax compiled it {truth['compilations']} times")


def main(report_path, truth_path):
    report, truth, bad = json.load(open(report_path)), json.load(open(truth_path)), []
    cache = report["cache"]
    check_count("compilations", cache["compilation_count"], truth["compilations"], bad)
    restored = truth.get("restored", 0)
    known = "hits" in truth
    if known:
        check_count("calls that found their executable", cache["cache_hits"], truth["hits"], bad)
        check_count("calls that did not", cache["cache_misses"], truth["compilations"] + restored, bad)
        check_count("restored", cache["persistent_cache_hits"] or 0, truth.get("cache_hits", 0), bad)
    else: # every call of these is of the one function
        check_count("hits", cache["cache_hits"], truth["calls"] - truth["compilations"], bad)
    if "durations" in truth:
        check_times(sorted(cache["compilations"], key=lambda row: row["start_ps"]), truth, bad)
    if "parameter_shapes" in truth:
        check_family(cache, truth, bad)
    if report["compile"].get("compiler"):
        check_recompilations(report, truth, bad)
    check_findings(report, truth, bad)
    for line in bad:
        print(f"{report_path}: {line}")
    print(f"{truth_path.split('/')[-1]}: {cache['compilation_count']} compilations, {cache['cache_hits']} hits, "
          f"{len(bad)} differ from jax's own figures")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
