# SPDX-License-Identifier: MIT
"""The loop of the helper: requests in, replies out.

Requests are lines; each runs as a task of one event loop, so that many are open at once. A thread reads the lines, because a
pipe cannot be waited for everywhere. While a request is open its client hears of it every BEAT_S seconds, also while a store is
waited for. The end of the input, or SIGTERM, ends the open requests: they take back what they began, for LAST_S seconds at most.
"""
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
import time
from typing import Any, BinaryIO, Callable, Dict, Optional

from .requests import MOST_LINE, VERSION, Request, id_of, read_request
from .store import Store
from .trouble import Trouble

MOST_OPEN = 1024  # requests
BEAT_S = 10.0     # a client is told of each open request at least so often
SOON_S = 0.2      # and of its bytes at most so often
LAST_S = 5.0
MOST_TEXT = 4096  # characters


class Open:
    """A request that is being answered, and how far it has come."""

    def __init__(self, helper: "Helper", request: Request) -> None:
        self.helper, self.request = helper, request
        self.done = 0
        self.told_s = time.monotonic()
        self.task: Optional[asyncio.Future[None]] = None

    def tell(self) -> None:
        self.told_s = time.monotonic()
        self.helper.say(id=self.request.id, done=self.done)

    def advance(self, nr_bytes: int) -> None:
        self.done += nr_bytes
        if time.monotonic() - self.told_s >= SOON_S:
            self.tell()

    def entry(self, found: Dict[str, Any]) -> None:
        self.told_s = time.monotonic()
        self.helper.say(id=self.request.id, entry=found)


class Helper:
    """Answers requests with a store. MAKE gives the store, or raises Trouble when it cannot be had; FITS is whether a URL is one of it."""

    def __init__(self, make: Callable[[], Store], fits: Callable[[str], bool], out: BinaryIO) -> None:
        self.make, self.fits, self.out = make, fits, out
        self.store: Optional[Store] = None
        self.open: Dict[int, Open] = {}

    def say(self, **reply: Any) -> None:
        try:
            self.out.write(json.dumps(reply, separators=(",", ":")).encode("ascii") + b"\n")
            self.out.flush()
        except OSError:  # the client has ended
            os._exit(1)

    def refuse(self, number: Optional[int], trouble: Trouble, url: str = "") -> None:
        """Whom the words reach knows the URL already."""
        begin = len(url) + 2 if url and trouble.text.startswith(f"{url}: ") else 0
        self.say(id=number, ok=False, code=trouble.code, text=trouble.text[begin:begin + MOST_TEXT])

    def take(self, line: bytes) -> None:
        """A line of the input: begins a request, or refuses it."""
        try:
            if len(line) > MOST_LINE:
                raise Trouble("unsupported", f"a request is longer than {MOST_LINE} bytes")
            request = read_request(line)
            if request.id in self.open:
                raise Trouble("unsupported", f"request {request.id} is still open: its number cannot be used again")
            if len(self.open) >= MOST_OPEN:
                raise Trouble("busy", f"{MOST_OPEN} requests are open (wait for some of them)")
        except Trouble as trouble:
            self.refuse(id_of(line) if len(line) <= MOST_LINE else None, trouble)
            return
        if request.op == "cancel":
            self.cancel(request)
            return
        opened = self.open[request.id] = Open(self, request)
        opened.task = asyncio.ensure_future(self.answer(opened))

    def cancel(self, request: Request) -> None:
        opened = self.open.get(request.args["of"])
        if opened and opened.task:
            opened.task.cancel()
        self.say(id=request.id, ok=True)

    async def answer(self, opened: Open) -> None:
        request, url = opened.request, opened.request.args.get("url", "")
        try:
            reply = await self.run(opened)
            self.say(id=request.id, ok=True, **reply)
        except asyncio.CancelledError:
            self.refuse(request.id, Trouble("cancelled", f"{request.op} was cancelled"))
        except Trouble as trouble:
            self.refuse(request.id, trouble, url)
        except Exception as e:  # of a package: what it says is all that is known
            self.refuse(request.id, Trouble("io", f"{type(e).__name__}: {e} (run the command again)"))
        finally:
            del self.open[request.id]

    async def run(self, opened: Open) -> Dict[str, Any]:
        if self.store is None:
            self.store = self.make()
        if opened.request.op == "hello":
            return self.hello(opened.request.args["version"])
        if not self.fits(opened.request.args["url"]):
            raise Trouble("unsupported", "this helper was started for another store (it is tpusight's own mistake)")
        reply: Dict[str, Any] = await getattr(self.store, opened.request.op)(opened, **opened.request.args)
        return reply

    def hello(self, version: int) -> Dict[str, Any]:
        assert self.store
        if version < VERSION:
            raise Trouble("unsupported", f"this helper speaks tpusight-remote/{VERSION}, and the program an older one (install the "
                          "tpusight of one release)")
        return {"version": VERSION, "store": self.store.name, "can": list(self.store.can), "jobs": self.store.jobs}

    async def beat(self) -> None:
        """Tells of requests that have nothing to tell of themselves."""
        while True:
            await asyncio.sleep(BEAT_S / 4)
            for opened in list(self.open.values()):
                if time.monotonic() - opened.told_s >= BEAT_S / 2:
                    opened.tell()

    async def serve(self, fd: int) -> None:
        """Until the input ends."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        with contextlib.suppress(NotImplementedError, ValueError):  # not on each system, and in the main thread alone
            loop.add_signal_handler(signal.SIGTERM, ended.set)
        threading.Thread(target=_listen, args=(fd, loop, self.take, ended.set), daemon=True).start()
        beat = asyncio.ensure_future(self.beat())
        await ended.wait()
        beat.cancel()
        await self.end()

    async def end(self) -> None:
        tasks = [opened.task for opened in self.open.values() if opened.task]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=LAST_S)


def _listen(fd: int, loop: asyncio.AbstractEventLoop, take: Callable[[bytes], None], end: Callable[[], None]) -> None:
    """Hands each line over. Of a line that is too long one byte too many is handed over, and the rest is passed over."""
    with contextlib.suppress(RuntimeError, OSError), os.fdopen(fd, "rb") as pipe:  # the loop may have ended
        while line := pipe.readline(MOST_LINE + 1):
            whole = line.endswith(b"\n")
            if whole or len(line) > MOST_LINE:
                loop.call_soon_threadsafe(take, line)
            while not whole and (more := pipe.readline(MOST_LINE)):
                whole = more.endswith(b"\n")
        loop.call_soon_threadsafe(end)


def private_output() -> BinaryIO:
    """Standard output for replies alone: what a package prints goes to standard error."""
    sys.stdout.flush()
    mine = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return mine
