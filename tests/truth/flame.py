#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `tpusight flame` against sums made here from the trace's own JSON, path by path.

flame.py TPUSIGHT TRACE.json[.gz]...: with every frame kept, each path's own CPU time, device time and count, in all three
forms that are read by others: nested (d3-flame-graph), folded (flamegraph.pl) and speedscope's. Nothing is taken from TPUsight: a
moment of a thread is given to the call begun last, here by cutting the thread's time at every start and end; a kernel goes below
the calls that are open when its launch begins. Where nn.Module is named, also the time of each module, with what autograd did for it.
"""
import collections
import decimal
import gzip
import json
import re
import subprocess
import sys

SIDES = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset", "concurrent_kernel"}
LAUNCHES = {"cuda_runtime", "cuda_driver", "Runtime"}
NO_FRAME = SIDES | {"gpu_user_annotation", "cuda_sync", "Trace"}


def ns(us):
    return round(us * 1000)


def label(name):
    name = re.sub(r" at 0x[0-9a-fA-F]*", "", name)
    return "ProfilerStep#*" if name.startswith("ProfilerStep#") else name


def paths_of(events):
    """{path: [cpu ns, device ns, count]}"""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    threads, launches = collections.defaultdict(list), {}
    for at, event in enumerate(events):
        if event.get("ph") == "X" and event.get("cat") not in NO_FRAME:
            start = ns(event["ts"])
            threads[event["pid"], event["tid"]].append((start, -ns(event.get("dur", 0)), at, event))
    for calls in threads.values():
        calls.sort(key=lambda call: call[:3])
        open_calls, clock = [], 0                        # (end, path), the innermost last

        def run_to(until, open_calls=open_calls):
            nonlocal clock
            while open_calls:
                end, path = open_calls[-1]
                if min(end, until) > clock:
                    sums[path][0] += min(end, until) - clock
                    clock = min(end, until)
                if end > until:
                    return
                open_calls.pop()
        for start, less, _, event in calls:
            run_to(start)
            clock = start
            below = open_calls[-1][1] if open_calls else ()
            link = (event.get("args") or {}).get("correlation")
            if event.get("cat") in LAUNCHES and link is not None:
                launches[link] = below
            path = below + (label(event["name"]),)
            sums[path][2] += 1
            open_calls.append((start - less, path))
        run_to(1 << 62)
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in SIDES:
            below = launches.get((event.get("args") or {}).get("correlation"), ("(no launch in the trace)",))
            path = below + (label(event["name"]),)
            sums[path][1] += ns(event.get("dur", 0))
            sums[path][2] += 1
    return sums


MODULE, OUTSIDE, BACKWARD = "nn.Module: ", "(outside modules)", "autograd::engine::evaluate_function: "


def holders(calls):
    """Of each call the one that is innermost when it begins (by index), or None."""
    open_calls, out = [], []
    for at, (start, less, _, _) in enumerate(calls):
        while open_calls and open_calls[-1][0] <= start:
            open_calls.pop()
        out.append(open_calls[-1][1] if open_calls else None)
        open_calls.append((start - less, at))
    return out


def module_sums(events):
    """{path of modules: [cpu ns, device ns]}, the kernels of a module together; None where no nn.Module is named."""
    threads = collections.defaultdict(list)
    for at, event in enumerate(events):
        if event.get("ph") == "X" and event.get("cat") not in NO_FRAME:
            threads[event["pid"], event["tid"]].append((ns(event["ts"]), -ns(event.get("dur", 0)), at, event))
    if not any(call[3]["name"].startswith(MODULE) for calls in threads.values() for call in calls):
        return None
    for calls in threads.values():
        calls.sort(key=lambda call: call[:3])
    above = {thread: holders(calls) for thread, calls in threads.items()}
    merged = sorted(((*call[:2], thread, at) for thread, calls in threads.items() for at, call in enumerate(calls)), key=lambda c: c[:2])
    paths, forward, launches = {}, {}, {}
    for _, _, thread, at in merged:
        event = threads[thread][at][3]
        holder = above[thread][at]
        path = paths[thread, holder] if holder is not None else ()
        args = event.get("args") or {}
        if event.get("cat") in LAUNCHES and "correlation" in args:
            launches[args["correlation"]] = path
        number = args.get("Sequence number") if event.get("cat") == "cpu_op" else None
        if number is not None and path not in ((), (OUTSIDE,)) and not event["name"].startswith(BACKWARD):
            forward[number] = path
        elif number in forward and path in ((), (OUTSIDE,)) and event["name"].startswith(BACKWARD):
            path = forward[number] + ("(backward)",)
        if event["name"].startswith(MODULE):
            path = (() if path == (OUTSIDE,) else path) + (event["name"].removeprefix(MODULE),)
        paths[thread, at] = path or (OUTSIDE,)
    sums = collections.defaultdict(lambda: [0, 0])
    for thread, calls in threads.items():
        moments = sorted({t for start, less, _, _ in calls for t in (start, start - less)})
        at, open_calls = 0, []
        for begin, end in zip(moments, moments[1:]):
            while at < len(calls) and calls[at][0] <= begin:
                open_calls.append(at)
                at += 1
            while open_calls and calls[open_calls[-1]][0] - calls[open_calls[-1]][1] <= begin:
                open_calls.pop()
            if open_calls:
                sums[paths[thread, open_calls[-1]]][0] += end - begin
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in SIDES:
            path = launches.get((event.get("args") or {}).get("correlation"), ("(no launch in the trace)",))
            sums[path or (OUTSIDE,)][1] += ns(event.get("dur", 0))
    return sums


def our_modules(tpusight, trace, weight):
    """The nested form's, kernels added to the module that holds them."""
    root = json.loads(run(tpusight, trace, "--json", "--kind=modules", "--weight=" + weight))
    sums, stack = collections.Counter(), [(frame, ()) for frame in root["children"]]
    while stack:
        frame, path = stack.pop()
        path += (frame["name"],) * (frame["category"] != "kernel")
        sums[path] += frame["self"] // 1000
        stack += [(child, path) for child in frame["children"]]
    return sums


