# SPDX-License-Identifier: MIT
"""Whether a folder is on a drive of Windows, in WSL: what `tpusight check` says of a profile (windows_drive), said before it is taken.

The mounts are those of src/io/place.c: of type drvfs (WSL 1), or 9p and virtiofs whose source is a letter or that name drvfs (WSL 2).
"""
import os
import re
import warnings
from typing import Any, Optional

WORDS = ("{path} is on a drive of Windows ({point}), which is slow to read and write from Linux. Write profiles below your home folder "
         "(/home/...), which Linux keeps itself.")
_OCTAL = re.compile(r"\\([0-7]{3})")


def _is_drive(kind: str, source: str, options: str) -> bool:
    if kind == "drvfs":
        return True
    return kind in ("9p", "virtiofs") and bool(re.match("[A-Za-z]:", source) or "drvfs" in source or "drvfs" in options)


def _is_below(path: str, point: str) -> bool:
    return point == "/" or path == point or path.startswith(point + "/")


def windows_mount(mounts: str, path: str) -> Optional[str]:
    """The folder where the drive of Windows is mounted that has PATH, an absolute path without links; None: it is on none. MOUNTS is
    the text of /proc/self/mountinfo. Of several mounts the longest has it, of several of that length the last."""
    point, is_drive = "", False
    for line in mounts.splitlines():
        head, _, tail = line.partition(" - ")
        fields, rest = head.split(" "), [*tail.split(" ", 2), "", "", ""]
        if len(fields) < 5:
            continue
        here = _OCTAL.sub(lambda octal: chr(int(octal.group(1), 8)), fields[4])
        if _is_below(path, here) and len(here) >= len(point):
            point, is_drive = here, _is_drive(*rest[:3])
    return point if is_drive else None


def warn_of_windows(path: Any) -> None:
    """Warns where profiles are about to go to a drive of Windows."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            mounts = file.read()
    except OSError:
        return
    point = windows_mount(mounts, os.path.realpath(path))
    if point:
        warnings.warn(WORDS.format(path=os.fspath(path), point=point), stacklevel=4)
