# SPDX-License-Identifier: MIT
"""SQL over what `tpusight export` writes. DuckDB answers, in a process of its own (query.py) that reads the tables of that one run and
writes nothing."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Any, Dict, Tuple

from .._program import TpusightError, run
from .kept import Kept
from .runs import Run

TABLES = ("events", "ops", "steps", "findings")
_KEPT_BYTES = 2 << 30  # of tables on disk; of ten million events they are 162 MB
_TIME_S = 30.0
MOST_BYTES = 1 << 30  # of memory that a query may take, of what Python and DuckDB take for themselves too


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


def ask(folder: str, query: str, top: int, most: int) -> Dict[str, Any]:
    """`rows`, the first TOP in about MOST bytes; `has_more`, whether there are others; `left_out`, how many had no room."""
    asked = {"query": query, "top": top, "most": most, "tables": TABLES, "bytes": MOST_BYTES, "seconds": int(2 * _TIME_S)}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    late = f"the query took longer than {_TIME_S:.0f} s (ask for less)"
    try:  # in the folder of the tables, so that no file of another is found by its name
        done = subprocess.run([sys.executable, "-m", __package__ + ".query"], input=json.dumps(asked).encode(), cwd=folder, env=environment,
                              capture_output=True, timeout=_TIME_S, check=False)
    except subprocess.TimeoutExpired as e:
        raise TpusightError(late) from e
    if done.returncode:
        large = f"the query ended without an answer: it wants more than {MOST_BYTES >> 20} MiB of memory (ask for less)"
        raise TpusightError(late if done.returncode == -signal.SIGXCPU else large)
    answer: Dict[str, Any] = json.loads(done.stdout)
    if "mistake" in answer:
        raise TpusightError(answer["mistake"])
    return answer
