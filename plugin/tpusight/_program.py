# SPDX-License-Identifier: MIT
"""The program tpusight: where it is, and how it is asked."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from typing import Any, Optional, Sequence, Tuple

SOME = 4  # some inputs failed, the others are done; or an output could not be written
DONE = (0, SOME)
MOST_BYTES = 1 << 30  # of an answer
_NAME = "tpusight"
_MOST_WORDS = 64 << 10  # bytes that are kept of what the program says on standard error
_LAST_WORDS_S = 1


class TpusightError(Exception):
    """What cannot be done, and what to do about it, in words for people."""


def program() -> Optional[str]:
    """The path of tpusight: $TPUSIGHT, else the one installed with this Python, else the one on PATH. None: not there."""
    given = os.environ.get("TPUSIGHT")
    if given:
        return given
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        beside = os.path.join(folder or "", _NAME)
        if os.access(beside, os.X_OK):
            return beside
    return shutil.which(_NAME)


def found_program() -> str:
    """As program(), but raises TpusightError when it is not there."""
    found = program()
    if not found:
        raise TpusightError("the program tpusight was not found (pip install it again, or put its path into the environment "
                            "variable TPUSIGHT)")
    return found


def run(*args: Any, timeout_s: Optional[float] = None, ok: Sequence[int] = DONE) -> Tuple[bytes, int]:
    """Runs `tpusight ARGS`: (its standard output as bytes, its exit status). Raises TpusightError with the program's own
    last words when the status is not one of OK, and when it takes too long or writes more than MOST_BYTES."""
    command = [found_program(), *map(os.fspath, args)]
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)  # so that all of a script named by $TPUSIGHT can be ended
    except (OSError, ValueError) as e:
        raise TpusightError(f"{command[0]}: {e}") from e
    with process:
        text, words, why = _read(process, timeout_s)
    if why:
        raise TpusightError(f"{command[0]} {why}")
    if process.returncode not in ok:
        raise TpusightError(last_words(words) or f"{command[0]} ended with status {process.returncode}")
    return text, process.returncode


def _read(process: Any, timeout_s: Optional[float]) -> Tuple[bytes, bytes, Optional[str]]:
    """(standard output, the end of standard error, why it was killed or None); the program has ended then."""
    late, words = threading.Event(), bytearray()

    def give_up() -> None:
        late.set()
        _kill(process)
    timer = threading.Timer(timeout_s, give_up) if timeout_s else None
    listener = threading.Thread(target=_listen, args=(process.stderr, words), daemon=True)
    listener.start()
    try:
        if timer:
            timer.start()
        text = process.stdout.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            _kill(process)
        process.wait()
        listener.join(_LAST_WORDS_S)
    except BaseException:
        _kill(process)
        raise
    finally:
        if timer:
            timer.cancel()
    if late.is_set():
        return text, bytes(words), f"did not end within {timeout_s:g} s"
    return text, bytes(words), f"wrote more than {MOST_BYTES} bytes" if len(text) > MOST_BYTES else None


def _kill(process: Any) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _listen(pipe: Any, words: bytearray) -> None:
    """Keeps the end of what comes."""
    while piece := pipe.read1(_MOST_WORDS):
        words += piece
        del words[:-_MOST_WORDS]


def ask(*args: Any, timeout_s: Optional[float] = None) -> Any:
    """Runs `tpusight ARGS` and reads the JSON object that it prints."""
    text, status = run(*args, timeout_s=timeout_s)
    try:
        return json.loads(text)
    except ValueError as e:
        raise TpusightError(f"tpusight {args[0]} did not print JSON (status {status}): {e}") from e


def last_words(stderr: bytes) -> str:
    """The last line that the program said on standard error (bytes); "" for none."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
