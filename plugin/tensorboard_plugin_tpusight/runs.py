"""Profile sessions below a log directory, as XProf lists them: <run>/plugins/profile/<session>/*.xplane.pb.

A session goes by its id, "<run>/<session>". Ids are looked up among the sessions that were found, so nothing that a client sends
becomes a path. Links that lead out of the log directory are not followed out of it.
"""
import os

PROFILE = os.path.join("plugins", "profile")
SUFFIX = ".xplane.pb"


class Session:
    def __init__(self, run, name, path, files):
        self.run, self.name, self.path, self.files = run, name, path, files
        self.id = f"{run}/{name}" if run else name

    def signature(self):
        """Changes when one of its profiles does."""
        return tuple(sorted((e.name, e.stat().st_size, e.stat().st_mtime_ns) for e in self.files))

    def newest(self):
        return max(e.stat().st_mtime_ns for e in self.files)

    def describe(self):
        return {"id": self.id, "title": self.id, "run": self.run or ".", "session": self.name,
                "hosts": sorted(e.name[:-len(SUFFIX)] for e in self.files), "bytes": sum(e.stat().st_size for e in self.files)}


def _entries(path):
    try:
        with os.scandir(path) as found:
            return sorted(found, key=lambda e: e.name)
    except OSError:
        return []  # gone, or not ours to read


def _is_profile(entry):
    try:
        return entry.name.endswith(SUFFIX) and not entry.name.startswith(".") and entry.is_file() and entry.stat().st_size > 0
    except OSError:
        return False


def _sessions_of(logdir, real, run, folder):
    for entry in _entries(folder):
        if entry.name.startswith(".") or not entry.is_dir():
            continue
        inside = os.path.realpath(entry.path)
        if inside != real and not inside.startswith(real + os.sep):
            continue
        files = [e for e in _entries(entry.path) if _is_profile(e)]
        if files:
            yield Session(run, entry.name, entry.path, files)


def find(logdir):
    """All sessions, in the order in which folders are met. A generator: whoever wants one only stops early."""
    logdir = os.path.abspath(logdir)
    real = os.path.realpath(logdir)
    for folder, names, _ in os.walk(logdir):
        names[:] = sorted(n for n in names if not n.startswith("."))
        if "plugins" not in names:
            continue
        run = os.path.relpath(folder, logdir)
        yield from _sessions_of(logdir, real, "" if run == "." else run.replace(os.sep, "/"), os.path.join(folder, PROFILE))
        names.remove("plugins")
