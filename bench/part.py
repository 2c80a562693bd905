#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a part of a run takes beside the whole, as `tpusight serve` answers: part.py TPUSIGHT PROFILE [ROUNDS]

Asks for the whole run and for its second step in turn, each time anew, and prints the median of the ratios and both medians.
PROFILE has steps. Ratios are of one run; the times say little about another machine.
"""
import json
import re
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request


def ask(url, path, **fields):
    with urllib.request.urlopen(f"{url}{path}?{urllib.parse.urlencode(fields)}") as answer:
        return json.load(answer)


def seconds(url, **fields):
    begin = time.monotonic()
    ask(url, "/api/report", **fields)
    return time.monotonic() - begin


def measured(url, rounds):
    run = ask(url, "/api/runs")["runs"][0]["id"]
    report = ask(url, "/api/report", run=run)
    end, step = report["run"]["capture_ps"], report["time"]["per_step"][1]
    begin, until = step["start_ps"], step["start_ps"] + step["duration_ps"]
    # A part that was asked for before is kept, so each round asks for another picosecond.
    return [(seconds(url, run=run, to_ps=end + i), seconds(url, run=run, from_ps=begin + i, to_ps=until)) for i in range(1, rounds + 1)]


def main():
    program, profile, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 9
    with subprocess.Popen([program, "serve", "--port=0", profile], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            url = next(m.group(0) for m in (re.search(r"http://[\w.:]+", line) for line in server.stdout) if m)
            times = measured(url, rounds)
        finally:
            server.terminate()
    ratio = statistics.median(part / whole for whole, part in times)
    whole, part = (statistics.median(t) for t in zip(*times))
    print(f"a step takes {ratio:.2f} of the whole: {part * 1e3:.1f} ms of {whole * 1e3:.1f} ms, medians of {rounds} rounds")


if __name__ == "__main__":
    main()
