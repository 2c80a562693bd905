#!/usr/bin/env python3
"""Runs every snippet of the doctor on today's JAX, and those for PyTorch where it is: snippets_test.py

Each is a whole program and is run as one, with the globals of a fresh module; all in one process, whose eight devices are
the host's processor; those for PyTorch each in a process of its own. Run in the build folder. $TS_JAX_PYTHON names a Python
that has jax, $TS_TORCH_PYTHON one that has torch (default: this one). Exit 77: jax is not there. Without torch its snippets
are compiled, not run.
"""
import importlib.util
import os
import subprocess
import sys
import traceback

PROGRAM = os.path.abspath(os.environ.get("TS_SNIPPETS", "tests/analysis/doctor/snippets"))
CPU = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "TF_CPP_MIN_LOG_LEVEL": "3"}


def snippets():
    text, out = subprocess.run([PROGRAM], check=True, stdout=subprocess.PIPE).stdout, []
    while text:
        head, _, text = text.partition(b"\n")
        rule, size = head.split()
        out.append((rule.decode(), text[:int(size)].decode()))
        text = text[int(size):]
    return out


def is_torch(code):
    return "import torch" in code


def has(python, module):
    probe = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))"
    return subprocess.call([python, "-c", probe]) == 0


def run_torch():
    python, wrong = os.environ.get("TS_TORCH_PYTHON", sys.executable), []
    torch = [(rule, code) for rule, code in snippets() if is_torch(code)]
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
    for_jax = [(rule, code) for rule, code in snippets() if not is_torch(code)]
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
        print("jax is not installed (pip install jax, or set TS_JAX_PYTHON): skipped", file=sys.stderr)
        return 77
    os.environ.update(CPU)
    return 1 if run_all() + run_torch() else 0


if __name__ == "__main__":
    sys.exit(main())
