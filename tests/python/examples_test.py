#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of the documents run as they stand there: examples_test.py

The ```python blocks of a document are one program, in their order: those of JAX under $TS_JAX_PYTHON, those of PyTorch under
$TS_TORCH_PYTHON, where there is one. A block that begins with "# needs MODULE..." is left out where these modules are not there;
the other ones of PyTorch's document always run. The ```sh blocks are commands_test.py's.
"""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import package

DOCUMENTS = {"docs/python.md": "TS_JAX_PYTHON", "docs/live.md": "TS_JAX_PYTHON", "README.md": "TS_JAX_PYTHON",
             "plugin/README.md": "TS_JAX_PYTHON", "docs/stories.md": "TS_JAX_PYTHON", "docs/use.md": "TS_JAX_PYTHON",
             "docs/before.md": "TS_TPU_PYTHON", "docs/python-torch.md": "TS_TORCH_PYTHON"}
WITHOUT = {"docs/python-torch.md"}  # run also where the Python that is named is not there
NEEDS = re.compile(r"# needs (.+)\n")
TIME_S = 900  # libtpu is another test's for a while, and is waited for


def blocks(path, language="python"):
    """[(line, text)] of the fenced blocks in that language."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    return [(text.count("\n", 0, m.start(1)) + 1, m.group(1)) for m in found]


MISSING = """
import importlib.util, sys
def is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it is a part of is not there
        return False
print(*[name for name in sys.argv[1:] if not is_there(name)])
"""


def needed(text):
    """The modules that a block says it needs."""
    found = NEEDS.match(text)
    return found.group(1).split() if found else []


def missing(python, path):
    """The modules that blocks of the document need, and that this Python has not got."""
    wanted = sorted({name for _, text in blocks(path) for name in needed(text)})
    return set(subprocess.run([python, "-c", MISSING, *wanted], capture_output=True, text=True, check=True).stdout.split())


def program(path, without=()):
    """The blocks as one program, each line at the number it has in the document: so a traceback names it. Blocks that
    need a module of WITHOUT are left out."""
    lines = []
    for line, text in blocks(path):
        if set(needed(text)) & set(without):
            continue
        lines += [""] * (line - 1 - len(lines)) + text.splitlines()
    return "\n".join(lines) + "\n"


def put_gpu_trace(folder):
    """A trace with kernels of a GPU, which the views of the GPU suite want."""
    with open(os.path.join(package.DATA, "hand_made.pt.trace.json"), "rb") as trace:
        with gzip.open(os.path.join(folder, "trace.json.gz"), "wb") as packed:
            packed.write(trace.read())


def lay_out(folder):
    """The files that the commands of the documents name."""
    def put(source, *names):
        for name in names:
            copy = shutil.copytree if os.path.isdir(source) else shutil.copy
            copy(source, os.path.join(folder, name))

    def data(*names):
        return os.path.join(package.DATA, *names)

    put(data("sample"), "profiles")
    put(data("planted", "clean.tar.gz"), "before.tar.gz", "after.tar.gz", "BASE", "NEW", "profile.tar.gz")
    put(data("torch", "mode_eager.pt.trace.json.gz"), "eager.json.gz", "max-autotune.json.gz")
    put(data("torch", "breaks.pt.trace.json.gz"), "rank0.json.gz", "trace.json.gz", "rank0.1700000000.pt.trace.json.gz")
    os.mkdir(os.path.join(folder, "logs"))
    put(data("torch", "dedicated_log_torch_trace_breaks.log.gz"), "logs")
    put(data("pallas_v5e.hlo.pb"), "module.hlo_proto.pb")
    for session, _, files in os.walk(os.path.join(folder, "profiles")):
        os.chmod(session, 0o755)  # the sources may be read-only
        for name in files:
            if name.endswith(".xplane.pb"):
                put(session, "SESSION")
                put(os.path.join(session, name), "HOST.xplane.pb")
                os.rename(os.path.join(session, name), os.path.join(session, "worker-00.xplane.pb"))
    with open(os.path.join(folder, ".tpusight.key"), "wb") as f:
        f.write(bytes(range(32)))


def with_program():
    """The environment in which `tpusight` is the program of the build folder."""
    return dict(os.environ, PATH=os.path.dirname(package.PROGRAM) + os.pathsep + os.environ["PATH"])


def with_package(folder):
    """The same, where the Python package with its commands is installed as well, into FOLDER."""
    environment = with_program()
    command = os.path.join(folder, "tpusight-pod")
    with open(command, "w") as f:
        f.write(f"#!/bin/sh\nexec '{sys.executable}' -c 'import sys; from tpusight.pod.main import main; sys.exit(main())' \"$@\"\n")
    os.chmod(command, 0o755)
    return dict(environment, PATH=folder + os.pathsep + environment["PATH"], PYTHONPATH=os.path.join(package.ROOT, "plugin"),
                PYTHONDONTWRITEBYTECODE="1")


def run(path, python, folder):
    """(status, what it said) of the examples in a document, but for those that need what this Python has not got."""
    code = f"import sys\nexec(compile(sys.stdin.read(), {path!r}, 'exec'), {{'__name__': '__main__'}})"
    environment = dict(with_program(), PYTHONPATH=os.path.join(package.ROOT, "plugin"), JAX_PLATFORMS="cpu",
                       PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="agg")
    done = subprocess.run([python, "-c", code], input=program(path, missing(python, path)), env=environment, cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_S, check=False)
    return done.returncode, done.stdout


class Examples(unittest.TestCase):
    def test_the_examples_run(self):
        for name, variable in DOCUMENTS.items():
            path, python = os.path.join(package.ROOT, name), os.environ.get(variable, "")
            there = os.access(python, os.X_OK)
            if not os.path.exists(path) or not blocks(path) or not (there or name in WITHOUT):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                lay_out(folder)
                status, said = run(path, python if there else sys.executable, folder)
                self.assertEqual(status, 0, said)

    def test_an_example_that_fails_is_found_at_its_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as f:
            f.write("# t\n\n```python\nx = 1\n```\n\n```sh\nfalse\n```\n\n```python\nassert x == 2\n```\n")
            f.flush()
            status, said = run(f.name, sys.executable, os.path.dirname(f.name))
        self.assertEqual(status, 1)
        self.assertIn(f'"{f.name}", line 12', said)


if __name__ == "__main__":
    package.main()
