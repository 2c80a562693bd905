# SPDX-License-Identifier: MIT
"""When the host and its devices worked, alone and at once: the command `tpusight timeline`."""
import dataclasses
from typing import Any, Dict, List

from ._answer import Answer, said, us
from ._trace import Trace, need_trace, of_profiler
from ._unknown import UNKNOWN


@dataclasses.dataclass(repr=False)
class TimelineData(Answer):
    """Times in microseconds; those of GPUs are UNKNOWN where there is no GPU. Active times of several ranks are means.
    `answer` is what `tpusight timeline --json` says (docs/analyses/gpu/timeline.md)."""
    total_time_us: float = UNKNOWN
    cpu_active_time_us: float = UNKNOWN
    gpu_active_time_us: float = UNKNOWN
    overlap_time_us: float = UNKNOWN
    #: of threads and of streams, each thread and stream by itself, summed
    cpu_time_us: float = UNKNOWN
    cuda_time_us: float = UNKNOWN
    #: streams of GPUs: rank, device, stream, events, busy_us
    streams: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    #: rank, step, start_us, duration_us and the time of each class in us, which sum to it
    steps: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    _options: List[str] = dataclasses.field(default_factory=list, repr=False, compare=False)


_TIMES = {"total_time_us": "total_time_ps", "cpu_active_time_us": "cpu_active_ps",
          "gpu_active_time_us": "gpu_active_ps", "overlap_time_us": "overlap_ps",
          "cpu_time_us": "cpu_time_ps", "cuda_time_us": "cuda_time_ps"}


def _in_us(row: Dict[str, Any]) -> Dict[str, Any]:
    """A row with its picoseconds in microseconds, and names that say so."""
    return {name[:-3] + "_us" if name.endswith("_ps") else name: us(value) if name.endswith("_ps") else value
            for name, value in row.items()}


def _data(trace: Trace, options: List[str], drawing: List[str]) -> TimelineData:
    answer = trace.ask("timeline", *options)
    times: Dict[str, Any] = {field: us(answer.get(name)) for field, name in _TIMES.items()}
    rows: Dict[str, Any] = {name: [_in_us(row) for row in answer.get(name, [])] for name in ("streams", "steps")}
    return TimelineData(**times, **rows, **said(answer, trace), _options=[*options, *drawing])


class TimelineGenerator:
    """min_duration_us: shorter events are not drawn (figures count all); include_python_events: frames of Python's
    tracer (with_stack=True) count as activity of the CPU, and are drawn."""

    def __init__(self, min_duration_us: float = 1.0, include_python_events: bool = True) -> None:
        self.min_duration_us = min_duration_us
        self.include_python_events = include_python_events

    def _timeline(self, trace: Trace) -> TimelineData:
        return _data(trace, [] if self.include_python_events else ["--no-python"],
                     [f"--min-duration-us={self.min_duration_us}"])

    def from_profiler(self, prof: Any) -> TimelineData:
        """TimelineData of a profiler of torch that has ended."""
        return self._timeline(of_profiler(prof))

    def from_chrome_trace(self, path: Any) -> TimelineData:
        """TimelineData of a trace file. Raises TpusightError when it cannot be read."""
        return self._timeline(Trace(path))

    def export_chrome_trace(self, timeline: TimelineData, path: Any) -> Any:
        """Writes the events and our rows as a Chrome trace for ui.perfetto.dev; packed when PATH ends in .gz.
        Returns PATH."""
        need_trace(timeline._trace, "a Chrome trace").write("timeline", "chrome", path, *timeline._options)
        return path

    def generate_html_viewer(self, timeline: TimelineData, path: Any) -> Any:
        """Writes the page, one file that needs no network. Returns PATH."""
        need_trace(timeline._trace, "the page").write("timeline", "html", path, *timeline._options)
        return path
