#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tpusight hlo` hands over to tpusight-before, and what it says where that is not there: hlo_programs_test.py

The program that stands in for it here prints its words; what it makes of them, tests/python/before_test.py shows. Run in the build
folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
MODULE = os.path.join(TOP, "tests", "data", "pallas_v5e.hlo.pb")
FILES = {
    "text.mlir": b'#loc1 = loc("w")\nmodule @jit_f {\n  func.func public @main() {\n    return\n  }\n}\n',
    "code.bin": b"ML\xefR\x0dStableHLO_v1.15.0\0",
    "exported": b"<\0\0\0" + b"\x08" * 60 + b"ML\xefR\x0dStableHLO_v1.15.0\0",
    "dump.txt": b"\nHloModule jit_f, is_scheduled=true\n",
    "words.txt": b"a module of stablehlo",
}
KINDS = {"text.mlir": "mlir", "code.bin": "mlir", "exported": "export", "dump.txt": "text", "folder": "folder"}


class HandOver(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name, content in FILES.items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(content)
        os.mkdir(os.path.join(self.folder, "folder"))
        shutil.copyfile(MODULE, os.path.join(self.folder, "module.pb"))
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)

    def install(self):
        path = os.path.join(self.bin, "tpusight-before")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 5\n")
        os.chmod(path, 0o755)

    def hlo(self, *words):
        path = os.pathsep.join([self.bin, os.path.dirname(sys.executable), os.defpath])
        done = subprocess.run([PROGRAM, "hlo", *words], capture_output=True, text=True, cwd=self.folder, env={**os.environ, "PATH": path})
        return done.returncode, done.stdout.split("\n")[:-1], done.stderr

    def test_each_kind_is_known_by_its_bytes(self):
        self.install()
        for name, kind in KINDS.items():
            status, words, _ = self.hlo("--topology", "v5e:2x2", name)
            self.assertEqual((status, words), (5, ["--hlo", "--topology=v5e:2x2", f"{kind}:{name}", "--", "--topology", "v5e:2x2"]))

    def test_options_go_along_as_they_were_given_and_modules_behind_them(self):
        self.install()
        status, words, _ = self.hlo("--json", "dump.txt", "--chip=v5e", "--topology=2x4", "module.pb", "-o", "out.json", "--", "text.mlir")
        self.assertEqual(words, ["--hlo", "--topology=v5e:2x4", "text:dump.txt", "mlir:text.mlir", "--", "--json", "--chip=v5e",
                                 "--topology=2x4", "-o", "out.json", "module.pb"])
        self.assertEqual(status, 5)

    def test_what_is_a_module_is_read_here(self):
        self.install()
        status, words, _ = self.hlo("--view=modules", "module.pb")
        self.assertEqual((status, "jit_step" in words[1]), (0, True), words)
        for name in ("words.txt", "not_there"):
            status, words, err = self.hlo("--topology=v5e:2x2", name)
            self.assertEqual((status, words), (3, []), err)
            self.assertIn(name, err)

    def test_what_is_compiled_needs_a_slice(self):
        self.install()
        for name, what in (("text.mlir", "StableHLO"), ("exported", "jax.export")):
            for more in ([], ["--topology=2x2"]):
                status, words, err = self.hlo(name, *more)
                self.assertEqual((status, words), (2, []))
                self.assertRegex(err, rf"{name}: is .*{what}.*, which is compiled first \(name the slice .*--topology v5e:2x2")
        self.assertEqual(self.hlo("dump.txt")[1], ["--hlo", "text:dump.txt", "--"])

    def test_where_the_program_is_not_there_the_extra_is_named(self):
        status, words, err = self.hlo("--topology=v5e:2x2", "text.mlir")
        self.assertEqual((status, words), (3, []))
        self.assertIn("tpusight-before is not there (it comes with the Python package: pip install 'tpusight[before]')", err)


if __name__ == "__main__":
    unittest.main()
