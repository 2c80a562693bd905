# SPDX-License-Identifier: MIT
"""Traces that the program is asked about: a file of the user's, or what a profiler of torch has in memory."""
import contextlib
import functools
import gzip
import os
import shutil
import weakref
from typing import Any, List, Optional, Sequence

from ._program import SOME, TpusightError, ask, run
from ._temporary import temporary_folder

# profiler -> its Trace: torch writes a trace once only
_of_profilers: "weakref.WeakKeyDictionary[object, Trace]" = weakref.WeakKeyDictionary()


def _look(path: Any) -> Any:
    """What a file that is written anew does not keep; None: it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


class Trace:
    """A trace file, or a folder of those of several ranks, and the doors of the program that it is asked through.
    options: given to the program whatever it is asked."""

    def __init__(self, path: Any, options: Sequence[str] = ()) -> None:
        self.path: str = os.fspath(path)
        self.options = list(options)

    def ask(self, command: str, *options: str) -> Any:
        """The JSON object of `tpusight COMMAND --json`. Raises TpusightError when the trace cannot be read."""
        return ask(command, "--json", *self.options, *options, "--", self.path)

    def write(self, command: str, form: str, path: Any, *options: str) -> None:
        """Writes what `tpusight COMMAND --format FORM` says into the file PATH. TpusightError: it could not be written."""
        before = _look(path)
        _, status = run(command, f"--format={form}", f"--output={os.fspath(path)}", *self.options, *options, "--", self.path)
        if status == SOME and _look(path) == before:
            raise TpusightError(f"{os.fspath(path)} was not written (is its folder there, and may you write to it?)")

    def files(self) -> List[str]:
        """The file, or those of the folder."""
        try:
            return [os.path.join(self.path, name) for name in os.listdir(self.path)]
        except NotADirectoryError:
            return [self.path]

    def mode(self) -> int:
        """Who else may read and write all of it: the bits of a mode."""
        mode = 0o666
        for path in filter(os.path.isfile, self.files()):
            mode &= os.stat(path).st_mode | 0o600
        return mode

    def text(self, command: str, form: str, *options: str) -> str:
        """What write() writes."""
        return run(command, f"--format={form}", *self.options, *options, "--", self.path)[0].decode("utf-8", "replace")


class TemporaryTrace(Trace):
    """One in a folder of its own, which goes with it."""

    def __init__(self, name: str = "profile.pt.trace.json") -> None:
        super().__init__(os.path.join(temporary_folder(self), name))


def _written_again(trace: Trace, path: Any) -> None:
    """What prof.export_chrome_trace(PATH) does once torch has given the trace away: the same file, packed where PATH ends so."""
    with open(trace.path, "rb") as source:
        packed = os.fspath(path).endswith(".gz")
        with gzip.open(path, "wb") if packed else open(path, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)


def of_profiler(prof: Any) -> Trace:
    """The Trace of a profiler of torch (torch.profiler.profile after its end). Its file is temporary, and goes when
    neither the profiler nor an answer made of it is there any more. The user's own export_chrome_trace() works after it, though
    torch writes a trace once. TpusightError: torch does not give it."""
    if not hasattr(prof, "export_chrome_trace"):
        raise TpusightError(f"{type(prof).__name__} is not a profiler of torch (it has no export_chrome_trace)")
    if prof in _of_profilers:
        return _of_profilers[prof]
    trace = TemporaryTrace()
    try:
        prof.export_chrome_trace(trace.path)
    except (RuntimeError, AssertionError, AttributeError) as e:
        raise TpusightError(f"torch did not write the trace: {e} (there is one after the profiler's end, and "
                            "torch writes it once: give that file to from_chrome_trace)") from e
    _of_profilers[prof] = trace
    with contextlib.suppress(AttributeError):  # an object that takes no attributes keeps torch's own
        prof.export_chrome_trace = functools.partial(_written_again, trace)
    return trace


def need_trace(trace: Optional[Trace], what: str) -> Trace:
    """Raises TpusightError when an answer that WHAT has to do with was not made of a trace."""
    if trace is None:
        raise TpusightError(f"{what} needs a trace (from_chrome_trace and similar functions give one)")
    return trace
