# SPDX-License-Identifier: MIT
"""LiveProfiler: a running job watched, this process or another, by `tpusight live` beside it."""
import atexit
import collections
import contextlib
import json
import logging
import os
import subprocess
import tempfile
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, TypeVar, overload

from . import _capture, _jax, _program, _server, _telling
from ._fields import Fields
from ._program import TpusightError
from ._temporary import temporary_folder
from ._wrap import name_of, same, wrapped

# Thresholds that have another name in the program, and thresholds that the program does not have.
_RENAMED = {"memory_bound_threshold": "memory_wait_high"}
_NO_THRESHOLDS = {"cache_miss_rate_high": "a function that is compiled again and again is always an alert"}
_FIRST_SAMPLE_S = 10  # how long start() waits for it
_QUIET_S = 0.1
_MOST_LINE = 16 << 20  # bytes; what is longer is not a line of the program's
_MOST_WORDS = 64 << 10  # bytes of what it said last that are looked at
_END_S = 10           # how long the program may take to end before it is killed

_log = logging.getLogger("tpusight")
_started: "weakref.WeakSet[LiveProfiler]" = weakref.WeakSet()


class Alert(Fields):
    """An alert as docs/live.md describes it: state, rule, severity, message, evidence, advice, value, threshold,
    for_ms, sample, time_unix_ms, elapsed_ms. None is unknown."""

    @property
    def timestamp(self) -> float:
        """When, in seconds since the epoch."""
        return self["time_unix_ms"] / 1000

    @property
    def category(self) -> str:
        """The rule's name."""
        return self["rule"]


