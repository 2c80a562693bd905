# SPDX-License-Identifier: MIT
"""What the forward pass of a differentiated program keeps for the backward one, at the peak: what could be computed again instead.

By the names that jax gives: jvp(...) is the forward pass, transpose(jvp(...)) the backward one. What a jax.checkpoint computes again has
"rematted_computation" in its name, and is in neither. A scan's own stacks have no name of jax's; libtpu allocates them by a custom call.
"""
from typing import Any, Dict, List, NamedTuple, Optional

_MUCH = 0.5  # of the peak
_STACK = "custom-call"


class Kept(NamedTuple):
    """Buffers of one op of jax's on one line: NR_BUFFERS of them, NR_BYTES together."""
    name: str
    nr_buffers: int
    nr_bytes: int


def _is_backward(name: Optional[str]) -> bool:
    return "transpose(" in (name or "")


def _is_forward(name: Optional[str]) -> bool:
    return "jvp(" in (name or "") and not _is_backward(name) and "rematted_computation" not in (name or "")


def _name(row: Dict[str, Any]) -> str:
    if not row.get("framework_op"):
        return "the stacks of a scan"
    source = str(row.get("source") or "").rpartition("/")[2]
    return str(row["framework_op"]).rpartition("/")[2] + (f" ({source})" if source else "")


def _is_kept(row: Dict[str, Any], names: Dict[str, str], peak_op: Optional[str]) -> bool:
    made, last = row.get("framework_op"), names.get(row.get("to_op") or "")
    if row["kind"] != "temp":
        return False
    if not made:
        return str(row.get("op")).startswith(_STACK) and any(_is_backward(name) for name in names.values())
    return _is_forward(made) and (_is_backward(last) or _is_backward(names.get(peak_op or "")))


def kept(report: Any) -> List[Kept]:
    """What is kept at the peak of the module that needs most, the largest first."""
    capacity = report.get("capacity") or {}
    module = (capacity.get("modules") or [{}])[0]
    names = {op["name"]: op["framework_op"] for op in report.get("ops") or [] if op.get("framework_op")}
    found: Dict[str, Kept] = {}
    for row in capacity.get("buffers") or []:
        if row["module"] == module.get("module") and _is_kept(row, names, module.get("peak_op")):
            name = _name(row)
            was = found.get(name, Kept(name, 0, 0))
            found[name] = Kept(name, was.nr_buffers + 1, was.nr_bytes + int(row["bytes"]))
    return sorted(found.values(), key=lambda one: -one.nr_bytes)


def is_much(report: Any, found: List[Kept], fits: Optional[bool]) -> bool:
    """Whether they are worth a sentence: it does not fit, or they are most of the peak."""
    peak = (report.get("capacity") or {}).get("peak_bytes") or float("inf")
    return bool(found) and (fits is False or sum(one.nr_bytes for one in found) > _MUCH * peak)
