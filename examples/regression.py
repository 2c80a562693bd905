#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A gate for CI: fails when a training step has become slower.

    python examples/regression.py --save baseline.json        # once, where the baseline is made
    python examples/regression.py --against baseline.json     # in CI: exit status 1 when the step is slower

The figures are wall times on one machine: compare those of the same machine. Profiles are compared with
`tpusight compare --fail-if 'step_time_ms.median > baseline * 1.05' BASE NEW`, which says why as well.
"""
import argparse
import sys
from typing import Callable

import jax
import small
from tpusight import Benchmark, benchmark_function


def train_step_of(passes: int) -> Callable[..., small.Weights]:
    """A step of PASSES passes over its batch; one pass too many is the regression that the gate is to find."""
    @jax.jit
    def train_step(weights: small.Weights, batch: small.Batch) -> small.Weights:
        for _ in range(passes):
            gradients = jax.grad(small.loss)(weights, batch)
            weights = {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}
        return weights
    return train_step


def main(asked: argparse.Namespace) -> int:
    stats = benchmark_function(train_step_of(asked.passes), small.init(), next(small.Clouds()), num_iterations=asked.iterations, warmup=10)
    print(f"Mean: {stats['mean']:.2f}ms ± {stats['std']:.2f}ms, median {stats['median']:.2f}ms")
    if asked.save:
        stats.save(asked.save)
        print(f"Baseline saved: {asked.save}")
    if asked.against:
        try:
            stats.assert_not_slower(Benchmark.load(asked.against), within_pct=asked.within)
        except AssertionError as e:
            print(f"Training step too slow: {e}", file=sys.stderr)
            return 1
        print(f"Not slower than {asked.against}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", metavar="FILE", help="write the figures as a baseline")
    parser.add_argument("--against", metavar="FILE", help="compare with this baseline")
    parser.add_argument("--within", type=float, default=25, metavar="PERCENT", help="how much slower the median may be (default: 25)")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--passes", type=int, default=1, help="passes over the batch in a step (default: 1)")
    sys.exit(main(parser.parse_args()))
