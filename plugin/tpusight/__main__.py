# SPDX-License-Identifier: MIT
"""`python -m tpusight COMMAND ...` is the program; its command profile runs a Python script under a profiler, and is the program
tpusight-profile, which `tpusight profile SCRIPT ...` starts."""
import argparse
import contextlib
import importlib.util
import os
import re
import runpy
import socket
import sys
import time
import traceback
from typing import List

from . import _jax, _torch, helpers, torch_compile
from ._program import TpusightError, found_program, run
from ._steps import Steps, of_jax, of_torch

FRAMEWORKS = ("jax", "torch")


def _count(text):
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _parser():
    parser = argparse.ArgumentParser(
        prog="tpusight profile", description="Runs a Python script under the profiler of JAX or PyTorch, and prints the report.")
    parser.add_argument("-o", "--output", default="./profiles", metavar="DIR", help="the log directory (default: ./profiles)")
    parser.add_argument("--name", help="what the run is called (default: the script's name)")
    parser.add_argument("--framework", choices=FRAMEWORKS,
                        help="whose profiler (default: what the script imports, else what is installed, JAX first)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--memory", action="store_true", help="what is allocated (PyTorch), what the device holds in the end (JAX)")
    parser.add_argument("--stacks", action="store_true", help="Python's frames (JAX has them anyway)")
    parser.add_argument("--shapes", action="store_true", help="shapes of operators' inputs (both have them anyway)")
    parser.add_argument("--modules", action="store_true", help="modules of PyTorch, with stacks (JAX has names of scopes anyway)")
    parser.add_argument("--compile-log", action="store_true", help="torch.compile's log beside the trace, for tpusight compile")
    steps = parser.add_argument_group("steps", "A step ends with each step of an optimizer of PyTorch, or begins with each "
                                      "jax.profiler.StepTraceAnnotation. Without these options the whole script is profiled.")
    steps.add_argument("--wait", type=_count, default=0, metavar="N", help="leave out the first N steps")
    steps.add_argument("--warmup", type=_count, default=0, metavar="N", help="and N more")
    steps.add_argument("--steps", type=_count, default=0, metavar="N", help="profile N steps; 0: all that follow")
    parser.add_argument("script", help="a Python file, run as python runs it")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="the script's own arguments")
    return parser


def _imported(script):
    """jax or torch, whichever alone the script imports itself; None where it is both, neither, or in its own modules."""
    with open(script, "rb") as f:
        found = set(re.findall(rb"^[ \t]*(?:import|from)[ \t]+(jax|torch)\b", f.read(), re.M))
    return found.pop().decode() if len(found) == 1 else None


def _framework(asked, script):
    found = asked or _imported(script) or next((name for name in FRAMEWORKS if importlib.util.find_spec(name)), None)
    if not found:
        raise TpusightError(f"{sys.executable} has neither JAX nor PyTorch (pip install one of them)")
    return found


@contextlib.contextmanager
def _of_jax(asked, name, path):
    with helpers.profile_trace(asked.output, name, collect_memory=asked.memory) as captured:
        yield
    path.extend([captured.session.path] if captured.session else [])


@contextlib.contextmanager
def _of_torch(asked, name, path):
    folder = os.path.join(asked.output, name)
    os.makedirs(folder, exist_ok=True)
    worker = f"{socket.gethostname()}_{os.getpid()}.{time.time_ns() // 1000000}"  # as torch's own handler names it
    path.append(os.path.join(folder, f"{worker}.pt.trace.json.gz"))
    log = torch_compile.log_into(_torch.torch_module(), folder) if asked.compile_log else contextlib.nullcontext()
    with log, _torch.capture(path[0], name, stack=asked.stacks, memory=asked.memory, shapes=True, modules=asked.modules):
        yield


@contextlib.contextmanager
def _capturing(asked, name):
    """Gives a list that has the profile's path when the block is over. Of some steps: when these are over."""
    path: List[str] = []
    is_jax = _framework(asked.framework, asked.script) == "jax"
    capturing = _of_jax(asked, name, path) if is_jax else _of_torch(asked, name, path)
    if asked.wait + asked.warmup + asked.steps == 0:
        with capturing:
            yield path
        return
    steps = Steps(capturing, asked.wait + asked.warmup, asked.steps)
    with of_jax(_jax.jax(), steps) if is_jax else of_torch(_torch.torch_module(), steps):
        yield path
    steps.close()
    if not path:
        raise TpusightError(f"the script made {steps.count} steps, and the first {steps.first} were to be left out "
                            "(a step: jax.profiler.StepTraceAnnotation, or a step of an optimizer of torch)")


def _run_script(script, args):
    """Its exit status. What it raises is printed as Python does, and is status 1: what was profiled until then is kept."""
    before = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [script, *args], os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as e:
        if e.code is not None and not isinstance(e.code, int):
            print(e.code, file=sys.stderr)
        return e.code if isinstance(e.code, int) else int(e.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv, sys.path[0] = before
    return 0


def _profile(argv):
    asked = _parser().parse_args(argv)
    if not os.path.isfile(asked.script):
        raise TpusightError(f"{asked.script} is not a file (name the Python script to run)")
    name = asked.name or os.path.splitext(os.path.basename(asked.script))[0]
    with _capturing(asked, name) as path:
        status = _run_script(asked.script, asked.args)
    if not path:
        raise TpusightError("the profiler wrote nothing (the messages above say why)")
    text, _ = run("report", "--color=never", *(["--format=json"] if asked.json else []), path[0])
    print(text.decode("utf-8", "replace"), end="")
    print(f"Profile saved: {path[0]}", file=sys.stderr)
    return status


def _told(action, argv):
    """What the action gives; 3 where it cannot work, which is said."""
    try:
        return action(argv)
    except TpusightError as e:
        print(f"tpusight: {e}", file=sys.stderr)
        return 3


def _become(argv):
    program = found_program()
    os.execv(program, [program, *argv])


def profile():
    """The program tpusight-profile: its exit status."""
    return _told(_profile, sys.argv[1:])


def main(argv):
    """The program's exit status; with another command than profile it does not return."""
    if argv[:1] == ["profile"]:
        return _told(_profile, argv[1:])
    return _told(_become, argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
