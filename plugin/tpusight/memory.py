# SPDX-License-Identifier: MIT
"""Memory of PyTorch code over time, its peak, and who held it: the command `tpusight memory`."""
import contextlib
import dataclasses
import itertools
import os
from typing import Any, ContextManager, Dict, Iterator, List, Optional

from . import _forms
from ._answer import Answer, mb, ms, said, write_json
from ._program import TpusightError
from ._torch import capture, lacks, step, torch_module
from ._trace import TemporaryTrace, Trace, need_trace
from ._unknown import known


@dataclasses.dataclass(repr=False)
class MemoryReport(Answer):
    """Of one tracked block. device: the one with the largest peak, whose figures the others are. `answer` is what
    `tpusight memory --json` says (docs/analyses/capacity/memory_timeline.md)."""
    name: str = ""
    device: Optional[str] = None
    #: see MemoryProfiler.get_peak_analysis() and get_timeline()
    peak: Dict[str, Any] = dataclasses.field(default_factory=dict)
    timeline: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    #: who held the peak: bytes, peak_pct, count, op, outer_op, module, annotation, source, phase
    holders: List[Dict[str, Any]] = dataclasses.field(default_factory=list)


def _of_device(rows: List[Dict[str, Any]], device: Optional[str]) -> List[Dict[str, Any]]:
    return [row for row in rows if row["device"] == device]


_OF_DEVICE = ("max_reserved_bytes", "first_bytes", "peak_bytes", "steps", "rising_steps")


def _leaks(row: Dict[str, Any]) -> Optional[bool]:
    """Whether each step ended with more than the one before. Of less than three steps nothing can be said: None."""
    return row["rising_steps"] == row["steps"] - 1 if (row["steps"] or 0) >= 3 else None


def _peak(answer: Dict[str, Any], device: Optional[str]) -> Dict[str, Any]:
    rows = _of_device(answer["devices"], device) if device else []
    row = rows[0] if rows else dict.fromkeys(_OF_DEVICE)
    return {
        "device": device,
        "peak_allocated_mb": known(answer.get("peak_memory_mb")),
        "peak_time_ms": ms(answer.get("peak_time_ps")),
        "peak_step": answer.get("peak_step"),
        "peak_reserved_mb": mb(row["max_reserved_bytes"]),
        "initial_allocated_mb": mb(row["first_bytes"]),
        "peak_added_mb": mb(row["peak_bytes"]) - mb(row["first_bytes"]),
        "current_allocated_mb": known(answer.get("allocated_memory_mb")),
        "current_reserved_mb": known(answer.get("reserved_memory_mb")),
        "fragmentation_pct": known(answer.get("fragmentation_pct")),
        "steps": row["steps"],
        "rising_steps": row["rising_steps"],
        "potential_leak": _leaks(row),
    }


