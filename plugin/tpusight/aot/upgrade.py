# SPDX-License-Identifier: MIT
"""One program, compiled by several libtpus: what another compiler makes of it, by the size of its effect, with the user's lines.

The compiler is exact: compiled twice, a program is the same. So whatever differs is the compiler's doing. Ops are matched by scope, opcode
and size and never by name, whose numbers change with each compilation. The changes of the step's time add up to the change of the step.
"""
import os
import re
from typing import Any, Callable, Dict, Hashable, List, NamedTuple, Optional, Sequence, Tuple

from .. import _show
from .._program import TpusightError
from . import gate, job, libraries, same
from .result import Before

SCHEMA = "tpusight-upgrade/1"
GATES = ("libtpu_step_change", "libtpu_hbm_peak_change", "libtpu_changes")
OTHER = "other"
_COLLECTIVE = re.compile(r"all-gather|all-reduce|reduce-scatter|(?:ragged-)?all-to-all|collective-(?:permute|broadcast)")
_COPY = re.compile(r"(?:async )?copy|slice-(?:start|done)|transpose")
_LEAST_PADDING = 0.5  # percent points
_MOST = 12  # changes that are told
_TOLD_PCT = 0.05  # of the step
_WORDS = {"op_new": "new op", "collective_new": "new collective", "remat": "rematerialization", OTHER: "the rest"}  # else as they are


class Op(NamedTuple):
    """An op of the predicted step. TIME_PS is what of the step is its own."""
    name: str
    scope: str
    opcode: str
    source: str
    time_ps: int
    flops: float
    bytes: float
    is_remat: bool

    def said(self) -> Dict[str, Any]:
        return {"op": self.name, "opcode": self.opcode, "time_ps": self.time_ps, "flops": self.flops, "bytes": self.bytes}


class Change(NamedTuple):
    kind: str
    op: str
    scope: str
    source: str
    before: Optional[Dict[str, Any]]
    after: Optional[Dict[str, Any]]
    change_ps: int


class Compared(NamedTuple):
    """What VERSION makes of the program, against BASELINE. EQUAL: the modules are the same but for what has no meaning (same.py), and
    so are their step and their peak; INSTRUCTIONS are those in both, and in one alone."""
    topology: str
    baseline: str
    version: str
    equal: bool
    step_change_pct: Optional[float]
    step_change_ps: Optional[int]
    hbm_peak_change_bytes: Optional[int]
    hbm_peak_change_pct: Optional[float]
    vmem_peak_change_bytes: Optional[int]
    instructions: Tuple[int, int, int]
    changes: List[Change]
    steps_ps: Tuple[Optional[int], Optional[int]]

    def row(self) -> Dict[str, Any]:
        both, gone, new = self.instructions
        return {**self._asdict(), "instructions": {"in_both": both, "in_baseline": gone, "in_version": new},
                "steps_ps": list(self.steps_ps), "changes": [change._asdict() for change in self.changes]}

    def figures(self) -> Dict[str, Optional[float]]:
        """What gates may name."""
        return {"libtpu_step_change": self.step_change_pct, "libtpu_hbm_peak_change": self.hbm_peak_change_pct,
                "libtpu_changes": float(sum(change.kind != OTHER for change in self.changes))}


class Compiled(NamedTuple):
    """A program as one library compiles it for one slice; ERROR: it does not."""
    library: libraries.Library
    topology: str
    result: Optional[Before]
    error: Optional[str]

    def row(self) -> Dict[str, Any]:
        versions = self.result.facts.get("versions", {}) if self.result else {}
        return {"version": self.library.name, "topology": self.topology, "built": versions.get("libtpu_built"), "path": self.library.path,
                "error": self.error, "report": self.result.report if self.result else None}


def _ops(before: Before) -> List[Op]:
    """Ops that run within others are part of those."""
    return [Op(row.get("name") or "", row.get("framework_op") or "", row.get("category") or "", row.get("source") or "",
               row["exclusive_ps"], row.get("flops") or 0, row.get("bytes_accessed") or 0, bool(row.get("is_remat")))
            for row in before.report.get("ops") or [] if row.get("exclusive_ps") is not None and row.get("op_index") is not None]


def _base(opcode: str) -> str:
    """A collective, or a copy, whether it is one op or has a start and a done."""
    return re.sub(r"-(?:start|done)$", "", opcode)


#: What two ops have in common that are one, the surest first.
_KEYS: Sequence[Callable[[Op], Optional[Hashable]]] = (
    lambda op: (op.scope, op.opcode, op.flops, op.bytes, op.time_ps),
    lambda op: (op.scope, op.opcode, op.flops, op.bytes),
    lambda op: (op.scope, op.opcode, op.flops) if op.flops else None,
    lambda op: (op.opcode, op.flops, op.bytes) if op.flops or op.bytes else None,  # what is called by another scope
    lambda op: (op.scope, op.opcode),
    lambda op: (op.scope, _base(op.opcode), op.opcode.endswith("-done")) if _COLLECTIVE.match(op.opcode) else None,
)


