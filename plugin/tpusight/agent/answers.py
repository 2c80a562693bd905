# SPDX-License-Identifier: Apache-2.0
"""Answers to an agent: figures of a report, cut to a number of bytes."""
import csv
import io
import json
from typing import Any, Dict, List, Optional, Sequence

from .._program import TpusightError, run
from .runs import MOST_RUNS, Runs

MOST_BYTES = 16 << 10  # of an answer: some 4,000 tokens
MOST_SAID = 2000  # characters of a mistake's sentence, which may have in it what was asked
_MOST_CELL = 400  # characters of a cell: names of C++ have thousands
_LEAST_BUDGET = 300  # of the program's short form


def cut(text: Any, most: int = _MOST_CELL) -> Any:
    """A text without its middle, where it is long; anything else as it is."""
    if not isinstance(text, str) or len(text) <= most:
        return text
    return text[: most * 2 // 3] + " ... " + text[-(most // 3) + 5:]


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def bounded(answer: Dict[str, Any], rows: str, most: int = MOST_BYTES) -> str:
    """ANSWER as JSON in at most MOST bytes: the list ROWS loses its last items, and `left_out` says how many."""
    items: List[Any] = [{key: cut(value) for key, value in item.items()} if isinstance(item, dict) else cut(item) for item in answer[rows]]
    left_out = answer.get("left_out", 0)
    fixed = len(as_json({**answer, rows: [], "left_out": 10**9}).encode())
    sizes = [len(as_json(item).encode()) + 1 for item in items]
    while items and fixed + sum(sizes) > most:
        items.pop()
        sizes.pop()
        left_out += 1
    text = as_json({**answer, rows: items, "left_out": left_out})
    if len(text.encode()) > most:
        raise TpusightError(f"the answer has more than {most} bytes (ask for less)")
    return text


def need_top(top: int) -> None:
    if top < 1:
        raise TpusightError(f"top is {top}: how many rows are wanted, 1 or more")


def _rows_of(asked: Sequence[str], view: str) -> List[Dict[str, str]]:
    text, _ = run("report", "--all", "--format", "csv", "--view", view, *asked)
    return list(csv.DictReader(io.StringIO(text.decode("utf-8", "replace"))))


def _typed(value: str) -> Any:
    """A cell of CSV as JSON has it: whole numbers beyond 2^53, which are names, stay text."""
    if value == "":
        return None
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        return value if abs(number) > 2**53 else number
    return value


def _order(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return float("-inf")


def _sorted(rows: List[Dict[str, str]], column: str) -> List[Dict[str, str]]:
    """The largest first; texts in the order of the alphabet, unknown ones last."""
    if any(_order(row[column]) > float("-inf") for row in rows):
        return sorted(rows, key=lambda row: _order(row[column]), reverse=True)
    return sorted(rows, key=lambda row: (row[column] == "", row[column]))


def _need_column(names: List[str], name: str) -> None:
    if name not in names:
        raise TpusightError(f"there is no column {name!r}: the table has {', '.join(names)}")


def _chosen(rows: List[Dict[str, str]], contains: str, sort: str) -> List[Dict[str, str]]:
    names = list(rows[0]) if rows else []
    column, _, part = contains.partition("=")
    if contains and not part:
        raise TpusightError("filter is COLUMN=TEXT, rows whose COLUMN has TEXT in it")
    if contains and rows:
        _need_column(names, column)
        rows = [row for row in rows if part.lower() in row[column].lower()]
    if sort and rows:
        _need_column(names, sort)
        rows = _sorted(rows, sort)
    return rows


class Answers:
    """What the tools of the server give, as text."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def list_runs(self) -> str:
        found = self._runs.all()
        rows = [{"run": name, "path": one.path} for name, one in list(found.items())[-MOST_RUNS:]]
        return bounded({"runs": rows, "left_out": len(found) - len(rows)}, "runs")

    def summary(self, name: str) -> str:
        text, _ = run("report", "--format", "json", "--budget", str(MOST_BYTES // 2), *self._runs.run(name).asked)
        return text.decode("utf-8", "replace").strip()

    def _findings(self, asked: Sequence[str]) -> List[Dict[str, Any]]:
        text, _ = run("report", "--format", "json", "--view", "doctor", *asked)
        return list(json.loads(text)["doctor"]["findings"])

    def findings(self, name: str, top: int, identity: str) -> str:
        need_top(top)
        found = self._findings(self._runs.run(name).asked)
        if identity:
            for finding in found:
                if finding["id"] == identity:
                    places = finding["where"]
                    return bounded({"finding": {key: value for key, value in finding.items() if key not in ("where", "links")},
                                    "where": places}, "where")
            raise TpusightError(f"no finding has the id {identity!r}: " + ", ".join(finding["id"] for finding in found))
        keys = ("id", "severity", "confidence", "title", "evidence", "gain_ps", "gain_pct", "impact_ps", "impact_pct", "advice")
        rows = [{**{key: finding[key] for key in keys}, "where": finding["where"][:1]} for finding in found]
        return bounded({"findings": rows[:top], "left_out": len(rows) - len(rows[:top])}, "findings")

    def table(self, name: str, view: str, top: int, sort: str, contains: str, columns: Optional[List[str]]) -> str:
        need_top(top)
        rows = _chosen(_rows_of(self._runs.run(name).asked, view), contains, sort)
        for column in columns or [] if rows else []:
            _need_column(list(rows[0]), column)
        chosen = [{column: _typed(row[column]) for column in columns or row} for row in rows[:top]]
        return bounded({"view": view, "rows": chosen, "left_out": len(rows) - len(chosen)}, "rows")

    def op(self, name: str, op: str) -> str:
        asked = self._runs.run(name).asked
        rows = [row for row in _rows_of(asked, "ops") if row["name"] == op]
        if not rows:
            near = [row["name"] for row in _rows_of(asked, "ops") if op.lower() in row["name"].lower()][:10]
            raise TpusightError(f"no op is called {op!r}" + (f"; near it: {', '.join(near)}" if near else " (table ops has them)"))
        found = [{"id": finding["id"], "title": finding["title"]} for finding in self._findings(asked)
                 if any(place["op"] == op for place in finding["where"])]
        return bounded({"ops": [{key: _typed(value) for key, value in row.items()} for row in rows], "findings": found[:20]}, "ops")

    def compare(self, base: str, other: str) -> str:
        text, _ = run("compare", "--color", "never", self._runs.alone(base), self._runs.alone(other), ok=(0, 1, 4))
        lines = text.decode("utf-8", "replace").splitlines()
        return bounded({"text": [cut(line) for line in lines]}, "text")
