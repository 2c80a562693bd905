#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight serve, and live --serve, under clients that mean harm: storm_test.py

  slow   1,000 clients at once that send a byte now and then, send nothing, keep their connection or do not read; an honest client is
         answered meanwhile, and the server holds no more connections than it says
  flood  connections from one address as fast as they can be made
  many   requests on a few connections: memory and file descriptors stay as they are
live --serve has the first alone. The figures are printed. $TS_STORM is the number of requests (default 10,000), $TPUSIGHT the program.
Exit 77: this system has no /proc, or allows too few open files.
"""
import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

import doors

SLOW, MOST_CLIENTS, SPARE = 1000, 512, 384  # serve/server.h
READERS = 64  # serve/news.h
FLOOD, FLOODERS = 4000, 4
REQUESTS, BATCH = int(os.environ.get("TS_STORM", "10000")), 100
PATIENCE_S = 25  # for one answer: some ms on a quiet machine; behind a slow client it would take the 30 s that one is given
MOST_GROWTH = 8 << 20
NO_SESSION = 3  # the exit status of a watch that saw none
wrong, told = [], {}


def must(good, text):
    if not good:
        wrong.append(text)


class Server:
    def __init__(self, url, process):
        self.name = url.split("/")[2]
        self.at = (self.name.split(":")[0], int(self.name.split(":")[1]))
        self.proc = f"/proc/{process.pid}"

    def connect(self, room=None):
        s = socket.socket()
        s.settimeout(doors.PATIENCE_S)
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.connect(self.at)
        return s

    def request(self, path, end=b"\r\n"):
        return f"GET {path} HTTP/1.1\r\nHost: {self.name}\r\n".encode() + end

    def answer_s(self, path="/api/runs"):
        """How long a client of its own waits for its answer."""
        begin = time.monotonic()
        with self.connect() as s:
            s.sendall(self.request(path, b"Connection: close\r\n\r\n"))
            text = b"".join(iter(lambda: s.recv(1 << 16), b""))
        must(text.startswith(b"HTTP/1.1 200 "), f"{path} was answered with {text[:60]}")
        return time.monotonic() - begin

    def descriptors(self):
        return len(os.listdir(self.proc + "/fd"))

    def resident(self):
        with open(self.proc + "/status", encoding="ascii") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS"))


def wait_until(what, test):
    end = time.monotonic() + doors.PATIENCE_S
    while not test():
        if time.monotonic() > end:
            wrong.append(f"gave up waiting until {what}")
            return
        time.sleep(0.05)


def send(s, data):
    with contextlib.suppress(OSError):  # it had to give way
        s.sendall(data)


def drip(server, i):
    s = server.connect()
    send(s, server.request("/", b"X-Slow: ")[:5 + i % 30])
    return s


def silent(server, _):
    return server.connect()


def idle(server, _):
    s = server.connect()
    send(s, server.request("/page.css", b"\r\n"))
    return s


def deaf(server, _):
    s = server.connect(2048)
    send(s, server.request("/page.js", b"\r\n") * 40)
    return s


def slow(server):
    """All kinds in turn; those that drip go on dripping."""
    ways, kept, dripping = (drip, silent, idle, deaf), [], threading.Event()

    def go_on():
        while not dripping.wait(0.5):
            for s in kept[::len(ways)]:
                send(s, b"a")
    thread = threading.Thread(target=go_on)
    with contextlib.ExitStack() as stack:
        for i in range(SLOW):
            kept.append(stack.enter_context(ways[i % len(ways)](server, i)))
        thread.start()
        try:
            took = [server.answer_s() for _ in range(20)]
            most = server.descriptors()
            told["slow_resident"] = server.resident()
        finally:  # else it goes on for ever where an answer is missing
            dripping.set()
            thread.join()
    told.update(slow_clients=SLOW, slow_answer_ms=round(max(took) * 1000, 1), slow_descriptors=most)
    must(max(took) < PATIENCE_S, f"with {SLOW} slow clients an answer takes {max(took):.1f} s")
    must(most < MOST_CLIENTS + SPARE + 32, f"{SLOW} slow clients hold {most} file descriptors")


def flood(server):
    stop, made = threading.Event(), [0] * FLOODERS

    def go(n):
        while not stop.is_set() and made[n] < FLOOD // FLOODERS:
            with contextlib.suppress(OSError), server.connect() as s:
                send(s, b"GET")
                made[n] += 1
    threads = [threading.Thread(target=go, args=(n,)) for n in range(FLOODERS)]
    for t in threads:
        t.start()
    took = [server.answer_s() for _ in range(10)]
    for t in threads:
        t.join()
    told.update(flood=sum(made), flood_answer_ms=round(max(took) * 1000, 1))
    must(max(took) < PATIENCE_S, f"while connections are flooded in an answer takes {max(took):.1f} s")
    must(sum(made) == FLOOD, f"{sum(made)} of {FLOOD} connections were made")


def ask_many(server, nr):
    """Pipelined, of all kinds: pages, lists, errors. What comes back is counted by its statuses."""
    paths = ["/", "/page.css", "/api/runs", "/nothing", "/api/report?run=nothing"]
    batch = b"".join(server.request(paths[i % len(paths)], b"\r\n") for i in range(BATCH - 1))
    batch += server.request("/", b"Connection: close\r\n\r\n")
    for _ in range(nr // BATCH):
        with server.connect() as s:
            s.sendall(batch)
            text = b"".join(iter(lambda: s.recv(1 << 20), b""))
        answered = text.count(b"HTTP/1.1 200 OK") + text.count(b"HTTP/1.1 404 Not Found")
        must(answered == BATCH, f"{answered} of {BATCH} requests were answered")


def many(server):
    ask_many(server, 1000)  # what is made once is made by now
    fds, before = server.descriptors(), server.resident()
    begin = time.monotonic()
    ask_many(server, REQUESTS)
    seconds = time.monotonic() - begin
    wait_until("all connections are closed", lambda: server.descriptors() <= fds)
    after = server.resident()
    told.update(requests=REQUESTS, requests_per_s=round(REQUESTS / seconds), resident_before=before, resident_after=after)
    must(after - before < MOST_GROWTH, f"{REQUESTS} requests made {after - before} bytes more resident")


def watch(folder):
    """The same server with live's routes; 64 of its clients read a stream, and never take it."""
    os.makedirs(folder)
    process = doors.children.start([doors.PROGRAM, "live", "--serve", "--port=0", "--json", folder], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
    with process, contextlib.ExitStack() as stack:
        server = Server(process.stderr.readline().split(" at ")[1].split()[0], process)
        for _ in range(READERS):
            send(stack.enter_context(server.connect(2048)), server.request("/api/live"))
        slow(server)
        told.update(live_answer_ms=told.pop("slow_answer_ms"), live_resident=told.pop("slow_resident"))
        process.terminate()
        must(process.wait(doors.PATIENCE_S) == NO_SESSION, f"SIGTERM ends live with status {process.returncode}")


def main():
    if not os.access(doors.PROGRAM, os.X_OK):
        doors.skip(f"{doors.PROGRAM} is not built")
    if not os.path.isdir("/proc/self/fd"):
        doors.skip("there is no /proc")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < SLOW + 200:
        doors.skip(f"only {most} files may be open")
    with tempfile.TemporaryDirectory() as folder:
        logdir = doors.logdir(os.path.join(folder, "logs"), {"sample": doors.SAMPLE})
        with doors.serving(logdir) as (url, process):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, SLOW + 4096) if most != resource.RLIM_INFINITY else SLOW + 4096, most))
            server = Server(url, process)
            server.answer_s("/page.js")
            quiet = server.descriptors()
            for part in (many, flood, slow):
                part(server)
            wait_until("the storm is over", lambda: server.descriptors() <= quiet + 2)
            process.terminate()
            must(process.wait(doors.PATIENCE_S) == 0, f"SIGTERM ends it with status {process.returncode}")
        watch(os.path.join(folder, "watched"))
    print(json.dumps(told))
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
