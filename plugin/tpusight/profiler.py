# SPDX-License-Identifier: MIT
"""TPUsight: captures what JAX does with jax.profiler, and asks the program what it means."""
import collections
import contextlib
import fractions
import os
import shutil
import sys
import threading
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, TypeVar, overload

from . import _capture, _jax
from ._program import TpusightError
from ._temporary import temporary_folder
from ._wrap import name_of, same, wrapped
from .session import Results, Session, Summary, told

Function = TypeVar("Function", bound=Callable[..., Any])


class _Folder:
    """A temporary log directory, which the profiler and its sessions share: it goes with the last of them."""

    def __init__(self):
        self.path = temporary_folder(self)


def _need_flag(name: str, value: Any) -> None:
    """TypeError where VALUE is not True or False: a path, for instance, belongs elsewhere."""
    if isinstance(value, bool):
        return
    hint = f"; to open a profile that is there: tpusight.Session({value!r})" if isinstance(value, (str, os.PathLike)) else ""
    raise TypeError(f"{name} is {value!r}; True or False is needed{hint}")


class TPUsight(Results):
    """Captures profiles of JAX code, and says what they mean.

        profiler = TPUsight()

        @profiler.trace
        def step(params, batch): ...

        with profiler: ...          # or a block

        profiler.summary(); profiler.export("report.html")

    Each traced call and each block is a capture of its own (`captures`, the newest last); summary(), report(), the
    views, export() and dashboard() speak of the newest; so a loop is best captured as one block. A capture sees the
    whole process: all threads, and all device work, which is waited for before it ends. Inside a capture of the same
    profiler (a traced function that calls a traced one, another thread) nothing new is begun. A process can capture
    one profile at a time: while another is at work, a block raises TpusightError at its entry, and a traced function runs
    without a capture.

    collect_hlo: the compiled modules too; without them FLOPs, MXU utilization, padding and shapes are unknown.
    collect_memory: also what the device's memory holds as the capture ends (memory_profile.prof in the session).
    cache_analysis: False leaves the view cache out of report() and summary(); files that export() writes have it.
    sample_rate: share of a traced function's calls that are captured, 0 to 1, evenly spread and always the same: the
        first is, then every 1/sample_rate-th. with blocks are always captured.
    session_name: name of the sessions' folders, with a number behind it from the second one; by default the time, as
        JAX names them.
    logdir: where profiles are kept, for TensorBoard's --logdir; by default a temporary folder, gone when Python ends.
    profiler_options: a jax.profiler.ProfileOptions with further options (tracer levels).
    thresholds: of the doctor, {name: value}, as `tpusight report --threshold NAME=VALUE`.
    max_captures: so many captures are kept in `captures`; older ones in a temporary folder are removed.
    """

    def __init__(self, collect_hlo: bool = True, collect_memory: bool = True, cache_analysis: bool = True,
                 sample_rate: float = 1.0, session_name: Optional[str] = None, *, logdir: Any = None,
                 profiler_options: Any = None, thresholds: Optional[Dict[str, float]] = None,
                 max_captures: int = 100) -> None:
        flags = {"collect_hlo": collect_hlo, "collect_memory": collect_memory, "cache_analysis": cache_analysis}
        for name, value in flags.items():
            _need_flag(name, value)
        if isinstance(session_name, bool) or not isinstance(session_name, (str, type(None))):
            raise TypeError(f"session_name is {session_name!r}; a name is needed")
        if not 0 <= sample_rate <= 1:
            raise ValueError(f"sample_rate is {sample_rate}; a share from 0 to 1 is needed")
        if max_captures < 1:
            raise ValueError(f"max_captures is {max_captures}; at least 1 is needed")
        self.collect_hlo = collect_hlo
        self.collect_memory = collect_memory
        self.cache_analysis = cache_analysis
        self.sample_rate = sample_rate
        self.session_name = session_name
        self.thresholds = dict(thresholds or {})
        self._rate = fractions.Fraction(sample_rate).limit_denominator(1000000)
        self._folder = None if logdir else _Folder()
        self.logdir = self._folder.path if self._folder else os.path.abspath(os.fspath(logdir))
        self._options = profiler_options
        self._captures: Deque[Session] = collections.deque(maxlen=max_captures)
        self._misses = _capture.Misses("TPUsight")
        self._lock = threading.Lock()
        self._blocks = threading.local()
        self._started: Optional[_capture.Capture] = None

    @property
    def captures(self) -> List[Session]:
        """The profiles captured, the newest last: Session objects, which answer what the profiler does."""
        return list(self._captures)

    @property
    def not_captured(self) -> int:
        """How many traced calls and blocks ran without their capture: another profiler was at work, or the capture failed."""
        return self._misses.count

    @property
    def is_capturing(self) -> bool:
        """Whether a capture of this profiler runs."""
        return getattr(_capture.running(), "who", None) is self

    def __repr__(self) -> str:
        missed = f", {self.not_captured} not captured" if self.not_captured else ""
        return f"TPUsight({len(self._captures)} captures in {self.logdir}{missed})"

    def __str__(self) -> str:
        return repr(self)

    @overload
    def trace(self, function: Function) -> Function: ...
    @overload
    def trace(self, function: None = None) -> Callable[[Function], Function]: ...

    def trace(self, function: Optional[Callable[..., Any]] = None) -> Any:
        """Decorator: each call is captured, as far as sample_rate says, and returns when its result is computed. For
        functions, methods, coroutine functions (captured until they are done); not for generators. A call that JAX
        traces itself (inside jit) is left alone. The function runs in any case: where a capture cannot begin, or fails as
        it ends, the first time warns, and `not_captured` counts."""
        if function is None:
            return self.trace
        name = name_of(function)
        return wrapped(function, lambda n, args, kwargs: self._call(name, n, args, kwargs))

    def _is_due(self, n):
        return n * self._rate.numerator % self._rate.denominator < self._rate.numerator

    @contextlib.contextmanager
    def _call(self, name, n, args, kwargs):
        def start():
            return None if _jax.is_tracing(args, kwargs) else self._new().start()

        capture = None if not self._is_due(n) or self.is_capturing else self._misses.begin(start, name)
        if not capture:
            yield same
            return
        try:
            with _jax.jax().profiler.TraceAnnotation(name):
                yield _jax.wait_for
        finally:
            _capture.end(capture, self._misses, self._keep, name)

    def _new(self):
        return _capture.Capture(self.logdir, self, self.session_name, self.collect_hlo, self.collect_memory,
                                self._options)

    def _keep(self, folder):
        with self._lock:
            if len(self._captures) == self._captures.maxlen and self._folder:
                shutil.rmtree(self._captures[0].path, ignore_errors=True)
            without = () if self.cache_analysis else ("cache",)
            self._captures.append(Session(folder, self.thresholds, without, self._folder))

    @contextlib.contextmanager
    def trace_context(self, name: Optional[str] = None) -> "Iterator[TPUsight]":
        """Captures a with block: `with profiler.trace_context("warm-up"):`. NAME is an annotation in the profile."""
        annotation = _jax.jax().profiler.TraceAnnotation(name) if name else contextlib.nullcontext()
        with self, annotation:
            yield self

    def __enter__(self) -> "TPUsight":
        block = contextlib.nullcontext() if self.is_capturing else _capture.block(self._new(), self._misses, self._keep)
        block.__enter__()
        self._blocks.__dict__.setdefault("stack", []).append(block)
        return self

    def __exit__(self, *exception: Any) -> Optional[bool]:
        done: Optional[bool] = self._blocks.stack.pop().__exit__(*exception)
        return done

    def start(self) -> None:
        """Begins a capture that stop() ends, in any thread."""
        with self._lock:
            if self._started:
                raise TpusightError("this profiler is already running: stop() it first")
            self._started = self._new().start()

    def stop(self) -> None:
        """Ends the capture that start() began, when the device has done its work."""
        with self._lock:
            capture, self._started = self._started, None
        if not capture:
            raise TpusightError("this profiler was not started")
        _jax.wait_for_all()
        folder = capture.stop()
        if folder:
            self._keep(folder)

    def reset(self) -> None:
        """Forgets what was captured; profiles in a logdir stay there."""
        with self._lock:
            for session in self._captures if self._folder else ():
                shutil.rmtree(session.path, ignore_errors=True)
            self._captures.clear()
            self._misses.problem = None

    def _results(self):
        if self._captures:
            return self._captures[-1]
        if self._misses.problem:
            raise TpusightError(f"nothing was captured: {self._misses.problem}")
        raise TpusightError("nothing was captured yet: call a traced function, or use `with profiler:`")

    def summary(self) -> Summary:
        """As Results.summary(), and `captures`: how many there are."""
        found = self._results().brief()
        found["captures"] = len(self._captures)
        return told(found, sys._getframe(1))

    get_summary = summary
