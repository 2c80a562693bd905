#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads perfetto_trace.pftrace back with the classes of PyPI's perfetto, and holds it against the profile itself.

  - the packets are what the importer takes: state cleared before it is needed, ids interned before they are used, on
    each track ends that end the innermost open slice in the order of time, descriptors for every track
  - the native slices are the xplane's events, decoded from the wire here (tests/fixtures/wire.py): none missing, none
    doubled, each with plane, line, name, start and duration; category, flops, bytes, source and self time of each
  - `--perfetto=both` writes two files of the same slices, args, counters, arrows, names and order
  - annotating twice changes nothing, --strip brings every byte back
Runs on the bundled sample, and on the profiles in $TS_CORPUS where it is there. Run in the build folder; $TPUSIGHT names
the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has tests/requirements.txt. Exit 77: it has not.
"""
import collections
import glob
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import DATA, PROGRAM, need_viewer
from wire import fields, signed

need_viewer("perfetto")
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

SAMPLE = os.path.join(DATA, "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00")
CLEARED, NEEDS = 1, 2  # TracePacket.SequenceFlags
REALTIME, BOOTTIME, OF_SEQUENCE = 1, 6, 64  # clocks; from 64 on a sequence's own
NOT_SHOWN = ("Task Environment", "/host:metadata")
ABSOLUTE_NS = 10 ** 15  # a line's time from here on is one since the epoch

SAID = ("Steps", "XLA Modules", "XLA Ops", "Async XLA Ops", "XLA TraceMe")  # lines with a description
GROUPS = ("TPUsight", "lines of the profile")  # below a process, in the order of their names

# Args that stand on the op's first slice of a row.
LONG = {"long_name", "shape_with_layout", "source_stack", "model_flops"}

Slice = collections.namedtuple("Slice", "pid row name category start dur args")


class Sequence:
    """The state of one packet sequence: what is interned, and the defaults."""

    def __init__(self):
        self.valid, self.tables, self.track = False, collections.defaultdict(dict), None
        self.clock, self.now = None, {}

    def take(self, packet):
        if packet.sequence_flags & CLEARED:
            self.__init__()
            self.valid = True
        assert self.valid or not packet.sequence_flags & NEEDS, "state is needed before it was cleared"
        data = packet.interned_data
        for kind in ("event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values",
                     "correlation_id_str", "function_names"):
            for entry in getattr(data, kind):
                assert entry.iid not in self.tables[kind], f"{kind} {entry.iid} is interned twice"
                text = entry.name if hasattr(entry, "name") else entry.str
                self.tables[kind][entry.iid] = text if isinstance(text, str) else text.decode()
        for entry in data.frames:
            self.tables["frames"][entry.iid] = self.tables["function_names"][entry.function_name_id]
        for entry in data.callstacks:
            assert entry.iid not in self.tables["callstacks"] and entry.frame_ids
            self.tables["callstacks"][entry.iid] = [self.tables["frames"][iid] for iid in entry.frame_ids]
        if packet.HasField("trace_packet_defaults"):
            self.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
            self.clock = packet.trace_packet_defaults.timestamp_clock_id
        clocks = {c.clock_id: c for c in packet.clock_snapshot.clocks}
        if OF_SEQUENCE in clocks:
            assert clocks[OF_SEQUENCE].is_incremental and not clocks[OF_SEQUENCE].unit_multiplier_ns
            self.now = {OF_SEQUENCE: clocks[BOOTTIME].timestamp}

    def time(self, packet):
        """On the trace's clock."""
        if (packet.timestamp_clock_id or self.clock) == BOOTTIME:
            return packet.timestamp
        self.now[packet.timestamp_clock_id or self.clock] += packet.timestamp
        return self.now[self.clock]


