#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight live LOGDIR as its user runs it: folder_test.py [PART...]

  - alerts   each session raises what the doctor says of it, and nothing of the session before
  - left     a half that stays is never annotated: status 4, and it is reported at the end; 3 when nothing came; 1 with --fail-on
  - late     a host that comes later is in the next annotation
  - killed   killed at any moment, the next watch gets there, and --strip gives every byte back
  - cut      a profile that is cut short while it is analysed ends nothing
  - many     a hundred sessions, two watches at a time, in bounded memory
  - view     the terminal's screen
  - jax      a real job profiles itself three times: each session is annotated once; --strip gives every byte back
$TPUSIGHT names the program, $TS_JAX_PYTHON a Python with JAX; without it the last part is passed over.
"""
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM, ended, must, need, planted, report
from service_test import expected_alerts, raised

PYTHON = os.environ.get("TS_JAX_PYTHON", "")
FAST = ["--settle=200ms", "--interval=100ms"]
PROFILE = os.path.join(DATA, "cpu_shapes.xplane.pb")
MAX_KIB = 64 * 1024


def live(logdir, *options):
    """(status, [events], what was complained of)"""
    done = subprocess.run([PROGRAM, "live", "--json", *FAST, *options, logdir], capture_output=True, text=True,
                          timeout=120)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def of_type(events, kind, state=None):
    return [e for e in events if e["type"] == kind and state in (None, e.get("state"))]


def follow(logdir, enough, *options, linger_s=0):
    """The same of a watch that is ended LINGER_S after ENOUGH(events) came true, however busy the machine is."""
    with tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen([PROGRAM, "live", "--json", *FAST, "--for=900s", *options, logdir],
                                   stdout=subprocess.PIPE, stderr=complaints, text=True)
        events = []
        for line in process.stdout:
            events.append(json.loads(line))
            if enough(events):
                break
        time.sleep(linger_s)
        process.terminate()
        events += [json.loads(line) for line in process.stdout]
        process.stdout.close()
        status = process.wait(60)
        complaints.seek(0)
        return status, events, complaints.read()


def annotated(nr):
    """ENOUGH: so many sessions."""
    return lambda events: len({e["path"] for e in of_type(events, "session", "annotated")}) >= nr


def problems(events):
    return [e for e in of_type(events, "session") if e["problem"]]


def reports(logdir):
    return glob.glob(os.path.join(logdir, "**", "ALL_HOSTS.tpusight.json"), recursive=True)


def session(logdir, name, *files):
    folder = os.path.join(logdir, "plugins", "profile", name)
    os.makedirs(folder, exist_ok=True)
    for i, path in enumerate(files):
        shutil.copyfile(path, os.path.join(folder, f"host{i}.xplane.pb"))
    return folder


def digests(folder):
    """{name below FOLDER: sha256}"""
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = hashlib.sha256(f.read()).hexdigest()
    return found


def strips_to(logdir, before, what):
    done = subprocess.run([PROGRAM, "annotate", "-q", "--strip", logdir], capture_output=True, text=True, timeout=60)
    after = digests(logdir)
    must(done.returncode == 0, f"{what}: --strip: {done.stderr}")
    changed = sorted(n for n in set(before) | set(after) if before.get(n) != after.get(n))
    must(not changed, f"{what}: not as before after --strip: {changed}")


def alerts_are_the_doctors(folder):
    names = ["padding", "clean", "gaps", "recompiles", "two_hosts"]
    for name in names:
        planted(name, folder)
    code, events, complaint = follow(folder, annotated(len(names)))
    must(code == 0 and not complaint, f"alerts: status {code}: {complaint}")
    done = of_type(events, "session", "annotated")
    must(len(done) == len(names), f"alerts: {len(done)} of {len(names)} sessions annotated")
    for event in done:
        of = report(event["path"])
        again = [f for f in of["doctor"]["findings"] if f["rule"] == "recompilation" and f["severity"] != "info"]
        expect = expected_alerts(of) | {f["rule"] for f in again}
        got = {e["rule"] for e in of_type(events, "alert") if e["session"] == event["path"]}
        must(got == expect, f"{event['path']}: raised {sorted(got)}, the doctor says {sorted(expect)}")
        must({a["rule"] for a in event["alerts"]} == expect, f"{event['path']}: active {event['alerts']}")
        must(event["metrics"]["health_score"] is not None, f"{event['path']}: no figures")
        starts = [int(host["start_unix_ns"]) for host in report(event["path"])["run"]["hosts"] if host["start_unix_ns"]]
        captured = min(starts) // 1000000 if starts else None
        must(event["captured_unix_ms"] == captured, f"{event['path']}: captured {event['captured_unix_ms']}, not {captured}")
    must(len(raised(events)) >= 3, f"alerts: {raised(events)}")
    must(not of_type(events, "alert", "cleared"), "alerts: a session clears what another one raised")


def ends_with(folder):
    code, events, complaint = live(os.path.join(folder, "nothing"), "--for=300ms")
    must(code == 3 and "no session came" in complaint, f"left: nothing there: status {code}: {complaint}")
    must("no such file or folder" in of_type(events, "session")[0]["problem"], "left: it is not reported that the folder is missing")
    logdir = os.path.join(folder, "half")
    session(logdir, "whole", PROFILE)
    half = os.path.join(session(logdir, "half"), "host.xplane.pb")
    with open(PROFILE, "rb") as f, open(half, "wb") as out:
        out.write(f.read()[:9000])
    before = digests(logdir)
    code, events, complaint = follow(logdir, lambda e: annotated(1)(e) and problems(e), linger_s=1)
    must(code == 4, f"left: status {code}: {complaint}")
    done = [os.path.basename(e["path"]) for e in of_type(events, "session", "annotated")]
    must(done == ["whole"], f"left: annotated {done}")
    told = problems(events)
    must(len(told) == 1 and told[0]["problem"].startswith(f"{half}: byte 6843 of 9000: "), f"left: reported {told}")
    must(events[-1]["sessions"] == {"found": 2, "waiting": 1, "failed": 0}, f"left: {events[-1]}")
    must(events[-1]["left"] == [{"path": os.path.dirname(half), "problem": told[0]["problem"]}], f"left: {events[-1]}")
    strips_to(logdir, before, "left")


def fails_on(folder):
    planted("padding", folder)
    out = os.path.join(folder, "alert")
    command = f'printf "%s|%s" "$TPUSIGHT_ALERT_RULE" "$TPUSIGHT_ALERT_SESSION" >> {out}'
    logdir = os.path.join(folder, "padding")
    before = digests(logdir)
    done = subprocess.run([PROGRAM, "live", *FAST, "--for=60s", "-n", "--fail-on=warning", logdir], capture_output=True,
                          text=True, timeout=120)
    must(done.returncode == 1, f"fail-on: -n: status {done.returncode}: {done.stderr}")
    must(": warning: Padding waste is " in done.stdout and f"{logdir}/" in done.stdout, f"fail-on: -n: {done.stdout}")
    for words in (": complete  ", "(would write 1 xplane overlay"):
        must(words in done.stdout, f"fail-on: -n: no {words}: {done.stdout}")
    must(digests(logdir) == before, "fail-on: -n writes")
    code, events, complaint = live(logdir, "--for=60s", "--fail-on=warning", f"--on-alert={command}")
    path = of_type(events, "session", "annotated")[0]["path"]
    must(code == 1, f"fail-on: status {code}: {complaint}")
    with open(out, encoding="utf-8") as f:
        must(f"padding_waste_high|{path}" in f.read(), "fail-on: the command's environment")
    code, events, _ = live(logdir, "--for=500ms", "--fail-on=warning")
    must(code == 0 and not of_type(events, "session"), f"fail-on: annotated already: status {code}, {events}")


def late_host(folder):
    """A second host's profile comes when the first one's has been annotated, in two halves."""
    logdir, kept = os.path.join(folder, "late"), os.path.join(folder, "kept")
    second = os.path.join(session(logdir, "now", PROFILE), "host1.xplane.pb")
    with open(os.path.join(DATA, "cpu_steps.xplane.pb"), "rb") as f:
        whole = f.read()

    def go_on(events):
        if annotated(1)(events) and not os.path.exists(second):
            with open(second, "wb") as out:
                out.write(whole[:len(whole) // 2])
        told = [e for e in problems(events) if "host1" in e["problem"]]
        if told and os.path.getsize(second) < len(whole):
            with open(second, "ab") as out:
                out.write(whole[len(whole) // 2:])
        return len(of_type(events, "session", "annotated")) == 2

    session(kept, "now", PROFILE, os.path.join(DATA, "cpu_steps.xplane.pb"))
    code, events, complaint = follow(logdir, go_on, linger_s=1)
    must(code == 0 and not complaint, f"late: status {code}: {complaint}")
    hosts = [e["hosts"] for e in of_type(events, "session", "annotated")]
    must(hosts == [1, 2], f"late: annotated with {hosts} hosts")
    strips_to(logdir, digests(kept), "late")


def killed_anywhere(folder):
    logdir = os.path.join(folder, "killed")
    for name in ("a", "b", "c"):
        session(logdir, name, PROFILE, os.path.join(DATA, "cpu_steps.xplane.pb"))
    before = digests(logdir)
    chance = random.Random(7)
    for _ in range(8):
        process = subprocess.Popen([PROGRAM, "live", "-q", *FAST, logdir], stdout=subprocess.DEVNULL)
        time.sleep(0.2 + chance.random() * 0.25)
        process.kill()
        process.wait()
        for path in reports(logdir):
            if chance.random() < 0.5:
                os.remove(path)  # so that there is work for the next one
    code, _, complaint = follow(logdir, lambda _: len(reports(logdir)) == 3, linger_s=2)
    must(code == 0 and not complaint, f"killed: status {code}: {complaint}")
    left = [n for n in digests(logdir) if ".tpusight-" in n]
    must(not left, f"killed: temporaries are left: {left}")
    must(len(reports(logdir)) == 3, "killed: not all annotated")
    strips_to(logdir, before, "killed")


def cut_short(folder):
    """Another program cuts the profile while it is analysed, again and again: the watch goes on, and gets there."""
    logdir, kept, chance = os.path.join(folder, "cut"), os.path.join(folder, "kept"), random.Random(3)
    sample = glob.glob(os.path.join(DATA, "sample", "**", "*.xplane.pb"), recursive=True)[0]
    session(kept, "now", sample)
    path = os.path.join(session(logdir, "now"), "host0.xplane.pb")

    def restore():
        shutil.copyfile(sample, path + ".new")
        os.replace(path + ".new", path)

    def cut():
        """About when a session that is at rest is read."""
        for _ in range(20):
            restore()
            time.sleep(0.2 + chance.random() * 0.2)
            os.truncate(path, 4000)
        restore()

    restore()
    cutting = threading.Thread(target=cut)
    cutting.start()

    def is_there(_):
        """What was put back last is annotated, and not what was cut just before."""
        return not cutting.is_alive() and os.path.getsize(path) > os.path.getsize(sample)

    code, events, complaint = follow(logdir, is_there, linger_s=2)
    cutting.join()
    must(code == 0 and not complaint, f"cut: status {code}: {complaint}")
    failed = [e["problem"] for e in of_type(events, "session", "failed")]
    must(all(" while it was " in problem for problem in failed), f"cut: {failed}")
    strips_to(logdir, digests(kept), "cut")


def many_sessions(folder):
    logdir = os.path.join(folder, "many")
    for i in range(100):
        session(logdir, f"s{i:03}", PROFILE)
    before = digests(logdir)
    other = subprocess.Popen([PROGRAM, "live", "-q", *FAST, logdir], stdout=subprocess.DEVNULL)
    code, events, complaint = follow(logdir, annotated(100))
    other.terminate()
    must(other.wait(60) in (0, 4), "many: the other one's status")
    must(code == 0 and not complaint, f"many: status {code}: {complaint}")
    must(len(reports(logdir)) == 100, "many: not all annotated")
    others = [e["problem"] for e in problems(events) if "another tpusight" not in e["problem"]]
    must(not others, f"many: {others}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"peak of {peak} KiB over 100 sessions")
    with open(PROGRAM, "rb") as f:
        has_sanitizer = b"__asan_init" in f.read()  # which keeps what was freed
    if not has_sanitizer:
        must(peak < MAX_KIB, f"many: {peak} KiB")
    strips_to(logdir, before, "many")


def view(folder):
    """The terminal's screen: sessions first, then the figures and alerts of the last one."""
    planted("padding", folder)
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    with open(main, "rb", buffering=0) as screen:
        process = subprocess.Popen([PROGRAM, "live", *FAST, "--for=600s", folder], stdin=side, stdout=side, stderr=side,
                                   env=dict(os.environ, TERM="xterm"))
        os.close(side)
        shown, wanted = b"", {b"  warning: Padding waste is ", b", 1 annotated"}
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := screen.read(4096):
                shown += part
                if wanted and all(words in re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown) for words in wanted):
                    process.send_signal(signal.SIGINT)
                    wanted = None
        must(process.wait(60) == 0, "view: status")
    screens = shown.decode().split("\x1b[?1049h")[1].split("\x1b[?1049l")[0]
    must("\x1b[K\r\n" in screens and not re.search(r"(?<!\x1b\[K)\r\n", screens), "view: lines are not cleared to their ends")
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screens).split("\r\n")
    must(max(map(len, lines)) < 80, f"view: a line fills the screen's width: {max(lines, key=len)}")
    must(any(re.fullmatch(r"  padding +\d+\.\d % +[\u2581-\u2588 ]+  0 to 100\.0 %", line) for line in lines),
         f"view: no sparkline with its scale: {lines}")
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode().split("\x1b[H")[-1]).replace("\r", "").splitlines()
    must(text[0].startswith("TPUsight live  ") and ", 1 annotated" in text[0], f"view: {text[0]}")
    must(text[1].endswith(": annotated"), f"view: {text[1]}")
    must(any(line.startswith("  padding") for line in text), "view: no figures")
    must(any(line.startswith("  warning: Padding waste is ") for line in text), "view: no alerts")
    must(re.search(r"1 session annotated in [\d.]+ m?s", text[-1]), f"view: {text[-1]}")


