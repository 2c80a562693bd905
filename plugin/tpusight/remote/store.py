# SPDX-License-Identifier: MIT
"""What all stores share: reading ranges in parallel, progress, and local files.

A store has one generation of an object at a time, and a text that names it. A range is read of a given generation or not at all, so that
what lies in the local file is one object. At most `jobs` pieces are held, of all requests together.
"""
import asyncio
import errno
import hashlib
import os
import random
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Iterable, Iterator, NamedTuple, Optional, Tuple, TypeVar

from .trouble import Trouble, changed, exists

PIECE = 8 << 20  # bytes that are read or written at once
TRIES = 5        # of a range whose connection broke
JOBS = 8
_T = TypeVar("_T")


class Object(NamedTuple):
    """What a store says of an object. `raw` is the store's own description."""
    size: int
    mtime_ns: int
    generation: str
    raw: Any = None

    @property
    def told(self) -> Dict[str, Any]:
        """What a reply says of it."""
        return {"size": self.size, "mtime_ns": self.mtime_ns, "generation": self.generation}


NOTHING = Object(0, 0, "")


class Broken(Exception):
    """A connection broke, or gave fewer bytes than it promised: worth another try."""


def ns_of(time: Any) -> int:
    """A time of day as nanoseconds since 1970; 0 where a store has none."""
    if hasattr(time, "timestamp"):
        return int(time.timestamp() * 1e6) * 1000  # datetime has no more
    return int(time * 1e9) if isinstance(time, (int, float)) else 0


async def in_thread(work: Callable[..., _T], *args: Any) -> _T:
    """For what waits for a disk."""
    return await asyncio.get_running_loop().run_in_executor(None, work, *args)


