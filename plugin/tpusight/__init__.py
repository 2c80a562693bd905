"""TPUsight in Python: captures profiles of jax and torch jobs, and asks the program tpusight what they say.

Every number comes from the program; this package starts it, and gives its answers names. It needs the standard library
alone: jax and torch are imported by what profiles with them, when it does.
"""
import importlib

# Names and the modules that have them: `import tpusight` loads none of these before they are used.
_NAMES = {
    "Alert": "live",
    "Benchmark": "benchmark",
    "CompileBreak": "torch_compile",
    "CompileReport": "torch_compile",
    "FlameGraph": "flame_graph",
    "FlameGraphGenerator": "flame_graph",
    "HTAAnalyzer": "hta",
    "HTAReport": "hta",
    "KernelInfo": "unified",
    "LiveProfiler": "live",
    "MemoryProfiler": "memory",
    "MemoryReport": "memory",
    "Metrics": "live",
    "ProfileSession": "unified",
    "Session": "session",
    "SimpleLiveDashboard": "dashboard",
    "TPUsight": "profiler",
    "TimelineData": "timeline",
    "TimelineGenerator": "timeline",
    "TorchCompileAnalyzer": "torch_compile",
    "TpusightError": "_program",
    "UnifiedProfiler": "unified",
    "__version__": "_version",
    "benchmark_function": "benchmark",
    "maybe_profile": "helpers",
    "profile_function": "helpers",
    "profile_trace": "helpers",
    "program": "_program",
}

__all__ = sorted(name for name in _NAMES if not name.startswith("_"))


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted(set(globals()) | set(_NAMES))
