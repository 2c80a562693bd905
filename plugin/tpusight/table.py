# SPDX-License-Identifier: MIT
"""Tables of a report: lists of rows that filter and sort, and become a DataFrame of pandas, polars or Arrow on request.

None of the three is needed: each is imported by the method that is named after it, when that is called.
"""
import datetime
import html
import importlib
import json
import re
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    Union,
    overload,
)

from . import _show
from ._fields import Fields
from ._program import TpusightError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes
    from typing_extensions import Self

    from .session import Session

_MOST_ROWS = 10  # that people are shown
_MOST_COLUMNS = 9
_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
#: what `times` may be: the units, and "timedelta"
TIMES = (*_PS, "timedelta")
_FLOAT = re.compile(r"_(pct|per_s|us|ms|s)$|operational_intensity$")
_INTEGER = re.compile(r"_(ps|ns|bytes)$")
_INT64 = 1 << 63

# Which columns people see of tables that have many; the others stay in `columns`.
_SHOWN: Dict[str, Sequence[str]] = {
    "ops": ("name", "category", "self_time_ps", "occurrences", "mxu_utilization_pct", "hbm_bytes_per_s", "bound_by", "module",
            "source"),
    "findings": ("severity", "title", "gain_ps", "gain_pct", "confidence", "advice"),
    "roofline": ("kind", "name", "self_time_ps", "flops_per_s", "operational_intensity", "bound_by", "roofline_efficiency_pct",
                 "source"),
}


class _Column(NamedTuple):
    name: str
    kind: str  # int, float, bool, text or duration (of ns)
    values: List[Any]


def _kind(name: str, values: Iterable[Any]) -> str:
    """Of a column: what its name says comes first, so that a share of 0 and an empty column have the kind of the others."""
    known = [value for value in values if value is not None]
    types = {type(value) for value in known}
    if types - {int, float}:
        return "bool" if types == {bool} else "text"
    if _FLOAT.search(name) or float in types:
        return "float"
    if any(not -_INT64 <= value < _INT64 for value in known):
        return "float"
    return "int" if known or _INTEGER.search(name) else "text"


