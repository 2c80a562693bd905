#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A job that is watched while it trains: figures and alerts in the terminal, or in a notebook's cell."""
import argparse
import time

import jax
import small
from tpusight import Alert, LiveProfiler, SimpleLiveDashboard

live = LiveProfiler(alert_thresholds={"compilation_time_high": 2000}, update_interval=0.2)


@live.on_alert
def told(alert: Alert) -> None:
    print(f"[{alert.severity}] {alert.message}")


@live.trace
@jax.jit
def train_step(weights: small.Weights, batch: small.Batch) -> small.Weights:
    gradients = jax.grad(small.loss)(weights, batch)
    return {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}


def train(seconds: float) -> None:
    weights, data = small.init(), small.Clouds()
    end = time.monotonic() + seconds
    with live, SimpleLiveDashboard(live):
        while time.monotonic() < end or not live.history:  # at least one sample, however slow the machine
            weights = train_step(weights, next(data))
            weights["second"].block_until_ready()
    print(f"{len(live.history)} samples, {len(live.alerts)} alerts; the last step time: {live.metrics.step_time_ps} ps")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    train(parser.parse_args().seconds)
