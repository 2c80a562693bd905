#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the program gives up before it reads foreign bytes, and that nothing a user asks for breaks: confine_test.py

  - with -v it says what holds; TPUSIGHT_CONFINE=0 leaves it out; so does --on-alert, whose program would be confined too
  - the system agrees: /proc/PID/status of a server
  - a run that a link leads to is read, annotated and stripped; links that lead in circles end
  - outputs go to new and old files, links, devices, pipes, open descriptors and standard output; inputs come from pipes
  - a link leads a server nowhere
$TPUSIGHT names the program.
"""
import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
import children
from helpers import DATA, PROGRAM, must, need, wrong

PATIENCE_S = 60


def tpusight(*words, **more):
    return subprocess.run([PROGRAM, *words], capture_output=True, timeout=PATIENCE_S, **more)


def good(what, *words, **more):
    done = tpusight(*words, **more)
    must(done.returncode == 0, f"{what}: status {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout


def held(stderr):
    """(files, system calls) of the line that says what holds; None: nothing does."""
    found = re.search(rb"^tpusight: confined: files (.*?); system calls (.*?); network: (.*?); programs: none$", stderr, re.M)
    return found and tuple(not text.startswith(b"not") for text in found.groups()[:2])


def says(session):
    said = tpusight("report", "-v", session)
    must(b"confined: " in said.stderr, f"-v does not say what is confined: {said.stderr}")
    must(b"confined" not in tpusight("report", session).stderr, "it says it without -v")
    off = tpusight("report", "-v", session, env={**os.environ, "TPUSIGHT_CONFINE": "0"})
    must(b"not confined: TPUSIGHT_CONFINE=0" in off.stderr, f"it is not left out: {off.stderr}")
    must(off.stdout == said.stdout, "the report differs when nothing is confined")
    with tempfile.TemporaryDirectory() as empty:
        alert = tpusight("live", "-v", "--on-alert=true", "--for=100ms", empty)
    must(b"not confined: the program that it runs" in alert.stderr, f"--on-alert is confined: {alert.stderr}")
    return held(said.stderr)


@contextlib.contextmanager
def serving(logdir):
    server = children.start([PROGRAM, "serve", "--port=0", logdir], stdout=subprocess.PIPE)
    line = server.stdout.readline().decode()
    try:
        yield server, int(re.search(r":(\d+)/", line).group(1))
    finally:
        server.terminate()
        must(server.wait(PATIENCE_S) == 0, "a confined server does not end with 0")
        server.stdout.close()


def ask(port, path):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    client.request("GET", path)
    answer = client.getresponse()
    body = answer.read()
    client.close()
    return answer.status, json.loads(body)


def report_of(port, run):
    ids = [r["id"] for r in ask(port, "/api/runs")[1]["runs"] if r["run"].startswith(run)]
    must(len(ids) == 1, f"{run} is not listed once: {ids}")
    return ask(port, f"/api/report?run={ids[0]}") if ids else (0, None)


def leads_out(port, name):
    runs = ask(port, "/api/runs")[1]
    must(not [r for r in runs["runs"] if r["run"].startswith(name)], f"{name} is listed: {runs}")
    must(any(f"/{name}" in problem for problem in runs["problems"]), f"{name} is not named: {runs['problems']}")


def served(folder, calls):
    """A link that leads out of what was named is a problem, and no run, whenever it was made."""
    logdir = os.path.join(folder, "served")
    os.makedirs(logdir)
    os.symlink(os.path.join(folder, "real"), os.path.join(logdir, "before"))
    with serving(logdir) as (server, port):
        leads_out(port, "before")
        with open(f"/proc/{server.pid}/status", encoding="ascii") as f:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        if calls:
            must(status["Seccomp"] == "2" and status["NoNewPrivs"] == "1", f"the system says Seccomp {status['Seccomp']}")
        os.unlink(os.path.join(logdir, "before"))
        shutil.copytree(os.path.join(folder, "real"), os.path.join(logdir, "copied"))
        must(report_of(port, "copied")[0] == 200, "a run that came later is not served")
        os.symlink(os.path.join(folder, "other"), os.path.join(logdir, "later"))
        leads_out(port, "later")


def linked(folder):
    """The session is elsewhere, and a file of another one; the log directory has a circle, too."""
    logdir, elsewhere = os.path.join(folder, "linked"), os.path.join(folder, "real")
    session = os.path.join(logdir, "files", "plugins", "profile", "2026_01_01_00_00_00")
    os.makedirs(session)
    profile = profile_of(elsewhere)
    before = open(profile, "rb").read()
    os.symlink(elsewhere, os.path.join(logdir, "folder"))
    os.symlink(os.path.join(folder, "single.xplane.pb"), os.path.join(session, "host.xplane.pb"))
    os.symlink("..", os.path.join(logdir, "circle"))
    shutil.copy(profile, os.path.join(folder, "single.xplane.pb"))
    both = [os.path.join(logdir, name) for name in ("folder", "files")]
    good("report through links", "report", both[0])
    done = tpusight("report", "--format=json", "-o", os.devnull, logdir)
    must(b"ermission" not in done.stderr, f"a circle of links: {done.stderr}")
    good("annotate through links", "annotate", "-q", *both)
    must(open(profile, "rb").read() != before, "annotate wrote nothing behind the link")
    good("strip through links", "annotate", "--strip", "-q", *both)
    must(open(profile, "rb").read() == before, "strip does not give the bytes back")


def profile_of(folder):
    return next(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names if name.endswith(".xplane.pb"))


def outputs(folder):
    session, work = os.path.join(folder, "real"), os.path.join(folder, "outputs")
    os.makedirs(os.path.join(work, "below"))
    want = good("report", "report", "--format=json", session)
    old = os.path.join(work, "old.json")
    with open(old, "w", encoding="ascii") as f:
        f.write("old")
    os.symlink(old, os.path.join(work, "link.json"))
    for name in ("new.json", "below/new.json", "old.json"):
        good(name, "report", "--format=json", "-o", name, session, cwd=work)
        must(open(os.path.join(work, name), "rb").read() == want, f"-o {name} is not the report")
    must(tpusight("report", "--format=json", "-o", "link.json", session, cwd=work).stderr.count(b"ermission") == 0, "-o a link")
    for name in ("/dev/null", "/dev/stdout", "-"):
        out = good(name, "report", "--format=json", "-o", name, session)
        must(out == (b"" if name == "/dev/null" else want), f"-o {name} is not the report")
    with open(os.path.join(work, "redirected"), "wb") as f:
        subprocess.run([PROGRAM, "report", "--format=json", "-o", "/dev/stdout", session], stdout=f, timeout=PATIENCE_S, check=False)
    must(open(os.path.join(work, "redirected"), "rb").read() == want, "-o /dev/stdout into a file is not the report")
    good("a pipe of the shell", "report", "--format=json", "-o", "/dev/fd/1", session)
    for words in (["trim", "--steps=201-202"], ["redact", "--salt=abcdefghijklmnop"]):
        for path in (session, profile_of(session)):
            good(f"{words[0]} beside {path}", *words, path)
            good(f"{words[0]} -o", *words, "-o", os.path.join(work, words[0]) + "/", path)


def inputs(folder):
    profile = profile_of(os.path.join(folder, "real"))
    shell = f"cat '{profile}' | '{PROGRAM}' report -"
    must(subprocess.run(["sh", "-c", shell], capture_output=True, timeout=PATIENCE_S, check=False).returncode == 0, "a pipe as input")
    with open(profile, "rb") as f:
        good("a file as standard input", "report", "-", stdin=f)
    good("an archive", "report", os.path.join(DATA, "planted", "clean.tar.gz"))
    away = os.path.join(folder, "temporary")
    os.makedirs(away)
    trace = os.path.join(DATA, "torch", "stack.pt.trace.json.gz")
    good("temporary files", "memory", trace, env={**os.environ, "TMPDIR": away})
    must(os.listdir(away) == [], "temporary files are left behind")


def main():
    need()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "scratch"))
        os.environ["TMPDIR"] = os.path.join(folder, "scratch")  # so that the test's own files are not open by that
        for name in ("real", "other"):
            shutil.copytree(os.path.join(DATA, "sample"), os.path.join(folder, name))
            subprocess.run(["chmod", "-R", "u+w", os.path.join(folder, name)], check=True)
        holds = says(os.path.join(folder, "real"))
        print(f"files, system calls confined here: {holds or 'neither'}")
        linked(folder)
        served(folder, (holds or (False, False))[1])
        inputs(folder)
        outputs(folder)
    for text in wrong:
        print(text)
    print(f"{time.monotonic() - begin:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