class Trace:
    """A file, read as google/perfetto's importer does."""

    def __init__(self, path):
        with gzip.open(path) as f:
            packets = proto.Trace.FromString(f.read()).packet
        self.tracks = {p.track_descriptor.uuid: p.track_descriptor for p in packets if p.HasField("track_descriptor")}
        self.attributes, self.clocks = {}, {}
        self.slices, self.counters, self.nr_events = [], [], 0
        self.arrows, self.stacks = collections.defaultdict(dict), []
        self.open, self.times = collections.defaultdict(list), collections.defaultdict(int)
        sequences = collections.defaultdict(Sequence)
        assert packets[0].sequence_flags & CLEARED
        for packet in packets:
            sequence = sequences[packet.trusted_packet_sequence_id]
            sequence.take(packet)
            if packet.HasField("track_event"):
                assert packet.sequence_flags & NEEDS and packet.HasField("timestamp")
                self.event(sequence, sequence.time(packet), packet.track_event)
            for attribute in packet.trace_attributes.attribute:
                self.attributes[attribute.key] = getattr(attribute, attribute.WhichOneof("value"))
            for clock in packet.clock_snapshot.clocks:
                if packet.trusted_packet_sequence_id == 1:
                    self.clocks[clock.clock_id] = clock.timestamp
        assert not any(self.open.values()), "slices are left open"
        share_long_args([(s.row, s.args) for s in self.slices])
        self.names()

    def names(self):
        root = self.tracks[0]
        assert root.process_ordering == root.PROCESS_ORDERING_EXPLICIT
        assert root.thread_ordering == root.THREAD_ORDERING_EXPLICIT
        self.processes = [(t.sibling_order_rank, t.process.pid, t.process.process_name)
                          for t in self.tracks.values() if t.HasField("process")]
        self.rows = {}
        for t in self.tracks.values():
            if t.HasField("process"):
                assert t.process.legacy_sort_index == t.sibling_order_rank
            elif t.HasField("thread"):
                self.thread(t)
            elif t.uuid:
                assert t.parent_uuid in self.tracks and t.name, "a track stands in no other, or has no name"
                self.lane(t)
        self.threads = [(pid, rank, tid, name) for tid, (pid, rank, name, *_) in self.rows.items()]

    def thread(self, track):
        """Only a host's line is one, and its number is the system's."""
        name, _, number = track.thread.thread_name.rpartition("/")
        assert name and int(number) == track.thread.tid, f"thread {track.thread.thread_name}: {track.thread.tid}"
        assert track.sibling_order_rank == track.thread.legacy_sort_index
        assert self.tracks[track.parent_uuid].process.pid == track.thread.pid

    def lane(self, track):
        """Lanes of a row are siblings that say the same of themselves, so that viewers draw them as one."""
        if track.child_ordering == track.EXPLICIT:
            assert track.name in GROUPS and track.description and self.tracks[track.parent_uuid].HasField("process")
            return
        parent = self.tracks[track.parent_uuid]
        ours = track.name.startswith("TPUsight: ")
        if track.HasField("counter"):
            assert parent.name == GROUPS[0]
            return
        assert track.sibling_merge_behavior == track.SIBLING_MERGE_BEHAVIOR_BY_SIBLING_MERGE_KEY
        assert track.description or track.name not in SAID, "a line does not say what it has"
        assert parent.HasField("thread") and not ours or parent.name == GROUPS[not ours]
        if parent.HasField("thread"):
            assert parent.thread.thread_name == track.name
        said = (self.pid_of(parent), track.sibling_order_rank, track.name, track.parent_uuid, track.description)
        tid = (track.sibling_merge_key_int + 1) * 100
        assert self.rows.setdefault(tid, said) == said, "lanes of one row differ"

    def pid_of(self, track):
        while not track.HasField("process"):
            track = self.tracks[track.parent_uuid]
        return track.process.pid

    def row(self, uuid):
        """(pid, the row's first tid in the JSON form) of a slice's track."""
        track = self.tracks[uuid]
        return self.pid_of(track), (track.sibling_merge_key_int + 1) * 100

    def event(self, sequence, at, event):
        uuid = event.track_uuid if event.HasField("track_uuid") else sequence.track
        assert at >= self.times[uuid], "a track's events go back in time"
        self.times[uuid] = at
        if event.type == event.TYPE_SLICE_BEGIN:
            self.nr_events += 1
            self.open[uuid].append((at, sequence, event))
        elif event.type == event.TYPE_SLICE_END:
            start, sequence, event = self.open[uuid].pop()
            self.slice(uuid, start, at, sequence, event)
        else:
            assert event.type == event.TYPE_COUNTER
            track = self.tracks[uuid]
            assert track.HasField("counter")
            self.counters.append((self.pid_of(track), track.name, at, event.double_counter_value))

    def slice(self, uuid, start, end, sequence, event):
        tables, args = sequence.tables, {}
        for note in event.debug_annotations:
            key, kind = tables["debug_annotation_names"][note.name_iid], note.WhichOneof("value")
            value = getattr(note, kind)
            assert key not in args
            args[key] = tables["debug_annotation_string_values"][value] if kind == "string_value_iid" else value
        pid, row = self.row(uuid)
        found = Slice(pid, row, tables["event_names"][event.name_iid] if event.name_iid else "",
                      ",".join(tables["event_categories"][iid] for iid in event.category_iids),
                      start, end - start, args)
        same = tables["correlation_id_str"][event.correlation_id_str_iid] if event.correlation_id_str_iid else ""
        assert same == (found.category if found.category != "tpusight" else ""), "a slice has the colour of another kind"
        self.slices.append(found)
        if event.callstack_iid:
            self.stacks.append((found, tables["callstacks"][event.callstack_iid]))
        weight = found.args.get("self_ns", 0) if event.callstack_iid else 0
        assert event.callstack_weight == weight, f"{found.name} weighs {event.callstack_weight}, not {weight}"
        for key, ids in (("s", event.flow_ids), ("f", event.terminating_flow_ids)):
            for flow in ids:
                assert key not in self.arrows[flow]
                self.arrows[flow][key] = (pid, row, start)