JOB = """
import os, shutil, sys, time
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp
logdir, kept = sys.argv[1:]
f = jax.jit(lambda x: (x @ x).sum())
for i in range(3):
    with jax.profiler.trace(logdir, create_perfetto_trace=i == 1):
        f(jnp.ones((100 + i, 100 + i))).block_until_ready()
    shutil.copytree(logdir, os.path.join(kept, str(i)))
    time.sleep(1.2)
"""


def jax_job(folder):
    """What it wrote is kept before the watch gets to it: a session is at rest for 4 s then."""
    if not PYTHON or not os.access(PYTHON, os.X_OK):
        print("TS_JAX_PYTHON names no Python with JAX: jax is passed over", file=sys.stderr)
        return
    logdir, kept = os.path.join(folder, "jax"), os.path.join(folder, "kept")
    job = subprocess.Popen([PYTHON, "-c", JOB, logdir, kept], stderr=subprocess.DEVNULL)
    # JAX writes a session for a second and longer on a busy machine; the wait is for one more that should not come.
    code, events, _ = follow(logdir, annotated(3), "--settle=4s", linger_s=3)
    job.wait(60)
    done = [e["path"] for e in of_type(events, "session", "annotated")]
    must(code == 0, f"jax: status {code}")
    must(len(done) == 3 and len(set(done)) == 3, f"jax: annotated {done}")
    must(not of_type(events, "session", "failed"), f"jax: {of_type(events, 'session', 'failed')}")
    must(len(reports(logdir)) == 3, f"jax: {reports(logdir)}")
    before = {}
    for i, path in enumerate(sorted(done)):
        name = os.path.relpath(path, logdir)
        before.update({os.path.join(name, n): d for n, d in digests(os.path.join(kept, str(i), name)).items()})
    must(sum(n.endswith("perfetto_trace.json.gz") for n in before) == 1, f"jax: {sorted(before)}")
    strips_to(logdir, before, "jax")


PARTS = {"alerts": [alerts_are_the_doctors], "left": [ends_with, fails_on], "late": [late_host],
         "killed": [killed_anywhere], "cut": [cut_short], "many": [many_sessions], "view": [view], "jax": [jax_job]}


def main():
    need()
    for part in sys.argv[1:] or PARTS:
        for test in PARTS[part]:
            with tempfile.TemporaryDirectory() as folder:
                test(folder)
    return ended()


if __name__ == "__main__":
    sys.exit(main())
