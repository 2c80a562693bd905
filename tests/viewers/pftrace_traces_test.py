#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads NAME.tpusight.pftrace, what --perfetto=pftrace makes of a trace in JSON, back and holds it against the trace.

  - the native slices are the trace's: X, B with its E, i, each once, with the process and thread it has there, name,
    category, start and duration to the nanosecond, and with all of its args: numbers as numbers, nested ones by their path
  - its counters are there, with the names that Perfetto gives them
  - our slices and counters are those of the annotated copy in JSON
  - arrows are those of the trace, whose two ends are there: of launches, and from operators to their backward
  - processes and threads have the numbers of the trace, the file names its source, the clocks say the time of day
  - slices of one track never overlap in part, also where they do in the trace: none is lost
  - --perfetto=both writes both, pftrace takes the JSON out, none both; a second time changes nothing; --strip brings every
    byte back; in a folder with an xplane and a trace both are annotated; a file of ours is not an input
Runs on the traces of tests/data, on one made here, and on those in $TS_CORPUS where it is there; $TS_TRACE_PROCESSOR names
Perfetto's trace processor, which then says what it makes of the files. Exit 77: the Python package perfetto is missing.
"""
import collections
import decimal
import glob
import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import DATA

sys.path.insert(0, HERE)
import pftrace_test

PROCESSOR = os.environ.get("TS_TRACE_PROCESSOR")
MADE_UP = 10 ** 9  # pids from here on are not the trace's
ERRORS = "select name || ' ' || value from stats where value > 0 and severity in ('error', 'data_loss')"

# Overlaps, ends that come apart, ids that are not numbers, a GPU and a process of one number, what is not a slice.
ODD = {"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 5, "args": {"name": "main \u00e9 \\ \""}},
    {"ph": "M", "name": "thread_name", "pid": 5, "tid": 6, "args": {"name": "worker"}},
    {"ph": "X", "pid": 5, "tid": 6, "ts": 10.001, "dur": 5, "name": "a", "cat": "cpu_op"},
    {"ph": "X", "pid": 5, "tid": 6, "ts": 12, "dur": 5.5, "name": "overlaps a", "cat": "cpu_op"},
    {"ph": "X", "pid": 5, "tid": 6, "ts": 13, "dur": 9, "name": "overlaps both", "cat": "cpu_op"},
    {"ph": "B", "pid": 5, "tid": 7, "ts": 20, "name": "b", "cat": "cpu_op",
     "args": {"text": "a \"b\" \u00e9\n", "of": {"an": {"object": 1, "text": "\\"}}, "big": 2 ** 63, "minus": -3,
              "fine": 0.06944444444444445, "yes": True, "real": 0.25, "null": None, "list": [1, {"x": "y"}], "long": "z" * 5000}},
    {"ph": "X", "pid": 5, "tid": 7, "ts": 21, "dur": 1, "name": "in b", "cat": "cpu_op"},
    {"ph": "E", "pid": 5, "tid": 7, "ts": 23.5},
    {"ph": "i", "s": "t", "pid": 5, "tid": 6, "ts": 14, "name": "now", "cat": "cpu_instant_event"},
    {"ph": "X", "pid": 5, "tid": 0, "ts": 11, "dur": 1, "name": "a kernel", "cat": "kernel", "args": {"device": 5}},
    {"ph": "X", "pid": 0, "tid": 7, "ts": 11, "dur": 2, "name": "of GPU 0", "cat": "kernel", "args": {"device": 0}},
    {"ph": "X", "pid": "Spans", "tid": "Profiler", "ts": 9, "dur": 30, "name": "record", "cat": "Trace"},
    {"ph": "X", "pid": 1, "tid": 1, "ts": 9.5, "dur": 0, "name": "nothing", "cat": "user_annotation"},
    {"ph": "X", "pid": 8, "tid": 8, "ts": 30, "dur": 4, "name": "outer", "cat": "cpu_op"},
    {"ph": "s", "pid": 8, "tid": 8, "ts": 30, "id": 1, "name": "fwdbwd", "cat": "fwdbwd"},
    {"ph": "X", "pid": 8, "tid": 8, "ts": 30, "dur": 2, "name": "inner", "cat": "cpu_op"},
    {"ph": "s", "pid": 8, "tid": 8, "ts": 30, "id": 2, "name": "fwdbwd", "cat": "fwdbwd"},
    {"ph": "X", "pid": 8, "tid": 9, "ts": 40, "dur": 2, "name": "backward", "cat": "cpu_op"},
    {"ph": "f", "pid": 8, "tid": 9, "ts": 40, "id": 1, "name": "fwdbwd", "cat": "fwdbwd", "bp": "e"},
    {"ph": "X", "pid": 8, "tid": 9, "ts": 43, "dur": 2, "name": "backward", "cat": "cpu_op"},
    {"ph": "f", "pid": 8, "tid": 9, "ts": 43, "id": 2, "name": "fwdbwd", "cat": "fwdbwd", "bp": "e"},
    {"ph": "s", "pid": 8, "tid": 9, "ts": 43, "id": 3, "name": "without an end", "cat": "x"},
    {"ph": "f", "pid": 8, "tid": 9, "ts": 41, "id": 4, "name": "of no slice", "cat": "x", "bp": "e"},
    {"ph": "C", "pid": 5, "ts": 10, "name": "bytes", "args": {"used": 3, "free": 0.5, "of": "x"}},
    {"ph": "C", "pid": 5, "ts": 12, "name": "bytes", "args": {"used": -4}},
    {"ph": "C", "pid": 8, "ts": 8, "name": "bytes", "args": {"used": 9}},
    {"ph": "b", "pid": 5, "tid": 6, "ts": 10, "id": 1, "name": "async", "cat": "x"},
    {"ph": "e", "pid": 5, "tid": 6, "ts": 12, "id": 1, "name": "async", "cat": "x"}]}


OURS = (1 << 53) - (1 << 32)  # arrows between rows of ours have numbers from here on
ODD_ZERO = 8  # its first event, in us
ODD_ARROWS = [[("f", "backward 40"), ("s", "outer 30")], [("f", "backward 43"), ("s", "inner 30")]]


class Trace(pftrace_test.Trace):
    """The threads are those that the trace names, under its own names."""

    def thread(self, track):
        assert self.tracks[track.parent_uuid].process.pid == track.thread.pid and track.thread.tid > 0

    def lane(self, track):
        if not track.HasField("counter"):
            return super().lane(track)
        native = track.description == "a counter of the trace"
        assert self.tracks[track.parent_uuid].name == pftrace_test.GROUPS[native]

    def tid(self, uuid):
        track = self.tracks[self.tracks[uuid].parent_uuid]
        return track.thread.tid if track.HasField("thread") else None

    def slice(self, uuid, start, end, sequence, event):
        super().slice(uuid, start, end, sequence, event)
        self.places.append((uuid, self.tid(uuid)))
        for key, ids in (("s", event.flow_ids), ("f", event.terminating_flow_ids)):
            for flow in (one for one in ids if one < OURS):
                self.joined[flow][key] = f"{self.slices[-1].name} {start // 1000 + ODD_ZERO}"

    def __init__(self, path):
        self.places, self.joined = [], collections.defaultdict(dict)
        super().__init__(path)


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, parse_float=decimal.Decimal)


def number(value):
    """What a process or thread is called in the file: its number, None where it has none that a system gives."""
    value = str(value)
    return int(value) if value.isdigit() and 0 < int(value) < 2 ** 31 else None


def flat(args, prefix=""):
    """{path: value}, as SQL can compare them; what is null is not there, lists are text."""
    out = {}
    for key, value in args.items():
        if isinstance(value, dict):
            out.update(flat(value, f"{prefix}{key}."))
        elif isinstance(value, bool):
            out[prefix + key] = int(value)
        elif isinstance(value, int):
            out[prefix + key] = value if abs(value) <= 2 ** 53 else str(value)
        elif isinstance(value, decimal.Decimal):
            out[prefix + key] = float(value)
        elif isinstance(value, list) or value:
            out[prefix + key] = value
    return out


def has_args(slice_, want):
    """Whether the slice says all of that; texts are cut to what a viewer can show."""
    for key, value in want.items():
        got = slice_.args.get(key)
        if isinstance(value, list):
            if got is None or len(got) < 4000 and json.loads(got, parse_float=decimal.Decimal) != value:
                return False
        elif got != value and not (isinstance(value, str) and len(value.encode()) > 4096 and value.startswith(got)):
            return False
    return True


def natives(trace):
    """[(ph, pid, tid, name, category, start us, end us, args)]"""
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    out, open_ = [], collections.defaultdict(list)
    for e in events:
        thread = e.get("pid"), e.get("tid")
        if e["ph"] not in "XBEiI" or "ts" not in e:
            continue
        start = decimal.Decimal(e["ts"])
        if e["ph"] == "E":
            begin = open_[thread].pop()
            out.append((*begin[:6], start, begin[7]))
            continue
        found = (e["ph"], *thread, e.get("name", ""), e.get("cat", ""), start,
                 start + max(decimal.Decimal(e.get("dur", 0)), 0), flat(e.get("args", {})))
        if e["ph"] == "B":
            open_[thread].append(found)
        else:
            out.append(found)
    assert not any(open_.values())
    return out


def compare_native(trace, source, wrong):
    events = natives(source)
    zero = min(e[5] for e in events if e[0] not in "iI")
    shift = trace.attributes["tpusight.shift_ns"]

    def ns(us):
        return math.floor((us - zero) * 1000) + shift
    want = collections.Counter((e[3], e[4], ns(e[5]), ns(e[6]) - ns(e[5])) for e in events)
    placed = collections.Counter((number(e[1]), number(e[2]), e[3], ns(e[5])) for e in events if e[0] in "XB")
    said = collections.defaultdict(list)
    for e in events:
        said[(e[3], e[4], ns(e[5]), ns(e[6]) - ns(e[5]))].append(e[7])
    nr_args, bad = 0, []
    got, threads = collections.Counter(), collections.Counter()
    names = {tid: name for _, _, tid, name in trace.threads}
    for s, (_, tid) in zip(trace.slices, trace.places):
        if names[s.row].startswith("TPUsight: "):
            continue
        key = (s.name, s.category, s.start, s.dur)
        got[key] += 1
        fits = [args for args in said.get(key, []) if has_args(s, args)]
        nr_args += len(max(fits, key=len, default=()))
        if key in said and not fits:
            bad.append((s.name, s.args, said[key][0]))
        if tid is not None:
            threads[(None if s.pid >= MADE_UP else s.pid, tid, s.name, s.start)] += 1
    for what, rest in (("missing", want - got), ("too many", got - want)):
        if rest:
            wrong.append(f"{sum(rest.values())} slices {what}: {rest.most_common(3)}")
    if bad:
        wrong.append(f"{len(bad)} slices with other args: {bad[0]}")
    # a GPU's number is not a process's
    rest = threads - placed - collections.Counter({(None, *k[1:]): n for k, n in placed.items()})
    if rest:
        wrong.append(f"{sum(rest.values())} slices on another thread: {rest.most_common(3)}")
    counts = {k: trace.attributes["tpusight.events_" + k] for k in ("total", "written", "left_out")}
    if counts != {"total": len(events), "written": len(events), "left_out": 0}:
        wrong.append(f"{len(events)} slices, but the file says {counts}")
    return zero, len(events), sum(threads.values()), nr_args


def native_points(source, ns):
    """(name, at, value) of the trace's own counters."""
    return collections.Counter((f"{e['name']} {k}", ns(e["ts"]), float(v)) for e in source["traceEvents"] if e["ph"] == "C"
                               and e["pid"] < MADE_UP for k, v in e["args"].items() if not isinstance(v, str))


