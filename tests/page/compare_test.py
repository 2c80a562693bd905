#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs side by side in real Chromium: compare_test.py

  - `tpusight compare -o FILE.html` and the server's page say the same of the same runs, and both what is worked out here from
    `compare --json`
  - 2, 3 and 16 runs, long names that are cut and still told apart; slower and faster are words; no share above 200 %, no "Change pct"
  - two traces of PyTorch: their operators, by name and by shape, with the times and calls of both
  - `tpusight compile A B -o FILE.html` has the modes of the compiler above it, without columns of which nothing is known
  - the file asks no network and its policy lets nothing in; it is looked at on three widths and in both themes
Run in the build folder; $TPUSIGHT names the program, $TS_SHOTS a folder for screenshots.
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import doors
import expect

PLANTED = os.path.join(doors.HERE, "..", "data", "planted")
LONG = "llama_8b_pretrain_v6e_batch_8_seq_4096_with_flash_attention_attempt_{}_of_the_second_week"
TIMES = 2
OPS = 20
CLASSES = ["compute", "below_roofline", "memory_wait", "communication", "host_transfer", "rematerialization", "unexplained", "compilation",
           "input", "launch", "idle"]
BECAME = {"new": "only here", "gone": "gone", "same": "as before", "slower": "slower", "faster": "faster"}
OPERATORS = 12  # rows that are looked at
TRACE = os.path.join(doors.HERE, "..", "data", "torch_operators.pt.trace.json.gz")
PARTS = {"same": "ops that changed by less than 1 %", "compilation": "compilation, without ops", "input": "waiting for input, without ops",
         "launch": "waiting for launches, without ops", "idle": "idle, without ops", "left_over": "not explained by ops"}


def compared(*arguments):
    made = subprocess.run([doors.PROGRAM, "compare", "-q", "--json", *arguments], capture_output=True, check=True)
    return json.loads(made.stdout)["compare"]


def page(out, *arguments):
    subprocess.run([doors.PROGRAM, "compare", "-q", "-o", out, *arguments], check=True)
    return out


def sessions(folder, names):
    """A log directory with a run for each {name: planted scenario}; gives {name: its session}."""
    made = {}
    for name, scenario in names.items():
        with tarfile.open(os.path.join(PLANTED, f"{scenario}.tar.gz")) as tar:
            tar.extractall(os.path.join(folder, "made", name), filter="data")
        profiles = [os.path.join(at, f) for at, _, files in os.walk(os.path.join(folder, "made", name)) for f in files
                    if f.endswith(".xplane.pb")]
        doors.logdir(os.path.join(folder, "logs"), {name: profiles[0]})
        made[name] = os.path.join(folder, "logs", name, "plugins", "profile", "2026_01_01_00_00_00")
    return made


# --- what must stand there

def factor(x):
    return f"{round(x):,}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def longer(ratio):
    if ratio >= TIMES:
        return f"{factor(ratio)} times as long"
    return f"{expect.share(100 * (ratio - 1))} longer" if ratio > 1 else f"{expect.share(100 * (1 - ratio))} shorter"


def signed(ps):
    sign = "+" if ps > 0 else "\u2212" if ps < 0 else ""
    return f"{sign}{expect.time(abs(ps))}"


def became(op, at):
    change, state = op[f"run_{at}_change_ps"], op[f"run_{at}_state"]
    if state in ("new", "gone"):
        return f"{expect.time(abs(change))}, {'only here' if state == 'new' else 'gone'}"
    return f"{expect.time(abs(change))} {'slower' if change > 0 else 'faster'} ({longer((op['run_0_ps'] + change) / op['run_0_ps'])})"


def largest(rows, column):
    return sorted((r for r in rows if r[column]), key=lambda r: -abs(r[column]))


def expected(of, at):
    """{what: texts} of the run AT against the first."""
    column, run, base = f"run_{at}_change_ps", of["runs"][at], of["runs"][0]
    nr = len(of["runs"])
    classes = sorted((b for b in of["buckets"] if any(b[f"run_{i}_ps"] for i in range(nr))), key=lambda b: CLASSES.index(b["bucket"]))
    parts = [p for p in of["difference"] if p["part"] != "all"]
    return {
        "median": [expect.time(run["median_ps"]), expect.time(base["median_ps"])],
        "classes": [[b["title"], expect.time(b["run_0_ps"]), expect.time(b[f"run_{at}_ps"])] for b in classes],
        "bars": [expect.time(sum(b[f"run_{i}_ps"] for b in classes)) for i in range(nr)],
        "parts": [[PARTS.get(p["part"], p["title"]), signed(p[column])] for p in largest(parts, column)],
        "parts_by_class": [[b["title"], signed(b[column])] for b in largest(of["buckets"], column)],
        "ends": [expect.time(base["time_ps"]), expect.time(run["time_ps"])],
        "ops": [[op["source"] or "", op["name"], became(op, at)] for op in largest(of["ops"], column)[:OPS]],
        "steps": [sum(b["run_0_steps"] for b in of["histogram"]), sum(b[f"run_{at}_steps"] for b in of["histogram"])],
        "verdict": run["verdict"],
    }


