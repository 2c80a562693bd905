# SPDX-License-Identifier: MIT
"""Profiles at the right moment of a JAX job: a block, the call after the warm-up, steps chosen by the environment."""
import atexit
import contextlib
import math
import os
import re
import threading
import warnings
from typing import Any, Callable, ContextManager, Iterator, List, Optional, Protocol, TypeVar

from . import _capture, _environment, _jax
from ._program import TpusightError
from ._wrap import name_of, same, wrapped
from .session import Session

START_STEP, DURATION, DIR = 100, 1, "./profiles"  # of maybe_profile, where the environment does not say
_RULE = "=" * 60

Result = TypeVar("Result", covariant=True)


class Profiled(Protocol[Result]):
    """A function that profile_function() decorated."""

    captured: List[Session]

    def __call__(self, *args: Any, **kwargs: Any) -> Result: ...


class Captured:
    """What profile_trace() captured: `session` (a Session: summary(), report(), export(), the
    views) once it is written, None until then."""

    def __init__(self) -> None:
        self.session: Optional[Session] = None

    def _keep(self, folder):
        self.session = Session(folder)


def _run_folder(dir, name):
    """The run NAME below DIR, so that every list of runs says it; DIR itself where it is called so already."""
    safe = re.sub(r"[^\w.=+-]+", "_", name).strip("._")
    dir = os.path.abspath(os.fspath(dir))
    return dir if not safe or os.path.basename(dir) == safe else os.path.join(dir, safe)


@contextlib.contextmanager
def profile_trace(dir: Any, name: Optional[str] = None, *, collect_memory: bool = False,
                  profiler_options: Any = None) -> Iterator[Captured]:
    """Captures a with block into the log directory DIR. NAME is the run: DIR/NAME/plugins/profile/TIME, so that
    TensorBoard, XProf and `tpusight compare` list it under its name; it is an annotation in the profile too. Without a
    name the session stands in DIR itself. Gives a Captured:

        with profile_trace("profiles", "epoch") as captured:
            train()
        captured.session.summary()

    All device work of the process is waited for before it ends. An exception inside goes on, and the profile is
    kept. Raises TpusightError at its entry, where another profiler is at work; a capture that fails at its end warns."""
    captured = Captured()
    misses = _capture.Misses(f"profile_trace({name or 'trace'!r})")
    capture = _capture.Capture(_run_folder(dir, name or ""), misses.what, collect_memory=collect_memory,
                               profiler_options=profiler_options)
    with _capture.block(capture, misses, captured._keep), _jax.jax().profiler.TraceAnnotation(name or "trace"):
        yield captured


@contextlib.contextmanager
def profile_scope(name: str) -> Iterator[None]:
    """Names a part of a profile: `with profile_scope("forward_pass"):`. What the host does in the block is an event of
    that name; ops that are traced in it have the name in their scope, on the device too. It captures nothing itself."""
    jax = _jax.jax()
    with jax.profiler.TraceAnnotation(name), jax.named_scope(name):
        yield


def profile_function(dir: Any, warmup_steps: int = 5, *,
                     profile_steps: int = 1) -> Callable[[Callable[..., Result]], Profiled[Result]]:
    """Decorator: calls 1 to WARMUP_STEPS run as they are, the next PROFILE_STEPS are captured into the log directory
    DIR, a capture each, all later ones run as they are. The decorated function's `captured` is the list of what was
    captured, as Session objects. As TPUsight.trace: for functions, methods and coroutine functions; where a capture
    cannot begin, or fails, this warns, and the function runs."""
    if callable(dir):
        raise TypeError("profile_function needs a directory: @profile_function(\"profiles\")")
    if warmup_steps < 0 or profile_steps < 1:
        raise ValueError("warmup_steps is at least 0 and profile_steps at least 1")

    def decorate(function: Any) -> Any:
        sessions, name = [], name_of(function)
        misses = _capture.Misses(f"profile_function({name})")

        @contextlib.contextmanager
        def around(n, args, kwargs):
            def start():
                return None if _jax.is_tracing(args, kwargs) else _capture.Capture(dir, misses.what).start()

            is_due = warmup_steps <= n < warmup_steps + profile_steps
            capture = misses.begin(start, "a call") if is_due else None
            if not capture:
                yield same
                return
            try:
                with _jax.jax().profiler.StepTraceAnnotation(name, step_num=n):
                    yield _jax.wait_for
            finally:
                _capture.end(capture, misses, lambda folder: sessions.append(Session(folder)), "a call")

        call = wrapped(function, around)
        target: Any = call.__func__ if isinstance(call, (staticmethod, classmethod)) else call
        target.captured = sessions
        return call
    return decorate


