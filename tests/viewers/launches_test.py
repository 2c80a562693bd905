#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Launch arrows of annotated profiles, in both forms of the Perfetto trace, against the profile itself.

  - each correlation_id of a host that a call on a thread and something on a GPU have is one arrow, each run_id and
    device_ordinal of a host that an event of a thread and a module's run on that TPU have is one, and there are no others
  - each arrow has one start and one end, the start first in time, also when only some events are written
  - an arrow joins the earliest event of each side
  - in the pftrace each event of a GPU's stream that is written is one GPU render stage too, of its time, its name and its
    launch's grid and block, in a category of its own for kernels; its launch on the host names it
Hand-made profiles, and those in $TS_CORPUS where it is there. $TS_TRACE_PROCESSOR, where it names Perfetto's, is asked, too.
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: it has not.
"""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

import pftrace_test as pf
from wire import Plane, fields, signed, space

PROGRAM, proto = pf.PROGRAM, pf.proto
PROCESSOR = os.environ.get("TS_TRACE_PROCESSOR")
US = 1_000_000


# Profiles

def plane_of(name, id, lines):
    """Lines: {name: [(event's name, start us, duration us, stats)]}."""
    plane, ids = Plane(name, id), {}
    for number, (line, events) in enumerate(lines.items(), 1):
        for event in events:
            if event[0] not in ids:
                ids[event[0]] = len(ids) + 1
                plane.event_metadata(ids[event[0]], event[0])
        plane.line(number, line, [plane.event(ids[n], int(start * US), int(dur * US), stats.items())
                                  for n, start, dur, stats in events], 1000)
    return plane


def correlated(number):
    return {"correlation_id": ("uint", number)}


def kernel(number, grid, registers=32):
    return correlated(number) | {"kernel_details": ("str", f"regs:{registers} static_shared:512 dynamic_shared:0 "
                                                           f"grid:{grid},2,1 block:256,1,1 occ_pct:50")}


def ran(number, device=None):
    return {"run_id": ("int", number)} | ({} if device is None else {"device_ordinal": ("int", device)})


def gpu_planes():
    """Launches on two threads; a graph of three kernels; a kernel that runs before its launch, by its clock; both sides
    with numbers that the other has not; a copy; many short pairs, which a budget leaves out."""
    short = [("cudaLaunchKernel", 1000 + i * 2, 1 + i % 3 / 4, correlated(100 + i)) for i in range(400)]
    runs = [("kernel_a", 1001 + i * 2, 1 + i % 2 / 2, kernel(100 + i, 16 + i % 3)) for i in range(400)]
    graph = [("kernel_a", 60 + 10 * i, 5, correlated(2)) for i in range(3)]
    host = plane_of("/host:CPU", 9, {
        "main/1": [("step", 0, 4000, {}), ("cudaLaunchKernel", 10, 5, correlated(1)),
                   ("cudaGraphLaunch", 20, 5, correlated(2)), ("cudaLaunchKernel", 500, 5, correlated(4))] + short,
        "worker/2": [("cudaMemcpyAsync", 30, 5, correlated(3)), ("cudaStreamSynchronize", 40, 5, correlated(77))]})
    device = plane_of("/device:GPU:0", 1, {
        "Stream #1(Kernel)": [("kernel_b", 50, 5, kernel(1, 8, 40))] + graph + [("kernel_a", 499, 5, correlated(4)),
                                                                             ("kernel_a", 600, 5, correlated(78))],
        "Stream #2(MemcpyH2D)": [("MemcpyH2D", 45, 5, correlated(3))],
        "Stream #3(Kernel)": runs})
    device.add_stats({"device_vendor": ("str", "Nvidia")})
    return space([device, host], ["a"])


def tpu_planes():
    """The same runs on two TPUs, enqueued and completed on the host; steps with the same numbers; one not enqueued."""
    host = plane_of("/host:CPU", 9, {
        "main/1": [("train", 10 * i, 8, {"step_num": ("int", i)}) for i in range(8)],
        "tpu/2": [("DoEnqueueProgram", 10 * i + 2 + d, 1, ran(i, d)) for i in range(6) for d in (0, 1)],
        "done/3": [("CompleteCallbacks", 200 + 10 * i + d, 1, ran(i, d)) for i in range(6) for d in (0, 1)]
        + [("untold", 300, 1, ran(7))]})
    devices = []
    for d in (0, 1):
        device = plane_of(f"/device:TPU:{d}", 1 + d, {
            "XLA Modules": [("jit_f(77)", 100 + 12 * i + d, 10, ran(i)) for i in range(1, 8)],
            "XLA Ops": [("fusion", 100 + 12 * i + d, 9, {}) for i in range(1, 8)]})
        device.add_stats({"device_type_string": ("str", "TPU v5 lite")})
        devices.append(device)
    return space(devices + [host], ["a"])


def text_of(message, field):
    return next((v.decode("utf-8", "replace") for f, _, v in fields(message) if f == field), "")


def stats_of(event, names):
    out = {}
    for f, _, stat in fields(event):
        if f == 4:
            parts = {g: v for g, _, v in fields(stat)}
            if names.get(parts.get(1)) in ("correlation_id", "run_id", "device_ordinal"):
                out[names[parts[1]]] = parts.get(3, parts.get(4))
    return out


def events_of(data):
    """(plane, line, start ps, stats that join) of each event of an XSpace."""
    for field, _, plane in fields(data):
        if field != 1:
            continue
        names = {}
        for f, _, v in fields(plane):
            if f == 5:
                parts = {g: x for g, _, x in fields(v)}
                names[parts[1]] = text_of(parts[2], 2)
        for f, _, line in fields(plane):
            if f != 3:
                continue
            start_ns = next((signed(v) for g, _, v in fields(line) if g == 3), 0)
            for g, _, event in fields(line):
                if g == 4:
                    offset = next((signed(v) for h, _, v in fields(event) if h == 2), 0)
                    yield text_of(plane, 2), text_of(line, 2), start_ns * 1000 + offset, stats_of(event, names)


def expected(data, prefix):
    """Counter of (device's plane, start ns there, start ns on the host) of the arrows of a host's whole trace."""
    sides = collections.defaultdict(lambda: collections.defaultdict(list))
    for plane, line, start, stats in events_of(data):
        if plane.startswith("/device:GPU") and "correlation_id" in stats:
            sides[stats["correlation_id"]]["device"].append((start, plane))
        elif plane.startswith("/device:TPU") and line == "XLA Modules" and "run_id" in stats:
            sides[stats["run_id"], int(plane.rsplit(":", 1)[1])]["device"].append((start, plane))
        elif plane == "/host:CPU" and "correlation_id" in stats:
            sides[stats["correlation_id"]]["host"].append((start, plane))
        elif plane == "/host:CPU" and len(stats) == 2:
            sides[stats["run_id"], stats["device_ordinal"]]["host"].append((start, plane))
    pairs = [(min(s["device"]), min(s["host"])) for s in sides.values() if len(s) == 2]
    return collections.Counter((prefix + device[1], device[0] // 1000, host[0] // 1000) for device, host in pairs)


# Traces

def arrows_of_json(path):
    """({id: [(ph, plane, start ns)]}, how many of another kind), and the shift."""
    with gzip.open(path) as f:
        trace = json.load(f)
    names = {e["pid"]: e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "process_name"}
    arrows, others = collections.defaultdict(list), 0
    for e in trace["traceEvents"]:
        if e["ph"] in "sf" and e["cat"] == "launch":
            arrows[e["id"]].append((e["ph"], names[e["pid"]], round(e["ts"] * 1000)))
        others += e["ph"] == "s" and e["cat"] != "launch"
    return arrows, others, (trace.get("metadata") or trace.get("otherData"))["shift_ns"]


def arrows_of_pftrace(path):
    """{id: {"s", "f"}} of all arrows."""
    arrows = collections.defaultdict(list)
    with gzip.open(path) as f:
        for packet in proto.Trace.FromString(f.read()).packet:
            for flow in packet.track_event.flow_ids:
                arrows[flow].append("s")
            for flow in packet.track_event.terminating_flow_ids:
                arrows[flow].append("f")
    return arrows


def extension(message, field):
    """The messages of an extension, which the package's classes do not know."""
    return [{g: v for g, _, v in fields(value)} for f, _, value in fields(message.SerializeToString()) if f == field]


class Stages:
    """The GPU render stages of a pftrace, and the slices of GPUs' streams beside them."""

    def __init__(self, path):
        self.stages, self.slices, self.submitted, self.gpus = [], [], [], []
        names, kernels, specs, clocks = {}, {}, {}, {}
        with gzip.open(path) as f:
            packets = proto.Trace.FromString(f.read()).packet
        for packet in packets:
            sequence = packet.trusted_packet_sequence_id
            if packet.sequence_flags & 1:
                clocks[sequence] = 0
            for entry in packet.interned_data.event_names:
                names[sequence, entry.iid] = entry.name
            for entry in packet.interned_data.gpu_specifications:
                specs[sequence, entry.iid] = entry
            for entry in extension(packet.interned_data, 1000):
                assert (sequence, entry[1]) not in kernels, "a kernel is interned twice"
                kernels[sequence, entry[1]] = entry.get(2, b"").decode()
            if packet.HasField("timestamp") and packet.timestamp_clock_id != 6:
                clocks[sequence] += packet.timestamp
            at = packet.timestamp if packet.timestamp_clock_id == 6 else clocks.get(sequence)
            event, stage = packet.track_event, packet.gpu_render_stage_event
            if packet.HasField("gpu_render_stage_event"):
                self.stages.append((sequence, at, stage.duration, names[sequence, stage.name_iid],
                                    kernels[sequence, stage.kernel_iid], stage, specs[sequence, stage.stage_iid].category,
                                    specs[sequence, stage.hw_queue_iid].name))
            elif packet.HasField("track_event") and event.type == event.TYPE_SLICE_BEGIN:
                self.slices.append((sequence, at, names.get((sequence, event.name_iid), "")))
                self.submitted += [entry[1] for entry in extension(event, 3000)]
            self.gpus += [(gpu.name, gpu.vendor) for gpu in packet.gpu_info.gpus]


def compare_stages(path, nr_launches, wrong):
    """How many kernels and how many other stages there are."""
    found = Stages(path)
    ids = [s[5].event_id for s in found.stages]
    sequences = {s[0] for s in found.stages}
    beside = collections.Counter(s for s in found.slices if s[0] in sequences)
    if len(set(ids)) != len(ids):
        wrong.append("two render stages have one id")
    if collections.Counter((s[0], s[1], s[3]) for s in found.stages) != beside:
        wrong.append("the render stages of a stream are not its slices")
    if len(found.submitted) != nr_launches or not set(found.submitted) <= set(ids):
        wrong.append(f"{len(found.submitted)} launches name render stages, and there are {nr_launches}")
    for _, _, _, name, kernel_name, stage, category, queue in found.stages:
        grid = stage.launch.grid_size
        if name == "kernel_b" and (kernel_name, grid.x, grid.y, stage.launch.workgroup_size.x) != ("kernel_b", 8, 2, 256):
            wrong.append(f"kernel_b was launched as {stage}")
        if (category == 2) == ("opyBuffer" in name or name.startswith("Memcpy")) or not queue.startswith("Stream #"):
            wrong.append(f"{name} is of category {category} on {queue}")
    if PROCESSOR and found.stages:
        rows = ask(path, "select count(*), sum(render_stage_category = 2), count(extract_arg(arg_set_id, 'kernel_name')) "
                         "from gpu_slice")
        nr_kernels = sum(s[6] == 2 for s in found.stages)
        if rows != [f"{len(ids)},{nr_kernels},{len(ids)}"]:
            wrong.append(f"gpu_slice has {rows}, the file {len(ids)} stages, {nr_kernels} kernels")
        if ask(path, "select count(*) from flow join gpu_slice on gpu_slice.id = slice_in") != [str(nr_launches)]:
            wrong.append("the importer does not have the arrows of the render stages")
        if ask(path, "select count(*) from gpu where name is not null") != [str(len(found.gpus))]:
            wrong.append("the importer does not have the GPUs")
    return len(ids)


def ask(path, sql):
    """Rows of what the trace processor says."""
    out = subprocess.run([PROCESSOR, "query", path, sql], check=True, capture_output=True, text=True).stdout
    return [line for line in out.splitlines()[1:] if line]


def ends_of(arrows, shift, wrong):
    found = collections.Counter()
    for number, ends in arrows.items():
        if [ph for ph, _, _ in sorted(ends, key=lambda e: (e[2], e[0] == "f"))] != ["s", "f"]:
            wrong.append(f"arrow {number} is {ends}")
            continue
        device, host = sorted(ends, key=lambda e: "/host:" in e[1])
        if device[1].rpartition("/")[0] != host[1].rpartition("/")[0]:
            wrong.append(f"arrow {number} leads from host to host: {ends}")
        found[device[1], device[2] - shift, host[2] - shift] += 1
    return found


def compare(session, want, is_whole, wrong):
    json_path, pb_path = (os.path.join(session, "perfetto_trace." + end) for end in ("json.gz", "pftrace"))
    arrows, nr_others, shift = arrows_of_json(json_path)
    found = ends_of(arrows, shift, wrong)
    if found - want or is_whole and found != want:
        wrong.append(f"{sum((found - want).values())} arrows too many {list(found - want)[:2]}, "
                     f"{sum((want - found).values())} missing {list(want - found)[:2]}")
    binary = arrows_of_pftrace(pb_path)
    if any(sorted(ends) != ["f", "s"] for ends in binary.values()):
        wrong.append("an arrow of the pftrace has not one start and one end")
    if not set(arrows) <= set(binary) or len(binary) != len(arrows) + nr_others:
        wrong.append(f"{len(arrows)} launches in JSON, {len(binary)} arrows in the pftrace")
    for path in (json_path, pb_path) if PROCESSOR else ():
        errors = ask(path, "select name, value from stats where value > 0 and severity in ('error', 'data_loss')")
        if errors:
            wrong.append(f"{os.path.basename(path)}: {errors}")
    if PROCESSOR and nr_others == 0:
        for path in (json_path, pb_path):
            if ask(path, "select count(*) from flow where trace_id is not null") != [str(len(arrows))]:
                wrong.append(f"{os.path.basename(path)}: the importer does not have {len(arrows)} arrows")
    on_gpu = sum(any("/device:GPU" in plane for _, plane, _ in ends) for ends in arrows.values())
    return len(arrows), compare_stages(pb_path, on_gpu, wrong)


def check(name, hosts, folder):
    """HOSTS: {its name: its profile}."""
    wrong, counts = [], []
    want = sum((expected(data, f"{host} " if len(hosts) > 1 else "") for host, data in hosts.items()),
               collections.Counter())
    for budget in (0, 500, 20):
        session = os.path.join(folder, f"{name}{budget}", "plugins", "profile", "s")
        os.makedirs(session)
        for host, data in hosts.items():
            with open(os.path.join(session, f"{host}.xplane.pb"), "wb") as f:
                f.write(data)
        subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=both", f"--max-trace-events={budget}", session],
                       check=True)
        counts.append(compare(session, want, budget == 0, wrong))
    nr_runs = sum(plane.startswith("/device:GPU") for data in hosts.values() for plane, _, _, _ in events_of(data))
    if not want or counts[0] != (sum(want.values()), nr_runs):
        wrong.append(f"{counts[0]} arrows and stages of {sum(want.values())} and {nr_runs}")
    print(f"{name}: {counts} arrows and render stages with all events, 500 and 20" + "".join(f"\n  {w}"[:500] for w in wrong))
    return not wrong


def main():
    profiles = {"gpu": {"a": gpu_planes()}, "tpu": {"a": tpu_planes()},
                "two hosts": {"a": gpu_planes(), "b": gpu_planes()}}
    for path in sorted(glob.glob(os.path.join(os.environ.get("TS_CORPUS", "/nonexistent"), "xplane", "*.xplane.pb"))):
        with open(path, "rb") as f:
            profiles[os.path.basename(path).split(".")[0]] = {"a": f.read()}
    with tempfile.TemporaryDirectory() as folder:
        good = [check(name, hosts, folder) for name, hosts in profiles.items()]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