def _matched(first: List[Op], then: List[Op]) -> Tuple[List[Tuple[Op, Op]], List[Op], List[Op]]:
    """(pairs, gone, new)."""
    pairs: List[Tuple[Op, Op]] = []
    for key in _KEYS:
        waiting: Dict[Hashable, List[Op]] = {}
        for op in sorted(first, key=lambda op: -op.time_ps):
            waiting.setdefault(key(op), []).append(op)
        waiting.pop(None, None)
        left: List[Op] = []
        for op in sorted(then, key=lambda op: -op.time_ps):
            alike = waiting.get(key(op)) if key(op) is not None else None
            if alike:
                pairs.append((alike.pop(0), op))
            else:
                left.append(op)
        taken = {id(one) for one, _ in pairs}
        first, then = [op for op in first if id(op) not in taken], left
    return pairs, first, then


def _kind_alone(op: Op, is_new: bool, more_fusions: int) -> str:
    if op.is_remat:
        return "remat"
    if _COLLECTIVE.match(op.opcode):
        return "collective_new" if is_new else "collective_gone"
    if _COPY.match(op.opcode):
        return "copy"
    if "fusion" in op.opcode and (more_fusions > 0 if is_new else more_fusions < 0):
        return "fusion_split" if is_new else "fusion_joined"
    return "op_new" if is_new else "op_gone"


def _change_of_pair(first: Op, then: Op) -> Optional[Change]:
    change_ps = then.time_ps - first.time_ps
    is_collective = bool(_COLLECTIVE.match(then.opcode))
    if is_collective and (first.bytes != then.bytes or first.opcode != then.opcode):
        kind = "collective_changed"
    elif change_ps:
        kind = "op_slower" if change_ps > 0 else "op_faster"
    else:
        return None
    return Change(kind, then.name, then.scope, then.source or first.source, first.said(), then.said(), change_ps)


def _of_ops(first: List[Op], then: List[Op]) -> List[Change]:
    pairs, gone, new = _matched(first, then)
    more_fusions = sum("fusion" in op.opcode for op in new) - sum("fusion" in op.opcode for op in gone)
    found = [change for change in (_change_of_pair(*pair) for pair in pairs) if change]
    found += [Change(_kind_alone(op, False, more_fusions), op.name, op.scope, op.source, op.said(), None, -op.time_ps) for op in gone]
    found += [Change(_kind_alone(op, True, more_fusions), op.name, op.scope, op.source, None, op.said(), op.time_ps) for op in new]
    return found


def _of_figures(first: Before, then: Before) -> List[Change]:
    """What another number says of the whole program."""
    found = []
    peaks = first.peak_bytes, then.peak_bytes
    if peaks[0] is not None and peaks[1] is not None and peaks[0] != peaks[1]:
        found.append(Change("memory", "", "", "", {"hbm_peak_bytes": peaks[0]}, {"hbm_peak_bytes": peaks[1]}, 0))
    waste, then_waste = ((result.report.get("padding") or {}).get("allocated_waste_pct") for result in (first, then))
    if waste is not None and then_waste is not None and abs(then_waste - waste) >= _LEAST_PADDING:
        found.append(Change("padding", "", "", "", {"allocated_waste_pct": waste}, {"allocated_waste_pct": then_waste}, 0))
    return found


def _step_ps(result: Before) -> Optional[int]:
    return (result.report.get("prediction") or {}).get("step_ps")


def _vmem(result: Before) -> Optional[int]:
    modules = (result.report.get("capacity") or {}).get("modules") or []
    return modules[0].get("onchip_peak_bytes") if modules else None


def _module(result: Before) -> same.Module:
    try:
        with open(os.path.join(os.path.dirname(result.path), job.TEXT), encoding="utf-8") as file:
            return same.parse(file.read())
    except OSError as e:
        raise TpusightError(f"what the compiler made cannot be read: {e}") from e


def _less(then: Optional[int], first: Optional[int]) -> Optional[int]:
    return None if then is None or first is None else then - first


def _pct(change: Optional[float], of: Optional[float]) -> Optional[float]:
    return None if change is None or not of else 100 * change / of


def compare(first: Compiled, then: Compiled) -> Compared:
    """What the library of THEN makes of the program that FIRST has; both compiled it."""
    assert first.result and then.result
    one, two = first.result, then.result
    steps = _step_ps(one), _step_ps(two)
    instructions = same.differences(_module(one), _module(two))
    equal = instructions[1] == instructions[2] == 0 and one.peak_bytes == two.peak_bytes and steps[0] == steps[1]
    changes = [] if equal else _of_ops(_ops(one), _ops(two)) + _of_figures(one, two)
    step_change = _less(steps[1], steps[0])
    left = (step_change or 0) - sum(change.change_ps for change in changes)
    changes.sort(key=lambda change: -abs(change.change_ps))
    if left:
        changes.append(Change(OTHER, "", "", "", None, None, left))
    hbm = _less(two.peak_bytes, one.peak_bytes)
    return Compared(then.topology, first.library.name, then.library.name, equal, _pct(step_change, steps[0]), step_change, hbm,
                    _pct(hbm, one.peak_bytes), _less(_vmem(two), _vmem(one)), instructions, changes, steps)


