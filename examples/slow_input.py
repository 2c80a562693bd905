#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A job whose input is slower than its steps, and the same job with the input made ready ahead: what does the profile say?

    python examples/slow_input.py                 # ./profiles/slow_input
    python examples/slow_input.py --prefetch 4    # ./profiles/prefetch_4
    tpusight compare ./profiles
"""
import argparse
import queue
import threading
import time
from typing import Iterator

import jax
import small
from tpusight import profile_scope, profile_trace

READ_S = 0.01  # what a slow disk takes for a batch
STEPS = 30


@jax.jit
def train_step(weights: small.Weights, batch: small.Batch) -> small.Weights:
    gradients = jax.grad(small.loss)(weights, batch)
    return {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}


def read_batches() -> Iterator[small.Batch]:
    """Batches from a slow disk."""
    for batch in small.Clouds():
        time.sleep(READ_S)
        yield batch


def ahead(batches: Iterator[small.Batch], depth: int) -> Iterator[small.Batch]:
    """The same batches, up to DEPTH of them read by another thread before they are wanted."""
    ready: queue.Queue[small.Batch] = queue.Queue(depth)

    def fill() -> None:
        for batch in batches:
            ready.put(batch)

    threading.Thread(target=fill, daemon=True).start()
    return iter(ready.get, None)


def train(batches: Iterator[small.Batch], steps: int) -> None:
    weights = small.init()
    for number in range(steps):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            with profile_scope("fetch_batch"):
                batch = next(batches)
            with profile_scope("to_device"):
                batch = jax.device_put(batch)
            with profile_scope("computation"):
                for _ in range(8):  # passes over a batch
                    weights = train_step(weights, batch)
                weights["second"].block_until_ready()


def main(asked: argparse.Namespace) -> None:
    batches = ahead(read_batches(), asked.prefetch) if asked.prefetch else read_batches()
    train(batches, 3)  # compiles, outside of the profile
    name = f"prefetch_{asked.prefetch}" if asked.prefetch else "slow_input"
    begin = time.perf_counter()
    with profile_trace(asked.profile_dir, name) as captured:
        train(batches, STEPS)
        seconds = time.perf_counter() - begin
    assert captured.session  # None inside of the block
    print(f"{STEPS} steps in {seconds:.2f} s, {seconds / STEPS * 1e3:.1f} ms each; profile: {captured.session.path}")
    print(captured.session.scopes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile_dir", default="./profiles", help="the log directory (default: ./profiles)")
    parser.add_argument("--prefetch", type=int, default=0, metavar="N", help="read N batches ahead in another thread (default: 0)")
    main(parser.parse_args())