def _plain(value: Any) -> Any:
    """A value of a column of text; what is not one value is JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _scaled(values: Iterable[Any], of: str, to: str) -> List[Any]:
    return [None if value is None else value * _PS[of] / _PS[to] for value in values]


def _nanoseconds(values: Iterable[Any], of: str) -> List[Any]:
    """Whole nanoseconds, the nearest: no more is in a Timedelta."""
    return [None if value is None else (value * _PS[of] + 500) // 1000 if isinstance(value, int) else
            round(value * _PS[of] / 1000) for value in values]


def _column(name: str, values: List[Any], times: str) -> _Column:
    kind, of = _kind(name, values), _show.unit_of(name)[1:]
    if not of or kind not in ("int", "float") or times == of:
        return _Column(name, kind, [_plain(value) for value in values] if kind == "text" else values)
    stem = name[:-len(of) - 1]
    if times == "timedelta":
        return _Column(stem, "duration", _nanoseconds(values, of))
    return _Column(f"{stem}_{times}", "float", _scaled(values, of, times))


def _module(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise TpusightError(f"{what} needs {name.split('.')[0]}, which is not installed here: {e} (pip install "
                            "'tpusight[notebook]', or it alone)") from e


def _pandas_series(pandas: Any, column: _Column) -> Any:
    """Integers with unknown ones are Int64: a float would lose picoseconds."""
    has_unknown = any(value is None for value in column.values)
    if column.kind == "duration":
        return pandas.Series([pandas.NaT if value is None else pandas.Timedelta(value, "ns") for value in column.values],
                             dtype="timedelta64[ns]")
    types = {"int": "Int64" if has_unknown else "int64", "float": "float64", "bool": "boolean" if has_unknown else "bool",
             "text": "object"}
    return pandas.Series(column.values, dtype=types[column.kind])


class Table:
    """Rows of a report, each a dict whose keys are attributes too. Unknown figures are None. It is read like a list; a slice,
    filter() and sort_by() give a Table, and leave this one as it is. (It is not a list, nor registered as a sequence: polars and
    pyarrow would take it apart by rows, and never ask for the stream of Arrow.)

        session.ops.filter(category="fusion").sort_by("self_time_ps").head(5)
        session.ops["self_time_ps"]                       # a column: a list
        session.ops.to_pandas(times="s")                  # a DataFrame with self_time_s
    """

    _row: Type[Fields] = Fields

    def __init__(self, rows: Iterable[Any] = (), name: str = "", session: "Optional[Session]" = None) -> None:
        row = self._row
        self._rows = [item if isinstance(item, row) else row(item) for item in rows]
        #: its name in the report, as `tpusight report --view NAME` takes it
        self.name = name
        self._session = session

    def __reduce__(self) -> Any:
        return type(self), (self.to_dicts(), self.name)

    def _made(self, rows: Iterable[Any]) -> "Self":
        return type(self)(rows, self.name, self._session)

    @property
    def columns(self) -> List[str]:
        """The names of the columns, with their units; of a table without rows those that the program says."""
        found: Dict[str, None] = {}
        for row in self:
            found.update(dict.fromkeys(row))
        return list(found) or (self._session.columns_of(self.name) if self._session and self.name else [])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Fields]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return list(self) == (list(other) if isinstance(other, Table) else other)

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, key: int) -> Fields: ...
    @overload
    def __getitem__(self, key: slice) -> "Self": ...
    @overload
    def __getitem__(self, key: str) -> List[Any]: ...

    def __getitem__(self, key: Union[int, slice, str]) -> Any:
        if isinstance(key, str):
            return self.column(key)
        return self._made(self._rows[key]) if isinstance(key, slice) else self._rows[key]

    def _need(self, column: str) -> None:
        """Raises KeyError where the columns are known, and this is not one of them. Of an answer's list without rows they are not."""
        if self.columns and column not in self.columns:
            raise KeyError(f"{self.name or 'the table'} has no column {column} (it has: {', '.join(self.columns)})")

    def column(self, name: str) -> List[Any]:
        """The values of a column, in the order of the rows."""
        self._need(name)
        return [row.get(name) for row in self]

    def filter(self, condition: Optional[Callable[[Fields], Any]] = None, **values: Any) -> "Self":
        """The rows for which CONDITION(row) is true, and which have these values: filter(category="fusion"). A value that is a
        compiled regular expression is searched for: filter(name=re.compile("gemm"))."""
        for name in values:
            self._need(name)
        return self._made(row for row in self if (condition is None or condition(row)) and
                          all(_is(row.get(name), value) for name, value in values.items()))

    def sort_by(self, column: str, ascending: bool = False) -> "Self":
        """The rows in the order of COLUMN, the largest first, as `tpusight report --sort`; unknown ones last."""
        self._need(column)
        known = [row for row in self if row.get(column) is not None]
        unknown = [row for row in self if row.get(column) is None]
        return self._made(sorted(known, key=lambda row: row[column], reverse=not ascending) + unknown)

    def head(self, n: int = 5) -> "Self":
        """The first N rows."""
        return self[:n]

    def to_dicts(self) -> List[Dict[str, Any]]:
        """The rows as plain dicts."""
        return [dict(row) for row in self]

    def _columns(self, times: str) -> List[_Column]:
        if times not in TIMES:
            raise ValueError(f"times is {times!r}; it is one of {', '.join(TIMES)}")
        return [_column(name, [row.get(name) for row in self], times) for name in self.columns]

    def with_times(self, times: str) -> "Self":
        """The table with its times in another unit, which is in their names: with_times("s") has self_time_s for self_time_ps,
        with_times("timedelta") has self_time, a datetime.timedelta (whole microseconds)."""
        columns = list(zip(self.columns, self._columns(times)))

        def value(n: int, name: str, column: _Column) -> Any:
            if column.name == name:
                return self[n].get(name)
            found = column.values[n]
            return datetime.timedelta(microseconds=found / 1000) if column.kind == "duration" and found is not None else found
        return self._made({column.name: value(n, name, column) for name, column in columns} for n in range(len(self)))

    def to_pandas(self, times: str = "ps") -> "pandas.DataFrame":
        """A DataFrame of pandas. TIMES: the unit of times, which their names then say (self_time_s), or "timedelta": Timedelta of
        whole nanoseconds, and no unit in the name (self_time). "ps" are the names and figures of the report."""
        pandas = _module("pandas", "a DataFrame of pandas")
        columns = self._columns(times)
        return pandas.DataFrame({column.name: _pandas_series(pandas, column) for column in columns},  # type: ignore[no-any-return,unused-ignore]
                                columns=[column.name for column in columns])

    def to_polars(self, times: str = "ps") -> "polars.DataFrame":
        """A DataFrame of polars; TIMES as in to_pandas()."""
        polars = _module("polars", "a DataFrame of polars")
        kinds = {"int": polars.Int64, "float": polars.Float64, "bool": polars.Boolean, "text": polars.String,
                 "duration": polars.Duration("ns")}
        series = [polars.Series(c.name, c.values, dtype=polars.Int64 if c.kind == "duration" else kinds[c.kind], strict=False)
                  .cast(kinds[c.kind]) for c in self._columns(times)]
        return polars.DataFrame(series)  # type: ignore[no-any-return,unused-ignore]

    def to_arrow(self, times: str = "ps") -> "pyarrow.Table":
        """A Table of Arrow (pyarrow); TIMES as in to_pandas()."""
        pyarrow = _module("pyarrow", "a table of Arrow")
        kinds = {"int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_(), "text": pyarrow.string(),
                 "duration": pyarrow.duration("ns")}
        columns = self._columns(times)
        return pyarrow.table([pyarrow.array(_floats(c), kinds[c.kind]) for c in columns],  # type: ignore[no-any-return,unused-ignore]
                             names=[c.name for c in columns])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's protocol: polars.DataFrame(table), pyarrow.table(table), duckdb.sql("from table") take the table as it is. The
        stream comes from whichever of pyarrow and polars is installed."""
        for made in (self.to_arrow, self.to_polars):
            try:
                stream: Any = made()
            except TpusightError:
                continue
            return stream.__arrow_c_stream__(requested_schema)
        raise TpusightError("a stream of Arrow needs pyarrow or polars, and neither is installed here (pip install pyarrow)")

    def plot(self, ax: "Optional[Axes]" = None) -> "Axes":
        """Draws the table with matplotlib, in AX or a picture of its own: steps, time.per_step, roofline and
        memory_timeline.timeline."""
        from . import _plot
        return _plot.draw(self.name, self, self._session, ax)

    def _head(self) -> Tuple[str, List[str], List[Fields]]:
        """(what it is, columns, rows) that people are shown."""
        rows = self._rows[:_MOST_ROWS]
        columns = _show.first_some(_SHOWN.get(self.name.rsplit(".", 1)[-1]), self.columns, rows, _MOST_COLUMNS)
        left = [f"the first {len(rows)}"] if len(self) > len(rows) else []
        left += [f"{len(columns)} of {len(self.columns)} columns"] if len(columns) < len(self.columns) else []
        title = f"{self.name or 'table'}: {len(self)} row{'' if len(self) == 1 else 's'}"
        return title + (f" ({', '.join(left)})" if left else ""), columns, rows

    def __str__(self) -> str:
        title, columns, rows = self._head()
        return "\n".join([title, *(_show.text_table(columns, rows) if rows else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, columns, rows = self._head()
        return f"<b>{html.escape(title)}</b>" + (_show.html_table(columns, rows) if rows else "")


def _floats(column: _Column) -> List[Any]:
    """Values that Arrow takes for the column's kind: it makes no float of an int that has more than 53 bits."""
    return [value if value is None else float(value) for value in column.values] if column.kind == "float" else column.values


