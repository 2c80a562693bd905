# SPDX-License-Identifier: MIT
"""The sessions of a pod: which files they have, and on which nodes each file lies."""
import collections
import concurrent.futures
import os
import posixpath
from dataclasses import dataclass, field
from typing import Dict, FrozenSet, Iterable, List, Tuple

from .._program import TpusightError
from . import store
from .engine import Engine
from .worker import BESIDE, PROFILE, Found

LOOK_S = 600  # for a node to list its files


@dataclass
class HostFile:
    """A file of a session; equal copies are one."""
    name: str
    size: int
    places: Dict[str, Found]  # by node


@dataclass
class Session:
    folder: str  # below the path that was given; "." is that path
    files: List[HostFile]  # by name
    refused: List[str] = field(default_factory=list)  # files that are not read, and why


def find(engine: Engine, path: str) -> Tuple[List[Session], List[str]]:
    """The sessions below a path, as all nodes together see them, and what went wrong on the way. Raises TpusightError
    when there is no session."""
    words: List[str] = []
    seen = [(node, found) for found in _listed(path) for node in engine.nodes] if store.is_url(path) else _look(engine, path, words)
    sessions = _sessions(engine, seen)
    if not sessions:
        raise TpusightError(f"{path}: no node sees a session with profiles there (name a folder that has plugins/profile/SESSION/"
                            "HOST.xplane.pb below it)" + "".join(f"\n{word}" for word in words))
    return sessions, words


def keep_to_one_copy(session: Session) -> None:
    """Of equal copies on several nodes one is to be changed, and all of them on the node that has the most. A file that several nodes
    see remains with all of these."""
    counts = collections.Counter(node for file in session.files for node in file.places)
    for file in session.files:
        first = min(file.places, key=lambda node: (-counts[node], node))
        look = file.places[first].look
        file.places = {node: found for node, found in file.places.items() if found.look == look}


def folders(files: Iterable[HostFile]) -> List[HostFile]:
    """The folders in which these files lie, each once, with the nodes that see it."""
    found: Dict[Tuple[FrozenSet[str], str], HostFile] = {}
    for file in files:
        where = {node: one.path.rsplit("/", 1)[0] for node, one in file.places.items()}
        places = {node: Found(one.folder, "", where[node], 0, "") for node, one in file.places.items()}
        found.setdefault((frozenset(where), where[min(where)]), HostFile("", 0, places))
    return list(found.values())


def _look(engine: Engine, path: str, words: List[str]) -> List[Tuple[str, Found]]:
    futures = {engine.submit(node, "look", path): node for node in engine.nodes}
    done, late = concurrent.futures.wait(futures, timeout=LOOK_S)
    seen = []
    for future in done:
        error = future.exception()
        if error:
            words.append(f"{engine.names[futures[future]]}: its files could not be listed ({str(error).splitlines()[0]})")
        else:
            seen += [(futures[future], found) for found in future.result()]
    words += [f"{engine.names[futures[future]]}: it did not list its files within {LOOK_S} s" for future in late]
    return seen


def _listed(url: str) -> List[Found]:
    """As worker.look(), of a store."""
    found, top = [], url.rstrip("/")
    for entry in store.listed(url):
        folder, name = posixpath.split(entry["name"])
        below = posixpath.join(top, folder) if folder else top
        if (PROFILE.fullmatch(name) or BESIDE.fullmatch(name)) and (not folder or below.split("/")[-3:-1] == ["plugins", "profile"]):
            found.append(Found(folder or ".", name, f"{below}/{name}", entry["size"], entry["generation"]))
    return found


def _sessions(engine: Engine, seen: Iterable[Tuple[str, Found]]) -> List[Session]:
    by_folder: Dict[str, Dict[str, HostFile]] = {}
    for node, found in seen:
        files = by_folder.setdefault(found.folder, {})
        files.setdefault(found.name, HostFile(found.name, found.size, {})).places[node] = found
    sessions = [Session(folder, [files[name] for name in sorted(files) if not _is_dropped(files, name)])
                for folder, files in sorted(by_folder.items())]
    for session in sessions:
        _refuse(engine, session)
    return [session for session in sessions if any(PROFILE.fullmatch(file.name) for file in session.files)]


def _is_dropped(files: Dict[str, HostFile], name: str) -> bool:
    """An empty xplane is not a profile of its own where the same host's is there as records."""
    return files[name].size == 0 and name.endswith(".xplane.pb") and f"{name[:-len('.pb')]}.riegeli" in files


def _refuse(engine: Engine, session: Session) -> None:
    """Files of one name that are not one file: nobody can say which one is of the run."""
    for file in list(session.files):
        seen = {found.identity: node for node, found in file.places.items()}
        if len(seen) > 1:
            one, other = sorted(engine.names[node] for node in seen.values())[:2]
            session.refused.append(f"{os.path.join(session.folder, file.name)}: it is another file on {one} than on {other} "
                                   "(give the files different names; the others are analysed)")
            session.files.remove(file)
