# SPDX-License-Identifier: MIT
"""What captures with torch.profiler. torch is imported when something is captured, not before."""
import contextlib
import gzip
import os
import shutil
import sys
import tempfile
from typing import Any, ContextManager, Iterator, List, Tuple

from ._place import warn_of_windows
from ._program import TpusightError
from ._whole import new_file


def torch_module() -> Any:
    """The module torch. Raises TpusightError where it is not installed, or is too old to have torch.profiler."""
    try:
        import torch
    except ImportError as e:
        raise TpusightError(f"{sys.executable} has no torch: {e} (pip install torch; to read a trace file, torch is not needed)") from e
    if not hasattr(torch, "profiler"):
        raise TpusightError(f"torch {torch.__version__} is too old (torch.profiler came with 1.8.1)")
    return torch


def _gpus(torch: Any) -> List[Tuple[str, Any]]:
    """[(kind of activity, module)] of the kinds of GPUs that are there."""
    modules = [(kind, getattr(torch, kind.lower(), None)) for kind in ("CUDA", "XPU")]
    return [(kind, module) for kind, module in modules if module is not None and module.is_available()]


def lacks(torch: Any) -> List[str]:
    """A sentence on what the traces of this torch have not got, if there is such a thing."""
    has_kineto = getattr(torch.autograd, "kineto_available", lambda: True)
    return [] if has_kineto() else [
        f"torch {torch.__version__} was built without Kineto, as that of Debian is: its traces have operators and ranges, but no memory, "
        "shapes, stacks or kernels (the torch that pip installs has them)"]


def synchronize(torch: Any) -> None:
    """Waits for what GPUs are still doing, so that it is in the profile; for those whose memory this process uses, as
    asking another would begin to use it."""
    for _, module in _gpus(torch):
        reserved = getattr(module, "memory_reserved", lambda index: True)  # torch.xpu has it since 2.6
        for index in range(module.device_count()):
            if reserved(index):
                module.synchronize(index)


def _activities(torch: Any) -> List[Any]:
    """The CPU, and the GPUs that are there."""
    kinds = torch.profiler.ProfilerActivity
    return [kinds.CPU] + [getattr(kinds, kind) for kind, _ in _gpus(torch) if hasattr(kinds, kind)]


def _need_no_profiler(torch: Any) -> None:
    """Raises TpusightError while a profiler is at work, in any thread: a second one would end the first without a
    word."""
    of_this_thread = getattr(torch._C._autograd, "_profiler_enabled", lambda: False)
    if of_this_thread() or getattr(torch.autograd.profiler, "_is_profiler_enabled", False):
        raise TpusightError("another profiler of torch is running, and only one can run at a time (end it first)")


def step(torch: Any, number: int) -> ContextManager[Any]:
    """The range of a step, under the name that torch.profiler itself gives it; a context manager."""
    return torch.profiler.record_function(f"ProfilerStep#{number}")


def _export(prof: Any, path: str) -> None:
    """Writes the trace to PATH, packed when it ends in .gz; the file is there whole or not at all. torch's own packing
    reads the text back as UTF-8, and names in it need not be."""
    with tempfile.TemporaryDirectory(prefix=".tpusight-", dir=os.path.dirname(path) or ".") as folder:
        plain = os.path.join(folder, "trace.json")
        prof.export_chrome_trace(plain)
        if not path.endswith(".gz"):
            with open(plain, "rb+") as source:
                os.fsync(source.fileno())
            os.replace(plain, path)
            return
        with open(plain, "rb") as source, new_file(path, "wb") as packed, gzip.GzipFile("trace.json", "wb", 6, packed) as file:
            shutil.copyfileobj(source, file, 1 << 20)


@contextlib.contextmanager
def capture(path: str, name: str, stack: bool = False, memory: bool = False, shapes: bool = False, modules: bool = False) -> Iterator[None]:
    """Profiles the block, in a range of that name, and writes the trace to PATH. When the block raises, no trace is written.
    Raises TpusightError when another profiler is at work, or the trace cannot be written."""
    torch = torch_module()
    _need_no_profiler(torch)
    warn_of_windows(os.path.dirname(path) or ".")
    prof = torch.profiler.profile(activities=_activities(torch), with_stack=stack or modules, profile_memory=memory, record_shapes=shapes,
                                  with_modules=modules)
    synchronize(torch)
    try:
        prof.start()
    except (RuntimeError, AssertionError) as e:
        raise TpusightError(f"torch.profiler did not start: {e}") from e
    try:
        with torch.profiler.record_function(name):
            yield
            synchronize(torch)
    finally:
        prof.stop()
    try:
        _export(prof, os.path.abspath(path))
    except (OSError, RuntimeError) as e:
        raise TpusightError(f"{path}: the trace was not written: {e}") from e
