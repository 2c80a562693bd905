#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs compiled for chips that are not there, under $TS_TPU_PYTHON, which has jax and libtpu: before_test.py

Programs are small, as each is compiled in a second or two; bench/before_programs.py has larger ones.
"""
import contextlib
import fcntl
import glob
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import package

package.under("TS_TPU_PYTHON")
os.environ["JAX_PLATFORMS"] = "cpu"  # of this process

import tpusight
from helpers import in_turns
from tpusight import aot
from tpusight.aot import child, gate, job, libraries, main, shapes, tries

SCRIPT = """
import jax, jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def loss(w, x):
    for a in w:
        x = jnp.tanh(x @ a)
    return (x.astype(jnp.float32)**2).mean()

def step(w, x):
    return jax.tree.map(lambda a, g: (a - 0.1 * g).astype(a.dtype), w, jax.grad(loss)(w, x))

def arguments():
    return [jnp.zeros((256, 256))] * 2, jnp.zeros((128, 256))

def wrong(w, x):
    y = x + 1
    return y @ w

def large(x):
    return jnp.outer(x, x) @ jnp.outer(x + 1, x)

def summed(x, mesh):
    return jax.shard_map(lambda x: jax.lax.psum(x, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)

def scanned(w, x):
    def loss(w, x):
        return (jax.lax.scan(lambda x, a: (jnp.tanh(x @ a), None), x, w)[0]**2).mean()
    return jax.tree.map(lambda a, g: a - g, w, jax.grad(loss)(w, x))

def kept(w, x):
    @jax.checkpoint
    def layer(x, a):
        return jnp.sin(jnp.tanh(x @ a))
    def loss(w, x):
        for a in w:
            x = layer(x, a)
        return (x**2).mean()
    return jax.grad(loss)(w, x)

def merged(w, x):
    for _ in range(2):
        b, t, d = x.shape
        y = (x.reshape(b * t, d) @ w).reshape(b, t, d)
        x = y * jax.nn.sigmoid(y.sum(axis=1, keepdims=True))
    return x

def doubled(x):
    return x * 2 + 1

def spread(x):
    return jnp.zeros((2048, 2048)) + x.sum()

def reshaped(w, x):
    heads = (w.reshape(w.shape[0], 8, 128) * 2).sum(2, keepdims=True)
    return x @ w + x @ heads.repeat(128, 2).reshape(w.shape)

def deep(w, x):
    def loss(w, x):
        for i in range(w.shape[0]):
            x = jnp.sin(jnp.tanh(x @ w[i]))
        return (x**2).mean()
    return jax.grad(loss)(w, x)

def shared(w, x):
    return jax.grad(lambda w, x: (jnp.tanh(x @ w)**2).mean())(w, x)
"""
DENSE = "[\"f32[256,256]\",\"f32[256,256]\"];f32[128,256]"
ONE = "v5e:2x2"
FIXTURES = os.path.join(package.ROOT, "tests", "fixtures")
#: Arguments of the sample model's step.
LARGE = ('{"head": "f32[10000,2048]", "layers": {"gain": "f32[2,2048]", "qkv": "f32[2,3,2048,32,64]", "out": "f32[2,32,64,2048]", '
         '"up": "f32[2,2048,8192]", "down": "f32[2,8192,2048]"}}; bf16[32,500,2048]; s32[32,500]')


def libtpu_peak(memory):
    return memory["peak_memory_in_bytes"]


def walked_peak(report):
    """What libtpu calls the peak, of the report: docs/analyses/capacity/capacity.md."""
    module = report["capacity"]["modules"][0]
    always = module["argument_bytes"] + module["output_bytes"] - module["alias_bytes"] + module["constant_bytes"]
    return always + max(module["temp_bytes"], module["onchip_peak_bytes"], module["host_temp_bytes"])


def until(is_so, limit_s=600):
    """What IS_SO gives when that is true; what it gives at last where it takes too long."""
    end = time.monotonic() + limit_s
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()


def status_of(pid):
    """(state, parent) of a process; ("", "") where there is none."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return tuple(file.read().rpartition(")")[2].split()[:2])
    return "", ""


def is_there(pid):
    return status_of(pid)[0] not in ("", "Z", "X")


