# SPDX-License-Identifier: MIT
"""The report of a session, packed by gzip: as annotate left it beside the profile, else made by the program now."""
import collections
import gzip
import json
import os
import stat
import threading

from tpusight._program import MOST_BYTES, TpusightError, program, run

from tensorboard_plugin_tpusight import runs

REPORT = "ALL_HOSTS.tpusight.json"
SCHEMA = b'"schema": "tpusight/1"'
KEPT_BYTES = 256 << 20  # of reports in memory, packed
WAITING = 64  # requests that wait for a report; each has a thread
PATIENCE_S = 900


class ReportError(Exception):
    """Why there is no report, in words for people."""


class BusyError(Exception):
    """Too many wait for a report."""


def _annotated(session, logdir):
    """The report beside the profiles, when it is ours and no profile is newer."""
    path = os.path.join(session.path, REPORT)
    try:
        found = os.stat(path)
        if found.st_mtime_ns < session.newest() or not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return None
        if not runs.is_inside(os.path.realpath(logdir), path):
            return None  # a link to somebody else's
        with open(path, "rb") as f:
            text = f.read()
    except OSError:
        return None
    return text if SCHEMA in text[:256] else None


def _made(session, logdir):
    if not program():
        raise ReportError("this run has no report, and the program tpusight was not found to make one (pip install the "
                          "plugin again, or run tpusight-annotate on the run)")
    try:
        text, status = run("report", "--format=json", "--tracks", "--color=never", f"--logdir={logdir}",
                           *session.asked, timeout_s=PATIENCE_S)
    except TpusightError as e:
        raise ReportError(without_paths(str(e), logdir)) from e
    if not text:
        raise ReportError(f"tpusight ended with status {status}")
    return text


def without_paths(text, logdir):
    """Where things are on the machine is not for the page."""
    return text.replace(logdir.rstrip(os.sep) + os.sep, "").replace(program() or "tpusight", "tpusight")


class Reports:
    """What is made is kept, by the session's files."""

    def __init__(self, logdir):
        self._logdir = logdir
        self._lock = threading.Lock()   # guards what is kept
        self._maker = threading.Lock()  # one is made at a time: the program uses all processors
        self._kept = collections.OrderedDict()
        self._waiting = threading.Semaphore(WAITING)

    def _find(self, key):
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        return None

    def get(self, session):
        key = (session.id, session.signature())
        found = self._find(key)
        if found:
            return found
        if not self._waiting.acquire(blocking=False):
            raise BusyError(f"{WAITING} requests wait for a report already (try again)")
        try:
            with self._maker:
                return self._find(key) or self._make(session, key)  # made by another thread while this one waited
        finally:
            self._waiting.release()

    def _make(self, session, key):
        packed = gzip.compress(_annotated(session, self._logdir) or _made(session, self._logdir), 6)
        with self._lock:
            for old in [k for k in self._kept if k[0] == session.id]:
                del self._kept[old]
            self._kept[key] = packed
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return packed


def message(text):
    return gzip.compress(json.dumps({"error": {"message": text}}).encode(), 6)
