#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `tpusight hlo` against what libtpu says of programs that it compiled for five chips (tests/data/modules.tar.xz).

modules.py TPUSIGHT MODULES.tar.xz [--off] [--seen]: a table says for each figure how many modules are exact, near
(within 1 %; bytes accessed: 2 %) and off. A fifth of the modules, chosen by a checksum of the name, was put aside while
the rules were written: the table shows them apart. Fails where fewer are near than REACHED says, or where a peak is too
low by more than LARGEST_SHORTFALL. --off names the modules that are off; --seen leaves out those put aside.

libtpu's peak is what is there all the time (arguments, those on the host too, results, constants) and the largest of
three heaps: temporaries in HBM, on the chip, and on the host. Temporaries are held against the peak: libtpu counts the
gaps of the heap and scratch. A sum of libtpu's has -1 for each custom call that it does not know; a difference of so
little is near.
"""
import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zlib

NEAR = {"peak": 0.01, "temp": 0.01, "bytes_accessed": 0.02, "flops": 0.01}
REACHED = {"peak": 0.98, "temp": 0.85, "bytes_accessed": 0.98, "flops": 0.99}  # the share that is near
UNKNOWN_CALLS = 8
LARGEST_SHORTFALL = 0.05  # of a peak


def truth_of(folder):
    with open(os.path.join(folder, "truth.tsv")) as file:
        head, *rows = [line.rstrip("\n").split("\t") for line in file]
    return {row[0]: {"chip": row[1], **dict(zip(head[2:], map(int, row[2:])))} for row in rows}


def module_name(path):
    """The first field of a HloModuleProto, of fewer than 128 bytes."""
    with open(path, "rb") as file:
        head = file.read(130)
    assert head[0] == 0x0a and head[1] < 128, path
    return head[2:2 + head[1]].decode()


def ours_of(tpusight, folder, chip, names):
    """Where modules have one name, the report adds the file's."""
    files = {name: os.path.join(folder, f"{name}.hlo_proto.pb") for name in names}
    run = subprocess.run([tpusight, "hlo", "--format=json", f"--chip={chip}", *files.values()], capture_output=True,
                         text=True, check=True)
    report = json.loads(run.stdout)
    costs = {m["name"]: m for m in report["modules"]}
    memory = {m["module"]: m for m in report["capacity"]["modules"]}
    keys = {name: key if (key := module_name(path)) in costs else f"{key} ({name})" for name, path in files.items()}
    return {name: {**memory[key], **costs[key]} for name, key in keys.items()}


def peak_of(ours):
    always = (ours["argument_bytes"] + ours["output_bytes"] - ours["alias_bytes"] + ours["constant_bytes"] +
              ours["host_argument_bytes"])
    return always + max(ours["temp_bytes"], ours["onchip_peak_bytes"], ours["host_temp_bytes"])


def errors_of(ours, theirs):
    """Of each figure, the part by which ours is above theirs; None where libtpu does not know its own."""
    return {"peak": peak_of(ours) / theirs["peak_bytes"] - 1,
            "temp": (ours["temp_bytes"] - theirs["temp_bytes"]) / theirs["peak_bytes"],
            **{figure: error_of(ours[figure], theirs[figure]) for figure in ("bytes_accessed", "flops")}}


def error_of(ours, theirs):
    if theirs < 0:
        return None
    error = (ours or 0) - theirs
    return 0.001 if 0 < error <= UNKNOWN_CALLS else error / max(theirs, 1)


def count(rows, figure):
    known = [e for row in rows.values() if (e := row[figure]) is not None]
    near = sum(abs(e) <= NEAR[figure] for e in known)
    return {"of": len(known), "exact": sum(e == 0 for e in known), "near": near, "off": len(known) - near,
            "share": near / len(known), "lowest": min(known), "highest": max(known)}


def show(title, rows):
    print(f"{title:28} {'of':>4} {'exact':>6} {'near':>5} {'off':>4}  {'near %':>6} {'lowest %':>9} {'highest %':>9}")
    for figure in NEAR:
        c = count(rows, figure)
        print(f"  {figure:26} {c['of']:4} {c['exact']:6} {c['near']:5} {c['off']:4}  {c['share']:6.1%} "
              f"{c['lowest']:9.2%} {c['highest']:9.2%}")


def show_off(rows):
    for figure in NEAR:
        for name, row in rows.items():
            if row[figure] is not None and abs(row[figure]) > NEAR[figure]:
                print(f"off: {figure:16} {row[figure]:+9.2%}  {name}")


def is_reached(rows):
    return (all(count(rows, figure)["share"] >= share for figure, share in REACHED.items()) and
            count(rows, "peak")["lowest"] >= -LARGEST_SHORTFALL)


def main(options):
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(options.modules) as tar:
            tar.extractall(folder, filter="data")
        truth = truth_of(folder)
        for chip in sorted({t["chip"] for t in truth.values()}):
            names = [name for name, t in truth.items() if t["chip"] == chip]
            for name, ours in ours_of(options.tpusight, folder, chip, names).items():
                rows[name] = errors_of(ours, truth[name])
    aside = {name: row for name, row in rows.items() if zlib.crc32(name.encode()) % 5 == 0}
    seen = {name: row for name, row in rows.items() if name not in aside}
    show("modules", seen)
    if not options.seen:
        show("modules put aside", aside)
    if options.off:
        show_off(seen if options.seen else rows)
    return not is_reached(seen if options.seen else rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("tpusight")
    parser.add_argument("modules")
    parser.add_argument("--off", action="store_true")
    parser.add_argument("--seen", action="store_true")
    sys.exit(main(parser.parse_args()))
