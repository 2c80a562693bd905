#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training loop that profiles the steps which the environment asks for, and none without it:

    PROFILE_ENABLED=1 PROFILE_START_STEP=100 python examples/train_with_profiling.py
    PROFILE_ENABLED=1 PROFILE_INTERVAL=50 PROFILE_DURATION=2 PROFILE_DIR=~/profiles python examples/train_with_profiling.py

Each capture is a run of its own, PROFILE_DIR/step_00000100.
"""
import argparse

import jax
import small
from tpusight import maybe_profile


@jax.jit
def train_step(weights: small.Weights, batch: small.Batch) -> tuple[small.Weights, jax.Array]:
    value, gradients = jax.value_and_grad(small.loss)(weights, batch)
    return {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}, value


def train(steps: int) -> None:
    weights, data = small.init(), small.Clouds()
    for step in range(steps):
        batch = next(data)
        with maybe_profile(step):
            weights, value = train_step(weights, batch)
            value.block_until_ready()
        if step % 50 == 0:
            print(f"Step {step}: loss {float(value):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    train(parser.parse_args().steps)
