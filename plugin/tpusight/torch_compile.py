# SPDX-License-Identifier: MIT
"""What torch.compile makes of a model: speed-up, compile time, graph breaks, fusion; the command `tpusight compile`."""
import contextlib
import dataclasses
import html
import logging
import math
import os
import time
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _forms
from ._answer import Answer, Plain, said, write_json
from ._program import TpusightError, ask
from ._temporary import temporary_folder
from ._torch import capture, step, synchronize, torch_module
from ._trace import Trace, need_trace
from ._unknown import UNKNOWN

_EAGER = "eager"
_MODES = ("default", "reduce-overhead", "max-autotune")
_Call = Tuple[Any, Dict[str, Any]]  # args and kwargs


@dataclasses.dataclass
class CompileBreak(Plain):
    """A place at which the graph breaks."""
    reason: Optional[str] = None
    suggestion: Optional[str] = None
    location: Optional[str] = None  # file:line
    function: Optional[str] = None
    explanation: Optional[str] = None
    stack: Optional[str] = None  # the user's frames
    compilations: Optional[int] = None  # that met it


@dataclasses.dataclass(repr=False)
class CompileReport(Answer):
    """A model compiled in one mode, against itself in eager mode. Unknown figures are UNKNOWN, other things None. `answer` is
    what `tpusight compile --json` says of the compiled run (docs/analyses/compile/compile.md)."""
    mode: str = ""
    backend: str = ""
    #: of the median iteration, eager and compiled calls in turns; 95 % sure: from speedup_low to speedup_high
    speedup: float = UNKNOWN
    speedup_low: float = UNKNOWN
    speedup_high: float = UNKNOWN
    #: turns that the two took: each counts once. p_value: how likely chance alone would make this difference
    turns: Optional[int] = None
    p_value: float = UNKNOWN
    #: False: 95 % sure that the two differ
    may_be_chance: Optional[bool] = None
    eager_time_ms: float = UNKNOWN
    compiled_time_ms: float = UNKNOWN
    compile_time_ms: float = UNKNOWN
    pays_after_steps: Optional[int] = None
    total_graph_breaks: Optional[int] = None
    graph_breaks: List[CompileBreak] = dataclasses.field(default_factory=list)
    recompilations: Optional[int] = None
    ops_before_fusion: Optional[int] = None
    ops_after_fusion: Optional[int] = None
    fusion_ratio: float = UNKNOWN
    _owner: object = dataclasses.field(default=None, repr=False, compare=False)


class _Runs:
    """Traces of one model, a folder a mode, the compiler's log beside the trace. The folders go with it."""

    def __init__(self) -> None:
        self.folder = temporary_folder(self)

    def of(self, mode: str) -> str:
        """The folder of a mode."""
        path = os.path.join(self.folder, mode)
        os.makedirs(path, exist_ok=True)
        return path


@contextlib.contextmanager
def log_into(torch: Any, folder: str) -> Iterator[None]:
    """PyTorch's structured log (what TORCH_TRACE=FOLDER writes) into FOLDER. Where this torch does not have the log,
    nothing is written, and reasons are unknown."""
    internal: Any = getattr(getattr(torch, "_logging", None), "_internal", None)
    try:
        handler = internal.LazyTraceHandler(folder)
        handler.setFormatter(internal.TorchLogsFormatter(trace=True))
    except (AttributeError, TypeError):
        yield
        return
    log = logging.getLogger("torch.__trace")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        handler.close()


def _inductor() -> ContextManager[Any]:
    """As if the model was compiled for the first time, and with kernels of a CPU in the trace; a context manager."""
    try:
        from torch._inductor import config
    except ImportError:
        return contextlib.nullcontext()
    wanted = {"force_disable_caches": True} if hasattr(config, "force_disable_caches") else {}
    if hasattr(config.cpp, "enable_kernel_profile"):
        wanted["cpp.enable_kernel_profile"] = True
    return config.patch(wanted)


def _arguments(sample_input: Any) -> _Call:
    """(args, kwargs) of a call: a tuple or list are its arguments, a dict its keywords, anything else the only one."""
    if isinstance(sample_input, dict):
        return (), sample_input
    return (tuple(sample_input), {}) if isinstance(sample_input, (tuple, list)) else ((sample_input,), {})


def _break(row: Dict[str, Any]) -> CompileBreak:
    return CompileBreak(reason=row["reason"], suggestion=row.get("hint"), location=row["source"],
                        function=row["function"], explanation=row.get("explanation"), stack=row.get("stack"),
                        compilations=row["compilations"])


