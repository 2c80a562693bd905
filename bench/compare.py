#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times commands against each other, in turn: compare.py [--trials N] [--reset CMD] [--json] NAME=CMD NAME=CMD...

One warm-up of each, then N rounds (default 7) of all of them one after another, so that a change of the machine's load
meets all alike. Says median, spread and peak memory of each, and the ratio of the others to the first, as the median of the
ratios within each round. --reset runs before each timed command and is not timed. A command that fails ends it all: a
failure is fast, and no result.
Peak memory is the largest resident set of the command's processes; it counts pages of a mapped input too,
and is never below this script's own size, which the system counts until the command has replaced it.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time


def run(command):
    """(seconds, peak resident bytes) of one command; its output is dropped."""
    with open(os.devnull, "wb") as null:
        start = time.perf_counter()
        child = subprocess.Popen(shlex.split(command), stdout=null, stderr=subprocess.PIPE)
        words = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - start
    if child.returncode:
        raise SystemExit(f"compare.py: {command}: exit status {child.returncode}\n{words.decode(errors='replace')[-500:]}")
    return took, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def trial(command, reset):
    if reset:
        run(reset)
    return run(command)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--reset", metavar="CMD")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("commands", nargs="+", metavar="NAME=CMD")
    args = parser.parse_args()
    commands = dict(c.split("=", 1) for c in args.commands)
    for command in commands.values():
        trial(command, args.reset)
    rounds = [{name: trial(command, args.reset) for name, command in commands.items()} for _ in range(args.trials)]
    first = next(iter(commands))
    rows = []
    for name in commands:
        times = [r[name][0] for r in rounds]
        rows.append({"name": name, "median_s": statistics.median(times), "min_s": min(times), "max_s": max(times),
                     "peak_bytes": max(r[name][1] for r in rounds),
                     "ratio": statistics.median(r[name][0] / r[first][0] for r in rounds)})
    if args.json:
        print(json.dumps(rows, indent=1))
        return
    for r in rows:
        print(f"{r['name']:<24} {r['median_s']:8.3f} s  ({r['min_s']:.3f} .. {r['max_s']:.3f})  "
              f"{r['peak_bytes'] / 2**20:9.1f} MiB  {r['ratio']:6.2f} x {first}")


if __name__ == "__main__":
    main()
