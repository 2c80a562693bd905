#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every snippet of the doctor on today's JAX, and those for PyTorch where it is: snippets_test.py

Each is a whole program and is run as one, with the globals of a fresh module; all in one process, whose eight devices are
the host's processor; those for PyTorch each in a process of its own. $TS_JAX_PYTHON names a Python
that has jax, $TS_TORCH_PYTHON one that has torch (default: this one). Exit 77: jax is not there. Without torch its snippets
are compiled, not run.
"""
import glob
import importlib.util
import os
import subprocess
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures"))
from helpers import skip

ADVICE = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "src", "analysis", "advice")
CPU = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "TF_CPP_MIN_LOG_LEVEL": "3"}


def code_of(path):
    """What a report shows of the file: all but its docstring, with the programs that it includes (embed.sh)."""
    with open(path, encoding="utf-8") as file:
        docstring, _, code = file.read().partition('\n"""\n')
    if not docstring.startswith('"""'):
        raise SystemExit(f"{path}: the advice is missing: it is the docstring, which ends with a line of its own")
    lines = []
    for line in code.lstrip("\n").splitlines(keepends=True):
        if line.startswith("# include: "):
            with open(os.path.join(os.path.dirname(path), line.split()[2]), encoding="utf-8") as file:
                line = file.read()
        lines.append(line)
    return "".join(lines)


def snippets(framework):
    folder = os.path.join(ADVICE, framework)
    paths = sorted(glob.glob(os.path.join(folder, "**", "[!_]*.py"), recursive=True))
    return [(os.path.relpath(path, folder)[:-3], code) for path in paths if (code := code_of(path))]


def has(python, module):
    probe = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))"
    return subprocess.call([python, "-c", probe]) == 0


def run_torch():
    python, wrong = os.environ.get("TS_TORCH_PYTHON", sys.executable), []
    torch = snippets("torch")
    can_run = has(python, "torch")
    for rule, code in torch:
        compile(code, rule, "exec")
        if can_run and subprocess.call([python, "-W", "error::DeprecationWarning", "-c", code], stdout=subprocess.DEVNULL):
            wrong.append(rule)
    print(f"{len(torch)} snippets for torch, {'run' if can_run else 'compiled only: torch is not installed'}"
          + (f"; failed: {', '.join(wrong)}" if wrong else ""))
    return wrong


def run_all():
    import gc

    import jax
    assert len(jax.devices()) == 8
    wrong = []
    config = dict(jax.config.values)
    for_jax = snippets("jax")
    for rule, code in for_jax:
        try:
            exec(compile(code, rule, "exec"), {"__name__": "__main__"})
        except BaseException:
            wrong.append(rule)
            print(f"{rule}:", file=sys.stderr)
            traceback.print_exc()
        for name, value in config.items():  # what a snippet sets is its own affair
            if jax.config.values[name] != value:
                jax.config.update(name, value)
        gc.unfreeze()
        gc.enable()
    print(f"{len(for_jax)} snippets on jax {jax.__version__}")
    return wrong


def main():
    wanted = os.environ.get("TS_JAX_PYTHON")
    if wanted and os.environ.get("TS_SNIPPETS_INSIDE") != "1":
        return subprocess.call([wanted, os.path.abspath(__file__)], env=os.environ | CPU | {"TS_SNIPPETS_INSIDE": "1"})
    if not importlib.util.find_spec("jax"):
        skip("jax is not installed (pip install jax, or set TS_JAX_PYTHON)")
    os.environ.update(CPU)
    return 1 if run_all() + run_torch() else 0


if __name__ == "__main__":
    sys.exit(main())
