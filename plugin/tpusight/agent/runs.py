# SPDX-License-Identifier: MIT
"""The runs that a server may show: those below the paths it was started with, and no others. They are those of TensorBoard's tab by
the same names, ranks of one job together, and the profiles that stand elsewhere, by their paths."""
import os
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

from tensorboard_plugin_tpusight import runs as of_tensorboard

from .._program import TpusightError

_PROFILE = re.compile(r"\.xplane\.(pb|pb\.gz|riegeli)$")
_TRACE = re.compile(r"\.(pt\.)?trace\.json(\.gz)?$")
MOST_RUNS = 1000
_MOST_NAMED = 20


class Run(NamedTuple):
    """A profile: where it is, its files, and what the program is asked for."""

    path: str
    files: Tuple[str, ...]
    asked: Tuple[str, ...]

    def state(self) -> Tuple[Any, ...]:
        """What changes when the profile does."""
        found = [(path, os.stat(path)) for path in self.files]
        return tuple((path, stat.st_size, stat.st_mtime_ns, stat.st_ino) for path, stat in found)


def _run(path: str) -> Run:
    files = [path] if not os.path.isdir(path) else sorted(os.path.join(path, name) for name in os.listdir(path))
    return Run(path, tuple(file for file in files if os.path.isfile(file)), ("--", path))


def _is_profile(real: str, path: str) -> bool:
    return bool(_PROFILE.search(path) or _TRACE.search(path)) and of_tensorboard.is_inside(real, path)


def _elsewhere(root: str, known: Set[str]) -> Iterator[Tuple[str, Run]]:
    """Profiles that TensorBoard does not show: the session that ROOT is, and files that stand in no session."""
    real = os.path.realpath(root)
    if os.path.basename(os.path.dirname(real)) == "profile" and any(map(_PROFILE.search, os.listdir(root))):
        yield os.path.basename(real), _run(root)
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not name.endswith(".export"))
        for path in (os.path.join(folder, name) for name in sorted(names)):
            if path not in known and _is_profile(real, path):
                yield os.path.relpath(path, root), _run(path)


def _of_root(root: str) -> Dict[str, Run]:
    if not os.path.exists(root):
        raise TpusightError(f"{root} is not there")
    if not os.path.isdir(root):
        return {os.path.basename(root): _run(root)}
    found = {session.id: Run(session.path, tuple(entry.path for entry in session.files), tuple(session.asked))
             for session in of_tensorboard.find(root)}
    known = {path for run in found.values() for path in run.files}
    folders = [run.path + os.sep for run in found.values() if os.path.isdir(run.path)]
    for name, run in _elsewhere(root, known):
        if not run.path.startswith(tuple(folders)):
            found.setdefault(name, run)
    return found


class Runs:
    """The runs below some paths, by name. Names are looked up anew each time: sessions come while a job runs."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [os.path.abspath(root) for root in roots]

    def all(self) -> Dict[str, Run]:
        """{name: run}. Where two roots have the same name, the root stands before it."""
        found: Dict[str, Run] = {}
        for root in self._roots:
            for name, run in _of_root(root).items():
                taken = name in found and found[name] != run
                found[f"{os.path.basename(root)}/{name}" if taken else name] = run
        return found

    def run(self, name: str = "") -> Run:
        """That of this name; the only one, where no name is given."""
        found = self.all()
        if name in found:
            return found[name]
        if not name and len(found) == 1:
            return next(iter(found.values()))
        if not found:
            raise TpusightError("there is no profile below " + ", ".join(self._roots))
        names: List[str] = list(found)[:_MOST_NAMED]
        raise TpusightError((f"no run is called {name!r}" if name else "say which run") + ": " + ", ".join(names)
                            + (f" and {len(found) - _MOST_NAMED} more (list_runs)" if len(found) > _MOST_NAMED else ""))

    def alone(self, name: str = "") -> str:
        """The path of that run, for what takes one path a run: the ranks of a job are the folder that has them alone."""
        run = self.run(name)
        if "--join-sessions" not in run.asked:
            return run.path
        folder = os.path.dirname(run.path)
        if [other for other in self.all().values() if os.path.dirname(other.path) == folder] != [run]:
            raise TpusightError(f"{folder} has other runs beside the ranks of {name!r} (put them in a folder of their own to compare them)")
        return folder
