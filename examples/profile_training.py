#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles training steps in one of three ways, into ./profiles:

    python examples/profile_training.py step        # one whole step, after a warm-up
    python examples/profile_training.py scopes      # the parts of a step by name
    python examples/profile_training.py function    # the sixth call of a decorated function
    tpusight report ./profiles                      # or: tensorboard --logdir=./profiles
"""
import argparse
from typing import Optional

import jax
import small
from tpusight import Session, profile_function, profile_scope, profile_trace


@jax.jit
def train_step(weights: small.Weights, batch: small.Batch) -> tuple[small.Weights, jax.Array]:
    value, gradients = jax.value_and_grad(small.loss)(weights, batch)
    return {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}, value


def step(folder: str) -> Optional[Session]:
    """One step. What compiles, runs before."""
    weights, data = small.init(), small.Clouds()
    for _ in range(3):
        weights, value = train_step(weights, next(data))
        value.block_until_ready()
    with profile_trace(folder, name="train_step") as captured:
        weights, value = train_step(weights, next(data))
        value.block_until_ready()
    return captured.session


def scopes(folder: str) -> Optional[Session]:
    """The parts of a step, each waited for, so that its time is its own."""
    weights, data = small.init(), small.Clouds()
    forward, loss, backward = jax.jit(small.logits), jax.jit(small.loss), jax.jit(jax.grad(small.loss))
    x, labels = next(data)
    for made in forward(weights, x), loss(weights, (x, labels)), backward(weights, (x, labels))["first"]:
        made.block_until_ready()  # compiled, outside of the profile
    with profile_trace(folder, name="detailed_profile") as captured:
        with profile_scope("data_loading"):
            x, labels = next(data)
        with profile_scope("forward_pass"):
            forward(weights, x).block_until_ready()
        with profile_scope("loss_computation"):
            loss(weights, (x, labels)).block_until_ready()
        with profile_scope("backward_pass"):
            backward(weights, (x, labels))["first"].block_until_ready()
    return captured.session


def function(folder: str) -> Optional[Session]:
    """The call after the warm-up, and no other."""
    step = profile_function(folder, warmup_steps=5)(train_step)
    weights, data = small.init(), small.Clouds()
    for _ in range(8):
        weights, _ = step(weights, next(data))
    return step.captured[0]


WAYS = {"step": step, "scopes": scopes, "function": function}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", nargs="?", choices=WAYS, default="step")
    parser.add_argument("--profile_dir", default="./profiles", help="the log directory (default: ./profiles)")
    asked = parser.parse_args()
    session = WAYS[asked.way](asked.profile_dir)
    assert session  # something was captured
    session.summary()
    print(f"Profile saved: {session.path}")
