#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package is typed: the examples of all documents, and the scripts of examples/, pass mypy --strict and pyright: types_test.py

The tools are those beside $TS_TABLES_PYTHON or on PATH; jax and torch are looked up in $TS_JAX_PYTHON and
$TS_TORCH_PYTHON where these name a Python, else what comes from them is of any type. What needs no tool always runs.
"""
import glob
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import package
import tpusight
from examples_test import blocks, missing, program

TIME_S = 900
WRONG_FIGURE = ("# t\n\n```python\nfrom tpusight import Session\n\nidle: str = Session('t').report().time.buckets.idle_ps\n"
                "first: str = Session('t').report().ops[0].self_time_ps\n```\n")
WRONG = "# t\n\n```python\nfrom tpusight import HTAAnalyzer\n\nHTAAnalyzer().analyze_trace('t').no_such_field\n```\n"


def documents():
    """Those that have examples in Python."""
    folders = [os.path.join(package.ROOT, "docs"), os.path.join(package.ROOT, "plugin")]
    found = [os.path.join(package.ROOT, "README.md"), os.path.join(folders[1], "README.md")]
    found += [os.path.join(at, name) for at, _, names in os.walk(folders[0]) for name in sorted(names) if name.endswith(".md")]
    return [path for path in found if os.path.exists(path) and blocks(path)]


def scripts():
    return sorted(glob.glob(os.path.join(package.ROOT, "examples", "*.py")))


def tool(name):
    path = os.pathsep.join([os.path.dirname(os.environ.get("TS_TABLES_PYTHON", "")), os.environ.get("PATH", "")])
    return shutil.which(name, path=path)


def pythons():
    """{module: a Python that has it}"""
    given = {"jax": os.environ.get("TS_JAX_PYTHON", ""), "torch": os.environ.get("TS_TORCH_PYTHON", "")}
    return {name: os.path.abspath(python) for name, python in given.items() if os.access(python, os.X_OK)}


def needs(path):
    """Which module's Python its examples want."""
    return "torch" if "torch" in os.path.basename(path) else "jax"


def write_modules(folder, paths, python):
    """The examples of each document as a module in FOLDER, each line at the number it has there, and each script under its own name:
    {module: document}. Without a compiler torch's own types call a sigmoid a number, so what compiles is left out there."""
    modules = {os.path.basename(path): shutil.copy(path, folder) for path in paths if path.endswith(".py")}
    for path in (path for path in paths if not path.endswith(".py")):
        name = re.sub(r"\W", "_", os.path.relpath(path, package.ROOT)) + ".py"
        modules[name] = path
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(program(path, missing(python, path) & {"torch.compiler"} if python else ()))
    return modules


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=TIME_S, check=False)
    return done.returncode, done.stdout


def by_mypy(folder, modules, python):
    where = ["--python-executable", python] if python else []
    return run([tool("mypy"), "--strict", "--follow-imports=silent", "--ignore-missing-imports", "--no-error-summary", *where, *modules],
               folder, MYPYPATH=os.path.join(package.ROOT, "plugin"))


def by_pyright(folder, modules, python):
    settings = {"include": list(modules), "extraPaths": [os.path.join(package.ROOT, "plugin")], "reportMissingImports": "none",
                "reportMissingModuleSource": "none", "reportAttributeAccessIssue": "error"}
    with open(os.path.join(folder, "pyrightconfig.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
    return run([tool("pyright"), *(["--pythonpath", python] if python else [])], folder)


CHECKERS = {"mypy": by_mypy, "pyright": by_pyright}


def check(name, paths, python):
    with tempfile.TemporaryDirectory() as folder:
        return CHECKERS[name](folder, write_modules(folder, paths, python), python)


class Examples(unittest.TestCase):
    def judge(self, name):
        if not tool(name):
            self.skipTest(f"{name} is not installed")
        for wanted in ("jax", "torch"):
            paths = [path for path in documents() + scripts() if needs(path) == wanted]
            self.assertEqual({os.path.splitext(path)[1] for path in paths}, {".md", ".py"})
            with self.subTest(wanted):
                status, said = check(name, paths, pythons().get(wanted))
                self.assertEqual(status, 0, said)

    def test_mypy_strict_passes(self):
        self.judge("mypy")

    def test_pyright_passes(self):
        self.judge("pyright")

    def test_a_wrong_example_is_found_at_its_line(self):
        for name in CHECKERS:
            if not tool(name):
                continue
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".md") as file:
                file.write(WRONG)
                file.flush()
                status, said = check(name, [file.name], None)
                self.assertNotEqual(status, 0)
                self.assertRegex(said, r"md\.py:6\b.*no_such_field")

    def test_a_figure_of_the_report_has_the_type_that_it_is_declared_with(self):
        for name in CHECKERS:
            if not tool(name):
                continue
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".md") as file:
                file.write(WRONG_FIGURE)
                file.flush()
                status, said = check(name, [file.name], None)
                self.assertNotEqual(status, 0)
                self.assertRegex(said, r"md\.py:6\b")
                self.assertRegex(said, r"md\.py:7\b")


def functions(thing):
    """[(name, function)] that users call of a class or function of ours."""
    if not inspect.isclass(thing):
        return [(thing.__name__, thing)]
    found = []
    for name, member in inspect.getmembers(thing, lambda m: inspect.isfunction(m) or isinstance(m, property)):
        function = member.fget if isinstance(member, property) else member
        if (not name.startswith("_") or name == "__init__") and function.__module__.startswith("tpusight"):
            found.append((f"{thing.__name__}.{name}", function))
    return found


def untyped(function):
    """What a signature says no type of."""
    signature = inspect.signature(function)
    missing = [name for name, one in signature.parameters.items() if one.annotation is one.empty and name not in ("self", "cls")]
    return missing + (["return"] if signature.return_annotation is signature.empty else [])


class Signatures(unittest.TestCase):
    def test_every_public_function_says_its_types(self):
        seen, wrong = 0, {}
        for public in tpusight.__all__:
            thing = getattr(tpusight, public)
            for name, function in functions(thing) if callable(thing) else ():
                seen += 1
                if untyped(inspect.unwrap(function)) and "lambda" not in name:
                    wrong[name] = untyped(inspect.unwrap(function))
        self.assertGreater(seen, 100)
        self.assertEqual(wrong, {})

    def test_what_lacks_types_is_found(self):
        def loose(a, b: int):
            return a + b

        self.assertEqual(untyped(loose), ["a", "return"])

    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue(os.path.exists(os.path.join(package.ROOT, "plugin", "tpusight", "py.typed")))


if __name__ == "__main__":
    sys.path.insert(0, package.HERE)
    package.main()
