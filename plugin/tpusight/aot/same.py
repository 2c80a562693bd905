# SPDX-License-Identifier: MIT
"""Whether two compiled modules are the same but for what has no meaning: numbers in names, channels, where in a table a frame stands, what
the compiler writes for its own debugging.

A module is a bag of instructions, each said without names: its shape, with layout and memory; its opcode; the shapes of its operands; its
attributes. A computation that it calls is part of it. What is computed within a fusion lies in no memory, whatever its shape says.
"""
import collections
import hashlib
import re
from typing import Counter, Dict, List, NamedTuple, Set, Tuple

_INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = (.*)$")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) (?:\(.*\) -> .* )?\{$")
_NAME = re.compile(r"%([\w.\-]+)")
_NO_MEANING = ("metadata", "backend_config", "sharding", "channel_id", "frontend_attributes", "origin", "control-predecessors")
_CALLS = ("calls=", "to_apply=", "called_computations=")
_FUSED = re.compile(r" fusion\(.*?\bcalls=%([\w.\-]+)")
_MEMORY = re.compile(r"S\(\d+\)(?=\})")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"?')
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def _end_of(text: str, at: int) -> int:
    """Behind the bracket, or the quote, that closes the one at AT; what is quoted has no brackets."""
    closing: List[str] = []
    while at < len(text):
        found = _QUOTED.match(text, at)
        if found:
            at = found.end()
        else:
            if text[at] in _PAIRS:
                closing.append(_PAIRS[text[at]])
            elif closing and text[at] == closing[-1]:
                closing.pop()
            at += 1
        if not closing:
            break
    return at


def _parted(text: str) -> List[str]:
    """TEXT by its commas, but for those within brackets and quotes."""
    found, begin, at = [], 0, 0
    while at < len(text):
        if text[at] in _PAIRS or text[at] == '"':
            at = _end_of(text, at)
        else:
            if text[at] == ",":
                found.append(text[begin:at].strip())
                begin = at + 1
            at += 1
    found.append(text[begin:].strip())
    return [part for part in found if part]


class _Line(NamedTuple):
    shape: str
    opcode: str
    operands: str
    attributes: List[str]


def _line(text: str) -> _Line:
    """The parts of an instruction; TEXT is what follows its name and the equals sign."""
    end = _end_of(text, 0) if text.startswith("(") else text.find(" ")
    shape, rest = text[:end], text[end:].strip()
    at = rest.find("(")
    close = _end_of(rest, at)
    return _Line(shape, rest[:at], rest[at + 1:close - 1], _parted(rest[close:].lstrip(", ")))


def _counted(dims: List[int], order: List[int], size: int) -> List[List[int]]:
    """Devices, numbered along DIMS, in the ORDER of those, SIZE by SIZE."""
    strides = [1] * len(dims)
    for n in range(len(dims) - 2, -1, -1):
        strides[n] = strides[n + 1] * dims[n + 1]
    flat = [0]
    for n in order:
        flat = [at + step * strides[n] for at in flat for step in range(dims[n])]
    return [flat[n:n + size] for n in range(0, len(flat), size)]


def _groups(text: str) -> str:
    """Who meets whom in a collective, which compilers of different years write in four ways: one group of all says nothing else."""
    listed = re.fullmatch(r"\{(\{[\d,{} ]*\})?\}", text)
    iota = re.fullmatch(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text)
    mesh = re.fullmatch(r"mesh\[([^\]]*)\] \{([^}:]*)\}", text)
    groups: List[List[int]] = []
    if listed:
        groups = [[int(n) for n in part.split(",")] for part in re.findall(r"\{([\d, ]+)\}", listed[1] or "")]
    elif iota:
        dims = [int(n) for n in iota[3].split(",")]
        order = [int(n) for n in iota[4].split(",")] if iota[4] else list(range(len(dims)))
        groups = _counted(dims, order, int(iota[2]))
    elif mesh:
        axes = re.findall(r"'([^']*)'=(\d+)", mesh[1])
        along = [[name for name, _ in axes].index(name) for name in re.findall(r"'([^']*)'", mesh[2])]
        size = 1
        for n in along:
            size *= int(axes[n][1])
        groups = _counted([int(count) for _, count in axes], [n for n in range(len(axes)) if n not in along] + along, size)
    else:
        return text
    return "all" if len(groups) < 2 else str(groups)


def _attribute(part: str, digests: Dict[str, str]) -> str:
    name, _, value = part.partition("=")
    return f"{name}={_groups(value)}" if name == "replica_groups" else _NAME.sub(lambda name: digests.get(name[1], name[1]), part)


def _said(line: _Line, is_root: bool, shapes: Dict[str, str], digests: Dict[str, str]) -> str:
    operands = _NAME.sub(lambda name: shapes.get(name[1], name[1]), line.operands)
    kept = [part for part in line.attributes if part.partition("=")[0] not in _NO_MEANING]
    attributes = [_attribute(part, digests) for part in sorted(kept)]
    return f"{'ROOT ' if is_root else ''}{line.shape} {line.opcode}({operands}) {', '.join(attributes)}"


#: The entry's instructions and those of its loops, with all that they call; nothing of them depends on a name.
Module = Counter[str]


def parse(text: str) -> Module:
    """The Module of HLO as text, as the compiler prints it: callees stand in front of callers."""
    fused = set(_FUSED.findall(text))
    digests: Dict[str, str] = {}
    computations: Dict[str, List[str]] = {}
    inner: Set[str] = set()  # parts of an instruction
    lines: List[str] = []
    shapes: Dict[str, str] = {}
    name = ""
    for row in text.splitlines():
        begins = _COMPUTATION.match(row)
        if begins:
            name, lines, shapes = begins[1], [], {}
            computations[name] = lines
        elif row.startswith("}") and name:
            digests[name] = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]
            name = ""
        elif name:
            found = _INSTRUCTION.match(row)
            if found:
                line = _line(_MEMORY.sub("", found[3]) if name in fused else found[3])
                shapes[found[2]] = line.shape
                lines.append(_said(line, bool(found[1]), shapes, digests))
                inner.update(called for part in line.attributes if part.startswith(_CALLS) for called in _NAME.findall(part))
    return collections.Counter(line for name, lines in computations.items() if name not in inner for line in lines)


def differences(before: Module, after: Module) -> Tuple[int, int, int]:
    """(in both, only in BEFORE, only in AFTER) instructions."""
    both = sum((before & after).values())
    return both, sum(before.values()) - both, sum(after.values()) - both
