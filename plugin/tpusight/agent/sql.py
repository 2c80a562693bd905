# SPDX-License-Identifier: Apache-2.0
"""SQL over what `tpusight export` writes. DuckDB answers; it reads the tables of that one run, and writes nothing."""
import contextlib
import os
import tempfile
import threading
from typing import Any, Dict, Iterator, List, Tuple

from .._program import TpusightError, run
from .runs import Run

TABLES = ("events", "ops", "steps", "findings")
_MOST_KEPT = 4  # runs whose tables are kept
_TIME_S = 30.0
_MEMORY = "1GB"


def _state_of(found: Run) -> Tuple[Any, ...]:
    """What changes when a profile does."""
    return tuple((path, os.stat(path).st_size, os.stat(path).st_mtime_ns) for path in found.files)


class Tables:
    """Folders with the tables of some runs, made when they are asked for; gone at close()."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tpusight-mcp-")
        self._made: Dict[str, Tuple[Tuple[Any, ...], str]] = {}
        self._lock = threading.Lock()
        self._nr = 0

    def close(self) -> None:
        self._folder.cleanup()

    def of(self, found: Run) -> str:
        with self._lock:
            state, path = _state_of(found), found.path
            if path in self._made and self._made[path][0] == state:
                return self._made[path][1]
            self._nr += 1
            folder = os.path.join(self._folder.name, str(self._nr))
            run("export", "-q", "--format", "parquet", "-o", folder, *found.asked)
            self._made[path] = state, folder
            self._forget()
            return folder

    def _forget(self) -> None:
        while len(self._made) > _MOST_KEPT:
            _, folder = self._made.pop(next(iter(self._made)))
            for name in os.listdir(folder):
                os.remove(os.path.join(folder, name))
            os.rmdir(folder)


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