# The profile itself

def text(b):
    return b.decode("utf-8", "replace")


def entry(message):
    key, value = 0, b""
    for field, _, v in fields(message):
        key, value = (signed(v), value) if field == 1 else (key, v)
    return key, value


def stats_of(message, field, names):
    """{name: value} of the stats in a message; references are looked up."""
    out = {}
    for f, _, value in fields(message):
        if f != field:
            continue
        key = found = None
        for g, _, v in fields(value):
            if g == 1:
                key = names.get(v)
            elif g in (3, 4):
                found = signed(v) if g == 4 else v
            elif g == 5:
                found = text(v)
            elif g == 7:
                found = names.get(v)
        out[key] = found
    return out


def metadata_of(message, names):
    full = display = ""
    for f, _, v in fields(message):
        full, display = (text(v), display) if f == 2 else (full, text(v) if f == 4 else display)
    return full, display, stats_of(message, 5, names)


def planes_of(data):
    """(name, lines, {id: metadata}, {id: stat name}) of each plane of an XSpace."""
    for field, _, plane in fields(data):
        if field != 1:
            continue
        name, lines, names, metadata = "", [], {}, {}
        for f, _, v in fields(plane):
            if f == 2:
                name = text(v)
            elif f == 3:
                lines.append(v)
            elif f == 5:
                key, value = entry(v)
                names[key] = next((text(x) for g, _, x in fields(value) if g == 2), "")
        for f, _, v in fields(plane):
            if f == 4:
                key, value = entry(v)
                metadata[key] = metadata_of(value, names)
        yield name, lines, metadata, names


def name_of(plane, metadata, stats):
    """An event's name: the op's on a GPU, a module's without its number, else what is displayed."""
    full, display, own = metadata
    if plane.startswith("/device:GPU") and "hlo_op" in stats and "program_id" in stats:
        return str(stats["hlo_op"]).rsplit("::", 1)[-1]
    stem, _, rest = full.rpartition("(")
    if plane.startswith("/device:TPU") and "program_id" not in own and rest[:-1].isdigit() and rest.endswith(")"):
        return stem
    return display or full


def self_times(events):
    """Self time in ps of each event of a line, None for all when they do not nest."""
    order = sorted(range(len(events)), key=lambda i: (events[i][0], -events[i][1], i))
    own, stack = [e[1] for e in events], []
    for i in order:
        start, dur = events[i][:2]
        while stack and sum(events[stack[-1]][:2]) <= start:
            stack.pop()
        if stack:
            if start + dur > sum(events[stack[-1]][:2]):
                return [None] * len(events)
            own[stack[-1]] -= dur
        stack.append(i)
    return own


def events_of(line, base_ns, plane, metadata, names):
    """[(start ps, dur ps, name, metadata)] of a line, and its name."""
    title = display = ""
    start_ns, number, events = 0, 0, []
    for f, _, v in fields(line):
        if f == 1:
            number = signed(v)
        elif f == 2:
            title = text(v)
        elif f == 3:
            start_ns = signed(v)
        elif f == 11:
            display = text(v)
    start_ns -= base_ns if start_ns > ABSOLUTE_NS else 0
    for f, _, v in fields(line):
        if f != 4:
            continue
        key = offset = dur = 0
        for g, _, x in fields(v):
            key, offset, dur = (signed(x) if g == 1 else key, signed(x) if g == 2 else offset,
                                signed(x) if g == 3 else dur)
        stats = stats_of(v, 4, names) if plane.startswith("/device:GPU") else {}
        events.append((start_ns * 1000 + offset, dur, name_of(plane, metadata[key], stats), metadata[key]))
    return display or title or f"line {number}", events


