#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight live against a profiler server whose answers are spoilt in every way: garbled_test.py

Each connection gets the bytes of a good answer (HTTP/2, gRPC, a profile) in which some were changed, left out, doubled or cut off. The
watch goes on, prints nothing but its JSON lines, takes no more memory, and ends by itself. $TPUSIGHT names the program, $TS_GARBLED how
many seconds to go on (default 6).
"""
import collections
import contextlib
import json
import os
import random
import resource
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, ended, need
from wire import blob

SECONDS = float(os.environ.get("TS_GARBLED", "6"))
PROFILE = os.path.join(HERE, "..", "data", "cpu_steps.xplane.pb")
SERVERS, MOST_ROUNDS_A_S = 32, 200
MOST_BYTES = 256 << 20
DATA, HEAD, SETTINGS, END_STREAM, END_HEADERS = 0, 1, 4, 1, 4


def frame(kind, flags, stream, body):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def field(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def good_answer():
    with open(PROFILE, "rb") as f:
        message = blob(8, f.read())  # ProfileResponse.xspace
    body = b"\0" + len(message).to_bytes(4, "big") + message
    pieces = b"".join(frame(DATA, 0, 1, body[i:i + 16000]) for i in range(0, len(body), 16000))
    head = frame(HEAD, END_HEADERS, 1, b"\x88" + field(b"content-type", b"application/grpc"))
    return (frame(SETTINGS, 0, 0, b"") + frame(SETTINGS, 1, 0, b"") + head + pieces +
            frame(HEAD, END_HEADERS | END_STREAM, 1, field(b"grpc-status", b"0")))


def spoilt(answer, dice):
    """A few changes; half of them in the frames at the start, where each byte matters."""
    out = bytearray(answer)
    for _ in range(dice.choice((0, 1, 1, 2, 5))):
        at = dice.randrange(min(len(out), 120)) if dice.random() < 0.5 else dice.randrange(len(out))
        way, n = dice.randrange(5), dice.choice((1, 2, 9, 100, 5000))
        if way == 0:
            out[at] ^= 1 << dice.randrange(8)
        elif way == 1:
            del out[at:at + n]
        elif way == 2:
            out[at:at] = out[at:at + n]
        elif way == 3:
            out[at:at] = bytes(dice.choices(range(256), k=n))
        else:
            del out[at + 1:]
    return bytes(out)


def hear(client):
    """The request, which comes in pieces."""
    client.settimeout(5)
    client.recv(1 << 16)
    client.settimeout(0.02)
    with contextlib.suppress(OSError):
        while client.recv(1 << 16):
            pass


class Server(threading.Thread):
    def __init__(self, seed):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answer, self.dice, self.nr = good_answer(), random.Random(seed), 0

    def run(self):
        while True:
            client, _ = self.listener.accept()
            with client:
                self.nr += 1
                try:
                    hear(client)
                    client.settimeout(5)
                    client.sendall(spoilt(self.answer, self.dice))
                    if self.dice.random() < 0.2:
                        client.shutdown(socket.SHUT_WR)
                    while client.recv(1 << 16):
                        pass
                except OSError:
                    continue


def has_sanitizer():
    """Which keeps what was freed."""
    with open(PROGRAM, "rb") as f:
        return b"__asan_init" in f.read()


def main():
    need()
    servers, wrong = [Server(seed) for seed in range(SERVERS)], []
    for server in servers:
        server.start()
    services = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    done = subprocess.run([PROGRAM, "live", "--json", f"--service={services}", "--interval=0", "--sample-ms=1", "--timeout=3",
                           f"--for={SECONDS}"], capture_output=True, text=True, timeout=SECONDS + 600, check=False)
    try:
        events = [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError as e:
        events, wrong = [], [f"a line is not JSON: {e}"]
    states = collections.Counter(s["state"] for e in events if e["type"] == "sample" for s in e["services"])
    nr = sum(server.nr for server in servers)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    if done.returncode not in (0, 3, 4):
        wrong.append(f"it ended with status {done.returncode}: {done.stderr[-300:]}")
    if not states["up"] or not states["down"] or nr < SERVERS:
        wrong.append(f"{nr} answers made services {dict(states)}: they were not what they should be")
    rounds = sum(e["type"] == "sample" for e in events)
    if rounds > MOST_ROUNDS_A_S * SECONDS:
        wrong.append(f"{rounds} rounds in {SECONDS:g} s: it does not rest")
    if largest > MOST_BYTES and not has_sanitizer():
        wrong.append(f"it took {largest} bytes")
    print(json.dumps({"answers": nr, "rounds": rounds, "services": states, "largest": largest}))
    return ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
