# SPDX-License-Identifier: MIT
"""Gates over what is known before a run, in the grammar of `tpusight compare --fail-if` (src/compare/gate.h), and the baseline file.

    GATE  = NAME (> | >= | < | <= | == | !=) LIMIT
    LIMIT = NUMBER [%] | baseline [(* | + | -) NUMBER [%]]

NAME is one of SHORT, or the path of a number in the report: capacity.temp_bytes. A gate fails when what it says is so, and when that
cannot be known.

The grammar is here a second time, as compare cannot judge these: it takes two runs and the figures of their reports, while peak memory
and compile time are libtpu's own words, which no run has, and a baseline is a file of figures. tests/python/before_words_test.py asks both
the same gates of the same figures, so that they stay one grammar; only the % behind a plain number is ours alone.
"""
import difflib
import json
import math
import operator
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from .._program import TpusightError
from .._whole import new_file

if TYPE_CHECKING:
    from .result import Before

SCHEMA = "tpusight-baseline/1"
_RELATIONS: Dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt}
_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_GRAMMAR = re.compile(rf"\s*(?P<name>[A-Za-z][\w.]*)\s*(?P<relation>>=|<=|==|!=|>|<)\s*(?:(?P<number>{_NUMBER})\s*(?P<share>%?)|"
                      rf"baseline\s*(?:(?P<sign>[-*+])\s*(?P<by>{_NUMBER})\s*(?P<of>%?))?)\s*")
#: Short names: where in the report the figure stands, and what it is divided by. Those in percent may be written with a %.
SHORT = {
    "peak_memory": ("peak_memory_pct", 1.0), "padding": ("padding.allocated_waste_pct", 1.0), "collectives": ("collective_pct", 1.0),
    "peak_memory_mb": ("reserved_bytes", 2.0**20), "predicted_step_ms": ("prediction.step_ps", 1e9),
    "predicted_step_high_ms": ("prediction.step_high_ps", 1e9), "compile_seconds": ("compile_seconds", 1.0),
}
_OWN = ("reserved_bytes", "peak_memory_pct", "collective_pct")  # that no report has
_SHARES = ("peak_memory", "padding", "collectives", "libtpu_step_change", "libtpu_hbm_peak_change")


class Gate(NamedTuple):
    text: str
    name: str
    relation: str
    number: float
    sign: str  # behind baseline: * + - or "="; "" where there is no baseline
    is_share: bool


class Verdict(NamedTuple):
    """STATE: passed, failed, unknown (a figure, or the baseline's), or no such figure."""
    gate: Gate
    state: str
    value: Optional[float]
    limit: Optional[float]

    def __str__(self) -> str:
        def said(value: Optional[float]) -> str:
            return "unknown" if value is None else f"{value:.4g}"
        return f"{self.gate.text}: {self.state} ({said(self.value)} against {said(self.limit)})"


def parse(text: str) -> Gate:
    """The Gate of one expression."""
    found = _GRAMMAR.fullmatch(text)
    if not found:
        raise TpusightError(f"--fail-if {text}: is not NAME OP NUMBER, nor NAME OP baseline [* NUMBER | + NUMBER[%] | - NUMBER[%]] "
                            "(as 'peak_memory > 90 %', 'predicted_step_ms > baseline * 1.05')")
    name = found["name"]
    if found["share"] and name not in _SHARES and not name.endswith("_pct"):
        raise TpusightError(f"--fail-if {text}: {name} is not a share, so its limit has no % (shares are {', '.join(_SHARES)})")
    if found["number"]:
        return Gate(text, name, found["relation"], float(found["number"]), "", False)
    number = float(found["by"] or 0)
    return Gate(text, name, found["relation"], number / 100 if found["of"] else number, found["sign"] or "=", bool(found["of"]))


def check(gate: Gate, more: Sequence[str] = ()) -> None:
    """Raises TpusightError where no figure can have the gate's name, with what is meant instead; MORE are other names."""
    known = [*SHORT, *_OWN, *more]
    if "." in gate.name or gate.name in known:
        return
    near = difflib.get_close_matches(gate.name, known, 1, 0.6)
    raise TpusightError(f"--fail-if {gate.text}: no figure is called {gate.name} (" + (f"did you mean {near[0]}? " if near else "") +
                        f"there are {', '.join(known)}, and the path of any number in the JSON report: capacity.temp_bytes)")


def _flat(value: Any, before: str = "") -> Dict[str, Optional[float]]:
    """Numbers of the report by their paths; those in lists have none."""
    found: Dict[str, Optional[float]] = {}
    for key, part in value.items():
        if isinstance(part, dict) and key != "provenance":
            found.update(_flat(part, f"{before}{key}."))
        elif part is None or isinstance(part, (int, float)) and not isinstance(part, bool):
            found[before + key] = part
    return found


def figures(before: "Before") -> Dict[str, Optional[float]]:
    """All figures of a program that a gate may name, by their names."""
    found = _flat(before.report)
    whole, step = found.get("capacity.hbm_bytes"), found.get("prediction.step_ps")
    collective = found.get("prediction.exposed_collective_ps")
    found["reserved_bytes"] = before.peak_bytes
    found["peak_memory_pct"] = 100 * before.peak_bytes / whole if before.peak_bytes is not None and whole else None
    found["collective_pct"] = 100 * collective / step if collective is not None and step else None
    found["compile_seconds"] = before.facts.get("compile_seconds")
    for name, (path, divisor) in SHORT.items():
        value = found.get(path)
        found[name] = None if value is None else value / divisor
    return found


def _limit(gate: Gate, base: Optional[float]) -> Optional[float]:
    if not gate.sign:
        return gate.number
    if base is None:
        return None
    by = gate.number * abs(base) if gate.is_share else gate.number
    return {"=": base, "*": base * gate.number, "+": base + by, "-": base - by}[gate.sign]


def judge(gate: Gate, found: Dict[str, Optional[float]], baseline: Dict[str, Optional[float]]) -> Verdict:
    """What the gate says of the figures FOUND."""
    value, limit = found.get(gate.name), _limit(gate, baseline.get(gate.name))
    if gate.name not in found:
        return Verdict(gate, "no such figure", None, limit)
    if value is None or limit is None or not math.isfinite(value):
        return Verdict(gate, "unknown", value, limit)
    return Verdict(gate, "failed" if _RELATIONS[gate.relation](value, limit) else "passed", value, limit)


def write_baseline(path: str, results: "List[Before]") -> None:
    """Keeps the figures of RESULTS, by topology: a file for a repository."""
    kept = {before.topology: {name: value for name, value in sorted(figures(before).items()) if value is not None} for before in results}
    with new_file(path) as file:
        json.dump({"schema": SCHEMA, "program": str(results[0].name), "topologies": kept}, file, indent=1)
        file.write("\n")


def read_baseline(path: str) -> Dict[str, Dict[str, Optional[float]]]:
    """What write_baseline() kept: figures by topology."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError) as e:
        raise TpusightError(f"{path}: {e} (tpusight before --write-baseline {path} ... makes one)") from e
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or not isinstance(found.get("topologies"), dict):
        raise TpusightError(f"{path}: is not a baseline (tpusight before --write-baseline {path} ... makes one)")
    return dict(found["topologies"])