_COMPARED = ("speedup", "speedup_low", "speedup_high", "turns", "p_value", "may_be_chance")
_SAME = ("compile_time_ms", "recompilations", "ops_before_fusion", "ops_after_fusion", "fusion_ratio")


def _name(backend: Any) -> str:
    return backend if isinstance(backend, str) else getattr(backend, "__name__", type(backend).__name__)


def _measure(torch: Any, folder: str, function: Callable[..., Any], call: _Call, warmup: int, iterations: int) -> None:
    """A trace in FOLDER of ITERATIONS calls, each a step, after WARMUP ones."""
    args, kwargs = call
    for _ in range(warmup):
        function(*args, **kwargs)
    with capture(os.path.join(folder, "run.pt.trace.json"), os.path.basename(folder)):
        for number in range(iterations):
            with step(torch, number):
                function(*args, **kwargs)


def _time(torch: Any, function: Callable[..., Any], call: _Call) -> Tuple[int, int]:
    """(start, duration) in ns of a call, with what it launches on GPUs."""
    args, kwargs = call
    synchronize(torch)
    start = time.perf_counter_ns()
    function(*args, **kwargs)
    synchronize(torch)
    return start, time.perf_counter_ns() - start


def _write_marks(folder: str, times: List[Tuple[int, int]]) -> None:
    """A trace that has nothing but steps, as torch.profiler marks them: what the program compares."""
    os.makedirs(folder)
    since = time.time_ns() - time.perf_counter_ns()  # one clock for all traces of this process
    first = times[0][0]
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": os.getpid(), "tid": 1,
               "ts": (start - first) / 1e3, "dur": duration / 1e3} for number, (start, duration) in enumerate(times)]
    write_json(os.path.join(folder, "steps.pt.trace.json"),
               {"schemaVersion": 1, "baseTimeNanoseconds": since + first, "traceEvents": events})


def _take_turns(torch: Any, folder: str, functions: Dict[str, Callable[..., Any]], call: _Call, warmup: int,
                turns: int) -> Dict[str, str]:
    """{name: folder of a trace} of FUNCTIONS, {name: function}, without a profiler: each turn calls each of them once,
    so that what slows the machine down for a while slows all of them."""
    times: Dict[str, List[Tuple[int, int]]] = {name: [] for name in functions}
    for turn in range(-warmup, turns):
        for name, function in functions.items():
            taken = _time(torch, function, call)
            if turn >= 0:
                times[name].append(taken)
    folders = {name: os.path.join(folder, f"turns-{name}") for name in functions}
    for name, place in folders.items():
        _write_marks(place, times[name])
    return folders


def _pays(report: "CompileReport") -> str:
    if report.pays_after_steps is not None:
        return f"{report.pays_after_steps} calls"
    return "unknown" if report.speedup > 1 else "never: compiled calls are not faster"


def _headline(report: "CompileReport") -> str:
    """What the page of the compiled run cannot know, as HTML: how it does against eager mode."""
    chance = "may be chance" if report.may_be_chance else "whether by chance is unknown"
    if report.may_be_chance is False:
        chance = f"not by chance, p = {report.p_value:.2g}"
    compiling = "unknown" if report.compile_time_ms is UNKNOWN else f"{report.compile_time_ms / 1000:.1f} s"
    rows = {"eager": f"{report.eager_time_ms:.3f} ms a call", "compiled": f"{report.compiled_time_ms:.3f} ms a call",
            "speed-up": f"{report.speedup:.2f} ({report.speedup_low:.2f} to {report.speedup_high:.2f} with 95 %; {chance})",
            "compile time": compiling, "pays after": _pays(report)}
    title = html.escape(f"torch.compile({report.backend}, {report.mode}) against eager mode")
    return f"<aside><b>{title}</b><table>" + "".join(f"<tr><th>{name}<td>{text}" for name, text in rows.items()) + "</table></aside>\n"


def _put_before_the_page(path: Any, markup: str) -> None:
    with open(path, encoding="utf-8", newline="") as f:
        head, body, rest = f.read().partition('<div id="tpusight">')
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(head + markup + body + rest)


def _pays_after(won_ms: float, compile_ms: float) -> Optional[int]:
    """Steps until what compiling took is won back; None where nothing is won."""
    return math.ceil(compile_ms / won_ms) if compile_ms is not UNKNOWN and won_ms > 0 else None


