#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A training job with three optimizers, each profiled as a run of its own: which one is faster, and why?

    for update in manifold_muon hyperspherical_descent adam; do
        python examples/optimizers.py --profile --epochs 2 --update $update --lr 0.01
    done
    tpusight compare /tmp/tensorboard
"""
import argparse
import time
from typing import Callable

import jax
import jax.numpy as jnp
import small
from tpusight import profile_scope, profile_trace

STEPS = 49  # of an epoch
Pair = tuple[jax.Array, jax.Array]  # a weight, and what the optimizer remembers of it
Step = Callable[[jax.Array, jax.Array, jax.Array, float], Pair]


def orthogonal(matrix: jax.Array, rounds: int = 5) -> jax.Array:
    """The nearest matrix whose singular values are 1, about: Newton and Schulz's iteration, which is products alone."""
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    x: jax.Array = tall / (jnp.linalg.norm(tall) + 1e-7)
    for _ in range(rounds):
        square = x.T @ x
        x = x @ (1.875 * jnp.eye(len(square)) - 1.25 * square + 0.375 * square @ square)
    return x if matrix.shape[0] >= matrix.shape[1] else x.T


def manifold_muon(weight: jax.Array, gradient: jax.Array, state: jax.Array, rate: float) -> Pair:
    """Muon's step, and back to the matrices of orthogonal columns."""
    momentum = 0.9 * state + gradient
    return orthogonal(weight - rate * orthogonal(momentum)), momentum


def hyperspherical_descent(weight: jax.Array, gradient: jax.Array, state: jax.Array, rate: float) -> Pair:
    """Columns of length 1: the step goes along the sphere, and back onto it."""
    weight = weight / jnp.linalg.norm(weight, axis=0)
    along = gradient - weight * jnp.sum(weight * gradient, axis=0)
    moved = weight - rate * along / (jnp.linalg.norm(along, axis=0) + 1e-7)
    return moved / jnp.linalg.norm(moved, axis=0), state


def adam(weight: jax.Array, gradient: jax.Array, state: jax.Array, rate: float) -> Pair:
    """Adam; STATE is the means of the gradient and of its square."""
    mean, square = 0.9 * state[0] + 0.1 * gradient, 0.999 * state[1] + 0.001 * gradient ** 2
    return weight - rate * mean / (jnp.sqrt(square) + 1e-8), jnp.stack((mean, square))


#: the step of an optimizer, and what it remembers of a weight at first
OPTIMIZERS: dict[str, tuple[Step, Callable[[jax.Array], jax.Array]]] = {
    "manifold_muon": (manifold_muon, jnp.zeros_like),
    "hyperspherical_descent": (hyperspherical_descent, jnp.zeros_like),
    "adam": (adam, lambda weight: jnp.zeros((2, *weight.shape))),
}


def train_step_of(update: str, rate: float) -> Callable[..., tuple[small.Weights, small.Weights, jax.Array]]:
    step = OPTIMIZERS[update][0]

    @jax.jit
    def train_step(weights: small.Weights, states: small.Weights,
                   batch: small.Batch) -> tuple[small.Weights, small.Weights, jax.Array]:
        value, gradients = jax.value_and_grad(small.loss)(weights, batch)
        moved = {name: step(weights[name], gradients[name], states[name], rate) for name in weights}
        return {name: pair[0] for name, pair in moved.items()}, {name: pair[1] for name, pair in moved.items()}, value
    return train_step


def train(asked: argparse.Namespace) -> small.Weights:
    """All epochs; gives the weights."""
    train_step, data, weights = train_step_of(asked.update, asked.lr), small.Clouds(asked.seed), small.init(asked.seed)
    states = {name: OPTIMIZERS[asked.update][1](weight) for name, weight in weights.items()}
    for epoch in range(1, asked.epochs + 1):
        begin, total, last = time.perf_counter(), 0.0, 0.0
        with profile_scope(f"epoch_{epoch}"):
            for number in range(STEPS):
                with jax.profiler.StepTraceAnnotation("train", step_num=(epoch - 1) * STEPS + number):
                    weights, states, value = train_step(weights, states, next(data))
                    last = float(value)  # waits for the step
                    total += last
        print(f"Epoch [{epoch}/{asked.epochs}], Step [{STEPS}/{STEPS}], Loss: {last:.4f}")
        print(f"Epoch {epoch}, Loss: {total / STEPS:.4f}, Time: {time.perf_counter() - begin:.2f} seconds")
    return weights


def main(asked: argparse.Namespace) -> None:
    name = f"{asked.update}_lr{asked.lr}_epochs{asked.epochs}_seed{asked.seed}"
    print(f"Training with: {asked.update}\nEpochs: {asked.epochs} --- LR: {asked.lr}")
    begin = time.perf_counter()
    if asked.profile:
        print(f"Profiling enabled. Data will be saved to: {asked.profile_dir}/{name}")
        print(f"To view with TensorBoard: tensorboard --logdir={asked.profile_dir}\nStarting profiled training...")
        with profile_trace(asked.profile_dir, name):
            weights = train(asked)
    else:
        weights = train(asked)
    print(f"Total training time (wall clock): {time.perf_counter() - begin:.2f} seconds\nEvaluating model...")
    begin = time.perf_counter()
    x, labels = next(small.Clouds(asked.seed + 1, 2048))
    right = float((jnp.argmax(small.logits(weights, x), 1) == labels).mean())
    print(f"Evaluation time: {time.perf_counter() - begin:.2f} seconds; {right:.1%} of 2048 points are told right")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true", help="capture a profile of the whole training")
    parser.add_argument("--profile_dir", default="/tmp/tensorboard", help="the log directory (default: /tmp/tensorboard)")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--update", choices=OPTIMIZERS, default="adam")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=42)
    main(parser.parse_args())
