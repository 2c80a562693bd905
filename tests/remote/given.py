# SPDX-License-Identifier: MIT
"""For the tests of the helper: fake stores on free ports, the helper as the C program starts it, and files.

Needs $TS_REMOTE_PYTHON, a Python with fsspec, gcsfs, s3fs, adlfs and moto, and the programs fake-gcs-server and azurite-blob in
$TS_REMOTE_TOOLS or on PATH (check.sh installs them). What is missing is named, and its tests skip.
"""
import contextlib
import hashlib
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LONG_S = 120  # what nothing on a busy machine should take

sys.path.insert(0, os.path.join(ROOT, "plugin"))
sys.path.append(os.path.join(ROOT, "tests", "fixtures"))
sys.dont_write_bytecode = True

from helpers import free_port as free_port, skip


def under_remote_python():
    """Goes on under $TS_REMOTE_PYTHON."""
    python = os.environ.get("TS_REMOTE_PYTHON", "")
    if not os.access(python, os.X_OK):
        skip("TS_REMOTE_PYTHON names no Python")
    if os.path.abspath(sys.executable) != os.path.abspath(python):
        os.execv(python, [python, *sys.argv])


def tool(name):
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("TS_REMOTE_TOOLS", ""), os.environ.get("PATH", "")]))
    if not found:
        skip(f"{name} is not installed")
    return found


def wait_for(what, is_true):
    until = time.monotonic() + LONG_S
    while time.monotonic() < until:
        if is_true():
            return
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come about within {LONG_S} s")


class Server:
    """A program that serves on a port, until the end of the test."""

    def __init__(self, command, port):
        self.port, self.folder = port, tempfile.mkdtemp(prefix="tpusight-remote-")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, cwd=self.folder,
                                        start_new_session=True)
        wait_for(f"{command[0]} on port {port}", self.answers)

    def answers(self):
        if self.process.poll() is not None:
            with open(self.log.name, encoding="utf-8", errors="replace") as log:
                raise AssertionError(f"the server ended: {log.read()[-2000:]}")
        with contextlib.closing(socket.socket()) as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def http(method, url, body=None, headers=None):
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    with urllib.request.urlopen(request, timeout=LONG_S) as answer:
        return answer.read()


class Failed(Exception):
    def __init__(self, reply):
        super().__init__(str(reply))
        self.code, self.text = reply["code"], reply["text"]


class Helper:
    """tpusight-remote-SCHEME, and what it answers."""

    def __init__(self, url, env=None, command=None):
        whole = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "plugin"), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
        self.process = subprocess.Popen(command or [sys.executable, "-m", "tpusight.remote", url], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=whole, start_new_session=True)
        self.number, self.replies, self.lines, self.words = 0, {}, [], bytearray()
        self.lock = threading.Lock()
        self.stray = queue.Queue()
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self._listen, self._overhear)]
        for reader in self.readers:
            reader.start()

    def _listen(self):
        for line in self.process.stdout:
            reply = json.loads(line)
            self.lines.append(line)
            with self.lock:
                self.replies.setdefault(reply.get("id"), queue.Queue()).put(reply)
        with self.lock:
            for waiting in self.replies.values():
                waiting.put(None)

    def _overhear(self):
        while piece := self.process.stderr.read1(1 << 16):
            self.words += piece

    def ask(self, op, **args):
        """Begins a request; its number."""
        self.number += 1
        self.raw(json.dumps({"id": self.number, "op": op, **args}).encode() + b"\n")
        return self.number

    def raw(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def reply(self, number):
        with self.lock:
            waiting = self.replies.setdefault(number, queue.Queue())
        found = waiting.get(timeout=LONG_S)
        if found is None:
            raise AssertionError(f"the helper ended: {bytes(self.words[-2000:])}")
        return found

    def end_of(self, number):
        """(the last reply of a request that went well, those before it)"""
        before = []
        while "ok" not in (reply := self.reply(number)):
            before.append(reply)
        if not reply["ok"]:
            raise Failed(reply)
        return reply, before

    def do(self, op, **args):
        return self.end_of(self.ask(op, **args))[0]

    def entries(self, url, **args):
        return {row["entry"]["name"]: row["entry"] for row in self.end_of(self.ask("list", url=url, **args))[1] if "entry" in row}

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.close()

    def close(self):
        """Ends the input: the status with which the helper ended."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout=LONG_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        for reader in self.readers:
            reader.join(LONG_S)
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()
        return status

    def peak_bytes(self):
        """The most memory that it held so far."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


class InFolder:
    """Of a test: a folder of its own, and files in it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tpusight-remote-")
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name="file", data=None):
        path = os.path.join(self.folder, name)
        if data is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
        return path

    def bytes_of(self, path):
        with open(path, "rb") as f:
            return f.read()


def some_bytes(size, seed=1):
    """The same for the same seed."""
    return hashlib.shake_256(str(seed).encode()).digest(size)