def run(tpusight, trace, *options):
    if not any(option.startswith("--kind") for option in options):
        options += ("--kind=stacks",)
    done = subprocess.run([tpusight, "flame", "-q", "--min-duration-us=0", *options, trace], capture_output=True, text=True,
                          check=False)
    nothing = done.returncode == 3 and not done.stdout and "there are no folded stacks" in done.stderr
    if done.returncode and not nothing:
        raise SystemExit(f"flame {' '.join(options)} {trace}: status {done.returncode}: {done.stderr}")
    return done.stdout


def nested(text, weight, wrong):
    sums = collections.Counter()

    def walk(frame, path):
        path = path + (frame["name"],) if path is not None else ()
        below = sum(walk(child, path) for child in frame["children"])
        if path and frame["self"] + below != frame["value"]:
            wrong.append(f"{path[-1]}: {frame['self']} + {below} is not {frame['value']}")
        if path:
            sums[path] += frame["self"] // (1 if weight == "count" else 1000)
        return frame["value"]

    root = json.loads(text)
    walk(root, None)
    if root["value"] != sum(child["value"] for child in root["children"]):
        wrong.append("the root is not the sum of its children")
    return sums


def folded(text):
    sums = collections.Counter()
    for line in text.splitlines():
        path, value = line.rsplit(" ", 1)
        sums[tuple(path.split(";"))] += int(value)
    return sums


def speedscope(text, weight):
    file = json.loads(text)
    names = [frame["name"] for frame in file["shared"]["frames"]]
    sums, (profile,) = collections.Counter(), file["profiles"]
    for sample, value in zip(profile["samples"], profile["weights"], strict=True):
        sums[tuple(names[i] for i in sample)] += round(value)
    if abs(sum(profile["weights"]) - profile["endValue"]) > 1e-6 * profile["endValue"]:
        raise SystemExit("speedscope: the weights do not sum to the end")
    return sums


def escaped(path):
    return tuple(re.sub(r"[\x00-\x1f\x7f]", "\ufffd", re.sub(r"[\t\n\r]", " ", name)).replace(";", ":") for name in path)


def compare(what, ours, theirs, wrong):
    for path in set(ours) | set(theirs):
        if ours.get(path, 0) != theirs.get(path, 0):
            wrong.append(f"{what}: {' > '.join(path)[-200:]}: {ours.get(path, 0)}, not {theirs.get(path, 0)}")


def check(tpusight, trace):
    with (gzip.open if trace.endswith(".gz") else open)(trace, "rb") as file:
        data = json.load(file, parse_float=decimal.Decimal)
    events = data["traceEvents"] if isinstance(data, dict) else data
    sums, modules = paths_of(events), module_sums(events)
    wrong, done = [], []
    for column, weight in enumerate(("cpu", "device", "count")):
        theirs = {path: values[column] for path, values in sums.items() if values[column]}
        folds = collections.Counter()
        for path, value in theirs.items():
            folds[escaped(path)] += value
        option = "--weight=" + weight
        compare("nested", nested(run(tpusight, trace, "--json", option), weight, wrong), theirs, wrong)
        compare("folded", folded(run(tpusight, trace, "--format=folded", option)), folds, wrong)
        compare("speedscope", speedscope(run(tpusight, trace, "--format=speedscope", option), weight), theirs, wrong)
        done.append(f"{len(theirs)} paths of {weight} {sum(theirs.values())}")
    for column, weight in enumerate(("cpu", "device") if modules else ()):
        theirs = {path: values[column] for path, values in modules.items() if values[column]}
        compare("modules", {k: v for k, v in our_modules(tpusight, trace, weight).items() if v}, theirs, wrong)
        done.append(f"{len(theirs)} modules of {weight}")
    print(f"{trace.rsplit('/', 1)[-1]}: {', '.join(done)}: {'equal' if not wrong else 'DIFFER'}")
    print("".join(f"  {line}\n" for line in wrong[:10]), end="")
    return bool(wrong)


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    wrong = [check(sys.argv[1], trace) for trace in sys.argv[2:]]  # all of them, also behind a wrong one
    sys.exit(any(wrong))
