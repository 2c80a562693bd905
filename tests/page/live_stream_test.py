#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight live --serve, asked by programs: live_stream_test.py

  - who connects gets the past, then the news; who comes again goes on behind the last it got (Last-Event-ID)
  - JSON lines on standard output are the same objects; the report of the latest sample is the profile's
  - other hosts and origins get nothing
  - SIGINT ends it at once while clients are connected, and they get the end
$TPUSIGHT names the program, $FAKE_SERVER what answers as a job does (tests/live/fake_server.c).
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import doors
from serve_test import ask, connection, error_of, must, wrong

BUSY_S = 60  # nothing that ends at once takes longer, on a machine that does much else
FAKE = os.path.abspath(os.environ.get("FAKE_SERVER", "tests/live/fake_server"))
TYPES = {"sample", "alert", "end"}


class Stream:
    """Reads events in a thread: a list of (id, type, object) that grows."""

    def __init__(self, url, **headers):
        self.events, self.socket = [], connection(url)
        lines = [f"{k.replace('_', '-')}: {v}\r\n" for k, v in {"Host": url.split("/")[2], **headers}.items()]
        self.socket.sendall(f"GET /api/live HTTP/1.0\r\n{''.join(lines)}\r\n".encode())  # 1.0: without chunks
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        fields = {}
        with self.socket.makefile("r", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
                if line == "\n" and "data" in fields:
                    self.events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
                    fields = {}

    def wait(self, count):
        end = time.time() + doors.PATIENCE_S
        while len(self.events) < count and self.thread.is_alive() and time.time() < end:
            time.sleep(0.02)
        return self.events


def stream(folder):
    fake = subprocess.Popen([FAKE, doors.SAMPLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    out = os.path.join(folder, "lines")
    with open(out, "w", encoding="utf-8") as lines:
        service = f"--service=127.0.0.1:{fake.stdout.readline().strip()}"
        live = subprocess.Popen([doors.PROGRAM, "live", service, "--serve", "--port=0", "--json", "--interval=0.2"],
                                stdout=lines, stderr=subprocess.PIPE, text=True)
    try:
        url = live.stderr.readline().split(" at ")[1].split()[0]
        first = Stream(url)
        before = list(first.wait(8))
        second, third = Stream(url), Stream(url, Last_Event_ID=before[4][0])
        must(second.wait(8)[:8] == before[:8], "who comes later does not get the past")
        must(third.wait(3)[:3] == before[5:8], "who comes again does not go on behind the last it got")
        api(url)
        second_one(url, live.args)
        live.send_signal(2)
        begin = time.time()
        must(live.wait(doors.PATIENCE_S) == 0, f"SIGINT ends it with status {live.returncode}")
        must(time.time() - begin < BUSY_S, f"it takes {time.time() - begin:.1f} s to end while clients are connected")
        for one in (first, second, third):
            one.thread.join(doors.PATIENCE_S)
            must(one.events[-1][1] == "end", f"the last that comes is {one.events[-1][1]}")
    finally:
        live.kill()
        fake.kill()
    with open(out, encoding="utf-8") as lines:
        told = [json.loads(line) for line in lines]
    must([e[2] for e in first.events] == told, "what comes is not what is printed")
    must(all(name == obj["type"] and name in TYPES for _, name, obj in first.events), "names are not the types")
    ids = [e[0] for e in first.events]
    must(ids == list(range(ids[0], ids[0] + len(ids))), "ids do not follow each other")


def second_one(url, args):
    """A port that is taken is said to be, and nothing is watched."""
    port = url.rsplit(":", 1)[1].rstrip("/")
    done = subprocess.run([a.replace("--port=0", f"--port={port}") for a in args], capture_output=True, text=True, timeout=doors.PATIENCE_S)
    must(done.returncode == 3 and f"port {port} of 127.0.0.1 is in use" in done.stderr and not done.stdout,
         f"status {done.returncode}: {done.stderr}")


def api(url):
    own = url.split("/")[2]
    runs = json.loads(ask(url, "/api/runs")[2])["runs"]
    must([r["id"] for r in runs] == ["live"] and runs[0]["title"].startswith("127.0.0.1:"), f"the runs are {runs}")
    status, _, body = ask(url, "/api/report?run=live")
    report, whole = json.loads(body), doors.report(doors.SAMPLE)
    must(status == 200 and report["schema"] == "tpusight/1", f"the report: {status}")
    must(report["ops"] == whole["ops"] and report["overview"] == whole["overview"], "the report is not the sample's")
    must(error_of(url, "/api/report?run=0123456789abcdef") == 404 and error_of(url, "/api/report") == 400, "another run has a report")
    must(error_of(url, "/api/profiler/memory?run=live") == 404, "a sample has parts")
    must(b'data-events="api/live"' in ask(url, "/")[2], "the page does not know that it is live")
    for headers in (dict(Host="evil.example"), dict(Host=own, Origin="http://evil.example"), dict(Host=own, Origin="null")):
        must(error_of(url, "/api/live", **headers) == 403, f"{headers} is let in")
    must(error_of(url, "/api/live", method="POST") == 405, "POST is taken")
    must(ask(url, "/api/live", method="HEAD")[1]["Content-Type"] == "text/event-stream", "HEAD of the stream")


def gone():
    """A job that is away for long does not push its past out: of samples that no host answered twenty are kept."""
    fake = subprocess.Popen([FAKE, doors.SAMPLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    service = f"--service=127.0.0.1:{fake.stdout.readline().strip()}"
    live = subprocess.Popen([doors.PROGRAM, "live", service, "--serve", "--port=0", "--interval=0.01"],
                            stdout=subprocess.PIPE, text=True)
    try:
        url = live.stdout.readline().split(" at ")[1].split()[0]
        threading.Thread(target=live.stdout.read, daemon=True).start()
        first = Stream(url)
        first.wait(20)
        fake.kill()
        first.wait(len(first.events) + 200)
        begin, second = time.time() * 1000, Stream(url)
        while not second.events or second.events[-1][2]["time_unix_ms"] < begin:
            second.wait(len(second.events) + 1)
        past = [e for e in second.events if e[2]["time_unix_ms"] < begin]
        count = sum(e[2].get("hosts") == 0 for e in past)
        must(0 < count <= 20, f"{count} samples that no host answered are kept")
        must(past[0] == first.events[0], "the past is gone with the job")
    finally:
        live.kill()
        fake.kill()


def not_without(folder):
    """What only serves runs has no stream, and its page does not ask for one."""
    with doors.serving(doors.logdir(os.path.join(folder, "logs"), {"sample": doors.SAMPLE})) as (url, _):
        must(error_of(url, "/api/live") == 404, "serve has a stream")
        must(b"data-events" not in ask(url, "/")[2], "the page of serve asks for a stream")


def main():
    for program in (doors.PROGRAM, FAKE):
        if not os.access(program, os.X_OK):
            doors.skip(f"{program} is not built")
    with tempfile.TemporaryDirectory() as folder:
        stream(folder)
        gone()
        not_without(folder)
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
