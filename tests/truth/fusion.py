#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the fusion view of the bundled sample against an own reading of the modules inside its profile.

The modules are decoded from the wire here (tests/fixtures/wire.py), sizes are counted as ShapeUtil::ArraySize does, and
for every pair of kernels of one computation whose consumer reads a whole array the bytes are worked out anew: a read
of the array, and its write, shared by the kernels that read it. A few pairs have reasons that were derived by hand
from what the training step does (tests/fixtures/sample_model.py).
"""
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from wire import BYTES, fields, read_varint, signed

ITEM_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 4, 12: 8, 16: 2}
TUPLE = 13
NAMES = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id", "replica-id"}
CONTROL = {"while", "conditional", "call"}
PARTS = {"slice", "dynamic-slice", "dynamic-update-slice", "gather", "scatter", "broadcast", "reshape", "fusion"}

# (module, producer, consumer): what the training step does there.
REASONS = {
    ("jit_train_step", "fusion.301", "fusion.302"): "two_products",  # softmax x values, then the output projection
    ("jit_train_step", "fusion.297", "fusion.298"): "two_products",  # the two products of the MLP
    ("jit_train_step", "all-reduce.22", "add_add_fusion.3"): "collective",
    ("jit_train_step", "fusion.298", "all-reduce.22"): "collective",
    ("jit_train_step", "fusion.208", "fusion.182"): "recompute",  # logits, read for the sum, the loss and its gradient
}


def numbers(kind, value):
    if kind != BYTES:
        return [signed(value)]
    out, i = [], 0
    while i < len(value):
        n, i = read_varint(value, i)
        out.append(signed(n))
    return out


class Shape:
    def __init__(self, message):
        self.dtype, self.dims, self.parts, self.order, self.tile, self.space = 0, [], [], [], [], 0
        for field, kind, value in fields(message):
            if field == 2:
                self.dtype = value
            elif field == 3:
                self.dims += numbers(kind, value)
            elif field == 4:
                self.parts.append(Shape(value))
            elif field == 5:
                self.read_layout(value)

    def read_layout(self, message):
        for field, kind, value in fields(message):
            if field == 1:
                self.order += numbers(kind, value)
            elif field == 6 and not self.tile:  # further tiles add no bytes
                self.tile = [n for f, k, v in fields(value) if f == 1 for n in numbers(k, v)]
            elif field == 8:
                self.space = value

    def bytes(self):
        n = ITEM_BYTES[self.dtype]
        for size, tile in itertools.zip_longest([self.dims[i] for i in self.order] or [1], reversed(self.tile)):
            size, tile = size or 1, tile or 1
            n *= -(-size // tile) * tile
        return n

    def passes_hbm(self):
        n = 1
        for size in self.dims:
            n *= size
        return self.dtype in ITEM_BYTES and self.space == 0 and n > 1


class Instr:
    def __init__(self, message):
        self.operands, self.called, self.leaf, self.number, self.target, self.shape = [], [], 0, 0, "", Shape(b"")
        for field, kind, value in fields(message):
            if field == 1:
                self.name = value.decode()
            elif field == 2:
                self.opcode = value.decode()
            elif field == 3:
                self.shape = Shape(value)
            elif field == 9:
                self.number = value
            elif field == 13:
                self.leaf = value
            elif field == 28:
                self.target = value.decode()
            elif field == 35:
                self.id = value
            elif field == 36:
                self.operands += numbers(kind, value)
            elif field == 38:
                self.called += numbers(kind, value)


class Module:
    def __init__(self, message):
        self.name, self.comps, self.roots, self.instrs, self.entry, self.params = "", {}, {}, {}, 0, {}
        for field, _, value in fields(message):
            if field == 1:
                self.name = value.decode()
            elif field == 6:
                self.entry = value
            elif field == 3:
                self.read_comp(value)

    def read_comp(self, message):
        instrs, key, root = [], 0, 0
        for field, _, value in fields(message):
            if field == 2:
                instrs.append(Instr(value))
            elif field == 5:
                key = value
            elif field == 6:
                root = value
        self.comps[key], self.roots[key] = instrs, root
        self.instrs.update((i.id, i) for i in instrs)
        self.params[key] = {i.number: i for i in instrs if i.opcode == "parameter"}

    def schedules(self):
        """The computations whose instructions run as kernels."""
        found, todo = set(), [self.entry]
        while todo:
            key = todo.pop()
            if key in found:
                continue
            found.add(key)
            todo += [c for i in self.comps[key] if i.opcode in CONTROL for c in i.called]
        return found

    def maker(self, key):
        """(instruction, leaf) behind names inside one computation."""
        leaf = None
        while True:
            instr = self.instrs[key]
            if instr.opcode == "get-tuple-element" and leaf is None:
                key, leaf = instr.operands[0], instr.leaf
            elif instr.opcode == "tuple" and leaf is not None:
                key, leaf = instr.operands[leaf], None
            elif instr.opcode == "bitcast":
                key = instr.operands[0]
            else:
                return instr, leaf

    def reads_all(self, instr, operand):
        """Does it certainly read the whole operand, once?"""
        if instr.opcode != "fusion":
            return instr.opcode not in PARTS
        param = self.params[instr.called[0]].get(operand)
        users = [i for i in self.comps[instr.called[0]] if param and param.id in i.operands]
        return bool(users) and not any(i.opcode in PARTS or i.opcode == "bitcast" for i in users)

    def updates(self, maker, leaf):
        """Does it write a part of its result only, in place?"""
        if maker.opcode != "fusion":
            return maker.opcode in ("dynamic-update-slice", "scatter")
        root = self.instrs[self.roots[maker.called[0]]]
        if root.opcode == "tuple" and leaf is not None:
            root = self.instrs[root.operands[leaf]]
        return root.opcode in ("dynamic-update-slice", "scatter")


def is_kernel(instr):
    return (instr.opcode not in NAMES and instr.opcode not in CONTROL and not instr.opcode.endswith("-done") and
            instr.target not in ("AllocateBuffer", "ConcatBitcast"))


def pairs_of(module):
    """(producer, consumer) -> arrays between them as (leaf, bytes, readers), where all of it is plain to see."""
    uses, escapes = {}, set()
    for key in module.schedules():
        for instr in module.comps[key]:
            for operand, made in enumerate(instr.operands):
                maker, leaf = module.maker(made)
                place = (maker.id, leaf)
                if instr.opcode in CONTROL or instr.id == module.roots[key] or feeds_control(module, key, instr):
                    escapes.add(place)  # read in another computation, or given out
                if is_kernel(instr) and module.instrs[made].shape.passes_hbm() and maker.opcode not in CONTROL:
                    uses.setdefault(place, {}).setdefault(instr.id, operand)
    plain = {}
    for (maker_id, leaf), readers in uses.items():
        maker = module.instrs[maker_id]
        shape = maker.shape if leaf is None else maker.shape.parts[leaf]
        simple = (maker.opcode not in NAMES and (maker_id, leaf) not in escapes and not module.updates(maker, leaf) and
                  maker.target != "AllocateBuffer")
        for reader, operand in readers.items():
            good = simple and module.reads_all(module.instrs[reader], operand)
            plain.setdefault((maker.name, module.instrs[reader].name), []).append(
                (shape.bytes() + shape.bytes() // len(readers)) if good else None)
    return {pair: sum(arrays) for pair, arrays in plain.items() if None not in arrays}


def feeds_control(module, key, instr):
    return instr.opcode == "tuple" and any(i.opcode in CONTROL and instr.id in i.operands for i in module.comps[key])


def join_halves(module, self_ps):
    """The time of an asynchronous op is that of its start and its done."""
    halves = [(module.instrs[i.operands[0]].name, i.name) for i in module.instrs.values() if i.opcode.endswith("-done")]
    for start, done in halves:
        if start in self_ps and done in self_ps:
            self_ps[start] = self_ps[done] = self_ps[start] + self_ps[done]


def modules_in(path):
    """The compiled modules of a profile: plane /host:metadata, a stat of bytes at each event metadata."""
    for field, _, plane in fields(open(path, "rb").read()):
        if field != 1 or (2, BYTES, b"/host:metadata") not in list(fields(plane)):
            continue
        for f, _, entry in fields(plane):
            for g, _, metadata in fields(entry) if f == 4 else ():
                for h, _, stat in fields(metadata) if g == 2 else ():
                    for k, _, proto in fields(stat) if h == 5 else ():
                        if k == 6:
                            yield Module(next(v for n, _, v in fields(proto) if n == 1))


def check_pair(pair, bytes_expected, executions, spare_ps, per_s, bad):
    name = f"{pair['producer']} -> {pair['consumer']}"
    if pair["bytes"] != bytes_expected:
        bad.append(f"{name}: {pair['bytes']} bytes, by hand {bytes_expected}")
    if pair["executions"] != executions[pair["consumer"]]:
        bad.append(f"{name}: {pair['executions']} executions")
    most = pair["bytes"] * max(executions[pair["consumer"]], executions[pair["producer"]]) / per_s * 1e12
    if not 0 <= pair["impact_ps"] <= min(most, spare_ps[pair["producer"]] + spare_ps[pair["consumer"]]) + 1:
        bad.append(f"{name}: {pair['impact_ps']} ps at stake")


def main(report_path, profile_path, truth_path):
    report, truth, bad, checked = json.load(open(report_path)), json.load(open(truth_path)), [], 0
    ours = report["fusion"]["unfused"]
    per_s, peak = (report["run"]["devices"][0][rate] for rate in ("hbm_bytes_per_s", "peak_flops_per_s"))
    for module in modules_in(profile_path):
        if module.name != "jit_train_step":
            continue
        ops = [o for o in truth["ops"] if o["program_id"] == truth["programs"][0]["program_id"]]
        executions = {o["name"]: o["occurrences"] for o in ops}
        # Bytes cannot take time that the FLOPs need at the peak anyway.
        spare_ps = {o["name"]: max(o["self_ps"] - o["flops"] * o["occurrences"] / peak * 1e12, 0) for o in ops}
        join_halves(module, spare_ps)
        found = {(p["producer"], p["consumer"]): p for p in ours if p["module"] == module.name}
        for pair, expected in pairs_of(module).items():
            if pair not in found:
                bad.append(f"{pair[0]} -> {pair[1]} is missing ({expected} bytes)")
            elif all(name in executions for name in pair):
                check_pair(found[pair], expected, executions, spare_ps, per_s, bad)
                checked += 1
        for (_, producer, consumer), reason in REASONS.items():
            if found.get((producer, consumer), {}).get("reason_code") != reason:
                bad.append(f"{producer} -> {consumer} is not {reason}")
    if checked < 30:
        bad.append(f"only {checked} pairs could be compared")
    if sum(p["impact_ps"] for p in ours) > sum(o["self_ps"] for o in truth["ops"]):
        bad.append("more time at stake than all ops took")
    print(f"{checked} of {len(ours)} unfused pairs and {len(REASONS)} reasons compared, {len(bad)} figures differ")
    for line in bad[:40]:
        print(" ", line)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
