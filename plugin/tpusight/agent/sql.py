# SPDX-License-Identifier: MIT
"""SQL over what `tpusight export` writes. DuckDB answers; it reads the tables of that one run, and writes nothing."""
import contextlib
import os
import shutil
import tempfile
import threading
from typing import Any, Dict, Iterator, List, Tuple

from .._program import TpusightError, run
from .kept import Kept
from .runs import Run

TABLES = ("events", "ops", "steps", "findings")
_KEPT_BYTES = 2 << 30  # of tables on disk; of ten million events they are 162 MB
_TIME_S = 30.0
_MEMORY = "1GB"


class Tables:
    """Folders with the tables of some runs, made when they are asked for; gone at close()."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tpusight-mcp-")
        self._kept: Kept[str] = Kept(_KEPT_BYTES, shutil.rmtree)

    def close(self) -> None:
        self._folder.cleanup()

    def of(self, found: Run) -> str:
        return self._kept.get(found.path, found.state(), lambda: self._made(found))

    def _made(self, found: Run) -> Tuple[str, int]:
        folder = tempfile.mkdtemp(dir=self._folder.name)
        try:
            run("export", "-q", "--format", "parquet", "-o", folder, *found.asked)
        except TpusightError:
            shutil.rmtree(folder)
            raise
        return folder, sum(entry.stat().st_size for entry in os.scandir(folder))


def _closed(folder: str) -> Any:
    """A connection that sees the tables of FOLDER and no other file."""
    try:
        import duckdb
    except ImportError as e:
        raise TpusightError("SQL needs DuckDB (pip install 'tpusight[agent]')") from e
    connection = duckdb.connect(":memory:", config={"memory_limit": _MEMORY, "threads": "2"})
    for table in TABLES:
        path = os.path.join(folder, table + ".parquet").replace("'", "''")
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{path}')")
    allowed = (folder + os.sep).replace("'", "''")
    connection.execute(f"SET allowed_directories = ['{allowed}']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


@contextlib.contextmanager
def _in_time(connection: Any) -> Iterator[None]:
    timer = threading.Timer(_TIME_S, connection.interrupt)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def ask(folder: str, query: str, top: int) -> Tuple[List[Dict[str, Any]], bool]:
    """The first TOP rows, and whether there are more. Only one SELECT is taken."""
    with contextlib.closing(_closed(folder)) as connection:
        import duckdb
        try:
            statements = connection.extract_statements(query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise TpusightError("one SELECT, and nothing else (the tables are events, ops, steps and findings)")
            with _in_time(connection):
                cursor = connection.execute(query)
                names = [column[0] for column in cursor.description]
                rows = cursor.fetchmany(top + 1)
        except duckdb.InterruptException as e:
            raise TpusightError(f"the query took longer than {_TIME_S:.0f} s (ask for less)") from e
        except duckdb.Error as e:
            raise TpusightError(str(e)) from e
    return [dict(zip(names, row)) for row in rows[:top]], len(rows) > top
