# SPDX-License-Identifier: MIT
"""Real profiles in which every string that a program or a person chose is an attack: on a page, on a table, on a terminal.

A string keeps its beginning, so that the analyses still know what it is, and gets an ending that a hash of it chooses; some become an
attack as a whole. The same string always becomes the same, so names still match across planes, modules and scopes.
"""
import gzip
import json
import os
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from wire import BYTES, blob, fields, num, varint

RUN = "window.hacked=1"
MARKUP = (f"</script><script>{RUN}</script>", f"<img src=x onerror={RUN}>", f"\"'><svg/onload={RUN}>",
          f"</title></style><iframe src=javascript:{RUN}>", f"javascript:{RUN}//", "${" + RUN + "}{{" + RUN + "}}`",
          f"<a href=javascript:{RUN}>x</a><form action=//evil.example><base href=//evil.example>",
          "<!--<script>]]>&lt;b&gt;&#60;script&#62;",
          "<meta http-equiv=refresh content=0;url=//evil.example><link rel=stylesheet href=//evil.example>",
          f"\" onmouseover={RUN} style=position:fixed;inset:0 \"", "\n\r\t<b>\x1b[31m\x07\x00", "\u202egnp\u2066\u2069\u200f\u061c\ufeff",
          "\ud83d\udd25\u0300\u0301\u0302" * 8, "A" * 20000, "\\\"\\u003cscript>\\")
WHOLE = ("__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "__defineGetter__",
         "=HYPERLINK(\"//evil.example\")", "@SUM(1)", "+1+cmd|' /C calc'!A0", "-2+3", "null", "NaN", "-0", "", " ", "[object Object]")


def text_of(value, salt):
    """What becomes of a string."""
    at = zlib.crc32(value.encode("utf-8", "surrogatepass"), salt)
    if at % 5 == 0:
        return WHOLE[at // 5 % len(WHOLE)]
    return value + MARKUP[at // 5 % len(MARKUP)]


def ending_of(value, salt):
    """As text_of(), where the beginning says what it is."""
    return value + MARKUP[zlib.crc32(value.encode("utf-8", "surrogatepass"), salt) % len(MARKUP)]


def _bytes(change, salt):
    def changed(value):
        if zlib.crc32(value, salt) % 50 == 0:
            return value + b"\xff\xfe\xc0\x80\xed\xa0\x80"  # not UTF-8
        return change(value.decode("utf-8", "replace"), salt).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    return changed


def rewrite(message, table):
    """The message with each field of TABLE changed: a function changes its bytes, a table what is inside."""
    out = bytearray()
    for field, kind, value in fields(message):
        change = table.get(field)
        if kind != BYTES:
            out += num(field, value) if kind == 0 else varint(field << 3 | kind) + value.to_bytes(8 if kind == 1 else 4, "little")
        else:
            out += blob(field, rewrite(value, change) if isinstance(change, dict) else change(value) if change else value)
    return bytes(out)


# Field numbers: xplane.proto of openxla/xla (tests/fixtures/wire.py), and xla/service/hlo.proto.
def xplane(path, salt):
    """An XSpace: names of ops, threads, modules, scopes, sources, computations, hosts."""
    whole, ending = _bytes(text_of, salt), _bytes(ending_of, salt)
    frames = {1: whole, 2: whole}
    instruction = {1: whole, 7: {1: whole, 2: whole, 3: whole, 12: whole}, 28: whole}
    module = {1: whole, 3: {1: whole, 2: instruction}, 25: frames}
    proto = {1: module}
    stats = {5: whole, 6: lambda value: rewrite(value, proto) if len(value) > 2000 else value}

    def plane(value):
        name = next(v for f, _, v in fields(value) if f == 2)
        device = name.startswith(b"/device:")
        line = {2: None, 11: whole} if device else {2: whole, 11: whole, 4: {4: {5: whole}}}
        event = {2: ending if device else whole, 4: whole, 5: stats}
        if name == b"Task Environment":
            return value
        return rewrite(value, {2: ending if name.startswith(b"/device:TPU:1") else None, 3: line, 4: {2: event}})
    with open(path, "rb") as f:
        return rewrite(f.read(), {1: plane, 4: whole})


KEPT_KEYS = {"ph", "cat", "id", "bp", "s", "displayTimeUnit", "collectiveName"}
KEPT_NAMES = ("ProfilerStep#", "[memory]", "process_name", "thread_name", "Iteration Start", "Record Window End")


def _changed(value, key, salt):
    if isinstance(value, dict):
        return {k: _changed(v, k, salt) for k, v in value.items()}
    if isinstance(value, list):
        return [_changed(v, key, salt) for v in value]
    if not isinstance(value, str) or key in KEPT_KEYS or value.startswith(KEPT_NAMES):
        return value
    return text_of(value, salt)


def trace(path, salt):
    """A trace in JSON: names of ops, kernels, threads, devices, stacks, arguments."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        return json.dumps(_changed(json.load(f), "", salt)).encode()


def names(nr):
    """NR names for folders and hosts."""
    wanted = ["__proto__", "=1+1", "--help",
              *(m.replace("/", "\u2215").replace("\x00", "")[:60] for m in MARKUP if m.isprintable()), "constructor", "-rf"]
    assert nr <= len(wanted)
    return wanted[:nr]