def _is(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, re.Pattern):
        return isinstance(found, str) and wanted.search(found) is not None
    return bool(found == wanted)


class Finding(Fields):
    """One thing that costs time, memory or trust, with its evidence and its advice. str() and repr() are text for people."""

    def _gain(self) -> str:
        gain, share = self.get("gain_ps"), self.get("gain_pct")
        if not gain:
            return ""
        return f"may save {_show.cell('_ps', gain)}" + (f", {_show.cell('_pct', share)} of the run" if share is not None else "")

    def _places(self) -> str:
        where = self.get("where") or []
        said = [_show.middle(f"{place.get('op')} ({place['source']})" if place.get("source") else str(place.get("op")))
                for place in where[:3]]
        return ", ".join(said) + (f" and {len(where) - 3} more" if len(where) > 3 else "")

    def _parts(self) -> List[Tuple[str, str]]:
        found = [("evidence", self.get("evidence")), ("gain", self._gain()), ("advice", self.get("advice")), ("where", self._places())]
        return [(name, _show.middle(str(text), 500)) for name, text in found if text]

    def _headline(self) -> str:
        return f"{self.get('severity')}: {_show.middle(str(self.get('title')), 200)}"

    def __str__(self) -> str:
        return "\n".join([self._headline(), *(f"  {name}: {text}" for name, text in self._parts())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{html.escape(text)}</td></tr>'
                       for name, text in self._parts())
        return f"<b>{html.escape(self._headline())}</b><table>{rows}</table>"


class Findings(Table):
    """The findings of the doctor, the dearest first; each is a Finding."""

    _row = Finding

    def __str__(self) -> str:
        return "\n".join([f"findings: {len(self)}" if self else "no findings", *(f"  {row._headline()}" for row in self._rows[:_MOST_ROWS]),
                          *([f"  ... {len(self)} in all"] if len(self) > _MOST_ROWS else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self else "<b>no findings</b>"
