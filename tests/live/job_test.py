#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight live against real JAX jobs on the CPU: job_test.py

  - a steady job raises no alert; its steps are seen, in samples and between them
  - a job whose shapes change every step raises recompilation within two samples, with the function and shapes
  - so does one that was steady until then
  - the server killed and started again on the same port is survived
  - a step's time is from start to start, and the time within its mark is another figure
  - a job that stands still, and one that has ended, are alerts that --fail-on counts
  - a compilation that is longer than a sample is never said to be none; behind it it is known as a whole
  - --fail-on ends with status 1, --on-alert gets its values by the environment
  - soak: 1,000 samples stay below 64 MiB, and below 1.2 times what the first 100 took
  - cost, when asked for by name: the job's median step grows by less than LIMIT_PCT while it is watched at the default
    interval. That is a measurement: beside other tests on a small machine their noise is larger than what it looks for.
Needs JAX: $TS_JAX_PYTHON names a Python with it, else this skips. $TPUSIGHT names the program.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, ended, free_port, must, need, skip

PYTHON = os.environ.get("TS_JAX_PYTHON", "")
LIMIT_PCT, ROUNDS, ROUND_S = 5, 6, 4
# The job sleeps between tiny steps, and its processor, which others use too, is a device that has nothing to run then: no news here.
IDLES = [f"--threshold={name}=100" for name in ("idle_high", "input_high", "launch_high")] + ["--threshold=slow_step_high=100000"]


