#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the memory timeline against other ways to know who held memory.

memory_timeline.py torch ANSWER.json TRUTH.json: what torch itself said of the run (tests/fixtures/make_torch_memory.py).
memory_timeline.py trace ANSWER.json TRACE.json[.gz]: another reading of the same trace: all of it in memory, two looks.
memory_timeline.py random TPUSIGHT FIRST COUNT: traces of a made allocator whose owners, levels and steps are known from making
it: threads that call and return, blocks of few sizes on two devices, taken and given back from either thread.
ANSWER.json is what `tpusight memory --json` says.
"""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

ALLOCATING = ("aten::empty", "aten::new_empty", "aten::resize_")
LIBRARY = ("site-packages", "dist-packages", "lib/python")
OWNER = ("op", "outer_op", "module", "annotation", "source", "phase")
BEFORE = "(allocated before the capture)"


class Comparison:
    def __init__(self):
        self.nr, self.bad = 0, []

    def check(self, what, ours, theirs):
        self.nr += 1
        if ours != theirs and not (isinstance(theirs, float) and ours is not None and abs(ours - theirs) < 1e-6):
            self.bad.append(f"{what}: {ours}, by the other source {theirs}")

    def end(self, what):
        print(f"memory_timeline: {what}, {self.nr} figures compared, {len(self.bad)} differ")
        for line in self.bad[:20]:
            print(" ", line)
        return bool(self.bad) or self.nr == 0


def owner(chain):
    """CHAIN: (category, name) of the calls around, outermost first; answers a tuple as in OWNER."""
    ops = [name for category, name in chain if category == "cpu_op"]
    real = [name for name in ops if not name.startswith(ALLOCATING)]
    modules = [name[11:] for _, name in chain if name.startswith("nn.Module: ")]
    notes = [name for category, name in chain if category == "user_annotation"]
    sources = [name for category, name in chain if category == "python_function" and ".py(" in name and
               not name.startswith(("torch/", "<")) and not any(part in name for part in LIBRARY)]
    phase = "forward" if modules else None
    for category, name in chain:
        if category == "cpu_op" and name.startswith("autograd::engine::evaluate_function"):
            phase = "backward"
        elif category == "user_annotation" and name.startswith("Optimizer."):
            phase = "optimizer"
        elif category == "user_annotation" and name.startswith("enumerate(DataLoader)"):
            phase = "input"
    last = lambda names: names[-1] if names else None  # noqa: E731
    return (last(real) or (ops[0] if ops else None), ops[0] if ops else None, last(modules), last(notes), last(sources),
            phase)


def sums(rows):
    out = {}
    for key, nr_bytes, count in rows:
        had = out.get(key, (0, 0))
        out[key] = (had[0] + nr_bytes, had[1] + count)
    return out


def ours_held(answer, device):
    return sums((tuple(row[c] for c in OWNER), row["bytes"], row["count"]) for row in answer["holders"]
                if row["device"] == device and row["op"] != BEFORE)


def check_device(comparison, answer, name, theirs):
    rows = [row for row in answer["devices"] if row["device"] == name]
    comparison.check(f"{name} is there", len(rows), 1)
    if not rows:
        return
    for column in ("peak_bytes", "peak_reserved_bytes", "max_reserved_bytes", "first_bytes", "allocated_bytes",
                   "reserved_bytes", "allocations", "frees", "taken_bytes", "unknown_bytes"):
        comparison.check(f"{name} {column}", rows[0][column], theirs[column])
    held = ours_held(answer, name)
    others = [key for key in held if key[0] == "(others)"]
    for key, value in held.items():
        if key not in others:
            comparison.check(f"{name} held by {key}", value, theirs["held"].get(key))
    if not others:
        comparison.check(f"{name} number of holders", len(held), len(theirs["held"]))
    comparison.check(f"{name} held in all", sum(v[0] for v in held.values()), sum(v[0] for v in theirs["held"].values()))


def by_torch(answer, truth):
    comparison = Comparison()
    row = answer["devices"][0]
    for column in ("peak_bytes", "allocated_bytes", "allocations", "frees", "taken_bytes"):
        comparison.check(column, row[column], truth[column])
    comparison.check("the peak of the memory profile", row["peak_bytes"], truth["timeline_bytes"])
    comparison.check("unknown_bytes", row["unknown_bytes"], 0)
    ours = sums(((r["op"], r["outer_op"], r["module"]), r["bytes"], r["count"]) for r in answer["holders"])
    theirs = sums(((r["op"], r["outer_op"], r["module"]), r["bytes"], r["count"]) for r in truth["holders"])
    for key in sorted(set(ours) | set(theirs), key=str):
        comparison.check(f"held by {key}", ours.get(key), theirs.get(key))
    return comparison.end(f"a run of torch {truth['torch']} by its own tree of events")


def picoseconds(text):
    return int(Decimal(str(text)) * 1000000)


def read_trace(path):
    raw = open(path, "rb").read()
    document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw, strict=False, parse_float=Decimal)
    events = document["traceEvents"] if isinstance(document, dict) else document
    calls, memory = {}, []
    for event in events:
        thread = (event.get("pid"), event.get("tid"))
        if event.get("name") == "[memory]":
            memory.append((picoseconds(event["ts"]), event["args"].get("Ev Idx", 0), thread, event["args"]))
        elif event.get("ph") == "X" and event.get("cat") in ("cpu_op", "user_annotation", "python_function"):
            start, length = picoseconds(event["ts"]), picoseconds(event["dur"])
            if length > 0 and not event["name"].startswith("ProfilerStep#"):
                calls.setdefault(thread, []).append((start, start + length, event["cat"], event["name"]))
    return calls, sorted(memory, key=lambda m: m[:2])


def chains_of(calls, moments):
    """The calls around each moment of one thread: those that began before, less those that ended or were overlapped."""
    calls, stack, at, out = sorted(calls, key=lambda c: (c[0], -c[1])), [], 0, []
    for moment in moments:
        while at < len(calls) and calls[at][0] <= moment:
            while stack and (stack[-1][1] < calls[at][1] or stack[-1][1] <= calls[at][0]):
                stack.pop()
            stack.append(calls[at])
            at += 1
        while stack and stack[-1][1] < moment:
            stack.pop()
        out.append([(c[2], c[3]) for c in stack])
    return out


def device_name(args):
    name = {0: "cpu", 1: "cuda"}[args["Device Type"]]
    return name if args["Device Id"] < 0 else f"{name}:{args['Device Id']}"


def held_by_trace(path):
    calls, memory = read_trace(path)
    owners, out = {}, {}
    for thread in {m[2] for m in memory}:
        mine = [i for i, m in enumerate(memory) if m[2] == thread]
        for i, chain in zip(mine, chains_of(calls.get(thread, []), [memory[i][0] for i in mine])):
            owners[i] = owner(chain)
    for name in {device_name(m[3]) for m in memory}:
        events = [(i, m[3]) for i, m in enumerate(memory) if device_name(m[3]) == name]
        out[name] = held_on(events, owners)
    return out


def held_on(events, owners):
    """EVENTS: (number, args) of one device in their order."""
    first = max(events[0][1]["Total Allocated"] - events[0][1]["Bytes"], 0)
    levels = [args["Total Allocated"] for _, args in events]
    peak = max(first, max(levels))
    at = levels.index(peak) if peak > first else -1
    reserved = [args["Total Reserved"] if args["Total Reserved"] > 0 else None for _, args in events]
    live = {}
    for i, args in events[:at + 1]:
        if args["Bytes"] > 0:
            live[args["Addr"]] = (owners[i], args["Bytes"], 1)
        else:
            live.pop(args["Addr"], None)
    taken = [args["Bytes"] for _, args in events if args["Bytes"] > 0]
    return {"peak_bytes": peak, "peak_reserved_bytes": reserved[max(at, 0)],
            "max_reserved_bytes": max((r for r in reserved if r), default=None), "first_bytes": first,
            "allocated_bytes": levels[-1], "reserved_bytes": reserved[-1], "allocations": len(taken),
            "frees": len(events) - len(taken), "taken_bytes": sum(taken),
            "unknown_bytes": max(peak - sum(b for _, b, _ in live.values()), 0), "held": sums(live.values())}


def by_trace(answer, path):
    comparison = Comparison()
    theirs = held_by_trace(path)
    comparison.check("devices", len(answer["devices"]), len(theirs))
    for name, device in theirs.items():
        check_device(comparison, answer, name, device)
    return comparison.end(f"{os.path.basename(path)} by another reading")


# --- a made allocator

CALLS = [("cpu_op", "aten::mm"), ("cpu_op", "aten::add"), ("cpu_op", "aten::empty"), ("cpu_op", "aten::resize_"),
         ("cpu_op", "autograd::engine::evaluate_function: MmBackward0"), ("python_function", "nn.Module: Linear_0"),
         ("python_function", "nn.Module: Block_3"), ("python_function", "train.py(3): step"),
         ("python_function", "torch/nn/modules/linear.py(9): forward"), ("user_annotation", "my range"),
         ("user_annotation", "Optimizer.step#SGD.step"), ("user_annotation", "enumerate(DataLoader)#_Base.__next__")]
THREADS = (100, 200)


class Made:
    """One run: the events of its trace, and the truth as it happens."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events, self.now, self.index = [], 1000, 0
        self.stacks = {thread: [] for thread in THREADS}
        self.devices = {}
        for name, kind, number in (("cuda:0", 1, 0), ("cpu", 0, -1)):
            before = self.random.choice((0, 5000)) if kind else 0
            self.devices[name] = {"kind": kind, "number": number, "level": before, "first": before, "live": {}, "peak": -1,
                                  "reserved": 4096 if kind else 0, "most": 0, "taken": [], "frees": 0, "snapshot": None,
                                  "steps": [], "seen": False, "highest": 0}
        self.step, self.step_start, self.steps = None, 0, 0

    def tick(self):
        self.now += self.random.randint(1, 40)

    def us(self, ns):
        return f"{ns // 1000}.{ns % 1000:03d}"

    def put(self, fields):
        self.events.append("{" + fields + "}")

    def complete(self, category, name, thread, start):
        self.put(f'"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":{thread},"ts":{self.us(start)},'
                 f'"dur":{self.us(self.now - start)}')

    def enter(self, thread):
        if len(self.stacks[thread]) < 12:
            self.stacks[thread].append((*self.random.choice(CALLS), self.now))

    def leave(self, thread):
        if self.stacks[thread]:
            category, name, start = self.stacks[thread].pop()
            self.complete(category, name, thread, start)

    def report(self, thread, device, address, nr_bytes):
        d = self.devices[device]
        if not d["seen"]:
            d["first"], d["peak"], d["seen"] = d["level"], d["level"], True
            d["snapshot"], d["peak_reserved"] = {}, max(d["reserved"], d["level"] + max(nr_bytes, 0)) if d["kind"] else 0
        d["level"] += nr_bytes
        d["highest"] = max(d["highest"], d["level"])  # of the levels after an event
        if d["kind"]:
            d["reserved"] = max(d["reserved"], d["level"])
        d["most"] = max(d["most"], d["reserved"])
        if d["level"] > d["peak"]:
            d["peak"], d["snapshot"], d["peak_reserved"] = d["level"], dict(d["live"]), d["reserved"]
        if self.step is not None:
            d["steps"][-1]["peak"] = max(d["steps"][-1]["peak"], d["level"])
        self.put(f'"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":{thread},"ts":{self.us(self.now)},'
                 f'"args":{{"Ev Idx":{self.index},"Device Type":{d["kind"]},"Device Id":{d["number"]},"Addr":{address},'
                 f'"Bytes":{nr_bytes},"Total Allocated":{d["level"]},"Total Reserved":{d["reserved"]}}}')
        self.index += 1

    def take(self, thread):
        name = self.random.choice(list(self.devices))
        d = self.devices[name]
        address = self.random.randrange(1, 400)
        if address in d["live"]:
            return
        nr_bytes = self.random.choice((8, 512, 640, 2048))
        d["live"][address] = (owner([call[:2] for call in self.stacks[thread]]), nr_bytes, 1)
        d["taken"].append(nr_bytes)
        self.report(thread, name, address, nr_bytes)

    def give(self, thread):
        name = self.random.choice(list(self.devices))
        d = self.devices[name]
        if d["kind"] and d["level"] - sum(b for _, b, _ in d["live"].values()) >= 500 and self.random.random() < 0.1:
            d["frees"] += 1  # of a block from before
            self.report(thread, name, 10 ** 12 + self.now, -500)
        elif d["live"]:
            address = self.random.choice(list(d["live"]))
            nr_bytes = d["live"].pop(address)[1]
            d["frees"] += 1
            self.report(thread, name, address, -nr_bytes)

    def end_step(self):
        if self.step is not None:
            for d in self.devices.values():
                if d["seen"]:
                    d["steps"][-1]["end"] = d["level"]
            self.complete("user_annotation", f"ProfilerStep#{self.step}", THREADS[0], self.step_start)
        self.step = None

    def next_step(self):
        self.end_step()
        self.tick()
        self.step, self.step_start = self.steps, self.now
        self.steps += 1
        for d in self.devices.values():
            d["steps"].append({"number": self.step, "peak": d["level"], "end": None})

    def run(self, nr):
        weights = [5, 5, 6, self.random.choice((3, 5, 7)), 0.2]
        for _ in range(nr):
            self.tick()
            thread = self.random.choice(THREADS)
            action = self.random.choices(("enter", "leave", "take", "give", "step"), weights)[0]
            self.next_step() if action == "step" else getattr(self, action)(thread)
        for thread in THREADS:
            while self.stacks[thread]:
                self.tick()
                self.leave(thread)
        self.tick()
        self.end_step()
        self.random.shuffle(self.events)
        return '{"traceEvents":[' + ",\n".join(self.events) + "]}\n"

    def truth(self, name):
        d = self.devices[name]
        unknown = max(d["peak"] - sum(b for _, b, _ in d["snapshot"].values()), 0)
        known = lambda value: value if d["kind"] else None  # noqa: E731
        return {"peak_bytes": d["peak"], "peak_reserved_bytes": known(d["peak_reserved"]),
                "max_reserved_bytes": known(d["most"]), "first_bytes": d["first"], "allocated_bytes": d["level"],
                "reserved_bytes": known(d["reserved"]), "allocations": len(d["taken"]), "frees": d["frees"],
                "taken_bytes": sum(d["taken"]), "unknown_bytes": unknown, "held": sums(d["snapshot"].values())}


