#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was predicted of the real v6e profile, against what was measured in it: prediction.py REPORT.json

The report is that of the corpus' tpu_v6e_host_offload.xplane.pb. Held here: the errors that src/analysis/time/prediction_known.c
prints with each prediction are those of this report, for all kinds, no more and no fewer; and the rule for ops without products (the
larger of the compiler's estimate and what the bytes need, but the bytes where the estimate is over twice that) is nearer to the
measured times than each of the simpler ones.
"""
import json
import sys


def off(ops, choose):
    """What each op is off, of its measured time, summed over executions."""
    ps = sum(o["measured_ps"] * o["occurrences"] for o in ops)
    return 100 * sum(abs(choose(o) - o["measured_ps"]) * o["occurrences"] for o in ops) / ps


def mean_off(ops, choose):
    """The mean of what ops are off, each op once."""
    return 100 * sum(abs(choose(o) / o["measured_ps"] - 1) for o in ops) / len(ops)


def rule(op):
    estimate, roofline = op["estimate_ps"], op["roofline_ps"]
    return roofline if estimate is None or estimate > 2 * roofline else max(estimate, roofline)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)["prediction"]
    bad = []
    measured = {row["kind"]: row for row in report["measured"]}
    known = {row["kind"]: row for row in report["known_errors"]}
    for kind, row in known.items():
        own = measured.get(kind)
        expected = (round(own["error_pct"], 1), own["count"], own["occurrences"]) if own else (None, 0, 0)
        if (row["error_pct"], row["count"], row["occurrences"]) != expected:
            bad.append(f"{kind}: the table says {row}, the profile {expected}")
    if not {"vector op", "host copy", "collective"} <= set(measured) <= set(known):
        bad.append(f"kinds: {sorted(measured)}, in the table {sorted(known)}")
    ops = [o for o in report["ops"] if o["kind"] == "vector op"]
    if len(ops) != 4:
        bad.append(f"{len(ops)} ops, not 4")
    for op in ops:
        if op["predicted_ps"] != rule(op):
            bad.append(f"{op['op']} is not predicted by the rule: {op}")
    rules = {"rule": rule, "estimate": lambda o: o["estimate_ps"], "roofline": lambda o: o["roofline_ps"],
             "larger": lambda o: max(o["estimate_ps"], o["roofline_ps"])}
    for name, choose in rules.items():
        print(f"{name}: {off(ops, choose):.1f} % of the time, {mean_off(ops, choose):.1f} % a mean op")
        if name != "rule" and mean_off(ops, choose) <= mean_off(ops, rule):
            bad.append(f"{name} is nearer than the rule")
    step = next(row for row in report["modules"] if row["name"] == "jit_f")
    print(f"jit_f: {step['step_ps'] / 1e9:.1f} ms for {step['measured_ps'] / 1e9:.1f} ms, {step['bias_pct']:.1f} %")
    if not -15 < step["bias_pct"] < -12:
        bad.append(f"the step: {step}")
    print("\n".join(bad) or "prediction: as it was measured")
    return bool(bad)


sys.exit(main())
