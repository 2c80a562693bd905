# SPDX-License-Identifier: MIT
"""The traces for Perfetto that annotate left beside the profiles of a session; the page hands them to ui.perfetto.dev, in the browser.

Only files that TPUsight made, by their first bytes and under the names that annotate gives them, and only where they lie in the log
directory by their real names. They are sent as they lie on the disk: packed.
"""
import json
import os
import re
import stat
import zipfile
import zlib

from tensorboard_plugin_tpusight import runs

UI = "https://ui.perfetto.dev"
IS_UI = re.compile(r"https?://[A-Za-z0-9\[][A-Za-z0-9._~:\[\]/-]*")
HEAD_BYTES = 4096
PIECE_BYTES = 1 << 18
# What a file of ours begins with.
IS_JSON = re.compile(rb'\{"otherData":\{"generator":"tpusight"')
IS_PFTRACE = re.compile(rb"\x0a.{1,16}\x09generator\x1a\x08tpusight", re.DOTALL)
IS_COPY = re.compile(rb'(\xef\xbb\xbf)?\s*(\{"tpusight_annotation":\{"generator":"tpusight"|\[\{"name":"tpusight_annotation")')
IN_ZIP = b'{"perfetto_manifest":{"version":1,"attributes":{"generator":"tpusight","tpusight.first_trace":'
# Names of those of a session, and endings, behind the stem of a trace, of those of its files. The better one stands first.
OF_SESSION = (("perfetto_trace.pftrace", IS_PFTRACE), ("perfetto_trace.json.gz", IS_JSON))
OF_FILES = ((".tpusight.pftrace", IS_PFTRACE), (".tpusight.json.gz", IS_COPY))
SHIFT_JSON = re.compile(rb'"shift_ns":(-?\d{1,19})[,}]')
SHIFT_PB = re.compile(rb"\x0a\x11tpusight\.shift_ns\x10([\x80-\xff]{0,9}[\x00-\x7f])")


def _head(path):
    """The first bytes of a plain file, unpacked; of a zip those of its manifest."""
    with open(path, "rb") as f:
        packed = f.read(HEAD_BYTES)
        if packed[:2] == b"PK":
            with zipfile.ZipFile(f) as members, members.open("perfetto_manifest.json") as manifest:
                return manifest.read(HEAD_BYTES)
    return zlib.decompressobj(31).decompress(packed, HEAD_BYTES) if packed[:2] == b"\x1f\x8b" else packed


def _shift(head):
    """What is to be added to a time of the report to get the trace's, in ns, as text: it may be past what a double holds."""
    found = SHIFT_JSON.search(head)
    if found:
        value = int(found[1])
        return str(value) if -(1 << 63) <= value < 1 << 63 else None
    found = SHIFT_PB.search(head)
    if not found:
        return None
    value = sum((byte & 0x7f) << (7 * i) for i, byte in enumerate(found[1])) & (1 << 64) - 1
    return str(value - (1 << 64) if value >> 63 else value)


def _candidates(session):
    folder = os.path.dirname(session.files[0].path)
    first = json.dumps(session.files[0].name, ensure_ascii=False)
    yield os.path.join(folder, "ALL_RANKS.perfetto.zip"), None, re.compile(re.escape(IN_ZIP + first.encode("utf-8", "surrogateescape")))
    for name, mark in OF_SESSION:
        yield os.path.join(folder, name), None, mark
    for ending, mark in OF_FILES:
        for entry in session.files:
            stem = re.sub(r"\.json(\.gz)?$", "", entry.path)
            if stem != entry.path:
                yield stem + ending, runs.host_of(entry.name), mark


def find(logdir, session):
    """[{file, path, host, bytes, shift_ns}], the one to open first in front; PATH is that in the log directory."""
    real = os.path.realpath(logdir)
    for path, host, mark in _candidates(session):
        try:
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode) or not runs.is_inside(real, path):
                continue
            head = _head(path)
        except (OSError, KeyError, zlib.error, zipfile.BadZipFile):
            continue  # there is none, or it is not ours
        if mark.match(head):
            yield {"file": os.path.basename(path), "path": os.path.relpath(path, logdir).replace(os.sep, "/"), "host": host,
                   "bytes": found.st_size, "shift_ns": _shift(head)}


def pieces(path, size):
    """SIZE bytes of the file, piece after piece."""
    with open(path, "rb") as f:
        while size > 0:
            piece = f.read(min(PIECE_BYTES, size))
            if not piece:
                return
            size -= len(piece)
            yield piece