class Metrics(Fields):
    """The figures of one sample as docs/live.md describes them; None is unknown. Before the first sample all are."""

    NAMES = ("mxu_utilization_pct", "hbm_utilization_pct", "duty_cycle_pct", "padding_waste_pct", "idle_pct",
             "communication_pct", "input_pct", "compiling_pct", "compilation_ms_per_min", "step_time_ps", "step_marked_ps",
             "step_time_unsampled_ps", "sampled_pct", "sampling_cost_pct", "memory_used_bytes", "no_step_ms", "health_score")

    def __init__(self, event: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(dict.fromkeys(self.NAMES))
        if event:
            self.update(event["metrics"], sample=event["sample"], elapsed_ms=event["elapsed_ms"],
                        timestamp=event["time_unix_ms"] / 1000, active_alerts=len(event["alerts"]))
        else:
            self.update(sample=0, elapsed_ms=None, timestamp=None, active_alerts=0)


Function = TypeVar("Function", bound=Callable[..., Any])
OfAlert = TypeVar("OfAlert", bound=Callable[[Alert], Any])
OfMetrics = TypeVar("OfMetrics", bound=Callable[[Metrics], Any])


def _need_number(window_size: Any) -> None:
    """TypeError where WINDOW_SIZE is the address of a job, for instance."""
    if isinstance(window_size, int) and not isinstance(window_size, bool):
        return
    hint = f": LiveProfiler(service={window_size!r})" if isinstance(window_size, str) else ""
    raise TypeError(f"window_size is {window_size!r}; a number of samples is needed{hint}")


class LiveProfiler:
    """Watches a running job: `tpusight live` takes short samples of it through its profiler server.

        live = LiveProfiler(alert_thresholds={"mxu_utilization_low": 20})

        @live.on_alert
        def told(alert):
            print(alert.severity, alert.message)

        with live:                  # or live.start() ... live.stop()
            train()

    window_size: so many samples and alerts are kept.
    alert_thresholds: the doctor's, {name: value}; mxu_utilization_low, padding_waste_high, compilation_time_high, ...
    update_interval: seconds between the end of a sample and the next.
    service: "HOST:PORT[,HOST:PORT...]", the profiler servers of the job to watch. By default this process, in which
        jax.profiler.start_server is called on a free port, once (it listens on all interfaces, as JAX has it).
    sample_ms: length of a sample, in ms.
    options: further options of `tpusight live`, as on its command line: ["--hold=5s"].

    Callbacks are called in a thread of the watcher's; what they raise is logged (logger "tpusight"), and the watching
    goes on. One profiler at a time can be at work in a process: while its own process is watched, TPUsight captures
    nothing there.
    """

    def __init__(self, window_size: int = 1000, alert_thresholds: Optional[Dict[str, float]] = None,
                 update_interval: float = 0.5, *, service: Optional[str] = None, sample_ms: int = 100,
                 options: Sequence[str] = ()) -> None:
        _need_number(window_size)
        if window_size < 1:
            raise ValueError(f"window_size is {window_size}; at least 1 is needed")
        self.thresholds = _known(alert_thresholds or {})
        self.update_interval = update_interval
        self.sample_ms = sample_ms
        self.service = service
        self.error: Optional[TpusightError] = None  # that ended the watching by itself
        self.problem: Optional[str] = None  # of the newest sample
        self.services: List[Fields] = []  # of the newest sample
        self._options = list(options)
        self._history: Deque[Metrics] = collections.deque(maxlen=window_size)
        self._alerts: Deque[Alert] = collections.deque(maxlen=window_size)
        self._called: Dict[str, List[Callable]] = {"alert": [], "clear": [], "metrics": []}
        self._lock = threading.Lock()
        self._watch: Optional[_Watch] = None

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped"
        return f"LiveProfiler({state}, {len(self._history)} samples, {len(self._alerts)} alerts)"

    @property
    def is_running(self) -> bool:
        """Whether the job is being watched."""
        return self._watch is not None and self._watch.is_alive()

    def start(self) -> "LiveProfiler":
        """Begins to watch, and returns with the first sample. A job that does not answer is waited for, and `problem`
        says so. Raises TpusightError when JAX or the program is missing, or a threshold or an option is not known."""
        with self._lock:
            if self._watch:
                raise TpusightError("this LiveProfiler is running: stop() it first")
            self.error = self.problem = None
            self._watch = watch = _Watch(self)
        try:
            watch.begin()
        except BaseException:
            self._watch = None
            raise
        _started.add(self)
        return self

    def stop(self) -> None:
        """Ends the watching. Raises TpusightError when it had ended by itself, and why. Twice is once."""
        with self._lock:
            watch, self._watch = self._watch, None
        if watch:
            watch.end()
            if self.error:
                raise self.error

    def __enter__(self) -> "LiveProfiler":
        return self.start()

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            self.stop()
        except TpusightError:
            if kind is None:
                raise

    @overload
    def trace(self, function: Function) -> Function: ...
    @overload
    def trace(self, function: None = None) -> Callable[[Function], Function]: ...

    def trace(self, function: Optional[Callable[..., Any]] = None) -> Any:
        """Decorator: each call is a step of the job, numbered from 0, so that step times are seen. The function runs
        as it is: nothing is waited for."""
        if function is None:
            return self.trace
        annotation, name = _jax.jax().profiler.StepTraceAnnotation, name_of(function)

        @contextlib.contextmanager
        def step(n, args, kwargs):
            with annotation(name, step_num=n):
                yield same
        return wrapped(function, step)

    def on_alert(self, callback: OfAlert) -> OfAlert:
        """Decorator: CALLBACK(alert) is called when an alert is raised or gets more severe."""
        return self._call("alert", callback)

    def on_clear(self, callback: OfAlert) -> OfAlert:
        """Decorator: CALLBACK(alert) is called when an alert is over."""
        return self._call("clear", callback)

    def on_metrics(self, callback: OfMetrics) -> OfMetrics:
        """Decorator: CALLBACK(metrics) is called with each sample."""
        return self._call("metrics", callback)

    def _call(self, kind, callback):
        if not callable(callback):
            raise TypeError(f"{callback!r} cannot be called")
        self._called[kind].append(callback)
        return callback

    @property
    def metrics(self) -> Metrics:
        """Metrics of the newest sample."""
        with self._lock:
            return self._history[-1] if self._history else Metrics()

    @property
    def history(self) -> List[Metrics]:
        """Metrics of the last samples, the newest last."""
        with self._lock:
            return list(self._history)

    @property
    def alerts(self) -> List[Alert]:
        """The last alerts raised, the newest last."""
        with self._lock:
            return list(self._alerts)

    def get_current_metrics(self) -> Metrics:
        """As metrics."""
        return self.metrics

    def get_metrics_history(self) -> List[Metrics]:
        """As history."""
        return self.history

    def get_recent_alerts(self, n: int = 10) -> List[Alert]:
        """The last N alerts."""
        return self.alerts[-n:] if n > 0 else []

    def get_alert_counts(self) -> Dict[str, int]:
        """{rule: how many alerts are kept of it}"""
        return dict(collections.Counter(alert.rule for alert in self.alerts))

    def clear_alerts(self) -> None:
        """Forgets the alerts kept."""
        with self._lock:
            self._alerts.clear()

    def _arguments(self, service):
        thresholds = [f"--threshold={name}={value}" for name, value in self.thresholds.items()]
        return ["live", "--json", f"--service={service}", f"--interval={self.update_interval:f}",
                f"--sample-ms={self.sample_ms}", *thresholds, *self._options]

    def _told(self, event):
        """An event of the program's, in the watcher's thread."""
        kind = event.get("type")
        if kind == "sample":
            found = Metrics(event)
            with self._lock:
                self._history.append(found)
                self.services = [Fields(service) for service in event["services"]]
                self.problem = event["problem"] or next((s.problem for s in self.services if s.problem), None)
            self._run("metrics", found)
        elif kind == "alert":
            alert = Alert(event)
            if alert.state == "raised":
                with self._lock:
                    self._alerts.append(alert)
            self._run("alert" if alert.state == "raised" else "clear", alert)

    def _run(self, kind, what):
        for callback in list(self._called[kind]):
            try:
                callback(what)
            except BaseException:  # sys.exit() too: the job goes on
                _log.exception("a callback for %s failed", kind)


def _known(thresholds):
    """Thresholds by the names that the program has for them."""
    for name in set(thresholds) & set(_NO_THRESHOLDS):
        warnings.warn(f"{name} is not used: {_NO_THRESHOLDS[name]}", UserWarning, stacklevel=3)
    return {_RENAMED.get(name, name): value for name, value in thresholds.items() if name not in _NO_THRESHOLDS}


class _Watch:
    """One run of `tpusight live` and the thread that reads it. The program ends when its lines are not read any more,
    so also when this process is killed."""

    def __init__(self, live):
        self._live = live
        self._thread = threading.Thread(target=self._read, name="tpusight live", daemon=True)
        self._said = threading.Event()
        self._is_ended = False
        self._address = None
        self._teller: Optional[_telling.Teller] = None
        self._pid = os.getpid()

    def is_alive(self):
        """Whether it runs, and is this process's: not that of the parent of a fork."""
        return self._pid == os.getpid() and self._thread.is_alive()

    def is_open(self):
        """Whether the pipe is open: in this process, or in a fork of it."""
        return self._thread.ident is not None and not self._pipe().closed

    def _pipe(self):
        """The program's standard output."""
        pipe = self._process.stdout
        assert pipe is not None  # begin() asks Popen for it
        return pipe

    def begin(self):
        command = _program.found_program()
        if not self._live.service:
            self._address = _server.address()
            _capture.watchers.add(self)
        self._errors = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen([command, *self._arguments()],
                                             stdin=subprocess.PIPE if self._address else subprocess.DEVNULL,
                                             stdout=subprocess.PIPE, stderr=self._errors)
        except OSError as e:
            self._release()
            raise TpusightError(f"{command}: {e}") from e
        if self._address:
            self._teller = _telling.Teller(self._process.stdin)
        self._thread.start()
        self._said.wait(_FIRST_SAMPLE_S)
        if self._live.error:
            self._thread.join()
            raise self._live.error

    def _arguments(self):
        """Servers of older versions of JAX can only write files: that of this process does so where we see them."""
        if not self._address:
            return self._live._arguments(self._live.service)
        return [*self._live._arguments(self._address), "--told", f"--repository={temporary_folder(self)}"]

    def _read(self):
        with self._pipe() as pipe:
            for line in iter(lambda: pipe.readline(_MOST_LINE), b""):
                try:
                    self._live._told(json.loads(line))
                except (ValueError, KeyError, TypeError) as e:
                    _log.warning("tpusight live printed what cannot be read: %s", e)
                self._said.set()
                if self._teller:
                    self._teller.memory()
        status = self._process.wait()
        if not self._is_ended and status not in (0, 1, 4):  # 1: --fail-on; 4: some hosts never answered
            self._errors.seek(max(self._errors.seek(0, os.SEEK_END) - _MOST_WORDS, 0))
            self._live.error = TpusightError(_program.last_words(self._errors.read()) or
                                             f"tpusight live ended with status {status}")
        self._release()
        self._said.set()

    def _release(self):
        self._errors.close()
        if self._teller:
            self._teller.close()
        if self._address:
            time.sleep(_QUIET_S)  # what was being sampled when the program ended is over by then
            _capture.watchers.discard(self)

    def let_go(self):
        """In a fork: its copy of the pipe would keep the program alive when the process it watches for is gone."""
        with open(os.devnull, "rb+") as nothing:
            os.dup2(nothing.fileno(), self._pipe().fileno())
            if self._process.stdin and not self._process.stdin.closed:
                os.dup2(nothing.fileno(), self._process.stdin.fileno())

    def end(self):
        self._is_ended = True
        self._process.terminate()
        if threading.current_thread() is self._thread:
            return  # a callback stops it: the thread ends with the program
        self._thread.join(_END_S)
        if self._thread.is_alive():
            self._process.kill()
            self._thread.join()


def _in_fork():
    for live in _started:
        if live._watch and live._watch.is_open():
            live._watch.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_fork)


@atexit.register
def _end_all():
    for live in [live for live in _started if live.is_running]:
        with contextlib.suppress(TpusightError):
            live.stop()
