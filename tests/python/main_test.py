#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""python -m tpusight: the program, and a script that is profiled: main_test.py

What profiles needs JAX: $TS_JAX_PYTHON names a Python with it, else this part skips."""
import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package
from tpusight import __main__ as main

JAX, TORCH = os.environ.get("TS_JAX_PYTHON", ""), os.environ.get("TS_TORCH_PYTHON", "")
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


    @unittest.skipUnless(os.access(JAX, os.X_OK), "TS_JAX_PYTHON names no Python")
    def test_some_steps_of_a_script_are_profiled(self):
        script = ("import jax, jax.numpy as jnp", "from jax.profiler import StepTraceAnnotation", "f = jax.jit(lambda x: x @ x)",
                  "for n in range(8):", "    with StepTraceAnnotation('train', step_num=n):",
                  "        f(jnp.ones((64, 64))).block_until_ready()")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as f:
                f.write("\n".join(script))
            done = tpusight("profile", "--json", "--wait", "1", "--warmup=2", "--steps", "3", "train.py", python=JAX, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([step["step"] for step in json.loads(done.stdout)["steps"]], [3, 4, 5])
            done = tpusight("profile", "--wait", "20", "train.py", python=JAX, cwd=folder)
            self.assertEqual(done.returncode, 3)
            self.assertIn("the script made 8 steps, and the first 20 were to be left out", done.stderr)

    @unittest.skipUnless(os.access(TORCH, os.X_OK), "TS_TORCH_PYTHON names no Python")
    def test_a_script_of_pytorch_gives_memory_stacks_modules_and_the_compilers_log(self):
        script = ("import torch", "model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())",
                  "graph = torch.compile(model, backend='eager')",
                  "sgd = torch.optim.SGD(model.parameters())", "for n in range(6):",
                  "    graph(torch.ones(8, 64)).sum().backward()", "    sgd.step()")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as f:
                f.write("\n".join(script))
            options = ["--memory", "--stacks", "--shapes", "--modules", "--compile-log"]
            done = tpusight("profile", *options, "train.py", python=TORCH, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = done.stderr.rsplit("Profile saved: ", 1)[1].strip()

            def ask(*command):
                return json.loads(subprocess.run([package.PROGRAM, *command], cwd=folder, capture_output=True, check=True).stdout)
            self.assertGreater(ask("memory", "--json", trace)["peak_memory_mb"], 0)
            self.assertEqual(ask("flame", "--json", "--kind=modules", trace)["kind"], "modules")
            self.assertTrue([name for name in os.listdir(os.path.join(folder, os.path.dirname(trace))) if name.endswith(".log")])
            self.assertEqual(ask("compile", "--json", trace)["graph_breaks"], 0)  # null without the log
            done = tpusight("profile", "--name=some", "--wait=2", "--steps=3", "train.py", python=TORCH, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            trace = done.stderr.rsplit("Profile saved: ", 1)[1].strip()
            with gzip.open(os.path.join(folder, trace), "rt", encoding="utf-8", errors="replace") as f:
                events = json.load(f)["traceEvents"]
            self.assertEqual(sum(e.get("name") == "Optimizer.step#SGD.step" and e.get("cat") == "user_annotation" for e in events), 3)

    @unittest.skipUnless(os.access(JAX, os.X_OK), "TS_JAX_PYTHON names no Python")
    def test_what_a_script_did_before_it_failed_is_kept_and_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "train.py"), "w", encoding="utf-8") as f:
                f.write(SCRIPT.replace("beside", "os").replace("os.HERE", "0").replace("sys.exit(5)", "raise KeyError('lost')"))
            done = tpusight("profile", "--name", "first", "train.py", python=JAX, cwd=folder)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("KeyError: 'lost'", done.stderr)
            self.assertRegex(done.stderr, r"Profile saved: \S+/profiles/first/plugins/profile/")
            self.assertIn("1 host \u00b7 1 x CPU \u00b7 ", done.stdout)

    def test_what_is_not_a_script_is_told_before_anything_is_imported(self):
        done = tpusight("profile", "no_such.py")
        self.assertEqual((done.returncode, done.stderr),
                         (3, "tpusight: no_such.py is not a file (name the Python script to run)\n"))

    def test_a_trace_of_pytorch_is_a_run_of_the_scripts_name_and_reported(self):
        """What torch.profiler would write stands ready: torch itself is not needed for what is around it."""
        @contextlib.contextmanager
        def capture(path, name, shapes=False, **_):
            yield
            with open(os.path.join(package.DATA, "hand_made.pt.trace.json"), "rb") as source, gzip.open(path, "wb") as trace:
                trace.write(source.read())

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(main._torch, "capture", capture), \
                contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
            script = os.path.join(folder, "job.py")
            with open(script, "w", encoding="utf-8") as f:
                f.write("print('at work')\n")
            self.assertEqual(main._profile(["--framework=torch", "-o", folder, script]), 0)
            (trace,) = os.listdir(os.path.join(folder, "job"))
            self.assertRegex(trace, r"^\S+_\d+\.\d{13}\.pt\.trace\.json\.gz$")
            self.assertTrue(out.getvalue().startswith("at work\n"))
            self.assertIn("1 x H100 SXM", out.getvalue())
            self.assertEqual(said.getvalue(), f"Profile saved: {os.path.join(folder, 'job', trace)}\n")

    def test_whose_profiler_it_is_says_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.py")
            for text, framework in (("import torch\n", "torch"), ("from jax import numpy\n", "jax"), ("import torchvision\n", None),
                                    ("import jax\nif 1:\n    import torch.nn as nn\n", None), ("# import jax\n", None)):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
                self.assertEqual(main._imported(path), framework, text)

    def test_the_program_hands_the_command_over(self):
        with tempfile.TemporaryDirectory() as folder:
            beside = os.path.join(folder, "tpusight-profile")
            alone = subprocess.run([package.PROGRAM, "profile", "x.py"], env={"PATH": folder}, capture_output=True, text=True, check=False)
            self.assertEqual((alone.returncode, alone.stderr), (3, "tpusight: the program tpusight-profile is not there (it comes with "
                                                                   "the Python package: pip install tpusight)\n"))
            with open(beside, "w", encoding="utf-8") as f:
                f.write(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {os.path.join(package.ROOT, 'plugin')!r})\n"
                        "from tpusight.__main__ import profile\nsys.exit(profile())\n")
            os.chmod(beside, 0o755)
            done = subprocess.run([package.PROGRAM, "profile", "x.py"], env={"PATH": folder}, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (3, "tpusight: x.py is not a file (name the Python script to run)\n"))


if __name__ == "__main__":
    package.main()
