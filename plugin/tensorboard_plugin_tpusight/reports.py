"""The report of a session, packed by gzip: as annotate left it beside the profile, else made by the program now."""
import collections
import gzip
import json
import os
import threading

from tpusight._program import TpusightError, program, run

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
    if not program():
        raise ReportError("this run has no report, and the program tpusight was not found to make one (pip install the "
                          "plugin again, or run tpusight-annotate on the run)")
    try:
        text, status = run("report", "--format=json", "--tracks", "--color=never", f"--logdir={logdir}",
                           *session.asked, timeout_s=PATIENCE_S)
    except TpusightError as e:
        raise ReportError(str(e)) from e
    if not text:
        raise ReportError(f"{program()} ended with status {status}")
    return text


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
            found = self._find(key)  # made by another thread while this one waited
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
