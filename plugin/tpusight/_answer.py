# SPDX-License-Identifier: MIT
"""What objects that hold an answer have in common: a plain form for JSON, and a table for notebooks."""
import dataclasses
import html
import json
import os
from typing import Any, Dict, List, Optional, Tuple

from . import _show
from ._program import TpusightError
from ._trace import Trace
from ._unknown import UNKNOWN, Unknown
from ._whole import new_file
from .table import Table

_MOST_ROWS = 10  # of a list in a notebook
_MOST_LINES = 5  # of a list in text
_MOST_COLUMNS = 12  # of a list in a notebook
_MOST_FIGURES = 60
_LONGEST = 500  # characters of a sentence in a notebook
_IN_LINE = 40  # of one of several values in a line


def us(ps: Optional[float]) -> float:
    """Microseconds of picoseconds."""
    return UNKNOWN if ps is None else ps / 1e6


def ms(ps: Optional[float]) -> float:
    """Milliseconds of picoseconds."""
    return UNKNOWN if ps is None else ps / 1e9


def mb(nr_bytes: Optional[float]) -> float:
    """Megabytes of 2^20 bytes, as torch and the program have them."""
    return UNKNOWN if nr_bytes is None else nr_bytes / 2**20


def plain(value: Any) -> Any:
    """VALUE of what json can write: objects as their to_dict() or fields, paths as text, what is unknown as None."""
    if isinstance(value, Unknown):
        return None
    for method in ("to_dict", "to_dicts"):
        if hasattr(value, method):
            return getattr(value, method)()
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def write_json(path: Any, value: Any, trace: Optional[Trace] = None) -> None:
    """Writes plain(VALUE) to the file PATH, which is the old one or the new one, whole. It is not the TRACE that the value was
    made of, and open to nobody to whom that is not open."""
    if trace and os.path.exists(path) and any(os.path.samefile(path, of) for of in filter(os.path.exists, trace.files())):
        raise TpusightError(f"{os.fspath(path)} is the trace itself (name another file)")
    with new_file(path, limit=trace.mode() if trace else 0o666) as file:
        json.dump(plain(value), file, indent=1)
        file.write("\n")


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _figures(fields: Dict[str, Any]) -> str:
    """A line a figure; those of a dict a line each."""
    flat: Dict[str, Any] = {}
    for name, value in fields.items():
        flat.update({f"{name}: {key}": item for key, item in value.items()} if isinstance(value, dict) else {name: value})
    return "".join(f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>{_show.td(str(name), value)}</tr>"
                   for name, value in list(flat.items())[:_MOST_FIGURES])


def _table(name: str, rows: List[Dict[str, Any]]) -> str:
    more = f"... {len(rows)} in all" if len(rows) > _MOST_ROWS else ""
    columns = list(rows[0])[:_MOST_COLUMNS]
    return f"<p><b>{html.escape(name)}</b></p>" + _show.html_table(columns, rows[:_MOST_ROWS], more)


def _points(name: str, items: List[Any]) -> str:
    said = "".join(f"<li>{html.escape(_show.cell('', item, _LONGEST))}</li>" for item in items[:_MOST_ROWS])
    return f"<p><b>{html.escape(name)}</b></p><ul>{said}</ul>"


def as_table(fields: Dict[str, Any], title: str = "") -> str:
    """HTML of a dict, short: what is slow first, then a table of names and figures (unknown ones say so), then its lists."""
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    lists = {name: value for name, value in fields.items() if isinstance(value, list) and value}
    first = [_points(name, lists.pop(name)) for name in SAID[:1] if name in lists]
    figures = _figures({name: "none" if value == [] else value for name, value in fields.items() if name not in lists and
                        not (name in SAID and value)})
    rest = [_table(name, value) if _is_rows(value) else _points(name, value) for name, value in lists.items()]
    return "".join([*first, f"<table>{caption}{figures}</table>", *rest])


def _line(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return format(value, ".4g")
    if isinstance(value, dict):
        return ", ".join(f"{name} {_show.middle(_line(item), _IN_LINE)}" for name, item in value.items())
    return _show.middle(str(value))


def _lines(name: str, value: Any) -> List[str]:
    """The lines of a field in text; of a list or a dict the first ones."""
    if not isinstance(value, (list, dict)) or not value:
        return [f"{name}: {'none' if value in ([], {}) else _line(value)}"]
    items = [f"{key}: {_line(item)}" for key, item in value.items()] if isinstance(value, dict) else list(map(_line, value))
    more = [f"  ... {len(items)} in all"] if len(items) > _MOST_LINES else []
    return [f"{name}:", *(f"  {item}" for item in items[:_MOST_LINES]), *more]


@dataclasses.dataclass
class Plain:
    """A dataclass that json can write and notebooks show. Fields that begin with _ are not part of it. A figure, which is a field
    that begins as UNKNOWN, is never None."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_figure = value is None and getattr(type(self), name, None) is UNKNOWN
        super().__setattr__(name, UNKNOWN if is_figure else value)

    def to_dict(self) -> Dict[str, Any]:
        """The fields, of what json can write; what all answers have comes last."""
        names = [field.name for field in dataclasses.fields(self) if not field.name.startswith("_")]
        return {name: plain(getattr(self, name)) for name in sorted(names, key=lambda name: name in SAID)}

    def table(self, name: str) -> Table:
        """A list of the object's as a Table, which filters, sorts and becomes a DataFrame: table("kernels"). Of an answer of the
        program also any table in `answer`: table("idle_causes")."""
        rows = self.to_dict().get(name)
        if rows is None:
            rows = getattr(self, "answer", {}).get(name)
        if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise TpusightError(f"{type(self).__name__} has no table {name} (it has: {', '.join(self.tables())})")
        return Table(rows, name)

    def tables(self) -> List[str]:
        """The names of the tables that have rows."""
        found = {**getattr(self, "answer", {}), **self.to_dict()}
        return [name for name, rows in found.items() if _is_rows(rows)]

    def __str__(self) -> str:
        return "\n".join([type(self).__name__, *(line for field in self.to_dict().items() for line in _lines(*field))])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_table(self.to_dict(), type(self).__name__)


SAID: Tuple[str, ...] = ("bottlenecks", "recommendations", "notes")


@dataclasses.dataclass(repr=False)
class Answer(Plain):
    """What the program said of a trace. An unknown figure is UNKNOWN, never 0."""
    bottlenecks: List[str] = dataclasses.field(default_factory=list)
    recommendations: List[str] = dataclasses.field(default_factory=list)
    notes: List[str] = dataclasses.field(default_factory=list)
    _answer: Dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    _trace: Optional[Trace] = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def answer(self) -> Dict[str, Any]:
        """All that the program said, with the names of docs/analyses."""
        return self._answer


def said(answer: Dict[str, Any], trace: Trace) -> Dict[str, Any]:
    """Fields of an Answer: what every command of the program says of a trace."""
    return {**{name: answer.get(name, []) for name in SAID}, "_answer": answer, "_trace": trace}
