# SPDX-License-Identifier: MIT
"""What each request may hold. What does not fit is refused before a store is asked."""
import json
import os
from typing import Any, Callable, Dict, NamedTuple, Optional

from .trouble import Trouble

VERSION = 1
MOST_LINE = 64 << 10  # bytes of a request
MOST_URL = 8 << 10
MOST_NUMBER = 1 << 53


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_NUMBER


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_URL and "\0" not in value


def _is_url(value: Any) -> bool:
    return _is_text(value) and "://" in value


def _is_file(value: Any) -> bool:
    return _is_text(value) and os.path.isabs(value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


class Field(NamedTuple):
    fits: Callable[[Any], bool]
    what: str
    required: bool = True


_URL = Field(_is_url, "a URL")
_FILE = Field(_is_file, "the full path of a local file")
_SIZE = Field(_is_number, "a number of bytes")
_SIZE_OR_ALL = Field(_is_number, "a number of bytes", False)
_TOKEN = Field(_is_text, "a text", False)

OPS: Dict[str, Dict[str, Field]] = {
    "hello": {"version": Field(_is_number, "a number")},
    "list": {"url": _URL, "recursive": Field(_is_flag, "true or false", False)},
    "stat": {"url": _URL},
    "read": {"url": _URL, "offset": _SIZE_OR_ALL, "size": _SIZE_OR_ALL, "file": _FILE, "at": _SIZE_OR_ALL, "generation": _TOKEN},
    "put": {"url": _URL, "file": _FILE, "if_generation": _TOKEN},
    "append": {"url": _URL, "size": _SIZE, "file": _FILE, "if_generation": _TOKEN},
    "cut": {"url": _URL, "size": _SIZE, "if_generation": _TOKEN, "native": _TOKEN},
    "delete": {"url": _URL, "if_generation": _TOKEN},
    "cancel": {"of": Field(_is_number, "the id of a request")},
}


class Request(NamedTuple):
    id: int
    op: str
    args: Dict[str, Any]


def _parsed(line: bytes) -> Dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as e:
        raise Trouble("unsupported", f"a request is not JSON in UTF-8: {e}") from e
    if not isinstance(found, dict):
        raise Trouble("unsupported", "a request is not a JSON object")
    return found


def id_of(line: bytes) -> Optional[int]:
    """Whose answer it is when the rest does not fit; None where that cannot be told."""
    try:
        found = _parsed(line).get("id")
    except Trouble:
        return None
    return found if _is_number(found) else None


def read_request(line: bytes) -> Request:
    found = _parsed(line)
    number, op = found.get("id"), found.get("op")
    if not isinstance(number, int) or not _is_number(number):
        raise Trouble("unsupported", f"the id of a request is not a number from 0 to {MOST_NUMBER}")
    fields = OPS.get(op) if isinstance(op, str) else None
    if fields is None:
        raise Trouble("unsupported", f"this helper does not know the request {str(op)[:40]!r} (install the tpusight of one release)")
    args = {}
    for name, field in fields.items():
        value = found.get(name)
        if value is None and not field.required:
            continue
        if not field.fits(value):
            raise Trouble("unsupported", f"{op}: {name!r} is not {field.what}")
        args[name] = value
    return Request(number, str(op), args)