def compare_ours(trace, source, copy, zero, wrong):
    first = copy["tpusight_annotation"]["first_pid"]
    shift = trace.attributes["tpusight.shift_ns"]
    ours = [e for e in copy["traceEvents"] if isinstance(e.get("pid"), int) and e["pid"] >= first]
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in ours if e.get("name") == "thread_name"}

    def ns(us):
        return math.floor((decimal.Decimal(us) - zero) * 1000) + shift
    want = collections.Counter((rows[e["pid"], e["tid"]], e["name"], ns(e["ts"])) for e in ours
                               if e["ph"] in "XB")
    points = native_points(source, ns) + collections.Counter(
        (f"{e['name']} {k}".removesuffix(" value"), ns(e["ts"]), float(v))
        for e in ours if e["ph"] == "C" for k, v in e["args"].items())
    names = {tid: name for _, _, tid, name in trace.threads}
    got = collections.Counter((names[s.row], s.name, s.start) for s in trace.slices
                              if names[s.row].startswith("TPUsight: "))
    if want != got:
        wrong.append(f"our slices: JSON has {list((want - got).items())[:2]}, pftrace {list((got - want).items())[:2]}")
    counters = collections.Counter(c[1:] for c in trace.counters)
    if points != counters:
        wrong.append(f"counters: {list((points - counters).items())[:2]}, {list((counters - points).items())[:2]}")
    return sum(got.values()), sum(counters.values())


