#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python -m tpusight: the program, and a script that is profiled: main_test.py

What profiles needs JAX: $TS_JAX_PYTHON names a Python with it, else this part skips."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import package

JAX = os.environ.get("TS_JAX_PYTHON", "")
SCRIPT = """
import sys, jax, jax.numpy as jnp, beside
print(sys.argv[1:], beside.HERE, __name__)
jax.jit(lambda x: x @ x)(jnp.ones((64, 64))).block_until_ready()
sys.exit(5)
"""


def tpusight(*args, python=sys.executable, **more):
    environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1", JAX_PLATFORMS="cpu")
    return subprocess.run([python, "-m", "tpusight", *args], env=environment, capture_output=True, text=True, check=False, **more)


class Main(unittest.TestCase):
    def test_it_is_the_program(self):
        theirs = subprocess.run([package.PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(tpusight("--version").stdout, theirs)
        self.assertEqual(tpusight("no-such-command").returncode, 2)

    def test_profile_has_help_and_says_what_is_missing(self):
        self.assertIn("--output", tpusight("profile", "--help").stdout)
        self.assertEqual(tpusight("profile").returncode, 2)

    @unittest.skipUnless(os.access(JAX, os.X_OK), "TS_JAX_PYTHON names no Python")
    def test_a_script_is_profiled_and_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ("train.py", SCRIPT), ("beside.py", "HERE = 'beside'\n"):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            done = tpusight("profile", "-o", "out", "--json", "train.py", "--steps", "3", python=JAX, cwd=folder)
            self.assertEqual(done.returncode, 5, done.stderr)
            said, _, report = done.stdout.partition("\n")
            self.assertEqual(said, "['--steps', '3'] beside __main__")
            self.assertEqual(json.loads(report)["schema"], "tpusight/1")
            self.assertEqual(os.listdir(os.path.join(folder, "out")), ["train"])
            self.assertRegex(done.stderr, r"Profile saved: \S+/out/train/plugins/profile/")


if __name__ == "__main__":
    package.main()
