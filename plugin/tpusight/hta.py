# SPDX-License-Identifier: MIT
"""What GPUs did and waited for, with the figures of HolisticTraceAnalysis: the command `tpusight hta`."""
import dataclasses
import os
from typing import Any, Dict, List, Optional

from . import _forms
from ._answer import Answer, said, us, write_json
from ._trace import Trace, need_trace, of_profiler
from ._unknown import UNKNOWN


@dataclasses.dataclass(repr=False)
class HTAReport(Answer):
    """Shares of the time from the first kernel to the last, in percent, exact. UNKNOWN: no GPU ran a kernel. In `answer`
    are also idle time by cause, launches, queues, collectives, ranks (docs/analyses/gpu/hta.md)."""
    #: the share of the whole capture in which nothing runs on a GPU
    gpu_idle_pct: float = UNKNOWN
    gpu_idle_time_pct: float = UNKNOWN
    compute_time_pct: float = UNKNOWN
    non_compute_time_pct: float = UNKNOWN
    communication_time_pct: float = UNKNOWN
    memory_time_pct: float = UNKNOWN
    comm_comp_overlap_pct: float = UNKNOWN
    kernel_count: Optional[int] = None
    #: by time: name, kernel_type, count, time_us, mean_us, min_us, max_us, stddev_us, pct
    top_kernels: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    #: what HTA 0.5 says, which rounds times to whole us: its names, and None where its figures cannot be made
    hta_0_5: Dict[str, Any] = dataclasses.field(default_factory=dict)


def _kernel(row: Dict[str, Any]) -> Dict[str, Any]:
    return {"name": row["name"], "kernel_type": row["kernel_type"], "count": row["count"], "time_us": us(row["sum_ps"]),
            "mean_us": us(row["mean_ps"]), "min_us": us(row["min_ps"]), "max_us": us(row["max_ps"]),
            "stddev_us": us(row["stddev_ps"]), "pct": row["share_pct"]}


_SAME = ("gpu_idle_pct", "gpu_idle_time_pct", "compute_time_pct", "non_compute_time_pct", "communication_time_pct", "memory_time_pct",
         "comm_comp_overlap_pct", "kernel_count")


def _report(trace: Trace) -> HTAReport:
    answer = trace.ask("hta")
    return HTAReport(top_kernels=[_kernel(row) for row in answer.get("top_kernels", [])], hta_0_5=answer.get("hta_0_5", {}),
                     **said(answer, trace), **{name: answer.get(name) for name in _SAME})


class HTAAnalyzer:
    """Figures of HTA of a trace of PyTorch's profiler, or of a folder with those of all ranks.

    output_dir: where export_report() writes when it is given no path; None: the working folder.
    """

    def __init__(self, output_dir: Any = None) -> None:
        self.output_dir = output_dir

    def analyze_trace(self, path: Any) -> HTAReport:
        """HTAReport of a trace file or folder. Raises TpusightError when it cannot be read."""
        return _report(Trace(path))

    def from_profiler(self, prof: Any) -> HTAReport:
        """HTAReport of a profiler of torch that has ended."""
        return _report(of_profiler(prof))

    def export_report(self, report: HTAReport, path: Any = None, format: str = "html") -> Any:
        """Writes a report to PATH (default: hta_report.FORMAT in output_dir): html (the page), json, text or csv.
        Returns PATH."""
        _forms.need(format)
        if path is None:
            os.makedirs(self.output_dir or ".", exist_ok=True)
            path = os.path.join(self.output_dir or ".", f"hta_report.{format}")
        if report._trace is None and format == "json":  # made by hand
            write_json(path, report)
        else:
            need_trace(report._trace, f"a report in {format}").write("hta", format, path)
        return path