def compare_arrows(trace, source, zero, wrong):
    """Every flow of the trace with both ends is an arrow of ours, and of slices that are not in it only launches are."""
    flows = collections.defaultdict(lambda: {"s": [], "f": []})
    for e in source["traceEvents"]:
        if e["ph"] in ("s", "f"):
            at = math.floor((decimal.Decimal(e["ts"]) - zero) * 1000) + trace.attributes["tpusight.shift_ns"]
            flows[e.get("cat"), e["id"]][e["ph"]].append((at, number(e["pid"]), number(e["tid"])))
    want = {(min(ends["s"])[0], min(ends["f"])[0]) for ends in flows.values() if ends["s"] and ends["f"]}
    got = {(ends["s"][2], ends["f"][2]) for ends in trace.arrows.values()}
    if want - got:
        wrong.append(f"{len(want - got)} of {len(want)} arrows are missing: {sorted(want - got)[:3]}")
    joined = sorted(sorted(ends.items()) for ends in trace.joined.values())
    if trace.attributes["tpusight.source"] == "odd.pt.trace.json" and joined != ODD_ARROWS:
        wrong.append(f"arrows join {trace.joined}")
    return len(got)


def check_nesting(trace, wrong):
    """A slice that begins in another one of its track ends there."""
    tracks = collections.defaultdict(list)
    for s, (uuid, _) in zip(trace.slices, trace.places):
        tracks[uuid].append((s.start, -s.dur))
    for uuid, slices in tracks.items():
        ends = []
        for start, minus in sorted(slices):
            while ends and ends[-1] <= start:
                ends.pop()
            if ends and start - minus > ends[-1]:
                wrong.append(f"slices of {trace.tracks[uuid].name!r} overlap at {start}")
                return
            ends.append(start - minus)