def by_making(program, first, count):
    comparison = Comparison()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            made = Made(seed)
            path = os.path.join(folder, f"made_{seed}.pt.trace.json")
            with open(path, "w") as file:
                file.write(made.run(made.random.choice((60, 400, 2500))))
            answer = json.loads(subprocess.run([program, "memory", "--json", path], check=True,
                                               stdout=subprocess.PIPE).stdout)
            check_made(comparison, made, answer, seed)
    return comparison.end(f"{count} made traces")


def check_made(comparison, made, answer, seed):
    seen = {name for name, d in made.devices.items() if d["seen"]}
    comparison.check(f"{seed} devices", {row["device"] for row in answer.get("devices", [])}, seen)
    for name in seen:
        check_device(comparison, answer, name, made.truth(name))
        steps = [s for s in made.devices[name]["steps"] if s["end"] is not None]
        ours = [(row["step"], row["peak_bytes"], row["end_bytes"]) for row in answer["steps"] if row["device"] == name]
        comparison.check(f"{seed} {name} steps", ours, [(s["number"], s["peak"], s["end"]) for s in steps])
        times = [row for row in answer["timeline"] if row["device"] == name]
        comparison.check(f"{seed} {name} highest of the timeline", max(row["allocated_bytes"] for row in times),
                         made.devices[name]["highest"])
        comparison.check(f"{seed} {name} end of the timeline", times[-1]["allocated_bytes"], made.devices[name]["level"])
        comparison.check(f"{seed} {name} order of the timeline", [row["time_ps"] for row in times],
                         sorted(row["time_ps"] for row in times))


def main(way, *arguments):
    if way == "random":
        return by_making(arguments[0], int(arguments[1]), int(arguments[2]))
    answer = json.load(open(arguments[0]))
    if way == "torch":
        return by_torch(answer, json.load(open(arguments[1])))
    return by_trace(answer, arguments[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