class TorchCompileAnalyzer:
    """Runs a model in eager mode and compiled, and says what that changed. backend, mode, fullgraph, dynamic: those of
    torch.compile; dynamic None: as torch chooses."""

    def __init__(self, backend: Any = "inductor", mode: str = "default", fullgraph: bool = False,
                 dynamic: Optional[bool] = None) -> None:
        self.backend = backend
        self.mode = mode
        self.fullgraph = fullgraph
        self.dynamic = dynamic

    def analyze(self, model: Callable[..., Any], sample_input: Any, warmup: int = 3, iterations: int = 10) -> CompileReport:
        """CompileReport of MODEL (a module or function), called with SAMPLE_INPUT: a tuple or list are its arguments, a
        dict its keywords, anything else is the only one. WARMUP calls of each, then ITERATIONS that are measured: once
        compiled with a profiler, for what the compiler made, and once without, eager and compiled in turns.

        Runs under the caller's torch.no_grad() or autocast, if any. What was compiled before is forgotten
        (torch._dynamo.reset()) and Inductor's caches are not used, so that compile_time_ms is a first compilation's;
        its kernels on a CPU have names in the profile (cpp.enable_kernel_profile). Raises TpusightError without
        torch 2."""
        (report,) = self.compare_modes(model, sample_input, [self.mode], warmup, iterations).values()
        return report

    def analyze_trace(self, path: Any, torch_trace: Any = None) -> CompileReport:
        """CompileReport of a trace file (its speed-up is unknown), with reasons from TORCH_TRACE, the log that
        TORCH_TRACE=FOLDER had written, or that folder. Raises TpusightError when they cannot be read."""
        options = [f"--torch-trace={os.fspath(torch_trace)}"] if torch_trace else []
        return self._report(Trace(path, options), None)

    def compare_modes(self, model: Callable[..., Any], sample_input: Any, modes: Sequence[Optional[str]] = _MODES, warmup: int = 3,
                      iterations: int = 10) -> Dict[str, CompileReport]:
        """{mode: CompileReport} of several modes of torch.compile, each in turns with eager calls, as analyze()."""
        torch = torch_module()
        if not hasattr(torch, "compile"):
            raise TpusightError(f"torch {torch.__version__} has no torch.compile (it came with 2.0)")
        names = list(dict.fromkeys(mode or _MODES[0] for mode in modes))
        if iterations < 1 or not names or _EAGER in names:
            raise ValueError("at least one iteration and one mode besides eager are needed")
        runs, call, reports = _Runs(), _arguments(sample_input), {}
        for mode in names:
            torch._dynamo.reset()
            with _inductor(), log_into(torch, runs.of(mode)):
                compiled = torch.compile(model, backend=self.backend, mode=mode, fullgraph=self.fullgraph,
                                         dynamic=self.dynamic)
                _measure(torch, runs.of(mode), compiled, call, max(warmup, 1), iterations)  # the first call compiles
                folders = _take_turns(torch, os.path.join(runs.folder, "times", mode), {_EAGER: model, mode: compiled},
                                      call, warmup, iterations)
            reports[mode] = self._report_mode(runs, mode, folders)
        return reports

    def _report_mode(self, runs: _Runs, mode: str, folders: Dict[str, str]) -> CompileReport:
        found = ask("compile", "--json", *[f"--label={name}" for name in folders], "--", *folders.values())
        eager, row = found["modes"]
        report = self._report(Trace(runs.of(mode)), runs, mode=mode, backend=_name(self.backend),
                              eager_time_ms=eager["step_time_ms"], compiled_time_ms=row["step_time_ms"],
                              **{name: row[name] for name in _COMPARED})
        report.pays_after_steps = _pays_after(eager["step_time_ms"] - row["step_time_ms"], report.compile_time_ms)
        return report

    @staticmethod
    def _report(trace: Trace, owner: Optional[_Runs], **fields: Any) -> CompileReport:
        answer = trace.ask("compile")
        return CompileReport(
            total_graph_breaks=answer.get("graph_breaks"),
            graph_breaks=[_break(place) for place in answer.get("graph_break_places", [])],
            _owner=owner, **fields, **said(answer, trace), **{name: answer.get(name) for name in _SAME})

    def export_report(self, report: CompileReport, path: Any, format: str = "html") -> Any:
        """Writes a report to PATH: html (the page of the compiled run, above it how it does against eager mode), json (its fields,
        and all that the program said as `answer`), text or csv. Returns PATH."""
        _forms.need(format)
        if format == "json":
            write_json(path, {**report.to_dict(), "answer": report.answer}, report._trace)
        else:
            need_trace(report._trace, f"a report in {format}").write("compile", format, path)
            if format == "html" and report.speedup is not UNKNOWN:
                _put_before_the_page(path, _headline(report))
        return path