def _timeline(answer: Dict[str, Any], device: Optional[str], interval_ms: float) -> List[Dict[str, Any]]:
    """The levels of a device; of those within one interval the highest. What the program tells is one of 512 stretches,
    or a moment at which the level changed."""
    points: List[Dict[str, Any]] = [{"time_ms": ms(row["time_ps"]), "allocated_mb": mb(row["allocated_bytes"]),
               "reserved_mb": mb(row["reserved_bytes"])} for row in _of_device(answer.get("timeline", []), device)]
    if not interval_ms:
        return points
    intervals = itertools.groupby(points[:-1], key=lambda point: point["time_ms"] // interval_ms)
    return [max(group, key=lambda point: point["allocated_mb"]) for _, group in intervals] + points[-1:]


def _report(name: str, trace: Trace, interval_ms: float) -> MemoryReport:
    answer = trace.ask("memory")
    device = answer.get("device") if answer.get("devices") else None
    return MemoryReport(
        name=name, device=device, peak=_peak(answer, device), timeline=_timeline(answer, device, interval_ms),
        holders=_of_device(answer.get("holders", []), device), **said(answer, trace))


class MemoryProfiler:
    """Follows every block that torch's allocators give out while track() is at work.

    sample_interval_ms: points of the timeline are no closer, the highest of each interval; 0: as the program has them.
    record_history: Python's stacks too, so that holders have module and line of source; they cost time.
    """

    def __init__(self, sample_interval_ms: float = 1.0, record_history: bool = True) -> None:
        self.sample_interval_ms = sample_interval_ms
        self.record_history = record_history
        self._reports: Dict[str, MemoryReport] = {}
        self._steps: Optional[Iterator[int]] = None
        self._marks: Optional[Iterator[int]] = None

    @contextlib.contextmanager
    def track(self, name: str = "memory") -> "Iterator[MemoryProfiler]":
        """`with memory.track(NAME):` follows the block. A second block of that name takes the first one's place.
        Raises TpusightError without torch, or while another profiler is at work."""
        trace = TemporaryTrace()
        with capture(trace.path, name, stack=self.record_history, memory=True):
            self._steps, self._marks = itertools.count(), itertools.count()
            try:
                yield self
            finally:
                self._steps = self._marks = None
        report = self._keep(name, trace)
        report.notes = [*report.notes, *lacks(torch_module())]

    def from_chrome_trace(self, path: Any, name: Optional[str] = None) -> MemoryReport:
        """MemoryReport of a trace file taken with profile_memory=True, which is then the last block tracked. Raises
        TpusightError when it cannot be read."""
        return self._keep(name or os.path.basename(os.fspath(path)), Trace(path))

    def _keep(self, name: str, trace: Trace) -> MemoryReport:
        self._reports.pop(name, None)  # the last one stands at the end
        self._reports[name] = _report(name, trace, self.sample_interval_ms)
        return self._reports[name]

    def _next(self, counter: Optional[Iterator[int]]) -> int:
        if counter is None:
            raise TpusightError("nothing is tracked: put `with memory.track(NAME):` around the code")
        return next(counter)

    def step(self) -> ContextManager[Any]:
        """`with memory.step():` inside track() marks a step: what stays from step to step is then known as a leak."""
        return step(torch_module(), self._next(self._steps))

    def sample(self, label: str = "sample") -> None:
        """Marks this moment inside track() in the trace, under LABEL. Every allocation is in the trace in any case:
        the timeline needs no samples."""
        with torch_module().profiler.record_function(f"{label} {self._next(self._marks)}"):
            pass

    def report(self, name: Optional[str] = None) -> Optional[MemoryReport]:
        """MemoryReport of the block NAME (default: the last one); None when there is no such block."""
        wanted = name if name is not None else next(reversed(list(self._reports)), None)
        return None if wanted is None else self._reports.get(wanted)

    def get_timeline(self, name: Optional[str] = None) -> List[Dict[str, Any]]:
        """Points {time_ms since the block began, allocated_mb, reserved_mb} of a block; [] when nothing was tracked."""
        report = self.report(name)
        return report.timeline if report else []

    def get_peak_analysis(self, name: Optional[str] = None) -> Dict[str, Any]:
        """Of a block: device, peak_allocated_mb, peak_time_ms, peak_step, peak_reserved_mb (the most), levels before
        the first allocation and at the end (initial_, current_allocated_mb, current_reserved_mb), peak_added_mb (the
        peak less the initial level; torch's counter of a CPU goes on over all profiles of a process),
        fragmentation_pct, steps and how many of them ended with more than the one before (rising_steps);
        potential_leak: all did (None: there are fewer than three). {} when nothing was tracked; where the trace has no
        memory, the figures are UNKNOWN."""
        report = self.report(name)
        return report.peak if report else {}

    def reset(self) -> None:
        """Forgets what was tracked."""
        self._reports.clear()

    def export(self, path: Any, format: str = "json", name: Optional[str] = None) -> Any:
        """Writes a block's report to PATH: json (with all that the program said as `answer`), html (the page), text or
        csv (the timeline). Returns PATH."""
        _forms.need(format)
        report = self.report(name)
        if report is None:
            raise TpusightError("nothing was tracked, so there is nothing to export")
        if format == "json":
            write_json(path, {**report.to_dict(), "answer": report.answer}, report._trace)
        elif format == "csv":
            need_trace(report._trace, "a report in csv").write("report", "csv", path, "--view=memory_timeline.timeline")
        else:
            need_trace(report._trace, f"a report in {format}").write("memory", format, path)
        return path
