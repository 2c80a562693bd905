#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of the texts that asked for all this run as they are written there: asked_test.py

$TS_ASKED names the folder of the texts (000.txt to 004.txt; default: shared/asked beside the sources); without it this skips. Each
fenced block of each text has a row here: it is run, by Python or by the shell, or it says why it is not. Names of other people's
packages and scripts stand for ours (STANDS_FOR), and what a block takes from the program around it is a line in front of it. Blocks
of JAX run under $TS_JAX_PYTHON, those of PyTorch under $TS_TORCH_PYTHON, where there is one.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import package
from tensorboard_plugin_tpusight import runs

ASKED = os.environ.get("TS_ASKED") or os.path.join(package.ROOT, "..", "shared", "asked")
JAX, TORCH = os.environ.get("TS_JAX_PYTHON", ""), os.environ.get("TS_TORCH_PYTHON", "")
PATIENCE_S = 1800
STANDS_FOR = (("core.profiling", "tpusight"), ("ueaj.utils", "tpusight"), ("/tmp/memory_profile.prof", "memory_profile.prof"))

MODEL = """
import jax, jax.numpy as jnp, types
from tpusight import maybe_profile, profile_scope, profile_trace
ids, labels = jnp.ones((4, 8)), jnp.zeros(4)
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, weight): self.weight = weight
    def tree_flatten(self): return (self.weight,), None
    @classmethod
    def tree_unflatten(cls, _, leaves): return cls(*leaves)
    def __call__(self, x): return x @ self.weight
    embed = lm_head = property(lambda self: self.__call__)
    layers = property(lambda self: [jnp.tanh, jnp.sin])
model, batch, optimizer = Model(jnp.ones((8, 8))), {"input_ids": ids, "labels": labels}, None
dummy_input = real_input = input_ids = ids
create_optimizer = lambda name: name
train_step = lambda *_: model(ids).sum()
compute_loss = lambda logits, labels: logits.sum() - labels.sum()
loss_fn = lambda model: model(ids).sum()
data_iterator = iter([batch] * 2000)
fn, data = jnp.sin, ids
"""
FEW = "range = lambda n: [0, 1]  # of the hundred\n"
FUNCTION = "\nnew_state = metrics = 0\nfor _ in range(8):\n    train_step(0, 0)\nassert len(train_step.captured) == 1\n"
LOOP = """
train_step = lambda *_: (model(ids).sum(), {})
"""
RUN = """
config = types.SimpleNamespace(max_steps=1002, profile_dir="steps")
train(model, None, data_iterator, config)
import os
assert os.listdir("steps") == ["step_1000"] and os.listdir("steps/step_1000") == ["plugins"]
"""
LIVE = "import jax.numpy as jnp\ndata, weights = [jnp.ones((4, 8))] * 3, jnp.ones((8, 2))\n"
OPTIONS = "import jax\nprofile_run_dir = 'options'\n"

