# SPDX-License-Identifier: MIT
"""Profile sessions below a log directory: <run>/plugins/profile/<session>/*.xplane.pb, as XProf lists them; where a session has none,
its traces (*.trace.json[.gz]); and in any other folder the traces that torch.profiler.tensorboard_trace_handler wrote there,
<run>/<worker>.<time>.pt.trace.json[.gz], or that are named after their ranks (rank_0.json), the ranks of one job together.

A session goes by its id, "<run>/<session>". Ids are looked up among the sessions that were found, so nothing that a client sends
becomes a path. Links that lead out of the log directory, of folders and of files, are not followed.
"""
import os

from tensorboard_plugin_tpusight import ranks

PROFILE = os.path.join("plugins", "profile")
PROFILES = (".xplane.pb", ".xplane.riegeli")
TRACES = (".pt.trace.json", ".pt.trace.json.gz", ".trace.json", ".trace.json.gz")
PYTORCH = TRACES[:2]


def host_of(name):
    return next((name[:-len(end)] for end in PROFILES + TRACES if name.endswith(end)), name)


class Session:
    """PATH: what the program is asked for, a folder or one file; OF_JOB: it is asked for the files, the ranks of one job.
    LOGDIR names the run that has no folder of its own."""

    def __init__(self, logdir, run, name, path, files, of_job=False):
        self.run, self.name, self.path, self.files = run, name, path, files
        self.asked = ["--join-sessions", "--", *(e.path for e in files)] if of_job else ["--", path]
        self.id = f"{run}/{name}" if run else name
        self.title = f"{run or os.path.basename(logdir)}/{name}"

    def signature(self):
        """Changes when one of its profiles does."""
        return tuple(sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in self.files))

    def newest(self):
        return max(e.stat().st_mtime_ns for e in self.files)

    def describe(self):
        return {"id": self.id, "title": self.title, "run": self.run or ".", "session": self.name,
                "hosts": sorted(host_of(e.name) for e in self.files), "bytes": sum(e.stat().st_size for e in self.files)}


def _entries(path):
    try:
        with os.scandir(path) as found:
            return sorted(found, key=lambda e: e.name)
    except OSError:
        return []  # gone, or not ours to read


def _is_file(entry, ends):
    try:
        return entry.name.endswith(ends) and not entry.name.startswith(".") and entry.is_file()
    except OSError:
        return False


def _is_trace(entry, any_name):
    if _is_file(entry, PYTORCH):
        return True
    return _is_file(entry, (".json", ".json.gz")) and not entry.name.endswith(TRACES) and ranks.is_rank(entry, any_name)


def is_inside(real, path):
    """Does PATH, with its links followed, lie below the folder REAL?"""
    inside = os.path.realpath(path)
    return inside == real or inside.startswith(real + os.sep)


def _own(real, entries, ends):
    """Those that are profiles, and stand in the log directory by their real names too."""
    return [e for e in entries if _is_file(e, ends) and is_inside(real, e.path)]


def _sessions_of(real, run, folder):
    for entry in _entries(folder):
        if entry.name.startswith(".") or not entry.is_dir():
            continue
        if not is_inside(real, entry.path):
            continue
        entries = _entries(entry.path)
        files = _own(real, entries, PROFILES) or _own(real, entries, TRACES)
        if files:
            yield Session(real, run, entry.name, entry.path, files)


def find(logdir):
    """All sessions, in the order in which folders are met. A generator: a caller that wants one session stops early."""
    logdir = os.path.abspath(logdir)
    real = os.path.realpath(logdir)
    for folder, names, _ in os.walk(logdir):
        names[:] = sorted(n for n in names if not n.startswith("."))
        run = os.path.relpath(folder, logdir)
        run = "" if run == "." else run.replace(os.sep, "/")
        traces = []
        for entry in _entries(folder):
            if _is_trace(entry, run.count("/") == 0) and is_inside(real, entry.path):
                traces.append(entry)
        for files in ranks.jobs(traces):
            yield Session(real, run, host_of(files[0].name), files[0].path, files, of_job=len(files) > 1)
        if "plugins" in names:
            yield from _sessions_of(real, run, os.path.join(folder, PROFILE))
            names.remove("plugins")
