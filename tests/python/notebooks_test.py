#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The notebooks run from their first cell to their last, and are stored without what they printed: notebooks_test.py

They run in IPython's kernel under $TS_JAX_PYTHON, which needs nbclient and ipykernel beside JAX; without these this part skips.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import package

NOTEBOOKS = os.path.join(package.ROOT, "notebooks")
JAX = os.environ.get("TS_JAX_PYTHON", "")
PATIENCE_S = 1800
#: what a notebook must have printed, and what it must have written
EXPECTED = {"demo.ipynb": (["CPU run", "Named scopes", "fetch_batch", "Mean: ", "loss at first: "],
                           ["report.html", "profiles/first"]),
            "torch_trace.ipynb": (["GPU idle: ", "sm90_xmma_gemm_bf16", "Total: ", "Speedup: 1.00x"], ["flame.html", "trace.json"])}
RUNNER = """
import json, sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


def text_of(cell):
    """What a cell printed or showed."""
    for output in cell.get("outputs", []):
        yield "".join(output.get("text", "")) + "".join(output.get("data", {}).get("text/plain", ""))


def has_kernel():
    """Whether $TS_JAX_PYTHON has what runs notebooks."""
    return os.access(JAX, os.X_OK) and not subprocess.run([JAX, "-c", "import nbclient, ipykernel"], capture_output=True,
                                                          check=False).returncode


class Notebooks(unittest.TestCase):
    def test_they_are_stored_without_outputs(self):
        self.assertEqual(sorted(name for name in os.listdir(NOTEBOOKS) if name.endswith(".ipynb")), sorted(EXPECTED))
        for name in EXPECTED:
            with open(os.path.join(NOTEBOOKS, name), encoding="utf-8") as f:
                cells = json.load(f)["cells"]
            self.assertEqual([cell["outputs"] for cell in cells if cell.get("outputs")], [], name)
            self.assertEqual([cell["execution_count"] for cell in cells if cell.get("execution_count")], [], name)

    def test_they_run(self):
        if not has_kernel():
            self.skipTest("TS_JAX_PYTHON names no Python with nbclient and ipykernel")
        for name, (said, made) in EXPECTED.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = shutil.copy(os.path.join(NOTEBOOKS, name), folder)
                environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1",
                                   JAX_PLATFORMS="cpu", IPYTHONDIR=folder)
                done = subprocess.run([JAX, "-c", RUNNER, path], cwd=folder, env=environment, capture_output=True, text=True,
                                      timeout=PATIENCE_S, check=False)
                self.assertEqual(done.returncode, 0, done.stderr[-4000:])
                with open(path, encoding="utf-8") as f:
                    text = "\n".join(found for cell in json.load(f)["cells"] for found in text_of(cell))
                for words in said:
                    self.assertIn(words, text)
                for file in made:
                    self.assertTrue(os.path.exists(os.path.join(folder, file)), file)


if __name__ == "__main__":
    package.main()
