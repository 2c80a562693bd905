"""TPUsight in Python: captures profiles of jax and torch jobs, and asks the program tpusight what they say.

Every number comes from the program; this package starts it, and gives its answers names. It needs the standard library
alone: jax and torch are imported by what profiles with them, when it does.
"""
import importlib

# Names and the modules that have them: `import tpusight` loads none of these before they are used.
_NAMES = {
    "CompileBreak": "torch_compile",
    "CompileReport": "torch_compile",
    "FlameGraph": "flame_graph",
    "FlameGraphGenerator": "flame_graph",
    "HTAAnalyzer": "hta",
    "HTAReport": "hta",
    "KernelInfo": "unified",
    "MemoryProfiler": "memory",
    "MemoryReport": "memory",
    "ProfileSession": "unified",
    "TimelineData": "timeline",
    "TimelineGenerator": "timeline",
    "TorchCompileAnalyzer": "torch_compile",
    "TpusightError": "_program",
    "UnifiedProfiler": "unified",
    "program": "_program",
}

__all__ = sorted(_NAMES)


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted(set(globals()) | set(_NAMES))
