# SPDX-License-Identifier: MIT
"""`tpusight mcp PATH...`: a server of the Model Context Protocol on standard input and output."""
import argparse
import functools
import sys
import threading
from typing import Any, Callable, List, Optional

from .._program import TpusightError, found_program
from .._version import __version__
from . import answers, sql
from .runs import Runs

_ABOUT = """TPUsight: where the time of a TPU or GPU job went, from its profile. Times end in _ps (picoseconds), shares in _pct; null is
unknown, never 0. Begin with list_runs and summary; then findings (one by its id has advice and code), table, op; sql for what no
table has. gain_pct of a finding is what its repair can save of the run; gains do not overlap, impacts do."""


def _tools(runs: Runs, tables: sql.Tables) -> List[Callable[..., str]]:
    given = answers.Answers(runs)

    def list_runs() -> str:
        """The profiles that may be asked about: their names, which the other tools take as `run`."""
        return given.list_runs()

    def summary(run: str = "") -> str:
        """Verdict of the capture, step time, bottleneck, time classes, the key figures and the findings in short. `run` may be left
        out where there is one run."""
        return given.summary(run)

    def findings(run: str = "", top: int = 5, id: str = "") -> str:
        """What costs time, memory or trust, with evidence and advice, the most valuable first. With `id` one finding, whole: its
        code, its places and its times."""
        return given.findings(run, top, id)

    def table(run: str = "", view: str = "ops", top: int = 20, sort: str = "", filter: str = "",
              columns: Optional[List[str]] = None) -> str:
        """Rows of one table of the report: ops, steps, modules, time.per_step, gaps, collectives, kernels, operators, padding, memory,
        cache ... Of a view that has several it is the first that has rows: `view` of the answer names it; time.bottleneck,
        time.buckets or capture.verdict are figures of a view. `sort` is a column, largest
        first (texts A to Z); `filter` is COLUMN=TEXT, rows that have TEXT in COLUMN; `columns` are those to show."""
        return given.table(run, view, top, sort, filter, columns)

    def op(name: str, run: str = "") -> str:
        """One op by its name: all its figures, in each module that has it, and the findings that name it."""
        return given.op(run, name)

    def compare(base: str, other: str) -> str:
        """Whether the run `other` is faster than `base`, whether that may be chance, and because of which ops."""
        return given.compare(base, other)

    def select(query: str, run: str = "", top: int = 50) -> str:
        """One SELECT of DuckDB's SQL over the tables events (each event: host, plane, line_kind, device_id, name, op_index,
        start_ps, duration_ps, self_time_ps ...), ops, steps and findings. Sum events within one line_kind ('ops') only. DESCRIBE
        has no place here: SELECT * FROM ops LIMIT 1 shows the columns."""
        answers.need_top(top)
        return answers.bounded(sql.ask(tables.of(runs.run(run)), query, top, answers.MOST_BYTES), "rows")

    select.__name__ = "sql"
    return [list_runs, summary, findings, table, op, compare, select]


def _told(tool: Callable[..., str], error: Any, one_at_a_time: threading.Lock) -> Callable[..., str]:
    """TOOL, whose TpusightError becomes the protocol's answer for a tool that failed. The protocol's package asks in threads; what is
    kept of a profile must not go while it is read."""
    @functools.wraps(tool)
    def asked(*args: Any, **kwargs: Any) -> str:
        try:
            with one_at_a_time:
                return tool(*args, **kwargs)
        except TpusightError as e:
            raise error(answers.cut(str(e), answers.MOST_SAID)) from e

    return asked


def server(paths: List[str], tables: sql.Tables) -> Any:
    """An MCPServer that is not running yet."""
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations
    except ImportError as e:
        raise TpusightError("this needs the package mcp, version 2 (pip install 'tpusight[agent]')") from e
    made = MCPServer("tpusight", instructions=_ABOUT, version=__version__, log_level="WARNING")
    one_at_a_time = threading.Lock()
    for tool in _tools(Runs(paths), tables):
        reading = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
        made.tool(annotations=reading, structured_output=False)(_told(tool, ToolError, one_at_a_time))
    return made


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tpusight mcp", description="Answers an agent's questions about profiles (Model Context Protocol, on standard input and "
        "output). It reads the profiles below PATH, and changes nothing.")
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log directory, a session, a profile file or a trace")
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    asked = _parser().parse_args(argv)
    tables = sql.Tables()
    try:
        found_program()
        Runs(asked.paths).all()
        server(asked.paths, tables).run("stdio")
    except TpusightError as e:
        print(f"tpusight: {e}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 0
    finally:
        tables.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
