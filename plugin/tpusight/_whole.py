# SPDX-License-Identifier: MIT
"""Files that are there whole or not at all, as the program writes its own (src/io/newfile.h)."""
import contextlib
import os
import secrets
import stat
import string
import zlib
from typing import IO, Any, Iterator

try:
    import fcntl
except ImportError:  # Windows has none; there the program does not sweep either
    fcntl = None  # type: ignore[assignment]

_NAME_MAX = 200  # bytes of a name that a temporary's keeps
_LETTERS = string.ascii_lowercase + string.digits


def _temporary_name(name: str) -> str:
    """By its last three letters the program knows it for one of ours (src/io/newfile.c)."""
    head = os.fsencode("." + name)[:_NAME_MAX] + b".tpusight-" + "".join(secrets.choice(_LETTERS) for _ in range(3)).encode()
    check = zlib.crc32(head)
    return os.fsdecode(head) + "".join(_LETTERS[check // len(_LETTERS)**i % len(_LETTERS)] for i in range(3))


def _temporary(path: str, limit: int) -> "tuple[int, str]":
    """A new file beside PATH, under a name that the next tpusight sweeps when this process is killed, and not before."""
    folder, name = os.path.split(path)
    while True:
        temp = os.path.join(folder, _temporary_name(name))
        try:
            handle = os.open(temp, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666 & limit)
        except FileExistsError:
            continue
        if fcntl:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle, temp


def _sync_folder(path: str) -> None:
    with contextlib.suppress(OSError):  # some systems cannot
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def new_file(path: Any, mode: str = "w", limit: int = 0o666) -> Iterator[IO[Any]]:
    """The file PATH to be written, in text of UTF-8 or ("wb") in bytes. When the block raises, or the disk is full, the old file
    stands, with its rights; so it does until the block ends. Old or new, it is open to nobody to whom a file of mode LIMIT
    is not. What is not a plain file (/dev/stdout) is written as it is."""
    encoding = None if "b" in mode else "utf-8"
    path = os.path.realpath(os.fspath(path))
    old = os.stat(path) if os.path.exists(path) else None
    if old and not stat.S_ISREG(old.st_mode):
        with open(path, mode, encoding=encoding) as file:
            yield file
        return
    handle, temp = _temporary(path, limit)
    try:
        with os.fdopen(handle, mode, encoding=encoding) as file:
            if old:
                os.chmod(temp, stat.S_IMODE(old.st_mode) & (limit | ~0o666))
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "posix":
                os.replace(temp, path)  # while it is locked
        if os.name != "posix":
            os.replace(temp, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        raise
    _sync_folder(path)
