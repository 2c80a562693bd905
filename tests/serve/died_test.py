#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report whose process is killed is an error that says so; the server goes on, and makes the next one: died_test.py

$TPUSIGHT names the program (default: bin/tpusight). Linux: the process is found in /proc.
"""
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
PROGRAM = os.path.abspath(os.environ.get("TPUSIGHT", "bin/tpusight"))
SAMPLE = os.path.join(TOP, "tests", "data", "sample")
PATIENCE_S = 120
TRIES = 50  # a report may be done before its process is seen


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    except ProcessLookupError:
        return []


def ask(port, path):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    client.request("GET", path)
    answer = client.getresponse()
    body = json.loads(answer.read())
    client.close()
    return answer.status, body


def ask_and_kill(port, helper, path):
    """What is answered, and whether a process was killed meanwhile."""
    answers = []
    asking = threading.Thread(target=lambda: answers.append(ask(port, path)))
    killed = False
    asking.start()
    while asking.is_alive() and not killed:
        for pid in children_of(helper):
            os.kill(pid, signal.SIGKILL)
            killed = True
    asking.join()
    return answers[0], killed


def check(server, port):
    run = ask(port, "/api/runs")[1]["runs"][0]["id"]
    helpers = children_of(server.pid)
    assert len(helpers) == 1, helpers
    for i in range(TRIES):
        # a part of its own each time, so that no report is kept
        (status, body), killed = ask_and_kill(port, helpers[0], f"/api/report?run={run}&from_ps={i + 1}")
        if killed and status != 200:
            break
        assert status == 200, body
    else:
        raise AssertionError("no process of a report was killed")
    assert status == 422 and "ended before it was done" in body["error"]["message"], (status, body)
    assert server.poll() is None
    status, body = ask(port, f"/api/report?run={run}")
    assert status == 200 and body["schema"] == "tpusight/1", status


def main():
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SAMPLE, os.path.join(folder, "logs"))
        with subprocess.Popen([PROGRAM, "serve", "--port=0", os.path.join(folder, "logs")], stdout=subprocess.PIPE, text=True) as server:
            try:
                check(server, int(re.search(r":(\d+)/", server.stdout.readline())[1]))
            finally:
                server.terminate()
            assert server.wait(PATIENCE_S) == 0


main()
