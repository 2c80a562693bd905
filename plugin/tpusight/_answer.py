# SPDX-License-Identifier: Apache-2.0
"""What objects that hold an answer have in common: a plain form for JSON, and a table for notebooks."""
import dataclasses
import html
import json
import os
from typing import List, Optional

from ._program import TpusightError
from ._trace import Trace
from ._whole import new_file

_MOST_ROWS = 10  # of a list in a notebook
_MOST_LINES = 5  # of a list in text
_WIDEST = 80  # characters of a name in a table or of a line of text; C++ has names of thousands
_IN_LINE = 40  # of one of several values in a line


def us(ps):
    """Microseconds of picoseconds; unknown stays None."""
    return None if ps is None else ps / 1e6


def ms(ps):
    """Milliseconds of picoseconds; unknown stays None."""
    return None if ps is None else ps / 1e9


def mb(nr_bytes):
    """Megabytes of 2^20 bytes, as torch and the program have them; unknown stays None."""
    return None if nr_bytes is None else nr_bytes / 2**20


def plain(value):
    """VALUE of what json can write: objects as their to_dict() or fields, paths as text."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def write_json(path, value, trace=None):
    """Writes plain(VALUE) to the file PATH, which is the old one or the new one, whole. It is not the TRACE that the value was
    made of, and open to nobody to whom that is not open."""
    if trace and os.path.exists(path) and any(os.path.samefile(path, of) for of in filter(os.path.exists, trace.files())):
        raise TpusightError(f"{os.fspath(path)} is the trace itself (name another file)")
    with new_file(path, limit=trace.mode() if trace else 0o666) as file:
        json.dump(plain(value), file, indent=1)
        file.write("\n")


def _shown(value):
    if value is None:
        return "<i>unknown</i>"
    if isinstance(value, float):
        return format(value, ".4g") if abs(value) < 1000 else format(value, ",.0f")
    return html.escape(str(value))


def _cut(text, widest=_WIDEST):
    return text if len(text) <= widest else text[:widest - 3] + "..."


def _in_table(value):
    if isinstance(value, str) and len(value) > _WIDEST:
        return f"<td title='{html.escape(value)}'>{html.escape(_cut(value))}</td>"
    return f"<td>{_shown(value)}</td>"


def _rows(items):
    names = list(items[0])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(_in_table(item.get(name)) for name in names) + "</tr>"
                   for item in items[:_MOST_ROWS])
    more = f"<tr><td colspan={len(names)}>... {len(items)} in all</td></tr>" if len(items) > _MOST_ROWS else ""
    return f"<table><tr>{head}</tr>{body}{more}</table>"


def _cell(value):
    if isinstance(value, dict):
        return as_table(value)
    if isinstance(value, list) and value:
        return _rows(value) if isinstance(value[0], dict) else "<br>".join(_shown(item) for item in value[:_MOST_ROWS])
    return "none" if value == [] else _shown(value)


def as_table(fields, title=""):
    """An HTML table of a dict: names and values; unknown ones say so."""
    caption = f"<caption>{html.escape(title)}</caption>" if title else ""
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(str(name))}</th><td>{_cell(value)}</td></tr>"
                   for name, value in fields.items())
    return f"<table>{caption}{rows}</table>"


def _line(value):
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return format(value, ".4g")
    if isinstance(value, dict):
        return ", ".join(f"{name} {_cut(_line(item), _IN_LINE)}" for name, item in value.items())
    return _cut(str(value))


def _lines(name, value):
    """The lines of a field in text; of a list or a dict the first ones."""
    if not isinstance(value, (list, dict)) or not value:
        return [f"{name}: {'none' if value in ([], {}) else _line(value)}"]
    items = [f"{key}: {_line(item)}" for key, item in value.items()] if isinstance(value, dict) else list(map(_line, value))
    more = [f"  ... {len(items)} in all"] if len(items) > _MOST_LINES else []
    return [f"{name}:", *(f"  {item}" for item in items[:_MOST_LINES]), *more]


@dataclasses.dataclass
class Plain:
    """A dataclass that json can write and notebooks show. Fields that begin with _ are not part of it."""

    def to_dict(self):
        """The fields, of what json can write; what all answers have comes last."""
        names = [field.name for field in dataclasses.fields(self) if not field.name.startswith("_")]
        return {name: plain(getattr(self, name)) for name in sorted(names, key=lambda name: name in SAID)}

    def __str__(self):
        return "\n".join([type(self).__name__, *(line for field in self.to_dict().items() for line in _lines(*field))])

    def _repr_html_(self):
        return as_table(self.to_dict(), type(self).__name__)


SAID = ("bottlenecks", "recommendations", "notes")


@dataclasses.dataclass
class Answer(Plain):
    """What the program said of a trace. Unknown is None, never 0."""
    bottlenecks: List[str] = dataclasses.field(default_factory=list)
    recommendations: List[str] = dataclasses.field(default_factory=list)
    notes: List[str] = dataclasses.field(default_factory=list)
    _answer: dict = dataclasses.field(default_factory=dict, repr=False)
    _trace: Optional[Trace] = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def answer(self):
        """All that the program said, with the names of docs/analyses."""
        return self._answer


def said(answer, trace):
    """Fields of an Answer: what every command of the program says of a trace."""
    return {**{name: answer.get(name, []) for name in SAID}, "_answer": answer, "_trace": trace}
