# SPDX-License-Identifier: MIT
"""Scaling on paper: one program on several slices, as a table and a picture."""
import html
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .. import _show
from . import gate

if TYPE_CHECKING:
    from .result import Before

COLUMNS = ("topology", "devices", "step_ps", "step_low_ps", "step_high_ps", "speedup", "efficiency_pct", "collectives_pct", "peak_bytes",
           "peak_memory_pct", "fits")
_PAYS_PCT = 50.0  # of the devices' work that must still be gained when they are more
_WIDE, _HIGH, _LEFT, _TOP = 640, 150, 70, 34


def rows(results: "List[Before]") -> List[Dict[str, Any]]:
    """A row a slice. Efficiency: what of the first slice's speed each device keeps, for the same work."""
    found = []
    first: Optional[Dict[str, Any]] = None
    for before in results:
        figures = gate.figures(before)
        row: Dict[str, Any] = {"topology": before.topology, "devices": before.facts.get("device_count"),
                               "step_ps": figures.get("prediction.step_ps"), "step_low_ps": figures.get("prediction.step_low_ps"),
                               "step_high_ps": figures.get("prediction.step_high_ps"), "collectives_pct": figures.get("collectives"),
                               "peak_bytes": before.peak_bytes, "peak_memory_pct": figures.get("peak_memory"), "fits": before.fits}
        first = first or row
        faster = first["step_ps"] / row["step_ps"] if first["step_ps"] and row["step_ps"] else None
        more = row["devices"] / first["devices"] if first["devices"] and row["devices"] else None
        row.update(speedup=faster, efficiency_pct=100 * faster / more if faster and more else None)
        found.append(row)
    return found


def verdict(table: List[Dict[str, Any]]) -> str:
    """Which slice is enough, and from where on more devices do not pay."""
    enough = next((row for row in table if row["fits"]), None)
    if not enough:
        return "it fits on none of these"
    said = f"{enough['topology']} is enough to hold it"
    last = enough
    for row in table[table.index(enough) + 1:]:
        if not row["step_ps"] or not last["step_ps"]:
            continue
        faster, more = last["step_ps"] / row["step_ps"], row["devices"] / last["devices"]
        gained = 100 * (faster - 1) / (more - 1) if more != 1 else 0
        if gained < _PAYS_PCT:
            return said + (f"; {row['topology']} does not pay: {more:g} times the devices of {last['topology']} for {faster:.2f} times the "
                           "speed")
        last = row
    return said + (f"; each larger one pays, up to {last['topology']}" if last is not enough else "")


def text(table: List[Dict[str, Any]]) -> str:
    """The table for people."""
    shown = _show.first_some(COLUMNS, COLUMNS, table, len(COLUMNS))
    return "\n".join(["Scaling on paper", *("  " + line for line in _show.text_table(shown, table)), "  " + verdict(table)]) + "\n"


def _bars(table: List[Dict[str, Any]], name: str, title: str, unit: str, top: int) -> str:
    """One row of the picture: a bar a slice."""
    most = max([row[name] or 0 for row in table] + [1e-30])
    wide = (_WIDE - _LEFT) / max(len(table), 1)
    parts = [f'<text x="8" y="{top - 12}" class="title">{html.escape(title)}</text>']
    for number, row in enumerate(table):
        value = row[name]
        high = 0 if value is None else (_HIGH - 50) * value / most
        x, base = _LEFT + number * wide, top + _HIGH - 50
        said = "unknown" if value is None else _show.number(unit, value)
        parts.append(f'<rect x="{x:.1f}" y="{base - high:.1f}" width="{wide * 0.6:.1f}" height="{high:.1f}"><title>'
                     f'{html.escape(row["topology"])}: {html.escape(said)}</title></rect>'
                     f'<text x="{x:.1f}" y="{base - high - 4:.1f}">{html.escape(said)}</text>'
                     f'<text x="{x:.1f}" y="{base + 15:.1f}">{html.escape(row["topology"])}</text>')
    return "".join(parts)


def svg(table: List[Dict[str, Any]]) -> str:
    """The picture: step, memory of a device, share of collectives."""
    panels = (("step_ps", "predicted step", "_ps"), ("peak_memory_pct", "memory of a device at the peak", "_pct"),
              ("collectives_pct", "share of the step that waits for collectives", "_pct"))
    drawn = "".join(_bars(table, name, title, unit, _TOP + _HIGH * n) for n, (name, title, unit) in enumerate(panels))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_TOP + _HIGH * len(panels)}" role="img" '
            'aria-label="Scaling on paper"><style>text{font:12px sans-serif;fill:#202124}.title{font-weight:bold}rect{fill:#1a73e8}</style>'
            f'<rect width="100%" height="100%" style="fill:#fff"/>{drawn}</svg>\n')


def page(name: str, table: List[Dict[str, Any]]) -> str:
    """The picture and the table as a page."""
    shown = _show.first_some(COLUMNS, COLUMNS, table, len(COLUMNS))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(name)}: scaling on paper</title>'
            '<style>body{font:14px sans-serif;max-width:60em;margin:2em auto}td,th{padding:.2em .6em;text-align:left}</style>'
            f"<h1>{html.escape(name)}: scaling on paper</h1><p>Predicted, not measured: {html.escape(verdict(table))}.</p>"
            f"{svg(table)}{_show.html_table(shown, table)}</html>\n")
