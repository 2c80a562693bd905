#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No input takes time or memory out of proportion to its size (docs/limits.md): bombs_test.py [--full] [NAME...]

Without --full: some bombs of a number of bytes and of four times as many, a dimension of an input each. What grows with the
bytes is 4; with their square, 16; the limit lies between. Where valgrind is there, instructions are counted, less those of an
input of next to nothing: the same each time, on any machine, so that the limit is near 4; each day has a part of them (TS_TURNS=all:
each). Else the processor's time is measured, and what is over in a moment is not compared. With --full: all bombs and all
commands at 10 MB, none above 10 seconds of CPU or 1 GB; prints the slowest command of each.
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bombs
import make_bombs
from helpers import has_turn

PROGRAM = os.path.abspath("bin/tpusight")
FEW, TIMES, GROWTH = 200_000, 4, 9
MOMENT_S = 0.5
COUNTED_FEW, COUNTED_GROWTH, PARTS = 50_000, 6, 12
NOTHING, MOMENT = 600, 10_000_000  # bytes; instructions
BY_PRODUCT = {"lines_and_ops"}  # grows with lines times ops up to TS_LIMIT_CELLS, which the time of larger inputs shows
FEW_MB = 500  # of the larger input
FULL, FULL_S, FULL_MB = 10_000_000, 10, 1000

# The command that each of these is about: what once was slow, and what shares most.
QUICK = {
    "devices": ("report", "--json", "--tracks", "logs"),
    "busy_devices": ("annotate", "-q", "logs"),
    "gpu_streams": ("report", "--json", "--tracks", "logs"),
    "device_lines": ("report", "--json", "--tracks", "logs"),
    "late_lines": ("report", "--json", "--tracks", "logs"),
    "sparse_cores": ("report", "--json", "logs"),
    "threads": ("report", "--json", "logs"),
    "op_names": ("report", "--json", "logs"),
    "programs": ("report", "--json", "logs"),
    "collectives": ("report", "--json", "logs"),
    "marked_in_turn": ("report", "--json", "logs"),
    "host_same_time": ("report", "--json", "logs"),
    "deep": ("report", "--json", "logs"),
    "deep_threads": ("report", "--json", "logs"),
    "overlapping": ("annotate", "-q", "logs"),
    "long_name": ("report", "--json", "logs"),
    "lines_and_ops": ("report", "--json", "logs"),
    "long_text_shared": ("report", "--format=csv", "--view=ops", "logs"),
    "long_host_name": ("report", "--json", "logs"),
    "deep_names": ("report", "--json", "logs"),
    "compilations": ("report", "--json", "logs"),
    "freed_in_turn": ("memory", "--json", "logs"),
    "wide_tuple": ("hlo", "--json", "m.hlo_proto.pb"),
    "binary_tuples": ("hlo", "--json", "m.hlo_proto.pb"),
    "elements_of_wide": ("hlo", "--json", "m.hlo_proto.pb"),
    "fusions_of_one": ("hlo", "--json", "m.hlo_proto.pb"),
    "frame_circle": ("hlo", "--json", "m.hlo_proto.pb"),
    "call_paths_doubled": ("hlo", "--json", "m.hlo_proto.pb"),
    "aliases": ("hlo", "--json", "m.hlo_proto.pb"),
    "buffers_of_tuple": ("hlo", "--json", "m.hlo_proto.pb"),
    "trace_devices": ("report", "--json", "--tracks", "logs"),
    "trace_streams": ("report", "--json", "--tracks", "logs"),
    "trace_threads": ("report", "--json", "logs"),
    "trace_same_time": ("report", "--json", "logs"),
    "trace_deep": ("report", "--json", "logs"),
    "trace_flows": ("annotate", "-q", "--perfetto=both", "logs"),
    "trace_args": ("report", "--json", "logs"),
    "trace_python_stacks": ("flame", "--json", "logs"),
    "trace_memory_held": ("memory", "--json", "logs"),
    "held_stacks": ("memory", "--json", "logs"),
    "tar_hosts": ("report", "--json", "hosts.tar.gz"),
    "tar_controllers": ("report", "--json", "controllers.tar.gz"),
    "tar_sessions": ("report", "--json", "sessions.tar.gz"),
    "log_breaks": ("compile", "--json", "--torch-trace=dedicated_log_torch_trace_x.log", "logs"),
}
# What a limit refuses or leaves out says so, by the limit's name.
REFUSED = {
    "devices": ("TS_LIMIT_PLANES", 200_000, ("report", "--json", "logs")),
    "lines_and_ops": ("TS_LIMIT_CELLS", 400_000, ("report", "--json", "logs")),
    "long_text_shared": ("TS_LIMIT_SHARED_RATIO", 200_000, ("report", "--json", "logs")),
    "call_paths_doubled": ("TS_LIMIT_HLO_WALK_RATIO", 0, ("hlo", "m.hlo_proto.pb")),
    "many_instructions": ("TS_LIMIT_HLO_INSTR_BYTES", 100_000, ("hlo", "m.hlo_proto.pb")),
    "too_deep_tuples": ("TS_LIMIT_HLO_SHAPE_DEPTH", 1_000, ("hlo", "m.hlo_proto.pb")),
    "call_depth": ("TS_LIMIT_HLO_CALL_DEPTH", 10_000, ("hlo", "m.hlo_proto.pb")),
    "trace_begins": ("TS_LIMIT_TRACE_OPEN", 400_000, ("report", "--json", "logs")),
    "tar_hosts": ("TS_LIMIT_ARCHIVE_FILES", 420_000, ("check", "hosts.tar.gz")),
    "tar_of_zeros": ("TS_LIMIT_PACKED_RATIO", 100_000, ("check", "zeros.tar.gz")),
    "packed_spaces": ("TS_LIMIT_PACKED_RATIO", 100_000, ("report", "--json", "s.pt.trace.json.gz")),
}


