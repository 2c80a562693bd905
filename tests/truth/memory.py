#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the memory view against XProf, and that of the bundled sample against an own reading of its profile.

memory.py xprof REPORT.json HLO_STATS.json OP_PROFILE.json: HBM bytes of each op by op_profile, and by hlo_stats' rates and
times; of the program, and its share of the peak. Both halves of an asynchronous copy are one row here. hlo_stats takes the
host's end of such a copy for HBM, op_profile does not, nor do we: those are held against op_profile alone.
memory.py sample REPORT.json PROFILE.xplane.pb TRUTH.json: each op's reads and writes from the memory_access_breakdown in
the profile's own bytes, times the executions in the maker's truth; and every copy of the modules: shapes, bytes, memories.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from executions import once
from fusion import modules_in
from wire import BYTES, fields

GIB = 1024.0 ** 3
MOVERS = ("copy", "transpose", "reshape", "copy-start")
SPACES = {1: "hbm", 2: "cmem", 3: "vmem"}


def close(ours, theirs, tolerance=1e-6):
    return abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs), 1)


class Comparison:
    def __init__(self):
        self.nr, self.bad = 0, []

    def check(self, what, ours, theirs, good=None):
        self.nr += 1
        if not (close(ours, theirs) if good is None else good):
            self.bad.append(f"{what}: {ours}, by the other source {theirs}")

    def end(self, what):
        print(f"memory: {what}, {self.nr} figures compared, {len(self.bad)} differ")
        for line in self.bad[:30]:
            print(" ", line)
        return bool(self.bad) or self.nr == 0


def by_hlo_stats(path):
    table, out = json.load(open(path)), {}
    names = [c["id"] for c in table["cols"]]
    for row in (dict(zip(names, [c["v"] for c in r["c"]])) for r in table["rows"]):
        # A GPU's custom call: XProf leaves a tuple result out of hbm_bw, not out of all bytes.
        rate = row["measured_memory_bw"] if row["category"] == "custom-call" else row["hbm_bw"]
        if row["hlo_op_name"] != "IDLE" and not row["hlo_op_name"].startswith(("copy-start", "copy-done")):
            out[row["hlo_op_name"]] = rate * GIB * row["total_time"] * 1e-6
    return out


def leaves(node, ops):
    """HBM bytes of the ops of op_profile that are in the report (further down are the insides of fusions)."""
    name = node["name"].replace("copy-done", "copy-start")
    if name in ops and "and its duplicate" not in name and node.get("xla"):
        return {name: node["metrics"]["rawBytesAccessedArray"][0]}
    out = {}
    for child in node.get("children", []):
        for key, value in leaves(child, ops).items():
            out[key] = out.get(key, 0) + value
    return out


def xprof(report, hlo_stats, op_profile):
    report, result = json.load(open(report)), Comparison()
    memory, root = report["memory"], json.load(open(op_profile))["byProgramExcludeIdle"]
    ours = {o["op"]: o for o in memory["ops"]}
    theirs = leaves(root, ours)
    result.check("ops", sorted(ours), sorted(theirs), sorted(ours) == sorted(theirs))
    for name in set(ours) & set(theirs):
        if ours[name]["category"] != "custom-call":
            result.check(f"{name} by op_profile", ours[name]["hbm_bytes"], theirs[name])
    shares = once(report)
    for name, expected in by_hlo_stats(hlo_stats).items():
        expected *= shares.get(name, 1)
        result.check(f"{name} by hlo_stats", ours[name]["hbm_bytes"], expected)
        result.check(f"{name} rate", ours[name]["hbm_bytes_per_s"], expected / ours[name]["time_ps"] * 1e12)
    if not report["run"]["devices"][0]["name"].startswith("/device:GPU"):
        metrics = root["metrics"]
        result.check("program", memory["hbm_read_bytes"] + memory["hbm_written_bytes"], metrics["rawBytesAccessedArray"][0])
        busy = sum(m["time_ps"] for m in memory["modules"]) * 1e-12
        share = sum(o["hbm_bytes"] for o in memory["ops"]) / busy / report["run"]["devices"][0]["hbm_bytes_per_s"]
        result.check("HBM utilization of the program", share, metrics["bandwidthUtils"][0])
    return result.end("XProf's hlo_stats and op_profile")


