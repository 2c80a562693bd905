# SPDX-License-Identifier: MIT
"""One capture with jax.profiler, into a session's folder of its own. A process can make one at a time."""
import contextlib
import logging
import os
import threading
import time
import warnings
from typing import Set, Tuple

from . import _jax, _place
from ._program import TpusightError
from ._whole import new_file

_lock = threading.Lock()
_running = None  # the capture that runs in this process
_names: Set[Tuple[str, str]] = set()  # logdir and name of sessions that this process has written
watchers: Set[object] = set()  # LiveProfilers that sample this process
_log = logging.getLogger("tpusight")


def _in_fork():
    """A capture that runs goes on in the parent alone."""
    global _lock, _running
    _lock, _running = threading.Lock(), None
    watchers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_fork)


def running():
    """The capture of this package that runs in this process, or None."""
    return _running


def _new_name(logdir, wanted):
    """A session's name as JAX makes them, or the one WANTED; with a number behind it when this process has written it
    before. Hosts of one job whose captures begin in the same second share a session, as with JAX's own names."""
    base = wanted or time.strftime("%Y_%m_%d_%H_%M_%S")
    name, n = base, 1
    while (logdir, name) in _names:
        n += 1
        name = f"{base}_{n}"
    _names.add((logdir, name))
    return name


class Misses:
    """What one profiler could not capture. A job goes on without its profile: the first miss warns, all are counted."""

    def __init__(self, what):
        self.what = what
        self.count = 0
        self.problem = None  # of the last one, until something is captured

    def begin(self, start, what=""):
        """What START() gives; None where it fails: WHAT, the caller's work, then runs as it is. Without JAX it raises: to install it is
        the caller's affair, and no moment of a job brings it."""
        try:
            return start()
        except _jax.NoJaxError:
            raise
        except Exception as e:
            self.miss(e, what)
            return None

    def miss(self, problem, what=""):
        """PROBLEM kept a profile of WHAT from being captured."""
        self.count += 1
        self.problem = problem
        text = f"{self.what}: {what or 'a block'} was not captured, and the job goes on: {problem}"
        if self.count > 1:
            _log.info(text)
            return
        try:
            warnings.warn(text, RuntimeWarning, stacklevel=4)
        except RuntimeWarning:  # python -W error: that a profile is missing still ends no job
            _log.warning(text)


class Capture:
    """Begins with start(), ends with stop(), which gives the session's folder. WHO names the caller in errors."""

    def __init__(self, logdir, who, name=None, collect_hlo=True, collect_memory=False, profiler_options=None):
        self.logdir = os.path.abspath(os.fspath(logdir))
        self.who = who
        self.folder = None
        self._name = name
        self._collect_hlo = collect_hlo
        self._collect_memory = collect_memory
        self._given = profiler_options
        self._pid = os.getpid()

    def start(self):
        """Raises TpusightError without JAX, and where another profiler is at work in this process."""
        global _running
        profiler = _jax.jax().profiler
        _place.warn_of_windows(self.logdir)
        with _lock:
            if _running:
                raise TpusightError(f"{_running.who} is capturing a profile; a process can capture one at a time")
            if watchers:
                raise TpusightError("a LiveProfiler samples this process; a process can capture one profile at a time "
                                    "(live.stop() first)")
            try:
                self._start(profiler)
            except TpusightError:
                raise
            except Exception as e:
                raise TpusightError(f"jax.profiler.start_trace: {e}") from e
            _running = self
        return self

    def _start(self, profiler):
        name = _new_name(self.logdir, self._name)
        options = _jax.options(self._given, enable_hlo_proto=self._collect_hlo, session_id=name)
        if hasattr(options, "session_id"):
            profiler.start_trace(self.logdir, profiler_options=options)
            self.folder = os.path.join(self.logdir, "plugins", "profile", name)
        else:  # a version of JAX that names sessions by the second: a run's folder for each
            profiler.start_trace(os.path.join(self.logdir, name), **({"profiler_options": options} if options else {}))
            self._run = os.path.join(self.logdir, name, "plugins", "profile")

    def stop(self):
        """Ends the capture and gives the session's folder; None in a fork of the process, where it goes on in the parent alone.
        Raises TpusightError when nothing was written, as when another process sampled this one through its profiler
        server at the same time."""
        global _running
        if self._pid != os.getpid():
            return None
        profiler = _jax.jax().profiler
        try:
            if self._collect_memory:
                memory = self._memory_profile(profiler)
            profiler.stop_trace()
        except BaseException as e:
            _jax.reset_profiler()
            if not isinstance(e, Exception):  # a notebook's "interrupt"
                raise
            raise TpusightError(f"jax.profiler.stop_trace: {e} (only one profiler at a time can run in a process: "
                                "is it being watched, or captured by another?)") from e
        finally:
            with _lock:
                _running = None
        if self.folder is None:
            written = os.listdir(self._run) if os.path.isdir(self._run) else []
            self.folder = os.path.join(self._run, *written[:1])
        if not os.path.isdir(self.folder):
            raise TpusightError(f"JAX did not write a profile into {self.logdir}")
        if self._collect_memory and memory:
            with new_file(os.path.join(self.folder, "memory_profile.prof"), "wb") as f:
                f.write(memory)
        return self.folder

    @staticmethod
    def _memory_profile(profiler):
        """What the device holds as the capture ends, as pprof's bytes; None where the device cannot say."""
        try:
            return profiler.device_memory_profile()
        except Exception as e:
            warnings.warn(f"no memory profile: {e}", RuntimeWarning, stacklevel=3)
            return None


@contextlib.contextmanager
def block(capture, misses, finish=None):
    """Captures a with block, all device work of the process included; finish(folder) when it is written. Raises at its entry
    alone: an exception of the block's goes on, what was captured of it is kept, and a capture that fails at its end is one of MISSES."""
    capture.start()
    try:
        yield capture
        _jax.wait_for_all()
    finally:
        end(capture, misses, finish)


def end(capture, misses, finish=None, what=""):
    """Ends a capture. What goes wrong (a full disk, another profiler) is one of MISSES: a result or an exception of the caller's is
    already on its way."""
    try:
        folder = capture.stop()
        if folder and finish:
            finish(folder)
        misses.problem = None
    except Exception as e:
        misses.miss(e, what)
