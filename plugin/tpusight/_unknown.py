# SPDX-License-Identifier: MIT
"""A figure that is not known, where programs format and reckon with figures."""
import re
from typing import Any, Optional, Tuple, Type

_WIDTH = re.compile(r"((?:.?[<>=^])?)[-+ ]?z?#?0?(\d*)")


class Unknown(float):
    """A figure that is not known: NaN, but one that reads "unknown" in print(), str() and any format of a number, with which
    arithmetic is unknown too, and which is not true. There is only one: `x is tpusight.UNKNOWN`; math.isnan(x) is true of it."""
    __slots__ = ()

    def __new__(cls) -> "Unknown":
        return UNKNOWN

    def __repr__(self) -> str:
        return "unknown"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        found = _WIDTH.match(spec)
        align, width = found.groups() if found else ("", "")
        return format("unknown", f"{align.replace('=', '>') or '>'}{width}")

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> Tuple[Type["Unknown"], Tuple[()]]:
        return Unknown, ()

    def _same(self, *_: Any) -> Any:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _same
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __round__ = _same


UNKNOWN: Unknown = float.__new__(Unknown, "nan")


def known(value: Optional[float]) -> float:
    """VALUE of the program's, in which None is what it does not know, as a figure."""
    return UNKNOWN if value is None else value