def _write(path: str, at: int, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:  # an open file is not cut
            file.seek(at)
            left = memoryview(data)
            while left:
                left = left[file.write(left):]
    except OSError as e:
        code = "no_space" if e.errno in (errno.ENOSPC, errno.EDQUOT) else "io"
        raise Trouble(code, f"{path}: {e.strerror} (make room, or name a folder on another disk in TMPDIR)" if code == "no_space"
                      else f"{path}: {e.strerror}") from e


def _read(path: str, at: int, size: int) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            file.seek(at)
            data = b""
            while len(data) < size:
                more = file.read(size - len(data))
                if not more:
                    raise Trouble("io", f"{path}: it is shorter than it was when the request began")
                data += more
            return data
    except OSError as e:
        raise Trouble("io", f"{path}: {e.strerror}") from e


class File:
    """A local file whose bytes go to a store."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.size = os.stat(path).st_size
        except OSError as e:
            raise Trouble("io", f"{path}: {e.strerror}") from e

    async def piece(self, at: int, size: int) -> bytes:
        return await in_thread(_read, self.path, at, size)

    async def digest(self) -> str:
        """32 characters that stand for the bytes."""
        found = hashlib.sha256()
        for at, size in cuts(0, self.size, PIECE):
            found.update(await self.piece(at, size))
        return found.hexdigest()[:32]


def cuts(start: int, size: int, most: int) -> Iterator[Tuple[int, int]]:
    """(where, how long) of the pieces of equal length, but for rounding, none longer than MOST."""
    nr = -(-size // most)
    for i in range(nr):
        at, end = start + size * i // nr, start + size * (i + 1) // nr
        yield at, end - at


async def in_parallel(items: Iterable[_T], work: Callable[[_T], Awaitable[None]], nr: int) -> None:
    """NR items at a time. When one fails the others are cancelled and waited for, so that nothing is written any more."""
    left = iter(items)

    async def worker() -> None:
        for item in left:
            await work(item)
    tasks = [asyncio.ensure_future(worker()) for _ in range(nr)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Parts(NamedTuple):
    """Bytes that go to a store one after the other: the beginning of an object, then a local file."""
    base_url: str
    base: Object
    base_size: int
    tail: Optional[File]

    @property
    def size(self) -> int:
        return self.base_size + (self.tail.size if self.tail else 0)


class Store:
    """One of them a helper. What a method of a store does not allow, it refuses with Trouble."""
    name = ""
    can: Tuple[str, ...] = ()

    def __init__(self) -> None:
        self.jobs = JOBS
        self.turns = asyncio.Semaphore(self.jobs)

    # What a store has of its own.
    def entries(self, url: str, recursive: bool) -> AsyncIterator[Dict[str, Any]]:
        raise NotImplementedError

    async def look(self, url: str) -> Object:
        raise NotImplementedError

    async def range(self, url: str, start: int, size: int, generation: str) -> bytes:
        """SIZE bytes, not 0; raises Broken when another try may help."""
        raise NotImplementedError

    async def upload(self, url: str, file: File, generation: Optional[str], opened: Any) -> str:
        """An object anew: GENERATION is the one that it takes the place of, "" for none, None for whatever is there. The new one."""
        raise NotImplementedError

    async def remove(self, url: str, generation: Optional[str]) -> None:
        raise NotImplementedError

    async def add(self, url: str, old: Object, size: int, tail: File, opened: Any) -> Dict[str, Any]:
        raise NotImplementedError

    async def shorten(self, url: str, old: Object, size: int, native: Optional[str], opened: Any) -> Dict[str, Any]:
        raise NotImplementedError

    # The requests.
    async def list(self, opened: Any, url: str, recursive: bool = False) -> Dict[str, Any]:
        async for found in self.entries(url, recursive):
            opened.entry(found)
        return {}

    async def stat(self, opened: Any, url: str) -> Dict[str, Any]:
        return (await self.look(url)).told

    async def read(self, opened: Any, url: str, file: str, offset: int = 0, size: Optional[int] = None, at: int = 0,
                   generation: Optional[str] = None) -> Dict[str, Any]:
        if size is None or generation is None:
            now = await self.look(url)
            if generation not in (None, now.generation):
                raise changed(url)
            generation, size = now.generation, max(0, now.size - offset) if size is None else size
        shift = at - offset

        async def fetch(cut: Tuple[int, int]) -> None:
            start, length = cut
            async with self.turns:
                data = await self.piece(url, start, length, generation or "")
                await in_thread(_write, file, start + shift, data)
            opened.advance(length)
        await in_parallel(cuts(offset, size, PIECE), fetch, self.jobs)
        return {"size": size, "generation": generation}

    async def piece(self, url: str, start: int, size: int, generation: str) -> bytes:
        """A range, with another try where the connection broke."""
        for tries in range(1, TRIES + 1):
            try:
                data = await self.range(url, start, size, generation)
                if len(data) == size:
                    return data
                now = await self.look(url)
                if now.generation != generation or now.size < start + size:
                    raise changed(url)
                why: Any = f"{len(data)} of {size} bytes came"
            except Broken as e:
                why = e
            if tries < TRIES:
                await asyncio.sleep(min(8.0, 0.25 * 2 ** tries) * (0.5 + random.random()))
        raise Trouble("io", f"{url}: the connection broke {TRIES} times at byte {start}: {why} (run the command again)")

    async def put(self, opened: Any, url: str, file: str, if_generation: Optional[str] = None) -> Dict[str, Any]:
        return {"generation": await self.upload(url, File(file), if_generation, opened)}

    async def append(self, opened: Any, url: str, size: int, file: str, if_generation: Optional[str] = None) -> Dict[str, Any]:
        old, tail = await self.held(url, size, if_generation), File(file)
        if tail.size == 0:
            raise Trouble("unsupported", f"{file}: there is nothing to append")
        return await self.add(url, old, size, tail, opened)

    async def cut(self, opened: Any, url: str, size: int, if_generation: Optional[str] = None,
                  native: Optional[str] = None) -> Dict[str, Any]:
        old = await self.held(url, size, if_generation)
        if old.size == size:
            return {"generation": old.generation, "uploaded": 0, "how": "nothing"}
        return await self.shorten(url, old, size, native, opened)

    async def delete(self, opened: Any, url: str, if_generation: Optional[str] = None) -> Dict[str, Any]:
        await self.remove(url, if_generation)
        return {}

    async def held(self, url: str, size: int, generation: Optional[str]) -> Object:
        """The object of which the first SIZE bytes are to stay."""
        old = await self.look(url)
        if generation not in (None, old.generation) or old.size < size:
            raise changed(url)
        return old

    async def bytes_of(self, parts: Parts, at: int, size: int) -> bytes:
        """A stretch of what is put together, in memory."""
        data = b""
        of_base = min(size, max(0, parts.base_size - at))
        if of_base:
            data = await self.piece(parts.base_url, at, of_base, parts.base.generation)
        if parts.tail and size > of_base:
            data += await parts.tail.piece(at + of_base - parts.base_size, size - of_base)
        return data


def prefix_of(key: str) -> str:
    """What the names of objects below a folder begin with."""
    return key if not key or key.endswith("/") else key + "/"


async def once(url: str, work: Awaitable[_T]) -> _T:
    """For what the store's package has tried often enough when it breaks."""
    try:
        return await work
    except Broken as e:
        raise Trouble("io", f"{url}: the connection broke: {e} (run the command again)") from e


def unmet(url: str, generation: Optional[str]) -> Trouble:
    """A store refused because of the generation that was asked for."""
    return exists(url) if generation == "" else changed(url)
