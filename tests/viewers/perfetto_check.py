#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a perfetto_trace.json.gz against what Perfetto's importer needs: perfetto_check.py FILE [--quiet]

Python's own gzip and json are the independent parsers. Exit 0: good; 1: something is wrong, each kind of it said once with
its count; 2: wrong usage. The rules (google/perfetto, JSON trace importer, and measurements with its trace processor):
  - gzip of one or more members, nothing behind them; JSON whole; {"traceEvents": [...]} or a plain list
  - every X has ts and dur, dur >= 0; slices of one (pid, tid) nest and never overlap in part, or some are dropped
  - flows: every f has its s before it, every s its f; f carries bp "e"; each stands in a slice
  - counters: args are numbers; process and thread names, and a process_sort_index, for everything that is used
  - times are microseconds with at most three decimals: more than a nanosecond is lost on import
"""
import collections
import json
import math
import sys
import zlib

NAMED = {"X", "B", "E", "C", "i", "I", "s", "t", "f", "b", "e", "n"}


def inflate(data):
    """All members of a gzip file; (bytes, members) or ValueError."""
    out, members = [], 0
    while data:
        d = zlib.decompressobj(wbits=31)
        try:
            out.append(d.decompress(data) + d.flush())
        except zlib.error as e:
            raise ValueError(f"gzip member {members + 1}: {e}" + (" (bytes behind the data?)" if members else "")) from e
        if not d.eof:
            raise ValueError(f"gzip member {members + 1} is truncated")
        members, data = members + 1, d.unused_data
    return b"".join(out), members


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    members = 0
    if data[:2] == b"\x1f\x8b":
        data, members = inflate(data)

    def odd(name):
        raise ValueError(f"{name} is not a JSON number")
    trace = json.loads(data.decode("utf-8"), parse_constant=odd)
    return trace, members, len(data)


class Check:
    def __init__(self, trace):
        self.wrong, self.example = collections.Counter(), {}
        self.seen = collections.Counter()
        self.slices = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)
        self.process_names, self.thread_names, self.sorted = {}, {}, set()
        self.pids, self.tids = set(), set()
        events = trace.get("traceEvents") if isinstance(trace, dict) else trace
        if not isinstance(events, list):
            self.no("there is no list traceEvents", trace if not isinstance(trace, dict) else list(trace)[:5])
            events = []
        for e in events:
            self.event(e)
        self.names()
        for (pid, tid), rows in self.slices.items():
            self.nest(pid, tid, rows)
        self.pairs()

    def no(self, what, example):
        self.wrong[what] += 1
        self.example.setdefault(what, json.dumps(example)[:200])

    def event(self, e):
        if not isinstance(e, dict) or not isinstance(e.get("ph"), str):
            return self.no("an event is not an object with a ph", e)
        ph = e["ph"]
        self.seen[ph] += 1
        if ph == "M":
            return self.metadata(e)
        if ph in NAMED:
            self.time(e, "ts")
            for key in ("pid", "tid") if ph != "C" else ("pid",):
                if not isinstance(e.get(key), int) or isinstance(e[key], bool):
                    self.no(f"{key} is missing or no integer", e)
            self.pids.add(e.get("pid"))
            if ph != "C":
                self.tids.add((e.get("pid"), e.get("tid")))
        if not isinstance(e.get("name", "" if ph in "sftE" else None), str):
            self.no("an event without a name", e)
        if ph == "X":
            self.slice(e)
        elif ph == "C":
            self.counter(e)
        elif ph in "stf":
            self.flow(e)
        elif ph not in NAMED:
            self.no(f"unknown ph {ph!r}", e)

    def time(self, e, key):
        """Nanoseconds of a time in microseconds, as the importer (58) makes them: through a double."""
        value = e.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.no(f"{key} is missing or no number", e)
            return None
        ns = int(value) * 1000 if value == math.trunc(value) else math.floor(value * 1000) + (value * 1000 % 1 >= 0.5)
        if abs(value * 1000 - ns) > max(1e-6, abs(value) * 1e-12):
            self.no(f"{key} has parts of a nanosecond", e)
        return ns

    def slice(self, e):
        ts, dur = self.time(e, "ts"), self.time(e, "dur")
        if ts is None or dur is None:
            return
        if dur < 0:
            return self.no("dur is negative", e)
        self.slices[e.get("pid"), e.get("tid")].append((ts, ts + dur, e.get("name")))

    def counter(self, e):
        args = e.get("args")
        if not isinstance(args, dict) or not args:
            return self.no("a counter without args", e)
        if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in args.values()):
            self.no("a counter's value is not a number", e)

    def flow(self, e):
        if "id" not in e:
            return self.no("a flow without an id", e)
        if e["ph"] == "f" and e.get("bp") != "e":
            self.no('a flow ends without bp "e"', e)
        ts = self.time(e, "ts")
        if ts is not None:
            self.flows[e.get("cat"), e["id"]].append((ts, e["ph"], e.get("pid"), e.get("tid")))

    def metadata(self, e):
        args, name = e.get("args") or {}, e.get("name")
        if name == "process_name":
            self.process_names[e.get("pid")] = args.get("name")
        elif name == "thread_name":
            self.thread_names[e.get("pid"), e.get("tid")] = args.get("name")
        elif name == "process_sort_index":
            self.sorted.add(e.get("pid"))

    def names(self):
        for pid in self.pids:
            if not self.process_names.get(pid):
                self.no("a process without a process_name", pid)
            if pid not in self.sorted:
                self.no("a process without a process_sort_index", pid)
        for pair in self.tids:
            if not self.thread_names.get(pair):
                self.no("a thread without a thread_name", pair)

    def nest(self, pid, tid, rows):
        """By start, longer first: each begins after the one around it, and ends before it does."""
        rows.sort(key=lambda r: (r[0], -r[1]))
        open_ends = []
        for start, end, name in rows:
            while open_ends and open_ends[-1][0] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1][0]:
                self.no("slices overlap in part on one thread",
                        {"pid": pid, "tid": tid, "first": open_ends[-1][1], "second": name, "at_ns": start})
                continue
            open_ends.append((end, name))

    def inside(self, ts, pid, tid):
        """Whether a slice of the thread holds the moment; rows are sorted by nest()."""
        import bisect
        rows = self.slices.get((pid, tid), [])
        at = bisect.bisect_right(rows, (ts, math.inf, ""))
        return any(rows[i][1] >= ts for i in range(at - 1, max(-1, at - 400), -1))

    def pairs(self):
        for key, ends in self.flows.items():
            order = [ph for _, ph, _, _ in sorted(ends, key=lambda e: (e[0], "stf".index(e[1])))]
            if order[0] != "s" or order[-1] != "f" or order.count("s") != 1 or order.count("f") != 1:
                self.no("a flow that is not one s, then t, then one f", [key, order[:6]])
            for ts, _, pid, tid in ends:
                if not self.inside(ts, pid, tid):
                    self.no("a flow's end stands in no slice", [key, ts, pid, tid])


def left_out(trace):
    """What the file itself says was left out, wherever it says so."""
    if not isinstance(trace, dict):
        return {}
    found = {}

    def walk(value, path):
        if isinstance(value, dict):
            for k, v in value.items():
                walk(v, f"{path}.{k}" if path else k)
        elif any(w in path.lower() for w in ("omitted", "left_out", "leftout", "dropped")):
            found[path] = value
    walk({k: v for k, v in trace.items() if k != "traceEvents"}, "")
    return found


def main():
    args = [a for a in sys.argv[1:] if a != "--quiet"]
    if len(args) != 1:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    try:
        trace, members, size = load(args[0])
    except (OSError, ValueError) as e:
        print(f"{args[0]}: {e}", file=sys.stderr)
        return 1
    check = Check(trace)
    if "--quiet" not in sys.argv:
        kinds = ", ".join(f"{n} {ph}" for ph, n in sorted(check.seen.items()))
        print(f"{args[0]}: {size} bytes of JSON in {members} gzip members; {kinds}; {len(check.process_names)} "
              f"processes, {len(check.thread_names)} threads, {len(check.flows)} flows; left out: {left_out(trace)}")
    for what, n in check.wrong.most_common():
        print(f"{args[0]}: {n} x {what}: {check.example[what]}", file=sys.stderr)
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
