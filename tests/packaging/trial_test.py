#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What packaging/try.sh tries on a fresh system holds for the programs of the build folder, and finds a fault: trial_test.py

Nothing is installed here: `installed.sh --programs` is run with the programs, and with ones that are planted to be wrong. Systems are
made by `./check.sh packaging`.
"""
import os
import re
import stat
import subprocess
import tempfile
import unittest

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILT = os.path.dirname(os.path.abspath(os.environ.get("TPUSIGHT", "bin/tpusight")))
TRIED = 5  # things that are tried of the programs
PLANTED = {
    "says another version": ("tpusight", '[ "$1" != --version ] || exec echo tpusight 9.9', "both programs say version"),
    "shows no licence": ("tpusight", '[ "$1" != --licenses ] || exit 0', "--licenses"),
    "reports nothing": ("tpusight", '[ "$1" != report ] || exit 3', "tpusight report"),
    "leaves a byte behind": ("tpusight-annotate", '[ "$1" != --strip ] || echo >>"$(find "$2" -name "*.xplane.pb")"', "--strip"),
    "annotates nothing": ("tpusight-annotate", '[ "$1" = --version ] || exit 0', "--strip"),
    "does not serve": ("tpusight", '[ "$1" != serve ] || exit 1', "tpusight serve"),
}


def version():
    with open(os.path.join(TOP, "configure.ac"), encoding="utf-8") as f:
        return re.search(r"AC_INIT\(\[tpusight\], \[([^]]+)\]", f.read()).group(1)


def script(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def tried(folder, programs):
    """(status, what is said line by line) of a trial of the programs in that folder."""
    at = os.path.join(folder, "try")
    os.makedirs(os.path.join(at, "out"))
    os.symlink(TOP, os.path.join(at, "source"))
    done = subprocess.run(["bash", os.path.join(TOP, "packaging", "installed.sh"), "--programs", version()], capture_output=True, text=True,
                          check=False, env={**os.environ, "TS_TRY_AT": at, "PATH": programs + os.pathsep + os.environ["PATH"]})
    return done.returncode, (done.stdout + done.stderr).splitlines()


class Trial(unittest.TestCase):
    def test_the_programs_of_the_build_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            status, said = tried(folder, BUILT)
            self.assertEqual((status, [line for line in said if not line.startswith("ok ")], len(said)), (0, [], TRIED), said)
            self.assertTrue(os.path.exists(os.path.join(folder, "try", "out", "report.json")), "the report comes back")

    def test_each_planted_fault_is_found(self):
        for fault, (name, text, what) in PLANTED.items():
            with self.subTest(fault), tempfile.TemporaryDirectory() as folder:
                for program in ("tpusight", "tpusight-annotate"):
                    call = f'exec {os.path.join(BUILT, program)} "$@"'
                    script(os.path.join(folder, program), f"{text}\n{call}" if program == name else call)
                status, said = tried(folder, folder)
                failed = [line for line in said if line.startswith("FAILED")]
                self.assertEqual((status, len(failed)), (1, 1), said)
                self.assertIn(what, failed[0])

    def test_what_cannot_be_tried_is_said(self):
        for path, words in (("no.deb", "no such file"), (__file__, "is not in its name")):
            done = subprocess.run(["bash", os.path.join(TOP, "packaging", "try.sh"), "bookworm", path], capture_output=True, text=True,
                                  check=False, env={**os.environ, "TS_PACKAGING": os.path.join(tempfile.gettempdir(), "tpusight-try")})
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, words)


if __name__ == "__main__":
    if not os.access(os.path.join(BUILT, "tpusight"), os.X_OK):
        raise SystemExit(77)
    unittest.main(verbosity=1)