TORCH_MODEL = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
baseline_model = optimized_model = model
input = input_tensor = sample_input = torch.randn(32, 64)
target, criterion = torch.zeros(32, 64), torch.nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters())
output = model(input)
loss = criterion(output, target)
"""


class Python:
    """A block of Python: what stands before and behind it, and whose names it goes on with. Without the module that it NEEDS (Debian's
    torch compiles nothing) it is left out."""

    def __init__(self, before="", after="", of=None, framework="jax", has=(), needs=None):
        self.before, self.after, self.of, self.framework, self.has, self.needs = before, after, of, framework, has, needs


class Shell:
    """Commands. Lines that begin with one of LEFT are not run: the reason is the words beside them."""

    def __init__(self, makes=(), has=(), left=()):
        self.makes, self.has, self.left = makes, has, left


class Elsewhere:
    """Not run here, and why."""

    def __init__(self, why):
        self.why = why


PICTURE = Elsewhere("a picture or a list, not a program")
WINDOWS = Elsewhere("a machine with Windows")
CLOUD = Elsewhere("a TPU in the cloud")
PAGE = Elsewhere("TensorBoard, which tests/viewers starts")
FIELDS = Elsewhere("fields of classes: tests/python/torch_test.py has them")
OURS = Elsewhere("its commands are run by tests/python/scripts_test.py, in a folder of their own")
PIP = Elsewhere("installing, which tests/build does")
TENSORBOARD = (".venv/bin/tensorboard", "http://localhost")

BLOCKS = {
    0: [PIP, PIP, Python(has=["Overview\n", "CPU run"]), Python(LIVE), Python(of=2, has=["TPUsight Time Breakdown\n"]), PICTURE,
        Python("from tpusight import LiveProfiler, TPUsight\n"), Python(of=2, has=["Overview\n"])],
    1: [Shell(["flame.html", "timeline.html", "report.html"]), PICTURE, Shell(["flame.html", "flame.json"]), Shell(["timeline.html"]),
        Shell(["hta_report.html", "hta_report.json"]),
        Python(TORCH_MODEL, framework="torch"), Python(TORCH_MODEL, of=5, framework="torch"),
        Python(of=5, framework="torch"), Python(TORCH_MODEL, framework="torch"), Python(TORCH_MODEL, framework="torch"),
        Python(TORCH_MODEL, framework="torch"), Python(framework=None, has=["GPU idle: 0.0%", "Compute: 43.5%"]),
        Python(TORCH_MODEL, framework="torch", needs="torch.compiler", has=["max-autotune: "]),
        FIELDS, FIELDS, FIELDS, Elsewhere("the server of another project; ours is asked below"), PICTURE],
    2: [OURS, CLOUD, CLOUD, Elsewhere("what the first block prints: tests/python/scripts_test.py"), OURS, Python(OPTIONS),
        Python("import jax\nheld = jax.numpy.ones(1000)\n")],
    3: [PIP, Shell(["profiles/train_step/plugins"], ["Profile saved: "], TENSORBOARD), Python(MODEL), Python(MODEL),
        Python(MODEL, FUNCTION), WINDOWS, Python(MODEL), Python(MODEL + LOOP, RUN), Python(MODEL),
        Shell(["profiles/train_step/plugins"], ["Profile saved: "], TENSORBOARD), Python(MODEL), Python(MODEL), Python(MODEL),
        Python(MODEL), PIP, Python("import jax\n"), Python(MODEL + FEW), Shell(), Python(MODEL, has=["Mean: "]), Shell()],
    4: [PAGE, PICTURE, WINDOWS, PICTURE, WINDOWS, WINDOWS, WINDOWS, WINDOWS, Shell(), Shell(),
        PICTURE, Shell(["profiles/step_00000100/plugins"], ["Profile saved: ./profiles/step_00000100"]), PAGE, PICTURE, PAGE,
        Elsewhere("its command is that of block 11; what it prints is compared below"), Python(MODEL + "step = 0\n"), PIP,
        Elsewhere("a command without its name"), Shell(has=[".trace.json.gz"]), PAGE,
        Elsewhere("ui.perfetto.dev, which tests/viewers asks"), Elsewhere("a script of the reader's; block 11 is the same")],
}

# Runs [[key, key of the names, code]] in one process; writes {key: [what it printed, how it failed]}.
RUNNER = """
import contextlib, io, json, sys, traceback
names, told = {}, {}
with open(sys.argv[1], encoding="utf-8") as f:
    blocks = json.load(f)
for key, of, code in blocks:
    out, failed = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(code, f"block {key}", "exec"), names.setdefault(of, {"__name__": "__main__"}))
        except Exception:
            failed = traceback.format_exc()
    told[key] = [out.getvalue(), failed]
with open(sys.argv[2], "w", encoding="utf-8") as f:
    json.dump(told, f)
