# SPDX-License-Identifier: MIT
"""Objects of a store, through the helper that the program uses as well (docs/remote.md): they are listed, and read into files."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Tuple

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9]*)://")


class StoreError(Exception):
    """What a store or its helper cannot do, in words for people."""


class HelperEnded(StoreError):
    """In the middle of a request: whether the store has done it is not known."""


def is_url(path: str) -> bool:
    return bool(_SCHEME.match(path))


def place(url: str) -> str:
    """The path that the program opens when it opens a URL: //, in a path, is /."""
    scheme, rest = url.split("://", 1)
    return f"{scheme}:/{rest}"


def _helper(url: str) -> str:
    """Where tpusight-remote-SCHEME is: $TPUSIGHT_REMOTE_DIR, beside Python, or on PATH."""
    found = _SCHEME.match(url)
    scheme = found.group(1) if found else ""
    folders: List[Optional[str]] = [os.environ.get("TPUSIGHT_REMOTE_DIR"), os.path.dirname(sys.executable), None]
    for name in (f"tpusight-remote-{scheme}", "tpusight-remote"):
        for folder in folders:
            path = shutil.which(name, path=folder) if folder != "" else None
            if path:
                return path
    raise StoreError(f"{url}: there is no program tpusight-remote-{scheme} (pip install 'tpusight[{scheme}]')")


# While it is entered, the process may be ended by somebody else.
Guard = Callable[[subprocess.Popen], ContextManager[Any]]


@contextlib.contextmanager
def _spoken_with(url: str, guard: Guard) -> Iterator[subprocess.Popen]:
    helper = subprocess.Popen([_helper(url), url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True)
    with guard(helper), helper:  # leaving closes its input, which ends it, and waits for it
        _ask(helper, url, 1, op="hello", version=1)
        yield helper


def _ask(helper: subprocess.Popen, about: str, number: int, **request: Any) -> List[Dict[str, Any]]:
    """The replies to one request; the last one has "ok"."""
    assert helper.stdin and helper.stdout
    replies: List[Dict[str, Any]] = []
    try:
        helper.stdin.write(json.dumps(dict(request, id=number)) + "\n")
        helper.stdin.flush()
        while not replies or "ok" not in replies[-1]:
            replies.append(json.loads(helper.stdout.readline()))
    except (OSError, ValueError) as e:
        raise HelperEnded(f"{about}: the helper of the store ended early (run it again)") from e
    if not replies[-1]["ok"]:
        raise StoreError(f"{about}: {replies[-1].get('text', 'the store does not say why')}")
    return replies


def _asked(url: str, guard: Guard, **request: Any) -> List[Dict[str, Any]]:
    """For what changes nothing in the store: where the helper ends early, another one is asked, once."""
    for is_last in (False, True):
        try:
            with _spoken_with(url, guard) as helper:
                return _ask(helper, url, 2, url=url, **request)
        except HelperEnded:
            if is_last:
                raise
    return []


def listed(url: str) -> List[Dict[str, Any]]:
    """What lies below a URL: name, size, generation."""
    return [reply["entry"] for reply in _asked(url, contextlib.nullcontext, op="list", recursive=True) if "entry" in reply]


def looked_at(url: str) -> Tuple[str, int]:
    """The generation and the size of an object."""
    reply = _asked(url, contextlib.nullcontext, op="stat")[-1]
    return reply["generation"], reply["size"]


def put_behind(url: str, size: int, tail: str, generation: str, guard: Guard) -> None:
    """An object of this generation becomes its first SIZE bytes, and then those of the file TAIL. The store does it, in one step."""
    with _spoken_with(url, guard) as helper:
        if os.stat(tail).st_size > 0:
            _ask(helper, url, 2, op="append", url=url, size=size, file=tail, if_generation=generation)
        else:
            _ask(helper, url, 2, op="cut", url=url, size=size, if_generation=generation)


def read(url: str, generation: str, size: int, path: str, guard: Guard) -> None:
    """Reads an object of this generation into a file."""
    with open(path, "wb"):
        pass
    _asked(url, guard, op="read", offset=0, size=size, file=path, at=0, generation=generation)
    if os.stat(path).st_size != size:
        raise StoreError(f"{url}: the store gave {os.stat(path).st_size} of {size} bytes")
