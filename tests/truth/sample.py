#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the report of the bundled sample run against what its maker put in (sample_truth.json).

The truth was counted by tests/fixtures/make_sample.py while it laid the timeline, by the rules of the time
buckets and without any of our C code. Everything must be equal to the picosecond.
"""
import json
import statistics
import sys

from working import folded, is_divided


def check_buckets(where, ours, theirs, bad):
    ours = folded(ours)
    for name, ps in folded(theirs).items():
        if ours[name] != ps:
            bad.append(f"{where}: {name} is {ours[name]}, put in was {ps}")


def check_steps(report, truth, bad):
    steps = report["time"]["per_step"]
    if len(steps) != len(truth["steps"]):
        bad.append(f"{len(steps)} steps, put in were {len(truth['steps'])}")
    for ours, theirs in zip(steps, truth["steps"]):
        if ours["step"] != theirs["number"]:
            bad.append(f"step {ours['step']} stands where {theirs['number']} was put")
        check_buckets(f"step {theirs['number']}", ours, theirs["buckets"], bad)
        if sum(folded(ours)[name] for name in folded(theirs["buckets"])) != ours["total_ps"]:
            bad.append(f"step {ours['step']}: its buckets do not sum to its total")


def check_class(key, op, planted, bad):
    """An op that works is divided, and its parts are its time; all of another's is in its one class."""
    parts = sum(op[name] for name in ("compute_ps", "below_roofline_ps", "memory_wait_ps", "unexplained_ps"))
    if is_divided(planted) and (not is_divided(op["bucket"]) or parts != op["exclusive_ps"]):
        bad.append(f"{key}: {op['bucket']}, {parts} of {op['exclusive_ps']} ps in the divided classes, put in was {planted}")
    if not is_divided(planted) and (op["bucket"] != planted or parts != 0):
        bad.append(f"{key}: bucket is {op['bucket']}, put in was {planted}")


def check_ops(report, truth, bad):
    ours = {(o["program_id"], o["name"]): o for o in report["ops"]}
    theirs = {(o["program_id"], o["name"]): o for o in truth["ops"]}
    if set(ours) != set(theirs):
        bad.append(f"ops differ: {set(ours) ^ set(theirs)}")
    names = {"occurrences": "occurrences", "total_time_ps": "total_ps", "self_time_ps": "self_ps",
             "flops": "flops", "bytes_accessed": "bytes_accessed"}
    for key in set(ours) & set(theirs):
        for our_name, their_name in names.items():
            if ours[key][our_name] != theirs[key][their_name]:
                bad.append(f"{key}: {our_name} is {ours[key][our_name]}, put in was {theirs[key][their_name]}")
        check_class(key, ours[key], theirs[key]["bucket"], bad)


def check_collectives(report, truth, bad):
    """None of the sample's is asynchronous: all of their time is exposed. One core is late in one step."""
    ops = {(o["program_id"], o["name"]): o for o in truth["ops"] if o["category"].startswith("all-reduce")}
    rows = {(o["program_id"], o["name"]): o for o in report["collectives"]}
    if set(ops) != set(rows):
        bad.append(f"collectives differ: {set(ops) ^ set(rows)}")
    for key in set(ops) & set(rows):
        if (rows[key]["occurrences"], rows[key]["hidden_ps"]) != (ops[key]["occurrences"], 0):
            bad.append(f"{key}: {rows[key]['occurrences']} times, hidden {rows[key]['hidden_ps']}")
    late = max(report["collective_cores"], key=lambda core: core["excess_ps"])
    if late["device_id"] != truth["put_in"]["straggler"]["device"]:
        bad.append(f"{late['device']} is said to be late, put in was {truth['put_in']['straggler']}")


def check_cores(report, truth, bad):
    """Each core for itself: its buckets, and every gap of it with the right length."""
    hosts = report["time"]["per_host"]
    for name, whole in [("cores", report["time"]["cores"]), *report["time"]["buckets"].items()]:
        if sum(h[name] for h in hosts) != whole:
            bad.append(f"{name} of all hosts: {[h[name] for h in hosts]}, in all {whole}")
    for core, buckets in zip(report["time"]["per_core"], truth["buckets_per_core"]):
        check_buckets(core["device"], core, buckets, bad)
    put_in = sorted((d, a, b - a) for d, gaps in enumerate(truth["gaps_per_core_ps"]) for a, b in gaps)
    found = sorted((g["device_id"], g["start_ps"], g["duration_ps"]) for g in report["time"]["idle_gaps"])
    if put_in != found:
        bad.append(f"{len(found)} gaps, put in were {len(put_in)}: {set(found) ^ set(put_in)}")
    if report["gaps"]["listed_ps"] != report["gaps"]["gap_ps"]:
        bad.append("gaps and the buckets without an op differ")
    for gap in report["time"]["idle_gaps"]:
        if gap["cause"] == "input" and gap["host_event"] != "IteratorGetNext":
            bad.append(f"a gap under input is explained by {gap['host_event']}")