def _say(text):
    """On the console, without the signs that its encoding does not have."""
    try:
        print(text, flush=True)
    except UnicodeEncodeError:
        print(text.encode("ascii", "ignore").decode().lstrip(), flush=True)


def _folder_of(step, logdir):
    """As people say it, below what the environment or the caller says: a run for each capture."""
    return f"{os.fspath(logdir or os.environ.get('PROFILE_DIR') or DIR)}/step_{step:08d}"


class _Plan:
    """Which steps the environment asks for, and the capture that is open."""

    def __init__(self):
        self.lock = threading.RLock()
        self.announced = False
        self.folder = ""  # of the capture that is open
        self.capture: Optional[_capture.Capture] = None
        self.end_step = 0  # of the capture that is open
        self.next_step: Optional[float] = None  # of the next capture; None: not worked out yet
        self.misses = _capture.Misses("maybe_profile")

    def is_due(self, step):
        start = _environment.number("PROFILE_START_STEP", START_STEP)
        interval = _environment.number("PROFILE_INTERVAL", 0)
        if self.next_step is None:
            self.next_step = start
        if step < self.next_step:
            return False
        self.next_step = step + interval if interval else math.inf
        return True

    def announce(self, logdir):
        """Once: what the environment asks for."""
        if self.announced:
            return
        self.announced = True
        interval = _environment.number("PROFILE_INTERVAL", 0)
        _say("\n".join((
            _RULE, "\U0001F4CA PROFILING ENABLED", _RULE,
            f"  Profile Dir:    {os.path.dirname(_folder_of(0, logdir))}",
            f"  Start Step:     {_environment.number('PROFILE_START_STEP', START_STEP)}",
            f"  Interval:       {f'every {interval} step(s)' if interval else 'once'}",
            f"  Duration:       {_environment.number('PROFILE_DURATION', DURATION, least=1)} step(s)",
            "  Mode:           tensorboard", _RULE)))

    def begin(self, step, logdir):
        duration = _environment.number("PROFILE_DURATION", DURATION, least=1)
        self.folder = _folder_of(step, logdir)
        _jax.jax()  # a missing JAX is an error; a busy profiler is not
        try:
            self.capture = _capture.Capture(self.folder, "maybe_profile").start()
        except TpusightError as e:
            warnings.warn(f"step {step} is not profiled: {e}", RuntimeWarning, stacklevel=4)
            return
        self.end_step = step + duration
        _say(f"\U0001F4CA Profiling step {step}...")

    def end(self):
        capture, self.capture = self.capture, None
        if capture:
            _jax.wait_for_all()
            _capture.end(capture, self.misses, lambda _: _say(f"\u2713 Profile saved: {self.folder}"), self.folder)


_plan = _Plan()


class _Step:
    """A step inside a capture: a with block that marks it, and ends the capture behind its last step."""

    def __init__(self, step):
        self._step = step
        self._annotation = _jax.jax().profiler.StepTraceAnnotation("step", step_num=step)

    def __enter__(self):
        self._annotation.__enter__()

    def __exit__(self, *exception):
        self._annotation.__exit__(*exception)
        with _plan.lock:
            if _plan.capture and self._step + 1 >= _plan.end_step:
                _plan.end()


def maybe_profile(step: int, logdir: Any = None) -> ContextManager[None]:
    """Profiles the steps that the environment asks for, each capture a run of its own: LOGDIR/step_00000100. What is
    asked for and what was saved is printed. At the head of each step, either way:

        for step in range(1000):
            with maybe_profile(step):       # marks the step, and ends the capture with its last step
                train_step()

            maybe_profile(step)             # or so: the capture ends when the next step begins
            train_step()

    PROFILE_ENABLED     1: profile; otherwise nothing happens, at the cost of one look at the environment
    PROFILE_START_STEP  the first step that is profiled (100); a job that is past it begins at once
    PROFILE_INTERVAL    steps from the start of one capture to the start of the next; 0, the default: one capture
    PROFILE_DURATION    steps in a capture (1)
    PROFILE_DIR         the log directory where the caller gives none (./profiles)

    A capture that is open when Python ends is closed then. When a capture cannot begin because another profiler is
    running, this warns and the job goes on. A value that is not a number, or a missing JAX, raises TpusightError."""
    if not _environment.flag("PROFILE_ENABLED") and not _plan.capture:
        return contextlib.nullcontext()
    with _plan.lock:
        if _plan.capture and step >= _plan.end_step:
            _plan.end()
        if _environment.flag("PROFILE_ENABLED"):
            _plan.announce(logdir)
            if not _plan.capture and _plan.is_due(step):
                _plan.begin(step, logdir)
        return _Step(step) if _plan.capture else contextlib.nullcontext()


@atexit.register
def _end_open():
    if _plan.capture and _capture.running() is _plan.capture:
        _plan.end()
