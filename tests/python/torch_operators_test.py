#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tpusight report --view operators` of what torch.profiler (TS_TORCH_PYTHON) writes now, against key_averages() of the same
profile: torch_operators_test.py

A step of training with convolutions, products, attention and a normalization. Calls are equal; times on the host differ by at most
1 % (TOLERANCE). Where an operator's only call is of its own name, key_averages() makes one of the two: of these the sums of their own
times are compared (docs/analyses/gpu/operators.md). Without Kineto times are whole microseconds, and of two calls that begin in
the same one it is not known which is inside the other; key_averages() then has own times below 0. So there the sum of own times
is compared, with how long torch's threads were inside of operators.
"""
import collections
import json
import os
import tempfile
import unittest

import package

package.under("TS_TORCH_PYTHON")
try:
    import torch
except ImportError as e:
    package.skip(str(e))

from tpusight import _program

TOLERANCE = 0.01
HAS_KINETO = torch.autograd.kineto_available()
COUNTED = ("aten::mm", "aten::addmm", "aten::bmm", "aten::conv2d")  # torch.profiler's with_flops knows these


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.attention = torch.nn.MultiheadAttention(16, 4, batch_first=True)
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 10))

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x))).flatten(2).transpose(1, 2)
        x, _ = self.attention(x, x, x, need_weights=False)
        x = torch.bmm(x, x.transpose(1, 2)) @ x / x.shape[1]
        return self.layers(x.mean(1))


def step(net, optimizer):
    net(torch.randn(4, 3, 16, 16)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


class Sum:
    """Of the rows of one key."""

    def __init__(self):
        self.calls = self.self_us = self.us = self.flops = 0

    def add(self, row):
        self.calls += row.count
        self.self_us += row.self_cpu_time_total
        self.us += row.cpu_time_total
        self.flops += row.flops or 0


def sums_of(rows, key_of):
    """{key: Sum}: key_averages() has a row for each overload."""
    found = collections.defaultdict(Sum)
    for row in rows:
        found[key_of(row)].add(row)
    return found


def as_torch_has_it(shapes):
    """A list of tensors has no shape there."""
    return json.dumps([[] if any(isinstance(dim, list) for dim in shape) else shape for shape in json.loads(shapes)])


class Operators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        step(net, optimizer)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True) as cls.prof:
            for _ in range(3):
                step(net, optimizer)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.pt.trace.json")
            cls.prof.export_chrome_trace(path)
            cls.ours = _program.ask("report", "--view=operators", "--json", path)["operators"]
            with open(path, encoding="utf-8") as file:
                trace = json.load(file)
        cls.events = trace["traceEvents"] if HAS_KINETO else trace
        cls.ranges = {event["name"] for event in cls.events if event.get("cat") == "user_annotation"}

    def near(self, ours_ps, us, calls, what):
        slack = max(TOLERANCE * us, 0.002 * calls)  # the trace has ns
        self.assertAlmostEqual(ours_ps / 1e6, us, delta=slack, msg=what)

    def joined(self):
        """Operators that key_averages() has fewer calls of: those right inside one of their own name."""
        theirs = sums_of(self.prof.key_averages(), lambda row: row.key)
        return {row["name"] for row in self.ours["by_name"] if row["calls"] > theirs[row["name"]].calls}

    def test_names_calls_and_times_are_torchs(self):
        theirs = sums_of(self.prof.key_averages(), lambda row: row.key)
        mine = {row["name"]: row for row in self.ours["by_name"]}
        self.assertEqual(set(mine), {name for name in theirs if name not in self.ranges})
        joined = self.joined()
        self.assertLess(len(joined), len(mine) / 10, joined)
        for name, row in mine.items():
            found = theirs[name]
            if HAS_KINETO:
                self.near(row["self_cpu_ps"], found.self_us, row["calls"], f"own time of {name}")
            if name not in joined:
                self.assertEqual(row["calls"], found.calls, name)
                self.near(row["cpu_ps"], found.us, row["calls"], f"time of {name}")
        for name in ("aten::addmm", "aten::bmm", "aten::conv2d"):
            self.assertGreaterEqual(mine[name]["calls"], 3, name)
        self.assertGreater(len(mine), 50)
        print(f"{len(mine)} operators as key_averages() of torch {torch.__version__} has them", flush=True)

    def test_the_sum_of_own_times_is_torchs(self):
        theirs_us = package.busy_us(self.prof)
        if HAS_KINETO:
            theirs_us = sum(row.self_cpu_time_total for row in self.prof.key_averages() if row.key not in self.ranges)
        self.assertAlmostEqual(self.ours["self_cpu_ps"] / 1e6, theirs_us, delta=TOLERANCE * theirs_us)

    @unittest.skipUnless(HAS_KINETO, f"torch {torch.__version__} was built without Kineto: its traces have no shapes")
    def test_rows_by_shape_and_flops_are_torchs(self):
        rows = [row for row in self.prof.key_averages(group_by_input_shape=True) if row.input_shapes]
        theirs = sums_of(rows, lambda row: (row.key, json.dumps(row.input_shapes)))
        mine = {(row["name"], as_torch_has_it(row["input_shapes"])): row for row in self.ours["by_shape"]}
        joined, counted = self.joined(), 0
        for key, found in theirs.items():
            if key[0] in joined or key[0] in self.ranges:
                continue
            self.assertIn(key, mine)
            row = mine[key]
            self.assertEqual(row["calls"], found.calls, key)
            self.near(row["self_cpu_ps"], found.self_us, row["calls"], f"own time of {key}")
            self.near(row["cpu_ps"], found.us, row["calls"], f"time of {key}")
            if key[0] in COUNTED and found.flops:
                counted += 1
                self.assertEqual(row["flops"], found.flops, key)
        self.assertGreater(counted, 5)
        print(f"{len(theirs)} operators with shapes, {counted} with FLOPs", flush=True)


if __name__ == "__main__":
    package.main()
