# SPDX-License-Identifier: MIT
"""Under `tensorboard --logdir gs://...` (or any other URL): `tpusight serve URL` lists, reads and analyses, and its answers are handed on.
Of a log directory on this machine it answers what is asked of events or of many runs (served.py).

The server is a child, started when it is first asked. It listens on 127.0.0.1, and a shell between the two ends it when this process
has gone, however: the shell's standard input is a pipe of ours.
"""
import gzip
import http.client
import os
import re
import subprocess
import sysconfig
import threading
import urllib.parse

from tpusight._program import MOST_BYTES, program

from tensorboard_plugin_tpusight import reports

IS_URL = re.compile(r"[A-Za-z][A-Za-z0-9]*://")
ADDRESS = re.compile(rb"http://127\.0\.0\.1:(\d+)/")
KEEPER = 'exec 3<&0; "$0" "$@" </dev/null & child=$!; (read -r line <&3; kill $child) >/dev/null 2>&1 & exec 3<&-; wait $child'
PATIENCE_S = 900
PIECE_BYTES = 1 << 18
ROUTES = {"/runs": "/api/runs", "/report": "/api/report", "/traces": "/api/traces", "/trace": "/api/trace", "/slices": "/api/slices",
          "/compare": "/api/compare", "/trend": "/api/trend"}
FIELDS = ("run", "file", "runs", "program", "gate", "from_ps", "to_ps", "device", "host", "width", "findings")  # that are handed on
NO_PROGRAM = ("the program tpusight was not found, which reads runs in a bucket (pip install the plugin again, or put its path into "
              "the environment variable TPUSIGHT)")


def _environment():
    """The helpers of this Python are found, whatever PATH says."""
    return {"TPUSIGHT_REMOTE_DIR": sysconfig.get_path("scripts"), **os.environ}


class Remote:
    def __init__(self, url):
        self._url = url
        self._lock = threading.Lock()  # guards the child
        self._child = None
        self._port = 0

    def _start(self):
        path = program()
        if not path:
            raise reports.ReportError(NO_PROGRAM)
        child = subprocess.Popen(["/bin/sh", "-c", KEEPER, path, "serve", "--port=0", "--color=never", self._url], env=_environment(),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        if not child.stdout or not child.stderr:
            raise AssertionError("pipes were asked for")
        found = ADDRESS.search(child.stdout.readline())
        if not found:
            words = child.stderr.read().decode("utf-8", "replace").strip().splitlines()
            _end(child)
            raise reports.ReportError(words[-1] if words else "tpusight serve ended without a word")
        threading.Thread(target=_pass_over, args=(child.stderr,), daemon=True).start()
        self._child, self._port = child, int(found[1])

    def _address(self):
        with self._lock:
            if not self._child or self._child.poll() is not None:
                self._start()
            return self._port

    def close(self):
        with self._lock:
            if self._child:
                _end(self._child)
            self._child = None

    def ask(self, route, fields):
        """The answer of the server; its reader closes it."""
        query = urllib.parse.urlencode({name: fields[name][0] for name in FIELDS if name in fields})
        connection = http.client.HTTPConnection("127.0.0.1", self._address(), timeout=PATIENCE_S)
        connection.request("GET", f"{ROUTES[route]}?{query}" if query else ROUTES[route],
                           headers={"Accept-Encoding": "gzip", "Connection": "close"})
        return connection.getresponse()

    def get(self, route, fields):
        """(status as WSGI has it, body packed by gzip)"""
        with self.ask(route, fields) as answer:
            body = answer.read(MOST_BYTES)
            packed = body if answer.getheader("Content-Encoding") == "gzip" else gzip.compress(body, 6)
            return f"{answer.status} {answer.reason or 'Answer'}", packed

    def has_runs(self):
        with self.ask("/runs", {}) as answer:
            return answer.status == 200 and b'"id"' in _unpacked(answer)


def _unpacked(answer):
    body = answer.read(MOST_BYTES)
    return gzip.decompress(body) if answer.getheader("Content-Encoding") == "gzip" else body


def pieces(answer):
    """The bytes of a trace, piece after piece."""
    with answer:
        while piece := answer.read(PIECE_BYTES):
            yield piece


def _end(child):
    child.stdin.close()
    child.wait()
    child.stdout.close()
    child.stderr.close()


def _pass_over(pipe):
    while pipe.read1(PIECE_BYTES):
        pass
