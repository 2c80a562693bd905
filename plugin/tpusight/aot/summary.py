# SPDX-License-Identifier: MIT
"""What matters of a program before it runs, in sentences."""
import html
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .. import _show
from .._fields import Fields
from . import activations
from .shapes import mesh_text

if TYPE_CHECKING:
    from .result import Before

_MOST = 3  # rows of a list in a sentence


def size(nr_bytes: Optional[float]) -> str:
    return "unknown" if nr_bytes is None else _show.number("bytes", nr_bytes)


def time(ps: Optional[float]) -> str:
    return "unknown" if ps is None else _show.number("_ps", ps)


def share(pct: Optional[float]) -> str:
    return "unknown" if pct is None else f"{pct:.1f} %"


def _where(before: "Before") -> str:
    facts = before.facts
    if "device_count" not in facts:
        return f"{before.topology} (compiled before)"
    count = facts["device_count"]
    mesh = facts.get("mesh")
    return f"{before.topology} ({f'{count} devices, mesh {mesh_text(mesh)}' if mesh else 'one chip'})"


def fits_sentence(before: "Before") -> str:
    """Whether it fits, by how much, and by what it would."""
    fields = before.report.get("capacity") or {}
    peak, whole = before.peak_bytes, fields.get("hbm_bytes")
    of = f"{size(peak)} of {size(whole)}" + (f" ({100 * peak / whole:.1f} %)" if peak is not None and whole else "")
    if before.fits is None:
        return f"whether it fits is unknown: it holds {of}"
    if before.fits:
        return f"fits: at its peak it holds {of} of a device's memory"
    why = f"; the compiler says: {before.error.splitlines()[0]}" if before.error else ""
    return f"does not fit: it would hold {of} of a device's memory" + why


def _named(row: Dict[str, Any]) -> str:
    return str(row.get("framework_op") or row.get("op") or row.get("name"))


def _unsplit(before: "Before") -> List[str]:
    """A mesh along which nothing is split is a mistake: each device does what one would."""
    sizes = before.facts.get("mesh") or {}
    axes = [(axis, "both" if sizes[axis] == 2 else f"all {sizes[axis]}") for axis in before.facts.get("unsplit_axes") or []]
    return [f"warning: nothing is split along {axis}: {count} devices of it do the same work (split an argument along it: shardings=, "
            "--shardings, or in the shapes)" for axis, count in axes]


def _buffers(before: "Before") -> List[str]:
    rows = (before.report.get("capacity") or {}).get("buffers") or []
    said = [f"{_show.middle(_named(row), 48)} {size(row['bytes'])} ({row['kind']})" for row in rows[:_MOST]]
    return [f"largest at the peak: {', '.join(said)}"] if said else []


def _walked(before: "Before") -> List[str]:
    """Whose figures they are: sizes are the compiler's, buffers an estimate."""
    walk = before.walk
    if walk is None:
        return []
    off = walk["off_pct"]
    far = "within 0.1 % of" if abs(off) < 0.1 else f"{abs(off):.1f} % {'above' if off > 0 else 'below'}"
    return [f"its buffers are estimated, by a walk of the schedule: by that the peak is {far} libtpu's own"]


def _donations(before: "Before") -> List[str]:
    fields = before.report.get("capacity") or {}
    rows, saved = fields.get("donations") or [], fields.get("donation_bytes")
    if not rows or not saved:
        return []
    more = f" and {len(rows) - _MOST} more" if len(rows) > _MOST else ""
    names = ", ".join(_show.middle(_named(row), 32) for row in rows[:_MOST]) + more
    return [f"donate: {names} ({size(saved)} less where they are not needed afterwards)"]


def _rematerialized(before: "Before") -> List[str]:
    """What the forward pass keeps for the backward one, where that is what fills the memory."""
    found = activations.kept(before.report)
    if not activations.is_much(before.report, found, before.fits):
        return []
    named = [f"{one.name} {size(one.nr_bytes)}" + (f" in {one.nr_buffers} buffers" if one.nr_buffers > 1 else "") for one in found[:_MOST]]
    more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return [f"rematerialize: {', '.join(named)}{more} ({size(sum(one.nr_bytes for one in found))} at the peak are kept from the forward "
            "pass for the backward one; jax.checkpoint round what makes them computes them again)"]


def step_sentence(prediction: Dict[str, Any]) -> str:
    """The predicted step with its range, and what it is made of."""
    low, high, step = (prediction.get(name) for name in ("step_low_ps", "step_high_ps", "step_ps"))
    between = f" (between {time(low)} and {time(high)})" if low is not None and high is not None and low != high else ""
    if low is not None and high is None:  # an op may take any time: it counts with the least
        count = prediction.get("unknown_count") or 0
        between = f" (at least {time(low)}; no end is known, for want of the time of {count} op{'' if count == 1 else 's'})"
    hidden = [f"{word} {time(prediction.get(name))}" for name, word in (
        ("compute_ps", "compute"), ("exposed_dma_ps", "waiting for copies"), ("exposed_collective_ps", "waiting for collectives"))
        if prediction.get(name) is not None]
    return f"predicted step: {time(step)}{between}" + (f": {', '.join(hidden)}" if hidden else "")


def _lines(before: "Before") -> List[str]:
    report, facts = before.report, before.facts
    lines = [*_unsplit(before), fits_sentence(before), *_buffers(before), *_walked(before), *_donations(before), *_rematerialized(before)]
    if report.get("prediction"):
        lines.append(step_sentence(report["prediction"]))
    lines.append(f"padding: {share((report.get('padding') or {}).get('allocated_waste_pct'))} of what arrays take")
    if facts.get("compile_seconds") is not None:
        versions = facts.get("versions", {})
        version = versions.get("libtpu") or f"of unknown version, built on {versions.get('libtpu_built', 'an unknown day')}"
        lines.append(f"compiled in {facts['compile_seconds']:.1f} s by libtpu {version}")
    findings = (report.get("doctor") or {}).get("findings") or []
    return lines + [f"{finding['severity']}: {finding['title']}" for finding in findings]


class Summary(Fields):
    """A dict of the figures, whose keys are attributes; str() is text for people."""

    def __init__(self, before: "Before") -> None:
        report, fields = before.report, before.report.get("capacity") or {}
        prediction = report.get("prediction") or {}
        super().__init__({
            "name": before.name, "topology": before.topology, "device_count": before.facts.get("device_count"),
            "unsplit_axes": before.facts.get("unsplit_axes") or [], "fits": before.fits, "peak_bytes": before.peak_bytes,
            "hbm_bytes": fields.get("hbm_bytes"), "walk_off_pct": before.walk["off_pct"] if before.walk else None,
            "donation_bytes": fields.get("donation_bytes"), "kept_for_backward": [one._asdict() for one in activations.kept(report)],
            "padding_waste_pct": (report.get("padding") or {}).get("allocated_waste_pct"), "error": before.error,
            **{name: prediction.get(name) for name in ("step_ps", "step_low_ps", "step_high_ps", "compute_ps", "exposed_dma_ps",
                                                       "exposed_collective_ps", "collective_ps")},
            "compile_seconds": before.facts.get("compile_seconds"),
            "findings": (report.get("doctor") or {}).get("findings") or []})
        head = f"{before.name} on {_where(before)}: not run, predicted from what the compiler made"
        self.__dict__["_text"] = "\n  ".join([head, *_lines(before)])

    def __str__(self) -> str:
        return str(self.__dict__["_text"]) + "\n"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
