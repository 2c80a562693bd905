#!/usr/bin/env python3
"""Runs every snippet of the doctor on today's JAX: snippets_test.py

Each is a whole program and is run as one, with the globals of a fresh module; all in one process, whose eight devices are
the host's processor. Run in the build folder. $TS_JAX_PYTHON names a Python that has jax (default: this one). Exit 77:
jax is not there.
"""
import importlib.util
import os
import subprocess
import sys
import traceback

PROGRAM = os.path.abspath(os.environ.get("TS_SNIPPETS", "tests/analysis/snippets"))
CPU = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "TF_CPP_MIN_LOG_LEVEL": "3"}


def snippets():
    text, out = subprocess.run([PROGRAM], check=True, stdout=subprocess.PIPE).stdout, []
    while text:
        head, _, text = text.partition(b"\n")
        rule, size = head.split()
        out.append((rule.decode(), text[:int(size)].decode()))
        text = text[int(size):]
    return out


def run_all():
    import gc
    import jax
    assert len(jax.devices()) == 8
    wrong = []
    config = dict(jax.config.values)
    for rule, code in snippets():
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
    print(f"{len(snippets())} snippets on jax {jax.__version__}")
    return wrong


def main():
    wanted = os.environ.get("TS_JAX_PYTHON")
    if wanted and os.environ.get("TS_SNIPPETS_INSIDE") != "1":
        return subprocess.call([wanted, os.path.abspath(__file__)], env=os.environ | CPU | {"TS_SNIPPETS_INSIDE": "1"})
    if not importlib.util.find_spec("jax"):
        print("jax is not installed (pip install jax, or set TS_JAX_PYTHON): skipped", file=sys.stderr)
        return 77
    os.environ.update(CPU)
    return 1 if run_all() else 0


if __name__ == "__main__":
    sys.exit(main())
