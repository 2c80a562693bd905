# SPDX-License-Identifier: MIT
"""The report of a run, read once: its tables and its short form, as JSON, each by itself. A question parses what it is about."""
import concurrent.futures
import json
import os
import tempfile
from typing import Any, Dict, Iterator, List, Tuple

from .._program import TpusightError, run
from .kept import Kept
from .runs import Run

KEPT_BYTES = 128 << 20  # of reports in memory
MOST_BYTES = 64 << 20  # of a report with every row; of a larger one small ops and late steps are one row, as in `tpusight report`
SHORT_BYTES = 8 << 10
_MOST_NAMED = 2000  # characters of the names of tables in a mistake's sentence


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _cell(value: Any) -> Any:
    """A list or an object in a cell as the program's CSV has it."""
    if isinstance(value, dict):
        return " ".join(f"{name}={item}" for name, item in value.items())
    return "; ".join(str(_cell(item)) for item in value) if isinstance(value, list) else value


def _parts(fields: Dict[str, Any], before: str = "") -> Iterator[Tuple[str, Any]]:
    """(dotted name, rows) of each table, and (name, what is not a table of it) of each object."""
    for name, value in fields.items():
        if _is_table(value):
            yield before + name, value
        elif isinstance(value, dict):
            yield before + name, {key: item for key, item in value.items() if not isinstance(item, dict) and not _is_table(item)}
            yield from _parts(value, f"{before}{name}.")


class Report:
    """Of a run: `short` is what a summary has. Of one that is predicted nothing ran."""

    def __init__(self, short: str, fields: Dict[str, Any]) -> None:
        self.short = short
        self.is_predicted = fields.get("run", {}).get("is_predicted") is True
        self._parts = {name: json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode() for name, part in _parts(fields)}

    def bytes(self) -> int:
        return len(self.short) + sum(map(len, self._parts.values()))

    def _tables(self) -> List[str]:
        return [name for name, text in self._parts.items() if text.startswith(b"[")]

    def findings(self) -> List[Dict[str, Any]]:
        return list(json.loads(self._parts.get("doctor.findings", b"[]")))

    def _find(self, view: str) -> str:
        """The part of that name; of a view the first table that has rows."""
        if view in self._parts and not self._parts[view].startswith(b"{"):
            return view
        inside = [name for name in self._tables() if name.startswith(view + ".")]
        with_rows = [name for name in inside if self._parts[name] != b"[]"]
        return next(iter(with_rows), view if view in self._parts else next(iter(inside), view))

    def _figure(self, name: str) -> Dict[str, Any]:
        """{its own name: what it is} of a figure by its dotted name, time.bottleneck; {} where there is none."""
        view, _, figure = name.rpartition(".")
        found = json.loads(self._parts.get(view, b"{}"))
        return {figure: found[figure]} if isinstance(found, dict) and figure in found else {}

    def table(self, view: str) -> Tuple[str, List[Dict[str, Any]]]:
        """(its whole name, its rows); the figures of a view without rows are one row, and so is one figure by its dotted name."""
        name = self._find(view)
        figure = self._figure(name)
        if name not in self._parts and figure:
            return name, [{key: _cell(value) for key, value in figure.items()}]
        if name not in self._parts:
            there = ", ".join(name for name in self._tables() if self._parts[name] != b"[]")
            raise TpusightError(f"no view is called {view[:_MOST_NAMED]!r}; tables that have rows: {there[:_MOST_NAMED]}")
        found = json.loads(self._parts[name])
        rows = found if isinstance(found, list) else [found]
        return name, [{key: _cell(value) for key, value in row.items()} for row in rows]


def _whole(found: Run) -> Dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tpusight-mcp-") as folder:
        path = os.path.join(folder, "report.json")
        run("report", "--all", "--format", "json", "-o", path, *found.asked)
        if os.path.getsize(path) > MOST_BYTES:
            run("report", "--format", "json", "-o", path, *found.asked)
        with open(path, encoding="utf-8", errors="replace") as file:
            return dict(json.load(file))


def _short(found: Run) -> str:
    text, _ = run("report", "--format", "json", "--budget", str(SHORT_BYTES), *found.asked)
    return text.decode("utf-8", "replace").strip()


def _made(found: Run) -> Tuple[Report, int]:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        short, whole = pool.submit(_short, found), pool.submit(_whole, found)
        made = Report(short.result(), whole.result())
    return made, made.bytes()


class Reports:
    """The reports that were asked for last."""

    def __init__(self) -> None:
        self._kept: Kept[Report] = Kept(KEPT_BYTES)

    def of(self, found: Run) -> Report:
        return self._kept.get(found.path, found.state(), lambda: _made(found))
