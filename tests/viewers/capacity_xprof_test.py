#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the views allocators and capacity against XProf's memory_profile and memory_viewer: capacity_xprof_test.py

allocators: 400 allocations and frees of one allocator on three threads, made here, seeded. Its peak, when that was, its
capacity and every block alive at the peak are equal.
capacity: the modules of the real CPU profiles in tests/data that hold a buffer assignment. The peak, what is there all
the time, arguments and results are equal to the byte.

Run in the build folder. $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: xprof is not there.
"""
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import DATA, PROGRAM, need_viewer

sys.path[:0] = [HERE, os.path.join(HERE, "..", "fixtures")]
MIB = 1 << 20
PROFILES = ["cpu_functions", "cpu_shapes", "cpu_cache_cold", "cpu_recompile", "cpu_steps"]


def report(path, view):
    run = subprocess.run([PROGRAM, "report", "-q", "--format=json", "--view=" + view, path], capture_output=True,
                         text=True, check=True)
    return json.loads(run.stdout)[view]


def ask(files, tool, options):
    from xprof.convert import raw_to_tool_data
    data, _ = raw_to_tool_data.xspace_to_tool_data(files, tool, options)
    return json.loads(data)


def allocations():
    """400 events: a block is taken, or with 45 % one that is there is freed."""
    from wire import Plane, space
    rng, plane = random.Random(7), Plane("/host:CPU", 1)
    plane.event_metadata(1, "MemoryAllocation")
    plane.event_metadata(2, "MemoryDeallocation")
    threads, live, at, heap, address, peak = [[], [], []], {}, 0, 0, 4096, 0
    for k in range(400):
        at += rng.randint(1, 50) * 1000
        free = bool(live) and rng.random() < 0.45
        if free:
            taken = rng.choice(sorted(live))
            size, op = live.pop(taken)
            heap -= size
        else:
            size, op = rng.choice([256, 1024, 65536, MIB]), f"op{rng.randint(0, 5)}"
            address += size
            taken, heap = address, heap + size
            live[taken] = size, op
        peak = max(peak, heap + 4096)
        stats = {"bytes_reserved": ("int", 4096), "bytes_allocated": ("int", heap),
                 "bytes_available": ("int", 64 * MIB - heap - 4096), "fragmentation": ("double", 0.25 + k / 4000),
                 "peak_bytes_in_use": ("int", peak), "requested_bytes": ("int", size - 3),
                 "allocation_bytes": ("int", size), "addr": ("int", taken), "allocator_name": ("str", "GPU_0_bfc")}
        if not free:
            stats.update({"tf_op": ("str", op), "region_type": ("str", "temp"), "shape": ("str", f"[{size // 4}]"),
                          "data_type": ("int", 1)})
        threads[k % 3].append(plane.event(1 + free, at, 100, stats))
    for i, events in enumerate(threads):
        plane.line(i + 1, f"thread{i}", events, timestamp_ns=1000000000)
    return space([plane])


def check_allocators(folder):
    path = os.path.join(folder, "host.xplane.pb")
    with open(path, "wb") as f:
        f.write(allocations())
    ours = report(path, "allocators")
    theirs = ask([path], "memory_profile", {"host": "host"})["memoryProfilePerAllocator"]["GPU_0_bfc"]
    summary, row = theirs["profileSummary"], ours["allocators"][0]
    pairs = [(row["peak_bytes"], int(summary["peakStats"]["peakBytesInUse"])),
             (row["heap_bytes"], int(summary["peakStats"]["heapAllocatedBytes"])),
             (row["capacity_bytes"], int(summary["memoryCapacity"])),
             (row["lifetime_peak_bytes"], int(summary["peakBytesUsageLifetime"])),
             (round(row["fragmentation_pct"] / 100, 9), round(summary["peakStats"]["fragmentation"], 9))]
    blocks = collections.Counter()
    for active in theirs["activeAllocations"]:
        if int(active["snapshotIndex"]) < 0:
            continue  # the stack and what was there before
        about = theirs["memoryProfileSnapshots"][int(active["snapshotIndex"])]["activityMetadata"]
        blocks[about["tfOpName"], int(about["allocationBytes"]), about["tensorShape"]] += int(active["numOccurrences"])
    our_blocks = collections.Counter()
    for block in ours["allocations"]:
        our_blocks[block["framework_op"], block["bytes"], block["shape"]] += block["count"]
    print(f"allocators: {pairs}, {sum(blocks.values())} blocks, equal: {blocks == our_blocks}")
    return any(a != b for a, b in pairs) or blocks != our_blocks or not blocks


def modules_of(path, folder):
    """XProf wants each HloProto in a file of its own beside the profile."""
    from wire import fields
    with open(path, "rb") as f:
        data = f.read()
    for _, _, plane in (p for p in fields(data) if p[0] == 1):
        parts = list(fields(plane))
        if (2, 2, b"/host:metadata") not in parts:
            continue
        for entry in ({f: v for f, _, v in fields(v)} for f, _, v in parts if f == 4):
            metadata = list(fields(entry[2]))
            name = next(v for f, _, v in metadata if f == 2).decode()
            for stat in (v for f, _, v in metadata if f == 5):
                for proto in (v for f, _, v in fields(stat) if f == 6):
                    with open(os.path.join(folder, name + ".hlo_proto.pb"), "wb") as out:
                        out.write(proto)


def check_module(path, module):
    name = f"{module['module']}({module['program_id']})"
    theirs = ask([path], "memory_viewer", {"module_name": name, "memory_space": "0", "graph_viewer_options": {},
                                           "host": os.path.basename(path)[:-len(".xplane.pb")],
                                           "view_memory_allocation_timeline": False})
    pairs = {"peak_bytes": "peakHeapMib", "reserved_bytes": "totalBufferAllocationMib",
             "argument_bytes": "entryComputationParametersMib"}
    bad = [(ours, module[ours], theirs.get(key, 0) * MIB) for ours, key in pairs.items()
           if abs(module[ours] - theirs.get(key, 0) * MIB) > 0.5]
    print(f"{name}: peak {module['peak_bytes']}, reserved {module['reserved_bytes']}: {bad or 'equal'}")
    return bool(bad)


def check_capacity(folder):
    bad = nr = 0
    for name in PROFILES:
        session = os.path.join(folder, name)
        os.makedirs(session)
        path = shutil.copy(os.path.join(DATA, name + ".xplane.pb"), session)
        modules_of(path, session)
        for module in report(path, "capacity").get("modules", []):
            if module["buffers"] == "assigned":
                bad += check_module(path, module)
                nr += 1
    print(f"capacity: {nr} modules compared, {bad} differ")
    return bad or nr == 0


def main():
    need_viewer("xprof")
    with tempfile.TemporaryDirectory() as folder:
        bad = bool(check_allocators(folder))
        return int(bool(check_capacity(folder)) or bad)


if __name__ == "__main__":
    sys.exit(main())
