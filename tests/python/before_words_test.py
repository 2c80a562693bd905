#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program before it runs, without its compiler: what people write (slices, shapes, meshes, gates), what is made of figures, and what
is said where jax, libtpu or cloudpickle is missing: before_words_test.py"""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

import package
import tpusight
from tpusight.aot import chips, gate, job, main, scaling, shapes, whatif

DENSE = {"padding": 1.0, "padding.allocated_waste_pct": 1.0, "predicted_step_ms": 2.0, "peak_memory": 50.0, "ops": 3}


class Slices(unittest.TestCase):
    def test_a_slice_has_its_chip_and_its_chips(self):
        for text, name, chip, count in (("v5e:2x4", "v5e:2x4", "v5e", 8), ("V6E:4x4", "v6e:4x4", "v6e", 16),
                                        ("v7x:2x2x1", "tpu7x:2x2x1", "v7x", 4), ("v5litepod:1x1", "v5e:1x1", "v5e", 1),
                                        ("v2:2x2", "v2:2x2", "v2", 4), ("1xv5e:4x4", "v5e:4x4", "v5e", 16),
                                        ("2xv7x:2x2x1", "2xtpu7x:2x2x1", "v7x", 8)):
            found = chips.parse(text)
            self.assertEqual((found.name, found.chip, found.chips), (name, chip, count))

    def test_a_slice_smaller_than_a_host_says_so_to_libtpu(self):
        self.assertEqual(chips.parse("v5e:1x1").options, {"chips_per_host_bounds": [1, 1, 1]})
        self.assertEqual(chips.parse("v5e:2x4").options, {})

    def test_slices_that_are_joined_have_a_count_in_front(self):
        found = chips.parse("2xv5e:4x4")
        self.assertEqual((found.slice_name, found.slices, found.sizes, found.options), ("v5e:4x4", 2, (4, 4), {"num_slices": 2}))

    def test_a_slice_that_does_not_exist_is_answered_with_those_that_do(self):
        for text, words in (("v6p:2x2", "did you mean v6e:2x2"), ("v5e", "it needs a size"), ("v5p:2x2", "v5p has 3 directions"),
                            ("v5e:2by4", "v5e has 1x1, 2x2, 2x4"), ("gpu:8", "the chips are v2, v3, v4"),
                            ("0xv5e:2x2", "not a TPU topology"),
                            ("2xv5e:2by4", "v5e has 1x1, 2x2, 2x4")):
            with self.assertRaisesRegex(tpusight.TpusightError, words):
                chips.parse(text)


class Shapes(unittest.TestCase):
    def test_a_shape_has_sizes_a_type_and_axes(self):
        for text, wanted in (("bf16[8192,4096]", ((8192, 4096), "bfloat16", None)), ("f32[]", ((), "float32", None)),
                             ("s8[16@data+model, 4]", ((16, 4), "int8", (("data", "model"), ()))), ("float32[2]", ((2,), "float32", None))):
            self.assertEqual(shapes.shape(text), shapes.Shape(*wanted))

    def test_trees_are_json_with_shapes(self):
        found = shapes.arguments(['{"w": ["f32[2]", 3]}; bf16[4]'])
        self.assertEqual(found, ({"w": [shapes.Shape((2,), "float32"), 3]}, shapes.Shape((4,), "bfloat16")))

    def test_what_is_no_shape_is_refused(self):
        for text in ("bf17[2]", "f32[2", "f32[a]", "f32[2@]", "{", "f32"):
            with self.assertRaises(tpusight.TpusightError, msg=text):
                shapes.argument(text)

    def test_a_mesh_has_names_and_sizes(self):
        self.assertEqual(shapes.mesh("data=4, model=-1"), {"data": 4, "model": -1})
        with self.assertRaises(tpusight.TpusightError):
            shapes.mesh("data")


class Gates(unittest.TestCase):
    def test_a_gate_fails_when_it_is_so_or_cannot_be_known(self):
        twice = {**DENSE, "padding": 2.0}
        for text, found, state in (("padding > 5 %", DENSE, "passed"), ("padding > baseline * 1.5", twice, "failed"),
                                   ("padding > baseline + 50 %", twice, "failed"), ("padding > baseline * 1.5", DENSE, "passed"),
                                   ("predicted_step_ms >= 2", DENSE, "failed"), ("predicted_step_ms > baseline", DENSE, "passed"),
                                   ("peak_memory < 10 %", DENSE, "passed"), ("ops != 3", DENSE, "passed"),
                                   ("nothing > 1", DENSE, "no such figure"),
                                   ("peak_memory > 1 %", {**DENSE, "peak_memory": None}, "unknown")):
            self.assertEqual(gate.judge(gate.parse(text), found, DENSE).state, state, text)
        self.assertEqual(gate.judge(gate.parse("padding > baseline"), DENSE, {}).state, "unknown")

    def test_what_is_no_gate_is_refused(self):
        for text in ("padding", "padding > five", "padding > baseline *", "> 5", "predicted_step_ms > 5 %", "padding > 5 5"):
            with self.assertRaises(tpusight.TpusightError, msg=text):
                gate.parse(text)

    def test_what_is_no_baseline_is_refused_with_how_to_make_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "b.json")
            for text in (None, "{", "[]", '{"schema": "tpusight/1"}'):
                if text is not None:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
                with self.assertRaisesRegex(tpusight.TpusightError, "--write-baseline"):
                    gate.read_baseline(path)


def row(topology, devices, step_ps, fits=True):
    return {"topology": topology, "devices": devices, "step_ps": step_ps, "step_low_ps": step_ps, "step_high_ps": step_ps, "speedup": None,
            "efficiency_pct": None, "collectives_pct": 10.0, "peak_bytes": 1 << 30, "peak_memory_pct": 6.0, "fits": fits}


class Pictures(unittest.TestCase):
    def test_the_verdict_names_what_is_enough_and_what_does_not_pay(self):
        for table, words in (([row("v5e:2x2", 4, 100, False)], "it fits on none of these"),
                             ([row("v5e:2x2", 4, 100, False), row("v5e:4x4", 16, 50)], "v5e:4x4 is enough to hold it"),
                             ([row("v5e:2x2", 4, 100), row("v5e:4x4", 16, 90)], "v5e:4x4 does not pay: 4 times the devices of v5e:2x2"),
                             ([row("v5e:2x2", 4, 100), row("v5e:4x4", 16, 26)], "each larger one pays, up to v5e:4x4")):
            self.assertIn(words, scaling.verdict(table))

    def test_the_picture_is_svg_and_says_what_is_unknown(self):
        drawn = scaling.svg([row("v5e:2x2", 4, 100), row("v5e:4x4", 16, None)])
        said = [text.text for text in xml.etree.ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("unknown", said)
        self.assertEqual(said.count("v5e:4x4"), 3)


class WhatIf(unittest.TestCase):
    def test_a_change_wins_only_where_nothing_is_worse(self):
        first = {"step_ps": 100.0, "peak_bytes": 1000.0, "padding_pct": 10.0}
        for then, scale, fits, wins in (({"step_ps": 90.0}, 1, True, ["step_ps"]), ({"step_ps": 110.0, "peak_bytes": 500.0}, 1, True, []),
                                        ({"peak_bytes": 500.0}, 1, True, ["peak_bytes"]), ({"padding_pct": 1.0}, 1, True, ["padding_pct"]),
                                        ({"padding_pct": 1.0, "peak_bytes": 1100.0}, 1, True, []), ({}, 1, True, []),
                                        ({"step_ps": 150.0, "peak_bytes": 1900.0}, 2, True, ["step_ps"]),
                                        ({"step_ps": 210.0}, 2, True, []), ({"step_ps": 150.0}, 2, False, [])):
            self.assertEqual(whatif.wins(first, {**first, **then}, scale, fits), wins, then)

    def test_winners_have_their_figures_and_losers_are_named(self):
        first = {"step_ps": 2e9, "peak_bytes": 1024.0, "padding_pct": 10.0}
        tried = [whatif.Tried("bf16", "f32 as bf16", first, {**first, "step_ps": 1e9}, 1, ["step_ps"], None),
                 whatif.Tried("option", "--x=1", first, first, 1, [], None),
                 whatif.Tried("size", "7 as 8", first, {}, 1, [], "TypeError: no\nmore")]
        said = whatif.text(tried)
        self.assertIn("f32 as bf16: predicted step 2.00 ms to 1.00 ms, peak memory 1.00 KiB to 1.00 KiB", said)
        self.assertIn("Tried, and not better\n  --x=1\n  7 as 8: is refused: TypeError: no\n", said)
        self.assertEqual([one.row()["result"] for one in tried], ["wins", "lost", "refused"])


class Missing(unittest.TestCase):
    def test_without_jax_or_libtpu_the_extra_is_named(self):
        with mock.patch.object(job.importlib.util, "find_spec", lambda name: None if name == "libtpu" else True):
            with self.assertRaisesRegex(tpusight.TpusightError, r"^libtpu is not installed .*pip install 'tpusight\[before\]'"):
                tpusight.before(print, topology="v5e:2x2")

    def test_without_cloudpickle_a_function_cannot_go(self):
        with mock.patch.object(job, "_pickler", lambda: None):
            with self.assertRaisesRegex(tpusight.TpusightError, r"cloudpickle, which is not installed \(pip install 'tpusight\[before\]'"):
                job.pack({"function": print}, {})

    def test_wrong_usage_is_status_2_and_says_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "s.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write("def f(x): return x\n")
            for words, args in (("names no function", [script, "--topology", "v5e:2x2"]),
                                ("either --shapes or --arguments", [script + ":f", "--topology", "v5e:2x2"]),
                                ("is not a file", ["no.py:f", "--topology", "v5e:2x2", "--shapes", "f32[2]"]),
                                ("is not a TPU topology", [script + ":f", "--topology", "v9:2x2", "--shapes", "f32[2]"]),
                                ("no --baseline", [script + ":f", "--topology", "v5e:2x2", "--shapes", "f32[2]", "--fail-if",
                                                   "padding > baseline"]),
                                ("is not a mesh", [script + ":f", "--topology", "v5e:2x2", "--shapes", "f32[2]", "--mesh", "data"])):
                with contextlib.redirect_stderr(io.StringIO()) as said:
                    self.assertEqual(main.main(args), 2, words)
                self.assertIn(words, said.getvalue())

    def test_the_command_is_a_program_of_the_package(self):
        done = subprocess.run([package.PROGRAM, "before", "--help"], env={**os.environ, "PATH": ""}, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("the Python package: pip install 'tpusight[before]'", done.stderr)

    def test_the_parent_imports_neither_jax_nor_cloudpickle(self):
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import tpusight; tpusight.before; from tpusight.aot import main; "
                "sys.exit('jax' in sys.modules or 'cloudpickle' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", code, os.path.join(package.ROOT, "plugin")], check=False)
        self.assertEqual(done.returncode, 0)


class Kept(unittest.TestCase):
    def test_a_baseline_is_read_as_it_was_written(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(gate, "figures", lambda before: DENSE):
            path = os.path.join(folder, "b.json")
            gate.write_baseline(path, [mock.Mock(topology="v5e:2x2")])
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["schema"], "tpusight-baseline/1")
            self.assertEqual(gate.read_baseline(path), {"v5e:2x2": DENSE})


class SameAsCompare(unittest.TestCase):
    """The gates of `compare --fail-if`, asked of the program and of gate.py with the same figures."""
    RUNS = tuple(os.path.join(package.DATA, "planted", f"{name}.tar.gz") for name in ("clean", "padding"))
    NAMES = ("time.wall_ps", "overview.duty_cycle_pct", "capacity.headroom_bytes", "padding.allocated_waste_pct", "no.such_figure")
    LIMITS = ("0", "-1.5e3", ".5", "7.", "1e12", "baseline", "baseline * 1.05", "baseline*105%", "baseline + 5 %", "baseline - 5%",
              "baseline + 3", "baseline-1e3", "baseline * -1", "baseline + -2 %")
    WRONG = ("", "time.wall_ps", "time.wall_ps >", "> 1", "time.wall_ps => 1", "time.wall_ps > base", "time.wall_ps > 1 2",
             "time.wall_ps > 0x1", "time.wall_ps > inf", "time.wall_ps > 1 + baseline", "time.wall_ps > baseline / 2",
             "time.wall_ps > baseline 2", "time.wall_ps > baseline * ", "1time > 2",
             "time.wall_ps > 1;", "time.wall_ps > e3",
             "time.wall_ps > --1", "time.wall_ps > +1")

    def test_each_gate_has_the_same_verdict_and_limit(self):
        base, other = (gate._flat(tpusight.Session(path).answer()) for path in self.RUNS)
        relations = (">", ">=", "<", "<=", "==", "!=")
        texts = [f"{name} {relations[n % 6]} {limit}" for n, (name, limit) in enumerate((n, m) for n in self.NAMES for m in self.LIMITS)]
        for at in range(0, len(texts), 30):  # it takes 32 at a time
            some = [option for text in texts[at:at + 30] for option in ("--fail-if", text)]
            said, _ = tpusight._program.run("compare", "--json", *some, *self.RUNS, ok=(0, 1))
            for row in json.loads(said)["compare"]["gates"]:
                ours = gate.judge(gate.parse(row["gate"]), other, base)
                self.assertEqual((ours.state, ours.value), (row["state"], row["value"]), row)
                if row["limit"] is not None and row["state"] != "no such figure":
                    self.assertAlmostEqual(ours.limit / row["limit"] if row["limit"] else 1 + ours.limit, 1, delta=1e-12)

    def test_what_is_no_gate_there_is_none_here(self):
        for text in self.WRONG:
            done = subprocess.run([package.PROGRAM, "compare", f"--fail-if={text}", *self.RUNS], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, (text, done.stderr))
            with self.assertRaises(tpusight.TpusightError, msg=text):
                gate.parse(text)


if __name__ == "__main__":
    package.main()
