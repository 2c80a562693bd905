"""The profiler server of this process: started when the first LiveProfiler needs it, stopped with the last."""
import socket
import threading

from . import _jax
from ._program import TpusightError

_TRIES = 3
_lock = threading.Lock()
_state = {"address": None, "users": 0}


def acquire():
    """Its address, "127.0.0.1:PORT". Raises TpusightError when another has been started, whose port JAX does not
    tell."""
    with _lock:
        if not _state["users"]:
            _state["address"] = _start(_jax.jax().profiler)
        _state["users"] += 1
        return _state["address"]


def release():
    """One user less."""
    with _lock:
        _state["users"] -= 1
        if not _state["users"]:
            _jax.jax().profiler.stop_server()


def _start(profiler):
    """A port that is free now may be taken a moment later, and JAX does not say so: the server is asked."""
    for _ in range(_TRIES):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        try:
            profiler.start_server(port)
        except ValueError as e:
            raise TpusightError(f"this process has a profiler server already ({e}): give its port, "
                                "LiveProfiler(service=\"localhost:PORT\")") from e
        except Exception as e:
            raise TpusightError(f"jax.profiler.start_server: {e}") from e
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return f"127.0.0.1:{port}"
        except OSError:
            profiler.stop_server()
    raise TpusightError("JAX's profiler server does not answer")
