# SPDX-License-Identifier: MIT
"""Profiles of PyTorch code, with their times, kernels, memory, flame graph and advice in one object."""
import contextlib
import dataclasses
import os
import re
import time
from typing import Any, Callable, Dict, Iterator, List, Optional

from ._answer import Answer, Plain, ms, said, us
from ._program import TpusightError, ask
from ._torch import capture, lacks, step, torch_module
from ._trace import TemporaryTrace, Trace, need_trace, of_profiler
from ._unknown import UNKNOWN, known
from .flame_graph import FlameGraphGenerator


@dataclasses.dataclass
class KernelInfo(Plain):
    """A kernel of a GPU: all its executions. Times in microseconds."""
    name: str
    cuda_time_us: float = UNKNOWN
    call_count: Optional[int] = None
    mean_us: float = UNKNOWN
    min_us: float = UNKNOWN
    max_us: float = UNKNOWN
    share_pct: float = UNKNOWN
    kernel_type: Optional[str] = None
    op: Optional[str] = None  # the operator that launched most of it


@dataclasses.dataclass
class OperatorInfo(Plain):
    """An operator of torch (aten::mm), or a call of the runtime: all its calls, as key_averages() has them. Times in
    microseconds; self: without what is inside. cuda: of the kernels that it launched; UNKNOWN without a GPU."""
    name: str
    call_count: int = 0
    cpu_time_us: float = UNKNOWN
    self_cpu_time_us: float = UNKNOWN
    cuda_time_us: float = UNKNOWN
    self_cuda_time_us: float = UNKNOWN
    flops: float = UNKNOWN  # of products, convolutions and attention in a trace with shapes
    flops_per_s: float = UNKNOWN
    category: Optional[str] = None  # what it is for: GEMM, Attention, Elementwise ...
    dtype: Optional[str] = None  # of what is multiplied: bf16; these four: unknown where the trace has no shapes
    bytes: float = UNKNOWN  # of the arrays that go in and come out, each once
    bound_by: Optional[str] = None  # Compute or HBM
    roofline_efficiency_pct: float = UNKNOWN


@dataclasses.dataclass(repr=False)
class ProfileSession(Answer):
    """One profile. UNKNOWN are cuda_time_ms without a GPU, reserved memory of a CPU, what was not asked for."""
    name: str = ""
    #: from the first event to the last; of threads and of streams, each by itself, summed
    total_time_ms: float = UNKNOWN
    cuda_time_ms: float = UNKNOWN
    cpu_time_ms: float = UNKNOWN
    #: of the device with the largest peak (memory_device): its peak, and what was held at the end
    peak_memory_mb: float = UNKNOWN
    allocated_memory_mb: float = UNKNOWN
    reserved_memory_mb: float = UNKNOWN
    memory_device: Optional[str] = None
    #: of each step (iteration of profile_function(), ProfilerStep), to the end of its last kernel
    step_times_ms: List[float] = dataclasses.field(default_factory=list)
    kernels: List[KernelInfo] = dataclasses.field(default_factory=list)
    operators: List[OperatorInfo] = dataclasses.field(default_factory=list)
    #: the trace, *.pt.trace.json.gz; None: it was not kept
    trace_path: Optional[str] = None
    #: as FlameGraphGenerator makes it
    flame_graph_data: Optional[Dict[str, Any]] = dataclasses.field(default=None, repr=False)

    def _repr_html_(self) -> str:
        shown = dataclasses.replace(self, flame_graph_data=None)
        return super(ProfileSession, shown)._repr_html_()


def _kernel(row: Dict[str, Any]) -> KernelInfo:
    return KernelInfo(name=row["name"], cuda_time_us=us(row["total_ps"]), call_count=row["count"],
                      mean_us=us(row["mean_ps"]), min_us=us(row["min_ps"]), max_us=us(row["max_ps"]),
                      share_pct=row["share_pct"], kernel_type=row["kernel_type"], op=row["op"])


_ROOF = ("category", "dtype", "bytes", "bound_by", "roofline_efficiency_pct")


def _operator(row: Dict[str, Any]) -> OperatorInfo:
    roof: Dict[str, Any] = {name: row.get(name) for name in _ROOF}
    return OperatorInfo(name=row["name"], call_count=row["calls"], cpu_time_us=us(row["cpu_ps"]),
                        self_cpu_time_us=us(row["self_cpu_ps"]), cuda_time_us=us(row["gpu_ps"]),
                        self_cuda_time_us=us(row["self_gpu_ps"]), flops=row["flops"], flops_per_s=row["flops_per_s"],
                        **roof)


def _operators(trace: Trace) -> List[OperatorInfo]:
    """Those of a trace of torch; of other traces the program has not this view."""
    try:
        answer = trace.ask("report", "--view=operators")
    except TpusightError:
        return []
    return [_operator(row) for row in answer["operators"].get("by_name", [])]