def ops_of_cpu(line, found, names):
    """(device, start ps, dur ps, op) of each event of a host's line that is an op of XLA on the CPU: it is on that device, too."""
    bodies = [v for f, _, v in fields(line) if f == 4]
    for body, (start, dur, _, _) in zip(bodies, found):
        stats = stats_of(body, 4, names)
        if "hlo_op" in stats and "program_id" in stats:
            yield f"/device:CPU:{stats.get('device_ordinal', 0)}", start, dur, str(stats["hlo_op"])


def args_wanted(full, display, own):
    """What a slice's click must show of its metadata, by arg."""
    want = {"flops": own.get("flops"), "bytes_accessed": own.get("bytes_accessed"), "source": own.get("source")}
    return {k: v for k, v in want.items() if v not in (None, "") and (not isinstance(v, int) or v >= 0)}


def expected(path, base_ns, shift_ns):
    """Counter of (plane, line, name, start, dur), and for each of them the args its metadata gives."""
    with open(path, "rb") as f:
        data = f.read()
    events, args = collections.Counter(), collections.defaultdict(list)
    planes = list(planes_of(data))
    is_of_cpu = not any(plane.startswith("/device:") and not plane.startswith("/device:CUSTOM:") for plane, *_ in planes)
    for plane, lines, metadata, names in planes:
        if plane in NOT_SHOWN or plane.startswith("/device:CUSTOM:TPUsight"):
            continue
        for line in lines:
            title, found = events_of(line, base_ns, plane, metadata, names)
            for cpu, start, dur, name in ops_of_cpu(line, found, names) if is_of_cpu else ():
                key = (cpu, title, name, start // 1000 + shift_ns, (start + dur) // 1000 - start // 1000)
                events[key] += 1
            for (start, dur, name, meta), own_ps in zip(found, self_times(found)):
                end = (start + dur) // 1000
                key = (plane, title, name, start // 1000 + shift_ns, end - start // 1000)
                events[key] += 1
                want = {} if plane.startswith("/device:GPU") else args_wanted(*meta)
                category = "" if plane.startswith("/device:GPU") else meta[2].get("hlo_category") or ""
                args[key].append((want, category, None if own_ps is None else own_ps // 1000))
    return events, args


def compare_native(trace, path, wrong):
    base = trace.attributes.get("tpusight.start_unix_ns", 0)
    shift = trace.attributes["tpusight.shift_ns"]
    events, args = expected(path, base, shift)
    processes = {pid: name for _, pid, name in trace.processes}
    threads = {tid: name for _, _, tid, name in trace.threads}
    got = collections.Counter()
    bad = collections.Counter()
    nr_made = 0
    for s in trace.slices:
        if threads[s.row].startswith("TPUsight: "):
            continue
        if processes[s.pid].startswith("/device:CPU:") and threads[s.row] in ("Steps", "XLA Modules"):
            nr_made += 1  # of run ids and of the host's marks
            continue
        key = (processes[s.pid], threads[s.row], s.name, s.start, s.dur)
        got[key] += 1
        if key in args and not any(
                all(s.args.get(k) == v for k, v in want.items()) and s.category in (category, "" if category else
                s.category) and own in (None, s.args["self_ns"]) for want, category, own in args[key]):
            bad[key[:3]] += 1
    for what, rest in (("missing", events - got), ("too many", got - events), ("with other args", bad)):
        if rest:
            wrong.append(f"{sum(rest.values())} events {what}: {rest.most_common(3)}")
    if base and trace.clocks.get(REALTIME) != base or base and trace.clocks.get(BOOTTIME) != shift:
        wrong.append(f"the clocks say {trace.clocks}, the run begins at {base} + {shift}")
    nr = sum(events.values()) + nr_made
    said = {k: trace.attributes["tpusight.events_" + k] for k in ("total", "written", "left_out")}
    if said != {"total": nr, "written": nr, "left_out": 0}:
        wrong.append(f"{nr} events, but the file says {said}")
    return nr


# The other form

def events_of_json(path):
    with gzip.open(path) as f:
        return json.load(f)["traceEvents"]


def load_json(path):
    """The file; a slice whose begin and end stand apart is whole again."""
    with gzip.open(path) as f:
        trace = json.load(f)
    whole, open_slices = [], collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "E":
            begun = open_slices[event["tid"]].pop()
            begun["dur"] = (ns(event["ts"]) - ns(begun["ts"])) / 1000
            continue
        if event["ph"] == "B":
            event["ph"] = "X"
            open_slices[event["tid"]].append(event)
        whole.append(event)
    assert not any(open_slices.values()), "a slice has a begin and no end"
    share_long_args([(e["tid"] // 100, e["args"]) for e in whole if e["ph"] == "X"])
    trace["traceEvents"] = whole
    return trace


def compare_heads(trace, metadata, wrong):
    """Both heads say the same: trace attributes in the one form, the importer's table of metadata in the other."""
    here = {k.removeprefix("tpusight."): str(v) for k, v in trace.attributes.items()}
    there = {k: str(v) for k, v in metadata.items() if v is not None}
    if here != there:
        wrong.append(f"the heads differ: {sorted(set(here.items()) ^ set(there.items()))}")
    has_device = any(name.startswith("/device:") for _, _, name in trace.processes)
    for key in ("generator", "version", "hosts", "start_unix_ns", "note") + ("health_score",) * has_device:
        if key not in there:
            wrong.append(f"the head has no {key}")


def share_long_args(slices):
    """Of (row, args): an op's long args stand on its first slice of the row; here the row's other slices get them."""
    first = {}
    for row, args in slices:
        long = {k: v for k, v in args.items() if k in LONG}
        if "op_id" in args and long:
            first.setdefault((row, args["op_id"]), long)
    for row, args in slices:
        for key, value in first.get((row, args.get("op_id")), {}).items():
            args.setdefault(key, value)


def ns(us):
    return round(us * 1000)


def normal(args):
    """Args as both forms have them, of one type each."""
    return tuple(sorted((k, type(v).__name__, str(v)) for k, v in args.items()))


def compare_forms(trace, events, wrong):
    tids = {tid for _, _, tid, _ in trace.threads}
    row = {}
    for e in events:
        if e["ph"] == "M" and e["name"] == "thread_name":
            row[e["tid"]] = e["tid"] - e["tid"] % 100
    if set(row.values()) != tids:
        wrong.append("the two files have other rows")
    kinds = {
        "slices": (collections.Counter((s.pid, s.row, s.name, s.category, s.start, s.dur, normal(s.args))
                                       for s in trace.slices),
                   collections.Counter((e["pid"], row[e["tid"]], e.get("name", ""), e.get("cat", ""), ns(e["ts"]),
                                        ns(e["dur"]), normal(e["args"])) for e in events if e["ph"] == "X")),
        "points": (collections.Counter(trace.counters),
                   collections.Counter((e["pid"], f"{e['name']} {k}".removesuffix(" value"), ns(e["ts"]), float(v))
                                       for e in events if e["ph"] == "C" for k, v in e["args"].items())),
        "arrows": (collections.Counter((i, k, *end) for i, ends in trace.arrows.items() for k, end in ends.items()),
                   collections.Counter((e["id"], e["ph"], e["pid"], row[e["tid"]], ns(e["ts"]))
                                       for e in events if e["ph"] in "sf")),
        "processes": (sorted(trace.processes),
                      sorted((order["args"]["sort_index"], e["pid"], e["args"]["name"])
                             for e in events if e["ph"] == "M" and e["name"] == "process_name"
                             for order in events if order["ph"] == "M" and order["name"] == "process_sort_index"
                             and order["pid"] == e["pid"])),
    }
    for what, (a, b) in kinds.items():
        if a != b:
            more = list((a - b).items())[:2] if isinstance(a, collections.Counter) else a
            less = list((b - a).items())[:2] if isinstance(a, collections.Counter) else b
            wrong.append(f"other {what}: pftrace has {more}, json {less}")
    if any(set(ends) != {"s", "f"} for ends in trace.arrows.values()):
        wrong.append("an arrow has one end")
    order = {e["tid"]: e["args"]["sort_index"] for e in events if e["ph"] == "M" and e["name"] == "thread_sort_index"}
    by_json = sorted(((pid, order.get(tid), tid) for pid, _, tid, _ in trace.threads))
    if [t[2] for t in by_json] != [t[2] for t in sorted(trace.threads)]:
        wrong.append("the rows stand in another order")
    return {k: sum(v[0].values()) if isinstance(v[0], collections.Counter) else len(v[0]) for k, v in kinds.items()}


# The folder

def digests(folder):
    out = {}
    for at, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                out[os.path.relpath(path, folder)] = (hashlib.sha256(f.read()).hexdigest(), os.stat(path).st_ino)
    return out


def annotate(*args):
    subprocess.run([PROGRAM, "annotate", "-q", *args], check=True)


def units(trace, wrong):
    counters = [t for t in trace.tracks.values() if t.HasField("counter")]
    for t in counters:
        if not t.counter.unit_name or not t.name.endswith(f"({t.counter.unit_name})"):
            wrong.append(f"counter {t.name!r} has the unit {t.counter.unit_name!r}")
        if not t.description:
            wrong.append(f"counter {t.name!r} does not say what it is")
        if ("cut at the peak" in t.name) != ("points are above the peak" in t.description):
            wrong.append(f"counter {t.name!r} is cut and does not say how often, or says so for nothing")
        axis = t.name.split()[0] if t.name.startswith(("VMEM", "Host link")) else ""
        if t.counter.y_axis_share_key.lower() != (axis.replace("Host", "host link") + t.counter.unit_name).lower():
            wrong.append(f"counter {t.name!r} is drawn to the scale {t.counter.y_axis_share_key!r}")
    for t in trace.tracks.values():
        if t.name.startswith("TPUsight: ") and not t.description:
            wrong.append(f"track {t.name!r} does not say what it is")
    for group in trace.tracks:
        below = sorted((t.sibling_order_rank, t.HasField("counter")) for t in trace.tracks.values()
                       if t.parent_uuid == group and trace.tracks[group].name == GROUPS[0])
        if below != sorted(below, key=lambda t: (t[1], t[0])):
            wrong.append("counters do not stand below the rows of slices")
    return len(counters)


def check(source, name, folder):
    wrong = []
    session = os.path.join(folder, name, "plugins", "profile", "s")
    os.makedirs(session)
    profile = os.path.join(session, "host.xplane.pb")
    shutil.copyfile(source, profile)
    before = digests(session)
    annotate("--perfetto=both", session)
    once = digests(session)
    annotate("--perfetto=both", session)
    if digests(session) != once:
        wrong.append("annotating twice changed files")
    trace = Trace(os.path.join(session, "perfetto_trace.pftrace"))
    nr = compare_native(trace, source, wrong)
    other = load_json(os.path.join(session, "perfetto_trace.json.gz"))
    sums = compare_forms(trace, other["traceEvents"], wrong)
    compare_heads(trace, other["metadata"], wrong)
    sums["counters"] = units(trace, wrong)
    annotate("--perfetto=pftrace", session)
    if "perfetto_trace.json.gz" in digests(session):
        wrong.append("the JSON file stays when it is no longer wanted")
    annotate("--strip", session)
    if {k: v[0] for k, v in digests(session).items()} != {k: v[0] for k, v in before.items()}:
        wrong.append("--strip does not bring the folder back")
    print(f"{name}: {nr} events of the profile, each found once; in both files "
          + ", ".join(f"{v} {k}" for k, v in sums.items()) if not wrong else f"{name}: wrong")
    for w in wrong:
        print(f"  {w}"[:600])
    return not wrong


def planted(folder):
    """The planted profiles, unpacked below FOLDER."""
    for path in sorted(glob.glob(os.path.join(DATA, "planted", "*.tar.gz"))):
        with tarfile.open(path) as f:
            f.extractall(folder, filter="data")
    return sorted(glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True))


def sources(folder):
    """(xplane, name) of the sample, of tests/data, of what is planted, and of the corpus where it is."""
    yield glob.glob(os.path.join(SAMPLE, "*.xplane.pb"))[0], "sample"
    corpus = os.environ.get("TS_CORPUS", "")
    if not corpus:
        print("the corpus is not here: it is left out")
    for pattern in (os.path.join(DATA, "*.xplane.pb"), os.path.join(corpus, "xplane", "*.xplane.pb") if corpus else ""):
        for path in sorted(glob.glob(pattern)):
            yield path, os.path.basename(path).split(".")[0]
    for path in planted(os.path.join(folder, "planted")):
        run = os.path.relpath(path, os.path.join(folder, "planted")).split(os.sep)[0]
        yield path, f"{run}.{os.path.basename(path).split('.')[0]}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        good = [check(path, name, folder) for path, name in sources(folder)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
