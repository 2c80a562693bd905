# SPDX-License-Identifier: Apache-2.0
"""The runs that a server may show: those below the paths it was started with, and no others."""
import os
import re
from typing import Dict, List, Sequence

from .._program import TpusightError

_PROFILE = re.compile(r"\.xplane\.(pb|pb\.gz|riegeli)$")
_TRACE = re.compile(r"\.(pt\.)?trace\.json(\.gz)?$")
_PARTS = ("plugins", "profile")
MOST_RUNS = 1000


def _session_name(root: str, folder: str) -> str:
    """RUN/SESSION, as TensorBoard has it; without a run SESSION."""
    parts = os.path.relpath(folder, root).split(os.sep)
    for i in range(len(parts) - 1):
        if tuple(parts[i:i + 2]) == _PARTS:
            parts[i:i + 2] = []
            break
    return "/".join(parts)


def _below(root: str) -> Dict[str, str]:
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not name.endswith(".export"))
        is_session = os.path.basename(os.path.dirname(folder)) == _PARTS[1]
        if is_session and any(_PROFILE.search(name) for name in names):
            found[_session_name(root, folder)] = folder
        else:
            found.update((os.path.relpath(os.path.join(folder, name), root), os.path.join(folder, name))
                         for name in sorted(names) if _PROFILE.search(name) or _TRACE.search(name))
    return found


def _of_root(root: str) -> Dict[str, str]:
    if not os.path.exists(root):
        raise TpusightError(f"{root} is not there")
    own = os.path.basename(os.path.abspath(root))
    if not os.path.isdir(root):
        return {own: root}
    found = _below(root)
    return {own if name == "." else name: path for name, path in found.items()}


class Runs:
    """The runs below some paths, by name. Names are looked up anew each time: sessions come while a job runs."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [os.path.abspath(root) for root in roots]

    def all(self) -> Dict[str, str]:
        """{name: path}. Where two roots have the same name, the root stands before it."""
        found: Dict[str, str] = {}
        for root in self._roots:
            for name, path in _of_root(root).items():
                taken = name in found and found[name] != path
                found[f"{os.path.basename(root)}/{name}" if taken else name] = path
        return found

    def path(self, name: str = "") -> str:
        """Of the run of this name; of the only one, where no name is given."""
        found = self.all()
        if name in found:
            return found[name]
        if not name and len(found) == 1:
            return next(iter(found.values()))
        if not found:
            raise TpusightError("there is no profile below " + ", ".join(self._roots))
        names: List[str] = list(found)[:20]
        raise TpusightError((f"no run is called {name!r}" if name else "say which run") + ": " + ", ".join(names)
                            + (f" and {len(found) - 20} more (list_runs)" if len(found) > 20 else ""))