def _signed(unit: str, value: float) -> str:
    return ("+" if value > 0 else "-" if value < 0 else "") + _show.number(unit, abs(value))


def _memory_said(compared: Compared) -> str:
    said = []
    for what, change in (("HBM at the peak", compared.hbm_peak_change_bytes), ("VMEM", compared.vmem_peak_change_bytes)):
        if change:
            said.append(f"{what} {_signed('bytes', change)}")
        elif change == 0 and what.startswith("HBM"):
            said.append(f"{what} unchanged")
    return ", ".join(said)


def verdict(compared: Compared) -> str:
    """One line."""
    both, gone, new = compared.instructions
    head = f"{compared.version} against {compared.baseline} on {compared.topology}: "
    if compared.equal:
        return f"{head}equal: {both} of {both} ops"
    steps = compared.steps_ps
    if steps[0] is None or steps[1] is None:
        step = "the step is unknown"
    elif abs(compared.step_change_pct or 0) < _TOLD_PCT:
        step = f"step unchanged ({_show.number('_ps', steps[0])})"
    else:
        step = f"step {compared.step_change_pct:+.1f} % ({_show.number('_ps', steps[0])} -> {_show.number('_ps', steps[1])})"
    others = f"{max(gone, new)} of {both + max(gone, new)} ops are others" if gone or new else f"the same {both} ops"
    return ", ".join(filter(None, [head + step, _memory_said(compared), others]))


def _side(values: Optional[Dict[str, Any]]) -> str:
    if not values:
        return "-"
    for name, unit in (("time_ps", "_ps"), ("hbm_peak_bytes", "bytes"), ("allocated_waste_pct", "_pct")):
        if name in values:
            return _show.number(unit, values[name])
    return ""


def _told(change: Change) -> str:
    opcode = ((change.after or change.before) or {}).get("opcode")
    where = " ".join(filter(None, [change.scope, f"({change.source})" if change.source else ""]))
    sides = "" if change.kind == OTHER else f"{_side(change.before)} -> {_side(change.after)}"
    time = _signed("_ps", change.change_ps) if change.change_ps else ""
    kind = _WORDS.get(change.kind, change.kind.replace("_", " "))
    return f"  {time:>10}  {kind}: {', '.join(filter(None, [opcode or '', where, sides]))}".rstrip(": ")


def text(compared: Compared) -> str:
    """The verdict, and the changes, the largest first."""
    least = _TOLD_PCT / 100 * (compared.steps_ps[0] or 0)
    shown = [change for change in compared.changes
             if abs(change.change_ps) > least or change.kind in ("memory", "padding", "collective_changed")][:_MOST]
    lines = [verdict(compared)] + [_told(change) for change in shown]
    left = [change for change in compared.changes if change not in shown]
    if left:
        changed = sum(change.change_ps for change in left)
        lines.append(f"  {len(left)} smaller change{'s' if len(left) > 1 else ''}, {_signed('_ps', changed)} in all (--json has each)")
    return "\n".join(lines) + "\n"


class Upgrade:
    """A program as several libtpus compile it: before(..., libtpu=[...]). The first library is the baseline of the others.

    `compiled` has a Compiled for each library and slice, `compared` a Compared for each library but the first that compiled it."""

    def __init__(self, compiled: List[Compiled]) -> None:
        self.compiled = compiled
        baselines = {one.topology: one for one in reversed(compiled) if one.library == compiled[0].library}
        self.compared = [compare(baselines[one.topology], one) for one in compiled
                         if one is not baselines[one.topology] and one.result and baselines[one.topology].result]

    @property
    def errors(self) -> List[str]:
        """What did not compile."""
        return [f"{one.library.name} on {one.topology}: {one.error}" for one in self.compiled if one.error]

    def answer(self) -> Dict[str, Any]:
        """All of it, for machines."""
        return {"schema": SCHEMA, "libtpu": [one.row() for one in self.compiled], "compare": [one.row() for one in self.compared]}

    def verdicts(self, gates: List[gate.Gate]) -> List[Tuple[str, gate.Verdict]]:
        """What each gate says, with what it is said of: of a comparison, where it names a figure of one, else of each program."""
        found = []
        for one in gates:
            if one.name in GATES:
                found += [(f"{compared.version} on {compared.topology}", gate.judge(one, compared.figures(), {}))
                          for compared in self.compared]
            else:
                found += [(f"{made.library.name} on {made.topology}", gate.judge(one, gate.figures(made.result), {}))
                          for made in self.compiled if made.result]
        return found

    def __str__(self) -> str:
        return "".join(text(one) for one in self.compared) + "".join(f"{error}\n" for error in self.errors)