def ask(path, query):
    done = subprocess.run([PROCESSOR, "query", path, query], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line.strip('"') for line in done.stdout.splitlines()[1:]]


def check_import(path, trace, wrong):
    if not PROCESSOR:
        return
    errors = ask(path, ERRORS)
    if errors:
        wrong.append(f"the trace processor says {errors}")
    nr = int(ask(path, "select count(*) from slice")[0])
    if nr < len(trace.slices):
        wrong.append(f"{len(trace.slices)} slices are in the file, {nr} were imported")


def check_file(source, path, stem, wrong):
    trace = Trace(stem + ".tpusight.pftrace")
    zero, nr, nr_placed, nr_args = compare_native(trace, source, wrong)
    own, points = compare_ours(trace, source, read(stem + ".tpusight.json.gz"), zero, wrong)
    arrows = compare_arrows(trace, source, zero, wrong)
    check_nesting(trace, wrong)
    check_import(stem + ".tpusight.pftrace", trace, wrong)
    if trace.attributes["tpusight.source"] != os.path.basename(path):
        wrong.append(f"the file says it is of {trace.attributes['tpusight.source']}")
    base = source.get("baseTimeNanoseconds")
    day, own_clock = (trace.clocks.get(c) for c in (pftrace_test.REALTIME, pftrace_test.BOOTTIME))
    if base and day - own_clock != base + math.floor(zero * 1000) - trace.attributes["tpusight.shift_ns"]:
        wrong.append(f"the clocks say {trace.clocks}, the trace begins at {base} + {zero} us")
    pids = {pid for _, pid, _ in trace.processes if pid < MADE_UP}
    if not pids <= {e.get("pid") for e in source["traceEvents"]}:
        wrong.append(f"{pids} are not pids of the trace")
    return (f"{nr} native slices with {nr_args} args, {nr_placed} of them on threads with a number, {arrows} arrows; "
            f"ours: {own}; {points} points of counters")


def files(folder):
    return {k: v[0] for k, v in pftrace_test.digests(folder).items()}


def check(path, name, folder):
    """Annotated in every way, and stripped."""
    wrong = []
    place = os.path.join(folder, name)
    os.makedirs(place)
    path = shutil.copy(path, place)
    stem = path[:path.rindex(".json")]
    before = files(place)
    pftrace_test.annotate("--perfetto=both", path)
    once = pftrace_test.digests(place)
    pftrace_test.annotate("--perfetto=both", path)
    if pftrace_test.digests(place) != once:
        wrong.append("annotating twice changed files")
    said = check_file(read(path), path, stem, wrong)
    for form, left in (("pftrace", {".tpusight.pftrace", ".tpusight.sql"}), ("json", {".tpusight.json.gz", ".tpusight.sql"}),
                       ("none", set())):
        pftrace_test.annotate("--perfetto=" + form, path)
        there = {name[len(os.path.basename(stem)):] for name in files(place)} - {path[len(stem):]}
        if there != left | {".tpusight.report.json"}:
            wrong.append(f"--perfetto={form} leaves {there}")
    pftrace_test.annotate("--perfetto=both", path)
    pftrace_test.annotate("--strip", path)
    if files(place) != before:
        wrong.append("--strip does not bring the folder back")
    print(f"{name}: {said}" if not wrong else f"{name}: wrong")
    for w in wrong:
        print(f"  {w}"[:600])
    return not wrong


