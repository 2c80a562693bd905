"""The program tpusight: where it is, and how it is asked."""
import json
import os
import shutil
import subprocess
import sys
import sysconfig

SOME = 4  # some inputs failed, the others are done; or an output could not be written
DONE = (0, SOME)
_NAME = "tpusight"


class TpusightError(Exception):
    """What cannot be done, and what to do about it, in words for people."""


def program():
    """The path of tpusight: $TPUSIGHT, else the one installed with this Python, else the one on PATH. None: not there."""
    given = os.environ.get("TPUSIGHT")
    if given:
        return given
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        beside = os.path.join(folder or "", _NAME)
        if os.access(beside, os.X_OK):
            return beside
    return shutil.which(_NAME)


def found_program():
    """As program(), but raises TpusightError when it is not there."""
    found = program()
    if not found:
        raise TpusightError("the program tpusight was not found (pip install it again, or put its path into the environment "
                            "variable TPUSIGHT)")
    return found


def run(*args, timeout_s=None, ok=DONE):
    """Runs `tpusight ARGS`: (its standard output as bytes, its exit status). Raises TpusightError with the program's own
    last words when the status is not one of OK."""
    command = [found_program(), *map(os.fspath, args)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise TpusightError(f"{command[0]}: {e}") from e
    if done.returncode not in ok:
        raise TpusightError(last_words(done.stderr) or f"{command[0]} ended with status {done.returncode}")
    return done.stdout, done.returncode


def ask(*args, timeout_s=None):
    """Runs `tpusight ARGS` and reads the JSON object that it prints."""
    text, status = run(*args, timeout_s=timeout_s)
    try:
        return json.loads(text)
    except ValueError as e:
        raise TpusightError(f"tpusight {args[0]} did not print JSON (status {status}): {e}") from e


def last_words(stderr):
    """The last line that the program said on standard error (bytes); "" for none."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
