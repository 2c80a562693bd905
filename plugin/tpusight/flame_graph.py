# SPDX-License-Identifier: MIT
"""Flame graphs of traces, CPU and device time by call stack, module or scope: the command `tpusight flame`."""
from typing import Any, Dict, List, Optional

from . import _forms, _notebook
from ._answer import write_json
from ._trace import Trace, need_trace, of_profiler


class FlameGraph(Dict[str, Any]):
    """The tree as d3-flame-graph reads it: name, value, children, with self, count, cpu_ps and device_ps of each, in
    picoseconds; beside them what `tpusight flame --json` says of all: kind, weight, cpu_time_ms, cuda_time_ms."""

    def __init__(self, answer: Dict[str, Any], trace: Trace, options: List[str]) -> None:
        super().__init__(answer)
        self._trace, self._options = trace, options

    def to_dict(self) -> Dict[str, Any]:
        """A plain dict of it."""
        return dict(self)

    def _repr_html_(self) -> str:
        return _notebook.frame(self._trace.text("flame", "html", *self._options), 600)


class FlameGraphGenerator:
    """min_duration_us: frames that take less in all count as their parent's; max_depth: deeper ones likewise (0: no
    limit); group_small_kernels: kernels below min_duration_us each are one frame below each parent. kind: stacks,
    modules or scopes; weight: cpu, device or count; None: as the program chooses."""

    def __init__(self, min_duration_us: float = 10.0, max_depth: Optional[int] = 50, group_small_kernels: bool = True,
                 kind: Optional[str] = None, weight: Optional[str] = None) -> None:
        self.min_duration_us = min_duration_us
        self.max_depth = max_depth
        self.group_small_kernels = group_small_kernels
        self.kind = kind
        self.weight = weight

    def _options(self) -> List[str]:
        options = [f"--min-duration-us={self.min_duration_us}", f"--max-depth={self.max_depth or 0}"]
        options += ["--group-small-kernels"] if self.group_small_kernels else []
        options += [f"--kind={self.kind}"] if self.kind else []
        return options + ([f"--weight={self.weight}"] if self.weight else [])

    def of_trace(self, trace: Trace) -> FlameGraph:
        """FlameGraph of a Trace."""
        options = self._options()
        return FlameGraph(trace.ask("flame", *options), trace, options)

    def from_profiler(self, prof: Any) -> FlameGraph:
        """FlameGraph of a profiler of torch that has ended. with_stack=True gives it Python's frames and modules."""
        return self.of_trace(of_profiler(prof))

    def from_chrome_trace(self, path: Any) -> FlameGraph:
        """FlameGraph of a trace file. Raises TpusightError when it cannot be read."""
        return self.of_trace(Trace(path))

    def export(self, data: Dict[str, Any], path: Any, format: str = "html") -> Any:
        """Writes a FlameGraph to PATH: html (interactive), json, folded (flamegraph.pl), speedscope, text or csv;
        of any other dict json alone. Cuts are those that it was made with. Returns PATH."""
        _forms.need(format, _forms.FLAME)
        if format == "json":
            write_json(path, data, getattr(data, "_trace", None))
        else:
            trace = need_trace(getattr(data, "_trace", None), f"a flame graph in {format}")
            trace.write("flame", format, path, *getattr(data, "_options", ()))
        return path
