"""Give this core no more work than the others (even shards, no padding on one of them, no extra
host callbacks), and see whether it is slower by itself: time the same work on each device. If
one stays behind, have the machine looked at or replaced; if it is another one each time, look
at its host.
"""

import time

import jax
import jax.numpy as jnp

work = jax.jit(lambda x: x @ x / x.shape[0])
for device in jax.local_devices():  # in every process
    x = work(jax.device_put(jnp.ones((512, 512), jnp.bfloat16), device))
    x.block_until_ready()  # compiled
    start = time.perf_counter()
    for _ in range(20):
        x = work(x)
    x.block_until_ready()
    print(jax.process_index(), device, f"{(time.perf_counter() - start) * 1e3:.2f} ms")
