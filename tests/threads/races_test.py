#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands with many threads under ThreadSanitizer: races_test.py [PART...]

  - planted  a race that was planted is found
  - report   runs of all kinds and of many hosts, on one thread and on eight: the same bytes
  - annotate several sessions on eight threads, with Perfetto traces in both forms; strip gives every byte back
  - serve    clients at once ask for reports, parts and lists while the runs change under them
  - folder   live LOGDIR --serve: sessions of two hosts come while clients read
  - service  live --service of three hosts with --serve, alerts that run programs, clients that come and go
A race is a complaint whatever the command's status. In a build without ThreadSanitizer all is passed over.
$TPUSIGHT names the program, $FAKE_SERVER the servers. Run in the build folder.
"""
import concurrent.futures
import contextlib
import glob
import gzip
import hashlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
import children
from helpers import DATA, PROGRAM, must, skip, wrong

SAMPLE = os.path.join(DATA, "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00", "simulated-host.xplane.pb")
FAKE_SERVER = os.path.abspath(os.environ.get("FAKE_SERVER", "tests/live/fake_server"))
PLANTED = os.path.abspath("tests/threads/planted")
PATIENCE_S, MANY = 300, "-j8"


def races(folder, what):
    """Each log is a process with a race; its first report says enough."""
    for path in glob.glob(os.path.join(folder, "races.*")):
        with open(path, encoding="utf-8", errors="replace") as f:
            must(False, f"{what}: {f.read()[:6000]}")
        os.unlink(path)


def run(*words, good=(0,)):
    done = subprocess.run([PROGRAM, *words], capture_output=True, timeout=PATIENCE_S, check=False)
    must(done.returncode in good, f"{words}: status {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout


def session(logdir, name, hosts, profile=SAMPLE):
    """A session of so many hosts, complete at once: it is made elsewhere and moved."""
    folder, new = os.path.join(logdir, "plugins", "profile", name), os.path.join(logdir, f".{name}")
    os.makedirs(new)
    for i in range(hosts):
        shutil.copyfile(profile, os.path.join(new, f"host{i}.xplane.pb"))
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    os.rename(new, folder)
    return folder


def digests(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "**", "*"), recursive=True):
        if os.path.isfile(path):
            with open(path, "rb") as f:
                found[path] = hashlib.sha256(f.read()).hexdigest()
    return found


def part_planted(folder):
    done = subprocess.run([PLANTED], capture_output=True, timeout=PATIENCE_S, check=False)
    logs = glob.glob(os.path.join(folder, "races.*"))
    text = "".join(open(path, encoding="utf-8").read() for path in logs)
    found = done.returncode == 66 and "data race" in text and "planted.c" in text
    must(found, f"the planted race is not found: {done.returncode} {text[:300]}")
    for path in logs:
        os.unlink(path)


def part_report(folder):
    with tarfile.open(os.path.join(DATA, "planted", "two_hosts.tar.gz")) as tar:
        tar.extractall(os.path.join(folder, "two_hosts"))
    session(os.path.join(folder, "hosts"), "2026_01_01_00_00_00", 6)
    inputs = [os.path.join(folder, "two_hosts"), os.path.join(folder, "hosts"), os.path.join(DATA, "planted", "remat.tar.gz"),
              os.path.join(DATA, "cpu_steps.xplane.pb"), os.path.join(DATA, "hand_made.pt.trace.json"),
              os.path.join(DATA, "torch_memory.pt.trace.json.gz"), os.path.join(DATA, "torch", "breaks.pt.trace.json.gz")]
    for path in inputs:
        one, many = (run("report", j, "--format=json", "--tracks", path) for j in ("-j1", MANY))
        must(one == many and len(one) > 1000, f"{path}: a report on one thread and on eight differ")
    both = inputs[2:4]
    must(run("report", MANY, "--all", *both) == run("report", "-j1", "--all", *both), "reports of two inputs differ")
    run("compare", MANY, *both)
    run("timeline", MANY, "--format=json", inputs[0])
    run("memory", MANY, "--format=json", inputs[5])


def part_annotate(folder):
    logdir = os.path.join(folder, "annotate")
    for i in range(3):
        session(logdir, f"2026_01_01_00_00_0{i}", 2 if i else 4)
    shutil.copy(os.path.join(DATA, "hand_made.pt.trace.json"), logdir)
    before = digests(logdir)
    run("annotate", "-q", MANY, logdir)
    run("annotate", "-q", MANY, "--perfetto=both", os.path.join(logdir, "plugins"))
    must(len(digests(logdir)) > len(before), "annotate wrote nothing")
    run("annotate", MANY, logdir)
    must(run("report", MANY, logdir) == run("report", "-j1", logdir), "reports of several sessions depend on threads")
    run("check", MANY, logdir, good=(0, 1))
    run("annotate", "-q", "--strip", MANY, logdir)
    must(digests(logdir) == before, "strip does not give every byte back")


def ask(port, path):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        client.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = client.getresponse()
        body = answer.read()
        return answer.status, gzip.decompress(body) if answer.getheader("Content-Encoding") == "gzip" else body
    finally:
        client.close()


@contextlib.contextmanager
def serving(*words):
    """A command that serves; yields (port, process)."""
    process = children.start([PROGRAM, *words, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    port, seen = None, b""
    while port is None:
        line = process.stdout.readline()
        seen += line
        found = re.search(rb"http://127\.0\.0\.1:(\d+)/", line)
        port = int(found.group(1)) if found else None
        if not line:
            raise RuntimeError(f"{words}: {seen}")
    rest = threading.Thread(target=process.stdout.read)
    rest.start()
    try:
        yield port, process
    finally:
        process.send_signal(signal.SIGINT)
        must(process.wait(PATIENCE_S) in (0, 1, 3, 4, 66), f"{words}: status {process.returncode}")
        rest.join()
        process.stdout.close()


def part_serve(folder):
    logdir = os.path.join(folder, "serve")
    names = [f"2026_01_01_00_00_0{i}" for i in range(3)]
    for i, name in enumerate(names):
        session(logdir, name, 1 + i)
    parts = ("report?", "profiler/memory?", "profiler/timeline?", "profiler/flame?", "profiler/kernels?")
    with serving("serve", MANY, logdir) as (port, _), concurrent.futures.ThreadPoolExecutor(12) as pool:
        ids = re.findall(rb'"id":"([0-9a-f]+)"', ask(port, "/api/runs")[1])
        must(len(ids) == 3, f"{len(ids)} runs are listed")
        paths = [f"/api/{part}run={run.decode()}" for part in parts for run in ids] + ["/api/runs", "/", "/page.js", "/nothing"]
        first = [pool.submit(ask, port, path) for path in paths * 2]
        for name in names:  # other files, new times: each report is made anew
            file = os.path.join(logdir, "plugins", "profile", name, "host0.xplane.pb")
            shutil.copyfile(os.path.join(DATA, "cpu_steps.xplane.pb"), file + ".new")
            os.replace(file + ".new", file)
        second = [pool.submit(ask, port, path) for path in paths * 2]
        session(logdir, "2026_01_02_00_00_00", 1)
        third = [pool.submit(ask, port, "/api/runs") for _ in range(10)]
        statuses = {asked.result()[0] for asked in first + second + third}
        must(statuses <= {200, 404, 422}, f"answers with status {statuses}")


def listen(port, seconds):
    """Reads the news as a page does, and goes away in the middle, after so many seconds or where they are silent for as long."""
    client, end = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds), time.monotonic() + seconds
    seen = b""
    with contextlib.suppress(OSError, http.client.HTTPException):
        client.request("GET", "/api/live")
        answer = client.getresponse()
        while (piece := answer.read1(1 << 16)) and time.monotonic() < end:
            seen += piece
    client.close()
    return seen


def part_folder(folder):
    logdir = os.path.join(folder, "folder")
    os.makedirs(logdir)
    options = ("--settle=200ms", "--interval=100ms", "--hold=0", "--serve", MANY)
    with serving("live", *options, logdir) as (port, process), concurrent.futures.ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(listen, port, 2) for _ in range(4)]
        for i in range(4):
            session(logdir, f"2026_01_01_00_00_0{i}", 2, SAMPLE if i % 2 else os.path.join(DATA, "cpu_steps.xplane.pb"))
            pool.submit(ask, port, "/api/runs")
        end = time.monotonic() + PATIENCE_S
        done = os.path.join(logdir, "plugins", "profile", "*", "ALL_HOSTS.tpusight.json")
        while len(glob.glob(done)) < 4 and process.poll() is None and time.monotonic() < end:
            runs = re.findall(rb'"id":"([0-9a-f]+)"', ask(port, "/api/runs")[1])
            for _ in pool.map(lambda run: ask(port, f"/api/report?run={run.decode()}"), runs):
                pass
        must(len(glob.glob(done)) == 4, "the sessions are not annotated")
        concurrent.futures.wait(readers)


def part_service(_):
    files = [SAMPLE, os.path.join(DATA, "cpu_steps.xplane.pb"), os.path.join(DATA, "cpu_recompile.xplane.pb")]
    fake = subprocess.Popen([FAKE_SERVER, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    addresses = ",".join(f"127.0.0.1:{fake.stdout.readline().strip()}" for _ in files)
    options = (f"--service={addresses}", "--interval=50ms", "--sample-ms=10", "--hold=0", "--on-alert=:", "--serve", MANY)
    try:
        with serving("live", *options) as (port, _), concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(listen, port, 1) for _ in range(6)]
            asked += [pool.submit(ask, port, path) for path in ("/api/runs", "/api/report?run=live") * 8]
            concurrent.futures.wait(asked)
            end = time.monotonic() + PATIENCE_S
            while b"event: alert" not in listen(port, 2) and time.monotonic() < end:
                pass
            must(time.monotonic() < end, "no alert is raised")
    finally:
        fake.stdin.close()
        fake.wait(PATIENCE_S)
        fake.stdout.close()


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def main():
    with open("Makefile", encoding="utf-8") as f:
        if not re.search(r"^SANITIZE_CFLAGS = .*-fsanitize=\S*thread", f.read(), re.M):
            skip("this build has no ThreadSanitizer (configure --enable-sanitize=thread)")
    for name in sys.argv[1:] or PARTS:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TSAN_OPTIONS"] = f"log_path={folder}/races exitcode=66 second_deadlock_stack=1"
            PARTS[name](folder)
            races(folder, name)
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
