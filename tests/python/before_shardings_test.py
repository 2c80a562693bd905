#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arguments that say how they are split, compiled under $TS_TPU_PYTHON, which has jax and libtpu: before_shardings_test.py

What a device must hold is worked out here by hand, from sizes and parts; the compiler's memory_analysis() is what it is held against.
"""
import contextlib
import io
import os
import sys
import tempfile
import unittest

import package

package.under("TS_TPU_PYTHON")
os.environ["JAX_PLATFORMS"] = "cpu"  # of this process
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import tpusight
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P
from tpusight._program import TpusightError
from tpusight.aot import main, shapes, shardings

ONE = "v5e:2x2"
SQUARE = AbstractMesh((2, 2), ("data", "model"))
SIZES = {"data": 2, "model": 2}
SCRIPT = """
import jax, jax.numpy as jnp
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec as P

devices = jax.make_mesh((4,), ("data",)).devices
mesh = Mesh(devices, ("data",))
ROWS = NamedSharding(mesh, P("data"))

def step(w, x):
    return jnp.tanh(x @ w)

def whole():
    return jnp.zeros((256, 256)), jnp.zeros((1024, 256))

def of_no_mesh():
    return tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in whole())

def shaped():
    w, x = jax.eval_shape(whole)
    return w, jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(AbstractMesh((4,), ("data",)), P("data", None)))

def put():
    w, x = whole()
    return w, jax.device_put(x, ROWS)

def constrained():
    w, x = whole()
    return w, jax.jit(lambda: jax.lax.with_sharding_constraint(x, ROWS))()

def made():
    return jax.jit(whole, out_shardings=(None, ROWS))()

def explicit():
    w, x = whole()
    return w, jax.reshard(x, NamedSharding(jax.make_mesh((4,), ("data",)), P("data")))
"""


def struct(sizes, *spec, mesh=SQUARE, dtype=jnp.float32, **kind):
    return jax.ShapeDtypeStruct(sizes, dtype, sharding=NamedSharding(mesh, P(*spec), **kind))


class Shardings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.script = os.path.join(cls.scratch.name, "split.py")
        with open(cls.script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        sys.path.insert(0, cls.scratch.name)

    def asked(self, *options):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = main.main([f"{self.script}:step", "--topology", ONE, *options])
        said = [line for line in err.getvalue().splitlines(keepends=True) if not line.endswith("waiting for it\n")]
        return status, out.getvalue(), "".join(said)

    def test_each_argument_is_split_as_it_says(self):
        given = {"fsdp": struct((256, 128), "data", None), "columns": struct((128, 256), None, "model"),
                 "rows": struct((256, 384), "model"), "stages": struct((4, 128, 128), ("data", "model")),
                 "experts": struct((2, 256, 128), "data", None, "model"),
                 "whole": struct((128, 128)), "plain": jnp.zeros((8, 128)),
                 "kept": jax.device_put(jnp.zeros((512, 128)), NamedSharding(Mesh(jax.make_mesh((2, 2), ("data", "model")).devices,
                                                                                  ("data", "model")), P("data", "model")))}
        parts = {"fsdp": 2, "columns": 2, "rows": 2, "stages": 4, "experts": 4, "whole": 1, "plain": 1, "kept": 4}
        result = tpusight.before(lambda tree: jax.tree.map(lambda a: a * 2, tree), given, topology=ONE, mesh=SIZES,
                                 jit={"donate_argnums": 0})
        want = {name: given[name].size * 4 // part for name, part in parts.items()}
        memory = result.facts["memory"]
        self.assertEqual(memory["argument_size_in_bytes"], sum(want.values()))
        self.assertEqual(memory["alias_size_in_bytes"], sum(want.values()))  # each is donated, and has a result of its size
        self.assertEqual(result.facts["unsplit_axes"], [])

    def test_what_shardings_says_comes_before_what_an_argument_says(self):
        rows = struct((1024, 128), "data")
        result = tpusight.before(lambda a, b: (a + 1, b + 1), rows, rows, topology=ONE, mesh=SIZES, shardings=(P(("data", "model")), None))
        self.assertEqual(result.facts["memory"]["argument_size_in_bytes"], 1024 * 128 * 4 // 4 + 1024 * 128 * 4 // 2)

    def test_what_is_kept_on_the_host_is_no_memory_of_the_device(self):
        kept = struct((1024, 128), "data", memory_kind="pinned_host")
        result = tpusight.before(lambda a, b: a + 1, struct((512, 128), "data"), kept, topology=ONE, mesh=SIZES, jit={"keep_unused": True})
        memory = result.facts["memory"]
        self.assertEqual(memory["argument_size_in_bytes"], 512 * 128 * 4 // 2)
        self.assertEqual(memory["host_argument_size_in_bytes"], 1024 * 128 * 4 // 2)

    def test_a_function_that_makes_arguments_says_how_they_are_split(self):
        for name in ("shaped", "put", "constrained", "made", "explicit"):
            with self.subTest(name):
                module = __import__("split")
                found = shardings.traced(getattr(module, name))
                self.assertEqual([shapes.shape_of(one).axes and shapes.shape_of(one).axes[0] for one in found], [None, ("data",)])
        status, out, err = self.asked("--mesh", "data=-1", "--arguments", "put")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("x 256 KiB (parameter)", out)
        self.assertNotIn("warning", out)

    def test_a_mesh_that_splits_nothing_is_said(self):
        status, out, err = self.asked("--mesh", "data=2,model=2", "--arguments", "whole", "--shardings", "; data,-")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("x 512 KiB (parameter)", out)
        self.assertIn("warning: nothing is split along model: both devices of it do the same work", out)
        self.assertNotIn("along data", out)

    def test_what_the_mesh_does_not_have_is_refused(self):
        for options, words in (
                (["--mesh", "model=-1", "--arguments", "put"], "arguments are split along data, which is no axis of the mesh model=4"),
                (["--arguments", "shaped"], "arguments are split along data, and there is no mesh (mesh={\"data\": -1}, --mesh data=-1)"),
                (["--mesh", "data=-1", "--arguments", "of_no_mesh", "--shardings", "data; data; data"],
                 "3 shardings are given, and the function has 2 arguments")):
            with self.subTest(words):
                self.assertEqual(self.asked(*options)[::2], (3, f"tpusight: {words}\n"))
        self.assertEqual(self.asked("--shapes", "f32[8,8]; f32[8,8]", "--shardings", "{x")[0], 2)

    def test_a_sharding_without_axes_is_refused(self):
        mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
        array = jax.device_put(jnp.zeros((8, 128)), NamedSharding(mesh, P("data")))
        self.assertEqual(shardings.axes_of(array.sharding), (("data",),))
        self.assertIsNone(shardings.axes_of(jnp.zeros(3).sharding))

        class Opaque:
            is_fully_replicated = False
        with self.assertRaisesRegex(TpusightError, "does not name axes of a mesh"):
            shardings.axes_of(Opaque())


if __name__ == "__main__":
    unittest.main()
