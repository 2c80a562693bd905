# SPDX-License-Identifier: Apache-2.0
"""Memory of PyTorch code over time, its peak, and who held it: the command `tpusight memory`."""
import contextlib
import dataclasses
import itertools
import os
from typing import Dict, List, Optional

from . import _forms
from ._answer import Answer, mb, ms, said, write_json
from ._program import TpusightError
from ._torch import capture, step, torch_module
from ._trace import TemporaryTrace, Trace


@dataclasses.dataclass
class MemoryReport(Answer):
    """Of one tracked block. device: the one with the largest peak, whose figures the others are. `answer` is what
    `tpusight memory --json` says (docs/analyses/capacity/memory_timeline.md)."""
    name: str = ""
    device: Optional[str] = None
    #: see MemoryProfiler.get_peak_analysis() and get_timeline()
    peak: Dict[str, object] = dataclasses.field(default_factory=dict)
    timeline: List[dict] = dataclasses.field(default_factory=list)
    #: who held the peak: bytes, peak_pct, count, op, outer_op, module, annotation, source, phase
    holders: List[dict] = dataclasses.field(default_factory=list)


def _of_device(rows, device):
    return [row for row in rows if row["device"] == device]


def _leaks(row):
    """Whether each step ended with more than the one before. Of less than three steps nothing can be said: None."""
    return row["rising_steps"] == row["steps"] - 1 if (row["steps"] or 0) >= 3 else None


def _peak(answer, device):
    if device is None:
        return {}
    row = _of_device(answer["devices"], device)[0]
    return {
        "device": device,
        "peak_allocated_mb": answer["peak_memory_mb"],
        "peak_time_ms": ms(answer["peak_time_ps"]),
        "peak_step": answer["peak_step"],
        "peak_reserved_mb": mb(row["max_reserved_bytes"]),
        "initial_allocated_mb": mb(row["first_bytes"]),
        "peak_added_mb": mb(row["peak_bytes"] - row["first_bytes"]),
        "current_allocated_mb": answer["allocated_memory_mb"],
        "current_reserved_mb": answer["reserved_memory_mb"],
        "fragmentation_pct": answer["fragmentation_pct"],
        "steps": row["steps"],
        "rising_steps": row["rising_steps"],
        "potential_leak": _leaks(row),
    }


def _timeline(answer, device, interval_ms):
    """The levels of a device; of those within one interval the highest. What the program tells is one of 512 stretches,
    or a moment at which the level changed."""
    points = [{"time_ms": ms(row["time_ps"]), "allocated_mb": mb(row["allocated_bytes"]),
               "reserved_mb": mb(row["reserved_bytes"])} for row in _of_device(answer.get("timeline", []), device)]
    if not interval_ms:
        return points
    intervals = itertools.groupby(points[:-1], key=lambda point: point["time_ms"] // interval_ms)
    return [max(group, key=lambda point: point["allocated_mb"]) for _, group in intervals] + points[-1:]


def _report(name, trace, interval_ms):
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

    def __init__(self, sample_interval_ms=1.0, record_history=True):
        self.sample_interval_ms = sample_interval_ms
        self.record_history = record_history
        self._reports = {}
        self._steps = self._marks = None

    @contextlib.contextmanager
    def track(self, name="memory"):
        """`with memory.track(NAME):` follows the block. A second block of that name takes the first one's place.
        Raises TpusightError without torch, or while another profiler is at work."""
        trace = TemporaryTrace()
        with capture(trace.path, name, stack=self.record_history, memory=True):
            self._steps, self._marks = itertools.count(), itertools.count()
            try:
                yield self
            finally:
                self._steps = self._marks = None
        self._keep(name, trace)

    def from_chrome_trace(self, path, name=None):
        """MemoryReport of a trace file taken with profile_memory=True, which is then the last block tracked. Raises
        TpusightError when it cannot be read."""
        return self._keep(name or os.path.basename(os.fspath(path)), Trace(path))

    def _keep(self, name, trace):
        self._reports.pop(name, None)  # the last one stands at the end
        self._reports[name] = _report(name, trace, self.sample_interval_ms)
        return self._reports[name]

    def _next(self, counter):
        if counter is None:
            raise TpusightError("nothing is tracked: put `with memory.track(NAME):` around the code")
        return next(counter)

    def step(self):
        """`with memory.step():` inside track() marks a step: what stays from step to step is then known as a leak."""
        return step(torch_module(), self._next(self._steps))

    def sample(self, label="sample"):
        """Marks this moment inside track() in the trace, under LABEL. Every allocation is in the trace in any case:
        the timeline needs no samples."""
        with torch_module().profiler.record_function(f"{label} {self._next(self._marks)}"):
            pass

    def report(self, name=None):
        """MemoryReport of the block NAME (default: the last one); None when there is no such block."""
        return self._reports.get(name if name is not None else next(reversed(list(self._reports)), None))

    def get_timeline(self, name=None):
        """Points {time_ms since the block began, allocated_mb, reserved_mb} of a block; [] when nothing was tracked."""
        report = self.report(name)
        return report.timeline if report else []

    def get_peak_analysis(self, name=None):
        """Of a block: device, peak_allocated_mb, peak_time_ms, peak_step, peak_reserved_mb (the most), levels before
        the first allocation and at the end (initial_, current_allocated_mb, current_reserved_mb), peak_added_mb (the
        peak less the initial level; torch's counter of a CPU goes on over all profiles of a process),
        fragmentation_pct, steps and how many of them ended with more than the one before (rising_steps);
        potential_leak: all did (None: there are fewer than three). {} when nothing was tracked, or nothing was
        allocated."""
        report = self.report(name)
        return report.peak if report else {}

    def reset(self):
        """Forgets what was tracked."""
        self._reports.clear()

    def export(self, path, format="json", name=None):
        """Writes a block's report to PATH: json (with all that the program said as `answer`), html (the page), text or
        csv (the timeline). Returns PATH."""
        _forms.need(format)
        report = self.report(name)
        if report is None:
            raise TpusightError("nothing was tracked, so there is nothing to export")
        if format == "json":
            write_json(path, {**report.to_dict(), "answer": report.answer}, report._trace)
        elif format == "csv":
            report._trace.write("report", "csv", path, "--view=memory_timeline.timeline")
        else:
            report._trace.write("memory", format, path)
        return path
