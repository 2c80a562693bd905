# SPDX-License-Identifier: Apache-2.0
"""`python -m tpusight COMMAND ...` is the program; `python -m tpusight profile SCRIPT ...` profiles a Python script."""
import argparse
import contextlib
import importlib.util
import os
import runpy
import sys
from typing import List

from . import _torch, helpers
from ._program import TpusightError, found_program, run


def _parser():
    parser = argparse.ArgumentParser(
        prog="tpusight profile", description="Runs a Python script under the profiler of JAX or PyTorch, and prints the report.")
    parser.add_argument("-o", "--output", default="./profiles", metavar="DIR", help="the log directory (default: ./profiles)")
    parser.add_argument("--name", help="what the run is called (default: the script's name)")
    parser.add_argument("--framework", choices=("jax", "torch"), help="whose profiler (default: the one that is installed, JAX first)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("script", help="a Python file, run as python runs it")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="the script's own arguments")
    return parser


def _framework(asked):
    found = asked or next((name for name in ("jax", "torch") if importlib.util.find_spec(name)), None)
    if not found:
        raise TpusightError(f"{sys.executable} has neither JAX nor PyTorch (pip install one of them)")
    return found


@contextlib.contextmanager
def _capturing(framework, folder, name):
    """Gives a list that has the profile's path when the block is over."""
    path: List[str] = []
    if framework == "jax":
        with helpers.profile_trace(folder, name) as captured:
            yield path
        path.extend([captured.session.path] if captured.session else [])
    else:
        os.makedirs(folder, exist_ok=True)
        path.append(os.path.join(folder, f"{name}.pt.trace.json.gz"))
        with _torch.capture(path[0], name):
            yield path


def _run_script(script, args):
    """Its exit status. What it raises is its own."""
    before = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [script, *args], os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as e:
        return e.code if isinstance(e.code, int) else int(e.code is not None)
    finally:
        sys.argv, sys.path[0] = before
    return 0


def _profile(argv):
    asked = _parser().parse_args(argv)
    name = asked.name or os.path.splitext(os.path.basename(asked.script))[0]
    with _capturing(_framework(asked.framework), asked.output, name) as path:
        status = _run_script(asked.script, asked.args)
    text, _ = run("report", "--color=never", *(["--format=json"] if asked.json else []), path[0])
    print(text.decode("utf-8", "replace"), end="")
    print(f"Profile saved: {path[0]}", file=sys.stderr)
    return status


def main(argv):
    """The program's exit status; with another command than profile it does not return."""
    try:
        if argv[:1] == ["profile"]:
            return _profile(argv[1:])
        program = found_program()
        os.execv(program, [program, *argv])
    except TpusightError as e:
        print(f"tpusight: {e}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
