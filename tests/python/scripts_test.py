#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scripts of examples/ run, say what their texts say, and leave the runs that the three stories compare: scripts_test.py

Those of JAX run under $TS_JAX_PYTHON, those of PyTorch under $TS_TORCH_PYTHON, and skip where it names none. The commands of
docs/stories.md run as they stand there.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import package

EXAMPLES = os.path.join(package.ROOT, "examples")
OPTIMIZERS = ("manifold_muon", "hyperspherical_descent", "adam")
PATIENCE_S = 600
JAX, TORCH = os.environ.get("TS_JAX_PYTHON", ""), os.environ.get("TS_TORCH_PYTHON", "")
PYTHONS = {"jax": JAX, "torch": TORCH, None: sys.executable}
ENVIRONMENT = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1", JAX_PLATFORMS="cpu",
                   PYTHONUTF8="1")


def framework(text):
    """What a script imports, itself or by small.py: jax, torch or None."""
    return "jax" if re.search(r"^import (jax|small)$", text, re.M) else "torch" if re.search(r"^import torch$", text, re.M) else None


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def python(self, script, *args, status=0, **variables):
        """What the script printed on both, with the status that it must end with."""
        with open(os.path.join(EXAMPLES, script), encoding="utf-8") as f:
            python = PYTHONS[framework(f.read())]
        if not os.access(python, os.X_OK):
            self.skipTest(f"no Python for {script}")
        done = subprocess.run([python, os.path.join(EXAMPLES, script), *args], env=dict(ENVIRONMENT, **variables),
                              cwd=self.folder, text=True, encoding="utf-8", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def tpusight(self, *args, status=0):
        done = subprocess.run([package.PROGRAM, *args], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def runs(self, logdir):
        """The runs of a log directory, by name."""
        return sorted(name for name in os.listdir(os.path.join(self.folder, logdir))
                      if os.path.isdir(os.path.join(self.folder, logdir, name, "plugins", "profile")))

    def commands(self, document):
        """{command: what it printed} of the sh blocks of a document, run in their order in one folder. What compares times by the
        clock may find a busy machine slower than it was."""
        with open(os.path.join(package.ROOT, document), encoding="utf-8") as f:
            found = re.findall(r"^```sh\n(.*?)^```$", f.read(), re.M | re.S)
        os.symlink(EXAMPLES, os.path.join(self.folder, "examples"))
        os.mkdir(os.path.join(self.folder, "bin"))
        with open(os.path.join(self.folder, "bin", "python"), "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\nexec '{JAX}' \"$@\"\n")
        os.chmod(os.path.join(self.folder, "bin", "python"), 0o755)
        for name in "before.tar.gz", "after.tar.gz":
            shutil.copy(os.path.join(package.DATA, "planted", "clean.tar.gz"), os.path.join(self.folder, name))
        environment = dict(ENVIRONMENT, PATH=os.pathsep.join((f"{self.folder}/bin", os.path.dirname(package.PROGRAM), os.environ["PATH"])))
        said = {}
        for command in "".join(found).splitlines():
            done = subprocess.run(command, shell=True, cwd=self.folder, env=environment, text=True, encoding="utf-8",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S, check=False)
            self.assertIn(done.returncode, (0, 1) if "--against" in command else (0,), command + "\n" + done.stdout)
            said[command] = done.stdout
        return said

    def test_the_stories_run_as_they_are_told(self):
        if not os.access(JAX, os.X_OK):
            self.skipTest("no Python with JAX")
        said = self.commands("docs/stories.md")
        self.optimizers_are_compared({name: text for command, text in said.items() for name in re.findall(r"--update (\w+)", command)})
        self.a_slow_input_pipeline_is_seen_and_mended([text for command, text in said.items() if "slow_input.py" in command])
        self.assertIn("Baseline saved: baseline.json\n", said["python examples/regression.py --save baseline.json"])

    def optimizers_are_compared(self, said):
        self.assertEqual(sorted(said), sorted(OPTIMIZERS))
        for name, text in said.items():
            self.assertRegex(text, rf"""\ATraining with: {name}
Epochs: 2 --- LR: 0\.01
Profiling enabled\. Data will be saved to: \./logs/{name}_lr0\.01_epochs2_seed42
To view with TensorBoard: tensorboard --logdir=\./logs
Starting profiled training\.\.\.
Epoch \[1/2\], Step \[49/49\], Loss: \d\.\d{{4}}
Epoch 1, Loss: \d\.\d{{4}}, Time: \d+\.\d\d seconds
Epoch \[2/2\], Step \[49/49\], Loss: \d\.\d{{4}}
Epoch 2, Loss: \d\.\d{{4}}, Time: \d+\.\d\d seconds
Total training time \(wall clock\): \d+\.\d\d seconds
Evaluating model\.\.\.
Evaluation time: \d+\.\d\d seconds""")
            self.assertGreater(float(re.search(r"([\d.]+)% of 2048", text).group(1)), 50, "it has learnt something")
        self.assertEqual(self.runs("logs"), sorted(f"{name}_lr0.01_epochs2_seed42" for name in OPTIMIZERS))
        found = json.loads(self.tpusight("compare", "--json", "logs"))["compare"]["runs"]
        self.assertEqual(sorted(run["run"] for run in found), self.runs("logs"))
        self.assertEqual([run["steps"] for run in found], [98, 98, 98])

    def a_slow_input_pipeline_is_seen_and_mended(self, said):
        self.assertEqual(self.runs("profiles"), ["prefetch_4", "slow_input"])
        shares = [float(re.search(r"(?m)^  fetch_batch +30 .* +(\d+\.\d) %  train$", text).group(1)) for text in said]
        self.assertGreater(shares[0], shares[1])

    def test_a_regression_fails_the_gate(self):
        for median_ms, status, word in (1e9, 0, "Not slower than b.json"), (1e-9, 1, "Training step too slow: train_step: median_ms is"):
            with open(os.path.join(self.folder, "b.json"), "w", encoding="utf-8") as f:
                json.dump({"name": "train_step", "median_ms": median_ms}, f)
            self.assertIn(word, self.python("regression.py", "--against", "b.json", "--iterations", "5", status=status))

    def test_a_step_is_profiled_in_three_ways(self):
        for way, place in ("step", "/train_step"), ("scopes", "/detailed_profile"), ("function", ""):
            said = self.python("profile_training.py", way)
            self.assertIn("CPU run", said)
            self.assertIn(f"Profile saved: {os.path.realpath(self.folder)}/profiles{place}/plugins/profile/", said)
        found = self.tpusight("report", "--view=scopes", "profiles/detailed_profile")
        for name in "data_loading", "forward_pass", "loss_computation", "backward_pass":
            self.assertRegex(found, rf"(?m)^  {name} +1 ")

    def test_the_environment_chooses_the_steps(self):
        said = self.python("train_with_profiling.py", "--steps", "12", PROFILE_ENABLED="1", PROFILE_START_STEP="2", PROFILE_INTERVAL="5",
                           PROFILE_DURATION="2", PROFILE_DIR="logs")
        self.assertIn("PROFILING ENABLED", said)
        self.assertIn("Profile saved: logs/step_00000007", said)
        self.assertEqual(self.runs("logs"), ["step_00000002", "step_00000007"])
        self.assertNotIn("PROFIL", self.python("train_with_profiling.py", "--steps", "3"))

    def test_a_job_is_watched(self):
        self.assertRegex(self.python("live.py", "--seconds", "1"), r"\d+ samples, \d+ alerts; the last step time: (\d+|None) ps\n\Z")

    def test_traces_of_pytorch_need_no_torch(self):
        trace = os.path.join(package.DATA, "hand_made.pt.trace.json")
        said = self.python("traces.py", trace, "--output", "out", "--against", trace)
        self.assertIn("Written: flame.html, hta_report.html, timeline.html, timeline_trace.json in out\n", said)
        self.assertIn("Speedup: 1.0 x", said)
        self.assertIn("both: 231.5 us", said)

    def test_pytorch_code_is_profiled(self):
        said = self.python("torch_profiling.py")
        self.assertRegex(said, r"(?m)^Speedup: \d+\.\d\dx$")
        if subprocess.run([TORCH, "-c", "import sys, torch; sys.exit(not torch.autograd.kineto_available())"], check=False).returncode:
            self.assertIn("\nPeak: unknown MiB at t=unknown ms, a leak: None\n", said)  # its traces have no memory
            return
        self.assertRegex(said, r"(?m)^Peak: \d+\.\d MiB at t=")
        with open(os.path.join(self.folder, "profiles", "memory_profile.json"), encoding="utf-8") as f:
            self.assertGreater(json.load(f)["peak"]["peak_allocated_mb"], 0)

    def test_a_script_is_profiled_as_it_is(self):
        if not os.access(JAX, os.X_OK):
            self.skipTest("no Python with JAX")
        done = subprocess.run([JAX, "-m", "tpusight", "profile", os.path.join(EXAMPLES, "train_with_profiling.py"), "--steps", "5"],
                              env=ENVIRONMENT, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.runs("profiles"), ["train_with_profiling"])


class Completeness(unittest.TestCase):
    def test_every_script_is_run_here_and_told_of(self):
        with open(__file__, encoding="utf-8") as f:
            here = f.read()
        with open(os.path.join(EXAMPLES, "README.md"), encoding="utf-8") as f:
            readme = f.read()
        with open(os.path.join(package.ROOT, "docs", "stories.md"), encoding="utf-8") as f:
            here += "".join(re.findall(r"^python examples/.*\n", f.read(), re.M))
        scripts = [name for name in os.listdir(EXAMPLES) if name.endswith(".py") and name != "small.py"]
        self.assertGreater(len(scripts), 5)
        for name in scripts:
            self.assertTrue(f'"{name}"' in here or f"examples/{name}" in here, name)
            self.assertIn(f"`{name}`", readme)


if __name__ == "__main__":
    package.main()