def child_of(pid):
    return next((int(name) for name in os.listdir("/proc") if name.isdigit() and status_of(name)[1] == str(pid)), None)


@in_turns(3)
class Before(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.script = os.path.join(cls.scratch.name, "small.py")
        with open(cls.script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        sys.path.insert(0, cls.scratch.name)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def asked(self, function, *options, shape=DENSE, topology=ONE):
        """(status, standard output, standard error) of the command."""
        given = ["--shapes", shape] if shape else []
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = main.main([f"{self.script}:{function}", "--topology", topology, *given, *options])
        # others on this machine may use libtpu, too
        said = [line for line in err.getvalue().splitlines(keepends=True) if not line.endswith("waiting for it\n")]
        return status, out.getvalue(), "".join(said)

    def test_a_function_and_its_arrays_are_judged(self):
        import numpy as np
        import small
        result = tpusight.before(small.step, [shapes.shape("f32[256,256]")] * 2, np.zeros((128, 256), np.float32), topology=ONE)
        self.assertEqual((result.fits, result.error, result.facts["device_count"]), (True, None, 1))
        memory = result.facts["memory"]
        self.assertEqual(memory["argument_size_in_bytes"], 2 * 256 * 256 * 4 + 128 * 256 * 4)
        self.assertAlmostEqual(walked_peak(result.report) / libtpu_peak(memory), 1, delta=0.01)
        self.assertEqual(result.report["schema"], "tpusight/1")
        self.assertGreater(result.report["prediction"]["step_ps"], 0)
        text = str(result.summary())
        for words in ("fits: at its peak it holds", "donate: w[", "predicted step: ", "libtpu ",
                      "by that the peak is within 0.1 % of libtpu's own"):
            self.assertIn(words, text)
        self.assertTrue(result.page().lstrip().lower().startswith("<!doctype html"))
        modules = result.report["modules"]
        self.assertLess(abs(modules[0]["flops"] / result.facts["cost"]["flops"] - 1), 0.01)

    def test_a_decorated_function_gives_what_is_known_of_a_call(self):
        import jax
        import jax.numpy as jnp

        @tpusight.before(topology=ONE, mesh={"data": -1}, shardings=(jax.sharding.PartitionSpec("data"),))
        def mean(x):
            return (x * 2).sum()
        result = mean(jnp.zeros((512, 256)))
        self.assertEqual((result.name, result.facts["mesh"], result.facts["device_count"]), ("mean", {"data": 4}, 4))
        self.assertEqual(result.facts["memory"]["argument_size_in_bytes"], 512 * 256)  # a quarter of it
        self.assertEqual(mean.function(jnp.ones((2, 2))), 8)

    def test_a_gate_fails_on_a_change_that_doubles_padding(self):
        base = self.path("base.json")
        status, out, err = self.asked("step", "--write-baseline", base, "--fail-if", "peak_memory > 90 %",
                                      shape="[\"f32[250,250]\"];f32[128,250]")
        self.assertEqual((status, err), (0, f"{ONE}: peak_memory > 90 %: passed ({self.kept(base)['peak_memory']:.4g} against 90)\n"))
        self.assertIn("step on v5e:2x2 (one chip)", out)
        status, _, err = self.asked("step", "--baseline", base, "-q", "--fail-if", "padding > baseline * 2", "--fail-if",
                                    "predicted_step_ms > 1000", shape="[\"f32[130,130]\"];f32[128,130]")
        self.assertEqual(status, 1, err)
        self.assertRegex(err, r"padding > baseline \* 2: failed")
        self.assertNotIn("1000", err)

    @staticmethod
    def kept(path):
        return gate.read_baseline(path)[ONE]

    def test_several_slices_are_a_table_and_a_picture(self):
        status, out, err = self.asked("summed", "--mesh", "data=-1", "--picture", self.path("p.svg"), "-o", self.path("r.json"),
                                      shape="f32[1024@data,256]", topology="v5e:2x2,v5e:2x4,v6e:2x2")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"Scaling on paper\n.*topology.*\n +v5e:2x2 +4 .*\n +v5e:2x4 +8 .*\n +v6e:2x2 +4 ")
        with open(self.path("p.svg"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("<svg"))
        with open(self.path("r-v5e-2x4.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["schema"], "tpusight/1")

    def test_each_change_that_needs_no_hand_is_compiled_and_told(self):
        status, out, err = self.asked("scanned", "--try", "--json", shape="f32[4,250,250];f32[64,250]")
        self.assertEqual((status, err), (0, ""))
        tried = {row["kind"]: row for row in json.loads(out)["tried"]}
        self.assertEqual(set(tried), {"donate", "size", "bf16", "remat", "batch", "unroll", "option"})
        self.assertLess(tried["donate"]["after_peak_bytes"], tried["donate"]["before_peak_bytes"])
        self.assertLess(tried["bf16"]["after_peak_bytes"], tried["bf16"]["before_peak_bytes"])
        self.assertLess(tried["size"]["after_padding_pct"], tried["size"]["before_padding_pct"])
        for row in tried.values():
            self.assertTrue(row["error"] or row["after_step_ps"], row)

    def tried(self, function, kind, shape, *options):
        """What was tried of a kind."""
        status, out, err = self.asked(function, f"--try-only={kind}", "--json", *options, shape=shape)
        self.assertEqual((status, err), (0, ""))
        return [row for row in json.loads(out)["tried"] if row["kind"] == kind]

    def test_sizes_win_where_they_spare_copies_and_not_where_they_only_add(self):
        # 127 rows fill no tile: arrays are copied where two sizes are merged; 104 are 13 whole tiles of eight rows
        for function, shape, won in (("merged", "bf16[256,256];bf16[64,127,256]", ["step_ps"]), ("doubled", "f32[512,104,256]", [])):
            (row,) = self.tried(function, "size", shape)
            self.assertEqual((row["result"], row["wins"]), ("wins" if won else "lost", won), row)

    def test_bf16_wins_where_the_arguments_are_the_traffic(self):
        for function, shape, won in (("doubled", "f32[8192,2048]", ["step_ps", "peak_bytes"]), ("spread", "f32[8,128]", [])):
            (row,) = self.tried(function, "bf16", shape)
            self.assertEqual((row["result"], row["wins"]), ("wins" if won else "lost", won), row)

    def test_a_mesh_wins_that_splits_what_is_large(self):
        shape = "f32[512,512@model];f32[16384@data,512]"
        for mesh, what, result in (("data=1,model=4", "data=4, model=1", "wins"), ("data=4,model=1", "data=1, model=4", "lost")):
            (row,) = self.tried("shared", "mesh", shape, "--mesh", mesh)
            self.assertEqual((row["change"], row["result"]), (f"a mesh of {what}", result), row)
            better = row["after_step_ps"] < row["before_step_ps"] and row["after_peak_bytes"] < row["before_peak_bytes"]
            self.assertEqual(better, result == "wins", row)

    def test_an_axis_wins_that_splits_what_is_not_summed_over(self):
        for axes, what, result in (("16384,512@model", "P(model, None) in place of P(None, model)", "wins"),
                                   ("16384@model,512", "P(None, model) in place of P(model, None)", "lost")):
            (row,) = self.tried("shared", "axis", f"f32[512,512];f32[{axes}]", "--mesh", "model=4")
            self.assertEqual((row["change"], row["result"]), (f"each float32[16384,512] split as {what}", result), row)
            self.assertEqual(row["after_step_ps"] < row["before_step_ps"], result == "wins", row)

    def test_an_axis_loses_where_the_program_takes_the_argument_otherwise(self):
        (row,) = self.tried("summed", "axis", "f32[1024@data,256]", "--mesh", "data=4")
        self.assertEqual(row["result"], "lost", row)
        self.assertEqual(self.tried("summed", "axis", "f32[1024@data,255]", "--mesh", "data=4"), [])  # 255 is not split in four

    def test_a_dimension_is_split_where_its_rows_fill_no_tile_or_the_program_splits_it(self):
        for function, shape, what, won in (
                ("doubled", "f32[512,12,128]", "each float32[512,12,128] with its 12 as 3 x 4", ["step_ps"]),
                ("reshaped", "f32[1024,1024];f32[1024,1024]", "each float32[1024,1024] with its 1024 as 8 x 128", [])):
            (row,) = self.tried(function, "split", shape)
            self.assertEqual((row["change"], row["result"], row["wins"]), (what, "wins" if won else "lost", won), row)
            self.assertEqual(row["after_step_ps"] < row["before_step_ps"], bool(won), row)
        self.assertEqual(self.tried("doubled", "split", "f32[512,16,128]"), [])

    def test_a_program_whose_dimension_is_split_computes_the_same(self):
        import jax
        import numpy as np
        change = {"kind": "split", "sizes": [6, 4], "dtype": "float32", "at": 0, "parts": [3, 2], "leaves": []}

        def step(weights, x, more=1.0):
            return {"w": weights["w"] + more, "y": weights["w"] @ x}
        weights, x = {"w": np.arange(24, dtype=np.float32).reshape(6, 4)}, np.ones((4, 5), np.float32)
        whole = jax.tree.map(lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype), ((weights, x), {}))
        found = tries._joined(change, step, whole)({"w": weights["w"].reshape(3, 2, 4)}, x)
        self.assertEqual((found["w"].shape, found["y"].shape), ((3, 2, 4), (6, 5)))
        wanted = step(weights, x)
        for name in wanted:
            np.testing.assert_array_equal(found[name].reshape(wanted[name].shape), wanted[name])

    def test_what_is_kept_for_the_backward_pass_is_named_where_it_fills_the_memory(self):
        status, out, err = self.asked("deep", shape="f32[4,1024,1024];f32[1048576,1024]")
        self.assertEqual((status, err), (0, ""))
        line = next(line for line in SCRIPT.splitlines() if "jnp.sin(jnp.tanh(x @ w[i]))" in line)
        where = f"small.py:{SCRIPT.splitlines().index(line) + 1}"
        self.assertRegex(out, rf"does not fit: .*\n(.*\n)*  rematerialize: \w+ \({where}\) [\d.]+ GiB .*\([\d.]+ GiB at the peak are kept")
        status, out, _ = self.asked("deep", shape="f32[4,128,128];f32[1024,128]")
        self.assertNotIn("rematerialize: ", out)

    def test_our_own_lines_are_not_the_source_of_what_a_program_computes(self):
        status, out, err = self.asked("scanned", "--json", shape="f32[4,256,256];f32[64,256]")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("small.py:", out)
        self.assertNotIn("/aot/", out)

    def test_what_jax_checkpoint_saves_is_changed(self):
        status, out, _ = self.asked("kept", "--try-only", "remat", "--json", shape="[\"f32[128,128]\",\"f32[128,128]\"];f32[4096,128]")
        self.assertEqual(status, 0)
        remat = [row for row in json.loads(out)["tried"] if row["kind"] == "remat"]
        self.assertEqual(len(remat), 3)
        self.assertGreater(len({(row["after_step_ps"], row["after_peak_bytes"]) for row in remat}), 1)

    def test_programs_that_are_files_take_the_same_road(self):
        import jax
        import jax.numpy as jnp
        from jax import export
        exported = export.export(jax.jit(lambda w, x: jnp.tanh(x @ w)), platforms=["tpu"])(
            jax.ShapeDtypeStruct((128, 128), jnp.float32), jax.ShapeDtypeStruct((64, 128), jnp.float32))
        files = {"f.jax_export": exported.serialize(), "f.mlir": exported.mlir_module().encode()}
        for name, data in files.items():
            with open(self.path(name), "wb") as file:
                file.write(data)
            self.assertEqual(self.file(name)[0], 0)
            with open(self.path("r.json"), encoding="utf-8") as file:
                report = json.load(file)
            self.assertEqual(report["modules"][0]["parameter_logical_bytes"], 128 * 128 * 4 + 64 * 128 * 4)
            self.assertGreater(report["prediction"]["step_ps"], 0)
        broken = files["f.mlir"].replace(b"stablehlo.tanh", b"stablehlo.tonh")
        for name, data, words in (("g.mlir", broken, "is not StableHLO that jax reads"), ("g.txt", b"nonsense", "is not HLO in text"),
                                  ("g.jax_export", files["f.mlir"], "is not what jax.export")):
            with open(self.path(name), "wb") as file:
                file.write(data)
            status, err = self.file(name)
            self.assertEqual((status, words in err), (3, True), err)

    def file(self, name):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            return main.main([self.path(name), "--topology", ONE, "-q", "-o", self.path("r.json")]), err.getvalue()

    def test_hlo_takes_the_same_road(self):
        import jax
        import jax.numpy as jnp
        from jax import export
        exported = export.export(jax.jit(lambda w, x: jnp.tanh(x @ w)), platforms=["tpu"])(
            jax.ShapeDtypeStruct((128, 128), jnp.float32), jax.ShapeDtypeStruct((64, 128), jnp.float32))
        with open(self.path("tpusight-before"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {sys.executable} -c 'import sys; from tpusight.aot.main import main; sys.exit(main())' \"$@\"\n")
        os.chmod(self.path("tpusight-before"), 0o755)
        text = (b"HloModule one, is_scheduled=true\n\nENTRY main {\n  p = f32[128,128]{1,0:T(8,128)} parameter(0)\n"
                b"  q = f32[64,128]{1,0:T(8,128)} parameter(1)\n  ROOT a = f32[64,128]{1,0:T(8,128)} add(q, q)\n}\n")
        os.mkdir(self.path("dump"))
        files = {"f": exported.serialize(), "g": exported.mlir_module().encode(), "h": exported.mlir_module_serialized, "i": text,
                 "dump/m.after_codegen.txt": text}
        for name, data in files.items():
            with open(self.path(name), "wb") as file:
                file.write(data)
            status, out, err = self.hlo("--json", self.path("dump" if "/" in name else name))
            self.assertEqual(status, 0, err)
            report = json.loads(out)
            self.assertEqual(report["modules"][0]["parameter_logical_bytes"], 128 * 128 * 4 + 64 * 128 * 4)
            self.assertEqual(report["prediction"]["topology"], ONE)
            self.assertGreater(report["prediction"]["step_ps"], 0)
        status, out, _ = self.hlo("--predict", self.path("predicted"), "--view=modules", self.path("g"))
        self.assertEqual((status, os.listdir(self.path("predicted/plugins/profile/predicted"))), (0, ["predicted.xplane.pb"]))
        with open(self.path("g"), "ab") as file:
            file.write(b"nonsense")
        status, out, err = self.hlo(self.path("g"))
        self.assertEqual((status, out, "is not StableHLO that jax reads" in err), (3, "", True), err)

    def hlo(self, *words):
        done = subprocess.run([package.PROGRAM, "hlo", "--topology", ONE, *words], capture_output=True, text=True,
                              env={**os.environ, "PATH": os.pathsep.join([self.path(""), os.environ["PATH"]]),
                                   "PYTHONPATH": os.path.join(package.ROOT, "plugin")})
        return done.returncode, done.stdout, done.stderr

    def test_each_chip_that_libtpu_makes_is_compiled_for(self):
        import small
        counts = {"v2:2x2": 8, "v3:2x2": 8, "v4:2x2x1": 4, "v5p:2x2x1": 4, "v6e:2x2": 4, "v7x:2x2x1": 8, "v5e:16x16": 256, "2xv5e:2x2": 8}
        packed = aot.program_of(small.summed, [shapes.shape("f32[2048@data,128]")], {}, None, {"data": -1}, None)
        for (topology, count), result in zip(counts.items(), aot.compiled(packed, "summed", list(counts))):
            found = result.report["prediction"]
            self.assertEqual((result.facts["device_count"], result.fits), (count, True), topology)
            known = [row["kind"] for row in found["by_kind"] if row["basis"] != "unknown: the least"]
            self.assertEqual("collective" in known, topology not in ("v2:2x2", "v3:2x2"), topology)
            is_open = topology in ("v2:2x2", "v3:2x2", "2xv5e:2x2")  # what it sends takes a time that nobody knows
            self.assertEqual((found["step_high_ps"] is None, "no end is known" in str(result.summary())), (is_open, is_open), topology)

    def test_an_axis_of_the_mesh_goes_over_the_slices(self):
        import small
        with self.assertRaisesRegex(tpusight.TpusightError, "no axis of the mesh data=2, a=2, b=2, c=2 can go over the 4 slices"):
            tpusight.before(small.summed, shapes.shape("f32[96@data,128]"), topology="4xv5e:2x2", mesh={"data": 2, "a": 2, "b": 2, "c": 2})

    def test_a_dumped_text_is_read_as_the_module_that_it_is(self):
        text = self.path("one.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.write("HloModule one, is_scheduled=true\n\nENTRY main {\n  p = f32[256,128]{1,0:T(8,128)} parameter(0)\n"
                       "  ROOT a = f32[256,128]{1,0:T(8,128)} add(p, p)\n}\n")
        self.assertEqual(self.file("one.txt"), (0, ""))
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["modules"][0]["parameter_bytes"], 256 * 128 * 4)

    def test_peaks_of_programs_on_three_chips_are_libtpus_within_one_percent(self):
        sys.path.insert(0, os.path.join(package.ROOT, "bench"))
        import before_models
        import before_programs
        for model in before_models.PROGRAMS:
            if model.name in ("attention_pallas", "quantized", "adam", "pipeline", "embedding", "fsdp"):
                for row in before_programs.judged(model):
                    self.assertLess(abs(row.off_pct), before_programs.WITHIN_PCT, row)

    def test_one_library_twice_makes_equal_modules(self):
        path = libraries.installed()
        status, out, _ = self.asked("step", "--libtpu", "installed", "--libtpu", path, "--fail-if", "libtpu_changes > 0")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"\A\S+ against \S+ on v5e:2x2: equal: (\d+) of \1 ops\n\Z")

    def test_a_library_that_is_none_is_told_and_the_other_goes_on(self):
        wrong = os.path.join(self.path("wrong"), "libtpu.so")
        os.mkdir(os.path.dirname(wrong))
        with open(wrong, "w", encoding="utf-8") as file:
            file.write("not a library")
        status, out, err = self.asked("step", "--libtpu", "installed", "--libtpu", wrong, "--json")
        self.assertEqual(status, 0)
        answer = json.loads(out)
        first, second = (made["error"] for made in answer["libtpu"])
        self.assertIsNone(first)
        self.assertIn(f"libtpu cannot be loaded: {wrong}", second)
        self.assertGreater(answer["libtpu"][0]["report"]["prediction"]["step_ps"], 0)
        self.assertIn(wrong, err)

    def test_two_at_once_wait_for_each_other(self):
        command = [sys.executable, "-m", "tpusight.aot.main", f"{self.script}:step", "--topology", ONE, "--arguments", "arguments"]
        environment = {**os.environ, "PYTHONPATH": os.path.join(package.ROOT, "plugin")}
        both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        said = [process.communicate(timeout=600) for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], said)
        self.assertTrue(all("fits: " in out for out, _ in said))
        self.assertIn("waiting for it", said[0][1] + said[1][1])

    def test_the_lock_is_waited_for_and_who_has_it_is_named(self):
        own, libtpus, told = self.path("own.lock"), self.path("libtpu.lock"), []
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); "
                                   "print('held', flush=True); sys.stdin.read()", libtpus], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        done = threading.Timer(1, holder.stdin.close)
        done.start()
        fd = child.take_lock(lambda event, text: told.append(text), own, libtpus)
        done.join()
        os.close(fd)
        holder.wait()
        holder.stdout.close()
        self.assertEqual(told, [f"libtpu is in use by process {holder.pid}, and one process at a time can have it: waiting for it"])

    def test_a_lock_that_another_user_made_and_holds_is_not_waited_for(self):
        own, nobodys = self.path("foreign.lock"), self.path("nobodys2.lock")
        with open(own, "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            taken, told = [], []
            with mock.patch.object(child.os, "geteuid", return_value=os.geteuid() + 1):
                asking = threading.Thread(target=lambda: taken.append(child.take_lock(lambda event, text: told.append(text), own, nobodys)),
                                          daemon=True)
                asking.start()
                asking.join(60)
        self.assertEqual((taken, told), ([None], []))
        os.symlink(own, self.path("link.lock"))
        self.assertIsNone(child.take_lock(lambda event, text: told.append(text), self.path("link.lock"), nobodys))

    def test_a_process_that_has_libtpu_itself_is_not_waited_for(self):
        code = ("from tpusight.aot import shapes; import jax, tpusight; from jax.experimental import topologies; "
                "topologies.get_topology_desc(platform='tpu', topology_name='v5e:2x2'); "
                "print(tpusight.before(lambda x: x + 1, shapes.shape('f32[8,128]'), topology='v5e:2x2').fits)")
        environment = {**os.environ, **job.environment(), "PYTHONPATH": os.path.join(package.ROOT, "plugin")}
        lock = child.take_lock(lambda event, text: None)  # as another one of us, who waits for that process
        self.addCleanup(os.close, lock)
        holding = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = holding.communicate(timeout=300)
        finally:
            holding.kill()  # it would keep libtpu from all others
        self.assertEqual((holding.returncode, out), (0, "True\n"), err)

    def test_who_waits_for_libtpu_keeps_nobody_from_our_own_lock(self):
        own, libtpus = self.path("own2.lock"), self.path("libtpu2.lock")
        code = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
        holder = subprocess.Popen([sys.executable, "-c", code, libtpus], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        waits = threading.Event()
        taken = []
        waiting = threading.Thread(target=lambda: taken.append(child.take_lock(lambda event, text: waits.set(), own, libtpus)))
        waiting.start()
        self.assertTrue(waits.wait(600))
        os.close(child.take_lock(lambda event, text: None, own, self.path("nobodys.lock")))  # as one whom the holder asks
        self.assertEqual(taken, [])
        holder.stdin.close()
        waiting.join(600)
        os.close(taken.pop())
        holder.wait()
        holder.stdout.close()

    def asking(self, folder, *options):
        """(a process that asks, the number of the one that compiles for it), whose temporary files are in FOLDER."""
        environment = {**os.environ, "PYTHONPATH": os.path.join(package.ROOT, "plugin"), "TMPDIR": folder}
        process = subprocess.Popen([sys.executable, "-m", "tpusight.aot.main", *options], env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        return process, until(lambda: child_of(process.pid))

    def assert_ends_with(self, asking, compiles, folder):
        """The process COMPILES ends, and leaves nothing, where the one that asks is killed."""
        asking.kill()
        asking.wait()
        self.assertTrue(until(lambda: not is_there(compiles) and child._holder(child.LIBTPU_LOCK) != compiles, 30))
        kept = [name for name in os.listdir(folder) if not name.endswith(".lock")]
        self.assertEqual(kept, [])
        with open(os.path.join(folder, f"tpusight-libtpu-{os.getuid()}.lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_who_waits_for_libtpu_ends_with_the_one_that_asked(self):
        folder = self.folder("waits")
        with open(os.path.join(folder, f"tpusight-libtpu-{os.getuid()}.lock"), "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            asking, compiles = self.asking(folder, f"{self.script}:doubled", "--topology", ONE, "--shapes", "f32[8,128]")
            self.assertIn("waiting for it", asking.stderr.readline())
            asking.kill()
            self.assertTrue(until(lambda: not is_there(compiles), 30))
        self.assert_ends_with(asking, compiles, folder)

    def test_who_traces_ends_with_the_one_that_asked(self):
        folder, traced = self.folder("traces"), self.path("traced")
        with open(self.path("sleeps.py"), "w", encoding="utf-8") as file:
            file.write(f"import sys, time\ndef f(x):\n    open({traced!r}, 'w').write(sys.stdin.read() or 'empty')\n    time.sleep(3600)\n")
        asking, compiles = self.asking(folder, self.path("sleeps.py:f"), "--topology", ONE, "--shapes", "f32[8,128]")
        until(lambda: os.path.exists(traced) and os.path.getsize(traced))
        with open(traced, encoding="utf-8") as file:
            self.assertEqual(file.read(), "empty")  # standard input is not the script's
        self.assert_ends_with(asking, compiles, folder)

    def test_who_compiles_ends_with_the_one_that_asked(self):
        folder = self.folder("compiles")
        asking, compiles = self.asking(folder, f"{FIXTURES}/sample_model.py:train_step", "--topology", ONE, "--shapes", LARGE)
        until(lambda: glob.glob(os.path.join(folder, "*", "*", "dump-*", "*")))  # libtpu is at it, for the better part of a minute
        self.assertTrue(is_there(compiles))
        self.assert_ends_with(asking, compiles, folder)

    def folder(self, name):
        os.mkdir(self.path(name))
        return self.path(name)

    def test_what_does_not_compile_is_told_with_the_users_line(self):
        line = SCRIPT.splitlines().index("    return y @ w") + 1
        status, _, err = self.asked("wrong", shape="f32[3,3];f32[4,4]")
        self.assertEqual(status, 3)
        self.assertRegex(err, rf"does not compile for v5e:2x2: TypeError: .*\n  at {self.script}:{line}: return y @ w\n")
        self.assertNotIn("Traceback", err)

    def test_a_program_that_does_not_fit_is_told_with_its_buffers(self):
        status, out, err = self.asked("large", "--fail-if", "peak_memory > 100 %", shape="f32[70000]")
        self.assertEqual(status, 1, err)
        self.assertRegex(out, r"does not fit: it would hold [\d.]+ GiB of 16.0 GiB \(\d+\.\d %\) of a device's memory; the compiler "
                              "says: RESOURCE_EXHAUSTED")
        self.assertIn("largest at the peak: ", out)

    def test_a_slice_that_libtpu_does_not_make_is_told_with_those_there_are(self):
        status, _, err = self.asked("step", topology="v5e:3x3")
        self.assertEqual(status, 3)
        self.assertRegex(err, "v5e:3x3 is not a TPU topology: .*v5e has 1x1, 2x2")

    def test_a_mesh_that_is_no_mesh_of_the_slice_is_told(self):
        status, _, err = self.asked("summed", "--mesh", "data=3", shape="f32[12@data]")
        self.assertEqual(status, 3)
        self.assertIn("the mesh data=3 has 3 devices, and the topology 4", err)

    def test_a_script_or_a_function_that_is_not_there_is_told(self):
        status, _, err = self.asked("nothing")
        self.assertEqual(status, 3)
        self.assertIn("has no nothing (it has: arguments, deep, doubled, kept, large, loss, ", err)
        broken = self.path("broken.py")
        with open(broken, "w", encoding="utf-8") as file:
            file.write("import no_such_module_at_all\n")
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(main.main([f"{broken}:f", "--topology", ONE, "--shapes", "f32[2]"]), 3)
        self.assertRegex(err.getvalue(), r"No module named 'no_such_module_at_all'\n  at .*broken.py:1: import no_such_module_at_all")

    def test_a_kind_of_change_that_there_is_not_is_told(self):
        status, _, err = self.asked("scanned", "--try-only=size,fusion")
        self.assertEqual(status, 2)
        self.assertIn("'fusion' is no kind of change; there are donate, size, split, ", err)
        self.assertEqual([main.kinds_of("size"), main.kinds_of(("size", "bf16"))], [["size"], ["size", "bf16"]])

    def test_what_cannot_be_sent_is_told(self):
        lock = threading.Lock()

        def step(x):
            with lock:
                return x
        with self.assertRaisesRegex(tpusight.TpusightError, "step cannot be sent to the compiler's process: .*before FILE.py:NAME"):
            tpusight.before(step, shapes.shape("f32[2]"), topology=ONE)

    def test_a_compiler_that_dies_is_told_and_the_others_go_on(self):
        folders = [self.path(name) for name in ("dies", "lives")]
        for folder in folders:
            os.mkdir(folder)

        def step(x):
            import os
            import sys
            if x.shape == (3,):
                print("F0000 Check failed: made up", file=sys.stderr, flush=True)
                os.kill(os.getpid(), 9)
            return x + 1
        packed = self.path("p.pkl")
        with open(packed, "wb") as file:
            file.write(job.pack({"function": step}, {"arguments": (shapes.shape("f32[2]"),), "keywords": {}}))
        change = {"kind": "size", "what": "", "from": 2, "to": 3}
        found = list(job.outcomes(packed, [job.Compilation(folders[0], ONE, change), job.Compilation(folders[1], ONE)]))
        self.assertEqual([one.trouble and one.trouble["text"] for one in found],
                         ["the compiler's process ended: F0000 Check failed: made up", None])


if __name__ == "__main__":
    package.main()
