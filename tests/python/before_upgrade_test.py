#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One program by several libtpus, without a compiler: which modules are the same, what became of each op, whether the changes add up, and
which library is meant: before_upgrade_test.py"""
import collections
import contextlib
import io
import os
import subprocess
import tempfile
import types
import unittest
from unittest import mock

import package
import tpusight
from tpusight.aot import gate, job, libraries, main, same, upgrade

MODULE = """HloModule jit_f, is_scheduled=true

%fused_computation.3 (p.1: f32[8,128]) -> f32[8,128] {{
  %p.1 = f32[8,128]{{1,0:T(8,128)}} parameter(0)
  ROOT %tanh.{n} = f32[8,128]{{1,0:T(8,128)}} tanh(%p.1), metadata={{op_name="jit(f)/tanh" stack_frame_id={n}}}
}}

ENTRY %main.5 (x.1: f32[8,128]) -> (f32[8,128], f32[8,128]) {{
  %x.1 = f32[8,128]{{1,0:T(8,128)}} parameter(0), sharding={{replicated}}
  %fusion.{n} = f32[8,128]{{1,0:T(8,128){space}}} fusion(%x.1), kind=kLoop, calls=%fused_computation.3, metadata={{op_name="f/{{a, (b}}"}}
  %psum.{n} = f32[8,128]{{1,0:T(8,128)}} all-reduce(%fusion.{n}), channel_id={n}, to_apply=%add, backend_config="a, (\\"{n}"
  ROOT %tuple.2 = (f32[8,128]{{1,0:T(8,128)}}, f32[8,128]{{1,0:T(8,128)}}) tuple(%fusion.{n}, %psum.{n})
}}
"""


def op(name, time_ps, category="loop fusion", scope="jit(f)/tanh", flops=10, nr_bytes=100, remat=False):
    return {"name": name, "framework_op": scope, "category": category, "source": "f.py:3", "exclusive_ps": time_ps, "flops": flops,
            "bytes_accessed": nr_bytes, "is_remat": remat, "op_index": 1}


class Upgrades(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        cache = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.folder})
        cache.start()
        self.addCleanup(cache.stop)

    def compiled(self, version, step_ps, ops, n=1, space="", peak=1000, error=None):
        """A program as a library made it."""
        folder = os.path.join(self.folder, version)
        os.makedirs(folder)
        with open(os.path.join(folder, job.TEXT), "w", encoding="utf-8") as file:
            file.write(MODULE.format(n=n, space=space))
        report = {"ops": ops, "prediction": {"step_ps": step_ps}, "padding": {"allocated_waste_pct": 0.0},
                  "capacity": {"modules": [{"onchip_peak_bytes": 64}]}}
        result = types.SimpleNamespace(report=report, path=os.path.join(folder, job.PROTO), peak_bytes=peak, facts={}, error=error,
                                       topology="v5e:2x2")
        return upgrade.Compiled(libraries.Library(version, f"/{version}.so", version), "v5e:2x2", None if error else result, error)

    def test_numbers_in_names_and_words_for_debugging_mean_nothing(self):
        found = same.differences(same.parse(MODULE.format(n=1, space="")), same.parse(MODULE.format(n=77, space="")))
        self.assertEqual(found, (4, 0, 0))
        within = MODULE.format(n=1, space="").replace("{1,0:T(8,128)} tanh", "{1,0:T(8,128)S(1)} tanh")
        self.assertEqual(same.differences(same.parse(MODULE.format(n=1, space="")), same.parse(within)), (4, 0, 0))
        moved = same.differences(same.parse(MODULE.format(n=1, space="")), same.parse(MODULE.format(n=1, space="S(1)")))
        self.assertEqual(moved, (1, 3, 3))  # the fusion, and who reads it

    def test_who_meets_whom_may_be_written_in_four_ways(self):
        for ways in (("{}", "{{0,1,2,3}}", "[1,4]<=[4]", "mesh['a'=4,'b'=1] {'a'}", "mesh['a'=2,'b'=2] {'a', 'b'}"),
                     ("{{0,1},{2,3}}", "[2,2]<=[4]", "mesh['a'=2,'b'=2] {'b'}"),
                     ("{{0,2},{1,3}}", "[2,2]<=[2,2]T(1,0)", "mesh['a'=2,'b'=2] {'a'}"),
                     ("mesh['a'=4] {'a':(1)2}",)):
            self.assertEqual(len({same._groups(way) for way in ways}), 1, ways)

    def test_what_is_the_same_is_said_as_that(self):
        ops = [op("fusion.1", 70), op("psum.1", 30, "all-reduce")]
        found = upgrade.compare(self.compiled("1.0", 100, ops), self.compiled("2.0", 100, ops, n=5))
        self.assertTrue(found.equal)
        self.assertEqual((found.changes, found.step_change_ps), ([], 0))
        self.assertEqual(upgrade.text(found), "2.0 against 1.0 on v5e:2x2: equal: 4 of 4 ops\n")

    def test_changes_add_up_to_that_of_the_step(self):
        first = [op("fusion.1", 68, "output fusion"), op("fusion.9", 20), op("all-gather.1", 5, "all-gather", "", 0, 50),
                 op("copy.1", 4, "copy", "", 0, 7)]
        then = [op("fusion.2", 50, "output fusion"), op("fusion.3", 27, "output fusion", flops=4), op("fusion.7", 20),
                op("all-gather.8", 5, "all-gather", "", 0, 70), op("dot.4", 1, "dot", "jit(f)/dot", 3, 3, remat=True)]
        found = upgrade.compare(self.compiled("1.0", 100, first), self.compiled("2.0", 109, then, space="S(1)", peak=1500))
        self.assertFalse(found.equal)
        self.assertEqual(sum(change.change_ps for change in found.changes), 9)
        kinds = collections.Counter(change.kind for change in found.changes)
        self.assertEqual(sorted(kinds.elements()),
                         ["collective_changed", "copy", "fusion_split", "memory", "op_faster", "other", "remat"])
        times = [change.change_ps for change in found.changes if change.kind in ("fusion_split", "op_faster", "other")]
        self.assertEqual(times, [27, -18, 3])
        said = upgrade.text(found)
        self.assertIn("2.0 against 1.0 on v5e:2x2: step +9.0 % (100 ps -> 109 ps), HBM at the peak +500 B, 3 of 4 ops are others", said)
        self.assertIn("fusion split: output fusion, jit(f)/tanh (f.py:3), - -> 27 ps", said)
        self.assertEqual(found.row()["instructions"], {"in_both": 1, "in_baseline": 3, "in_version": 3})

    def test_a_scope_that_another_version_calls_otherwise_is_the_same_op(self):
        first = [op("all-gather.1", 40, "all-gather", "jit(f)/dot_general", 0, 512)]
        then = [op("all-gather.7", 41, "all-gather", "a", 0, 512)]
        found = upgrade.compare(self.compiled("1.0", 40, first), self.compiled("2.0", 41, then, space="S(1)"))
        self.assertEqual([(change.kind, change.change_ps) for change in found.changes], [("op_slower", 1)])

    def test_gates_judge_a_comparison_and_each_program(self):
        first, then = self.compiled("1.0", 100, [op("a", 100)]), self.compiled("2.0", 109, [op("b", 109)], space="S(1)")
        found = upgrade.Upgrade([first, then, self.compiled("3.0", 0, [], error="it ends")])
        self.assertEqual(found.errors, ["3.0 on v5e:2x2: it ends"])
        for text, states in (("libtpu_step_change > 3 %", ["failed"]), ("libtpu_step_change > 30 %", ["passed"]),
                             ("libtpu_hbm_peak_change > 0 %", ["passed"]), ("libtpu_changes > 0", ["failed"])):
            said = found.verdicts([gate.parse(text)])
            self.assertEqual([(of, verdict.state) for of, verdict in said], [("2.0 on v5e:2x2", state) for state in states], text)
        answer = found.answer()
        made = [(one["version"], one["error"]) for one in answer["libtpu"]]
        self.assertEqual(made, [("1.0", None), ("2.0", None), ("3.0", "it ends")])
        self.assertEqual([made["version"] for made in answer["compare"]], ["2.0"])

    def library(self, *folders, version=""):
        """A libtpu.so below the folder, with what pip puts beside it."""
        site = os.path.join(self.folder, *folders)
        os.makedirs(os.path.join(site, "libtpu"))
        if version:
            os.makedirs(os.path.join(site, f"libtpu-{version}.dist-info"))
        path = os.path.join(site, "libtpu", "libtpu.so")
        with open(path, "w", encoding="utf-8"):
            return path

    def test_a_library_is_a_version_a_folder_or_a_file(self):
        path = self.library("site", version="0.0.7")
        kept = self.library("tpusight", "libtpu", "0.0.9", version="0.0.9")
        for wanted, found in ((path, (path, "0.0.7")), (os.path.join(self.folder, "site"), (path, "0.0.7")),
                              (os.path.dirname(path), (path, "0.0.7")), ("0.0.9", (kept, "0.0.9"))):
            self.assertEqual(libraries.find(wanted)[1:], found)
        with mock.patch.dict(os.environ, {libraries.VARIABLE: path}):
            self.assertEqual(libraries.find("installed"), ("installed", path, "0.0.7"))

    def test_a_version_that_cannot_be_had_is_told_with_those_that_are_there(self):
        self.library("tpusight", "libtpu", "0.0.9")
        done = subprocess.CompletedProcess([], 1, "", "WARNING: x\nERROR: No matching distribution found\n")
        with mock.patch("subprocess.run", return_value=done), self.assertRaisesRegex(tpusight.TpusightError, "No matching .*are: 0.0.9"):
            libraries.find("0.0.8")
        self.assertEqual(libraries.kept(), ["0.0.9"])
        with self.assertRaisesRegex(tpusight.TpusightError, "neither a version"):
            libraries.find("nowhere")

    def test_what_cannot_be_judged_is_refused_before_anything_is_compiled(self):
        script = os.path.join(self.folder, "f.py")
        with open(script, "w", encoding="utf-8"):
            pass
        words = [f"{script}:f", "--topology", "v5e:2x2", "--shapes", "f32[8]"]
        for more, why in ((["--libtpu", "1.0", "--libtpu", "2.0", "--try"], "--try is for one library, and --libtpu names 2"),
                          (["--fail-if", "libtpu_changes > 0"], "--libtpu does not name two"),
                          (["--fail-if", "predicted_step > 1"], "no figure is called predicted_step (did you mean predicted_step_ms? ")):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main.main(words + more), 2)
            self.assertIn(why, said.getvalue())


if __name__ == "__main__":
    package.main()
