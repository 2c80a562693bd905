# SPDX-License-Identifier: MIT
"""Ops of a GPU that are several kernels: XProf takes each kernel for an execution of the whole op, so that its FLOPs and bytes
count once a kernel. Ours count once an execution (docs/analyses/xprof.md)."""
from collections import defaultdict


def bare(name):
    return name.removesuffix(".kd").replace("_", ".")


def once(report):
    """Op -> executions a kernel: an op ran as often, on each device, as the one of its kernels that ran most."""
    kernels, most = defaultdict(int), defaultdict(int)
    generated = {bare(row["name"]) for row in report.get("kernels", [])}  # XLA gives a fusion's kernel the fusion's name
    names = {o["framework_op"]: o["name"] for o in report["ops"] if o["framework_op"] and bare(o["name"]) not in generated}
    of_xla = {bare(o["name"]) for o in report["ops"]}
    for row in report.get("kernels", []):
        if bare(row["name"]) in of_xla:
            continue
        for op in row["ops"] or []:
            kernels[op["op"]] += op["count"]
            most[op["op"], row["device_id"]] = max(most[op["op"], row["device_id"]], op["count"])
    executions = defaultdict(int)
    for (op, _), count in most.items():
        executions[op] += count
    return {names[op]: executions[op] / kernels[op] for op in kernels if op in names}