def breakdowns(path):
    """(program, op) -> {(1 read | 2 write, memory): bytes}, of the ops of one device plane."""
    out = {}
    for field, _, plane in fields(open(path, "rb").read()):
        if field != 1 or (2, BYTES, b"/device:TPU:0") not in list(fields(plane)):
            continue
        entries = [(f, value) for f, _, value in fields(plane) if f in (4, 5)]
        stats = {}
        for _, entry in (e for e in entries if e[0] == 5):
            meta = {f: v for f, _, v in fields(next(v for f, _, v in fields(entry) if f == 2))}
            stats[meta.get(1, 0)] = meta.get(2, b"").decode()
        for _, entry in (e for e in entries if e[0] == 4):
            read_op(next(v for f, _, v in fields(entry) if f == 2), stats, out)
    return out


def read_op(metadata, stats, out):
    name, program, traffic = "", None, {}
    for field, _, value in fields(metadata):
        if field == 4:
            name = value.decode()
        if field != 5:
            continue
        stat = {f: v for f, _, v in fields(value)}
        if stats.get(stat.get(1)) == "program_id":
            program = next(stat[f] for f in (3, 4) if f in stat) % 2 ** 64
        if stats.get(stat.get(1)) == "memory_access_breakdown":
            for _, _, access in fields(stat[6]):
                part = {f: v for f, _, v in fields(access)}
                key = (part.get(1, 0), part.get(2, 0))
                traffic[key] = traffic.get(key, 0) + part.get(3, 0)
    if program is not None and traffic:
        out[str(program), name] = traffic


def check_traffic(memory, truth, path, result):
    programs = {str(p["program_id"]): p["name"] for p in truth["programs"]}
    ours = {}
    for row in memory["ops"]:
        ours.setdefault((row["module"], row["op"]), []).append(row)
    executions = {(o["program_id"], o["name"]): o["occurrences"] for o in truth["ops"]}
    for (program, name), traffic in breakdowns(path).items():
        rows = ours.get((programs.get(program), name), [])
        n = executions.get((program, name))
        if len(rows) != 1 or n is None or rows[0]["bytes_from"] != "breakdown":
            continue  # a module of the same name, or an op that did not run
        for space, key in SPACES.items():
            result.check(f"{name} {key} read", rows[0][f"{key}_read_bytes"], traffic.get((1, space), 0) * n)
            result.check(f"{name} {key} written", rows[0][f"{key}_written_bytes"], traffic.get((2, space), 0) * n)


def check_copies(memory, truth, path, result):
    ran = {o["name"] for o in truth["ops"] if o["program_id"] == truth["programs"][0]["program_id"]}
    ours = {c["op"]: c for c in memory["layout_copies"] if c["module"] == "jit_train_step"}
    for module in modules_in(path):
        if module.name != "jit_train_step":
            continue
        found = {i.name for c in module.schedules() for i in module.comps[c] if i.opcode in MOVERS and i.name in ran and
                 len(i.shape.dims or (i.shape.parts and i.shape.parts[0].dims)) > 0}
        result.check("copies", sorted(set(ours) & found), sorted(found), found <= set(ours))
        for name in found & set(ours):
            check_copy(module, next(i for i in module.instrs.values() if i.name == name), ours[name], result)


def check_copy(module, instr, ours, result):
    source = module.instrs[instr.operands[0]].shape
    target = instr.shape.parts[0] if instr.shape.parts else instr.shape
    result.check(f"{instr.name} bytes", ours["bytes"], source.bytes() + target.bytes())
    moves = source.space != target.space
    result.check(f"{instr.name} reason", ours["reason_code"], moves, moves == (ours["reason_code"] in ("memory_space", "host")))
    maker, _ = module.maker(instr.operands[0])
    if maker.opcode not in ("parameter", "constant", "while", "call", "tuple"):
        result.check(f"{instr.name} producer", ours["producer"], maker.name, ours["producer"] == maker.name)


def sample(report, path, truth_path):
    memory, truth, result = json.load(open(report))["memory"], json.load(open(truth_path)), Comparison()
    check_traffic(memory, truth, path, result)
    check_copies(memory, truth, path, result)
    for key in ("hbm_read_bytes", "hbm_written_bytes"):
        result.check(key, memory[key], sum(o[key] or 0 for o in memory["ops"]))
    if result.nr < 300:
        result.bad.append("too few figures could be compared")
    return result.end("the sample's profile read anew")


if __name__ == "__main__":
    sys.exit({"xprof": xprof, "sample": sample}[sys.argv[1]](*sys.argv[2:]))