def operators(rows):
    """Times are of hosts: the trace has no GPU."""
    shown = [[r["name"], *([r["input_shapes"]] if r["input_shapes"] else []),
              *("not there" if r[f"run_{i}_self_cpu_ps"] is None else expect.time(r[f"run_{i}_self_cpu_ps"]) for i in (0, 1)),
              signed(r["run_1_change_self_cpu_ps"]), BECAME[r["run_1_state"]],
              *("not there" if r[f"run_{i}_calls"] is None else f"{r[f'run_{i}_calls']:,}" for i in (0, 1)), r["category"] or ""]
             for r in rows]
    return shown[:OPERATORS]


def traces(folder):
    """A trace of two steps, and the first of them alone: (arguments of compare, what must stand there)."""
    part = os.path.join(folder, "part.json.gz")
    subprocess.run([doors.PROGRAM, "trim", "-q", "--to-ms=1.8", "-o", part, TRACE], check=True)
    of = compared(TRACE, part)
    tables = {"PyTorch's operators by what they changed, own time on hosts": operators(of["operators"]),
              "PyTorch's operators by the shapes of their inputs, own time on hosts": operators(of["operator_shapes"])}
    return [TRACE, part], tables


MODES = ("mode", "steps", "step_time_ms", "speedup", "graph_breaks", "recompilations", "fusion_ratio", "kernels_a_step")


def modes(out):
    """{caption: what must stand there} of two modes of a compiler, whose page is written to OUT."""
    both = [os.path.join(doors.HERE, "..", "data", "torch", f"mode_{mode}.pt.trace.json.gz") for mode in ("eager", "default")]
    subprocess.run([doors.PROGRAM, "compile", "-q", "-o", out, *both], check=True)
    made = subprocess.run([doors.PROGRAM, "compile", "-q", "--json", *both], capture_output=True, check=True)
    rows = json.loads(made.stdout)["modes"]
    return {"Modes of the compiler": [["unknown" if row[name] is None else row[name] if name == "mode" else f"{round(row[name], 2):g}"
                                       for name in MODES] for row in rows]}


def main():
    doors.need_tools()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        names = {"before": "clean", "after": "waits", "third": "remat"}
        places = sessions(folder, names)
        few = [places["before"], places["after"]]
        many = [os.path.join(PLANTED, f"{'clean' if i % 3 else 'waits'}.tar.gz") for i in range(16)]
        of_traces, tables = traces(folder)
        labels = [f"--label={LONG.format(i)}" for i in range(16)]
        of_two, of_three, of_many = compared(*few), compared(*few, places["third"]), compared(*labels, *many)
        for of in (of_two, of_three, of_many):
            steps = [sum(b[f"run_{i}_steps"] for b in of["histogram"]) for i in range(len(of["runs"]))]
            if steps != [r["steps"] for r in of["runs"]]:
                wrong.append(f"the histogram has {steps} steps and not {[r['steps'] for r in of['runs']]}")
        with doors.serving(os.path.join(folder, "logs")) as (url, _):
            listed = {r["run"]: r for r in json.load(doors.get(f"{url}api/runs"))["runs"]}
            chosen = ",".join(listed[n]["id"] for n in ("before", "after"))
            files = {name: page(os.path.join(folder, f"{name}.html"), *arguments) for name, arguments in
                     (("two", few), ("traces", of_traces), ("three", [*few, places["third"]]), ("many", [*labels, *many]))}
            job = {
                "shots": os.environ.get("TS_SHOTS"),
                "doors": [{"name": "file", "expected": expected(of_two, 1), "url": f"file://{files['two']}"},
                          {"name": "serve", "url": f"{url}#view=compare&runs={chosen}", "expected": expected(of_two, 1)},
                          {"name": "three", "url": f"file://{files['three']}#compare.other=2",
                           "expected": expected(of_three, 2)},
                          {"name": "sixteen", "url": f"file://{files['many']}#compare.other=1",
                           "expected": expected(of_many, 1), "whole": [LONG.format(i) for i in range(16)]},
                          {"name": "traces", "url": f"file://{files['traces']}", "tables": tables},
                          {"name": "modes", "url": f"file://{os.path.join(folder, 'modes.html')}",
                           "tables": modes(os.path.join(folder, "modes.html"))}],
            }
            path = os.path.join(folder, "job.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(job, f)
            done = doors.node("compare.mjs", path)
        if done.returncode == doors.SKIP:
            doors.skip(done.stderr.strip().removesuffix(": skipped"))
        if done.returncode not in (0, 1):
            wrong.append(f"compare.mjs ended with status {done.returncode}")
        wrong += done.stderr.splitlines()
    sys.exit(doors.ended(wrong))


if __name__ == "__main__":
    main()
