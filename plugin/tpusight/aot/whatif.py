# SPDX-License-Identifier: MIT
"""What if: what the compiler said of each change that was tried, beside what it said without it."""
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

from .. import _show
from . import gate

if TYPE_CHECKING:
    from .result import Before

_LEAST = 0.01  # a step or a peak that is better by less is as good
_LEAST_PADDING = 0.5  # the same of padding, in percent points
FIGURES = ("step_ps", "peak_bytes", "padding_pct")
_WORDS = {"step_ps": "predicted step", "peak_bytes": "peak memory", "padding_pct": "padding"}


class Tried(NamedTuple):
    """A change, and the compiler's figures without and with it. SCALE: how much more work a step with it does. WINS are the figures that
    are better, where none is worse; ERROR is why it does not compile."""
    kind: str
    what: str
    before: Dict[str, Optional[float]]
    after: Dict[str, Optional[float]]
    scale: float
    wins: List[str]
    error: Optional[str]

    def __str__(self) -> str:
        if self.error:
            return f"{self.what}: is refused: {self.error.splitlines()[0]}"
        return f"{self.what}: " + ", ".join(self._one(name) for name in FIGURES)

    def _one(self, name: str) -> str:
        unit = {"step_ps": "_ps", "peak_bytes": "bytes", "padding_pct": "_pct"}[name]
        first, then = self.before.get(name), self.after.get(name)
        said = [("unknown" if value is None else _show.number(unit, value)) for value in (first, then)]
        more = f" for {self.scale:g} times the work" if name == "step_ps" and self.scale != 1 else ""
        return f"{_WORDS[name]} {said[0]} to {said[1]}{more}"

    def row(self) -> Dict[str, Any]:
        """It as a row of a table."""
        result = "wins" if self.wins else "refused" if self.error else "lost"
        figures = {f"{when}_{name}": kept.get(name) for name in FIGURES for when, kept in (("before", self.before), ("after", self.after))}
        return {"kind": self.kind, "change": self.what, "result": result, **figures, "scale": self.scale, "wins": list(self.wins),
                "error": self.error}


def figures_of(before: "Before") -> Dict[str, Optional[float]]:
    found = gate.figures(before)
    return {"step_ps": found.get("prediction.step_ps"), "peak_bytes": before.peak_bytes, "padding_pct": found.get("padding")}


def _ratio(then: Optional[float], first: Optional[float]) -> Optional[float]:
    return then / first if then is not None and first else None


def wins(first: Dict[str, Optional[float]], then: Dict[str, Optional[float]], scale: float, fits: Optional[bool]) -> List[str]:
    """Which figures are better; none where the step or, with as much work, the peak is worse, or it does not fit. Where the program does
    not fit without the change, a lower peak is all that counts."""
    step, peak = _ratio(then["step_ps"], first["step_ps"]), _ratio(then["peak_bytes"], first["peak_bytes"])
    step = step / scale if step is not None else None
    better = []
    if step is not None and step < 1 - _LEAST:
        better.append("step_ps")
    if scale == 1 and peak is not None and peak < 1 - _LEAST:
        better.append("peak_bytes")
    padding = (first["padding_pct"], then["padding_pct"])
    if padding[0] is not None and padding[1] is not None and padding[1] < padding[0] - _LEAST_PADDING:
        better.append("padding_pct")
    is_worse = fits is False or (step is not None and step > 1 + _LEAST)
    if scale == 1 and "step_ps" not in better and peak is not None and peak > 1 + 2 * _LEAST:
        is_worse = True
    return [] if is_worse else better


def text(tried: List[Tried]) -> str:
    """The winners with their figures; the others as tried."""
    won = [one for one in tried if one.wins]
    lost = [one for one in tried if not one.wins]
    lines = ["What would help (compiled again with each change)"] + [f"  {one}" for one in won]
    if not won:
        lines.append("  nothing that was tried")
    if lost:
        lines.append("Tried, and not better")
        lines += [f"  {one}" if one.error else f"  {one.what}" for one in lost]
    return "\n".join(lines) + "\n"
