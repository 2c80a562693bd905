# SPDX-License-Identifier: MIT
"""TPUsight in Python: captures profiles of jax and torch jobs, and asks the program tpusight what they say.

Every number comes from the program; this package starts it, and gives its answers names. It needs the standard library
alone: jax and torch are imported by what profiles with them, when it does.
"""
import importlib
import pkgutil
import re

# Each name and the module that has it. `import tpusight` loads none of these modules before a name is used. The list is the
# stub's, which editors and type checkers read: "from .live import Alert as Alert".
_STUB = pkgutil.get_data(__name__, "__init__.pyi") or b""
_NAMES = {name: module for module, name in re.findall(r"^from \.(\w+) import (\w+) as \2$", _STUB.decode(), re.M)}

__all__ = sorted(name for name in _NAMES if not name.startswith("_"))


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(_NAMES))
