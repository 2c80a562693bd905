# SPDX-License-Identifier: MIT
"""Answers to an agent: figures of a report, cut to a number of bytes."""
import json
import re
from typing import Any, Dict, List, Optional, Tuple

from .._program import TpusightError, run
from .kept import Kept
from .report import Report, Reports
from .runs import MOST_RUNS, Runs

MOST_BYTES = 16 << 10  # of an answer: some 4,000 tokens
MOST_SAID = 2000  # characters of a mistake's sentence, which may have in it what was asked
_MOST_CELL = 400  # characters of a cell: names of C++ have thousands
_NUMBER_AT_END, _NUMBER_AT_START = re.compile(r"(?<![0-9.,])[0-9.,]+$"), re.compile(r"^[0-9.,]+")
_COMPARED_BYTES = 1 << 20  # of comparisons that are kept


def cut(text: Any, most: int = _MOST_CELL) -> Any:
    """A text without its middle, where it is long; anything else as it is. A number is in it as a whole or not at all."""
    if not isinstance(text, str) or len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-(most // 3) + 5:]
    return _NUMBER_AT_END.sub("", head) + " ... " + _NUMBER_AT_START.sub("", tail)


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


def _of(report: Report, answer: Dict[str, Any], rows: str) -> str:
    """An answer from REPORT; each one says it where what it has is predicted, as an agent may see no other."""
    return bounded({"is_predicted": True, **answer} if report.is_predicted else answer, rows)


def need_top(top: int) -> None:
    if top < 1:
        raise TpusightError(f"top is {top}: how many rows are wanted, 1 or more")


def _order(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("-inf")


def _text(value: Any) -> str:
    """A cell as CSV has it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _sorted(rows: List[Dict[str, Any]], column: str) -> List[Dict[str, Any]]:
    """The largest first; texts in the order of the alphabet, unknown ones last."""
    if any(_order(row[column]) > float("-inf") for row in rows):
        return sorted(rows, key=lambda row: _order(row[column]), reverse=True)
    return sorted(rows, key=lambda row: (row[column] is None, _text(row[column])))


def _need_column(names: List[str], name: str) -> None:
    if name not in names:
        raise TpusightError(f"there is no column {name!r}: the table has {', '.join(names)}")


def _chosen(rows: List[Dict[str, Any]], contains: str, sort: str) -> List[Dict[str, Any]]:
    names = list(rows[0]) if rows else []
    column, _, part = contains.partition("=")
    if contains and not part:
        raise TpusightError("filter is COLUMN=TEXT, rows whose COLUMN has TEXT in it")
    if contains and rows:
        _need_column(names, column)
        rows = [row for row in rows if part.lower() in _text(row[column]).lower()]
    if sort and rows:
        _need_column(names, sort)
        rows = _sorted(rows, sort)
    return rows


def _compared(paths: Tuple[str, str]) -> Tuple[str, int]:
    text, _ = run("compare", "--color", "never", *paths, ok=(0, 1, 4))
    answer = bounded({"text": [cut(line) for line in text.decode("utf-8", "replace").splitlines()]}, "text")
    return answer, len(answer)


class Answers:
    """What the tools of the server give, as text. A profile is read once; it is read again when it has changed."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._reports = Reports()
        self._compared: Kept[str] = Kept(_COMPARED_BYTES)

    def _report(self, name: str) -> Report:
        return self._reports.of(self._runs.run(name))

    def list_runs(self) -> str:
        found = self._runs.all()
        rows = [{"run": name, "path": one.path} for name, one in list(found.items())[-MOST_RUNS:]]
        return bounded({"runs": rows, "left_out": len(found) - len(rows)}, "runs")

    def summary(self, name: str) -> str:
        return self._report(name).short

    def findings(self, name: str, top: int, identity: str) -> str:
        need_top(top)
        report = self._report(name)
        found = report.findings()
        if identity:
            for finding in found:
                if finding["id"] == identity:
                    places = finding["where"]
                    whole = {key: value for key, value in finding.items() if key not in ("where", "links")}
                    return _of(report, {"finding": whole, "where": places}, "where")
            raise TpusightError(f"no finding has the id {identity!r}: " + ", ".join(finding["id"] for finding in found))
        keys = ("id", "severity", "confidence", "title", "evidence", "gain_ps", "gain_pct", "impact_ps", "impact_pct", "advice")
        rows = [{**{key: finding[key] for key in keys}, "where": finding["where"][:1]} for finding in found]
        return _of(report, {"findings": rows[:top], "left_out": len(rows) - len(rows[:top])}, "findings")

    def table(self, name: str, view: str, top: int, sort: str, contains: str, columns: Optional[List[str]]) -> str:
        need_top(top)
        report = self._report(name)
        whole_name, all_rows = report.table(view)
        rows = _chosen(all_rows, contains, sort)
        for column in columns or [] if rows else []:
            _need_column(list(rows[0]), column)
        chosen = [{column: row[column] for column in columns or row} for row in rows[:top]]
        return _of(report, {"view": whole_name, "rows": chosen, "left_out": len(rows) - len(chosen)}, "rows")

    def op(self, name: str, op: str) -> str:
        report = self._report(name)
        ops = report.table("ops")[1]
        rows = [row for row in ops if row["name"] == op]
        if not rows:
            near = [row["name"] for row in ops if op.lower() in row["name"].lower()][:10]
            raise TpusightError(f"no op is called {op!r}" + (f"; near it: {', '.join(near)}" if near else " (table ops has them)"))
        found = [{"id": finding["id"], "title": finding["title"]} for finding in report.findings()
                 if any(place["op"] == op for place in finding["where"])]
        return _of(report, {"ops": rows, "findings": found[:20]}, "ops")

    def compare(self, base: str, other: str) -> str:
        runs = self._runs.run(base), self._runs.run(other)
        paths = self._runs.alone(base), self._runs.alone(other)
        return self._compared.get(paths, [run.state() for run in runs], lambda: _compared(paths))
