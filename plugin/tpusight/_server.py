# SPDX-License-Identifier: MIT
"""The profiler server of this process: started when the first LiveProfiler needs it, and left to the end of Python.

It is not stopped in between: jax.profiler.stop_server() waits for a sample that is under way while it holds Python's
lock, and the sample may want that lock to end."""
import contextlib
import socket
import threading
from typing import Optional

from . import _jax
from ._program import TpusightError

_TRIES = 3
_lock = threading.Lock()
_address: Optional[str] = None


def address():
    """Its address, "127.0.0.1:PORT". Raises TpusightError when another was started, whose port JAX does not tell."""
    global _address
    with _lock:
        if not (_address and _answers(_address)):
            _address = _start(_jax.jax().profiler)
        return _address


def _answers(where):
    host, port = where.rsplit(":", 1)
    with contextlib.suppress(OSError):
        socket.create_connection((host, int(port)), timeout=5).close()
        return True
    return False


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _start(profiler):
    """A port that is free now may be taken a moment later, and JAX does not say so: the server is asked."""
    for _ in range(_TRIES):
        where = f"127.0.0.1:{_free_port()}"
        try:
            profiler.start_server(int(where.rsplit(":", 1)[1]))
        except ValueError as e:
            raise TpusightError(f"this process has a profiler server already ({e}): give its port, "
                                "LiveProfiler(service=\"localhost:PORT\")") from e
        except Exception as e:
            raise TpusightError(f"jax.profiler.start_server: {e}") from e
        if _answers(where):
            return where
        profiler.stop_server()
    raise TpusightError("JAX's profiler server does not answer")
