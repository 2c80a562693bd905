#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package asks the program, and says what it said: program_test.py"""
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package
import tpusight
from tpusight import _forms, _program


class Program(unittest.TestCase):
    def test_importing_loads_neither_jax_nor_torch(self):
        code = "import sys, tpusight; print([m for m in sys.modules if m.split('.')[0] in ('jax', 'torch', 'numpy')])"
        said = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin")),
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.strip(), "[]")

    def test_every_name_is_there(self):
        for name in tpusight.__all__:
            self.assertIsNotNone(getattr(tpusight, name), name)
        with self.assertRaises(AttributeError):
            _ = tpusight.no_such_name

    def test_type_checkers_see_the_same_names(self):
        with open(os.path.join(package.ROOT, "plugin", "tpusight", "__init__.pyi"), encoding="utf-8") as f:
            lines = ast.parse(f.read()).body
        stated = {line.names[0].asname: line.module for line in lines}
        self.assertGreater(len(stated), 20)
        self.assertEqual(len(stated), len(lines))
        self.assertEqual(stated, tpusight._NAMES)
        self.assertEqual(sorted(name for name in stated if name != "__version__"), tpusight.__all__)

    def test_a_word_is_explained_as_the_program_does(self):
        said = tpusight.explain("mxu_utilization_pct")
        self.assertEqual((said[0].kind, said[0].page), ("label", "docs/glossary.md"))
        self.assertIn("MXU utilization\nThe matrix units", str(said))
        self.assertEqual(repr(tpusight.explain("idle_high")), str(tpusight.explain("idle_high")))
        with self.assertRaisesRegex(tpusight.TpusightError, "did you mean 'slice'"):
            tpusight.explain("slcie")

    def test_a_name_loads_its_module_only_when_it_is_used(self):
        script = "import sys, tpusight; print([m for m in sys.modules if m.startswith('tpusight.')])"
        loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                                env={**os.environ, "PYTHONPATH": os.path.join(package.ROOT, "plugin")}).stdout
        self.assertEqual(loaded.strip(), "[]")

    def test_the_version_is_the_programs(self):
        said = subprocess.run([package.PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(tpusight.__version__, said.split())

    def test_forms_are_those_that_the_help_names(self):
        for command, forms in (("report", _forms.REPORT), ("hta", _forms.REPORT), ("memory", _forms.REPORT),
                               ("compile", _forms.REPORT), ("flame", _forms.FLAME)):
            help = subprocess.run([package.PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
            named = re.search(r"--format=FORMAT +(.*)", help).group(1).replace(" (default)", "").replace(" or ", ", ")
            self.assertEqual(sorted(named.split(", ")), sorted(forms), command)

    def test_an_answer_is_the_programs(self):
        asked = _program.ask("report", "--format=json", os.path.join(package.DATA, "planted", "clean.tar.gz"))
        printed = subprocess.run([package.PROGRAM, "report", "--format=json", os.path.join(package.DATA, "planted", "clean.tar.gz")],
                                 capture_output=True, check=True).stdout
        self.assertEqual(asked, json.loads(printed))

    def test_an_error_is_the_programs_own_words(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(tpusight.TpusightError) as caught:
                _program.ask("report", "--format=json", folder)
            self.assertIn(folder, str(caught.exception))

    def test_a_program_that_is_not_there_is_told(self):
        with mock.patch.dict(os.environ, {"TPUSIGHT": "", "PATH": ""}), mock.patch.object(_program, "_NAME", "no-such-program"):
            with self.assertRaisesRegex(tpusight.TpusightError, "pip install"):
                _program.ask("report")

    def test_one_that_cannot_be_started_is_told(self):
        with mock.patch.dict(os.environ, {"TPUSIGHT": "/nowhere/tpusight"}):
            with self.assertRaisesRegex(tpusight.TpusightError, "/nowhere/tpusight"):
                _program.ask("report")


if __name__ == "__main__":
    package.main()