def cost(name, size, words, folder):
    bombs.lay(name, size, folder)
    return bombs.measure(PROGRAM, words, folder, 60)


def growth(name, words, folder):
    """What is wrong, or nothing. A busy machine makes single runs slow: what looks wrong is looked at again."""
    for _ in range(2):
        few, many = (cost(name, size, words, folder) for size in (FEW, TIMES * FEW))
        if many.status < 0 or many.megabytes > FEW_MB:
            return f"{name}: {many.command}: status {many.status}, {many.megabytes:.0f} MB of {TIMES * FEW} bytes: {many.said}"
        if many.seconds < MOMENT_S or many.seconds < GROWTH * few.seconds:
            return None
    return f"{name}: {many.command}: {few.seconds:.2f} s of {FEW} bytes, {many.seconds:.2f} s of {TIMES} times as many"


def counted_growth(name, words, folder):
    """The same by instructions."""
    counts = []
    for size in (NOTHING, COUNTED_FEW, TIMES * COUNTED_FEW):
        bombs.lay(name, size, folder)
        number, status = bombs.counted(PROGRAM, words, folder)
        if number is None or status < 0 or status > 4:
            return f"{name}: {' '.join(words)}: status {status} under valgrind"
        counts.append(number)
    none, few, many = counts
    if many - none < COUNTED_GROWTH * max(few - none, MOMENT):
        return None
    return f"{name}: {' '.join(words)}: {few - none} instructions of {COUNTED_FEW} bytes, {many - none} of {TIMES} times as many"


def silence(name, limit, size, words, folder):
    spent = cost(name, size, words, folder)
    if limit in spent.said and spent.status > 0:
        return None
    return f"{name}: {spent.command}: {limit} is not named; status {spent.status}: {spent.said}"


def quick(folder, names):
    chosen = [(name, words) for name, words in QUICK.items() if name in names]
    if bombs.can_count(PROGRAM):
        today = [row for number, row in enumerate(chosen) if has_turn(number, PARTS) or len(names) < len(make_bombs.BOMBS)]
        wrong = [(growth if name in BY_PRODUCT else counted_growth)(name, words, folder) for name, words in today]
    else:
        wrong = [growth(name, words, folder) for name, words in chosen]
    wrong += [silence(name, *how, folder) for name, how in REFUSED.items() if name in names]
    return [story for story in wrong if story]


def too_much(name, size, folder):
    """Prints a row of one bomb."""
    spent = list(bombs.costs(PROGRAM, name, size, folder))
    slow, large = max(spent, key=lambda c: c.seconds), max(spent, key=lambda c: c.megabytes)
    print(f"{name:28} {slow.seconds:7.2f} s  {slow.command:60.60} {large.megabytes:6.0f} MB  {large.command:.60}", flush=True)
    for one in spent:
        if one.seconds > FULL_S or one.megabytes > FULL_MB or one.status < 0:
            yield f"{name}: {one.command}: {one.seconds:.2f} s, {one.megabytes:.0f} MB, status {one.status}: {one.said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--bytes", type=int, default=FULL)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    names = args.names or list(make_bombs.BOMBS)
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, "work")
        wrong = [story for name in names for story in too_much(name, args.bytes, work)] if args.full else quick(work, names)
    print(*wrong, sep="\n")
    print(f"{len(names)} bombs, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
