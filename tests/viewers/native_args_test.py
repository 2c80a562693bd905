#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the args of every native slice of both forms against the profile itself, decoded from the wire here.

  - each stat of an event stands on its slice, by its own name and type; ids of programs, and numbers past 2^53, are text
  - what the metadata says of an op stands on each of its slices (in JSON: long texts on the op's first one of the row)
  - a core's ops have call stacks: lines of source, else scopes
  - read as Perfetto's importer reads JSON, no arrow ends before it begins, and no op of 0 ns stands in the op behind it
Runs on the bundled profiles, and on those in $TS_CORPUS; with $TS_TRACE_PROCESSOR (trace_processor_shell) it also asks
that. Run in the build folder; $TPUSIGHT names the program, $TS_VIEWERS_PYTHON a Python that has tests/requirements.txt.
Exit 77: it has not.
"""
import collections
import math
import os
import shutil
import struct
import sys
import tempfile

import pftrace_test as pf
from helpers import TRACE_PROCESSOR, query
from wire import fields, signed

EXACT = 1 << 53
REPEATED = {"device_offset_ps", "device_duration_ps"}  # the slice's own time, by another clock


# What the profile says

def number(name, value):
    return str(value) if name == "program_id" or abs(value) > EXACT else value


def real(bits):
    value = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value if math.isfinite(value) else format(value, "g")


def value_of(name, field, value, names):
    if field == 2:
        return real(value)
    if field in (3, 4):
        return number(name, signed(value) if field == 4 else value)
    return names.get(value, "") if field == 7 else pf.text(value)


def stats(message, field, names):
    """{name: value} of a message's stats; of one name the first."""
    out = {}
    for f, _, stat in fields(message):
        if f != field:
            continue
        parts = [(g, v) for g, _, v in fields(stat)]
        name = names.get(next((signed(v) for g, v in parts if g == 1), 0))
        values = [value_of(name, g, v, names) for g, v in parts if g != 1]
        if name and values:
            out.setdefault(name, values[-1])
    return out


def op_args(full, display, own):
    """The args that an op's metadata gives, of those that are texts or counts."""
    want = {name: own[name] for name in ("source", "source_stack", "shape_with_layout", "program_id") if own.get(name)}
    want.update((name, own[name]) for name in ("flops", "bytes_accessed", "model_flops") if own.get(name, -1) >= 0)
    if want.get("model_flops") == want.get("flops"):
        want.pop("model_flops", None)
    if own.get("tf_op"):
        want["tf_op"] = own["tf_op"].removesuffix(":")
    if display and full != display and "program_id" in own:
        want["long_name"] = full
    return {k: cut(v) if isinstance(v, str) else v for k, v in want.items() if v != ""}


def cut(text):
    return text.encode()[:4096].decode(errors="ignore")


def wanted(path, base_ns, shift_ns):
    """[(key, args)] of each event, the key as in slices_of()."""
    with open(path, "rb") as f:
        data = f.read()
    for plane, lines, _, names in pf.planes_of(data):
        if plane in pf.NOT_SHOWN or plane.startswith("/device:CUSTOM:TPUsight"):
            continue
        metadata = metadata_of(data, plane)
        for line in lines:
            bodies = [v for f, _, v in fields(line) if f == 4]
            title, events = pf.events_of(line, base_ns, plane, *pf_metadata(data, plane))
            for body, (start, dur, name, _) in zip(bodies, events):
                args = {k: v for k, v in stats(body, 4, names).items() if k not in REPEATED}
                op = {} if plane.startswith("/device:GPU") else metadata[next(
                    (signed(v) for f, _, v in fields(body) if f == 1), 0)]
                at = start // 1000
                yield (plane, title, name, at + shift_ns, (start + dur) // 1000 - at), {**op, **args}


def pf_metadata(data, plane):
    return next((metadata, names) for name, _, metadata, names in pf.planes_of(data) if name == plane)


def metadata_of(data, plane):
    """{event metadata id: op_args} of a plane."""
    out = {}
    for field, _, body in fields(data):
        if field != 1 or next((pf.text(v) for f, _, v in fields(body) if f == 2), "") != plane:
            continue
        names = pf_metadata(data, plane)[1]
        for f, _, v in fields(body):
            if f == 4:
                key, value = pf.entry(v)
                full, display, _ = pf.metadata_of(value, names)
                out[key] = op_args(full, display, stats(value, 5, names))
    return out


# What the files say

MADE = "/device:CPU:"  # whose ops are the host's events once more


def of_profile(row, category):
    return not row.startswith("TPUsight: ") and category != "tpusight"


def slices_of_pftrace(trace):
    processes = {pid: name for _, pid, name in trace.processes}
    rows = {tid: name for _, _, tid, name in trace.threads}
    for s in trace.slices:
        if of_profile(rows[s.row], s.category) and MADE not in processes[s.pid]:
            yield (processes[s.pid], rows[s.row], s.name, s.start, s.dur), s.args


def slices_of_json(events):
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    for e in events:
        if e["ph"] == "X" and of_profile(rows[e["tid"]], e.get("cat")) and MADE not in processes[e["pid"]]:
            row = rows[e["tid"] // 100 * 100]
            yield (processes[e["pid"]], row, e.get("name", ""), pf.ns(e["ts"]), pf.ns(e["dur"])), e["args"]


def has(args, want):
    """Does a slice say all of it? What its op says otherwise has a name of its own."""
    for name, value in want.items():
        found = args.get("event_" + name, args.get(name))
        if name == "tf_op":
            value, found = value.removesuffix(":"), str(found).removesuffix(":")
        same = math.isclose(found, value) if isinstance(value, float) and isinstance(found, float) else found == value
        if not same or type(found) is not type(value):
            return False
    return type(args["self_ns"]) is int and type(args["op_id"]) is int and type(args.get("program_id", "")) is str


def compare(form, slices, want, wrong):
    """Each event finds a slice of its own that says what it says."""
    found = collections.defaultdict(list)
    for key, args in slices:
        found[key].append(args)
    bad = collections.Counter()
    for key, args in want:
        match = next((i for i, has_args in enumerate(found[key]) if has(has_args, args)), None)
        if match is None:
            bad[key[:3]] += 1
        else:
            found[key].pop(match)
    left = sum(map(len, found.values()))
    if bad or left:
        wrong.append(f"{form}: {sum(bad.values())} events find no slice with their args: {bad.most_common(2)}; "
                     f"{left} slices are left over")


def stack_wanted(args, category, name):
    """A frame is a line without its column, or a scope: brackets hold slashes of names."""
    if args.get("source_stack"):
        lines = [line.rsplit(":", 1) for line in args["source_stack"].split("\n") if line]
        return [head if head.rpartition(":")[2].isdigit() and tail.isdigit() else f"{head}:{tail}" for head, tail in lines]
    if not args.get("tf_op"):
        return ["(no source)", category or name]
    frames, depth = [""], 0
    for c in args["tf_op"]:
        depth += (c == "(") - (c == ")" and depth > 0)
        if c == "/" and depth == 0:
            frames.append("")
        else:
            frames[-1] += c
    return [frame for frame in frames if frame]


def check_stacks(trace, wrong):
    for found, stack in trace.stacks:
        if stack != stack_wanted(found.args, found.category, found.name):
            wrong.append(f"{found.name} has the stack {stack}")
            return
    rows = {tid: name for _, _, tid, name in trace.threads}
    ops = sum(rows[s.row] == "XLA Ops" for s in trace.slices)
    if ops and len(trace.stacks) != ops:
        wrong.append(f"{len(trace.stacks)} of {ops} ops have a stack")


# JSON as the importer reads it

PHASES = {"E": -1, "X": 0}


def in_importers_order(events):
    """Of one time: ends, then what is complete, the longest first, then all others in the order of the file."""
    def key(at):
        event = events[at]
        length = -pf.ns(event["dur"]) if event["ph"] == "X" else 0
        return pf.ns(event["ts"]), PHASES.get(event["ph"], 0), length, at
    return [events[i] for i in sorted((i for i, e in enumerate(events) if "ts" in e), key=key)]


def check_order(events, wrong):
    begun, open_slices, ends = set(), collections.defaultdict(list), 0
    for event in in_importers_order(events):
        stack, at = open_slices[event["tid"]] if "tid" in event else [], pf.ns(event["ts"])
        if event["ph"] == "s":
            begun.add((event["name"], event["id"]))
        elif event["ph"] == "f":
            ends += (event["name"], event["id"]) not in begun
        elif event["ph"] == "E":
            stack.pop()
        elif event["ph"] in "XB":
            length = pf.ns(event.get("dur", 0)) if event["ph"] == "X" else None
            while stack and stack[-1][1] is not None and stack[-1][1] <= at:
                stack.pop()
            if length == 0 and stack and stack[-1][0] == at:
                wrong.append(f"{event['name']} of 0 ns at {at} ns stands in {stack[-1][2]}")
            stack.append((at, None if length is None else at + length, event.get("name")))
    if ends:
        wrong.append(f"{ends} arrows end before they begin")


# The importer itself

def ask_importer(path, prefix, want, nr_stacks, wrong):
    errors = query(path, "select name, value from stats where value > 0 and (severity in ('error', 'data_loss') or name like '%errors')")
    if errors:
        wrong.append(f"the importer of {path} says {errors}")
    counts = collections.Counter(name for _, args in want for name in args)
    told = query(path, "select substr(key, instr(key, '.') + 1), count(distinct slice.id) from slice join args using(arg_set_id) "
                     f"where key glob '{prefix}.*' group by 1")
    said = {name: int(count) for name, count in told}
    few = {name: (said.get(name, 0), count) for name, count in counts.items() if said.get(name, 0) < count and
           name not in pf.LONG}
    if few:
        wrong.append(f"SQL finds too few of {few} in {path}")
    stacks = query(path, "select count(*) from __intrinsic_track_event_callstacks")
    if int(stacks[0][0]) != nr_stacks:
        wrong.append(f"SQL finds {stacks[0][0]} stacks of {nr_stacks}")


def check(source, name, folder):
    wrong = []
    session = os.path.join(folder, name, "plugins", "profile", "s")
    os.makedirs(session)
    shutil.copyfile(source, os.path.join(session, "host.xplane.pb"))
    pf.annotate("--perfetto=both", session)
    pftrace, packed = os.path.join(session, "perfetto_trace.pftrace"), os.path.join(session, "perfetto_trace.json.gz")
    trace, events = pf.Trace(pftrace), pf.load_json(packed)["traceEvents"]
    base, shift = trace.attributes.get("tpusight.start_unix_ns", 0), trace.attributes["tpusight.shift_ns"]
    want = list(wanted(source, base, shift))
    compare("pftrace", slices_of_pftrace(trace), want, wrong)
    compare("JSON", slices_of_json(events), want, wrong)
    check_stacks(trace, wrong)
    check_order(pf.events_of_json(packed), wrong)
    if TRACE_PROCESSOR:
        ask_importer(pftrace, "debug", want, len(trace.stacks), wrong)
        ask_importer(packed, "args", want, 0, wrong)
    nr = sum(len(args) for _, args in want)
    print(f"{name}: {len(want)} events with {nr} args of their own and {len(trace.stacks)} stacks in both files"
          if not wrong else f"{name}: wrong")
    for w in wrong[:5]:
        print(f"  {w}"[:600])
    return not wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        good = [check(path, name, folder) for path, name in pf.sources(folder)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