"""


def has_module(python, name):
    return not subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode


def blocks_of(text):
    """The fenced blocks of a text, in order, under our names."""
    with open(os.path.join(ASKED, f"{text:03}.txt"), encoding="utf-8", errors="replace") as f:
        found = re.findall(r"^ *```\w*\n(.*?)^ *```", f.read(), re.M | re.S)
    for theirs, ours in STANDS_FOR:
        found = [block.replace(theirs, ours) for block in found]
    return found


class Asked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1", PYTHONUTF8="1",
                                JAX_PLATFORMS="cpu", HOME=self.folder, PATH=f"{self.folder}/bin{os.pathsep}{os.environ['PATH']}")
        with open(os.path.join(package.DATA, "hand_made.pt.trace.json"), "rb") as source, open(self.path("trace.json"), "wb") as trace:
            trace.write(source.read())
        os.symlink(os.path.join(package.ROOT, "examples"), self.path("scripts"))
        for place, python in (("bin/python", sys.executable), (".venv/bin/python", JAX)):
            os.makedirs(os.path.dirname(self.path(place)))
            with open(self.path(place), "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\nexec '{python}' \"$@\"\n")
            os.chmod(self.path(place), 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_python(self, text, framework, python):
        """The blocks of a text that need this framework, in one process."""
        if framework and not os.access(python, os.X_OK):
            self.skipTest(f"no Python with {framework}")
        rows = {n: row for n, row in enumerate(BLOCKS[text]) if isinstance(row, Python) and row.framework == framework
                and (not row.needs or has_module(python, row.needs))}
        found = blocks_of(text)
        code = [[str(n), str(n if row.of is None else row.of), row.before + found[n] + row.after] for n, row in rows.items()]
        with open(self.path("blocks.json"), "w", encoding="utf-8") as f:
            json.dump(code, f)
        done = subprocess.run([python or sys.executable, "-c", RUNNER, "blocks.json", "told.json"], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("told.json"), encoding="utf-8") as f:
            told = json.load(f)
        self.assertEqual(len(told), len(rows))
        for n, row in rows.items():
            with self.subTest(text=text, block=n):
                self.judge(row, *told[str(n)])

    def judge(self, row, said, failed):
        self.assertEqual(failed, "")
        for words in row.has:
            self.assertIn(words, said)

    def run_shell(self, text):
        found = blocks_of(text)
        for n, row in enumerate(BLOCKS[text]):
            if isinstance(row, Shell):
                lines = [line for line in found[n].splitlines() if not line.startswith(row.left or "\0")]
                with self.subTest(text=text, block=n):
                    done = subprocess.run(["sh", "-e", "-c", "\n".join(lines)], cwd=self.folder, env=self.environment, capture_output=True,
                                          text=True, timeout=PATIENCE_S, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual([name for name in row.makes if not os.path.exists(self.path(name))], [])
                    self.assertEqual([words for words in row.has if words not in done.stdout], [])

    def starts(self, name, begin):
        with open(self.path(name), encoding="utf-8") as f:
            self.assertEqual(f.read(len(begin)).lower(), begin)

    def test_every_block_has_a_row(self):
        for text, rows in BLOCKS.items():
            self.assertEqual(len(blocks_of(text)), len(rows), text)

    def test_of_the_profiler(self):
        self.run_python(0, "jax", JAX)
        self.starts("report.html", "<!doctype html>")
        self.starts("results.json", "{")
        self.starts("operations.csv", "program_id,")

    def test_of_the_gpu_suite_without_torch(self):
        self.run_shell(1)
        for name in "flame.html", "timeline.html", "report.html", "hta_report.html":
            self.starts(name, "<!doctype html>")
        for name in "flame.json", "hta_report.json":
            self.starts(name, "{")
        self.run_python(1, None, None)

    def test_of_the_gpu_suite_with_torch(self):
        self.run_python(1, "torch", TORCH)

    @contextlib.contextmanager
    def served(self, path):
        """The address at which tpusight serves what is below PATH."""
        with package.children.start([package.PROGRAM, "serve", "--port=0", path], cwd=self.folder, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True) as server:
            try:
                yield re.search(r"http://\S+/", server.stdout.readline()).group()
            finally:
                server.terminate()

    def test_of_the_addresses_of_the_server(self):
        with open(os.path.join(ASKED, "001.txt"), encoding="utf-8", errors="replace") as f:
            addresses = re.findall(r"^- `/(api/profiler/\w+)`", f.read(), re.M)
        self.assertEqual(len(addresses), 6)
        os.mkdir(self.path("traces"))
        os.rename(self.path("trace.json"), self.path("traces/trace.pt.trace.json"))
        with self.served("traces") as url:
            for address in addresses:
                with self.subTest(address), urllib.request.urlopen(url + address, timeout=PATIENCE_S) as answer:
                    self.assertIsInstance(json.load(answer), dict)

    def test_of_the_setup_guide(self):
        self.run_python(2, "jax", JAX)
        for path in "options", "memory_profile.prof":
            said = subprocess.run([package.PROGRAM, "report", path], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(said.returncode, 0, said.stderr)

    def test_of_the_profiling_guide(self):
        self.run_python(3, "jax", JAX)
        with self.served("profiles") as url, urllib.request.urlopen(url + "api/runs", timeout=PATIENCE_S) as answer:
            of_serve = {run["run"] for run in json.load(answer)["runs"]}
        of_tensorboard = {session.id.split("/")[0] for session in runs.find(self.path("profiles"))}
        names = {"train_step", "detailed_profile", "model_breakdown", "optimizer_adamw", "optimizer_muon", "optimizer_multiscale",
                 "data_pipeline", "memory_analysis"}
        for found in set(os.listdir(self.path("profiles"))), of_serve, of_tensorboard:
            self.assertEqual(names - found, set())
        self.run_shell(3)

    def test_of_the_viewing_guide(self):
        if not os.access(JAX, os.X_OK):
            self.skipTest("no Python with JAX")
        self.run_shell(4)
        self.run_python(4, "jax", JAX)

    def test_what_a_session_is_to_print_is_printed(self):
        """Block 15 of the last text shows it, behind signs of comments; its pictures were lost on the way to us."""
        if not os.access(JAX, os.X_OK):
            self.skipTest("no Python with JAX")
        block = blocks_of(4)[15]
        command, shown = re.search(r"# Step 1:[^\n]*\n(.*?)\n\n# Output:\n(.*?)\n\n", block, re.S).groups()
        said = subprocess.run(["sh", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              encoding="utf-8", timeout=PATIENCE_S, check=True).stdout

        def plain(line):
            return re.sub(r"[^ -~]", "", line).strip()

        lines = [plain(line[2:]) for line in shown.splitlines() if line != "# ..."]
        self.assertGreater(len(lines), 8)
        self.assertEqual([line for line in map(plain, said.splitlines()) if not line.startswith("Step ")], lines)


if __name__ == "__main__":
    if not os.path.isdir(ASKED):
        package.skip("the texts are not here (TS_ASKED names their folder)")
    package.main()