def check_slow(report, truth, bad):
    """What makes steps slow was put in: waiting for data, a late core, and a compilation in the step after it."""
    put_in, time = truth["put_in"], report["time"]
    took = {s["number"]: sum(b - a for a, b in zip(s["device_start_ps"], s["device_end_ps"])) // truth["cores"]
            for s in truth["steps"]}
    median = statistics.median(took.values())
    late = put_in["straggler"]["step"]
    expected = {step: "input" if step in put_in["input_bound_steps"] else "compilation"
                for step, ps in took.items() if ps > 1.2 * median and step != late}
    if abs(time["steps_median_ps"] - median) > 0.5:
        bad.append(f"median step {time['steps_median_ps']}, put in was {median}")
    rows = {row["step"]: row for row in time["steps_outliers"]}
    if set(rows) != set(expected) | {late}:
        bad.append(f"slow steps {sorted(rows)}, put in were {sorted(expected)} and {late}")
    for step in set(rows) & set(expected):
        if rows[step]["cause"] != expected[step]:
            bad.append(f"step {step} is slow by {rows[step]['cause']}, put in was {expected[step]}")
    if late in rows and (rows[late]["is_straggler"], rows[late]["device_id"]) != (True, put_in["straggler"]["device"]):
        bad.append(f"step {late} waits for {rows[late]['device']}, put in was {put_in['straggler']}")


def check_remat(report, truth, bad):
    """All of it comes from one jax.checkpoint in a loop of two trips."""
    ops = {(o["name"]): o for o in truth["ops"] if o["bucket"] == "rematerialization"}
    rows = {o["name"]: o for o in report["remat"]["ops"]}
    if set(ops) != set(rows) or report["remat"]["time_ps"] != truth["buckets"]["rematerialization_ps"]:
        bad.append(f"recomputed are {sorted(rows)} in {report['remat']['time_ps']}, put in were {sorted(ops)}")
    regions = report["remat"]["regions"]
    if len(regions) != 1 or regions[0]["flops"] != sum(o["flops"] * o["occurrences"] for o in ops.values()):
        bad.append(f"{len(regions)} checkpointed blocks, or their FLOPs differ")


def check_async(report, truth, bad):
    """Starts and dones against the line of asynchronous ops, and against the ops that were put in."""
    result = report["async"]
    if result["interval_ps"] != result["async_line_ps"]:
        bad.append(f"under way by starts and dones {result['interval_ps']}, by their line {result['async_line_ps']}")
    waited = sum(o["total_ps"] for o in truth["ops"] if o["category"].endswith(("-start", "-done")))
    if (result["exposed_ps"], result["hidden_ps"]) != (waited, result["interval_ps"] - waited):
        bad.append(f"waited for {result['exposed_ps']}, put in was {waited}")
    for row in result["ops"]:
        if row["exposed_ps"] + row["hidden_ps"] != row["interval_ps"]:
            bad.append(f"{row['name']}: exposed and hidden are not its interval")


def main(report_path, truth_path):
    report, truth, bad = json.load(open(report_path)), json.load(open(truth_path)), []
    time = report["time"]
    check_buckets("the run", time["buckets"], truth["buckets"], bad)
    if time["total_ps"] != truth["total_ps"] or sum(time["buckets"].values()) != truth["total_ps"]:
        bad.append(f"total {time['total_ps']}, buckets {sum(time['buckets'].values())}, put in {truth['total_ps']}")
    if report["run"]["duration_ps"] != truth["wall_ps"]:
        bad.append(f"wall {report['run']['duration_ps']}, put in was {truth['wall_ps']}")
    if (time["compilation_count"], time["compilation_host_ps"]) != (truth["compilation_count"],
                                                                    truth["compilation_ps"]):
        bad.append("compilations differ")
    check_steps(report, truth, bad)
    check_cores(report, truth, bad)
    check_slow(report, truth, bad)
    check_remat(report, truth, bad)
    check_async(report, truth, bad)
    check_ops(report, truth, bad)
    check_collectives(report, truth, bad)
    print(f"{len(truth['ops'])} ops and {len(truth['steps'])} steps compared, {len(bad)} figures differ")
    for line in bad[:40]:
        print(" ", line)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
