# SPDX-License-Identifier: MIT
"""Figures and names as people read them, in text and in notebooks: short, with their units."""
import html
import math
from typing import Any, List, Optional, Sequence, Tuple

WIDEST = 80  # characters of a name in a table or of a line of text; C++ has names of thousands
_FACTORS = {"_ps": 1e-12, "_ns": 1e-9, "_us": 1e-6, "_ms": 1e-3, "_s": 1.0}
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
_ROUNDS = 0.9995  # of a unit is shown as one
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_COUNTS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def middle(text: str, widest: int = WIDEST) -> str:
    """TEXT in at most WIDEST characters: what is too long loses its middle, for names differ at both ends."""
    if len(text) <= widest:
        return text
    head = widest // 2
    return text[:head] + "…" + text[len(text) - (widest - head - 1):]


def unit_of(name: str) -> str:
    """The unit of time at the end of a column's name ("_ps", "_us" ...); "" where the column is not a time."""
    if name.endswith("_per_s"):
        return ""
    return next((end for end in _FACTORS if name.endswith(end)), "")


def _step(value: float, steps: Sequence[Tuple[float, str]]) -> Tuple[float, str]:
    return next(((factor, said) for factor, said in steps if abs(value) >= factor * _ROUNDS), steps[-1])


def unit_of_bytes(most: float) -> Tuple[float, str]:
    """(bytes, name) of the unit in which sizes up to MOST read best."""
    return _step(most, _BYTES)


def unit_of_time(most_ps: float) -> Tuple[float, str]:
    """(ps, name) of the unit in which times up to MOST_PS read best."""
    factor, name = _step(most_ps * 1e-12, _SECONDS)
    return factor * 1e12, name


def _scaled(value: float, steps: Sequence[Tuple[float, str]], unit: str = "") -> str:
    """In the digits of the console: src/base/units.c."""
    factor, letter = _step(value, steps)
    scaled = value / factor
    digits = 1 if abs(scaled) >= 9.995 else 2
    if abs(scaled) >= 99.95 or (factor, letter) == steps[-1]:
        digits = int(scaled != int(scaled))
    return f"{scaled:.{digits}f} {letter}{unit}".rstrip()


def number(name: str, value: float) -> str:
    """A figure of the column NAME, with the unit that the name says."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if name.endswith("_pct"):
        return f"{value:.1f} %"
    if name.endswith("bytes_per_s"):
        return _scaled(value, _COUNTS, "B/s")
    if name.endswith("flops_per_s"):
        return _scaled(value, _COUNTS, "FLOP/s")
    if name.endswith("bytes"):
        return _scaled(value, _BYTES)
    if name == "flops" or name.endswith("_per_s"):
        return _scaled(value, _COUNTS, "/s" if name.endswith("_per_s") else "")
    end = unit_of(name)
    if end:
        return _scaled(value * _FACTORS[end], _SECONDS) if value else "0 s"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def cell(name: str, value: Any, widest: int = WIDEST) -> str:
    """A value of the column NAME as text."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return number(name, value)
    if isinstance(value, (list, tuple)):
        return middle(", ".join(cell("", item, widest) for item in value[:3]) + (", …" if len(value) > 3 else ""), widest)
    if isinstance(value, dict):
        return middle(", ".join(f"{key} {cell(str(key), item, widest)}" for key, item in value.items()), widest)
    return middle(str(value), widest)


def td(name: str, value: Any, widest: int = WIDEST) -> str:
    """A cell of an HTML table. A name that was cut is whole in the cell's tip, as far as people would read it."""
    shown = html.escape(cell(name, value, widest))
    if isinstance(value, str) and len(value) > widest:
        return f'<td title="{html.escape(middle(value, 300))}">{shown}</td>'
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td style="text-align:right">{shown}</td>'
    return f"<td>{'<i>unknown</i>' if value is None else shown}</td>"


def html_table(columns: Sequence[str], rows: Sequence[Any], more: str = "", widest: int = WIDEST) -> str:
    """ROWS (dicts) as an HTML table; MORE is a sentence below it."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(td(name, row.get(name), widest) for name in columns) + "</tr>" for row in rows)
    foot = f"<tr><td colspan={max(len(columns), 1)}>{html.escape(more)}</td></tr>" if more else ""
    return f"<table><tr>{head}</tr>{body}{foot}</table>"


def text_table(columns: Sequence[str], rows: Sequence[Any], widest: int = 32) -> List[str]:
    """ROWS (dicts) as lines of text, each column as wide as it must be; figures stand to the right."""
    cells = [[cell(name, row.get(name), widest) for name in columns] for row in rows]
    widths = [max([len(name), *(len(line[n]) for line in cells)]) for n, name in enumerate(columns)]
    right = [any(isinstance(row.get(name), (int, float)) and not isinstance(row.get(name), bool) for row in rows)
             for name in columns]

    def line(texts: Sequence[str]) -> str:
        return "  ".join(text.rjust(width) if is_right else text.ljust(width)
                         for text, width, is_right in zip(texts, widths, right)).rstrip()
    return [line(columns), *map(line, cells)]


def first_some(names: Optional[Sequence[str]], columns: Sequence[str], rows: Sequence[Any], most: int) -> List[str]:
    """Which columns people see: of NAMES (None: of all) those that are known in a row, MOST of them."""
    wanted = [name for name in (names or columns) if name in columns]
    known = [name for name in wanted if any(row.get(name) is not None for row in rows)]
    return (known or wanted)[:most]
