# SPDX-License-Identifier: MIT
"""The program that runs one SELECT for sql.py, and ends: `python -m tpusight.agent.query` in the folder of the tables. What a query
may take is said to the kernel and to DuckDB; what it does to the process ends with it.

In: JSON with `query`, `top` (rows), `most` (bytes), `tables`, `bytes` (of memory), `seconds` (of processor). Out: JSON with `rows` and
`has_more`, `left_out`; or `mistake`, the sentence of one."""
import contextlib
import json
import resource
import sys
from typing import Any, Dict, List

from .answers import as_json, cut

_AT_ONCE = 256  # rows that are fetched at once


def _limit(what: int, most: int) -> None:
    with contextlib.suppress(ValueError, OSError):  # a system that does not have it
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most, most) if hard == resource.RLIM_INFINITY or most <= hard else (hard, hard))


def _confine(asked: Dict[str, Any]) -> None:
    """No file can be written, and memory ends where DuckDB does not count it: the texts of a row."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_DATA, asked["bytes"])
    _limit(resource.RLIMIT_CPU, asked["seconds"])


def _connected(duckdb: Any, asked: Dict[str, Any]) -> Any:
    """A connection that sees the tables alone: no other file, no folder for what does not fit into memory, no variable of Python."""
    settings = {"memory_limit": f"{asked['bytes'] // 2 >> 20}MiB", "threads": "2", "temp_directory": "",
                "python_enable_replacements": False, "autoinstall_known_extensions": False,
                "autoload_known_extensions": False, "allow_community_extensions": False}
    connection = duckdb.connect(":memory:", config=settings)
    files = [table + ".parquet" for table in asked["tables"]]
    for table, file in zip(asked["tables"], files):
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{file}')")
    connection.execute(f"SET allowed_paths = {files}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _rows(cursor: Any, asked: Dict[str, Any]) -> Dict[str, Any]:
    """The first rows of the answer, as far as they have room; the others of those asked for are counted."""
    names = [column[0] for column in cursor.description]
    rows: List[Dict[str, Any]] = []
    nr_rows, room = 0, asked["most"]
    while nr_rows <= asked["top"]:
        found = cursor.fetchmany(_AT_ONCE)
        for row in found if room > 0 else []:
            rows.append({name: cut(value) for name, value in zip(names, row)})
            room -= len(as_json(rows[-1]).encode())
        nr_rows += len(found)
        if not found:
            break
    rows = rows[:asked["top"]]
    return {"rows": rows, "has_more": nr_rows > asked["top"], "left_out": min(nr_rows, asked["top"]) - len(rows)}


def _answer(asked: Dict[str, Any]) -> Dict[str, Any]:
    try:
        import duckdb
    except ImportError:
        return {"mistake": "SQL needs DuckDB (pip install 'tpusight[agent]')"}
    try:
        with contextlib.closing(_connected(duckdb, asked)) as connection:
            statements = connection.extract_statements(asked["query"])
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                return {"mistake": "one SELECT, and nothing else (the tables are " + ", ".join(asked["tables"]) + ")"}
            return _rows(connection.execute(asked["query"]), asked)
    except (duckdb.OutOfMemoryException, MemoryError):
        return {"mistake": f"the query wants more memory than {asked['bytes'] >> 20} MiB (ask for less)"}
    except duckdb.Error as e:
        return {"mistake": str(e)}


def main() -> int:
    asked = json.load(sys.stdin)
    _confine(asked)
    json.dump(_answer(asked), sys.stdout, default=str)
    return 0


if __name__ == "__main__":
    sys.exit(main())