class Job:
    def __init__(self, mode, seconds=600, port=None, timed=False):
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [PYTHON, os.path.join(HERE, "job.py"), str(self.port), mode, str(seconds)] + ["timed"] * timed,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if self.process.stdout.readline().strip() != "up":
            print("the job does not start", file=sys.stderr)
            sys.exit(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def live(*options, address, samples=None):
    """(status, [events]) of a watch that ends by itself, or when it has so many samples."""
    events = []
    with subprocess.Popen([PROGRAM, "live", "--json", *IDLES, "--service", address, *options], stdout=subprocess.PIPE, text=True) as watch:
        for line in watch.stdout:
            events.append(json.loads(line))
            if events[-1]["type"] == "sample" and events[-1]["sample"] == samples:
                watch.terminate()
    return watch.returncode, events


def steady_is_quiet():
    with Job("steady") as job:
        code, events = live("--for=600s", address=job.address, samples=8)
    samples = [e for e in events if e["type"] == "sample"]
    must(code == 0, f"steady: status {code}")
    must(len(samples) >= 8, f"steady: {len(samples)} samples")
    alerts = [e for e in events if e["type"] == "alert"]
    must(not alerts, f"steady: {alerts}")
    last = [s["metrics"] for s in samples]
    must(any(m["step_time_ps"] for m in last) and any(m["step_time_unsampled_ps"] for m in last), "steady: no steps")
    must(all(s["services"][0]["state"] == "up" for s in samples), "steady: not always up")


def shapes_are_reported(folder):
    out = os.path.join(folder, "alert")
    with Job("shapes") as job:
        time.sleep(3)
        command = f'printf "%s|%s|%s" "$TPUSIGHT_ALERT_RULE" "$TPUSIGHT_ALERT_STATE" "$TPUSIGHT_ALERT_EVIDENCE" > {out}'
        code, events = live("--for=600s", "--fail-on=warning", f"--on-alert={command}", address=job.address)
    alerts = [e for e in events if e["type"] == "alert"]
    must(code == 1, f"shapes: status {code}")
    must(len(alerts) == 1 and alerts[0]["rule"] == "recompilation", f"shapes: {alerts}")
    if alerts:
        must(alerts[0]["sample"] <= 2, f"shapes: reported in sample {alerts[0]['sample']}")
        must("train_step" in alerts[0]["message"], alerts[0]["message"])
        must(alerts[0]["evidence"].count(",64]") >= 2, alerts[0]["evidence"])
        with open(out, encoding="utf-8") as f:
            must(f.read() == "recompilation|raised|" + alerts[0]["evidence"], "shapes: the command's environment")


def later_shapes_are_reported():
    """A job that was steady: its modules were not asked for when the first new program is seen."""
    with Job("later") as job:
        code, events = live("--for=600s", "--fail-on=warning", address=job.address)
    alerts = [e for e in events if e["type"] == "alert"]
    must(code == 1 and len(alerts) == 1, f"later: status {code}, {alerts}")
    # null: in the whole sample no step began, and who knows why
    seen = [e["sample"] for e in events if e["type"] == "sample" and e["metrics"]["compiling_pct"] != 0]
    for alert in alerts:
        must("train_step" in alert["message"] and alert["evidence"].count(",64]") >= 2, f"later: {alert}")
        must(seen and alert["sample"] <= seen[0] + 1, f"later: compiled in {seen}, reported in {alert['sample']}")


def restart_is_survived():
    """Killed after the third sample; whether a sample falls into the time without a server is left to chance."""
    first = Job("steady")
    second, states, samples = None, [], []
    watch = subprocess.Popen([PROGRAM, "live", "--json", *IDLES, "--for=900s", "--service", first.address],
                             stdout=subprocess.PIPE, text=True)
    for line in watch.stdout:
        event = json.loads(line)
        if event["type"] != "sample":
            must(event["type"] == "end" or event["rule"] == "service_down", f"restart: {line}")
            continue
        service = event["services"][0]
        states.append(service["state"])
        samples.append(event)
        if event["sample"] == 3 and second is None:
            first.__exit__()
            second = Job("steady", port=first.port)
        if service["restarts"] and event["metrics"]["step_time_unsampled_ps"]:
            break  # seen, and its steps are told from those of the first one
    watch.terminate()
    status = watch.wait(300)
    (second or first).__exit__()
    story = f"restart: {states}, status {status}, the last {samples[-1:]}"
    must(samples and samples[-1]["services"][0]["restarts"] == 1 and states[-1] == "up", story)
    must(set(states) <= {"up", "down", "late"} and status == 0, story)


def steps_are_from_start_to_start():
    with Job("slow") as job:
        _, events = live("--for=600s", address=job.address, samples=8)
    found = [e["metrics"] for e in events if e["type"] == "sample" and e["metrics"]["step_time_ps"]]
    must(found, "slow: no step is seen")
    must(all(m["step_time_ps"] >= 20e9 for m in found), f"slow: {found}")  # it slept for 20 ms
    must(all(m["step_marked_ps"] < m["step_time_ps"] - 20e9 + 1e9 for m in found), f"slow: {found}")


def watched_until(mode, rule, *options):
    """(status, events, what the job printed) of a watch in which the job is told, at the third sample, to do what MODE says; until RULE is
    raised and, where the job goes on, cleared."""
    events, said = [], ""
    with Job(mode) as job:
        with subprocess.Popen([PROGRAM, "live", "--json", *IDLES, "--for=900s", "--interval=100ms", "--service", job.address, *options],
                              stdout=subprocess.PIPE, text=True) as watch:
            for line in watch.stdout:
                events.append(json.loads(line))
                if events[-1]["type"] == "sample" and events[-1]["sample"] == 3 and events[-1]["hosts"]:
                    print("now", file=job.process.stdin, flush=True)
                if events[-1]["type"] == "alert" and events[-1]["rule"] == rule:
                    watch.terminate()
            status = watch.wait(300)
        if mode == "compile":
            said = job.process.stdout.readline()
    return status, events, said


def what_stands_still_is_an_alert():
    status, events, _ = watched_until("hang", "no_step", "--stall=1s", "--fail-on=warning")
    found = [e for e in events if e["type"] == "alert"]
    must(status == 1 and [e["rule"] for e in found] == ["no_step"], f"hang: status {status}, {found}")
    must("The last step seen is train" in found[0]["evidence"], f"hang: {found}")
    status, events, _ = watched_until("die", "service_down", "--fail-on=critical", "--stall=0")
    found = [e for e in events if e["type"] == "alert"]
    must(status == 1 and [(e["rule"], e["severity"]) for e in found] == [("service_down", "critical")], f"die: status {status}, {found}")


def a_long_compilation_is_seen_behind_it():
    _, events, said = watched_until("compile", "compilation_time_high", "--threshold=compilation_time_high=500", "--stall=0")
    samples = [e["metrics"] for e in events if e["type"] == "sample" and e["hosts"]]
    alert = next((e for e in events if e["type"] == "alert" and e["rule"] == "compilation_time_high"), None)
    seconds = float(said)
    must(alert and abs(alert["value"] / 1000 - seconds) < 0.3 * seconds + 1, f"compile: {seconds} s, {alert}")
    quiet = [m for m in samples if m["no_step_ms"] > 300]  # the job did not advance: nothing is known then
    must(quiet and all(m["compiling_pct"] != 0 for m in quiet), f"compile: {quiet}")


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def a_thousand_samples_take_no_more_memory():
    """Of a job that goes on; memory after 100 samples and after 1,000."""
    with Job("steady") as job:
        options = ["--interval=10ms", "--sample-ms=10", "--for=900s"]
        watch = subprocess.Popen([PROGRAM, "live", "--json", "--service", job.address, *options],
                                 stdout=subprocess.PIPE, text=True)
        start, kib = time.monotonic(), {}
        for line in watch.stdout:
            number = json.loads(line)["sample"]
            if number in (100, 1000) and number not in kib:
                kib[number] = resident_kib(watch.pid)
            if number >= 1000:
                break
        watch.terminate()
        watch.stdout.read()
        status = watch.wait(300)
    print(f"resident after so many samples: {kib} KiB, {time.monotonic() - start:.0f} s")
    must(status == 0 and len(kib) == 2, f"soak: status {status}, {kib}")
    must(kib.get(1000, 0) < 64 * 1024, f"soak: {kib} KiB")
    must(kib.get(1000, 0) < 1.2 * kib.get(100, 0), f"soak: it grows: {kib} KiB")


def cost_is_small():
    """Watched and alone in turns, so that what else the machine does meets both alike."""
    with Job("steady", seconds=ROUNDS * 2 * ROUND_S + 4, timed=True) as job:
        for _ in range(ROUNDS):
            time.sleep(ROUND_S)
            watch = subprocess.Popen([PROGRAM, "live", "--json", "--service", job.address], stdout=subprocess.DEVNULL)
            time.sleep(0.3)
            print("watched", file=job.process.stdin, flush=True)
            time.sleep(ROUND_S)
            print("alone", file=job.process.stdin, flush=True)
            watch.terminate()
            watch.wait(300)
        job.process.stdin.close()
        medians = {}
        for line in job.process.stdout:
            name, nr, median, mean = line.split()
            medians[name] = float(median)
            print(f"{name}: {nr} steps, median {float(median):.3f} ms, mean {float(mean):.3f} ms")
    grown = (medians["watched"] / medians["alone"] - 1) * 100
    print(f"the median step grows by {grown:.2f} % while the job is watched")
    must(grown < LIMIT_PCT, f"cost: {grown:.2f} %")


def main():
    if not PYTHON or not os.access(PYTHON, os.X_OK):
        skip("TS_JAX_PYTHON names no Python with JAX")
    need()
    parts = sys.argv[1:] or ["steady", "shapes", "later", "restart", "slow", "still", "compile", "soak"]
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            {"steady": steady_is_quiet, "shapes": lambda: shapes_are_reported(folder), "later": later_shapes_are_reported,
             "restart": restart_is_survived, "slow": steps_are_from_start_to_start, "still": what_stands_still_is_an_alert,
             "compile": a_long_compilation_is_seen_behind_it,
             "soak": a_thousand_samples_take_no_more_memory, "cost": cost_is_small}[part]()
    return ended()


if __name__ == "__main__":
    sys.exit(main())
