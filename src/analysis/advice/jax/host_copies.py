"""Keep the arrays in device memory where they fit. Else move fewer bytes (bf16 instead of f32
halves them; offload only the largest and longest-lived arrays), and start each fetch one block
early, so that it runs behind the compute of the block before (double buffering).
"""

import jax
import jax.numpy as jnp

dev = jax.devices()[0]
on_host = jax.sharding.SingleDeviceSharding(dev, memory_kind="pinned_host")
on_device = jax.sharding.SingleDeviceSharding(dev, memory_kind="device")
work = jax.jit(lambda block: block * 2 + 1)

blocks = [jax.device_put(jnp.ones((256, 256), jnp.bfloat16), on_host) for _ in range(4)]
ahead = jax.device_put(blocks[0], on_device)
for i in range(len(blocks)):
    block = ahead
    if i + 1 < len(blocks):  # starts now, runs while work() computes
        ahead = jax.device_put(blocks[i + 1], on_device)
    blocks[i] = jax.device_put(work(block), on_host)  # not waited for
jax.block_until_ready(blocks)
