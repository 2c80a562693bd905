#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which line asks for a collective, of programs compiled under $TS_TPU_PYTHON, which has jax and libtpu: before_resharding_test.py

The programs, and which of their constraints cost something, are those of tests/fixtures/resharding_programs.py. The mends are compiled
too: what was said not to be needed has to be gone.
"""
import os
import pathlib
import sys
import unittest

import package

package.under("TS_TPU_PYTHON")
os.environ["JAX_PLATFORMS"] = "cpu"  # of this process

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
sys.path.insert(0, str(FIXTURES))

import jax
import jax.numpy as jnp
import resharding_programs as programs
import tpusight
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

MESH = AbstractMesh((2, 2), ("data", "model"))
SIZES = {"data": 2, "model": 2}
WRONG = {"hidden": ("h = keep(h, P(\"data\", None))", 'P("data", "model")'),
         "heads": ("s = keep(s,", 'P("data", "model", None, None)'),
         "lookup": ("return keep(e * 2", 'P(None, None, ("data", "model"))'),
         "parts": ("return keep(jnp.tanh(h)", 'P("data", "model", None)')}


def line_of(name: str, text: str) -> int:
    lines = (FIXTURES / "resharding_programs.py").read_text(encoding="utf-8").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"def {name}("))
    return next(i for i in range(begin, len(lines)) if text in lines[i]) + 1


def compiled(function, name):
    arguments = next(arguments for known, arguments in programs.PROGRAMS if known.__name__ == name)
    shapes = [jax.ShapeDtypeStruct(sizes, jnp.dtype(dtype), sharding=NamedSharding(MESH, P(*axes))) for dtype, sizes, axes in arguments]
    return tpusight.before(function, *shapes, topology="v5e:2x2", mesh=SIZES)


def mended(name, spec):
    """The program with what the report says in place of its constraint."""
    source = (FIXTURES / "resharding_programs.py").read_text(encoding="utf-8").splitlines()
    line = line_of(name, WRONG[name][0]) - 1
    head, _, tail = source[line].partition("P(")
    depth, end = 1, 0
    while depth:
        depth += {"(": 1, ")": -1}.get(tail[end], 0)
        end += 1
    source[line] = head + spec + tail[end:]
    made: dict = {}
    exec(compile("\n".join(source), "mended.py", "exec"), made)
    return made[name]


class Resharding(unittest.TestCase):
    def test_the_line_and_the_mend(self):
        for name, (text, mend) in WRONG.items():
            with self.subTest(name):
                before = compiled(getattr(programs, name), name)
                found = [row for row in before.report["resharding"] if row["suspicious"]]
                self.assertEqual({pathlib.Path(row["cause_source"]).name for row in found},
                                 {f"resharding_programs.py:{line_of(name, text)}"})
                self.assertEqual({row["mend"] for row in found}, {mend})
                self.assertGreater(sum(row["time_ps"] or 0 for row in found), 0)
                finding = next(finding for finding in before.report["doctor"]["findings"] if finding["rule"] == "resharding")
                self.assertIn(mend, finding["evidence"])
                after = compiled(mended(name, mend), name)
                self.assertEqual([row for row in after.report.get("resharding") or [] if row["suspicious"]], [])
                steps = [result.report["prediction"]["step_ps"] for result in (before, after)]
                self.assertLess(steps[1], steps[0])

    def test_what_is_needed_is_no_finding(self):
        for name in ("columns_then_rows", "sequence", "sharded_weights"):
            with self.subTest(name):
                before = compiled(getattr(programs, name), name)
                self.assertGreater(len(before.report["resharding"]), 0)
                self.assertFalse(any(row["suspicious"] for row in before.report["resharding"]))
                self.assertNotIn("resharding", [finding["rule"] for finding in before.report["doctor"]["findings"]])


if __name__ == "__main__":
    unittest.main()
