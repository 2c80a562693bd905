# SPDX-License-Identifier: MIT
"""What JAX says of this process while it is watched: compilations, as they begin and end, and what the devices' memory holds.

A sample of a tenth of a second has nothing of a compilation that takes longer. docs/live.md describes the lines."""
import contextlib
import importlib
import json
import os
import threading
import time
import weakref
from typing import Any, Optional

from . import _jax

_COMPILES = "backend_compile_duration"
_lock = threading.Lock()
_tellers: "weakref.WeakSet[Teller]" = weakref.WeakSet()
_is_listening = False


class Teller:
    """Writes lines into the standard input of the watcher of this process; never waits, never raises."""

    def __init__(self, pipe: Any) -> None:
        self._fd = pipe.fileno()
        self._pipe = pipe
        self._pid = os.getpid()
        self._is_ready = False
        os.set_blocking(self._fd, False)
        _listen()
        _tellers.add(self)

    def say(self, event: str, **fields: Any) -> None:
        line = json.dumps({"event": event, "time_unix_ms": int(time.time() * 1000), **fields}) + "\n"
        with contextlib.suppress(OSError, ValueError):  # the watcher has gone, or does not read: a line less
            if self._pid == os.getpid() and not self._pipe.closed:
                os.write(self._fd, line.encode())

    def begins(self, function: str) -> None:
        """From the first compilation on it is known that JAX tells of their beginnings: older versions do not."""
        if not self._is_ready:
            self._is_ready = True
            self.say("ready")
        self.say("compiling", thread=threading.get_ident(), function=function)

    def memory(self) -> None:
        """Says how much memory is in use, where the devices say that."""
        used = _bytes_in_use()
        if used is not None:
            self.say("memory", bytes=used)

    def close(self) -> None:
        _tellers.discard(self)
        with contextlib.suppress(OSError, ValueError):
            self._pipe.close()


def _listen() -> None:
    """Once: listeners cannot be taken back in all versions of JAX."""
    global _is_listening
    with _lock:
        if _is_listening:
            return
        _is_listening = True
    monitoring = getattr(_jax.jax(), "monitoring", None)
    for name, listener in (("register_scalar_listener", _begins), ("register_event_duration_secs_listener", _ends)):
        register = getattr(monitoring, name, None)
        if register:
            register(listener)


def _begins(event: str, value: Any = None, fun_name: str = "", **_: Any) -> None:
    if event.endswith(_COMPILES):
        for teller in list(_tellers):
            teller.begins(fun_name)


def _ends(event: str, duration_secs: float = 0.0, **_: Any) -> None:
    if event.endswith(_COMPILES):
        for teller in list(_tellers):
            teller.say("compiled", thread=threading.get_ident(), duration_ms=duration_secs * 1000)


def _bytes_in_use() -> Optional[int]:
    """Of all devices of this process; None where none says it, and before the job itself has asked for its devices."""
    try:
        if not importlib.import_module("jax._src.xla_bridge").backends_are_initialized():
            return None
        stats = [device.memory_stats() or {} for device in _jax.jax().local_devices()]
    except Exception:  # a device that cannot say it, another version of JAX
        return None
    known = [one["bytes_in_use"] for one in stats if "bytes_in_use" in one]
    return sum(known) if known else None
