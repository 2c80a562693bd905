#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that work on one session at the same time: none sees half a file, and nothing is lost: together_test.py

For some rounds at once: two that annotate, one that strips, a job that puts a new profile in the place of the old one, a job
that writes a profile piece by piece, and a viewer that reads whatever is there. Then
 - whatever the viewer reads of a profile is whole: the bytes of one that a job put there, with an overlay behind them or not;
 - a report is whole JSON; a trace is whole gzip;
 - a profile that a job put there is there until the job replaces it, and the one that was written is as it was written;
 - a run that cannot do its work says so, with a status and a name;
 - a last --strip leaves what the jobs wrote and nothing else: no temporary either.
Waits for what happens, with limits; rounds are counted, not timed. $TS_ANNOTATE: the program (default bin/tpusight-annotate).
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import zlib

ANNOTATE = os.path.abspath(os.environ.get("TS_ANNOTATE", "bin/tpusight-annotate"))
TOP = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
SEEDS = [(TOP / "tests/fuzz/seeds/xplane" / name).read_bytes() for name in ("steps_marked", "plain", "absolute_timestamps")]
MARK = b"/device:CUSTOM:TPUsight"
ROUNDS = 25  # of each that annotates or strips
LIMIT = 300  # seconds for all of it on a busy machine
LOST = 60  # seconds after which what is not there will not come back


class Stage:
    def __init__(self, top):
        self.logdir = top
        self.session = os.path.join(top, "plugins/profile/s")
        os.makedirs(self.session)
        self.replaced = self.path("a.xplane.pb")
        self.written = self.path("b.xplane.pb")
        self.natives = set(SEEDS)
        self.ended = threading.Event()
        self.wrong = []
        self.last = None
        self.counts = {}
        self.limit = time.monotonic() + LIMIT

    def path(self, name):
        return os.path.join(self.session, name)

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def in_time(self):
        if time.monotonic() < self.limit:
            return True
        self.wrong.append("it takes too long")
        self.ended.set()
        return False


def command(stage, *args):
    for _ in range(ROUNDS):
        done = subprocess.run([ANNOTATE, "-q", "-j1", *args, stage.logdir], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        stage.count(f"{' '.join(args) or 'annotate'}: {done.returncode}")
        if done.returncode not in (0, 3, 4) or (done.returncode and stage.logdir not in done.stderr):
            stage.wrong.append(f"{args}: status {done.returncode} {done.stderr}")


def native_of(stage, content):
    """The profile at the front of CONTENT; None: that is not a whole one."""
    at = content.find(MARK)
    for native in stage.natives:
        if content == native or (at > 0 and content.startswith(native) and len(native) < at):
            return native
    return None


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def replacing_job(stage):
    """Puts a profile there, and sees it there until it puts the next: an older one may be seen between two renames."""
    number = 0
    while not stage.ended.is_set() and stage.in_time():
        native = SEEDS[number % len(SEEDS)]
        number += 1
        with open(stage.path("new"), "wb") as f:
            f.write(native)
        os.rename(stage.path("new"), stage.replaced)
        since = time.monotonic()
        while native_of(stage, read(stage.replaced)) != native:
            if time.monotonic() > since + LOST:
                stage.wrong.append("a profile that a job put there was lost")
                stage.ended.set()
                return
        stage.count("put")
        time.sleep(number % 7 / 1000)  # now and then long enough for a run to get through
    stage.last = native


def writing_job(stage):
    """Writes in pieces into a file that it holds open, and finds in it what it wrote."""
    while not stage.ended.is_set() and stage.in_time():
        os.unlink(stage.written)
        fd = os.open(stage.written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        whole = SEEDS[0]
        for at in range(0, len(whole), 100):
            os.write(fd, whole[at:at + 100])
            time.sleep(0.002)
        os.close(fd)
        now = read(stage.written)
        if now is None or not now.startswith(whole):
            stage.wrong.append(f"a profile lost what its job wrote: {len(now or b'')} of {len(whole)} bytes")
        stage.count("written")
        time.sleep(0.05)


def viewer(stage):
    while not stage.ended.is_set():
        content = read(stage.replaced)
        if native_of(stage, content) is None:
            stage.wrong.append(f"half a profile was seen: {len(content)} bytes")
        try:
            report = read(stage.path("ALL_HOSTS.tpusight.json"))
            json.loads(report or b"{}")
            trace = read(stage.path("perfetto_trace.json.gz"))
            json.loads(gzip.decompress(trace) if trace else b"{}")
        except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as cause:
            stage.wrong.append(f"half a file was seen: {cause}")
        stage.count("read")


def main():
    with tempfile.TemporaryDirectory() as top:
        stage = Stage(top)
        for path in (stage.replaced, stage.written):
            with open(path, "wb") as f:
                f.write(SEEDS[0])
        commands = [threading.Thread(target=command, args=(stage, *args)) for args in ((), (), ("--strip",))]
        others = [threading.Thread(target=work, args=(stage,)) for work in (replacing_job, writing_job, viewer)]
        for thread in others + commands:
            thread.start()
        for thread in commands:
            thread.join()
        stage.ended.set()
        for thread in others:
            thread.join()
        done = subprocess.run([ANNOTATE, "--strip", top], capture_output=True, text=True, check=False)
        left = {name: read(stage.path(name)) for name in os.listdir(stage.session)}
        if done.returncode != 0:
            stage.wrong.append(f"the last --strip: {done.returncode} {done.stderr}")
        if left != {"a.xplane.pb": stage.last, "b.xplane.pb": SEEDS[0]}:
            stage.wrong.append(f"left is {({name: len(content) for name, content in left.items()})}")
    print(", ".join(f"{what} {nr}" for what, nr in sorted(stage.counts.items())))
    print("\n".join(stage.wrong[:20]))
    return 1 if stage.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
