# SPDX-License-Identifier: MIT
"""A job that a test watches: job.py PORT steady|shapes|later|slow|hang|die|compile SECONDS [EVERY]

The shapes of "shapes" change every step, those of "later" from its fifth second on. "slow" sleeps for 20 ms between its steps. When
a line on standard input says so, "hang" stands still, "die" ends, and "compile" compiles for long, prints for how many seconds and goes on.

Prints "up" when it can be asked. With EVERY it times its steps until it is told "watched" or "alone" on
standard input, and prints the median and the mean of each kind in the end, in ms."""
import os
import select
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np

port, mode, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
timed = len(sys.argv) > 4


@jax.jit
def train_step(w, x):
    for _ in range(4):
        x = jnp.tanh(x @ w)
    return x.sum()


def long(x):
    for i in range(160):
        x = jnp.sin(x) @ jnp.cos(x) + i
    return x


jax.profiler.start_server(port)
size = 512 if timed else 64
w = jnp.full((size, size), 0.01)
train_step(w, jax.device_put(np.ones((32, size), "float32"))).block_until_ready()
times = {"alone": [], "watched": []}
kind, n, begun = "alone", 0, time.time()
end = begun + seconds
print("up", flush=True)
while time.time() < end:
    changes = mode == "shapes" or (mode == "later" and time.time() > begun + 5)
    rows = 32 + (n + 1 if changes else 0)
    start = time.perf_counter()
    with jax.profiler.StepTraceAnnotation("train", step_num=n):
        train_step(w, jax.device_put(np.ones((rows, size), "float32"))).block_until_ready()
    times[kind].append(time.perf_counter() - start)
    n += 1
    if not timed:
        time.sleep(0.002)
    if mode == "slow":
        time.sleep(0.02)
    if mode in ("hang", "die", "compile") and select.select([sys.stdin], [], [], 0)[0]:
        sys.stdin.readline()
        if mode == "die":
            os._exit(1)
        if mode == "hang":
            time.sleep(seconds)
        start = time.perf_counter()
        jax.jit(long)(jnp.ones((64, 64))).block_until_ready()
        print(time.perf_counter() - start, flush=True)
    elif timed and n % 20 == 0 and select.select([sys.stdin], [], [], 0)[0]:
        kind = sys.stdin.readline().strip() or kind
if timed:
    for name, values in times.items():
        print(name, len(values), *(f(values) * 1e3 if values else 0 for f in (np.median, np.mean)), flush=True)
