"""The report of a session, packed by gzip: as annotate left it beside the profile, else made by the program now."""
import collections
import gzip
import json
import os
import subprocess
import threading

from tpusight import program

REPORT = "ALL_HOSTS.tpusight.json"
SCHEMA = b'"schema": "tpusight/1"'
KEPT = 8  # reports in memory
PATIENCE_S = 900


class ReportError(Exception):
    """Why there is no report, in words for people."""


def _annotated(session):
    """The report beside the profiles, when it is ours and no profile is newer."""
    path = os.path.join(session.path, REPORT)
    try:
        if os.stat(path).st_mtime_ns < session.newest():
            return None
        with open(path, "rb") as f:
            text = f.read()
    except OSError:
        return None
    return text if SCHEMA in text[:256] else None


def _made(session, logdir):
    command = program()
    if not command:
        raise ReportError("this run has no report, and the program tpusight was not found to make one (pip install the "
                          "plugin again, or run tpusight-annotate on the run)")
    try:
        done = subprocess.run([command, "report", "--format=json", "--tracks", "--color=never",
                               f"--logdir={logdir}", "--", session.path],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise ReportError(f"{command}: {e}") from e
    if done.returncode not in (0, 4) or not done.stdout:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ReportError(lines[-1] if lines else f"{command} ended with status {done.returncode}")
    return done.stdout


class Reports:
    def __init__(self, logdir):
        self._logdir = logdir
        self._lock = threading.Lock()   # guards what is kept
        self._maker = threading.Lock()  # one is made at a time: the program uses all processors
        self._kept = collections.OrderedDict()

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
        with self._maker:
            found = self._find(key)  # whoever waited finds it made
            if found:
                return found
            packed = gzip.compress(_annotated(session) or _made(session, self._logdir), 6)
            with self._lock:
                for old in [k for k in self._kept if k[0] == session.id]:
                    del self._kept[old]
                self._kept[key] = packed
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
            return packed


def message(text):
    return gzip.compress(json.dumps({"error": {"message": text}}).encode(), 6)
