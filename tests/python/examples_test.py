#!/usr/bin/env python3
"""The examples of the documents run as they stand there: examples_test.py [FILE...]

The ```python blocks of a document are one program, in their order. Those of JAX run under $TS_JAX_PYTHON, those of PyTorch under
$TS_TORCH_PYTHON; without both this skips."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import package

DOCUMENTS = {"docs/python.md": "TS_JAX_PYTHON", "docs/live.md": "TS_JAX_PYTHON", "README.md": "TS_JAX_PYTHON",
             "plugin/README.md": "TS_JAX_PYTHON", "docs/python-torch.md": "TS_TORCH_PYTHON"}
TIME_S = 300


def blocks(path, language="python"):
    """[(line, text)] of the fenced blocks in that language."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    return [(text.count("\n", 0, m.start(1)) + 1, m.group(1)) for m in found]


def program(path):
    """The blocks as one program, each line at the number it has in the document: so a traceback names it."""
    lines = []
    for line, text in blocks(path):
        lines += [""] * (line - 1 - len(lines)) + text.splitlines()
    return "\n".join(lines) + "\n"


def run(path, python, folder):
    """(status, what it said) of the examples in a document."""
    code = f"import sys\nexec(compile(sys.stdin.read(), {path!r}, 'exec'), {{'__name__': '__main__'}})"
    environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), JAX_PLATFORMS="cpu",
                       PYTHONDONTWRITEBYTECODE="1", PATH=os.path.dirname(package.PROGRAM) + os.pathsep + os.environ["PATH"])
    done = subprocess.run([python, "-c", code], input=program(path), env=environment, cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_S, check=False)
    return done.returncode, done.stdout


class Examples(unittest.TestCase):
    def test_the_examples_run(self):
        for name, variable in DOCUMENTS.items():
            path, python = os.path.join(package.ROOT, name), os.environ.get(variable, "")
            if not os.path.exists(path) or not blocks(path) or not os.access(python, os.X_OK):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                status, said = run(path, python, folder)
                self.assertEqual(status, 0, said)

    def test_an_example_that_fails_is_found_at_its_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as f:
            f.write("# t\n\n```python\nx = 1\n```\n\n```sh\nfalse\n```\n\n```python\nassert x == 2\n```\n")
            f.flush()
            status, said = run(f.name, sys.executable, os.path.dirname(f.name))
        self.assertEqual(status, 1)
        self.assertIn(f'"{f.name}", line 12', said)


if __name__ == "__main__":
    if not any(os.access(os.environ.get(name, ""), os.X_OK) for name in set(DOCUMENTS.values())):
        package.skip("TS_JAX_PYTHON and TS_TORCH_PYTHON name no Python")
    package.main()