_TIMES = ("total_time_ms", "cuda_time_ms", "cpu_time_ms")
_MEMORY = ("peak_memory_mb", "allocated_memory_mb", "reserved_memory_mb")


def _times(answer: Dict[str, Any]) -> Dict[str, Any]:
    """Fields of a session, of what `tpusight timeline` said."""
    return {"step_times_ms": [ms(row["duration_ps"]) for row in answer.get("steps", [])
                              if row["counted"] and row["step"] is not None],
            **{name: answer.get(name) for name in _TIMES}}


def _memory(answer: Dict[str, Any]) -> Dict[str, Any]:
    """Fields of a session, of what `tpusight memory` said."""
    return {"memory_device": answer.get("device"), **{name: answer.get(name) for name in _MEMORY}}


def _change(row: Dict[str, Any]) -> Dict[str, Any]:
    """What an op takes less in the second run, in us a step (without steps: in all); of new and gone ones all of it."""
    before, after = us(row["run_0_ps"]), us(row["run_1_ps"])
    return {"name": row["name"], "state": row["run_1_state"], "baseline_us": before, "other_us": after,
            "diff_us": (before or 0) - (after or 0), "baseline_count": row["run_0_executions"],
            "other_count": row["run_1_executions"]}


class UnifiedProfiler:
    """Profiles blocks and functions with torch.profiler.

    output_dir: where traces go. enable_trace: keep them. enable_memory: memory too (profile_memory=True).
    enable_flame_graph: flame_graph_data. warmup_iterations, profile_iterations: what profile_function() does when it
    gets no numbers. with_stack: Python's frames in trace and flame graph; record_shapes: the shapes of operators' inputs, so that their
    FLOPs and bytes are known. Both cost time, which is then in every figure.
    """

    def __init__(self, output_dir: Any = "profiles", enable_trace: bool = True, enable_memory: bool = True,
                 enable_flame_graph: bool = True, warmup_iterations: int = 3, profile_iterations: int = 10,
                 with_stack: bool = False, record_shapes: bool = False) -> None:
        self.output_dir = output_dir
        self.enable_trace = enable_trace
        self.enable_memory = enable_memory
        self.enable_flame_graph = enable_flame_graph
        self.warmup_iterations = warmup_iterations
        self.profile_iterations = profile_iterations
        self.with_stack = with_stack
        self.record_shapes = record_shapes

    def _new_trace(self, name: str) -> Trace:
        """NAME_PID.NANOSECONDS.pt.trace.json.gz, as torch's own handler names them."""
        safe = re.sub(r"[^\w.-]+", "_", name).strip("._")[:100] or "profile"
        file = f"{safe}_{os.getpid()}.{time.time_ns()}.pt.trace.json.gz"
        if not self.enable_trace:
            return TemporaryTrace(file)
        os.makedirs(self.output_dir, exist_ok=True)
        return Trace(os.path.join(os.fspath(self.output_dir), file))

    def _fill(self, session: ProfileSession, trace: Trace) -> ProfileSession:
        """Asks the program for what a session has of a trace."""
        answer = trace.ask("timeline")
        fields = {**said(answer, trace), **_times(answer)}
        fields["trace_path"] = None if isinstance(trace, TemporaryTrace) else trace.path
        if self.enable_memory:
            fields.update(_memory(trace.ask("memory")))
        for name, value in fields.items():
            setattr(session, name, value)
        if session.cuda_time_ms is not UNKNOWN:
            session.kernels = [_kernel(row) for row in trace.ask("kernels").get("kernels", [])]
        session.operators = _operators(trace)
        if self.enable_flame_graph:
            session.flame_graph_data = FlameGraphGenerator().of_trace(trace)
        return session

    @contextlib.contextmanager
    def profile(self, name: str = "profile") -> Iterator[ProfileSession]:
        """`with profiler.profile(NAME) as session:` profiles the block; the session is filled when it ends. Kernels
        that the block launched are waited for. Raises TpusightError without torch, or while another profiler is at
        work."""
        torch = torch_module()
        session, trace = ProfileSession(name=name), self._new_trace(name)
        with capture(trace.path, name, stack=self.with_stack, memory=self.enable_memory, shapes=self.record_shapes):
            yield session
        self._fill(session, trace)
        session.notes = [*session.notes, *lacks(torch)]

    def from_chrome_trace(self, path: Any, name: Optional[str] = None) -> ProfileSession:
        """ProfileSession of a trace file that is there already. Raises TpusightError when it cannot be read."""
        return self._fill(ProfileSession(name=name or os.path.basename(os.fspath(path))), Trace(path))

    def from_profiler(self, prof: Any, name: Optional[str] = None) -> ProfileSession:
        """ProfileSession of a profiler of torch that has ended; its own export_chrome_trace() still works. Raises TpusightError when torch
        does not give its trace."""
        return self._fill(ProfileSession(name=name or "profile"), of_profiler(prof))

    def profile_function(self, function: Callable[..., Any], *args: Any, name: Optional[str] = None, warmup: Optional[int] = None,
                         iterations: Optional[int] = None, **kwargs: Any) -> ProfileSession:
        """ProfileSession of calls of FUNCTION(*args, **kwargs): WARMUP ones before the profile, ITERATIONS in it, each
        marked as a step. Times and memory are those of all iterations together; step_times_ms has each."""
        warmup = self.warmup_iterations if warmup is None else warmup
        iterations = self.profile_iterations if iterations is None else iterations
        if iterations < 1:
            raise ValueError(f"iterations is {iterations}; at least 1 is needed")
        torch = torch_module()
        for _ in range(warmup):
            function(*args, **kwargs)
        with self.profile(name or str(getattr(function, "__name__", type(function).__name__))) as session:
            for number in range(iterations):
                with step(torch, number):
                    function(*args, **kwargs)
        return session

    def compare_sessions(self, baseline: ProfileSession, other: ProfileSession) -> Dict[str, Any]:
        """What OTHER saves against BASELINE, a dict; positive differences are time or memory saved; what is not known is UNKNOWN.

        speedup: of the median step, without steps of the whole (basis: "step", "wall", "total"), with p_value, verdict
        and comparable ("no", "with care": notes say why) as `tpusight compare` and `tpusight compile` have them.
        timing_diff: total_ms, cuda_ms, cpu_ms, step_ms (of the median step). memory_diff: peak_mb, allocated_mb,
        reserved_mb. kernel_changes: a GPU's kernels, the largest change first: name, state (new, gone, slower, faster,
        same), diff_us a step. operator_changes: torch's operators, likewise by their own time on GPUs (on hosts where a
        session has no GPU), baseline_us and other_us a step.
        """
        paths = [need_trace(session._trace, "a comparison").path for session in (baseline, other)]
        found = ask("compare", "--format=json", "--", *paths)["compare"]
        modes = ask("compile", "--json", "--label=baseline", "--label=other", "--", *paths)["modes"]
        changes = [_change(row) for row in found["ops"]]
        stepped = bool(baseline.step_times_ms and other.step_times_ms)
        return {
            **_speedup(found, modes[1], stepped),
            "comparable": found["comparable"],
            "timing_diff": {
                "total_ms": baseline.total_time_ms - other.total_time_ms,
                "cuda_ms": baseline.cuda_time_ms - other.cuda_time_ms,
                "cpu_ms": baseline.cpu_time_ms - other.cpu_time_ms,
                "step_ms": known(modes[0]["step_time_ms"]) - known(modes[1]["step_time_ms"]) if stepped else UNKNOWN,
            },
            "memory_diff": {
                "peak_mb": baseline.peak_memory_mb - other.peak_memory_mb,
                "allocated_mb": baseline.allocated_memory_mb - other.allocated_memory_mb,
                "reserved_mb": baseline.reserved_memory_mb - other.reserved_memory_mb,
            },
            "kernel_changes": sorted(changes, key=lambda change: -abs(change["diff_us"])),
            "operator_changes": [_operator_change(row) for row in found.get("operators", [])],
            "notes": found["notes"],
        }


def _operator_change(row: Dict[str, Any]) -> Dict[str, Any]:
    """As _change(), of an operator's own time: on GPUs, on hosts where a session has no GPU."""
    on = "cpu" if row["run_1_change_self_gpu_ps"] is None else "gpu"
    before, after = us(row[f"run_0_self_{on}_ps"]), us(row[f"run_1_self_{on}_ps"])
    return {"name": row["name"], "state": row["run_1_state"], "baseline_us": before, "other_us": after,
            "diff_us": (before or 0) - (after or 0), "baseline_count": row["run_0_calls"],
            "other_count": row["run_1_calls"]}


def _speedup(found: Dict[str, Any], mode: Dict[str, Any], stepped: bool) -> Dict[str, Any]:
    """Devices' steps, or time, by `tpusight compare`; without a device the host's steps; without those the whole."""
    run = found["runs"][1]
    if run["speed_up"] is not None:
        speedup, basis, p_value = run["speed_up"], found["basis"], run["p_value"]
    else:  # in `tpusight compile` a run without steps is one step
        speedup, basis, p_value = mode["speedup"], "step" if stepped else "total", mode["p_value"]
    return {"speedup": known(speedup), "basis": basis, "p_value": known(p_value), "verdict": run["verdict"]}
