#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a profile of a shape that no real one has: very many steps, or very many ops.

Usage: make_shapes.py OUT STEPS OPS [DEVICES]

Each of DEVICES cores (1) runs a program of OPS ops, one after the other, STEPS times, with marks of steps and of the program's
executions. How long an op takes falls with its rank (Zipf's law), and a step in 1,000 takes twice its time, so there are long
and short ops and slow steps. 1,000,000 steps of 2 ops are 71 MB, 10 steps of 100,000 ops 38 MB. The program's compiled form is not there.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "fixtures"))
from wire import BYTES, blob, num, varint

STATS = {"device_type_string": 1, "peak_teraflops_per_second": 2, "peak_hbm_bw_gigabytes_per_second": 3,
         "hlo_category": 4, "program_id": 5, "symbol_id": 6, "flops": 7, "bytes_accessed": 8, "step_num": 9, "run_id": 10,
         "device_offset_ps": 11, "device_duration_ps": 12}
PROGRAM = 1219076091723580388
START_NS = 1767225600000000000
LONGEST_PS, SHORTEST_PS, BETWEEN_PS = 400_000, 1_000, 500


def stat(field, name, value):
    """A stat of the message that holds stats in FIELD: a number, or a text."""
    said = blob(5, value) if isinstance(value, bytes) else num(3, value)
    return blob(field, num(1, STATS[name]) + said)


def duration(op):
    return max(SHORTEST_PS, LONGEST_PS // op)


def metadata(op):
    """Its work is a tenth of what the chip could do in its time."""
    name = b"fusion.%d" % op
    stats = (stat(5, "hlo_category", b"loop fusion") + stat(5, "program_id", PROGRAM) + stat(5, "symbol_id", op)
             + stat(5, "flops", 20 * duration(op)) + stat(5, "bytes_accessed", duration(op) // 12000))
    text = b"%" + name + b" = f32[8,128]{1,0:T(8,128)} fusion(f32[8,128]{1,0:T(8,128)} %p.1)"
    return blob(4, num(1, op) + blob(2, num(1, op) + blob(2, text) + blob(4, name) + stats))


def event(metadata_id, start_ps, dur_ps, stats=b""):
    return blob(4, num(1, metadata_id) + num(2, start_ps) + num(3, dur_ps) + stats)


def write_line(file, number_of, name, path):
    """A line whose events lie in the file PATH, as one message of a plane."""
    head = num(1, number_of) + blob(2, name) + num(3, START_NS)
    file.write(varint(3 << 3 | BYTES) + varint(len(head) + os.path.getsize(path)) + head)
    with open(path, "rb") as events:
        while chunk := events.read(1 << 20):
            file.write(chunk)
    os.remove(path)


def write_events(path, steps, ops):
    durations = [duration(op) for op in range(1, ops + 1)]
    paths = [f"{path}.{name}" for name in ("steps", "modules", "ops")]
    at = 1_000_000
    with open(paths[0], "wb") as marks, open(paths[1], "wb") as modules, open(paths[2], "wb") as line:
        for step in range(steps):
            start, slow = at, 2 if step % 1000 == 999 else 1
            for op, dur in enumerate(durations, 1):
                dur *= slow
                line.write(event(op, at, dur, stat(4, "device_offset_ps", at) + stat(4, "device_duration_ps", dur)))
                at += dur + BETWEEN_PS
            modules.write(event(ops + 1, start, at - start, stat(4, "run_id", step + 1)))
            marks.write(event(ops + 2, start, at - start, stat(4, "step_num", step)))
            at += 4 * BETWEEN_PS
    return paths


def write_plane(out, device, steps, ops):
    head = num(1, 2 + device) + blob(2, b"/device:TPU:%d" % device)
    for name, key in STATS.items():
        head += blob(5, num(1, key) + blob(2, num(1, key) + blob(2, name.encode())))
    head += stat(6, "device_type_string", b"TPU v5 lite")
    head += stat(6, "peak_teraflops_per_second", 197) + stat(6, "peak_hbm_bw_gigabytes_per_second", 819)
    head += b"".join(metadata(op) for op in range(1, ops + 1))
    for key, name in ((ops + 1, b"jit_step(%d)" % PROGRAM), (ops + 2, b"0")):
        head += blob(4, num(1, key) + blob(2, num(1, key) + blob(2, name)))
    paths = write_events(out, steps, ops)
    body = out + ".plane"
    with open(body, "wb") as file:
        file.write(head)
        for at, (name, path) in enumerate(zip((b"Steps", b"XLA Modules", b"XLA Ops"), paths), 1):
            write_line(file, at, name, path)
    return body


def main():
    out, steps, ops = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(out, "wb") as file:
        for device in range(int(sys.argv[4]) if len(sys.argv) > 4 else 1):
            body = write_plane(out, device, steps, ops)
            file.write(varint(1 << 3 | BYTES) + varint(os.path.getsize(body)))
            with open(body, "rb") as plane:
                while chunk := plane.read(1 << 20):
                    file.write(chunk)
            os.remove(body)
    print(f"{os.path.getsize(out)} bytes")


main()