def check_both_kinds(folder):
    """An xplane and a trace in one folder: each gets its own files."""
    place = os.path.join(folder, "both", "plugins", "profile", "s")
    os.makedirs(place)
    shutil.copy(os.path.join(DATA, "cpu_steps.xplane.pb"), os.path.join(place, "h.xplane.pb"))
    trace = shutil.copy(os.path.join(DATA, "hand_made.pt.trace.json"), os.path.join(folder, "both"))
    before = files(os.path.join(folder, "both"))
    pftrace_test.annotate("--perfetto=pftrace", os.path.join(folder, "both"))
    there = set(files(os.path.join(folder, "both")))
    good = {"plugins/profile/s/perfetto_trace.pftrace", "hand_made.pt.trace.tpusight.pftrace"} <= there
    ours = trace[:-len(".json")] + ".tpusight.pftrace"
    refused = subprocess.run([pftrace_test.PROGRAM, "report", ours], capture_output=True, text=True)
    pftrace_test.annotate("--strip", os.path.join(folder, "both"))
    back = files(os.path.join(folder, "both")) == before
    print(f"an xplane and a trace: {'both are annotated' if good else f'wrong: {sorted(there)}'}"
          f"{'' if back else ', and --strip does not bring the folder back'}; as an input: {refused.stderr.strip()}")
    return good and back and refused.returncode == 3


def check_ranks(folder):
    """Two ranks of one job: each file has its own rank alone, on the clock of both."""
    place = os.path.join(folder, "ranks")
    os.mkdir(place)
    source = json.loads(json.dumps(read(os.path.join(DATA, "hand_made.pt.trace.json")), default=float))
    for rank in (0, 1):
        source["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
        source["baseTimeNanoseconds"] += 7000 * rank
        for e in source["traceEvents"]:
            e["name"] = f"{e['name'].split(' of rank')[0]} of rank {rank}" if e["ph"] == "X" else e["name"]
        with open(os.path.join(place, f"rank{rank}.1700.pt.trace.json"), "w") as f:
            json.dump(source, f)
    pftrace_test.annotate("--perfetto=pftrace", place)
    starts, wrong = [], []
    for rank in (0, 1):
        trace = Trace(os.path.join(place, f"rank{rank}.1700.pt.trace.tpusight.pftrace"))
        rows = {tid: name for _, _, tid, name in trace.threads}
        names = [s for s in trace.slices if " of rank " in s.name and not rows[s.row].startswith("TPUsight: ")]  # ours name ops of both
        starts += [s.start for s in names if s.name == f"aten::mm of rank {rank}"]
        if len(names) != 11 or not all(s.name.endswith(f" of rank {rank}") for s in names):
            wrong.append(f"rank {rank} has {[s.name for s in names]}")
        if trace.attributes["tpusight.events_total"] != 13:
            wrong.append(f"rank {rank} has {trace.attributes['tpusight.events_total']} events")
    if len(starts) != 2 or starts[1] - starts[0] != 7000:
        wrong.append(f"the ranks' operators start at {starts}")
    print("two ranks: " + ("; ".join(wrong) if wrong else "each has a file of its own, on the clock of both"))
    return not wrong


def main():
    sources = [os.path.join(DATA, "hand_made.pt.trace.json"), *sorted(glob.glob(os.path.join(DATA, "*.pt.trace.json.gz"))),
               *sorted(glob.glob(os.path.join(DATA, "torch", "*.pt.trace.json.gz")))]
    corpus = os.environ.get("TS_CORPUS", "")
    sources += sorted(glob.glob(os.path.join(corpus, "kineto", "*.json.gz"))) if corpus else []
    if not PROCESSOR:
        print("no trace processor is named (TS_TRACE_PROCESSOR): the files are held against the trace alone")
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, "odd.pt.trace.json")
        with open(odd, "w") as f:
            json.dump(ODD, f)
        good = [check(path, os.path.basename(path).split(".")[0], folder) for path in [odd, *sources]]
        good.append(check_both_kinds(folder))
        good.append(check_ranks(folder))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
