"""The chip runs slower than at first, whatever the program: look at its temperature, its power and
the limits that are set for them, and at what else draws power in the machine. Time the same work
over minutes, to see when it slows and whether it recovers; if this chip alone does, have the
machine looked at or replaced.
"""

import time

import jax
import jax.numpy as jnp

work = jax.jit(lambda x: x @ x / x.shape[0])
x = work(jnp.ones((512, 512), jnp.bfloat16)).block_until_ready()  # compiled
for minute in range(3):
    start = time.perf_counter()
    for _ in range(20):  # as many as keep the chip busy for a minute
        x = work(x)
    x.block_until_ready()
    print(minute, f"{(time.perf_counter() - start) * 1e3:.2f} ms")
